"""For a destructive tool, no rule drops a value, makes it null or renames it by similarity."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp_versions import RAW, skip_on_3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.types import CallToolResult, Request

from mcp_lenient import LenientMiddleware, Policy, normalize

RAN: list[Any] = []


def _server() -> FastMCP:
    server = FastMCP("destructive")
    server.add_middleware(LenientMiddleware())

    @server.tool(annotations={"destructiveHint": True})
    def purge(
        where: int | None = None, older: int = 0, ids: list[int] | None = None, *, dry_run: bool = False
    ) -> str:
        RAN.append({"where": where, "older": older, "ids": ids, "dry_run": dry_run})
        return "purged"

    return server


async def _sent(arguments: Any) -> CallToolResult:
    if isinstance(arguments, str):
        skip_on_3(RAW)
    RAN.clear()
    async with Client(_server()) as client:
        params = {"name": "purge", "arguments": arguments}
        request = Request[dict[str, Any], str](method="tools/call", params=params)
        return await client.session.send_request(request, CallToolResult)


@pytest.mark.parametrize(
    "arguments",
    [
        {"where": ""},
        {"where": "null"},
        {"where": "none"},
        {"older": ""},
        {"older": "null"},
        {"older": None},
        {"ids": "None"},
        {"ids": "null"},
        {"ids": ""},
        {"ids": 5},
        {"id": [5]},
        {"dryRum": True},
        {"dry_run": ""},
        {"wait_for_previous": True},
        {"_meta": {}},
        {"args": {"where": 5}, "x": 1},
        "",
        "null",
        " null ",
    ],
    ids=repr,
)
async def test_no_argument_is_dropped_or_guessed(arguments: Any) -> None:
    """A call that could run only without a sent value, or with a guessed name, is refused."""
    answer = await _sent(arguments)
    assert answer.is_error
    assert RAN == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"older": "5"}, {"older": 5}),
        ({"Older": "5", "dryRun": True}, {"older": 5, "dry_run": True}),
        ({"ids": "[1, 2]"}, {"ids": [1, 2]}),
        ({"ids": [1], "toolCallId": "call_1"}, {"ids": [1]}),
        ({"args": {"older": 5}}, {"older": 5}),
        ('{"dryRun": true}', {"dry_run": True}),
        ({"ids": None}, {"ids": None}),
    ],
    ids=repr,
)
async def test_value_preserving_repairs_are_made(arguments: Any, expected: dict[str, Any]) -> None:
    """Values sent as text, names in another case style and injected call IDs are repaired."""
    answer = await _sent(arguments)
    assert not answer.is_error
    assert [{**RAN[0], **expected}] == RAN


_NOTHING = st.sampled_from([None, "", "null", "None", "none", " ", [], {}, "[]", "{}"])
_NAMES = st.sampled_from(
    ["where", "older", "ids", "Where", "wheres", "wher", "_meta", "toolCallId", "sessionId"]
)
_SCHEMA = {
    "type": "object",
    "properties": {
        "where": {"type": "integer"},
        "older": {"type": ["integer", "null"]},
        "ids": {"type": "array", "items": {"type": ["integer", "null"]}},
    },
    "additionalProperties": False,
}


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.dictionaries(_NAMES, _NOTHING | st.integers() | st.lists(_NOTHING, max_size=2), max_size=3))
def test_no_value_is_lost(arguments: dict[str, Any]) -> None:
    """A repaired call has as many values as were sent, except the call ID of n8n."""
    outcome = normalize(_SCHEMA, arguments, Policy(destructive=True))
    injected = {"toolCallId"}
    if not outcome.violations:
        assert len(outcome.arguments) == len(arguments.keys() - injected)
        nulls = [name for name, value in outcome.arguments.items() if value is None]
        assert all(name in arguments and arguments[name] is None for name in nulls)
