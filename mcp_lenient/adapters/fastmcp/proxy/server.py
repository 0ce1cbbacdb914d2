"""Create the proxy server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fastmcp import Client, FastMCP
from fastmcp.client.transports import (
    ClientTransport,
    SSETransport,
    StreamableHttpTransport,
    infer_transport,
)
from fastmcp.client.transports.config import MCPConfigTransport
from fastmcp.mcp_config import (
    MCPConfig,
    RemoteMCPServer,
    StdioMCPServer,
    TransformingRemoteMCPServer,
    TransformingStdioMCPServer,
)
from fastmcp.server.middleware import Middleware
from fastmcp.server.providers.proxy import ProxyMetadataMiddleware
from fastmcp.server.transforms import ToolTransform
from fastmcp.tools.tool_transform import ToolTransformConfig
from pydantic import BaseModel
from starlette.responses import JSONResponse

from mcp_lenient.adapters.configuration import read_configuration
from mcp_lenient.adapters.fastmcp.proxy import private_fastmcp
from mcp_lenient.adapters.fastmcp.proxy.connection import (
    NO_LIMITS,
    Forwarded,
    Times,
    connected,
    header_names,
    seconds,
)
from mcp_lenient.adapters.fastmcp.proxy.credentials import ProtectedServer
from mcp_lenient.adapters.fastmcp.proxy.middleware import PlainErrors, ProxyMiddleware
from mcp_lenient.adapters.fastmcp.proxy.upstream import OpeningStream, Upstream
from mcp_lenient.adapters.fastmcp.server_name import AT_URL, NAMELESS, name_of
from mcp_lenient.adapters.settings import HostSettings, takes_settings

if TYPE_CHECKING:
    from starlette.requests import Request

    from mcp_lenient.rules.policy import Policy

    Target = Client[Any] | ClientTransport | FastMCP | MCPConfig | Mapping[str, Any] | Path | str
    ForwardHeaders = Mapping[str, Collection[str]] | Collection[str]

_IN_CONFIG: Final = "forwardHeaders"


@takes_settings
def create_lenient_proxy(
    target: Target,
    policy: Policy | None = None,
    *,
    forward_headers: ForwardHeaders | None = None,
    timeout: float | None = None,
    connect_timeout: float | None = None,
    structured_errors: bool = True,
    publish_by_query: bool = False,
    **settings: Any,
) -> FastMCP:
    """Return a server that runs in front of another one and makes its tools lenient.

    Everything else is forwarded as by FastMCP's own proxy: tools, resources, prompts, sampling, elicitation, roots,
    progress and cancellation. Client and upstream server use the newest protocol era that both support. Calls are
    validated against the schemas that the upstream server publishes. A call that is invalid and cannot be repaired is
    refused and never reaches the upstream server. Over HTTP, ``GET /health`` and ``/ready`` report whether that server answers, and
    if it asks callers for credentials, so does the proxy.

    >>> proxy = create_lenient_proxy("https://example.com/mcp")
    >>> proxy.name
    'example.com'

    Args:
        target: What :func:`fastmcp.server.create_proxy` takes: a URL, a path to a script, a transport, a client,
            a server, or a client configuration. If a configuration has several servers, each is
            connected once, and its tools get its name as a prefix.
        policy: What may be repaired. Unrepairable calls are refused unless it has ``unrepairable="forward"``.
        forward_headers: Which headers of an HTTP caller are forwarded: for several servers, header names by the
            server's name in the configuration; for a single one, header names. By default a single server gets all
            that FastMCP's proxy forwards, ``Authorization`` included; several servers get none, except those
            that the configuration names for a server under ``forwardHeaders``. Only one server can get ``Authorization``;
            with ``auth``, none does unless it is named.
        timeout: Seconds that a server has to answer one request. A call that takes longer is canceled and answered
            with the code ``UPSTREAM_TIMED_OUT``. Time spent waiting for the client (sampling, elicitation) counts.
        connect_timeout: Seconds for connecting to a server; by default 30 for a URL.
        structured_errors: Whether error results may have ``structuredContent``. Some clients validate it
            against the tool's output schema even on errors, and then show a validation error instead.
        publish_by_query: Whether an HTTP client may choose the form of the schemas by the proxy's URL:
            ``/mcp?publish=gemini``.
        **settings: See :class:`mcp_lenient.HostSettings`: ``tools``, ``definitions`` and so on; all others are those of
            :class:`fastmcp.FastMCP`, such as ``name`` and ``auth``.

    Returns:
        The server; run it, or add it to an application.

    Raises:
        DefinitionError: When the definitions file is invalid.
        ValueError: When a configuration has an unknown transport, ``forward_headers`` or ``forwardHeaders`` names an unknown server, an invalid header or two
            servers for ``Authorization``, a timeout is not a positive number of seconds, or a client has several servers.
    """
    private_fastmcp.refuse_other_bytes()
    hosts: Any = {name: settings.pop(name) for name in HostSettings.__annotations__ if name in settings}
    target = read_configuration(target)
    times = Times(seconds(timeout, "timeout"), seconds(connect_timeout, "connect_timeout"))
    if forward_headers is None and isinstance(target, Client) and _is_at_url(target) and settings.get("auth"):
        forward_headers = ()  # FastMCP would forward the token that was issued for the proxy
    servers, is_named = _servers(target, forward_headers, times)
    proxy, behind = _proxy(servers, times, settings)
    middleware = ProxyMiddleware(
        policy,
        upstream=behind,
        times=times,
        is_nameless=len(servers) == 1 and not is_named and "name" not in settings,
        publish_by_query=publish_by_query,
        **hosts,
    )
    lenient: list[Middleware] = [middleware] if structured_errors else [PlainErrors(), middleware]
    # Before FastMCP's, so that it sees the handshake that this one forwards.
    last = sum(not isinstance(entry, ProxyMetadataMiddleware) for entry in proxy.middleware)
    proxy.middleware[last:last] = lenient
    add_health(proxy, behind.values())
    _protect(proxy, behind.values())
    private_fastmcp.compare_headers(proxy, partial(middleware.schema_of, proxy))
    private_fastmcp.wrap_streams(proxy, partial(OpeningStream, older_only=middleware.speaks_older_only))
    return proxy


def _protect(proxy: FastMCP, upstreams: Collection[Upstream]) -> None:
    """Have a proxy ask for credentials like the server that gets the callers' ``Authorization``, if one does."""
    senders = [sending for server in upstreams if (sending := server.sending) and sending.takes_credentials()]
    if len(senders) > 1:
        msg = "forward_headers: Authorization can go to one server only, since a token is issued for one"
        raise ValueError(msg)
    # A proxy with its own `auth` asks for credentials itself.
    if senders and proxy.auth is None:
        ProtectedServer(senders[0]).protect(proxy)


def add_health(server: FastMCP, upstreams: Collection[Upstream] = ()) -> None:
    """Add ``GET /health`` to a server: 200 if all servers behind it answer; and ``/ready``: 200 if one does; else 503.

    They need no credentials and answer with numbers only.

    Args:
        server: The server that is served over HTTP.
        upstreams: The servers behind it.
    """

    async def answer(is_well: Callable[[Sequence[bool]], bool], word: str) -> JSONResponse:
        answers = await asyncio.gather(*(upstream.answers() for upstream in upstreams))
        word, status = (word, 200) if is_well(answers) else ("unavailable", 503)
        state = {"status": word, "upstreams": len(answers), "answering": sum(answers)}
        return JSONResponse(state, status, {"cache-control": "no-store"})

    async def health(_: Request) -> JSONResponse:
        return await answer(all, "ok")

    async def ready(_: Request) -> JSONResponse:
        return await answer(lambda answers: any(answers) or not answers, "ready")

    server.custom_route("/health", methods=["GET"])(health)
    server.custom_route("/ready", methods=["GET"])(ready)


@dataclass(frozen=True, slots=True)
class _Server:
    """A server behind a proxy: what FastMCP's proxy takes, and its entry if that transforms tools."""

    target: Any
    entry: Any = None


def _proxy(
    servers: Mapping[str, _Server], times: Times, settings: Mapping[str, Any]
) -> tuple[FastMCP, Mapping[FastMCP, Upstream]]:
    """Return FastMCP's proxy for a server, or a server with one for each, and what each has behind it."""
    if len(servers) == 1:
        ((name, only),) = servers.items()
        upstream = _upstream(only, times, **{"name": name, "identity": "upstream", **settings})
        return upstream.proxy, {upstream.proxy: upstream}
    whole: FastMCP = FastMCP(**{"name": NAMELESS, **settings})
    parts = {name: _upstream(server, times, name=name) for name, server in servers.items()}
    for name, part in parts.items():
        whole.mount(part.proxy, namespace=name)
    return whole, {part.proxy: part for part in parts.values()}


def _upstream(server: _Server, times: Times, **settings: Any) -> Upstream:
    """Return a server, with the tool transforms and tag filters of its entry in a client configuration."""
    entry = server.entry
    if entry is None:
        return Upstream(server.target, times, **settings)
    if entry.timeout and times.answer is None:
        times = replace(times, answer=entry.timeout / 1000)
    upstream = Upstream(server.target, times, **settings)
    if entry.tools:
        transforms = {name: ToolTransformConfig.model_validate(tool) for name, tool in entry.tools.items()}
        upstream.proxy.add_transform(ToolTransform(transforms))
    if entry.include_tags is not None:
        upstream.proxy.enable(tags=entry.include_tags, only=True)
    if entry.exclude_tags is not None:
        upstream.proxy.disable(tags=entry.exclude_tags)
    return upstream


def _of_entry(entry: Any, forwarded: Forwarded | None, times: Times) -> _Server:
    # An entry with tool transforms gives an in-process proxy, which would forward all headers.
    plain: Any = RemoteMCPServer if isinstance(entry, RemoteMCPServer) else StdioMCPServer
    is_transforming = isinstance(entry, (TransformingRemoteMCPServer, TransformingStdioMCPServer))
    transport = connected(plain.to_transport(entry), forwarded, times)
    return _Server(transport, entry if is_transforming else None)


def _servers(target: Target, forward: ForwardHeaders | None, times: Times) -> tuple[dict[str, _Server], bool]:
    """Return the upstream targets by name, and whether the operator named them."""
    if isinstance(target, Client) and times != NO_LIMITS:
        msg = "timeout, connect_timeout: a client was made with times of its own; set them there"
        raise ValueError(msg)
    if isinstance(target, Client) and not target.is_connected() and _is_of_several(target.transport):
        msg = "a client of several servers would send each of them all headers of a caller; give its configuration"
        raise ValueError(msg)
    if isinstance(target, MCPConfigTransport):
        target = target.config
    if isinstance(target, Mapping):
        target = MCPConfig.from_dict(dict(target))
    if isinstance(target, MCPConfig):
        entries = target.mcpServers
        forwarded = _forwarded(entries, forward)
        return {name: _of_entry(entry, forwarded[name], times) for name, entry in entries.items()}, True
    name = name_of(target)
    if isinstance(target, str) and target.startswith(AT_URL):
        target = infer_transport(target)
    forwarded = _forwarded({name: target}, forward)
    return {name: _Server(connected(target, forwarded[name], times))}, isinstance(target, FastMCP)


def _forwarded(servers: Mapping[str, Any], forward: ForwardHeaders | None) -> dict[str, Forwarded | None]:
    """Return the caller's headers to forward to each server; None for all that FastMCP's proxy forwards."""
    named = {
        name: header_names(entry.model_extra[_IN_CONFIG], f"{name}: {_IN_CONFIG}")
        for name, entry in servers.items()
        if isinstance(entry, BaseModel) and entry.model_extra and _IN_CONFIG in entry.model_extra
    }
    if forward is not None and not isinstance(forward, Mapping):
        if len(servers) > 1:
            msg = "forward_headers: say which of the servers each header goes to, as {SERVER: [HEADER]}"
            raise ValueError(msg)
        forward = dict.fromkeys(servers, forward)
    for name, headers in (forward or {}).items():
        if name not in servers:
            msg = f"forward_headers: no server is named {name!r}"
            raise ValueError(msg)
        named[name] = header_names(headers, f"forward_headers of {name}")
    for name in named:
        if not _is_at_url(servers[name]):
            msg = f"forward_headers: the server {name} is not at a URL, so that it gets no headers"
            raise ValueError(msg)
    headers_by_default = None if len(servers) == 1 else frozenset[str]()
    return {name: named.get(name, headers_by_default) for name in servers}


def _is_of_several(transport: Any) -> bool:
    config = transport.config if isinstance(transport, MCPConfigTransport) else None
    return isinstance(config, MCPConfig) and len(config.mcpServers) > 1


def _is_at_url(server: Any) -> bool:
    if isinstance(server, Client):
        server = server.transport
    return isinstance(server, (StreamableHttpTransport, SSETransport, RemoteMCPServer))
