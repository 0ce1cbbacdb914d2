"""Private FastMCP APIs used by the proxy; where one is gone, FastMCP's own behavior remains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from fastmcp.client.transports import FastMCPTransport, stdio
from fastmcp.mcp_config import TransformingRemoteMCPServer

from mcp_lenient.adapters.fastmcp.proxy.connection import connected, restrict

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from mcp_lenient.adapters.fastmcp.proxy.connection import Forwarded


@dataclass(slots=True)
class LatestCall:
    """The call that was sent on last, and the callbacks that answer in it."""

    call: list[Any] = field(default_factory=lambda: [None])
    session: dict[str, Any] = field(default_factory=dict)
    progress: Any = None


_ANSWERS = ("list_roots_callback", "sampling_callback", "elicitation_callback", "logging_callback")


def answer_from_latest(client: Any, latest: LatestCall) -> None:
    """Answer what a server asks of a client in the latest call, through all clients that share it.

    FastMCP's proxy keeps the session with a stdio server, and with it the callbacks of its first client, which
    would ask in a request that is long answered.
    """
    kwargs = getattr(client, "_session_kwargs", None)
    if kwargs is None or not hasattr(client, "_bind_restoring_handlers"):
        return
    client._proxy_rc_ref = latest.call  # noqa: SLF001 - see above
    if not latest.session:
        client._bind_restoring_handlers()  # noqa: SLF001 - see above
        latest.session = {name: kwargs[name] for name in _ANSWERS if name in kwargs}
        latest.progress = client._progress_handler  # noqa: SLF001 - see above
    kwargs.update(latest.session)
    client._progress_handler = latest.progress  # noqa: SLF001 - see above


def survive_other_bytes() -> None:
    """Let clients of stdio servers read past bytes that are not UTF-8; without it, every later call waits forever.

    The SDK can do so, and FastMCP has no setting for it. The line with such bytes is no JSON, and is logged by the SDK.
    """
    found = getattr(stdio, "StdioServerParameters", None)
    if isinstance(found, type):
        vars(stdio)["StdioServerParameters"] = partial(found, encoding_error_handler="replace")


def wrap_streams(server: FastMCP, wrap: Callable[[Any, Any], Any]) -> None:
    """Pass what clients send over streams (stdio, within the process) through ``wrap(stream, answers)``."""
    served = getattr(server, "_mcp_server", None)
    run = getattr(served, "run", None)
    if served is None or run is None:
        return

    async def run_wrapped(read_stream: Any, write_stream: Any, *args: Any, **kwargs: Any) -> Any:
        return await run(wrap(read_stream, write_stream), write_stream, *args, **kwargs)

    served.run = run_wrapped


def transport_of(entry: Any, forwarded: Forwarded | None) -> Any:
    """Return the transport of a server in a client configuration, which sends only these headers of a caller.

    An entry with tool transforms is connected by a proxy of FastMCP's own, which would pass on all of them.
    """
    if not isinstance(entry, TransformingRemoteMCPServer):
        return connected(entry.to_transport(), forwarded)
    server, transport = entry._to_server_and_underlying_transport()  # noqa: SLF001 - see above
    restrict(transport, forwarded)
    front = FastMCPTransport(mcp=server)
    front.legacy_only = True  # as FastMCP's own `to_transport` has it
    return front
