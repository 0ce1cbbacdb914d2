"""Calls inside the calls of a dispatcher: FastMCP's search, and tools that are declared to call others."""

from __future__ import annotations

import json
from typing import Annotated, Any

import jsonpatch
import pytest
from answers import envelope as raw_envelope
from calls import Log, Published, call, code, envelope, got, lenient, plain, rules, text
from dispatched import REFUSED, REPAIRED, RIGHT, STORED, store_context
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError, ValidationError
from fastmcp.server.middleware import Middleware
from fastmcp.server.transforms.search import RegexSearchTransform
from fastmcp.tools import Tool
from fastmcp_versions import not_on_3
from pydantic import Field
from wire import call as raw_call
from wire import http

from mcp_lenient import LenientMiddleware, Policy, dispatcher
from mcp_lenient import lenient as lenient_tool
from mcp_lenient.errors import DefinitionError, PolicyError


def _searched(*tools: Any, **settings: Any) -> FastMCP:
    server = lenient(*(tools or (store_context,)), **settings)
    server.add_transform(RegexSearchTransform())
    return server


CALLED_OTHERWISE = pytest.param(
    {"name": "storeContext", "arguments": RIGHT},
    [("rename_tool", "/name")],
    id="the tool's name in another case",
)


@pytest.mark.parametrize(("sent", "repairs"), [*REPAIRED, CALLED_OTHERWISE])
async def test_a_call_inside_a_dispatchers_call_is_repaired(sent, repairs, events: Log):
    """The tool runs with the repaired call; each change is told at its place in what was sent, with one event."""
    result = await call(_searched(), "call_tool", sent)
    assert got(result) == STORED
    told = (result.meta or {}).get("mcp_lenient", {"repairs": []})["repairs"]
    assert [(each["rule"], each["pointer"]) for each in told] == repairs
    (event,) = events
    assert (event["tool"], event["via"]) == ("store_context", "call_tool")
    assert event["event"] == ("call_repaired" if repairs else "call_accepted")


@pytest.mark.parametrize(("sent", "error"), REFUSED)
async def test_a_call_inside_a_dispatchers_call_is_refused(sent, error, events: Log):
    """The envelope is that of the inner tool, says how to send the call, and is one event."""
    result = await call(_searched(), "call_tool", sent)
    assert (result.is_error, code(result)) == (True, error)
    assert "Send it with 'call_tool' as {" in envelope(result)["message"]
    (event,) = events
    assert (event["event"], event["via"], event["tool"]) == ("call_rejected", "call_tool", sent["name"])


# --- what may deny ----------------------------------------------------------------------------------------


class Guard(Middleware):
    """Denies calls of one tool by its name or its arguments, and keeps what it has seen."""

    def __init__(self, name: str, **arguments: Any) -> None:
        self.name, self.arguments, self.seen = name, arguments, list[Any]()

    async def on_call_tool(self, context, call_next):
        sent = context.message.arguments or {}
        self.seen.append((context.message.name, sent))
        if context.message.name == self.name and self.arguments.items() <= sent.items():
            msg = "denied"
            raise ToolError(msg)
        return await call_next(context)


def _guarded(guard: Guard, *, first: bool, transform: bool = True) -> FastMCP:
    server = plain(store_context)
    for middleware in (guard, LenientMiddleware()) if first else (LenientMiddleware(), guard):
        server.add_middleware(middleware)
    if transform:
        server.add_transform(RegexSearchTransform())
    return server


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("tags", [["a"], '["a"]', 5])
async def test_a_guard_by_the_inner_name_denies(tags, first):
    """A guard that denies a tool by its name denies it inside a dispatcher's call, right or wrong, and before any answer."""
    server = _guarded(Guard("store_context"), first=first)
    result = await call(
        server, "call_tool", {"name": "storeContext", "arguments": {"content": "x", "tags": tags}}
    )
    assert (result.is_error, text(result)) == (True, "denied")


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("where", ["call_tool", "store_context"])
async def test_a_guard_by_an_argument_sees_what_runs(where, first):
    """A guard by an argument sees the rewritten call, in the dispatcher's form and inside."""
    right = {"content": "x", "tags": ["secret"]}
    denied = {"arguments": right} if where == "call_tool" else right
    server = _guarded(Guard(where, **denied), first=first)
    for sent in (right, {"content": "x", "tags": '["secret"]'}):
        assert text(await call(server, "call_tool", {"name": "storeContext", "args": sent})) == "denied"
    assert got(
        await call(server, "call_tool", {"name": "store_context", "args": {"content": "x", "tags": '["b"]'}})
    )


class Hiding(Middleware):
    """Lists no tool of a name."""

    async def on_list_tools(self, context, call_next):
        return [tool for tool in await call_next(context) if tool.name != "hidden_tool"]


def hidden_tool(count: int) -> Any:
    """Do what nobody may know of."""
    return count


# FastMCP 3 runs whatever tool its `call_tool` is asked for.
@pytest.mark.parametrize(
    "how", ["disabled", pytest.param("listed by no middleware", marks=not_on_3("it runs those"))]
)
@pytest.mark.parametrize(
    "arguments", [{"count": 1}, {"count": ["wrong"]}, {"count": "[1]"}, {"amount": 1}, '{"count": 1}']
)
@pytest.mark.parametrize("name", ["{}", "{}".title()])
@pytest.mark.parametrize("form", ["arguments", "args"])
async def test_a_hidden_tool_is_answered_like_one_that_is_not_there(form, name, arguments, how, events: Log):
    """Whatever is sent, a tool that the client is not listed is answered like any unknown name."""
    server = _searched(store_context, hidden_tool)
    if how == "disabled":
        server.disable(names={"hidden_tool"})
    else:
        server.add_middleware(Hiding())
    answers = []
    for tool in ("hidden_tool", "absent_tool"):
        result = await call(server, "call_tool", {"name": name.format(tool), form: arguments})
        again = await call(server, "call_tool", {"name": name.format(tool), form: arguments})
        answers.append(
            text(result).replace(name.format(tool), "it") + text(again).replace(name.format(tool), "it")
        )
    assert answers[0] == answers[1]
    assert {event["event"] for event in events} <= {"call_rejected"}


# --- destructive tools ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent", [{"name": "store_context", "args": {"content": "x"}}, {"name": "store_context", "content": "x"}]
)
async def test_the_form_of_a_destructive_call_is_not_changed(sent):
    """A dispatcher's call of a destructive tool is refused if its form is not right."""
    tool = Tool.from_function(store_context, annotations={"destructiveHint": True})
    result = await call(_searched(tool), "call_tool", sent)
    assert envelope(result)["details"]["tool"] == "call_tool"


async def test_the_form_of_a_call_to_another_dispatcher_is_not_changed():
    """The tool at its end may be destructive."""
    wipe = Tool.from_function(store_context, annotations={"destructiveHint": True})
    server = _searched(wipe)
    server.add_tool(INVOKE)
    inner = {"tool": "store_context", "params": {"content": "x"}}
    assert (await call(server, "call_tool", {"name": "invoke", "args": inner})).is_error
    assert (await call(server, "call_tool", {"name": "invoke", "arguments": json.dumps(inner)})).is_error
    assert not (await call(server, "call_tool", {"name": "invoke", "arguments": inner})).is_error


async def test_a_destructive_call_inside_has_its_own_laws():
    """Arguments of a destructive tool are repaired as far as those of its own calls are, and not renamed."""
    server = _searched(Tool.from_function(store_context, annotations={"destructiveHint": True}))
    for arguments, outcome in (
        ({"content": "x", "tags": '["a"]'}, False),
        ({"content": "x", "tags": ""}, True),
    ):
        assert (await call(server, "store_context", arguments)).is_error is outcome
        through = await call(server, "call_tool", {"name": "store_context", "arguments": arguments})
        assert through.is_error is outcome
    assert (await call(server, "call_tool", {"name": "storeContext", "arguments": {"content": "x"}})).is_error


# --- what the caller is told ------------------------------------------------------------------------------


async def test_a_fix_is_one_of_the_dispatchers_arguments():
    """Applied to what was sent to the dispatcher, a fix makes a call that runs."""
    sent = {"name": "store_context", "arguments": {"content": "x", "tag": ["a"]}}
    answer = envelope(await call(_searched(), "call_tool", sent))
    (patch,) = answer["details"]["violations"][0]["fixes"]
    assert patch == [{"op": "move", "from": "/arguments/tag", "path": "/arguments/tags"}]
    assert got(await call(_searched(), "call_tool", jsonpatch.apply_patch(sent, patch))) == STORED
    assert answer["details"]["called_through"] == {"tool": "call_tool", "arguments": "/arguments"}
    assert answer["message"].endswith(
        """Send it with 'call_tool' as {"name": "store_context", "arguments": {...}}."""
    )


async def test_a_repeated_call_is_told_as_the_dispatchers_call():
    """The second time, the whole corrected call is that of the dispatcher; calls count by the inner tool's name."""
    sent = {"name": "store_context", "arguments": {"content": "x", "tag": ["a"]}}
    with http(_searched(), "stateful") as wire:
        messages = [raw_envelope(raw_call(wire, "call_tool", sent))["message"] for _ in range(3)]
    assert (
        """Send this instead: {"name": "store_context", "arguments": {"content": "x", "tags": ["a"]}}"""
        in messages[1]
    )
    assert messages[2].startswith("This exact call of 'store_context' was refused 3 times")


# --- tools that are declared to call others ---------------------------------------------------------------

ENTRY = {
    "inputSchema": {
        "type": "object",
        "properties": {"title": {"type": "string"}, "labels": {"type": "array", "items": {"type": "string"}}},
        "required": ["title"],
        "additionalProperties": False,
    }
}
ENTRIES = dict.fromkeys(("create_issue", "github/create_issue", "github:create_issue"), ENTRY)
FORMS = [
    pytest.param("mcp-exec", {}, {"name": "create_issue"}, id="docker"),
    pytest.param("execute_tool", {}, {"name": "create_issue"}, id="sentry"),
    pytest.param("carbon_call_tool", {}, {"name": "create_issue"}, id="carbon"),
    pytest.param(
        "falcon_execute_tool",
        {"tool": "tool_name", "arguments": "parameters"},
        {"tool_name": "create_issue"},
        id="crowdstrike",
    ),
    pytest.param(
        "toolhive",
        {"tool": "tool_name", "arguments": "parameters"},
        {"tool_name": "create_issue"},
        id="toolhive",
    ),
    pytest.param(
        "invoke_tool",
        {"tool": "tool_name", "arguments": "tool_input"},
        {"tool_name": "create_issue"},
        id="basemind",
    ),
    pytest.param("airis-exec", {"tool": "tool"}, {"tool": "github:create_issue"}, id="airis"),
    pytest.param(
        "meta_invoke", {"tool": "id", "arguments": "args"}, {"id": "create_issue", "kind": "tool"}, id="dsh"
    ),
    pytest.param(
        "execute_server_tool",
        {"tool": "tool_name", "arguments": "parameters", "server": "server_id"},
        {"server_id": "github", "tool_name": "create_issue"},
        id="meta-mcp",
    ),
    pytest.param(
        "gitlab_execute_action",
        {"tool": "action", "arguments": None},
        {"action": "create_issue"},
        id="gitlab",
    ),
]


def _declared() -> FastMCP:
    tools, patterns = [], {}
    for (
        _,
        (name, form, sent),
    ) in ((row.id, row.values) for row in FORMS):
        inside = form.get("arguments", "arguments")
        properties: dict[str, Any] = {key: {"type": "string"} for key in sent}
        schema = {
            "type": "object",
            "properties": properties,
            "required": [*sent],
            "additionalProperties": inside is None,
        }
        if inside is not None:
            properties[inside] = {"type": "object"}
        tools.append(Published(name=name, parameters=schema))
        patterns[name] = Policy(dispatches=dispatcher(**form, tools=ENTRIES))
    return lenient(*tools, patterns=patterns)


def _sent(form: dict[str, Any], named: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    inside = form.get("arguments", "arguments")
    return {**named, **(arguments if inside is None else {inside: arguments})}


@pytest.mark.parametrize(("name", "form", "named"), FORMS)
async def test_the_forms_of_public_dispatchers_are_declared(name, form, named, events: Log):
    """Whatever the parameters are called: the call inside is repaired, or refused before anything runs."""
    right = {"title": "x", "labels": ["a"]}
    result = await call(_declared(), name, _sent(form, named, {"title": "x", "labels": '["a"]'}))
    assert got(result)["got"] == _sent(form, named, right)
    assert got(await call(_declared(), name, _sent(form, named, right)))["got"] == _sent(form, named, right)
    wrong = await call(_declared(), name, _sent(form, named, {"title": "x", "label": ["a"]}))
    (patch,) = envelope(wrong)["details"]["violations"][0]["fixes"]
    assert jsonpatch.apply_patch(_sent(form, named, {"title": "x", "label": ["a"]}), patch) == _sent(
        form, named, right
    )
    last = f"""Send it with '{name}' as {json.dumps(_sent(form, {key: value for key, value in named.items() if key != "kind"}, {})).replace("{}", "{...}")}."""
    last = (
        last
        if form.get("arguments", "") is not None
        else f"""Send it with '{name}' as {{"action": "create_issue", ...}}."""
    )
    assert envelope(wrong)["message"].endswith(last)
    assert [event["event"] for event in events] == ["call_repaired", "call_accepted", "call_rejected"]
    assert {event["via"] for event in events} == {name}


async def test_an_unknown_name_of_a_declared_dispatcher_is_refused():
    """Where all tools are declared, another name is refused with the likely ones, and a spelling is repaired."""
    unknown = await call(_declared(), "execute_tool", {"name": "create_issues", "arguments": {}})
    assert envelope(unknown)["details"]["did_you_mean"][0] == "create_issue"
    renamed = await call(_declared(), "execute_tool", {"name": "createIssue", "arguments": {"title": "x"}})
    assert got(renamed)["got"] == {"name": "create_issue", "arguments": {"title": "x"}}


async def undeclared(tool: str, params: dict[str, Any], ctx: Context) -> Any:
    """Call a tool of this server."""
    if tool == "careful":
        try:
            await ctx.fastmcp.call_tool("store_context", params)
        except ValidationError as error:
            return type(error).__name__
    return (await ctx.fastmcp.call_tool(tool, params)).structured_content


async def _invoke(tool: str, params: dict[str, Any], ctx: Context) -> Any:
    """Call a tool of this server."""
    return await undeclared(tool, params, ctx)


INVOKE = Tool.from_function(
    lenient_tool(dispatches=dispatcher("tool", "params", tools="server"))(_invoke), name="invoke"
)


@pytest.mark.parametrize("where", ["own", "mounted"])
async def test_a_declared_dispatcher_of_the_servers_own_tools(where, events: Log):
    """Its calls are repaired, and refused by the exception that its body lets through; one event each."""
    server, prefix = lenient(store_context, INVOKE), ""
    if where == "mounted":
        server, prefix = lenient(), "child_"
        server.mount(plain(store_context, INVOKE, name="child"), namespace="child")
    nearly = {"tool": "storeContext", "params": {"content": "x", "tags": '["a"]'}}
    assert got(await call(server, f"{prefix}invoke", nearly)) == STORED
    wrong = await call(
        server, f"{prefix}invoke", {"tool": "store_context", "params": {"content": "x", "tags": 5}}
    )
    assert code(wrong) == "INVALID_TAGS_TYPE"
    assert "'invoke' as {" in envelope(wrong)["message"] or prefix
    assert [(event["event"], event["tool"], event["via"]) for event in events] == [
        ("call_repaired", "store_context", f"{prefix}invoke"),
        ("call_rejected", "store_context", f"{prefix}invoke"),
    ]


async def test_other_calls_of_a_dispatchers_body_raise():
    """A call that the body makes of itself gets the exception, as in any tool."""
    server = lenient(store_context, INVOKE, Tool.from_function(lambda: 1, name="careful"))
    sent = {"tool": "careful", "params": {"tags": 5}}
    assert text(await call(server, "invoke", sent)) == "ValidationError"


@pytest.mark.parametrize("tags", ['["a"]', 5])
async def test_a_dispatcher_inside_a_dispatcher_is_not_rewritten(tags):
    """What guards have seen in the outer call stands: the innermost call is refused, and not repaired."""
    guard = Guard("nobody")
    server = _guarded(guard, first=False)
    server.add_tool(INVOKE)
    inner = {"tool": "store_context", "params": {"content": "x", "tags": tags}}
    result = await call(server, "call_tool", {"name": "invoke", "arguments": inner})
    assert envelope(result)["details"]["tool"] == "store_context"
    right = {"tool": "store_context", "params": RIGHT}
    assert got(await call(server, "call_tool", {"name": "invoke", "arguments": right})) == STORED
    assert [name for name, _ in guard.seen] == ["call_tool", "invoke", "store_context"] * 2


@pytest.mark.parametrize("depth", [1, 2, 3])
async def test_a_refusal_inside_dispatchers_is_answered_and_recorded_once(depth, events: Log):
    """However many dispatchers a call goes through, its client gets the innermost tool's envelope."""
    sent: Any = {"tool": "store_context", "params": {"content": "x", "tags": 5}}
    for _ in range(depth - 1):
        sent = {"tool": "invoke", "params": sent}
    result = await call(lenient(store_context, INVOKE), "invoke", sent)
    assert envelope(result)["details"]["tool"] == "store_context"
    assert [event["event"] for event in events] == ["call_rejected"]


async def test_a_dispatcher_of_itself_ends():
    """A dispatcher that is told to call itself is called as it was sent."""
    sent: Any = {"tool": "store_context", "params": RIGHT}
    for _ in range(3):
        sent = {"tool": "invoke", "params": sent}
    assert got(await call(lenient(store_context, INVOKE), "invoke", sent)) == STORED


async def test_a_transformed_dispatcher_is_one():
    """A tool made of a dispatcher, under another name, is one."""
    server = lenient(store_context)
    server.add_tool(Tool.from_tool(INVOKE, name="changed"))
    nearly = {"tool": "storeContext", "params": {"content": "x", "tags": '["a"]'}}
    assert rules(await call(server, "changed", nearly)) == ["rename_tool", "json_text_to_array"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: dispatcher(""),
        lambda: dispatcher("name", "name"),
        lambda: dispatcher(found_by=[""]),
        lambda: dispatcher(tools="mine"),  # type: ignore[arg-type]
        lambda: dispatcher(tools={"a": {"schema": {}}}),
        lambda: Policy(dispatches="name"),  # type: ignore[arg-type]
        lambda: LenientMiddleware(Policy(dispatches=dispatcher())),
    ],
)
def test_a_wrong_declaration_is_refused(wrong):
    """The error says what a declaration may be."""
    with pytest.raises(PolicyError, match="dispatche"):
        wrong()


async def test_a_file_declares_a_dispatcher(tmp_path):
    """A definitions file declares the form, for tools whose code you cannot change."""
    file = tmp_path / "tools.yaml"
    file.write_text(
        "tools: {go: {dispatcher: {tool: tool, arguments: params, tools: server}}}", encoding="utf-8"
    )
    server = plain(store_context, Tool.from_function(undeclared, name="go"))
    server.add_middleware(LenientMiddleware(definitions=file))
    result = await call(server, "go", {"tool": "store_context", "params": {"content": "x", "tags": '["a"]'}})
    assert got(result) == STORED
    file.write_text("tools: {go: {dispatcher: {tol: tool}}}", encoding="utf-8")
    with pytest.raises(DefinitionError, match=r"dispatcher.tol: there is no such field; did you mean 'tool'"):
        LenientMiddleware(definitions=file)


async def test_a_form_that_is_only_observed_is_refused_once(events: Log):
    """FastMCP's search makes its tools anew for each look, which is no reason to decide for ever."""
    server = _searched(policy=Policy(mode="observe"))
    result = await call(server, "call_tool", {"name": "store_context", "args": RIGHT})
    assert result.is_error
    assert events.names == ["call_observed"]


class DenySecretPath(Middleware):
    """A guard that judges the arguments inside a call's arguments, as its author knows them."""

    async def on_call_tool(self, context, call_next):
        """Deny a path."""
        inside = (context.message.arguments or {}).get("arguments") or {}
        if inside.get("path") == "secret":
            msg = "denied"
            raise ToolError(msg)
        return await call_next(context)


def read_file(path: str = "public") -> str:
    """Return what was read."""
    return f"read {path}"


@pytest.mark.parametrize("name", ["call_tool", "callTool"])
async def test_a_flat_call_is_not_read_behind_a_guard(name):
    """Where a parent's guard has seen the call as it was sent, its arguments are not put where the guard looks."""
    parent = FastMCP("parent", middleware=[DenySecretPath()])
    parent.mount(_searched(read_file))
    result = await call(parent, name, {"name": "read_file", "path": "secret"})
    assert result.is_error
    assert "read secret" not in text(result)


@pytest.mark.parametrize("arguments", ["", "None", "null", "{}"])
async def test_a_text_for_arguments_is_not_read_for_a_destructive_tool(arguments):
    """A destructive tool does not run with its defaults because a text says nothing."""
    wipe = Tool.from_function(read_file, name="wipe", annotations={"destructiveHint": True})
    result = await call(_searched(wipe), "call_tool", {"name": "wipe", "arguments": arguments})
    assert result.is_error


async def test_a_parameter_that_a_header_repeats_keeps_its_value():
    """A gateway that denies a tool by the header that repeats its name has seen the tool that runs."""

    async def invoke(
        tool: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Tool"})],
        params: dict[str, Any],
        context: Context,
    ) -> Any:
        return (await context.fastmcp.call_tool(tool, params)).structured_content

    declared = lenient_tool(dispatches=dispatcher("tool", "params", tools="server"))(invoke)
    server = lenient(read_file, Tool.from_function(declared, name="invoke"))
    assert (await call(server, "invoke", {"tool": "readFile", "params": {}})).is_error
    assert not (await call(server, "invoke", {"tool": "read_file", "params": {}})).is_error
