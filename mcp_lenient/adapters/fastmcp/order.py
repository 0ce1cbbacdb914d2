"""Where the middleware stands: first among a server's to rewrite a call, and last to answer it.

What may deny a call stands between, so that it sees the call that runs, and is asked before any answer.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware

from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.compat.running import outer_context

if TYPE_CHECKING:
    from fastmcp import Context
    from fastmcp.server.middleware import CallNext, MiddlewareContext


_HOOKS: Final = ("__call__", "_dispatch_handler", "on_message", "on_request", "on_call_tool", "on_get_prompt")
_TRUSTED: Final = frozenset({"fastmcp.server.middleware.timing", "fastmcp.server.middleware.logging"})
"""FastMCP's own middleware that looks at calls and denies none."""


class Outermost(Middleware):
    """Middleware of this package that stands before that of others, in the order in which it was added."""


class Innermost(Middleware):
    """Middleware of this package that stands behind all other, such as what records calls for a test."""


class Rewriter(Outermost):
    """Middleware that changes calls, with an :class:`Answerer` that stands last.

    Attributes:
        trusts_outer: Whether it keeps its position in the server's list, because the author trusts the middleware before it.
    """

    trusts_outer: bool = False

    def rewrites(self, tool: str) -> bool:
        """Return whether calls of a tool may be changed here."""
        raise NotImplementedError

    def answer(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Answer what all other middleware of the server has let pass, or pass it on."""
        raise NotImplementedError


class Answerer(Middleware):
    """Stands last before a server's tools, for a rewriter.

    Args:
        rewriter: The middleware that answers.
    """

    def __init__(self, rewriter: Rewriter) -> None:
        self.rewriter = rewriter

    def __call__(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Hand a call or prompt to the rewriter; pass every other message on."""
        is_for_rewriter = context.method in ("tools/call", "prompts/get")
        return self.rewriter.answer(context, call_next) if is_for_rewriter else call_next(context)


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a server's middleware.

    Attributes:
        middleware: The list as it was arranged.
        has_others: Whether middleware of others sees calls, so that calls are answered by an :class:`Answerer`.
    """

    middleware: tuple[Middleware, ...]
    has_others: bool


_orders: weakref.WeakKeyDictionary[FastMCP, Order] = weakref.WeakKeyDictionary()


def arrange(server: FastMCP) -> Order:
    """Put rewriters first and answerers last in a server's middleware, for the next message; return the order."""
    middleware: Any = server.middleware
    if not isinstance(middleware, list):
        server.middleware = middleware = list(middleware)
    order = _orders.get(server)
    is_arranged = order is not None and len(middleware) == len(order.middleware)
    if order is not None and is_arranged and all(map(_is_same, middleware, order.middleware)):
        return order
    rewriters = [entry for entry in middleware if isinstance(entry, Rewriter)]
    ours = (Outermost, Innermost, Answerer)
    others = [entry for entry in middleware if not isinstance(entry, ours) or _stays(entry)]
    has_others = any(sees_calls(entry) for entry in others if not isinstance(entry, Rewriter))
    answerers = {id(entry.rewriter): entry for entry in middleware if isinstance(entry, Answerer)}
    last = [answerers.get(id(rewriter)) or Answerer(rewriter) for rewriter in reversed(rewriters)]
    first = [entry for entry in middleware if isinstance(entry, Outermost) and not _stays(entry)]
    innermost = [entry for entry in middleware if isinstance(entry, Innermost)]
    middleware[:] = [*first, *others, *(last if has_others else ()), *innermost]
    _orders[server] = Order(tuple(middleware), has_others)
    return _orders[server]


def _is_same(one: object, other: object) -> bool:
    return one is other


def _stays(middleware: Middleware) -> bool:
    """Return whether a rewriter stays where its author put it."""
    return isinstance(middleware, Rewriter) and middleware.trusts_outer


def sees_calls(middleware: Middleware) -> bool:
    """Return whether a middleware has a hook for calls or prompts."""
    kind = type(middleware)
    return any(getattr(kind, hook, None) is not getattr(Middleware, hook, None) for hook in _HOOKS)


def may_deny(middleware: Middleware) -> bool:
    """Return whether a middleware may judge calls: it sees them, and is neither ours nor one that only looks."""
    is_ours = isinstance(middleware, (Outermost, Innermost, Answerer))
    return not is_ours and sees_calls(middleware) and type(middleware).__module__ not in _TRUSTED


def first_judge(context: Context, tool: str, *, on_server: bool = False) -> object | None:
    """Return what has seen a call before any rewriter could change it, and may have judged it; None if nothing has.

    That is middleware of the SDK's server, or middleware or an extension of a server that mounts this one.

    Args:
        context: FastMCP's context of the call.
        tool: The name that the call has there.
        on_server: Whether the middleware of the call's own server counts as well.
    """
    judge: object | None = None
    for server in _servers(context):
        judge = host.sdk_judge(server) or judge
        if server is context.fastmcp and not on_server:
            continue
        rewriters = (entry for entry in server.middleware if isinstance(entry, Rewriter))
        if any(rewriter.rewrites(tool) for rewriter in rewriters):
            judge = host.sdk_judge(server)
        else:
            judge = next(filter(may_deny, server.middleware), host.interceptor(server) or judge)
    return judge


def not_first(judge: object) -> str:
    """Return what an operator should know of a judge that sees calls before they could be repaired."""
    return (
        f"{type(judge).__qualname__} sees calls before this middleware does, so calls that are not right are refused, not "
        "repaired; add LenientMiddleware to the server that clients call, or set trust_outer=True if it may judge what was sent"
    )


def _servers(context: Context | None) -> Iterator[FastMCP]:
    """Yield the server of a call, and those that mount it, from the inside out."""
    passed: FastMCP | None = None
    while context is not None:
        if context.fastmcp is not passed:
            passed = context.fastmcp
            yield passed
        context = outer_context(context)


def run_in_order(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return FastMCP's method that runs a server's middleware, with its list arranged before the first message."""

    def arranged(server: FastMCP, *args: Any, **options: Any) -> Any:
        if any(isinstance(entry, Rewriter) for entry in server.middleware):
            arrange(server)
        return run(server, *args, **options)

    return arranged
