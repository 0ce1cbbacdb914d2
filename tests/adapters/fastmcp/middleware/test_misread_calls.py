"""Calls that once ran with a wrong value."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.exceptions import ValidationError
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, Json

from mcp_lenient import LenientMiddleware, Policy, lenient, normalize, upper


def _percent(value):
    return float(value) / 100 if isinstance(value, str) else value


Rate = Annotated[float, BeforeValidator(_percent)]


class Order(BaseModel):
    """An amount whose author reads text as percent."""

    rate: Rate
    count: int = 1


class Other(BaseModel):
    """Another branch of a union."""

    name: str


class Labeled(BaseModel):
    """A field that a second name reaches, beside one that is spelt like it."""

    model_config = ConfigDict(extra="forbid")

    id: int
    label: list[str] = Field(default=[], validation_alias=AliasChoices("label", "tag"))
    tags: list[str] = []


@pytest.fixture
def server():
    mcp = FastMCP("attacked", strict_input_validation=False)
    mcp.add_middleware(LenientMiddleware())

    @mcp.tool
    def pay(discount_rate: Rate) -> float:
        return discount_rate

    @mcp.tool
    def order(one: Order) -> float:
        return one.rate

    @mcp.tool
    def either(one: Order | Other) -> float:
        return one.rate

    @mcp.tool
    def label(one: Labeled) -> dict:
        return {"label": one.label, "tags": one.tags}

    @mcp.tool
    def decoded(value: Json) -> str:
        return repr(value)

    @mcp.tool
    def send(to: str) -> str:
        return to

    @mcp.tool
    def written(style: Literal["%Y-%m-%d", "HH:mm"]) -> str:
        return style

    return mcp


async def _called(server, tool, arguments):
    async with Client(server) as client:
        return await client.call_tool(tool, arguments, raise_on_error=False)


@pytest.mark.quick_rows("renamed")
@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        pytest.param("pay", {"discountRate": "25"}, id="renamed"),
        pytest.param("pay", {"args": {"discount_rate": "25"}}, id="unwrapped"),
        pytest.param("order", {"one": '{"rate": "25"}'}, id="out of a text"),
        pytest.param("order", {"rate": "25"}, id="wrapped"),
        pytest.param("either", {"one": {"rate": "25", "count": [5]}}, id="beside a fault, in a union"),
    ],
)
async def test_relocated_values_are_read_by_the_tools_validator(server, tool, sent):
    """A value that a repair only brings to its place is read by the tool's own validator, not by the schema."""
    assert (await _called(server, tool, sent)).data == 0.25


async def test_a_name_that_only_the_validator_knows_stays_where_it_is(server):
    """A key that the model takes by another alias is not unknown, though the schema does not publish it."""
    result = await _called(server, "label", {"one": {"ID": 1, "tag": ["x"]}})
    assert result.data == {"label": ["x"], "tags": []}


@pytest.mark.quick_rows("a format whose case is its meaning")
@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        pytest.param("decoded", {"value": [5]}, id="a list is not its item, where JSON text is wanted"),
        pytest.param("send", {"to": "a", "_preview": True}, id="a key that restrains the call"),
        pytest.param("send", {"to": "a", "_is_dry_run": True}, id="a key that restrains the call, in words"),
        pytest.param("written", {"style": "%y-%m-%d"}, id="a format whose case is its meaning"),
        pytest.param("written", {"style": "hh:mm"}, id="twelve hours are not twenty-four"),
    ],
)
async def test_ambiguous_values_are_refused(server, tool, sent):
    """Nothing runs where another reading is as likely."""
    assert (await _called(server, tool, sent)).is_error


async def test_another_tools_normalizers_do_not_run():
    """A tool that replaced a marked one gets its arguments as they were sent."""
    mcp = FastMCP("replaced")
    mcp.add_middleware(LenientMiddleware())

    @lenient(text=upper())
    def shout(text: str) -> str:
        return text

    def say(text: str) -> str:
        return text

    mcp.tool(shout, name="say")
    assert (await _called(mcp, "say", {"text": "a"})).data == "A"
    mcp.local_provider.remove_tool("say")
    mcp.tool(say, name="say")
    assert (await _called(mcp, "say", {"text": "a"})).data == "a"


@pytest.mark.parametrize("mode", ["off", "observe"])
async def test_a_second_middleware_acts_where_the_first_does_not(mode):
    """Two of them on one server: the inner one answers its client as if it were alone."""
    mcp = FastMCP("twice")
    mcp.add_middleware(LenientMiddleware(Policy(mode=mode)))
    mcp.add_middleware(LenientMiddleware())

    @mcp.tool
    def count(number: int) -> int:
        return number

    result = await _called(mcp, "count", {"number": "x"})
    assert result.meta["mcp_lenient"]["error_code"] == "INVALID_NUMBER_TYPE"


async def test_a_body_that_calls_a_marked_tool_wrongly_sees_an_exception():
    """An envelope is for clients: to a tool's body it would look like success."""
    mcp = FastMCP("nested")
    mcp.add_middleware(LenientMiddleware())

    @mcp.tool
    @lenient
    def count(number: int) -> int:
        return number

    @mcp.tool
    async def outer(ctx: Context) -> str:
        try:
            await ctx.fastmcp.call_tool("count", {"number": "x"})
        except ValidationError:
            return "raised"
        return "returned"

    assert (await _called(mcp, "outer", {})).data == "raised"


def test_an_endlessly_nested_value_is_refused():
    """Validators that recurse on the stack are never given a value that is deeper than they can go."""
    value: list = []
    for _ in range(30_000):
        value = [value]
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/t"}},
        "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}, "maxItems": 1}},
    }
    assert normalize(schema, {"x": value}).violations[0].code == "size"
