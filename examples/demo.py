"""Nearly right calls to ``context_store.py`` over stdio: FastMCP alone beside FastMCP with mcp-lenient.

``mcp-lenient demo`` runs it. Each call has its expected outcomes; the exit code is 1 where one is not as expected.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from runpy import run_path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from fastmcp import Client
from fastmcp.client.transports import PythonStdioTransport
from mcp.types import CallToolResult, Request, TextContent
from rich import box
from rich.table import Table
from rich.text import Text

from mcp_lenient.devtools.printing import Output, show

try:
    from mcp.shared.exceptions import MCPError
except ImportError:
    sys.exit("The demo needs FastMCP 4: pip install 'fastmcp>=4'")

SERVER = Path(__file__).with_name("context_store.py")
META = "mcp_lenient"
NOTES: tuple[Mapping[str, Any], ...] = (
    {"content": "Plan the release", "tags": ["work"]},
    {"content": "Plan the trip", "tags": ["travel"]},
    {"content": "An old draft", "tags": ["work"]},
    {"content": "An older draft"},
)
"""What is in the store before the calls come; the first has the id 1."""


@dataclass(frozen=True, slots=True)
class DemoCall:
    """One call and its expected outcomes.

    Args:
        sent: The arguments, or the whole of them as JSON text.
        alone: Whether FastMCP alone runs it.
        repairs: The rules that repair it; none when it runs as sent or is refused.
        refused: The error code of the envelope; empty when the call runs.
        effect: What a tool that ran says it has done.
    """

    sent: Mapping[str, Any] | str
    alone: bool = False
    repairs: tuple[str, ...] = ()
    refused: str = ""
    effect: Any = None


@dataclass(frozen=True, slots=True)
class Section:
    """Calls of one tool; ``base`` holds correct arguments that each of them shares."""

    title: str
    tool: str
    calls: tuple[DemoCall, ...]
    base: Mapping[str, Any] = field(default_factory=dict)
    strict: bool = False


def _tags(sent: Any, *, effect: list[str] | None = None, **expected: Any) -> DemoCall:
    return DemoCall({"tags": sent}, effect=None if effect is None else {"tags": effect}, **expected)


SECTIONS = (
    Section(
        "store_context(content: str, tags: list[str] | None = None)",
        "store_context",
        (
            _tags(None, alone=True, effect=[]),
            _tags([], alone=True, effect=[]),
            _tags(["tag1"], alone=True, effect=["tag1"]),
            _tags(["tag1", "tag2", "tag3"], alone=True, effect=["tag1", "tag2", "tag3"]),
            _tags("single_tag", repairs=("scalar_to_array",), effect=["single_tag"]),
            _tags('["a","b"]', repairs=("json_text_to_array",), effect=["a", "b"]),
            _tags("['a', 'b',]", repairs=("json5_text_to_array",), effect=["a", "b"]),
            _tags({"item": ["a", "b"]}, repairs=("item_wrapper_to_array",), effect=["a", "b"]),
            _tags("a, b", refused="INVALID_TAGS_TYPE"),
            _tags('["a", "b', refused="CUT_OFF"),
            _tags(123, refused="INVALID_TAGS_TYPE"),
            _tags(12.34, refused="INVALID_TAGS_TYPE"),
            _tags(sent=True, refused="INVALID_TAGS_TYPE"),
            _tags({"key": "value"}, refused="INVALID_TAGS_TYPE"),
            _tags(["tag1", 123, "tag2"], refused="INVALID_TAGS_TYPE"),
            _tags([None, "tag1"], refused="INVALID_TAGS_TYPE"),
        ),
        base={"content": "a note"},
    ),
    Section(
        "search_context(query: str, tags: list[str] | None = None, limit: int = 10)",
        "search_context",
        (
            DemoCall({"limit": "5"}, alone=True, effect=[2, 1]),
            DemoCall({"limit": "3.0"}, alone=True, effect=[2, 1]),
            DemoCall({"limit": None}, repairs=("null_to_absent",), effect=[2, 1]),
            DemoCall({"Limit": 1}, repairs=("rename_case",), effect=[2]),
            DemoCall({"tag": "work"}, refused="UNKNOWN_PARAMETER"),
            DemoCall({"tgas": ["work"]}, refused="UNKNOWN_PARAMETER"),
            DemoCall(
                {"toolCallId": "call_1", "sessionId": "a1b2", "action": "sendMessage"},
                repairs=("drop_injected", "drop_injected", "drop_injected"),
                effect=[2, 1],
            ),
            DemoCall({"limit": "ten"}, refused="INVALID_LIMIT_TYPE"),
            DemoCall({"limit": 500}, refused="INVALID_LIMIT_VALUE"),
            DemoCall({"max_results": 5}, refused="UNKNOWN_PARAMETER"),
        ),
        base={"query": "plan"},
    ),
    Section(
        "update_context(context_id: int, content: str | None = None, tags: list[str] | None = None)",
        "update_context",
        (
            DemoCall(
                '{"context_id": 1, "content": "Plan it"}',
                repairs=("json_text_to_object",),
                effect={"content": "Plan it"},
            ),
            DemoCall(
                {"args": {"context_id": 1, "tags": ["done"]}},
                repairs=("unwrap_arguments",),
                effect={"tags": ["done"]},
            ),
            DemoCall(
                {"contextId": 1, "content": "Plan"}, repairs=("rename_case",), effect={"content": "Plan"}
            ),
            DemoCall({"content": "Plan"}, refused="MISSING_CONTEXT_ID"),
        ),
    ),
    Section(
        "updateContext, another spelling of update_context",
        "updateContext",
        (DemoCall({"context_id": 1}, repairs=("rename_tool",), effect={"content": "Plan"}),),
    ),
    Section(
        "edit_context, which is no tool",
        "edit_context",
        (DemoCall({"context_id": 1}, refused="UNKNOWN_TOOL"),),
    ),
    Section(
        "delete_context(context_ids: list[int], *, confirm: bool), marked destructive: only the safest rules",
        "delete_context",
        (
            DemoCall({"context_ids": 3}, refused="INVALID_CONTEXT_IDS_TYPE"),
            DemoCall({"context_ids": "3,4"}, refused="INVALID_CONTEXT_IDS_TYPE"),
            DemoCall({"context_id": [3]}, refused="INVALID_ARGUMENTS"),
            DemoCall({"context_ids": "[3]"}, repairs=("json_text_to_array",), effect=[3]),
            DemoCall({"contextIds": [4]}, repairs=("rename_case",), effect=[4]),
        ),
        base={"confirm": True},
    ),
    Section(
        "search_context, on FastMCP(strict_input_validation=True)",
        "search_context",
        (
            DemoCall({"limit": "5"}, repairs=("text_to_integer",), effect=[2, 1]),
            DemoCall({"limit": "3.0"}, repairs=("text_to_integer",), effect=[2, 1]),
            DemoCall({"limit": 1.0}, repairs=("whole_float_to_integer",), effect=[2]),
            DemoCall({"limit": "2.5"}, refused="INVALID_LIMIT_TYPE"),
        ),
        base={"query": "plan"},
        strict=True,
    ),
)
"""All calls, in the order in which they are sent."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer a client got: whether the tool ran, the text, the tool's value, and the result's ``_meta``."""

    ran: bool
    text: str
    value: Any
    meta: Mapping[str, Any]

    @property
    def envelope(self) -> dict[str, Any]:
        """Return the envelope of a refusal; empty where there is none."""
        return dict(self.meta.get(META, {})) if not self.ran else {}

    @property
    def repairs(self) -> list[dict[str, str]]:
        """Return the repairs."""
        return list(self.meta.get(META, {}).get("repairs", []))


@dataclass(frozen=True, slots=True)
class Row:
    """One call with both answers."""

    section: Section
    call: DemoCall
    alone: Answer
    lenient: Answer

    def surprises(self) -> Iterator[str]:
        """Yield each way in which the call did not do what it must."""
        if self.alone.ran is not self.call.alone:
            yield f"FastMCP alone: {self.alone.text}"
        if (code := self.lenient.envelope.get("error_code", "")) != self.call.refused:
            yield f"error code {code or 'none'}, not {self.call.refused or 'none'}: {self.lenient.text}"
        rules = tuple(repair["rule"] for repair in self.lenient.repairs)
        if self.lenient.ran and sorted(rules) != sorted(self.call.repairs):
            yield f"repairs {rules}, not {self.call.repairs}"
        if not self.call.refused and not _holds(self.lenient.value, self.call.effect):
            yield f"did {self.lenient.value!r}, not {self.call.effect!r}"


def _holds(value: Any, effect: Any) -> bool:
    if isinstance(effect, Mapping) and isinstance(value, Mapping):
        return effect.items() <= value.items()
    return bool(value == effect)


async def _show_first(console: Output, folder: Path) -> None:
    """Show one call at once, sent within this process: the servers of the tables take seconds to start."""
    sys.path.insert(0, str(SERVER.parent))  # where chat.py is
    build_server = run_path(str(SERVER))["build_server"]
    section = SECTIONS[0]
    call = next(call for call in section.calls if call.repairs)
    answers = []
    for lenient in (False, True):
        async with Client(build_server(folder / f"first, {lenient=}.db", lenient=lenient)) as client:
            answers.append(await _send(client, section, call))
    console.print(Text.assemble((section.tool, "bold"), "  ", _sent(call)))
    console.print(Text.assemble("  FastMCP alone     ", _alone(answers[0])))
    console.print(Text.assemble("  with mcp-lenient  ", _lenient(answers[1]), "\n"))


async def _ask(sections: Sequence[Section], *, lenient: bool, folder: Path) -> list[Answer]:
    """Return the answers of one server to all calls of these sections."""
    strict = sections[0].strict
    transport = PythonStdioTransport(
        SERVER,
        args=[str(folder / f"{strict=}, {lenient=}.db"), *([] if lenient else ["--bare"])],
        env={"FASTMCP_STRICT_INPUT_VALIDATION": str(int(strict)), "NO_COLOR": "1"},
        keep_alive=False,
        log_file=_log(folder, lenient=lenient),
    )
    async with Client(transport) as client:
        for note in NOTES:
            await client.call_tool("store_context", dict(note))
        return [await _send(client, section, call) for section in sections for call in section.calls]


def _log(folder: Path, *, lenient: bool) -> Path:
    return folder / f"stderr, {lenient=}.log"


async def _send(client: Client[Any], section: Section, call: DemoCall) -> Answer:
    try:
        if isinstance(call.sent, str):
            result = await _send_text(client, section.tool, call.sent)
        else:
            result = await client.call_tool_mcp(section.tool, {**section.base, **call.sent})
    except MCPError as error:
        return Answer(ran=False, text=f"JSON-RPC error {error.code}: {error.message}", value=None, meta={})
    text = "".join(block.text for block in result.content if isinstance(block, TextContent))
    return Answer(ran=not result.is_error, text=text, value=_value(result), meta=result.meta or {})


async def _send_text(client: Client[Any], tool: str, arguments: str) -> CallToolResult:
    """Send the arguments as one text, which no method of the client does."""
    params = {"name": tool, "arguments": arguments}
    request = Request[dict[str, Any], Literal["tools/call"]](method="tools/call", params=params)
    return await client.session.send_request(request, CallToolResult)


def _value(result: CallToolResult) -> Any:
    """Return the tool's value; for contexts that were found, only the ids."""
    value = result.structured_content
    if not isinstance(value, Mapping) or "result" not in value:
        return value
    return [entry["context_id"] if isinstance(entry, Mapping) else entry for entry in value["result"]]


async def _rows(folder: Path) -> list[Row]:
    rows: list[Row] = []
    for _, group in groupby(SECTIONS, key=lambda section: section.strict):
        sections = list(group)
        alone, lenient = await asyncio.gather(
            _ask(sections, lenient=False, folder=folder), _ask(sections, lenient=True, folder=folder)
        )
        calls = [(section, call) for section in sections for call in section.calls]
        rows += [Row(*pair, *answers) for pair, *answers in zip(calls, alone, lenient, strict=True)]
    return rows


def _tables(rows: list[Row]) -> Iterator[Table]:
    for section, group in groupby(rows, key=lambda row: row.section):
        table = Table(box=box.ROUNDED, title=Text(section.title, "bold"), title_justify="left", expand=True)
        table.add_column("sent", ratio=9, overflow="fold")
        table.add_column("FastMCP alone", ratio=7, overflow="fold")
        table.add_column("with mcp-lenient", ratio=13, overflow="fold")
        for row in group:
            table.add_row(_sent(row.call), _alone(row.alone), _lenient(row.lenient))
        yield table


def _sent(call: DemoCall) -> Text:
    if isinstance(call.sent, str):
        return Text(f"arguments: {json.dumps(call.sent)}")
    return Text(", ".join(f"{name}: {json.dumps(value)}" for name, value in call.sent.items()))


def _alone(answer: Answer) -> Text:
    if answer.ran:
        return Text("runs", "green")
    errors = [line.split(" [type=")[0].strip() for line in answer.text.splitlines() if " [type=" in line]
    return Text.assemble(("rejected", "red"), f": {'; '.join(dict.fromkeys(errors)) or answer.text}")


def _lenient(answer: Answer) -> Text:
    if answer.ran:
        repairs = "\n".join(map(_repair, answer.repairs))
        return Text.assemble(("runs", "green"), f", repaired: {repairs}" if repairs else " as sent")
    code = answer.envelope.get("error_code", "")
    violations = answer.envelope.get("details", {}).get("violations", [])
    says = "\n".join(violation["message"] for violation in violations) or answer.envelope.get(
        "message", answer.text
    )
    return Text.assemble(("refused", "yellow"), f" {code}: {says}")


def _repair(repair: Mapping[str, str]) -> str:
    changed = repair["before"] != repair["after"]
    types = f" ({repair['before']} -> {repair['after']})" if changed else ""
    return f"{repair['rule']} {repair['pointer'] or 'of the whole'}{types}"


_SHOWN_REFUSALS = 4


def _short(rows: list[Row]) -> Iterator[Table]:
    """Yield a table of the repaired calls and one of some refused ones."""
    repaired = [row for row in rows if row.lenient.repairs]
    refused = [row for row in rows if row.lenient.envelope]
    some = refused[:: len(refused) // _SHOWN_REFUSALS][:_SHOWN_REFUSALS]
    for title, chosen, told in (
        ("Rejected by FastMCP alone, repaired by mcp-lenient", repaired, _repaired_shortly),
        ("Refused by both: what a model reads", some, _refused_shortly),
    ):
        table = Table(
            box=box.SIMPLE_HEAD, title=Text(title, "bold"), title_justify="left", expand=True, pad_edge=False
        )
        table.add_column("tool", no_wrap=True, ratio=4)
        table.add_column("sent", no_wrap=True, ratio=9)
        table.add_column("with mcp-lenient", overflow="fold", ratio=13)
        for row in chosen:
            table.add_row(row.section.tool, _sent(row.call), told(row.lenient))
        yield table


def _repaired_shortly(answer: Answer) -> Text:
    return Text.assemble(
        ("runs", "green"), f": {', '.join(dict.fromkeys(each['rule'] for each in answer.repairs))}"
    )


def _refused_shortly(answer: Answer) -> Text:
    violations = answer.envelope.get("details", {}).get("violations", [])
    return Text(violations[0]["message"] if violations else answer.envelope["message"])


def _show_short(console: Output, rows: list[Row]) -> None:
    for table in _short(rows):
        show(console, table)


def _show_all(console: Output, rows: list[Row], folder: Path) -> None:
    for table in _tables(rows):
        show(console, table)
        console.print()
    row = next(row for row in rows if row.call.sent == {"tags": ["tag1", 123, "tag2"]})
    console.print(Text(f"One refusal in full: {_sent(row.call)}", "bold"))
    show(console, Text(f"FastMCP alone answers\n\n{row.alone.text}\n\nand with mcp-lenient:\n"))
    console.print_json(data=row.lenient.envelope)
    console.print()
    console.print(Text("One event, from the server's stderr", "bold"))
    console.print(Text(_event(folder)), soft_wrap=True)
    console.print()


def _event(folder: Path) -> str:
    """Return the first logged event of a repaired call."""
    lines = _log(folder, lenient=True).read_text(encoding="utf-8").splitlines()
    return next((line for line in lines if "call_repaired" in line), "")


def _sum_up(rows: list[Row]) -> str:
    alone = sum(row.alone.ran for row in rows)
    repaired = sum(row.lenient.ran for row in rows) - alone
    refused = sum(bool(row.lenient.envelope) for row in rows)
    return f"{len(rows)} calls: {alone} run either way, {repaired} more run after repair, {refused} are refused with an envelope."


def main(*, everything: bool = False) -> int:
    """Run the demo.

    Args:
        everything: Whether every call is shown with both answers, one refusal in full and one event.

    Returns:
        0 when each call did what it must, else 1.
    """
    for name in ("client", "fastmcp", "mcp_lenient"):  # the tables say what they would warn of
        logging.getLogger(name).setLevel(logging.ERROR)
    return asyncio.run(_main(everything=everything))


async def _main(*, everything: bool) -> int:
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120
    console = Output(width=width, highlight=False)
    console.print(
        Text(
            f"The same calls to the same server, {SERVER.name}, over stdio; those with numbers as text to a strict one.\n"
        )
    )
    with TemporaryDirectory() as named:
        folder = Path(named)
        rows, _ = await asyncio.gather(_rows(folder), _show_first(console, folder))
        surprises = [f"{row.section.tool} {_sent(row.call)}: {it}" for row in rows for it in row.surprises()]
        surprises += [] if _event(folder) else ["The server has logged no repaired call."]
        if everything:
            _show_all(console, rows, folder)
        else:
            _show_short(console, rows)
    for surprise in surprises:
        console.print(Text(f"NOT AS EXPECTED  {surprise}", "bold red"))
    if not everything:
        more = "mcp-lenient demo --all shows each call with both answers, a refusal in full and a log line.\n"
        console.print(Text(more))
    show(console, Text(_sum_up(rows) if not surprises else f"{len(surprises)} surprises.", "bold"))
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main(everything="--all" in sys.argv))
