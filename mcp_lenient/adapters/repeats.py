"""Remember which refused calls a caller sends again unchanged, without their values."""

from __future__ import annotations

import os
from collections import Counter, OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final

import pydantic_core

_MOST: Final = 10_000
"""Callers and tools that are remembered; the one that was refused least recently is forgotten first."""
_MOST_CALLS: Final = 8
"""Different calls of one tool by one caller."""


class Repeats:
    """The refused calls of each caller, by a keyed hash.

    >>> repeats = Repeats()
    >>> [repeats.count("session", "search", "MISSING_QUERY", {}) for _ in range(3)]
    [1, 2, 3]
    >>> repeats.forget("session", "search")
    >>> repeats.count("session", "search", "MISSING_QUERY", {})
    1

    Args:
        key: The key of the hash; random if it is left out.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = os.urandom(16) if key is None else key
        self._counts: OrderedDict[tuple[str, str], dict[bytes, int]] = OrderedDict()
        self._tools: Counter[str] = Counter()

    def count(self, caller: str, tool: str, code: str, arguments: Any) -> int:
        """Return how often this refusal was caused by the same arguments of the same caller, this time included."""
        if (caller, tool) not in self._counts:
            self._counts[caller, tool] = {}
            self._tools[tool] += 1
        counts = self._counts[caller, tool]
        self._counts.move_to_end((caller, tool))
        if len(self._counts) > _MOST:
            self.forget(*next(iter(self._counts)))
        sent = self._hash(code, arguments)
        counts[sent] = counts.pop(sent, 0) + 1
        if len(counts) > _MOST_CALLS:
            del counts[next(iter(counts))]
        return counts[sent]

    def forget(self, caller: str, tool: str) -> None:
        """Forget the refused calls of a tool, of which the caller has sent another one that runs."""
        if self._counts.pop((caller, tool), None) is not None:
            self._tools[tool] -= 1
            if not self._tools[tool]:
                del self._tools[tool]

    def knows(self, tool: str) -> bool:
        """Return whether a refused call of a tool is remembered."""
        return tool in self._tools

    def _hash(self, code: str, arguments: Any) -> bytes:
        try:
            written = pydantic_core.to_json(arguments)
        except (ValueError, RecursionError):  # not JSON
            written = repr(type(arguments)).encode()
        return blake2b(code.encode() + b"\0" + written, key=self._key, digest_size=16).digest()


def caller_of(who: Mapping[str, str | None]) -> str | None:
    """Return what identifies a caller; None if nothing does, and so nothing may be counted.

    Over stdio there is one. In memory, and where a server keeps no sessions, each request has a session of its own.
    """
    if who.get("transport") == "stdio":
        return "stdio"
    return who.get("subject") or who.get("session_id")
