"""No arguments of a stranger stall a server: the time is linear in their size, whatever they consist of."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from time import process_time
from typing import Any

import pytest

from mcp_lenient import Normalizer

pytestmark = pytest.mark.slow

Arguments = dict[str, Any]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1},
        "max_results": {"type": "integer"},
        "mode": {"type": "string", "enum": ["fast", "slow and safe", "U+0041"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "levels": {"type": "array", "items": {"enum": ["low", "high"]}},
        "filter": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "rows": {"type": "array", "items": {"type": "object"}},
            },
            "additionalProperties": False,
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}
"""A tool's schema with a place for each kind of value."""


def _name(unit: str, begin: str = "") -> Callable[[int], Arguments]:
    return lambda size: {begin + unit * (size // len(unit)): 1}


def _value(parameter: str, unit: str, begin: str = "") -> Callable[[int], Arguments]:
    return lambda size: {"query": "a", parameter: begin + unit * (size // len(unit))}


def _names(name: Callable[[int], str], value: Any = 1) -> Callable[[int], Arguments]:
    return lambda size: {name(at): value for at in range(size // (len(name(1_000)) + 8))}


def _inside(parameter: str, build: Callable[[int], Any]) -> Callable[[int], Arguments]:
    return lambda size: {"query": "a", parameter: build(size)}


FAMILIES: Mapping[str, Callable[[int], Arguments]] = {
    "a dotted name": _name(".b", "a"),
    "a dotted name of a parameter": _name(".name", "filter"),
    "a dotted name with indices": _name("[0].rows", "filter.rows"),
    "indices of a parameter": _name("[0]", "tags"),
    "a name of humps": _name("aB"),
    "a name of words": _name("max_"),
    "a name of spaces": _name("a "),
    "a name of digits": _name("1_"),
    "a name of one letter": _name("q"),
    "a name that is JSON": _name('{"a":'),
    "a name of brackets": _name("["),
    "a name of quotes": _name("'"),
    "a name below": lambda size: {"query": "a", "filter": {".b" * (size // 2): 1}},
    "many names": _names("name{}".format),
    "many names of humps": _names("maxResults{}".format),
    "many dotted names": _names("filter.name{}".format),
    "many indices": _names("tags[{}]".format),
    "many names below": _inside("filter", lambda size: {f"n{at}": 1 for at in range(size // 8)}),
    "many members of an enum's list": _inside("levels", lambda size: ["LOW", "x"] * (size // 12)),
    "an enum's text of words": _value("mode", "fast "),
    "an enum's text of signs": _value("mode", "f-a"),
    "an enum's text of one member": _value("mode", "fast"),
    "a text for a list": _value("tags", "a, b; "),
    "a text of spaces for a list": _value("tags", " "),
    "a text of members for a list": _value("levels", "low,high,"),
    "open brackets": _value("tags", "["),
    "open braces": _value("filter", '{"a":'),
    "open quotes": _value("tags", "'"),
    "a comment": _value("tags", "/*", "["),
    "backslashes": _value("tags", "\\", '["'),
    "a text of numbers": _value("levels", "1,"),
    "digits for a number": _value("max_results", "9"),
    "zeros for a number": _value("max_results", "0", "1."),
    "spaces around a number": _value("max_results", " ", "1"),
    "many wrong items": _inside("tags", lambda size: [1, "a", None] * (size // 12)),
    "an object for a text": lambda size: {"query": {f"n{at}": at for at in range(size // 12)}},
    "JSON text of an object": lambda size: {
        "query": "a",
        "filter": json.dumps({f"n{at}": at for at in range(size // 14)}),
    },
    "a wrapper of unknown names": lambda size: {"args": {f"n{at}": 1 for at in range(size // 8)}},
}
"""Arguments of a given number of characters, by what they consist of."""

_SMALL, _LARGE = 2**16, 2**20
_FACTOR = 4
"""How many times more than linear a measurement may be: the larger data leaves the processor's caches."""
_LEAST_S = 0.05
"""CPU time of 64 KiB that is too short to be compared."""


def _seconds(normalizer: Normalizer, family: str, size: int) -> float:
    arguments = FAMILIES[family](size)
    started = process_time()
    normalizer(arguments)
    return process_time() - started


@pytest.mark.parametrize("family", FAMILIES)
def test_work_is_linear_in_the_size(family):
    """1 MiB takes about 16 times as long as 64 KiB."""
    normalizer = Normalizer(SCHEMA)
    _seconds(normalizer, family, 2**10)
    small = max(min(_seconds(normalizer, family, _SMALL) for _ in range(3)), _LEAST_S)
    assert _seconds(normalizer, family, _LARGE) < small * _FACTOR * _LARGE / _SMALL
