"""Damage valid arguments as callers do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Final

from mcp_lenient.rules import ABSENT
from mcp_lenient.schema.node import Node, Tree
from mcp_lenient.testing.trial import Sent, identical
from mcp_lenient.values.display import name_words
from mcp_lenient.values.json_values import looks_like_json


@dataclass(frozen=True, slots=True)
class Damaged:
    """A damaged call, and the valid calls it may be repaired to; none if every repair is wrong."""

    sent: Sent
    wanted: tuple[Mapping[str, Any], ...]


_WRAPPERS: Final = ("args", "arguments", "input", "params", "parameters", "kwargs")
_UNKNOWN: Final = "unexpected_key"


def damaged(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[tuple[str, Damaged]]:
    """Yield the damaged forms of a valid call, each with the kind of damage."""
    top = Tree(schema).top
    for kind, sent, wanted in (*_damaged_values(top, arguments), *_damaged_calls(top, arguments)):
        if not any(identical(sent, call) for call in wanted):
            yield kind, Damaged(sent, wanted)


_Call = tuple[str, Sent, tuple[Mapping[str, Any], ...]]
"""The kind of damage, the damaged call, and the right ones."""


def _damaged_values(top: Node, arguments: Mapping[str, Any]) -> Iterator[_Call]:
    for name, value in arguments.items():
        node = top.property_nodes.get(name) or top.tree.node(None)
        may_be_absent = name in top.properties and name not in top.required
        damages = [(kind, other, (value,)) for kind, other in _respelled(value, node)]
        for kind, other, rights in (*damages, *_changed(value, node, may_be_absent=may_be_absent)):
            yield kind, {**arguments, name: other}, tuple(_with(arguments, name, right) for right in rights)


def _with(arguments: Mapping[str, Any], name: str, value: Any) -> Mapping[str, Any]:
    return {key: entry for key, entry in {**arguments, name: value}.items() if entry is not ABSENT}


def _respelled(value: Any, node: Node) -> Iterator[tuple[str, Any]]:
    """Spell a value in ways that only the value itself is right for."""
    text = json.dumps(value)
    if isinstance(value, bool):
        yield "boolean_as_text", text
        yield "boolean_as_python_text", str(value)
    elif isinstance(value, (int, float)):
        yield "number_as_text", text
        yield "number_as_spaced_text", f" {text} "
        if isinstance(value, int) and abs(value) < 2**53:
            yield "whole_float", float(value)
    elif isinstance(value, (list, dict)):
        yield "container_as_json_text", text
        yield "container_as_python_text", repr(value)
        yield "container_in_fence", f"```json\n{json.dumps(value, indent=2)}\n```"
        yield "container_twice_encoded", json.dumps(text)
    elif isinstance(value, str) and node.enum:
        others = (value.upper(), value.title(), f" {value} ", value.replace("_", "-"))
        yield from (("enum_case", other) for other in others if other not in node.enum)
    if isinstance(value, list):
        yield "list_in_item_object", {"item": value}
        types = {type(item) for item in value}
        if types and (types == {dict} or types <= {int, float, bool}):
            kind = "items_as_json_text" if dict in types else "items_as_text"
            yield kind, [json.dumps(item) for item in value]
    elif not isinstance(value, dict):
        yield "scalar_in_a_list", [value]


def _changed(value: Any, node: Node, *, may_be_absent: bool) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Replace a value by what other values are right for, or none."""
    if isinstance(value, str) and not node.enum:
        yield "number_for_text", 42, ("42",)
    if isinstance(value, list) and value and not _says_more(value[0]):
        yield "one_item_without_its_list", value[0], (value[:1],)
    if may_be_absent:
        yield "null_for_optional", None, (ABSENT,)
        yield "null_text_for_optional", "null", (ABSENT, None)
        yield "empty_text_for_optional", "", (ABSENT, None)
    if not isinstance(value, dict):
        yield "wrong_type", {_UNKNOWN: "wrong"}, ()


def _says_more(item: Any) -> bool:
    """Return whether an item is text that is also valid JSON for its type."""
    return isinstance(item, str) and (looks_like_json(item) or item in ("null", "None"))


def _damaged_calls(top: Node, arguments: Mapping[str, Any]) -> Iterator[_Call]:
    for kind, sent in _rearranged(top, arguments):
        yield kind, sent, (arguments,)
    for name in filter(top.required.__contains__, arguments):
        yield "missing_required", _with(arguments, name, ABSENT), ()
    yield "unknown_key", {**arguments, _UNKNOWN: "kept?"}, ()


def _rearranged(top: Node, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Sent]]:
    """Write a call in ways that only the call itself is right for."""
    for name, value in arguments.items():
        other = _restyled(name)
        if other not in arguments:
            yield (
                "other_name_style",
                {other if key == name else key: entry for key, entry in arguments.items()},
            )
        inner = {_restyled(key): entry for key, entry in value.items()} if isinstance(value, dict) else {}
        if inner and len(inner) == len(value) and inner != value:
            yield "nested_name_style", {**arguments, name: inner}
            yield "nested_name_style", {**arguments, name: json.dumps(inner)}
    for name, as_text in zip(_WRAPPERS, cycle((False, True)), strict=False):
        if arguments and name not in top.properties:
            yield "wrapped_arguments", {name: json.dumps(arguments) if as_text else arguments}
    yield "arguments_as_text", json.dumps(arguments)
    if "toolCallId" not in top.properties:
        yield "tool_call_id_added", {**arguments, "toolCallId": "call_1"}


def _restyled(name: str) -> str:
    """Turn ``maxResults`` into ``max_results`` and vice versa."""
    first, *others = name_words(name) or (name,)
    return first + "".join(map(str.capitalize, others)) if "_" in name else "_".join([first, *others])
