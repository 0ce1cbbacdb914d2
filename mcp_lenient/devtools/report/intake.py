"""Turn logs into tables: the calls, and their violations and repairs, place by place."""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Annotated, Any, Final, get_args

import pydantic_core
from pydantic import Field, TypeAdapter, ValidationError

from mcp_lenient.devtools.report.database import LOWEST_MEMORY, Database, OutOfMemoryError, ReportError
from mcp_lenient.devtools.report.model import LogFigures, Selection, SkippedFile
from mcp_lenient.devtools.report.sources import (
    Compression,
    FoundLogs,
    LogFiles,
    nothing_readable,
    pour,
    unescaped,
    unpacked,
)
from mcp_lenient.telemetry.events import (
    LISTED,
    CallEvent,
    EventName,
    HintRecord,
    RepairRecord,
    ViolationRecord,
    read_event,
)

LISTS: Final = ("violations", "repairs", "hints")
COUNTS: Final = ("violation_count", "repair_count", "duration_us")
KEPT: Final = ("tool", "error_code", "server", "client_name", "client_version", "subject")
_CHECKED: Final = ("mounted", "session_id", "request_id", "transport", "trace_id", "span_id")
_OTHERS: Final = ("timestamp", "event", "schema_version")
_LINE_FIELDS: Final = (*_OTHERS, *KEPT, *_CHECKED, *COUNTS, *LISTS)
_NUMBERS: Final = (*COUNTS, "schema_version")
_ZONED: Final = re.compile("TIMESTAMPTZ|WITH TIME ZONE")
REQUIRED: Final = ("event", "tool", "schema_version")
"""The columns that each Parquet file with events has."""
PARQUET: Final = "read_parquet(?, hive_partitioning=false, binary_as_string=true)"
"""How the engine reads Parquet files."""
FOREIGN_PARQUET: Final = f"INSERT INTO read (kind) SELECT 'foreign' FROM {PARQUET}"
"""The statement that counts the rows of a Parquet file of another program."""
# What a log's own line says besides; a line with yet other keys is looked at more closely.
_EXTRA: Final = ("level", "logger")
# The model's own limit on a text, with its quotes. A text with a backslash in it is left to Python.
_LONGEST_RAW: Final = 130
_RAW_TEXT: Final = r'"[^"\\\x00-\x1f\x7f-\x9f\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}]*"'
_RAW_INSTANT: Final = (
    r'"[12]\d{3}-[01]\d-[0-3]\d[T ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-](0\d|1[0-4]):[0-5]\d)?"'
)
_RAW_COUNT: Final = r"\d{1,15}"
# What the engine takes for JSON and Python does not.
_TRAILING_COMMA: Final = r",\s*[\]}]"
_NO_NUMBER: Final = r"(?i)[:,\[]\s*-?(nan|inf|infinity)\s*[,\]}]"
_DEEPEST: Final = 150
_LONGEST_PLAIN: Final = 4000
# The engine handles 2,048 lines at a time, several copies of each: longer lines are left to Python, one by one.
_LONGEST_PARSED: Final = 8_000
LONGEST_LINE: Final = 2_000_000
"""How many bytes a line has at most; what is longer is no event, and the engine may not even count it."""
# Each thread holds a few buffers; larger ones read no faster.
_BUFFER: Final = 4_000_000
AS_TEXT: Final = f"""columns={{'line': 'VARCHAR'}}, auto_detect=false, header=false, delim='\x01', quote='', escape='',
    new_line='\\n', max_line_size={LONGEST_LINE}, buffer_size={_BUFFER}"""
"""How the engine reads lines as text: no character separates or quotes."""
_NAMES: Final = (*LISTS, *COUNTS, *KEPT, *_CHECKED, *_OTHERS, *_EXTRA)
_SHAPE: Final = "{" + ",".join(f'"{name}":"JSON"' for name in _NAMES) + "}"
_QUOTED: Final = ", ".join(f"'{name}'" for name in _NAMES)
_KNOWN: Final = " + ".join(f"CAST(e.{name} IS NOT NULL AS INTEGER)" for name in _NAMES)
_EVENTS: Final = ", ".join(f"""'"{name}"'""" for name in get_args(EventName))


def _every(conditions: list[str]) -> str:
    return "(" + " AND ".join(conditions) + ")"


_FIELDS_PLAIN: Final = _every(
    [
        "e.tool IS NOT NULL",
        "e.schema_version = '1'",
        f"(e.timestamp IS NULL OR (regexp_full_match(e.timestamp, '{_RAW_INSTANT}') AND micros IS NOT NULL))",
        *(
            f"(e.{name} IS NULL OR (length(e.{name}) <= {_LONGEST_RAW} AND starts_with(e.{name}, '\"')"
            f" AND (simple OR regexp_full_match(e.{name}, '{_RAW_TEXT}'))))"
            for name in (*KEPT, *_CHECKED)
        ),
        *(f"(e.{name} IS NULL OR regexp_full_match(e.{name}, '{_RAW_COUNT}'))" for name in COUNTS),
        # In these a null is no event, and the engine reads it as nothing.
        "(NOT contains(line, 'null') OR "
        + _every([f"coalesce(json_type(line, '$.{name}'), '') <> 'NULL'" for name in (*LISTS, *COUNTS)])
        + ")",
    ]
)
# Other keys hold nothing that the engine takes for JSON and Python does not.
_REST_HARMLESS: Final = _every(
    [
        f"2 * length(line) - length(replace(line, '[', '')) - length(replace(line, '{{', '')) <= {_DEEPEST}",
        f"NOT regexp_matches(line, '{_NO_NUMBER}')",
    ]
)
# All keys are known ones, each is there once, and what they hold is looked at below.
_KEYS_KNOWN: Final = _every(
    [
        f"len(json_keys(line)) = {_KNOWN}",
        *(f"(e.{name} IS NULL OR starts_with(e.{name}, '\"'))" for name in _EXTRA),
    ]
)
_KEYS_HARMLESS: Final = f"({_REST_HARMLESS} AND len(json_keys(line)) = len(list_distinct(json_keys(line))))"
_LINE_PLAIN: Final = _every(
    [
        f"length(line) <= {_LONGEST_PLAIN}",
        f"NOT regexp_matches(line, '{_TRAILING_COMMA}')",
        f"CASE WHEN {_KEYS_KNOWN} THEN true ELSE {_KEYS_HARMLESS} END",
    ]
)
# Then a text needs no further look: JSON itself forbids the other characters that a text may not have.
_SIMPLE: Final = r"(strlen(line) = length(line) AND NOT contains(line, '\') AND NOT contains(line, chr(127)))"
# What nearly all lines are: short texts, digits and flat lists of texts, none of which the engine spells otherwise.
_RAW_LIST: Final = r'\[(\{("[a-z]+":"[^"]*",?)*\},?)*\]'
_FIELDS_SIMPLE: Final = _every(
    [
        "simple",
        "e.schema_version = '1'",
        "e.tool IS NOT NULL",
        f"e.event IN ({_EVENTS})",
        f"regexp_full_match(e.timestamp, '{_RAW_INSTANT}')",
        "micros IS NOT NULL",
        *(
            f"(e.{name} IS NULL OR (strlen(e.{name}) <= {_LONGEST_RAW} AND starts_with(e.{name}, '\"')))"
            for name in (*KEPT, *_CHECKED)
        ),
        *(f"(e.{name} IS NULL OR starts_with(e.{name}, '\"'))" for name in _EXTRA),
        *(f"(e.{name} IS NULL OR regexp_full_match(e.{name}, '{_RAW_COUNT}'))" for name in COUNTS),
        *(f"(e.{name} IS NULL OR regexp_full_match(e.{name}, '{_RAW_LIST}'))" for name in LISTS),
    ]
)
# As long as what is known of it, so that nothing else is in it, neither blanks nor other keys nor a key twice.
_TIGHT: Final = (
    f"strlen(line) = 1 + {' + '.join(f'coalesce(strlen(e.{name}) + {len(name) + 4}, 0)' for name in _NAMES)}"
)
_KEYS_SIMPLE: Final = _every(
    [
        f"length(line) <= {_LONGEST_PLAIN}",
        f"NOT regexp_matches(line, '{_TRAILING_COMMA}')",
        f"""CASE WHEN len(keys) = {_KNOWN} THEN true
            ELSE len(list_filter(keys, lambda key: key IN ({_QUOTED}))) = {_KNOWN} AND {_REST_HARMLESS} END""",
    ]
)
# An event names itself, be it in escapes, and is an object.
_MAY_BE_EVENT: Final = (
    rf"(strlen(line) <= {LONGEST_LINE} AND (contains(line, 'call_') OR contains(line, '\u'))"
    r" AND regexp_matches(line, '^\s*\{'))"
)


def _columns(text: str) -> str:
    """Return the columns of a call; ``text`` says how to take a text out of JSON. Other lines may hold anything."""
    return ", ".join(
        [
            "micros",
            *(f"{text.format(f'e.{name}')} AS {name}" for name in ("event", *KEPT)),
            *(f"CAST(e.{name} AS VARCHAR) AS {name}" for name in LISTS),
            *(f"coalesce(TRY_CAST(CAST(e.{name} AS VARCHAR) AS BIGINT), 0) AS {name}" for name in COUNTS),
        ]
    )


def _lines(compression: Compression) -> str:
    """Return the query for the lines of the files in the first parameter; it sets aside what is too long or no text."""
    return f"""
        SELECT line FROM read_csv(?, {AS_TEXT}, strict_mode=false, ignore_errors=true, store_rejects=true,
            rejects_limit=1000000, hive_partitioning=false, compression='{compression}')
        WHERE regexp_matches(line, '[^ \t\r]')
    """


CREATE: Final = f"""
    CREATE TABLE read (
        kind VARCHAR, line VARCHAR, micros BIGINT, event VARCHAR,
        {", ".join(f"{name} VARCHAR" for name in (*KEPT, *LISTS))},
        {", ".join(f"{name} BIGINT" for name in COUNTS)}
    )
"""
"""The rows of all lines: ``event``, ``foreign``, or ``odd`` with the line itself for Python to read.

Only in the rows of events do the other columns mean anything.
"""


def read_lines(compression: Compression) -> str:
    """Return the statement that reads the files in its parameter into the table ``read``."""
    return _read_lines(_lines(compression))


def read_parquet(columns: Mapping[str, str]) -> str:
    """Return the statement that reads Parquet files with these columns into ``read``, each row as a line.

    Args:
        columns: Their names and their types in DuckDB; those that no event has are left out.
    """
    pairs = ", ".join(
        f"""CASE WHEN {value} IS NOT NULL THEN concat('"{name}":', {value}) END"""
        for name, value in ((name, _json(name, columns[name])) for name in _LINE_FIELDS if name in columns)
    )
    return _read_lines(f"SELECT concat('{{', concat_ws(',', {pairs}), '}}') AS line FROM {PARQUET}")


def _json(name: str, column: str) -> str:
    """Return the JSON text of a Parquet column, as the library writes it in a line; NULL where it has no value."""
    nested = column.endswith("]") or column.startswith(("STRUCT(", "MAP("))
    if name in LISTS and not nested:
        text = f"nullif(trim(CAST({name} AS VARCHAR)), 'null')"
        return f"CASE WHEN json_valid({text}) THEN {text} ELSE to_json({text}) END"
    if name == "timestamp" and column.startswith("TIMESTAMP"):
        # Of times with a zone, `epoch_us` takes those in microseconds only.
        time = f"CAST({name} AS TIMESTAMPTZ)" if _ZONED.search(column) else name
        return f"to_json(strftime(make_timestamp(epoch_us({time})), '%Y-%m-%dT%H:%M:%S.%fZ'))"
    if name in _NUMBERS and column in ("FLOAT", "DOUBLE"):
        # Data frames have no integers beside missing values.
        return f"to_json(CASE WHEN {name} <> trunc({name}) THEN -1 ELSE TRY_CAST({name} AS BIGINT) END)"
    if nested or name in _NUMBERS or (name == "timestamp" and column != "DATE"):
        return f"to_json({name})"
    return f"to_json(CAST({name} AS VARCHAR))"


def _read_lines(lines: str) -> str:
    return f"""
        INSERT INTO read
        WITH lines AS ({lines}),
        candidates AS (SELECT line, {_MAY_BE_EVENT} AS candidate FROM lines),
        sorted AS (
            SELECT *, CASE WHEN candidate AND strlen(line) <= {_LONGEST_PARSED} AND json_valid(line) THEN json_transform(line, '{_SHAPE}') END AS e
            FROM candidates
        ),
        dated AS (
            SELECT *, {_SIMPLE} AS simple,
                epoch_us(TRY_CAST(substr(e.timestamp, 2, length(e.timestamp) - 2) AS TIMESTAMPTZ)) AS micros
            FROM sorted
        ),
        fields AS (SELECT *, {_FIELDS_SIMPLE} AS fields_simple, {_TIGHT} AS tight FROM dated),
        keyed AS (SELECT *, CASE WHEN fields_simple AND NOT tight THEN json_keys(line) END AS keys FROM fields),
        kinds AS (
            SELECT *, CASE
                WHEN NOT candidate THEN 'foreign'
                WHEN fields_simple AND (tight OR {_KEYS_SIMPLE}) THEN 'event'
                WHEN e IS NULL OR NOT {_LINE_PLAIN} THEN 'odd'
                WHEN e.event IS NULL OR e.event NOT IN ({_EVENTS}) THEN 'foreign'
                WHEN {_FIELDS_PLAIN} THEN 'event'
                ELSE 'odd' END AS kind
            FROM keyed
        )
        SELECT kind, CASE WHEN kind = 'odd' THEN line END, {_columns("substr({0}, 2, length({0}) - 2)")} FROM kinds
    """


READ_ODD: Final = f"""
    INSERT INTO read
    WITH lines AS ({_lines("none")}),
    parsed AS (SELECT line, json_transform(line, '{_SHAPE}') AS e FROM lines),
    dated AS (SELECT *, epoch_us(CAST(json_extract_string(e.timestamp, '$') AS TIMESTAMPTZ)) AS micros FROM parsed)
    SELECT 'event', NULL, {_columns("json_extract_string({0}, '$')")} FROM dated
"""
"""The statement that reads the file in its parameter, which Python has written, into the table ``read``."""

# Whatever is longer than the longest line covers a whole part.
_PART: Final = LONGEST_LINE // 2
_PIECE: Final = 2**14
_BLANK: Final = b" \t\r"
_BOM: Final = b"\xef\xbb\xbf"


def count_if_long(group: LogFiles) -> int | None:
    """Count the lines that are not blank, if some are too long for the engine to count.

    Args:
        group: Files that hold lines.

    Returns:
        The number of lines; None where the engine counts right, and where Python cannot unpack the files.
    """
    if group.kind != "lines" or group.compression not in ("none", "gzip"):
        return None
    look = _has_long_line if group.compression == "none" else _has_long_line_packed
    if not any(look(path) for path in group.paths):
        return None
    return sum(_count(path) for path in group.paths)


def _has_long_line(path: str) -> bool:
    """Look at the start of each part only, as far as the first line break: a log may be larger than memory."""
    with Path(unescaped(path)).open("rb", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        return any(_without_break(file, start) for start in range(0, size - _PART + 1, _PART))


def _without_break(file: FileIO, start: int) -> bool:
    file.seek(start)
    left = _PART
    while left and (piece := file.read(min(_PIECE, left))):
        if b"\n" in piece:
            return False
        left -= len(piece)
    return not left


def _has_long_line_packed(path: str) -> bool:
    sink = _LongLines()
    pour(path, sink)
    return sink.found


def _count(path: str) -> int:
    sink = _Lines()
    pour(path, sink)
    return sink.count + sink.cut


@dataclass(slots=True)
class _LongLines:
    """Finds out whether a part of a stream has no line break."""

    found: bool = False
    waiting: bytes = b""

    def write(self, block: bytes) -> None:
        """Take the next bytes of the stream."""
        parts = self.waiting + block
        whole = len(parts) - len(parts) % _PART
        self.found = self.found or any(
            parts.find(b"\n", start, start + _PART) < 0 for start in range(0, whole, _PART)
        )
        self.waiting = parts[whole:]


@dataclass(slots=True)
class _Lines:
    """Counts the lines of a stream that are not blank; ``cut`` says whether the last one has no end."""

    count: int = 0
    cut: bool = False
    started: bool = False

    def write(self, block: bytes) -> None:
        """Take the next bytes of the stream."""
        if not self.started:
            block, self.started = block.removeprefix(_BOM), True
        first, *others = block.split(b"\n")
        self.cut = self.cut or bool(first.strip(_BLANK))
        if others:
            self.count += self.cut + sum(bool(line.strip(_BLANK)) for line in others[:-1])
            self.cut = bool(others[-1].strip(_BLANK))


_MEGA: Final = 1_000_000
_TOGETHER: Final = 2048
"""How many lines the engine handles at a time."""
_COPIES: Final = 4
"""How often the engine holds what it handles, measured with lines of 8 KB to 1 MB."""
_BASE: Final = 55 * _MEGA
"""What it holds besides; measured, the sum is 4 to 22 percent above the least that works, more for 8 to 10 KB."""


def enough_memory(logs: FoundLogs) -> str:
    """Say which limit is enough for logs, from the length of their lines where it is known.

    Args:
        logs: The logs.
    """
    if any(group.kind == "parquet" or group.compression not in ("none", "gzip") for group in logs.groups):
        return f"give four times as much, {LOWEST_MEMORY // _MEGA}MB at least"
    heaviest = max(_heaviest(name, group) for group in logs.groups for name in group.names)
    needed = max(LOWEST_MEMORY, _BASE + _COPIES * heaviest)
    return f"the lowest limit that works is {-(-needed // _MEGA)}MB"


def _heaviest(name: str, group: LogFiles) -> int:
    """Return the most bytes of lines that the engine handles at a time."""
    together: deque[int] = deque(maxlen=_TOGETHER)
    held = most = 0
    for length in _lengths(name, group):
        held += length - (together[0] if len(together) == _TOGETHER else 0)
        together.append(length)
        most = max(most, held)
    return most


def _lengths(name: str, group: LogFiles) -> Iterator[int]:
    with (
        suppress(EOFError, zlib.error, OSError),  # cut off
        gzip.open(name) if group.compression == "gzip" else open(name, "rb") as file,  # noqa: PTH123
    ):
        while line := file.readline(LONGEST_LINE):
            yield len(line)


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
    ``hints_lists`` give the number under which the other tables hold their entries.

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
    """Counts lines: the engine does, or Python where they are too long for it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows = self._rejects = 0
        self.lines = 0

    def add(self, group: LogFiles, expected: int | None) -> None:
        """Add the lines of files that were just read.

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
    """Read files of one kind; return how many of them end too early."""
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
    """Read Parquet files, those with equal columns together; return the damaged ones and those without events."""
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
    """Read Parquet files with equal columns; where one is damaged, read all others."""
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
    """Return how many gzip files that the engine read end too early: before 2.0 it did not say so."""
    import duckdb

    if int(duckdb.__version__.partition(".")[0]) >= _TELLS_OF_CUT_FILES:
        return 0
    return sum(not unpacked(path, Path(os.devnull)) for path in paths)


def _read_odd(database: Database, file: Path) -> None:
    """Let Python read the lines that the engine might read otherwise."""
    lines = (row[0] for row in database.stream("SELECT line FROM read WHERE kind = 'odd'"))
    if _write(file, (_canonical(event) for event in map(read_event, lines) if event is not None)):
        database.run(READ_ODD, [[str(file)]])
    file.unlink()


def _canonical(event: CallEvent) -> dict[str, Any]:
    known = event.model_dump(mode="json", exclude_defaults=True)
    return known | {name: min(known[name], _LONGEST_COUNT) for name in COUNTS if name in known}


def _read_lists(database: Database, name: str, folder: Path) -> None:
    """Number the different lists of one field, and lay out their entries, place by place.

    A line whose list does not fit the model is no event.
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
    """Write JSON lines; return whether there are any."""
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
