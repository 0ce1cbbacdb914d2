"""``LenientServerMiddleware`` on servers of the official SDK 2, called by the SDK's client."""

import asyncio
import json
from typing import Annotated, Any, Literal

import pytest
from exported_spans import exported_spans
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.server.extension import Extension
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ListToolsResult, Request, TextContent, Tool, ToolAnnotations
from pydantic import AfterValidator, BaseModel, Field
from strategies import LAW, LOOSE_JSON

from mcp_lenient import Policy, lenient
from mcp_lenient.adapters.gate import ToolsUnknownError
from mcp_lenient.adapters.listed import ListedTools, ServerTools
from mcp_lenient.adapters.mcp_sdk import LenientServerMiddleware, make_lenient
from mcp_lenient.normalizers import aliases, tags

SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["text"],
    "additionalProperties": False,
}
VERSIONS = pytest.mark.parametrize("mode", ["legacy", "auto"])


def note(text: str, labels: list[str] | None = None, limit: int = 10) -> dict[str, Any]:
    """Keep a note."""
    return {"text": text, "labels": labels, "limit": limit}


def functions(*tools: Any, middleware: Any = None, **settings: Any) -> MCPServer:
    """Create a server with functions as tools, lenient unless another middleware is given."""
    chain = [LenientServerMiddleware()] if middleware is None else middleware
    server = MCPServer("notes", middleware=chain, log_level="ERROR", **settings)
    for tool in tools or (note,):
        server.tool()(tool)
    return server


class Low:
    """A low-level server that accepts any call, and records its arguments."""

    def __init__(self, policy: Policy | None = None, **tool: Any) -> None:
        self.got: list[Any] = []
        self.tools = [Tool(**{"name": "note", "input_schema": SCHEMA, **tool})]
        self.lists = 0
        self.server: Server[Any] = Server("low", on_list_tools=self._list, on_call_tool=self._call)
        self.server.middleware.append(LenientServerMiddleware(policy))

    async def _list(self, _ctx: Any, params: Any) -> ListToolsResult:
        self.lists += 1
        at = int(params.cursor) if params is not None and params.cursor else 0
        more = str(at + 1) if at + 1 < len(self.tools) else None
        return ListToolsResult(tools=self.tools[at : at + 1], next_cursor=more)

    async def _call(self, _ctx: Any, params: Any) -> CallToolResult:
        self.got.append(params.arguments)
        return CallToolResult(content=[TextContent(type="text", text="ran")])


async def call(server: Any, tool: str, arguments: Any, mode: str = "auto") -> CallToolResult:
    """Return the result of a call whose arguments are sent unchanged."""
    async with Client(server, mode=mode) as client:
        return await sent(client, tool, arguments)


async def sent(client: Client, tool: str, arguments: Any) -> CallToolResult:
    request = Request[dict[str, Any], str](method="tools/call", params={"name": tool, "arguments": arguments})
    return await client.session.send_request(request, CallToolResult)


def got(result: CallToolResult) -> Any:
    """Return the value that the tool returned."""
    assert not result.is_error, result
    return json.loads(result.content[0].text)


def rules(result: CallToolResult) -> list[str]:
    """Return the rules that repaired a call."""
    return [each["rule"] for each in (result.meta or {}).get("mcp_lenient", {}).get("repairs", [])]


def refusal(result: CallToolResult) -> dict[str, Any]:
    """Return the envelope, which must be in the first text block and in ``_meta``."""
    assert result.is_error
    reported: dict[str, Any] = json.loads(result.content[0].text)
    whole: dict[str, Any] = result.meta["mcp_lenient"]
    assert (reported["error_code"], reported["message"]) == (whole["error_code"], whole["message"])
    return whole


@VERSIONS
async def test_a_valid_call_is_unchanged(mode, events):
    """A valid call is passed on unchanged, and nothing is added to its result."""
    result = await call(functions(), "note", {"text": "x", "labels": ["a"]}, mode)
    assert got(result) == {"text": "x", "labels": ["a"], "limit": 10}
    assert "mcp_lenient" not in (result.meta or {})
    assert events.names == ["call_accepted"]


async def test_a_refusal_of_a_tool_with_an_output_schema_has_no_structured_content():
    """Clients would validate it against the output schema, and discard the envelope."""

    class Kept(BaseModel):
        text: str

    def keep(text: str) -> Kept:
        return Kept(text=text)

    def reported(text: str):
        return text

    assert (await call(functions(keep), "keep", {})).structured_content is None
    result = await call(functions(reported), "reported", {})
    assert result.structured_content == refusal(result)


async def test_repairs_are_merged_into_a_tools_meta():
    """The tool's own ``_meta`` is kept."""

    def keep(labels: list[str]) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=str(labels))], _meta={"own": 1})

    result = await call(functions(keep), "keep", {"labels": "a"})
    assert result.meta["own"] == 1
    assert rules(result) == ["scalar_to_array"]


async def test_outer_middleware_sees_the_repaired_tool_name():
    """A renamed call starts again at the outermost middleware, so that a guard by name sees the tool that runs."""
    seen: list[str] = []

    async def guard(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call":
            seen.append(ctx.params["name"])
            if ctx.params["name"] == "note":
                return CallToolResult(content=[TextContent(type="text", text="not allowed")])
        return await call_next(ctx)

    result = await call(functions(middleware=[guard, LenientServerMiddleware()]), "Note", {"text": "x"})
    assert result.content[0].text == "not allowed"
    assert seen == ["Note", "note"]


async def test_a_wrapped_middleware_repairs_no_tool_name():
    """A wrapped middleware is not in the server's list, so middleware before it could not be given the repaired name."""
    own = LenientServerMiddleware()

    async def wrapped(ctx: Any, call_next: Any) -> Any:
        return await own(ctx, call_next)

    reported = refusal(await call(functions(middleware=[wrapped]), "Note", {"text": "x"}))
    assert (reported["error_code"], reported["details"]["did_you_mean"]) == ("UNKNOWN_TOOL", ["note"])


async def test_a_forwarded_call_names_the_repaired_tool_name():
    """The result names the repair, although the arguments are forwarded as sent."""
    low = Low()
    assert rules(await call(low.server, "Note", {"text": "x", "n": "many"})) == ["rename_tool"]
    assert low.got == [{"text": "x", "n": "many"}]


async def test_the_name_of_a_destructive_tool_is_not_repaired():
    """The envelope names the tool."""
    server = MCPServer("notes", middleware=[LenientServerMiddleware()], log_level="ERROR")
    server.tool(annotations=ToolAnnotations(destructiveHint=True))(note)
    reported = refusal(await call(server, "Note", {"text": "x"}))
    assert (reported["error_code"], reported["details"]["did_you_mean"]) == ("UNKNOWN_TOOL", ["note"])


async def test_the_tool_list_is_unchanged():
    """The list is the same as without the middleware."""
    async with Client(functions()) as ours, Client(functions(middleware=())) as alone:
        assert (await ours.list_tools()).model_dump() == (await alone.list_tools()).model_dump()


async def test_lenient_decorates_functions_as_on_fastmcp():
    """``@lenient`` below the SDK's own decorator declares aliases and normalizers."""

    @lenient(labels=tags(), text=aliases("body"))
    def keep(text: str, labels: list[str] | None = None) -> dict[str, Any]:
        return {"text": text, "labels": labels}

    server = functions(keep)
    result = await call(server, "keep", {"body": "x", "labels": "a"})
    assert got(result) == {"text": "x", "labels": ["a"]}
    assert rules(result) == ["rename_alias", "tags"]
    assert (
        refusal(await call(server, "keep", {"text": "x", "labels": 5}))["error_code"] == "INVALID_LABELS_TYPE"
    )


async def test_normalizers_in_annotations_run():
    """Normalizers declared in a parameter's annotation run."""

    def keep(labels: Annotated[list[str] | None, tags()]):
        return labels

    assert (await call(functions(keep), "keep", {"labels": "a"})).structured_content is None
    assert rules(await call(functions(keep), "keep", {"labels": "a"})) == ["tags"]


async def test_injected_sdk_parameters_are_not_arguments():
    """The context is not a required argument, even in a ``@lenient`` function."""

    @lenient
    async def keep(labels: list[str], ctx: Context) -> Any:
        return [*labels, ctx.request_id is not None]

    result = await call(functions(keep), "keep", {"labels": "a"})
    assert [each.text for each in result.content] == ["a", "true"]


async def test_a_custom_validator_is_used():
    """The envelope has the custom validator's message, and values that it accepts are valid."""

    def even(value: int) -> int:
        if value % 2:
            msg = "send an even number"
            raise ValueError(msg)
        return value

    def keep(number: Annotated[int, AfterValidator(even)]) -> Any:
        return number

    assert got(await call(functions(keep), "keep", {"number": "2"})) == 2
    assert "send an even number" in refusal(await call(functions(keep), "keep", {"number": 3}))["message"]


async def test_the_sdk_reports_bugs_in_custom_validators():
    """A buggy validator's exception is not a refusal, and the SDK answers the call."""

    def broken(value: int) -> int:
        raise RuntimeError(value)

    def keep(number: Annotated[int, AfterValidator(broken)]) -> Any:
        return number

    result = await call(functions(keep), "keep", {"number": 3})
    assert result.content[0].text == "Error executing tool keep"


async def test_errors_of_the_tool_body_pass_through(events):
    """Errors of the body are not changed, and the call is logged as accepted."""

    def fail(text: str) -> str:
        raise ToolError(text)

    result = await call(functions(fail), "fail", {"text": "on purpose"})
    assert result.content[0].text == "Error executing tool fail: on purpose"
    assert events.names == ["call_accepted"]


async def test_json_parsing_by_the_sdk_is_reported():
    """The envelope explains that the SDK parses JSON text for a ``str | None`` parameter."""

    def keep(text: str | None = None) -> Any:
        return text

    reported = refusal(await call(functions(keep), "keep", {"text": '{"a": 1}'}))
    assert "parses a text that is JSON" in reported["message"]


async def test_faults_in_json_text_are_repaired():
    """The recorded repairs begin with parsing the text."""

    class Item(BaseModel):
        name: str
        amounts: list[int] = Field(default_factory=list)

    def keep(item: Item) -> Any:
        return item

    result = await call(functions(keep), "keep", {"item": '{"name": "x", "amounts": 5}'})
    assert got(result) == {"name": "x", "amounts": [5]}
    assert rules(result) == ["json_text_to_object", "scalar_to_array"]


async def test_a_destructive_tool_gets_fewer_repairs():
    """A null is not dropped for a destructive tool."""
    server = MCPServer("notes", middleware=[LenientServerMiddleware()], log_level="ERROR")
    server.tool(annotations=ToolAnnotations(destructiveHint=True))(note)
    assert (
        refusal(await call(server, "note", {"text": "x", "limit": None}))["error_code"]
        == "INVALID_LIMIT_TYPE"
    )


async def test_tools_may_change_while_the_server_runs():
    """Each call is validated against the current tool."""
    server = functions()

    def other(text: int) -> Any:
        return text

    async with Client(server) as client:
        assert got(await sent(client, "note", {"text": "x"}))["text"] == "x"
        server.remove_tool("note")
        assert refusal(await sent(client, "note", {"text": "x"}))["error_code"] == "UNKNOWN_TOOL"
        server.add_tool(other, name="note")
        assert refusal(await sent(client, "note", {"text": "x"}))["error_code"] == "INVALID_TEXT_TYPE"


async def test_concurrent_calls_get_their_own_results():
    """Concurrent calls do not share state."""
    async with Client(functions()) as client:
        results = await asyncio.gather(
            *(sent(client, "note", {"text": str(n), "labels": f"a{n}"}) for n in range(50))
        )
    assert [got(each)["labels"] for each in results] == [[f"a{n}"] for n in range(50)]


async def test_one_middleware_serves_two_servers():
    """Tools with the same name on two servers are not confused."""
    middleware = LenientServerMiddleware()

    def number(text: int) -> Any:
        return text

    words, numbers = functions(middleware=[middleware]), functions(number, middleware=[middleware])
    numbers.add_tool(number, name="note")
    assert not (await call(words, "note", {"text": "x"})).is_error
    assert (await call(numbers, "note", {"text": "x"})).is_error


async def test_outer_middleware_may_change_the_request():
    """The changed request is validated."""

    async def rename(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call":
            ctx.params = {**ctx.params, "name": "note"}
        return await call_next(ctx)

    server = functions(middleware=[rename, LenientServerMiddleware()])
    assert got(await call(server, "anything", {"text": "x", "limit": None}))["limit"] == 10


async def test_inner_middleware_sees_the_repaired_call():
    """Repairs are added to a result that inner middleware returns."""
    seen: list[Any] = []

    async def answer(ctx: Any, call_next: Any) -> Any:
        if ctx.method != "tools/call":
            return await call_next(ctx)
        seen.append(ctx.params["arguments"])
        return CallToolResult(content=[TextContent(type="text", text="mine")])

    server = functions(middleware=[LenientServerMiddleware(), answer])
    result = await call(server, "note", {"text": "x", "limit": None})
    assert seen == [{"text": "x"}]
    assert rules(result) == ["null_to_absent"]


async def test_extensions_still_wrap_the_tool():
    """An extension's interceptor sees the repaired call, and the function's own model still validates it."""
    seen: list[Any] = []

    class Watch(Extension):
        identifier = "com.example/watch"

        async def intercept_tool_call(self, params: Any, ctx: Any, call_next: Any) -> Any:
            seen.append(params.arguments)
            return await call_next(ctx)

    server = functions(extensions=[Watch()])
    assert got(await call(server, "note", {"text": "x", "limit": None}))["limit"] == 10
    assert seen == [{"text": "x"}]
    assert refusal(await call(server, "note", {"text": []}))["error_code"] == "INVALID_TEXT_TYPE"


async def test_make_lenient_adds_the_middleware():
    """``make_lenient`` works on servers of SDK 2 as well."""
    server = make_lenient(functions(middleware=()), Policy(tell_model=True))
    assert rules(await call(server, "note", {"text": "x", "limit": None})) == ["null_to_absent"]


@pytest.mark.parametrize("server", [object(), "notes"])
def test_make_lenient_accepts_only_servers(server):
    """Any other object raises ``TypeError``."""
    with pytest.raises(TypeError, match="server of the official SDK"):
        make_lenient(server)


async def test_events_identify_the_caller(events):
    """Events have the server, the client and the request id."""
    await call(functions(), "note", {"text": "x", "limit": None})
    (event,) = events
    assert event["server"] == "notes"
    assert event["client_name"] == "mcp"
    assert event["request_id"]


async def test_no_value_is_logged(events):
    """Events contain no values and no unknown names."""
    await call(functions(), "note", {"text": ["hunter2"], "my-hunter2-key": 1})
    assert "hunter2" not in json.dumps(events)


async def test_a_refused_call_marks_its_span():
    """The span has the error code and an error status, so that error rates count it."""
    with exported_spans() as exported:
        await call(functions(), "note", {"text": []})
        spans = [span for span in exported.get_finished_spans() if span.name == "tools/call note"]
        (span,) = [each for each in spans if "mcp_lenient.outcome" in each.attributes]
    assert span.attributes["mcp_lenient.error_code"] == "INVALID_TEXT_TYPE"
    assert span.status.status_code.name == "ERROR"


ARGUMENTS = st.dictionaries(st.sampled_from(["text", "labels", "limit", "mode", "extra"]), LOOSE_JSON)


def mixed(text: str, labels: list[str] | None = None, limit: int = 3, mode: Literal["a", "b"] = "a") -> Any:
    """Return the arguments, of several types."""
    return repr((text, labels, limit, mode))


@given(ARGUMENTS)
@LAW
def test_calls_accepted_by_the_sdk_are_unchanged(arguments):
    """If the server alone accepts a call, the middleware passes the same values."""

    async def both() -> tuple[CallToolResult, CallToolResult]:
        alone, ours = functions(mixed, middleware=()), functions(mixed)
        return await call(alone, "mixed", arguments), await call(ours, "mixed", arguments)

    alone, ours = asyncio.run(both())
    if not alone.is_error:
        assert ours.content == alone.content
        assert "mcp_lenient" not in (ours.meta or {})
    elif ours.is_error:
        refusal(ours)
    else:
        assert rules(ours)


async def test_calls_invalid_by_a_published_schema_are_forwarded_by_default(events):
    """The handler may accept more than it publishes."""
    low = Low()
    assert not (await call(low.server, "note", {"text": 5.5})).is_error
    assert low.got == [{"text": 5.5}]
    assert events.names == ["call_forwarded"]


async def test_an_unlisted_tool_is_called_by_default(events):
    """A server may have more tools than it lists."""
    low = Low()
    await call(low.server, "hidden", {"text": 5})
    assert low.got == [{"text": 5}]
    assert events == []


async def test_valid_calls_list_tools_once():
    """The tools are listed again only before a call is repaired or refused."""
    low = Low()
    async with Client(low.server) as client:
        for _ in range(5):
            await sent(client, "note", {"text": "x"})
        assert low.lists == 1
        await sent(client, "note", {"text": "x", "n": "5"})
        assert low.lists == 2


async def test_the_schema_is_refreshed_before_a_repair():
    """No call is repaired for an outdated schema."""
    low = Low()
    async with Client(low.server) as client:
        await sent(client, "note", {"text": "x"})
        low.tools = [Tool(name="note", input_schema={"type": "object"})]
        await sent(client, "note", {"text": "x", "n": "5"})
    assert low.got[-1] == {"text": "x", "n": "5"}


async def test_tools_on_later_pages_are_found():
    """All pages of the tool list are read."""
    low = Low()
    low.tools.append(Tool(name="second", input_schema=SCHEMA))
    await call(low.server, "second", {"text": "x", "n": "5"})
    assert low.got == [{"text": "x", "n": 5}]


@pytest.mark.parametrize("policy", [Policy(), Policy(unrepairable="refuse")])
async def test_a_server_that_cannot_list_tools_is_unaffected(policy, events):
    """Calls are passed on unchanged, and one event reports why."""
    low = Low(policy)
    low.tools = [None]  # type: ignore[list-item]  # gives an invalid answer
    async with Client(low.server) as client:
        for _ in range(2):
            await sent(client, "note", {"text": 5})
    assert low.got == [{"text": 5}, {"text": 5}]
    assert events.names == ["hook_unavailable"]


async def test_a_server_with_an_empty_tool_list_is_unaffected():
    """The SDK allows a server with only a call handler."""
    got: list[Any] = []

    async def run(_ctx: Any, params: Any) -> CallToolResult:
        got.append(params.arguments)
        return CallToolResult(content=[])

    server: Server[Any] = Server("low", on_call_tool=run)
    server.middleware.append(LenientServerMiddleware())
    await call(server, "note", {"text": 5})
    assert got == [{"text": 5}]


@pytest.mark.parametrize(("closed", "limit"), [(False, 10), (True, 3)])
async def test_closed_policy_renames_a_name_the_sdk_drops(closed, limit):
    """The SDK ignores unknown names; with ``closed`` they are invalid, and renamed if possible."""
    server = functions(middleware=[LenientServerMiddleware(Policy(closed=closed))])
    result = await call(server, "note", {"text": "x", "Limit": 3})
    assert got(result)["limit"] == limit


async def test_closed_policy_refuses_an_unknown_name():
    """With ``closed`` an unknown name is refused instead of ignored."""
    server = functions(middleware=[LenientServerMiddleware(Policy(closed=True))])
    assert (
        refusal(await call(server, "note", {"text": "x", "color": "red"}))["error_code"]
        == "UNKNOWN_PARAMETER"
    )


async def test_a_call_is_validated_against_its_callers_tool_list():
    """A tool list for another caller does not replace the one for this caller."""
    kept = ServerTools()

    def listed_to(caller: str) -> ListedTools:
        async def page(_cursor: str | None) -> dict[str, Any]:
            return {"tools": [{"name": f"of_{caller}", "inputSchema": {"type": "object"}}]}

        return ListedTools(kept, page)

    one, other = listed_to("one"), listed_to("other")
    assert await one.tool("of_one", fresh=True) is not None
    assert await other.tool("of_other", fresh=True) is not None
    assert list(await one.names()) == ["of_one"]


async def test_a_list_without_an_end_is_an_error():
    """A thousand pages are read; a server that lists more of them is not taken at its word for some."""

    async def page(cursor: str | None) -> dict[str, Any]:
        at = int(cursor or 0)
        return {
            "tools": [{"name": f"tool_{at}", "inputSchema": {"type": "object"}}],
            "nextCursor": f"{at + 1}",
        }

    with pytest.raises(ToolsUnknownError) as caught:
        await ListedTools(ServerTools(), page).names()
    assert str(caught.value.__cause__) == "The server lists tools on more than 1,000 pages."
