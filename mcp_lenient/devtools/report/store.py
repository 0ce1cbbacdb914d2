"""What was counted, kept by day in a database of its own, so that the next report reads only what is new."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import BinaryIO, Final, Literal

from pydantic import BaseModel, ValidationError

from mcp_lenient.devtools.report.counting import (
    HOUR,
    TABLES,
    Counted,
    counting,
    created,
    merging,
    parameters,
    whole_days,
)
from mcp_lenient.devtools.report.database import Database, ReportError
from mcp_lenient.devtools.report.intake import LONGEST_LINE, take_in
from mcp_lenient.devtools.report.model import LogFigures, Selection, SkippedFile
from mcp_lenient.devtools.report.sources import STORE_FILE, FoundLogs, LogFile, unpacked
from mcp_lenient.telemetry.events import read_event

_ENDS: Final = 4096
"""The bytes at the start, and before the place reached, by which a file is known again under any name."""
_TOGETHER: Final = 512 * 2**20
"""The bytes of lines that are read and kept at a time."""
_BLOCK: Final = 2**20


class _Mark(BaseModel):
    """How far a file was read."""

    length: int
    head: str
    tail: str


class _State(BaseModel):
    """What was read of all that is kept."""

    version: Literal[4] = 4
    marks: list[_Mark] = []
    lines: int = 0
    events: int = 0
    undated: int = 0


class KeptCounts:
    """A folder of counts, which one process at a time may use.

    Raises:
        ReportError: When the folder cannot be written to.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._state, self._skipped = _State(), list[SkippedFile]()
        self._numbers = count()
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            msg = f"--store {folder}: {error.strerror}"
            raise ReportError(msg) from None

    def count(self, logs: FoundLogs, selection: Selection, database: Database, folder: Path) -> Counted:
        """Keep what is new in the logs, and count the whole days of all that is kept.

        Raises:
            ReportError: When another process is using the store, it is not one, or a log cannot be followed.
        """
        self._open(database)
        self._skipped = list(logs.skipped)
        for file in logs.files:
            if file.remote or file.compression == "zstd":
                what = "addresses" if file.remote else "files that zstd has compressed"
                msg = f"--store does not follow {what}: {file.shown}"
                raise ReportError(msg)
        for batch in self._batches(logs, folder):
            self._keep(database, batch, folder)
        state, days = self._state, whole_days(selection)
        for name in TABLES:
            added = merging(name, f"store.kept_{name}", days)
            database.run(f"CREATE TABLE counted_{name} AS {added}", parameters(days))
        log = LogFigures(
            files=len(state.marks),
            lines=state.lines,
            events=state.events,
            foreign=state.lines - state.events,
            undated=state.undated,
            skipped=tuple(self._skipped),
        )
        return log, days, HOUR

    def _open(self, database: Database) -> None:
        """Attach the store as the database ``store``, and read its state."""
        file = f"{self._folder / STORE_FILE}".replace("'", "''")  # a parameter cannot stand there
        try:
            database.run(f"ATTACH '{file}' AS store")
            with database.committed_once():
                for name in TABLES:
                    database.run(created(f"store.kept_{name}", name, stored=True))
                database.run("CREATE TABLE IF NOT EXISTS store.state (state VARCHAR)")
            rows = database.run("FROM store.state")
            self._state = _State.model_validate_json(rows[0][0]) if rows else _State()
        except (ReportError, ValidationError) as error:
            is_used = any(text in str(error) for text in ("Could not set lock", "used by another process"))
            reason = "another report is using it" if is_used else f"its {STORE_FILE} cannot be read"
            msg = f"--store {self._folder}: {reason}"
            raise ReportError(msg) from None

    def _batches(self, logs: FoundLogs, folder: Path) -> Iterator[list[LogFile]]:
        """Yield files with what is new; once they are read, the marks of the state are true."""
        batch: list[LogFile] = []
        for file in logs.files:
            for new in self._new(file, folder):
                batch.append(new)
                if sum(Path(piece.path).stat().st_size for piece in batch) >= _TOGETHER:
                    yield batch
                    batch = []
        yield batch

    def _new(self, file: LogFile, folder: Path) -> Iterator[LogFile]:
        """Yield what is new in a file as files of its own, and mark it."""
        path, marks = Path(file.path), self._state.marks
        if file.kind == "lines" and file.compression == "none":
            yield from self._pieces(path, file.shown, folder)
        elif (whole := _mark_of(path)) in marks:
            return
        elif file.kind == "parquet":
            marks.append(whole)
            yield file
        else:
            plain = folder / "unpacked"
            unpacked(file.path, plain)
            yield from self._pieces(plain, file.shown, folder)
            marks.append(whole)

    def _pieces(self, path: Path, shown: str, folder: Path) -> Iterator[LogFile]:
        """Copy the whole lines that are new in a file, so that what is appended meanwhile waits for the next time."""
        marks = self._state.marks
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            head = cache(lambda length: _hash(file, 0, length))
            alike = [
                mark for mark in marks if size >= (end := min(mark.length, _ENDS)) and head(end) == mark.head
            ]
            mark_of_file = next(
                (mark for mark in alike if mark.length <= size and _tail(file, mark.length) == mark.tail),
                None,
            )
            if mark_of_file is None and any(mark.length > size for mark in alike):
                reason = "it begins like a longer file that was read before"
                self._skipped.append(SkippedFile(file=shown, reason=reason))
                return
            start = mark_of_file.length if mark_of_file else 0
            for number in self._numbers:
                piece = folder / f"piece-{number}"
                if (end := _copied(file, piece, start, size)) == start:
                    return
                if mark_of_file is not None:
                    marks.remove(mark_of_file)
                marks.append(mark_of_file := _mark(file, end))
                yield LogFile(f"{piece}", shown, "none")
                start = end

    def _keep(self, database: Database, batch: Sequence[LogFile], folder: Path) -> None:
        """Count the calls in files, and add them to their days together with the new state."""
        state = self._state
        if batch:
            log = take_in(database, FoundLogs(tuple(batch)), folder)
            for path in (Path(file.path) for file in batch):
                if path.parent == folder:
                    path.unlink()
            state.lines += log.lines
            state.events += log.events
            state.undated += log.undated
            self._skipped += log.skipped
        with database.committed_once():
            for name in TABLES if batch else ():
                _add(database, name)
            database.run("DELETE FROM store.state")
            database.run("INSERT INTO store.state VALUES (?)", [state.model_dump_json()])


def _add(database: Database, name: str) -> None:
    """Write the days of a table that have new calls, with the calls that they had before."""
    table, of_days = f"store.kept_{name}", f"WHERE day IN (SELECT day FROM added_{name})"
    database.run(f"CREATE TEMP TABLE added_{name} AS {counting(name, Selection(), HOUR, stored=True)}")
    database.run(f"INSERT INTO added_{name} BY NAME FROM {table} {of_days}")
    database.run(f"DELETE FROM {table} {of_days}")
    database.run(f"INSERT INTO {table} BY NAME {merging(name, f'added_{name}', Selection(), stored=True)}")
    database.run(f"DROP TABLE added_{name}")


def _mark(file: BinaryIO, length: int) -> _Mark:
    return _Mark(length=length, head=_hash(file, 0, min(length, _ENDS)), tail=_tail(file, length))


def _mark_of(path: Path) -> _Mark:
    with path.open("rb") as file:
        return _mark(file, file.seek(0, os.SEEK_END))


def _tail(file: BinaryIO, length: int) -> str:
    return _hash(file, max(0, length - _ENDS), length)


def _hash(file: BinaryIO, start: int, end: int) -> str:
    file.seek(start)
    return hashlib.sha256(file.read(end - start)).hexdigest()


def _copied(file: BinaryIO, piece: Path, start: int, size: int) -> int:
    """Copy whole lines of a file from a place on; return where they end: at the start if the file was cut meanwhile."""
    at = end = file.seek(start)
    with piece.open("wb") as copy:
        while (at < start + _TOGETHER or end == start) and (block := file.read(min(_BLOCK, size - at))):
            copy.write(block)
            if (newline := block.rfind(b"\n")) >= 0:
                end = at + newline + 1
            at += len(block)
        file.seek(end)
        if (
            at == size
            and at - end < LONGEST_LINE
            and read_event(file.read(size - end).decode("utf-8", "replace"))
        ):
            end = size
        copy.truncate(end - start)
    return end if file.seek(0, os.SEEK_END) >= end else start
