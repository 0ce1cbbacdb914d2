"""Compare JSON values and known answers, and apply JSON Patches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mcp_lenient.values.json_values import same_json

_LOOSE = re.compile(r"[ ,./\-_*^]")


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
    return same_json(given, value)


def _loose(text: str) -> str:
    return _LOOSE.sub("", text).lower().replace("'", '"')
