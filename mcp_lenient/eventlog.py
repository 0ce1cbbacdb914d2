"""Where events go: through structlog, without ever losing a call or touching stdout."""

from __future__ import annotations

import json
import logging
import sys
from contextlib import suppress
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final, Literal

import pydantic_core
import structlog

from mcp_lenient.events import LEVELS, escaped

if TYPE_CHECKING:
    from structlog.typing import EventDict

    from mcp_lenient.events import CallEvent, EventName

LibraryEventName = Literal["tool_not_compiled", "hook_unavailable", "definition_unused"]
"""What the library says about itself."""

_LOGGER: Final = "mcp_lenient"
_DEFAULT_LEVEL: Final = logging.INFO
_MOST_SUBJECTS: Final = 1000
_LONGEST_REASON: Final = 512


class EventLog:
    """The log of one middleware: the application's structlog, else JSON lines on stderr from level INFO on.

    Which of the two is looked up at each event, so a later ``structlog.configure`` is followed. Nothing
    that a log does can lose a call: an event that cannot be written is dropped, and the first such
    failure is told to the standard logger ``mcp_lenient``.
    """

    __slots__ = ("_accepted", "_application", "_asked_until", "_failed", "_said", "_stderr")

    def __init__(self) -> None:
        self._application: tuple[dict[str, Any], Any] = ({}, None)
        self._failed = False
        self._said: set[tuple[str, str]] = set()
        self._stderr = structlog.wrap_logger(
            _Stderr(),
            processors=(_line,),
            wrapper_class=structlog.make_filtering_bound_logger(_DEFAULT_LEVEL),
            context_class=dict,
        ).bind()

    def wants(self, event: EventName) -> bool:
        """Whether an event of this name would be written; ask before building one."""
        if not structlog.is_configured():
            return LEVELS[event] >= _DEFAULT_LEVEL
        try:
            return _enabled(self._logger(), LEVELS[event])
        except Exception:  # noqa: BLE001 - as in `_write`, which meets the same failure and tells of it
            return True

    def emit(self, event: CallEvent) -> None:
        """Write one event at its level."""
        self._write(
            logging.getLevelName(LEVELS[event.event]).lower(),
            event.event,
            event.model_dump(mode="json", exclude={"event"}, exclude_defaults=True),
        )

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
        now = datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")
        known = {"timestamp": now, "subject": key[1], "reason": escaped(reason, limit=_LONGEST_REASON)}
        self._write("warning", event, known)

    def _write(self, level: str, event: str, known: dict[str, Any]) -> None:
        try:
            logger = self._logger() if structlog.is_configured() else self._stderr
            getattr(logger, level)(event, **known)
        # The sink is the application's: its processors and streams may raise anything, and a tool call
        # must be answered all the same.
        except Exception as error:  # noqa: BLE001
            self._tell(type(error).__name__)

    def _logger(self) -> Any:
        """The application's logger, bound anew only when its configuration has changed: binding is slow."""
        config = structlog.get_config()
        known, logger = self._application
        if any(config[key] is not known.get(key) for key in config):
            logger = structlog.get_logger(_LOGGER).bind()
            if isinstance(logger, structlog.stdlib.AsyncBoundLogger):
                logger = logger.sync_bl
            self._application = (config, logger)
        return logger

    def _tell(self, error: str) -> None:
        if self._failed:
            return
        self._failed = True
        with suppress(Exception):  # the standard logger may lead to the same broken sink
            logging.getLogger(_LOGGER).warning(
                "A log event could not be written: the log raised %s. Further failures are not reported.",
                error,
            )


def _enabled(logger: Any, level: int) -> bool:
    # Asked of the class: structlog's plain BoundLogger takes every name for a log method.
    for name in ("is_enabled_for", "isEnabledFor"):
        if hasattr(type(logger), name):
            return bool(getattr(logger, name)(level))
    return True


class _Stderr:
    """The stream that ``sys.stderr`` is at the moment of writing."""

    def info(self, line: str) -> None:
        stream = sys.stderr
        if stream is not None:
            stream.write(f"{line}\n")
            stream.flush()

    warning = info


def _line(_logger: object, level: str, known: EventDict) -> str:
    ordered = {"timestamp": known.pop("timestamp"), "level": level, "event": known.pop("event"), **known}
    encoded = pydantic_core.to_json(ordered)
    # ASCII only: what stderr makes of other characters need not be JSON.
    return encoded.decode() if encoded.isascii() else json.dumps(ordered, separators=(",", ":"))
