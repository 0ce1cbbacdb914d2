"""A quick check of plain types: it accepts long lists without Pydantic building an object for each entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Core = Mapping[str, Any]
Schema = dict[str, Any]
Check = Callable[[Any], bool]

_BOUND: Final = 2**62
"""Integers well inside the range that Pydantic accepts in any spelling."""
_IGNORED: Final = frozenset({"type", "metadata", "ref", "serialization", "cls", "config", "model_name"})
_PARTS: Final[Mapping[str, frozenset[str]]] = {
    "any": frozenset(),
    "none": frozenset(),
    "bool": frozenset(),
    "int": frozenset(),
    "float": frozenset(),
    "str": frozenset(),
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
_SCALARS: Final[Mapping[str, Schema]] = {
    "any": {},
    "none": {"type": "null"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer", "minimum": -_BOUND, "maximum": _BOUND},
    "float": {"type": "number"},
    "str": {"type": "string"},
}
_TEXT_KEYS: Final = ({"type": "any"}, {"type": "str"})
_MODEL_CONFIG: Final = frozenset({"title"})


class _NotPlain(Exception):  # noqa: N818 - a signal within this module
    """A signal for a type that is left to Pydantic."""


def quick_check(core: Core) -> Check | None:
    """Return a check whose True means that Pydantic accepts arguments in lax mode; None if types are not plain."""
    import jsonschema_rs

    try:
        is_valid = jsonschema_rs.validator_for(_schema(core)).is_valid
    except (_NotPlain, jsonschema_rs.ValidationError, ValueError):
        return None

    def check(arguments: Any) -> bool:
        try:
            return is_valid(arguments)
        except ValueError:  # not JSON
            return False

    return check


def _schema(core: Core) -> Schema:
    kind = core["type"]
    given = {key for key, value in core.items() if value is not None and value is not False} - _IGNORED
    config = core.get("config") or {}
    if kind not in _PARTS or not given <= _PARTS[kind] or not _MODEL_CONFIG.issuperset(config):
        raise _NotPlain
    if kind in _SCALARS:
        return dict(_SCALARS[kind])
    if kind in ("model", "default"):
        return _schema(core["schema"])
    if kind == "nullable":
        return {"anyOf": [_schema(core["schema"]), {"type": "null"}]}
    if kind == "literal":
        return _texts(core["expected"])
    if kind == "list":
        return {"type": "array", "items": _schema(core.get("items_schema", {"type": "any"}))}
    if kind == "dict":
        return _map(core)
    if kind == "model-fields":
        return _object(core["fields"].items())
    named = [(each["name"], each) for each in core["arguments_schema"] if "alias" not in each]
    if len(named) < len(core["arguments_schema"]) or any(
        each.get("mode") == "positional_only" for _, each in named
    ):
        raise _NotPlain
    return {**_object(named), "additionalProperties": False}


def _texts(expected: list[Any]) -> Schema:
    if not all(type(value) is str for value in expected):
        raise _NotPlain
    return {"enum": expected}


def _map(core: Core) -> Schema:
    if core.get("keys_schema", _TEXT_KEYS[0]) not in _TEXT_KEYS:
        raise _NotPlain
    return {"type": "object", "additionalProperties": _schema(core.get("values_schema", {"type": "any"}))}


def _object(fields: Any) -> Schema:
    properties: dict[str, Schema] = {}
    for name, field in fields:
        if "validation_alias" in field:
            raise _NotPlain
        properties[name] = _schema(field["schema"])
    required = [name for name, field in fields if field["schema"]["type"] != "default"]
    return {"type": "object", "properties": properties, "required": required}
