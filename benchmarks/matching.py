"""Compare JSON values and known answers, and apply JSON Patches."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcp_lenient.values.json_values import tokens_of

_LOOSE = re.compile(r"[ ,./\-_*^]")


def same(left: Any, right: Any) -> bool:
    """Return whether two JSON values are the same: ``1`` and ``1.0`` are, ``1`` and ``True`` are not."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return _equal(left, right) and isinstance(left, bool) == isinstance(right, bool)


def identical(left: Any, right: Any) -> bool:
    """Return whether two JSON values also have the same Python types: ``1`` and ``1.0`` do not."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(identical(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(identical, left, right))
    return _equal(left, right)


def _equal(left: Any, right: Any) -> bool:
    both_nan = left != left and right != right  # noqa: PLR0124 (only NaN differs from itself)
    return bool(left == right) or both_nan


def answers(arguments: Any, expected: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether the arguments are among the known answers.

    An answer lists the right values for each parameter; ``""`` among them means that it may be left out. Texts are
    compared as in the recorded benchmarks: without case, spaces and ``,./-_*^``.
    """
    return any(_answer(arguments, answer) for answer in expected)


def differing(arguments: Mapping[str, Any], expected: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names in which the arguments differ from the closest known answer."""
    return min((_differing(arguments, answer) for answer in expected), key=len)


def _answer(arguments: Any, answer: Mapping[str, Any]) -> bool:
    return (
        isinstance(arguments, Mapping) and isinstance(answer, Mapping) and not _differing(arguments, answer)
    )


def _differing(arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> list[str]:
    unknown = [name for name in arguments if name not in answer]
    return [*unknown, *(name for name, values in answer.items() if not _listed(arguments, name, values))]


def _listed(arguments: Mapping[str, Any], name: str, values: Any) -> bool:
    if not isinstance(values, list):
        return False
    if name not in arguments:
        return "" in values
    return any(_counts(arguments[name], value) for value in values)


def _counts(given: Any, value: Any) -> bool:
    if isinstance(given, str) and isinstance(value, str):
        return _loose(given) == _loose(value)
    if isinstance(given, list) and isinstance(value, list):
        return len(given) == len(value) and all(map(_counts, given, value))
    if isinstance(given, Mapping) and isinstance(value, Mapping):
        pairs = given.keys() == value.keys() and all(_counts(given[key], value[key]) for key in given)
        return pairs or _answer(given, value)
    return same(given, value)


def _loose(text: str) -> str:
    return _LOOSE.sub("", text).lower().replace("'", '"')


def patched(document: Any, patch: Sequence[Mapping[str, Any]]) -> Any:
    """Return the document after a JSON Patch (RFC 6902), without changing the original.

    Raises:
        LookupError: If the patch does not fit the document.
    """
    result = copy.deepcopy(document)
    for operation in patch:
        result = _applied(result, operation)
    return result


def _applied(document: Any, operation: Mapping[str, Any]) -> Any:
    name, path = operation["op"], operation["path"]
    if name == "remove":
        return _removed(document, path)
    if name in ("add", "replace"):
        return _put(document, path, operation["value"], new=name == "add")
    value = copy.deepcopy(_found(document, operation["from"]))
    rest = _removed(document, operation["from"]) if name == "move" else document
    return _put(rest, path, value, new=True)


def _step(container: Any, token: str) -> Any:
    if isinstance(container, Mapping):
        return container[token]
    if isinstance(container, list):
        return container[_index(container, token)]
    raise LookupError(token)


def _index(items: list[Any], token: str) -> int:
    if not token.isdecimal() or int(token) >= len(items):
        raise LookupError(token)
    return int(token)


def _found(document: Any, path: str) -> Any:
    for token in tokens_of(path):
        document = _step(document, token)
    return document


def _parent(document: Any, path: str) -> tuple[Any, str]:
    above, _, _ = path.rpartition("/")
    return _found(document, above), tokens_of(path)[-1]


def _removed(document: Any, path: str) -> Any:
    parent, token = _parent(document, path)
    _step(parent, token)
    del parent[token if isinstance(parent, dict) else int(token)]
    return document


def _put(document: Any, path: str, value: Any, *, new: bool) -> Any:
    if not path:
        return value
    parent, key = _parent(document, path)
    if isinstance(parent, list):
        at = _index([*parent, None] if new else parent, key.replace("-", str(len(parent))))
        parent[at : at if new else at + 1] = [value]
        return document
    if not isinstance(parent, dict) or not (new or key in parent):
        raise LookupError(path)
    parent[key] = value
    return document
