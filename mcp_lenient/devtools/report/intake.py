"""Turn logs into tables: the calls, and their violations and repairs, place by place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args

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
from mcp_lenient.telemetry.events import EventName, RecordedType
from mcp_lenient.types import ViolationCode
from mcp_lenient.values.display import LONGEST_PART, LONGEST_POINTER, LONGEST_TEXT

LISTS: Final = ("violations", "repairs", "hints")
"""The lists of an event."""
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


def _one_of(names: Iterable[str]) -> str:
    listed = ", ".join(f"'{name}'" for name in names)
    return f"IN ({listed})"


# What the model of an event forbids in a text.
_ODD: Final = r"[\x00-\x1f\x7f-\x9f\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}]"
_IS_EVENT: Final = f"""coalesce(
    event {_one_of(get_args(EventName))} AND schema_version = 1 AND tool IS NOT NULL
    AND greatest({", ".join(f"length({name})" for name in _TEXTS)}) <= {LONGEST_TEXT}
    AND NOT regexp_matches(concat({", ".join(_TEXTS)}), '{_ODD}'), false)"""
_PLACE: Final = """array_to_string([
    CASE WHEN regexp_full_match(part, '[0-9]+') THEN '*' ELSE part END FOR part IN string_split(pointer, '/')
], '/') AS place"""


class _Entries(NamedTuple):
    """The entries of a list: the fields to read, what is kept of them, and the condition that they fit the model."""

    fields: tuple[str, ...]
    kept: str
    fit: str


_ENTRIES: Final[Mapping[str, _Entries]] = {
    "violations": _Entries(
        ("code", "pointer", "received"),
        f"code, {_PLACE}, CASE WHEN received {_one_of(get_args(RecordedType))} THEN received END AS received",
        f"code {_one_of(get_args(ViolationCode))}",
    ),
    "repairs": _Entries(
        ("rule", "pointer", "before", "after"),
        f"rule, {_PLACE}, before, after",
        f"length(rule) <= {LONGEST_PART}",
    ),
    "hints": _Entries(("code", "pointer"), f"code, {_PLACE}", "code = 'json_text_kept'"),
}
# An application's own log may have the seconds since 1970. Other engines and Python know no year beyond 9999.
_MICROS: Final = """coalesce(
    epoch_us(TRY_CAST(timestamp AS TIMESTAMPTZ)), TRY_CAST(1000000 * TRY_CAST(timestamp AS DOUBLE) AS BIGINT))"""
_YEARS: Final = "BETWEEN -62135596800000000 AND 253402300799999999"
_CREATE: Final = f"""
    CREATE OR REPLACE TABLE read (
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


# A view takes no parameters, and a copy of all calls takes time.
_CALLS: Final = f"CREATE OR REPLACE VIEW calls AS SELECT *, {FAILED} AS failed FROM read WHERE is_event"
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
    for sql in (_CREATE, "DROP TABLE IF EXISTS reject_errors", "DROP TABLE IF EXISTS reject_scans"):
        database.run(sql)  # another part of the logs may have been read before
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
        read_lists(database, "read")
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


def read_lists(database: Database, source: Literal["read", "counted_shapes"]) -> None:
    """Number the distinct lists of a table, and write out their entries, place by place; others than events have are left out."""
    calls = "(FROM read WHERE is_event)" if source == "read" else source
    for name, (fields, kept, fit) in _ENTRIES.items():
        database.run(
            f"CREATE OR REPLACE TABLE {name}_lists AS SELECT {name} AS raw, row_number() OVER () AS list FROM {calls} "
            f"WHERE {name} IS NOT NULL GROUP BY {name}"
        )
        shape = json.dumps([dict.fromkeys(fields, "VARCHAR")])
        database.run(f"""
            CREATE OR REPLACE TABLE {name} AS
            WITH entries AS (
                SELECT list, unnest(CASE WHEN json_valid(raw) THEN from_json(raw, '{shape}') END, recursive := true)
                FROM {name}_lists
            )
            SELECT list, {kept}, count(*) AS times FROM entries
            WHERE {fit} AND length(pointer) <= {LONGEST_POINTER}
                AND NOT regexp_matches(concat({", ".join(fields)}), '{_ODD}')
            GROUP BY ALL
        """)
