"""Damage valid values as callers do, one change at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from strategies import Json, resolved

Damage = tuple[str, Any]
"""The kind of damage and the damaged value."""


def damages(root: Json, schema: Any, value: Any, depth: int = 8) -> Iterator[Damage]:
    """Yield every known damage to a value or to something in it, one at a time."""
    schema = resolved(root, schema)
    yield from _of_value(value)
    if depth <= 0:
        return
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from damages(root, branch, value, depth - 1)
    if isinstance(value, dict):
        yield from _of_object(root, schema, value, depth)
    if isinstance(value, list):
        yield from _of_items(root, schema, value, depth)


def _of_value(value: Any) -> Iterator[Damage]:
    if value is None:
        yield from (("null_text", "null"), ("null_text", "None"))
    elif isinstance(value, bool):
        word = "true" if value else "false"
        yield from (
            ("boolean_text", word),
            ("boolean_text", f" {word.title()} "),
            ("boolean_number", int(value)),
        )
        yield "boolean_word", "yes" if value else "no"
    elif isinstance(value, (int, float)):
        yield from (("number_text", json.dumps(value)), ("number_text", f" {json.dumps(value)} "))
        if isinstance(value, int):
            yield from (("number_text", f"{value}.0"), ("float", float(value)))
        yield "wrapped", {"type": "integer" if isinstance(value, int) else "number", "value": value}
    elif isinstance(value, str):
        yield from _of_text(value)
    else:
        yield from _as_text(value)
    if not isinstance(value, (list, dict)):
        yield "in_list", [value]


def _of_text(value: str) -> Iterator[Damage]:
    yield from (
        ("case", value.upper()),
        ("case", value.title()),
        ("space", f" {value} "),
        ("quotes", f'"{value}"'),
    )
    yield "hyphens", value.replace("_", "-")
    if re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?", value):
        yield "number", json.loads(value)


def _as_text(value: list[Any] | Json) -> Iterator[Damage]:
    text = json.dumps(value)
    yield from (("json_text", text), ("fenced", f"```json\n{text}\n```"), ("twice", json.dumps(text)))
    yield from (("indented", json.dumps(value, indent=2)), ("python_text", repr(value)))
    if value:
        yield "json5_text", f"{text[:-1]},{text[-1]}"
    if isinstance(value, list):
        yield "item_wrapper", {"item": value}
        yield "item_wrappers", [{"item": entry} for entry in value]
        if len(value) == 1 and value[0] is not None:  # null may be left out as well
            yield "lone_item", value[0]
        if len(value) > 1 and all(
            isinstance(entry, (int, str)) and not isinstance(entry, bool) for entry in value
        ):
            yield "joined", ", ".join(map(str, value))


def _of_object(root: Json, schema: Json, value: Json, depth: int) -> Iterator[Damage]:
    properties = schema.get("properties", {})
    extra = schema.get("additionalProperties")
    for name, entry in value.items():
        sub = properties.get(name, extra if isinstance(extra, dict) else {})
        for label, new in damages(root, sub, entry, depth - 1):
            yield label, {**value, name: new}
        yield "in_itself", {**value, name: {name: entry}}
        for label, other in _other_names(name):
            if other not in value and other not in properties:
                yield label, {other if key == name else key: each for key, each in value.items()}
    for name in properties:
        if name not in value and name not in schema.get("required", ()):
            yield from (
                (label, {**value, name: nothing}) for label, nothing in (("null", None), ("empty", ""))
            )


def _other_names(name: str) -> Iterator[tuple[str, str]]:
    head, *rest = re.split("[_-]", name)
    yield "camel", head + "".join(part.title() for part in rest)
    yield "snake", re.sub("(?<=[a-z])([A-Z])", lambda found: f"_{found[0].lower()}", name)
    yield "title", name.title()
    if len(name) > 3:
        yield "swapped", name[0] + name[2] + name[1] + name[3:]


def _of_items(root: Json, schema: Json, value: list[Any], depth: int) -> Iterator[Damage]:
    prefix = schema.get("prefixItems", [])
    items = schema.get("items", {})
    for index, entry in enumerate(value):
        sub = prefix[index] if index < len(prefix) else items
        for label, new in damages(root, sub, entry, depth - 1):
            yield label, [*value[:index], new, *value[index + 1 :]]
    if isinstance(items, dict) and prefix == []:
        for label in ("number_text", "boolean_text", "number", "json_text", "null_text"):
            yield f"all_{label}", [_first(root, items, entry, label) for entry in value]


def _first(root: Json, schema: Any, value: Any, wanted: str) -> Any:
    return next((new for label, new in damages(root, schema, value, 0) if label == wanted), value)


def whole_damages(arguments: Json) -> Iterator[Damage]:
    """Yield the damage that clients do to the whole arguments."""
    for wrapper in ("args", "input", "params", "kwargs"):
        yield "wrapped_arguments", {wrapper: arguments}
    yield "wrapped_arguments_text", {"arguments": json.dumps(arguments)}
    yield "call_id", {**arguments, "toolCallId": "call_1"}
    yield "private", {**arguments, "_requestId": "r1"}
    yield "only_key", {json.dumps(arguments): ""}
