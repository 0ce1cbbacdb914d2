"""Remember which refused calls a caller sends again unchanged, without their values."""

from __future__ import annotations

import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from math import inf
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio
import pydantic_core

from mcp_lenient.errors import PolicyError

if TYPE_CHECKING:
    from key_value.aio.protocols import AsyncKeyValue

_MOST: Final = 10_000
"""Callers and tools that are remembered; the one that was refused least recently is forgotten first."""
_MOST_HASHES: Final = 16
"""Different calls and faults of one tool by one caller."""
_STRANGERS_SECONDS: Final = 600
"""How long a refused call of a stranger is remembered."""
_COLLECTION: Final = "mcp_lenient_repeats"
_KEPT_SECONDS: Final = 3600
"""How long a store remembers a refused call that is not sent again."""
_LONGEST_ANSWER: Final = 0.5
"""Seconds that a store may take."""
_PAUSE_SECONDS: Final = 30
"""How long a store that failed is left alone."""
_SHORTEST_KEY: Final = 16
_LONGEST_NAME: Final = 200


class Caller(NamedTuple):
    """What the requests of one caller have in common.

    Attributes:
        key: What its calls are counted by.
        line: What its faults are counted by, whatever the values; None if others may share it.
        is_identified: Whether nobody else has this key, as with a token or a session; otherwise it is a stranger.
    """

    key: str
    line: str | None
    is_identified: bool = True


_OVER_STDIO: Final = Caller("stdio", "stdio")


class Refusals(NamedTuple):
    """How often a caller was refused, this time included.

    Attributes:
        same: With the same arguments.
        alike: With different arguments, for the same faults at the same places.
    """

    same: int = 1
    alike: int = 1


@dataclass(slots=True)
class _RefusedCalls:
    tool: str | None
    counts: dict[bytes, int]
    refused_at: float


class _Counts:
    """Counts by caller and tool, of both of which only a hash is kept."""

    def __init__(self, key: bytes, seconds: float = inf) -> None:
        self._keyed = blake2b(key=key, digest_size=16)
        self._keyed_of_unlisted = blake2b(key=key, digest_size=16, person=b"not listed")
        self._seconds = seconds
        self._entries: OrderedDict[bytes, _RefusedCalls] = OrderedDict()
        self.tools: Counter[str | None] = Counter()

    def count(self, name: bytes, tool: str | None, sent: bytes) -> int:
        self.forget_old()
        entry = self._entries.get(name)
        if entry is None:
            entry = self.put(name, tool, {})
        else:
            self._entries.move_to_end(name)
            entry.refused_at = monotonic()
        times = entry.counts[sent] = entry.counts.pop(sent, 0) + 1
        if len(entry.counts) > _MOST_HASHES:
            del entry.counts[next(iter(entry.counts))]
        return times

    def name(self, line: str, tool: str, *, exists: bool = True) -> bytes:
        return _digest(self._keyed if exists else self._keyed_of_unlisted, repr((line, tool)).encode())

    def hash(self, code: str, value: Any) -> bytes:
        try:
            written = pydantic_core.to_json(value)
        except (ValueError, RecursionError):  # no JSON, such as half a surrogate: never the same call
            written = os.urandom(16)
        return _digest(self._keyed, code.encode() + b"\0" + written)

    def counts(self, name: bytes) -> dict[bytes, int]:
        entry = self._entries.get(name)
        return {} if entry is None else entry.counts

    def put(self, name: bytes, tool: str | None, counts: dict[bytes, int]) -> _RefusedCalls:
        self.forget(name)
        entry = self._entries[name] = _RefusedCalls(tool, counts, monotonic())
        self.tools[tool] += 1
        if len(self._entries) > _MOST:
            self.forget(next(iter(self._entries)))
        return entry

    def forget(self, name: bytes) -> bool:
        entry = self._entries.pop(name, None)
        if entry is None:
            return False
        self.tools[entry.tool] -= 1
        if not self.tools[entry.tool]:
            del self.tools[entry.tool]
        return True

    def forget_old(self) -> None:
        oldest = monotonic() - self._seconds
        while self._entries and self._entries[next(iter(self._entries))].refused_at < oldest:
            self.forget(next(iter(self._entries)))


def _digest(keyed: blake2b, text: bytes) -> bytes:
    started = keyed.copy()  # half the time of starting with the key
    started.update(text)
    return started.digest()


class Repeats:
    """The refused calls of each caller, by a keyed hash.

    Strangers have a table of their own, so that they cannot make it forget callers that are known.

    >>> repeats, caller = Repeats(), Caller("session", "session")
    >>> [repeats.count(caller, "search", "MISSING_QUERY", {}).same for _ in range(3)]
    [1, 2, 3]
    >>> repeats.forget(caller, "search")
    True
    >>> repeats.count(caller, "search", "MISSING_QUERY", {})
    Refusals(same=1, alike=1)

    Args:
        key: The key of the hash for known callers; random if it is left out.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._identified = _Counts(os.urandom(16) if key is None else key)
        self._strangers = _Counts(os.urandom(16), _STRANGERS_SECONDS)
        self._lock = Lock()

    def count(
        self, caller: Caller, tool: str, code: str, arguments: Any, faults: Any = (), *, exists: bool = True
    ) -> Refusals:
        """Count a refused call.

        Args:
            caller: Who sent it.
            tool: The tool's name.
            code: The code of the refusal.
            arguments: What was sent.
            faults: What is wrong with it, and where.
            exists: Whether this caller may see the tool. What is counted of other names is counted apart, so that it
                does not depend on a tool that is hidden.

        Returns:
            How often its caller was refused.
        """
        table, listed = self._table(caller), tool if exists else None
        sent, name = table.hash(code, arguments), table.name(caller.key, tool, exists=exists)
        with self._lock:
            same = table.count(name, listed, sent)
        if same > 1 or caller.line is None:
            return Refusals(same)
        line = name if caller.line == caller.key else table.name(caller.line, tool, exists=exists)
        wrong = table.hash("", faults)
        with self._lock:
            return Refusals(same, table.count(line, listed, wrong))

    async def recall(self, caller: Caller, tool: str) -> None:
        """Learn what others have refused this caller; called before a refusal is counted."""

    async def save(self, caller: Caller, tool: str) -> None:
        """Tell others what is remembered of a caller and a tool; called after a change."""

    def forget(self, caller: Caller, tool: str) -> bool:
        """Forget the caller's refused calls of a tool, since a later call of it runs; return whether there were any."""
        table = self._table(caller)
        if tool not in table.tools:
            return False
        names = [table.name(line, tool) for line in {caller.key, caller.line} if line is not None]
        with self._lock:
            self._strangers.forget_old()
            return sum(map(table.forget, names)) > 0

    def knows(self, tool: str) -> bool:
        """Return whether a refused call of a tool is remembered."""
        return tool in self._identified.tools or tool in self._strangers.tools

    def _table(self, caller: Caller) -> _Counts:
        return self._identified if caller.is_identified else self._strangers


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

    async def recall(self, caller: Caller, tool: str) -> None:
        """Read what is stored of a caller and a tool."""
        if self._is_used(caller):
            with self._in_time():
                name = self._identified.name(caller.key, tool)
                stored = await self._store.get(name.hex(), collection=_COLLECTION)
                counts = {bytes.fromhex(call): int(times) for call, times in (stored or {}).items()}
                with self._lock:
                    self._identified.forget(name)
                    if counts:
                        self._identified.put(name, tool, counts)

    async def save(self, caller: Caller, tool: str) -> None:
        """Store what is remembered of a caller and a tool, so that it is there before they call again."""
        if self._is_used(caller):
            with self._in_time():
                name = self._identified.name(caller.key, tool)
                value = {call.hex(): times for call, times in self._identified.counts(name).items()}
                if value:
                    await self._store.put(name.hex(), value, collection=_COLLECTION, ttl=_KEPT_SECONDS)
                else:
                    await self._store.delete(name.hex(), collection=_COLLECTION)

    def _is_used(self, caller: Caller) -> bool:
        return caller.is_identified and caller != _OVER_STDIO and monotonic() >= self._resumes

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """Limit the time that the store takes, and leave it alone for a while if it fails."""
        try:
            with anyio.fail_after(_LONGEST_ANSWER):
                yield
        except Exception as error:  # noqa: BLE001 - whatever a store raises
            self._resumes = monotonic() + _PAUSE_SECONDS
            self._warn(type(error).__name__)


def repeats_in(store: AsyncKeyValue | None, key: str | bytes | None, warn: Callable[[str], None]) -> Repeats:
    """Return the memory of refused calls that an operator asks for.

    Raises:
        PolicyError: When a store that others may have comes without a key, or a key is too short.
    """
    secret = key.encode() if isinstance(key, str) else key
    if secret is not None and len(secret) < _SHORTEST_KEY:
        msg = f"repeats_key must have at least {_SHORTEST_KEY} characters, got {len(secret)}."
        raise PolicyError(msg)
    if store is None:
        return Repeats()
    if secret is None and not type(store).__module__.startswith("key_value.aio.stores.memory"):
        msg = (
            f"repeats={type(store).__name__}(...) needs repeats_key=... or MCP_LENIENT_REPEATS_KEY: the servers that "
            "share a store recognize a call by the same keyed hash."
        )
        raise PolicyError(msg)
    return SharedRepeats(store, None if secret is None else blake2b(secret, digest_size=32).digest(), warn)


def stranger(host: str, port: int, agent: str, client: str, *, is_direct: bool) -> dict[str, str | None]:
    """Return what tells strangers apart, for :func:`caller_of`; none of it belongs into an event.

    Args:
        host: The address that requests come from; empty within a process.
        port: Its port; 0 if unknown.
        agent: The user agent.
        client: The name that the client reports.
        is_direct: Whether the client itself has opened the connection.
    """
    near = repr((host, agent[:_LONGEST_NAME], client[:_LONGEST_NAME]))
    return {"near": near, "line": f"{near} {port}" if is_direct else None}


def caller_of(who: Mapping[str, str | None]) -> Caller | None:
    """Return who sent a request; None if nothing says it, and so nothing may be counted.

    >>> caller_of({"transport": "streamable-http", "session_id": "a"})
    Caller(key="session_id 'a'", line="session_id 'a'", is_identified=True)

    Args:
        who: The fields of an event that identify the caller, and :func:`stranger` where no session does.
    """
    if who.get("transport") == "stdio":
        return _OVER_STDIO
    near = who.get("near")
    kinds = ("subject",) if near is not None else ("subject", "session_id")
    key = next((f"{kind} {who[kind]!r}" for kind in kinds if who.get(kind)), None)
    if key is not None:
        return Caller(key, key)
    return None if near is None else Caller(near, who.get("line"), is_identified=False)
