"""The agent platform: forty tools that run code, drive a browser, search and research, lenient by ``tools.yaml``.

python examples/agent_platform/server.py            a transcript of calls as models make them
python examples/agent_platform/server.py --serve    all forty tools over stdio
python examples/agent_platform/server.py --http     the four servers over HTTP, each on its port or on four that are given
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from fastmcp import FastMCP

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where this file is run or loaded by its path

from agent_platform import Group, browser_use
from agent_platform.deepsearch import DeepSearch
from agent_platform.microsandbox import Microsandbox
from agent_platform.search_tool import SearchTool
from mcp_lenient import LenientMiddleware
from shared.documents import PARTS, PROJECT, Library
from shared.transcript import DATA

DEFINITIONS = Path(__file__).with_name("tools.yaml")
PORTS = {"microsandbox": 8090, "browser_use": 8082, "deepsearch": 8086, "mcp-search-tool": 8080}


def groups(
    data: Path = DATA / "agent_platform", root: Path = PROJECT, parts: tuple[str, ...] = PARTS
) -> dict[str, Group]:
    """Make the groups of tools by the id of their server: what they write is in data, what they search in root."""
    library = Library(root, parts)
    return {
        "microsandbox": Microsandbox(data),
        "browser_use": browser_use.BrowserUse(data, library),
        "deepsearch": DeepSearch(data, library),
        "mcp-search-tool": SearchTool(data, root),
    }


def build_server(
    served: Mapping[str, Group] | None = None, *, lenient: bool = True, strict: bool = False
) -> FastMCP:
    """Make a server of these groups, by default of all four; strict is FastMCP's strict input validation."""
    served = served or groups()

    @asynccontextmanager
    async def lifespan(_: FastMCP) -> AsyncIterator[None]:
        if "browser_use" in served and (problem := browser_use.missing()):
            sys.stderr.write(f"{problem}\n")
        yield
        for group in served.values():
            await group.close()

    name = "agent-platform" if len(served) > 1 else next(iter(served))
    mcp = FastMCP(name, strict_input_validation=strict, lifespan=lifespan)
    tools = [tool for group in served.values() for tool in group.tools]
    if lenient:
        mcp.add_middleware(_middleware({tool.__name__ for tool in tools}))
    for tool in tools:
        mcp.tool(tool)
    return mcp


def _middleware(tools: Collection[str]) -> LenientMiddleware:
    """Read what tools.yaml says of these tools alone, since a name that a server lacks would be a warning."""
    declared = yaml.safe_load(DEFINITIONS.read_text("utf-8"))["tools"]
    with TemporaryDirectory() as folder:
        path = Path(folder, DEFINITIONS.name)
        path.write_text(
            yaml.safe_dump({"tools": {name: declared[name] for name in tools if name in declared}})
        )
        return LenientMiddleware.from_file(path)


async def serve(made: Mapping[str, Group], ports: Mapping[str, int] = PORTS) -> None:
    """Serve each group over HTTP on its port, until interrupted."""
    servers = {port: build_server({name: made[name]}) for name, port in ports.items()}
    await asyncio.gather(
        *(server.run_http_async(port=port, show_banner=False) for port, server in servers.items())
    )


mcp = build_server()

if __name__ == "__main__":
    if sys.argv[1:2] == ["--http"]:
        asyncio.run(serve(groups(), dict(zip(PORTS, map(int, sys.argv[2:]), strict=False)) or PORTS))
    else:
        from agent_platform.demo import main

        sys.exit(main())
