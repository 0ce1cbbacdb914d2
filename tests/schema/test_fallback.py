"""Compare jsonschema, the validator where jsonschema-rs cannot be, with jsonschema-rs on real and hostile schemas."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from itertools import islice
from time import process_time
from typing import Any

import pytest
from damage import damages, whole_damages
from hypothesis import given
from strategies import LAW, LOOSE_JSON, NAMES, Json, real_schemas, same_json, schemas
from tables import INTEGER, array, closed, each_row

from benchmarks.conformance import load_cases
from benchmarks.conformance.ours import call
from mcp_lenient.errors import SchemaError
from mcp_lenient.schema.checks import EXPECTED, Check, compiled
from mcp_lenient.schema.compile import readable
from mcp_lenient.schema.fallback import by_jsonschema
from mcp_lenient.testing.example_arguments import NoValueError
from mcp_lenient.testing.stress_run import example_calls
from tests.shared.hostile import ARGUMENTS, SCHEMAS

REAL = real_schemas()
fallback = partial(by_jsonschema, formats=EXPECTED)
_DAMAGED = 40
_ANSWERED_WITHIN = 5.0
_STALL = 20.0
"""Seconds of processor time, generous bounds of a validation and of a whole call. A failure would take minutes or never end."""


def _outcome(check: Check, value: Any) -> bool:
    try:
        return check(value)
    except (ValueError, RecursionError):
        return False


def _calls(schema: Json) -> list[Json]:
    """Return correct and damaged arguments, and the damaged ones of another kind."""
    try:
        right = example_calls("tool", schema, 1, 2)
    except NoValueError:
        return [{}]
    damaged = [sent for _, sent in islice(damages(schema, schema, right[0]), _DAMAGED)]
    return [{}, *right, *damaged, *(sent for _, sent in whole_damages(right[0]))]


@pytest.mark.slow
@pytest.mark.skipif(not REAL, reason="the recorded schemas are not here")
def test_both_agree_on_all_real_schemas():
    """The fast and the reference validator accept and refuse the same calls of every real tool, but for patterns."""
    different, costly = [], 0
    for number, schema in enumerate(REAL):
        root = dict(readable(schema).root)
        try:
            reference = fallback(root)
        except SchemaError:
            costly += 1
            continue
        fast = compiled(root)
        different += [
            (number, sent) for sent in _calls(schema) if _outcome(fast, sent) != _outcome(reference, sent)
        ]
    assert different == []
    assert costly < len(REAL) / 20


@LAW
@given(schemas(), LOOSE_JSON)
def test_both_agree_on_any_value(schema, value):
    """Both agree on any JSON value for any schema of the laws."""
    root = dict(readable(schema).root)
    for sent in (value, dict.fromkeys(NAMES, value)):
        assert _outcome(compiled(root), sent) == _outcome(fallback(root), sent)


NO_JSON = [
    float("nan"),
    {1: 1},
    {"p": {None: 1}},
    {"p": "\ud800"},
    {"\ud800": 1},
    {"p": b"x"},
    {"p": object()},
]


@each_row("value", NO_JSON)
@each_row(
    "schema",
    [{"minProperties": 0, "patternProperties": {"^a": {}}}, closed(p={"enum": [1]}), {"type": "number"}],
)
def test_no_value_raises(schema, value):
    """A value that is not JSON is accepted or refused, without an exception."""
    assert _outcome(fallback(schema), value) in (True, False)


@each_row(
    "value", [10**400, -(10**400), 1e308, -0.0, {"p": 10**400}, {"p": 7.0}, (1, 2), {"p": (1,)}, [1, True]]
)
@each_row(
    "schema", [closed(p=INTEGER), {"type": "number"}, array(INTEGER), {"uniqueItems": True}, {"maximum": 5}]
)
def test_both_agree_on_numbers_and_tuples(schema, value):
    """Numbers beyond the range of a double, whole floats, and tuples are read alike."""
    assert _outcome(compiled(schema), value) == _outcome(fallback(schema), value)


CHEAP = ["^[a-z]+$", r"^\d{4}-\d{2}$", "^a", "b$", "abc", r"^\$[A-Z]*$"]
COSTLY = r"^(a+)+$ a+$ ^a+b+$ ^(a|a)*$ ^(a)\1$ (?=a)a ^(?:a?){20}a{20} ^a{1,2}b? \p{L}".split()


@each_row("pattern", CHEAP)
def test_cheap_patterns_are_read(pattern):
    """A pattern without branches, of which one part varies from the start, is read as jsonschema-rs reads it."""
    schema = {"type": "string", "pattern": pattern}
    for text in (
        "",
        "a",
        "abc",
        "b",
        "b\n",
        "abc\n",
        "2024-01",
        "\u0662\u0660\u0662\u0664-\u0660\u0661",
        "$A",
        "a" * 100_000 + "!",
    ):
        assert compiled(schema)(text) == fallback(schema)(text), text


@each_row("pattern", COSTLY)
@each_row(
    "schema", [lambda pattern: {"pattern": pattern}, lambda pattern: {"patternProperties": {pattern: {}}}]
)
def test_costly_patterns_are_not_read(schema, pattern):
    """A pattern that may take more than one pass, or that Python cannot read, makes the schema unreadable."""
    with pytest.raises(SchemaError, match="cannot be compiled"):
        fallback(closed(p=schema(pattern)))


def test_nothing_is_fetched():
    """A reference to another document is an error of the schema, never a request."""
    check = fallback({"$ref": "http://127.0.0.1:9/schema.json"})
    assert not check({})


_LONG = ("a chain of 2,000", "uniqueItems, 100,000", "1,000 names", "200 of anyOf", "200 branches")
"""The beginnings of the titles of cases that take longest; one of each kind is short."""


def _quick(cases):
    return [
        pytest.param(case, id=case.title, marks=[pytest.mark.slow] * case.title.startswith(_LONG))
        for case in cases
    ]


@pytest.mark.parametrize("case", _quick(SCHEMAS))
def test_hostile_schemas_are_judged_soon(case):
    """Each costly schema is compiled and answers in bounded time, as jsonschema-rs does."""
    root = dict(readable(case.schema).root)
    started = process_time()
    try:
        reference = fallback(root)
    except SchemaError:
        assert "pattern" in case.title or "levels" in case.title
        return
    outcomes = [_outcome(reference, sent) for sent in (case.right, case.wrong)]
    assert process_time() - started < _ANSWERED_WITHIN
    assert outcomes == [_outcome(compiled(root), sent) for sent in (case.right, case.wrong)]


@pytest.mark.parametrize("case", _quick(ARGUMENTS))
def test_hostile_arguments_are_judged_soon(case):
    """Each hostile value is refused in bounded time."""
    try:
        check = fallback(dict(readable(case.schema).root))
    except SchemaError:
        assert "pattern" in case.title
        return
    sent = case.arguments()
    started = process_time()
    assert not _outcome(check, sent)
    assert process_time() - started < _ANSWERED_WITHIN


WITHOUT = """
import json, sys, time
sys.modules["jsonschema_rs"] = None
from benchmarks.conformance import load_cases
from benchmarks.conformance.ours import call
from mcp_lenient import normalize
from tests.shared.hostile import ARGUMENTS, SCHEMAS

def seconds(schema, sent):
    started = time.process_time()
    normalize(schema, sent)
    return time.process_time() - started

if sys.argv[1] == "cases":
    cases = [case for case in load_cases("tests/cases") if case.id.startswith(tuple(sys.argv[2:]) or "")]
    replies = {case.id: call(case.request()) for case in cases}
    print(json.dumps({id: [reply.outcome, reply.arguments] for id, reply in replies.items()}))
else:
    print(json.dumps({case.title: seconds(case.schema, case.arguments()) for case in ARGUMENTS}
        | {case.title: max(seconds(case.schema, sent) for sent in (case.right, case.wrong)) for case in SCHEMAS}))
"""


def _without_jsonschema_rs(*arguments: str) -> Any:
    command = [sys.executable, "-c", WITHOUT, *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # noqa: S603


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(["hostile", "unions", "numbers"], id="some"),
        pytest.param([], id="all", marks=pytest.mark.slow),
    ],
)
def test_without_jsonschema_rs_cases_have_the_same_outcome(files):
    """Where jsonschema-rs is not installed, only the case that needs a costly pattern is not refused."""
    replies = _without_jsonschema_rs("cases", *files)
    cases = {case.id: case for case in load_cases("tests/cases")}
    different = []
    for name, (outcome, arguments) in replies.items():
        reply = call(cases[name].request())
        if outcome != reply.outcome or not same_json(arguments, reply.arguments):
            different.append(name)
    assert different == ["hostile/costly-pattern"]
    assert len(replies) > 30


@pytest.mark.slow
def test_without_jsonschema_rs_hostile_calls_are_answered_soon():
    """Where jsonschema-rs is not installed, no hostile call stalls."""
    seconds = _without_jsonschema_rs("hostile")
    assert {title: took for title, took in seconds.items() if took > _STALL} == {}
