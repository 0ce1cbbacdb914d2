"""Say why a server behind a proxy gives no usable answer."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import REQUEST_TIMEOUT

from mcp_lenient.values.language import Text

_MOST_ERRORS: Final = 32
"""How many causes of an error are looked at; the SDK's groups of errors may contain each other."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a server gives no usable answer.

    Attributes:
        reason: A sentence that repeats nothing of the server's.
        passes: Whether it may pass without a change of the proxy's settings.
    """

    reason: Text
    passes: bool = True


NOT_SENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout)
"""Errors of requests that have not been sent."""
NO_ANSWER: Final = Trouble(Text("The server behind this proxy does not answer."))
NO_LIST: Final = Trouble(Text("The server behind this proxy does not list its tools."))
LATE: Final = Trouble(Text("The server behind this proxy did not answer in time."))
ENDED: Final = Trouble(Text("The process of the server behind this proxy ended before it answered."))
_BY_ERROR: Final[tuple[tuple[type[BaseException], Trouble], ...]] = (
    (ConnectionRefusedError, Trouble(Text("The server behind this proxy refuses the connection."))),
    (socket.gaierror, Trouble(Text("The host of the server behind this proxy is unknown."), passes=False)),
    (
        ssl.SSLCertVerificationError,
        Trouble(Text("The certificate of the server behind this proxy is not trusted."), passes=False),
    ),
    (
        ssl.SSLError,
        Trouble(
            Text("The server behind this proxy does not speak TLS, as a URL with 'https:' requires."),
            passes=False,
        ),
    ),
    (httpx2.TimeoutException, LATE),
    (TimeoutError, LATE),
    (
        httpx2.RemoteProtocolError,
        Trouble(Text("The server behind this proxy breaks off the connection, or does not speak HTTP.")),
    ),
    (
        FileNotFoundError,
        Trouble(Text("The command of the server behind this proxy does not exist."), passes=False),
    ),
    (
        PermissionError,
        Trouble(Text("The command of the server behind this proxy may not be run."), passes=False),
    ),
)
"""Troubles by what is among the causes of an error; the first that applies counts."""


def of_error(error: BaseException) -> Trouble:
    """Return why a server could not be asked, by the error and its causes."""
    causes = list(_causes(error))
    for kind, trouble in _BY_ERROR:
        if any(isinstance(cause, kind) for cause in causes):
            return trouble
    is_late = any(isinstance(cause, MCPError) and cause.error.code == REQUEST_TIMEOUT for cause in causes)
    return LATE if is_late else NO_ANSWER


def _causes(error: BaseException) -> Iterator[BaseException]:
    waiting = [error]
    for _ in range(_MOST_ERRORS):
        if not waiting:
            return
        cause = waiting.pop(0)
        yield cause
        following = (cause.__cause__ or cause.__context__,)
        within = getattr(cause, "exceptions", ())  # of a group of errors, which Python 3.10 does not know
        waiting += [other for other in (*following, *within) if other is not None]


def of_answer(response: httpx2.Response) -> Trouble | None:
    """Return why an HTTP response to a JSON-RPC request is no answer in MCP; None if it may be one."""
    status = response.status_code
    if status == httpx2.codes.ACCEPTED or not _is_of_request(response.request) or _has_message(response):
        return None
    if response.is_success:
        return Trouble(_not_mcp(response), passes=False)
    if status == httpx2.codes.NOT_FOUND and "mcp-session-id" in response.request.headers:
        return None  # its session is gone
    return Trouble(_of_status(status), passes=response.is_server_error or status in _PASSING)


_PASSING: Final = frozenset({httpx2.codes.REQUEST_TIMEOUT, httpx2.codes.TOO_MANY_REQUESTS})


def _of_status(status: int) -> Text:
    if status == httpx2.codes.NOT_FOUND:
        return Text(
            "The server behind this proxy answers with HTTP status 404: there is nothing at the path of its URL. "
            "Many servers have '/mcp' there."
        )
    if status == httpx2.codes.METHOD_NOT_ALLOWED:
        return Text(
            "The server behind this proxy answers with HTTP status 405: the path of its URL takes no POST, so it is not "
            "that of an MCP server over streamable HTTP."
        )
    if 300 <= status < 400:
        return Text(
            "The server behind this proxy answers with HTTP status {status}: it sends the proxy to another URL.",
            status=status,
        )
    if status >= 500:
        return Text(
            "The server behind this proxy answers with HTTP status {status}: it fails, and its own log has the reason.",
            status=status,
        )
    return Text(
        "The server behind this proxy answers with HTTP status {status}: it does not accept the request.",
        status=status,
    )


def _not_mcp(response: httpx2.Response) -> Text:
    if _content_type(response).startswith("text/html"):
        return Text("The server behind this proxy answers with a web page, not in MCP.")
    return Text("The server behind this proxy answers with something that is not MCP.")


def _content_type(response: httpx2.Response) -> str:
    content_type: str = response.headers.get("content-type", "")
    return content_type.lower()


def _has_message(response: httpx2.Response) -> bool:
    """Return whether a response has a JSON-RPC message, which servers send with any status, or a stream of them."""
    content_type = _content_type(response)
    if content_type.startswith("text/event-stream"):
        return response.is_success
    return content_type.startswith("application/json") and "jsonrpc" in _object_in(response)


def _object_in(response: httpx2.Response) -> dict[str, object]:
    try:
        content = json.loads(response.content)
    except (ValueError, RecursionError, httpx2.StreamError):  # the last if nobody has read it
        return {}
    return content if isinstance(content, dict) else {}


def _is_of_request(request: httpx2.Request) -> bool:
    """Return whether this is a JSON-RPC request, not a response or a notification, or opens a stream of events."""
    if request.method != "POST":
        return "mcp-session-id" not in request.headers
    message = json.loads(request.content)
    return isinstance(message, dict) and message.keys() >= {"id", "method"}


def is_request_in_session(request: httpx2.Request) -> bool:
    """Return whether this is a JSON-RPC request in a session."""
    return request.method == "POST" and "mcp-session-id" in request.headers and _is_of_request(request)
