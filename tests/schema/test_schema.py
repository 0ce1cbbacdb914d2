"""Test how schemas are read and used for validation, without fetching anything."""

from __future__ import annotations

from typing import Any

import pytest
from tables import INTEGER, STRING, Json, array, closed, each_row, opened, rows

from mcp_lenient import Normalizer, Policy, normalize


@each_row(("reference", "target"))
def test_only_local_references_are_followed(reference: str, target: Any) -> None:
    """Only a local reference is followed; any other accepts any value."""
    defs: Json = {"a": INTEGER, "b/c": STRING, "d e": STRING, "list": {"allOf": [INTEGER]}}
    schema = {**closed(p={"$ref": reference}), "$defs": defs}
    expected = {None: "5", "integer": 5, "string": "5"}[target and target["type"]]
    assert normalize(schema, {"p": "5"}).arguments == {"p": expected}
    assert bool(normalize(schema, {"p": [[]]}).violations) is (target is not None)


@pytest.mark.parametrize("boolean", [True, False])
def test_boolean_schemas_are_accepted(boolean: bool) -> None:
    """A property's schema may be true or false."""
    result = normalize(closed("n", p=boolean, n=INTEGER), {"p": "1", "n": "2"})
    assert bool(result.violations) is not boolean


def test_parts_of_allof_are_merged() -> None:
    """The parts of a schema are merged: their names, what they require, and whether others may come."""
    schema = {
        "allOf": [opened("a", a=INTEGER), {**opened("b", b=STRING), "description": "b"}],
        "unevaluatedProperties": False,
    }
    assert normalize(schema, {"a": "5", "b": 42}).arguments == {"a": 5, "b": "42"}
    found = normalize(schema, {"a": "5", "c": 1}).violations
    assert sorted((each.code, each.pointer) for each in found) == [("missing", "/b"), ("unknown", "/c")]


def test_changed_schema_is_recompiled() -> None:
    """A schema is cached by content, not by object identity."""
    schema = closed("p", p=INTEGER)
    assert normalize(schema, {"p": "1"}).arguments == {"p": 1}
    schema["properties"]["p"] = STRING
    assert normalize(schema, {"p": "1"}).arguments == {"p": "1"}
    assert normalize(schema, {"p": 1}).arguments == {"p": "1"}


def test_true_and_one_are_different_schemas() -> None:
    """Schemas that are equal in Python but not in JSON have different cache keys."""
    assert not normalize(closed("p", p={"enum": [1, 5]}), {"p": 1}).violations
    assert normalize(closed("p", p={"enum": [True, 5]}), {"p": 1}).violations


@pytest.mark.parametrize("own", ["http://x/y.json", "http://x/y.json#", "y.json"])
@pytest.mark.parametrize("reference", ["{own}/$defs/o", "y.json#/$defs/o", "./y.json#/$defs/o", "#/$defs/o"])
def test_reference_by_own_id_is_resolved(own, reference):
    """A reference by the schema's own `$id` works like one by fragment."""
    reference = reference.format(own=f"{own.removesuffix('#')}#")
    schema = {
        "$id": own,
        **opened(n=array(INTEGER), p={"$ref": reference}),
        "$defs": {"o": opened(a=INTEGER)},
    }
    assert normalize(schema, {"n": "[5]", "p": {"a": "5"}}).arguments == {"n": [5], "p": {"a": 5}}


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    rows(__file__, "dates_and_times_are_checked"),
)
def test_dates_and_times_are_checked(name: str, right: list[str], wrong: list[str]) -> None:
    """Text that is not a date or time is refused by a schema with that format."""
    schema = opened(at={**STRING, "format": name})
    strict = Normalizer(schema, Policy.strict())
    assert [text for text in right if strict({"at": text}).violations] == []
    assert [text for text in wrong if not strict({"at": text}).violations] == []


@each_row(
    "name",
    "duration email hostname idn-email idn-hostname ipv4 ipv6 iri iri-reference json-pointer regex color int32 "
    "relative-json-pointer uri uri-reference uri-template uuid binary password".split(),
)
def test_other_formats_are_annotations(name: str) -> None:
    """Other formats are not checked, because the server may accept other spellings."""
    schema = opened(at={**STRING, "format": name})
    assert not normalize(schema, {"at": "no such thing ("}).violations
