"""Arguments of prompts are repaired or refused as those of tools are."""

import json
from datetime import date
from typing import Any

import pytest
from calls import Log
from fastmcp import Client, FastMCP
from hypothesis import given
from hypothesis import strategies as st

from mcp_lenient import LenientMiddleware, Policy
from mcp_lenient.adapters.fastmcp.compat import host


def review(text: str, numbers: list[int], max_results: int = 5, on: date | None = None) -> str:
    """A prompt of several types."""
    return json.dumps([text, numbers, max_results, None if on is None else on.isoformat()])


def served(*middleware: Any) -> FastMCP:
    """Return a server with one prompt."""
    server: FastMCP = FastMCP("prompts", middleware=middleware)
    server.prompt(review)
    return server


async def rendered(server: FastMCP, arguments: dict[str, Any]) -> Any:
    """Return what the prompt's function got."""
    async with Client(server) as client:
        result = await client.get_prompt("review", arguments)
    return json.loads(result.messages[0].content.text)


RIGHT = {"text": "5", "numbers": "[1, 2]"}


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        pytest.param(RIGHT, ["5", [1, 2], 5, None], id="texts"),
        pytest.param({**RIGHT, "max_results": "7"}, ["5", [1, 2], 7, None], id="number"),
        pytest.param({**RIGHT, "on": "2026-01-02"}, ["5", [1, 2], 5, "2026-01-02"], id="date"),
        pytest.param({**RIGHT, "text": "[1]"}, ["[1]", [1, 2], 5, None], id="JSON for a text"),
        pytest.param({**RIGHT, "more": "x"}, ["5", [1, 2], 5, None], id="what FastMCP drops"),
    ],
)
async def test_what_fastmcp_renders_is_untouched(events: Log, sent, got):
    """The function gets what it gets without the middleware, and nothing is logged."""
    assert await rendered(served(LenientMiddleware()), sent) == await rendered(served(), sent) == got
    assert events.names == []


@pytest.mark.parametrize(
    ("sent", "got", "rules"),
    [
        pytest.param(
            {"Text": "a", "numbers": "[1]", "maxResults": "7"},
            ["a", [1], 7, None],
            {"rename_case", "text_to_integer", "json_text_to_array"},
            id="names",
        ),
        pytest.param(
            {"text": "a", "numbers": "[1, 2,]"},
            ["a", [1, 2], 5, None],
            {"json5_text_to_array"},
            id="relaxed JSON",
        ),
        pytest.param(
            {"text": "a", "numbers": "[1]", "on": "null"},
            ["a", [1], 5, None],
            None,
            id="null",
        ),
    ],
)
async def test_a_nearly_right_prompt_is_rendered(events: Log, sent, got, rules):
    """What has one reading is read so, and logged."""
    assert await rendered(served(LenientMiddleware()), sent) == got
    if rules is not None:
        (event,) = events
        assert (event["event"], event["tool"]) == ("call_repaired", "review")
        assert {repair["rule"] for repair in event["repairs"]} >= rules - {"json_text_to_array"}


@pytest.mark.parametrize(
    ("sent", "code", "pointer"),
    [
        pytest.param({"text": "a", "numbers": "one, two"}, "INVALID_NUMBERS_TYPE", "/numbers", id="no list"),
        pytest.param({"text": "a"}, "MISSING_NUMBERS", "/numbers", id="missing"),
        pytest.param(
            {**RIGHT, "max_results": "many"}, "INVALID_MAX_RESULTS_TYPE", "/max_results", id="no number"
        ),
    ],
)
async def test_the_rest_is_refused_by_an_envelope(events: Log, sent, code, pointer):
    """The protocol's error has the envelope as text and as data, and speaks of a prompt."""
    with pytest.raises(host.MCPError) as caught:
        await rendered(served(LenientMiddleware()), sent)
    told = caught.value.error.data
    assert caught.value.error.code == -32602
    assert json.loads(caught.value.error.message)["error_code"] == told["error_code"] == code
    assert told["details"]["prompt"] == "review"
    assert told["message"].startswith("Invalid arguments for prompt 'review': ")
    assert [violation["pointer"] for violation in told["details"]["violations"]] == [pointer]
    assert events.names == ["call_rejected"]


@pytest.mark.parametrize(("mode", "logged"), [("observe", ["call_observed"]), ("off", [])])
async def test_other_modes_change_nothing(events: Log, mode, logged):
    """FastMCP answers as without the middleware."""
    with pytest.raises(host.MCPError) as caught:
        await rendered(served(LenientMiddleware(Policy(mode=mode))), {"text": "a", "numbers": "[1,]"})
    assert "prompt" not in str(caught.value.error.data)
    assert events.names == logged


async def test_an_unknown_prompt_is_answered_by_fastmcp():
    """The middleware has nothing to say of it."""
    async with Client(served(LenientMiddleware())) as client:
        with pytest.raises(host.MCPError, match="nknown prompt"):
            await client.get_prompt("other", {})


TEXT = st.text(max_size=8) | st.sampled_from(["5", "[1]", "null", "2026-01-02", "[1,]", "true"])


@given(
    st.dictionaries(st.sampled_from(["text", "numbers", "max_results", "on", "Numbers"]), TEXT, max_size=4)
)
def test_law_1_holds_for_prompts(arguments):
    """What FastMCP renders it renders unchanged behind the middleware."""
    import asyncio

    async def both() -> None:
        try:
            alone = await rendered(served(), arguments)
        except host.MCPError:
            return
        assert await rendered(served(LenientMiddleware()), arguments) == alone

    asyncio.run(both())
