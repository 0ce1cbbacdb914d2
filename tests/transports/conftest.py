"""What the tests over real transports share: the log of the servers that run in this process."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog


@pytest.fixture
def events() -> Iterator[list[dict[str, Any]]]:
    """The log of an application that configured structlog to write down everything."""
    log: list[dict[str, Any]] = []

    def write(_logger: Any, _level: str, event: structlog.typing.EventDict) -> Any:
        log.append(dict(event))
        raise structlog.DropEvent

    structlog.configure(
        processors=[structlog.processors.add_log_level, write],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
    )
    yield log
    structlog.reset_defaults()
