"""A server on the official SDK 1 that understands nearly right calls.

It needs its own environment, made in a clone of mcp-lenient::

    python -m venv .venv-sdk1
    .venv-sdk1/bin/pip install "mcp>=1.20,<2" .
    .venv-sdk1/bin/python examples/sdk_1.py            # a few calls and their outcomes
    .venv-sdk1/bin/python examples/sdk_1.py --serve    # the server over stdio
"""

# mypy: ignore-errors
# Types are checked where version 2 of the SDK is installed.

from __future__ import annotations

import asyncio
import sys
from typing import Any

try:
    from mcp.server.fastmcp import FastMCP
    from mcp.shared.memory import create_connected_server_and_client_session

    from mcp_lenient import Policy
    from mcp_lenient.adapters.mcp_sdk import make_lenient
except ModuleNotFoundError:
    sys.exit(
        "This example needs the official SDK 1 and mcp-lenient. Make an environment for it: "
        'python -m venv .venv-sdk1 && .venv-sdk1/bin/pip install "mcp>=1.20,<2" . && '
        ".venv-sdk1/bin/python examples/sdk_1.py"
    )

mcp = make_lenient(FastMCP("notes", log_level="ERROR"), tools={"delete_*": Policy.strict()})


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
    async with create_connected_server_and_client_session(mcp._mcp_server) as client:  # noqa: SLF001 - within one process
        for tool, arguments in CALLS:
            result = await client.call_tool(tool, arguments)
            text = "".join(block.text for block in result.content)
            print(f"{tool}({arguments})\n  {'refused' if result.isError else 'ran'}: {text}")


if __name__ == "__main__":
    if "--serve" in sys.argv:
        mcp.run()
    else:
        asyncio.run(main())
