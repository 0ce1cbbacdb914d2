"""Test ``Policy(closed=True)``: names that a server would drop silently are repaired or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
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
    return " ".join(each.model_dump_json() if each else "-" for each in (address, place, free)) + str(tags)


def _server(middleware: LenientMiddleware | None = None, **options: Any) -> FastMCP:
    server = FastMCP("shop", middleware=[middleware] if middleware else [])
    server.add_tool(lenient(**options)(deliver) if options else deliver)
    return server


async def _call(server: FastMCP, arguments: Any) -> Any:
    async with Client(server) as client:
        return await client.call_tool("deliver", arguments, raise_on_error=False)


_ADDRESS = '{"ship_to":"b","street":""} - -None'
_REPAIRED = [
    pytest.param({"address": {"shipTo": "b"}}, _ADDRESS, id="nested"),
    pytest.param({"place": {"doorCode": 1}}, '- {"door_code":1} -None', id="union"),
    pytest.param(
        {"address": {"shipTo": "b"}, "tags": '["a"]'},
        '{"ship_to":"b","street":""} - -[\'a\']',
        id="with another fault",
    ),
]


@pytest.mark.parametrize(
    "made",
    [lambda: _server(LenientMiddleware(CLOSED)), lambda: _server(policy=CLOSED)],
    ids=["middleware", "alone"],
)
@pytest.mark.parametrize(("sent", "expected"), _REPAIRED)
async def test_a_function_gets_the_names_it_declares(
    made: Callable[[], FastMCP], sent: Any, expected: str
) -> None:
    """Names inside a model are repaired, by the middleware and by the decorator."""
    assert (await _call(made(), sent)).data == expected


@pytest.mark.parametrize(
    "made",
    [lambda: _server(LenientMiddleware(CLOSED)), lambda: _server(policy=CLOSED)],
    ids=["middleware", "alone"],
)
@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"address": {"country": "fr"}}, id="unlike"),
        pytest.param({"place": {"door_code": 1, "floor_number": "2"}}, id="two branches"),
    ],
)
async def test_a_name_that_the_function_would_drop_is_refused(made: Callable[[], FastMCP], sent: Any) -> None:
    """A name that would be dropped silently is a violation."""
    result = await _call(made(), sent)
    assert result.is_error
    assert "unknown parameter" in result.content[0].text


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"address": {"road": "b"}}, id="alias of Pydantic's"),
        pytest.param({"free": {"noteText": "b"}}, id="extra allowed"),
        pytest.param({"address": {"street": "b"}}, id="declared"),
    ],
)
async def test_a_name_that_the_function_reads_is_right(sent: Any) -> None:
    """Names that the function's own validator reads are accepted."""
    result = await _call(_server(LenientMiddleware(CLOSED)), sent)
    assert not result.is_error
    assert "b" in result.data
    assert result.meta is None or "mcp_lenient" not in result.meta


async def test_nested_names_stay_without_the_policy() -> None:
    """Law 1: accepted calls are never modified."""
    result = await _call(_server(LenientMiddleware()), {"address": {"shipTo": "b"}})
    assert result.data == '{"ship_to":"home","street":""} - -None'


async def test_a_pattern_closes_one_tool() -> None:
    """The policy may be set for a pattern of tool names."""
    server = _server(LenientMiddleware(tools={"deliv*": CLOSED}))
    assert (await _call(server, {"address": {"shipTo": "b"}})).data == _ADDRESS


@each_row("sent", [{"a": 1, "zz": 2}, {"b": 1, "zz": 2}])
def test_only_a_name_that_no_branch_declares_is_unknown(sent: Json) -> None:
    """A name that only some branches of a union declare is not unknown."""
    found = normalize(opened(p=union(opened(b=INTEGER), opened(a=INTEGER))), {"p": sent}, CLOSED).violations
    assert [(each.code, each.pointer) for each in found] == [("unknown", "/p/zz")]
