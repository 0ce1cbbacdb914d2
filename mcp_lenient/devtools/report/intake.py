"""Turn logs into tables: the calls, and their violations and repairs, place by place."""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

import pydantic_core
from pydantic import Field, TypeAdapter, ValidationError

from mcp_lenient.devtools.report.counting import FAILED
from mcp_lenient.devtools.report.database import LOWEST_MEMORY, Database, ReportError
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
    CallEvent,
    EventName,
    HintRecord,
    RepairRecord,
    ViolationRecord,
    read_event,
)

_FIELDS: Final = {
    "violations": ("code", "place", "received"),
    "repairs": ("rule", "place", "before", "after"),
    "hints": ("code", "place"),
}
"""The lists of an event, and what is kept of their entries."""
LISTS: Final = tuple(_FIELDS)
_COUNTS: Final = ("violation_count", "repair_count", "duration_us", "repeated")
_KEPT: Final = ("tool", "error_code", "server", "client_name", "client_version", "model", "subject")
_CHECKED: Final = ("form", "mounted", "session_id", "request_id", "transport", "trace_id", "span_id")
_OTHERS: Final = ("timestamp", "event", "schema_version")
_LINE_FIELDS: Final = (*_OTHERS, *_KEPT, *_CHECKED, *_COUNTS, *LISTS)
_NUMBERS: Final = (*_COUNTS, "schema_version")
_ZONED: Final = re.compile("TIMESTAMPTZ|WITH TIME ZONE")
# The columns of every Parquet file with events.
_REQUIRED: Final = ("event", "tool", "schema_version")
_PARQUET: Final = "read_parquet(?, hive_partitioning=false, binary_as_string=true)"
# Further keys of a log line; a line with still other keys is parsed by Python.
_EXTRA: Final = ("level", "logger")
# The model's limit on a string, with quotes. A string with a backslash is left to Python.
_LONGEST_RAW: Final = 130
_RAW_TEXT: Final = r'"[^"\\\x00-\x1f\x7f-\x9f\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}]*"'
_RAW_INSTANT: Final = (
    r'"[12]\d{3}-[01]\d-[0-3]\d[T ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-](0\d|1[0-4]):[0-5]\d)?"'
)
_RAW_COUNTS: Final = dict.fromkeys(_COUNTS, r"\d{1,15}") | {"repeated": r"[1-9]\d{0,14}"}
# What the engine accepts as JSON and Python does not.
_TRAILING_COMMA: Final = r",\s*[\]}]"
_NO_NUMBER: Final = r"(?i)[:,\[]\s*-?(nan|inf|infinity)\s*[,\]}]"
_DEEPEST: Final = 150
_LONGEST_PLAIN: Final = 4000
# The engine handles 2,048 lines at a time, several copies of each: longer lines are left to Python, one by one.
_LONGEST_PARSED: Final = 8_000
# Longer lines are not events, and the engine may not even count them.
LONGEST_LINE: Final = 2_000_000
# Each thread has a few buffers; larger ones are not faster.
_BUFFER: Final = 4_000_000
# No character separates or quotes.
_AS_TEXT: Final = f"""columns={{'line': 'VARCHAR'}}, auto_detect=false, header=false, delim='\x01', quote='', escape='',
    new_line='\\n', max_line_size={LONGEST_LINE}, buffer_size={_BUFFER}"""
_NAMES: Final = (*LISTS, *_COUNTS, *_KEPT, *_CHECKED, *_OTHERS, *_EXTRA)
_SHAPE: Final = "{" + ",".join(f'"{name}":"JSON"' for name in _NAMES) + "}"
_KNOWN: Final = " + ".join(f"CAST(e.{name} IS NOT NULL AS INTEGER)" for name in _NAMES)
_EVENTS: Final = ", ".join(f"""'"{name}"'""" for name in get_args(EventName))


def _every(conditions: list[str]) -> str:
    return "(" + " AND ".join(conditions) + ")"


# A string of such a line needs no further check: JSON forbids the other characters that it must not contain.
_SIMPLE: Final = r"(strlen(line) = length(line) AND NOT contains(line, '\') AND NOT contains(line, chr(127)))"
# Strings and counts spelled as the library spells them.
_FIELDS_PLAIN: Final = _every(
    [
        "e.tool IS NOT NULL",
        "e.schema_version = '1'",
        *(
            f"(e.{name} IS NULL OR (length(e.{name}) <= {_LONGEST_RAW} AND starts_with(e.{name}, '\"')))"
            for name in (*_KEPT, *_CHECKED)
        ),
        *(f"(e.{name} IS NULL OR regexp_full_match(e.{name}, '{raw}'))" for name, raw in _RAW_COUNTS.items()),
        f"(e.timestamp IS NULL OR (regexp_full_match(e.timestamp, '{_RAW_INSTANT}') AND micros IS NOT NULL))",
        *(
            f"CASE WHEN e.{name} IS NULL OR {_SIMPLE} THEN true ELSE regexp_full_match(e.{name}, '{_RAW_TEXT}') END"
            for name in (*_KEPT, *_CHECKED)
        ),
        # A null here is not an event, and the engine reads it as missing.
        "CASE WHEN contains(line, 'null') THEN "
        + _every([f"coalesce(json_type(line, '$.{name}'), '') <> 'NULL'" for name in (*LISTS, *_COUNTS)])
        + " ELSE true END",
    ]
)
# All keys are known and occur once; their values are checked below.
_KEYS_KNOWN: Final = _every(
    [
        f"len(json_keys(line)) = {_KNOWN}",
        *(f"(e.{name} IS NULL OR starts_with(e.{name}, '\"'))" for name in _EXTRA),
    ]
)
# Each key occurs once; other keys hold nothing that the engine accepts as JSON and Python does not.
_KEYS_HARMLESS: Final = _every(
    [
        f"2 * length(line) - length(replace(line, '[', '')) - length(replace(line, '{{', '')) <= {_DEEPEST}",
        f"NOT regexp_matches(line, '{_NO_NUMBER}')",
        "len(json_keys(line)) = len(list_distinct(json_keys(line)))",
    ]
)
_LINE_PLAIN: Final = _every(
    [
        f"length(line) <= {_LONGEST_PLAIN}",
        f"NOT regexp_matches(line, '{_TRAILING_COMMA}')",
        f"CASE WHEN {_KEYS_KNOWN} THEN true ELSE {_KEYS_HARMLESS} END",
    ]
)
# A line as the library writes it: no spaces between known keys, each of them once, so that no byte is left over. The
# engine evaluates all parts of an OR, but only one branch of a CASE, so that these lines are checked no further.
_EXACT: Final = _every(
    [
        "strlen(line) = 1 + "
        + " + ".join(f"coalesce(strlen(e.{name}) + {len(name) + 4}, 0)" for name in _NAMES),
        _SIMPLE,
        f"e.event IN ({_EVENTS})",
        "e.tool IS NOT NULL",
        "e.schema_version = '1'",
        f"regexp_full_match(e.timestamp, '{_RAW_INSTANT}')",
        "micros IS NOT NULL",
        *(
            f"coalesce(strlen(e.{name}) <= {_LONGEST_RAW} AND starts_with(e.{name}, '\"'), true)"
            for name in (*_KEPT, *_CHECKED, *_EXTRA)
        ),
        *(f"coalesce(regexp_full_match(e.{name}, '{raw}'), true)" for name, raw in _RAW_COUNTS.items()),
        # The engine spells some numbers longer than they are, which could hide a key that is there twice.
        *(f"coalesce(contains(line, e.{name}), true)" for name in LISTS),
    ]
)
# An event is an object with an event name, perhaps escaped.
_MAY_BE_EVENT: Final = (
    rf"(strlen(line) <= {LONGEST_LINE} AND (contains(line, 'call_') OR contains(line, '\u'))"
    r" AND regexp_matches(line, '^\s*\{'))"
)


def _columns(text: str) -> str:
    """Return the columns of a call; ``text`` extracts a string from JSON. Other lines may contain anything."""
    return ", ".join(
        [
            "micros",
            *(f"{text.format(f'e.{name}')} AS {name}" for name in ("event", *_KEPT)),
            *(f"CAST(e.{name} AS VARCHAR) AS {name}" for name in LISTS),
            *(f"coalesce(TRY_CAST(CAST(e.{name} AS VARCHAR) AS BIGINT), 0) AS {name}" for name in _COUNTS),
        ]
    )


def _lines(compression: Compression) -> str:
    """Return the query for the lines of the files in the first parameter, without those too long or not text."""
    return f"""
        SELECT line FROM read_csv(?, {_AS_TEXT}, strict_mode=false, ignore_errors=true, store_rejects=true,
            rejects_limit=1000000, hive_partitioning=false, compression='{compression}')
        WHERE regexp_matches(line, '[^ \t\r]')
    """


# One row per line: `event`, `foreign`, or `odd` with the line itself for Python to read. The other columns are
# only meaningful for events.
_CREATE: Final = f"""
    CREATE TABLE read (
        kind VARCHAR, line VARCHAR, micros BIGINT, event VARCHAR,
        {", ".join(f"{name} VARCHAR" for name in (*_KEPT, *LISTS))},
        {", ".join(f"{name} BIGINT" for name in _COUNTS)}
    )
"""


def _lines_of_parquet(columns: Mapping[str, str]) -> str:
    """Return the query for the rows of Parquet files with columns of these types, each as a line."""
    pairs = ", ".join(
        f"""CASE WHEN {value} IS NOT NULL THEN concat('"{name}":', {value}) END"""
        for name, value in ((name, _json(name, columns[name])) for name in _LINE_FIELDS if name in columns)
    )
    return f"SELECT concat('{{', concat_ws(',', {pairs}), '}}') AS line FROM {_PARQUET}"


def _json(name: str, column: str) -> str:
    """Return a Parquet column as the JSON that the library writes in a line; NULL if it has no value."""
    nested = column.endswith("]") or column.startswith(("STRUCT(", "MAP("))
    if name in LISTS and not nested:
        text = f"nullif(trim(CAST({name} AS VARCHAR)), 'null')"
        return f"CASE WHEN json_valid({text}) THEN {text} ELSE to_json({text}) END"
    if name == "timestamp" and column.startswith("TIMESTAMP"):
        # `epoch_us` only takes times with a zone in microseconds.
        time = f"CAST({name} AS TIMESTAMPTZ)" if _ZONED.search(column) else name
        return f"to_json(strftime(make_timestamp(epoch_us({time})), '%Y-%m-%dT%H:%M:%S.%fZ'))"
    if name in _NUMBERS and column in ("FLOAT", "DOUBLE"):
        # Data frames turn integers into floats beside missing values.
        return f"to_json(CASE WHEN {name} <> trunc({name}) THEN -1 ELSE TRY_CAST({name} AS BIGINT) END)"
    if nested or name in _NUMBERS or (name == "timestamp" and column != "DATE"):
        return f"to_json({name})"
    return f"to_json(CAST({name} AS VARCHAR))"


def _reading(lines: str) -> str:
    """Return the statement that reads the lines of a query into the table ``read``."""
    return f"""
        INSERT INTO read
        WITH lines AS ({lines}),
        candidates AS (SELECT line, {_MAY_BE_EVENT} AS candidate FROM lines),
        sorted AS (
            SELECT *, CASE WHEN candidate AND strlen(line) <= {_LONGEST_PARSED} AND json_valid(line) THEN json_transform(line, '{_SHAPE}') END AS e
            FROM candidates
        ),
        dated AS (
            SELECT *, epoch_us(TRY_CAST(substr(e.timestamp, 2, strlen(e.timestamp) - 2) AS TIMESTAMPTZ)) AS micros
            FROM sorted
        ),
        checked AS (SELECT *, {_EXACT} AS exact FROM dated),
        kinds AS (
            SELECT *, CASE
                WHEN exact THEN 'event'
                WHEN NOT candidate THEN 'foreign'
                WHEN e IS NULL OR NOT {_LINE_PLAIN} THEN 'odd'
                WHEN e.event IS NULL OR e.event NOT IN ({_EVENTS}) THEN 'foreign'
                WHEN {_FIELDS_PLAIN} THEN 'event'
                ELSE 'odd' END AS kind
            FROM checked
        )
        SELECT kind, CASE WHEN kind = 'odd' THEN line END, {_columns("substr({0}, 2, length({0}) - 2)")} FROM kinds
    """


_READ_ODD: Final = f"""
    INSERT INTO read
    WITH lines AS ({_lines("none")}),
    parsed AS (SELECT line, json_transform(line, '{_SHAPE}') AS e FROM lines),
    dated AS (SELECT *, epoch_us(CAST(json_extract_string(e.timestamp, '$') AS TIMESTAMPTZ)) AS micros FROM parsed)
    SELECT 'event', NULL, {_columns("json_extract_string({0}, '$')")} FROM dated
"""
# A line longer than the longest covers a whole part.
_PART: Final = LONGEST_LINE // 2
_BLANKS: Final = b" \t\r\n\xef\xbb\xbf"
_MEGA: Final = 1_000_000
_TOGETHER: Final = 2048
"""How many lines the engine handles at a time."""
_COPIES: Final = 4
"""How often the engine holds what it handles, measured with lines of 8 KB to 1 MB."""
_BASE: Final = 55 * _MEGA
"""What it holds in addition. As measured, the sum is 4 to 22 percent above the minimum, more for 8 to 10 KB."""


def _pieces(path: str, compression: Compression, longest: int) -> Iterator[bytes]:
    """Yield the lines of a file, long ones in pieces."""
    with (gzip.open if compression == "gzip" else open)(path, "rb") as file:
        while piece := file.readline(longest):
            yield piece


class _LineScan(NamedTuple):
    """What Python finds in a file: non-blank lines, one too long for the engine to count, and the end."""

    lines: int
    is_long: bool
    is_whole: bool


def _look_through(path: str, compression: Compression) -> _LineScan:
    lines, filled, is_long, is_whole = 0, False, False, False
    with suppress(EOFError, zlib.error, gzip.BadGzipFile):
        for piece in _pieces(path, compression, _PART):
            filled = filled or bool(piece.strip(_BLANKS))
            if piece.endswith(b"\n"):
                lines, filled = lines + filled, False
            is_long = is_long or len(piece) == _PART
        is_whole = True
    return _LineScan(lines + filled, is_long, is_whole)


def _has_long_line(path: str) -> bool:
    """Read only the start of each part, up to the first line break: a log may be larger than memory."""
    with Path(path).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        for start in range(0, size - _PART + 1, _PART):
            file.seek(start)
            if len(line := file.readline(_PART)) == _PART and not line.endswith(b"\n"):
                return True
    return False


def enough_memory(logs: FoundLogs) -> str:
    """Say which memory limit is enough for logs, from the length of their lines if known."""
    if any(group.kind == "parquet" or group.compression not in ("none", "gzip") for group in logs.groups):
        return f"give four times as much, {LOWEST_MEMORY // _MEGA}MB at least"
    heaviest = max(_heaviest(path, group.compression) for group in logs.groups for path in group.shown)
    needed = max(LOWEST_MEMORY, _BASE + _COPIES * heaviest)
    return f"the lowest limit that works is {-(-needed // _MEGA)}MB"


def _heaviest(path: str, compression: Compression) -> int:
    """Return the maximum bytes of lines that the engine handles at a time."""
    together: deque[int] = deque(maxlen=_TOGETHER)
    held = most = 0
    with suppress(EOFError, zlib.error, OSError):  # cut off
        for piece in _pieces(path, compression, LONGEST_LINE):
            held += len(piece) - (together[0] if len(together) == _TOGETHER else 0)
            together.append(len(piece))
            most = max(most, held)
    return most


_BOUND: Final = Field(max_length=LISTED)
_RECORDS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "violations": TypeAdapter(Annotated[tuple[ViolationRecord, ...], _BOUND]),
    "repairs": TypeAdapter(Annotated[tuple[RepairRecord, ...], _BOUND]),
    "hints": TypeAdapter(Annotated[tuple[HintRecord, ...], _BOUND]),
}
_LONGEST_COUNT: Final = 2**53
_INDEX: Final = re.compile(r"/\d+(?=/|$)")
# A view takes no parameters, and a copy of all calls takes time.
_CALLS: Final = f"""
    CREATE VIEW calls AS
    SELECT micros, event, {", ".join((*_KEPT, *_COUNTS, *LISTS))}, {FAILED} AS failed
    FROM read WHERE kind = 'event'
"""
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
    if not intake.lines and len(intake.skipped) == files:
        raise ReportError(nothing_readable({each.file: each.reason for each in skipped}))
    intake.read_odd()
    with database.committed_once():
        read_lists(database, folder, "read")
    ((events, undated),) = database.run(
        "SELECT count(*), count(*) FILTER (micros IS NULL) FROM read WHERE kind = 'event'"
    )
    database.run(_CALLS)
    return LogFigures(
        files=files,
        stdin=stdin,
        lines=intake.lines,
        events=events,
        foreign=intake.lines - events,
        undated=undated,
        cut_files=intake.cut,
        skipped=skipped,
    )


class _Intake:
    """Reads logs into tables, and counts lines, truncated compressed files, and files that are not logs."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self._rows = self._rejects = 0
        self.lines = self.cut = 0
        self.skipped: list[SkippedFile] = []

    def read(self, group: LogFiles) -> None:
        """Read files of one kind."""
        rows, rejects, counted = self._rows, self._rejects, None
        if group.kind == "parquet":
            self._read_parquet(group)
        else:
            counted = self._read_lines(group)
            ((self._rejects,),) = self._database.run(_REJECTS)
        ((self._rows,),) = self._database.run("SELECT count(*) FROM read")
        read = self._rows - rows
        # The file may have grown.
        self.lines += read + self._rejects - rejects if counted is None else max(read, counted)

    def _read_lines(self, group: LogFiles) -> int | None:
        """Return the number of lines if Python counted them because the engine could not."""
        paths, compression = list(group.shown), group.compression
        is_looked_through = compression == "gzip" or (
            compression == "none" and any(map(_has_long_line, paths))
        )
        looks = [_look_through(path, compression) for path in paths if is_looked_through]
        try:
            self._run(_reading(_lines(compression)), group.patterns)
            self.cut += sum(not look.is_whole for look in looks)
        except ReportError:
            if compression != "gzip":
                raise
            self._read_unpacked(paths)
        return sum(look.lines for look in looks) if any(look.is_long for look in looks) else None

    def _read_unpacked(self, paths: Iterable[str]) -> None:
        """Read gzip files one of which is truncated or still being written: the engine rolled back the statement."""
        for number, path in enumerate(paths):
            plain = self._folder / f"unpacked-{number}"
            self.cut += not unpacked(path, plain)
            self._run(_reading(_lines("none")), [str(plain)])
            plain.unlink()

    def _read_parquet(self, group: LogFiles) -> None:
        """Read Parquet files, those with equal columns together; skip damaged ones and those without events."""
        alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for path, shown in group.shown.items():
            with self._skipping(group, path):
                pattern = [[group.pattern(path)]]
                described = self._database.run(f"DESCRIBE SELECT * FROM {_PARQUET}", pattern)
                columns = {name: column for name, column, *_ in described}
                lacking = [name for name in _REQUIRED if name not in columns]
                if lacking:
                    self._database.run(f"INSERT INTO read (kind) SELECT 'foreign' FROM {_PARQUET}", pattern)
                    reason = f"a Parquet file without the columns {', '.join(lacking)}"
                    self.skipped.append(SkippedFile(file=shown, reason=reason))
                else:
                    alike.setdefault(tuple(columns.items()), []).append(path)
        for same, paths in alike.items():
            sql = _reading(_lines_of_parquet(dict(same)))
            try:
                self._run(sql, list(map(group.pattern, paths)))
            except ReportError:  # one of them is damaged
                for path in paths:
                    with self._skipping(group, path):
                        self._run(sql, [group.pattern(path)])

    @contextmanager
    def _skipping(self, group: LogFiles, path: str) -> Iterator[None]:
        """Skip a damaged Parquet file, unless the user named it."""
        try:
            yield
        except ReportError as error:
            reason = f"the Parquet file cannot be read: {error}"
            if path in group.named:
                msg = f"{group.shown[path]}: {reason}"
                raise ReportError(msg) from None
            self.skipped.append(SkippedFile(file=group.shown[path], reason=reason))

    def read_odd(self) -> None:
        """Let Python read the lines that the engine might read differently."""
        odd = self._database.stream("SELECT line FROM read WHERE kind = 'odd'")
        events = (_canonical(event) for event in (read_event(line) for (line,) in odd) if event is not None)
        with _written(self._folder, events) as file:
            if Path(file).stat().st_size:
                self._database.run(_READ_ODD, [[file]])

    def _run(self, sql: str, paths: list[str]) -> None:
        self._database.run(sql, [paths], doing="reading")


def read_lists(database: Database, folder: Path, source: Literal["read", "counted_shapes"]) -> None:
    """Number the distinct lists of a table, and write out their entries, place by place.

    A line whose list does not fit the model is not an event; in a table of counts it has no list.
    """
    calls = "(FROM read WHERE kind = 'event')" if source == "read" else source
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
        database.run(f"DELETE FROM read WHERE kind = 'event' AND ({' OR '.join(unfit)})")


@contextmanager
def _written(folder: Path, values: Iterable[object]) -> Iterator[str]:
    """Write JSON lines to a temporary file."""
    file = folder / "written.jsonl"
    with file.open("w", encoding="utf-8") as opened:
        opened.writelines(f"{json.dumps(value)}\n" for value in values)
    yield str(file)
    file.unlink()


def _canonical(event: CallEvent) -> dict[str, Any]:
    known = event.model_dump(mode="json", exclude_defaults=True)
    return known | {name: min(known[name], _LONGEST_COUNT) for name in _COUNTS if name in known}


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
