"""``configure_logging``: choose where a process writes its events."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Final, Literal, get_args

from mcp_lenient.errors import LoggingError
from mcp_lenient.telemetry.sinks import EVENTS, Destination, Stderr, colored_line, json_line, plain_line

Style = Literal["json", "console", "text"]
Level = Literal["info", "warning", "error", "INFO", "WARNING", "ERROR"]

_LEVELS: Final = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure_logging(
    *,
    style: Style = "json",
    file: str | os.PathLike[str] | None = None,
    level: Level = "info",
    accepted: float = 0.0,
    max_bytes: int = 50_000_000,
    backups: int = 5,
    colors: bool | None = None,
) -> None:
    """Choose where the events of this process are written, and in which format; call it once before the server runs.

    Without arguments they are JSON lines on stderr, as without this call, plus the variables bound by
    ``structlog.contextvars.bind_contextvars``. A bound name that is also a field of the event is written as
    ``context_<name>``. Nothing is ever written to stdout, which belongs to the protocol.

    Only events of this library are affected: structlog's configuration and the application's loggers stay unchanged.
    For these events this overrides the application's structlog configuration; do not call it to get them in the
    application's own logs. Calling it again replaces the previous choice.

    Args:
        style: ``"json"``, one object per line that can be parsed; or ``"console"``, also
            written ``"text"``, for people.
        file: A file to append to instead of stderr, in an existing directory. Only one process may use it: two that
            rotate one file lose lines.
        level: The minimum level: repairs are ``"info"``, refusals ``"warning"``, and ``"error"`` writes neither.
            Upper or lower case.
        accepted: The share of accepted calls that is written at any level, from 0 (none) to 1 (all), sampled at
            random.
        max_bytes: The size at which a file is rotated; 0 for never.
        backups: The number of rotated files to keep, as ``file.1``, ``file.2``, ...
        colors: Whether ``"console"`` is colored; by default if stderr is a terminal and ``NO_COLOR`` is not set.

    Raises:
        LoggingError: When an argument is invalid; names it and the allowed values.
    """
    least = level.lower() if isinstance(level, str) else level
    for name, setting, allowed in (("style", style, get_args(Style)), ("level", least, tuple(_LEVELS))):
        if setting not in allowed:
            raise _invalid(setting, name, f"one of {', '.join(map(repr, allowed))}")
    if isinstance(accepted, bool) or not isinstance(accepted, (int, float)) or not 0 <= accepted <= 1:
        raise _invalid(accepted, "accepted", "a number from 0 to 1")
    for name, count in (("max_bytes", max_bytes), ("backups", backups)):
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise _invalid(count, name, "a whole number from 0 on")
    sink = Stderr() if file is None else _file(file, max_bytes, backups)
    if colors is None:
        colors = file is None and not os.environ.get("NO_COLOR") and _is_terminal()
    render = json_line if style == "json" else colored_line if colors else plain_line
    chosen = Destination(sink, render, _LEVELS[least], accepted)
    EVENTS.addHandler(chosen)
    reset_logging(keep=chosen)


def reset_logging(*, keep: Destination | None = None) -> None:
    """Undo :func:`configure_logging` and close its file, except for a destination that is kept."""
    for handler in EVENTS.handlers[:]:
        if isinstance(handler, Destination) and handler is not keep:
            EVENTS.removeHandler(handler)
            handler.close()


class _File(RotatingFileHandler):
    """A file that is rotated by size; write errors are raised."""

    stream: Any

    def _open(self) -> Any:
        return Path(self.baseFilename).open("ab")

    def line(self, line: str) -> None:
        """Write one line, without a log record and formatter."""
        written = f"{line}\n".encode()
        self.acquire()
        try:
            if self.stream is None:
                self.stream = self._open()
            if 0 < self.maxBytes < os.fstat(self.stream.fileno()).st_size + len(written):
                self.doRollover()
            self.stream.write(written)
            self.stream.flush()
        finally:
            self.release()

    debug = info = warning = line


def _invalid(setting: object, name: str, allowed: str) -> LoggingError:
    return LoggingError(f"{name} must be {allowed}, but is {setting!r}")


def _is_terminal() -> bool:
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # it is closed
        return False


def _file(file: str | os.PathLike[str], max_bytes: int, backups: int) -> _File:
    try:
        path = Path(file)
    except TypeError as error:
        raise _invalid(file, "file", "a path") from error
    if _is_stdout(path):
        msg = f"file must not be stdout, which belongs to the protocol, but is {str(path)!r}"
        raise LoggingError(msg)
    try:
        return _File(path, maxBytes=max_bytes, backupCount=backups)
    except OSError as error:
        msg = f"file must be one that can be written to, but {str(path)!r} is not: {error.strerror}"
        raise LoggingError(msg) from error


def _is_stdout(path: Path) -> bool:
    with suppress(OSError):
        return str(path) != os.devnull and os.path.samestat(path.stat(), os.fstat(1))
    return False
