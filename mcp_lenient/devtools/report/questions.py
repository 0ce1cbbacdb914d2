"""Query the calls: one statement for each list of the report, most frequent first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, get_args

from pydantic import BaseModel

from mcp_lenient.devtools.report.database import Database
from mcp_lenient.devtools.report.model import (
    Cell,
    ClientFigures,
    FaultFigures,
    ParameterFigures,
    RepeatedMistake,
    RuleFigures,
    Timeline,
    ToolFigures,
    UnknownTool,
    Unrepaired,
)
from mcp_lenient.telemetry.events import FailureKind

# Client and version are separated by a character that neither can contain.
_PREPARE: Final = (
    "CREATE MACRO moment(micros) AS strftime(make_timestamp(micros), '%Y-%m-%dT%H:%M:%S.%fZ')",
    "CREATE TABLE shapes AS SELECT *, concat(client_name, chr(31), client_version) AS who FROM counted_shapes",
    """
    CREATE TABLE faults AS
    SELECT shapes.*, code, place, received FROM shapes
    LEFT JOIN violations AS listed ON shapes.violations = listed.list WHERE failed
    """,
    """
    CREATE TABLE repaired AS
    SELECT shapes.* EXCLUDE (times), shapes.times AS calls, rule, place, before, after, listed.times * shapes.times AS uses
    FROM shapes JOIN repairs AS listed ON shapes.repairs = listed.list
    """,
)
_WHOLE: Final = """
    SELECT coalesce(sum(times), 0) AS calls, moment(min(earliest)) AS first, moment(max(latest)) AS last
    FROM counted_periods
"""
_FAULTS: Final = ", ".join(f"'{name}'" for name in get_args(FailureKind))
_OUTCOMES: Final = "SELECT event, sum(times) FROM shapes GROUP BY event ORDER BY sum(times) DESC, event"
_PERIODS: Final = """
    SELECT moment(start - start % $step) AS start, map_from_entries(list((event, times) ORDER BY event)) AS outcomes
    FROM (
        SELECT start - start % $step AS start, event, sum(times) AS times FROM counted_periods
        WHERE start IS NOT NULL GROUP BY ALL
    )
    GROUP BY start ORDER BY start
"""
_CELLS: Final = """
    SELECT tool, client_name AS client, sum(times) AS calls, coalesce(sum(times) FILTER (failed), 0) AS failed
    FROM shapes WHERE list_contains($tools, tool) AND list_contains($clients, coalesce(client_name, ''))
    GROUP BY ALL ORDER BY tool, client_name
"""
_STEPS: Final = (60, 300, 900, 3600, 10_800, 21_600, 86_400, 604_800, 2_592_000)
_MOST_STEPS: Final = 60
_MOST_CODES: Final = 5


class _List(NamedTuple):
    """A list of the report: its entries, the statement that finds them, their order, and the details queried."""

    entry: type[BaseModel]
    sql: str
    order: str
    more: Mapping[str, str] = {}


def _counts(name: str, source: str, condition: str, most: int | None = None) -> str:
    """Count the values in the calls of an entry, most frequent first."""
    return f"""
        SELECT coalesce(map_from_entries(list((name, times) ORDER BY times DESC, name)[:{most or ""}]), MAP {{}})
        FROM (SELECT {name} AS name, sum(times) AS times FROM {source} AS one WHERE {condition} GROUP BY ALL)
    """


def _outcomes(key: str) -> dict[str, str]:
    here = f"one.{key} = shown.{key}"
    codes = f"{here} AND failed AND error_code IS NOT NULL"
    return {
        "outcomes": _counts("event", "shapes", here),
        "error_codes": _counts("error_code", "shapes", codes, _MOST_CODES),
    }


_HERE: Final = "one.tool = shown.tool AND one.place = shown.place"
# A tool that existed for some of its calls is a tool.
_UNKNOWN: Final = "bool_and(coalesce(error_code = 'UNKNOWN_TOOL', false))"
_LISTS: Final[Mapping[str, _List]] = {
    "tools": _List(
        ToolFigures,
        f"""
        SELECT tool, sum(times) AS calls, coalesce(sum(times) FILTER (failed), 0) AS failed
        FROM shapes GROUP BY tool HAVING NOT {_UNKNOWN}
        """,
        "failed DESC, calls DESC, tool",
        _outcomes("tool"),
    ),
    "clients": _List(
        ClientFigures,
        """
        SELECT who, client_name AS client, client_version AS version, sum(times) AS calls,
            coalesce(sum(times) FILTER (failed), 0) AS failed
        FROM shapes GROUP BY ALL
        """,
        "failed DESC, calls DESC, client, version",
        _outcomes("who"),
    ),
    "faults": _List(
        FaultFigures,
        f"SELECT fault, sum(times) AS calls FROM shapes WHERE fault IN ({_FAULTS}) GROUP BY fault",
        "calls DESC, fault",
        {
            "tools": _counts("tool", "shapes", "one.fault = shown.fault", _MOST_CODES),
            "clients": _counts(
                "client_name", "shapes", "one.fault = shown.fault AND client_name IS NOT NULL", _MOST_CODES
            ),
            "models": _counts(
                "model", "shapes", "one.fault = shown.fault AND model IS NOT NULL", _MOST_CODES
            ),
        },
    ),
    "unknown_tools": _List(
        UnknownTool,
        f"""
        SELECT tool, sum(times) AS calls, count(DISTINCT who) AS clients FROM shapes
        GROUP BY tool HAVING {_UNKNOWN}
        """,
        "calls DESC, tool",
    ),
    # A call counts once for a place, however many items of a list are wrong there.
    "parameters": _List(
        ParameterFigures,
        """
        SELECT tool, place, sum(failed) AS failed, sum(repaired) AS repaired,
            count(DISTINCT who) FILTER (failed > 0) AS clients
        FROM (
            SELECT tool, place, who, sum(times) AS failed, 0 AS repaired
            FROM (SELECT DISTINCT * EXCLUDE (code, received) FROM faults WHERE place IS NOT NULL) GROUP BY ALL
            UNION ALL
            SELECT tool, place, who, 0, sum(calls)
            FROM (SELECT DISTINCT * EXCLUDE (rule, before, after, uses) FROM repaired) GROUP BY ALL
        )
        GROUP BY tool, place
        """,
        "failed DESC, repaired DESC, tool, place",
        {
            "codes": _counts("code", "(SELECT DISTINCT * EXCLUDE (received) FROM faults)", _HERE),
            "received": _counts(
                "received",
                "(SELECT DISTINCT * EXCLUDE (code) FROM faults)",
                f"{_HERE} AND received IS NOT NULL",
            ),
        },
    ),
    "rules": _List(
        RuleFigures,
        """
        SELECT rule, sum(uses) AS repairs, count(DISTINCT tool) AS tools, count(DISTINCT who) AS clients
        FROM repaired GROUP BY rule
        """,
        "repairs DESC, rule",
    ),
    "repeated": _List(
        RepeatedMistake,
        """
        SELECT subject, client_name AS client, client_version AS version, tool, error_code, violations, times,
            moment(earliest) AS first, moment(latest) AS last
        FROM counted_mistakes
        """,
        "times DESC, subject, client, version, tool, error_code, violations",
        {
            "places": """
            SELECT coalesce(list(DISTINCT place ORDER BY place), [])
            FROM violations WHERE list = shown.violations
            """
        },
    ),
    "unrepaired": _List(
        Unrepaired,
        """
        SELECT tool, error_code, code, place, sum(times) AS calls, count(DISTINCT who) AS clients
        FROM (SELECT DISTINCT * EXCLUDE (received) FROM faults)
        GROUP BY tool, error_code, code, place
        """,
        "calls DESC, tool, error_code, code, place",
    ),
}


def prepare(database: Database) -> None:
    """Count equal calls once for all later queries."""
    for sql in _PREPARE:
        database.run(sql)


def step(first: int | None, last: int | None, least: int = 0) -> int:
    """Return the seconds of a step of the timeline from one moment to another, in microseconds."""
    span = 0 if first is None or last is None else last - first
    fitting = (length for length in _STEPS if length >= least and span <= length * _MOST_STEPS * 1_000_000)
    return next(fitting, _STEPS[-1])


def answers(database: Database, top: int, seconds: int) -> dict[str, Any]:
    """Return the fields of :class:`mcp_lenient.devtools.report.Report` that the counts answer.

    A step of the timeline has this many seconds, and the periods that were counted fit into it.
    """
    (whole,) = database.records(_WHOLE)
    totals: dict[str, int] = {}
    lists: dict[str, list[Any]] = {}
    for name, entry in _LISTS.items():
        totals[name], lists[name] = _entries(database, entry, top)
    shown = {
        "tools": [row.tool for row in lists["tools"]],
        "clients": sorted({row.client or "" for row in lists["clients"]}),
    }
    return {
        **whole,
        **lists,
        "outcomes": dict(database.run(_OUTCOMES)),
        "timeline": Timeline() if whole["first"] is None else _timeline(database, seconds),
        "cells": [Cell.model_validate(row) for row in database.records(_CELLS, shown)],
        "found": totals,
    }


def _entries(database: Database, listing: _List, top: int) -> tuple[int, list[Any]]:
    """Return how many entries a list has, and the first of them."""
    more = "".join(f", ({sql}) AS {name}" for name, sql in listing.more.items())
    rows = database.records(
        f"WITH entries AS ({listing.sql}), shown AS ("
        f"SELECT *, count(*) OVER () AS found FROM entries ORDER BY {listing.order} LIMIT {top:d}) "
        f"SELECT *{more} FROM shown ORDER BY {listing.order}"
    )
    fields = listing.entry.model_fields
    entries = [
        listing.entry.model_validate({name: row[name] for name in row if name in fields}) for row in rows
    ]
    return (rows[0]["found"] if rows else 0), entries


def _timeline(database: Database, seconds: int) -> Timeline:
    periods = database.records(_PERIODS, {"step": seconds * 1_000_000})
    return Timeline.model_validate({"seconds": seconds, "periods": periods})
