"""Load tools of MCP servers as LangChain tools, for agents of LangChain and LangGraph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from mcp.types import EmbeddedResource, ResourceLink, TextContent, TextResourceContents

from mcp_lenient.adapters.client.sdk_versions import MCPError
from mcp_lenient.adapters.client.session import LenientSession, lenient_session
from mcp_lenient.adapters.configuration import read_configuration
from mcp_lenient.adapters.sdk_caller import field

if TYPE_CHECKING:
    from fastmcp import Client
    from mcp import ClientSession
    from mcp.types import CallToolResult, ContentBlock, Tool

    Called = Callable[[str, dict[str, Any]], Awaitable[CallToolResult]]

_HTTP_KEYS: Final = ("url", "headers", "auth", "httpx_client_factory", "timeout")

# LangGraph reads the annotations of a tool's function at run time.
Content = str | list[str | dict[str, Any]]
"""The content of a message: a text, or LangChain's blocks."""


async def load_tools(
    session: LenientSession | Client[Any] | ClientSession | Mapping[str, Any] | None,
    *,
    connection: Mapping[str, Any] | None = None,
) -> list[BaseTool]:
    """Return the tools of a session, or of servers by their connections, as LangChain tools whose calls are repaired.

    All pages are loaded. The tools of a session work as long as it does; those of a connection open a session for each
    call.

    Args:
        session: A client or session, wrapped by :func:`mcp_lenient.lenient_session`; a lenient session with its own
            policy; connections by the name of their server; a client's configuration with ``mcpServers``; or None with a
            connection.
        connection: The connection of one server, such as ``{"transport": "streamable_http", "url": "..."}``. As for
            ``MultiServerMCPClient``, it may also have ``headers``, ``auth``, ``httpx_client_factory`` (called with
            ``headers``, ``timeout`` and ``auth``; returns a client of httpx or httpx2), ``timeout`` (seconds for each
            answer) and, with the transport ``sse``, ``sse_read_timeout``; a server over stdio ``command``, ``args``,
            ``env`` and ``cwd``.

    Raises:
        ConnectionError: When a server cannot be started or reached; names it and its address.
        ValueError: When there is neither a session nor a connection, or a transport or a key of a connection is unknown.
    """
    if connection is not None:
        session = {"server": connection}
    if session is None:
        msg = (
            "load_tools(None) has no server. Give it a connected session, load_tools(client); or connections, "
            'load_tools({"math": {"command": "python", "args": ["math.py"]}}) or load_tools(None, connection={...}).'
        )
        raise ValueError(msg)
    if isinstance(session, Mapping):
        servers: Mapping[str, Any] = read_configuration(session.get("mcpServers", session))
        client = _configured if "mcpServers" in session else _connected
        opened = [(name, server, client(name, server)) for name, server in servers.items()]
        return [tool for entry in opened for tool in await _tools_at(*entry)]
    lenient = session if isinstance(session, LenientSession) else lenient_session(session)
    return [to_langchain(tool, lenient.call_tool_mcp) for tool in (await lenient.tools()).values()]


def _configured(name: str, server: Mapping[str, Any]) -> Callable[[], Client[Any]]:
    """Return what makes the clients of a server in a client's configuration."""
    from fastmcp import Client

    return lambda: Client({"mcpServers": {name: server}})


def _connected(name: str, connection: Mapping[str, Any]) -> Callable[[], Client[Any]]:
    """Return what makes the clients of a connection as LangChain writes it."""
    from fastmcp import Client
    from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

    options = {key: value for key, value in connection.items() if value is not None}
    kind = options.pop("transport", "stdio" if "command" in options else "http")
    make, keys = {
        "stdio": (StdioTransport, ("command", "args", "env", "cwd", "timeout")),
        "sse": (SSETransport, (*_HTTP_KEYS, "sse_read_timeout")),
    }.get(kind, (StreamableHttpTransport, _HTTP_KEYS))
    needed = keys[0]
    for key in (*(options.keys() - keys), *({needed} - options.keys())):
        what = "lacks the key" if key == needed else "has the unknown key"
        msg = f"The connection {name!r} {what} {key!r}; keys of the transport {kind!r} are {', '.join(keys)}."
        raise ValueError(msg)
    timeout = options.pop("timeout", None)
    if (factory := options.get("httpx_client_factory")) is not None:
        options["httpx_client_factory"] = _clients_of(factory)
    parameters: dict[str, Any] = {"args": [], **options} if kind == "stdio" else options
    return lambda: Client(make(**parameters), timeout=timeout)


def _clients_of(factory: Callable[..., Any]) -> Callable[..., Any]:
    """Call an author's factory with the three arguments that LangChain names, and follow redirects as FastMCP does."""

    def make(*, headers: Any = None, timeout: Any = None, auth: Any = None, **_: Any) -> Any:
        timeouts = {} if timeout is None else {"timeout": timeout}  # else the factory's own default holds
        client = factory(headers=headers, auth=auth, **timeouts)
        client.follow_redirects = True
        limits = client.timeout.as_dict().values()
        if not all(isinstance(limit, int | float | None) for limit in limits):
            # A client of httpx keeps the limits of httpx2, or the other way around, without reading them.
            client.timeout = (timeout.connect, timeout.read, timeout.write, timeout.pool)
        return client

    return make


async def _tools_at(
    name: str, server: Mapping[str, Any], opened: Callable[[], Client[Any]]
) -> list[BaseTool]:
    """Return the tools of one server; each of their calls opens a session."""

    async def call(tool: str, arguments: dict[str, Any]) -> CallToolResult:
        async with lenient_session(opened()) as session:
            return await session.call_tool_mcp(tool, arguments)

    try:
        async with lenient_session(opened()) as session:
            return [to_langchain(tool, call) for tool in (await session.tools()).values()]
    except (MCPError, RuntimeError, OSError, TypeError) as error:
        where = str(server.get("url") or server.get("command")).partition("?")[0]  # a query may hold a key
        msg = f"Server {name!r} at {where} cannot be used: {error}"
        raise ConnectionError(msg) from error


def to_langchain(tool: Tool, call: Called) -> BaseTool:
    """Return one MCP tool as a LangChain tool.

    Name, description and schema are kept; annotations, such as ``destructiveHint``, and ``_meta`` become metadata. A
    tool error, including an envelope, becomes a message with ``status="error"`` for the model. Images, audio, links and
    binary resources become ``image`` or ``file`` blocks of LangChain. Structured content and repairs are in the message's
    ``artifact``.

    Args:
        tool: The tool as a server lists it.
        call: Calls a tool by name, with its arguments.
    """

    async def called(**arguments: Any) -> tuple[Content, dict[str, Any] | None]:
        result = await call(tool.name, arguments)
        if field(result, "is_error"):
            raise ToolException(
                "\n".join(block.text for block in result.content if isinstance(block, TextContent))
            )
        return _content(result.content), _artifact(result)

    metadata = tool.annotations.model_dump(by_alias=True) if tool.annotations is not None else {}
    if tool.meta:
        metadata["_meta"] = tool.meta
    return StructuredTool(
        name=tool.name,
        description=tool.description or "",
        args_schema=field(tool, "input_schema"),
        coroutine=called,
        response_format="content_and_artifact",
        handle_tool_error=True,
        metadata=metadata or None,
    )


def _artifact(result: CallToolResult) -> dict[str, Any] | None:
    """Return structured content and repairs for programs; None if there are none, or nothing but the text again."""
    repairs = (result.meta or {}).get("mcp_lenient", {}).get("repairs")
    structured = field(result, "structured_content")
    if structured == {"result": _content(result.content)}:  # how FastMCP wraps a text
        structured = None
    artifact = {"structured_content": structured, "repairs": repairs}
    return {name: value for name, value in artifact.items() if value} or None


def _content(blocks: list[ContentBlock]) -> Content:
    """Return the content of a message: a single text or none as a string, else a list of LangChain blocks."""
    if not blocks:
        return ""
    if len(blocks) == 1 and isinstance(blocks[0], TextContent):
        return blocks[0].text
    return [_block(block) for block in blocks]


def _block(block: ContentBlock) -> dict[str, Any]:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    if isinstance(block, ResourceLink):
        return _file(block, url=str(block.uri))
    if not isinstance(block, EmbeddedResource):
        return _file(block, base64=block.data)
    if isinstance(block.resource, TextResourceContents):
        return {"type": "text", "text": block.resource.text}
    return _file(block.resource, base64=block.resource.blob)


def _file(described: Any, **held: str) -> dict[str, Any]:
    """Return LangChain's block of an image or of any other file; it takes no block of audio in a message of a tool."""
    kind = field(described, "mime_type") or "application/octet-stream"
    return {"type": "image" if kind.startswith("image/") else "file", **held, "mime_type": kind}
