"""The routes from a client to the notebook's tools: directly to the server, or through the proxy."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fastmcp import Client
from mcp.shared.exceptions import MCPError
from processes import free_port, running

HERE: Final = Path(__file__).parent
NOTEBOOK: Final = HERE / "servers" / "notebook.py"
_PROXY: Final = [sys.executable, "-c", "from mcp_lenient.cli import main; main()", "proxy"]
_PATIENCE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Route:
    """A route from a client to the tools.

    Attributes:
        connection: ``{"command": [...]}`` or ``{"url": "..."}``.
        prefix: The prefix of the notebook's tool names.
    """

    connection: dict[str, Any]
    prefix: str = ""


@contextmanager
def direct(_: Path) -> Iterator[Route]:
    """Yield a route to a server that has the middleware."""
    yield Route({"command": [sys.executable, str(NOTEBOOK), "lenient"]})


@contextmanager
def proxy(_: Path) -> Iterator[Route]:
    """Yield a route through a proxy over stdio to a server without the middleware."""
    yield Route({"command": [*_PROXY, "--", sys.executable, str(NOTEBOOK)]})


@contextmanager
def several(folder: Path) -> Iterator[Route]:
    """Yield a route through one proxy in front of several servers."""
    server = {"command": sys.executable, "args": [str(NOTEBOOK)]}
    file = folder / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"home": server, "work": server}}), encoding="utf-8")
    yield Route({"command": [*_PROXY, str(file)]}, prefix="work_")


@contextmanager
def http(_: Path) -> Iterator[Route]:
    """Yield a route through a proxy that serves streamable HTTP."""
    port = free_port()
    with running([*_PROXY, "--http", f"127.0.0.1:{port}", "--", sys.executable, str(NOTEBOOK)], port):
        _warm(f"http://127.0.0.1:{port}/mcp")
        yield Route({"url": f"http://127.0.0.1:{port}/mcp"})


def _warm(url: str) -> None:
    # The server behind the proxy starts with the first client. On a busy machine that client stops waiting
    # for an answer in the newer protocol era and asks in the older one while the first request is open;
    # FastMCP refuses that.
    async def connect() -> None:
        async with Client(url) as client:
            await client.list_tools()

    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            asyncio.run(connect())
        except MCPError:
            assert time.monotonic() < deadline, "The server behind the proxy does not answer"
            time.sleep(1)
        else:
            return


ROUTES: Final = {"direct": direct, "proxy": proxy, "http": http, "several": several}
