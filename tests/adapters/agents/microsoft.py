"""Tests of the page's middleware with the real agent-framework; ``test_agent_frameworks.py`` runs them separately."""

import json
from collections.abc import Mapping
from typing import Any

from agent_framework import Agent, Content, FunctionTool
from agent_framework.exceptions import MiddlewareException
from agent_framework.security import LabelTrackingFunctionMiddleware

from benchmarks.hosts.agents.agent_framework_host import Script
from benchmarks.hosts.agents.driver import URL, names_of
from benchmarks.hosts.calls import SCHEMA
from tests.adapters.running import print_outcomes

LENIENT: Any = names_of("agent-frameworks", "Microsoft agent-framework", URL, model=Script())["lenient"]
SENT = {"content": "kept", "tags": "a"}


async def answer(arguments: str, *middleware: Any, schema: Mapping[str, Any] = SCHEMA) -> Any:
    """Return what the model receives for a call with these arguments."""
    model = Script()
    echo = FunctionTool(name="echo", func=lambda **sent: json.dumps(sent), input_model=dict(schema))
    model.call = Content.from_function_call("1", "echo", arguments=arguments)
    await Agent(model, tools=[echo], middleware=middleware).run("Go on.")
    return json.loads(model.received)


async def test_before_security_middleware_calls_are_repaired() -> None:
    """Security middleware sees the repaired call, and lets it pass."""
    received = await answer(
        json.dumps(SENT), LENIENT, LabelTrackingFunctionMiddleware(auto_hide_untrusted=False)
    )
    assert received == {"content": "kept", "tags": ["a"]}


async def test_behind_security_middleware_a_repair_ends_the_run() -> None:
    """agent-framework raises where arguments change after security middleware; a right call still runs."""
    tracking = LabelTrackingFunctionMiddleware(auto_hide_untrusted=False)
    right = {"content": "kept", "tags": ["a"]}
    assert await answer(json.dumps(right), tracking, LENIENT) == right
    try:
        await answer(json.dumps(SENT), tracking, LENIENT)
    except MiddlewareException as error:
        assert "before security middleware" in str(error)  # noqa: PT017 - no pytest here
    else:
        raise AssertionError


async def test_a_cut_off_text_is_named_as_such() -> None:
    """The text that the framework could not parse is judged itself, not the object that it is put into."""
    envelope = await answer('{"content": "kept", "tags": ["a', LENIENT)
    assert envelope["error_code"] == "CUT_OFF"


async def test_a_parameter_of_the_name_is_left_alone() -> None:
    """A tool may declare a parameter called ``raw``."""
    schema = {"type": "object", "properties": {"raw": {"type": "string"}}, "required": ["raw"]}
    assert await answer('{"raw": "{}"}', LENIENT, schema=schema) == {"raw": "{}"}


if __name__ == "__main__":
    print_outcomes(dict(globals()))
