"""A proxy over HTTP in front of servers that ask their callers for credentials."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx2
import pytest
from adapters.fastmcp.proxy.fronts import over_http, web
from answers import envelope
from fastmcp import Client, FastMCP
from fastmcp.client.transports import SSETransport, StreamableHttpTransport
from fastmcp.server.auth import RemoteAuthProvider, require_scopes
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from fastmcp.server.dependencies import get_http_headers
from fastmcp.utilities.tests import HeadlessOAuth
from login import Login
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from tables import each_row
from wire import INITIALIZE, Http, serving

from mcp_lenient import create_lenient_proxy

pytestmark = [
    pytest.mark.filterwarnings("ignore:Using in-memory token storage"),
    # FastMCP's client warns about this with every server of the older era.
    pytest.mark.filterwarnings("ignore:The (roots|sampling|logging) capability is deprecated"),
]

_WELL_KNOWN = "/.well-known/oauth-protected-resource"
_LOGIN = "https://login.example.com/"
_ERAS = pytest.mark.parametrize("modern", [False, True], ids=["older", "newer"])
_WRONG = {"name": "add", "arguments": {"left": [], "right": 2}}
_RIGHT = {"name": "add", "arguments": {"left": 1, "right": 2}}


_TOKENS = {
    "of-ada": {"client_id": "ada", "scopes": ["use"]},
    "of-root": {"client_id": "root", "scopes": ["use", "admin"]},
}


class _Guarded:
    """A server that accepts a few tokens, and records the Authorization of each call."""

    def __init__(self, tokens: dict[str, dict[str, Any]] = _TOKENS) -> None:
        self.tokens = dict(tokens)
        self.seen: list[str | None] = []

    def server(self, address: str) -> FastMCP:
        """Return the server for its address."""
        verifier = StaticTokenVerifier(self.tokens, required_scopes=["use"])
        auth = RemoteAuthProvider(verifier, authorization_servers=[_LOGIN], base_url=address)

        def add(left: int, right: int) -> int:
            self.seen.append(get_http_headers(include={"authorization"}).get("authorization"))
            return left + right

        server = FastMCP("guarded", auth=auth, tools=[add])

        @server.tool(auth=require_scopes("admin"))
        def wipe(confidential_disk: int) -> str:
            return f"wiped {confidential_disk}"

        return server


@contextmanager
def _behind_proxy(made: _Guarded, **settings: Any) -> Iterator[tuple[str, str]]:
    """Serve a guarded server and a proxy of it; yield both URLs, the proxy's first."""
    with serving(made.server) as behind, serving(create_lenient_proxy(behind, **settings)) as url:
        yield url, behind


class _Caller(Http):
    """A caller with a token, which also sees answers that are not JSON-RPC."""

    def __init__(self, url: str, token: str | None = None, *, modern: bool = False) -> None:
        super().__init__(url, modern=modern)
        self.present(token)

    def present(self, token: str | None) -> None:
        """Send another token from now on, or none."""
        self._client.headers.pop("authorization", None)
        if token is not None:
            self._client.headers["authorization"] = f"Bearer {token}"

    def response(self, method: str, params: dict[str, Any] | None = None) -> httpx2.Response:
        """Return the HTTP response to a request."""
        return self._client.send(self.prepared(method, params or {}))


@contextmanager
def _calling(url: str, token: str | None = None, *, modern: bool = False) -> Iterator[_Caller]:
    caller = _Caller(url, token, modern=modern)
    try:
        if not modern:
            caller.handshake()
        yield caller
    finally:
        caller.close()


def _first(url: str, token: str | None = None, *, modern: bool = False) -> httpx2.Response:
    """Return the response to the first request of a client."""
    caller = _Caller(url, token, modern=modern)
    try:
        return caller.response("server/discover") if modern else caller.response("initialize", INITIALIZE)
    finally:
        caller.close()


def _metadata_url(url: str) -> str:
    return url.replace("/mcp", f"{_WELL_KNOWN}/mcp")


@pytest.fixture(scope="module")
def guarded() -> Iterator[tuple[str, str]]:
    """Return the URLs of a proxy and of the guarded server behind it, for tests that change neither."""
    with _behind_proxy(_Guarded()) as urls:
        yield urls


class _Site:
    """A server whose answers a test chooses, and which records what it is sent."""

    def __init__(self) -> None:
        self.address = ""
        self.requests: list[dict[str, str]] = []
        self.answer: Callable[[Request], Response] = lambda _: Response(status_code=404)

    async def respond(self, request: Request) -> Response:
        """Answer any request."""
        self.requests.append(dict(request.headers))
        return self.answer(request)

    def refuse(self, challenge: str | None, status: int = 401) -> Response:
        """Return a refusal with a challenge."""
        return Response(status_code=status, headers={"www-authenticate": challenge} if challenge else {})

    def challenge(self, text: str) -> None:
        """Refuse all calls with this challenge, and have no metadata."""
        self.answer = lambda request: self.refuse(text, 401 if request.method == "POST" else 404)


@contextmanager
def _site() -> Iterator[_Site]:
    site = _Site()
    with web(Route("/{rest:path}", site.respond, methods=["POST", "GET", "DELETE"])) as site.address:
        yield site


@pytest.fixture(scope="module")
def sites() -> Iterator[tuple[_Site, str, _Site]]:
    """Return a server, the URL of a proxy of it, and a server of another host."""
    with _site() as site, serving(create_lenient_proxy(f"{site.address}/mcp")) as url, _site() as elsewhere:
        yield site, url, elsewhere


@pytest.mark.parametrize(("modern", "token"), [(False, None), (True, "forged")], ids=["older", "newer"])
def test_the_servers_401_reaches_the_caller(modern, token, guarded):
    """The first request gets 401 and the server's challenge, whose metadata is at the proxy's own URL."""
    url, behind = guarded
    there, here = _first(behind, token, modern=modern), _first(url, token, modern=modern)
    assert (there.status_code, here.status_code) == (401, 401)
    expected = there.headers["www-authenticate"].replace(_metadata_url(behind), _metadata_url(url))
    assert here.headers["www-authenticate"] == expected
    assert f'resource_metadata="{_metadata_url(url)}"' in expected
    assert "mcp-session-id" not in here.headers


def test_a_stateless_proxy_answers_401_too():
    """Without sessions, every request of a caller without a token gets 401."""
    with over_http(_Guarded().server, stateless=True) as url:
        assert _first(url).status_code == 401
        assert _first(url, "of-ada").status_code == 200


def test_the_metadata_is_that_of_the_proxy(guarded):
    """The protected-resource metadata names the proxy as the resource, and the server's authorization servers."""
    url, behind = guarded
    there, here = httpx2.get(_metadata_url(behind)).json(), httpx2.get(_metadata_url(url)).json()
    assert here == {**there, "resource": url}
    assert here["authorization_servers"] == [_LOGIN]


def test_a_server_without_credentials_has_no_metadata():
    """A proxy of a server that asks for no credentials answers 404, so that a client does not start OAuth."""
    with over_http(FastMCP("open")) as url:
        assert httpx2.get(_metadata_url(url)).status_code == 404
        assert httpx2.get(url.replace("/mcp", f"{_WELL_KNOWN}/other")).status_code == 404


@_ERAS
def test_a_caller_without_token_learns_nothing_after_one_with_token(modern, guarded):
    """Valid, nearly right, wrong and unknown calls and lists get 401 without a word about the tools."""
    with _calling(guarded[0], "of-root", modern=modern) as caller:
        assert len(caller.request("tools/list", {})["result"]["tools"]) == 2
        assert envelope(caller.request("tools/call", _WRONG))["error_code"] == "INVALID_LEFT_TYPE"
        for token in (None, "forged"):
            caller.present(token)
            answers = [
                caller.response("tools/list"),
                caller.response("tools/call", _RIGHT),
                caller.response("tools/call", {"name": "add", "arguments": {"left": "1", "right": 2}}),
                caller.response("tools/call", _WRONG),
                caller.response("tools/call", {"name": "wip", "arguments": {}}),
                caller.response("tools/call", {"name": "wipe", "arguments": {}}),
                caller.response("tools/call", {"name": "add", "arguments": '{"left":1}'}),
            ]
            assert {(answer.status_code, answer.content) for answer in answers} == {(401, b"")}


@_ERAS
def test_each_caller_has_its_own_list(modern, guarded):
    """A tool that only one token may see is neither listed, described, suggested nor judged for another."""
    url, _ = guarded
    wrong = {"name": "wipe", "arguments": {"confidential_disk": []}}
    with _calling(url, "of-root", modern=modern) as root, _calling(url, "of-ada", modern=modern) as ada:
        names = {tool["name"] for tool in root.request("tools/list", {})["result"]["tools"]}
        assert names == {"add", "wipe"}
        assert envelope(root.request("tools/call", wrong))["error_code"] == "INVALID_CONFIDENTIAL_DISK_TYPE"
        answers = [
            ada.request("tools/call", wrong),
            ada.request("tools/call", {"name": "wipes", "arguments": {}}),
            ada.request("tools/list", {}),
        ]
        assert envelope(answers[0])["error_code"] == "UNKNOWN_TOOL"
        assert "confidential_disk" not in json.dumps(answers)
        assert [tool["name"] for tool in answers[2]["result"]["tools"]] == ["add"]
        assert envelope(root.request("tools/call", wrong))["error_code"] == "INVALID_CONFIDENTIAL_DISK_TYPE"


@_ERAS
def test_a_token_that_expires_in_a_session_gets_401(modern, monkeypatch):
    """After a token has expired its session gets 401, and goes on with the next token."""
    monkeypatch.setattr("mcp_lenient.adapters.fastmcp.proxy.upstream._FRESH", 0.0)
    made = _Guarded()
    with _behind_proxy(made) as (url, _), _calling(url, "of-ada", modern=modern) as caller:
        caller.request("tools/list", {})
        for call, token, renewed in ((_RIGHT, "of-ada", "second"), (_WRONG, "second", "third")):
            assert caller.response("tools/call", call).status_code == 200
            made.tokens[renewed] = made.tokens.pop(token)
            expired = caller.response("tools/call", call)
            assert (expired.status_code, expired.content) == (401, b"")
            assert 'error="invalid_token"' in expired.headers["www-authenticate"]
            caller.present(renewed)
            assert caller.response("tools/call", call).status_code == 200


@each_row(
    ("challenge", "status"),
    [
        pytest.param('Bearer error="insufficient_scope", scope="files:write"', 403, id="a scope is missing"),
        pytest.param(None, 200, id="for another reason"),
    ],
)
def test_insufficient_scope_is_passed_on(challenge, status, sites):
    """A server's 403 reaches the caller as such if it names what the caller lacks; any other one is an error."""
    site, url, _ = sites
    site.answer = lambda _: site.refuse(challenge, 403)
    answer = _first(url, "of-ada")
    assert (answer.status_code, answer.headers.get("www-authenticate")) == (status, challenge)


def test_a_refused_first_request_leaves_no_session(monkeypatch):
    """Callers without a token cannot use up the proxy's sessions."""
    monkeypatch.setattr("mcp.server.streamable_http_manager.DEFAULT_MAX_SESSIONS", 3)
    with serving(_Guarded().server) as behind:
        front = create_lenient_proxy(behind)
        app = front.http_app()
        front.http_app = lambda **_: app
        with serving(front) as url:
            manager = next(route.endpoint for route in app.routes if route.path == "/mcp").session_manager
            assert {_first(url).status_code for _ in range(5)} == {401}
            assert manager._server_instances == {}


@contextmanager
def _two(**settings: Any) -> Iterator[tuple[str, dict[str, _Guarded]]]:
    """Serve two guarded servers, each with tokens of its own, and one proxy of both."""
    made = {
        name: _Guarded({f"for-{name}": {"client_id": "ada", "scopes": ["use"]}}) for name in ("one", "two")
    }
    with ExitStack() as stack:
        entries = {name: {"url": stack.enter_context(serving(each.server))} for name, each in made.items()}
        front = create_lenient_proxy({"mcpServers": entries}, **settings)
        yield stack.enter_context(serving(front)), made


def test_a_token_goes_only_to_the_server_it_was_issued_for():
    """Of two servers only the named one gets the token and asks for it; the other has none of the caller's."""
    with _two(forward_headers={"one": ["Authorization"]}) as (url, made):
        with _calling(url, "for-one") as caller:
            names = [tool["name"] for tool in caller.request("tools/list", {})["result"]["tools"]]
            assert names == ["one_add"]
            assert caller.request("tools/call", {**_RIGHT, "name": "one_add"})["result"]["isError"] is False
            refused = caller.response("tools/call", {**_RIGHT, "name": "two_add"})
            assert refused.status_code == 200
            caller.present("for-two")
            wrong = caller.response("tools/list")
        assert wrong.status_code == 401
        assert httpx2.get(_metadata_url(url)).json()["resource"] == url
    assert made["one"].seen == ["Bearer for-one"]
    assert made["two"].seen == []


def test_a_server_that_gets_no_token_asks_for_none():
    """No 401 of a server that gets none of the caller's headers is passed on: a login could not help."""
    with _two() as (url, _), _calling(url) as caller:
        assert caller.response("tools/list").status_code == 200
        assert httpx2.get(_metadata_url(url)).status_code == 404


def test_no_token_goes_to_two_servers():
    """A token is issued for one server, so that naming two for it is an error."""
    config = {
        "mcpServers": {"one": {"url": "http://localhost:1/mcp"}, "two": {"url": "http://localhost:2/mcp"}}
    }
    forward = {"one": ["authorization"], "two": ["X-Tenant", "Authorization"]}
    with pytest.raises(ValueError, match=r"Authorization can go to one server only"):
        create_lenient_proxy(config, forward_headers=forward)


@pytest.mark.parametrize(("modern", "target"), [(False, str), (True, Client)], ids=["older", "newer"])
def test_a_token_for_the_proxy_is_not_forwarded(modern, target):
    """A token that the proxy's own ``auth`` accepts was issued for the proxy, and stays there."""
    auth = StaticTokenVerifier({"for-proxy": {"client_id": "ada", "scopes": ["use"]}})
    open_to_all = FastMCP("open")
    seen: list[dict[str, str]] = []

    @open_to_all.tool
    def look() -> str:
        seen.append(get_http_headers(include={"authorization"}))
        return "ok"

    with serving(open_to_all) as behind, serving(create_lenient_proxy(target(behind), auth=auth)) as url:
        assert _first(url, modern=modern).status_code == 401
        with _calling(url, "for-proxy", modern=modern) as caller:
            assert caller.response("tools/call", {"name": "look", "arguments": {}}).status_code == 200
    assert len(seen) == 1
    assert "authorization" not in seen[0]


def test_the_operators_token_is_not_asked_of_callers():
    """A server that refuses the operator's own token answers with an error, since a login could not help."""
    with serving(_Guarded().server) as behind:
        transport = StreamableHttpTransport(behind, headers={"Authorization": "Bearer forged"})
        with serving(create_lenient_proxy(transport)) as url, _calling(url, "of-ada") as caller:
            answer = caller.request("tools/list", {})
    assert answer["error"]["code"] == -32603


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_without_http_a_refused_call_is_an_error(mode):
    """A client over stdio gets an error that says why; a wrong call is not answered with what its schema says."""
    made = _Guarded()
    with serving(made.server) as behind:
        transport = StreamableHttpTransport(behind, headers={"Authorization": "Bearer of-ada"})
        async with Client(create_lenient_proxy(transport), mode=mode) as client:
            assert (await client.call_tool("add", {"left": 1, "right": 2})).data == 3
            made.tokens.clear()
            for left in (1, []):
                result = await client.call_tool_mcp("add", {"left": left, "right": 2})
                assert result.is_error
                assert result.content[0].text == (
                    "The server behind this proxy does not accept the caller's credentials."
                )


@each_row("status", [302, 303, 307])
def test_no_token_follows_a_redirect_to_another_host(status, sites):
    """A server that redirects requests to another host gets nothing sent there, whatever is called."""
    site, url, elsewhere = sites
    site.requests.clear()
    site.answer = lambda _: RedirectResponse(f"{elsewhere.address}/mcp", status)
    for modern in (False, True):
        _first(url, "of-ada", modern=modern)
    caller = _Caller(url, "of-ada", modern=True)
    caller.response("tools/list")
    caller.response("tools/call", _RIGHT)
    caller.close()
    assert httpx2.get(_metadata_url(url)).status_code == 404
    assert site.requests
    assert elsewhere.requests == []


@each_row(
    ("challenge", "expected"),
    [
        pytest.param("Bearer", "Bearer", id="no metadata"),
        pytest.param(
            'Bearer resource_metadata="{other}/a", scope="x y"',
            'Bearer resource_metadata="{own}", scope="x y"',
            id="quoted",
        ),
        pytest.param(
            "Bearer Resource_Metadata = {other}/a,scope=x",
            'Bearer Resource_Metadata="{own}",scope=x',
            id="a token",
        ),
        pytest.param(
            'Basic realm="b", Bearer resource_metadata="{other}/\\"a"',
            'Basic realm="b", Bearer resource_metadata="{own}"',
            id="two schemes",
        ),
        pytest.param('Bearer resource_metadata=""', 'Bearer resource_metadata="{own}"', id="empty"),
        pytest.param('Bearer resource_metadata="http://["', 'Bearer resource_metadata="{own}"', id="no URL"),
        pytest.param('ApiKey realm="keys"', 'ApiKey realm="keys"', id="another scheme"),
        pytest.param('Basic realm="\xe2\x82\xac"', 'Basic realm="\u20ac"', id="UTF-8"),
    ],
)
def test_no_challenge_leads_past_the_proxy(challenge, expected, sites):
    """Metadata that a challenge names anywhere is fetched from the proxy, and by it from the server's own host."""
    site, url, elsewhere = sites
    site.challenge(challenge.format(other=elsewhere.address))
    assert _first(url).headers["www-authenticate"] == expected.format(own=_metadata_url(url))
    assert httpx2.get(_metadata_url(url)).status_code == 404
    assert elsewhere.requests == []


@each_row(
    "path",
    [
        pytest.param(f"{_WELL_KNOWN}/mcp", id="path"),
        pytest.param(_WELL_KNOWN, id="root"),
        pytest.param("/stage/metadata", id="named in the challenge"),
        pytest.param("//elsewhere/metadata", id="named like a host"),
    ],
)
def test_the_metadata_is_found_where_clients_look(path, sites):
    """The metadata is where the challenge says, or at one of the two well-known places."""
    site, url, _ = sites
    named = "" if path.startswith("/.") else f' resource_metadata="http://elsewhere{path}"'

    def answer(request: Request) -> Response:
        if request.method == "POST":
            return site.refuse(f"Bearer{named}")
        is_there = request.url.path == path
        return JSONResponse({"authorization_servers": [_LOGIN]}, 200 if is_there else 404)

    site.answer = answer
    _first(url, "of-ada")
    site.requests.clear()
    found = httpx2.get(_metadata_url(url), headers={"authorization": "Bearer of-ada"})
    assert found.json() == {"resource": url, "authorization_servers": [_LOGIN]}
    assert not any("authorization" in headers for headers in site.requests)


@each_row(
    "body",
    [
        pytest.param(b"[]", id="a list"),
        pytest.param(b"{", id="not JSON"),
        pytest.param(b"\xff", id="not UTF-8"),
        pytest.param(b'{"authorization_servers": []}' + b" " * 2**20, id="too long"),
        pytest.param(b"[" * 100_000, id="too deep"),
    ],
)
def test_unusable_metadata_is_none(body, sites):
    """A server's document that is not one is answered with 404."""
    site, url, _ = sites
    site.answer = lambda _: Response(body, media_type="application/json")
    assert httpx2.get(_metadata_url(url)).status_code == 404


def test_signed_metadata_is_left_out(sites):
    """A signature of the server's own metadata would name another resource, and take precedence."""
    site, url, _ = sites
    metadata = {"resource": "x", "authorization_servers": [_LOGIN]}
    site.answer = lambda _: JSONResponse({**metadata, "signed_metadata": "a.b.c"})
    assert httpx2.get(_metadata_url(url)).json() == {**metadata, "resource": url}


def _asks_for_credentials(url: str) -> bool:
    """Return whether a proxy passes on the 401 of a guarded server, before and in a session."""
    first = _first(url).status_code
    with _calling(url, "of-ada") as caller:
        assert caller.request("tools/call", _RIGHT)["result"]["isError"] is False
        caller.present(None)
        return (first, caller.response("tools/call", _WRONG).status_code) == (401, 401)


def test_a_server_with_tool_transforms_asks_for_credentials_too():
    """An entry whose tools are changed by the configuration answers 401 like any other."""
    with serving(_Guarded().server) as behind:
        entry = {
            "url": behind,
            "tools": {"add": {"description": "Adds."}},
            "forwardHeaders": ["Authorization"],
        }
        with serving(create_lenient_proxy({"mcpServers": {"one": entry}})) as url:
            assert _asks_for_credentials(url)
            assert httpx2.get(_metadata_url(url)).json()["resource"] == url


def test_a_server_over_sse_asks_for_credentials_too():
    """A server that still speaks the older HTTP transport answers 401 when the proxy connects."""

    def over_sse(address: str) -> FastMCP:
        server = _Guarded().server(address)
        made = server.http_app
        vars(server)["http_app"] = lambda **_: made(transport="sse", path="/sse")
        return server

    with (
        serving(over_sse) as behind,
        serving(create_lenient_proxy(SSETransport(behind.replace("/mcp", "/sse")))) as url,
    ):
        assert _asks_for_credentials(url)


def test_a_refused_call_is_logged(guarded, events):
    """The log says that the server did not accept the caller's credentials, and never shows them."""
    with _calling(guarded[0], "of-ada") as caller:
        caller.request("tools/list", {})
        caller.present("forged-hunter2")
        for call in (_RIGHT, _WRONG):
            assert caller.response("tools/call", call).status_code == 401
    assert [event["error_code"] for event in events if "error_code" in event] == ["CREDENTIALS_REFUSED"] * 2
    assert "hunter2" not in json.dumps(list(events))


async def test_fastmcps_client_logs_in_through_two_proxies():
    """FastMCP's OAuth client gets a token for each of two servers; no token reaches the other server."""
    logins = {name: Login() for name in ("one", "two")}
    with ExitStack() as stack:
        for login in logins.values():
            behind = stack.enter_context(serving(login.server))
            url = stack.enter_context(serving(create_lenient_proxy(behind)))
            async with Client(url, auth=HeadlessOAuth(mcp_url=url, scopes=["use"])) as client:
                assert [tool.name for tool in await client.list_tools()] == ["add"]
                result = await client.call_tool("add", {"left": "1", "right": 2})
                assert result.data == 3
                login.forget()
                assert (await client.call_tool("add", {"left": 1, "right": 2})).data == 3
    tokens = [set(login.seen) for login in logins.values()]
    assert all(len(each) == 2 for each in tokens)
    assert not tokens[0] & tokens[1]
