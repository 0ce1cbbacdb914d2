"""Check the laws with generated schemas and with schemas of real tools."""

from __future__ import annotations

import copy
import json
from collections import Counter
from typing import Any

import jsonschema_rs
import pytest
from damage import damages, whole_damages
from decisions import decide
from engine.leaves import leaves
from hypothesis import assume, event, example, given
from hypothesis import strategies as st
from strategies import (
    LAW,
    LOOSE_JSON,
    NAMES,
    Json,
    exactly,
    real_schemas,
    same_json,
    schemas,
    values,
)
from tables import INTEGER, opened

from mcp_lenient import Policy, normalize
from mcp_lenient.types import Normalized

REAL = real_schemas()
REAL_SCHEMAS = st.integers(0, max(len(REAL) - 1, 0)).map(lambda index: REAL[index])
needs_real = pytest.mark.skipif(not REAL, reason="the schemas of real tools are not at hand")

# Rules that drop a name or a value, or remove a wrapper. They may lose a leaf.
SHEDDING = frozenset(
    "null_to_absent empty_text_to_absent drop_injected wrapped_value unwrap_arguments".split()
)


def without_defaults(schema: Json, arguments: Json) -> Json:
    """Return arguments without those that are their parameter's own default, which passes whatever its type."""
    stated = {name: each for name, each in schema.get("properties", {}).items() if "default" in each}
    return {
        name: value
        for name, value in arguments.items()
        if name not in stated or not same_json(stated[name]["default"], value)
    }


def takes(schema: Json, arguments: Any) -> bool:
    """Return whether the library used in production finds the arguments valid."""
    return bool(jsonschema_rs.validator_for(schema, validate_formats=True).is_valid(arguments))


@st.composite
def valid_calls(draw: st.DrawFn, source: st.SearchStrategy[Json] | None = None) -> tuple[Json, Json]:
    """Draw a schema and valid arguments."""
    schema = draw(source if source is not None else schemas())
    arguments = draw(values(schema, schema))
    assume(isinstance(arguments, dict) and takes(schema, arguments))
    # A name that differs from a declared one in case style alone is law 1's exception, see `published.json`.
    names = _names_in(schema)
    assume(not any(_letters(key) == _letters(name) for key in _names_in(arguments) for name in names - {key}))
    return schema, arguments


def _names_in(value: Json) -> set[str]:
    """Return the keys of all objects in a value."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = set(value) if isinstance(value, dict) else set()
    return own.union(*map(_names_in, inside))


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


@st.composite
def damaged_calls(
    draw: st.DrawFn, source: st.SearchStrategy[Json] | None = None
) -> tuple[Json, Json, str, Json]:
    """Draw a schema, valid arguments, the damage done to them, and the result."""
    schema, arguments = draw(valid_calls(source))
    found = [
        (label, new)
        for label, new in (*damages(schema, schema, arguments), *whole_damages(arguments))
        if isinstance(new, dict)
    ]
    label, damaged = draw(st.sampled_from(found))
    return schema, arguments, label, damaged


def assert_undone_or_refused(schema: Json, arguments: Json, label: str, damaged: Json) -> Normalized:
    """Assert that damage is undone or refused, unless the damaged call is valid."""
    before = copy.deepcopy(damaged)
    result = normalize(schema, damaged)
    assert exactly(damaged) == exactly(before), "the arguments that were sent were changed"
    if takes(schema, damaged):
        event("accepted as damaged")
        # Of names that nothing would read, only the case may change.
        assert all(each.rule == "rename_case" for each in result.repairs)
        assert result.repairs or result.arguments is damaged
    if result.violations:
        event("refused")
        assert result.arguments is damaged
        assert not result.repairs
    elif result.repairs:
        event("repaired")
        assert takes(schema, result.arguments)
        undamaged = {
            key: value for key, value in arguments.items() if key in result.arguments or value is not None
        }
        assert same_json(dict(result.arguments), undamaged), f"{label}: {damaged} became {result.arguments}"
    else:
        assert takes(schema, without_defaults(schema, damaged))
    return result


@LAW
@given(valid_calls())
def test_accepted_arguments_are_the_same_object(call: tuple[Json, Json]) -> None:
    """Law 1: accepted arguments are returned as the same object, without repairs."""
    schema, arguments = call
    before = copy.deepcopy(arguments)
    result = normalize(schema, arguments)
    assert result.arguments is arguments
    assert result == Normalized(arguments, (), ())
    assert exactly(arguments) == exactly(before)


@LAW
@given(st.data())
def test_valid_parameters_stay_beside_a_damaged_one(data: st.DataObject) -> None:
    """Law 1 for each parameter: a valid one stays unchanged while another is repaired."""
    schema, arguments = data.draw(valid_calls())
    schema = copy.deepcopy(schema)
    schema["properties"]["needed_number"] = INTEGER
    assume("needed_number" not in arguments)
    assume(takes(schema, {**arguments, "needed_number": 41}))
    result = normalize(schema, {**arguments, "needed_number": "41"})
    if result.violations:
        assert {each.code for each in result.violations} == {"unknown"}, "an open object overlooks a name"
        return
    assert exactly(result.arguments) == exactly({**arguments, "needed_number": 41})
    assert [repair.pointer for repair in result.repairs] == ["/needed_number"]


@LAW
@given(
    schemas(),
    st.dictionaries(st.sampled_from([*NAMES, "tgas", "toolCallId", "maxresults"]), LOOSE_JSON, max_size=4),
)
@example({"type": "object", "properties": {"n": {"type": "integer"}}}, {"n": [[1]]})
def test_repaired_calls_are_accepted_and_idempotent(schema: Json, arguments: Json) -> None:
    """Laws 2, 4 and 8: the schema accepts a repaired call with all its leaves, and it is not repaired again."""
    before = copy.deepcopy(arguments)
    result = normalize(schema, arguments)
    assert exactly(arguments) == exactly(before)
    if result.violations:
        assert result.arguments is arguments
        assert not result.repairs
        return
    assert takes(schema, result.arguments)
    again = normalize(schema, result.arguments)
    assert again.arguments is result.arguments
    assert not again.repairs
    if not SHEDDING & {repair.rule for repair in result.repairs}:
        assert Counter(leaves(result.arguments)) == Counter(leaves(arguments))


@LAW
@given(damaged_calls())
def test_damage_is_undone_or_refused(call: tuple[Json, Json, str, Json]) -> None:
    """Law 3: a damaged call becomes the original one or is refused."""
    assert_undone_or_refused(*call)


_WORDS = st.lists(st.sampled_from("ship item dry max note page".split()), min_size=1, max_size=2, unique=True)


@LAW
@given(st.data())
def test_repaired_open_objects_have_no_ignored_names(data: st.DataObject) -> None:
    """Law 4: a repaired call has no ignored name in another case style in an open object."""
    names = data.draw(
        st.lists(_WORDS.map("_".join), min_size=1, max_size=4, unique_by=lambda name: name.replace("_", ""))
    )
    required = [name for name in names if data.draw(st.booleans())]
    inner = opened(*required, **dict.fromkeys(names, INTEGER))
    schema = opened("o", "needed_number", o=inner, needed_number=INTEGER)
    meant = {"o": {name: index for index, name in enumerate(names)}, "needed_number": 41}
    restyled = {
        (name.replace("_", "-").upper() if data.draw(st.booleans()) else name): index
        for index, name in enumerate(names)
    }
    in_text = data.draw(st.booleans())
    sent = {"o": json.dumps(restyled) if in_text else restyled, "needed_number": "41"}
    result = normalize(schema, sent)
    if restyled == meant["o"]:
        assert not result.violations
    event("refused" if result.violations else "repaired")
    if not result.violations:
        assert result.arguments == meant


@LAW
@given(st.data())
def test_two_damages_are_undone_or_refused(data: st.DataObject) -> None:
    """Law 3 for calls with two wrong parameters."""
    schema, arguments = data.draw(valid_calls())
    assume(len(arguments) > 1)
    one, other = data.draw(st.permutations(sorted(arguments)))[:2]
    damaged = dict(arguments)
    accepts = jsonschema_rs.validator_for(schema, validate_formats=True).is_valid
    for name in (one, other):
        sub = schema["properties"].get(name, {})
        wrong = [
            new for _, new in damages(schema, sub, arguments[name]) if not accepts({**arguments, name: new})
        ]
        assume(wrong)
        damaged[name] = data.draw(st.sampled_from(wrong))
    result = normalize(schema, damaged)
    if not result.violations:
        assert same_json(dict(result.arguments), arguments), f"{damaged} became {result.arguments}"


@LAW
@given(damaged_calls(), st.randoms(use_true_random=False))
def test_order_does_not_change_the_outcome(call: tuple[Json, Json, str, Json], random: Any) -> None:
    """Law 3: the order of union branches, properties and arguments does not matter."""
    schema, _, _, damaged = call
    result = normalize(schema, damaged)
    shuffled = normalize(_shuffled(schema, random), _shuffled_keys(damaged, random))
    assert bool(shuffled.violations) == bool(result.violations)
    assert same_json(shuffled.arguments, result.arguments)


@LAW
@given(damaged_calls())
def test_destructive_tools_use_tiers_1_and_2_only(call: tuple[Json, Json, str, Json]) -> None:
    """A destructive tool gets only repairs of tiers 1 and 2, and the same values as other tools."""
    schema, arguments, label, damaged = call
    outcome = decide(schema, damaged, destructive=True)
    tiers = {rule.name: rule.tier for rule in Policy().rules}
    assert {tiers[each.rule] for each in outcome.repairs if each.rule != "unwrap_arguments"} <= {1, 2}
    if outcome.status == "repaired":
        kept = {
            key: value for key, value in arguments.items() if key in outcome.arguments or value is not None
        }
        assert same_json(dict(outcome.arguments), kept), f"{label}: {damaged} became {outcome.arguments}"


@needs_real
@LAW
@given(damaged_calls(REAL_SCHEMAS))
def test_damage_to_calls_of_real_tools_is_undone_or_refused(call: tuple[Json, Json, str, Json]) -> None:
    """Law 3 with schemas that real servers publish."""
    assert_undone_or_refused(*call)


@needs_real
@LAW
@given(valid_calls(REAL_SCHEMAS))
def test_valid_calls_of_real_tools_are_the_same_object(call: tuple[Json, Json]) -> None:
    """Law 1 with schemas that real servers publish."""
    schema, arguments = call
    assert normalize(schema, arguments) == Normalized(arguments, (), ())
    assert normalize(schema, arguments).arguments is arguments


def _shuffled(schema: Any, random: Any) -> Any:
    if isinstance(schema, list):
        return [_shuffled(entry, random) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _shuffled(entry, random) for name, entry in _shuffled_keys(schema, random).items()}
    for union in ("anyOf", "oneOf"):
        if isinstance(made.get(union), list):
            random.shuffle(made[union])
    return made


def _shuffled_keys(value: Json, random: Any) -> Json:
    entries = list(value.items())
    random.shuffle(entries)
    return dict(entries)
