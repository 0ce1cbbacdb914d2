"""List real servers through the proxy: how many providers and clients reject a tool before and under ``portable``.

Right calls of the same tools are sent through the proxy to tools that record what arrives.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from rich.table import Table

from benchmarks import servers
from benchmarks.environments import FOLDER, NotInstalledError, interpreter
from benchmarks.evidence.right_calls import outcomes
from benchmarks.printing import wide_console
from mcp_lenient import Policy, create_lenient_proxy
from mcp_lenient.adapters.sdk_caller import field
from mcp_lenient.portable.provider_limits import ListedTool, providers, rejections

_SECONDS = 300


@dataclass(frozen=True, slots=True)
class _Server:
    """A server from npm, or from PyPI if it has no ``@``: its package, program, arguments and environment."""

    package: str
    program: str
    arguments: tuple[str, ...] = ()
    environment: str = ""


_SERVERS = (
    _Server(
        "@modelcontextprotocol/server-filesystem@2026.8.31", "mcp-server-filesystem", (tempfile.gettempdir(),)
    ),
    _Server("@modelcontextprotocol/server-everything@2026.8.31", "mcp-server-everything"),
    _Server("@playwright/mcp@0.0.83", "playwright-mcp", ("--headless",)),
    _Server(
        "mcp-atlassian==0.23.1",
        "mcp-atlassian==0.23.1",
        environment="JIRA_URL=https://example.com JIRA_USERNAME=a JIRA_API_TOKEN=b"
        " CONFLUENCE_URL=https://example.com/wiki CONFLUENCE_USERNAME=a CONFLUENCE_API_TOKEN=b",
    ),
    _Server(
        "workspace-mcp==2.2.1",
        "workspace-mcp==2.2.1",
        environment="GOOGLE_OAUTH_CLIENT_ID=a GOOGLE_OAUTH_CLIENT_SECRET=b",
    ),
)


def main() -> None:
    """Print the table."""
    servers.quiet()
    table = Table(
        "server",
        "tools",
        "bytes",
        "rejected by",
        "portable: bytes",
        "rejected by",
        "right calls",
        "refused",
        "changed",
        title="Real servers",
    )
    for server in _SERVERS:
        try:
            before, after, arrived = asyncio.run(_both(_command(server), server))
        except NotInstalledError as reason:
            table.add_row(server.package, f"skipped: {reason}")
            continue
        calls = (f"{each:,}" for each in (arrived.total(), arrived["refused"], arrived["changed"]))
        table.add_row(server.package, str(len(before)), *_figures(before), *_figures(after), *calls)
    wide_console().print(table)


def _command(server: _Server) -> str:
    """Return the program of a server, which is installed once."""
    if not server.package.startswith("@"):
        return str(Path(interpreter((server.package,))).parent / server.program)
    folder, npm = FOLDER / "npm", shutil.which("npm")
    program = folder / "node_modules" / ".bin" / server.program
    if npm is None:
        msg = "npm is not installed"
        raise NotInstalledError(msg)
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        wanted = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", server.package]
        done = subprocess.run(wanted, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603
        if done.returncode:
            raise NotInstalledError(done.stderr.strip()[-200:])
    return str(program)


async def _both(program: str, server: _Server) -> tuple[list[ListedTool], list[ListedTool], Counter[str]]:
    """Return the tools as the server lists them and as a proxy publishes them, and how right calls of them arrive."""
    environment = dict(each.split("=", 1) for each in server.environment.split())
    with tempfile.TemporaryFile("w") as log:
        transport = StdioTransport(program, list(server.arguments), env=environment, log_file=log)
        async with Client(transport) as client:
            own = await client.list_tools()
        proxy = create_lenient_proxy(
            StdioTransport(program, list(server.arguments), env=environment, log_file=log),
            Policy(publish="portable"),
        )
        async with Client(proxy) as client:
            return _listed(own), _listed(await client.list_tools()), await outcomes(own)


def _listed(tools: list[Any]) -> list[ListedTool]:
    return [
        ListedTool(
            tool.name,
            field(tool, "input_schema"),
            tool.description or "",
            field(tool, "output_schema"),
        )
        for tool in tools
    ]


def _figures(tools: list[ListedTool]) -> tuple[str, str]:
    """Return the bytes of the schemas, and who rejects how many of the tools, or the list as a whole (*)."""
    size = sum(len(json.dumps(each.schema, separators=(",", ":"))) for each in tools)
    told = []
    for of in providers(strict=False):
        failing = {each.tool for each in rejections(tools, of) if each.fails}
        if failing:
            told.append(f"{of} {'*' if '' in failing else len(failing)}")
    return f"{size:,}", ", ".join(told) or "none"
