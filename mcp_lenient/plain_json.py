"""Plain types as strict JSON: long arguments of a strict server are accepted without being written and read.

For a strict call FastMCP writes the arguments as JSON and has Pydantic read them, which is most of what a long
one costs. What is said here of plain types is said of JSON too: a text that can be written, integers that came
as such, and nothing that nests deeper than the types themselves do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Final

from mcp_lenient.nesting import refers_to_itself

_TYPES: Final = frozenset({str, int, float, bool, type(None), list, dict})
"""What a JSON parser makes; of anything else FastMCP may validate the Python object."""
_CONTAINERS: Final = frozenset({list, dict})
_TEXT: Final = frozenset({str})
WRITABLE: Final[Mapping[str, Any]] = {"not": {"enum": ["\x00"]}}
"""Comparing a text is what makes the validator read it, and say that a lone surrogate cannot be written."""
_SCALAR: Final[Mapping[str, Any]] = {
    "anyOf": [{"type": "string", **WRITABLE}, {"type": "boolean"}, {"type": "null"}]
}
"""What an undeclared name may hold, so that nothing there is too deep to be written."""


class _NotPlain(Exception):  # noqa: N818 - a signal within this module
    """A type that leaves open what is taken, or asks what the draft used here cannot say."""


def strict_check(schema: Mapping[str, Any]) -> Callable[[Any], bool] | None:
    """A check of arguments for which True means that Pydantic accepts them as strict JSON; None for other types.

    Args:
        schema: What :mod:`mcp_lenient.plain_types` made of the core schema of a function's arguments.
    """
    import jsonschema_rs

    if refers_to_itself(schema):
        return None
    try:
        # In this draft alone 7.0 is no integer.
        is_valid = jsonschema_rs.Draft4Validator(_strict(schema)).is_valid
    except _NotPlain:
        return None

    def check(arguments: Any) -> bool:
        try:
            # What is valid nests no deeper than the types do: only that can be walked without end in sight.
            return type(arguments) is dict and is_valid(arguments) and _is_json(arguments)
        except ValueError:  # a lone surrogate
            return False

    return check


def _strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema for strict JSON."""
    if not schema or "exclusiveMinimum" in schema or "exclusiveMaximum" in schema:
        raise _NotPlain
    made = {keyword: part for keyword, part in schema.items() if part != []}  # that draft has no empty lists
    if made.get("type") == "string":
        made.update(WRITABLE)
    if made.get("type") == "object":
        made.setdefault("additionalProperties", _SCALAR)
    for keyword in ("items", "additionalProperties"):
        if isinstance(part := schema.get(keyword), Mapping):
            made[keyword] = _strict(part)
    for keyword in ("properties", "$defs"):
        if keyword in schema:
            made[keyword] = {name: _strict(part) for name, part in schema[keyword].items()}
    if "anyOf" in schema:
        made["anyOf"] = [_strict(part) for part in schema["anyOf"]]
    return made


def _is_json(arguments: dict[str, Any]) -> bool:
    """Whether all values are of the types that a JSON parser makes; goes level by level, as long loops in C."""
    level: list[Any] = [arguments]
    while level:
        objects = [each for each in level if type(each) is dict]
        arrays = [each for each in level if type(each) is list]
        entries = [*map(dict.values, objects), *arrays]
        kinds = set(map(type, chain.from_iterable(entries)))
        if not (kinds <= _TYPES and _TEXT.issuperset(map(type, chain.from_iterable(objects)))):
            return False
        if _CONTAINERS.isdisjoint(kinds):
            return True
        level = [each for each in chain.from_iterable(entries) if type(each) in _CONTAINERS]
    return True
