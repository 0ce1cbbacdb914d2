"""Where events go: stderr, a file or nowhere, each as a line of JSON or for people."""

from __future__ import annotations

import json
import logging
import select
import sys
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from functools import partial
from random import random
from typing import TYPE_CHECKING, Any, Final, TextIO

import pydantic_core

from mcp_lenient.telemetry.events import LEVELS, CallEvent, event_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_lenient.telemetry.events import EventName

EVENTS: Final = logging.getLogger("mcp_lenient.events")
"""Holds the handlers of :func:`mcp_lenient.configure_logging`; no record is ever logged to it."""


class Silence(logging.NullHandler):
    """A handler that drops every event."""

    def write(self, _level: str, _fields: Mapping[str, Any]) -> None:
        """Write nothing."""

    def wants(self, _event: EventName) -> bool:
        """Return False."""
        return False


class Destination(logging.NullHandler):
    """The destination of :func:`mcp_lenient.configure_logging`.

    It is a standard handler because those are shared by the process and closed at its end.
    """

    def __init__(self, sink: Stderr | logging.Handler, render: Render, least: int, accepted: float) -> None:
        super().__init__()
        self._sink = sink
        self._logger = LineLogger(sink, _with_bound, render)
        self._accepted = accepted
        self._least = least

    def wants(self, event: EventName) -> bool:
        """Return whether an event of this name would be written; accepted calls are sampled."""
        if event == "call_accepted":
            return self._accepted > 0 and random() < self._accepted  # noqa: S311 - sampling needs no secure random
        return LEVELS[event] >= self._least

    def write(self, level: str, fields: Mapping[str, Any]) -> None:
        """Write one event with the context variables that the application bound by structlog."""
        self._logger.write(level, fields)

    def close(self) -> None:
        """Close the file, if there is one; a later write, as after ``dictConfig``, opens it again."""
        if isinstance(self._sink, logging.Handler):
            with suppress(OSError):  # a full disk: the buffer cannot be written
                self._sink.close()
        super().close()


def destination() -> Destination | Silence | None:
    """Return the handler of events: that of :func:`silenced`, else that of ``configure_logging``, else None."""
    handlers = [handler for handler in EVENTS.handlers if isinstance(handler, Destination | Silence)]
    last = handlers[-1] if handlers else None
    return next((handler for handler in handlers if isinstance(handler, Silence)), last)


@contextmanager
def silenced() -> Iterator[None]:
    """Write no events inside the block, regardless of the configuration."""
    silence = Silence()
    EVENTS.addHandler(silence)
    try:
        yield
    finally:
        EVENTS.removeHandler(silence)


_CHUNK: Final = 1_000
"""Characters written at once: in UTF-8 at most the 4,096 bytes that a ready pipe can take."""
_WAIT_MS: Final = 20
"""The time that the rest of a line waits for its reader."""


class StderrFullError(BlockingIOError):
    """An error for a stderr pipe that is full."""


class Stderr:
    """The current ``sys.stderr``.

    If a client starts a server over stdio and never reads its stderr, the pipe fills up and a write would block the
    call forever. So a line that does not fit is dropped.
    """

    def info(self, line: str) -> None:
        """Write one line.

        Raises:
            StderrFullError: When the pipe is full; part of a long line may have been written.
        """
        stream = sys.stderr
        if stream is None:
            return
        text = f"{line}\n"
        for index in range(0, len(text), _CHUNK):
            if not _has_room(stream, _WAIT_MS if index else 0):
                raise StderrFullError
            stream.write(text[index : index + _CHUNK])
            stream.flush()

    debug = warning = info


def _has_room(stream: TextIO, wait_ms: int) -> bool:
    """Return whether a write would not block; True on systems without ``poll``."""
    if not hasattr(select, "poll"):
        return True
    try:
        number = stream.fileno()
    except (AttributeError, OSError, ValueError):  # a custom stream without a file
        return True
    poll = select.poll()
    poll.register(number, select.POLLOUT)
    return bool(poll.poll(wait_ms))


Fields = MutableMapping[str, Any]
Render = Callable[[Any, str, Fields], str]
"""The last structlog processor of a chain; returns the line of an event."""
_BOUND: Final = "context"
"""The key of the application's bound variables in an event; no event has a field of this name."""
_OWN: Final = frozenset({*CallEvent.model_fields, "level", "reason"})


class LineLogger:
    """A logger that runs structlog's processors and passes the line to the sink's method of the event's level."""

    def __init__(self, sink: object, *processors: Callable[[Any, str, Any], Any]) -> None:
        import structlog

        self._logger = structlog.wrap_logger(
            sink,
            processors=(_ordered_fields, *processors),
            wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
            context_class=dict,
        ).bind()

    def write(self, level: str, fields: Mapping[str, Any]) -> None:
        """Write one event; its fields include ``event``."""
        # One keyword argument, since many would be copied at each step down to the processors.
        getattr(self._logger, level)(fields["event"], fields=fields)


def _ordered_fields(_sink: Any, level: str, passed: Fields) -> Fields:
    """Return the event's fields, time and level first (a processor)."""
    fields = passed["fields"]
    return {"timestamp": fields["timestamp"], "level": level, **fields}


def _with_bound(_sink: Any, _level: str, fields: Fields) -> Fields:
    """Add the context variables that the application bound by structlog (a processor)."""
    bound = sys.modules["structlog.contextvars"].get_contextvars()
    if bound:
        fields[_BOUND] = {f"context_{name}" if name in _OWN else name: value for name, value in bound.items()}
    return fields


_encoded: Final[Callable[[Fields], bytes]] = partial(
    pydantic_core.to_json, inf_nan_mode="null", fallback=repr
)


def json_line(_sink: Any, _level: str, fields: Fields) -> str:
    """Return one line of JSON (a processor); in ASCII, since stderr may use another encoding."""
    bound = fields.pop(_BOUND, {})
    try:
        encoded = _encoded({**fields, **bound})
    except pydantic_core.PydanticSerializationError:  # a lone surrogate in a bound variable
        shown = {ascii(name)[1:-1]: ascii(value) for name, value in bound.items()}
        encoded = _encoded({**fields, **shown})
    if encoded.isascii():
        return encoded.decode()
    return json.dumps(pydantic_core.from_json(encoded), separators=(",", ":"))


def plain_line(_sink: Any, _level: str, fields: Fields) -> str:
    """Return a line for people (a processor)."""
    return " ".join(text for text, _ in event_parts(fields))


def colored_line(_sink: Any, _level: str, fields: Fields) -> str:
    """Return a line for people with a terminal's color codes (a processor)."""
    from rich.style import Style

    return " ".join(Style.parse(style).render(text) for text, style in event_parts(fields))
