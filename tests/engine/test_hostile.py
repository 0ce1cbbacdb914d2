"""Test law 7: no value and no compiled schema raises, recurses endlessly or takes too long."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import LAW, NAMES, WEIRD, Json, schemas
from tables import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    array,
    closed,
    each_row,
    enum,
    nullable,
    opened,
    union,
)

from mcp_lenient import normalize

SLOW = 6.0
"""Seconds of CPU time; a loop over all pairs would take several times as long."""
HANG = 20.0
"""Seconds, a generous bound per call. A failure would take minutes or never end."""

KEYS = [1, None, 1.5, True, (1, 2), b"x", float("nan")]


def timed(schema: Json, sent: Any) -> Any:
    started = time.process_time()
    result = normalize(schema, sent)
    assert time.process_time() - started < HANG
    assert bool(result.violations) or result.arguments is sent or bool(result.repairs)
    return result


@LAW
@given(schemas(), st.dictionaries(st.sampled_from(NAMES), WEIRD, max_size=4))
def test_any_value_is_decided(schema: Json, arguments: Json) -> None:
    """Every value is accepted, repaired or refused."""
    timed(schema, arguments)


PLACES = {
    "string": STRING,
    "integer": INTEGER,
    "number": NUMBER,
    "boolean": BOOLEAN,
    "array": array(STRING),
    "object": OBJECT,
    "fields": closed("n", n=INTEGER, max_results=INTEGER),
    "open fields": opened("n", n=INTEGER),
    "map": {**OBJECT, "additionalProperties": INTEGER},
    "patterns": {**closed(), "patternProperties": {"^a": INTEGER}},
    "any": {},
    "enum": enum("a", "b", 1),
    "union": union(INTEGER, array(INTEGER), closed("a", a=INTEGER)),
    "nullable": nullable(INTEGER),
}
VALUES = {
    "NaN": float("nan"),
    "infinity": float("inf"),
    "5000 digits": 10**5000,
    "minus 400 digits": -(10**400),
    "lone surrogate": "\ud800",
    "lone surrogate in a list": ["\ud800"],
    "lone surrogate as key": {"\ud800": 1},
    "lone surrogate in JSON text": '["\ud800"]',
    "escaped lone surrogate in JSON text": '["\\ud800"]',
    "nul": "\x00",
    **{f"key {key!r}": {key: 1} for key in KEYS},
    **{f"key {key!r} of a near value": {key: "1"} for key in KEYS},
    "key of 5000 digits": {10**5000: "1"},
    "keys of two kinds": {1: 1, "1": 2},
    "keys 1 and true": {1: 1, "n": 1, None: {2: [None]}},
}


@each_row("value", [pytest.param(value, id=name) for name, value in VALUES.items()])
@each_row("place", [pytest.param(place, id=name) for name, place in PLACES.items()])
def test_non_json_values_are_decided_at_every_place(place: Json, value: Any) -> None:
    """A value that JSON represents badly or not at all gets a decision at every kind of place."""
    timed(closed("q", p=place, q=INTEGER), {"p": value, "q": "5"})


@each_row("key", KEYS)
@each_row(
    "schema",
    [closed("n", n=INTEGER), opened("n", n=INTEGER), closed("data", data=closed("n", n=INTEGER))],
)
def test_non_string_keys_are_refused(schema: Json, key: Any) -> None:
    """A key that is not a string is never treated as a name, and is refused."""
    assert timed(schema, {key: 1}).violations
    assert timed(schema, {key: {"n": 1}}).violations


@pytest.mark.parametrize("schema", [closed("n", n=INTEGER), opened("n", n=INTEGER)], ids=["closed", "open"])
def test_huge_integer_keys_are_refused(schema: Json) -> None:
    """An integer key that Python cannot print is refused too."""
    assert timed(schema, {10**5000: 1}).violations


def test_self_containing_list_is_refused() -> None:
    """A value that contains itself is refused, even by a recursive schema."""
    value: list[Any] = []
    value.append(value)
    assert timed(closed("p", p=array(INTEGER)), {"p": value}).violations
    endless = {**closed(p={"$ref": "#/$defs/N"}), "$defs": {"N": array({"$ref": "#/$defs/N"})}}
    assert timed(endless, {"p": value}).violations


@pytest.mark.parametrize("levels", [60, 10_000])
@pytest.mark.parametrize("key", [None, "a", "p"])
def test_deep_values_are_refused(levels: int, key: str | None) -> None:
    """Many levels of lists or objects for a scalar are refused, even by a recursive schema."""
    value = _chain(levels, key, "x")
    recursive = {
        **closed(p={"$ref": "#/$defs/N"}),
        "$defs": {
            "N": union(
                INTEGER,
                array({"$ref": "#/$defs/N"}),
                closed("n", a={"$ref": "#/$defs/N"}, n=INTEGER, p={"$ref": "#/$defs/N"}),
            )
        },
    }
    assert timed(closed("p", p=INTEGER), {"p": value}).violations
    assert timed(recursive, {"p": value}).violations


TEXTS = {
    "digits in a list": f"[{'9' * 1_000_000}]",
    "escaped quotes": '"\\"' * 75_000,
    "fences": "```" * 75_000,
    "comments": "/*" * 100_000,
    "items, cut off": "[" + '"a",' * 50_000,
    "Python text": "[" + "'a'," * 50_000 + "]x",
    "words": "a " * 125_000,
    "minus": "-" * 250_000,
}


@each_row("text", [pytest.param(text, id=name) for name, text in TEXTS.items()])
def test_hostile_texts_are_refused(text: str) -> None:
    """Text that is expensive to parse is refused, whatever is expected."""
    schema = closed(a=array(INTEGER), b=INTEGER, c=OBJECT, d=array(enum("a", "b")), e=BOOLEAN, f=enum(1, 2))
    assert timed(schema, dict.fromkeys("abcdef", text)).violations
    normalize(schema, text)


@pytest.mark.parametrize(
    "sent",
    [b"{}", bytearray(b"{}"), object(), set(), frozenset({1}), 1j, range(3), dict, [].append],
    ids=lambda sent: type(sent).__name__,
)
def test_arguments_of_no_json_type_are_refused(sent: Any) -> None:
    """Arguments that JSON cannot represent are refused like any other value that is not an object."""
    (violation,) = normalize(closed("a", a=INTEGER), sent).violations
    assert (violation.code, violation.pointer, violation.expected_types) == ("type", "", ("object",))
    assert violation.message == "the arguments must be an object of parameters; send them as a JSON object."
    assert violation.received_type is None


LONG_NAMES = {
    "one of many words": {"X_" * 200_000: 1},
    "one without words": {"x" * 400_000: 1},
    "many": {f"{'Ab_' * 3000}{at}": 1 for at in range(60)},
    "many inside a usual wrapper": {"input": {f"{'Ab_' * 3000}{at}": 1 for at in range(60)}},
    "beside declared ones": {**{f"{'some_param_' * 800}{at}": 1 for at in range(60)}, "some_param_1": 1},
}


@pytest.mark.parametrize("sent", LONG_NAMES.values(), ids=LONG_NAMES.keys())
def test_long_names_are_not_compared_with_declared_ones(sent: Json) -> None:
    """Names that are too long to be shown are refused within a second; comparing each with all took eight."""
    schema = closed(**{f"some_param_{at}": INTEGER for at in range(100)})
    normalize(schema, {})
    started = time.process_time()
    found = normalize(schema, sent).violations
    assert time.process_time() - started < 1
    assert found
    assert not any(violation.did_you_mean for violation in found)


RECURSIVE = {"$ref": "#/$defs/N"}
SCHEMAS = {
    "a reference to itself": ({"$ref": "#/$defs/N", "$defs": {"N": {"$ref": "#/$defs/N"}}}, {"a": 1}),
    "a property that is itself": (closed(a={"$ref": "#/properties/a"}), {"a": "1", "b": 1}),
    "allOf of itself": ({**opened("n", n=INTEGER), "allOf": [{"$ref": "#"}]}, {"n": "1"}),
    "anyOf of itself": (
        {**opened("n", n=INTEGER), "anyOf": [{"$ref": "#"}, {"required": ["n"]}]},
        {"n": "1"},
    ),
    "two references in a ring": (
        {
            **closed(a={"$ref": "#/$defs/A"}),
            "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
        },
        {"a": 1, "b": 2},
    ),
}


@each_row(("schema", "sent"), SCHEMAS.values())
def test_self_referring_schemas_terminate(schema: Json, sent: Json) -> None:
    """A reference that leads back to itself terminates."""
    timed(schema, sent)


def _chain(levels: int, key: str | None, end: Any) -> Any:
    value = end
    for _ in range(levels):
        value = [value] if key is None else {key: value}
    return value


@pytest.mark.parametrize(
    "pad", [pytest.param(1, id="short"), pytest.param(100_000, id="long", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("union_of", ["anyOf", "oneOf"])
@pytest.mark.parametrize("key", [None, "a"], ids=["lists", "objects"])
def test_nested_unions_do_not_multiply(union_of: str, key: str | None, pad: int) -> None:
    """Two branches at each of sixty levels do not give two to the sixty candidates."""
    both = (
        (array(RECURSIVE), array(RECURSIVE, minItems=1))
        if key is None
        else (opened(a=RECURSIVE), opened("a", a=RECURSIVE))
    )
    schema = {**opened(p=RECURSIVE), "$defs": {"N": {union_of: [*both, INTEGER]}}}
    assert timed(schema, {"p": _chain(60, key, "x" * pad)}).violations


@each_row("name", ["p", "a"])
@each_row("end", [{}, {"z": 1}, "x", ["x" * 100_000]])
def test_nested_wrapper_names_terminate(name: str, end: Any) -> None:
    """Names that could be wrappers of their own values at each of sixty levels terminate."""
    schema = {"$ref": "#/$defs/N", "$defs": {"N": closed("q", p=RECURSIVE, q=INTEGER)}}
    assert timed(schema, _chain(60, name, end)).violations


@each_row("pattern", ["^(a+)+$", r"^(a+)+\1$", "^(?=(a+)+b)(a|aa)+$", "(x+x+)+y", "^(a|a)*$"])
def test_backtracking_patterns_are_bounded(pattern: str) -> None:
    """A pattern that backtracks exponentially is stopped, for values and for names."""
    long = "a" * 50_000 + "!"
    timed(closed(s={**STRING, "pattern": pattern}, n=INTEGER), {"s": long, "n": "5"})
    timed({**closed(n=INTEGER), "patternProperties": {pattern: INTEGER}}, {long: "5", "n": "5"})


def test_many_spellings_of_one_name_are_refused() -> None:
    """Many keys that differ from a declared name only in case style are refused without comparing pairs."""
    spellings = itertools.product(["", "_", "-", " "], repeat=9)
    keys = ("m" + "".join(map("".join, zip(spelling, "axresults", strict=True))) for spelling in spellings)
    assert timed(closed(max_results=INTEGER), dict.fromkeys(itertools.islice(keys, 20_000), 1)).violations


@pytest.mark.slow
def test_undeclared_keys_count_as_steps_in_each_branch() -> None:
    """Keys that no branch of a large union declares count as work for each branch."""
    branches = [opened("x", x={**INTEGER, "minimum": index}) for index in range(800)]
    keys = {f"k{index}": 1 for index in range(20_000)}
    assert timed(opened(p=union(*branches)), {"p": {**keys, "x": []}}).violations


def test_many_ties_are_refused() -> None:
    """Five thousand items with two candidates each are refused."""
    row = union(opened(x=BOOLEAN), opened(x=INTEGER))
    assert timed(closed(p=array(row)), {"p": [{"x": "1"}] * 5_000}).violations


def test_union_of_many_objects_is_decided() -> None:
    """A union of three hundred objects gets a decision."""
    branches = [
        opened("v", v=array(INTEGER if index % 2 else BOOLEAN), **{f"k{index}": INTEGER})
        for index in range(300)
    ]
    assert timed(closed(p=union(*branches)), {"p": {"v": ["1"] * 500}}).violations


def _branch(name: str) -> Json:
    return opened(**{name: INTEGER, "child": {"$ref": "#/$defs/any"}})


IGNORED_NAMES = {
    "unions within unions": (
        {
            **closed("n", n=INTEGER, u={"$ref": "#/$defs/any"}),
            "$defs": {"any": union(_branch("leaf_name"), _branch("b"), _branch("c"))},
        },
        {"n": "x", "u": _chain(40, "child", {"leafName": 1})},
    ),
    "many keys and many names": (
        opened("n", n=INTEGER, **{f"dry_run_{at}": INTEGER for at in range(1_000)}),
        {"n": "5", **{f"dryRun{at}": 1 for at in range(5_000)}},
    ),
    "many keys that are read": (
        closed(
            "n",
            n=INTEGER,
            rows=array({**opened(dry_run=BOOLEAN), "additionalProperties": {"type": "boolean"}}),
        ),
        {"n": "x", "rows": [{"dryRun": True}] * 5_000},
    ),
}


@pytest.mark.parametrize(("schema", "sent"), IGNORED_NAMES.values(), ids=IGNORED_NAMES)
def test_search_for_ignored_names_terminates(schema: Json, sent: Json) -> None:
    """The search for ignored names ends, however many names and branches there are."""
    result = timed(schema, sent)
    assert result.violations or result.repairs


def test_a_list_of_objects_of_a_large_union_is_decided_soon():
    """Sixty closed branches for a thousand items: each set of keys is compared once, and few corrections are tried."""
    branches = [closed(**{f"k{at}": INTEGER, "v": STRING}) for at in range(60)]
    schema = closed(x=array(union(*branches)))
    start = time.process_time()
    result = normalize(schema, {"x": [{f"k{at % 60}": "1", "v": 1} for at in range(1_000)]})
    assert time.process_time() - start < SLOW
    assert result.violations or result.repairs


def test_many_names_in_another_style_are_renamed_soon():
    """The style of two thousand names is found once."""
    schema = opened(**{f"parameter_name_{at}": STRING for at in range(2_000)})
    start = time.process_time()
    result = normalize(schema, {f"parameterName{at}": "a" for at in range(2_000)})
    assert time.process_time() - start < SLOW
    assert len(result.repairs) == 2_000
