"""Turn logs into tables: the calls, and their violations and repairs, place by place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple, get_args

from mcp_lenient.devtools.report.counting import FAILED
from mcp_lenient.devtools.report.database import Database, ReportError
from mcp_lenient.devtools.report.model import LogFigures, SkippedFile
from mcp_lenient.devtools.report.sources import (
    STANDARD_INPUT,
    Compression,
    FoundLogs,
    LogFile,
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
    "schema_version": "BIGINT",
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
    columns: str
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
        is_event BOOLEAN, micros BIGINT, {", ".join(f"{name} VARCHAR" for name in (*_TEXTS, *LISTS))}
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
    fields = (f"{_field(name, columns.get(name))} AS {name}" for name in _WRITTEN)
    return f"SELECT {', '.join(fields)} FROM {_PARQUET}"


def _field(name: str, column: str | None) -> str:
    if column is None:
        return f"CAST(NULL AS {_WRITTEN[name]})"
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
            {", ".join((*_TEXTS, *LISTS))}
        FROM dated
    """


# A view takes no parameters, and a copy of all calls takes time.
_CALLS: Final = f"CREATE OR REPLACE VIEW calls AS SELECT *, {FAILED} AS failed FROM read WHERE is_event"
# The engine sets aside lines that are not text, or too long.
_REJECTS: Final = (
    "SELECT count(*) FROM (SELECT DISTINCT scan_id, file_id, line_byte_position FROM reject_errors)"
)


def take_in(database: Database, logs: FoundLogs, folder: Path) -> LogFigures:
    """Read the calls into the view ``calls``; they keep their lists as written.

    Raises:
        ReportError: When a file cannot be read.
    """
    for sql in (_CREATE, "DROP TABLE IF EXISTS reject_errors", "DROP TABLE IF EXISTS reject_scans"):
        database.run(sql)  # another part of the logs may have been read before
    cut = 0
    skipped = list(logs.skipped)
    as_lines: dict[Compression, list[str]] = {}
    for number, file in enumerate(logs.files):
        if file.kind == "parquet":
            if reason := _read_parquet(database, file):
                skipped.append(SkippedFile(file=file.shown, reason=reason))
        elif file.compression == "gzip":
            plain = folder / f"unpacked-{number}"
            cut += not unpacked(file.path, plain)
            _read(database, _of_lines("none"), [str(plain)])
            plain.unlink()
        else:
            as_lines.setdefault(file.compression, []).append(file.pattern)
    for compression, patterns in as_lines.items():
        _read(database, _of_lines(compression), patterns)
    ((lines,),) = database.run("SELECT count(*) FROM read")
    if not lines and len(skipped) - len(logs.skipped) == len(logs.files):
        raise ReportError(nothing_readable({file.file: file.reason for file in skipped}))
    if any(file.kind == "lines" for file in logs.files):
        lines += database.run(_REJECTS)[0][0]
    database.run(_CALLS)
    ((events, undated),) = database.run("SELECT count(*), count(*) FILTER (micros IS NULL) FROM calls")
    return LogFigures(
        files=len(logs.files),
        stdin=any(file.shown == STANDARD_INPUT for file in logs.files),
        lines=lines,
        events=events,
        foreign=lines - events,
        undated=undated,
        cut_files=cut,
        skipped=tuple(skipped),
    )


def _read(database: Database, fields: str, patterns: list[str]) -> None:
    database.run(_reading(fields), [patterns], doing="reading")


def _read_parquet(database: Database, file: LogFile) -> str | None:
    """Read a Parquet file; return why it gave nothing: it is damaged, unless the user named it, or has no events."""
    try:
        described = database.run(f"DESCRIBE SELECT * FROM {_PARQUET}", [[file.pattern]])
        columns = {name: column for name, column, *_ in described}
        lacking = [name for name in _REQUIRED if name not in columns]
        _read(database, _of_parquet({} if lacking else columns), [file.pattern])
    except ReportError as error:
        reason = f"the Parquet file cannot be read: {error}"
        if file.named:
            msg = f"{file.shown}: {reason}"
            raise ReportError(msg) from None
        return reason
    return f"a Parquet file without the columns {', '.join(lacking)}" if lacking else None


def read_lists(database: Database) -> None:
    """Write out the distinct lists of the counted calls, place by place; entries that no event has are left out."""
    for name, (fields, columns, fit) in _ENTRIES.items():
        shape = json.dumps([dict.fromkeys(fields, "VARCHAR")])
        database.run(f"""
            CREATE TABLE {name} AS
            WITH lists AS (SELECT DISTINCT {name} AS list FROM counted_shapes),
            entries AS (
                SELECT list, unnest(CASE WHEN json_valid(list) THEN from_json(list, '{shape}') END, recursive := true)
                FROM lists
            )
            SELECT list, {columns}, count(*) AS times FROM entries
            WHERE {fit} AND length(pointer) <= {LONGEST_POINTER}
                AND NOT regexp_matches(concat({", ".join(fields)}), '{_ODD}')
            GROUP BY ALL
        """)
