"""What was counted, kept as Parquet by day, so that the next report reads only what is new."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final, Literal

from pydantic import BaseModel, ValidationError

from mcp_lenient.devtools.report.counting import HOUR, TABLES, counting, created, merging, parameters
from mcp_lenient.devtools.report.database import MISSING, Database, ReportError
from mcp_lenient.devtools.report.intake import LISTS, LONGEST_LINE, take_in
from mcp_lenient.devtools.report.model import LogFigures, Selection, SkippedFile
from mcp_lenient.devtools.report.sources import STORE_FILES, FoundLogs, LogFiles, unpacked
from mcp_lenient.telemetry.events import read_event

_ENDS: Final = 4096
"""The bytes at the start, and before the place reached, by which a file is known again under any name."""
_TOGETHER: Final = 512 * 2**20
"""The bytes of lines that are read and kept at a time."""
_BLOCK: Final = 2**20
_STATE, _LOCK = STORE_FILES
_DATE: Final = "coalesce(strftime(make_timestamp(day), '%Y-%m-%d'), 'undated')"
_FORGET: Final = (
    "DROP VIEW calls",
    "DROP TABLE read",
    *(f"DROP TABLE {name}{part}" for name in LISTS for part in ("", "_lists")),
    "DROP TABLE IF EXISTS reject_errors",
    "DROP TABLE IF EXISTS reject_scans",
)


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
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = duckdb.connect(str(self._folder / _LOCK))
        except (OSError, duckdb.Error) as error:
            reason = error.strerror if isinstance(error, OSError) else "another report is using it"
            msg = f"--store {folder}: {reason}"
            raise ReportError(msg) from None

    def __enter__(self) -> KeptCounts:  # noqa: PYI034 - nothing inherits from it
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def update(self, database: Database, logs: FoundLogs, folder: Path) -> LogFigures:
        """Count what is new in the logs, and return the figures of all that is kept."""
        self._load()
        self._clean()
        self._skipped = list(logs.skipped)
        for group in logs.groups:
            if group.remote or group.compression == "zstd":
                what = "addresses" if group.remote else "files that zstd has compressed"
                msg = f"--store does not follow {what}: {next(iter(group.shown.values()))}"
                raise ReportError(msg)
        for groups in self._batches(logs, folder):
            self._keep(database, groups, folder)
        kept = self._state
        return LogFigures(
            files=len(kept.marks),
            lines=kept.lines,
            events=kept.events,
            foreign=kept.lines - kept.events,
            undated=kept.undated,
            skipped=tuple(self._skipped),
        )

    def count(self, database: Database, days: Selection) -> None:
        """Create the tables of counts of whole days."""
        for name in TABLES:
            self._gather(database, name, self._state.days.get(name, {}))
            added = merging(name, f"kept_{name}", days)
            database.run(f"CREATE TABLE counted_{name} AS {added}", parameters(days))

    def _batches(self, logs: FoundLogs, folder: Path) -> Iterator[list[LogFiles]]:
        """Yield files with what is new; once they are read, the marks of the state are true."""
        lines: dict[str, str] = {}
        for group in logs.groups:
            for path, shown in group.shown.items():
                plain = Path(path)
                if group.kind == "parquet" or group.compression == "gzip":
                    if not self._is_new(plain):
                        continue
                    if group.kind == "parquet":
                        yield [LogFiles({path: shown}, "none", "parquet", group.named)]
                        continue
                    plain = folder / "unpacked"
                    unpacked(path, plain)
                for piece in self._pieces(plain, shown, folder):
                    lines[str(piece)] = shown
                    if sum(Path(each).stat().st_size for each in lines) >= _TOGETHER:
                        yield [LogFiles(lines, "none")]
                        lines = {}
        yield [LogFiles(lines, "none")] if lines else []

    def _is_new(self, path: Path) -> bool:
        """Return whether these very bytes were not read before, and mark them."""
        with path.open("rb") as file:
            mark = _mark(file, file.seek(0, os.SEEK_END))
        if is_new := mark not in self._state.marks:
            self._state.marks.append(mark)
        return is_new

    def _pieces(self, path: Path, shown: str, folder: Path) -> Iterator[Path]:
        """Copy the whole lines that are new in a file, so that what is appended meanwhile waits for the next time."""
        marks = self._state.marks
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            hashes = _Hashes(file)
            known = next((mark for mark in marks if hashes.reaches(mark, size)), None)
            if (
                known is None
                and size >= _ENDS
                and hashes.head(_ENDS) in (mark.head for mark in marks if mark.length > size)
            ):
                reason = "it begins like a longer file that was read before"
                self._skipped.append(SkippedFile(file=shown, reason=reason))
                return
            start = known.length if known else 0
            while (end := _last_line(file, start, size)) > start:
                piece = folder / f"piece-{len(marks)}-{start}"
                if not _copied(file, piece, start, end):  # it was cut meanwhile
                    return
                if known is not None:
                    marks.remove(known)
                marks.append(known := _mark(file, end))
                start = end
                yield piece

    def _keep(self, database: Database, groups: Sequence[LogFiles], folder: Path) -> None:
        """Count the calls in files, add them to their days, and make this the state at one stroke."""
        state = self._state
        state.run += 1
        if groups:
            log = take_in(database, FoundLogs(tuple(groups)), folder)
            for name in TABLES:
                self._add(database, name)
            for sql in _FORGET:
                database.run(sql)
            for path in (path for group in groups for path in group.shown if Path(path).parent == folder):
                Path(path).unlink()
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


class _Hashes:
    """The hashes of a file's start, each computed once."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._heads: dict[int, str] = {}

    def head(self, length: int) -> str:
        if length not in self._heads:
            self._heads[length] = _hash(self._file, 0, length)
        return self._heads[length]

    def reaches(self, mark: _Mark, size: int) -> bool:
        """Return whether the file has what was read up to a mark."""
        length = mark.length
        return (
            length <= size
            and self.head(min(length, _ENDS)) == mark.head
            and _hash(self._file, max(0, length - _ENDS), length) == mark.tail
        )


def _mark(file: BinaryIO, length: int) -> _Mark:
    head, tail = _hash(file, 0, min(length, _ENDS)), _hash(file, max(0, length - _ENDS), length)
    return _Mark(length=length, head=head, tail=tail)


def _hash(file: BinaryIO, start: int, end: int) -> str:
    file.seek(start)
    return hashlib.sha256(file.read(end - start)).hexdigest()


def _last_line(file: BinaryIO, start: int, size: int) -> int:
    """Return where the last whole line ends that is to be read from a place on."""
    stop = min(size, start + _TOGETHER)
    while stop < size and (found := _line_break(file, start, stop)) == start:
        stop = min(size, stop + _TOGETHER)
    if stop < size:
        return found
    end = _line_break(file, start, size)
    file.seek(end)
    is_short = size - end < LONGEST_LINE
    is_whole = is_short and read_event(file.read(size - end).decode("utf-8", "replace")) is not None
    return size if is_whole else end


def _line_break(file: BinaryIO, start: int, stop: int) -> int:
    """Return the place after the last line break of a part; its start if there is none."""
    while stop > start:
        at = max(start, stop - _BLOCK)
        file.seek(at)
        if (found := file.read(stop - at).rfind(b"\n")) >= 0:
            return at + found + 1
        stop = at
    return start


def _copied(file: BinaryIO, piece: Path, start: int, end: int) -> bool:
    """Copy a part of a file; return whether it was there."""
    file.seek(start)
    with piece.open("wb") as copy:
        while (left := end - file.tell()) > 0 and (block := file.read(min(left, _BLOCK))):
            copy.write(block)
    return left == 0


def _write(path: Path, content: bytes) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(content)
    _sync(new)
    new.replace(path)


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
