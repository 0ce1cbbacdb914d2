"""Compare the length of a refusal, in characters, with FastMCP's own text for the same call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import anyio
from fastmcp import Client
from pydantic import BaseModel, ConfigDict, Field
from rich.table import Table

from benchmarks import servers
from benchmarks.data import MissingCasesError, cases_folder, real_calls
from benchmarks.printing import wide_console
from benchmarks.signatures import expressible
from mcp_lenient import LenientMiddleware

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_MESSAGE: Final = 1.0
MOST_TEXT: Final = 2.4
MOST_ON_AVERAGE: Final = 1.5


class Address(BaseModel):
    """A postal address."""

    model_config = ConfigDict(extra="forbid")
    street: str
    city: str = "Oslo"


def store(content: str, tags: list[str] | None = None) -> str:
    """Store a note."""
    return f"{content} {tags}"


def search(
    query: Annotated[str, Field(min_length=2, max_length=20)],
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    order: Literal["newest", "oldest", "best"] = "newest",
    *,
    exact: bool = False,
) -> str:
    """Search notes."""
    return f"{query} {limit} {order} {exact}"


def order(item: str, to: Address, price: float = 1.0, on: date | None = None) -> str:
    """Order something."""
    return f"{item} {to} {price} {on}"


def total(amounts: list[int], rates: dict[str, float] | None = None) -> str:
    """Add amounts."""
    return f"{amounts} {rates}"


_TO: Final = {"street": "Main Street 1"}
ONE_FAULT: Final[Sequence[tuple[str, Mapping[str, Any]]]] = (
    ("store", {"content": "tea", "tags": 123}),
    ("store", {"content": "tea", "tags": {"a": 1}}),
    ("store", {"content": "tea", "tags": ["a", None]}),
    ("store", {"tags": ["a"]}),
    ("store", {"content": ["tea", "milk"], "tags": []}),
    ("store", {"content": "tea", "color": "red"}),
    ("search", {"query": "tea", "limit": "a few"}),
    ("search", {"query": "tea", "limit": 500}),
    ("search", {"query": "tea", "limit": 2.5}),
    ("search", {"query": "tea", "order": "fastest"}),
    ("search", {"query": "tea", "exact": "maybe"}),
    ("search", {"query": "x"}),
    ("search", {"query": None}),
    ("order", {"item": "tea", "to": "Main Street 1, Oslo"}),
    ("order", {"item": "tea", "to": {"city": "Oslo"}}),
    ("order", {"item": "tea", "to": {**_TO, "zip": 123}}),
    ("order", {"item": "tea", "to": _TO, "on": "tomorrow"}),
    ("order", {"item": "tea", "to": _TO, "price": "cheap"}),
    ("total", {"amounts": [1, 2, "three"]}),
    ("total", {"amounts": [1], "rates": {"a": "high"}}),
)
"""Calls with one fault each, of the kinds that users report."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """The characters of one refusal.

    Attributes:
        call: The tool and the arguments.
        fastmcp: FastMCP's text.
        message: The envelope's message.
        text: The first text block.
    """

    call: str
    fastmcp: int
    message: int
    text: int

    @property
    def times(self) -> tuple[float, float]:
        """Return the lengths of the message and of the text as multiples of FastMCP's text."""
        return self.message / self.fastmcp, self.text / self.fastmcp


def main() -> int:
    """Print both tables; return 1 if something is longer than allowed."""
    console = wide_console()
    servers.quiet()
    found = anyio.run(one_fault)
    console.print(_table(found))
    messages, texts = zip(*(each.times for each in found), strict=True)
    kept = max(messages) <= MOST_MESSAGE and max(texts) <= MOST_TEXT
    try:
        refused = anyio.run(invalid_set)
    except MissingCasesError as error:
        console.print(f"The recorded calls are left out: {error}")
        return 0 if kept else 1
    message, average = map(mean, zip(*(each.times for each in refused), strict=True))
    console.print(
        f"{len(refused)} refusals of real_calls_invalid: the first text block is {average:.2f} times FastMCP's text "
        f"on average (target: {MOST_ON_AVERAGE}), the message {message:.2f} times."
    )
    return 0 if kept and average <= MOST_ON_AVERAGE else 1


async def one_fault() -> list[Lengths]:
    """Return the lengths for the calls of the table."""
    bare, lenient = servers.pair(store, search, order, total)
    async with Client(bare) as one, Client(lenient) as other:
        measured = [await _lengths(one, other, tool, sent) for tool, sent in ONE_FAULT]
    return [each for each in measured if each is not None]


async def invalid_set() -> list[Lengths]:
    """Return the lengths of all refusals of the recorded invalid calls.

    Raises:
        MissingCasesError: If the calls are missing.
    """
    cases = [
        case
        for case in real_calls(cases_folder(), "invalid")
        if expressible(case.schema) and isinstance(case.sent, dict)
    ]
    async with (
        servers.tools("default", cases, None) as one,
        servers.tools("default", cases, LenientMiddleware()) as other,
    ):
        measured = [
            await _lengths(one.client, other.client, servers.tool_name(case), case.sent) for case in cases
        ]
    return [each for each in measured if each is not None]


async def _lengths(
    one: Client[Any], other: Client[Any], tool: str, sent: Mapping[str, Any]
) -> Lengths | None:
    theirs = await one.call_tool(tool, dict(sent), raise_on_error=False)
    ours = await other.call_tool(tool, dict(sent), raise_on_error=False)
    if not theirs.is_error or not ours.is_error:
        return None
    text = ours.content[0].text
    call = f"{tool} {json.dumps(sent)}"
    return Lengths(call, len(theirs.content[0].text), len(json.loads(text)["message"]), len(text))


def _table(found: Sequence[Lengths]) -> Table:
    title = f"One fault: characters (message at most {MOST_MESSAGE:.0f}, text at most {MOST_TEXT} times FastMCP's text)"
    table = Table("call", "FastMCP", "message", "times", "first text block", "times", title=title)
    for each in found:
        message, text = (f"{times:.2f}" for times in each.times)
        table.add_row(each.call, str(each.fastmcp), str(each.message), message, str(each.text), text)
    return table
