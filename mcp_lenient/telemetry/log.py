"""Write events to the configured log, without ever failing a call or writing to stdout."""

from __future__ import annotations

import json
import logging
import select
import sys
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from random import random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TextIO

import pydantic_core

from mcp_lenient.telemetry.events import LEVELS, CallEvent, colored, event_parts, plain, timestamp
from mcp_lenient.values.display import escaped, shown_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_lenient.telemetry.events import EventName

LibraryEventName = Literal["tool_not_compiled", "hook_unavailable", "definition_unused"]
"""Events about the library itself."""

EVENTS: Final = logging.getLogger("mcp_lenient.events")
"""Holds the handlers of :func:`mcp_lenient.configure_logging`; no record is ever logged to it."""
_LOGGER: Final = "mcp_lenient"
_STANDARD: Final = logging.getLogger(_LOGGER)
_METHODS: Final = MappingProxyType(
    {level: logging.getLevelName(level).lower() for level in (logging.DEBUG, logging.INFO, logging.WARNING)}
)
_DEFAULT_LEVEL: Final = logging.INFO
_MAX_SUBJECTS: Final = 1000
_MAX_REASON: Final = 512


class _Application(NamedTuple):
    """The application's structlog configuration, its logger, and the level check of that logger."""

    config: dict[str, Any]
    logger: Any
    is_enabled: Callable[[int], Any] | None


class EventLog:
    """The log of one middleware.

    Events go to the first of these that is configured: :func:`mcp_lenient.configure_logging`; the application's
    structlog; the handlers of the standard logger ``mcp_lenient``, one record each; stderr, as JSON lines from level
    INFO on or from the level of the standard logger. This is decided for each event, so a later
    ``structlog.configure`` takes effect.

    A log failure never fails a call: an event that cannot be written is dropped, and the first failure is reported to
    the standard logger ``mcp_lenient``. A full stderr pipe does not block.
    """

    __slots__ = ("_application", "_failed", "_own", "_stderr", "_warned")

    def __init__(self) -> None:
        self._application: _Application | None = None
        self._failed = False
        self._own: tuple[object, LineLogger] | None = None
        self._warned: set[tuple[str, str]] = set()
        self._stderr = Stderr()

    def wants(self, event: EventName) -> bool:
        """Return whether an event of this name would be written; call it once per tool call, before building one."""
        # Runs on every accepted call, so it has to be fast.
        if EVENTS.handlers and (chosen := destination()) is not None:
            return chosen.wants(event)
        structlog = sys.modules.get("structlog")
        if structlog is None or not structlog.is_configured():
            level = LEVELS[event]
            return (
                _STANDARD.isEnabledFor(level)
                if _STANDARD.handlers
                else level >= (_STANDARD.level or _DEFAULT_LEVEL)
            )
        try:
            is_enabled = self._application_logger().is_enabled
            return is_enabled is None or bool(is_enabled(LEVELS[event]))
        except Exception:  # noqa: BLE001 - as in `_write`, which gets the same failure and reports it
            return True

    def emit(self, fields: Mapping[str, Any]) -> None:
        """Write one event at its level.

        Args:
            fields: The result of :func:`mcp_lenient.telemetry.events.event_fields`.
        """
        self._write(_METHODS[LEVELS[fields["event"]]], fields)

    def warn_once(self, event: LibraryEventName, subject: str, reason: str) -> None:
        """Warn about a limitation, once per subject and for at most 1000 subjects.

        Args:
            event: The event.
            subject: The name of the tool or of the unavailable feature.
            reason: The reason, in one sentence without values.
        """
        key = (event, escaped(subject))
        if key in self._warned or len(self._warned) >= _MAX_SUBJECTS:
            return
        self._warned.add(key)
        if not self.wants("call_rejected"):  # a warning too
            return
        fields = {
            "event": event,
            "timestamp": timestamp(),
            "subject": shown_name(subject) if event == "tool_not_compiled" else key[1],
            "reason": escaped(reason, limit=_MAX_REASON),
        }
        self._write("warning", fields)

    def _write(self, method: str, fields: Mapping[str, Any]) -> None:
        try:
            chosen = destination()
            if chosen is not None:
                chosen.write(method, fields)
            elif not _is_configured():
                self._own_logger().write(method, fields)
            else:
                rest = dict(fields)
                getattr(self._application_logger().logger, method)(rest.pop("event"), **rest)
        except StderrFullError:
            pass  # the standard logger would report it to the same stream
        # The application's processors and streams may raise anything, and the tool call must be answered
        # nevertheless.
        except Exception as error:  # noqa: BLE001
            self._report(type(error).__name__)

    def _own_logger(self) -> LineLogger:
        """Return the library's own logger, for a process without a configured log."""
        sink = _STANDARD if _STANDARD.handlers else self._stderr
        if self._own is None or self._own[0] is not sink:
            self._own = sink, LineLogger(sink, json_line)
        return self._own[1]

    def _application_logger(self) -> _Application:
        """Return the application's logger, rebound only if its configuration changed, as binding is slow."""
        import structlog

        config = structlog.get_config()
        cached = self._application
        if cached is None or config != cached.config:
            logger = structlog.get_logger(_LOGGER).bind()
            if isinstance(logger, structlog.stdlib.AsyncBoundLogger):
                logger = logger.sync_bl
            cached = self._application = _Application(config, logger, _level_check(logger))
        return cached

    def _report(self, error: str) -> None:
        if self._failed:
            return
        self._failed = True
        with suppress(Exception):  # the standard logger may lead to the same broken sink
            _STANDARD.warning(
                "A log event could not be written: the log raised %s. Further failures are not reported.",
                error,
            )


def _is_configured() -> bool:
    """Return whether the application has configured structlog, without importing it."""
    structlog = sys.modules.get("structlog")
    return structlog is not None and structlog.is_configured()


def _level_check(logger: Any) -> Callable[[int], Any] | None:
    # Looked up on the class, since structlog's plain BoundLogger treats every name as a log method.
    for name in ("is_enabled_for", "isEnabledFor"):
        if hasattr(type(logger), name):
            question: Callable[[int], Any] = getattr(logger, name)
            return question
    return None


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

    Args:
        sink: The stream or file.
        render: Returns the line of an event.
        least: The minimum level.
        accepted: The share of accepted calls that is written.
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
    chosen: Destination | None = None
    for handler in EVENTS.handlers:
        if isinstance(handler, Silence):
            return handler
        if isinstance(handler, Destination):
            chosen = handler
    return chosen


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
        for at in range(0, len(text), _CHUNK):
            if not _has_room(stream, _WAIT_MS if at else 0):
                raise StderrFullError
            stream.write(text[at : at + _CHUNK])
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


class LineLogger:
    """A logger that runs structlog's processors and passes the line to the sink's method of the event's level.

    Args:
        sink: An object with the methods ``debug``, ``info`` and ``warning``, which take a line.
        processors: The processors; the last one returns the line.
    """

    __slots__ = ("_logger",)

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
        own = _own_fields()
        fields[_BOUND] = {f"context_{name}" if name in own else name: value for name, value in bound.items()}
    return fields


@lru_cache(maxsize=1)
def _own_fields() -> frozenset[str]:
    return frozenset({*CallEvent.model_fields, "level", "reason"})


def json_line(_sink: Any, _level: str, fields: Fields) -> str:
    """Return one line of JSON (a processor); in ASCII, since stderr may use another encoding."""
    bound = fields.pop(_BOUND, None)
    if bound is None:
        return _ascii(_encoded(fields))
    try:
        encoded = _encoded({**fields, **bound})
    except pydantic_core.PydanticSerializationError:  # a lone surrogate in a bound variable
        shown = {ascii(name)[1:-1]: ascii(value) for name, value in bound.items()}
        encoded = _encoded({**fields, **shown})
    return _ascii(encoded)


def _encoded(fields: Mapping[str, Any]) -> bytes:
    return pydantic_core.to_json(fields, inf_nan_mode="null", fallback=repr)


def _ascii(encoded: bytes) -> str:
    if encoded.isascii():
        return encoded.decode()
    return json.dumps(pydantic_core.from_json(encoded), separators=(",", ":"))


def plain_line(_sink: Any, _level: str, fields: Fields) -> str:
    """Return a line for people (a processor)."""
    return plain(event_parts(fields))


def colored_line(_sink: Any, _level: str, fields: Fields) -> str:
    """Return a colored line for people (a processor)."""
    return colored(event_parts(fields))
