"""Tell callers of a proxy over HTTP that a server does not accept their credentials, and where to get others."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import anyio
import httpx2
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from mcp_lenient.adapters.fastmcp.proxy.connection import REFUSALS

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from mcp_lenient.adapters.fastmcp.proxy.connection import Sending

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
_SESSION: Final = "mcp-session-id"
_NAMED: Final = re.compile(r'(resource_metadata)\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s,"]*))', re.IGNORECASE)
_NOT_KEPT: Final = {"cache-control": "no-store"}
_MOST_READ: Final = 64 * 2**10
_WAIT: Final = 10.0


class ProtectedServer:
    """The server behind a proxy that gets the callers' ``Authorization``.

    Args:
        sending: Sends requests to it.
    """

    def __init__(self, sending: Sending) -> None:
        self._sending = sending
        self._url = httpx2.URL(sending.url)
        self._named: tuple[str, ...] = ()

    def protect(self, proxy: FastMCP) -> None:
        """Serve the metadata with a proxy, and answer requests that the server refuses with its refusal."""
        proxy.custom_route(f"{WELL_KNOWN}{{path:path}}", methods=["GET"])(self._metadata)
        http_app = proxy.http_app

        def guarded_app(*args: Any, **kwargs: Any) -> Starlette:
            app = http_app(*args, **kwargs)
            app.add_middleware(_Guard, server=self)
            return app

        vars(proxy)["http_app"] = guarded_app

    async def _metadata(self, request: Request) -> Response:
        """Return the server's protected-resource metadata (RFC 9728), with the proxy's endpoint as the resource."""
        path = request.app.state.path
        whole, alone = self._url.raw_path.decode(), self._url.path.rstrip("/")
        places = (*self._named, WELL_KNOWN + whole, WELL_KNOWN + alone, WELL_KNOWN)
        for place in dict.fromkeys(places) if request.path_params["path"] == path else ():
            metadata = await self._fetched(place)
            if metadata is not None:
                # Signed metadata names the server as the resource, not the proxy, and would take precedence.
                metadata.pop("signed_metadata", None)
                return JSONResponse({**metadata, "resource": _base(request) + path}, headers=_NOT_KEPT)
        return Response(status_code=404)

    async def _fetched(self, place: str) -> dict[str, Any] | None:
        """Return a document from the server's own host, asked for without anything of the caller's."""
        body = bytearray()
        client = self._sending.make(headers=dict(self._sending.operators))
        with suppress(httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError, TimeoutError):
            url = self._url.copy_with(raw_path=place.encode())
            with anyio.fail_after(_WAIT):
                async with client, client.stream("GET", url, follow_redirects=False) as response:
                    async for chunk in response.aiter_bytes():
                        body += chunk
                        if len(body) > _MOST_READ:
                            return None
            document = json.loads(body) if response.is_success else None
            return document if isinstance(document, dict) else None
        return None

    def refusing(self, refusal: httpx2.Response, request: Request) -> Response:
        """Return the server's refusal as the proxy's own, with the metadata at the proxy."""
        address = f'="{_base(request)}{WELL_KNOWN}{request.app.state.path}"'
        response = Response(status_code=refusal.status_code, headers=_NOT_KEPT)
        refusal.headers.encoding = "latin-1"  # as it is sent, whatever bytes it has
        for challenge in refusal.headers.get_list("www-authenticate"):
            for named in _NAMED.finditer(challenge):
                with suppress(httpx2.InvalidURL):
                    # Only the path counts: a server does not choose the hosts that the proxy asks.
                    self._named = (httpx2.URL(named[2] or named[3] or "").raw_path.decode(),)
            rewritten = _NAMED.sub(lambda named: named[1] + address, challenge)
            response.headers.append("www-authenticate", rewritten)
        return response


class _Guard:
    """Answers a request that the server behind refuses with its refusal.

    A response is held back until its first content, which comes after the server's answer.

    Args:
        app: The application.
        server: The server behind.
    """

    def __init__(self, app: ASGIApp, server: ProtectedServer) -> None:
        self._app = app
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        refusals: list[httpx2.Response] = scope.setdefault(REFUSALS, [])
        start: Message = {}
        is_held, is_refused = True, False

        async def hold(message: Message) -> None:
            nonlocal is_held, is_refused
            if message["type"] == "http.response.start":
                start.update(message)
                return
            if is_held and (message.get("body") or not message.get("more_body")):
                is_held, is_refused = False, bool(refusals)
                if not is_refused:
                    await send(start)
            if not (is_held or is_refused):
                await send(message)

        await self._app(scope, receive, hold)
        if is_refused:
            session = Headers(raw=start.get("headers", [])).get(_SESSION)
            if session is not None and _SESSION not in Headers(scope=scope):
                await self._end(scope, session)
            await self._server.refusing(refusals[0], Request(scope))(scope, receive, send)

    async def _end(self, scope: Scope, session: str) -> None:
        """End a session that a refused request has opened."""
        headers = [*scope["headers"], (_SESSION.encode(), session.encode())]

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def ignore(_: Message) -> None: ...

        await self._app({**scope, "method": "DELETE", "headers": headers}, receive, ignore)


def _base(request: Request) -> str:
    return str(request.base_url).rstrip("/")
