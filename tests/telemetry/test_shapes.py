"""Test the shapes of arguments that an event has if the policy allows it, without any values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, SecretStr
from tables import each_row

from mcp_lenient import LenientMiddleware, Policy, lenient, lenient_session
from mcp_lenient.errors import PolicyError
from mcp_lenient.normalizers import tags
from mcp_lenient.telemetry.events import CallEvent, event_fields
from mcp_lenient.telemetry.shapes import LISTED, shapes_of
from tests.shared.hostile import lists

NOTHING = SecretStr("")
SHAPES = Policy(log_values="shapes")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@each_row(
    ("value", "shape"),
    [
        pytest.param("a, b", {"type": "string", "length": 4, "characters": ["letter", "separator", "space"]}, id="text"),
        pytest.param('["工1"]', {"type": "string", "length": 6, "characters": ["bracket", "digit", "letter", "quote"]}, id="json"),
        pytest.param("", {"type": "string", "length": 0}, id="empty"),
        pytest.param("\x00\t\n€-", {"type": "string", "length": 5, "characters": ["line", "other", "space", "symbol"]}, id="odd"),
        pytest.param(7, {"type": "integer"}, id="integer"),
        pytest.param(7.5, {"type": "number"}, id="number"),
        pytest.param(True, {"type": "boolean"}, id="boolean"),
        pytest.param(None, {"type": "null"}, id="null"),
        pytest.param([], {"type": "array", "length": 0}, id="array"),
        pytest.param({}, {"type": "object", "length": 0}, id="object"),
    ],
)  # fmt: skip
def test_a_value_has_a_shape(value, shape):
    """Type, length and kinds of characters are recorded, but never the value."""
    assert shapes_of({}, {"p": value}) == [{"pointer": "/p", **shape}]


def test_the_outer_places_come_first():
    """Outer places come first, and those inside follow in order."""
    pointers = [each["pointer"] for each in shapes_of({}, {"a": [{"b": 1}], "c": 2})]
    assert pointers == ["/a", "/c", "/a/0", "/a/0/b"]


def test_only_the_place_of_a_secret_is_listed():
    """For a secret only the place is listed, without type, length or contents."""
    assert shapes_of({}, {"api_key": {"x": "y"}, "pin": 1}, frozenset({"pin"})) == [
        {"pointer": "/api_key", "type": "secret"},
        {"pointer": "/pin", "type": "secret"},
    ]


@given(st.dictionaries(st.text(), JSON))
def test_any_arguments_make_a_valid_event(arguments):
    """For any arguments, the event is bounded and valid."""
    event = CallEvent.model_validate(event_fields("call_rejected", "t", shapes_from=({}, arguments)))
    assert len(event.shapes) <= LISTED


def test_deep_or_long_values_are_cheap():
    """Nested lists are described to a depth of eight."""
    sent = {"deep": lists(1, 10_000), "long": ["x"] * 10_000, "text": "x" * 10**6}
    assert len(shapes_of({}, sent)) == LISTED


# --- in the log ------------------------------------------------------------------------------------------


@pytest.fixture
def server():
    """Return a server with a tool that has secret parameters."""
    mcp = FastMCP("notes")

    @mcp.tool
    def store(
        tags: list[str],
        word: SecretStr = NOTHING,
        note: str = Field("", json_schema_extra={"writeOnly": True}),
    ) -> str:
        """Store a note."""
        return f"{tags} {word} {note}"

    return mcp


SENT = {"tags": '["sesame"]', "word": "sesame", "note": "sesame"}
LOGGED = [
    {"pointer": "/tags", "type": "string", "length": 10, "characters": ["bracket", "letter", "quote"]},
    {"pointer": "/word", "type": "secret"},
    {"pointer": "/note", "type": "secret"},
]


async def test_events_have_shapes_if_the_policy_allows_them(server, events):
    """Shapes describe the sent arguments, not the repaired ones, and contain no value."""
    server.add_middleware(LenientMiddleware(SHAPES))
    async with Client(server) as client:
        await client.call_tool("store", SENT)
    assert events[0]["shapes"] == LOGGED
    assert "sesame" not in json.dumps(events)


async def test_shapes_are_off_by_default(server, events):
    """Without the option an event has no shapes."""
    server.add_middleware(LenientMiddleware())
    async with Client(server) as client:
        await client.call_tool("store", SENT)
    assert [event["event"] for event in events] == ["call_repaired"]
    assert "shapes" not in events[0]


async def test_a_lenient_session_logs_shapes_too(server, events):
    """Events of a client's lenient session have shapes too."""
    async with lenient_session(Client(server), SHAPES) as session:
        await session.call_tool("store", SENT)
    assert events[0]["shapes"] == LOGGED


async def test_a_decorated_tool_logs_shapes_too(events):
    """Without a middleware, the policy of ``@lenient`` decides."""
    mcp = FastMCP("notes")

    @mcp.tool
    @lenient(tags=tags(), policy=SHAPES)
    def store(tags: Any) -> str:
        """Store tags."""
        return str(tags)

    async with Client(mcp) as client:
        await client.call_tool("store", {"tags": 123}, raise_on_error=False)
    assert events[0]["shapes"] == [{"pointer": "/tags", "type": "integer"}]


def test_another_word_is_refused():
    """An unknown option is refused with the allowed ones."""
    with pytest.raises(PolicyError, match="log_values must be one of 'none', 'shapes'"):
        Policy(log_values="values")
