"""Test how schemas are read and used for validation, without fetching anything."""

from __future__ import annotations

from typing import Any

import pytest
from tables import INTEGER, STRING, Json, closed, each_row, opened

from mcp_lenient import normalize
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.schema.references import resolve
from mcp_lenient.schema.shape import shape_of


@each_row(
    ("reference", "target"),
    [
        pytest.param("#", "root", id="root"),
        pytest.param("#/$defs/a", INTEGER, id="definition"),
        pytest.param("#/$defs/b~1c", STRING, id="escaped slash"),
        pytest.param("#/$defs/list/allOf/0", INTEGER, id="index"),
        pytest.param("#/$defs/d%20e", STRING, id="percent-encoded"),
        pytest.param("#/$defs/none", None, id="dangling"),
        pytest.param("#/$defs/list/allOf/7", None, id="index beyond"),
        pytest.param("#anchor", None, id="anchor"),
        pytest.param("https://example.com/a", None, id="remote"),
        pytest.param("other.json#/a", None, id="relative"),
    ],
)
def test_only_local_references_are_followed(reference: str, target: Any) -> None:
    """Only a local reference is followed."""
    root: Json = {"$defs": {"a": INTEGER, "b/c": STRING, "d e": STRING, "list": {"allOf": [INTEGER]}}}
    assert resolve(root, reference) == (root if target == "root" else target)


@pytest.mark.parametrize("boolean", [True, False])
def test_boolean_schemas_are_accepted(boolean: bool) -> None:
    """A property's schema may be true or false."""
    result = normalize(closed("n", p=boolean, n=INTEGER), {"p": "1", "n": "2"})
    assert bool(result.violations) is not boolean


def test_shape_merges_allof() -> None:
    """The parts of a schema are merged."""
    shape = shape_of({}, {"allOf": [opened("a", a=INTEGER), {**closed("b", b=STRING), "description": "b"}]})
    assert shape.properties.keys() == {"a", "b"}
    assert shape.required == {"a", "b"}
    assert shape.closed
    assert shape.is_only("object")


@each_row("unreadable", [True, False, None, 5, "a", []])
def test_shape_of_a_non_schema_is_empty(unreadable: Any) -> None:
    """A value that is not a schema has an empty shape."""
    assert shape_of({}, unreadable).types is None
    assert not shape_of({}, unreadable).properties


@each_row(
    ("sent", "issues"),
    [
        pytest.param({"n": 1}, [], id="accepted"),
        pytest.param({"n": "1"}, [(("n",), "type")], id="type"),
        pytest.param({"n": 99}, [(("n",), "value")], id="value"),
        pytest.param({}, [(("n",), "missing")], id="missing"),
        pytest.param({"n": 1, "m": 2}, [(("m",), "unknown")], id="unknown"),
        pytest.param({"n": 1, "rows": [{"a": "x"}]}, [(("rows", 0, "a"), "type")], id="nested"),
    ],
)
def test_issues_have_path_and_kind(sent: Json, issues: list[Any]) -> None:
    """Each issue has its path and kind."""
    rows = {"type": "array", "items": opened(a=INTEGER)}
    validator = PublishedSchemaValidator(closed("n", n={**INTEGER, "maximum": 10}, rows=rows))
    assert validator.accepts(sent) is not bool(issues)
    assert [(issue.path, issue.kind) for issue in validator.issues(sent)] == issues


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


@pytest.mark.parametrize("reference", ["http://x/y.json#/$defs/o", "y.json#/$defs/o", "#/$defs/o"])
def test_reference_by_own_id_is_resolved(reference):
    """A reference by the schema's own `$id` works like one by fragment."""
    schema = {
        "$id": "http://x/y.json",
        "type": "object",
        "properties": {"n": {"type": "array", "items": {"type": "integer"}}, "p": {"$ref": reference}},
        "$defs": {"o": {"type": "object", "properties": {"a": {"type": "integer"}}}},
    }
    assert normalize(schema, {"n": "[5]", "p": {"a": "5"}}).arguments == {"n": [5], "p": {"a": 5}}


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        (
            "date",
            ["2026-02-14"],
            ["14/02/2026", "2026-02-14T00:00:00", "2026-13-01", "2026-2-4", "today", ""],
        ),
        (
            "date-time",
            [
                "2026-02-14T10:00:00Z",
                "2026-02-14T10:00:00",
                "2026-02-14 10:00",
                "2026-02-14T10:00:00.5+02:00",
            ],
            ["2026-02-14", "14.02.2026 10:00", "2026-02-14T25:00:00Z", "now"],
        ),
        ("time", ["10:00", "10:00:00Z", "23:59:60"], ["24:00", "10", "10 am"]),
    ],
)
def test_dates_and_times_are_checked(name: str, right: list[str], wrong: list[str]) -> None:
    """Text that is not a date or time is refused by a schema with that format."""
    schema = {"type": "object", "properties": {"at": {"type": "string", "format": name}}}
    validator = PublishedSchemaValidator(schema)
    assert [text for text in right if not validator.accepts({"at": text})] == []
    assert [text for text in wrong if validator.accepts({"at": text})] == []


@each_row(
    "name",
    "duration email hostname idn-email idn-hostname ipv4 ipv6 iri iri-reference json-pointer regex color int32 "
    "relative-json-pointer uri uri-reference uri-template uuid binary password".split(),
)
def test_other_formats_are_annotations(name: str) -> None:
    """Other formats are not checked, because the server may accept other spellings."""
    schema = {"type": "object", "properties": {"at": {"type": "string", "format": name}}}
    assert PublishedSchemaValidator(schema).accepts({"at": "no such thing ("})
