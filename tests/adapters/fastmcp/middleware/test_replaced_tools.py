"""Tools that are replaced while the server runs: calls are checked against the current tool."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import Any

import anyio
import pytest
from calls import Log, call, code, envelope, got, lenient, plain, published, rules, text
from fastmcp import FastMCP
from fastmcp.exceptions import NotFoundError, ToolError, ValidationError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware
from fastmcp.server.providers import LocalProvider
from fastmcp.server.transforms import Transform
from fastmcp.tools import FunctionTool, Tool
from fastmcp.utilities.versions import VersionSpec
from fastmcp_versions import STRICT, not_on_3

from mcp_lenient import Decision, LenientMiddleware
from mcp_lenient import lenient as lenient_function
from mcp_lenient.normalizers import upper


def returning(annotation: Any) -> Any:
    """Return a function that returns its argument, which has this type."""

    def tool(value: Any) -> Any:
        return {"got": value}

    tool.__annotations__ = {"value": annotation, "return": Any}
    return tool


strings, anything, words = returning(list[str]), returning(Any), returning(str)
numbers, integer = returning(list[int]), returning(int)


def more(value: list[str], other: int) -> Any:
    """Return two parameters."""
    return {"got": value, "other": other}


def renamed(values: list[str]) -> Any:
    """Return a parameter with another name."""
    return {"got": values}


def _named(function: Any) -> Tool:
    return function if isinstance(function, Tool) else Tool.from_function(function, name="tool")


def _server(function: Any) -> FastMCP:
    return lenient(_named(function))


def _replace(server: FastMCP, function: Any) -> None:
    server.local_provider.remove_tool("tool")
    server.add_tool(_named(function))


INTEGER, TEXT = {"type": "integer"}, {"type": "string"}
TAKES_LIST = published("tool", value={"type": "array", "items": TEXT})
TAKES_TEXT = published("tool", value=TEXT)
JSON_TEXT = ["json_text_to_array"]
REPLACED = [
    pytest.param(anything, strings, {"value": '["a"]'}, ["a"], JSON_TEXT, id="stricter"),
    pytest.param(strings, renamed, {"Values": ["a"]}, ["a"], ["rename_case"], id="other_name"),
    pytest.param(lenient_function(value=upper())(words), words, {"value": "a"}, "a", [], id="undeclared"),
    pytest.param(strings, TAKES_LIST, {"value": "a"}, {"value": ["a"]}, ["scalar_to_array"], id="custom"),
    pytest.param(published("tool", value=INTEGER), words, {"value": "1"}, "1", [], id="from_custom"),
    pytest.param(TAKES_LIST, TAKES_TEXT, {"value": "a"}, {"value": "a"}, [], id="custom_to_custom"),
]


@pytest.mark.parametrize("mounted", [False, True], ids=["own", "mounted"])
@pytest.mark.parametrize(("before", "after", "sent", "expected", "reported"), REPLACED)
async def test_calls_of_a_replaced_tool_are_repaired_for_it(before, after, sent, expected, reported, mounted):
    """Repairs match the new tool's types, and calls that it accepts are not changed."""
    own = _server(before)
    server = own
    if mounted:
        own = plain(_named(before), name="child")
        server = lenient(name="parent")
        server.mount(own)
    for value in (["a"], '["a"]', {"a": 1}, "1"):
        await call(server, "tool", {"value": value})
    _replace(own, after)
    for _ in range(2):
        result = await call(server, "tool", sent)
        assert (got(result), rules(result)) == ({"got": expected}, reported)


async def test_calls_of_a_replaced_tool_are_refused_by_it(events: Log):
    """A call that only the old tool would accept gets the new tool's envelope, and is logged as refused."""
    server = _server(strings)
    await call(server, "tool", {"value": ["a"]})
    events.clear()
    _replace(server, more)
    refused = await call(server, "tool", {"value": ["a"]})
    assert code(refused) == "MISSING_OTHER"
    assert envelope(refused)["details"]["parameters"] == {"required": ["value", "other"], "optional": []}
    assert events.names == ["call_rejected"]


async def test_a_tools_function_can_be_replaced():
    """After a refused call, a tool with a new function accepts what that function accepts."""
    tool = _named(words)
    assert isinstance(tool, FunctionTool)
    server = _server(tool)
    assert code(await call(server, "tool", {"value": ["a", "b"]})) == "INVALID_VALUE_TYPE"
    tool.fn = strings
    assert got(await call(server, "tool", {"value": ["a", "b"]})) == {"got": ["a", "b"]}


@not_on_3(STRICT)
@pytest.mark.parametrize(("strict", "reported"), [(True, ["text_to_integer"]), (False, [])])
async def test_a_servers_strictness_can_be_changed(strict, reported):
    """Text for an integer is repaired once the server is strict, and passed unchanged once it is lax."""
    server = lenient(_named(integer), strict=not strict)
    assert code(await call(server, "tool", {"value": "x"})) == "INVALID_VALUE_TYPE"
    server.strict_input_validation = strict
    result = await call(server, "tool", {"value": "5"})
    assert (got(result), rules(result)) == ({"got": 5}, reported)


async def test_a_replaced_tools_body_runs_once():
    """A call that the old tool would accept, and the new one needs repaired, runs the new body once."""
    runs = []

    def counting(value: list[int]) -> Any:
        runs.append(value)
        return {"got": value}

    server = _server(anything)
    await call(server, "tool", {"value": "[1]"})
    _replace(server, counting)
    assert got(await call(server, "tool", {"value": "[1]"})) == {"got": [1]}
    assert runs == [[1]]


@pytest.mark.parametrize("sent", [["a"], '["a"]'], ids=["accepted", "repaired"])
@pytest.mark.parametrize(
    ("error", "after"),
    [
        *product((ValidationError, NotFoundError, ToolError), (more, None)),
        *((None, after) for after in (..., strings, None)),
    ],
)
async def test_a_failed_body_is_not_run_again_as_another_tool(after, error, sent):
    """A body's error, or one that it does not catch, is returned as its own, whatever tool has its name by then."""
    runs = []
    inner = plain(Tool.from_function(strings, name="inner"))

    async def failing(value: list[str]) -> Any:
        runs.append(value)
        if after is not ...:
            server.local_provider.remove_tool("tool")
        if callable(after):
            server.add_tool(_named(after))
        if error is None:
            return await inner.call_tool("inner", {"value": 5})
        raise error("declined")  # noqa: EM101

    server = lenient(_named(failing))
    result = await call(server, "tool", {"value": sent})
    said = "1 validation error" if error is None else "declined"
    assert (result.is_error, said in text(result), runs) == (True, True, [["a"]])


async def test_a_refusal_follows_a_new_output_schema():
    """Once the tool has an output schema, a refusal has no structured content, since clients validate it."""
    server = _server(Tool.from_function(strings, name="tool", output_schema=None))
    assert (await call(server, "tool", {"value": 5})).structured_content is not None
    _replace(server, Tool.from_function(strings, name="tool", output_schema={"type": "object"}))
    assert (await call(server, "tool", {"value": 5})).structured_content is None


@pytest.mark.parametrize("mounted", [False, True], ids=["own", "mounted"])
async def test_a_tool_is_unknown_before_it_is_added_and_after_it_is_removed(mounted):
    """A name is looked up again, even if it was cached."""
    own = server = lenient()
    if mounted:
        server = lenient(name="parent")
        server.mount(own)
    sent = ({"value": ["a"]}, {"value": "a"}, {"value": 5})
    for _ in range(2):
        for arguments in sent:
            assert code(await call(server, "tool", arguments)) == "UNKNOWN_TOOL"
        own.add_tool(_named(strings))
        assert rules(await call(server, "tool", {"value": "a"})) == ["scalar_to_array"]
        own.local_provider.remove_tool("tool")


async def test_the_newest_enabled_version_is_called():
    """Calls without a version are judged by the version that now has the name."""
    server = lenient(Tool.from_function(words, name="tool", version="1"))
    assert got(await call(server, "tool", {"value": "[1]"})) == {"got": "[1]"}
    server.add_tool(Tool.from_function(numbers, name="tool", version="2"))
    assert got(await call(server, "tool", {"value": "[1]"})) == {"got": [1]}
    assert got(await call(server, "tool", {"value": "[1]"}, version="1")) == {"got": "[1]"}
    server.disable(version=VersionSpec(eq="2"))
    assert got(await call(server, "tool", {"value": "[1]"})) == {"got": "[1]"}
    assert code(await call(server, "tool", {"value": [1]})) == "INVALID_VALUE_TYPE"


def _injects(server: FastMCP) -> None:
    server.add_middleware(ToolInjectionMiddleware([_named(anything)]))


def _transforms(server: FastMCP) -> None:
    server.add_transform(Substituting())


def _overrides_the_look_up(server: FastMCP) -> None:
    server.__class__ = Overriding


class Substituting(Transform):
    """A transform that replaces every tool with another."""

    async def get_tool(self, *_request: Any, **_settings: Any) -> Tool | None:
        """Return the other tool."""
        return _named(anything)


class Overriding(FastMCP):
    """A server whose look-up returns another tool than its provider."""

    async def get_tool(self, *_request: Any, **_settings: Any) -> Tool | None:
        """Return the other tool."""
        return _named(anything)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_injects, marks=not_on_3("a look-up ignores injected tools")),
        _transforms,
        _overrides_the_look_up,
    ],
)
async def test_the_looked_up_tool_is_validated_not_the_providers(change):
    """Calls are validated against the tool that is looked up, even if the provider still has another one."""
    server = _server(strings)
    assert got(await call(server, "tool", {"value": '["a"]'})) == {"got": ["a"]}
    change(server)
    assert got(await call(server, "tool", {"value": '["a"]'})) == {"got": '["a"]'}


async def test_a_tool_can_become_destructive():
    """Only the safest repairs are made once the tool is marked as destructive."""
    server = _server(strings)
    assert rules(await call(server, "tool", {"value": "a"})) == ["scalar_to_array"]
    _replace(server, Tool.from_function(strings, name="tool", annotations={"destructiveHint": True}))
    assert code(await call(server, "tool", {"value": "a"})) == "INVALID_VALUE_TYPE"


async def test_a_later_provider_may_replace_a_tool():
    """A call is judged by the tool of a provider that is added after an earlier call."""
    server, provider = _server(words), LocalProvider()
    assert code(await call(server, "tool", {"value": ["a"]})) == "INVALID_VALUE_TYPE"
    provider.add_tool(Tool.from_function(strings, name="tool", version="2"))
    server.add_provider(provider)
    assert got(await call(server, "tool", {"value": ["a"]})) == {"got": ["a"]}


class Replacing(Middleware):
    """A middleware of an author that replaces the called tool of its server before it passes the call on."""

    def __init__(self, function: Any) -> None:
        self._function = function

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        assert context.fastmcp_context is not None
        server = context.fastmcp_context.fastmcp
        with suppress(KeyError):
            server.local_provider.remove_tool("tool")
        if self._function is not None:
            server.add_tool(_named(self._function))
        return await call_next(context)


MEANWHILE = [
    pytest.param(strings, anything, ["a"], "accepted", "accepted", id="accepted-accepted"),
    pytest.param(strings, more, ["a"], "refused", "refused", id="accepted-refused"),
    pytest.param(anything, strings, '["a"]', "refused", "repaired", id="accepted-repaired"),
    pytest.param(strings, None, ["a"], "refused", "accepted", id="accepted-removed"),
    pytest.param(strings, anything, '["a"]', "repaired", "repaired", id="repaired-accepted"),
    pytest.param(strings, more, '["a"]', "refused", "refused", id="repaired-refused"),
    pytest.param(strings, words, '["a"]', "refused", "accepted", id="repaired-accepted_as_sent"),
    pytest.param(strings, None, '["a"]', "refused", "repaired", id="repaired-removed"),
    pytest.param(integer, more, '["a"]', "refused", "refused", id="refused-refused"),
    pytest.param(None, anything, 5, "accepted", "refused", id="unknown-accepted"),
    pytest.param(None, strings, 5, "refused", "refused", id="unknown-refused"),
]
"""Tools before and during a call, what is sent, and the call's fate where the middleware between has seen it, and where not.

A mounted server passes an unknown tool on as an error of its own, which comes after the decision.
"""


@pytest.mark.parametrize("asker", ["client", "program"])
@pytest.mark.parametrize("mounted", [False, True], ids=["own", "mounted"])
@pytest.mark.parametrize(("before", "during", "value", "own_fate", "mounted_fate"), MEANWHILE)
async def test_a_tool_replaced_during_its_call_leaves_one_decision(
    before, during, value, own_fate, mounted_fate, mounted, asker, events: Log
):
    """One decision is recorded, about the call of the tool that runs or refuses it in the end."""
    decisions: list[Decision] = []
    ours, server = LenientMiddleware(on_decision=decisions.append), FastMCP("server")
    server.add_middleware(Replacing(during))
    if before is not None:
        server.add_tool(_named(before))
    if mounted:
        parent = FastMCP("parent", middleware=[ours])
        parent.mount(server)
        server = parent
    else:
        server.add_middleware(ours)
    if asker == "client":
        await call(server, "tool", {"value": value})
    else:
        with suppress(ValidationError, NotFoundError, ToolError):
            await server.call_tool("tool", {"value": value})
    assert [decision.fate for decision in decisions] == [mounted_fate if mounted else own_fate]
    decided = [name for name in events.names if name != "call_failed"]
    names = {"refused": "call_rejected", "repaired": "call_repaired", "accepted": "call_accepted"}
    assert decided == [names[decision.fate] for decision in decisions]


async def test_what_the_tool_then_takes_as_sent_reaches_no_caller_as_pydantics_text():
    """A call repaired for the tool before, which middleware has seen so, gets the envelope of the tool that it reaches."""
    server = lenient(_named(strings))
    server.add_middleware(Replacing(words))
    refused = await call(server, "tool", {"value": '["a"]'})
    assert code(refused) == "INVALID_VALUE_TYPE"
    assert [repair["rule"] for repair in envelope(refused)["details"]["repairs"]] == JSON_TEXT


async def test_a_decision_comes_before_the_failure_of_its_body(events: Log):
    """What a tool's body raises is logged after the repair of its call."""

    def failing(value: list[str]) -> None:
        raise ToolError(str(value))

    await call(lenient(_named(failing)), "tool", {"value": '["a"]'})
    assert events.names == ["call_repaired", "call_failed"]


async def test_a_tools_time_does_not_count(events: Log):
    """A call is recorded when its tool has run, with the time that deciding has taken."""

    async def slow(value: list[str]) -> list[str]:
        await anyio.sleep(0.2)
        return value

    await call(lenient(_named(slow)), "tool", {"value": '["a"]'})
    assert events[0]["duration_us"] < 200_000
