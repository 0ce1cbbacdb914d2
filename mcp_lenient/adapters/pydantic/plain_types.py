"""Quick checks of plain types: they accept long lists without Pydantic building an object for each entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Final

from mcp_lenient.schema.checks import has_jsonschema_rs

Core = Mapping[str, Any]
Schema = dict[str, Any]
Check = Callable[[Any], bool]

_BOUND: Final = 2**62
"""Integers well inside the range that Pydantic accepts in any spelling."""
_IGNORED: Final = frozenset({"type", "metadata", "ref", "serialization", "cls", "config", "model_name"})
_SCALARS: Final[Mapping[str, Schema]] = {
    "any": {},
    "none": {"type": "null"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer", "minimum": -_BOUND, "maximum": _BOUND},
    "float": {"type": "number", "minimum": -_BOUND, "maximum": _BOUND},
    "str": {"type": "string"},
}
_PARTS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(_SCALARS, frozenset()),
    "literal": frozenset({"expected"}),
    "list": frozenset({"items_schema"}),
    "dict": frozenset({"values_schema", "keys_schema"}),
    "nullable": frozenset({"schema"}),
    "default": frozenset({"schema", "default", "copy_default"}),
    "model": frozenset({"schema"}),
    "model-fields": frozenset({"fields", "computed_fields"}),
    "arguments": frozenset({"arguments_schema"}),
}
"""The parts of each plain type; a type with any other, such as a limit, is left to Pydantic."""
_WRITABLE: Final[Schema] = {"type": "string", "not": {"enum": ["\x00"]}}
"""A text that is compared with another, so that a lone surrogate in it, which strict servers refuse, is an error."""
_JSON_TYPES: Final = frozenset({str, int, float, bool, type(None), list, dict})
"""The types that a JSON parser returns; FastMCP validates others as Python objects."""
_CONTAINERS: Final = frozenset({list, dict})
_TEXT: Final = frozenset({str})
_ANY: Final[Core] = {"type": "any"}
_MODEL_CONFIG: Final = frozenset({"title"})


class _NotPlain(Exception):  # noqa: N818 - a signal within this module
    """A signal for a type that is left to Pydantic."""


def quick_check(core: Core, *, strict: bool) -> Check | None:
    """Return a check whose True means that Pydantic accepts arguments; None if their types are not plain.

    There is none where jsonschema-rs is not installed: jsonschema is slower than Pydantic.

    Args:
        core: The core schema of a function's arguments.
        strict: Whether Pydantic validates them as strict JSON.
    """
    if not has_jsonschema_rs():
        return None
    import jsonschema_rs

    # Only in draft 4 is 7.0 not an integer.
    make = jsonschema_rs.Draft4Validator if strict else jsonschema_rs.validator_for
    try:
        is_valid = make(_schema(core, strict=strict)).is_valid
    except (_NotPlain, jsonschema_rs.ValidationError, ValueError):
        return None

    def check(arguments: Any) -> bool:
        try:
            return is_valid(arguments) and (not strict or _is_json(arguments))
        except ValueError:  # not JSON
            return False

    return check


def _is_json(arguments: Any) -> bool:
    """Return whether all values have types that a JSON parser returns; level by level, so that the loops run in C."""
    level: list[Any] = [arguments]
    while level:
        objects = [value for value in level if type(value) is dict]
        entries = [*map(dict.values, objects), *(value for value in level if type(value) is list)]
        kinds = set(map(type, chain.from_iterable(entries)))
        if not (kinds <= _JSON_TYPES and _TEXT.issuperset(map(type, chain.from_iterable(objects)))):
            return False
        if _CONTAINERS.isdisjoint(kinds):
            return True
        level = [value for value in chain.from_iterable(entries) if type(value) in _CONTAINERS]
    return True


def _schema(core: Core, *, strict: bool) -> Schema:
    kind = core["type"]
    settings = {key for key, value in core.items() if value is not None and value is not False} - _IGNORED
    config = core.get("config") or {}
    if kind not in _PARTS or not settings <= _PARTS[kind] or not _MODEL_CONFIG.issuperset(config):
        raise _NotPlain
    if kind in _SCALARS:
        return _scalar(kind, strict=strict)
    if kind in ("model", "default"):
        return _schema(core["schema"], strict=strict)
    if kind == "nullable":
        return {"anyOf": [_schema(core["schema"], strict=strict), {"type": "null"}]}
    if kind == "literal":
        return _texts(core["expected"])
    if kind == "list":
        return {"type": "array", "items": _schema(core.get("items_schema", _ANY), strict=strict)}
    if kind == "dict":
        return _map(core, strict=strict)
    if kind == "model-fields":
        return _object(core["fields"].items(), closed=strict, strict=strict)
    named = [(argument["name"], argument) for argument in core["arguments_schema"] if "alias" not in argument]
    if len(named) < len(core["arguments_schema"]) or any(
        argument.get("mode") == "positional_only" for _, argument in named
    ):
        raise _NotPlain
    return _object(named, closed=True, strict=strict)


def _scalar(kind: str, *, strict: bool) -> Schema:
    """Return the schema of a scalar or of any value. A strict server may refuse any value, if it is too deep to serialize."""
    if strict and kind == "any":
        raise _NotPlain
    return _WRITABLE if strict and kind == "str" else _SCALARS[kind]


def _texts(expected: list[Any]) -> Schema:
    if not all(type(value) is str for value in expected):
        raise _NotPlain
    return {"enum": expected}


def _map(core: Core, *, strict: bool) -> Schema:
    if core.get("keys_schema", _ANY) not in (_ANY, {"type": "str"}):
        raise _NotPlain
    return {"type": "object", "additionalProperties": _schema(core.get("values_schema", _ANY), strict=strict)}


def _object(fields: Any, *, closed: bool, strict: bool) -> Schema:
    properties: dict[str, Schema] = {}
    for name, field in fields:
        if "validation_alias" in field:
            raise _NotPlain
        properties[name] = _schema(field["schema"], strict=strict)
    required = [name for name, field in fields if field["schema"]["type"] != "default"]
    # Draft 4 forbids an empty list.
    demanded = {"required": required} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": not closed, **demanded}
