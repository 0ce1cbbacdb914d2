"""LiteLLM's gateway with a lenient callback, started on loopback, and an agent's calls through it.

It needs its own environment, made in a clone of mcp-lenient::

    python -m venv .venv-litellm
    .venv-litellm/bin/pip install "litellm[proxy]>=1.106" .
    .venv-litellm/bin/python examples/litellm_gateway/run.py

It starts the server of ``notes.py`` and the gateway of ``config.yaml`` on free ports, sends a few calls, prints what
came back, and stops both. No database and no key of any vendor is used.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

LITELLM = Path(sys.executable).with_name("litellm")
NEEDED = (
    "This example needs LiteLLM's gateway and mcp-lenient. Make an environment for it: "
    'python -m venv .venv-litellm && .venv-litellm/bin/pip install "litellm[proxy]>=1.106" . && '
    ".venv-litellm/bin/python examples/litellm_gateway/run.py"
)

try:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp_types import TextContent
except ImportError:
    sys.exit(NEEDED)

HERE = Path(__file__).parent
PATIENCE = 300
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("notes-store", {"content": "kept", "tags": ["a"]}),
    ("notes-store", {"content": "kept", "tags": "['a', 'b']", "max_results": None}),
    ("notes-store", {"content": "kept", "tags": 5}),
    ("notes-delete_note", {"number": "7"}),
)


@contextmanager
def started(log: str | None = None) -> Iterator[tuple[str, str]]:
    """Run the server and the gateway before it; return the gateway's URL and key.

    Args:
        log: A file for the events.
    """
    notes, gateway = _free_port(), _free_port()
    key = f"sk-{secrets.token_hex(8)}"
    settings = {
        "NOTES_URL": f"http://127.0.0.1:{notes}/mcp",
        "GATEWAY_KEY": key,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # nothing is fetched
        **({"GATEWAY_LOG": log} if log else {}),
    }
    with ExitStack() as stack:
        stack.enter_context(_running([sys.executable, str(HERE / "notes.py"), str(notes)], {}))
        address = ["--host", "127.0.0.1", "--port", str(gateway)]
        process = stack.enter_context(
            _running(
                [str(LITELLM), "--config", str(HERE / "config.yaml"), *address, "--telemetry", "False"],
                settings,
            )
        )
        _wait(f"http://127.0.0.1:{gateway}/health/liveliness", process)
        yield f"http://127.0.0.1:{gateway}/mcp/", key


@contextmanager
def _running(command: list[str], settings: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(  # noqa: S603 - our own commands
        command, env={**os.environ, **settings}, cwd=HERE, stdin=quiet, stdout=quiet, stderr=quiet
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310 - loopback
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
    msg = "the gateway did not start"
    raise RuntimeError(msg)


@asynccontextmanager
async def connected(url: str, key: str) -> AsyncIterator[Client]:
    """Connect to the gateway as an agent does; list the tools, by which the gateway learns their schemas."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        await client.list_tools()
        yield client


async def converse(client: Client) -> None:
    """Send the calls, and print what came back."""
    for tool, arguments in CALLS:
        result = await client.call_tool(tool, arguments)
        text = "".join(block.text for block in result.content if isinstance(block, TextContent))
        print(f"{tool}({arguments})\n  {'refused' if result.is_error else 'ran'}: {' '.join(text.split())}")


async def main() -> None:
    """Start the gateway, converse, and stop it."""
    with started() as (url, key):
        async with connected(url, key) as client:
            await converse(client)


if __name__ == "__main__":
    if not LITELLM.exists() or find_spec("mcp_lenient") is None:
        sys.exit(NEEDED)
    asyncio.run(main())
