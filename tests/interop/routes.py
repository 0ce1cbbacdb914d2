"""The routes from a client to the notebook's tools: directly to the server, or through the proxy."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fastmcp import Client
from mcp.shared.exceptions import MCPError

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
def http(folder: Path) -> Iterator[Route]:
    """Yield a route through a proxy that serves streamable HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*_PROXY, "--http", f"127.0.0.1:{port}", "--", sys.executable, str(NOTEBOOK)]
    with (folder / "stderr").open("wb") as errors:
        process = subprocess.Popen(command, stdout=errors, stderr=errors)  # noqa: S603 - our own command
        try:
            _await_port(port, process)
            _warm(f"http://127.0.0.1:{port}/mcp")
            yield Route({"url": f"http://127.0.0.1:{port}/mcp"})
        finally:
            process.terminate()
            process.wait(timeout=_PATIENCE)


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


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert process.poll() is None, "The proxy has ended"
            assert time.monotonic() < deadline, "The proxy does not listen"
            time.sleep(0.05)
        else:
            return


ROUTES: Final = {"direct": direct, "proxy": proxy, "http": http, "several": several}
