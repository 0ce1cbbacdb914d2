"""Private FastMCP APIs used by the proxy; if one is gone, FastMCP's own behavior remains."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from fastmcp.client.sampling import create_sampling_callback
from fastmcp.client.transports import FastMCPTransport, stdio
from fastmcp.mcp_config import TransformingRemoteMCPServer
from fastmcp.server.dependencies import get_context
from fastmcp.server.providers import proxy
from mcp.shared.message import ServerMessageMetadata
from mcp_types import CreateMessageRequest, CreateMessageResult

from mcp_lenient.adapters.fastmcp.proxy import utf8
from mcp_lenient.adapters.fastmcp.proxy.connection import connected, restrict

if TYPE_CHECKING:
    from fastmcp import Context, FastMCP

    from mcp_lenient.adapters.fastmcp.proxy.connection import Forwarded, Times


_ANSWERS = ("list_roots_callback", "sampling_callback", "elicitation_callback", "logging_callback")


def pass_on_samples(client: Any, calls: Any) -> None:
    """Forward a client's complete sampling answer; FastMCP's proxy only keeps its text.

    Args:
        client: A client of FastMCP's proxy.
        calls: The lookup of the call to answer in.
    """
    restoring = getattr(proxy, "_make_restoring_handler", None)
    kwargs = getattr(client, "_session_kwargs", None)
    if restoring is not None and kwargs is not None:
        kwargs["sampling_callback"] = create_sampling_callback(restoring(_sampled, calls))


async def _sampled(_: Any, params: Any, __: Any) -> Any:
    context = get_context()
    return await context.session.send_request(
        CreateMessageRequest(params=params.model_copy(update={"meta": None})),
        CreateMessageResult,
        metadata=ServerMessageMetadata(related_request_id=context.origin_request_id),
    )


class SharedSession:
    """The calls that share a session, and callbacks that route the server's requests to the right call.

    FastMCP's proxy keeps the session with a stdio server and the callbacks of its first client, which would use a
    request that has already been answered, perhaps another client's. A server does not say which call its request
    belongs to, so while calls of several clients are running, its requests are refused.
    """

    def __init__(self) -> None:
        self._clients: list[weakref.ref[Any]] = []
        self._callbacks: dict[str, Any] = {}
        self._latest: Any = None

    def join(self, client: Any, *, alone: bool) -> None:
        """Route the server's requests for this client through this session.

        Args:
            client: A client of FastMCP's proxy, not yet connected.
            alone: Whether the proxy has only one client, so that its latest call may answer even after it has ended.
        """
        kwargs = getattr(client, "_session_kwargs", None)
        if kwargs is None or not hasattr(client, "_bind_restoring_handlers"):
            return
        if not self._callbacks:
            bound = client.new()
            bound._proxy_rc_ref = self  # noqa: SLF001 - see above
            bound._bind_restoring_handlers()  # noqa: SLF001 - see above
            pass_on_samples(bound, self)
            self._callbacks = {name: bound._session_kwargs[name] for name in _ANSWERS}  # noqa: SLF001
        kwargs.update(self._callbacks)
        self._clients = [known for known in self._clients if (each := known()) is not None and each.busy]
        self._clients.append(weakref.ref(client))
        if alone:
            self._latest = client

    def __getitem__(self, _: int) -> Any:
        """Return the call to answer in, as FastMCP's callbacks expect; None before the first call.

        Raises:
            RuntimeError: When the call is ambiguous.
        """
        clients = [client for known in self._clients if (client := known()) is not None and client.busy]
        calls = [client._proxy_rc_ref[0] for client in clients]  # noqa: SLF001 - see above
        running = [call for call in calls if call is not None]
        if len({id(getattr(call[0].session, "_connection", call[0])) for call in running}) == 1:
            return running[-1]
        if self._latest is not None:
            return self._latest._proxy_rc_ref[0]  # noqa: SLF001 - see above
        msg = "it is unknown in whose call the server asks"
        raise RuntimeError(msg)


def refuse_other_bytes() -> None:
    """Let clients of stdio servers answer a request with an error if its answer is not UTF-8.

    The SDK has a setting for the encoding, FastMCP does not.
    """
    found = getattr(stdio, "StdioServerParameters", None)
    if isinstance(found, type):
        vars(stdio)["StdioServerParameters"] = partial(found, encoding=utf8.CODEC)


def wrap_streams(server: FastMCP, wrap: Callable[[Any, Any], Any]) -> None:
    """Wrap the message streams of clients (stdio, in-process) by ``wrap(stream, answers)``."""
    served = getattr(server, "_mcp_server", None)
    run = getattr(served, "run", None)
    if served is None or run is None:
        return

    async def run_wrapped(read_stream: Any, write_stream: Any, *args: Any, **kwargs: Any) -> Any:
        return await run(wrap(read_stream, write_stream), write_stream, *args, **kwargs)

    served.run = run_wrapped


def hook_requests(server: FastMCP, hook: Any) -> None:
    """Add a hook to the SDK's middleware of a server, before all others."""
    hooks = getattr(getattr(server, "_mcp_server", None), "middleware", None)
    if isinstance(hooks, list):
        hooks.insert(0, hook)


def list_for_headers(server: FastMCP) -> None:
    """Let the SDK list the tools to validate the headers of a call.

    From 4.2 on, FastMCP gives it schemas from a cache of its own. For a server behind a proxy, that cache lacks tools
    that no client has listed, and the SDK then accepts any header.
    """
    served = getattr(server, "_mcp_server", None)
    if served is not None and hasattr(served, "get_tool_input_schema"):
        served.get_tool_input_schema = None


def connection_of(context: Context | None) -> Any:
    """Return an object with the lifetime of the client's connection, which can run cleanup at its end."""
    session = None if context is None or context.request_context is None else context.session
    connection = getattr(session, "_connection", None)
    return connection if hasattr(connection, "exit_stack") else None


def transport_of(entry: Any, forwarded: Forwarded | None, times: Times) -> Any:
    """Return the transport of a server in a client configuration; only these headers of a caller are forwarded.

    An entry with tool transforms is connected by FastMCP's own proxy, which would forward all headers.
    """
    if not isinstance(entry, TransformingRemoteMCPServer):
        return connected(entry.to_transport(), forwarded, times)
    transport: Any
    server, transport = entry._to_server_and_underlying_transport()  # noqa: SLF001 - see above
    restrict(transport, forwarded, times)
    front: Any = FastMCPTransport(mcp=server)
    front.sending = transport.httpx_client_factory
    front.legacy_only = True  # as FastMCP's own `to_transport` has it
    return front
