"""The host of ``docs/how-to/add-a-host.md`` answers the twelve calls like every other host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from benchmarks.hosts.calls import CALLS, outcome

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-host.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
EXPECTED = {
    name: "refused" if call.code is not None else "accepted" if name == "right" else "repaired"
    for name, call in CALLS.items()
}


@pytest.fixture
def client():
    """Return a client of the page's server."""
    names: dict = {}
    for block in BLOCKS[:2]:
        exec(compile(block, PAGE.name, "exec"), names)  # noqa: S102 - our own page
    return TestClient(names["app"])


def test_the_page_has_about_a_hundred_lines():
    """The lenient server is short."""
    assert sum(bool(line.strip()) for block in BLOCKS for line in block.splitlines()) < 110


@pytest.mark.parametrize("name", CALLS)
def test_the_twelve_calls(client, events, name):
    """Each call is accepted, repaired or refused as on FastMCP."""
    call = CALLS[name]
    params = {"name": call.tool, "arguments": call.arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = client.post("/mcp", json=message).json()["result"]
    assert outcome(call, answer, events.names[-1] if events.names else None) == EXPECTED[name]
