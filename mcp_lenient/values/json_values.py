"""JSON values as Python has them: their type names, equality and size, and JSON Pointers to their parts."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_lenient.types import Path

if TYPE_CHECKING:
    from mcp_lenient.values.limits import Limits


def pointer(path: Path) -> str:
    """The JSON Pointer for a path.

    >>> pointer(("rows", 0, "a/b"))
    '/rows/0/a~1b'
    """
    text = ""
    for part in path:
        text += f"/{_token(part)}"
    return text


def text_of(part: object) -> str:
    """What is no text as text: an index, or a key that JSON cannot have; an integer too long for that by its type.

    >>> text_of(3), text_of(None), text_of(10**5000)
    ('3', 'None', '<int>')
    """
    try:
        return str(part)
    except ValueError:
        return f"<{type(part).__name__}>"


def tokens_of(text: str) -> list[str]:
    """The parts of a JSON Pointer, as text: whether one is an index depends on what it is applied to.

    >>> tokens_of("/rows/0/a~1b")
    ['rows', '0', 'a/b']
    """
    return [token.replace("~1", "/").replace("~0", "~") for token in text.split("/")[1:]]


def _token(part: str | int) -> str:
    if not isinstance(part, str):
        return text_of(part)
    if "~" in part or "/" in part:
        return part.replace("~", "~0").replace("/", "~1")
    return part


PYTHON_TYPES: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    tuple: "array",
    dict: "object",
    type(None): "null",
}
_NUMBERS = frozenset({int, float})
_SCALARS = frozenset({bool, float, type(None)})
_SCALAR_SIZE = 8
_DEEPEST = 1_000
_MOST_CONTAINERS = 1_000_000
_MARSHAL_VERSION = 2
_MANY = 100
_LONG_TEXT = 10_000


def json_type(value: Any) -> str:
    """The JSON type name of a value; Python subclasses count as what they extend.

    >>> [json_type(value) for value in ("a", 1, 1.0, True, None, [], {})]
    ['string', 'integer', 'number', 'boolean', 'null', 'array', 'object']
    """
    name = PYTHON_TYPES.get(type(value))
    if name is not None:
        return name
    return next((name for kind, name in PYTHON_TYPES.items() if isinstance(value, kind)), "object")


def same_json(left: Any, right: Any) -> bool:
    """Whether two values are the same JSON: true is not 1, but 1.0 is 1.

    >>> same_json([1], [True]), same_json({"a": 1}, {"a": 1.0})
    (False, True)
    """
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            same_json(value, right[key]) for key, value in left.items()
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return bool(left == right)


class Size(NamedTuple):
    """How much arguments are: characters, values, and the first limit they go beyond."""

    bytes: int
    items: int
    beyond: str | None


def measured(arguments: Any, limits: Limits) -> Size:
    """The size of the arguments; walks level by level, and no further than the first limit."""
    size = items = depth = 0
    level: list[Any] = [arguments]
    while level:
        depth += 1
        items += len(level)
        below: list[Any] = []
        for value in level:
            kind = type(value)
            if kind is str:
                size += len(value)
            elif kind is dict:
                for key in value:
                    size += len(key) if isinstance(key, str) else _SCALAR_SIZE
                below += value.values()
            elif kind is list:
                below += value
            elif kind is int:
                size += value.bit_length() // 3
            elif kind in _SCALARS:
                size += _SCALAR_SIZE
            else:
                size += _other_size(value, below)
        if depth > limits.depth or items > limits.items or size > limits.bytes:
            return Size(size, items, _first_beyond(depth, items, limits))
        level = below
    return Size(size, items, None)


def _other_size(value: Any, below: list[Any]) -> int:
    """The size of what is like a text, an object or a list without being just that, or of no JSON at all."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        below += value.values()
        return sum(len(key) if isinstance(key, str) else _SCALAR_SIZE for key in value)
    if isinstance(value, (list, tuple)):
        below += value
        return 0
    return _SCALAR_SIZE


def _first_beyond(depth: int, items: int, limits: Limits) -> str:
    if depth > limits.depth:
        return "depth"
    return "items" if items > limits.items else "bytes"


def has_whole_float(value: Any) -> bool:
    """Whether the value is, or holds, a float that is an integer.

    >>> has_whole_float({"a": [1, 2.5, 7.0]}), has_whole_float([1, 2.5])
    (True, False)
    """
    waiting = [value]
    for each in waiting:
        if isinstance(each, float):
            if each.is_integer():
                return True
        elif isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
    return False


def has_many(arguments: Mapping[str, Any]) -> bool:
    """Whether one of the arguments is a container of many values."""
    for value in arguments.values():
        kind = type(value)
        if (kind is list or kind is dict) and len(value) > _MANY:
            return True
    return False


def takes_long(arguments: Mapping[str, Any]) -> bool:
    """Whether looking at each value takes more than a few milliseconds, told from the top level alone."""
    if has_many(arguments) or len(arguments) > _MANY:
        return True
    return any(type(value) is str and len(value) > _LONG_TEXT for value in arguments.values())


def holds_many(arguments: Mapping[str, Any]) -> bool:
    """Whether arguments hold so many values or characters, at any depth, that reading them by rules takes long."""
    waiting: list[Any] = [arguments]
    characters = 0
    for value in waiting:
        if isinstance(value, str):
            characters += len(value)
        elif isinstance(value, Mapping):
            if len(value) > _MANY:
                return True
            waiting += value.values()
        elif isinstance(value, list):
            if len(value) > _MANY:
                return True
            waiting += value
        if len(waiting) > _MANY or characters > _LONG_TEXT:
            return True
    return False


def is_shallow(value: Any) -> bool:
    """Whether a value nests so little that a validator written in C or Rust can walk it on any stack."""
    try:
        marshal.dumps(value, _MARSHAL_VERSION)
    except ValueError:
        return nests_less(value, _DEEPEST)
    return True


def nests_less(value: Any, deepest: int) -> bool:
    """Whether a value has at most so many levels; what holds itself has not.

    >>> nests_less([[1]], 2), nests_less([[1]], 1)
    (True, False)
    """
    level = [value]
    for _ in range(deepest + 1):
        containers = [each for each in level if isinstance(each, (dict, list, tuple))]
        if not containers:
            return True
        if len(containers) > _MOST_CONTAINERS:  # a list that holds itself twice
            return False
        level = [
            inner for each in containers for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return False
