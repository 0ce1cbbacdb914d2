"""Every call of a transformed tool that FastMCP alone accepts runs with exactly the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from adapters.differential import Build, Seen, differences
from calls import Published, call, code, got, lax_unless_slow, lenient, rules
from fastmcp import FastMCP
from fastmcp.server import create_proxy
from fastmcp.server.transforms import ToolTransform
from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import ArgTransform, ArgTransformConfig, ToolTransformConfig, forward
from hypothesis import assume, given
from hypothesis import strategies as st
from judged import TYPES as KNOWN
from pydantic import BaseModel, Field, create_model


class Other(BaseModel):
    """A model unlike a point."""

    name: str


VALUES: list[Any] = [
    *(None, True, False, 0, 5, 7.0, 7.5, 10**20, "", "5", "7.0", "a", "A", "true", "null", "2024-01-02"),
    *([], ["a"], [5], ["5"], '["a"]', "[5]", "a,b", {}, {"x": 1}, {"x": "1"}, {"x": "q"}, {"name": "n"}),
    *('{"x": 1}', [{"x": "1"}], {"x": 1, "y": "2", "z": 3}, [[1]], "1 2", " 5 "),
]

Point = KNOWN["model"]
MODELS = (Point, list[Point])
TYPES: dict[str, Any] = {
    **{name: KNOWN[name] for name in ("str", "int", "float", "bool", "list", "set", "optional", "union")},
    **{name: KNOWN[name] for name in ("model", "literal", "range", "date", "any", "dict")},
    "models": list[Point],
}


def parent(seen: Seen, annotation: Any, default: Any = ...) -> Tool:
    """Create a tool with a parameter ``x`` of this type, and a parameter ``n``."""

    def tool(x: Any, n: int = 3) -> str:
        seen.append({"x": x, "n": n})
        return "ran"

    tool.__annotations__ = {"x": annotation, "n": int, "return": str}
    if default is not ...:
        tool.__defaults__ = (default, 3)
    return Tool.from_function(tool)


def transformed(annotation: Any, default: Any = ..., **changes: ArgTransform) -> Build:
    """Add a tool whose arguments are transformed."""

    def build(server: FastMCP, seen: Seen) -> None:
        server.add_tool(Tool.from_tool(parent(seen, annotation, default), transform_args=changes))

    return build


def calls_of(*names: str) -> list[dict[str, Any]]:
    """Return calls with these names and all values, with and without other names."""
    first, *others = names
    calls: list[dict[str, Any]] = [{}, {"x": "5", "z": "5"}, *({first: value} for value in VALUES)]
    calls += [{first: value, "n": "4"} for value in VALUES[:4]]
    return calls + [{name: value} for name in others for value in VALUES[::4]]


@pytest.mark.slow
@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("kind", TYPES.values(), ids=TYPES)
async def test_the_parents_type_decides(kind, odd):
    """The parent's type decides what is accepted, whatever type ``ArgTransform(type=...)`` publishes."""
    for number, published in enumerate(TYPES.values()):
        if published in MODELS and kind in MODELS:
            continue  # FastMCP refuses to create these
        build = transformed(kind, x=ArgTransform(name="z", type=published))
        calls = calls_of("z")[number % 3 :: 3]
        assert await differences(build, calls, strict=bool(number % 2) is odd) == [], published


def _twice(annotation: Any, first: dict[str, ArgTransform], second: dict[str, ArgTransform]) -> Build:
    def build(server: FastMCP, seen: Seen) -> None:
        middle = Tool.from_tool(parent(seen, annotation), transform_args=first)
        server.add_tool(Tool.from_tool(middle, transform_args=second))

    return build


NINE = ArgTransform(hide=True, default_factory=lambda: 9)
CHANGES: dict[str, Build] = {
    "renamed": transformed(int, x=ArgTransform(name="z")),
    "renamed_to_none": transformed(int, x=ArgTransform(name=None)),  # type: ignore[arg-type]
    "swapped": transformed(str, x=ArgTransform(name="n"), n=ArgTransform(name="x")),
    "default": transformed(list[str], x=ArgTransform(name="z", default=["d"])),
    "default_of_another_type": transformed(str, x=ArgTransform(name="z", default=5, type=int)),
    "default_that_is_refused": transformed(int, x=ArgTransform(name="z", default="no")),
    "null_default": transformed(list[str] | None, x=ArgTransform(name="z", default=None, type=str)),
    "required": transformed(int | None, None, x=ArgTransform(name="z", required=True)),
    "hidden": transformed(str, n=ArgTransform(hide=True)),
    "hidden_text": transformed(str, x=ArgTransform(name="z"), n=ArgTransform(hide=True, default="9")),
    "hidden_factory": transformed(str, x=ArgTransform(name="z", type=int), n=NINE),
    "required_hidden_factory": transformed(int, x=NINE, n=ArgTransform(name="z", type=str)),
    "hidden_refused": transformed(str, x=ArgTransform(name="z"), n=ArgTransform(hide=True, default="no")),
    "two_hidden": _twice(str, {"x": ArgTransform(name="z", type=Point)}, {"n": NINE}),
    "two_models": _twice(
        Point, {"x": ArgTransform(name="y", type=Other)}, {"y": ArgTransform(name="z", type=str)}
    ),
    "strict_parent": transformed(Annotated[int, Field(strict=True)], x=ArgTransform(name="z", type=str)),
}


@lax_unless_slow
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_transformed_tool_runs_what_fastmcp_runs(change, strict):
    """The whole chain of transforms decides: renamed, hidden, required, with a default, transformed twice."""
    half = calls_of("z", "x", "n")[strict::2]  # the other half on servers of the other strictness
    assert await differences(change, half, strict=strict) == []


@given(
    parts=st.tuples(st.sampled_from(sorted(TYPES)), st.sampled_from(sorted(TYPES)), st.booleans()),
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
        lambda each: st.lists(each, max_size=2) | st.dictionaries(st.sampled_from("xy"), each, max_size=2),
        max_leaves=5,
    ),
)
async def test_any_value_for_any_pair_of_types(parts, value):
    """The parent's type decides for generated values as well."""
    below, above, strict = parts
    assume(TYPES[above] not in MODELS or TYPES[below] not in MODELS)  # FastMCP refuses to create these
    build = transformed(TYPES[below], x=ArgTransform(name="z", type=TYPES[above]))
    assert await differences(build, [{"z": value}], strict=strict) == []


class _Over(ToolTransform):
    """Transform each tool of a server with ``Tool.from_tool``."""

    def __init__(self, change: ArgTransform) -> None:
        super().__init__({"tool": ToolTransformConfig()})
        self._change = change

    async def list_tools(self, tools: Any) -> Any:
        return [Tool.from_tool(tool, transform_args={"x": self._change}) for tool in tools]

    async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Any:
        tool = await call_next(name, version=version)
        return None if tool is None else Tool.from_tool(tool, transform_args={"x": self._change})


Place = Callable[[FastMCP, FastMCP, Tool, ArgTransform], None]
"""Adds a tool to a child server, the child to a server, and a change of the tool to either."""


def _mounted(server: FastMCP, child: FastMCP, tool: Tool, change: ArgTransform) -> None:
    child.add_tool(Tool.from_tool(tool, transform_args={"x": change}))
    server.mount(child)


def _over_mounted(server: FastMCP, child: FastMCP, tool: Tool, change: ArgTransform) -> None:
    child.add_tool(tool)
    server.mount(child)
    server.add_transform(_Over(change))


def _configured(server: FastMCP, child: FastMCP, tool: Tool, _change: ArgTransform) -> None:
    child.add_tool(tool)
    config = ToolTransformConfig(arguments={"x": ArgTransformConfig(name="z")})
    child.add_transform(ToolTransform({"tool": config}))
    server.mount(child)


def _proxied(server: FastMCP, child: FastMCP, tool: Tool, change: ArgTransform) -> None:
    child.add_tool(tool)
    proxy = create_proxy(child)
    proxy.add_transform(_Over(change))
    server.mount(proxy)


def _in_function(server: FastMCP, _child: FastMCP, tool: Tool, change: ArgTransform) -> None:
    async def hand_on(**kwargs: Any) -> Any:
        return await forward(**kwargs)

    server.add_tool(Tool.from_tool(tool, transform_fn=hand_on, transform_args={"x": change}))


_PAIRS = [("str", "int"), ("list", "str"), ("str", "model"), ("int", "str"), ("model", "str"), ("any", "int")]
_PLACES = [_mounted, _over_mounted, _configured]
# Only the schema of a proxied tool is known, or of what a function passes on.
_BY_SCHEMA = [_proxied, _in_function]


@pytest.mark.parametrize(
    ("odd", "step"), [(False, 8), *(pytest.param(odd, 3, marks=pytest.mark.slow) for odd in (False, True))]
)
@pytest.mark.parametrize("place", [*_PLACES, *_BY_SCHEMA])
async def test_the_parents_type_decides_wherever_it_is(place: Place, odd, step):
    """A transform in a mounted or proxied server, of its tool, or by a function does not change what is accepted."""
    for number, (below, above) in enumerate(_PAIRS[:3] if place in _BY_SCHEMA else _PAIRS):
        child_strict = place in _BY_SCHEMA or bool(number // 2 % 2)

        def build(
            server: FastMCP, seen: Seen, below: str = below, above: str = above, strict: bool = child_strict
        ) -> None:
            child: FastMCP = FastMCP("child", strict_input_validation=strict)
            place(server, child, parent(seen, TYPES[below]), ArgTransform(name="z", type=TYPES[above]))

        calls, strict = calls_of("z")[number % step :: step], bool(number % 2) is odd
        assert await differences(build, calls, strict=strict) == [], (below, above)


@pytest.mark.parametrize("value", ["5", 5], ids=["published", "parent"])
async def test_a_transformed_custom_tool_accepts_both_types(value):
    """If only schemas are known, values of the published type and of the parent's type are not changed."""
    parent_tool = Published(
        name="own", parameters={"type": "object", "properties": {"x": {"type": "integer"}}}
    )
    server = lenient(
        Tool.from_tool(parent_tool, name="tool", transform_args={"x": ArgTransform(name="z", type=str)})
    )
    result = await call(server, "tool", {"z": value})
    assert (got(result), rules(result)) == ({"got": {"x": value}}, [])


async def test_conflicting_definitions_do_not_refuse_valid_calls():
    """If two transforms publish different models with the same name, valid calls of the parent run."""
    renamed = create_model("Point", name=(str, ...))
    seen: Seen = []
    server = lenient()
    changes = {"x": ArgTransform(name="y", type=Other)}, {"y": ArgTransform(name="z", type=renamed)}
    _twice(Point, *changes)(server, seen)
    result = await call(server, "tool", {"z": {"x": 1}})
    assert (rules(result), seen) == ([], [{"x": Point(x=1), "n": 3}])


async def test_the_published_type_is_repaired_for_the_parent():
    """An integer, as published, becomes the string that the parent accepts; other types are refused."""
    seen: Seen = []
    server = lenient()
    transformed(str, x=ArgTransform(name="z", type=int))(server, seen)
    assert rules(await call(server, "tool", {"z": 5})) == ["number_to_text"]
    assert seen == [{"x": "5", "n": 3}]
    assert code(await call(server, "tool", {"z": [5, 6]})) == "INVALID_Z_TYPE"
