"""What the tests of the middleware share: the log of the calls that they make."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from calls import Log


@pytest.fixture
def events() -> Iterator[Log]:
    """The log of an application that configured structlog to write down everything."""
    log = Log()

    def write(_logger: Any, _level: str, event: structlog.typing.EventDict) -> Any:
        log.append(dict(event))
        raise structlog.DropEvent

    structlog.configure(
        processors=[structlog.processors.add_log_level, write],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
    )
    yield log
    structlog.reset_defaults()
