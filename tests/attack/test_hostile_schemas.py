"""Test law 7 with hostile schemas: they compile, and calls are answered, in bounded time."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest
from tables import INTEGER, STRING, array, closed, union

from mcp_lenient import normalize
from tests.shared import hostile

_COMPILED_WITHIN = 5.0
_ANSWERED_WITHIN = 2.0
"""Seconds of processor time, a generous bound. A failure would take minutes or never end."""


def _nested_unions(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = INTEGER
    for _ in range(levels):
        schema = union(schema, array(schema), schema)
    return schema


_KINDS = union(array(INTEGER), closed(a=INTEGER), {"type": "boolean"})
_BACK = {"$ref": "#"}
SCHEMAS = {
    "different unions in allOf": closed(
        x={"allOf": [union(INTEGER, {**STRING, "maxLength": at}) for at in range(300)]}
    ),
    "a default of brackets": closed(x={**array(INTEGER), "default": "[" * 100_000}),
    "unions in allOf": closed(x={"allOf": [_KINDS] * 12}),
    "the root in its own allOf": {
        "allOf": [union(INTEGER, INTEGER), {"oneOf": [_BACK, {"allOf": [INTEGER] * 3}]}, {"enum": ["a"]}],
        "properties": {"x": INTEGER},
    },
    "unions that refer to each other": {
        **closed(x={"$ref": "#/$defs/a"}),
        "$defs": {
            "a": union({"$ref": "#/$defs/b"}, INTEGER),
            "b": union({"$ref": "#/$defs/a"}, array({"$ref": "#/$defs/b"})),
        },
    },
    "unions in unions": closed(x=_nested_unions(6)),
    "ten thousand properties": closed(**{f"p{at}": INTEGER for at in range(10_000)}),
    "two hundred levels": closed(x=array(INTEGER)),
}
_LEVELS: Any = SCHEMAS["two hundred levels"]
for _ in range(60):
    _LEVELS["properties"]["x"] = array(_LEVELS["properties"]["x"])
VALUES: dict[str, Any] = {
    "text": "no",
    "JSON text": '[["5"]]',
    "lists": [["no"]],
    "objects": {"a": {"a": ["x"]}},
    "long": "a" * 5_000 + "!",
    "many": [{"at": at % 99} for at in range(100)],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "schema",
    [pytest.param(schema, id=name) for name, schema in SCHEMAS.items()],
)
def test_answered_soon(schema):
    """A wrong value of any kind is answered within a time limit, the first time and later."""
    for bound in (_COMPILED_WITHIN, _ANSWERED_WITHIN):
        for value in VALUES.values():
            started = process_time()
            result = normalize(schema, {"x": value, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!": 1})
            assert process_time() - started < bound
            assert result.violations or result.repairs or result.arguments["x"] is value


@pytest.mark.slow
@pytest.mark.parametrize("case", [pytest.param(case, id=case.title) for case in hostile.SCHEMAS])
def test_costly_schemas_are_answered_soon(case):
    """Costly schemas delay no call. If references double on each of 40 levels, other parameters are repaired."""
    for core in (case.right["x"], case.wrong["x"], None, {"a": 1, "b": "no"}):
        for value in (core, hostile.lists(core), hostile.objects(core)):
            started = process_time()
            result = normalize(case.schema, {"x": value, "n": "5"})
            assert process_time() - started < _ANSWERED_WITHIN
            is_repaired = result.arguments["n"] == 5 or "/n" not in {
                each.pointer for each in result.violations
            }
            assert is_repaired or case not in hostile.DOUBLED


@pytest.mark.parametrize("levels", [100, 1_000, 20_000])
@pytest.mark.parametrize("keyword", ["properties", "items", "allOf", "not"])
def test_levels_of_schemas_are_bounded(keyword, levels):
    """However deep a schema nests, the other parameters are repaired."""
    wrapped = {
        "properties": lambda x: {"a": x},
        "items": lambda x: x,
        "allOf": lambda x: [x],
        "not": lambda x: x,
    }
    schema: dict[str, Any] = INTEGER
    for _ in range(levels):
        schema = {keyword: wrapped[keyword](schema)}
    assert normalize(closed(x=schema, n=INTEGER), {"n": "5"}).arguments == {"n": 5}


@pytest.mark.parametrize("name", ["different unions in allOf", "a default of brackets"])
def test_what_is_too_deep_is_left_alone(name):
    """A parameter with a schema that is too deep to be read raises nothing, and the others are repaired."""
    schema = closed(**SCHEMAS[name]["properties"], n=INTEGER)
    result = normalize(schema, {"x": "x" * 400, "n": "5"})
    assert [each.pointer for each in result.violations] == ["/x"]


def test_arguments_that_need_no_object_are_refused():
    """If a schema also lists a text as the arguments, a fix that makes one of an object raises nothing."""
    schema = {"type": "object", "properties": {"a": INTEGER}, "enum": ["x", {"a": 1}]}
    assert normalize(schema, {"value": "x"}).violations
