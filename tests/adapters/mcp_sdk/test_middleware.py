"""``LenientServerMiddleware`` on servers of the official SDK 2, called by the SDK's client."""

import asyncio
from typing import Annotated, Any, Literal

import pytest
from adapters.raw_calls import raw_call
from calls import code, envelope, got, rules
from exported_spans import exported_spans
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.server.extension import Extension
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field
from strategies import LAW, LOOSE_JSON
from tables import INTEGER, STRING, closed

from mcp_lenient import Policy, lenient
from mcp_lenient.adapters.listed import ListedTools, ServerTools
from mcp_lenient.adapters.mcp_sdk import LenientServerMiddleware, make_lenient
from mcp_lenient.adapters.source import ToolsUnknownError
from mcp_lenient.normalizers import aliases, tags

SCHEMA = closed("text", text=STRING, n=INTEGER)


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


async def call(server: Any, tool: str, arguments: Any) -> CallToolResult:
    """Return the result of a call whose arguments are sent unchanged."""
    async with Client(server) as client:
        return await raw_call(client, tool, arguments)


async def test_a_refusal_of_a_tool_with_an_output_schema_has_no_structured_content():
    """Clients would validate it against the output schema, and discard the envelope."""

    class Kept(BaseModel):
        text: str

    def keep(text: str) -> Kept:
        return Kept(text=text)

    def reported(text: str):
        return text

    server = functions(keep, reported)
    assert (await call(server, "keep", {})).structured_content is None
    result = await call(server, "reported", {})
    assert result.structured_content == envelope(result)


async def test_repairs_are_merged_into_a_tools_meta():
    """The tool's own ``_meta`` is kept."""

    def keep(labels: list[str]) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=str(labels))], _meta={"own": 1})

    result = await call(functions(keep), "keep", {"labels": "a"})
    assert result.meta["own"] == 1
    assert rules(result) == ["scalar_to_array"]


def _guard(seen: list[str]) -> Any:
    """Return middleware that denies a tool by its name."""

    async def guard(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call":
            seen.append(ctx.params["name"])
            if ctx.params["name"] == "note":
                return CallToolResult(content=[TextContent(type="text", text="not allowed")], is_error=True)
        return await call_next(ctx)

    return guard


async def test_a_guard_by_name_sees_the_tool_that_runs():
    """A call is renamed before other middleware sees it."""
    seen: list[str] = []
    server = functions(middleware=[LenientServerMiddleware(), _guard(seen)])
    result = await call(server, "Note", {"text": "x"})
    assert (result.content[0].text, seen) == ("not allowed", ["note"])


async def test_behind_other_middleware_nothing_is_repaired():
    """Where other middleware has seen the call as it was sent, neither name nor arguments are repaired."""
    seen: list[str] = []
    server = functions(middleware=[_guard(seen), LenientServerMiddleware()])
    for tool, sent in (("Note", {"text": "x"}), ("Note", {"Text": "x"})):
        assert (await call(server, tool, sent)).is_error
    assert seen == ["Note", "Note"]


async def test_a_refusal_of_middleware_comes_before_the_envelope():
    """What middleware behind denies is not told what is wrong with the call."""
    server = functions(middleware=[LenientServerMiddleware(), _guard([])])
    for _ in range(2):
        assert (await call(server, "note", {"labels": 5})).content[0].text == "not allowed"


async def test_other_middleware_may_heal_a_refused_call_in_place():
    """A refused call whose arguments other middleware changes, also in place, runs as it was changed."""

    async def heal(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call":
            ctx.params["arguments"]["limit"] = 7
        return await call_next(ctx)

    server = functions(middleware=[LenientServerMiddleware(), heal])
    for _ in range(2):
        assert not (await call(server, "note", {"text": "x", "limit": "no"})).is_error


async def test_a_wrapped_middleware_repairs_nothing():
    """A wrapped middleware is not in the server's list, so it is not known what stands before it."""
    own = LenientServerMiddleware()

    async def wrapped(ctx: Any, call_next: Any) -> Any:
        return await own(ctx, call_next)

    assert (await call(functions(middleware=[wrapped]), "Note", {"text": "x"})).is_error


async def test_a_forwarded_call_names_the_repaired_tool_name():
    """The result names the repair, although the arguments are forwarded as sent."""
    low = Low()
    assert rules(await call(low.server, "Note", {"text": "x", "n": "many"})) == ["rename_tool"]
    assert low.got == [{"text": "x", "n": "many"}]


async def test_a_destructive_tool_gets_fewer_repairs():
    """Neither its name is repaired, which the envelope gives, nor a null dropped."""
    server = functions(middleware=[LenientServerMiddleware()])
    server.remove_tool("note")
    server.tool(annotations=ToolAnnotations(destructiveHint=True))(note)
    reported = envelope(await call(server, "Note", {"text": "x"}))
    assert (reported["error_code"], reported["details"]["did_you_mean"]) == ("UNKNOWN_TOOL", ["note"])
    assert code(await call(server, "note", {"text": "x", "limit": None})) == "INVALID_LIMIT_TYPE"


async def test_the_tool_list_is_unchanged():
    """The list is the same as without the middleware."""
    async with Client(functions()) as ours, Client(functions(middleware=())) as alone:
        assert (await ours.list_tools()).model_dump() == (await alone.list_tools()).model_dump()


async def test_declarations_apply_as_on_fastmcp():
    """``@lenient`` below the SDK's own decorator, and annotations, declare aliases and normalizers."""

    @lenient(labels=tags(), text=aliases("body"))
    def keep(text: str, labels: list[str] | None = None) -> dict[str, Any]:
        return {"text": text, "labels": labels}

    def annotated(labels: Annotated[list[str] | None, tags()]):
        return labels

    server = functions(keep, annotated)
    result = await call(server, "keep", {"body": "x", "labels": "a"})
    assert (got(result), rules(result)) == ({"text": "x", "labels": ["a"]}, ["rename_alias", "tags"])
    assert code(await call(server, "keep", {"text": "x", "labels": 5})) == "INVALID_LABELS_TYPE"
    assert rules(await call(server, "annotated", {"labels": "a"})) == ["tags"]


async def test_injected_sdk_parameters_are_not_arguments():
    """The context is not a required argument, even in a ``@lenient`` function."""

    @lenient
    async def keep(labels: list[str], ctx: Context) -> Any:
        return [*labels, ctx.request_id is not None]

    result = await call(functions(keep), "keep", {"labels": "a"})
    assert [each.text for each in result.content] == ["a", "true"]


async def test_a_custom_validator_is_used():
    """The envelope has its message, and values that it accepts are valid; its bugs are the SDK's to report."""

    def even(value: int) -> int:
        if value == 5:
            raise RuntimeError(value)
        if value % 2:
            msg = "send an even number"
            raise ValueError(msg)
        return value

    def keep(number: Annotated[int, AfterValidator(even)]) -> Any:
        return number

    server = functions(keep)
    assert got(await call(server, "keep", {"number": "2"})) == 2
    assert "send an even number" in envelope(await call(server, "keep", {"number": 3}))["message"]
    assert (await call(server, "keep", {"number": 5})).content[0].text == "Error executing tool keep"


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

    reported = envelope(await call(functions(keep), "keep", {"text": '{"a": 1}'}))
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


async def test_tools_may_change_while_the_server_runs():
    """Each call is validated against the current tool."""
    server = functions()

    def other(text: int) -> Any:
        return text

    async with Client(server) as client:
        assert got(await raw_call(client, "note", {"text": "x"}))["text"] == "x"
        server.remove_tool("note")
        assert code(await raw_call(client, "note", {"text": "x"})) == "UNKNOWN_TOOL"
        server.add_tool(other, name="note")
        assert code(await raw_call(client, "note", {"text": "x"})) == "INVALID_TEXT_TYPE"


async def test_one_middleware_serves_two_servers():
    """Tools with the same name on two servers are not confused."""
    middleware = LenientServerMiddleware()

    def number(text: int) -> Any:
        return text

    words, numbers = functions(middleware=[middleware]), functions(number, middleware=[middleware])
    numbers.add_tool(number, name="note")
    assert not (await call(words, "note", {"text": "x"})).is_error
    assert (await call(numbers, "note", {"text": "x"})).is_error


async def test_inner_middleware_sees_the_repaired_call():
    """Its result has the repairs."""
    seen: list[Any] = []

    async def answer(ctx: Any, call_next: Any) -> Any:
        if ctx.method != "tools/call":
            return await call_next(ctx)
        seen.append(ctx.params["arguments"])
        return CallToolResult(content=[TextContent(type="text", text="mine")])

    server = functions(middleware=[LenientServerMiddleware(), answer])
    result = await call(server, "note", {"text": "x", "limit": None})
    assert (seen, rules(result)) == ([{"text": "x"}], ["null_to_absent"])


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
    assert code(await call(server, "note", {"text": []})) == "INVALID_TEXT_TYPE"


@pytest.mark.parametrize("server", [object(), "notes"])
def test_make_lenient_accepts_only_servers(server):
    """Any other object raises ``TypeError``."""
    with pytest.raises(TypeError, match="server of the official SDK"):
        make_lenient(server)


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
        envelope(ours)
    else:
        assert rules(ours)


async def test_a_low_level_server_gets_other_calls_by_default(events):
    """The handler may accept more than it publishes, and a server may have more tools than it lists."""
    low = Low()
    for tool in ("note", "hidden"):
        assert not (await call(low.server, tool, {"text": 5.5})).is_error
    assert low.got == [{"text": 5.5}] * 2
    assert events.names == ["call_forwarded"]


async def test_the_tools_are_listed_again_before_a_change():
    """Valid calls list the tools once; no call is repaired for an outdated schema."""
    low = Low()
    async with Client(low.server) as client:
        for _ in range(5):
            await raw_call(client, "note", {"text": "x"})
        assert low.lists == 1
        low.tools = [Tool(name="note", input_schema={"type": "object"})]
        await raw_call(client, "note", {"text": "x", "n": "5"})
    assert (low.lists, low.got[-1]) == (2, {"text": "x", "n": "5"})


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
            await raw_call(client, "note", {"text": 5})
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


class Asked(Extension):
    """An extension that is asked about each call, and denies it or lets it pass."""

    identifier = "com.example/asked"

    def __init__(self, *, denies: bool) -> None:
        self.denies = denies

    async def intercept_tool_call(self, params: Any, ctx: Any, call_next: Any) -> Any:  # noqa: ARG002 - as the SDK calls it
        if self.denies:
            return CallToolResult(content=[TextContent(type="text", text="denied")], is_error=True)
        return await call_next(ctx)


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("note", {"text": "a", "limit": "many"}, "INVALID_LIMIT_TYPE"),
        ("note", {}, "MISSING_TEXT"),
        ("nowhere", {}, "UNKNOWN_TOOL"),
    ],
)
async def test_an_extension_is_asked_before_the_answer(tool, arguments, error):
    """Its denial is the answer; what it lets pass gets the envelope."""
    denied = await call(functions(extensions=[Asked(denies=True)]), tool, arguments)
    assert denied.content[0].text == "denied"
    assert code(await call(functions(extensions=[Asked(denies=False)]), tool, arguments)) == error


async def test_a_call_that_only_a_policy_refuses_is_not_run_behind_an_extension():
    """The SDK would run it."""
    middleware = [LenientServerMiddleware(Policy(closed=True))]
    server = functions(middleware=middleware, extensions=[Asked(denies=False)])
    assert code(await call(server, "note", {"text": "a", "colour": 1})) == "UNKNOWN_PARAMETER"


async def test_closed_policy_applies_to_a_name_the_sdk_drops():
    """The SDK ignores unknown names; with ``closed`` they are renamed if possible, and refused otherwise."""
    for is_closed, limit in ((False, 10), (True, 3)):
        server = functions(middleware=[LenientServerMiddleware(Policy(closed=is_closed))])
        assert got(await call(server, "note", {"text": "x", "Limit": 3}))["limit"] == limit
    assert code(await call(server, "note", {"text": "x", "color": "red"})) == "UNKNOWN_PARAMETER"


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


async def test_a_validator_that_edits_its_input_sees_a_copy():
    """Judging has no side effect: the function receives what one validation makes of the argument."""

    def less(value: dict[str, int]) -> dict[str, int]:
        value["n"] -= 1
        return value

    def keep(x: Annotated[dict[str, int], BeforeValidator(less)]) -> dict[str, Any]:
        return x

    assert got(await call(functions(keep), "keep", {"x": {"n": 5}})) == {"n": 4}
