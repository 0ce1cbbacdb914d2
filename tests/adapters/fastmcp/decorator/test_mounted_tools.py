"""Declarations survive mounts, namespaces, transforms and versions, whichever server has the middleware."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from calls import Log, call, code, got, plain
from fastmcp import FastMCP
from fastmcp.server.transforms import ToolTransform
from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import ArgTransform, ArgTransformConfig, ToolTransformConfig

from mcp_lenient import LenientMiddleware, Policy, lenient
from mcp_lenient.normalizers import aliases, lower, tags


@lenient(task=(aliases("query", "指令"), lower()), tags=tags())
def store(task: str, tags: list[str] | None = None, limit: int = 5) -> dict[str, Any]:
    """Store a task."""
    return {"task": task, "tags": tags, "limit": limit}


WHERE = pytest.mark.parametrize(
    ("on_parent", "on_child"),
    [
        pytest.param(True, False, id="parent"),
        pytest.param(False, True, id="child"),
        pytest.param(True, True, id="both"),
    ],
)
"""Which of the two servers has the middleware."""
Way = Callable[[FastMCP, FastMCP], str]


def _namespaced(parent: FastMCP, child: FastMCP) -> str:
    child.add_tool(store)
    parent.mount(child, namespace="ns")
    return "ns_store"


def _deep(parent: FastMCP, child: FastMCP) -> str:
    lowest = plain(store, name="lowest")
    child.mount(lowest, namespace="low")
    parent.mount(child, namespace="ns")
    return "ns_low_store"


def _renamed_tool(parent: FastMCP, child: FastMCP) -> str:
    child.add_tool(Tool.from_tool(Tool.from_function(store), name="keep"))
    parent.mount(child, namespace="ns")
    return "ns_keep"


def _transformed_by_the_child(parent: FastMCP, child: FastMCP) -> str:
    child.add_tool(store)
    child.add_transform(ToolTransform({"store": ToolTransformConfig(name="keep")}))
    parent.mount(child)
    return "keep"


def _transformed_by_the_parent(parent: FastMCP, child: FastMCP) -> str:
    child.add_tool(store)
    parent.mount(child, namespace="ns")
    parent.add_transform(ToolTransform({"ns_store": ToolTransformConfig(name="keep")}))
    return "keep"


WAYS = [_namespaced, _deep, _renamed_tool, _transformed_by_the_child, _transformed_by_the_parent]


def _servers(*, on_parent: bool, on_child: bool) -> tuple[FastMCP, FastMCP]:
    parent, child = plain(name="parent"), plain(name="child")
    for server, wanted in ((parent, on_parent), (child, on_child)):
        if wanted:
            server.add_middleware(LenientMiddleware())
    return parent, child


@pytest.mark.parametrize("on_child", [False, True])
@pytest.mark.parametrize("on_parent", [False, True])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
async def test_declarations_survive(way: Way, on_parent, on_child, events: Log):
    """Normalizers and repairs run, or refuse, once; and aliases where a middleware reads names before a transform."""
    parent, child = _servers(on_parent=on_parent, on_child=on_child)
    name = way(parent, child)
    reads_aliases = on_parent or (on_child and way is not _transformed_by_the_parent)
    task = "query" if reads_aliases else "task"
    result = await call(parent, name, {task: "Tidy", "tags": "a", "limit": "7"})
    assert got(result) == {"task": "tidy", "tags": ["a"], "limit": 7}
    assert events.names == ["call_repaired"]
    made = {repair["rule"] for repair in events[0]["repairs"]} - {"text_to_integer"}
    assert made == {"lower", "tags"} | ({"rename_alias"} if reads_aliases else set())
    assert code(await call(parent, name, {"task": "a", "tags": 5})) == "INVALID_TAGS_TYPE"
    assert events.names == ["call_repaired", "call_rejected"]


def _by_tool(changes: dict[str, ArgTransform]) -> Way:
    def way(parent: FastMCP, child: FastMCP) -> str:
        child.add_tool(Tool.from_tool(Tool.from_function(store), transform_args=changes))
        parent.mount(child, namespace="ns")
        return "ns_store"

    return way


def _by_child(changes: dict[str, ArgTransformConfig]) -> Way:
    def way(parent: FastMCP, child: FastMCP) -> str:
        child.add_tool(store)
        child.add_transform(ToolTransform({"store": ToolTransformConfig(arguments=changes)}))
        parent.mount(child, namespace="ns")
        return "ns_store"

    return way


CHANGED = [
    pytest.param(
        _by_tool({"task": ArgTransform(name="job"), "tags": ArgTransform(hide=True, default=["x"])}),
        {"tags": ["x"], "limit": 5},
        "tags",
        id="tool",
    ),
    pytest.param(
        _by_child(
            {"task": ArgTransformConfig(name="job"), "limit": ArgTransformConfig(hide=True, default=9)}
        ),
        {"tags": None, "limit": 9},
        "limit",
        id="transform",
    ),
]


@WHERE
@pytest.mark.parametrize(("way", "others", "hidden"), CHANGED)
async def test_changed_arguments(way: Way, others, hidden, on_parent, on_child):
    """Declarations apply to the new name of an argument; a hidden one has its constant value."""
    parent, child = _servers(on_parent=on_parent, on_child=on_child)
    tool = way(parent, child)
    for name in ("job", "query", "指令"):
        assert got(await call(parent, tool, {name: "Tidy"})) == {"task": "tidy", **others}
    assert code(await call(parent, tool, {"job": "Tidy", hidden: 9})) == "UNKNOWN_PARAMETER"


@lenient(tags=(aliases("labels"), tags(lower=True)))
def first(tags: list[str]) -> dict[str, Any]:
    """The first version."""
    return {"version": 1, "tags": tags}


@lenient(tags=aliases("words"), policy=Policy(disable={"scalar_to_array"}))
def second(tags: list[str]) -> dict[str, Any]:
    """The second version."""
    return {"version": 2, "tags": tags}


@WHERE
async def test_versions(on_parent, on_child):
    """Each version of a tool has its own declarations and policy."""
    parent, child = _servers(on_parent=on_parent, on_child=on_child)
    for function, version in ((first, "1.0"), (second, "2.0")):
        child.add_tool(Tool.from_function(function, name="tool", version=version))
    parent.mount(child, namespace="ns")
    tool = "ns_tool"
    for _ in range(2):
        result = await call(parent, tool, {"labels": "A"}, version="1.0")
        assert got(result) == {"version": 1, "tags": ["a"]}
        result = await call(parent, tool, {"words": ["A"]}, version="2.0")
        assert got(result) == {"version": 2, "tags": ["A"]}
        assert (await call(parent, tool, {"words": "A"}, version="2.0")).is_error
        assert (await call(parent, tool, {"labels": ["A"]})).is_error
