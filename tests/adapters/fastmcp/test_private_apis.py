"""Private FastMCP APIs used by the adapter; these tests fail when FastMCP changes them."""

from __future__ import annotations

import json
import sys
from itertools import count
from typing import Any

import pytest
from calls import call, on_both_servers
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError, ValidationError
from fastmcp.server import create_proxy, dependencies
from fastmcp.server.transforms import Namespace, ToolTransform
from fastmcp.server.transforms.search import BM25SearchTransform, RegexSearchTransform
from fastmcp.tools import FunctionTool, Tool, ToolResult, function_tool
from fastmcp.tools.tool_transform import (
    ArgTransform,
    ArgTransformConfig,
    ToolTransformConfig,
    TransformedTool,
    forward,
)
from fastmcp.utilities.versions import VersionSpec
from fastmcp_versions import not_on_3, since

from mcp_lenient import LenientMiddleware
from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.compat.running import CALL_METHODS
from mcp_lenient.adapters.fastmcp.tools import as_published, find_target
from mcp_lenient.engine.tool import HostTool
from mcp_lenient.errors import SchemaError


def _add(left: int, right: int = 2, *, exact: bool = False) -> None: ...


def _server(*, strict: bool = False) -> FastMCP:
    server = FastMCP("server", strict_input_validation=strict)
    server.tool(_add, name="add")
    return server


def _mount(child: FastMCP, *, strict: bool = False, namespace: str | None = None) -> FastMCP:
    parent = FastMCP("parent", strict_input_validation=strict)
    parent.mount(child, namespace=namespace)
    return parent


def _changed(of: FastMCP, changes: dict[str, ArgTransformConfig]) -> FastMCP:
    of.add_transform(ToolTransform({"add": ToolTransformConfig(name="changed", arguments=changes)}))
    return of


def _namespaced(server: FastMCP) -> FastMCP:
    server.add_transform(Namespace("n"))
    return server


async def _own(parent: FastMCP, *, strict: bool = False, **changes: ArgTransform) -> FastMCP:
    """Create a server with a tool that transforms a tool of the parent."""
    server = FastMCP("own", strict_input_validation=strict)
    server.add_tool(Tool.from_tool(await _tool(parent, "add"), name="changed", transform_args=changes))
    return server


async def _tool(server: FastMCP, name: str, version: VersionSpec | None = None) -> Tool:
    found = await server.get_tool(name, version)
    assert found is not None
    return found


async def _target(server: FastMCP, name: str, version: VersionSpec | None = None) -> HostTool:
    return await find_target(server, await _tool(server, name, version))


async def _runs(server: FastMCP, name: str, arguments: Any, version: VersionSpec | None = None) -> bool:
    try:
        await server.call_tool(name, arguments, version=version)
    except (ValidationError, ToolError):
        return False
    return True


NAME = {"left": ArgTransformConfig(name="a"), "right": ArgTransformConfig(name="left")}
HIDE = {"right": ArgTransformConfig(hide=True, default=5), "left": ArgTransformConfig(name="right")}
DEFAULT = {"left": ArgTransformConfig(default=7), "right": ArgTransformConfig(required=True)}
BAD_DEFAULT = {"left": ArgTransformConfig(default="q")}

SERVERS = {
    "plain": lambda: (_server(), "add"),
    "strict": lambda: (_server(strict=True), "add"),
    "lax_in_strict": lambda: (_mount(_server(), strict=True), "add"),
    "strict_in_lax": lambda: (_mount(_server(strict=True), namespace="m"), "m_add"),
    "nested": lambda: (_mount(_mount(_server(strict=True), namespace="b"), namespace="a"), "a_b_add"),
    "renamed": lambda: (_changed(_server(), NAME), "changed"),
    "hidden": lambda: (_changed(_server(strict=True), HIDE), "changed"),
    "defaults": lambda: (_changed(_server(), DEFAULT), "changed"),
    "bad_default": lambda: (_changed(_server(), BAD_DEFAULT), "changed"),
    "renamed_below_mount": lambda: (_mount(_changed(_server(strict=True), NAME), namespace="m"), "m_changed"),
    "renamed_above_mount": lambda: (_changed(_mount(_server(), strict=True), NAME), "changed"),
    "renamed_and_namespaced": lambda: (_namespaced(_changed(_server(), NAME)), "n_changed"),
}

OWN = {
    "same": {},
    "renamed": {"left": ArgTransform(name="a", description="first")},
    "hidden_default": {"right": ArgTransform(hide=True)},
}

CALLS = json.loads("""[
    {}, {"left": 1}, {"left": "1"}, {"left": 1.0}, {"left": "q", "right": null}, {"left": 1, "right": "2"},
    {"left": 1, "right": 2, "exact": true}, {"left": 1, "right": 2, "exact": "no"}, {"right": 3}, {"right": "z"},
    {"a": 1}, {"a": "1", "left": 2}, {"a": [], "left": 2}, {"a": 1, "right": 3}, {"right": 1, "exact": 7},
    {"left": 1, "b": 2}, {"": 1}, {"left": 1, "self": 2}
]""")


async def _disagreements(server: FastMCP, name: str) -> list[Any]:
    target = await _target(server, name)
    assert target.validator is not None
    assert target.function is _add
    answers = [(target.validator.accepts(call), target.validator.faults(call) == ()) for call in CALLS]
    ran = [await _runs(server, name, call) for call in CALLS]
    return [call for call, answer, runs in zip(CALLS, answers, ran, strict=True) if answer != (runs, runs)]


@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS.keys())
async def test_the_validator_agrees_with_fastmcp(server):
    """The validator accepts exactly the calls that FastMCP runs, through all mounts and transforms."""
    assert await _disagreements(*server()) == []


@on_both_servers
@pytest.mark.parametrize("changes", OWN.values(), ids=OWN.keys())
async def test_strictness_is_that_of_the_server_that_calls_the_function(changes, strict):
    """A transformed tool has the strictness of its new server, a mounted one that of the child."""
    taken = await _own(_server(strict=not strict), strict=strict, **changes)
    assert await _disagreements(taken, "changed") == []
    delegated = await _own(_mount(_server(strict=not strict)), strict=strict, **changes)
    assert await _disagreements(delegated, "changed") == []


@pytest.mark.parametrize(
    ("changes", "arguments", "faults"),
    [
        (NAME, {"left": "q", "b": 1}, "type left; unknown b; missing a"),
        (HIDE, {"right": "q", "left": 1}, "type right; unknown left"),
        (DEFAULT, {"left": []}, "type left; missing right"),
        (BAD_DEFAULT, {"right": "q"}, "type right; missing left"),
        ({"right": ArgTransformConfig(hide=True, default="bad")}, {"left": 1}, ""),
    ],
    ids=["renamed", "hidden", "required", "bad_default", "bad_constant"],
)
async def test_faults_use_the_published_names(changes, arguments, faults):
    """Faults have the published names of parameters, and none is about a hidden one."""
    validator = (await _target(_changed(_server(), changes), "changed")).validator
    assert validator is not None
    assert "; ".join(f"{each.kind} {each.path[0]}" for each in validator.faults(arguments)) == faults
    assert validator.accepts(arguments) is (not faults)


async def test_validation_creates_no_hidden_values():
    """The default factory of a hidden argument, which may have side effects, runs only if the call runs."""
    numbers = count()
    server = await _own(_server(), left=ArgTransform(hide=True, default_factory=lambda: next(numbers)))
    validator = (await _target(server, "changed")).validator
    assert validator is not None
    assert validator.accepts({})
    assert not validator.accepts({"right": "q"})
    assert next(numbers) == 0


class _Overridden(FunctionTool):
    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(content=str(arguments))


class _Own(Tool):
    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(content=str(arguments))


async def _custom(**kwargs: Any) -> ToolResult:
    return await forward(**kwargs)


@pytest.mark.parametrize(
    "tool_of",
    [
        pytest.param(lambda _: _Overridden.from_function(_add), id="overridden_run"),
        pytest.param(lambda _: _Own(name="own", parameters={"type": "object"}), id="own_tool"),
        pytest.param(lambda add: Tool.from_tool(add, transform_fn=_custom), id="custom_transform"),
        pytest.param(lambda _: TransformedTool.from_tool(_Overridden.from_function(_add)), id="of_uncertain"),
    ],
)
async def test_other_tools_are_not_certain(tool_of):
    """For a tool that may validate differently, only its published schema is used."""
    server = _server()
    made = tool_of(await _tool(server, "add"))
    server.add_tool(made)
    assert await find_target(server, made) == HostTool(**as_published(made))
    assert (await _target(_mount(create_proxy(server)), made.name)).validator is None


async def test_a_target_lists_the_servers_on_its_route():
    """A target has the mounted servers that a call passes through, with the tool's name in each."""
    inner = _server()
    outer = _mount(inner, namespace="b")
    target = await _target(_mount(outer, namespace="a"), "a_b_add")
    assert target.route == ((outer, "b_add"), (inner, "add"))
    assert (await _target(inner, "add")).route == ()


async def test_a_mounted_tool_that_is_gone_is_not_certain():
    """If the child no longer has the tool, only the parent's published schema is used."""
    child = _server()
    parent = _mount(child)
    mounted = await _tool(parent, "add")
    child.local_provider.remove_tool("add")
    target = await find_target(parent, mounted)
    assert (target.record, target.validator) == (mounted, None)


def _unknown(x: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821 - tested here


def test_a_function_without_a_validator_raises():
    """A signature for which no validator can be built raises ``SchemaError`` with the reason."""
    with pytest.raises(SchemaError, match="unknown"):
        compat.probe(_unknown, run_in_thread=True, strict=False)


async def test_a_tool_that_cannot_be_validated_is_not_certain():
    """If no validator can be built for a tool's function, only its published schema is used."""
    server = _server()
    tool = await _tool(server, "add")
    tool.fn = _unknown
    assert await find_target(server, tool) == HostTool(**as_published(tool))


async def test_a_tool_is_probed_once():
    """Looking up the validator again, as before each repair, does not build another."""
    server = _server()
    first, again = await _target(server, "add"), await _target(_mount(server), "add")
    before = compat.probe.cache_info().misses
    await _target(server, "add")
    assert compat.probe.cache_info().misses == before
    assert first.function is again.function


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (function_tool, "_wrap_body_errors"),
        pytest.param(function_tool, "_validate_input", marks=since(4, 1, "strict validation read no JSON")),
        *((FunctionTool, name) for name in ("run", "_run", "_execute")),
        pytest.param(FunctionTool, "_run_body", marks=not_on_3("it has fewer steps")),
        *((TransformedTool, name) for name in ("run", "_run")),
        (dependencies, "without_injected_parameters"),
    ],
)
def test_private_fastmcp_apis_exist(owner, name):
    """FastMCP still has the private functions that are used by name."""
    assert callable(getattr(owner, name))


def test_what_runs_middleware_and_extensions_is_wrapped():
    """FastMCP still has the methods that a message passes on its way; refusals wait behind what they run."""
    LenientMiddleware()
    assert compat.is_wrapped()


async def test_the_methods_of_a_server_that_a_call_passes_are_known():
    """An author's method in place of any of them is known to see calls."""
    passed: set[str] = set()

    async def frames() -> None:
        frame = sys._getframe(0)
        while frame is not None:
            if isinstance(frame.f_locals.get("self"), FastMCP):
                passed.add(frame.f_code.co_name)
            frame = frame.f_back

    await call(FastMCP("s", tools=[frames]), "frames", {})
    assert "call_tool" in passed
    assert passed <= CALL_METHODS


def test_no_tool_is_found_outside_a_call():
    """Outside a call there is no running tool, and outside a registration no function."""
    assert compat.running_tool() is None
    assert compat.registered_function() is None
    assert not host.is_clients_call("add")


@pytest.mark.parametrize("transform", [RegexSearchTransform, BM25SearchTransform])
async def test_the_tools_of_search_transforms_are_known(transform):
    """They are known by their functions in process, and by their list entries behind a proxy, whatever their names."""
    server = _server()
    server.add_transform(transform(search_tool_name="find", call_tool_name="run"))
    finder, caller = await _tool(server, "find"), await _tool(server, "run")
    assert isinstance(caller, FunctionTool)
    assert isinstance(finder, FunctionTool)
    found_by = compat.search_transform(caller.fn)
    assert isinstance(found_by, transform)
    assert compat.search_transform(finder.fn) is None
    listed = {tool.name: tool for tool in await create_proxy(server).list_tools()}
    assert {name: compat.search_tool(tool) for name, tool in listed.items()} == {
        "find": "finder",
        "run": "caller",
    }
    assert compat.search_tool(await _tool(_server(), "add")) is None
