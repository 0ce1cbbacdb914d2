"""Send attack calls to ``normalize``, to a server with published schemas and to one with functions."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from calls import Recording
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool
from fastmcp_versions import RAW, not_on_3
from pydantic.json_schema import PydanticJsonSchemaWarning
from strategies import exactly
from tables import each_row
from wire import call, http

from benchmarks.signatures import UnsupportedError, plain, recording_function
from mcp_lenient import LenientMiddleware, Policy, normalize

FOLDER = Path(__file__).parent.parent / "cases" / "attack"
REFUSED = "REFUSED"
ODD = "schemas"
"""The file whose schemas other validators cannot read."""
PUBLISHED = "published"
"""The file of calls about which we differ from the schema's own words."""


@dataclass(frozen=True, slots=True)
class Row:
    """A call and the arguments that must reach the tool."""

    id: str
    schema: dict[str, Any]
    sent: Any
    expected: Any
    why: str
    destructive: bool = False


def _rows(file: Path) -> list[Row]:
    return [Row(**case) for case in json.loads(file.read_text(encoding="utf-8"))["cases"]]


FILES = {file.stem: _rows(file) for file in sorted(FOLDER.glob("*.json"))}
ROWS = [row for rows in FILES.values() for row in rows]
TEXTS = [row for row in ROWS if isinstance(row.sent, str)]
"""The rows that send text instead of an arguments object."""
each_file = pytest.mark.parametrize("name", FILES)


def check_rows(found: dict[str, Any]) -> None:
    """Fail with each row whose outcome, the arguments or REFUSED, is not the expected one."""
    rows = {row.id: row for row in ROWS}
    wrong = {
        name: outcome for name, outcome in found.items() if exactly(rows[name].expected) != exactly(outcome)
    }
    assert {name: (outcome, rows[name].expected, rows[name].why) for name, outcome in wrong.items()} == {}


def test_the_corpus_is_large_and_has_valid_and_invalid_calls():
    """Every id is unique and begins with the name of its file, and at least a quarter of the rows must run."""
    assert len(ROWS) >= 260
    assert len({row.id for row in ROWS}) == len(ROWS)
    assert [row.id for name, rows in FILES.items() for row in rows if not row.id.startswith(f"{name}/")] == []
    assert sum(row.expected != REFUSED for row in ROWS) * 4 >= len(ROWS)


@each_row("name", [name for name in FILES if name != ODD])
def test_another_validator_agrees_with_the_rows(name):
    """Another validator accepts the expected arguments, and the sent ones only if they equal those."""
    for row in FILES[name] if name != PUBLISHED else ():
        accepted = jsonschema_rs.Draft202012Validator(row.schema).is_valid
        assert row.expected == REFUSED or accepted(row.expected), row
        if isinstance(row.sent, dict):
            assert accepted(row.sent) is (exactly(row.sent) == exactly(row.expected)), row


@each_file
def test_normalize(name):
    """``normalize`` returns what each row expects, or refuses."""
    found = {}
    for row in FILES[name]:
        result = normalize(row.schema, row.sent, Policy(destructive=row.destructive))
        found[row.id] = REFUSED if result.violations else result.arguments
    check_rows(found)


@each_file
def test_normalizing_twice_changes_nothing(name):
    """The arguments that a row expects are accepted unchanged (laws 1 and 8)."""
    for row in FILES[name]:
        if row.expected != REFUSED:
            result = normalize(row.schema, row.expected, Policy(destructive=row.destructive))
            assert not result.repairs, row
            assert result.arguments is row.expected, row


async def _outcome(client: Client[Any], tool: str, sent: dict[str, Any], received: list[Any]) -> Any:
    """Call the tool. Return the arguments that reached it, or REFUSED."""
    received.clear()
    result = await client.call_tool_mcp(tool, sent)
    if not received:
        assert result.is_error, "the tool did not run, but its caller got no error"
        assert "mcp_lenient" in (result.meta or {}), f"refused without an envelope: {result.content!r:.300}"
        return REFUSED
    return received[-1]


def _recording(row: Row, name: str, received: list[Any]) -> Tool | None:
    """Return a function with the parameters of a row that records its arguments, if Python can express them."""
    with suppress(UnsupportedError), warnings.catch_warnings():
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        function = recording_function(row.schema, received.append)
        return Tool.from_function(function, name=name, output_schema=None)
    return None


def _functions(server: FastMCP, tools: list[Tool]) -> FastMCP:
    for tool in tools:
        server.add_tool(tool)
    return server


def _transformed(server: FastMCP, tools: list[Tool]) -> FastMCP:
    return _functions(server, [Tool.from_tool(tool, description="Once more.") for tool in tools])


def _mounted(server: FastMCP, tools: list[Tool]) -> FastMCP:
    server.mount(_functions(FastMCP("child"), tools))
    return server


@pytest.mark.parametrize(
    ("build", "strict"),
    [
        pytest.param(_functions, False, id="lax"),
        pytest.param(_functions, True, id="strict", marks=pytest.mark.slow),
        pytest.param(_transformed, False, id="transformed", marks=pytest.mark.slow),
        pytest.param(_mounted, False, id="mounted", marks=pytest.mark.slow),
    ],
)
async def test_functions_get_numbers_as_spelled(build, strict):
    """Functions validated by Pydantic also get numbers as they were spelled in the source."""
    received: list[Any] = []
    rows = {f"tool_{at}": row for at, row in enumerate(FILES["spelling"]) if isinstance(row.sent, dict)}
    tools = [tool for name, row in rows.items() if (tool := _recording(row, name, received))]
    alone = _functions(FastMCP("alone", strict_input_validation=strict), tools)
    server = FastMCP("functions", strict_input_validation=strict, middleware=[LenientMiddleware()])
    build(server, tools)
    compared = 0
    async with Client(server) as client, Client(alone) as other:
        for tool in tools:
            row = rows[tool.name]
            got = plain(await _outcome(client, tool.name, row.sent, received))
            received.clear()
            await other.call_tool_mcp(tool.name, row.sent)
            assert exactly(plain(received[-1]) if received else row.expected) == exactly(got), (row, got)
            compared += 1
    assert compared > 100


@pytest.fixture(scope="module")
def whole() -> Iterator[Callable[[str, str], Any]]:
    """Return a function that sends text as a tool's whole arguments and returns what reached the tool."""
    middleware = LenientMiddleware(Policy(unrepairable="refuse"))
    server = FastMCP("whole", middleware=[middleware], strict_input_validation=True)
    received: list[Any] = []
    tools = {f"row-{at}": Recording(name=f"row-{at}", parameters=row.schema) for at, row in enumerate(TEXTS)}
    functions = [_recording(row, f"function-{at}", received) for at, row in enumerate(TEXTS)]
    _functions(server, [*tools.values(), *filter(None, functions)])
    with http(server, "modern") as wire:
        wire.request("tools/list", {})

        def send(tool: str, text: str) -> Any:
            received.clear()
            result = call(wire, tool, text)["result"]
            reached = tools[tool]._received if tool in tools else received
            assert result["isError"] is (not reached)
            return plain(reached[-1]) if reached else REFUSED

        yield send


@pytest.mark.parametrize("kind", ["row", "function"])
@not_on_3(RAW)
def test_json_text_is_read_as_the_arguments(whole, kind):
    """Tools with published schemas and functions get the expected arguments from text sent as the whole arguments."""
    check_rows(
        {
            row.id: whole(f"{kind}-{at}", row.sent)
            for at, row in enumerate(TEXTS)
            if kind == "row" or _recording(row, "f", [])
        }
    )
