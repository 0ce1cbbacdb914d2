"""What was counted, kept as Parquet by day, so that the next report reads only what is new."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
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
from mcp_lenient.devtools.report.database import MISSING, Database, ReportError
from mcp_lenient.devtools.report.intake import LONGEST_LINE, take_in
from mcp_lenient.devtools.report.model import LogFigures, Selection, SkippedFile
from mcp_lenient.devtools.report.sources import STORE_FILES, FoundLogs, LogFile, unpacked
from mcp_lenient.telemetry.events import read_event

_ENDS: Final = 4096
"""The bytes at the start, and before the place reached, by which a file is known again under any name."""
_TOGETHER: Final = 512 * 2**20
"""The bytes of lines that are read and kept at a time."""
_BLOCK: Final = 2**20
_STATE, _LOCK = STORE_FILES
_DATE: Final = "coalesce(strftime(make_timestamp(day), '%Y-%m-%d'), 'undated')"


class _Mark(BaseModel):
    """How far a file was read."""

    length: int
    head: str
    tail: str


class _State(BaseModel):
    """What belongs to the store. It is replaced as a whole, and a file that it does not name counts for nothing."""

    version: Literal[3] = 3
    run: int = 0
    days: dict[str, dict[str, int]] = {}
    """For each table and day, the run that wrote it."""
    marks: list[_Mark] = []
    lines: int = 0
    events: int = 0
    undated: int = 0


class KeptCounts:
    """A folder of counts, which one process at a time may use.

    Raises:
        ReportError: When the folder cannot be written to, another process is using it, or it is not a store.
    """

    def __init__(self, folder: Path) -> None:
        try:
            import duckdb
        except ModuleNotFoundError:
            raise ReportError(MISSING) from None
        self._folder = folder.resolve()
        self._state, self._skipped = _State(), list[SkippedFile]()
        self._numbers = count()
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = duckdb.connect(str(self._folder / _LOCK))
        except (OSError, duckdb.Error) as error:
            reason = error.strerror if isinstance(error, OSError) else "another report is using it"
            msg = f"--store {folder}: {reason}"
            raise ReportError(msg) from None

    def close(self) -> None:
        """Let others use the folder."""
        self._lock.close()

    def count(self, logs: FoundLogs, selection: Selection, database: Database, folder: Path) -> Counted:
        """Keep what is new in the logs, and count the whole days of all that is kept."""
        self._load()
        self._clean()
        self._skipped = list(logs.skipped)
        for file in logs.files:
            if file.remote or file.compression == "zstd":
                what = "addresses" if file.remote else "files that zstd has compressed"
                msg = f"--store does not follow {what}: {file.shown}"
                raise ReportError(msg)
        for batch in self._batches(logs, folder):
            self._keep(database, batch, folder)
        kept, days = self._state, whole_days(selection)
        for name in TABLES:
            self._gather(database, name, kept.days.get(name, {}))
            added = merging(name, f"kept_{name}", days)
            database.run(f"CREATE TABLE counted_{name} AS {added}", parameters(days))
        log = LogFigures(
            files=len(kept.marks),
            lines=kept.lines,
            events=kept.events,
            foreign=kept.lines - kept.events,
            undated=kept.undated,
            skipped=tuple(self._skipped),
        )
        return log, days, HOUR

    def _batches(self, logs: FoundLogs, folder: Path) -> Iterator[list[LogFile]]:
        """Yield files with what is new; once they are read, the marks of the state are true."""
        batch: list[LogFile] = []
        for file in logs.files:
            for new in self._new(file, folder):
                batch.append(new)
                if sum(Path(each.path).stat().st_size for each in batch) >= _TOGETHER:
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
            known = next(
                (mark for mark in alike if mark.length <= size and _tail(file, mark.length) == mark.tail),
                None,
            )
            if known is None and any(mark.length > size for mark in alike):
                reason = "it begins like a longer file that was read before"
                self._skipped.append(SkippedFile(file=shown, reason=reason))
                return
            start = known.length if known else 0
            for number in self._numbers:
                piece = folder / f"piece-{number}"
                if (end := _copied(file, piece, start, size)) == start:
                    return
                if known is not None:
                    marks.remove(known)
                marks.append(known := _mark(file, end))
                yield LogFile(f"{piece}", shown, "none")
                start = end

    def _keep(self, database: Database, batch: Sequence[LogFile], folder: Path) -> None:
        """Count the calls in files, add them to their days, and make this the state at one stroke."""
        state = self._state
        state.run += 1
        if batch:
            log = take_in(database, FoundLogs(tuple(batch)), folder)
            for name in TABLES:
                self._add(database, name)
            for path in (Path(file.path) for file in batch):
                if path.parent == folder:
                    path.unlink()
            state.lines += log.lines
            state.events += log.events
            state.undated += log.undated
            self._skipped += log.skipped
        _write(self._folder / _STATE, state.model_dump_json().encode())
        self._clean()

    def _add(self, database: Database, name: str) -> None:
        """Write the days of a table that have new calls, with the calls that they had before."""
        days = self._state.days.setdefault(name, {})
        counted = counting(name, Selection(), HOUR, kept=True)
        dated = f"SELECT DISTINCT {_DATE} FROM ({counted}) AS counted"
        found = [day for (day,) in database.run(dated)]
        self._gather(database, name, {day: days[day] for day in found if day in days})
        database.run(f"INSERT INTO kept_{name} BY NAME {counted}")
        folder = self._folder / f"{self._state.run}" / name
        folder.mkdir(parents=True, exist_ok=True)
        added = merging(name, f"kept_{name}", Selection(), kept=True)
        quoted = str(folder).replace("'", "''")  # a parameter cannot stand there
        database.run(
            f"COPY (SELECT *, {_DATE} AS date FROM ({added})) TO '{quoted}' "
            "(FORMAT parquet, COMPRESSION zstd, PARTITION_BY (date), OVERWRITE_OR_IGNORE)"
        )
        database.run(f"DROP TABLE kept_{name}")
        for file in folder.rglob("*.parquet"):
            _sync(file)
        days.update(dict.fromkeys(found, self._state.run))

    def _gather(self, database: Database, name: str, days: Mapping[str, int]) -> None:
        """Read days of a table into one."""
        database.run(created(name, kept=True))
        folders = (self._day(run, name, day) for day, run in days.items())
        if files := [str(file) for folder in folders for file in folder.glob("*.parquet")]:
            database.run(
                f"INSERT INTO kept_{name} BY NAME SELECT * FROM read_parquet(?, hive_partitioning=false)",
                [files],
            )

    def _day(self, run: int, name: str, day: str) -> Path:
        return self._folder / f"{run}" / name / f"date={day}"

    def _load(self) -> None:
        file = self._folder / _STATE
        try:
            self._state = _State.model_validate_json(file.read_bytes()) if file.exists() else _State()
        except ValidationError:
            msg = f"--store {self._folder}: its {_STATE} cannot be read"
            raise ReportError(msg) from None

    def _clean(self) -> None:
        """Remove what an interrupted run left, and days that were written anew since."""
        days = self._state.days
        valid = {self._day(run, name, day) for name in days for day, run in days[name].items()}
        for folder in (each for each in self._folder.iterdir() if each.name.isdigit()):
            for day in folder.glob("*/*"):
                if day not in valid:
                    shutil.rmtree(day)
            if not any(folder.glob("*/*")):
                shutil.rmtree(folder)


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
            if (found := block.rfind(b"\n")) >= 0:
                end = at + found + 1
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


def _write(path: Path, content: bytes) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(content)
    _sync(new)
    new.replace(path)


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
