"""Middleware for servers on the official SDK 2, run before the SDK validates a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from mcp_types import SERVER_INFO_META_KEY
from mcp_types.methods import serialize_server_result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_lenient.adapters.gate import RENAMED_TOOL, Gate, HostCall
from mcp_lenient.adapters.listed import ListedTools, ServerTools
from mcp_lenient.adapters.mcp_sdk import compat
from mcp_lenient.adapters.mcp_sdk.tools import FunctionTools
from mcp_lenient.adapters.repaired import with_repairs
from mcp_lenient.adapters.sdk_caller import who_called
from mcp_lenient.adapters.settings import takes_settings
from mcp_lenient.adapters.source import ToolSource
from mcp_lenient.types import Repair

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from typing_extensions import Unpack

    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.rules.policy import Policy

    Request = ServerRequestContext[Any, Any]

_CALL: Final = "tools/call"


class LenientServerMiddleware:
    """Make every tool of a server on the official SDK 2 lenient: ``MCPServer("notes", middleware=[LenientServerMiddleware()])``.

    It sees the raw request before the SDK validates it. Arguments that the tool accepts are passed on unchanged;
    arguments that can be read only one way are repaired; all others are refused with the envelope, and the tool is
    not run. Repairs and refusals are logged without values.

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
        self._kept: WeakKeyDictionary[Any, ServerTools] = WeakKeyDictionary()

    async def __call__(
        self, ctx: Request, call_next: CallNext, repairs: tuple[Repair, ...] = ()
    ) -> HandlerResult:
        """Validate one call, repair or refuse it, and record it; pass every other message on.

        ``repairs`` are those of a call that this middleware started again.
        """
        params = ctx.params or {}
        name = params.get("name")
        if ctx.method != _CALL or ctx.request_id is None or not isinstance(name, str):
            return await call_next(ctx)
        server = compat.server_behind(call_next)
        who = partial(who_called, server, ctx)
        call = HostCall(name, params.get("arguments"), who=who, repairs=repairs)
        source = self._source(server, ctx, call_next)
        # Otherwise middleware before this one is unknown, and could not see the other name.
        source.renames = server is not None and self in server.middleware
        decision = await self._gate.decide(call, source, restarts=True)
        if decision.name is not None:
            return await self._restarted(ctx, decision.name, call_next, server)
        if decision.refusal is not None:
            return complete(ctx, decision.refusal, server)
        if not decision.applied_repairs:
            return await call_next(ctx)
        result = await call_next(replace(ctx, params={**params, **decision.changed()}))
        return with_repairs(result, decision)

    async def _restarted(self, ctx: Request, name: str, call_next: CallNext, server: Any) -> HandlerResult:
        """Start a call again under another name at the outermost middleware, so that each sees this name."""
        again: CallNext = partial(self, call_next=call_next, repairs=(RENAMED_TOOL,))
        for outer in reversed(server.middleware[: server.middleware.index(self)]):
            again = partial(outer, call_next=again)
        return await again(replace(ctx, params={**(ctx.params or {}), "name": name}))

    def _source(self, server: Any, ctx: Request, call_next: CallNext) -> ToolSource:
        """Return the tool source of this call; without the server nothing is cached between calls."""
        kept = ServerTools()
        if server is not None:
            kept = self._kept.setdefault(server, kept)
            entry = server.get_request_handler(_CALL)
            functions = compat.function_server(entry.handler) if entry is not None else None
            if functions is not None:
                return FunctionTools(kept, functions)

        async def list_page(cursor: str | None) -> Any:
            asked = {"_meta": ctx.params["_meta"]} if ctx.params and "_meta" in ctx.params else {}
            if cursor is not None:
                asked["cursor"] = cursor
            return await call_next(replace(ctx, method="tools/list", params=asked)) or {}

        names = () if server is None else (server.name,)
        return ListedTools(kept, list_page, server_names=names)


def complete(ctx: Request, result: Mapping[str, Any], server: Any) -> dict[str, Any]:
    """Return a result that answers a call in place of the SDK's handler, as the protocol's version has it."""
    whole = {"resultType": "complete", **result}
    answer = serialize_server_result(_CALL, ctx.protocol_version, whole)
    stamp = getattr(server, "server_info_stamp", None)
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS or stamp is None:
        return answer
    return {**answer, "_meta": {**answer.get("_meta", {}), SERVER_INFO_META_KEY: stamp}}
