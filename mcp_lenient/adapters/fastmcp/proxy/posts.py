"""Post over kept HTTP/1.1 connections, at a fraction of the CPU time of a general HTTP client."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import anyio
import h11
import httpx2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from ssl import SSLContext

KEEP_ALIVE: Final = 2.0
"""Seconds after which an idle connection is not reused; shorter than the keep-alive of servers (uvicorn: 5)."""
REST: Final = 0.2
"""Seconds to wait for a server to end a response after its answer."""
_NEXT_ADDRESS: Final = 0.25
"""Seconds after which another address of the host is tried too, as anyio does."""
_LONGEST_HEAD: Final = 100 * 2**10
"""Bytes that the head of a response may have, as in httpx."""
_MOST_UNREAD: Final = 2**20

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Reach:
    """How to connect to a server.

    Attributes:
        verify: What httpx takes.
        connect: Seconds for connecting.
        read: Seconds that a server may be silent.
    """

    verify: SSLContext | bool | str
    connect: float
    read: float


class Body(httpx2.AsyncByteStream):
    """The body of a response, whose connection is kept if the server ends it in time.

    Args:
        connection: The connection that receives it.
        posts: Where to put the connection.
    """

    def __init__(self, connection: _Connection, posts: Posts) -> None:
        self._connection: _Connection | None = connection
        self._posts = posts
        self._unread: list[bytes] = []

    async def read(self) -> bytes:
        """Return the next bytes; none at the end."""
        if self._unread:
            return self._unread.pop()
        if self._connection is None:
            return b""
        event = await self._connection.event()
        if isinstance(event, h11.Data):
            return bytes(event.data)
        self._posts.put_back(self._connection)
        self._connection = None
        return b""

    def unread(self, data: bytes) -> None:
        """Have these bytes returned again."""
        if data:
            self._unread.append(data)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the rest of the body."""
        while data := await self.read():
            yield data

    async def aclose(self) -> None:
        """Read to the end, for a short time; the SDK closes an event stream just before the server ends it."""
        try:
            with anyio.move_on_after(REST):
                while await self.read():
                    pass
        except httpx2.HTTPError:
            pass
        finally:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()


@dataclass(frozen=True, slots=True)
class Answer:
    """The start of a response.

    Attributes:
        status: The status code.
        headers: The headers, with lower-case names.
        body: The body.
    """

    status: int
    headers: Headers
    body: Body

    def header(self, name: bytes) -> bytes:
        """Return the first header of this name, or nothing."""
        return next((value for key, value in self.headers if key == name), b"")


class Posts:
    """The connections to one URL.

    Args:
        url: Where to post.
        reach: How to connect.
    """

    def __init__(self, url: httpx2.URL, reach: Reach) -> None:
        self._url = url
        self._reach = reach
        self._idle: list[_Connection] = []
        self._is_closed = False

    async def post(self, headers: Headers, body: bytes) -> Answer:
        """Send a request and return the start of its response.

        Raises:
            HTTPError: What httpx raises.
        """
        connection = self._reusable() or await self._connect()
        try:
            connection.send(self._url.raw_path, [(b"Host", self._url.netloc), *headers], body)
            while not isinstance(event := await connection.event(), h11.Response):
                pass
        except BaseException:
            connection.close()
            raise
        return Answer(event.status_code, list(event.headers), Body(connection, self))

    def put_back(self, connection: _Connection) -> None:
        """Keep a connection whose response is at its end, if it can be reused."""
        if not self._is_closed and connection.starts_anew():
            self._idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        """Close all idle connections."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().close()

    def _reusable(self) -> _Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_reusable():
                return connection
            connection.close()
        return None

    async def _connect(self) -> _Connection:
        url, verify = self._url, self._reach.verify
        secure: Any = None
        if url.scheme == "https":
            secure = httpx2.create_ssl_context(verify=verify) if isinstance(verify, (bool, str)) else verify
        try:
            with anyio.fail_after(self._reach.connect):
                _, connection = await asyncio.get_running_loop().create_connection(
                    lambda: _Connection(self._reach.read),
                    url.host,
                    url.port or (443 if secure else 80),
                    ssl=secure,
                    happy_eyeballs_delay=_NEXT_ADDRESS,
                )
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpx2.ConnectError(str(error)) from error
        return connection


class _Connection(asyncio.Protocol):
    """One connection, which sends a request and receives its response at a time.

    Args:
        patience: Seconds that the server may be silent.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._transport: Any = None
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
        self._received = bytearray()
        self._waiting: asyncio.Future[None] | None = None
        self._has_ended = False
        self._error: Exception | None = None
        self._idle_since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Keep what was received until it is read; receive no more while that is much."""
        self._received += data
        if len(self._received) > _MOST_UNREAD:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Note the end."""
        self._has_ended = True
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """Note the end, and an error."""
        self._has_ended, self._error = True, self._error or error
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def send(self, path: bytes, headers: Headers, body: bytes) -> None:
        """Send a request at once."""
        length = (b"Content-Length", str(len(body)).encode())
        with _as_httpx():
            request = h11.Request(method=b"POST", target=path, headers=[*headers, length])
            events = (request, h11.Data(data=body), h11.EndOfMessage())
            sent = [self._http.send(event) or b"" for event in events]
        self._transport.write(b"".join(sent))

    async def event(self) -> Any:
        """Return the next event of a response."""
        with _as_httpx():
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(await self._receive())
            if isinstance(event, h11.ConnectionClosed):
                msg = "Server disconnected without sending a response."
                raise httpx2.RemoteProtocolError(msg)
        return event

    async def _receive(self) -> bytes:
        if not self._received and not self._has_ended:
            await self._wait()
        received = bytes(self._received)
        self._received.clear()
        if len(received) > _MOST_UNREAD:
            self._transport.resume_reading()
        if not received and self._error is not None:
            raise self._error
        if not received and self._http.their_state is h11.SEND_RESPONSE:
            msg = "Server disconnected without sending a response."
            raise httpx2.RemoteProtocolError(msg)
        return received

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._waiting = loop.create_future()
        watch = loop.call_later(self._patience, self._end_late)
        try:
            await self._waiting
        finally:
            watch.cancel()
            self._waiting = None

    def _end_late(self) -> None:
        self._error = httpx2.ReadTimeout("")
        self.close()

    def starts_anew(self) -> bool:
        """Prepare for another request; return whether that is possible."""
        self._idle_since = monotonic()
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    def is_reusable(self) -> bool:
        """Return whether the server has neither closed the connection nor sent anything since."""
        is_recent = monotonic() - self._idle_since < KEEP_ALIVE
        return is_recent and not self._has_ended and not self._received and not self._http.trailing_data[0]

    def close(self) -> None:
        """Close the connection, whatever is still to be sent or received."""
        self._transport.abort()


@contextmanager
def _as_httpx() -> Iterator[None]:
    """Raise the errors of httpx."""
    try:
        yield
    except h11.RemoteProtocolError as error:
        raise httpx2.RemoteProtocolError(str(error)) from error
    except h11.LocalProtocolError as error:
        raise httpx2.LocalProtocolError(str(error)) from error
    except OSError as error:
        raise httpx2.ReadError(str(error)) from error
