"""Results and errors of tools pass unchanged, except that ``_meta`` lists the repairs."""

from __future__ import annotations

from typing import Any

import anyio
import mcp.types as mcp_types
import pytest
from calls import Log, Published, call, got, lenient, plain, published, text
from fastmcp import Client, Context
from fastmcp.exceptions import FastMCPError, NotFoundError, ToolError, ValidationError
from fastmcp.tools import FunctionTool, ToolResult
from fastmcp_versions import NOT_THERE, OWN_VALIDATION, not_on_3, since
from mcp.types import CallToolResult, ElicitResult, TextContent
from pydantic import BaseModel
from pydantic import ValidationError as PydanticError


class _Row(BaseModel):
    size: int


def _tool_error(tags: list[str]) -> None:
    raise ToolError(f"no such tag: {tags}")  # noqa: EM102 - an author's own way


def _key_error(tags: list[str]) -> Any:
    return {}[tags[0]]


def _not_found(tags: list[str]) -> None:
    raise NotFoundError(tags[0])


def _validation_error(tags: list[str]) -> None:
    _Row.model_validate({"size": tags})


def _error_result(tags: list[str]) -> ToolResult:
    return ToolResult(content=f"none of {tags}", is_error=True, meta={"mine": 1})


def _raw_error(tags: list[str]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=f"raw {tags}")], is_error=True)


_FAILURES = (FastMCPError, PydanticError)
"""Before FastMCP 4.1, a Pydantic error of a body is raised unchanged."""
SINCE_4_1 = since(4, 1, "FastMCP did this in another way")

FAILING = [
    _tool_error,
    _key_error,
    _not_found,
    pytest.param(_validation_error, marks=SINCE_4_1),
    _error_result,
    pytest.param(_raw_error, marks=SINCE_4_1),
]


@pytest.mark.parametrize("tags", [["a"], '["a"]'], ids=["accepted", "repaired"])
@pytest.mark.parametrize("function", FAILING)
async def test_a_tools_own_error_passes_unchanged(function, tags):
    """An error that a body raises or returns has the same text as with FastMCP alone."""
    expected = await call(plain(function), function.__name__, {"tags": ["a"]})
    result = await call(lenient(function), function.__name__, {"tags": tags})
    assert expected.is_error
    assert (result.is_error, text(result)) == (True, text(expected))
    assert "status" not in (result.meta or {}).get("mcp_lenient", {})


@pytest.mark.parametrize(
    "function",
    [_tool_error, pytest.param(_validation_error, marks=since(4, 1, OWN_VALIDATION))],
)
async def test_a_tools_own_error_is_not_a_refusal(function, events: Log):
    """A call that fails in the body is logged as accepted, and as failed by the exception's type without its text."""
    with pytest.raises(_FAILURES):
        await lenient(function).call_tool(function.__name__, {"tags": ["a"]})
    assert events.names == ["call_accepted", "call_failed"]
    assert events[1]["exception"] in ("ToolError", "ValidationError")
    assert events[1]["fault"] == "tool_failed"


@pytest.mark.parametrize("tags", [["a"], '["a"]'], ids=["accepted", "repaired"])
async def test_a_timeout_is_reported_as_without_the_middleware(tags):
    """A tool that times out fails with the same text as with FastMCP alone."""

    async def slow(tags: list[str]) -> Any:
        await anyio.sleep(5)
        return tags

    tool = FunctionTool.from_function(slow, timeout=0.02)
    expected = await call(plain(tool), "slow", {"tags": ["a"]})
    result = await call(lenient(tool), "slow", {"tags": tags})
    assert "timed out" in text(expected)
    assert (result.is_error, text(result)) == (True, text(expected))


@since(4, 1, NOT_THERE)
async def test_a_request_for_input_passes_unchanged():
    """A tool that asks the client for input gets the answer, and the continued call is repaired again."""

    async def ask(tags: list[str], ctx: Context) -> Any:
        if ctx.input_responses is None:
            question = mcp_types.ElicitRequestFormParams(
                message="Sure?",
                requested_schema={"type": "object", "properties": {"sure": {"type": "boolean"}}},
            )
            return mcp_types.InputRequiredResult(
                input_requests={"q": mcp_types.ElicitRequest(params=question)}, request_state="asked"
            )
        return {"tags": tags, "answers": list(ctx.input_responses)}

    async def answer(*_: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"sure": True})

    for sent in (["a"], '["a"]'):
        async with Client(lenient(ask), elicitation_handler=answer, mode="2026-07-28") as client:
            result = await client.call_tool_mcp("ask", {"tags": sent})
        assert got(result) == {"tags": ["a"], "answers": ["q"]}


@SINCE_4_1
@pytest.mark.parametrize("tags", [["a"], '["a"]'], ids=["accepted", "repaired"])
async def test_a_protocol_result_passes_unchanged(tags):
    """A ``CallToolResult`` that a tool returns is not changed."""
    own = CallToolResult(
        content=[TextContent(type="text", text="raw")], structured_content={"a": 1}, _meta={"mine": {"b": 2}}
    )

    def raw(tags: list[str]) -> CallToolResult:
        assert tags == ["a"]
        return own

    result = await lenient(raw).call_tool("raw", {"tags": tags})
    assert result.to_mcp_result() == own


@not_on_3(NOT_THERE)
async def test_a_result_of_an_extension_passes_unchanged():
    """A result that is not a tool result, such as a task's, is returned as the same object."""
    from fastmcp.server.extensions import ServerExtension

    class Ticket(BaseModel):
        number: int

    ticket = Ticket(number=1)

    class Queue(ServerExtension):
        identifier = "org.example/queue"

        async def intercept_tool_call(self, *_: Any) -> Any:
            return ticket

    def tool(tags: list[str]) -> None: ...

    server = lenient(tool)
    server.add_extension(Queue())
    for tags in (["a"], '["a"]'):
        assert await server.call_tool("tool", {"tags": tags}) is ticket


@pytest.mark.parametrize("meta", [None, {"mine": 1}])
async def test_a_shared_result_is_never_changed(meta):
    """A valid call gets the tool's own object; the repairs of another call are added to a copy."""
    shared = ToolResult(content="shared", structured_content={"n": 1}, meta=meta)
    before = shared.model_dump()

    def tool(tags: list[str]) -> ToolResult:
        assert tags == ["a"]
        return shared

    server = lenient(tool)
    for _ in range(2):
        assert await server.call_tool("tool", {"tags": ["a"]}) is shared
        result = await server.call_tool("tool", {"tags": '["a"]'})
        reported = {"rule": "json_text_to_array", "pointer": "/tags", "before": "string", "after": "array"}
        assert result.structured_content == {"n": 1}
        assert result.meta == {**(meta or {}), "mcp_lenient": {"repairs": [reported]}}
    assert shared.model_dump() == before


async def test_a_custom_tools_validation_error_passes_unchanged():
    """A custom tool's ``ValidationError`` is returned unchanged if its schema accepted the call."""

    class Picky(Published):
        async def run(self, arguments: dict[str, Any]) -> ToolResult:
            raise ValidationError(str(sorted(arguments)))

    server = lenient(Picky(**published(n={"type": "integer"}).model_dump()))
    for n in (1, "1"):
        result = await call(server, "own", {"n": n})
        assert (result.is_error, text(result)) == (True, "['n']")
