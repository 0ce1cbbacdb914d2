"""URIs of resource templates whose parameters FastMCP cannot convert are refused with an envelope."""

import json
from typing import Annotated, Any

import pytest
from calls import Log
from fastmcp import Client, Context, FastMCP
from fastmcp.exceptions import ResourceError

from mcp_lenient import LenientMiddleware, Policy
from mcp_lenient.adapters.fastmcp.compat import host

WRONG = [
    pytest.param("item://abc?ratio=0.5", "/number", "integer", id="integer"),
    pytest.param("item://1?ratio=half", "/ratio", "number", id="number"),
    pytest.param("item://1?whole=perhaps", "/whole", "boolean", id="boolean"),
]


def served(*middleware: Any) -> FastMCP:
    """Return a server with a typed template, and a resource whose URI also matches it."""
    server: FastMCP = FastMCP("resources", middleware=middleware)

    @server.resource("item://{number}{?ratio,whole,name}")
    def item(number: int, ratio: float = 1.0, whole: bool = True, name: str = "") -> str:  # noqa: FBT002
        return json.dumps([number, ratio, whole, name])

    @server.resource("item://first")
    def first() -> str:
        return "the first"

    return server


async def read(server: FastMCP, uri: str) -> str:
    """Return the text of a resource."""
    async with Client(server) as client:
        (content,) = await client.read_resource(uri)
    return content.text


@pytest.mark.parametrize(
    "uri",
    [
        "item://7",
        "item://%207",
        "item://7?ratio=2&whole=NO&name=5",
        "item://7?ratio=1e3",
        "item://1_000",
        "item://first",
    ],
)
async def test_uris_fastmcp_accepts_are_unchanged(events: Log, uri):
    """The function gets what it gets without the middleware, and nothing is logged."""
    assert await read(served(LenientMiddleware()), uri) == await read(served(), uri)
    assert events.names == []


async def test_annotations_need_not_be_hashable(events: Log):
    """A parameter's metadata may be an object that is not hashable."""
    server: FastMCP = FastMCP("resources", middleware=[LenientMiddleware()])

    @server.resource("page://{number}")
    def page(number: Annotated[int, {"examples": [1]}]) -> str:
        return str(number)

    assert await read(server, "page://7") == "7"
    assert events.names == []


async def test_a_body_receives_fastmcps_exception():
    """A tool that reads a resource catches the same exception as without the middleware."""
    server = served(LenientMiddleware())

    @server.tool
    async def ask(ctx: Context) -> str:
        try:
            return str(await ctx.read_resource("item://abc"))
        except ResourceError:
            return "caught"

    async with Client(server) as client:
        assert (await client.call_tool("ask")).data == "caught"


@pytest.mark.parametrize(("uri", "pointer", "expected"), WRONG)
async def test_unrepairable_requests_get_an_envelope(events: Log, uri, pointer, expected):
    """The protocol error has the envelope as text and as data, and names the parameter."""
    with pytest.raises(host.MCPError) as caught:
        await read(served(LenientMiddleware()), uri)
    reported = caught.value.error.data
    assert caught.value.error.code == -32602
    assert json.loads(caught.value.error.message)["error_code"] == reported["error_code"]
    assert reported["message"].startswith("Invalid URI for resource 'item': ")
    (violation,) = reported["details"]["violations"]
    assert (violation["pointer"], violation["expected_types"]) == (pointer, [expected])
    assert events.names == ["call_rejected"]


@pytest.mark.parametrize(("mode", "logged"), [("observe", ["call_observed"]), ("off", [])])
async def test_other_modes_change_nothing(events: Log, mode, logged):
    """In observe and off mode, FastMCP answers as without the middleware."""
    with pytest.raises(host.MCPError) as caught:
        await read(served(LenientMiddleware(Policy(mode=mode))), "item://abc")
    assert caught.value.error.data is None or "details" not in caught.value.error.data
    assert events.names == logged
