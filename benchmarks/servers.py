"""FastMCP servers that record what their tools receive, and clients that call them."""

from __future__ import annotations

import logging
import warnings
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import structlog
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool
from fastmcp.tools.base import ToolResult
from mcp.types import CallToolResult, Request
from pydantic import PrivateAttr
from pydantic.json_schema import PydanticJsonSchemaWarning

from benchmarks.signatures import plain, recording_function
from mcp_lenient import LenientMiddleware
from mcp_lenient.adapters.fastmcp.compat import host

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping

    from fastmcp.server.middleware import Middleware

    from benchmarks.data import Case

KINDS = ("default", "strict", "schema")
"""Function tools of a default and of a strict server, and custom tools, of which only the schema is known."""

ANNOTATIONS: Mapping[str, Mapping[str, Any]] = {"c034": {"arguments": dict}}
"""Annotations that are missing in the published schema, according to the call's report."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of one call: ``arguments`` if the tool ran, otherwise ``envelope`` or only ``error``."""

    ran: bool
    arguments: Any = None
    envelope: Mapping[str, Any] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()
    error: str = ""
    records: tuple[Mapping[str, Any], ...] = ()

    @property
    def outcome(self) -> str:
        """Return one word or error code for the outcome."""
        return "ran" if self.ran else str(self.envelope.get("error_code") or self.error)


class RecordingTool(Tool):
    """A custom tool, which publishes a schema and accepts any arguments."""

    _received: list[Any] = PrivateAttr(default_factory=list)

    @classmethod
    def noting(cls, name: str, schema: Mapping[str, Any], received: list[Any]) -> RecordingTool:
        """Return a tool with this schema that appends its arguments to ``received``."""
        tool = cls(name=name, parameters=dict(schema))
        tool._received = received
        return tool

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Record the arguments."""
        self._received.append(arguments)
        return ToolResult(content="ran")


@dataclass(frozen=True, slots=True)
class Caller:
    """A connected client, and the list in which the server's tools record their arguments."""

    client: Client[Any]
    received: list[Any]

    async def call(self, tool: str, sent: Any) -> Reply:
        """Make one call; ``sent`` may be any JSON value, not only an object."""
        self.received.clear()
        try:
            result = await self.send(tool, sent)
        except host.MCPError as error:
            return Reply(ran=False, error=f"{error.error.code} {error.error.message}")
        noted = (result.meta or {}).get("mcp_lenient", {})
        records = tuple(noted.get("repairs", ()))
        if self.received:
            repairs = tuple(entry["rule"] for entry in records)
            return Reply(ran=True, arguments=self.received[0], repairs=repairs, records=records)
        error = "FastMCP refused" if result.is_error else "answered without running"
        return Reply(ran=False, envelope=noted, error=error)

    async def send(self, tool: str, sent: Any) -> Any:
        """Return the client's result of one call."""
        if isinstance(sent, dict):
            return await self.client.call_tool(tool, sent, raise_on_error=False)
        # A plain Request would serialize the parameters by their declared type, without the arguments.
        request = Request[dict[str, Any], str](method="tools/call", params={"name": tool, "arguments": sent})
        return await self.client.session.send_request(request, CallToolResult)


@asynccontextmanager
async def tools(kind: str, cases: Iterable[Case], middleware: Middleware | None) -> AsyncIterator[Caller]:
    """Start a server of one of the ``KINDS`` with one tool for each case, named after the case."""
    server = FastMCP("recorded calls", strict_input_validation=kind == "strict")
    received: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        for case in cases:
            if kind == "schema":
                server.add_tool(RecordingTool.noting(tool_name(case), case.schema, received))
            else:
                server.tool(_function(case, received), name=tool_name(case), output_schema=None)
    if middleware is not None:
        server.add_middleware(middleware)
    async with Client(server) as client:
        yield Caller(client, received)


def _function(case: Case, received: list[Any]) -> Callable[..., Any]:
    def note(arguments: dict[str, Any]) -> None:
        received.append(plain(arguments))

    return recording_function(case.schema, note, lax=True, annotations=ANNOTATIONS.get(case.name))


def tool_name(case: Case) -> str:
    """Return a tool name for the case that MCP allows; that of its row, if the call says it."""
    if isinstance(case.sent, dict) and case.sent.get("name") == case.row.get("tool") is not None:
        return str(case.row["tool"])
    return "".join(char if char.isalnum() and char.isascii() else "_" for char in case.name)


def pair(*functions: Callable[..., Any]) -> tuple[FastMCP[Any], FastMCP[Any]]:
    """Return a server with these tools, and one that has the middleware too."""
    alone, lenient = FastMCP[Any]("alone"), FastMCP[Any]("lenient", middleware=[LenientMiddleware()])
    for server in (alone, lenient):
        for function in functions:
            server.tool(function)
    return alone, lenient


def quiet(level: int = logging.CRITICAL) -> None:
    """Limit FastMCP's and the middleware's logs to this level and above."""
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(level))
