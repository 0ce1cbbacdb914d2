"""Arguments of prompts behind a proxy, by what their servers list."""

import asyncio
import json
from typing import Any

import pytest
from calls import Log
from fastmcp import Client, FastMCP
from fastmcp.prompts import Prompt, PromptArgument
from fastmcp.server import create_proxy
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from mcp_lenient import LenientMiddleware, Policy, create_lenient_proxy
from mcp_lenient.adapters.fastmcp.compat import host


class Person(BaseModel):
    """Someone who reviews."""

    name: str


def review(text: str, lines: list[int], max_results: int = 5, by: Person | None = None) -> str:
    """Return the arguments, of several types."""
    return json.dumps([text, lines, max_results, by and by.name])


class Foreign(Prompt):
    """A prompt whose arguments are names alone, as those of other SDKs; it takes more than it lists."""

    async def render(self, arguments: dict[str, Any] | None = None) -> str:
        """Return the arguments."""
        return json.dumps(arguments)


def _upstream() -> FastMCP:
    server: FastMCP = FastMCP("reviews")
    server.prompt(review)
    listed = [PromptArgument(name="topic", required=True), PromptArgument(name="max_length")]
    server.add_prompt(Foreign(name="foreign", arguments=listed))
    return server


async def _asked(server: FastMCP, sent: dict[str, str], name: str = "review") -> Any:
    async with Client(server) as client:
        return json.loads((await client.get_prompt(name, sent)).messages[0].content.text)


RIGHT = {"text": "a.py", "lines": "[1, 2]"}


@pytest.mark.parametrize(
    ("sent", "got", "rules"),
    [
        pytest.param({**RIGHT, "more": "x"}, ["a.py", [1, 2], 5, None], [], id="dropped by FastMCP"),
        pytest.param(
            {"Text": "a.py", "lines": "[1, 2,]", "maxResults": "3"},
            ["a.py", [1, 2], 3, None],
            ["json5_text_to_array", "rename_case"],
            id="names and relaxed JSON",
        ),
        pytest.param(
            {**RIGHT, "by": "{'name': 'ann'}"},
            ["a.py", [1, 2], 5, "ann"],
            ["json5_text_to_object"],
            id="object by its definition",
        ),
    ],
)
async def test_a_prompt_behind_a_proxy_is_repaired(events: Log, sent, got, rules):
    """Arguments are repaired as on a server with the middleware; what the server reads stays as sent."""
    assert await _asked(create_lenient_proxy(_upstream()), sent) == got
    assert events.names == ["call_repaired"] * bool(rules)
    assert {one["rule"] for event in events for one in event["repairs"]} >= set(rules)


@pytest.mark.parametrize(
    ("name", "sent", "code"),
    [
        pytest.param("review", {"text": "a.py"}, "MISSING_LINES", id="missing"),
        pytest.param("review", {**RIGHT, "lines": "all of them"}, "INVALID_LINES_TYPE", id="type"),
        pytest.param("foreign", {"max_length": "3"}, "MISSING_TOPIC", id="names alone"),
    ],
)
async def test_other_requests_get_an_envelope(events: Log, name, sent, code):
    """A request that cannot be repaired is refused, and not sent to the server."""
    with pytest.raises(host.MCPError) as caught:
        await _asked(create_lenient_proxy(_upstream()), sent, name)
    envelope = caught.value.error.data
    assert (envelope["error_code"], envelope["details"]["prompt"]) == (code, name)
    assert json.loads(caught.value.error.message)["error_code"] == code
    assert events.names == ["call_rejected"]


async def test_names_alone_are_repaired():
    """Where a server lists names alone, names are repaired, and every value stays."""
    proxy = create_lenient_proxy(_upstream())
    sent = {"Topic": "[1,]", "maxLength": "null"}
    assert await _asked(proxy, sent, "foreign") == {"topic": "[1,]", "max_length": "null"}
    assert await _asked(proxy, {"topic": "", "more": "x"}, "foreign") == {"topic": "", "more": "x"}


async def test_the_policy_may_leave_the_answer_to_the_server(events: Log):
    """The server answers what its list forbids, and here takes it."""
    proxy = create_lenient_proxy(_upstream(), Policy(unrepairable="forward"))
    assert await _asked(proxy, {"max_length": "3"}, "foreign") == {"max_length": "3"}
    assert events.names == ["call_forwarded"]


async def test_a_prompt_that_has_changed_is_judged_by_its_new_list():
    """Before a request is changed or refused, the server is asked for its prompts anew."""
    upstream = _upstream()
    proxy = create_lenient_proxy(upstream)
    assert await _asked(proxy, {"topic": "bees"}, "foreign") == {"topic": "bees"}
    upstream.local_provider.remove_prompt("foreign")
    upstream.add_prompt(Foreign(name="foreign", arguments=[PromptArgument(name="subject", required=True)]))
    assert await _asked(proxy, {"subject": "bees"}, "foreign") == {"subject": "bees"}


async def test_a_mounted_proxy():
    """Behind a mounted proxy, too, a prompt is judged by its server's list."""
    front: FastMCP = FastMCP("front", middleware=[LenientMiddleware()])
    front.mount(create_proxy(_upstream()), namespace="one")
    sent = {"Text": "a.py", "lines": "[1,]"}
    assert await _asked(front, sent, "one_review") == ["a.py", [1], 5, None]


@pytest.mark.parametrize(
    "description",
    [
        'Provide as a JSON string matching the following schema: {"type":"integer"}',
        'The number.\n\nProvide a value matching the following JSON schema: {"type":"integer"}. Encode it.',
    ],
    ids=["FastMCP 3", "FastMCP 4"],
)
async def test_the_note_of_each_fastmcp_is_read(description):
    """FastMCP says in an argument's description what is not a string."""
    server: FastMCP = FastMCP("numbers")
    listed = [PromptArgument(name="number", description=description, required=True)]
    server.add_prompt(Foreign(name="counted", arguments=listed))
    assert await _asked(create_lenient_proxy(server), {"number": "05"}, "counted") == {"number": "5"}


NOTES = ["", '{"type":', "[" * 5000, '{"a":' * 5000, '{"$ref": "#/$defs/x"}', '{"type": 7}', "[1]", "{}"]


async def test_a_note_that_is_no_schema_says_nothing():
    """A description of a stranger never stops a request."""
    server: FastMCP = FastMCP("strange")
    for at, note in enumerate(NOTES):
        said = f"Provide a value matching the following JSON schema: {note}"
        server.add_prompt(Foreign(name=f"odd{at}", arguments=[PromptArgument(name="it", description=said)]))
    proxy = create_lenient_proxy(server)
    for at, note in enumerate(NOTES):
        assert await _asked(proxy, {"It": "x"}, f"odd{at}") == {"it": "x"}, note[:12]


TEXT = st.text(max_size=8) | st.sampled_from(["5", "[1]", "null", "[1,]", "true", '{"name": "a"}'])


@given(st.dictionaries(st.sampled_from(["text", "lines", "max_results", "by", "more"]), TEXT, max_size=4))
def test_any_prompt_the_server_renders_gives_the_same(arguments):
    """Every request that the server renders gives the same result through a proxy that forwards the others."""

    async def both() -> None:
        try:
            alone = await _asked(_upstream(), arguments)
        except host.MCPError:
            return
        proxy = create_lenient_proxy(_upstream(), Policy(unrepairable="forward"))
        assert await _asked(proxy, arguments) == alone

    asyncio.run(both())
