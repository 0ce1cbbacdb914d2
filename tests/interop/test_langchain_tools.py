"""Test LangChain tools on a lenient server: what is published, what is repaired, what is refused."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from fastmcp import Client, FastMCP
from fastmcp.tools import ToolResult
from fastmcp.utilities.types import Image
from fastmcp_versions import not_on_3
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import (
    BaseTool,
    InjectedToolArg,
    StructuredTool,
    ToolException,
    tool,
)
from langgraph.prebuilt import InjectedState, ToolNode, ToolRuntime
from mcp.types import AudioContent, BlobResourceContents, EmbeddedResource, ResourceLink
from processes import free_port, running
from pydantic import BaseModel, Field, field_validator

from mcp_lenient.adapters.client.sdk_versions import MCPError
from mcp_lenient.adapters.langchain import load_tools, serve

UPSTREAM = Path(__file__).parents[1] / "adapters" / "fastmcp" / "proxy" / "servers" / "upstream.py"
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


@tool
def search_recipes(query: str, ingredients: list[str] | None = None, max_results: int = 5) -> str:
    """Search recipes by a text and by ingredients, all of which they must have."""
    return f"{query}, with {', '.join(ingredients or ['anything'])}, at most {max_results}"


class Order(BaseModel):
    """What is to be bought."""

    items: list[str] = Field(description="One entry for each thing to buy.", min_length=1)
    shop: Literal["market", "bakery"] = Field(default="market", description="Where to buy it.")
    urgent: bool = False


def _buy(items: list[str], shop: str, *, urgent: bool) -> str:
    return f"{'+'.join(items)} from the {shop}{', now' if urgent else ''}"


place_order = StructuredTool.from_function(
    func=_buy, name="place_order", description="Buy what is missing.", args_schema=Order
)


class ConvertUnits(BaseTool):
    """A tool defined as a class."""

    name: str = "convert_units"
    description: str = "Convert cups to milliliters."

    def _run(self, cups: float, *, rounded: bool = False) -> str:
        if cups < 0:
            msg = "There is no negative cup."
            raise ToolException(msg)
        milliliters = cups * 236.588
        return str(round(milliliters) if rounded else milliliters)


TOOLS: list[BaseTool] = [search_recipes, place_order, ConvertUnits()]


async def _call(tools: list[BaseTool], name: str, arguments: dict[str, Any]):
    async with Client(serve("langchain", tools)) as client:
        return await client.call_tool_mcp(name, arguments)


def _rules(result: Any) -> list[str]:
    return [repair["rule"] for repair in result.meta["mcp_lenient"]["repairs"]]


@pytest.mark.parametrize("wrapped", TOOLS, ids=lambda wrapped: wrapped.name)
async def test_name_description_and_schema_are_kept(wrapped):
    """The published tool equals LangChain's description for a model, but forbids unknown arguments."""
    async with Client(serve("langchain", TOOLS)) as client:
        published = {tool.name: tool for tool in await client.list_tools()}[wrapped.name]
    assert published.description == wrapped.description
    reported = wrapped.tool_call_schema.model_json_schema()
    assert published.input_schema == {**reported, "additionalProperties": False}


async def test_an_open_schema_stays_open():
    """A schema that allows unknown arguments, or is given as JSON, is published unchanged."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": True}

    def count(**arguments: Any) -> str:
        return str(sorted(arguments))

    wrapped = StructuredTool.from_function(func=count, name="count", description="Count.", args_schema=schema)
    async with Client(serve("langchain", [wrapped])) as client:
        (published,) = await client.list_tools()
        result = await client.call_tool_mcp("count", {"a": "1"})
    # As LangChain describes it to a model.
    assert published.input_schema == {**schema, "description": "Count."}
    assert _rules(result) == ["text_to_integer"]


@pytest.mark.parametrize(
    ("wrapped", "sent", "text", "rules"),
    [
        pytest.param(
            search_recipes,
            {"query": "soup", "ingredients": '["leek"]', "maxResults": "3"},
            "soup, with leek, at most 3",
            ["json_text_to_array", "rename_case", "text_to_integer"],
            id="function",
        ),
        pytest.param(
            place_order,
            {"items": "eggs", "shop": "Bakery", "urgent": "yes"},
            "eggs from the bakery, now",
            ["scalar_to_array", "fold_enum", "text_to_boolean"],
            id="explicit-schema",
        ),
        pytest.param(
            ConvertUnits(),
            {"cups": "2", "rounded": "true"},
            "473",
            ["text_to_number", "text_to_boolean"],
            id="class",
        ),
    ],
)
async def test_a_nearly_right_call_runs(wrapped, sent, text, rules):
    """Each kind of tool gets the repaired arguments, and the result names the repairs."""
    result = await _call(TOOLS, wrapped.name, sent)
    assert result.content[0].text == text
    assert _rules(result) == rules


@pytest.mark.parametrize(
    ("name", "sent", "code"),
    [
        pytest.param("search_recipes", {"ingredients": []}, "MISSING_QUERY", id="function"),
        pytest.param("place_order", {"items": []}, "INVALID_ITEMS_VALUE", id="explicit-schema"),
    ],
)
async def test_unrepairable_calls_are_refused(name, sent, code):
    """LangChain never gets arguments that the schema forbids. The caller gets the envelope."""
    result = await _call(TOOLS, name, sent)
    assert result.is_error
    assert json.loads(result.content[0].text)["error_code"] == code


@pytest.mark.parametrize("handled", [False, "Ask for one cup."])
async def test_a_tools_own_error_is_reported(handled):
    """An error that a tool raises, or handles by ``handle_tool_error``, is a tool error with the tool's own message."""
    result = await _call([ConvertUnits(handle_tool_error=handled)], "convert_units", {"cups": -1})
    assert result.is_error
    assert result.content[0].text == (handled or "There is no negative cup.")


async def test_python_validator_errors_are_reported():
    """An error of an author's validator is a tool error in one line, without URLs."""

    class Even(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def _is_even(cls, number: int) -> int:
            if number % 2:
                msg = "must be even"
                raise ValueError(msg)
            return number

    def halve(number: int) -> str:
        return str(number)

    wrapped = StructuredTool.from_function(halve, description="Halve.", args_schema=Even)
    result = await _call([wrapped], "halve", {"number": 3})
    assert result.is_error
    assert result.content[0].text == "number: Value error, must be even"


async def test_blocks_of_an_async_tool_are_passed_on():
    """Text and images of an async tool become MCP blocks, and other parts become JSON."""

    @tool
    async def look(place: str) -> list[dict[str, Any] | str]:
        """Look at a place."""
        image = {"type": "image", "base64": _PIXEL, "mime_type": "image/png"}
        return [{"type": "text", "text": place}, image, "plain", {"type": "json", "value": 1}]

    result = await _call([look], "look", {"place": "garden"})
    reported = [block.text if block.type == "text" else block.data for block in result.content]
    assert reported == ["garden", _PIXEL, "plain", '{"type": "json", "value": 1}']


async def test_injected_langchain_parameters_are_not_arguments():
    """A tool may have a parameter for the run's configuration, which LangChain fills in."""

    @tool
    def who(name: str, settings: RunnableConfig) -> str:
        """Say who it is."""
        return f"{name} {sorted(settings) != []}"

    result = await _call([who], "who", {"name": "Ada"})
    assert result.content[0].text == "Ada True"


class _Text(BaseModel):
    text: str


class _OfAClass(BaseTool):
    name: str = "of_a_class"
    description: str = "Take what the schema does not show."
    args_schema: type[BaseModel] = _Text

    def _run(self, text: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
        return text + str(state)

    async def _arun(self, text: str, runtime: ToolRuntime) -> str:
        return text + str(runtime)


def _taking(injected: Any, default: Any = inspect.Parameter.empty) -> BaseTool:
    """Return a tool whose parameter ``other`` LangChain would inject."""

    def take(text: str, other: Any) -> str:
        return text + str(other)

    take.__annotations__["other"] = injected
    take.__defaults__ = () if default is inspect.Parameter.empty else (default,)
    return tool(take, description="Take what is injected.")


@pytest.mark.parametrize(
    ("wrapped", "name"),
    [
        pytest.param(_taking(Annotated[str, InjectedToolArg]), "other", id="InjectedToolArg"),
        pytest.param(_taking(Annotated[str, InjectedToolArg()], "nobody"), "other", id="with-default"),
        pytest.param(_taking(ToolRuntime), "other", id="ToolRuntime"),
        pytest.param(_OfAClass(), "runtime, state", id="class"),
    ],
)
def test_injected_arguments_are_refused_when_the_server_is_built(wrapped, name):
    """Building a server with such a tool raises an error that names the tool and the argument."""
    expected = rf"'{wrapped.name}' cannot be served over MCP: {name} would have to be injected"
    with pytest.raises(TypeError, match=expected):
        serve("langchain", [search_recipes, wrapped])


# --- artifacts and metadata ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "kinds", "artifact"),
    [
        pytest.param({"rows": [1, 2]}, ["text"], {"artifact": {"rows": [1, 2]}}, id="json"),
        pytest.param(
            [{"type": "image", "data": _PIXEL, "mimeType": "image/png"}], ["text", "image"], None, id="blocks"
        ),
        pytest.param(object(), ["text"], None, id="no-json"),
    ],
)
async def test_an_artifact_is_passed_on(returned, kinds, artifact):
    """An artifact is in ``_meta``, which no model reads. MCP's own blocks become content."""

    @tool(response_format="content_and_artifact")
    def look(text: str) -> tuple[str, Any]:
        """Return text and an artifact."""
        return text, returned

    result = await _call([look], "look", {"text": "tea"})
    assert [block.type for block in result.content] == kinds
    assert (result.meta or {}).get("langchain") == artifact


def _remove(names: list[str]) -> str:
    return ", ".join(names)


@not_on_3("the test reads and writes the models of SDK 2")
async def test_metadata_is_passed_on_and_a_destructive_tool_guarded():
    """Annotations come from the metadata, and a destructive tool gets fewer repairs."""
    metadata = {"destructiveHint": True, "title": "Remove", "owner": "ops", "readOnlyHint": None}
    wrapped = StructuredTool.from_function(
        func=_remove, name="remove", description="Remove.", metadata=metadata, tags=["files"]
    )
    async with Client(serve("langchain", [wrapped])) as client:
        (published,) = await client.list_tools()
        guarded = await client.call_tool_mcp("remove", {"names": "a"})
        repaired = await client.call_tool_mcp("remove", {"names": '["a"]'})
    assert published.annotations.destructive_hint is True
    assert published.annotations.title == "Remove"
    assert published.meta["langchain"] == {"metadata": {"owner": "ops"}, "tags": ["files"]}
    assert guarded.is_error
    assert repaired.content[0].text == "a"


# --- MCP tools for an agent ------------------------------------------------------------------------------


@pytest.fixture
def shop():
    """Return a server without the middleware, with two tools per page."""
    mcp = FastMCP("shop", list_page_size=2)

    @mcp.tool(annotations={"destructiveHint": True}, meta={"team": "ops"})
    def clear(names: list[str]) -> str:
        """Clear the shelves."""
        return ", ".join(names)

    @mcp.tool
    def price(item: str, amount: int = 1) -> dict[str, int]:
        """Say what it costs."""
        return {item: 3 * amount}

    @mcp.tool
    def photo() -> list[Any]:
        """Show the shop."""
        return ["The shop", Image(data=b"\x89PNG", format="png")]

    @mcp.tool
    def listen() -> ToolResult:
        """Listen."""
        sound = AudioContent(type="audio", data="QUJD", mimeType="audio/wav")
        link = ResourceLink(
            type="resource_link", name="x", uri="http://a.example/x.pdf", mimeType="application/pdf"
        )
        blob = BlobResourceContents(uri="data://x", blob="QUJD", mimeType="image/png")
        return ToolResult(content=[sound, link, EmbeddedResource(type="resource", resource=blob)])

    @mcp.tool
    def greet(name: str) -> str:
        """Greet."""
        return f"Hello {name}"

    @mcp.tool
    def nothing() -> None:
        """Answer nothing."""

    return mcp


async def _asked(server: FastMCP, name: str, args: dict[str, Any]) -> ToolMessage:
    async with Client(server) as client:
        tools = {each.name: each for each in await load_tools(client)}
        return await tools[name].ainvoke({"name": name, "args": args, "id": "call_1", "type": "tool_call"})


async def test_an_agent_gets_the_tools_of_all_pages(shop):
    """Each tool keeps its name, description, schema, annotations and ``_meta``, and LangGraph's ``ToolNode`` takes it."""
    async with Client(shop) as client:
        loaded = await load_tools(client)
        tools = {each.name: each for each in loaded}
        published = {each.name: each for each in await client.list_tools()}
    assert ToolNode(loaded).tools_by_name.keys() == tools.keys() == published.keys()
    assert {"clear", "price", "photo"} < tools.keys()
    annotations = published["clear"].annotations.model_dump(by_alias=True)
    assert {name: tools["clear"].metadata[name] for name in annotations} == annotations
    assert annotations["destructiveHint"] is True
    assert tools["clear"].metadata["_meta"]["team"] == "ops"
    assert tools["price"].description == "Say what it costs."
    assert tools["price"].args_schema == published["price"].input_schema


async def test_an_agents_call_is_repaired(shop):
    """The model's message has the text. Structured content and repairs are its artifact."""
    message = await _asked(shop, "price", {"item": "tea", "Amount": "2"})
    assert (message.tool_call_id, message.status, message.content) == ("call_1", "success", '{"tea":6}')
    assert message.artifact["structured_content"] == {"tea": 6}
    assert sorted(each["rule"] for each in message.artifact["repairs"]) == ["rename_case", "text_to_integer"]


async def test_a_text_is_the_message_and_nothing_else(shop):
    """A tool that returns a text gives LangChain's own message of it; one that answers nothing an empty text."""
    message = await _asked(shop, "greet", {"name": "Li"})
    assert message == ToolMessage("Hello Li", name="greet", tool_call_id="call_1")
    assert (await _asked(shop, "nothing", {})).content == ""


async def test_an_agent_reads_the_envelope(shop):
    """A refused call becomes a message with the envelope and ``status="error"``, without an exception."""
    message = await _asked(shop, "price", {"amount": "many"})
    assert message.status == "error"
    assert json.loads(message.content)["error_code"] == "INVALID_ARGUMENTS"


@not_on_3("the test reads and writes the models of SDK 2")
async def test_images_are_blocks_of_langchain(shop):
    """Several blocks become a list in LangChain's own format."""
    message = await _asked(shop, "photo", {})
    assert [block["type"] for block in message.content] == ["text", "image"]
    assert message.content[1]["mime_type"] == "image/png"


@not_on_3("the test reads and writes the models of SDK 2")
async def test_other_content_is_a_file_of_langchain(shop):
    """LangChain would write all content as one text if a block were of a kind that it does not know."""
    message = await _asked(shop, "listen", {})
    assert message.content == [
        {"type": "file", "base64": "QUJD", "mime_type": "audio/wav"},
        {"type": "file", "url": "http://a.example/x.pdf", "mime_type": "application/pdf"},
        {"type": "image", "base64": "QUJD", "mime_type": "image/png"},
    ]


async def test_tools_convert_in_both_directions(shop):
    """MCP tools converted to LangChain tools can be served again, with the same guards."""
    async with Client(shop) as client, Client(serve("again", await load_tools(client))) as again:
        assert (await again.call_tool_mcp("clear", {"names": "tea"})).is_error
        price = await again.call_tool_mcp("price", {"item": "tea", "amount": "2"})
    assert price.content[0].text == '{"tea":6}'


@pytest.mark.slow
@pytest.mark.parametrize("form", ["by name", "configuration", "one"])
async def test_tools_of_connections_open_a_session_for_each_call(form):
    """Without a session the tools are listed by their connection, and each call, repaired, has a session of its own."""
    connection = {"transport": "stdio", "command": sys.executable, "args": [str(UPSTREAM)]}
    given = {
        "by name": ({"counter": connection}, {}),
        "configuration": ({"mcpServers": {"counter": connection}}, {}),
        "one": (None, {"connection": connection}),
    }
    session, options = given[form]
    tools = {one.name: one for one in await load_tools(session, **options)}
    assert await tools["add"].ainvoke({"a": "2", "b": [3]}) == "5"
    assert await tools["process"].ainvoke({}) != await tools["process"].ainvoke({})


async def test_tools_of_nothing_are_an_error_with_both_ways():
    """``None`` alone names a session and connections."""
    with pytest.raises(ValueError, match=r"load_tools\(client\).*connection=\{\.\.\.\}"):
        await load_tools(None)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param(
            {"transport": "pigeon", "url": "http://a.example"}, "has the unknown transport 'pigeon'"
        ),
        pytest.param({"command": "python", "headers": {}}, "has the unknown key 'headers'; "),
        pytest.param(
            {"url": "http://a.example", "sse_read_timeout": 5}, "the unknown key 'sse_read_timeout'"
        ),
        pytest.param({"transport": "sse"}, "lacks the key 'url'; keys of the transport 'sse' are url, "),
    ],
)
async def test_an_unknown_key_or_an_unknown_transport_is_one_line(given, told):
    """No key or transport is ignored: the error names it, and those that are known."""
    with pytest.raises(ValueError, match=rf"^(The connection|Server) 'a' [^\n]*{told}[^\n]*\.$"):
        await load_tools({"a": given})


@pytest.mark.slow
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
@pytest.mark.parametrize("transport", ["streamable_http", "sse"])
async def test_a_connection_over_http_takes_what_langchain_has(transport, library):
    """Seconds are seconds, the client's factory, which takes no more, makes the clients, and headers are sent."""
    http, clients = pytest.importorskip(library), []

    def factory(headers=None, timeout=None, auth=None):
        clients.append(headers)
        return http.AsyncClient(headers=headers, timeout=timeout or http.Timeout(30.0), auth=auth)

    port, kind = free_port(), {"streamable_http": "http"}.get(transport, transport)
    with running([sys.executable, str(UPSTREAM)], port, UPSTREAM_PORT=str(port), UPSTREAM_TRANSPORT=kind):
        path = "mcp" if kind == "http" else "sse"
        shared = {"transport": transport, "url": f"http://127.0.0.1:{port}/{path}"}
        shared |= {"headers": {"x-who": "me"}, "httpx_client_factory": factory}
        for seconds in (5, 1):
            loaded = await load_tools({"s": {**shared, "timeout": seconds}})
            tools = {each.name: each for each in loaded}
            if seconds == 5:
                assert await tools["hang"].ainvoke({"seconds": 2}) == "awake"
                assert await tools["header"].ainvoke({"name": "x-who"}) == "me"
            else:
                with pytest.raises((MCPError, TimeoutError)):
                    await tools["hang"].ainvoke({"seconds": 3})
    assert {"x-who": "me"}.items() <= clients[0].items()


async def test_an_auth_of_another_library_is_one_line():
    """What the HTTP client does not take as ``auth`` is an error of the server's connection, in one line."""
    with pytest.raises(
        ConnectionError, match=r"^Server 'a' at http://127.0.0.1:9/mcp cannot be used: [^\n]+$"
    ):
        await load_tools({"a": {"url": "http://127.0.0.1:9/mcp", "auth": object()}})
