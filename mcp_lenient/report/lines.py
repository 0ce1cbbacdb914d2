"""The statements that turn lines of a log into rows, as :func:`mcp_lenient.events.read_event` reads them.

The engine reads what it certainly reads as Python does; each other line that may be an event is left to
``read_event`` itself. So a line is an event here exactly when it is one there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, get_args

from mcp_lenient.events import EventName
from mcp_lenient.report.sources import Compression

LISTS: Final = ("violations", "repairs", "hints")
COUNTS: Final = ("violation_count", "repair_count", "duration_us")
KEPT: Final = ("tool", "error_code", "server", "client_name", "client_version", "subject")
_CHECKED: Final = ("mounted", "session_id", "request_id", "transport", "trace_id", "span_id")
_OTHERS: Final = ("timestamp", "event", "schema_version")
_FIELDS: Final = (*_OTHERS, *KEPT, *_CHECKED, *COUNTS, *LISTS)
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
    """The columns of a call; ``text`` says how a text is taken out of JSON. What no event is has anything in them."""
    return ", ".join(
        [
            "micros",
            *(f"{text.format(f'e.{name}')} AS {name}" for name in ("event", *KEPT)),
            *(f"CAST(e.{name} AS VARCHAR) AS {name}" for name in LISTS),
            *(f"coalesce(TRY_CAST(CAST(e.{name} AS VARCHAR) AS BIGINT), 0) AS {name}" for name in COUNTS),
        ]
    )


def _lines(compression: Compression) -> str:
    """The lines of the files in the first parameter; what is no text, or too long, is kept apart."""
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
    """The statement that reads the files in its parameter into the table ``read``."""
    return _read(_lines(compression))


def read_parquet(columns: Mapping[str, str]) -> str:
    """Return the statement that reads Parquet files with these columns into the table ``read``, row by row as lines.

    Args:
        columns: Their names and their types in DuckDB; those that no event has are left out.
    """
    pairs = ", ".join(
        f"""CASE WHEN {value} IS NOT NULL THEN concat('"{name}":', {value}) END"""
        for name, value in ((name, _json(name, columns[name])) for name in _FIELDS if name in columns)
    )
    return _read(f"SELECT concat('{{', concat_ws(',', {pairs}), '}}') AS line FROM {PARQUET}")


def _json(name: str, column: str) -> str:
    """The JSON text of a column of Parquet files, as the library writes it in a line; NULL where it has no value."""
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


def _read(lines: str) -> str:
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
