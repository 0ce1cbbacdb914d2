"""What may deny a call stands between: a call is rewritten first, and answered last (law 12)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Literal

import pytest
from answers import Message, envelope, rules
from calls import Log, call, code
from calls import rules as repaired_by
from fastmcp import Client, Context, FastMCP
from fastmcp.exceptions import NotFoundError, PromptError, ToolError, ValidationError
from fastmcp.server import create_proxy
from fastmcp.server.auth import restrict_tag
from fastmcp.server.middleware import AuthMiddleware, Middleware
from fastmcp.server.middleware.caching import CallToolSettings, ResponseCachingMiddleware
from fastmcp.server.middleware.error_handling import ErrorHandlingMiddleware, RetryMiddleware
from fastmcp.server.middleware.logging import LoggingMiddleware
from fastmcp.server.middleware.rate_limiting import (
    RateLimitingMiddleware,
    SlidingWindowRateLimitingMiddleware,
)
from fastmcp.server.middleware.response_limiting import ResponseLimitingMiddleware
from fastmcp.server.middleware.timing import TimingMiddleware
from fastmcp.server.transforms import PromptsAsTools, Transform
from fastmcp.tools import FunctionTool, Tool, ToolResult
from fastmcp.tools.tool_transform import forward_raw
from fastmcp_versions import NOT_THERE, not_on_3
from pydantic import Field
from wire import Http, http
from wire import call as sent_by_hand

from mcp_lenient import LenientMiddleware, Policy, dispatcher, lenient

DENIED = "denied"


class Guard(Middleware):
    """An author's middleware that denies paths below /etc, and records what it sees."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        message = context.message
        self.seen.append((message.name, message.arguments))
        if str((message.arguments or {}).get("path", "")).startswith("/etc"):
            raise ToolError(DENIED)
        return await call_next(context)


def ping() -> str:
    return "pong"


def _ran() -> tuple[list[str], Any]:
    paths: list[str] = []

    def read_file(path: str, limit: int = 1) -> str:
        paths.append(path)
        return f"{path} {limit}"

    return paths, read_file


def _beside(*order: str) -> Any:
    def build(read_file: Any) -> FastMCP:
        kinds = {"guard": Guard, "ours": LenientMiddleware}
        return FastMCP("s", middleware=[kinds[name]() for name in order], tools=[read_file])

    return build


def _mounted(*, parent: tuple[str, ...], child: tuple[str, ...]) -> Any:
    def build(read_file: Any) -> FastMCP:
        server = _beside(*parent)(ping)
        server.mount(_beside(*child)(read_file))
        return server

    return build


def _decorated(read_file: Any) -> FastMCP:
    return _beside("guard")(lenient(read_file))


FIRST = {
    "guard-ours": _beside("guard", "ours"),
    "ours-guard": _beside("ours", "guard"),
    "ours-guard-ours": _beside("ours", "guard", "ours"),
    "parent-guard-ours": _mounted(parent=("guard", "ours"), child=()),
    "parent-ours-child-guard": _mounted(parent=("ours",), child=("guard",)),
}
"""Arrangements in which a call can be rewritten before the guard sees it."""
BEHIND = {
    "parent-guard-child-ours": _mounted(parent=("guard",), child=("ours",)),
    "guard-decorator": _decorated,
}
"""Arrangements in which it cannot."""
NEARLY = [
    {"Path": "{}"},
    {"args": {"path": "{}"}},
    {"arguments": {"path": "{}"}},
    {"path": "{}", "limit": "[2]"},
]


def _with(path: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with(path, entry) for key, entry in value.items()}
    return path if value == "{}" else value


@pytest.mark.parametrize("build", (FIRST | BEHIND).values(), ids=FIRST | BEHIND)
async def test_no_nearly_right_call_passes_a_guard(build):
    """Wherever the guard stands, a path that it denies does not reach the tool, however the call is written."""
    paths, read_file = _ran()
    server = build(read_file)
    for sent in NEARLY:
        assert (await call(server, "read_file", _with("/etc/p", sent))).is_error, sent
    assert paths == []


@pytest.mark.parametrize("build", FIRST.values(), ids=FIRST)
async def test_a_guard_sees_what_runs(build):
    """A call that is nearly right is repaired, once, before the guard, and the result lists the repairs."""
    paths, read_file = _ran()
    result = await call(build(read_file), "read_file", {"Path": "/a"})
    assert repaired_by(result) == ["rename_case"]
    assert paths == ["/a"]


@pytest.mark.parametrize("build", BEHIND.values(), ids=BEHIND)
async def test_behind_a_guard_nothing_is_repaired(build):
    """Where the guard has seen the call as it was sent, the call is refused with the envelope, after the guard."""
    paths, read_file = _ran()
    server = build(read_file)
    assert not (await call(server, "read_file", {"path": "/a"})).is_error
    assert code(await call(server, "read_file", {"Path": "/a"}))
    assert paths == ["/a"]


async def test_a_server_may_trust_what_stands_before():
    """With ``trust_outer``, the middleware stays where it was added, and repairs what outer middleware fills in."""

    class Tenant(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            arguments = {**(context.message.arguments or {}), "limit": 7}
            message = context.message.model_copy(update={"arguments": arguments})
            return await call_next(context.copy(message=message))

    _, read_file = _ran()
    server = FastMCP("s", middleware=[Tenant(), LenientMiddleware(trust_outer=True)], tools=[read_file])
    result = await call(server, "read_file", {"Path": "/a"})
    assert (result.content[0].text, repaired_by(result)) == ("/a 7", ["rename_case"])
    assert isinstance(server.middleware[0], Tenant)


@pytest.mark.parametrize(
    ("sent", "changed", "received", "repairs"),
    [
        ({"text": [1]}, {"text": " a "}, "a None", ["strip"]),
        ({"text": [1]}, {"labels": ["b"], "text": "a"}, "a ['b']", ["rename_alias"]),
        ({"text": [1]}, {"text": "a"}, "a None", []),
    ],
)
async def test_a_refused_call_that_other_middleware_changes_is_decided_again(
    sent, changed, received, repairs, tmp_path
):
    """What is declared of the tool applies to the changed call, which runs as the result and the log say."""

    class Changing(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            message = context.message.model_copy(update={"arguments": changed})
            return await call_next(context.copy(message=message))

    def keep(text: str, tags: list[str] | None = None) -> str:
        return f"{text} {tags}"

    file = tmp_path / "tools.yaml"
    file.write_text("tools: {keep: {parameters: {text: {strip: true}, tags: {aliases: [labels]}}}}")
    server = FastMCP("s", middleware=[LenientMiddleware(definitions=file), Changing()], tools=[keep])
    result = await call(server, "keep", sent)
    assert (result.content[0].text, repaired_by(result)) == (received, repairs)


async def test_other_middleware_may_heal_a_refused_call_in_place():
    """A refused call that other middleware changes in its own message runs as it was changed."""

    class Healing(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            context.message.arguments["limit"] = 7
            return await call_next(context)

    _, read_file = _ran()
    server = FastMCP("s", middleware=[LenientMiddleware(), Healing()], tools=[read_file])
    assert (await call(server, "read_file", {"path": "/a", "limit": "no"})).content[0].text == "/a 7"


@pytest.mark.parametrize("modes", [("observe", "observe"), ("off", "observe"), ("repair", "repair")])
async def test_two_middlewares_answer_once(modes):
    """Two of them beside another middleware answer a wrong call, each its own."""
    ours = [LenientMiddleware(Policy(mode=mode)) for mode in modes]
    _, read_file = _ran()
    server = FastMCP("s", middleware=[*ours, Guard()], tools=[read_file])
    assert (await call(server, "read_file", {"path": "/a", "limit": "no"})).is_error


async def test_two_middlewares_below_a_strict_parent_repair_nothing():
    """A guard between a parent that has no rules and its child has seen the call as it was sent."""
    paths, read_file = _ran()
    child = FastMCP(
        "child", middleware=[LenientMiddleware(), LenientMiddleware(), Guard()], tools=[read_file]
    )
    parent = FastMCP("parent", middleware=[LenientMiddleware(Policy.strict()), Guard()])
    parent.mount(child)
    assert (await call(parent, "read_file", {"Path": "/etc/p"})).is_error
    assert paths == []


class Denying(Middleware):
    """An author's middleware that lets nobody call or get anything."""

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:  # noqa: ARG002
        raise ToolError(DENIED)

    async def on_get_prompt(self, context: Any, call_next: Any) -> Any:  # noqa: ARG002
        raise PromptError(DENIED)


class SchemaTool(Tool):
    """A tool without a function, of which only the schema is known."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(content=str(arguments))


def _of_schema() -> Tool:
    count = {"n": {"type": "integer", "maximum": 7781}}
    return SchemaTool(name="echo", parameters={"type": "object", "properties": count, "required": ["n"]})


def echo(n: Annotated[int, Field(le=7781)]) -> str:
    return f"ran {n}"


KINDS = pytest.mark.parametrize(
    "tool", [echo, lenient(echo), _of_schema()], ids=["function", "decorated", "schema"]
)


def _refusing() -> LenientMiddleware:
    return LenientMiddleware(Policy(unrepairable="refuse"))


@KINDS
@pytest.mark.parametrize("depth", [1, 2])
async def test_a_mounted_servers_guard_is_asked_before_any_answer(tool, depth):
    """A refused call that a mounted server's middleware denies gets that answer, whatever its tool is."""
    server = FastMCP("child", tools=[tool], middleware=[Denying()])
    for level in range(depth):
        parent = FastMCP(f"parent{level}", middleware=[_refusing()] if level == depth - 1 else [])
        parent.mount(server)
        server = parent
    result = await call(server, "echo", {"n": "no"})
    assert DENIED in result.content[0].text
    assert "7781" not in str(result)


@KINDS
async def test_a_mounted_servers_guard_that_lets_pass_leaves_the_envelope(tool, events: Log):
    """A refused call that a mounted server's middleware lets pass is answered with the envelope, and logged once."""
    child = FastMCP("child", tools=[tool], middleware=[Guard()])
    parent = FastMCP("parent", middleware=[_refusing()])
    parent.mount(child, namespace="c")
    assert code(await call(parent, "c_echo", {"n": "no"})) == "INVALID_N_TYPE"
    assert events.names == ["call_rejected"]


@not_on_3(NOT_THERE)
@KINDS
@pytest.mark.parametrize("is_mounted", [False, True])
async def test_an_extension_is_asked_before_any_answer(tool, is_mounted):
    """A refused call that an extension of the server, or of a mounted one, denies gets that answer."""
    from fastmcp.server.extensions import ServerExtension

    class Deny(ServerExtension):
        identifier = "com.example/deny"

        async def intercept_tool_call(self, params: Any, context: Any, call_next: Any) -> Any:  # noqa: ARG002
            if params.name == "echo":
                raise ToolError(DENIED)
            return await call_next()

    server = FastMCP("s", tools=[tool, ping], middleware=[] if is_mounted else [_refusing()])
    server.add_extension(Deny())
    if is_mounted:
        parent = FastMCP("parent", middleware=[_refusing()])
        parent.mount(server)
        server = parent
    assert DENIED in (await call(server, "echo", {"n": "no"})).content[0].text
    assert code(await call(server, "ping", {"n": "no"})) == "UNKNOWN_PARAMETER"


@pytest.mark.parametrize("denies", [True, False])
async def test_a_mounted_servers_guard_of_prompts_is_asked_before_any_answer(denies):
    """A refused prompt that a mounted server's middleware denies gets that answer; otherwise the envelope."""
    child = FastMCP("child", middleware=[Denying() if denies else Guard()])

    @child.prompt
    def greet(count: int) -> str:
        return f"hello {count}"

    parent = FastMCP("parent", middleware=[LenientMiddleware()])
    parent.mount(child)
    async with Client(parent) as client:
        with pytest.raises(Exception, match=DENIED if denies else "INVALID_COUNT_TYPE"):
            await client.get_prompt("greet", {"count": "no"})


async def test_a_trusted_middleware_with_an_assigned_hook_is_not_trusted():
    """FastMCP's timing middleware on a parent, to whose object a hook was assigned, may deny calls as any other."""
    timing = TimingMiddleware()
    timing.on_call_tool = Guard().on_call_tool  # type: ignore[method-assign]
    paths, read_file = _ran()
    parent = FastMCP("parent", middleware=[timing])
    parent.mount(FastMCP("child", middleware=[LenientMiddleware()], tools=[read_file]))
    assert (await call(parent, "read_file", {"Path": "/etc/p"})).is_error
    assert paths == []


class Asking(Middleware):
    """An author's middleware that asks a tool whether the user may pay."""

    def __init__(self, asked: FastMCP | None = None, tool: str = "may") -> None:
        self.asked = asked
        self.tool = tool

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        if context.message.name.endswith("pay"):
            server = self.asked or context.fastmcp_context.fastmcp
            try:
                await server.call_tool(self.tool, {"user": context.message.arguments["user"]})
            except ValidationError as error:
                raise ToolError(DENIED) from error
        return await call_next(context)


def may(user: Literal["alice", "bob"]) -> str:
    return user


def _paying(runs: list[Any]) -> Any:
    def pay(user: Any) -> str:
        runs.append(user)
        return "paid"

    return pay


def _asks_itself(ours: LenientMiddleware, runs: list[Any], may: Any) -> tuple[FastMCP, str]:
    return FastMCP("s", middleware=[Asking(), ours], tools=[may, _paying(runs)]), "pay"


def _asks_a_child(ours: LenientMiddleware, runs: list[Any], may: Any) -> tuple[FastMCP, str]:
    server = FastMCP("s", middleware=[Asking(tool="c_may")], tools=[_paying(runs)])
    server.mount(FastMCP("child", middleware=[ours], tools=[may]), "c")
    return server, "pay"


def _asks_on_a_child(ours: LenientMiddleware, runs: list[Any], may: Any) -> tuple[FastMCP, str]:
    server = FastMCP("s", middleware=[ours])
    server.mount(FastMCP("child", middleware=[Asking()], tools=[may, _paying(runs)]), "c")
    return server, "c_pay"


def _asks_another(ours: LenientMiddleware, runs: list[Any], may: Any) -> tuple[FastMCP, str]:
    other = FastMCP("other", middleware=[ours], tools=[may])
    return FastMCP("s", middleware=[Asking(other)], tools=[_paying(runs)]), "pay"


async def _asynchronous(user: Literal["alice", "bob"]) -> str:
    return user


@pytest.mark.parametrize("build", [_asks_itself, _asks_a_child, _asks_on_a_child, _asks_another])
@pytest.mark.parametrize("trusts", [True, False])
@pytest.mark.parametrize("kind", ["function", "decorated", "asynchronous"])
async def test_a_question_of_a_guard_is_not_repaired_and_raises(build, trusts, kind):
    """A guard that asks a tool of any server is told by an exception, as without the library, and by its own words."""
    tool = {"function": may, "decorated": lenient(may), "asynchronous": lenient(_asynchronous)}[kind]
    if kind == "asynchronous":
        tool = Tool.from_function(tool, name="may")
    runs: list[Any] = []
    server, pay = build(LenientMiddleware(trust_outer=trusts), runs, tool)
    for user in ("eve", "ALICE", ["alice"], {"value": "alice"}):
        assert DENIED in (await call(server, pay, {"user": user})).content[0].text
    assert not (await call(server, pay, {"user": "alice"})).is_error
    assert runs == ["alice"]


async def test_a_body_that_asks_another_server_gets_an_exception():
    """A tool's body that calls a tool of another lenient server wrongly, or nearly right, gets FastMCP's exception."""
    other = FastMCP("other", middleware=[LenientMiddleware()], tools=[may])
    server = FastMCP("s")

    @server.tool
    async def ask(user: Any) -> str:
        try:
            await other.call_tool("may", {"user": user})
        except ValidationError:
            return "no"
        return "yes"

    answers = [
        (await call(server, "ask", {"user": user})).content[0].text for user in ("eve", "ALICE", "bob")
    ]
    assert answers == ["no", "no", "yes"]


def _check(arguments: dict[str, Any]) -> None:
    if str(arguments.get("path", "")).startswith("/etc"):
        raise ToolError(DENIED)


async def _checking_transform(**arguments: Any) -> ToolResult:
    _check(arguments)
    return await forward_raw(**arguments)


class CheckingTool(FunctionTool):
    """A tool of an author's type that denies paths below /etc."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        _check(arguments)
        return await super().run(arguments)


class CheckingServer(FastMCP):
    """A server of an author's type that denies paths below /etc."""

    async def call_tool(self, name: str, arguments: Any = None, **options: Any) -> Any:
        _check(arguments or {})
        return await super().call_tool(name, arguments, **options)


def _below_a_transform(function: Any, ours: list[Any]) -> FastMCP:
    tool = Tool.from_tool(Tool.from_function(function), name="read_file", transform_fn=_checking_transform)
    return FastMCP("s", middleware=ours, tools=[tool])


def _of_a_type(function: Any, ours: list[Any]) -> FastMCP:
    fields = Tool.from_function(function)
    tool = CheckingTool(**{name: getattr(fields, name) for name in FunctionTool.model_fields})
    return FastMCP("s", middleware=ours, tools=[tool])


def _on_a_type(function: Any, ours: list[Any]) -> FastMCP:
    return CheckingServer("s", middleware=ours, tools=[function])


def _patched(function: Any, ours: list[Any]) -> FastMCP:
    server = FastMCP("s", middleware=ours, tools=[function])
    run = server.call_tool

    async def checked(name: str, arguments: Any = None, **options: Any) -> Any:
        _check(arguments or {})
        return await run(name, arguments, **options)

    server.call_tool = checked  # type: ignore[method-assign]
    return server


def _below_a_parents_transform(function: Any, ours: list[Any]) -> FastMCP:
    child, server = FastMCP("child", middleware=ours, tools=[function]), FastMCP("s")
    server.mount(child, "c")

    class Checked(Transform):
        """Transforms the child's tool as the parent lists it."""

        async def get_tool(self, name: str, call_next: Any, **options: Any) -> Tool | None:
            tool = await call_next("c_read_file" if name == "read_file" else name, **options)
            if tool is None or name != "read_file":
                return tool
            return Tool.from_tool(tool, name="read_file", transform_fn=_checking_transform)

    server.add_transform(Checked())
    return server


class Passing(Tool):
    """A custom tool that checks its arguments and passes them on."""

    passes: Any

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        _check(arguments)
        return await self.passes(arguments)


def _passing(how: str) -> Any:
    """Return what makes a server whose tool checks and passes its arguments on to another tool in one way."""

    def build(function: Any, ours: list[Any]) -> FastMCP:
        server, inner = FastMCP("s", middleware=ours), Tool.from_function(function, name="inner")
        server.add_tool(inner)

        async def by_client(arguments: dict[str, Any]) -> Any:
            async with Client(server) as client:
                return (await client.call_tool_mcp("inner", arguments)).content[0].text

        ways: dict[str, Any] = {
            "call": partial(server.call_tool, "inner"),
            "run": inner.run,
            "task": lambda arguments: asyncio.wait_for(inner.run(arguments), 5),
            "gather": lambda arguments: asyncio.gather(server.call_tool("inner", arguments)),
            "client": by_client,
        }

        async def passes(arguments: dict[str, Any]) -> ToolResult:
            result = await ways[how](arguments)
            result = result[0] if isinstance(result, list) else result
            text = result if isinstance(result, str) else result.content[0].text
            if "status" in text:  # a client's answer, which is no exception
                raise ToolError(text)
            return ToolResult(text)

        server.add_tool(Passing(name="read_file", parameters={"type": "object"}, passes=passes))
        return server

    return build


AUTHORS = [
    *map(_passing, ("call", "run", "task", "gather", "client")),
    _below_a_transform,
    _of_a_type,
    _on_a_type,
    _patched,
    _below_a_parents_transform,
]


@pytest.mark.parametrize("build", AUTHORS)
@pytest.mark.parametrize("kind", ["middleware", "decorator", "asynchronous"])
async def test_an_authors_check_that_is_no_middleware_stands(build, kind):
    """Where code of the author's checks what it passes on, only what it has seen reaches the tool."""
    paths, function = _ran()

    async def read_file(path: str, limit: int = 1) -> str:
        return str(function(path, limit))

    tool = {"middleware": function, "decorator": lenient(function), "asynchronous": lenient(read_file)}[kind]
    server = build(tool, [LenientMiddleware()] if kind == "middleware" else [])
    for sent in NEARLY:
        assert (await call(server, "read_file", _with("/etc/p", sent))).is_error, sent
    assert paths == []
    assert not (await call(server, "read_file", {"path": "/tmp/p"})).is_error  # noqa: S108 - no file is opened
    assert paths == ["/tmp/p"]  # noqa: S108


@pytest.mark.parametrize("decorated", [True, False])
@pytest.mark.parametrize("kind", ["resource", "prompt"])
async def test_a_call_by_a_resource_or_prompt_is_not_repaired_and_raises(kind, decorated):
    """What they make of a client's text reaches a tool as it is, and they do not go on after a refusal."""
    ran: list[Any] = []

    def store(tags: list[str]) -> str:
        ran.append(tags)
        return "stored"

    server = FastMCP("s", middleware=[LenientMiddleware()], tools=[lenient(store) if decorated else store])

    async def body(tags: str) -> str:
        await server.call_tool("store", {"tags": tags})
        ran.append("went on")
        return tags

    server.resource("text://{tags}")(body)
    server.prompt(body)
    async with Client(server) as client:
        with pytest.raises(Exception, match=r"valid list|INVALID_TAGS_TYPE"):
            await (
                client.read_resource("text://%5B%22a%22%5D")
                if kind == "resource"
                else client.get_prompt("body", {"tags": '["a"]'})
            )
    assert ran == []


class Filling(Middleware):
    """An author's middleware that fills in a path as text of another form."""

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        arguments = {"path": ["/etc/p"]}
        return await call_next(
            context.copy(message=context.message.model_copy(update={"arguments": arguments}))
        )


async def test_what_other_middleware_fills_in_is_not_repaired_by_a_decorated_tool():
    """A guard behind it has seen another value."""
    paths, read_file = _ran()
    server = FastMCP("s", middleware=[LenientMiddleware(), Filling(), Guard()], tools=[lenient(read_file)])
    assert (await call(server, "read_file", {"path": "/tmp/p"})).is_error  # noqa: S108
    assert paths == []


async def test_a_mounted_server_that_denies_in_a_method_is_asked_before_the_answer():
    """Its denial is the answer to a wrong call, too."""
    _, read_file = _ran()
    server = FastMCP("s", middleware=[LenientMiddleware()])
    server.mount(CheckingServer("child", tools=[read_file]))
    wrong = await call(server, "read_file", {"path": "/etc/p", "limit": "many"})
    assert wrong.content[0].text == DENIED
    assert code(await call(server, "read_file", {"path": "/p", "limit": "many"})) == "INVALID_LIMIT_TYPE"


class Hiding(Middleware):
    """An author's middleware that answers for one tool as FastMCP does for one that is not there."""

    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    async def on_list_tools(self, context: Any, call_next: Any) -> Any:
        return [tool for tool in await call_next(context) if tool.name != "read_file"]

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        if context.message.name == "read_file":
            msg = "Unknown tool: 'read_file'"
            raise self.error(msg)
        return await call_next(context)


@pytest.mark.parametrize("error", [NotFoundError, ToolError])
@pytest.mark.parametrize("sent", [{"path": "/p"}, {"Path": "/p"}, {"path": 5}])
async def test_a_tool_that_a_guard_hides_is_answered_like_one_that_is_not_there(error, sent, events: Log):
    """Neither the answer nor the log tells them apart."""
    _, read_file = _ran()
    server = FastMCP("s", middleware=[LenientMiddleware(), Hiding(error)], tools=[read_file, ping])
    answers = [(await call(server, name, sent)).content[0].text for name in ("read_file", "read_fire")]
    assert answers[0] == answers[1].replace("read_fire", "read_file")
    assert [event["event"] for event in events] == ["call_rejected"] * 2


class Positional(Middleware):
    """An author's middleware that names its parameters otherwise."""

    async def __call__(self, message: Any, run: Any) -> Any:
        return await run(message)


async def test_middleware_may_name_its_parameters():
    """FastMCP passes them by position, and an unknown name is answered."""
    server = FastMCP("s", middleware=[LenientMiddleware(), Positional()], tools=[ping])
    assert code(await call(server, "pong", {})) == "UNKNOWN_TOOL"


@pytest.mark.parametrize("where", ["call", "search"])
async def test_a_prompt_that_code_requests_within_a_call_is_not_repaired(where):
    """A tool's body, or a guard of a tool that renders prompts, has seen its arguments as they are."""
    rendered: list[Any] = []
    server = FastMCP("s", middleware=[LenientMiddleware()])

    @server.prompt
    def ask(tags: list[str]) -> str:
        rendered.append(tags)
        return "asked"

    @server.tool
    async def render(tags: str) -> str:
        return str(await server.render_prompt("ask", {"tags": tags}))

    server.add_transform(PromptsAsTools(server))
    for tags in ('["a",]', "a"):
        if where == "call":
            assert (await call(server, "render", {"tags": tags})).is_error
        else:
            assert (await call(server, "get_prompt", {"name": "ask", "arguments": {"tags": tags}})).is_error
    assert rendered == []


@pytest.mark.parametrize(
    "front", [LenientMiddleware(), LenientMiddleware(Policy(disable={"rename_case"})), None]
)
async def test_what_a_server_in_front_has_seen_is_not_repaired_behind_a_proxy(front):
    """A guard in front of a server that a proxy calls in this process has seen what its rewriter passed on, and no repair behind."""
    paths, read_file = _ran()
    behind = FastMCP("behind", middleware=[LenientMiddleware()], tools=[read_file])
    server = FastMCP("s", middleware=[*filter(None, [front]), Guard()])
    server.mount(create_proxy(behind))
    for sent in NEARLY:
        assert (await call(server, "read_file", _with("/etc/p", sent))).is_error
    assert paths == []


async def test_a_parents_middleware_counts_by_the_name_that_it_knows():
    """A parent that is off for a tool, by its name there, has rewritten nothing before its guard."""
    paths, read_file = _ran()
    child = FastMCP("c", middleware=[LenientMiddleware()], tools=[read_file])
    off = LenientMiddleware(tools={"ns_read_file": Policy(mode="off")})
    server = FastMCP("s", middleware=[off, Guard()])
    server.mount(child, "ns")
    for sent in NEARLY:
        assert (await call(server, "ns_read_file", _with("/etc/p", sent))).is_error
    assert paths == []


async def test_a_tool_for_tracing_around_fastmcps_method_hides_no_client(monkeypatch):
    """Such tools put a function of theirs in place of FastMCP's own, for all servers; it is no author's body."""
    run = FastMCP.call_tool

    async def traced(server: FastMCP, *args: Any, **options: Any) -> Any:
        return await run(server, *args, **options)

    monkeypatch.setattr(FastMCP, "call_tool", traced)
    paths, read_file = _ran()
    server = FastMCP("s", middleware=[Guard(), LenientMiddleware()], tools=[read_file])
    assert repaired_by(await call(server, "read_file", {"Path": "/p"})) == ["rename_case"]
    assert code(await call(server, "read_file", {"path": ["a", "b"]}))
    assert paths == ["/p"]


async def test_other_names_in_a_policy_are_not_read_behind_a_guard():
    """They are not declared on the tool."""
    paths, read_file = _ran()
    child = FastMCP(
        "c", middleware=[LenientMiddleware(Policy(aliases={"path": ("file",)}))], tools=[read_file]
    )
    server = FastMCP("s", middleware=[Guard()])
    server.mount(child)
    assert (await call(server, "read_file", {"file": "/etc/p"})).is_error
    assert paths == []


async def test_a_child_publishes_no_form_below_a_server_that_decides():
    """The parent's middleware reads the author's form."""

    def weigh(weights: dict[str, float]) -> str:
        return str(weights)

    child = FastMCP("c", middleware=[LenientMiddleware(publish="portable")], tools=[weigh])
    server = FastMCP("s", middleware=[LenientMiddleware()])
    server.mount(child)
    async with Client(server) as client:
        (tool,) = await client.list_tools()
    assert tool.input_schema["properties"]["weights"]["type"] == "object"


async def test_a_question_through_a_dispatcher_of_another_server_raises():
    """A refusal inside the dispatcher of another lenient server raises for the guard that calls it."""
    runs: list[Any] = []
    other = FastMCP("other", middleware=[LenientMiddleware()], tools=[may])

    @other.tool
    @lenient(dispatches=dispatcher(tools="server"))
    async def invoke(name: str, arguments: dict[str, Any], ctx: Context) -> Any:
        return (await ctx.fastmcp.call_tool(name, arguments)).content[0].text

    class Through(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            question = {"name": "may", "arguments": {"user": context.message.arguments["user"]}}
            await other.call_tool("invoke", question)
            return await call_next(context)

    server = FastMCP("s", middleware=[Through()], tools=[_paying(runs)])
    for user in ("eve", "alice"):
        assert (await call(server, "pay", {"user": user})).is_error is (user == "eve")
    assert runs == ["alice"]


@pytest.mark.parametrize("publish", ["portable", "gemini"])
async def test_behind_a_guard_no_form_is_published_or_read(publish):
    """A mounted server's form would be read back after the guard has seen the call: it lists and takes the author's."""
    received: list[Any] = []

    def keep(path: str, labels: dict[str, int] | None = None) -> str:
        received.append((path, labels))
        return "kept"

    child = FastMCP("child", middleware=[LenientMiddleware(publish=publish)], tools=[keep])
    parent = FastMCP("parent", middleware=[Guard()])
    parent.mount(child)
    async with Client(parent) as client:
        (tool,) = await client.list_tools()
    assert tool.model_dump(by_alias=True)["inputSchema"] == FunctionTool.from_function(keep).parameters
    for sent in ({"Path": "/a"}, {"path": "/a", "labels": [{"key": "a", "value": 1}]}):
        assert (await call(parent, "keep", sent)).is_error
    assert not (await call(parent, "keep", {"path": "/a", "labels": {"a": 1}})).is_error
    assert received == [("/a", {"a": 1})]


async def test_other_middleware_may_send_a_call_to_another_tool():
    """A refused call whose name other middleware changes in its own message is the other tool's."""

    class Rerouting(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            context.message.name = "echo"
            return await call_next(context)

    server = FastMCP("s", middleware=[LenientMiddleware(), Rerouting()], tools=[may, echo])
    assert (await call(server, "may", {"n": 1})).content[0].text == "ran 1"


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_refused_call_that_is_passed_on_twice_is_recorded_once(at_once, events: Log):
    """Other middleware that passes a call on twice gets the same answer twice, and there is one event."""

    class Twice(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            if at_once:
                return (await asyncio.gather(call_next(context), call_next(context)))[1]
            await call_next(context)
            return await call_next(context)

    child = FastMCP("child", middleware=[LenientMiddleware()], tools=[echo])
    server = FastMCP("s", middleware=[LenientMiddleware(), Twice()])
    server.mount(child)
    assert "repeated" not in str(await call(server, "echo", {"n": "no"}))
    assert events.names == ["call_rejected"]


async def test_a_denied_prompt_leaves_no_event(events: Log):
    """A refused prompt that other middleware denies was not refused by this library."""
    server = FastMCP("s", middleware=[LenientMiddleware(), Denying()])

    @server.prompt
    def greet(count: int) -> str:
        return f"hello {count}"

    async with Client(server) as client:
        with pytest.raises(Exception, match=DENIED):
            await client.get_prompt("greet", {"count": "no"})
    assert events.names == []


def _pay(runs: list[Any]) -> FastMCP:
    server = FastMCP("s")

    @server.tool(tags={"admin"})
    def pay(account: Literal["treasury-7781"], amount: int) -> str:
        runs.append((account, amount))
        return "ran"

    @server.tool
    def echo(n: int) -> str:
        runs.append(n)
        return "ran"

    @server.tool
    def flaky(n: int) -> str:
        runs.append(n)
        raise ConnectionError

    return server


BOTH = pytest.mark.parametrize("ours_first", [True, False], ids=["ours-first", "ours-last"])


def _joined(server: FastMCP, other: Middleware, *, ours_first: bool) -> FastMCP:
    for middleware in [LenientMiddleware(), other][:: 1 if ours_first else -1]:
        server.add_middleware(middleware)
    return server


@BOTH
async def test_a_denied_caller_learns_nothing_of_the_tool(ours_first):
    """Authorization answers before any envelope, for right, nearly right and wrong calls, and another spelling."""
    runs: list[Any] = []
    auth = AuthMiddleware(auth=restrict_tag("admin", scopes=["admin"]))
    server = _joined(_pay(runs), auth, ours_first=ours_first)
    for name, sent in (("pay", {}), ("pay", {"account": "treasury-7781", "amount": "no"}), ("Pay", {})):
        refused = await call(server, name, sent)
        assert refused.is_error
        assert "7781" not in str(refused)
        assert "account" not in str(refused)
    assert runs == []


@BOTH
async def test_wrong_calls_count_for_a_rate_limit(ours_first):
    """A rate limit counts refused calls as it does on the bare server."""
    limit = SlidingWindowRateLimitingMiddleware(max_requests=4, window_minutes=1)
    server = _joined(_pay([]), limit, ours_first=ours_first)
    async with Client(server) as client:
        texts = []
        for _ in range(6):
            try:
                texts.append((await client.call_tool_mcp("echo", {"n": "no"})).content[0].text)
            except Exception as error:  # noqa: BLE001 - a protocol error of either FastMCP
                texts.append(str(error))
    assert sum("Rate limit" in text for text in texts) >= 2


@BOTH
@pytest.mark.parametrize("name", ["ech0", "Echo", "nothing_like_it"])
async def test_a_call_by_another_name_counts_once_for_a_rate_limit(ours_first, name):
    """The list that a name is compared with is not counted beside the call, with either of FastMCP's rate limits."""
    bucket = RateLimitingMiddleware(max_requests_per_second=1e-9, burst_capacity=9, global_limit=True)
    window = SlidingWindowRateLimitingMiddleware(max_requests=9)
    server = _joined(_pay([]), bucket, ours_first=ours_first)
    server.add_middleware(window)
    for _ in range(2):
        with suppress(NotFoundError):
            await server.call_tool(name, {"n": 1})
    (counted,) = window.limiters.values()
    assert (round(9 - bucket.global_limiter.tokens), len(counted.requests)) == (2, 2)


async def test_a_rate_limit_that_hides_tools_is_asked_for_the_list():
    """An author's subclass of a rate limit, and one to which a hook was assigned, may hide tools: none is suggested."""

    class Hiding(SlidingWindowRateLimitingMiddleware):
        async def on_list_tools(self, context: Any, call_next: Any) -> Any:
            return [tool for tool in await call_next(context) if tool.name != "echo"]

    hiding = SlidingWindowRateLimitingMiddleware(max_requests=9)
    hiding.on_list_tools = Hiding(max_requests=9).on_list_tools  # type: ignore[method-assign]
    for limit in (Hiding(max_requests=9), hiding):
        server = _joined(_pay([]), limit, ours_first=True)
        assert "'echo'" not in str(await call(server, "ech0", {"n": 1}))
        assert (await call(server, "Echo", {"n": 1})).is_error


@BOTH
async def test_a_cache_sees_the_tools_real_name(ours_first):
    """A tool that a cache leaves out is left out under another spelling, too."""
    runs: list[Any] = []
    server = FastMCP("s")

    @server.tool
    def write_note(text: str) -> str:
        runs.append(text)
        return "written"

    cache = ResponseCachingMiddleware(call_tool_settings=CallToolSettings(excluded_tools=["write_note"]))
    _joined(server, cache, ours_first=ours_first)
    for _ in range(3):
        assert not (await call(server, "writeNote", {"text": "a"})).is_error
    assert runs == ["a"] * 3


@BOTH
async def test_a_retry_runs_a_renamed_tool_as_often_as_a_right_one(ours_first):
    """Each attempt runs the tool once."""
    runs: list[Any] = []
    retry = RetryMiddleware(max_retries=2, base_delay=0.001)
    server = _joined(_pay(runs), retry, ours_first=ours_first)
    assert (await call(server, "Flaky", {"N": 1})).is_error
    assert len(runs) in (0, 3)  # a name of one letter is not renamed, so the call is refused
    assert (await call(server, "Flaky", {"n": 1})).is_error
    assert len(runs) == 3


@BOTH
@pytest.mark.parametrize(
    "other",
    [
        TimingMiddleware,
        LoggingMiddleware,
        ErrorHandlingMiddleware,
        partial(ResponseLimitingMiddleware, max_size=9_000),
    ],
    ids=["timing", "logging", "errors", "limiting"],
)
async def test_fastmcps_middleware_leaves_repair_and_envelope(other, ours_first):
    """With each of FastMCP's other middlewares, in both orders, calls are repaired and refused as without it."""
    server = _joined(_pay([]), other(), ours_first=ours_first)
    assert repaired_by(await call(server, "echo", {"n": [5]})) == ["array_to_scalar"]
    assert code(await call(server, "echo", {"n": "no"})) == "INVALID_N_TYPE"
    assert code(await call(server, "ech0", {"n": 1})) == "UNKNOWN_TOOL"


@BOTH
async def test_events_are_written_once(ours_first, events: Log):
    """One event for each call, in each order."""
    server = _joined(_pay([]), Guard(), ours_first=ours_first)
    for sent in ({"n": 1}, {"n": "no"}):
        events.clear()
        await call(server, "echo", sent)
        assert len(events.names) == 1


async def test_python_code_gets_the_exception_with_the_envelope():
    """Without a request, FastMCP's exception is raised, with the envelope as its attribute."""
    server = _joined(_pay([]), Guard(), ours_first=True)
    with pytest.raises(ValidationError) as invalid:
        await server.call_tool("echo", {"n": "no"})
    assert invalid.value.envelope["error_code"] == "INVALID_N_TYPE"
    with pytest.raises(NotFoundError) as unknown:
        await server.call_tool("ech0", {"n": 1})
    assert unknown.value.envelope["error_code"] == "UNKNOWN_TOOL"


def _headers() -> FastMCP:
    server: FastMCP = FastMCP("s", middleware=[LenientMiddleware(publish="portable")])

    @server.tool
    def read(
        note: str, tenant: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Tenant"})] = "public"
    ) -> str:
        return f"{note} {tenant}"

    @server.tool
    def wipe_all(x: int = 0) -> str:
        return f"wiped {x}"

    return server


def _refused(message: Message) -> bool:
    return "error" in message or message["result"]["isError"]


@not_on_3(NOT_THERE)
def test_what_a_header_says_stands():
    """No repair adds or changes a parameter that a header repeats, nor the name of the tool in one (SEP-2243)."""
    with http(_headers(), "modern") as wire:
        wire.request("tools/list", {})
        for sent in ({"note": "n", "Tenant": "victim"}, {"arguments": {"note": "n", "tenant": "victim"}}):
            assert _refused(sent_by_hand(wire, "read", sent)), sent
        assert rules(sent_by_hand(wire, "read", {"Note": "n"})) == ["rename_case"]
        assert envelope(_named(wire, "wipeAll"))["error_code"] == "UNKNOWN_TOOL"


def _named(wire: Http, tool: str) -> Message:
    return sent_by_hand(wire, tool, {"x": 1})


async def test_a_name_that_other_middleware_makes_is_not_repaired():
    """A tool is not renamed behind a guard that has let the name pass which another middleware made of the sent one."""

    class StripVersion(Middleware):
        async def on_call_tool(self, context, call_next):
            name = context.message.name.removeprefix("v1::")
            return await call_next(context.copy(message=context.message.model_copy(update={"name": name})))

    class DenyWipe(Middleware):
        async def on_call_tool(self, context, call_next):
            if context.message.name == "wipe":
                msg = "denied"
                raise ToolError(msg)
            return await call_next(context)

    runs: list[bool] = []

    def wipe(*, dry_run: bool = False) -> str:
        runs.append(dry_run)
        return "wiped"

    server = FastMCP("guarded", middleware=[LenientMiddleware(), StripVersion(), DenyWipe()])
    server.tool(wipe)
    async with Client(server) as client:
        for name in ("v1::wipe", "v1::Wipe", "v1::WIPE"):
            assert (await client.call_tool(name, {"dry_run": True}, raise_on_error=False)).is_error
    assert not runs
