"""``LenientMiddleware(on_decision=...)`` passes each decision to the application."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from calls import call
from fastmcp import Client, FastMCP

from mcp_lenient import Decision, LenientMiddleware
from mcp_lenient.adapters.fastmcp.compat import host


def store(text: str, tags: list[str] | None = None) -> str:
    """A tool."""
    return f"{text}{tags or ''}"


def watched(**settings):
    """Return a server with one tool, and the list of its decisions."""
    decisions: list[Decision] = []
    server: FastMCP = FastMCP("watched")
    server.add_middleware(LenientMiddleware(on_decision=decisions.append, **settings))
    server.tool(store)
    return server, decisions


pytestmark = pytest.mark.usefixtures("events")


@pytest.mark.parametrize(("sent", "given"), [("[1,]", "[1]"), ("one", "one")])
async def test_prompt_arguments_are_reported_on_request(sent, given):
    """A decision has the arguments that the prompt gets, or, if it was refused, those that were sent."""
    server, decisions = watched(decision_values=True)

    @server.prompt
    def review(lines: list[int]) -> str:
        return str(lines)

    async with Client(server) as client:
        with suppress(host.MCPError):
            await client.get_prompt("review", {"lines": sent})
    assert [each.arguments for each in decisions] == [{"lines": given}]


async def test_an_unknown_tool_is_reported():
    """A call of an unknown tool is reported as refused."""
    server, decisions = watched()
    await call(server, "stor", {})
    assert [(each.status, each.tool) for each in decisions] == [("refused", "stor")]


@pytest.mark.parametrize("tags", [["a"], '["a"]'], ids=["accepted", "repaired"])
async def test_what_a_body_changes_of_its_arguments_is_not_told(tags, tmp_path):
    """A decision, and a recording, have the arguments that the tool got, whatever it has done with them since."""
    server, decisions = watched(decision_values=True, record=tmp_path / "calls")

    @server.tool
    def clear(entries: Any, tags: list[str]) -> list[str]:
        entries[0].clear()
        return tags

    await call(server, "clear", {"entries": [["x"]], "tags": tags})
    assert [decision.arguments for decision in decisions] == [{"entries": [["x"]], "tags": ["a"]}]
    assert json.loads((tmp_path / "calls").read_text())["sent"] == {"entries": [["x"]], "tags": tags}


@pytest.mark.parametrize("key", ["sk-live-4242424242424242", "password_hunter2"])
async def test_a_key_that_may_be_a_value_is_masked(key):
    """An unknown parameter name that looks like a secret value is masked."""
    server, decisions = watched()
    await call(server, "store", {"text": "a", key: 1})
    assert key not in repr(decisions)


async def _later(_decision: Decision) -> None:
    """Do nothing, asynchronously."""


def _generator(_decision: Decision):
    """Yield nothing; calling a generator function does not run its body."""
    yield


class _Later:
    """An object whose ``__call__`` is asynchronous."""

    __call__ = _later


@pytest.mark.parametrize("hook", ["print", _later, _generator, _Later()])
def test_async_hooks_are_refused(hook):
    """The hook must be a plain function: a coroutine would never be awaited."""
    with pytest.raises(TypeError, match="on_decision must be a function that is not async"):
        LenientMiddleware(on_decision=hook)
