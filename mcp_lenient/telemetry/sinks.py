"""Where the library writes when the application has configured no log: structlog loggers of its own, and stderr."""

from __future__ import annotations

import json
import logging
import select
import sys
from collections.abc import Callable, Mapping, MutableMapping
from functools import lru_cache
from typing import Any, Final, TextIO

import pydantic_core

from mcp_lenient.telemetry.events import coloured, event_parts, plain

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
    """Whether a write would not wait; taken for granted where the system cannot tell."""
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
    from mcp_lenient.telemetry.events import CallEvent

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
