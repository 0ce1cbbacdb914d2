"""Load and validate a definitions file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, stat_result
from pathlib import Path as FilePath
from stat import S_ISREG
from threading import Lock
from time import monotonic
from typing import Final

from pydantic import ValidationError

from mcp_lenient.declare.definitions.document import Document, read_document
from mcp_lenient.declare.definitions.entries import Definitions, FileEntry, fault_of
from mcp_lenient.errors import DefinitionError
from mcp_lenient.values.limits import Limits

_PAUSE: Final = 1.0
"""Seconds between two looks at a file."""


def load_definitions(path: str | PathLike[str]) -> Definitions:
    """Load the declarations of a YAML or TOML file.

    Args:
        path: The file; its suffix decides the format (``.yaml``, ``.yml``, ``.toml``).

    Raises:
        DefinitionError: When the file has errors; names each place and the allowed values.
        OSError: When the file cannot be read.
    """
    document = read_document(FilePath(path))
    try:
        entry = FileEntry.model_validate({} if document.value is None else document.value)
    except ValidationError as error:
        raise document.refusal(list(map(fault_of, error.errors(include_url=False)))) from None
    return _definitions(entry, document)


class WatchedDefinitions:
    """A definitions file that may be edited while the server runs.

    Args:
        path: The file.

    Attributes:
        name: Its path.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = FilePath(path).absolute()  # the program may change its working directory
        self.name = str(path)
        self._handled = self._look()
        self._next = monotonic() + _PAUSE
        self._claimed = Lock()

    @contextmanager
    def claimed(self) -> Iterator[bool]:
        """Yield whether the file has changed, so that the block must load it; at most once a second.

        Nobody else can claim it meanwhile, since an older state of it could otherwise replace a newer one. If the block
        raises, as for a call that was cancelled, the change is left to the next.
        """
        now = monotonic()
        if now < self._next or not self._claimed.acquire(blocking=False):
            yield False
            return
        try:
            self._next, stamp = now + _PAUSE, self._look()
            yield stamp != self._handled
            self._handled = stamp
        finally:
            self._claimed.release()

    def load(self) -> Definitions:
        """Load the file as it is now.

        Raises:
            DefinitionError: When it is wrong or empty, no file, or was changed while it was read.
            OSError: When it cannot be read.
        """
        stat = self._path.stat()
        if not S_ISREG(stat.st_mode):
            reason = "this is not a file"
        elif not stat.st_size:
            # Most programs empty a file before they write it: what it kept secret must not be shown meanwhile.
            reason = "the file is empty"
        else:
            definitions = load_definitions(self._path)
            if _stamp(self._path.stat()) == _stamp(stat):
                return definitions
            reason = "the file was changed while it was read"
        msg = f"{self.name}: {reason}."
        raise DefinitionError(msg)

    def _look(self) -> tuple[int, ...] | None:
        try:
            return _stamp(self._path.stat())
        except OSError:
            return None


def _stamp(stat: stat_result) -> tuple[int, ...]:
    # The time of its inode changes with its permissions as well: a file that could not be read may be readable now.
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino


def _definitions(entry: FileEntry, document: Document) -> Definitions:
    limits = entry.policy.bounds(Limits())
    tools = entry.by_path().items()
    return Definitions(
        policy=entry.policy.changes(Limits()),
        tools={str(path[-1]): tool.declared(limits, document, path) for path, tool in tools},
        names={str(path[-1]): frozenset(tool.parameters) for path, tool in tools},
    )
