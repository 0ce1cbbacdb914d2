"""``mcp-lenient proxy``: run in front of any MCP server and repair nearly right calls."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import sys
import threading
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import anyio
from cyclopts import Parameter
from cyclopts.validators import Number

from mcp_lenient.cli.errors import DONE, fail
from mcp_lenient.cli.files import Config, check_file, check_target

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fastmcp import FastMCP
    from fastmcp.client.transports import ClientTransport

    from mcp_lenient.adapters.fastmcp.proxy.middleware import ProxyMiddleware
    from mcp_lenient.adapters.fastmcp.proxy.server import ForwardHeaders
    from mcp_lenient.rules.policy import Policy

_LONGEST_END: Final = 5.0
"""Seconds that servers have to end."""
_ADDRESS: Final = re.compile(r"(?:(?P<host>\[[^\]]+\]|[^:\[\]]*):)?(?P<port>\d{1,5})")
_FORWARDED: Final = re.compile(r"([\w-]+)(?:=(.+))?", re.ASCII)
_HEADER: Final = re.compile(r"([!#$%&'*+.^_`|~\w-]+):\s*(.*)")
_Switch = Annotated[bool, Parameter(negative="", show_default=False)]
_Seconds = Annotated[float | None, Parameter(validator=Number(gt=0, lt=10**9))]
_Several = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]


def proxy(  # noqa: PLR0913 - an option each
    *target: str,
    http: str | None = None,
    config: Config = None,
    reload: _Switch = False,
    observe: _Switch = False,
    closed: _Switch = False,
    log: Path | None = None,
    publish: str | None = None,
    publish_by_query: _Switch = False,
    policy: Literal["lenient", "strict"] = "lenient",
    unrepairable: Literal["refuse", "forward"] = "refuse",
    header: _Several = (),
    forward_header: _Several = (),
    timeout: _Seconds = None,
    connect_timeout: _Seconds = None,
    no_structured_errors: _Switch = False,
    stateless: _Switch = False,
) -> int:
    """Run in front of any MCP server: repair nearly right calls, refuse wrong ones with a clear error.

    `mcp-lenient proxy -- npx -y @modelcontextprotocol/server-filesystem /data`

    The target is a command line after `--`, a URL, a client configuration (`servers.json`) or a Python file
    (`server.py`, `server.py:name`). Without `--http` the proxy speaks over stdin and stdout.

    Args:
        target: The server: `-- COMMAND ARGUMENTS`, a URL, `FILE.json`, `FILE.py`.
        http: Serve streamable HTTP at `HOST:PORT`, path `/mcp`; `/health` and `/ready` say whether the server answers, and
            `/metrics` has metrics for Prometheus (extra `metrics`).
        config: YAML or TOML file with declarations for tools.
        reload: Load the file of `--config` again when it has changed, without a restart.
        observe: Change nothing; log what would be done.
        closed: Treat names that a schema does not declare as wrong, unless the schema explicitly allows other names.
        publish: Publish schemas in this form, such as `portable`, and read calls back to what the server wrote.
        publish_by_query: Let an HTTP client choose the form by the URL: `/mcp?publish=gemini`.
        log: Write the log to this file instead of stderr. The file is rotated.
        policy: `strict` repairs nothing and refuses every wrong call with a clear error.
        unrepairable: What to do with a call that cannot be repaired.
        header: Send this header to a server at a URL: `NAME: VALUE`. `${NAME}` is read from the environment. Repeatable.
        forward_header: Forward this header of the caller: `NAME`, or with several servers `NAME=SERVER`. Repeatable.
        timeout: Seconds the server may take to answer one request. No limit by default.
        connect_timeout: Seconds that connecting to the server may take.
        no_structured_errors: Leave `structuredContent` out of error results, since some clients validate it even there.
        stateless: Keep no sessions over HTTP, so that any of several such processes can answer any request.
    """
    check_target(target)
    from mcp_lenient.cli.targets import logs_from, target_of
    from mcp_lenient.rules.policy import Policy

    named = os.environ.get("MCP_LENIENT_CONFIG")
    if config is None and named:
        check_file(None, Path(named))
    if reload and config is None and named is None:
        fail("--reload: name the file with --config")
    address = None if http is None else _address(http, stateless=stateless)
    if address is None and (stateless or publish_by_query):
        fail(
            f"{'--stateless' if stateless else '--publish-by-query'}: only for a proxy that is served with --http"
        )
    kind = Policy.strict() if policy == "strict" else Policy()
    options = {"mode": "observe" if observe else None, "closed": closed or None, "publish": publish}
    stated = {name: value for name, value in options.items() if value is not None}  # the file says the rest
    chosen = kind.changed(unrepairable=unrepairable, **stated)
    elsewhere = {
        "forward_headers": _forwarded(forward_header),
        "timeout": timeout,
        "connect_timeout": connect_timeout,
        "structured_errors": not no_structured_errors,
        "publish_by_query": publish_by_query,
    }
    server = _server(
        _with_headers(target_of(target), header), chosen, {"definitions": config, "reload": reload}, elsewhere
    )
    if address is not None:
        from mcp_lenient.adapters.fastmcp.proxy.metrics import add_metrics

        add_metrics(server)
    if log is not None:
        from mcp_lenient.telemetry.setup import configure_logging

        configure_logging(file=log)
    from mcp.shared.exceptions import MCPDeprecationWarning  # which FastMCP 3 does not have

    # The SDK logs an answer that is none, with a traceback; the proxy's own log says why it is none.
    quiet_sdk = logs_from(logging.CRITICAL, "mcp.client.streamable_http")
    with quiet_sdk, warnings.catch_warnings(), suppress(KeyboardInterrupt):
        # FastMCP passes on logs and requests of servers by parts of the SDK that are deprecated; an operator of a proxy can
        # change neither server nor client.
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        anyio.run(_serve, server, address)
    return DONE


async def _serve(server: FastMCP, address: dict[str, Any] | None) -> None:
    """Serve until the client disconnects or the process must stop, then end the server behind the proxy."""
    # Not in a task group, which would raise a group of errors for the KeyboardInterrupt of a signal.
    checking = asyncio.ensure_future(_check_servers(server, over_http=address is not None))
    try:
        if address is not None:
            with _interrupted_by_sigterm():
                await server.run_async(show_banner=False, **address)
        elif sys.platform == "win32":
            await server.run_async("stdio", show_banner=False)
        else:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_stop_on_signal, server)
                await server.run_async("stdio", show_banner=False)
                tasks.cancel_scope.cancel()
    finally:
        checking.cancel()
        with anyio.CancelScope(shield=True):
            await _close(server)


@contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """Treat SIGTERM like SIGINT: uvicorn raises it again, which would end the process before the server behind it."""
    if threading.current_thread() is not threading.main_thread():  # only there can a handler be set
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


async def _stop_on_signal(server: FastMCP) -> None:
    """Exit at once: the thread that reads stdin cannot be stopped and would keep the process alive."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            await _close(server)
            logging.shutdown()
            os._exit(DONE)


async def _check_servers(server: FastMCP, *, over_http: bool) -> None:
    for middleware in _middleware_of(server):
        await middleware.check_servers(over_http=over_http)


async def _close(server: FastMCP) -> None:
    with anyio.move_on_after(_LONGEST_END):
        for middleware in _middleware_of(server):
            await middleware.close()


def _middleware_of(server: FastMCP) -> list[ProxyMiddleware]:
    from mcp_lenient.adapters.fastmcp.proxy.middleware import ProxyMiddleware

    return [middleware for middleware in server.middleware if isinstance(middleware, ProxyMiddleware)]


def _server(
    target: ClientTransport | FastMCP, policy: Policy, declared: Mapping[str, Any], options: Mapping[str, Any]
) -> FastMCP:
    """Return the server to run; ``options`` are those of :func:`create_lenient_proxy` for servers elsewhere."""
    from fastmcp import FastMCP

    from mcp_lenient.adapters.fastmcp.middleware import LenientMiddleware
    from mcp_lenient.adapters.fastmcp.proxy.middleware import PlainErrors
    from mcp_lenient.adapters.fastmcp.proxy.server import add_health, create_lenient_proxy

    if not isinstance(target, FastMCP):
        try:
            return create_lenient_proxy(target, policy, **declared, **options)
        except ValueError as error:
            fail(str(error).replace("forward_headers", "--forward-header"))
    if options["forward_headers"] is not None:
        fail("--forward-header: headers are only sent to a server at a URL")
    for name in ("timeout", "connect_timeout"):
        if options[name] is not None:
            fail(
                f"--{name.replace('_', '-')}: not for a Python file, whose server runs inside the proxy; "
                f"start it as a command instead: -- fastmcp run FILE.py"
            )
    if not options["structured_errors"]:
        target.add_middleware(PlainErrors())
    add_health(target)
    target.add_middleware(LenientMiddleware(policy, publish_by_query=options["publish_by_query"], **declared))
    return target


def _forwarded(headers: tuple[str, ...]) -> ForwardHeaders | None:
    """Return the header names, grouped by server if servers are named."""
    if not headers:
        return None
    by_server: dict[str, list[str]] = {}
    alone: list[str] = []
    for header in headers:
        match = _FORWARDED.fullmatch(header)
        if match is None:
            # The input is not shown: it may contain a key.
            fail("--forward-header: write each header as `NAME` or `NAME=SERVER`")
        (alone if match[2] is None else by_server.setdefault(match[2], [])).append(match[1])
    if alone and by_server:
        fail("--forward-header: say which of the servers each header goes to, as NAME=SERVER")
    return by_server or alone


def _address(text: str, *, stateless: bool) -> dict[str, Any]:
    match = _ADDRESS.fullmatch(text.strip())
    if match is None or int(match["port"]) > 65_535:
        fail(f"--http {text}: must be HOST:PORT, such as 127.0.0.1:8000")
    host = (match["host"] or "127.0.0.1").strip("[]")
    return {
        "transport": "http",
        "host": host,
        "port": int(match["port"]),
        "stateless_http": stateless or None,
    }


def _with_headers(target: ClientTransport | FastMCP, headers: tuple[str, ...]) -> ClientTransport | FastMCP:
    from fastmcp.client.transports import SSETransport, StreamableHttpTransport

    from mcp_lenient.cli.targets import from_environment

    if not headers:
        return target
    if not isinstance(target, (SSETransport, StreamableHttpTransport)):
        fail("--header: headers are only sent to a server at a URL")
    for header in headers:
        match = _HEADER.fullmatch(header)
        if match is None:
            fail("--header: write each header as `NAME: VALUE`")  # not shown: it may contain a key
        target.headers[match[1]] = from_environment(match[2], f"--header {match[1]}")
    return target
