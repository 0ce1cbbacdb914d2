"""The operator's mode takes precedence over the decorator."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import Client, FastMCP

from mcp_lenient import LenientMiddleware, Policy, lenient, tags


def _server(mode: Any) -> FastMCP:
    server = FastMCP("modes")
    server.add_middleware(LenientMiddleware(tools={"*": Policy(mode=mode)}))

    @server.tool
    @lenient(tags=tags(), policy=Policy())
    def store(n: int, tags: list[str] | None = None) -> list[str]:
        return (tags or []) * n

    return server


@pytest.mark.quick_rows("wrong-off")
@pytest.mark.parametrize("mode", ["observe", "off"])
@pytest.mark.parametrize(
    "arguments", [{"n": 1, "tags": '["a"]'}, {"n": 1, "tags": 7}], ids=["repairable", "wrong"]
)
async def test_other_modes_change_nothing(mode: str, arguments: dict[str, Any]) -> None:
    """In observe and off mode, the call gets FastMCP's own answer."""
    async with Client(_server(mode)) as client:
        answer = await client.call_tool("store", arguments, raise_on_error=False)
    assert answer.is_error
    assert "error_code" not in answer.content[0].text


async def test_repair_mode_repairs() -> None:
    """In repair mode, the same call is repaired and runs."""
    async with Client(_server("repair")) as client:
        answer = await client.call_tool("store", {"n": 1, "tags": '["a"]'})
    assert answer.data == ["a"]
