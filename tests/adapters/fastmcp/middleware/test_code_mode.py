"""FastMCP's Code Mode: calls that a model's code makes below ``execute``."""

from __future__ import annotations

from typing import Any

import pytest
from calls import Log, call, lenient, text
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
from fastmcp.tools import Tool, ToolResult
from fastmcp_versions import not_on_3

pytest.importorskip("pydantic_monty", reason="Code Mode needs fastmcp[code-mode]")

from fastmcp.experimental.transforms.code_mode import CodeMode


def store_context(content: str, tags: list[str] | None = None) -> dict[str, Any]:
    """Store a text under tags."""
    return {"content": content, "tags": tags}


def fail(why: str) -> str:
    """Fail."""
    raise ToolError(why)


def _coded(**settings: Any) -> FastMCP:
    server = lenient(store_context, fail, **settings)
    server.add_transform(CodeMode())
    return server


async def _run(server: FastMCP, code: str) -> Any:
    return await call(server, "execute", {"code": code})


FIRST = 'await call_tool("store_context", {"content": "a", "tags": ["a"]})\n'


async def test_a_refused_call_tells_the_code_what_to_send(events: Log):
    """The exception has the message, the first fix and what has run; the fault is one event."""
    result = await _run(
        _coded(), f'{FIRST}await call_tool("store_context", {{"content": "x", "tag": ["a"]}})'
    )
    assert result.is_error
    assert "unknown parameter 'tag'. Did you mean 'tags'?" in text(result)
    assert """As a JSON Patch of its params: [{"op":"move","from":"/tag","path":"/tags"}].""" in text(result)
    assert "These calls of the code have run before, do not repeat them: 'store_context'." in text(result)
    assert [(event["event"], event["tool"], event["via"]) for event in events if "via" in event] == [
        ("call_accepted", "store_context", "execute"),
        ("call_rejected", "store_context", "execute"),
    ]
    assert "call_failed" not in events.names


@not_on_3("code cannot catch what a call raises")
async def test_code_can_correct_a_refused_call():
    """Code that catches the exception goes on."""
    code = (
        "try:\n"
        '    await call_tool("store_context", {"content": "x", "tags": 5})\n'
        "except Exception as error:\n"
        "    said = str(error)\n"
        f"{FIRST}return said"
    )
    result = await _run(_coded(), code)
    assert not result.is_error
    assert "'tags' must be an array of strings or null" in text(result)


async def test_repairs_are_in_the_result_of_the_code(events: Log):
    """A nearly right call runs, and the outer result says what was repaired."""
    result = await _run(
        _coded(), 'return await call_tool("store_context", {"content": "x", "tags": \'["a"]\'})'
    )
    assert not result.is_error
    assert result.meta["mcp_lenient"] == {
        "repairs": [],
        "calls": [
            {
                "tool": "store_context",
                "repairs": [
                    {"rule": "json_text_to_array", "pointer": "/tags", "before": "string", "after": "array"}
                ],
            }
        ],
    }
    assert [(event["event"], event["via"]) for event in events if "via" in event] == [
        ("call_repaired", "execute")
    ]


@pytest.mark.parametrize(
    ("code", "tool"),
    [('await call_tool("fail", {"why": "broken"})', "fail"), ("return 1 / 0", "execute")],
)
async def test_a_failure_is_one_event(code, tool, events: Log):
    """What a tool raises is recorded once, for that tool; what the code itself raises, for ``execute``."""
    assert (await _run(_coded(), code)).is_error
    assert [(event["event"], event["tool"]) for event in events if event["event"] == "call_failed"] == [
        ("call_failed", tool)
    ]


class Guard(Middleware):
    """Denies calls of a tool."""

    async def on_call_tool(self, context, call_next):
        if context.message.name == "store_context":
            msg = "denied"
            raise ToolError(msg)
        return await call_next(context)


@pytest.mark.parametrize("tags", ['["a"]', "5"])
async def test_a_guard_denies_calls_of_the_code(tags, events: Log):
    """A guard by the inner name comes before any answer."""
    server = _coded()
    server.add_middleware(Guard())
    result = await _run(server, f'await call_tool("store_context", {{"content": "x", "tags": {tags!r}}})')
    assert "denied" in text(result)
    assert "must be" not in text(result)
    assert "call_rejected" not in events.names


class Answer(Middleware):
    """Denies calls of a tool by an answer."""

    async def on_call_tool(self, context, call_next):
        if context.message.name == "fail":
            return ToolResult(content="denied", is_error=True)
        return await call_next(context)


@not_on_3("code cannot catch what a call raises")
async def test_a_call_that_was_denied_by_an_answer_has_not_run():
    """The code is told to repeat no call that has run, and nothing of one that has not."""
    server = _coded()
    server.add_middleware(Answer())
    denied = 'try:\n    await call_tool("fail", {"why": "x"})\nexcept Exception:\n    pass\n'
    result = await _run(
        server, f'{denied}{FIRST}await call_tool("store_context", {{"content": "x", "tags": 5}})'
    )
    assert "have run before, do not repeat them: 'store_context'." in text(result)


async def test_code_of_another_tool_is_no_code():
    """A tool of the author that is called ``execute`` gets exceptions, as any tool."""

    async def execute(code: str) -> str:
        try:
            await server.call_tool("store_context", {"content": code, "tags": 5})
        except Exception as error:  # noqa: BLE001 - whatever it is
            return type(error).__name__
        return "answered"

    server = lenient(store_context, Tool.from_function(execute))
    assert text(await _run(server, "x")) == "ValidationError"
