"""What is wrong with a schema by itself, as the meta-schema of its dialect has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mcp_lenient.check.finding import Hit
from mcp_lenient.check.surface import Surface, within
from mcp_lenient.pointers import pointer
from mcp_lenient.redaction import cut

_LONGEST_REASON: Final = 200
_TYPE_NAMES: Final = "array, boolean, integer, null, number, object or string"
_BOUND: Final = "Write the bound itself under '{0}', as a number, and take '{1}' out."
_MENDS: Final[Mapping[str, str]] = {
    "type": f"A type is {_TYPE_NAMES}, or a list of some of these.",
    "required": "List the names that must be sent under 'required' of the object that declares them.",
    "enum": "List the allowed values under 'enum'.",
    "items": "Write one schema under 'items'; where each place of a list has its own, list them under 'prefixItems'.",
    "properties": "Write under 'properties' an object that has a schema for each name.",
    "exclusiveMinimum": _BOUND.format("exclusiveMinimum", "minimum"),
    "exclusiveMaximum": _BOUND.format("exclusiveMaximum", "maximum"),
}
"""What to change, by the keyword that is written wrong."""
_LISTED: Final = frozenset({"allOf", "anyOf", "oneOf"})


def schema_invalid(surface: Surface) -> Iterator[Hit]:
    """Input schemas that the meta-schema of their dialect refuses."""
    found = _fault(surface.tool.input_schema)
    if found is None:
        return
    path, words = found
    keyword = _keyword(path)
    mend = _MENDS.get(keyword, f"Write '{keyword}' as JSON Schema 2020-12 has it.")
    yield Hit(
        _place(path),
        f"The input schema is no valid JSON Schema at {pointer(path) or '/'}: {cut(words, _LONGEST_REASON)}.",
        mend,
    )


def _fault(schema: Mapping[str, Any]) -> tuple[tuple[str | int, ...], str] | None:
    """Where in a schema its most telling fault is, and what it is; None where there is none."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from jsonschema.validators import validator_for

    # Nothing is fetched: a meta-schema refers to its own parts alone, and what the schema refers to is not followed.
    dialect = validator_for(schema, default=Draft202012Validator)
    try:
        fault = best_match(dialect(dialect.META_SCHEMA).iter_errors(schema))
    except RecursionError:
        return None  # it is nested too deep to be read, which `schema_unusable` says
    if fault is None:
        return None
    # Of several forms none is nearer than another, and the sentence for that speaks of schemas, not of this one.
    words = f"{fault.instance!r} is not allowed there" if fault.validator == "anyOf" else fault.message
    return tuple(fault.absolute_path), words


def _keyword(path: Sequence[str | int]) -> str:
    """The keyword that is written wrong: the last one of the path, for what is listed under it its own."""
    names = [part for part in path if isinstance(part, str)]
    return names[-1] if names else "type"


def _place(path: Sequence[str | int]) -> str:
    """The parameter that a path into the schema leads to, such as ``rows[].age``; empty where it is of none alone."""
    place, rest = "", list(path)
    while len(rest) > 1:
        keyword, below = rest[0], rest[1]
        if keyword == "properties":
            place, rest = within(place, str(below)), rest[2:]
        elif keyword == "prefixItems":
            place, rest = f"{place}[{below}]", rest[2:]
        elif keyword == "items":
            place, rest = f"{place}[]", rest[1:]
        elif keyword == "additionalProperties":
            place, rest = within(place, "*"), rest[1:]
        elif keyword in _LISTED:
            rest = rest[2:]
        else:
            break
    return place if not rest or rest[0] != "$defs" else ""
