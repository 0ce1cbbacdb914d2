"""Which era of the protocol a client is met with: the older one, where the server behind the proxy has no other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import METHOD_NOT_FOUND, ErrorData, JSONRPCError, JSONRPCRequest
from typing_extensions import Self

if TYPE_CHECKING:
    import contextvars
    from types import TracebackType

OlderOnly = Callable[[], Awaitable[bool]]
"""Whether the server behind the proxy speaks the older era only."""


class OpeningStream:
    """What a client sends, apart from a first question that a server of the older era does not know.

    The first request on a stream settles its era, so that a newer client's ``server/discover`` must be
    answered before the SDK sees it. Told that there is no such method, the client speaks the older era.

    Args:
        stream: The client's messages.
        answers: Where the answers go.
        older_only: Asked where it matters.
    """

    def __init__(self, stream: Any, answers: Any, older_only: OlderOnly) -> None:
        self._stream = stream
        self._answers = answers
        self._older_only = older_only
        self._settled = False

    @property
    def last_context(self) -> contextvars.Context | None:
        """The context in which the sender of the last message ran, where the stream knows it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        """The next message.

        Raises:
            EndOfStream: When the client has closed its end.
        """
        while True:
            item = await self._stream.receive()
            request = item.message if isinstance(item, SessionMessage) else None
            if self._settled or not isinstance(request, JSONRPCRequest):
                return item
            if request.method != "server/discover" or not await self._older_only():
                self._settled = True
                return item
            error = ErrorData(code=METHOD_NOT_FOUND, message="Method not found")
            await self._answers.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=request.id, error=error)))

    def __aiter__(self) -> OpeningStream:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
