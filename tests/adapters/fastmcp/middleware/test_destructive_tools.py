"""For a tool marked as destructive, no rule drops a value, makes it null or renames it by similarity."""

from __future__ import annotations

from typing import Any

import pytest
from adapters.raw_calls import raw_call
from fastmcp import Client, FastMCP
from fastmcp_versions import RAW, skip_on_3

from mcp_lenient import LenientMiddleware

REFUSED = [
    *({"older": ""}, {"older": "null"}, {"older": None}, {"ids": 5}, {"dryRum": True}, {"_meta": {}}),
    *({"args": {"older": 5}, "x": 1}, "", " null "),
]
REPAIRED = [
    ({"Older": "5", "dryRun": True}, {"older": 5, "dry_run": True}),
    ({"ids": "[1, 2]", "toolCallId": "call_1"}, {"ids": [1, 2]}),
    ({"args": {"older": 5}}, {"older": 5}),
    ('{"dryRun": true}', {"dry_run": True}),
    ({"ids": None}, {"ids": None}),
]


@pytest.mark.parametrize(
    ("arguments", "expected"), [*((sent, None) for sent in REFUSED), *REPAIRED], ids=repr
)
async def test_only_repairs_that_keep_every_value_are_made(arguments: Any, expected: Any) -> None:
    """The body runs with every sent value but an injected call ID, or not at all."""
    if isinstance(arguments, str):
        skip_on_3(RAW)
    ran: list[Any] = []
    server = FastMCP("destructive", middleware=[LenientMiddleware()])

    @server.tool(annotations={"destructiveHint": True})
    def purge(older: int = 0, ids: list[int] | None = None, *, dry_run: bool = False) -> None:
        ran.append({"older": older, "ids": ids, "dry_run": dry_run})

    async with Client(server) as client:
        answer = await raw_call(client, "purge", arguments)
    assert answer.is_error is (expected is None)
    assert ran == ([] if expected is None else [{"older": 0, "ids": None, "dry_run": False, **expected}])
