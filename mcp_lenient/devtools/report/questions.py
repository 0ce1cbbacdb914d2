"""Ask the calls: one statement for each question, most frequent first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from mcp_lenient.devtools.report.database import Database
from mcp_lenient.devtools.report.model import (
    Cell,
    ClientFigures,
    ParameterFigures,
    Period,
    RepeatedMistake,
    RuleFigures,
    Timeline,
    ToolFigures,
    UnknownTool,
    Unrepaired,
)

REPEATED_TIMES: Final = 3
"""How often a caller must send the same wrong call to be listed."""
# Calls that differ in nothing but their time, subject and duration, counted. Client and version are told
# apart by a character that neither can hold.
PREPARE: Final = (
    """
    CREATE TABLE shapes AS
    SELECT counted.* REPLACE (v.list AS violations, r.list AS repairs, h.list AS hints)
    FROM (
        SELECT tool, client_name, client_version, concat(client_name, chr(31), client_version) AS who, event, failed,
            error_code, violations, repairs, hints, count(*) AS times
        FROM calls GROUP BY ALL
    ) AS counted
    LEFT JOIN violations_lists AS v ON counted.violations = v.raw
    LEFT JOIN repairs_lists AS r ON counted.repairs = r.raw
    LEFT JOIN hints_lists AS h ON counted.hints = h.raw
    """,
    """
    CREATE TABLE faults AS
    SELECT shapes.*, code, place, received FROM shapes
    LEFT JOIN violations AS listed ON shapes.violations = listed.list WHERE failed
    """,
    """
    CREATE TABLE mended AS
    SELECT shapes.* EXCLUDE (times), shapes.times AS calls, rule, place, before, after, listed.times * shapes.times AS uses
    FROM shapes JOIN repairs AS listed ON shapes.repairs = listed.list
    """,
    f"""
    CREATE TABLE repeated AS
    SELECT found.* EXCLUDE (violations), list AS violations
    FROM (
        SELECT subject, client_name, client_version, tool, error_code, violations, count(*) AS times,
            min(micros) AS first, max(micros) AS last
        FROM calls WHERE failed GROUP BY ALL HAVING times >= {REPEATED_TIMES}
    ) AS found
    LEFT JOIN violations_lists ON found.violations = raw
    """,
)
OUTCOMES: Final = "SELECT event, sum(times) FROM shapes GROUP BY event ORDER BY sum(times) DESC, event"
WHOLE: Final = """
    SELECT count(*), min(micros), max(micros), coalesce(CAST(avg(duration_us) AS BIGINT), 0),
        coalesce(approx_quantile(duration_us, 0.5), 0), coalesce(approx_quantile(duration_us, 0.95), 0),
        coalesce(max(duration_us), 0)
    FROM calls
"""
PERIODS: Final = """
    SELECT micros // $step AS period, event, count(*) FROM calls
    WHERE micros IS NOT NULL GROUP BY period, event ORDER BY period, event
"""
# A tool that was there for some of its calls is one.
_UNKNOWN: Final = "bool_and(coalesce(error_code = 'UNKNOWN_TOOL', false))"
TOOLS: Final = f"""
    SELECT tool, sum(times) AS calls, coalesce(sum(times) FILTER (failed), 0) AS failed
    FROM shapes GROUP BY tool HAVING NOT {_UNKNOWN} ORDER BY failed DESC, calls DESC, tool
"""
UNKNOWN_TOOLS: Final = f"""
    SELECT tool, sum(times) AS calls, count(DISTINCT who) FROM shapes
    GROUP BY tool HAVING {_UNKNOWN} ORDER BY calls DESC, tool
"""
CLIENTS: Final = """
    SELECT who, client_name, client_version, sum(times) AS calls, coalesce(sum(times) FILTER (failed), 0) AS failed
    FROM shapes GROUP BY ALL ORDER BY failed DESC, calls DESC, client_name, client_version
"""
OUTCOMES_BY: Final = {
    key: f"""
    SELECT {key}, event, sum(times) FROM shapes WHERE list_contains($shown, {key})
    GROUP BY ALL ORDER BY {key}, sum(times) DESC, event
"""
    for key in ("tool", "who")
}
CODES_BY: Final = {
    key: f"""
    SELECT {key}, error_code, sum(times) FROM shapes
    WHERE failed AND error_code IS NOT NULL AND list_contains($shown, {key})
    GROUP BY ALL ORDER BY {key}, sum(times) DESC, error_code
"""
    for key in ("tool", "who")
}
CELLS: Final = """
    SELECT tool, client_name, sum(times), coalesce(sum(times) FILTER (failed), 0)
    FROM shapes WHERE list_contains($tools, tool) AND list_contains($clients, coalesce(client_name, ''))
    GROUP BY ALL ORDER BY tool, client_name
"""
RULES: Final = """
    SELECT rule, sum(uses) AS uses, sum(calls), count(DISTINCT tool), count(DISTINCT who) FROM (
        SELECT rule, tool, who, event, error_code, violations, repairs, hints, sum(uses) AS uses, any_value(calls) AS calls
        FROM mended GROUP BY ALL
    ) GROUP BY rule ORDER BY uses DESC, rule
"""
PARAMETERS: Final = """
    SELECT tool, place, sum(failed) AS failed, sum(repaired) AS repaired, count(DISTINCT who) FILTER (failed > 0)
    FROM (
        SELECT tool, place, who, sum(times) AS failed, 0 AS repaired
        FROM (SELECT DISTINCT * EXCLUDE (code, received) FROM faults WHERE place IS NOT NULL) GROUP BY ALL
        UNION ALL
        SELECT tool, place, who, 0, sum(calls)
        FROM (SELECT DISTINCT * EXCLUDE (rule, before, after, uses) FROM mended) GROUP BY ALL
    )
    GROUP BY tool, place ORDER BY failed DESC, repaired DESC, tool, place
"""
PLACE_CODES: Final = """
    SELECT [tool, place], code, sum(times) FROM (SELECT DISTINCT * EXCLUDE (received) FROM faults)
    WHERE list_contains($shown, [tool, place]) GROUP BY ALL ORDER BY [tool, place], sum(times) DESC, code
"""
PLACE_TYPES: Final = """
    SELECT [tool, place], received, sum(times) FROM (SELECT DISTINCT * EXCLUDE (code) FROM faults)
    WHERE received IS NOT NULL AND list_contains($shown, [tool, place])
    GROUP BY ALL ORDER BY [tool, place], sum(times) DESC, received
"""
UNREPAIRED: Final = """
    SELECT tool, error_code, code, place, sum(times) AS calls, count(DISTINCT who)
    FROM (SELECT DISTINCT * EXCLUDE (received) FROM faults)
    GROUP BY tool, error_code, code, place ORDER BY calls DESC, tool, error_code, code, place
"""
REPEATED: Final = """
    SELECT subject, client_name, client_version, tool, error_code, violations, times, first, last
    FROM repeated ORDER BY times DESC, subject, client_name, client_version, tool, error_code, violations
"""
PLACES: Final = (
    "SELECT DISTINCT list, place FROM violations WHERE list_contains($shown, list) ORDER BY list, place"
)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_STEPS: Final = (60, 300, 900, 3600, 10_800, 21_600, 86_400, 604_800, 2_592_000)
_MOST_STEPS: Final = 60
_MOST_CODES: Final = 5


def prepare(database: Database) -> None:
    """Count equal calls, once, for all later questions."""
    for sql in PREPARE:
        database.run(sql)


class Questions:
    """Answers every question, as fields of the report.

    Args:
        database: With the tables of :func:`mcp_lenient.devtools.report.intake.take_in`, prepared.
        top: How many entries a list has at most.
    """

    __slots__ = ("_database", "_found", "_top")

    def __init__(self, database: Database, top: int) -> None:
        self._database = database
        self._top = top
        self._found: dict[str, int] = {}

    def answers(self) -> dict[str, Any]:
        """Return the fields of :class:`mcp_lenient.devtools.report.Report` that the calls answer."""
        ((calls, first, last, *durations),) = self._database.run(WHOLE)
        tools, clients = self._tools(), self._clients()
        return {
            "calls": calls,
            "first": moment(first),
            "last": moment(last),
            "outcomes": dict(self._database.run(OUTCOMES)),
            "duration_us": dict(zip(("mean", "median", "p95", "max"), durations, strict=True)),
            "timeline": self._timeline(first, last),
            "tools": tools,
            "unknown_tools": self._unknown_tools(),
            "parameters": self._parameters(),
            "rules": self._rules(),
            "clients": clients,
            "cells": self._cells(tools, clients),
            "repeated": self._repeated(),
            "unrepaired": self._unrepaired(),
            "found": dict(self._found),
        }

    def _first(self, name: str, sql: str) -> list[tuple[Any, ...]]:
        """Return the first rows of a list, and keep how many there are in all."""
        ((self._found[name],),) = self._database.run(f"SELECT count(*) FROM ({sql})")
        return self._database.run(f"{sql} LIMIT {self._top:d}")

    def _by_key(self, sql: str, shown: Iterable[Any], most: int | None = None) -> dict[Any, dict[str, int]]:
        rows = self._database.run(sql, {"shown": list(shown)})
        return {
            key if isinstance(key, str) else tuple(key): {
                name: times for _, name, times in list(group)[:most]
            }
            for key, group in groupby(rows, itemgetter(0))
        }

    def _timeline(self, first: int | None, last: int | None) -> Timeline:
        if first is None or last is None:
            return Timeline()
        span = (last - first) / 1_000_000
        seconds = next((step for step in _STEPS if span / step <= _MOST_STEPS), _STEPS[-1])
        step = seconds * 1_000_000
        rows = self._database.run(PERIODS, {"step": step})
        periods = tuple(
            Period.model_validate(
                {"start": moment(period * step), "outcomes": {event: times for _, event, times in group}}
            )
            for period, group in groupby(rows, itemgetter(0))
        )
        return Timeline(seconds=seconds, periods=periods)

    def _tools(self) -> tuple[ToolFigures, ...]:
        return tuple(
            ToolFigures.model_validate({"tool": tool, **figures})
            for (tool, *_), figures in self._with_outcomes("tools", TOOLS, "tool")
        )

    def _clients(self) -> tuple[ClientFigures, ...]:
        return tuple(
            ClientFigures.model_validate({"client": client, "version": version, **figures})
            for (_, client, version, *_), figures in self._with_outcomes("clients", CLIENTS, "who")
        )

    def _with_outcomes(
        self, name: str, sql: str, key: str
    ) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Yield the first rows of a list, which begin with a key and end with two counts, with their outcomes."""
        rows = self._first(name, sql)
        shown = [row[0] for row in rows]
        outcomes = self._by_key(OUTCOMES_BY[key], shown)
        codes = self._by_key(CODES_BY[key], shown, _MOST_CODES)
        for row in rows:
            *_, calls, failed = row
            yield (
                row,
                {
                    "calls": calls,
                    "failed": failed,
                    "outcomes": outcomes[row[0]],
                    "error_codes": codes.get(row[0], {}),
                },
            )

    def _unknown_tools(self) -> tuple[UnknownTool, ...]:
        rows = self._first("unknown_tools", UNKNOWN_TOOLS)
        return tuple(UnknownTool(tool=tool, calls=calls, clients=clients) for tool, calls, clients in rows)

    def _cells(self, tools: Iterable[ToolFigures], clients: Iterable[ClientFigures]) -> tuple[Cell, ...]:
        shown = {
            "tools": [each.tool for each in tools],
            "clients": sorted({each.client or "" for each in clients}),
        }
        rows = self._database.run(CELLS, shown)
        return tuple(Cell(tool=row[0], client=row[1], calls=row[2], failed=row[3]) for row in rows)

    def _parameters(self) -> tuple[ParameterFigures, ...]:
        rows = self._first("parameters", PARAMETERS)
        shown = [[tool, place] for tool, place, *_ in rows]
        codes, received = (
            self._by_key(PLACE_CODES, shown),
            self._by_key(PLACE_TYPES, shown),
        )
        return tuple(
            ParameterFigures.model_validate(
                {
                    "tool": tool,
                    "place": place,
                    "failed": failed,
                    "repaired": repaired,
                    "clients": clients,
                    "codes": codes.get((tool, place), {}),
                    "received": received.get((tool, place), {}),
                }
            )
            for tool, place, failed, repaired, clients in rows
        )

    def _rules(self) -> tuple[RuleFigures, ...]:
        return tuple(
            RuleFigures(rule=rule, repairs=uses, calls=calls, tools=tools, clients=clients)
            for rule, uses, calls, tools, clients in self._first("rules", RULES)
        )

    def _repeated(self) -> tuple[RepeatedMistake, ...]:
        rows = self._first("repeated", REPEATED)
        places: Mapping[int, list[str]] = {
            number: [place for _, place in group]
            for number, group in groupby(
                self._database.run(PLACES, {"shown": [row[5] for row in rows if row[5] is not None]}),
                itemgetter(0),
            )
        }
        return tuple(
            RepeatedMistake(
                subject=subject,
                client=client,
                version=version,
                tool=tool,
                error_code=code,
                places=tuple(places.get(number, ())),
                times=times,
                first=moment(first),
                last=moment(last),
            )
            for subject, client, version, tool, code, number, times, first, last in rows
        )

    def _unrepaired(self) -> tuple[Unrepaired, ...]:
        return tuple(
            Unrepaired(tool=tool, error_code=error_code, code=code, place=place, calls=calls, clients=clients)
            for tool, error_code, code, place, calls, clients in self._first("unrepaired", UNREPAIRED)
        )


def moment(micros: int | None) -> datetime | None:
    """Return the time that a row holds."""
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)
