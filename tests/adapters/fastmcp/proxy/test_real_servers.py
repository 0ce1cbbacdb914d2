"""Third-party servers behind the proxy: valid calls are unchanged, damaged calls are repaired or refused."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from adapters.fastmcp.proxy.real_servers import REAL_SERVERS, RealServer
from adapters.raw_calls import raw_call
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
from mcp_types import CallToolResult

from mcp_lenient import create_lenient_proxy
from mcp_lenient.testing.damage import damaged
from mcp_lenient.testing.trial import identical

pytestmark = [
    pytest.mark.slow,
    # FastMCP's proxy forwards roots to servers of the legacy protocol, as it should.
    pytest.mark.filterwarnings("ignore:The (roots|sampling|logging) capability is deprecated"),
    pytest.mark.parametrize(
        "name",
        REAL_SERVERS,
    ),
]

_SHIM = Path(__file__).parent / "servers" / "shim.py"
_VARIES = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?|\d{1,2}:\d\d:\d\d|fastmcp-(?:slim|client)|GMT[+-]\d+|[A-Z]\w\w \w{3} \d\d \d{4}"
)


def _transport(server: RealServer, folder: Path, record: Path) -> StdioTransport:
    server.install()
    server.prepare(folder)
    command = [str(_SHIM), str(record), *server.command(folder)]
    environment = {**os.environ, **server.environment(folder)}
    return StdioTransport(sys.executable, command, env=environment, keep_alive=True)


@asynccontextmanager
async def _connected(transport, front=create_lenient_proxy, *, mode="auto"):
    async with Client(
        transport if front is None else front(transport),
        mode=mode,
        roots=["file:///nowhere"] if "filesystem" not in str(transport) else None,
        sampling_handler=_sampled,
        elicitation_handler=_elicited,
        log_handler=_logged,
    ) as client:
        yield client
    await transport.close()


async def _sampled(_messages, _params, _context):
    return "sampled"


async def _elicited(_message, _type, _params, _context):
    return ElicitResult(action="accept", content={"name": "Ada"})


async def _logged(_message):
    pass


def _reported(result: CallToolResult, folder: Path) -> str:
    """Return a result as JSON without ``_meta``, times and the folder's name."""
    reported = result.model_dump_json(exclude={"meta"}).replace(str(folder), "FOLDER")
    return _VARIES.sub("TIME", reported)


def _reached(record: Path) -> list[Mapping[str, Any]]:
    messages = map(json.loads, record.read_text(encoding="utf-8").splitlines())
    return [message["params"] for message in messages if message["method"] == "tools/call"]


async def test_valid_calls_are_answered_as_without_the_proxy(name, tmp_path):
    """Each tool gets the same arguments and gives the same answer with and without the proxy."""
    server, answers, reached = REAL_SERVERS[name], [], []
    for front in (None, create_lenient_proxy):
        folder, record = tmp_path / str(front is None), tmp_path / f"{front is None}.jsonl"
        async with _connected(_transport(server, folder, record), front) as client:
            tools = {tool.name: tool for tool in await client.list_tools()}
            assert set(tools) - server.left_out == {tool for tool, _ in server.calls(folder)}
            calls = server.calls(folder)
            answers.append([_reported(await raw_call(client, tool, right), folder) for tool, right in calls])
        calls = json.loads(json.dumps(_reached(record)).replace(str(folder), "FOLDER"))
        reached.append([(call["name"], call.get("arguments")) for call in calls])
    assert answers[0] == answers[1]
    assert reached[0] == reached[1]


async def test_the_proxy_publishes_the_same_tools_as_fastmcps_own(name, tmp_path):
    """The published tools are byte for byte those of FastMCP's own proxy."""
    listed = []
    for front in (create_proxy, create_lenient_proxy):
        transport = _transport(REAL_SERVERS[name], tmp_path / front.__name__, tmp_path / "record")
        async with _connected(transport, front, mode="legacy") as client:
            listed.append([tool.model_dump_json() for tool in await client.list_tools()])
    assert listed[0]
    assert listed[0] == listed[1]


async def test_calls_that_the_schema_forbids_do_not_reach_the_server(name, tmp_path):
    """A damaged call is repaired to the intended one, refused with an envelope, or still valid."""
    server, folder, record = REAL_SERVERS[name], tmp_path / "data", tmp_path / "record.jsonl"
    outcomes: dict[str, int] = {}
    async with _connected(_transport(server, folder, record)) as client:
        schemas = {tool.name: tool.input_schema for tool in await client.list_tools()}
        record.write_text("")
        for tool, right in server.calls(folder):
            allowed = jsonschema_rs.validator_for(schemas[tool], validate_formats=False)
            for kind, damage in damaged(schemas[tool], right):
                if any(server.kept & right.keys() - wanted.keys() for wanted in damage.wanted):
                    continue
                outcome = await _outcome(client, tool, damage, record)
                outcomes[outcome] = outcomes.get(outcome, 0) + 1
                assert outcome != "corrupted", (tool, kind, damage)
                for call in _reached(record):
                    assert call["name"] == tool
                    assert allowed.is_valid(call.get("arguments") or {}), (kind, damage, call)
                record.write_text("")
    print(f"{name}: {sum(outcomes.values())} damaged calls: {outcomes}")  # noqa: T201 - the figure
    assert outcomes["repaired"]
    assert outcomes["refused"]


async def _outcome(client, tool, damage, record) -> str:
    """Make a damaged call, and return its outcome."""
    result = await raw_call(client, tool, damage.sent)
    noted = (result.meta or {}).get("mcp_lenient", {})
    reached = [call.get("arguments") or {} for call in _reached(record)]
    if noted.get("status") == "error":
        assert json.loads(result.content[0].text)["message"] == noted["message"]
        return "refused by the server" if reached else "refused"
    (arguments,) = reached
    if "repairs" not in noted:
        return "right as it is" if identical(arguments, damage.sent) else "corrupted"
    return "repaired" if any(identical(arguments, wanted) for wanted in damage.wanted) else "corrupted"
