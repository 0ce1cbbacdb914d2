"""Where the middleware stands: first among a server's to rewrite a call, and last to answer it.

What may deny a call stands between, so that it sees the call that runs, and is asked before any answer.
"""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from operator import is_
from typing import TYPE_CHECKING, Any, Final

from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware

from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.compat.running import author_before, contexts, is_passed_by_calls
from mcp_lenient.adapters.fastmcp.reentry import current

if TYPE_CHECKING:
    from fastmcp import Context
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools import FunctionTool

    Run = Callable[..., Any]
    Answer = Callable[[MiddlewareContext[Any], CallNext[Any, Any]], Awaitable[Any]]


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
        others_see_calls: Whether middleware of others sees calls, so that calls are answered by an :class:`Answerer`.
    """

    middleware: tuple[Middleware, ...]
    others_see_calls: bool


_orders: weakref.WeakKeyDictionary[FastMCP, Order] = weakref.WeakKeyDictionary()


def put_in_order(server: FastMCP) -> Order:
    """Put rewriters first and answerers last in a server's middleware, for the next message; return the order."""
    middleware: Any = server.middleware
    if not isinstance(middleware, list):
        server.middleware = middleware = list(middleware)
    order = _orders.get(server)
    is_arranged = order is not None and len(middleware) == len(order.middleware)
    if order is not None and is_arranged and all(map(is_, middleware, order.middleware)):
        return order
    rewriters = [entry for entry in middleware if isinstance(entry, Rewriter)]
    ours = (Outermost, Innermost, Answerer)
    others = [entry for entry in middleware if not isinstance(entry, ours) or _stays(entry)]
    others_see_calls = any(sees_calls(entry) for entry in others if not isinstance(entry, Rewriter))
    answerers = {id(entry.rewriter): entry for entry in middleware if isinstance(entry, Answerer)}
    last = [answerers.get(id(rewriter)) or Answerer(rewriter) for rewriter in reversed(rewriters)]
    first = [entry for entry in middleware if isinstance(entry, Outermost) and not _stays(entry)]
    innermost = [entry for entry in middleware if isinstance(entry, Innermost)]
    middleware[:] = [*first, *others, *(last if others_see_calls else ()), *innermost]
    _orders[server] = Order(tuple(middleware), others_see_calls)
    return _orders[server]


def _stays(middleware: Middleware) -> bool:
    """Return whether a rewriter stays where its author put it."""
    return isinstance(middleware, Rewriter) and middleware.trusts_outer


def sees_calls(middleware: Middleware) -> bool:
    """Return whether a middleware has a hook for calls or prompts."""
    kind = type(middleware)
    overrides = any(getattr(kind, hook, None) is not getattr(Middleware, hook, None) for hook in _HOOKS)
    return overrides or _has_hooks_of_its_own(middleware)


def may_deny(middleware: Middleware) -> bool:
    """Return whether a middleware may judge calls: it sees them, and is neither ours nor one that only looks."""
    if isinstance(middleware, (Outermost, Innermost, Answerer)):
        return False
    is_trusted = type(middleware).__module__ in _TRUSTED and not _has_hooks_of_its_own(middleware)
    return sees_calls(middleware) and not is_trusted


def _has_hooks_of_its_own(middleware: Middleware) -> bool:
    """Return whether hooks were assigned to this object, and not to its class."""
    return not getattr(middleware, "__dict__", {}).keys().isdisjoint(_HOOKS)


def first_judge(context: Context, tool: str, *, runs: FunctionTool | None = None) -> object | None:
    """Return what has seen a call before any rewriter could change it, and may have judged it; None if nothing has.

    That is middleware of the SDK's server, or middleware, an extension or an author's method of a server that mounts this one.

    Args:
        context: FastMCP's context of the call.
        tool: The name that the call has on the server of the context.
        runs: The tool that is running: what is before it on its own server counts as well.
    """
    judge: object | None = None
    for server, name in _servers(context, tool):
        judge = host.sdk_judge(server) or judge
        if server is context.fastmcp and runs is None:
            judge = author_before(server, None) or judge
            continue
        rewriters = (entry for entry in server.middleware if isinstance(entry, Rewriter))
        if runs is None and name is not None and any(rewriter.rewrites(name) for rewriter in rewriters):
            judge = host.sdk_judge(server)
        else:
            judge = host.interceptor(server) or author_before(server, runs) or judge
            judge = next(filter(may_deny, server.middleware), judge)
    return judge


def not_first(judge: object) -> str:
    """Return what an operator should know of a judge that sees calls before they could be repaired."""
    return (
        f"{type(judge).__qualname__} sees calls before this middleware does, so calls that are not right are refused, not "
        "repaired; add LenientMiddleware to the server that clients call, or set trust_outer=True if it may judge what was sent"
    )


def _servers(context: Context, tool: str) -> Iterator[tuple[FastMCP, str | None]]:
    """Yield the server of a call, and those that mount it or call it in this process, from the inside out.

    With each goes the name that the call has there; None if its rewriter has not passed this call on, but another request or
    one that is not known any more.
    """
    passed, running = None, current.get()
    for outer in contexts(context):
        if outer.fastmcp is passed:
            continue
        passed = outer.fastmcp
        if passed is context.fastmcp or running is None:
            yield passed, tool
        else:
            is_runnings = running.serves(passed) and running.request is context.request_context
            yield passed, running.context.message.name if is_runnings else None


def is_rewritten_above(context: Context) -> bool:
    """Return whether a server that mounts this one has a rewriter, which decides about its calls."""
    return any(
        isinstance(entry, Rewriter)
        for server, name in _servers(context, "")
        if name is not None and server is not context.fastmcp
        for entry in server.middleware
    )


LastPlace = tuple[FastMCP, str]
"""Where a refusal waits to be answered: the innermost server on which others may deny the call, and the name it has there."""


_waiting: ContextVar[tuple[LastPlace, Answer] | None] = ContextVar("mcp_lenient_waiting", default=None)
"""The place where a refusal waits, and what answers the call that has come this far, or passes it on."""


def last_judged(server: FastMCP, name: str, route: tuple[LastPlace, ...]) -> LastPlace | None:
    """Return the innermost server whose middleware or extensions may deny a call behind ours; None if none may.

    Args:
        server: The server of the rewriter, whose middleware has let the call pass.
        name: The name of the tool or prompt there.
        route: The mounted servers that the call is handed down through, with the name it has there.
    """
    places = [place for place in route if _denies_behind(place[0])]
    places = places or ([(server, name)] if host.interceptor(server) else [])
    return places[-1] if places and compat.is_wrapped() else None


def _denies_behind(server: FastMCP) -> bool:
    may_be_denied = host.interceptor(server) or any(map(may_deny, server.middleware))
    return bool(may_be_denied) or is_passed_by_calls(server)


@contextmanager
def answered_at(place: LastPlace | None, answer: Answer) -> Iterator[None]:
    """Have a call answered at a place while this context is open; with None, nowhere."""
    token = _waiting.set(None if place is None else (place, answer))
    try:
        yield
    finally:
        _waiting.reset(token)


def run_in_order(run: Run) -> Run:
    """Return FastMCP's method that runs a server's middleware, with its list arranged before the first message."""

    def arranged(server: FastMCP, context: Any, call_next: Any, **options: Any) -> Any:
        if server in _orders or any(isinstance(entry, Rewriter) for entry in server.middleware):
            put_in_order(server)
        if context.method in host.ANSWERED_BEHIND_MIDDLEWARE:
            call_next = partial(_answer_or_run, server, call_next)
        return run(server, context, call_next, **options)

    return arranged


def answer_last(compose: Run) -> Run:
    """Return FastMCP's method that puts a server's extensions before a tool, with the last place between them and the tool."""

    def composed(server: FastMCP, call_next: Any) -> Any:
        return compose(server, partial(_answer_or_run, server, call_next))

    return composed


async def _answer_or_run(server: FastMCP, call_next: Any, context: MiddlewareContext[Any]) -> Any:
    waiting = _waiting.get()
    if waiting is not None:
        (last_server, name), answer = waiting
        if last_server is server and name == context.message.name:
            return await answer(context, call_next)
    return await call_next(context)  # else the frame above would be other middleware's
