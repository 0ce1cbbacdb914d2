"""Middleware for servers on the official SDK 2, run before the SDK validates a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from mcp_types import SERVER_INFO_META_KEY
from mcp_types.methods import serialize_server_result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_lenient.adapters.allowance import Allowance
from mcp_lenient.adapters.gate import Gate, HostCall
from mcp_lenient.adapters.listed import ListedTools, ServerTools
from mcp_lenient.adapters.mcp_sdk import private_sdk
from mcp_lenient.adapters.mcp_sdk.function_tools import FunctionTools
from mcp_lenient.adapters.repaired import with_repairs
from mcp_lenient.adapters.sdk_caller import who_called
from mcp_lenient.adapters.settings import takes_settings
from mcp_lenient.adapters.snapshot import Snapshot
from mcp_lenient.adapters.source import ToolSource
from mcp_lenient.engine.contract import Decision

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from typing_extensions import Unpack

    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.engine.tool import HostTool
    from mcp_lenient.rules.policy import Policy

    Request = ServerRequestContext[Any, Any]

_CALL: Final = "tools/call"
_NOT_FIRST: Final = (
    "other middleware stands before LenientServerMiddleware, so calls that are not right are refused, not repaired; "
    "put LenientServerMiddleware first"
)
_Recorded = Callable[[], Awaitable[Decision]]
_pending: ContextVar[tuple[Any, Snapshot, _Recorded] | None] = ContextVar(
    "mcp_lenient_sdk_refusal", default=None
)
"""The id of a refused request, its arguments, and what records the refusal."""


async def _of(decision: Decision) -> Decision:
    return decision


class _Answerer:
    """Middleware that stands last, and answers what was refused first."""

    async def __call__(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """Answer a refused call that all other middleware has let pass; pass everything else on."""
        pending = _pending.get()
        is_refused = ctx.method == _CALL and pending is not None and pending[0] == ctx.request_id
        if pending is None or not is_refused or not pending[1].shows(_arguments(ctx)):
            return await call_next(ctx)
        return complete(ctx, (await pending[2]()).refusal or {}, private_sdk.server_behind(call_next))


def _arguments(ctx: Request) -> Any:
    return (ctx.params or {}).get("arguments")


def _is_refused_by(tool: HostTool, arguments: Any) -> bool:
    return tool.validator is not None and not tool.validator.accepts(arguments)


def _before(lenient: object, middleware: list[Any]) -> list[Any]:
    """Return the middleware of others before one; all of it if that is not in the list."""
    index = next((index for index, entry in enumerate(middleware) if entry is lenient), len(middleware))
    return [entry for entry in middleware[:index] if not private_sdk.is_sdks(entry)]


class LenientServerMiddleware:
    """Make every tool of a server on the official SDK 2 lenient: ``MCPServer("notes", middleware=[LenientServerMiddleware()])``.

    Put it first. It sees the raw request before the SDK validates it, and refuses a call after all other middleware.
    Arguments that the tool accepts are passed on unchanged; arguments that can be read only one way are repaired; all
    others are refused with the envelope, and the tool is not run. Repairs and refusals are logged without values.

    Functions are validated by their own Pydantic model, tools of a low-level server by their published schema.
    Unrepairable calls of a low-level server are forwarded unchanged, unless the policy has ``unrepairable="refuse"``.

    >>> from mcp.server.mcpserver import MCPServer
    >>> from mcp_lenient import Policy
    >>> from mcp_lenient.adapters.mcp_sdk import LenientServerMiddleware
    >>> mcp = MCPServer("notes", middleware=[LenientServerMiddleware(tools={"delete_*": Policy.strict()})])

    All other settings are those of :class:`mcp_lenient.HostSettings`.

    Args:
        policy: What may be repaired; the defaults of :class:`mcp_lenient.Policy` when left out.
    """

    @takes_settings
    def __init__(self, policy: Policy | None = None, **settings: Unpack[HostSettings]) -> None:
        self._gate = Gate(policy, **settings)
        self._server_tools: WeakKeyDictionary[Any, ServerTools] = WeakKeyDictionary()

    async def __call__(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """Rewrite one call before other middleware sees it, or refuse it after that; pass every other message on.

        Where other middleware stands before this one, nothing is rewritten.
        """
        params = ctx.params or {}
        name = params.get("name")
        if ctx.method != _CALL or ctx.request_id is None or not isinstance(name, str):
            return await call_next(ctx)
        server = private_sdk.server_behind(call_next)
        call = HostCall(name, _arguments(ctx), who=partial(who_called, server, ctx))
        source = self._source(server, ctx, call_next)
        before = [] if server is None else _before(self, server.middleware)
        if before:
            self._gate.telemetry.log.warn_once("not_first", server.name, _NOT_FIRST)
            # Middleware before this one may hide what the list behind it shows.
            if isinstance(source, ListedTools):
                return await call_next(ctx)
        header = None if ctx.request is None else ctx.request.headers.get("mcp-name")
        allowance = Allowance(call.arguments, is_unseen=server is not None and not before, header_name=header)
        source.may_rename = allowance.may_rename
        decision = await self._gate.decide(call, source, allowance=allowance)
        if decision.fate == "refused" and decision.contract is not None:
            recorded, tool = partial(self._gate.recorded, call, decision), decision.contract.tool
            return await self._refused(ctx, call_next, recorded, server, tool)
        if decision.refusal is not None:
            return await (
                call_next(ctx) if before else self._refused(ctx, call_next, partial(_of, decision), server)
            )
        if not decision.applied_repairs:
            return await call_next(ctx)
        result = await call_next(replace(ctx, params={**params, **decision.changed()}))
        return with_repairs(result, decision)

    async def _refused(
        self,
        ctx: Request,
        call_next: CallNext,
        recorded: _Recorded,
        server: Any,
        tool: HostTool | None = None,
    ) -> HandlerResult:
        """Answer a refused call once all middleware behind this one, and every extension, has let it pass.

        Only what the SDK refuses as well, as it has no such tool or by the tool's validator, is passed on to extensions.
        """
        if private_sdk.has_interceptors(server) and (tool is None or _is_refused_by(tool, _arguments(ctx))):
            result = await call_next(ctx)
            name = (ctx.params or {})["name"]
            is_sdks = private_sdk.is_refusal(result, name)
            return complete(ctx, (await recorded()).refusal or {}, server) if is_sdks else result
        behind = private_sdk.middleware_behind(call_next)
        if all(map(private_sdk.is_sdks, behind)):
            return complete(ctx, (await recorded()).refusal or {}, server)
        if server is not None and not any(isinstance(entry, _Answerer) for entry in behind):
            server.middleware.append(_Answerer())
            return await call_next(ctx)  # as it was sent: the next request finds the answerer
        token = _pending.set((ctx.request_id, Snapshot(_arguments(ctx)), recorded))
        try:
            return await call_next(ctx)
        finally:
            _pending.reset(token)

    def _source(self, server: Any, ctx: Request, call_next: CallNext) -> ToolSource:
        """Return the tool source of this call; without the server nothing is cached between calls."""
        server_tools = ServerTools()
        if server is not None:
            server_tools = self._server_tools.setdefault(server, server_tools)
            entry = server.get_request_handler(_CALL)
            functions = private_sdk.function_server(entry.handler) if entry is not None else None
            if functions is not None:
                return FunctionTools(server_tools, functions)

        async def list_page(cursor: str | None) -> Any:
            params = {"_meta": ctx.params["_meta"]} if ctx.params and "_meta" in ctx.params else {}
            if cursor is not None:
                params["cursor"] = cursor
            return await call_next(replace(ctx, method="tools/list", params=params)) or {}

        names = () if server is None else (server.name,)
        return ListedTools(server_tools, list_page, server_names=names)


def complete(ctx: Request, result: Mapping[str, Any], server: Any) -> dict[str, Any]:
    """Return a result that answers a call in place of the SDK's handler, as the protocol's version has it."""
    whole = {"resultType": "complete", **result}
    answer = serialize_server_result(_CALL, ctx.protocol_version, whole)
    stamp = getattr(server, "server_info_stamp", None)
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS or stamp is None:
        return answer
    return {**answer, "_meta": {**answer.get("_meta", {}), SERVER_INFO_META_KEY: stamp}}
