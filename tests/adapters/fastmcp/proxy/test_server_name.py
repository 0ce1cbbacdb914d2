"""The logged name of the server behind a proxy: its own name, and never part of a program or an address."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from adapters.fastmcp.proxy.fronts import SERVERS, of_process
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp_types import SERVER_INFO_META_KEY
from tables import each_row
from wire import HANDSHAKE, MODERN

from mcp_lenient import create_lenient_proxy

_KEY = "sk-live-4242424242"
_PROGRAM = Path(sys.executable).stem
_SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
_SERVER = {
    "tools/list": {"tools": [{"name": "add", "inputSchema": _SCHEMA}]},
    "tools/call": {"content": []},
}


def _answers(name: str, mode: str) -> dict[str, Any]:
    """Return the answers of a server with this name, of the older or the newer era."""
    info, own = {"name": name, "version": "1"}, {"capabilities": {"tools": {}}}
    if mode == "legacy":
        return {**_SERVER, "initialize": {"protocolVersion": HANDSHAKE, "serverInfo": info, **own}}
    found = {"supportedVersions": [MODERN], "_meta": {SERVER_INFO_META_KEY: info}, **own}
    return {
        **_SERVER,
        "server/discover": {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **found},
    }


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("named", "logged"),
    [
        pytest.param("The weather (EU), v2", "The weather (EU), v2", id="words"),
        pytest.param("a\n{'password': 'hunter2'}", _PROGRAM, id="hostile"),
        pytest.param("x" * 500, _PROGRAM, id="long"),
    ],
)
async def test_the_servers_own_name_is_logged(named, logged, mode, events):
    """The server's name from the handshake is logged, unless it does not look like a name."""
    answers = json.dumps(_answers(named, mode))
    async with of_process(str(SERVERS / "by_hand.py"), answers, _KEY, mode=mode) as client:
        await client.call_tool_mcp("add", {"a": "1"})
        await client.call_tool_mcp("add", {"a": []})
    assert {event.get("server", event.get("subject")) for event in events} == {logged}
    assert _KEY not in json.dumps(events)


async def test_the_operators_name_wins(events):
    """The name that the operator gives the proxy is logged."""

    def add(a: int) -> int:
        return a

    server = FastMCP("upstream", tools=[add])

    async with Client(create_lenient_proxy(server, name="front")) as client:
        await client.call_tool_mcp("add", {"a": []})
    assert [event["server"] for event in events] == ["front"]


@each_row(
    ("command", "named"),
    [
        pytest.param(["python", "-c", f"KEY='{_KEY}'"], "python", id="python -c"),
        pytest.param(["/usr/bin/python3", f"/srv/{_KEY}/server.py", _KEY], "python3", id="a script"),
        pytest.param(["npx", "-y", "@scope/server-git", _KEY], "npx", id="npx"),
        pytest.param(["env", f"KEY={_KEY}", "server"], "env", id="env"),
        pytest.param(["/opt/bin/weather-mcp", "--key", _KEY], "weather-mcp", id="a program"),
        pytest.param(["npx.cmd", "-y", "server-git"], "npx", id="a Windows command"),
        pytest.param([f"KEY={_KEY} python", "x"], "mcp-lenient", id="not a command"),
    ],
)
def test_the_name_before_the_handshake(command, named):
    """Before the handshake, a command line is named after its program alone."""
    assert create_lenient_proxy(StdioTransport(command[0], command[1:])).name == named
    assert _KEY not in named


@each_row(
    ("url", "named"),
    [
        pytest.param(f"https://example.com/mcp/{_KEY}?key={_KEY}#{_KEY}", "example.com", id="path and query"),
        pytest.param(f"https://user:{_KEY}@example.com:8443/mcp", "example.com", id="user and password"),
        pytest.param(f"https://{_KEY}@example.com/mcp", "example.com", id="user"),
        pytest.param("http://[::1]:8000/mcp", "mcp-lenient", id="an IPv6 address"),
        pytest.param("http://127.0.0.1:8000/mcp", "127.0.0.1", id="an address"),
    ],
)
def test_a_url_is_named_by_its_host(url, named):
    """Only the host of a URL is used as a name."""
    assert create_lenient_proxy(url).name == named
    assert create_lenient_proxy(StreamableHttpTransport(url)).name == named
    assert create_lenient_proxy(Client(url)).name == "mcp-lenient"


@each_row(
    ("servers", "named"),
    [
        ({"weather": {"url": f"https://example.com/{_KEY}"}}, "weather"),
        ({"a": {"command": "x"}, "b": {"command": "y"}}, "mcp-lenient"),
    ],
)
def test_a_configuration_is_named_by_its_only_server(servers, named):
    """A proxy of several servers has its own name."""
    assert create_lenient_proxy({"mcpServers": servers}).name == named
