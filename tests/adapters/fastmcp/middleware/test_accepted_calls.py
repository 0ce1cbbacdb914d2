"""Every call that FastMCP alone accepts runs under mcp-lenient with exactly the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from differential import Build, Seen, differences
from fastmcp import FastMCP
from fastmcp.tools import Tool
from judged import TYPES, USUAL, VALUES
from sampling import lax_and_strict, pairwise, quick, usual

from mcp_lenient import lenient

# "fails" is left out: its values are validated differently each time, or compared by address.
COMPARED = [row for row in usual(TYPES, *USUAL) if row.id != "fails"]
CALLS = [*({"x": value} for value in VALUES), {}, {"X": 1}, {"x": 1, "y": 2}]


with_and_without_default = pytest.mark.parametrize(
    ("annotation", "strict", "default"),
    [
        pytest.param(
            *row.values,
            default,
            id=f"{row.id}-{name}",
            marks=row.marks if bool(row.values[1]) is bool(default) else [*row.marks, pytest.mark.full],
        )
        for row in lax_and_strict(quick(COMPARED, "literal", "union", "closed"))
        for name, default in {"required": {}, "null_default": {"x": None}}.items()
    ],
)
"""Each type as required on a lax server and as optional on a strict one; all four combinations in full."""


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


@pytest.mark.usual_rows(
    "int-lax-required",
    "bool-strict-null_default",
    "str_enum-lax-required",
    "secret-strict-null_default",
    "optional_list-lax-required",
    "union_of_models-strict-null_default",
    "recursive-lax-required",
    "before-strict-null_default",
)
@pytest.mark.quick_rows("literal-strict-null_default")
@with_and_without_default
async def test_an_accepted_call_is_not_changed_by_the_middleware(annotation, strict, default):
    """The body receives what FastMCP alone would pass, and no repair is recorded."""
    assert await differences(plain(annotation, **default), CALLS, strict=strict) == []


@pytest.mark.usual_rows(
    "int-lax-required",
    "bool-strict-null_default",
    "str_enum-lax-required",
    "secret-strict-null_default",
    "json-strict-null_default",
    "dict-strict-null_default",
    "union_of_models-strict-null_default",
    "recursive-lax-required",
    "before-strict-null_default",
)
@pytest.mark.quick_rows("union-strict-null_default")
@with_and_without_default
async def test_an_accepted_call_is_not_changed_by_the_decorator(annotation, strict, default):
    """The body of a function under ``@lenient`` receives what FastMCP alone would pass."""
    build, made = plain(annotation, **default), decorated(annotation, **default)
    assert await differences(build, CALLS, strict=strict, decorated=made) == []


@pytest.mark.usual_rows("int-lax", "bool-lax", "union_of_models-lax", "before-lax")
@pytest.mark.parametrize(("annotation", "strict"), pairwise(quick(COMPARED, "union")))
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
