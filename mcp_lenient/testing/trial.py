"""A tool under test: a server, a client, and what becomes of a call between the two."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final, TypeVar

from fastmcp import Client, Context, FastMCP
from fastmcp.tools import Tool
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, TextContent
from typing_extensions import Self

from mcp_lenient.marks import marks_of
from mcp_lenient.middleware import LenientMiddleware
from mcp_lenient.policy import Policy
from mcp_lenient.protection import standing_before
from mcp_lenient.targets import Target, find_target
from mcp_lenient.testing.recorder import Reached, Recorder
from mcp_lenient.tool_results import META_KEY
from mcp_lenient.types import Repair

Subject = FastMCP | Tool | Callable[..., Any]
"""A server, a tool, or a function, decorated or not."""

Sent = Mapping[str, Any] | str
"""Arguments as they are sent; also whole, as a text."""

_T = TypeVar("_T")
_REPAIR_FIELDS: Final = frozenset(Repair._fields)


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of one call.

    Attributes:
        sent: What was sent.
        reached: What reached the tool; None where nothing did.
        repairs: What was repaired on the way.
        envelope: What a refused call was answered with.
        answer: The text of the answer.
        is_error: Whether the answer says that the call failed.
        ran: Whether the tool's body was run.
    """

    sent: Sent
    reached: Reached | None
    repairs: tuple[Repair, ...]
    envelope: Mapping[str, Any] | None
    answer: str
    is_error: bool
    ran: bool = False


class _AnyArguments(CallToolRequestParams):
    arguments: Any = None


class _AnyCall(CallToolRequest):
    params: _AnyArguments


@dataclass(frozen=True, slots=True)
class Trial:
    """One tool of a connected server, with a recorder in front of its body.

    Attributes:
        target: The tool, and what it is judged by.
        client: A client of the server.
        recorder: Sees what reaches the tool.
        is_lenient: Whether a middleware of this package stands before the tool.
        rules: The names of the rules that may speak; every other repair is one that the author declared.
    """

    target: Target
    client: Client[Any]
    recorder: Recorder
    is_lenient: bool
    rules: frozenset[str]

    async def attempt(self, sent: Sent) -> Attempt:
        """Send one call."""
        self.recorder.reached = None
        params = _AnyArguments(name=self.target.tool.name, arguments=sent)
        try:
            result = await self.client.session.send_request(_AnyCall(params=params), CallToolResult)
        except MCPError as error:
            return Attempt(sent, self.recorder.reached, (), None, str(error), is_error=True, ran=self._ran())
        return replace(_attempt(sent, self.recorder.reached, result), ran=self._ran())

    def _ran(self) -> bool:
        return self.recorder.runs and self.recorder.reached is not None


def _attempt(sent: Sent, reached: Reached | None, result: CallToolResult) -> Attempt:
    told = (result.meta or {}).get(META_KEY)
    told = told if isinstance(told, Mapping) else {}
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    envelope = told if _is_envelope(told) else None
    return Attempt(sent, reached, _repairs(told.get("repairs")), envelope, text, bool(result.is_error))


def _repairs(told: object) -> tuple[Repair, ...]:
    """Return the repairs in a result's metadata; none where it has another shape than ours."""
    if not isinstance(told, list) or not all(map(_is_repair, told)):
        return ()
    return tuple(Repair(**each) for each in told)


def _is_repair(told: object) -> bool:
    return (
        isinstance(told, Mapping)
        and told.keys() == _REPAIR_FIELDS
        and all(isinstance(each, str) for each in told.values())
        and _is_pointer(told["pointer"])
    )


def _is_envelope(told: Mapping[str, Any]) -> bool:
    if not isinstance(told.get("error_code"), str) or not isinstance(details := told.get("details"), Mapping):
        return False
    violations = details.get("violations", [])
    return isinstance(violations, list) and all(map(_is_violation, violations))


def _is_violation(told: object) -> bool:
    return (
        isinstance(told, Mapping)
        and all(isinstance(told.get(key), str) for key in ("pointer", "message"))
        and _is_pointer(told["pointer"])
    )


def _is_pointer(text: str) -> bool:
    return not text or text.startswith("/")


class Connection:
    """A server under test that is connected to, and is while this context is open.

    A server is tested as it is; with a policy, mounted in one whose middleware has that policy. A tool or
    a function gets a server with the middleware, and so does a tool that bears marks of ``@lenient`` where
    no middleware stands before it: its body could not be kept from running else.

    Args:
        subject: What is tested.
        policy: The policy of the middleware.
        run: Whether calls go on to the tools' bodies.
    """

    def __init__(self, subject: Subject, policy: Policy | None, *, run: bool = False) -> None:
        self._server = _server(subject, policy)
        self._recorder = Recorder(run=run)
        self._clients: list[tuple[FastMCP, Client[Any]]] = []
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        self._stack.enter_context(self._recorder.recording())
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    @property
    def server_name(self) -> str:
        """The name of the server."""
        return self._server.name

    async def tool_names(self) -> list[str]:
        """The tools that a client sees."""
        client = await self._client(self._server)
        return list(dict.fromkeys(tool.name for tool in await client.list_tools()))

    @asynccontextmanager
    async def trial(self, name: str) -> AsyncIterator[Trial]:
        """Try one tool.

        Raises:
            ValueError: When there is no such tool.
        """
        server = self._server
        target = await self._target(server, name)
        policies = _policies(server, target)
        if not policies and marks_of(target.function) is not None:
            server = _mounted(self._server, None)
            target = await self._target(server, name)
            policies = _policies(server, target)
        client = await self._client(server)
        own = () if target.policy is None else (target.policy,)
        rules = frozenset(rule.name for policy in (Policy(), *own, *policies) for rule in policy.rules)
        innermost = target.route[-1][0] if target.route else server
        with self._recorder.installed(innermost):
            yield Trial(target, client, self._recorder, is_lenient=bool(policies), rules=rules)

    async def _target(self, server: FastMCP, name: str) -> Target:
        async with Context(fastmcp=server):
            tool = await server.get_tool(name)
            if tool is not None:
                return await find_target(server, tool)
        names = await self.tool_names()
        near = get_close_matches(name, names) or names
        msg = f"The server {self.server_name!r} has no tool {name!r}; it has {', '.join(near) or 'none at all'}."
        raise ValueError(msg)

    async def _client(self, server: FastMCP) -> Client[Any]:
        for known, client in self._clients:
            if known is server:
                return client
        client = await self._stack.enter_async_context(Client(server))
        self._clients.append((server, client))
        return client


def _policies(server: FastMCP, target: Target) -> list[Policy]:
    """What the middleware that stands before a tool says of it."""
    return [middleware.policy_for(name) for middleware, _, name in standing_before(server, target)]


def _server(subject: Subject, policy: Policy | None) -> FastMCP:
    if isinstance(subject, FastMCP):
        return subject if policy is None else _mounted(subject, policy)
    server: FastMCP = FastMCP("mcp_lenient.testing")
    server.add_tool(subject)
    server.add_middleware(LenientMiddleware(policy))
    return server


def _mounted(server: FastMCP, policy: Policy | None) -> FastMCP:
    """A server with the middleware, before one that is left as it is."""
    outer: FastMCP = FastMCP(server.name)
    outer.mount(server)
    outer.add_middleware(LenientMiddleware(policy))
    return outer


def in_own_loop(work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Run to the end in a thread and an event loop of its own, so that it can be called from anywhere."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(work())).result()
