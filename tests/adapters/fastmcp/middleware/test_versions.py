"""Versions of a tool: each call is validated against the version that it requests."""

from __future__ import annotations

from typing import Any

import pytest
from calls import call, code, got, lenient, rules
from fastmcp import FastMCP
from fastmcp.tools import Tool
from fastmcp.utilities.versions import VersionSpec


def _versioned() -> FastMCP:
    server = lenient()

    def first(tags: str) -> Any:
        return {"version": 1, "tags": tags}

    def second(tags: list[str]) -> Any:
        return {"version": 2, "tags": tags}

    server.add_tool(Tool.from_function(first, name="tool", version="1.0"))
    server.add_tool(Tool.from_function(second, name="tool", version="2.0"))
    return server


@pytest.mark.parametrize("mounted", [False, True], ids=["own", "mounted"])
async def test_each_version_is_validated_separately(mounted):
    """Each call is validated against its version, in any order of calls."""
    server = _versioned()
    if mounted:
        parent = lenient(name="parent")
        parent.mount(server)
        server = parent
    for _ in range(2):
        for version in ("1.0", "2.0", None):
            result = await call(server, "tool", {"tags": '["a"]'}, version=version)
            first = version == "1.0"
            assert got(result) == (
                {"version": 1, "tags": '["a"]'} if first else {"version": 2, "tags": ["a"]}
            )
            assert rules(result) == ([] if first else ["json_text_to_array"])
    assert code(await call(server, "tool", {"tags": {"a": 1}}, version="1.0")) == "INVALID_TAGS_TYPE"
    assert rules(await call(server, "tool", {"tags": ["a"]}, version="2.0")) == []


async def test_a_range_of_versions_finds_its_version():
    """A call from Python may give a version range."""
    server = _versioned()
    older = await server.call_tool("tool", {"tags": "[]"}, version=VersionSpec(lt="2.0"))
    newer = await server.call_tool("tool", {"tags": "[]"}, version=VersionSpec(gte="1.5"))
    assert (got(older)["tags"], got(newer)["tags"]) == ("[]", [])


async def test_an_unknown_version_is_an_unknown_tool():
    """An unknown version is reported as FastMCP reports an unknown tool."""
    assert code(await call(_versioned(), "tool", {"tags": []}, version="3.0")) == "UNKNOWN_TOOL"
