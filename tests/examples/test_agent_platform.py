"""The parameters of the agent platform's forty tools, sent rightly and in the ways that agents get it wrong."""

from __future__ import annotations

import functools
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool

from agent_platform.server import DEFINITIONS, groups
from mcp_lenient import LenientMiddleware
from mcp_lenient.declare.definitions import load_definitions, unknown_names
from mcp_lenient.testing.stress_run import example_calls

TOOLS = {function.__name__: function for group in groups(Path()).values() for function in group.tools}
DECLARED = load_definitions(DEFINITIONS)
HAN = re.compile(r"[\u4e00-\u9fff]")

pytestmark = [pytest.mark.asyncio(loop_scope="module")]

each_tool = pytest.mark.parametrize("tool", TOOLS)
each_tool_with_parameters = pytest.mark.parametrize(
    "tool", [name for name, function in TOOLS.items() if inspect.signature(function).parameters]
)


@functools.cache
def right(tool):
    """A right call of a tool, with all its parameters."""
    return example_calls(tool, Tool.from_function(TOOLS[tool]).parameters, seed=0, count=1)[0]


def echo(function):
    """Make a tool with the same parameters that returns what arrived, defaults included."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    async def tool(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)

    tool.__annotations__ = {**function.__annotations__, "return": dict[str, Any]}
    return tool


def echo_server(middleware, *, strict=False):
    """Make the platform with tools that return what arrived."""
    server = FastMCP("agent-platform", strict_input_validation=strict)
    server.add_middleware(middleware)
    for function in TOOLS.values():
        server.tool(echo(function))
    return server


@pytest.fixture(
    scope="module",
    params=[pytest.param(False, id="lax"), pytest.param(True, id="strict", marks=pytest.mark.slow)],
)
def server(request):
    """The platform's parameters, on a lax and on a strict server."""
    return echo_server(LenientMiddleware(definitions=DEFINITIONS), strict=request.param)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(server):
    """A client of the platform's parameters."""
    async with Client(server) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def published(client):
    """The tools by their names, as a model reads them."""
    return {tool.name: tool for tool in await client.list_tools()}


async def ran(client, tool, arguments):
    """What the tool returned, and the rules that repaired the call."""
    result = await client.call_tool_mcp(tool, arguments)
    assert not result.is_error, result.content
    repairs = (result.meta or {}).get("mcp_lenient", {}).get("repairs", [])
    return result.structured_content, [repair["rule"] for repair in repairs]


async def refused(client, tool, arguments):
    """The envelope."""
    result = await client.call_tool_mcp(tool, arguments)
    assert result.is_error
    return result.meta["mcp_lenient"]


async def test_the_definitions_name_existing_tools_and_parameters(published):
    """No name in the definitions is one that no tool or parameter has."""
    names = {name: tool.input_schema["properties"] for name, tool in published.items()}
    assert unknown_names(DECLARED, names) == ()


@each_tool
async def test_every_parameter_is_described(published, tool):
    """A tool and each of its parameters say what they are in English and in Chinese."""
    parameters = published[tool].input_schema["properties"].values()
    said = [published[tool].description, *(each["description"] for each in parameters)]
    assert all(HAN.search(text) and re.match("[A-Z]", text) for text in said)


@each_tool
async def test_valid_arguments_arrive_unchanged(client, tool):
    """A right call is not touched."""
    assert await ran(client, tool, right(tool)) == (right(tool), [])


@each_tool
async def test_optional_parameters_may_be_omitted(client, published, tool):
    """A call with the required arguments alone gets the published defaults for the rest."""
    schema = published[tool].input_schema
    sent = {name: right(tool)[name] for name in schema.get("required", [])}
    defaults = {name: declared.get("default") for name, declared in schema["properties"].items()}
    assert await ran(client, tool, sent) == (defaults | sent, [])


@each_tool_with_parameters
async def test_each_alias_is_understood(client, tool):
    """Each parameter may come under each of its other names, and all of them at once."""
    aliases = DECLARED.tools[tool].aliases
    assert set(aliases) == set(right(tool))
    for name, others in aliases.items():
        for other in others:
            sent = {other if key == name else key: value for key, value in right(tool).items()}
            assert await ran(client, tool, sent) == (right(tool), ["rename_alias"])
    sent = {aliases[name][-1]: value for name, value in right(tool).items()}
    assert await ran(client, tool, sent) == (right(tool), ["rename_alias"] * len(sent))


@each_tool_with_parameters
async def test_a_missing_parameter_is_named(client, published, tool):
    """A call without a required argument is refused by its name."""
    for name in published[tool].input_schema.get("required", []):
        sent = {key: value for key, value in right(tool).items() if key != name}
        envelope = await refused(client, tool, sent)
        assert envelope["error_code"] == f"MISSING_{name.upper()}"
        assert f"'{name}'" in envelope["message"]
        assert HAN.search(envelope["message"])
        assert name in envelope["details"]["parameters"]["required"]


@each_tool
async def test_an_unknown_parameter_is_refused(client, tool):
    """A name that is nobody's is refused, with the names that are accepted."""
    envelope = await refused(client, tool, {**right(tool), "colour": "blue"})
    assert envelope["error_code"] == "UNKNOWN_PARAMETER"
    assert "未知参数 'colour'" in envelope["message"]
    accepted = envelope["details"]["parameters"]
    assert {*accepted["required"], *accepted["optional"]} == set(right(tool))
    assert all(f"'{name}'" in envelope["message"] for name in right(tool))


async def test_the_introductory_call_runs(client):
    """An agent that says ``query`` for ``task`` gets its task done."""
    got, rules = await ran(client, "browser_use_execute_task", {"query": "查找天气"})
    assert got == {"task": "查找天气", "max_steps": 50, "use_vision": True}
    assert rules == ["rename_alias"]


@pytest.mark.parametrize(
    ("sent", "steps"),
    [
        pytest.param({"max_steps": 500}, 100, id="above"),
        pytest.param({"max_steps": 0}, 1, id="below"),
        pytest.param({"max_steps": 7, "wait_for_previous": True}, 7, id="dropped"),
    ],
)
async def test_limits_of_the_definitions_apply(client, sent, steps):
    """A number out of bounds is brought to the nearest bound, and what is to be dropped is dropped."""
    got, _ = await ran(client, "browser_use_execute_task", {"task": "t", **sent})
    assert got["max_steps"] == steps


async def test_two_values_for_one_parameter_are_refused(client):
    """Where two names of one parameter came, nobody chooses between them."""
    envelope = await refused(client, "browser_use_execute_task", {"query": "a", "instruction": "b"})
    assert "未知参数" in envelope["message"]
