"""The engine of a report: DuckDB with a memory limit and access to only the given logs and its own folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.devtools import processors
from mcp_lenient.errors import LenientError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class ReportError(LenientError):
    """A log that cannot be read, or a missing package; the message is one line."""


class OutOfMemoryError(LenientError):
    """The engine's memory limit is too low for a log."""


Progress = Callable[[str, float], None]
"""Called with what is being done, and how many percent of it are."""
MISSING: Final = (
    "the report needs DuckDB, which is not installed: install mcp-lenient with its extra 'report'"
)
DEFAULT_MEMORY: Final = "512MB"
"""What the engine keeps in memory before it writes to its folder."""
LOWEST_MEMORY: Final = "64MB"
"""The lowest limit at which lines of the usual length are read, by one thread."""
_LOWEST_BYTES: Final = 64_000_000
# Measured: half is enough for lines of 500 bytes.
_THREAD_MEMORY: Final = 120_000_000
_MOST_THREADS: Final = 16
_LOOK_SECONDS: Final = 0.1
_LONGEST_END: Final = 10.0
"""Seconds that an interrupted statement has to end."""
_MEMORY: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>[KMGT])(?P<binary>i?)B", re.IGNORECASE)


class Database:
    """A database that lives for one report, in an empty folder; it may read the paths it is given.

    Every statement is a constant of this package; data from a log or a caller is passed as a parameter.

    Raises:
        OutOfMemoryError: When the memory limit is below the minimum.
        ReportError: When DuckDB, or its extension for addresses, is not installed.
    """

    __slots__ = ("_connection", "_outcome", "_progress", "threads")

    def __init__(
        self,
        folder: Path,
        paths: Sequence[str],
        *,
        remote: bool,
        memory: str,
        progress: Progress | None,
        most_threads: int = _MOST_THREADS,
        folders: Sequence[Path] = (),
    ) -> None:
        limit = _bytes(memory)
        if limit < _LOWEST_BYTES:
            raise OutOfMemoryError
        self._connection = _connection(folder, memory)
        self._progress = progress
        run = self._connection.execute
        self.threads = max(1, min(most_threads, processors(), int(limit // _THREAD_MEMORY)))
        run(f"SET threads={self.threads:d}")
        # Without it the engine reports no progress; the engine must not print it.
        run("SET enable_progress_bar=true")
        run("SET enable_progress_bar_print=false")
        if remote:
            self._allow_addresses()
        else:
            run("SET allowed_directories=?", [[f"{allowed}{os.sep}" for allowed in (folder, *folders)]])
            run("SET allowed_paths=?", [list(paths)])
            run("SET enable_external_access=false")
        run("SET lock_configuration=true")
        self._outcome: Sequence[object] = [None]  # of the latest statement; empty while it runs

    def _allow_addresses(self) -> None:
        """Load the extension, which signs requests by the environment or by a secret that DuckDB keeps."""
        import duckdb

        run = self._connection.execute
        try:
            run("INSTALL httpfs")
            run("LOAD httpfs")
        except duckdb.Error as error:
            msg = f"reading addresses needs DuckDB's httpfs extension, which cannot be loaded: {_line(error)}"
            raise ReportError(msg) from None
        run("SET autoinstall_known_extensions=false")
        run("SET autoload_known_extensions=false")

    def run(self, sql: str, parameters: object = None, *, doing: str | None = None) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows; report the progress of ``doing`` and allow an interrupt.

        Raises:
            OutOfMemoryError: When the memory limit is too low.
            ReportError: When the engine fails otherwise.
        """
        import duckdb

        outcome: list[list[tuple[Any, ...]] | BaseException] = []

        def execute() -> None:
            try:
                outcome.append(self._connection.execute(sql, parameters).fetchall())
            except BaseException as error:  # noqa: BLE001 - raised below
                outcome.append(error)

        # No future, no pool, no join: an interrupt may leave a lock of theirs taken, and then nothing ends.
        self._outcome = outcome
        try:
            Thread(target=execute, name="mcp-lenient-report", daemon=True).start()
            pause = 0.001  # so that a quick statement stays quick
            while not outcome:
                sleep(pause)
                pause = min(2 * pause, _LOOK_SECONDS)
                if pause == _LOOK_SECONDS and doing is not None and self._progress is not None:
                    self._progress(doing, max(0.0, self._connection.query_progress()))
        except BaseException:
            self._connection.interrupt()
            raise
        (result,) = outcome
        if isinstance(result, duckdb.Error):
            raise _report_error(result) from result
        if isinstance(result, BaseException):
            raise result
        return result

    def records(self, sql: str, parameters: object = None) -> list[dict[str, Any]]:
        """Run one statement and return its rows as dictionaries by column."""
        rows = self.run(sql, parameters)
        names = [name for name, *_ in self._connection.description or ()]
        return [dict(zip(names, row, strict=True)) for row in rows]

    @contextmanager
    def committed_once(self) -> Iterator[None]:
        """Commit what several statements write together: a commit waits for the disk. None of them may fail."""
        self.run("BEGIN")
        yield
        self.run("COMMIT")

    def close(self) -> None:
        """Close the database, so that its folder can be removed; a statement that still runs is interrupted."""
        latest = monotonic() + _LONGEST_END
        while not self._outcome and monotonic() < latest:
            self._connection.interrupt()  # again, where the statement had not begun yet
            sleep(_LOOK_SECONDS)
        self._connection.close()


def _connection(folder: Path, memory: str) -> DuckDBPyConnection:
    try:
        import duckdb
    except ModuleNotFoundError:
        raise ReportError(MISSING) from None
    return duckdb.connect(
        str(folder / "report.duckdb"),
        config={
            "memory_limit": memory,
            "temp_directory": str(folder / "spill"),
            "threads": 1,
            "preserve_insertion_order": False,
            "allow_community_extensions": False,
        },
    )


def _bytes(memory: str) -> float:
    match = _MEMORY.fullmatch(memory)
    if match is None:
        msg = f"--memory {memory}: write a limit with its unit, such as 512MB or 2GB"
        raise ReportError(msg)
    base = 1024.0 if match["binary"] else 1000.0
    return float(match["number"]) * base ** ("KMGT".index(match["unit"].upper()) + 1)


def _report_error(error: Exception) -> LenientError:
    """Turn an error of the engine into an error of the report."""
    import duckdb

    if not isinstance(error, duckdb.OutOfMemoryException):
        return ReportError(_line(error))
    if "max_temp_directory_size" in str(error):
        return ReportError("the folder for temporary files is full: name a larger one by TMPDIR")
    return OutOfMemoryError(_line(error))


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0].strip()
