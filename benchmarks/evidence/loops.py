"""Compare what the same refused call is answered the first, second and third time, and what remembering costs."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import anyio
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from pydantic import BaseModel, ConfigDict, Field
from rich.table import Table

from benchmarks import servers
from benchmarks.data import MissingCasesError
from benchmarks.ports import free_port, wait_for
from benchmarks.printing import wide_console
from benchmarks.quality.lengths import MOST_ON_AVERAGE, invalid_set
from mcp_lenient.adapters.repeats import Caller, Repeats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_FIRST: Final = MOST_ON_AVERAGE
"""The first answer's text, as a multiple of FastMCP's own, on average over the recorded refusals."""
MOST_US: Final = 10.0
"""Microseconds that remembering a refusal may take."""
MOST_KIB: Final = 8_192
"""Memory for 100,000 refused calls of 1,000 callers."""
_REFUSALS: Final = 100_000
_CALLERS: Final = 1_000
_FAULTS: Final = [("/query", "missing")]
_TIMES: Final = 5
_FIRST_ALIKE: Final = 3
_CORRECTED: Final = re.compile(r" Send (?:this instead|the one that is meant): .*", re.DOTALL)


class Address(BaseModel):
    """A postal address."""

    model_config = ConfigDict(extra="forbid")
    street: str
    city: str


def execute_sql(sql: str, params: list[str] | None = None) -> str:
    """Run a statement."""
    return f"{sql} {params}"


def edit_file(path: str, edits: list[dict[str, str]], dry_run: Annotated[bool, Field()] = False) -> str:  # noqa: FBT002
    """Edit a file."""
    return f"{path} {edits} {dry_run}"


def find_tickets(
    query: Annotated[str, Field(min_length=3)],
    status: Literal["open", "closed", "waiting"] = "open",
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    labels: list[str] | None = None,
) -> str:
    """Find tickets."""
    return f"{query} {status} {limit} {labels}"


def ship_order(item: str, to: Address, quantity: int = 1, on: date | None = None) -> str:
    """Ship an order."""
    return f"{item} {to} {quantity} {on}"


TOOLS: Final = (execute_sql, edit_file, find_tickets, ship_order)
_TO: Final = {"street": "Storgata 1", "city": "Oslo"}
_LONG: Final = "x = 1; " * 120
CASES: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "no arguments at all": ("execute_sql", {}),
    "the long argument is gone": ("edit_file", {"path": "a.py"}),
    "a list cut off inside a string": (
        "edit_file",
        {"path": "a.py", "edits": f'[{{"old": "a", "new": "{_LONG}'},
    ),
    "a list cut off at its end": ("execute_sql", {"sql": "select 1", "params": '["a", "b"'}),
    "broken JSON": ("edit_file", {"path": "a.py", "edits": '[{"old" "a"}]'}),
    "text with commas for a list": ("find_tickets", {"query": "printer", "labels": "paper, ink"}),
    "an object for a list": ("find_tickets", {"query": "printer", "labels": {"name": "ink", "color": "red"}}),
    "an object for a text": ("execute_sql", {"sql": {"select": "name", "from": "users"}}),
    "a list for a text": ("find_tickets", {"query": ["printer", "paper"]}),
    "a misspelt name": ("find_tickets", {"qurey": "printer"}),
    "another name": ("find_tickets", {"search_text": "printer"}),
    "a name that is not declared": ("find_tickets", {"query": "printer", "assignee": "ann"}),
    "a value that is not allowed": ("find_tickets", {"query": "printer", "status": "pending"}),
    "out of range": ("find_tickets", {"query": "printer", "limit": 1000}),
    "too short": ("find_tickets", {"query": "ab"}),
    "null for a required text": ("find_tickets", {"query": None}),
    "words for a number": ("ship_order", {"item": "tea", "to": _TO, "quantity": "a few"}),
    "words for a date": ("ship_order", {"item": "tea", "to": _TO, "on": "next friday"}),
    "a text for an object": ("ship_order", {"item": "tea", "to": "Storgata 1, Oslo"}),
    "a field is missing inside": ("ship_order", {"item": "tea", "to": {"street": "Storgata 1"}}),
}
"""Refused calls of the kinds that models send again and again."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What one call is answered.

    Attributes:
        kind: What is wrong with it.
        fastmcp: FastMCP's own text.
        texts: The first text block of the first, second and third answer.
    """

    kind: str
    fastmcp: str
    texts: tuple[str, ...]

    @property
    def messages(self) -> list[str]:
        """The messages of the three answers."""
        return [json.loads(text)["message"] for text in self.texts]

    @property
    def lengths(self) -> list[int]:
        """The characters of the three answers, without a corrected call."""
        found = [_CORRECTED.search(message) for message in self.messages]
        added = [len(json.dumps(each[0], ensure_ascii=False)) - 2 if each else 0 for each in found]
        return [len(text) - own for text, own in zip(self.texts, added, strict=True)]

    @property
    def is_right(self) -> bool:
        """Whether each answer is another one, and the second is shorter than the first."""
        first, second, _ = self.lengths
        return len(set(self.messages)) == len(self.messages) and second < first


def main() -> int:
    """Print the answers and the cost of remembering; return 1 if a target is missed."""
    console = wide_console()
    servers.quiet()
    found = anyio.run(answered)
    connections = anyio.run(over_each_connection)
    console.print(_table(found))
    for each in found:
        console.print(f"\n{each.kind}", style="bold")
        for at, message in enumerate(each.messages, 1):
            console.print(f"  {at}. {message}", markup=False, highlight=False)
    first = mean(each.lengths[0] / len(each.fastmcp) for each in found)
    console.print(_connections_table(connections))
    recorded = _recorded()
    wrong = [each.kind for each in found if not each.is_right]
    micros, kib = remembering()
    console.print(
        f"\nFirst answer: {first:.2f} times FastMCP's text on average here; of the recorded refusals "
        f"{'not measured, they are missing' if recorded is None else f'{recorded:.2f} (target: at most {MOST_FIRST})'}.\n"
        f"Second answer shorter, and each another one: {len(found) - len(wrong)} of {len(found)}"
        f"{': not ' + ', '.join(wrong) if wrong else ''}.\n"
        f"{_REFUSALS:,} refused calls of {_CALLERS:,} callers: {micros:.1f} us a refusal (target: under {MOST_US:.0f}), "
        f"{kib:,.0f} KiB at the end (target: at most {MOST_KIB:,})."
    )
    is_short = recorded is None or recorded <= MOST_FIRST
    is_counted = all(each.is_right for each in connections)
    return 0 if is_short and is_counted and not wrong and micros < MOST_US and kib <= MOST_KIB else 1


def _recorded() -> float | None:
    """Return the average length of the recorded refusals; None if they are missing."""
    try:
        return mean(each.times[1] for each in anyio.run(invalid_set))
    except MissingCasesError:
        return None


async def answered() -> list[Answers]:
    """Send each call three times in one session, and once to a server without the middleware."""
    bare, lenient = servers.pair(*TOOLS)
    found = []
    async with Client(bare) as one, Client(lenient, mode="legacy") as other:
        for kind, (tool, sent) in CASES.items():
            theirs = await one.call_tool_mcp(tool, dict(sent))
            ours = [await other.call_tool_mcp(tool, dict(sent)) for _ in range(3)]
            texts = tuple(each.content[0].text for each in ours if each.is_error)
            found.append(Answers(kind, theirs.content[0].text, texts))
    return found


@dataclass(frozen=True, slots=True)
class Connection:
    """What five wrong calls are answered over a kind of connection.

    Attributes:
        kind: The kind.
        equal: The messages of five equal calls.
        alike: For five calls with other values, how many were alike by each answer.
    """

    kind: str
    equal: tuple[str, ...]
    alike: tuple[int | None, ...]

    @property
    def is_right(self) -> bool:
        """Whether equal calls have different answers, and others differ from the third on."""
        counted = tuple(range(_FIRST_ALIKE, _TIMES + 1))
        return len(set(self.equal)) == _TIMES and self.alike == (None,) * (_FIRST_ALIKE - 1) + counted


async def over_each_connection() -> list[Connection]:
    """Send five equal wrong calls, a right one and five reworded wrong ones over each kind of connection."""
    with _over_http() as url:
        own = StdioTransport(sys.executable, ["-c", "from benchmarks.evidence import loops; loops.serve()"])
        targets = {"stdio": own, "HTTP": url, "in process": servers.pair(*TOOLS)[1]}
        return [
            await _over(f"{kind}, {era}", Client(target, mode=era))
            for kind, target in targets.items()
            for era in ("auto", "legacy")
        ]


async def _over(kind: str, client: Client[Any]) -> Connection:
    async with client:

        async def envelope(**sent: Any) -> dict[str, Any]:
            told: dict[str, Any] = json.loads(
                (await client.call_tool_mcp("find_tickets", sent)).content[0].text
            )
            return told

        equal = [(await envelope(query="printer", labels="a, b"))["message"] for _ in range(_TIMES)]
        await client.call_tool_mcp("find_tickets", {"query": "printer"})
        alike = [await envelope(query="printer", labels=f"a, {at}") for at in range(_TIMES)]
        await client.call_tool_mcp("find_tickets", {"query": "printer"})
    return Connection(kind, tuple(equal), tuple(each["details"].get("alike") for each in alike))


def serve(port: int | None = None) -> None:
    """Serve the tools over stdio, or over HTTP on a port of loopback."""
    servers.quiet()
    server = servers.pair(*TOOLS)[1]
    if port is None:
        server.run(show_banner=False)
    else:
        server.run("http", port=port, show_banner=False, log_level="ERROR")


@contextmanager
def _over_http() -> Iterator[str]:
    port = free_port()
    code = f"from benchmarks.evidence import loops; loops.serve({port})"
    with subprocess.Popen([sys.executable, "-c", code]) as process:  # noqa: S603 - our own
        try:
            wait_for(port)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def _connections_table(connections: Sequence[Connection]) -> Table:
    table = Table(
        "connection, protocol",
        "distinct answers to 5 equal calls",
        "reworded: alike by each answer",
        title="The same server over each connection",
    )
    for each in connections:
        alike = ", ".join(str(times or "-") for times in each.alike)
        table.add_row(each.kind, str(len(set(each.equal))), alike)
    return table


def remembering() -> tuple[float, float]:
    """Return the microseconds of a refusal that is remembered, and the KiB of all."""
    calls = [{"query": f"{at}", "limit": at} for at in range(7)]
    callers = [Caller(f"session {at}", f"session {at}") for at in range(_CALLERS)]

    def remember() -> Repeats:
        repeats = Repeats()
        for at in range(_REFUSALS):
            sent = calls[at % len(calls)]
            repeats.count(callers[at % _CALLERS], "find_tickets", "MISSING_QUERY", sent, _FAULTS)
        return repeats

    gc.collect()  # what the answers have left is not the memory's
    started = time.process_time_ns()
    remember()
    micros = (time.process_time_ns() - started) / _REFUSALS / 1_000
    tracemalloc.start()
    kept = remember()
    kib = tracemalloc.get_traced_memory()[0] / 1_024
    tracemalloc.stop()
    del kept
    return micros, kib


def _table(found: Sequence[Answers]) -> Table:
    title = (
        "The same refused call, three times: characters of the first text block (without the corrected call)"
    )
    table = Table(
        "what is wrong", "FastMCP", "first", "times", "second", "third", "corrected call", title=title
    )
    for each in found:
        first, second, third = map(str, each.lengths)
        times = f"{each.lengths[0] / len(each.fastmcp):.2f}"
        corrected = "yes" if _CORRECTED.search(each.messages[1]) else ""
        table.add_row(each.kind, str(len(each.fastmcp)), first, times, second, third, corrected)
    return table
