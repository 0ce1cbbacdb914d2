"""Infer the type of a text where the schema says none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema

from mcp_lenient.declare.declarations import Declared
from mcp_lenient.declare.normalizers.annotation import ReadyMade
from mcp_lenient.values.json_values import JSON, loses_spelling, parse_container, plain
from mcp_lenient.values.limits import Limits

_LIMITS: Final = Limits()
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_MOST_DIGITS: Final = 15
"""A double holds each number of as many digits; a longer one may be an identifier."""
_BOOLEANS: Final[Mapping[str, bool]] = {"true": True, "false": False, "True": True, "False": False}
_ANNOTATIONS: Final = frozenset(
    "title description default examples deprecated readOnly writeOnly $comment".split()
)
"""Keywords that say nothing of what is accepted."""


class Infer(ReadyMade):
    """The normalizer of :func:`infer`."""

    __slots__ = ()

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the core schema of the annotated type, with this normalizer in front where the type says nothing."""
        if source is Any or source is object:
            return super().__get_pydantic_core_schema__(source, handler)
        return handler(source)


def infer() -> Infer:
    """Infer the type of a text: a number, a boolean, or JSON text; only where the schema says no type.

    A text becomes what it spells, if it can be spelled in one way only: a JSON number of at most 15 digits, ``true`` or
    ``false`` (as JSON or Python write it), or a whole JSON array or object. Everything else stays text: ``007``, ``+1``,
    ``1e5``, ``3.10`` (which would lose its zero, also in an array), ``null``, ``yes``, longer numbers, a duplicate key,
    what is not JSON (a comment, Python's literals), and any text with a space around it.

    >>> infer()("42"), infer()("true"), infer()('{"a": [1]}'), infer()("007")
    (42, True, {'a': [1]}, '007')

    It changes nothing at a parameter that has a type. ``Policy(infer_untyped=True)`` applies it to all parameters that have
    neither a type nor a normalizer.
    """
    return Infer(_infer)


def _infer(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value in _BOOLEANS:
        return _BOOLEANS[value]
    if _NUMBER.fullmatch(value) and sum(map(str.isdigit, value)) <= _MOST_DIGITS:
        number = float(value) if "." in value else int(value)
        return number if str(number) == value else value
    parsed = (
        parse_container(value, _LIMITS, JSON)
        if value[:1] in ("[", "{") and value[-1:] in ("]", "}")
        else None
    )
    return value if parsed is None or loses_spelling(parsed.value) else plain(parsed.value)


def with_inference(declared: Declared, schema: Mapping[str, Any], *, untyped: bool) -> Declared:
    """Return the declarations of a tool with ``infer()`` at parameters without a type alone.

    Args:
        declared: The declarations.
        schema: The tool's input schema.
        untyped: Whether all parameters that have neither a type nor a normalizer get it.
    """
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return declared
    typed = {name for name, property_schema in properties.items() if _has_type(property_schema)}
    normalizers = {
        name: tuple(one for one in several if not (name in typed and isinstance(one, Infer)))
        for name, several in declared.normalizers.items()
    }
    if untyped:
        added = [name for name in properties if name not in typed and name not in normalizers]
        normalizers |= dict.fromkeys(added, (infer(),))
    normalizers = {name: several for name, several in normalizers.items() if several}
    return declared if normalizers == declared.normalizers else replace(declared, normalizers=normalizers)


def _has_type(schema: Any) -> bool:
    """Return whether the schema of a parameter says anything of its values."""
    return isinstance(schema, Mapping) and not {*schema} <= _ANNOTATIONS
