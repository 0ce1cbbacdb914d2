"""Tools that change while the server runs: nothing is changed or refused by what a name once stood for."""

from __future__ import annotations

from typing import Any

import pytest
from calls import Log, call, code, envelope, got, lenient, plain, published, rules, text
from fastmcp import FastMCP
from fastmcp.exceptions import NotFoundError, ToolError, ValidationError
from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware
from fastmcp.server.transforms import Transform
from fastmcp.tools import FunctionTool, Tool
from fastmcp_versions import STRICT, not_on_3


def strings(value: list[str]) -> Any:
    """Lists of strings."""
    return {"got": value}


def anything(value: Any) -> Any:
    """Takes everything."""
    return {"got": value}


def words(value: str) -> Any:
    """Takes text."""
    return {"got": value}


def numbers(value: list[int]) -> Any:
    """Lists of integers."""
    return {"got": value}


def integer(value: int) -> Any:
    """Takes an integer."""
    return {"got": value}


def more(value: list[str], other: int) -> Any:
    """Takes one more."""
    return {"got": value, "other": other}


def renamed(values: list[str]) -> Any:
    """Takes another name."""
    return {"got": values}


def _server(function: Any) -> FastMCP:
    server = lenient()
    server.add_tool(_named(function))
    return server


def _named(function: Any) -> Tool:
    return function if isinstance(function, Tool) else Tool.from_function(function, name="tool")


def _replace(server: FastMCP, function: Any) -> None:
    server.local_provider.remove_tool("tool")
    server.add_tool(_named(function))


ARRAY = {"type": "array", "items": {"type": "string"}}
REPLACED = [
    pytest.param(strings, anything, {"value": '["a"]'}, {"got": '["a"]'}, [], id="looser"),
    pytest.param(strings, words, {"value": '["a"]'}, {"got": '["a"]'}, [], id="text"),
    pytest.param(
        anything, strings, {"value": '["a"]'}, {"got": ["a"]}, ["json_text_to_array"], id="stricter"
    ),
    pytest.param(strings, numbers, {"value": "[1]"}, {"got": [1]}, ["json_text_to_array"], id="other_items"),
    pytest.param(strings, renamed, {"Values": ["a"]}, {"got": ["a"]}, ["rename_case"], id="other_name"),
    pytest.param(
        strings,
        published("tool", value=ARRAY),
        {"value": "a"},
        {"got": {"value": ["a"]}},
        ["scalar_to_array"],
        id="custom",
    ),
    pytest.param(
        published("tool", value={"type": "integer"}),
        words,
        {"value": "1"},
        {"got": "1"},
        [],
        id="custom_to_text",
    ),
    pytest.param(
        published("tool", value={"type": "string"}),
        published("tool", value=ARRAY),
        {"value": "a"},
        {"got": {"value": "a"}},
        [],
        id="custom_to_custom",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("mounted", [False, True], ids=["own", "mounted"])
@pytest.mark.parametrize(("before", "after", "sent", "expected", "reported"), REPLACED)
async def test_a_replaced_tool_is_validated_as_it_is_now(before, after, sent, expected, reported, mounted):
    """After a call of the old tool, the new one under its name gets what it asks for, and nothing else is changed."""
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
        assert got(result) == expected
        assert rules(result) == reported


@pytest.mark.parametrize("mounted", [False, True], ids=["own", "mounted"])
async def test_a_replaced_tool_is_refused_as_it_is_now(mounted, events: Log):
    """A call that only the old tool would take gets the envelope of the new one, and is logged as refused."""
    own = _server(strings)
    server = own
    if mounted:
        server = lenient(name="parent")
        server.mount(own)
    assert rules(await call(server, "tool", {"value": '["a"]'})) == ["json_text_to_array"]
    _replace(own, more)
    refused = await call(server, "tool", {"value": ["a"]})
    assert code(refused) == "MISSING_OTHER"
    assert envelope(refused)["details"]["parameters"] == {"required": ["value", "other"], "optional": []}
    assert "call_rejected" in events.names


async def test_a_function_replaced_in_place_is_validated_as_it_is_now():
    """A tool whose function is exchanged after a refused call takes what the new function takes."""
    tool = _named(words)
    assert isinstance(tool, FunctionTool)
    server = _server(tool)
    assert code(await call(server, "tool", {"value": ["a", "b"]})) == "INVALID_VALUE_TYPE"
    tool.fn = strings
    assert got(await call(server, "tool", {"value": ["a", "b"]})) == {"got": ["a", "b"]}


@not_on_3(STRICT)
@pytest.mark.parametrize(("strict", "reported"), [(True, ["text_to_integer"]), (False, [])])
async def test_a_server_that_changes_its_strictness_validates_as_it_does_now(strict, reported):
    """After a refused call, a text for an integer is repaired once its server is strict, and left once it is lax."""
    server = lenient(_named(integer), strict=not strict)
    assert code(await call(server, "tool", {"value": "x"})) == "INVALID_VALUE_TYPE"
    server.strict_input_validation = strict
    result = await call(server, "tool", {"value": "5"})
    assert (got(result), rules(result)) == ({"got": 5}, reported)


async def test_a_replaced_tools_body_runs_once():
    """A call that the old tool would take and the new one takes repaired runs the new body once."""
    runs = []

    def counting(value: list[int]) -> Any:
        runs.append(value)
        return {"got": value}

    server = _server(anything)
    await call(server, "tool", {"value": "[1]"})
    _replace(server, counting)
    assert got(await call(server, "tool", {"value": "[1]"})) == {"got": [1]}
    assert runs == [[1]]


@pytest.mark.quick_rows("ValidationError-numbers", "NotFoundError-more")
@pytest.mark.parametrize(
    "after", [numbers, more, words, None], ids=lambda each: getattr(each, "__name__", "gone")
)
@pytest.mark.parametrize("error", [ValidationError, NotFoundError, ToolError], ids=lambda each: each.__name__)
async def test_a_failed_body_is_not_run_again_as_another_tool(after, error):
    """An error of the body stays its own, whatever tool has its name by then."""
    runs = []

    async def failing(value: list[str]) -> Any:
        runs.append(value)
        server.local_provider.remove_tool("tool")
        if after is not None:
            server.add_tool(_named(after))
        raise error("declined")  # noqa: EM101

    server = lenient(_named(failing))
    result = await call(server, "tool", {"value": ["a"]})
    assert result.is_error
    assert "declined" in text(result)
    assert runs == [["a"]]


async def test_a_body_that_removes_its_tool_fails_by_its_own_error():
    """What a body leaks of a server without the middleware is its own, though its tool is gone by then."""
    inner = plain(Tool.from_function(strings, name="inner"))

    async def failing(value: list[str]) -> Any:  # noqa: ARG001 - the tool takes it
        server.local_provider.remove_tool("tool")
        return await inner.call_tool("inner", {"value": 5})

    server = lenient(_named(failing))
    result = await call(server, "tool", {"value": ["a"]})
    assert result.is_error
    assert "1 validation error" in text(result)


async def test_a_tool_that_gets_an_output_schema_is_refused_as_it_is_now():
    """A client that checks results by the new output schema gets no envelope in their place."""
    server = _server(Tool.from_function(strings, name="tool", output_schema=None))
    assert (await call(server, "tool", {"value": 5})).structured_content is not None
    _replace(server, Tool.from_function(strings, name="tool", output_schema={"type": "object"}))
    assert (await call(server, "tool", {"value": 5})).structured_content is None


async def test_a_body_that_replaces_its_tool_fails_by_its_own_error():
    """What a body leaks of a server without the middleware is its own, though a new tool would take the call."""
    inner = plain(Tool.from_function(strings, name="inner"))

    async def failing(value: list[str]) -> Any:  # noqa: ARG001 - the tool takes it
        _replace(server, strings)
        return await inner.call_tool("inner", {"value": 5})

    server = lenient(_named(failing))
    result = await call(server, "tool", {"value": ["a"]})
    assert result.is_error
    assert "1 validation error" in text(result)


@pytest.mark.quick_rows("mounted-near")
@pytest.mark.parametrize("sent", [["a"], '["a"]', 5], ids=["right", "near", "wrong"])
@pytest.mark.parametrize("mounted", [False, True], ids=["own", "mounted"])
async def test_a_removed_tool_is_unknown(sent, mounted):
    """A removed tool is unknown, even if it is cached."""
    own = _server(strings)
    server = own
    if mounted:
        server = lenient(name="parent")
        server.mount(own)
    assert rules(await call(server, "tool", {"value": '["a"]'})) == ["json_text_to_array"]
    own.local_provider.remove_tool("tool")
    assert code(await call(server, "tool", {"value": sent})) == "UNKNOWN_TOOL"


async def test_a_tool_that_is_added_later_is_lenient():
    """A name that was unknown before is not remembered as unknown."""
    server = lenient()
    assert code(await call(server, "tool", {"value": "a"})) == "UNKNOWN_TOOL"
    server.add_tool(_named(strings))
    assert rules(await call(server, "tool", {"value": "a"})) == ["scalar_to_array"]


async def test_a_newer_version_takes_over():
    """Once a newer version is there, calls without a version are judged by it."""
    server = lenient()
    server.add_tool(Tool.from_function(words, name="tool", version="1"))
    assert got(await call(server, "tool", {"value": '["a"]'})) == {"got": '["a"]'}
    server.add_tool(Tool.from_function(strings, name="tool", version="2"))
    assert got(await call(server, "tool", {"value": '["a"]'})) == {"got": ["a"]}
    assert got(await call(server, "tool", {"value": '["a"]'}, version="1")) == {"got": '["a"]'}


def _injects(server: FastMCP) -> None:
    server.add_middleware(ToolInjectionMiddleware([_named(anything)]))


def _transforms(server: FastMCP) -> None:
    server.add_transform(Taken())


def _changes_its_look_up(server: FastMCP) -> None:
    server.__class__ = Taking


class Taken(Transform):
    """Puts another tool in the place of each."""

    async def get_tool(self, *_request: Any, **_settings: Any) -> Tool | None:
        """Return the other tool."""
        return _named(anything)


class Taking(FastMCP):
    """Looks up another tool, whatever its provider has."""

    async def get_tool(self, *_request: Any, **_settings: Any) -> Tool | None:
        """Return the other tool."""
        return _named(anything)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_injects, marks=not_on_3("a look-up ignores injected tools")),
        _transforms,
        _changes_its_look_up,
    ],
)
async def test_the_looked_up_tool_is_validated_not_the_providers(change):
    """A tool that takes the name of a provider's tool, which is still there, is the one that judges."""
    server = _server(strings)
    assert got(await call(server, "tool", {"value": '["a"]'})) == {"got": ["a"]}
    change(server)
    assert got(await call(server, "tool", {"value": '["a"]'})) == {"got": '["a"]'}


async def test_a_tool_that_becomes_destructive_is_treated_as_destructive():
    """The narrower set of a destructive tool holds from the moment it is marked."""
    server = _server(strings)
    assert rules(await call(server, "tool", {"value": "a"})) == ["scalar_to_array"]
    _replace(server, Tool.from_function(strings, name="tool", annotations={"destructiveHint": True}))
    assert code(await call(server, "tool", {"value": "a"})) == "INVALID_VALUE_TYPE"


async def test_a_leaked_validation_error_after_a_replacement_is_not_repaired_away():
    """A body that leaks FastMCP's ``ValidationError`` of another call is not run again as if replaced."""
    runs = []

    async def leaking(value: list[str]) -> Any:
        runs.append(value)
        return await server.call_tool("inner", {"value": 5})

    server = lenient(Tool.from_function(strings, name="inner"))
    server.add_tool(_named(leaking))
    result = await call(server, "tool", {"value": ["a"]})
    assert result.is_error
    assert "Invalid arguments for tool 'tool'" not in text(result)
    assert runs == [["a"]]
