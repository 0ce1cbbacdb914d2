"""Lists of a server that does not answer, or answers with an error: errors, not empty lists."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from adapters.fastmcp.proxy.fronts import SERVERS, of_process
from fastmcp import Client, FastMCP
from mcp.shared.exceptions import MCPError
from wire import MODERN, serving

from mcp_lenient import create_lenient_proxy

_GONE = [sys.executable, "-c", "raise SystemExit(3)"]
_ENDED = "The process of the server behind this proxy ended before it answered."
_REFUSED = "The server behind this proxy answered '{}' with an error."
_INVALID = "The server behind this proxy answered '{}' with something that is not such a list."
_DOWN = {"error": {"code": -32603, "message": "database is down at 10.0.0.7"}}
_ADD = {"tools/list": {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}}
_NO_LISTS = dict.fromkeys(("tools", "resources", "resourceTemplates", "prompts"), 5)

_LISTS: dict[str, Callable[[Client[Any]], Awaitable[Any]]] = {
    "tools/list": lambda client: client.list_tools(),
    "resources/list": lambda client: client.list_resources(),
    "resources/templates/list": lambda client: client.list_resource_templates(),
    "prompts/list": lambda client: client.list_prompts(),
}


def _by_hand(answers: dict[str, Any]) -> list[str]:
    return [sys.executable, str(SERVERS / "by_hand.py"), json.dumps(answers)]


def _broken(*claims: str, answer: Any = _DOWN) -> list[str]:
    """Return the command of a server that claims kinds of components, and answers all lists and calls with an error."""
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {kind: {} for kind in claims or ("tools", "resources", "prompts")},
        "serverInfo": {"name": "broken", "version": "1"},
    }
    return _by_hand({"initialize": hello, "*": answer})


async def _error(request: Awaitable[Any]) -> str:
    with pytest.raises(MCPError) as caught:
        await request
    assert caught.value.error.code == -32603
    return caught.value.error.message


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (_GONE, _ENDED),
        (_broken(), _REFUSED),
        (_broken(answer=_NO_LISTS), _INVALID),
    ],
    ids=["gone", "broken", "invalid"],
)
async def test_each_list_is_an_error_that_says_which(command, said, logged, caplog):
    """A client learns whether the server answered, not what; the log has one line for each list, FastMCP's none."""
    async with of_process(*command[1:]) as client:
        answers = {method: await _error(ask(client)) for method, ask in _LISTS.items()}
    assert answers == {method: said.format(method) for method in _LISTS}
    assert [event["event"] for event in logged] == ["list_failed"] * 4
    assert [event["reason"] for event in logged] == list(answers.values())
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_what_a_server_does_not_claim_to_have_is_an_empty_list(logged):
    """Lists of kinds that the server did not name in the handshake stay empty."""
    async with of_process(*_broken("prompts")[1:]) as client:
        lists = [await _LISTS[method](client) for method in list(_LISTS)[:3]]
        assert await _error(client.list_prompts()) == _REFUSED.format("prompts/list")
    assert lists == [[], [], []]
    assert len(logged) == 1


@pytest.mark.parametrize(
    ("command", "reason"),
    [(_GONE, _ENDED), (_broken(), "The server behind this proxy does not list its tools.")],
    ids=["gone", "broken"],
)
async def test_a_call_gets_the_envelope(command, reason, logged):
    """A call of an unknown tool says that the server is not available; the log says why, and does not call it unknown."""
    async with of_process(*command[1:]) as client:
        result = await client.call_tool_mcp("add", {"a": 1})
    reported = result.meta["mcp_lenient"]
    assert reported["error_code"] == "UPSTREAM_UNAVAILABLE"
    assert reported["message"] == (
        f"Tool 'add' cannot be called now. {reason} The tool was not run. Try again later."
    )
    assert [event["event"] for event in logged] == ["list_failed", "call_rejected"]
    assert (logged[1]["error_code"], logged[1]["fault"]) == ("UPSTREAM_UNAVAILABLE", "no_answer")


async def test_a_resource_or_prompt_is_not_called_unknown(logged):
    """A read or a prompt fails with the same error, since nobody knows whether the server has it."""
    async with of_process(*_broken()[1:]) as client:
        read = await _error(client.read_resource("note://one"))
        asked = await _error(client.get_prompt("ask"))
    assert (read, asked) == (_REFUSED.format("resources/list"), _REFUSED.format("prompts/list"))
    assert [event["event"] for event in logged] == ["list_failed", "list_failed"]


async def test_an_unknown_prompt_of_a_server_that_answers():
    """What a server does not have stays unknown."""
    async with Client(create_lenient_proxy(FastMCP("behind"))) as client:
        with pytest.raises(MCPError, match="Unknown prompt"):
            await client.get_prompt("ask")


async def test_one_of_two_servers(logged):
    """The tools of the other server are listed, and the log names the one that fails."""
    config = _config(there=_by_hand(_ADD), gone=_GONE)
    async with Client(create_lenient_proxy(config), mode="legacy") as client:
        assert [tool.name for tool in await client.list_tools()] == ["there_add"]
    assert [(event["event"], event["subject"]) for event in logged] == [("list_failed", "gone")]


async def test_neither_of_two_servers():
    """If no server lists its tools, that is an error."""
    async with Client(create_lenient_proxy(_config(one=_broken(), two=_GONE)), mode="legacy") as client:
        said = await _error(client.list_tools())
    assert said == "None of the servers behind this proxy answers."


def _config(**commands: list[str]) -> dict[str, Any]:
    return {
        "mcpServers": {name: {"command": given[0], "args": given[1:]} for name, given in commands.items()}
    }


async def test_a_call_over_http_is_answered(logged, caplog):
    """A call of the newer era is answered if there is no list, without a traceback in the log."""
    with serving(create_lenient_proxy("http://127.0.0.1:1/mcp")) as url:
        async with Client(url, mode=MODERN) as client:
            result = await client.call_tool_mcp("add", {"a": 1})
    assert result.meta["mcp_lenient"]["error_code"] == "UPSTREAM_UNAVAILABLE"
    assert [event["event"] for event in logged] == ["list_failed", "call_rejected"]
    assert not [record for record in caplog.records if record.exc_info]
