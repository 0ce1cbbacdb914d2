"""The pillars of the type conversion example, compared with published dates."""

from __future__ import annotations

import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError

pytest.importorskip("fastmcp", minversion="4")

from mcp_lenient import Policy, lenient_session
from type_conversion import mcp, server

BORN = {"year": 1990, "month": 3, "day": 1, "gender": 1}


async def pillars(born: str, hour: float = 12) -> str:
    """Return the four pillars of a time in China."""
    year, month, day = map(int, born.split("-"))
    sent = {"year": year, "month": month, "day": day, "hour": hour, "gender": 1}
    async with Client(server) as client:
        found = (await client.call_tool("buildBaziFromSolarDatetime", sent)).data
    return " ".join(found[name] for name in ("year", "month", "day", "hour"))


@pytest.mark.parametrize(
    ("born", "hour", "expected"),
    [
        ("1900-01-01", 12, "己亥 丙子 甲戌 庚午"),
        ("2000-01-01", 12, "己卯 丙子 戊午 戊午"),
    ],
)
async def test_pillars_of_known_days(born, hour, expected):
    """A birth has the pillars that almanacs give it."""
    assert await pillars(born, hour) == expected


TERMS = [
    ("2024-02-04", 16, 27, "癸卯 乙丑", "甲辰 丙寅"),
    ("2024-10-08", 3, 0, "甲辰 癸酉", "甲辰 甲戌"),
    ("1984-02-04", 23, 19, "癸亥 乙丑", "甲子 丙寅"),
    ("2021-02-03", 22, 59, "庚子 己丑", "辛丑 庚寅"),
]


@pytest.mark.parametrize(("day", "hour", "minute", "before", "after"), TERMS)
async def test_a_month_begins_with_the_suns_term(day, hour, minute, before, after):
    """A quarter of an hour around the published time of a term, year and month change, and nothing before."""
    at = hour + minute / 60
    assert (await pillars(day, at - 0.25)).startswith(before)
    assert (await pillars(day, at + 0.25)).startswith(after)


@pytest.mark.parametrize(
    ("policy", "event"),
    [(Policy(), "call_forwarded"), (Policy(unrepairable="refuse"), "call_rejected")],
)
async def test_what_cannot_be_converted_is_an_error(policy, event, events):
    """A session forwards the call to the server, unless told to refuse it; either way the envelope says why it failed."""
    async with Client(server) as client:
        with pytest.raises(ToolError, match=r"'year' must be an integer, but got the string"):
            await lenient_session(client, policy).call_tool(
                "buildBaziFromSolarDatetime", {**BORN, "year": "last"}
            )
    assert events.names == [event]


async def test_the_proxy_refuses_what_cannot_be_converted(events):
    """The proxy sends no such call on."""
    async with Client(mcp) as client:
        result = await client.call_tool_mcp("buildBaziFromSolarDatetime", {**BORN, "year": "last"})
    assert "INVALID_YEAR_TYPE" in result.content[0].text
    assert events.names == ["call_rejected"]


async def test_a_whole_number_with_a_fraction_of_zero_is_sent_as_it_is():
    """JSON Schema takes 1990.0 for an integer, so a session does not change it; a strict server refuses it."""
    async with Client(server) as client:
        with pytest.raises(ToolError, match="valid integer"):
            await lenient_session(client).call_tool("buildBaziFromSolarDatetime", {**BORN, "year": 1990.0})
