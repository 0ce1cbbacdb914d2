"""Test how schemas are read and used for validation, without fetching anything."""

from __future__ import annotations

from typing import Any

import pytest
from tables import INTEGER, STRING, Json, array, closed, each_row, opened, union

from mcp_lenient import normalize


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


@each_row(
    "name",
    "date date-time time duration email hostname idn-email idn-hostname ipv4 ipv6 iri iri-reference json-pointer regex color int32 "
    "relative-json-pointer uri uri-reference uri-template uuid binary password".split(),
)
def test_formats_are_annotations(name: str) -> None:
    """No format refuses a text where only the schema is known, because the server may accept other spellings."""
    schema = opened(at={**STRING, "format": name})
    assert not normalize(schema, {"at": "no such thing ("}).violations


def test_no_text_stands_for_no_time() -> None:
    """A text that stands for nothing is no date or time, and is read as one that was left out."""
    schema = opened(
        at={**STRING, "format": "date"}, until=union({**STRING, "format": "date-time"}, {"type": "null"})
    )
    assert normalize(schema, {"at": "", "until": "null"}).arguments == {"until": None}
