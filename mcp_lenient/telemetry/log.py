"""Write events: to where the process or the application chose, without ever losing a call or touching stdout."""

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
"""What the library says about itself."""

EVENTS: Final = logging.getLogger("mcp_lenient.events")
"""Its handlers are where events go by :func:`mcp_lenient.configure_logging`; no record is ever logged by it."""
_LOGGER: Final = "mcp_lenient"
_STANDARD: Final = logging.getLogger(_LOGGER)
_METHODS: Final = MappingProxyType(
    {level: logging.getLevelName(level).lower() for level in (logging.DEBUG, logging.INFO, logging.WARNING)}
)
_DEFAULT_LEVEL: Final = logging.INFO
_MOST_SUBJECTS: Final = 1000
_LONGEST_REASON: Final = 512


class _Application(NamedTuple):
    """What the application has configured: structlog's configuration, its logger, and what says which levels it takes."""

    config: dict[str, Any]
    logger: Any
    is_enabled: Callable[[int], Any] | None


class EventLog:
    """The log of one middleware.

    Events go where :func:`mcp_lenient.configure_logging` sends them; without it to the application's
    structlog; without that, if the standard logger ``mcp_lenient`` has handlers of its own, to them, one
    record each; and else to stderr, as JSON lines from level INFO on, or from the level that the standard
    logger was given. All this is looked up at each event, so a later ``structlog.configure`` is followed.

    Nothing that a log does can lose a call: an event that cannot be written is dropped, and the first such
    failure is reported to the standard logger ``mcp_lenient``. A stderr that nobody reads is not waited for.
    """

    __slots__ = ("_application", "_failed", "_own", "_said", "_stderr")

    def __init__(self) -> None:
        self._application: _Application | None = None
        self._failed = False
        self._own: tuple[object, LineLogger] | None = None
        self._said: set[tuple[str, str]] = set()
        self._stderr = Stderr()

    def wants(self, event: EventName) -> bool:
        """Return whether an event of this name would be written; ask before building one, and once for each call."""
        # Asked of every call that was right: no call more than it takes.
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
            is_enabled = self._applications().is_enabled
            return is_enabled is None or bool(is_enabled(LEVELS[event]))
        except Exception:  # noqa: BLE001 - as in `_write`, which meets the same failure and reports it
            return True

    def emit(self, fields: Mapping[str, Any]) -> None:
        """Write one event at its level.

        Args:
            fields: As :func:`mcp_lenient.telemetry.events.event_fields` returns them.
        """
        self._write(_METHODS[LEVELS[fields["event"]]], fields)

    def warn_once(self, event: LibraryEventName, subject: str, reason: str) -> None:
        """Say once for each subject what the library cannot do; after 1000 subjects, no more.

        Args:
            event: What happened.
            subject: The tool's name, or what is unavailable.
            reason: Why, in one sentence without values.
        """
        key = (event, escaped(subject))
        if key in self._said or len(self._said) >= _MOST_SUBJECTS:
            return
        self._said.add(key)
        if not self.wants("call_rejected"):  # a warning too
            return
        fields = {
            "event": event,
            "timestamp": timestamp(),
            "subject": shown_name(subject) if event == "tool_not_compiled" else key[1],
            "reason": escaped(reason, limit=_LONGEST_REASON),
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
                getattr(self._applications().logger, method)(rest.pop("event"), **rest)
        except StderrFullError:
            pass  # that is where the standard logger would report it
        # The sink is the application's: its processors and streams may raise anything, and a tool call
        # must be answered all the same.
        except Exception as error:  # noqa: BLE001
            self._report(type(error).__name__)

    def _own_logger(self) -> LineLogger:
        """Return the library's own logger, for a process that has chosen no log."""
        sink = _STANDARD if _STANDARD.handlers else self._stderr
        if self._own is None or self._own[0] is not sink:
            self._own = sink, LineLogger(sink, json_line)
        return self._own[1]

    def _applications(self) -> _Application:
        """Return the application's logger, bound anew only when its configuration has changed: binding is slow."""
        import structlog

        config = structlog.get_config()
        cached = self._application
        if cached is None or config != cached.config:
            logger = structlog.get_logger(_LOGGER).bind()
            if isinstance(logger, structlog.stdlib.AsyncBoundLogger):
                logger = logger.sync_bl
            cached = self._application = _Application(config, logger, _level_question(logger))
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
    """Return whether the application has configured structlog, which it cannot have done without importing it."""
    structlog = sys.modules.get("structlog")
    return structlog is not None and structlog.is_configured()


def _level_question(logger: Any) -> Callable[[int], Any] | None:
    # Asked of the class: structlog's plain BoundLogger takes every name for a log method.
    for name in ("is_enabled_for", "isEnabledFor"):
        if hasattr(type(logger), name):
            question: Callable[[int], Any] = getattr(logger, name)
            return question
    return None


class Silence(logging.NullHandler):
    """Take every event, and write none."""

    def write(self, _level: str, _fields: Mapping[str, Any]) -> None:
        """Write nothing of an event that was wanted just before."""

    def wants(self, _event: EventName) -> bool:
        """Return whether an event of this name would be written: none is."""
        return False


class Destination(logging.NullHandler):
    """What :func:`mcp_lenient.configure_logging` chose.

    It is one of the standard library's handlers, which are one for a process and are closed at its end.

    Args:
        sink: Where the lines go.
        render: What makes the line of an event.
        least: The least level that is written.
        accepted: The share of accepted calls that is written.
    """

    def __init__(self, sink: Stderr | logging.Handler, render: Render, least: int, accepted: float) -> None:
        super().__init__()
        self._sink = sink
        self._logger = LineLogger(sink, _with_bound, render)
        self._accepted = accepted
        self._least = least

    def wants(self, event: EventName) -> bool:
        """Return whether an event of this name would be written; of accepted calls, whether this one is."""
        if event == "call_accepted":
            return self._accepted > 0 and random() < self._accepted  # noqa: S311 - a sample is no secret
        return LEVELS[event] >= self._least

    def write(self, level: str, fields: Mapping[str, Any]) -> None:
        """Write one event, with the variables that the application has bound for the moment by structlog."""
        self._logger.write(level, fields)

    def close(self) -> None:
        """Close the file, if it is one; written to again, as after a ``dictConfig``, it is opened again."""
        if isinstance(self._sink, logging.Handler):
            with suppress(OSError):  # a full disk, where what is left cannot be written
                self._sink.close()
        super().close()


def destination() -> Destination | Silence | None:
    """Return where events go: nowhere while :func:`silenced`, else where ``configure_logging`` chose, if anywhere."""
    chosen: Destination | None = None
    for handler in EVENTS.handlers:
        if isinstance(handler, Silence):
            return handler
        if isinstance(handler, Destination):
            chosen = handler
    return chosen


@contextmanager
def silenced() -> Iterator[None]:
    """Write no event meanwhile, whatever was configured, or is configured in the meantime."""
    silence = Silence()
    EVENTS.addHandler(silence)
    try:
        yield
    finally:
        EVENTS.removeHandler(silence)


_CHUNK: Final = 1_000
"""Characters written at once: in UTF-8 at most the 4,096 bytes for which a pipe that is ready has room."""
_WAIT_MS: Final = 20
"""How long the rest of a line waits for a reader that has begun to read it."""


class StderrFullError(BlockingIOError):
    """Nobody reads what is written to stderr."""


class Stderr:
    """The stream that ``sys.stderr`` is at the moment of writing.

    A client that starts a server over stdio and never reads its stderr lets the pipe fill up. Whoever
    writes to it then waits for ever, and a call waits with it; so a line for which there is no room is
    given up.
    """

    def info(self, line: str) -> None:
        """Write one line.

        Raises:
            StderrFullError: When nobody reads; of a long line, part may have been written.
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
    """Return whether a write would not wait; taken for granted where the system cannot say."""
    if not hasattr(select, "poll"):
        return True
    try:
        number = stream.fileno()
    except (AttributeError, OSError, ValueError):  # a stream of its own kind, with nothing behind it
        return True
    poll = select.poll()
    poll.register(number, select.POLLOUT)
    return bool(poll.poll(wait_ms))


Fields = MutableMapping[str, Any]
Render = Callable[[Any, str, Fields], str]
"""A structlog processor, the last of its chain: the line of an event."""
_BOUND: Final = "context"
"""Where an event holds what the application has bound besides; no event has a field of this name."""


class LineLogger:
    """Run structlog's processors over an event, and hand the line to the sink's method of the event's level.

    Args:
        sink: What has ``debug``, ``info`` and ``warning``, each of which takes a line.
        processors: The last one makes the line.
    """

    __slots__ = ("_logger",)

    def __init__(self, sink: object, *processors: Callable[[Any, str, Any], Any]) -> None:
        import structlog

        self._logger = structlog.wrap_logger(
            sink,
            processors=(_in_reading_order, *processors),
            wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
            context_class=dict,
        ).bind()

    def write(self, level: str, fields: Mapping[str, Any]) -> None:
        """Write one event, ``event`` among its fields."""
        # By one name: what is passed under many is copied at each step from here to the processors.
        getattr(self._logger, level)(fields["event"], fields=fields)


def _in_reading_order(_sink: Any, level: str, passed: Fields) -> Fields:
    """A processor: the event's fields in place of what holds them, time and level first."""
    fields = passed["fields"]
    return {"timestamp": fields["timestamp"], "level": level, **fields}


def _with_bound(_sink: Any, _level: str, fields: Fields) -> Fields:
    """A processor: adds what the application has bound by structlog's context variables, beside the fields."""
    bound = sys.modules["structlog.contextvars"].get_contextvars()
    if bound:
        own = _own_fields()
        fields[_BOUND] = {f"context_{name}" if name in own else name: value for name, value in bound.items()}
    return fields


@lru_cache(maxsize=1)
def _own_fields() -> frozenset[str]:
    return frozenset({*CallEvent.model_fields, "level", "reason"})


def json_line(_sink: Any, _level: str, fields: Fields) -> str:
    """A processor: one JSON object on one line, in ASCII: what stderr makes of other characters need not be JSON."""
    bound = fields.pop(_BOUND, None)
    if bound is None:
        return _ascii(_encoded(fields))
    try:
        encoded = _encoded({**fields, **bound})
    except pydantic_core.PydanticSerializationError:  # a lone surrogate in what the application has bound
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
    """A processor: a line for people."""
    return plain(event_parts(fields))


def colored_line(_sink: Any, _level: str, fields: Fields) -> str:
    """A processor: a line for people, in colors."""
    return colored(event_parts(fields))
