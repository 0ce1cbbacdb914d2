"""Types that let a misunderstood value through, or refuse what callers are used to send."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcp_lenient.check.finding import Hit, Level
from mcp_lenient.check.surface import Spot, Surface, within
from mcp_lenient.drafts import ANNOTATIONS
from mcp_lenient.node import Node
from mcp_lenient.redaction import cut
from mcp_lenient.refusal.places import forms

_TEXTS: Final[Mapping[str, str]] = {"array": '["a"]', "object": '{"a": 1}'}
_LONGEST_DEFAULT: Final = 60
_ARTICLES: Final = {"array": "a list", "object": "an object"}
_SAYS_NOTHING: Final = ANNOTATIONS | {"$ref"}
_JSON_TEXT: Final = re.compile(
    r"\bJSON[- ](?:encoded |formatted )?(?:string|text)\b|\bJSON[- ](?:encoded|serialized|stringified)\b"
    r"|\bstringified JSON\b|\b(?:as|in) JSON format\b",
    re.IGNORECASE,
)


def untyped_parameter(surface: Surface) -> Iterator[Hit]:
    """Places that take any JSON value."""
    for spot in surface.spots:
        if surface.is_normalized(spot):
            continue
        if spot.name is not None and _is_untyped(spot.node):
            told: Level | None = "note" if spot.description else None
            yield Hit(
                spot.place,
                f"'{spot.place}' takes any JSON value, so a list that a caller writes as text arrives as text.",
                "Give it a type; where it really may be anything, say in its description how to write it.",
                told,
            )
        elif spot.alternatives and any(_has_untyped_items(node) for node in spot.alternatives):
            yield Hit(
                f"{spot.place}[]",
                f"The items of '{spot.place}' may be anything, so a number that comes as text stays a text.",
                "Give the items a type, such as list[str].",
                "note",
            )


def _is_untyped(node: Node) -> bool:
    parts = [schema for form in forms(node.plan.root, node.schema) for schema in form]
    return node.takes({}) and node.takes("") and all(_SAYS_NOTHING.issuperset(part) for part in parts)


def _has_untyped_items(node: Node) -> bool:
    shape = node.shape
    if not shape.is_only("array") or shape.prefix or shape.enum is not None:
        return False
    return shape.items in (None, True) or (isinstance(shape.items, Mapping) and not shape.items)


def text_or_container(surface: Surface) -> Iterator[Hit]:
    """Places that take a text as well as a list or an object."""
    for spot in surface.spots:
        if surface.is_normalized(spot) or _is_untyped(spot.node):
            continue
        kinds = [kind for kind in _TEXTS if _takes_as_text(spot, kind)]
        if kinds:
            kind = kinds[0]
            yield Hit(
                spot.place,
                f"'{spot.place}' takes {_ARTICLES[kind]} and also any text, so {_ARTICLES[kind]} that is sent as "
                f"JSON text ({_TEXTS[kind]!r}) is taken for a text, and nothing can tell that it was none.",
                f"Take {_ARTICLES[kind]} alone: a single value is then put right by the middleware"
                + (", or declare tags() or parse_json() for it." if kind == "array" else "."),
            )


def _takes_as_text(spot: Spot, kind: str) -> bool:
    has_kind = any(kind in (node.shape.types or ()) for node in spot.alternatives)
    text = any("string" in (node.shape.types or ()) and node.shape.enum is None for node in spot.alternatives)
    return has_kind and text and spot.node.takes(_TEXTS[kind])


def json_in_text(surface: Surface) -> Iterator[Hit]:
    """Texts that are to hold JSON."""
    for spot in surface.spots:
        only_text = [node for node in spot.alternatives if not node.shape.is_only("null")]
        if not only_text or not all(node.shape.is_only("string") for node in only_text):
            continue
        formats = {node.shape.format for node in only_text}
        if surface.is_normalized(spot) or any(node.shape.enum for node in only_text):
            continue
        if formats & {"json-string", "json"} or _JSON_TEXT.search(spot.description):
            yield Hit(
                spot.place,
                f"'{spot.place}' is a text that holds JSON: callers send the JSON itself, or escape it wrongly.",
                "Take the list or object itself; JSON text that is sent for it is then read by the middleware.",
            )


def free_form_object(surface: Surface) -> Iterator[Hit]:
    """Objects of which nothing is declared."""
    has_example = '{"' in (surface.tool.description or "")
    for spot in surface.spots:
        if not _is_untyped(spot.node) and any(_is_free_form(node) for node in spot.alternatives):
            yield Hit(
                spot.place,
                f"'{spot.place}' is an object with any keys: callers have to guess them, and a misspelt one passes.",
                "Declare its properties (a Pydantic model or TypedDict), or the type of its values, "
                "such as dict[str, str].",
                "note" if spot.description or has_example else None,
            )


def _is_free_form(node: Node) -> bool:
    shape = node.shape
    if not shape.is_only("object") or shape.properties or shape.patterns or shape.closed or shape.enum:
        return False
    return not (isinstance(shape.extra, Mapping) and shape.extra)


def optional_overlooked(surface: Surface) -> Iterator[Hit]:
    """Objects that take any name, beside names that may be left out."""
    told: set[tuple[int, ...]] = set()
    for place, node in surface.objects:
        shape = node.shape
        optional = [name for name in shape.properties if name not in shape.required]
        model = tuple(map(id, shape.properties.values()))
        if not optional or shape.closed or shape.extra is not None or model in told:
            continue
        told.add(model)
        whose = f"'{place}' takes" if place else "The arguments take"
        yield Hit(
            place,
            f"{whose} any name, so a caller who misspells '{optional[0]}' is not told, and the tool runs without it.",
            "Forbid other names: ConfigDict(extra='forbid') in a Pydantic model, additionalProperties: false in a "
            "schema.",
        )


def optional_not_nullable(surface: Surface) -> Iterator[Hit]:
    """Parameters that may be left out, but not be null, where no middleware sees to it."""
    if surface.drops_null:
        return
    names = [
        f"'{spot.place}'"
        for spot in surface.parameters
        if spot.optional
        and not surface.is_normalized(spot)
        and not spot.node.takes(None)
        and None not in spot.node.shape.default
    ]
    if names:
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        yield Hit(
            names[0].strip("'") if len(names) == 1 else "",
            f"{listed} may be left out but not be null, which many callers send for what they leave out.",
            # In destructive tools the middleware leaves out no null.
            "Take null as well."
            if surface.destructive
            else "Put LenientMiddleware or its proxy in front, which leaves such a null out; or take null as well.",
        )


def default_refused(surface: Surface) -> Iterator[Hit]:
    """Defaults that the schema itself forbids."""
    for spot in surface.spots:
        for default in spot.node.shape.default:
            if not spot.node.takes(default):
                written = cut(json.dumps(default, default=repr), _LONGEST_DEFAULT)
                mend = (
                    "Say that it may be null (such as list[str] | None = None)."
                    if default is None
                    else "Make the default one of the values that the type allows."
                )
                yield Hit(
                    spot.place,
                    f"The default of '{spot.place}', {written}, is refused when it is sent: callers copy defaults.",
                    mend,
                )


def schema_unusable(surface: Surface) -> Iterator[Hit]:
    """Input schemas that cannot be read in full."""
    if surface.fault is not None:
        yield Hit(
            "",
            f"Part of the input schema cannot be read: {surface.fault}.",
            "Make it valid JSON Schema that refers to nothing outside itself.",
        )


def required_undeclared(surface: Surface) -> Iterator[Hit]:
    """Required names that are not declared."""
    for place, node in surface.objects:
        shape = node.shape
        for name in sorted(shape.required - shape.properties.keys()):
            if node.property(name) is not None or node.has_pattern_for(name):
                continue
            where = within(place, name)
            yield Hit(
                where,
                f"'{where}' is required, but not declared: callers cannot know what it is"
                + (", and no call can be right, since other names are forbidden." if shape.closed else "."),
                "Declare it under properties, or take it out of required.",
                "error" if shape.closed else None,
            )


def output_forbids_nothing(surface: Surface) -> Iterator[Hit]:
    """Output schemas that allow everything."""
    schema = surface.tool.output_schema
    if schema is not None and _allows_all(schema):
        yield Hit(
            "",
            "The output schema allows everything, so callers cannot know what comes back.",
            "Return a Pydantic model or TypedDict; or publish no output schema (output_schema=None).",
        )


def _allows_all(schema: Mapping[str, Any]) -> bool:
    if schema.get("x-fastmcp-wrap-result"):
        inner = (schema.get("properties") or {}).get("result")
        return isinstance(inner, Mapping) and _SAYS_NOTHING.issuperset(inner)
    said = {name: value for name, value in schema.items() if name not in _SAYS_NOTHING}
    extra = said.pop("additionalProperties", True)
    return said in ({}, {"type": "object"}, {"type": "object", "properties": {}}) and extra in (True, {})
