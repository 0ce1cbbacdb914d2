"""``LenientMiddleware(on_decision=...)`` passes each decision to the application."""

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
    """Return a server with one tool, and the list of its decisions."""
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
    """A decision has the tool, the status, rules and pointers, and no value that was sent."""
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
    """A decision has the arguments that the tool gets, or, of a refused call, those that were sent."""
    server, decisions = watched(decision_values=True)
    await call(server, "store", sent)
    (decision,) = decisions
    assert decision.arguments == ({"text": "a", "tags": ["b"]} if status != "refused" else sent)
    assert all(each.message for each in decision.violations)


async def test_observed_calls_are_reported():
    """In observe mode the decision reports what repair mode would have done."""
    server, decisions = watched(policy=Policy(mode="observe"))
    await call(server, "store", {"text": "a", "tags": '["b"]'})
    assert [(each.status, each.mode) for each in decisions] == [("repaired", "observe")]


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


async def test_its_exceptions_do_not_fail_calls(caplog):
    """The call runs, and the first error is logged without its message."""

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
    """An unknown parameter name that looks like a secret value is masked."""
    server, decisions = watched()
    await call(server, "store", {"text": "a", key: 1})
    assert key not in repr(decisions)


@pytest.mark.parametrize(
    "sent", [{"text": "a", "tags": ["b"]}, {"text": "a", "tags": '["b"]'}, {"text": "a", "tags": "b, c"}]
)
async def test_its_changes_have_no_effect(sent):
    """A hook that modifies a decision changes neither the call nor its answer."""

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
    """Do nothing, asynchronously."""


def _generator(_decision: Decision):
    """Yield nothing; calling a generator function does not run its body."""
    yield


class _Later:
    """An object whose ``__call__`` is asynchronous."""

    async def __call__(self, _decision: Decision) -> None:
        """Do nothing."""


@pytest.mark.parametrize("hook", ["print", _later, _generator, _Later()])
def test_async_hooks_are_refused(hook):
    """The hook must be a plain function: a coroutine would never be awaited."""
    with pytest.raises(TypeError, match="on_decision must be a function that is not async"):
        LenientMiddleware(on_decision=hook)
