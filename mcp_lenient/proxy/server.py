"""A server that stands in front of others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from fastmcp import FastMCP
from fastmcp.client.transports import (
    ClientTransport,
    SSETransport,
    StdioTransport,
    StreamableHttpTransport,
    infer_transport,
)
from fastmcp.client.transports.config import MCPConfigTransport
from fastmcp.mcp_config import MCPConfig

from mcp_lenient.policy import Policy
from mcp_lenient.proxy import fastmcp_private
from mcp_lenient.proxy.connection import read_certificates_once
from mcp_lenient.proxy.era import OpeningStream
from mcp_lenient.proxy.middleware import ProxyMiddleware
from mcp_lenient.proxy.upstream import Upstream

if TYPE_CHECKING:
    from fastmcp import Client

    Target = Client[Any] | ClientTransport | FastMCP | MCPConfig | Mapping[str, Any] | Path | str

_AT_URL: Final = ("http://", "https://")

DEFAULT_POLICY: Final = Policy(unrepairable="refuse")
"""What a proxy does where no policy is given."""


def create_lenient_proxy(
    target: Target,
    policy: Policy | None = None,
    *,
    tools: Mapping[str, Policy] | None = None,
    definitions: str | Path | None = None,
    **settings: Any,
) -> FastMCP:
    """A server that stands in front of another one and makes its tools lenient.

    What it is given is passed on as FastMCP's own proxy passes it on: tools, resources, prompts, sampling,
    elicitation, roots, progress and cancellation. Both speak the era of the protocol that both speak. The judge
    of a call is the schema that the other server publishes. What that schema forbids and cannot be repaired is
    refused, and never reaches the other server.

    >>> proxy = create_lenient_proxy("https://example.com/mcp")
    >>> proxy.name
    'example.com'

    Args:
        target: What :func:`fastmcp.server.create_proxy` takes: a URL, a path to a script, a transport, a client,
            a server, or a client configuration. Of a configuration with several servers, each is connected
            once, and its tools get its name as a prefix.
        policy: What may be repaired. Left out, it is ``Policy(unrepairable="refuse")``; one of your own says
            itself what happens to the rest.
        tools: Policies for tool names that match a pattern, as for :class:`mcp_lenient.LenientMiddleware`.
        definitions: A YAML or TOML file with what you declare of the tools, as for
            :meth:`mcp_lenient.LenientMiddleware.from_file`.
        settings: As for :class:`fastmcp.FastMCP`; ``name``, ``auth`` and so on.

    Returns:
        The server; run it, or add it to an application.

    Raises:
        DefinitionError: When the file of definitions is wrong.
    """
    servers = _servers(target)
    for transport in servers.values():
        read_certificates_once(transport)
    proxy, behind = _alone(servers, settings) if len(servers) == 1 else _composed(servers, settings)
    middleware = _middleware(behind, policy, tools, definitions)
    proxy.add_middleware(middleware)
    fastmcp_private.wrap_streams(
        proxy, lambda stream, answers: OpeningStream(stream, answers, middleware.speaks_older_only)
    )
    return proxy


def _middleware(
    behind: Mapping[FastMCP, Upstream],
    policy: Policy | None,
    tools: Mapping[str, Policy] | None,
    definitions: str | Path | None,
) -> ProxyMiddleware:
    loaded = None
    if definitions is not None:
        # A proxy without such a file does not pay for a YAML parser.
        from mcp_lenient.definitions import load_definitions  # noqa: PLC0415

        loaded = load_definitions(definitions)
    return ProxyMiddleware(policy or DEFAULT_POLICY, tools=tools, definitions=loaded, upstream=behind)


_Behind = tuple[FastMCP, Mapping[FastMCP, Upstream]]


def _alone(servers: Mapping[str, Any], settings: Mapping[str, Any]) -> _Behind:
    ((name, only),) = servers.items()
    upstream = Upstream(only, **{"name": name, "identity": "upstream", **settings})
    return upstream.proxy, {upstream.proxy: upstream}


def _composed(servers: Mapping[str, Any], settings: Mapping[str, Any]) -> _Behind:
    """A server with a proxy of each, so that each is connected once and not with every request."""
    whole: FastMCP = FastMCP(**{"name": "mcp-lenient", **settings})
    behind: dict[FastMCP, Upstream] = {}
    for name, server in servers.items():
        part = Upstream(server, name=name)
        whole.mount(part.proxy, namespace=name)
        behind[part.proxy] = part
    return whole, behind


def _servers(target: Target) -> dict[str, Any]:
    """What is behind the proxy, by name."""
    if isinstance(target, MCPConfigTransport):
        target = target.config
    if isinstance(target, Mapping):
        target = MCPConfig.from_dict(dict(target))
    if isinstance(target, MCPConfig):
        return {name: server.to_transport() for name, server in target.mcpServers.items()}
    name = _name_of(target)
    if isinstance(target, str) and target.startswith(_AT_URL):
        target = infer_transport(target)
    return {name: target}


def _name_of(target: object) -> str:
    """What a log may call the server: no arguments and no query, which may hold secrets."""
    if isinstance(target, (StreamableHttpTransport, SSETransport)):
        target = str(target.url)
    if isinstance(target, str) and target.startswith(_AT_URL):
        return urlsplit(target).hostname or "mcp-lenient"
    if isinstance(target, StdioTransport):
        return _program(target.command, target.args)
    if isinstance(target, FastMCP):
        return target.name
    return Path(target).stem if isinstance(target, (str, Path)) else "mcp-lenient"


_STARTERS: Final = frozenset({"npx", "uvx", "pnpx", "bunx", "node", "python", "python3", "bun", "deno", "uv"})


def _program(command: str, arguments: list[str]) -> str:
    """The program or package that a command line starts: ``server-git`` of ``npx -y @scope/server-git``."""
    name = Path(command).stem
    words = [word for word in arguments if not word.startswith("-") and word not in ("run", "exec", "tool")]
    if name in _STARTERS and words:
        name = Path(words[0]).stem
    return name
