"""Every call that FastMCP alone accepts runs under mcp-lenient with exactly the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from adapters.differential import Build, Seen, differences
from calls import Recorder, call, got, lax_unless_slow, lenient, on_both_servers, rules
from fastmcp import FastMCP
from fastmcp.tools import Tool
from judged import TYPES, VALUES
from pydantic import BeforeValidator

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
@on_both_servers
@of_each_type
async def test_an_accepted_call_of_a_mounted_tool_is_not_changed(annotation, strict):
    """The newest version of the tool is called, with the strictness of the server that owns it."""
    assert await differences(mounted(annotation, child_strict=not strict), CALLS, strict=strict) == []


async def test_an_accepted_parameter_stays_as_sent():
    """An accepted value goes on as the same object, also beside a repaired one, and even if a rule could change it."""

    def tool(count: int, rows: list[dict[str, int]], tags: list[str], flag: bool = False) -> Any:  # noqa: FBT002
        return {"count": count, "rows": rows, "tags": tags, "flag": flag}

    recorder = Recorder()
    server = lenient(tool)
    server.add_middleware(recorder)
    rows = [{"a": "1"}]
    result = await server.call_tool("tool", {"count": "5", "rows": rows, "tags": '["a"]', "flag": "yes"})
    assert recorder.arguments[0] == {"count": "5", "rows": [{"a": "1"}], "tags": ["a"], "flag": "yes"}
    await server.call_tool("tool", {"count": 5, "rows": rows, "tags": ["a"]})
    assert [each["rows"] is rows for each in recorder.arguments] == [True, True]
    assert got(result) == {"count": 5, "rows": [{"a": 1}], "tags": ["a"], "flag": True}


@on_both_servers
async def test_an_authors_validator_gets_the_original_text(strict):
    """A validator that splits ``"a,b"`` still gets the string, even if another parameter is repaired."""
    given: list[Any] = []

    def split(value: Any) -> Any:
        given.append(value)
        return value.split(",") if isinstance(value, str) else value

    def tool(tags: Any, limits: list[int] | None = None) -> Any:
        return {"tags": tags, "limits": limits}

    tool.__annotations__["tags"] = Annotated[list[str], BeforeValidator(split)]
    server = lenient(tool, strict=strict)
    for limits, expected, repairs in ((None, None, []), ("[1]", [1], ["json_text_to_array"])):
        result = await call(server, "tool", {"tags": "a,b", "limits": limits})
        assert (got(result), rules(result)) == ({"tags": ["a", "b"], "limits": expected}, repairs)
    assert set(given) == {"a,b"}
