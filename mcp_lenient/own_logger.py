"""structlog loggers of the library's own: for events that no configuration of the application's takes.

Processors and sink are given to each logger, so that structlog's configuration is neither used nor changed.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping, MutableMapping
from functools import lru_cache
from typing import Any, Final

import pydantic_core

from mcp_lenient.event_lines import coloured, event_parts, plain

Fields = MutableMapping[str, Any]
Render = Callable[[Any, str, Fields], str]
"""A structlog processor, the last of its chain: the line of an event."""

_BOUND: Final = "context"
"""Where an event holds what the application has bound besides; no event has a field of this name."""


class OwnLogger:
    """Runs structlog's processors over an event, and hands the line to the sink's method of the event's level.

    Args:
        sink: What has ``debug``, ``info`` and ``warning``, each of which takes a line.
        processors: The last one makes the line.
    """

    __slots__ = ("_logger",)

    def __init__(self, sink: object, *processors: Callable[[Any, str, Any], Any]) -> None:
        import structlog

        self._logger = structlog.wrap_logger(
            sink,
            processors=(_fields, *processors),
            wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
            context_class=dict,
        ).bind()

    def write(self, level: str, fields: Mapping[str, Any]) -> None:
        """Write one event, ``event`` among its fields."""
        # By one name: what is passed under many is copied at each step from here to the processors.
        getattr(self._logger, level)(fields["event"], fields=fields)


def _fields(_sink: Any, level: str, passed: Fields) -> Fields:
    """A processor: the event's fields in place of what holds them, in the order of reading."""
    fields = passed["fields"]
    return {"timestamp": fields["timestamp"], "level": level, **fields}


def with_bound(_sink: Any, _level: str, fields: Fields) -> Fields:
    """A processor: adds what the application has bound by structlog's context variables, beside the fields."""
    bound = sys.modules["structlog.contextvars"].get_contextvars()
    if bound:
        own = _own_fields()
        fields[_BOUND] = {f"context_{name}" if name in own else name: value for name, value in bound.items()}
    return fields


@lru_cache(maxsize=1)
def _own_fields() -> frozenset[str]:
    from mcp_lenient.events import CallEvent

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


def coloured_line(_sink: Any, _level: str, fields: Fields) -> str:
    """A processor: a line for people, in colours."""
    return coloured(event_parts(fields))
