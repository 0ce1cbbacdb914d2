"""What becomes of a call: ``explain`` says it, and ``on_decision`` is called with it once, on each host and in each mode."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from adapters import hosts
from adapters.hosts import EACH, REFUSING, SCHEMA, store
from calls import Published
from fastmcp import Client, FastMCP
from fastmcp.server import create_proxy
from fastmcp_versions import IS_3, MCPError, not_on_3
from pydantic import ValidationError
from tables import STRING, array, closed
from wire import httpx2

from mcp_lenient import Decision, LenientMiddleware, Policy
from mcp_lenient.devtools.explain import explain

CALLS: dict[str, Any] = {
    "right": {"text": "a", "tags": ["b"]},
    "nearly right": {"Text": "a", "tags": "['b']"},
    "wrong": {"text": "a", "tags": 5},
    "missing": {},
    "missing and undeclared": {"title": "a", "tags": ["b"]},
}
TEXTS: dict[str, Any] = {"a text": '{"text": "a"}', "a broken text": '{"text', "a list": ["text"]}
MODES = pytest.mark.parametrize("mode", ["repair", "observe", "off"])

pytestmark = pytest.mark.usefixtures("events")


async def fate_of(decisions: list[Decision], sending: Any) -> str:
    """Return the fate in the only decision about a call; "off" if the application is told of none."""
    with suppress(
        MCPError, ValidationError
    ):  # the server's own answer, or that of a client that cannot send this
        await sending
    fates = [decision.fate for decision in decisions]
    decisions.clear()
    assert len(fates) <= 1
    return fates[0] if fates else "off"


async def explained(server: FastMCP, tool: str, sent: Any) -> str:
    """Return the fate that ``explain`` says."""
    async with Client(server):
        explanation = await explain(server, tool, sent)
    assert (explanation.envelope is not None) == (explanation.fate == "refused")
    return explanation.fate


def _function() -> FastMCP:
    server: FastMCP = FastMCP("host")
    server.tool(store)
    return server


def _listed() -> FastMCP:
    """Return a server that has a schema for its tool and no function, as a client has."""
    server: FastMCP = FastMCP("host")
    server.add_tool(Published(name="store", parameters=SCHEMA))
    return server


def _openapi() -> FastMCP:
    """Return a server that drops arguments which its tool does not declare."""
    body = {"required": True, "content": {"application/json": {"schema": closed("text", text=STRING)}}}
    tags = {"name": "tags", "in": "query", "schema": array(STRING)}
    operation = {"operationId": "store", "parameters": [tags], "requestBody": body, "responses": {}}
    paths = {"/": {"post": operation}}
    answer = httpx2.MockTransport(lambda _request: httpx2.Response(200, json={}))
    client = httpx2.AsyncClient(base_url="http://127.0.0.1", transport=answer)
    return FastMCP.from_openapi(
        {"openapi": "3.1.0", "info": {"title": "host", "version": "1"}, "paths": paths}, client, "host"
    )


def _mounted() -> FastMCP:
    server: FastMCP = FastMCP("host")
    server.mount(_function())
    return server


def _proxied() -> FastMCP:
    return create_proxy(_function(), name="host")


KNOWN_BY_FUNCTION: dict[Any, Callable[[], FastMCP]] = dict.fromkeys(
    [hosts.fastmcp, hosts.sdk_functions], _function
)


@EACH
@MODES
async def test_explain_says_what_each_host_does(host, mode):
    """A call has the fate that ``explain`` says for a tool of which FastMCP knows as much as the host."""
    server = KNOWN_BY_FUNCTION.get(host, _listed)()
    server.add_middleware(LenientMiddleware(REFUSING, mode=mode))
    decisions: list[Decision] = []
    async with host(on_decision=decisions.append, mode=mode) as call:
        for name, sent in (CALLS if IS_3 else CALLS | TEXTS).items():
            fate = await fate_of(decisions, call(sent))
            assert (name, fate) == (name, await explained(server, "store", sent))


@pytest.mark.parametrize("make", [_function, _listed, _openapi, _mounted, _proxied])
@MODES
@pytest.mark.parametrize("unrepairable", ["forward", "refuse"])
async def test_explain_says_what_the_middleware_does(make, mode, unrepairable):
    """A call of each kind of tool, or of a name that is not quite or not at all a tool's, has the fate that ``explain`` says."""
    decisions: list[Decision] = []
    server = make()
    policy = Policy(mode=mode, unrepairable=unrepairable)
    server.add_middleware(LenientMiddleware(policy, on_decision=decisions.append))
    async with Client(server) as client:
        for tool, name, sent in [
            *(("store", *call) for call in CALLS.items()),
            ("Store", "other name", CALLS["right"]),
            ("stow", "no tool", CALLS["right"]),
        ]:
            fate = await fate_of(decisions, client.call_tool_mcp(tool, sent))
            assert (name, fate) == (name, await explained(server, tool, sent))


OBSERVING = Policy(mode="observe", publish="gemini")


@EACH
async def test_observe_mode_repairs_nothing_with_a_published_form(host):
    """Each host passes a call on as it was sent, and the application is told that it was observed."""
    decisions: list[Decision] = []
    async with host(tools={"*": OBSERVING}, on_decision=decisions.append) as call:
        answer = await call({"text": "a", "tags": "b"})
    assert (answer.rules, "error_code" in answer.noted, "['b']" in answer.text) == ([], False, False)
    assert [decision.fate for decision in decisions] == ["observed"]


@pytest.mark.parametrize(
    "is_proxied", [False, pytest.param(True, marks=not_on_3("There is no proxy of ours."))]
)
async def test_observe_mode_reads_a_published_form_back(is_proxied):
    """Arguments in the published form arrive in the author's, and what is wrong with them as it was sent."""
    server: FastMCP = FastMCP("host")
    server.add_tool(
        Published(name="store", parameters=closed(data={"type": "object"}, limit={"type": "integer"}))
    )
    if is_proxied:
        from mcp_lenient import create_lenient_proxy

        server = create_lenient_proxy(server, OBSERVING)
    else:
        server.add_middleware(LenientMiddleware(OBSERVING))
    async with Client(server) as client:
        result = await client.call_tool("store", {"data": '{"a": 1}', "limit": "5"})
    assert result.structured_content == {"got": {"data": {"a": 1}, "limit": "5"}}
