"""Schemas and arguments of strangers who want a call to stall or to crash."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

Schema = Mapping[str, Any]

LEVELS = 40
_DEEP = 10_000
_INTEGER: Schema = {"type": "integer"}
_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_NUMBERS: Schema = {"type": "array", "items": _INTEGER}
_TABLE: Schema = {"type": "array", "items": _TEXTS}
_UNIQUE: Schema = {"type": "array", "uniqueItems": True}


def lists(core: Any, levels: int = LEVELS) -> Any:
    """Return a value inside this many lists."""
    return reduce(lambda inner, _: [inner], range(levels), core)


def objects(core: Any, levels: int = LEVELS) -> Any:
    """Return a value inside this many objects."""
    return reduce(lambda inner, _: {"a": inner}, range(levels), core)


# --- arguments ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hostile:
    """A schema and arguments that it does not accept.

    ``parameter`` is the parameter of a function tool that also gets the value of ``x``.
    ``may_run`` means that there is one harmless reading, so that a repair is as right as a refusal.
    """

    title: str
    schema: Schema
    arguments: Callable[[], dict[str, Any]]
    parameter: str = ""
    may_run: bool = False


_NODE: Schema = {"$ref": "#/$defs/node"}
_TREE: Schema = {"$ref": "#/$defs/tree"}
_TREES: Schema = {"type": "array", "items": _TREE}
_DEFS: Schema = {
    "node": {
        "type": "object",
        "properties": {"value": _INTEGER, "children": {"type": "array", "items": _NODE}},
        "required": ["value"],
        "additionalProperties": False,
    },
    "tree": {"anyOf": [_INTEGER, _TREES, _TREES]},
}


def _closed(**properties: Any) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": _DEFS,
    }


def _x(title: str, node: Schema, value: Callable[[], Any], parameter: str = "") -> Hostile:
    return Hostile(title, _closed(x=node), lambda: {"x": value()}, parameter)


def _nodes(levels: int) -> Any:
    return reduce(lambda inner, _: {"value": 1, "children": [inner]}, range(levels), {"value": []})


_TWO_ALIKE = [*map(str, range(99_999)), "0"]
ARGUMENTS = (
    _x("'[' * 200,000 for a list", _TEXTS, lambda: "[" * 200_000, "x"),
    _x("'{\"a\":' * 100,000 for an object", _NODE, lambda: '{"a":' * 100_000, "node"),
    _x("10,000 nested lists", _TEXTS, lambda: lists(None, _DEEP), "x"),
    _x("10,000 nested objects", _NODE, lambda: objects(None, _DEEP), "node"),
    _x("10,000 nested lists as text", _TEXTS, lambda: "[" * _DEEP + "]" * _DEEP, "x"),
    _x("10,000 nested objects as text", _NODE, lambda: '{"a":' * _DEEP + "1" + "}" * _DEEP, "node"),
    Hostile("10,000 nested objects as the arguments", _closed(x=_TEXTS), lambda: {"y": objects(None, _DEEP)}),
    _x("900 kB of '[\"'", _TEXTS, lambda: '["' * 450_000, "x"),
    _x("900 kB of '\\\\'", _TEXTS, lambda: '["' + "\\" * 900_000, "x"),
    _x("250,000 times encoded text", _TEXTS, lambda: json.dumps(json.dumps('"' * 250_000)), "x"),
    _x("5 MB of digits for an integer", _INTEGER, lambda: "9" * 5_000_000, "number"),
    _x("5 MB of digits for a number", {"type": "number"}, lambda: "9" * 5_000_000),
    _x("5 MB of spaces for a boolean", {"type": "boolean"}, lambda: " " * 5_000_000),
    _x("an integer of 4,000 digits for a text", _TEXT, lambda: [10**4000]),
    _x("recursive $ref, 60 levels, wrong leaf", _NODE, partial(_nodes, 30), "node"),
    _x("recursive $ref, 10,000 levels", _NODE, partial(_nodes, _DEEP // 2), "node"),
    _x("recursive anyOf, 30 levels", _TREE, partial(lists, "no", 30)),
    _x("a hostile pattern", {**_TEXT, "pattern": "^(a+)+$"}, lambda: "a" * 50_000 + "!", "code"),
    _x(
        "a hostile pattern with a look-ahead",
        {**_TEXT, "pattern": "^(?=(a+)+$)a*$"},
        lambda: "a" * 5_000 + "!",
    ),
    _x(
        "uniqueItems, 100,000 objects, two alike",
        {**_UNIQUE, "items": {"type": "object"}},
        lambda: [*({"at": at} for at in range(99_999)), {"at": 0}],
    ),
    _x(
        "uniqueItems, 100,000 texts for integers, two alike",
        {**_UNIQUE, "items": _INTEGER},
        lambda: list(_TWO_ALIKE),
    ),
    _x("100,000 wrong items", _TEXTS, lambda: [None] * 100_000, "x"),
    Hostile("100,000 unknown names", _closed(x=_TEXTS), lambda: {f"x{at}": 1 for at in range(100_000)}),
    Hostile(
        "1,000 names close to 1,000 declared ones",
        _closed(**{f"name_of_{at}": _TEXT for at in range(1000)}),
        lambda: {f"nmae_of_{at}": "a" for at in range(1000)},
        may_run=True,
    ),
    _x("500 kB of commas for numbers", _NUMBERS, lambda: "1," * 250_000),
    Hostile("lone surrogates", _closed(x=_TEXTS), lambda: {"x": '["\ud800', "\udfff": "\ud800"}, "x"),
)
"""Arguments that are large, deep, cut off, or costly to compare."""


# --- schemas ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Multiplying:
    """A schema with the parameters ``x`` and ``n``, arguments that it accepts, and arguments that it does not accept."""

    title: str
    schema: Schema
    right: Mapping[str, Any]
    wrong: Mapping[str, Any]


def multiplying(
    title: str, x: Schema, right: Any, wrong: Any, definitions: Schema | None = None
) -> Multiplying:
    """Return a schema with this parameter and an integer, which the wrong arguments send as text."""
    schema = {"type": "object", "properties": {"x": x, "n": _INTEGER}, "$defs": definitions or {}}
    return Multiplying(title, schema, {"x": right, "n": 5}, {"x": wrong, "n": "5"})


def _doubled(title: str, twice: Callable[[Schema], Schema], right: Any = 1, wrong: Any = "no") -> Multiplying:
    """Return a chain of definitions, each of which refers to the next twice."""
    chain: dict[str, Any] = {f"d{at}": twice({"$ref": f"#/$defs/d{at + 1}"}) for at in range(LEVELS)}
    return multiplying(title, _FIRST, right, wrong, {**chain, f"d{LEVELS}": _INTEGER})


def _dynamic(keyword: str) -> Multiplying:
    """Return the doubled chain, written with ``$dynamicRef``."""
    chain: dict[str, Any] = {
        f"d{at}": {"$dynamicAnchor": f"a{at}", keyword: [{"$dynamicRef": f"#a{at + 1}"}] * 2}
        for at in range(LEVELS)
    }
    last = {f"d{LEVELS}": {"$dynamicAnchor": f"a{LEVELS}", **_INTEGER}}
    return multiplying(f"$dynamicRef, {keyword}", _FIRST, 1, "no", {**chain, **last})


def _recursive(title: str, definition: Schema, right: Any = 1, wrong: Any = "no") -> Multiplying:
    return multiplying(title, _R, right, wrong, {"r": definition})


def _branches(count: int, below: Schema) -> list[Schema]:
    return [{"type": "object", "properties": {"a": below, f"k{at}": _INTEGER}} for at in range(count)]


def _nested_properties(levels: int) -> Schema:
    return reduce(lambda inner, _: {"type": "object", "properties": {"a": inner}}, range(levels), _INTEGER)


def _two(ref: Schema) -> list[Schema]:
    return [ref, dict(ref)]


_FIRST: Schema = {"$ref": "#/$defs/d0"}
_R: Schema = {"$ref": "#/$defs/r"}
_R_LISTS: list[Schema] = [_INTEGER, *({"items": _R, "type": "array"},) * 2]
_LINKS = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(2000)}
_IN_LISTS, _IN_OBJECTS = (lists(1), lists("no")), (objects(1), objects("no"))
DOUBLED = (
    _doubled("allOf", lambda ref: {"allOf": _two(ref)}),
    _doubled("allOf, nothing fits", lambda ref: {"allOf": _two(ref)}, 1, {"a": 1}),
    _doubled("anyOf", lambda ref: {"anyOf": _two(ref)}),
    _doubled("oneOf", lambda ref: {"oneOf": _two(ref)}),
    _doubled("anyOf in allOf", lambda ref: {"allOf": [{"anyOf": _two(ref)}, ref]}),
    _doubled("not", lambda ref: {"not": {"anyOf": _two(ref)}}),
    _doubled("if, then, else", lambda ref: {"if": ref, "then": ref, "else": ref}),
    _doubled("items", lambda ref: {"items": {"allOf": _two(ref)}}, *_IN_LISTS),
    _doubled("prefixItems, items", lambda ref: {"prefixItems": [ref], "items": ref}, *_IN_LISTS),
    _doubled("contains", lambda ref: {"contains": ref, "items": ref}, *_IN_LISTS),
    _doubled("properties", lambda ref: {"properties": {"a": ref, "b": ref}}, *_IN_OBJECTS),
    _doubled(
        "properties in anyOf",
        lambda ref: {"anyOf": [{"properties": {"a": each}} for each in _two(ref)]},
        *_IN_OBJECTS,
    ),
    _doubled(
        "properties, patterns",
        lambda ref: {"properties": {"a": ref}, "patternProperties": {"a": ref, "^a": ref}},
        *_IN_OBJECTS,
    ),
    _doubled(
        "dependentSchemas", lambda ref: {"dependentSchemas": {"a": ref, "b": ref}}, {"a": 1}, {"a": 1, "b": 1}
    ),
    _doubled(
        "propertyNames",
        lambda ref: {"propertyNames": ref, "additionalProperties": ref},
        {},
        {"a": 1, "b": {}},
    ),
    _doubled("unevaluated", lambda ref: {"allOf": _two(ref), "unevaluatedProperties": False}, 1, {"a": 1}),
    _doubled("dependencies", lambda ref: {"dependencies": {"a": ref, "b": ref}}, {"a": 1}, {"a": 1, "b": 1}),
    _doubled("nullable", lambda ref: {"allOf": _two(ref), "nullable": True}, None),
    _doubled(
        "additionalProperties", lambda ref: {"additionalProperties": {"allOf": _two(ref)}}, *_IN_OBJECTS
    ),
    _doubled("extends", lambda ref: {"extends": _two(ref)}),
    _dynamic("allOf"),
    _dynamic("anyOf"),
)
"""Schemas whose references double on each of forty levels."""
SCHEMAS = (
    *DOUBLED,
    _recursive("recursive anyOf", {"anyOf": _R_LISTS}, *_IN_LISTS),
    _recursive("recursive oneOf", {"oneOf": _R_LISTS}, 1, lists("no")),
    _recursive("recursive branches", {"anyOf": [_INTEGER, *_branches(20, _R)]}, *_IN_OBJECTS),
    _recursive("recursive allOf", {"allOf": _branches(2, _R)}, objects({}), objects("no")),
    _recursive("recursive, wide value", {"anyOf": _R_LISTS}, [lists(1, 10)] * 100, [lists("no", 10)] * 100),
    _recursive("itself in allOf", {"allOf": [_R, _INTEGER]}),
    _recursive("itself in anyOf", {"anyOf": [_R, _R, _INTEGER]}),
    multiplying("a chain of 2,000", _FIRST, 1, "no", {**_LINKS, "d2000": _INTEGER}),
    multiplying("200 branches, one property", {"allOf": _branches(200, _INTEGER)}, {"a": 1}, {"a": "no"}),
    multiplying("200 of anyOf, one property", {"anyOf": _branches(200, _INTEGER)}, {"a": 1}, {"a": "no"}),
    multiplying("2,000 levels", _nested_properties(2_000), objects({}), objects("no")),
    multiplying(
        "10,000 enum values", {"enum": [f"value {at}" for at in range(10_000)]}, "value 7", "valeu 7"
    ),
    multiplying("10,000 enum objects", {"enum": [{"at": at} for at in range(10_000)]}, {"at": 7}, {"at": -7}),
    multiplying(
        "uniqueItems",
        _UNIQUE,
        [{"at": [at]} for at in range(5_000)],
        [{"at": [at % 4_999]} for at in range(5_000)],
    ),
    multiplying("a costly pattern", {**_TEXT, "pattern": "^(?=a)(a+)+$"}, "a", "a" * 5_000 + "!"),
)
"""All schemas that are costly to compile, or to check a value by."""
