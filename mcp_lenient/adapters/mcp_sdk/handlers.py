"""``make_lenient``: wrap the call handler of servers on the official SDK 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from mcp import types

from mcp_lenient.adapters.gate import Gate, HostCall
from mcp_lenient.adapters.listed import ListedTools, ServerTools
from mcp_lenient.adapters.mcp_sdk import private_sdk
from mcp_lenient.adapters.mcp_sdk.arguments import InputValidator
from mcp_lenient.adapters.mcp_sdk.function_tools import FunctionTools
from mcp_lenient.adapters.repaired import with_repairs
from mcp_lenient.adapters.sdk_caller import who_called
from mcp_lenient.adapters.settings import takes_settings
from mcp_lenient.adapters.source import ToolSource

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from typing_extensions import Unpack

    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.rules.policy import Policy

    Handler = Callable[[Any], Awaitable[Any]]

ServerT = TypeVar("ServerT")

# SDK 1 names that SDK 2 lacks, so they are accessed without type checking.
_SDK: Any = types


@takes_settings
def make_lenient(server: ServerT, policy: Policy | None = None, **settings: Unpack[HostSettings]) -> ServerT:
    """Make every tool of a server on the official SDK lenient, including tools added later.

    Arguments that the tool accepts are passed on unchanged; arguments that can be read only one way are repaired; all
    others are refused with the envelope, and the tool is not run. Repairs and refusals are logged without values.

    It supports ``FastMCP`` and the low-level ``Server`` of SDK 1. On SDK 2 it adds a
    :class:`mcp_lenient.adapters.mcp_sdk.LenientServerMiddleware`, which does more: SDK 1 refuses arguments
    that are not an object, such as JSON text, before the lenient handler runs.

    Args:
        server: The server. A low-level server must already have its call handler, since a handler registered
            later replaces the lenient one.
        policy: What may be repaired; the defaults of :class:`mcp_lenient.Policy` when left out.
        **settings: See :class:`mcp_lenient.HostSettings`.

    Returns:
        The same server.

    Raises:
        TypeError: When it is not a server of the official SDK.
        ValueError: When the server has no call handler yet.
    """
    handlers = private_sdk.request_handlers(server)
    if handlers is None:
        middleware = getattr(server, "middleware", None)
        if not isinstance(middleware, list):
            msg = f"make_lenient takes a server of the official SDK, got {server!r}."
            raise TypeError(msg)
        from mcp_lenient.adapters.mcp_sdk.middleware import LenientServerMiddleware

        middleware.insert(0, LenientServerMiddleware(policy, **settings))
        return server
    handler = handlers.get(_SDK.CallToolRequest)
    if handler is None:
        msg = "make_lenient: the server has no handler of calls yet; call it after @server.call_tool()."
        raise ValueError(msg)
    handlers[_SDK.CallToolRequest] = LenientHandler(
        handler, handlers, private_sdk.low_level(server), Gate(policy, **settings)
    )
    return server


class LenientHandler:
    """The lenient call handler of a server on SDK 1.

    Args:
        handler: The server's own handler.
        handlers: All handlers of the server, by type of request.
        server: The low-level server.
        gate: Decides about calls.
    """

    def __init__(self, handler: Handler, handlers: Mapping[Any, Handler], server: Any, gate: Gate) -> None:
        self._handler = handler
        self._handlers = handlers
        self._server = server
        self._gate = gate
        self._server_tools = ServerTools()
        self._functions = private_sdk.function_server(handler)
        self._validator = InputValidator if private_sdk.validates_input(handler) else None

    async def __call__(self, request: Any) -> Any:
        """Validate one call, repair or refuse it, and record it."""
        params = request.params
        call = HostCall(params.name, params.arguments, who=self._who)
        decision = await self._gate.decide(call, self._source())
        if decision.refusal is not None:
            return _SDK.ServerResult(_SDK.CallToolResult.model_validate(decision.refusal))
        changed = decision.changed()
        if not changed:
            return await self._handler(request)
        repaired = params.model_copy(update=changed)
        result = await self._handler(request.model_copy(update={"params": repaired}))
        return _SDK.ServerResult(with_repairs(result.root, decision))

    def _who(self) -> dict[str, str | None]:
        try:
            request = self._server.request_context
        except LookupError:  # Python code calls the handler
            request = None
        return who_called(self._server, request)

    def _source(self) -> ToolSource:
        if self._functions is not None:
            return FunctionTools(self._server_tools, self._functions)
        return ListedTools(self._server_tools, self._list_page, self._validator, (self._server.name,))

    async def _list_page(self, cursor: str | None) -> Any:
        handler = self._handlers[_SDK.ListToolsRequest]
        request = {"method": "tools/list"} | ({"params": {"cursor": cursor}} if cursor is not None else {})
        return (await handler(_SDK.ListToolsRequest.model_validate(request))).root
