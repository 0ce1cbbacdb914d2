"""A server on the official SDK 2 that understands nearly right calls.

It needs ``pip install "mcp>=2.2" .`` in a clone of mcp-lenient::

    python examples/sdk_2.py            # a few calls and their outcomes
    python examples/sdk_2.py --serve    # the server over stdio
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

try:
    from mcp import Client
    from mcp.server.mcpserver import MCPServer
    from mcp_types import TextContent
except ImportError:
    sys.exit("This example needs the official SDK 2: pip install 'mcp>=2.2'")

from mcp_lenient import Policy
from mcp_lenient.adapters.mcp_sdk import LenientServerMiddleware

lenient = LenientServerMiddleware(tools={"delete_*": Policy.strict()})
mcp = MCPServer("notes", middleware=[lenient], log_level="ERROR")


@mcp.tool(structured_output=False)
def store(content: str, tags: list[str] | None = None, max_results: int = 10) -> str:
    """Keep a text."""
    return f"kept {content!r} with {tags}, {max_results} at most"


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("store", {"content": "a", "tags": ["x"]}),
    ("store", {"Content": "b", "tags": "x", "max_results": None}),
    ("store", {"arguments": {"content": "c", "tags": "['x', 'y']"}}),
    ("store", {"content": "d", "tags": 5}),
    ("stor", {"content": "e"}),
)


async def main() -> None:
    """Send the calls, and print what came back."""
    async with Client(mcp) as client:
        for tool, arguments in CALLS:
            result = await client.call_tool(tool, arguments)
            text = "".join(block.text for block in result.content if isinstance(block, TextContent))
            print(f"{tool}({arguments})\n  {'refused' if result.is_error else 'ran'}: {text}")


if __name__ == "__main__":
    if "--serve" in sys.argv:
        mcp.run()
    else:
        asyncio.run(main())
