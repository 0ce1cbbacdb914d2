"""JSON Patches (RFC 6902), applied without touching what they are applied to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_lenient.pointers import tokens_of

Operation = Mapping[str, Any]
Patch = tuple[Operation, ...]


def applied(arguments: object, patch: Patch) -> Any:
    """The arguments after a patch; what was given stays as it is.

    >>> applied({"a": 1}, ({"op": "move", "from": "/a", "path": "/b"},))
    {'b': 1}
    """
    for operation in patch:
        value = operation.get("value")
        if operation["op"] == "move":
            value = _found(arguments, tokens_of(operation["from"]))
            arguments = _with(arguments, tokens_of(operation["from"]), remove=True)
        arguments = _with(
            arguments,
            tokens_of(operation["path"]),
            value,
            remove=operation["op"] == "remove",
            insert=operation["op"] in ("add", "move"),
        )
    return arguments


def moves_into_itself(operation: Operation) -> bool:
    """Whether an operation moves something into what is in it, which RFC 6902 forbids (section 4.4).

    >>> moves_into_itself({"op": "move", "from": "/value", "path": "/value/value"})
    True
    """
    return bool(operation["op"] == "move" and operation["path"].startswith(f"{operation['from']}/"))


def _found(value: Any, tokens: Sequence[str]) -> Any:
    for token in tokens:
        value = value[int(token)] if isinstance(value, list) else value[token]
    return value


def _with(
    value: Any, tokens: Sequence[str], new: object = None, *, remove: bool = False, insert: bool = False
) -> Any:
    if not tokens:
        return new
    key: Any = int(tokens[0]) if isinstance(value, list) else tokens[0]
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    if len(tokens) > 1:
        copy[key] = _with(value[key], tokens[1:], new, remove=remove, insert=insert)
    elif remove:
        del copy[key]
    elif insert and isinstance(copy, list):
        copy.insert(key, new)
    else:
        copy[key] = new
    return copy
