"""Remember which refused calls a caller sends again unchanged, without their values."""

from __future__ import annotations

import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import anyio
import pydantic_core

from mcp_lenient.errors import PolicyError

if TYPE_CHECKING:
    from key_value.aio.protocols import AsyncKeyValue

_MOST: Final = 10_000
"""Callers and tools that are remembered; the one that was refused least recently is forgotten first."""
_MOST_CALLS: Final = 8
"""Different calls of one tool by one caller."""
_COLLECTION: Final = "mcp_lenient_repeats"
_KEPT_SECONDS: Final = 3600
"""How long a store remembers a refused call that is not sent again."""
_LONGEST_ANSWER: Final = 0.5
"""Seconds that a store may take."""
_PAUSE_SECONDS: Final = 30
"""How long a store that failed is left alone."""
_SHORTEST_KEY: Final = 16
_STDIO: Final = "stdio"


class Repeats:
    """The refused calls of each caller, by a keyed hash.

    >>> repeats = Repeats()
    >>> [repeats.count("session", "search", "MISSING_QUERY", {}) for _ in range(3)]
    [1, 2, 3]
    >>> repeats.forget("session", "search")
    True
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
        counts, sent = self._counts.get((caller, tool), {}), self._hash(code, arguments)
        counts[sent] = counts.pop(sent, 0) + 1
        if len(counts) > _MOST_CALLS:
            del counts[next(iter(counts))]
        self._remember(caller, tool, counts)
        return counts[sent]

    def _remember(self, caller: str, tool: str, counts: dict[bytes, int]) -> None:
        self.forget(caller, tool)
        self._counts[caller, tool] = counts
        self._tools[tool] += 1
        if len(self._counts) > _MOST:
            self.forget(*next(iter(self._counts)))

    async def recall(self, caller: str, tool: str) -> None:
        """Learn what others have refused this caller; called before a refusal is counted."""

    async def save(self, caller: str, tool: str) -> None:
        """Tell others what is remembered of a caller and a tool; called after a change."""

    def forget(self, caller: str, tool: str) -> bool:
        """Forget the caller's refused calls of a tool, since a later call of it runs; return whether there were any."""
        if self._counts.pop((caller, tool), None) is None:
            return False
        self._tools[tool] -= 1
        if not self._tools[tool]:
            del self._tools[tool]
        return True

    def knows(self, tool: str) -> bool:
        """Return whether a refused call of a tool is remembered."""
        return tool in self._tools

    def _hash(self, code: str, arguments: Any) -> bytes:
        try:
            written = pydantic_core.to_json(arguments)
        except (ValueError, RecursionError):  # no JSON, such as half a surrogate: never the same call
            written = os.urandom(16)
        return blake2b(code.encode() + b"\0" + written, key=self._key, digest_size=16).digest()


class SharedRepeats(Repeats):
    """The same in a store that other processes have as well.

    Over stdio a process has its own client, so nothing is shared.

    Args:
        store: The store.
        key: The key of the hash, the same in all processes.
        warn: Called with the name of an exception of the store, which otherwise has no effect.
    """

    def __init__(self, store: AsyncKeyValue, key: bytes | None, warn: Callable[[str], None]) -> None:
        super().__init__(key)
        self._store = store
        self._warn = warn
        self._resumes = 0.0

    async def recall(self, caller: str, tool: str) -> None:
        """Read what is stored of a caller and a tool."""
        if self._is_used(caller):
            with self._in_time():
                found = await self._store.get(self._name(caller, tool), collection=_COLLECTION)
                counts = {bytes.fromhex(call): int(times) for call, times in (found or {}).items()}
                self.forget(caller, tool)
                if counts:
                    self._remember(caller, tool, counts)

    async def save(self, caller: str, tool: str) -> None:
        """Store what is remembered of a caller and a tool, so that it is there before they call again."""
        if self._is_used(caller):
            with self._in_time():
                name, counts = self._name(caller, tool), self._counts.get((caller, tool), {})
                value = {call.hex(): times for call, times in counts.items()}
                if value:
                    await self._store.put(name, value, collection=_COLLECTION, ttl=_KEPT_SECONDS)
                else:
                    await self._store.delete(name, collection=_COLLECTION)

    def _is_used(self, caller: str) -> bool:
        return caller != _STDIO and monotonic() >= self._resumes

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """Limit the time that the store takes, and leave it alone for a while if it fails."""
        try:
            with anyio.fail_after(_LONGEST_ANSWER):
                yield
        except Exception as error:  # noqa: BLE001 - whatever a store raises
            self._resumes = monotonic() + _PAUSE_SECONDS
            self._warn(type(error).__name__)

    def _name(self, caller: str, tool: str) -> str:
        return blake2b(
            f"{caller}\0{tool}".encode(errors="replace"), key=self._key, digest_size=16
        ).hexdigest()


def repeats_in(store: AsyncKeyValue | None, key: str | bytes | None, warn: Callable[[str], None]) -> Repeats:
    """Return the memory of refused calls that an operator asks for.

    Raises:
        PolicyError: When a store that others may have comes without a key, or a key is too short.
    """
    own = key.encode() if isinstance(key, str) else key
    if own is not None and len(own) < _SHORTEST_KEY:
        msg = f"repeats_key must have at least {_SHORTEST_KEY} characters, got {len(own)}."
        raise PolicyError(msg)
    if store is None:
        return Repeats()
    if own is None and not type(store).__module__.startswith("key_value.aio.stores.memory"):
        msg = (
            f"repeats={type(store).__name__}(...) needs repeats_key=... or MCP_LENIENT_REPEATS_KEY: the servers that "
            "share a store recognize a call by the same keyed hash."
        )
        raise PolicyError(msg)
    return SharedRepeats(store, None if own is None else blake2b(own, digest_size=32).digest(), warn)


def caller_of(who: Mapping[str, str | None]) -> str | None:
    """Return what identifies a caller; None if nothing does, and so nothing may be counted.

    Over stdio there is one. In memory, and where a server keeps no sessions, each request has a session of its own.
    """
    if who.get("transport") == "stdio":
        return _STDIO
    return who.get("subject") or who.get("session_id")
