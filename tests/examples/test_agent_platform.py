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

from agent_platform.server import DEFINITIONS, groups
from mcp_lenient import LenientMiddleware
from mcp_lenient.declare.definitions import load_definitions, unknown_names

RIGHT = {
    "microsandbox_execute": {"code": "print('你好')", "session_id": "s1", "timeout": 30},
    "microsandbox_install_package": {"package_name": "rich", "version": "13.9", "session_id": "s1"},
    "microsandbox_list_sessions": {},
    "microsandbox_close_session": {"session_id": "s1"},
    "microsandbox_cleanup_expired": {"max_age": 3600},
    "microsandbox_get_performance_stats": {},
    "microsandbox_get_health_status": {},
    "browser_use_execute_task": {"task": "查找天气", "max_steps": 20, "use_vision": False},
    "browser_navigate": {"url": "https://example.com/?q=1"},
    "browser_search_google": {"query": "weather, Berlin"},
    "browser_go_back": {},
    "browser_click_element": {"index": 0},
    "browser_input_text": {"index": 3, "text": "42"},
    "browser_send_keys": {"keys": "Control+a"},
    "browser_scroll_down": {"amount": 500},
    "browser_scroll_up": {"amount": 500},
    "browser_scroll_to_text": {"text": "null"},
    "browser_switch_tab": {"page_id": 1},
    "browser_open_tab": {"url": "https://example.com"},
    "browser_close_tab": {"page_id": 2},
    "browser_extract_content": {"goal": "the prices", "include_links": True},
    "browser_get_ax_tree": {"number_of_elements": 50},
    "browser_get_dropdown_options": {"index": 7},
    "browser_select_dropdown_option": {"index": 7, "text": "红色"},
    "browser_drag_drop": {
        "element_source": "#a",
        "element_target": "#b",
        "coord_source_x": 1,
        "coord_source_y": -2,
        "coord_target_x": 3,
        "coord_target_y": 4,
        "steps": 5,
    },
    "browser_save_pdf": {},
    "browser_screenshot": {"filename": "页面.png"},
    "browser_wait": {"seconds": 1.5},
    "browser_done": {"text": '["not", "a", "list"]', "success": True},
    "browser_get_page_info": {},
    "browser_get_current_url": {},
    "browser_close_session": {},
    "browser_get_content": {"selector": "main > p"},
    "research": {
        "question": "Why?",
        "initial_queries": ["why, then", "为什么"],
        "max_loops": 2,
        "reasoning_model": "large",
    },
    "quick_research": {"question": "When?"},
    "comprehensive_research": {"question": "How?", "topic_focus": "cost"},
    "search_file_content": {"file_path": "C:\\new\\a.py", "regex_pattern": "^\\s*def (\\w+)"},
    "list_code_definitions": {"file_path": "a.py", "directory_path": "src"},
    "analyze_tool_needs": {"task_description": "{draw} [a] chart"},
    "search_and_install_tools": {"task_description": "draw", "reason": "none does"},
}
DEFAULTS = {
    "browser_use_execute_task": {"max_steps": 50, "use_vision": True},
    "browser_extract_content": {"include_links": False},
    "browser_drag_drop": {"steps": 10},
    "browser_wait": {"seconds": 3},
}
DECLARED = load_definitions(DEFINITIONS)
HAN = re.compile(r"[\u4e00-\u9fff]")

pytestmark = [pytest.mark.asyncio(loop_scope="module")]

each_tool = pytest.mark.parametrize("tool", RIGHT)
each_tool_with_parameters = pytest.mark.parametrize("tool", [tool for tool in RIGHT if RIGHT[tool]])


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
    for group in groups(Path()).values():
        for function in group.tools:
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
    """The tools are those of the table, and no name in the definitions is one that no tool or parameter has."""
    assert set(published) == set(RIGHT)
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
    assert await ran(client, tool, RIGHT[tool]) == (RIGHT[tool], [])


@each_tool
async def test_optional_parameters_may_be_omitted(client, published, tool):
    """A call with the required arguments alone gets the defaults for the rest."""
    schema = published[tool].input_schema
    sent = {name: RIGHT[tool][name] for name in schema.get("required", [])}
    defaults = dict.fromkeys(schema["properties"]) | DEFAULTS.get(tool, {})
    assert await ran(client, tool, sent) == (defaults | sent, [])


@each_tool_with_parameters
async def test_each_alias_is_understood(client, tool):
    """Each parameter may come under each of its other names, and all of them at once."""
    aliases = DECLARED.tools[tool].aliases
    assert set(aliases) == set(RIGHT[tool])
    for name, others in aliases.items():
        for other in others:
            sent = {other if key == name else key: value for key, value in RIGHT[tool].items()}
            assert await ran(client, tool, sent) == (RIGHT[tool], ["rename_alias"])
    sent = {aliases[name][-1]: value for name, value in RIGHT[tool].items()}
    assert await ran(client, tool, sent) == (RIGHT[tool], ["rename_alias"] * len(sent))


@each_tool_with_parameters
async def test_a_missing_parameter_is_named(client, published, tool):
    """A call without a required argument is refused by its name."""
    for name in published[tool].input_schema.get("required", []):
        sent = {key: value for key, value in RIGHT[tool].items() if key != name}
        envelope = await refused(client, tool, sent)
        assert envelope["error_code"] == f"MISSING_{name.upper()}"
        assert f"'{name}' is required but was not sent" in envelope["message"]
        assert name in envelope["details"]["parameters"]["required"]


@each_tool
async def test_an_unknown_parameter_is_refused(client, tool):
    """A name that is nobody's is refused, with the names that are accepted."""
    envelope = await refused(client, tool, {**RIGHT[tool], "colour": "blue"})
    assert envelope["error_code"] == "UNKNOWN_PARAMETER"
    assert "unknown parameter 'colour'" in envelope["message"]
    accepted = envelope["details"]["parameters"]
    assert {*accepted["required"], *accepted["optional"]} == set(RIGHT[tool])
    assert all(f"'{name}'" in envelope["message"] for name in RIGHT[tool])


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
    assert "unknown parameter" in envelope["message"]
