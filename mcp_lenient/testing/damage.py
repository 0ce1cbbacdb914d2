"""Damage valid arguments as callers do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from types import NoneType
from typing import Any, Final

from mcp_lenient.rules import ABSENT
from mcp_lenient.schema.node import Node, Tree
from mcp_lenient.testing.trial import Sent, identical
from mcp_lenient.values.json_values import looks_like_json


@dataclass(frozen=True, slots=True)
class Damaged:
    """A damaged call, and the valid calls it may be repaired to; none if every repair is wrong."""

    sent: Sent
    wanted: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class _DamagedParameter:
    """A parameter of a tool, with a valid value."""

    value: Any
    node: Node
    may_be_absent: bool


_Change = tuple[Any, tuple[Any, ...]]
"""A damaged value, and the right ones."""
_Damage = Callable[[_DamagedParameter], Iterator[_Change]]

_WRAPPERS: Final = ("args", "arguments", "input", "params", "parameters", "kwargs")
_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_UNKNOWN: Final = "unexpected_key"


_NUMBER: Final = (int, float)
_CONTAINER: Final = (list, dict)


def _each_as_text(value: Any) -> list[str]:
    return [json.dumps(item) for item in value]


def _written(
    types: tuple[type, ...], write: Callable[[Any], Any], *, items: tuple[type, ...] = ()
) -> _Damage:
    """Respell the values of some types, or non-empty lists of such items, so that only the original is right."""

    def change(parameter: _DamagedParameter) -> Iterator[_Change]:
        value = parameter.value
        if type(value) in types and (not items or (value and all(type(item) in items for item in value))):
            yield write(value), (value,)

    return change


def _whole_float(parameter: _DamagedParameter) -> Iterator[_Change]:
    value = parameter.value
    if type(value) is int and abs(value) < 2**53:
        yield float(value), (value,)


def _number_for_text(parameter: _DamagedParameter) -> Iterator[_Change]:
    if isinstance(parameter.value, str) and not parameter.node.enum:
        yield 42, ("42",)


def _enum_case(parameter: _DamagedParameter) -> Iterator[_Change]:
    value, members = parameter.value, parameter.node.enum
    if isinstance(value, str) and members:
        for other in (value.upper(), value.title(), f" {value} ", value.replace("_", "-")):
            if other not in members:
                yield other, (value,)


def _one_item_without_its_list(parameter: _DamagedParameter) -> Iterator[_Change]:
    if isinstance(parameter.value, list) and parameter.value and not _says_more(parameter.value[0]):
        yield parameter.value[0], (parameter.value[:1],)


def _says_more(item: Any) -> bool:
    """Return whether an item is text that is also valid JSON for its type."""
    return isinstance(item, str) and (looks_like_json(item) or item in ("null", "None"))


def _for_absent(value: Any) -> _Damage:
    def change(parameter: _DamagedParameter) -> Iterator[_Change]:
        if parameter.may_be_absent:
            yield value, (ABSENT,) if value is None else (ABSENT, None)

    return change


def _wrong_type(parameter: _DamagedParameter) -> Iterator[_Change]:
    if not isinstance(parameter.value, dict):
        yield {_UNKNOWN: "wrong"}, ()


_OF_VALUES: Final[Mapping[str, _Damage]] = {
    "number_as_text": _written(_NUMBER, json.dumps),
    "number_as_spaced_text": _written(_NUMBER, lambda value: f" {json.dumps(value)} "),
    "boolean_as_text": _written((bool,), json.dumps),
    "boolean_as_python_text": _written((bool,), str),
    "whole_float": _whole_float,
    "number_for_text": _number_for_text,
    "enum_case": _enum_case,
    "container_as_json_text": _written(_CONTAINER, json.dumps),
    "container_as_python_text": _written(_CONTAINER, repr),
    "container_in_fence": _written(_CONTAINER, lambda value: f"```json\n{json.dumps(value, indent=2)}\n```"),
    "container_twice_encoded": _written(_CONTAINER, lambda value: json.dumps(json.dumps(value))),
    "items_as_text": _written((list,), _each_as_text, items=(*_NUMBER, bool)),
    "items_as_json_text": _written((list,), _each_as_text, items=(dict,)),
    "one_item_without_its_list": _one_item_without_its_list,
    "list_in_item_object": _written((list,), lambda value: {"item": value}),
    "scalar_in_a_list": _written((str, *_NUMBER, bool, NoneType), lambda value: [value]),
    "null_for_optional": _for_absent(None),
    "null_text_for_optional": _for_absent("null"),
    "empty_text_for_optional": _for_absent(""),
    "wrong_type": _wrong_type,
}


def _other_name_style(arguments: Mapping[str, Any], _: Node) -> Iterator[Damaged]:
    for name in arguments:
        other = _restyled(name)
        if other != name and other not in arguments:
            renamed = {other if each == name else each: value for each, value in arguments.items()}
            yield Damaged(renamed, (arguments,))


def _restyled(name: str) -> str:
    """Turn ``maxResults`` into ``max_results`` and vice versa."""
    words = _WORD.findall(name)
    if "_" in name:
        return "".join([words[0], *(word.capitalize() for word in words[1:])]) if words else name
    return "_".join(word.lower() for word in words)


def _nested_name_style(arguments: Mapping[str, Any], _: Node) -> Iterator[Damaged]:
    for name, value in arguments.items():
        if not isinstance(value, dict):
            continue
        restyled = {_restyled(key): own for key, own in value.items()}
        if len(restyled) == len(value) and restyled != value:
            yield Damaged({**arguments, name: restyled}, (arguments,))
            yield Damaged({**arguments, name: json.dumps(restyled)}, (arguments,))


def _wrapped(arguments: Mapping[str, Any], node: Node) -> Iterator[Damaged]:
    for name, as_text in zip(_WRAPPERS, cycle((False, True)), strict=False):
        if arguments and name not in node.properties:
            yield Damaged({name: json.dumps(arguments) if as_text else arguments}, (arguments,))


def _as_text(arguments: Mapping[str, Any], _: Node) -> Iterator[Damaged]:
    yield Damaged(json.dumps(arguments), (arguments,))


def _tool_call_id(arguments: Mapping[str, Any], node: Node) -> Iterator[Damaged]:
    if "toolCallId" not in node.properties:
        yield Damaged({**arguments, "toolCallId": "call_1"}, (arguments,))


def _missing(arguments: Mapping[str, Any], node: Node) -> Iterator[Damaged]:
    for name in arguments:
        if name in node.required:
            yield Damaged({each: value for each, value in arguments.items() if each != name}, ())


def _unknown(arguments: Mapping[str, Any], _: Node) -> Iterator[Damaged]:
    yield Damaged({**arguments, _UNKNOWN: "kept?"}, ())


_OF_CALLS: Final[Mapping[str, Callable[[Mapping[str, Any], Node], Iterator[Damaged]]]] = {
    "other_name_style": _other_name_style,
    "nested_name_style": _nested_name_style,
    "wrapped_arguments": _wrapped,
    "arguments_as_text": _as_text,
    "tool_call_id_added": _tool_call_id,
    "missing_required": _missing,
    "unknown_key": _unknown,
}


def damaged(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[tuple[str, Damaged]]:
    """Yield the damaged forms of a valid call, each with the kind of damage."""
    for kind, each in _damaged(schema, arguments):
        if not any(identical(each.sent, wanted) for wanted in each.wanted):
            yield kind, each


def _damaged(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[tuple[str, Damaged]]:
    top = Tree(schema).top
    for kind, change in _OF_VALUES.items():
        for name, value in arguments.items():
            own = top.property_nodes.get(name) or top.tree.node(None)
            parameter = _DamagedParameter(value, own, name in top.properties and name not in top.required)
            for bad, rights in change(parameter):
                wanted = tuple(_with(arguments, name, right) for right in rights)
                yield kind, Damaged({**arguments, name: bad}, wanted)
    for kind, damage in _OF_CALLS.items():
        for each in damage(arguments, top):
            yield kind, each


def _with(arguments: Mapping[str, Any], name: str, value: Any) -> Mapping[str, Any]:
    if value is ABSENT:
        return {each: own for each, own in arguments.items() if each != name}
    return {**arguments, name: value}


DAMAGES: Final = (*_OF_VALUES, *_OF_CALLS)
"""The kinds of damage."""
