"""Test ``Policy(closed=True)``: names that a server would drop silently are repaired or refused."""

from __future__ import annotations

from typing import Any

import pytest
from decisions import decide
from fastmcp import Client, FastMCP
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from tables import INTEGER, STRING, Json, each_row, opened, union

from mcp_lenient import LenientMiddleware, Policy, lenient, normalize

CLOSED = Policy(closed=True)


@pytest.mark.parametrize(
    ("schema", "sent", "expected"),
    [
        pytest.param(
            {**opened(max_results=INTEGER), "additionalProperties": {}},
            {"maxResults": 5},
            {"maxResults": 5},
            id="describes other names",
        ),
        pytest.param(opened(q=STRING), {"q": "x", "toolCallId": "1"}, {"q": "x"}, id="injected"),
    ],
)
def test_an_open_schema_is_repaired_like_a_closed_one(schema: Json, sent: Any, expected: Any) -> None:
    """With the policy names are dropped. Without it the call is accepted as sent."""
    assert normalize(schema, sent).arguments is sent
    result = normalize(schema, sent, CLOSED)
    assert (result.arguments, result.violations) == (expected, ())
    assert normalize(schema, expected, CLOSED).arguments is expected


def test_a_name_like_no_other_is_refused() -> None:
    """A name that resembles no declared parameter is unknown."""
    (violation,) = normalize(opened(q=STRING), {"limit": 5}, CLOSED).violations
    assert violation.code == "unknown"


def test_an_open_map_stays_open() -> None:
    """In an open map any name is accepted."""
    sent = {"maxResults": 5}
    schema = {**opened(max_results=INTEGER), "additionalProperties": True}
    assert normalize(schema, sent, CLOSED).arguments is sent


class Address(BaseModel):
    """A model that ignores unknown names, as is Pydantic's default."""

    ship_to: str = "home"
    street: str = Field("", validation_alias=AliasChoices("street", "road"))


class Home(BaseModel):
    """One branch of a union."""

    door_code: int


class Office(BaseModel):
    """The other branch."""

    floor_number: str


class Free(BaseModel):
    """A model that keeps every name."""

    model_config = ConfigDict(extra="allow")
    note_text: str = ""


def deliver(
    address: Address | None = None,
    place: Home | Office | None = None,
    free: Free | None = None,
    tags: list[str] | None = None,
) -> str:
    """Deliver."""
    return " ".join(str(each) for each in (address, place, free, tags) if each)


@each_row(
    ("sent", "expected"),
    [
        pytest.param({"address": {"shipTo": "b"}}, {"address": {"ship_to": "b"}}, id="nested"),
        pytest.param({"place": {"doorCode": 1}}, {"place": {"door_code": 1}}, id="union"),
        pytest.param(
            {"address": {"shipTo": "b"}, "tags": '["a"]'},
            {"address": {"ship_to": "b"}, "tags": ["a"]},
            id="with another fault",
        ),
        pytest.param({"address": {"country": "fr"}}, None, id="unlike"),
        pytest.param({"place": {"door_code": 1, "floor_number": "2"}}, None, id="two branches"),
    ],
)
def test_a_function_gets_the_names_it_declares(sent: Any, expected: Any) -> None:
    """A name inside a model is repaired; one that would be dropped silently is unknown."""
    decision = decide(deliver, sent, closed=True)
    assert decision.arguments == (expected or sent)
    assert {each.code for each in decision.violations} == (set() if expected else {"unknown"})


@each_row(
    "sent",
    [
        pytest.param({"address": {"road": "b"}}, id="alias of Pydantic's"),
        pytest.param({"free": {"noteText": "b"}}, id="extra allowed"),
        pytest.param({"address": {"street": "b"}}, id="declared"),
    ],
)
def test_a_name_that_the_function_reads_is_right(sent: Any) -> None:
    """Names that the function's own validator reads are accepted."""
    assert decide(deliver, sent, closed=True).status == "accepted"


def test_nested_names_stay_without_the_policy() -> None:
    """Law 1: accepted calls are never modified."""
    assert decide(deliver, {"address": {"shipTo": "b"}}).status == "accepted"


@pytest.mark.parametrize(
    "options", [{"policy": CLOSED}, {"tools": {"deliv*": CLOSED}}, None], ids=["server", "pattern", "alone"]
)
async def test_a_server_is_closed(options: Any) -> None:
    """The policy may be that of a server, of a pattern of tool names, or of a decorated function."""
    server = FastMCP("shop", middleware=[LenientMiddleware(**options)] if options else [])
    server.add_tool(deliver if options else lenient(policy=CLOSED)(deliver))
    async with Client(server) as client:
        result = await client.call_tool("deliver", {"address": {"shipTo": "b"}})
        refused = await client.call_tool("deliver", {"address": {"country": "fr"}}, raise_on_error=False)
    assert result.data == "ship_to='b' street=''"
    assert "unknown parameter" in refused.content[0].text


@each_row("sent", [{"a": 1, "zz": 2}, {"b": 1, "zz": 2}])
def test_only_a_name_that_no_branch_declares_is_unknown(sent: Json) -> None:
    """A name that only some branches of a union declare is not unknown."""
    found = normalize(opened(p=union(opened(b=INTEGER), opened(a=INTEGER))), {"p": sent}, CLOSED).violations
    assert [(each.code, each.pointer) for each in found] == [("unknown", "/p/zz")]
