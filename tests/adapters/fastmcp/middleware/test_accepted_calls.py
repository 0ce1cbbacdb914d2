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


@pytest.mark.parametrize(
    "default",
    [pytest.param({}, id="required"), pytest.param({"x": None}, id="null_default", marks=pytest.mark.slow)],
)
@lax_unless_slow
@pytest.mark.parametrize("annotation", COMPARED.values(), ids=COMPARED)
@pytest.mark.parametrize("share", [1, *(pytest.param(share, marks=pytest.mark.slow) for share in (0, 2))])
async def test_an_accepted_call_is_not_changed_by_the_middleware(annotation, share, strict, default):
    """The body receives what FastMCP alone would pass, and no repair is recorded."""
    # ``test_validator.py`` compares more values of each type in a usual run.
    assert await differences(plain(annotation, **default), CALLS[share::3], strict=strict) == []


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
