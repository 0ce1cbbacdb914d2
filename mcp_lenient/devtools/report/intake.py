"""Turn logs into tables: the calls, and their violations and repairs, place by place."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

import pydantic_core
from pydantic import Field, TypeAdapter, ValidationError

from mcp_lenient.devtools.report.counting import FAILED
from mcp_lenient.devtools.report.database import Database, ReportError
from mcp_lenient.devtools.report.model import LogFigures, SkippedFile
from mcp_lenient.devtools.report.sources import (
    Compression,
    FoundLogs,
    LogFiles,
    nothing_readable,
    unpacked,
)
from mcp_lenient.telemetry.events import (
    LISTED,
    EventName,
    HintRecord,
    RepairRecord,
    ViolationRecord,
)
from mcp_lenient.values.display import LONGEST_TEXT

_FIELDS: Final = {
    "violations": ("code", "place", "received"),
    "repairs": ("rule", "place", "before", "after"),
    "hints": ("code", "place"),
}
"""The lists of an event, and what is kept of their entries."""
LISTS: Final = tuple(_FIELDS)
_TEXTS: Final = (
    *("event", "tool", "error_code", "fault"),
    *("server", "client_name", "client_version", "model", "subject"),
)
_WRITTEN: Final = {
    **dict.fromkeys((*_TEXTS, "timestamp"), "VARCHAR"),
    **dict.fromkeys(("schema_version", "duration_us"), "BIGINT"),
    **dict.fromkeys(LISTS, "JSON"),
}
"""The fields of an event that are read, with their types; what does not fit a type is missing."""
_ZONED: Final = re.compile("TIMESTAMPTZ|WITH TIME ZONE")
# The columns of every Parquet file with events.
_REQUIRED: Final = ("event", "tool", "schema_version")
_PARQUET: Final = "read_parquet(?, hive_partitioning=false, binary_as_string=true)"
# Longer lines are not events, and the engine may not even count them.
LONGEST_LINE: Final = 2_000_000
# Each thread has a few buffers; larger ones are not faster. No character separates or quotes.
_AS_TEXT: Final = f"""columns={{'line': 'VARCHAR'}}, auto_detect=false, header=false, delim='\x01', quote='', escape='',
    new_line='\\n', max_line_size={LONGEST_LINE}, buffer_size=4000000"""
_EVENTS: Final = ", ".join(f"'{name}'" for name in get_args(EventName))
# What the model of an event forbids in a text.
_ODD: Final = r"[\x00-\x1f\x7f-\x9f\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}]"
_IS_EVENT: Final = f"""coalesce(
    event IN ({_EVENTS}) AND schema_version = 1 AND tool IS NOT NULL
    AND greatest({", ".join(f"length({name})" for name in _TEXTS)}) <= {LONGEST_TEXT}
    AND NOT regexp_matches(concat({", ".join(_TEXTS)}), '{_ODD}'), false)"""
# An application's own log may have the seconds since 1970. Other engines and Python know no year beyond 9999.
_MICROS: Final = """coalesce(
    epoch_us(TRY_CAST(timestamp AS TIMESTAMPTZ)), TRY_CAST(1000000 * TRY_CAST(timestamp AS DOUBLE) AS BIGINT))"""
_YEARS: Final = "BETWEEN -62135596800000000 AND 253402300799999999"
_CREATE: Final = f"""
    CREATE TABLE read (
        is_event BOOLEAN, micros BIGINT, {", ".join(f"{name} VARCHAR" for name in (*_TEXTS, *LISTS))},
        duration_us BIGINT
    )
"""
"""One row per line; the other columns are only meaningful for events."""


def _of_lines(compression: Compression) -> str:
    """Return the query for the fields of the lines of files, without lines too long or not text."""
    return f"""
        SELECT unnest(CASE WHEN contains(line, 'call_') AND json_valid(line)
            THEN json_transform(line, '{json.dumps(_WRITTEN)}') END)
        FROM read_csv(?, {_AS_TEXT}, strict_mode=false, ignore_errors=true, store_rejects=true,
            rejects_limit=1000000, hive_partitioning=false, compression='{compression}')
        WHERE regexp_matches(line, '[^ \t\r]')
    """


def _of_parquet(columns: Mapping[str, str]) -> str:
    """Return the query for the fields of Parquet files with columns of these types."""
    fields = (f"{_field(name, columns[name]) if name in columns else 'NULL'} AS {name}" for name in _WRITTEN)
    return f"SELECT {', '.join(fields)} FROM {_PARQUET}"


def _field(name: str, column: str) -> str:
    if name in LISTS and (column.endswith("]") or column.startswith(("STRUCT(", "MAP("))):
        return f"to_json({name})"
    if name in LISTS:  # JSON text, of which some writers make a null
        return f"nullif(trim(CAST({name} AS VARCHAR)), 'null')"
    if column.startswith("TIMESTAMP") and not _ZONED.search(column):
        return f"concat({name}, 'Z')"
    return f"TRY_CAST({name} AS {_WRITTEN[name]})"


def _reading(fields: str) -> str:
    """Return the statement that reads the fields of a query into the table ``read``."""
    return f"""
        INSERT INTO read
        WITH written AS ({fields}), dated AS (SELECT *, {_MICROS} AS instant FROM written)
        SELECT {_IS_EVENT}, CASE WHEN instant {_YEARS} THEN instant END,
            {", ".join((*_TEXTS, *LISTS))}, greatest(duration_us, 0)
        FROM dated
    """


_BOUND: Final = Field(max_length=LISTED)
_RECORDS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "violations": TypeAdapter(Annotated[tuple[ViolationRecord, ...], _BOUND]),
    "repairs": TypeAdapter(Annotated[tuple[RepairRecord, ...], _BOUND]),
    "hints": TypeAdapter(Annotated[tuple[HintRecord, ...], _BOUND]),
}
_INDEX: Final = re.compile(r"/\d+(?=/|$)")
# A view takes no parameters, and a copy of all calls takes time.
_CALLS: Final = f"CREATE VIEW calls AS SELECT *, {FAILED} AS failed FROM read WHERE is_event"
# The engine sets aside lines that are not text, or too long.
_REJECTS: Final = (
    "SELECT count(*) FROM (SELECT DISTINCT scan_id, file_id, line_byte_position FROM reject_errors)"
)


def take_in(database: Database, logs: FoundLogs, folder: Path, *, stdin: bool = False) -> LogFigures:
    """Read the calls into the view ``calls`` and the tables ``violations``, ``repairs`` and ``hints``.

    A call keeps its lists as written; the tables ``violations_lists``, ``repairs_lists`` and ``hints_lists`` give
    the number of each list, under which the other tables have its entries.

    Raises:
        ReportError: When a file cannot be read.
    """
    database.run(_CREATE)
    intake = _Intake(database, folder)
    for group in logs.groups:
        intake.read(group)
    skipped = (*logs.skipped, *intake.skipped)
    files = sum(len(group.shown) for group in logs.groups)
    ((lines,),) = database.run("SELECT count(*) FROM read")
    if not lines and len(intake.skipped) == files:
        raise ReportError(nothing_readable({each.file: each.reason for each in skipped}))
    if any(group.kind == "lines" for group in logs.groups):
        lines += database.run(_REJECTS)[0][0]
    with database.committed_once():
        read_lists(database, folder, "read")
    database.run(_CALLS)
    ((events, undated),) = database.run("SELECT count(*), count(*) FILTER (micros IS NULL) FROM calls")
    return LogFigures(
        files=files,
        stdin=stdin,
        lines=lines,
        events=events,
        foreign=lines - events,
        undated=undated,
        cut_files=intake.cut,
        skipped=skipped,
    )


class _Intake:
    """Reads logs into the table ``read``, and counts truncated compressed files, and files that are not logs."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self.cut = 0
        self.skipped: list[SkippedFile] = []

    def read(self, group: LogFiles) -> None:
        """Read files of one kind."""
        if group.kind == "parquet":
            for path, shown in group.shown.items():
                self._read_parquet(group.pattern(path), shown, is_named=path in group.named)
        elif group.compression == "gzip":
            for number, path in enumerate(group.shown):
                self._read_packed(path, self._folder / f"unpacked-{number}")
        else:
            self._run(_of_lines(group.compression), group.patterns)

    def _read_packed(self, path: str, plain: Path) -> None:
        """Read a gzip file up to its end, also where it is truncated or still being written."""
        self.cut += not unpacked(path, plain)
        self._run(_of_lines("none"), [str(plain)])
        plain.unlink()

    def _read_parquet(self, pattern: str, shown: str, *, is_named: bool) -> None:
        """Read a Parquet file; skip one without events, and a damaged one unless the user named it."""
        try:
            described = self._database.run(f"DESCRIBE SELECT * FROM {_PARQUET}", [[pattern]])
            columns = {name: column for name, column, *_ in described}
            lacking = [name for name in _REQUIRED if name not in columns]
            self._run(_of_parquet({} if lacking else columns), [pattern])
        except ReportError as error:
            reason = f"the Parquet file cannot be read: {error}"
            if is_named:
                msg = f"{shown}: {reason}"
                raise ReportError(msg) from None
            self.skipped.append(SkippedFile(file=shown, reason=reason))
        else:
            if lacking:
                reason = f"a Parquet file without the columns {', '.join(lacking)}"
                self.skipped.append(SkippedFile(file=shown, reason=reason))

    def _run(self, fields: str, paths: list[str]) -> None:
        self._database.run(_reading(fields), [paths], doing="reading")


def read_lists(database: Database, folder: Path, source: Literal["read", "counted_shapes"]) -> None:
    """Number the distinct lists of a table, and write out their entries, place by place.

    A line whose list does not fit the model is not an event; in a table of counts it has no list.
    """
    calls = "(FROM read WHERE is_event)" if source == "read" else source
    for name in LISTS:
        entry = {**dict.fromkeys(_FIELDS[name], "VARCHAR"), "times": "BIGINT"}
        shape = json.dumps({"raw": "VARCHAR", "list": "BIGINT", "records": [entry]})
        different = database.stream(f"SELECT DISTINCT {name} FROM {calls} WHERE {name} IS NOT NULL")
        with _written(
            folder, (_laid_out(name, number, raw) for number, (raw,) in enumerate(different))
        ) as file:
            database.run(
                f"CREATE TABLE {name}_lists AS "
                f"SELECT unnest(json_transform(line, '{shape}')) FROM read_csv(?, {_AS_TEXT})",
                [[file]],
            )
        database.run(f"CREATE TABLE {name} AS SELECT list, unnest(records, max_depth := 2) FROM {name}_lists")
    if source == "read":
        unfit = (f"{name} IN (SELECT raw FROM {name}_lists WHERE list IS NULL)" for name in LISTS)
        database.run(f"DELETE FROM read WHERE is_event AND ({' OR '.join(unfit)})")


@contextmanager
def _written(folder: Path, values: Iterable[object]) -> Iterator[str]:
    """Write JSON lines to a temporary file."""
    file = folder / "written.jsonl"
    with file.open("w", encoding="utf-8") as opened:
        opened.writelines(f"{json.dumps(value)}\n" for value in values)
    yield str(file)
    file.unlink()


def _laid_out(name: str, number: int, raw: str) -> dict[str, Any]:
    """Return a list with its number and counted entries; without a number if it does not fit the model."""
    try:
        records = _RECORDS[name].validate_python(pydantic_core.from_json(raw.encode()))
    except (ValidationError, ValueError):
        return {"raw": raw, "list": None, "records": []}
    counted = Counter(tuple(_kept(record, field) for field in _FIELDS[name]) for record in records)
    entries = [
        {**dict(zip(_FIELDS[name], kept, strict=True)), "times": times} for kept, times in counted.items()
    ]
    return {"raw": raw, "list": number, "records": entries}


def _kept(record: Any, field: str) -> str | None:
    value: str | None = _INDEX.sub("/*", record.pointer) if field == "place" else getattr(record, field)
    return value
