"""``lenient_session`` repairs calls before it sends them: what it sends, returns and logs."""

from __future__ import annotations

import json

import pytest
from calls import rules
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp_versions import IS_3, not_on_3
from pydantic import ValidationError

from mcp_lenient import LenientMiddleware, Policy, dispatch, lenient, lenient_session
from mcp_lenient.adapters.client.sdk_versions import MCPError
from mcp_lenient.normalizers import aliases


@pytest.fixture
def server():
    """Return a server without mcp-lenient, strict if the SDK does not validate already."""

    def bazi(year: int, gender: float, *, solar: bool = False, parts: list[int] | None = None) -> str:
        """Compute."""
        return f"{year}, {gender}, {solar}, {parts}"

    mcp = FastMCP("bare", strict_input_validation=not IS_3, tools=[bazi])

    @mcp.tool(annotations={"destructiveHint": True})
    def erase(names: list[str]) -> str:
        """Erase."""
        return ", ".join(names)

    return mcp


SENT = {"year": "1990", "gender": "1", "solar": "true", "parts": "[1, 2, 3]"}
RULES = ["json_text_to_array", "text_to_boolean", "text_to_integer", "text_to_number"]


async def test_a_fastmcp_client_sends_repaired_arguments(server, events):
    """Strings become numbers, booleans and lists before sending; repairs are in the result and in the log."""
    async with lenient_session(Client(server)) as session:
        result = await session.call_tool("bazi", SENT)
        assert await session.list_resources() == []
    assert result.data == "1990, 1.0, True, [1, 2, 3]"
    assert sorted(rules(result)) == RULES
    assert [(event["event"], event["repair_count"]) for event in events] == [("call_repaired", 4)]


async def test_an_sdk_session_sends_repaired_arguments(server):
    """Wrapping an SDK session works, and the result is the SDK's own."""
    async with Client(server) as client:
        result = await lenient_session(client.session).call_tool("bazi", SENT)
    assert result.structured_content == {"result": "1990, 1.0, True, [1, 2, 3]"}
    assert sorted(rules(result)) == RULES


@not_on_3("the SDK 1 has no client of its own")
async def test_the_sdk_client_sends_repaired_arguments(server):
    """As with the SDK's own client, an error is returned, not raised."""
    from mcp import Client as SdkClient

    async with SdkClient(server._mcp_server) as client:
        session = lenient_session(client)
        assert sorted(rules(await session.call_tool("bazi", SENT))) == RULES
        refused = await session.call_tool("bazi", {"year": "soon", "gender": 1})
        assert json.loads(refused.content[0].text)["error_code"] == "INVALID_YEAR_TYPE"
        done = await dispatch(client, '<bazi>{"year": "1", "gender": 1}</bazi>')
    assert [each["rule"] for each in done.calls[0].repairs] == ["text_to_integer"]


async def test_arguments_may_be_json_text(server):
    """The arguments may be passed as the model's JSON text."""
    async with lenient_session(Client(server)) as session:
        result = await session.call_tool("bazi", json.dumps(SENT))
        assert rules(result)[0] == "json_text_to_object"
        with pytest.raises(ToolError) as caught:
            await session.call_tool("bazi", '{"year": 19')
    assert json.loads(str(caught.value))["error_code"] == "CUT_OFF"


@pytest.mark.parametrize("unrepairable", ["forward", "refuse"])
async def test_unrepairable_calls_get_the_envelope(server, unrepairable):
    """The envelope replaces the server's error; with ``refuse`` the call is not sent."""
    session = lenient_session(Client(server), Policy(unrepairable=unrepairable))
    async with session:
        result = await session.call_tool("bazi", {"year": "soon", "gender": "1"}, raise_on_error=False)
        assert result.is_error
        reported = await session.call_tool_mcp("bazi", {"year": "soon", "gender": "1"})
        with pytest.raises(ToolError):
            await session.call_tool("bazi", {"year": "soon", "gender": "1"})
    for answer in (result, reported):
        envelope = json.loads(answer.content[0].text)
        assert envelope["error_code"] == "INVALID_YEAR_TYPE"
        assert answer.meta["mcp_lenient"]["message"] == envelope["message"]


async def test_a_server_may_accept_more_than_it_publishes():
    """A call that the schema forbids is still sent to a server that repairs calls itself."""
    mcp = FastMCP("lenient")
    mcp.add_middleware(LenientMiddleware())

    @mcp.tool
    @lenient(task=aliases("query"))
    def run(task: str) -> str:
        """Run."""
        return task

    async with lenient_session(Client(mcp)) as session:
        result = await session.call_tool("run", {"query": "tea"})
        refused = await session.call_tool("run", {"query": 5, "x": 1}, raise_on_error=False)
    assert result.data == "tea"
    assert rules(result) == ["rename_alias"]
    assert json.loads(refused.content[0].text)["error_code"] == "UNKNOWN_PARAMETER", (
        "the server's own envelope"
    )


async def test_a_tool_error_is_not_a_refusal(server):
    """The tool's own error is returned unchanged, and so is the error for an unknown tool."""

    @server.tool
    def fail(n: int = 1) -> str:
        """Fail."""
        msg = f"disk {n} full"
        raise ToolError(msg)

    async with lenient_session(Client(server)) as session:
        with pytest.raises(ToolError, match=r"^disk 2 full$"):
            await session.call_tool("fail", {"n": "2"})
        with pytest.raises((ToolError, MCPError), match="nothing"):
            await session.call_tool("nothing", {"n": "2"})


async def test_destructive_tools_get_fewer_repairs(server):
    """Its name is not repaired, and no scalar becomes a list, unless the policy says that it is not destructive."""
    async with lenient_session(Client(server)) as session:
        with pytest.raises(ToolError, match="Unknown tool: 'Erase'"):
            await session.call_tool("Erase", {"names": ["a"]})
        assert (await session.call_tool("erase", {"names": "a"}, raise_on_error=False)).is_error
        allowed = lenient_session(session.session, tools={"erase": Policy(destructive=False)})
        assert (await allowed.call_tool("erase", {"names": "a"})).structured_content == {"result": "a"}


async def test_the_newest_schema_decides(server):
    """The tools are listed again before a call is changed, in case a tool was replaced."""
    session = lenient_session(Client(server))
    async with session:
        await session.call_tool("bazi", SENT)
        server.local_provider.remove_tool("bazi")

        @server.tool
        def bazi(year: str) -> str:
            """Compute otherwise."""
            return repr(year)

        assert (await session.call_tool("bazi", {"year": "1990"})).data == "'1990'"


async def test_all_pages_of_tools_are_read():
    """Tools on later pages of the list are found and their calls repaired."""
    mcp = FastMCP("pages", list_page_size=2)
    for number in range(5):

        @mcp.tool(name=f"tool_{number}")
        def tool(n: int) -> int:
            """Return a number."""
            return n

    async with lenient_session(Client(mcp)) as session:
        assert list(await session.tools()) == [f"tool_{number}" for number in range(5)]
        assert (await session.call_tool("tool_4", {"n": "7"})).data == 7


@pytest.mark.parametrize("mode", ["repair", "observe", "off"])
async def test_json_text_that_is_not_repaired_is_sent_as_an_object(server, mode):
    """No session sends text, so the object in it is sent, and the server refuses it."""
    async with lenient_session(Client(server), Policy(mode=mode)) as session:
        result = await session.call_tool("bazi", '{"gender": 1}', raise_on_error=False)
        assert "year" in result.content[0].text
        assert not (await session.call_tool("bazi", '{"year": 1, "gender": 1}')).is_error


@pytest.mark.parametrize("arguments", [5, [1]])
async def test_observe_mode_passes_non_object_arguments_on(events, arguments):
    """Non-object arguments are not dropped: the session refuses them as it does without mcp-lenient."""
    ran = []

    def erase(everything: bool = True) -> None:  # noqa: FBT002
        ran.append(everything)

    mcp = FastMCP("bare", tools=[erase])

    async with Client(mcp) as client:
        with pytest.raises(ValidationError):
            await lenient_session(client, Policy(mode="observe")).call_tool("erase", arguments)
    assert ran == []
    assert [event["event"] for event in events] == ["call_observed"]
