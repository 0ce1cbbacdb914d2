"""The caller's headers that a proxy forwards, recorded by real HTTP servers."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from adapters.fastmcp.proxy.fronts import Recording
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from tables import each_row
from wire import serving

from mcp_lenient import create_lenient_proxy
from mcp_lenient.cli import run

_CALLERS = {
    "Authorization": "Bearer of-the-caller",
    "Cookie": "session=of-the-caller",
    "X-Api-Key": "key-of-the-caller",
    "X-Tenant": "acme",
    "X-Forwarded-User": "ada",
}
_NAMES = frozenset(name.lower() for name in _CALLERS)


def _names(recording: Recording) -> set[str]:
    """Return the caller's headers that came with any message."""
    return {name for headers in recording.headers() for name in headers} & _NAMES


def _recording(name: str) -> tuple[FastMCP, Recording]:
    server, recording = FastMCP(name), Recording()

    @server.tool
    def add(a: int, b: int) -> int:
        return a + b

    server.add_middleware(recording)
    return server, recording


@contextmanager
def _upstreams(*names: str):
    """Serve servers with these names; return a client configuration and the recording of each."""
    with ExitStack() as stack:
        made = {name: _recording(name) for name in names}
        entries: dict[str, Any] = {
            name: {"url": stack.enter_context(serving(server))} for name, (server, _) in made.items()
        }
        yield entries, {name: recording for name, (_, recording) in made.items()}


async def _called(front: FastMCP, *tools: str) -> None:
    """List the tools, and make valid, nearly right and wrong calls, as one client of the proxy over HTTP."""
    with serving(front) as url:
        transport = StreamableHttpTransport(url, headers=_CALLERS)
        async with Client(transport) as client:
            await client.list_tools()
            for tool in tools:
                assert not (await client.call_tool_mcp(tool, {"a": 1, "b": 2})).is_error
                assert not (await client.call_tool_mcp(tool, {"a": "1", "b": 2})).is_error
                assert (await client.call_tool_mcp(tool, {"a": [], "b": 2})).is_error


async def test_a_single_server_gets_the_headers_fastmcp_forwards():
    """A single server gets all the caller's headers except cookies and connection headers."""
    with _upstreams("one") as (entries, seen):
        await _called(create_lenient_proxy(entries["one"]["url"]), "add")
        await _called(create_lenient_proxy({"mcpServers": entries}), "add")
    assert _names(seen["one"]) == _NAMES - {"cookie"}


_OWN = {"forwardHeaders": ["Authorization"]}
_CHANGED = {"tools": {"add": {"description": "Another description."}}}


@pytest.mark.parametrize(
    ("one", "two", "forward", "expected"),
    [
        pytest.param({}, {}, None, [set(), set()], id="by default"),
        pytest.param(
            {},
            {},
            {"one": ["AUTHORIZATION", "X-Tenant"], "two": ["x-tenant", "Cookie"]},
            [{"authorization", "x-tenant"}, {"x-tenant", "cookie"}],
            id="by the argument",
        ),
        pytest.param(
            _OWN, _OWN, {"two": ["X-Tenant"]}, [{"authorization"}, {"x-tenant"}], id="by the configuration"
        ),
        pytest.param(_CHANGED, _CHANGED | _OWN, None, [set(), {"authorization"}], id="with tool transforms"),
    ],
)
async def test_a_header_goes_to_the_servers_that_it_is_named_for(one, two, forward, expected):
    """Each of several servers gets the headers listed for it, in any case, by the argument or else in its entry."""
    with _upstreams("one", "two") as (entries, seen):
        entries["one"] |= one
        entries["two"] |= two
        front = create_lenient_proxy({"mcpServers": entries}, forward_headers=forward)
        await _called(front, "one_add", "two_add")
    assert [_names(seen[name]) for name in ("one", "two")] == expected
    assert all(each.messages for each in seen.values())


async def test_headers_of_a_single_server_can_be_restricted():
    """For a single server a plain list of names is enough, and an empty list forwards nothing."""
    with _upstreams("one") as (entries, seen):
        url = entries["one"]["url"]
        await _called(create_lenient_proxy(url, forward_headers=["X-Tenant"]), "add")
        assert _names(seen["one"]) == {"x-tenant"}
        seen["one"].messages.clear()
        await _called(create_lenient_proxy(url, forward_headers=()), "add")
        assert _names(seen["one"]) == set()
        await _called(
            create_lenient_proxy({"mcpServers": {"one": {**entries["one"], "forwardHeaders": []}}}), "add"
        )
        assert _names(seen["one"]) == set()


def test_a_client_of_several_servers_is_an_error():
    """FastMCP would forward each header of a caller to all servers of the user's own client."""
    with pytest.raises(ValueError, match="give its configuration"):
        create_lenient_proxy(Client(_TWO))


@pytest.mark.parametrize("forward", [None, {"one": ["Authorization", "X-Tenant"]}])
async def test_the_operators_own_header_wins(forward):
    """A header set in the configuration is sent instead of the caller's header with the same name."""
    with _upstreams("one") as (entries, seen):
        entries["one"]["headers"] = {"Authorization": "Bearer of-the-operator"}
        await _called(create_lenient_proxy({"mcpServers": entries}, forward_headers=forward), "add")
    assert {headers["authorization"] for headers in seen["one"].headers()} == {"Bearer of-the-operator"}


async def test_the_users_transport_stays_unchanged():
    """A transport passed to the proxy is not changed, so that another proxy can use it."""
    with _upstreams("one") as (entries, seen):
        transport = StreamableHttpTransport(entries["one"]["url"])
        create_lenient_proxy(transport, forward_headers=())
        assert transport.httpx_client_factory is None
        await _called(create_lenient_proxy(transport), "add")
    assert _names(seen["one"]) == _NAMES - {"cookie"}


_TWO = {"mcpServers": {"one": {"url": "http://localhost:1/mcp"}, "two": {"url": "http://localhost:2/mcp"}}}
_MIXED = {"mcpServers": {"one": {"url": "http://localhost:1/mcp"}, "local": {"command": "x"}}}


@each_row(
    ("target", "forward", "says"),
    [
        pytest.param(_TWO, {"tow": ["X-A"]}, "no server is named 'tow'", id="unknown server"),
        pytest.param(_TWO, ["X-A"], "which of the servers", id="no server named"),
        pytest.param(_TWO, {"one": "X-A"}, "a list of header names", id="text instead of a list"),
        pytest.param(_TWO, {"one": ["X A"]}, "a list of header names", id="not a header name"),
        pytest.param(_TWO, {"one": [5]}, "a list of header names", id="a number"),
        pytest.param(_TWO, {"one": ["*"]}, "a list of header names", id="every header"),
        pytest.param(_TWO, {"one": ["Host"]}, "belongs to the connection", id="host"),
        pytest.param(_TWO, {"one": ["Mcp-Session-Id"]}, "belongs to the connection", id="session"),
        pytest.param(_MIXED, {"local": ["X-A"]}, "is not at a URL", id="a command line"),
        pytest.param("http://localhost:1/mcp", {"one": ["X-A"]}, "no server is named 'one'", id="single"),
    ],
)
def test_invalid_headers_raise_at_construction(target, forward, says):
    """An invalid name or server is an error at once, instead of a header that is silently not sent."""
    with pytest.raises(ValueError, match=says):
        create_lenient_proxy(target, forward_headers=forward)


@each_row("given", ["Authorization", {"one": ["X-A"]}, [5], 5, None])
def test_a_wrong_configuration_entry_is_an_error(given):
    """``forwardHeaders`` must be a list of header names."""
    entry = {"url": "http://localhost:1/mcp", "forwardHeaders": given}
    with pytest.raises(ValueError, match="header"):
        create_lenient_proxy({"mcpServers": {"one": entry, "two": {"command": "x"}}})


@each_row(
    ("option", "says"),
    [
        pytest.param("X-A=tow", "no server is named 'tow'", id="unknown server"),
        pytest.param("X-A: sk-live-1=one", "NAME=SERVER", id="a value"),
    ],
)
def test_the_command_reports_invalid_headers(option, says, tmp_path, capsys):
    """The command prints one line that does not contain a possible value."""
    file = tmp_path / "servers.json"
    file.write_text(json.dumps(_TWO))
    assert run(["proxy", "--forward-header", option, str(file)]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1
    assert "sk-live" not in err


async def test_the_commands_option_forwards_headers(tmp_path, commanded):
    """``--forward-header NAME=SERVER`` forwards that header to that server."""
    with _upstreams("one", "two") as (entries, seen):
        file = tmp_path / "servers.json"
        file.write_text(json.dumps({"mcpServers": entries}))
        options = ["--forward-header", "Authorization=one", "--forward-header", "X-Tenant=one"]
        await _called(await commanded(*options, str(file)), "one_add", "two_add")
    assert {name: _names(each) for name, each in seen.items()} == {
        "one": {"authorization", "x-tenant"},
        "two": set(),
    }
