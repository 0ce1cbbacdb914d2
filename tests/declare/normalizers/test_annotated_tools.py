"""Call annotated tools on real servers, lax and strict, with and without the middleware."""

from __future__ import annotations

import inspect
import json
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any

import pytest
from calls import on_both_servers, on_servers_that_read_json
from declare.normalizers.marked import Color, Node, Point
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from pydantic import Discriminator, Field

from mcp_lenient import LenientMiddleware
from mcp_lenient.normalizers import (
    clamp,
    default_on_null,
    from_function,
    null_as,
    parse_json,
    split,
    strip,
    synonyms,
    tags,
)


def server_with(kind, *, strict, default=inspect.Parameter.empty, lenient=False):
    """Return a server whose tool takes one value of this type and returns what it received."""

    def tell(value):
        return repr(value)

    tell.__annotations__ = {"value": kind, "return": str}
    if default is not inspect.Parameter.empty:
        tell.__defaults__ = (default,)
    server = FastMCP("server", strict_input_validation=strict)
    server.tool(tell)
    if lenient:
        server.add_middleware(LenientMiddleware())
    return server


async def answers(server, values):
    """Return the answer to each value, and whether it is an error."""
    async with Client(server) as client:
        results = [await client.call_tool_mcp("tell", {"value": value}) for value in values]
    return [(result.is_error, result.content[0].text) for result in results]


async def schema(server):
    """Return the published schema of the tool, as sent over the wire."""
    async with Client(server) as client:
        (tool,) = await client.list_tools()
    return tool.model_dump_json(by_alias=True)


async def test_discriminated_unions_work_as_parameters():
    """A parameter's union uses ``Discriminator``, because Pydantic would apply a ``Field`` last."""
    field = server_with(Annotated[Point | Node, Field(discriminator="kind")], strict=False)
    marked = server_with(Annotated[Point | Node, Discriminator("kind"), parse_json()], strict=False)
    assert await schema(marked) == await schema(field)
    assert await answers(marked, ['{"kind": "node"}']) == [(False, repr(Node()))]
    with pytest.raises(TypeError, match="discriminated union"):
        server_with(Annotated[Point | Node, Field(discriminator="kind"), parse_json()], strict=False)


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        pytest.param(Color, Color.RED, id="enum"),
        pytest.param(datetime, datetime(2024, 1, 31), id="datetime"),  # noqa: DTZ001
        pytest.param(tuple[int, ...], (1, 2), id="tuple"),
        pytest.param(Point, Point(x=1), id="model"),
        pytest.param(Annotated[int, Field(ge=1, description="many")], 5, id="bounds"),
        pytest.param(int, Field(5, ge=1, description="many"), id="field"),
    ],
)
async def test_defaults_are_published_unchanged(kind, default):
    """A default is published and used as without an annotation."""
    plain = server_with(kind, strict=False, default=default)
    marked = server_with(Annotated[kind, strip()], strict=False, default=default)
    assert await schema(marked) == await schema(plain)
    async with Client(marked) as ours, Client(plain) as theirs:
        assert (await ours.call_tool("tell", {})).data == (await theirs.call_tool("tell", {})).data


class State(Enum):
    """The meanings of synonyms."""

    ACTIVE = "Active"


@pytest.mark.parametrize("lenient", [False, True], ids=["alone", "middleware"])
@on_servers_that_read_json
@pytest.mark.parametrize(
    ("kind", "sent", "got"),
    [
        pytest.param(Annotated[list[str] | None, tags()], "a", ["a"], id="tags"),
        pytest.param(
            Annotated[State, strip(), synonyms({"open": "Active"})], "Open", State.ACTIVE, id="synonyms"
        ),
        pytest.param(Annotated[int, Field(le=10), clamp(1, 10)], 50, 10, id="clamp"),
        pytest.param(Annotated[list[int], null_as([])], None, [], id="null-as"),
        pytest.param(Annotated[set[date], split(";")], "2024-01-31;", {date(2024, 1, 31)}, id="strict-type"),
    ],
)
async def test_ready_made_normalizers_run_on_parameters(kind, sent, got, strict, lenient):
    """A ready-made normalizer works on a parameter, on every server."""
    assert await answers(server_with(kind, strict=strict, lenient=lenient), [sent]) == [(False, repr(got))]


@on_both_servers
async def test_null_gives_the_default(strict):
    """Null is replaced by the parameter's default."""
    server = server_with(Annotated[int, default_on_null()], strict=strict, default=7)
    assert await answers(server, [None, 3]) == [(False, "7"), (False, "3")]


@on_both_servers
async def test_refusal_without_middleware_has_the_message(strict):
    """Without the middleware FastMCP's error has the normalizer's message."""
    server = server_with(Annotated[list[str], tags()], strict=strict)
    ((is_error, reported),) = await answers(server, [5])
    assert is_error
    assert "send an array of strings or null" in reported


@on_both_servers
async def test_refusal_with_middleware_has_the_code(strict):
    """With the middleware the envelope has the normalizer's code with the parameter's name in it."""
    server = server_with(Annotated[list[str], tags()], strict=strict, lenient=True)
    ((is_error, reported),) = await answers(server, [[1, {}]])
    assert is_error
    envelope: dict[str, Any] = json.loads(reported)
    assert envelope["error_code"] == "INVALID_VALUE_TYPE"


async def test_exceptions_of_callables_are_tool_errors():
    """An exception of an author's callable that Pydantic does not handle is a tool error."""
    server = server_with(Annotated[str, from_function(lambda value: value["a"])], strict=False)
    async with Client(server) as client:
        with pytest.raises(ToolError):
            await client.call_tool("tell", {"value": "a"})
