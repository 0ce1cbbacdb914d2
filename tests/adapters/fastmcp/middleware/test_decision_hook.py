"""``LenientMiddleware(on_decision=...)``: an application is called with each decision."""

from __future__ import annotations

import logging
from contextlib import suppress

import pytest
from calls import call, got
from fastmcp import Client, FastMCP

from mcp_lenient import Decision, LenientMiddleware, Policy
from mcp_lenient.adapters.fastmcp.compat import host


def store(text: str, tags: list[str] | None = None) -> str:
    """A tool."""
    return f"{text}{tags or ''}"


def watched(**settings):
    """Return a server of one tool, and the list that its decisions go to."""
    decisions: list[Decision] = []
    server: FastMCP = FastMCP("watched")
    server.add_middleware(LenientMiddleware(on_decision=decisions.append, **settings))
    server.tool(store)
    return server, decisions


pytestmark = pytest.mark.usefixtures("events")
CALLS = pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param({"text": "a", "tags": ["b"]}, "accepted", id="right"),
        pytest.param({"text": "a", "tags": '["b"]'}, "repaired", id="repaired"),
        pytest.param({"text": "a", "tags": "<b>"}, "refused", id="refused"),
    ],
)


@CALLS
async def test_each_call_is_reported_without_values(sent, status):
    """A decision says what was decided about which tool, and nothing of what was sent."""
    server, decisions = watched()
    await call(server, "store", sent)
    (decision,) = decisions
    assert (decision.status, decision.tool, decision.mode) == (status, "store", "repair")
    assert decision.arguments == {}
    assert not any(each.message or each.fixes or each.has_received_value for each in decision.violations)
    assert [each.pointer for each in decision.violations] == (["/tags"] if status == "refused" else [])
    assert [each.rule for each in decision.repairs] == (
        ["json_text_to_array"] if status == "repaired" else []
    )


@CALLS
async def test_values_are_reported_on_request(sent, status):
    """Arguments are those that the tool gets, and of a refused call those that were sent."""
    server, decisions = watched(decision_values=True)
    await call(server, "store", sent)
    (decision,) = decisions
    assert decision.arguments == ({"text": "a", "tags": ["b"]} if status != "refused" else sent)
    assert all(each.message for each in decision.violations)


async def test_observed_calls_are_reported():
    """In observe mode the decision says what would have been done."""
    server, decisions = watched(policy=Policy(mode="observe"))
    await call(server, "store", {"text": "a", "tags": '["b"]'})
    assert [(each.status, each.mode) for each in decisions] == [("repaired", "observe")]


@pytest.mark.parametrize(("sent", "given"), [("[1,]", "[1]"), ("one", "one")])
async def test_prompt_arguments_are_reported_on_request(sent, given):
    """They are the texts that the prompt gets, or of a refused one those that were sent."""
    server, decisions = watched(decision_values=True)

    @server.prompt
    def review(lines: list[int]) -> str:
        return str(lines)

    async with Client(server) as client:
        with suppress(host.MCPError):
            await client.get_prompt("review", {"lines": sent})
    assert [each.arguments for each in decisions] == [{"lines": given}]


async def test_an_unknown_tool_is_reported():
    """A call of a tool that does not exist is refused."""
    server, decisions = watched()
    await call(server, "stor", {})
    assert [(each.status, each.tool) for each in decisions] == [("refused", "stor")]


async def test_its_exceptions_fail_no_call(caplog):
    """The call runs, and the first error is reported without its text."""

    def fail(_decision: Decision) -> None:
        msg = "secret"
        raise RuntimeError(msg)

    server: FastMCP = FastMCP("watched", middleware=[LenientMiddleware(on_decision=fail)])
    server.tool(store)
    with caplog.at_level(logging.WARNING, "mcp_lenient"):
        for _ in range(2):
            assert got(await call(server, "store", {"text": "a"})) == "a"
    assert caplog.messages == ["on_decision raised RuntimeError. Further errors are not reported."]


@pytest.mark.parametrize("key", ["sk-live-4242424242424242", "password_hunter2"])
async def test_a_key_that_may_be_a_value_is_masked(key):
    """A client may send a value in the place of a name."""
    server, decisions = watched()
    await call(server, "store", {"text": "a", key: 1})
    assert key not in repr(decisions)


@pytest.mark.parametrize(
    "sent", [{"text": "a", "tags": ["b"]}, {"text": "a", "tags": '["b"]'}, {"text": "a", "tags": "b, c"}]
)
async def test_its_changes_have_no_effect(sent):
    """A function that takes something out of a decision with values changes neither the call nor its answer."""

    def take_out(decision: Decision) -> None:
        decision.arguments.clear()
        for violation in decision.violations:
            for fix in violation.fixes:
                for step in fix:
                    step.clear()

    answers = []
    for hook in (None, take_out):
        server: FastMCP = FastMCP(
            "watched", middleware=[LenientMiddleware(on_decision=hook, decision_values=True)]
        )
        server.tool(store)
        answers.append((await call(server, "store", sent)).content)
    assert answers[0] == answers[1]


async def _later(_decision: Decision) -> None:
    """An asynchronous function."""


def _generator(_decision: Decision):
    """A function whose body a call does not begin."""
    yield


class _Later:
    """An object that is called as an asynchronous function is."""

    async def __call__(self, _decision: Decision) -> None:
        """Do nothing."""


@pytest.mark.parametrize("hook", ["print", _later, _generator, _Later()])
def test_only_a_plain_function_is_taken(hook):
    """A coroutine would never be awaited."""
    with pytest.raises(TypeError, match="on_decision must be a function that is not async"):
        LenientMiddleware(on_decision=hook)
