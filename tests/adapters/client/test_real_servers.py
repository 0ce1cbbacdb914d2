"""``lenient_session`` with npm servers, which refuse strings for numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from adapters.fastmcp.proxy.real_servers import REAL_SERVERS
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from mcp_lenient import lenient_session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:The (roots|sampling|logging) capability is deprecated"),
]

_BINARIES = Path(__file__).parents[1] / "fastmcp" / "proxy" / "node_modules" / ".bin"


@pytest.fixture(autouse=True, scope="module")
def installed():
    """Install the servers once."""
    REAL_SERVERS["everything"].install()


@pytest.mark.parametrize(
    ("server", "tool", "sent"),
    [
        ("bazi-mcp", "getBaziDetail", {"gender": "1", "solarDatetime": "1990-03-01T13:00:00+08:00"}),
        ("mcp-server-everything", "get-sum", {"a": "2", "b": "3.5"}),
    ],
    ids=["bazi", "everything"],
)
async def test_a_fastmcp_client_works(tmp_path, server, tool, sent):
    """The server refuses a plain client's call, and accepts it repaired."""
    transport = StdioTransport(
        str(_BINARIES / server), [], log_file=tmp_path / "stderr.log", keep_alive=False
    )
    async with Client(transport) as client:
        bare = await client.call_tool_mcp(tool, sent)
        assert bare.is_error
        assert "expected number" in bare.content[0].text.lower()
        session = lenient_session(client)
        result = await session.call_tool(tool, sent)
        assert {repair["rule"] for repair in result.meta["mcp_lenient"]["repairs"]} == {"text_to_number"}
        refused = await session.call_tool(tool, dict.fromkeys(sent, "soon"), raise_on_error=False)
    assert json.loads(refused.content[0].text)["status"] == "error"
