"""Make each kind of call to the notebook's tools with each client, and return results in one format."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from interop import installed
from interop.routes import Route
from mcp.types import CallToolResult, Request

Calls = Mapping[str, tuple[str, Any]]
Talk = Callable[[Route, Calls, Path], Mapping[str, Any]]

CALLS: Final[Calls] = {
    "right": ("add_note", {"text": "kept", "tags": ["a"]}),
    "right_text": ("count_words", {"words": ["a", "b"]}),
    "right_empty": ("ping", {}),
    "repaired": ("add_note", {"text": "kept", "tags": "a"}),
    "repaired_text": ("count_words", {"words": "a"}),
    "repaired_json": ("add_note", {"text": "kept", "tags": '["a"]'}),
    "repaired_whole": ("add_note", '{"text": "kept", "tags": ["a"]}'),
    "repaired_second_page": ("remove_notes", {"numbers": "[1, 2]"}),
    "refused": ("add_note", {"text": "kept", "tags": 123}),
    "refused_missing": ("add_note", {"tags": ["a"]}),
    "refused_whole": ("add_note", [1]),
    "refused_without_schema": ("count_words", {"words": {"a": 1}}),
    "refused_whole_without_schema": ("count_words", 5),
    "failed": ("find_note", {"number": 7}),
    "unknown": ("add_notes", {"text": "kept"}),
}
_WHOLE: Final = frozenset({"repaired_whole", "refused_whole", "refused_whole_without_schema"})
_TIME: Final = 240


@dataclass(frozen=True, slots=True)
class Conversation:
    """The tools that a client saw, and the outcome of each call.

    Attributes:
        prefix: The prefix of the tools' names.
        tools: The tools by name.
        outcomes: ``{"result": ...}`` if the client returned, ``{"thrown": ...}`` if it raised.
        version: The negotiated protocol version, if the client reports it.
        pages: The number of pages of tools, if the client reports it.
    """

    prefix: str
    tools: Mapping[str, Any]
    outcomes: Mapping[str, Any]
    version: str | None = None
    pages: int | None = None

    def result(self, call: str) -> dict[str, Any]:
        """Return the result of a call. The client must not have raised."""
        outcome = self.outcomes[call]
        assert "result" in outcome, outcome
        result: dict[str, Any] = outcome["result"]
        return result

    def text(self, call: str) -> str:
        """Return the first text block of a call's result."""
        text: str = self.result(call)["content"][0]["text"]
        return text

    def envelope(self, call: str) -> dict[str, Any]:
        """Return the envelope from the first text block of a tool error."""
        assert self.result(call)["isError"] is True
        envelope: dict[str, Any] = json.loads(self.text(call))
        return envelope


@dataclass(frozen=True, slots=True)
class Speaker:
    """A client.

    Attributes:
        talk: Has a conversation, or skips the test if a requirement cannot be installed.
        hides_meta: Whether the client hides a result's ``_meta``.
        hides_schemas: Whether the client hides a tool's title and output schema.
        cannot_send: Calls that the client cannot send.
        corrects: Calls that the client corrects before it sends them.
        over_stdio: The calls that the client makes over stdio, if not all.
    """

    talk: Talk
    hides_meta: bool = False
    hides_schemas: bool = False
    cannot_send: frozenset[str] = frozenset()
    corrects: frozenset[str] = frozenset()
    over_stdio: frozenset[str] = frozenset(CALLS)

    def calls(self, route: Route) -> frozenset[str]:
        """Return the calls that the client makes on this route."""
        chosen = CALLS.keys() - self.cannot_send
        return frozenset(chosen if "url" in route.connection else chosen & self.over_stdio)

    def converse(self, route: Route, folder: Path) -> Conversation:
        """Make all the calls that this client can send."""
        calls = {
            label: (route.prefix + tool, sent)
            for label, (tool, sent) in CALLS.items()
            if label in self.calls(route)
        }
        reported = self.talk(route, calls, folder)
        tools = {tool["name"]: tool for tool in reported["tools"]}
        return Conversation(
            route.prefix, tools, reported["outcomes"], reported.get("version"), reported.get("pages")
        )


def _fastmcp(mode: str) -> Talk:
    async def converse(route: Route, calls: Calls) -> dict[str, Any]:
        async with Client(_transport(route), mode=mode) as client:
            tools = [
                tool.model_dump(mode="json", by_alias=True, exclude_none=True)
                for tool in await client.list_tools()
            ]
            outcomes = {label: {"result": await _sent(client, *call)} for label, call in calls.items()}
            return {"tools": tools, "outcomes": outcomes, "version": client.protocol_version}

    return lambda route, calls, _: asyncio.run(converse(route, calls))


def _transport(route: Route) -> StdioTransport | StreamableHttpTransport:
    if "url" in route.connection:
        return StreamableHttpTransport(route.connection["url"])
    command, *arguments = route.connection["command"]
    return StdioTransport(command, arguments, env=dict(os.environ), keep_alive=False)


async def _sent(client: Client[Any], tool: str, arguments: Any) -> dict[str, Any]:
    # The client's own method accepts only an object as arguments.
    request = Request[dict[str, Any], str](method="tools/call", params={"name": tool, "arguments": arguments})
    result = await client.session.send_request(request, CallToolResult)
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


def _typescript(script: str, *more: str) -> Talk:
    return lambda route, calls, _: printed([installed.node(), f"clients/{script}", _job(route, calls), *more])


def _langchain(route: Route, calls: Calls, _: Path) -> dict[str, Any]:
    return printed([installed.langchain_python(), "clients/langchain_adapters.py", _job(route, calls)])


def _job(route: Route, calls: Calls) -> str:
    sent = {label: {"name": tool, "arguments": arguments} for label, (tool, arguments) in calls.items()}
    return json.dumps({"connection": route.connection, "calls": sent})


def printed(command: list[str]) -> dict[str, Any]:
    """Return what a client prints as JSON. Fail the test if the client fails."""
    done = _run(command)
    assert done.returncode == 0, done.stderr[-2000:]
    reported: dict[str, Any] = json.loads(done.stdout)
    return reported


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - a client of ours
        command, cwd=installed.HERE, capture_output=True, encoding="utf-8", timeout=_TIME, check=False
    )


def _inspector(route: Route, calls: Calls, folder: Path) -> dict[str, Any]:
    """Make the calls with the Inspector's command line, which makes one call per run."""
    node = installed.node()
    command = [node, "node_modules/.bin/mcp-inspector", "--cli", "--quiet", "--format", "json"]
    # The default connection timeout is too short for a busy machine.
    command += [*_inspected(route, folder), "--connect-timeout", "60000"]
    with ThreadPoolExecutor(2) as pool:
        listed = pool.submit(printed, [*command, "--method", "tools/list"])
        reported = {label: pool.submit(_run, [*command, *_asked(*call)]) for label, call in calls.items()}
    outcomes = {label: _inspected_outcome(done.result()) for label, done in reported.items()}
    return {"tools": listed.result()["result"]["tools"], "outcomes": outcomes}


def _inspected(route: Route, folder: Path) -> list[str]:
    if "url" in route.connection:
        return ["--server-url", route.connection["url"]]
    command, *arguments = route.connection["command"]
    file = folder / "inspected.json"
    file.write_text(json.dumps({"mcpServers": {"notebook": {"command": command, "args": arguments}}}))
    return ["--config", str(file), "--server", "notebook"]


def _asked(tool: str, arguments: Any) -> list[str]:
    return ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)]


def _inspected_outcome(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    # A tool error changes the exit code, but the result is printed.
    return json.loads(done.stdout) if done.stdout else {"thrown": done.stderr}


CLIENTS: Final = {
    "fastmcp": Speaker(_fastmcp("auto")),
    "fastmcp_legacy": Speaker(_fastmcp("legacy")),
    "typescript_1": Speaker(_typescript("typescript_1.mjs")),
    "typescript_2": Speaker(_typescript("typescript_2.mjs", "auto")),
    "typescript_2_legacy": Speaker(_typescript("typescript_2.mjs", "legacy")),
    "inspector": Speaker(
        _inspector,
        # The Inspector accepts only an object as arguments, and looks up the tool by itself.
        cannot_send=_WHOLE | {"unknown"},
        corrects=frozenset({"repaired_json", "repaired_second_page"}),
        # The Inspector restarts the servers for each call over stdio.
        over_stdio=frozenset({"right", "repaired", "refused", "refused_without_schema", "failed"}),
    ),
    "langchain": Speaker(_langchain, hides_meta=True, hides_schemas=True, cannot_send=_WHOLE | {"unknown"}),
}
"""The clients by a short name."""
