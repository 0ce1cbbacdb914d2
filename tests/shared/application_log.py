"""The log of an application that configured structlog."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from calls import Log


@contextmanager
def application_log(level: int = logging.DEBUG) -> Iterator[Log]:
    """Collect all events from a level up while the block runs. Nothing is written."""
    log = Log()

    def write(_logger: Any, _level: str, event: structlog.typing.EventDict) -> Any:
        log.append(dict(event))
        raise structlog.DropEvent

    structlog.configure(
        processors=[structlog.processors.add_log_level, write],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    yield log
    structlog.reset_defaults()
