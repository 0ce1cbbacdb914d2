"""Nearly right calls to ``context_store.py`` over stdio: FastMCP alone beside FastMCP with mcp-lenient."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from fastmcp import Client
from fastmcp.client.transports import PythonStdioTransport
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, Request, TextContent
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mcp_lenient.devtools.demo.calls import NOTES, SECTIONS, DemoCall, Section
from mcp_lenient.devtools.printing import show

_NAME = "context_store.py"
_HERE = Path(__file__).parent
# It is one of the examples; the wheel has a copy beside this file.
SERVER = next(path for path in (_HERE / _NAME, _HERE.parents[2] / "examples" / _NAME) if path.exists())
META = "mcp_lenient"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer a client got: whether the tool ran, the text, the tool's value, and the result's ``_meta``."""

    ran: bool
    text: str
    value: Any
    meta: Mapping[str, Any]

    @property
    def envelope(self) -> dict[str, Any]:
        """Return the envelope of a refusal; empty where the text is none."""
        return dict(json.loads(self.text)) if self.text.startswith("{") and not self.ran else {}

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


async def _ask(sections: Sequence[Section], *, lenient: bool, folder: Path) -> list[Answer]:
    """Return the answers of one server to all calls of these sections."""
    strict = sections[0].strict
    transport = PythonStdioTransport(
        SERVER,
        args=[str(folder / f"{strict=}, {lenient=}.db")],
        env={"LENIENT": str(int(lenient)), "STRICT": str(int(strict)), "NO_COLOR": "1"},
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
    issues = [line.split(" [type=")[0].strip() for line in answer.text.splitlines() if " [type=" in line]
    return Text.assemble(("rejected", "red"), f": {'; '.join(dict.fromkeys(issues)) or answer.text}")


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


def _show(console: Console, rows: list[Row], folder: Path) -> None:
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
    mended = sum(row.lenient.ran for row in rows) - alone
    refused = sum(bool(row.lenient.envelope) for row in rows)
    return (
        f"{len(rows)} calls: {alone} run with FastMCP alone and run as sent with mcp-lenient, "
        f"{mended} more run after repair, {refused} are refused with an envelope."
    )


def main() -> int:
    """Run the demo.

    Returns:
        0 when each call did what it must, else 1.
    """
    return asyncio.run(_main())


async def _main() -> int:
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120
    console = Console(width=width, highlight=False)
    console.print(Text(f"The same calls to the same server, {SERVER.name}, over stdio.\n"))
    with TemporaryDirectory() as named:
        folder = Path(named)
        rows = await _rows(folder)
        surprises = [f"{row.section.tool} {_sent(row.call)}: {it}" for row in rows for it in row.surprises()]
        surprises += [] if _event(folder) else ["The server has logged no repaired call."]
        _show(console, rows, folder)
    for surprise in surprises:
        console.print(Text(f"NOT AS EXPECTED  {surprise}", "bold red"))
    show(console, Text(_sum_up(rows) if not surprises else f"{len(surprises)} surprises.", "bold"))
    return 1 if surprises else 0
