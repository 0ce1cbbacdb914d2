"""Where events go: through structlog, without ever losing a call or touching stdout."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from mcp_lenient.telemetry.events import LEVELS, timestamp
from mcp_lenient.telemetry.setup import EVENTS, destination
from mcp_lenient.telemetry.sinks import OwnLogger, Stderr, StderrFullError, json_line
from mcp_lenient.values.display import escaped, shown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp_lenient.telemetry.events import EventName

LibraryEventName = Literal["tool_not_compiled", "hook_unavailable", "definition_unused"]
"""What the library says about itself."""

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
    failure is told to the standard logger ``mcp_lenient``. A stderr that nobody reads is not waited for.
    """

    __slots__ = ("_application", "_failed", "_own", "_said", "_stderr")

    def __init__(self) -> None:
        self._application: _Application | None = None
        self._failed = False
        self._own: tuple[object, OwnLogger] | None = None
        self._said: set[tuple[str, str]] = set()
        self._stderr = Stderr()

    def wants(self, event: EventName) -> bool:
        """Whether an event of this name would be written; ask before building one, and once for each call."""
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
        except Exception:  # noqa: BLE001 - as in `_write`, which meets the same failure and tells of it
            return True

    def emit(self, known: Mapping[str, Any]) -> None:
        """Write one event at its level.

        Args:
            known: Its fields, as :func:`mcp_lenient.telemetry.events.event_fields` gives them.
        """
        self._write(_METHODS[LEVELS[known["event"]]], known)

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
        known = {
            "event": event,
            "timestamp": timestamp(),
            "subject": shown_name(subject) if event == "tool_not_compiled" else key[1],
            "reason": escaped(reason, limit=_LONGEST_REASON),
        }
        self._write("warning", known)

    def _write(self, method: str, known: Mapping[str, Any]) -> None:
        try:
            chosen = destination()
            if chosen is not None:
                chosen.write(method, known)
            elif not _is_configured():
                self._own_logger().write(method, known)
            else:
                rest = dict(known)
                getattr(self._applications().logger, method)(rest.pop("event"), **rest)
        except StderrFullError:
            pass  # that is where the standard logger would tell of it
        # The sink is the application's: its processors and streams may raise anything, and a tool call
        # must be answered all the same.
        except Exception as error:  # noqa: BLE001
            self._tell(type(error).__name__)

    def _own_logger(self) -> OwnLogger:
        """The library's own logger, for a process that has chosen no log."""
        sink = _STANDARD if _STANDARD.handlers else self._stderr
        if self._own is None or self._own[0] is not sink:
            self._own = sink, OwnLogger(sink, json_line)
        return self._own[1]

    def _applications(self) -> _Application:
        """The application's logger, bound anew only when its configuration has changed: binding is slow."""
        import structlog

        config = structlog.get_config()
        known = self._application
        if known is None or config != known.config:
            logger = structlog.get_logger(_LOGGER).bind()
            if isinstance(logger, structlog.stdlib.AsyncBoundLogger):
                logger = logger.sync_bl
            known = self._application = _Application(config, logger, _level_question(logger))
        return known

    def _tell(self, error: str) -> None:
        if self._failed:
            return
        self._failed = True
        with suppress(Exception):  # the standard logger may lead to the same broken sink
            _STANDARD.warning(
                "A log event could not be written: the log raised %s. Further failures are not reported.",
                error,
            )


def _is_configured() -> bool:
    """Whether the application has configured structlog, which it cannot have done without importing it."""
    structlog = sys.modules.get("structlog")
    return structlog is not None and structlog.is_configured()


def _level_question(logger: Any) -> Callable[[int], Any] | None:
    # Asked of the class: structlog's plain BoundLogger takes every name for a log method.
    for name in ("is_enabled_for", "isEnabledFor"):
        if hasattr(type(logger), name):
            question: Callable[[int], Any] = getattr(logger, name)
            return question
    return None
