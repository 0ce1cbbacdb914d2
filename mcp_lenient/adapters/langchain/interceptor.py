"""Interceptor for langchain-mcp-adapters, run before a call is sent to a server."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_mcp_adapters.tools import load_mcp_tools
from mcp.types import CallToolResult

from mcp_lenient.adapters.gate import Gate, HostCall
from mcp_lenient.adapters.listed import ListedTools, ServerTools
from mcp_lenient.adapters.repaired import with_repairs
from mcp_lenient.adapters.settings import takes_settings
from mcp_lenient.telemetry.otel import trace_fields

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain_mcp_adapters.interceptors import MCPToolCallRequest, MCPToolCallResult
    from langchain_mcp_adapters.sessions import Connection
    from mcp import ClientSession
    from typing_extensions import Unpack

    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.rules.policy import Policy


class LenientInterceptor:
    """Repair the calls that an agent makes through ``langchain-mcp-adapters``, as one of its ``tool_interceptors``.

    Calls are validated against the published schemas. Valid calls are sent unchanged; calls that can be read only one
    way are repaired; others are forwarded unchanged or, with ``Policy(unrepairable="refuse")``, refused with the
    envelope. Repairs and refusals are logged without values.

    All other settings are those of :class:`mcp_lenient.HostSettings`.

    Args:
        servers: The connections of ``MultiServerMCPClient``, by name; or the one session whose tools are loaded. Their
            tools are listed at the first call, and again before a call is changed or refused.
        policy: What may be repaired; the defaults of :class:`mcp_lenient.Policy` when left out.
    """

    @takes_settings
    def __init__(
        self,
        servers: Mapping[str, Connection] | ClientSession,
        policy: Policy | None = None,
        **settings: Unpack[HostSettings],
    ) -> None:
        self._servers = servers
        self._gate = Gate(policy, **settings)
        self._server_tools: dict[str, ServerTools] = {}

    async def __call__(
        self,
        request: MCPToolCallRequest,
        handler: Callable[[MCPToolCallRequest], Awaitable[MCPToolCallResult]],
    ) -> MCPToolCallResult:
        """Repair one call and send it, or answer it with the envelope."""
        name = request.server_name
        server_tools = self._server_tools.setdefault(name, ServerTools())
        source = ListedTools(server_tools, partial(self._tools, request))
        call = HostCall(request.name, request.args, who=lambda: {"server": name, **trace_fields()})
        decision = await self._gate.decide(call, source)
        if decision.refusal is not None:
            return CallToolResult.model_validate(decision.refusal)
        changed = decision.changed(arguments="args")
        if not changed:
            return await handler(request)
        return with_repairs(await handler(request.override(**changed)), decision)

    async def _tools(self, request: MCPToolCallRequest, _cursor: str | None) -> Mapping[str, Any]:
        if isinstance(self._servers, Mapping):
            connection = _with_headers(self._servers[request.server_name], request.headers)
            listed = await load_mcp_tools(None, connection=connection)
        else:
            listed = await load_mcp_tools(self._servers)
        return {
            "tools": [
                {"name": tool.name, "inputSchema": tool.args_schema, "annotations": tool.metadata}
                for tool in listed
            ]
        }


def _with_headers(connection: Mapping[str, Any], headers: Mapping[str, Any] | None) -> Any:
    """Return the connection of the call, with headers that an earlier interceptor added."""
    if not headers or "url" not in connection:
        return connection
    return {**connection, "headers": {**(connection.get("headers") or {}), **headers}}
