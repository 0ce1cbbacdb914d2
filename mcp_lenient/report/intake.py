"""Logs become tables: the calls, and what was wrong or repaired in them, place by place."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import pydantic_core
from pydantic import Field, TypeAdapter, ValidationError

from mcp_lenient.events import LISTED, CallEvent, HintRecord, RepairRecord, ViolationRecord, read_event
from mcp_lenient.report.database import Database
from mcp_lenient.report.errors import OutOfMemoryError, ReportError
from mcp_lenient.report.lines import (
    AS_TEXT,
    COUNTS,
    CREATE,
    FOREIGN_PARQUET,
    KEPT,
    LISTS,
    PARQUET,
    READ_ODD,
    REQUIRED,
    read_lines,
    read_parquet,
)
from mcp_lenient.report.long_lines import count_if_long
from mcp_lenient.report.model import LogFigures, Selection, SkippedFile
from mcp_lenient.report.sources import FoundLogs, LogFiles, nothing_readable, unpacked

_BOUND: Final = Field(max_length=LISTED)
_RECORDS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "violations": TypeAdapter(Annotated[tuple[ViolationRecord, ...], _BOUND]),
    "repairs": TypeAdapter(Annotated[tuple[RepairRecord, ...], _BOUND]),
    "hints": TypeAdapter(Annotated[tuple[HintRecord, ...], _BOUND]),
}
_LONGEST_COUNT: Final = 2**53
_INDEX: Final = re.compile(r"/\d+(?=/|$)")
_READING: Final = "reading"
_TELLS_OF_CUT_FILES: Final = 2
"""The version of DuckDB from which on it refuses a gzip file that is cut off."""

_COUNT: Final = "SELECT count(*), count(*) FILTER (micros IS NULL) FROM read WHERE kind = 'event'"
_CALLS: Final = f"""
    SELECT micros, event, {", ".join((*KEPT, *COUNTS, *LISTS))},
        event IN ('call_rejected', 'call_forwarded', 'call_refused_upstream', 'call_unanswered')
            OR (event = 'call_observed' AND error_code IS NOT NULL) AS failed
    FROM read WHERE kind = 'event'
"""
# A view takes no parameters, and a copy of all calls takes time.
_ALL: Final = f"CREATE VIEW calls AS {_CALLS}"
_SELECTED: Final = f"""
    CREATE TABLE calls AS {_CALLS}
        AND ($since IS NULL OR micros >= $since) AND ($until IS NULL OR micros < $until)
        AND ($tool IS NULL OR tool GLOB $tool)
        AND ($client IS NULL OR client_name GLOB $client)
        AND ($server IS NULL OR server GLOB $server)
"""
# Those that are no text, or longer than anything that is read, are kept apart by the engine.
_REJECTS: Final = (
    "SELECT count(*) FROM (SELECT DISTINCT scan_id, file_id, line_byte_position FROM reject_errors)"
)
_COLUMNS: Final = f"DESCRIBE SELECT * FROM {PARQUET}"
_JSON_LINES: Final = f"read_csv(?, {AS_TEXT})"


def take_in(
    database: Database, logs: FoundLogs, selection: Selection, folder: Path, *, stdin: bool = False
) -> LogFigures:
    """Read logs into the tables ``calls``, ``violations``, ``repairs`` and ``hints``.

    A call has its lists as they are written; the tables ``violations_lists``, ``repairs_lists`` and
    ``hints_lists`` say under which number the other tables have what stands in them.

    Args:
        database: Where the tables are made.
        logs: The files.
        selection: Which calls are kept.
        folder: Where files that are needed meanwhile may lie.
        stdin: Whether one of the logs is standard input.

    Raises:
        ReportError: When a file cannot be read.
    """
    database.run(CREATE)
    cut, skipped = 0, list(logs.skipped)
    tally = _Tally(database)
    for number, group in enumerate(logs.groups):
        expected = count_if_long(group)
        if group.kind == "parquet":
            skipped += _read_parquet(database, group)
        else:
            cut += _read(database, group, folder / f"unpacked-{number}")
        tally.add(group, expected)
    files = sum(len(group.paths) for group in logs.groups)
    if not tally.lines and len(skipped) - len(logs.skipped) == files:
        raise ReportError(nothing_readable({each.file: each.reason for each in skipped}))
    _read_odd(database, folder / "odd.jsonl")
    for name in LISTS:
        _read_lists(database, name, folder)
    ((events, undated),) = database.run(_COUNT)
    _select(database, selection)
    return LogFigures(
        files=files,
        stdin=stdin,
        lines=tally.lines,
        events=events,
        foreign=tally.lines - events,
        undated=undated,
        cut_files=cut,
        skipped=tuple(skipped),
    )


class _Tally:
    """How many lines there are: what the engine counts, or Python where lines are too long for it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows = self._rejects = 0
        self.lines = 0

    def add(self, group: LogFiles, expected: int | None) -> None:
        """Add the lines of files that have just been read.

        Args:
            group: The files.
            expected: How many lines Python has found in them; None to take the engine's number.
        """
        rows, rejects = self._rows, self._rejects
        ((self._rows,),) = self._database.run("SELECT count(*) FROM read")
        if group.kind == "lines":
            ((self._rejects,),) = self._database.run(_REJECTS)
        read = self._rows - rows
        # A file may have grown meanwhile.
        self.lines += read + self._rejects - rejects if expected is None else max(read, expected)


def _read(database: Database, group: LogFiles, spool: Path) -> int:
    """Read files of one kind; how many of them end too early."""
    sql, paths = read_lines(group.compression), list(group.paths)
    try:
        database.run(sql, [paths], doing=_READING)
    except OutOfMemoryError:
        raise
    except ReportError:
        if group.compression != "gzip":
            raise
    else:
        return _cut(paths) if group.compression == "gzip" else 0
    # A gzip file that is still written to, or cut: the engine takes the whole statement back.
    cut = 0
    for number, path in enumerate(paths):
        plain = spool.with_name(f"{spool.name}-{number}")
        cut += not unpacked(path, plain)
        database.run(read_lines("none"), [[str(plain)]], doing=_READING)
        plain.unlink()
    return cut


def _read_parquet(database: Database, group: LogFiles) -> list[SkippedFile]:
    """Read Parquet files, those with the same columns in one go; which of them are damaged or hold no events."""
    skipped: list[SkippedFile] = []
    alike: dict[tuple[tuple[str, str], ...], list[tuple[str, str]]] = {}
    for path, shown in zip(group.paths, group.shown, strict=True):
        try:
            columns = {name: column for name, column, *_ in database.run(_COLUMNS, [[path]])}
            if columns.keys() >= set(REQUIRED):
                alike.setdefault(tuple(columns.items()), []).append((path, shown))
                continue
            database.run(FOREIGN_PARQUET, [[path]])
        except OutOfMemoryError:
            raise
        except ReportError as error:
            skipped.append(_damaged(group, path, shown, error))
        else:
            lacking = ", ".join(name for name in REQUIRED if name not in columns)
            skipped.append(SkippedFile(file=shown, reason=f"a Parquet file without the columns {lacking}"))
    for same, files in alike.items():
        skipped += _read_alike(database, group, read_parquet(dict(same)), files)
    return skipped


def _read_alike(
    database: Database, group: LogFiles, sql: str, files: list[tuple[str, str]]
) -> list[SkippedFile]:
    """Read Parquet files of the same columns; where one is damaged, all others."""
    try:
        database.run(sql, [[path for path, _ in files]], doing=_READING)
    except OutOfMemoryError:
        raise
    except ReportError as error:
        if len(files) == 1:
            return [_damaged(group, *files[0], error)]
        return [each for file in files for each in _read_alike(database, group, sql, [file])]
    return []


def _damaged(group: LogFiles, path: str, shown: str, error: ReportError) -> SkippedFile:
    reason = f"this Parquet file cannot be read: {error}"
    if path in group.named:
        msg = f"{shown}: {reason}"
        raise ReportError(msg) from None
    return SkippedFile(file=shown, reason=reason)


def _cut(paths: list[str]) -> int:
    """How many gzip files that the engine has read end too early: before 2.0 it did not say so."""
    import duckdb  # noqa: PLC0415 - an extra, and slow to load

    if int(duckdb.__version__.partition(".")[0]) >= _TELLS_OF_CUT_FILES:
        return 0
    return sum(not unpacked(path, Path(os.devnull)) for path in paths)


def _read_odd(database: Database, file: Path) -> None:
    """Have Python read the lines that the engine might read otherwise."""
    lines = (row[0] for row in database.stream("SELECT line FROM read WHERE kind = 'odd'"))
    if _write(file, (_canonical(event) for event in map(read_event, lines) if event is not None)):
        database.run(READ_ODD, [[str(file)]])
    file.unlink()


def _canonical(event: CallEvent) -> dict[str, Any]:
    known = event.model_dump(mode="json", exclude_defaults=True)
    return known | {name: min(known[name], _LONGEST_COUNT) for name in COUNTS if name in known}


def _read_lists(database: Database, name: str, folder: Path) -> None:
    """Number the different lists of one field, and lay out what stands in them, place by place.

    An event whose list is not as the model has it is none.
    """
    check, record = _RECORDS[name], _LAID_OUT[name]
    lists, records = folder / f"{name}_lists.jsonl", folder / f"{name}.jsonl"
    with lists.open("w", encoding="utf-8") as all_lists, records.open("w", encoding="utf-8") as all_records:
        for number, (raw,) in enumerate(database.stream(_DIFFERENT[name])):
            valid = _valid(check, raw)
            known = None if valid is None else number
            all_lists.write(f"{json.dumps({'raw': raw, 'list': known})}\n")
            counted = Counter(tuple(record(each).items()) for each in valid or ())
            all_records.writelines(
                f"{json.dumps({'list': number, 'times': times, **dict(fields)})}\n"
                for fields, times in counted.items()
            )
    database.run(_CREATE_LISTS[name], [[str(lists)]])
    database.run(_CREATE_RECORDS[name], [[str(records)]])
    database.run(_DELETE[name])
    lists.unlink()
    records.unlink()


def _valid(check: TypeAdapter[Any], raw: str) -> Any:
    try:
        return check.validate_python(pydantic_core.from_json(raw.encode()))
    except (ValidationError, ValueError):
        return None


def _write(file: Path, values: Iterable[object]) -> bool:
    """Write JSON lines; whether there are any."""
    written = False
    with file.open("w", encoding="utf-8") as opened:
        for value in values:
            opened.write(f"{json.dumps(value)}\n")
            written = True
    return written


def _place(pointer: str) -> str:
    return _INDEX.sub("/*", pointer)


def _violation(record: ViolationRecord) -> dict[str, str | None]:
    return {"code": record.code, "place": _place(record.pointer), "received": record.received}


def _repair(record: RepairRecord) -> dict[str, str | None]:
    return {
        "rule": record.rule,
        "place": _place(record.pointer),
        "before": record.before,
        "after": record.after,
    }


def _hint(record: HintRecord) -> dict[str, str | None]:
    return {"code": record.code, "place": _place(record.pointer)}


_LAID_OUT: Final[dict[str, Callable[[Any], dict[str, str | None]]]] = {
    "violations": _violation,
    "repairs": _repair,
    "hints": _hint,
}
_FIELDS: Final = {
    "violations": ("code", "place", "received"),
    "repairs": ("rule", "place", "before", "after"),
    "hints": ("code", "place"),
}
_DIFFERENT: Final = {
    name: f"SELECT DISTINCT {name} FROM read WHERE kind = 'event' AND {name} IS NOT NULL" for name in LISTS
}
_DELETE: Final = {
    name: f"DELETE FROM read WHERE kind = 'event' AND {name} IN (SELECT raw FROM {name}_lists WHERE list IS NULL)"
    for name in LISTS
}
_CREATE_LISTS: Final = {
    name: f"""
        CREATE TABLE {name}_lists AS
        SELECT json_extract_string(line, '$.raw') AS raw, CAST(json_extract(line, '$.list') AS BIGINT) AS list
        FROM {_JSON_LINES}
    """
    for name in LISTS
}
_CREATE_RECORDS: Final = {
    name: f"""
        CREATE TABLE {name} AS
        SELECT CAST(json_extract(line, '$.list') AS BIGINT) AS list,
            CAST(json_extract(line, '$.times') AS BIGINT) AS times,
            {", ".join(f"json_extract_string(line, '$.{field}') AS {field}" for field in fields)}
        FROM {_JSON_LINES}
    """
    for name, fields in _FIELDS.items()
}


def _select(database: Database, selection: Selection) -> None:
    if selection == Selection():
        database.run(_ALL)
        return
    moments = {name: getattr(selection, name) for name in ("since", "until")}
    database.run(
        _SELECTED,
        {
            name: None if moment is None else int(moment.timestamp() * 1_000_000)
            for name, moment in moments.items()
        }
        | {name: getattr(selection, name) for name in ("tool", "client", "server")},
    )
    database.run("DROP TABLE read")
