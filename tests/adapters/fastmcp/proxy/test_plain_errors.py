"""Error results without ``structuredContent``, for clients that validate it even on errors."""

from __future__ import annotations

import pytest
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool, ToolResult
from mcp_types import TextContent

from mcp_lenient import create_lenient_proxy


class _Failing(Tool):
    async def run(self, arguments: dict) -> ToolResult:  # noqa: ARG002 - as FastMCP calls it
        text = TextContent(type="text", text="out of paper")
        return ToolResult(content=[text], structured_content={"printer": 5}, is_error=True)


def _upstream() -> FastMCP:
    server = FastMCP("upstream")

    @server.tool(output_schema=None)
    def note(tags: list[str]) -> ToolResult:
        return ToolResult(content=f"{len(tags)}", structured_content={"count": len(tags)})

    server.add_tool(_Failing(name="fails", parameters={"type": "object"}))
    return server


@pytest.mark.parametrize("structured_errors", [True, False])
async def test_structured_content_of_errors_can_be_removed(structured_errors):
    """Refusals and the server's own errors have only text and ``_meta``; other results are unchanged."""
    front = create_lenient_proxy(_upstream(), structured_errors=structured_errors)
    async with Client(front) as client:
        refused = await client.call_tool_mcp("note", {"tags": 5})
        unknown = await client.call_tool_mcp("notes", {})
        failed = await client.call_tool_mcp("fails", {})
        right = await client.call_tool_mcp("note", {"tags": '["a"]'})
    assert [each.is_error for each in (refused, unknown, failed, right)] == [True, True, True, False]
    has = [each.structured_content is not None for each in (refused, unknown, failed, right)]
    assert has == [structured_errors] * 3 + [True]
    assert refused.meta["mcp_lenient"]["error_code"] == "INVALID_TAGS_TYPE"
    assert "INVALID_TAGS_TYPE" in refused.content[0].text
    assert failed.content[0].text == "out of paper"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "config"])
async def test_the_command_has_an_option_for_plain_errors(kind, tmp_path, commanded):
    """``--no-structured-errors`` applies to server processes and to the server of a Python file."""
    file = tmp_path / "server.py"
    file.write_text(
        "from fastmcp import FastMCP\nmcp = FastMCP('one')\n"
        "@mcp.tool(output_schema=None)\ndef note(tags: list[int]) -> str:\n    return 'noted'\n"
        "mcp.run(show_banner=False) if __name__ == '__main__' else None\n"
    )
    target = str(file) if kind == "file" else f"python {file}"
    async with Client(await commanded("--no-structured-errors", target)) as client:
        refused = await client.call_tool_mcp("note", {"tags": "x"})
    assert refused.is_error
    assert refused.structured_content is None
