"""The shape of arguments for the log: types, lengths and kinds of characters, never a value."""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from mcp_lenient.schema.node import Node, below
from mcp_lenient.types import Path
from mcp_lenient.values.display import escaped_pointer, is_secret_name
from mcp_lenient.values.json_values import json_type, pointer
from mcp_lenient.values.patches import entries

LISTED: Final = 50
"""Places of one call that are listed."""
_LOOKED_AT: Final = 10_000
_DEEPEST: Final = 8
_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys("[](){}<>", "bracket"),
    **dict.fromkeys("\"'`“”\u2018\u2019„«»", "quote"),
    **dict.fromkeys(",;|:/，；、\uff1a", "separator"),
    **dict.fromkeys("\r\n\u2028\u2029", "line"),
    "\t": "space",
}
_CATEGORIES: Final[Mapping[str, str]] = {
    "L": "letter",
    "M": "letter",
    "N": "digit",
    "Z": "space",
    "P": "symbol",
    "S": "symbol",
    "C": "other",
}


def shapes_of(
    top: Node, arguments: Mapping[str, Any], secret: frozenset[str] = frozenset()
) -> list[dict[str, Any]]:
    """Return one record for each place of the arguments, 50 at most, the outer ones first.

    Of a value under a secret name, or one that the schema marks as secret, only the place is listed.

    >>> from mcp_lenient.schema.node import Tree
    >>> shapes_of(Tree({}).top, {"tags": "a, b", "api_key": "x"})
    [{'pointer': '/tags', 'type': 'string', 'length': 4, 'characters': ['letter', 'separator', 'space']}, {'pointer': '/api_key', 'type': 'secret'}]
    """
    shapes: list[dict[str, Any]] = []
    waiting: deque[tuple[Path, Any, Node | None]] = deque([((), arguments, top)])
    while waiting and len(shapes) < LISTED:
        path, value, node = waiting.popleft()
        is_secret = bool(path) and (is_secret_name(path[-1], secret) or (node is not None and node.secret))
        if path:
            place = {"pointer": escaped_pointer(pointer(path), secret)}
            shapes.append(place | ({"type": "secret"} if is_secret else _shape(value)))
        if len(path) < _DEEPEST and not is_secret:
            inside = islice(entries(value), LISTED)
            waiting.extend(((*path, key), entry, below(node, key)) for key, entry in inside)
    return shapes


def _shape(value: Any) -> dict[str, Any]:
    kind = json_type(value)
    if isinstance(value, str):
        kinds = sorted({_kind(character) for character in set(value[:_LOOKED_AT])})
        return {"type": kind, "length": len(value), **({"characters": kinds} if kinds else {})}
    return {"type": kind, "length": len(value)} if isinstance(value, (Mapping, list)) else {"type": kind}


def _kind(character: str) -> str:
    return _KINDS.get(character) or _CATEGORIES[unicodedata.category(character)[0]]
