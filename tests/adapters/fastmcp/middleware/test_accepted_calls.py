"""Every call that FastMCP alone accepts runs under mcp-lenient with exactly the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from adapters.differential import Build, Seen, differences
from calls import lax_unless_slow, on_both_servers
from fastmcp import FastMCP
from fastmcp.tools import Tool
from judged import TYPES, VALUES

from mcp_lenient import lenient

# "fails" is left out: its values are validated differently each time, or compared by address.
COMPARED = {name: kind for name, kind in TYPES.items() if name != "fails"}
CALLS = [*({"x": value} for value in VALUES), {}, {"X": 1}, {"x": 1, "y": 2}]


of_each_type = pytest.mark.parametrize("annotation", COMPARED.values(), ids=COMPARED)
with_and_without_default = pytest.mark.parametrize(
    "default",
    [pytest.param({}, id="required"), pytest.param({"x": None}, id="null_default", marks=pytest.mark.slow)],
)


def recording(annotation: Any, seen: Seen, **default: Any) -> Callable[..., str]:
    """Return a function with one parameter of this type, which records its argument."""

    def tool(x: Any) -> str:
        seen.append(x)
        return "ran"

    tool.__annotations__ = {"x": annotation, "return": str}
    tool.__defaults__ = tuple(default.values()) or None
    return tool


def plain(annotation: Any, **default: Any) -> Build:
    """Add the plain tool."""

    def build(server: FastMCP, seen: Seen) -> None:
        server.add_tool(Tool.from_function(recording(annotation, seen, **default)))

    return build


def decorated(annotation: Any, **default: Any) -> Build:
    """Add the tool with ``@lenient``."""

    def build(server: FastMCP, seen: Seen) -> None:
        server.add_tool(Tool.from_function(lenient(recording(annotation, seen, **default))))

    return build


def mounted(annotation: Any, *, child_strict: bool) -> Build:
    """Add two versions of the tool on a mounted server of another strictness; the second one records."""

    def build(server: FastMCP, seen: Seen) -> None:
        child: FastMCP = FastMCP("child", strict_input_validation=child_strict)
        child.add_tool(Tool.from_function(recording(str, []), version="1"))
        child.add_tool(Tool.from_function(recording(annotation, seen), version="2"))
        server.mount(child)

    return build


@with_and_without_default
@lax_unless_slow
@of_each_type
async def test_an_accepted_call_is_not_changed_by_the_middleware(annotation, strict, default):
    """The body receives what FastMCP alone would pass, and no repair is recorded."""
    assert await differences(plain(annotation, **default), CALLS, strict=strict) == []


@pytest.mark.slow
@with_and_without_default
@on_both_servers
@of_each_type
async def test_an_accepted_call_is_not_changed_by_the_decorator(annotation, strict, default):
    """The body of a function under ``@lenient`` receives what FastMCP alone would pass."""
    build, made = plain(annotation, **default), decorated(annotation, **default)
    assert await differences(build, CALLS, strict=strict, decorated=made) == []


@pytest.mark.slow
@on_both_servers
@of_each_type
async def test_an_accepted_call_of_a_mounted_tool_is_not_changed(annotation, strict):
    """The newest version of the tool is called, with the strictness of the server that owns it."""
    assert await differences(mounted(annotation, child_strict=not strict), CALLS, strict=strict) == []


async def _parameters(sent: dict[str, Any], *, strict: bool) -> list[Any]:
    seen: Seen = []
    server: FastMCP = FastMCP("server", strict_input_validation=strict)

    def tool(a: int, b: str | int, c: float, d: list[int]) -> str:
        seen.append([a, b, c, d])
        return "ran"

    server.add_tool(Tool.from_function(lenient(tool)))
    await server.call_tool("tool", sent)
    return seen


@pytest.mark.parametrize(
    ("sent", "strict", "expected"),
    [
        pytest.param({"a": "5", "b": "6", "c": 1, "d": "[1]"}, False, [5, "6", 1.0, [1]], id="lax"),
        pytest.param({"a": 5, "b": "6", "c": 1, "d": "[1]"}, True, [5, "6", 1.0, [1]], id="strict"),
    ],
)
async def test_accepted_parameters_beside_a_repaired_one_stay_unchanged(sent, strict, expected):
    """Repairing one parameter does not change the values of the others."""
    assert [[type(each), each] for each in (await _parameters(sent, strict=strict))[0]] == [
        [type(each), each] for each in expected
    ]
