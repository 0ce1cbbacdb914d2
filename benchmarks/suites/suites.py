"""Run FastMCP's own tests, the MCP conformance runner and the JSON Schema suite, without and with mcp-lenient."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.environments import NotInstalledError
from benchmarks.printing import line, wide_console
from benchmarks.servers import quiet
from benchmarks.suites.comparison import ACCEPTED, Compared, Outcomes, accepted, compared, differing
from benchmarks.suites.conformance import SERVERS, conformance_outcomes
from benchmarks.suites.fastmcp_tests import fastmcp_outcomes
from benchmarks.suites.schema_suite import SchemaTest, schema_outcomes, schema_tests

RESULTS = Path(__file__).with_name("results.json")


@dataclass(frozen=True, slots=True)
class Row:
    """The counts of one comparison.

    Attributes:
        suite: What was run, and where mcp-lenient was.
        tests: Tests that passed or failed without it.
        alone: Those that passed without it.
        lenient: Those that passed with it.
        differences: The tests with another outcome; None if they are not compared.
    """

    suite: str
    tests: int
    alone: int
    lenient: int
    differences: int | None


Rows = Iterator[tuple[str, Row, Compared | None]]
"""For each comparison its name in the file of accepted differences, its counts, and its differences."""


def main(*suites: Literal["fastmcp", "conformance", "schema"]) -> int:
    """Print the counts, and each difference that is not accepted or is gone; return 1 if there is one.

    Args:
        suites: Which to run; all if left out. Only then the counts are written for the page.
    """
    quiet()
    console, rows, is_whole, is_as_accepted = wide_console(), [], not suites, True
    for name in suites or _SUITES:
        started = monotonic()
        try:
            for key, row, differences in _SUITES[name]():
                rows.append(row)
                is_as_accepted &= differences is None or _reported(console, key, differences)
        except NotInstalledError as error:
            is_whole = False
            line(console, f"Skipped: {name}: {error}")
        else:
            line(console, f"{name}: {monotonic() - started:.0f} s")
    _show(console, rows)
    if is_whole and is_as_accepted:
        written = {"versions": _versions(), "rows": [asdict(row) for row in rows]}
        RESULTS.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    return 0 if is_as_accepted else 1


def _fastmcp() -> Rows:
    run = fastmcp_outcomes
    differences = compared(
        run(lenient=False),
        run(lenient=True),
        accepted("fastmcp"),
        lambda tests: (run(lenient=False, tests=tests), run(lenient=True, tests=tests)),
    )
    yield "fastmcp", _row("FastMCP's own tests, the middleware in every server", differences), differences


def _conformance() -> Rows:
    with ThreadPoolExecutor(max_workers=2) as pool:
        runs: Mapping[str, Outcomes] = dict(
            zip(SERVERS, pool.map(conformance_outcomes, SERVERS), strict=True)
        )
    for server, where in (("lenient", "with the middleware"), ("our proxy", "behind our proxy")):
        key = f"conformance, {where}"
        again = partial(_conformance_again, server)
        differences = compared(runs["bare"], runs[server], accepted(key), again)
        yield key, _row(f"MCP conformance of FastMCP's server, {where}", differences), differences
    # It loses what ours loses; another outcome may be the load's, and is tried again.
    again = partial(_conformance_again, "FastMCP's proxy")
    beside = compared(runs["bare"], runs["FastMCP's proxy"], accepted("conformance, behind our proxy"), again)
    row = _row("MCP conformance of FastMCP's server, behind FastMCP's own proxy", beside, is_compared=False)
    yield "", row, None


def _conformance_again(server: str, checks: frozenset[str]) -> tuple[Outcomes, Outcomes]:
    return conformance_outcomes("bare", checks), conformance_outcomes(server, checks)


def _schema() -> Rows:
    kinds: dict[str, list[SchemaTest]] = {"valid": [], "invalid": [], "not read": []}
    for test in schema_tests():
        kinds["valid" if test.is_valid else "invalid" if test.is_read else "not read"].append(test)
    for kind, values in (
        ("valid", "valid values, accepted unchanged"),
        ("invalid", "invalid values, not accepted"),
        ("not read", "invalid values of schemas that the log says are not read as a whole"),
    ):
        some = tuple(kinds[kind])
        key = f"schema, {kind}"
        differences = compared(*schema_outcomes(some), accepted(key))
        right = sum(differences.bare[test.name] == differences.lenient[test.name] for test in some)
        row = Row(f"JSON Schema suite, {values}", len(some), len(some), right, len(some) - right)
        yield key, row, differences


_SUITES: Mapping[str, Callable[[], Rows]] = {
    "fastmcp": _fastmcp,
    "conformance": _conformance,
    "schema": _schema,
}


def _row(suite: str, differences: Compared, *, is_compared: bool = True) -> Row:
    bare, lenient = (Counts.of(outcomes) for outcomes in (differences.bare, differences.lenient))
    count = len(differing(differences.bare, differences.lenient)) if is_compared else None
    return Row(suite, bare.tests, bare.passed, lenient.passed, count)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many tests passed or failed, and how many passed."""

    tests: int
    passed: int

    @classmethod
    def of(cls, outcomes: Outcomes) -> Counts:
        """Count outcomes."""
        ends = [outcome for outcome in outcomes.values() if outcome in ("passed", "failed")]
        return cls(len(ends), ends.count("passed"))


def _reported(console: Console, key: str, differences: Compared) -> bool:
    """Print what is not as accepted; return whether all is."""
    for test, outcomes in differences.new.items():
        line(console, f"NEW in {key}: {test}: {outcomes}")
    for test in sorted(differences.gone):
        line(console, f"GONE from {key}, so take it from {ACCEPTED.name}: {test}")
    for test in sorted(differences.flaky):
        line(console, f"Another outcome alone, in {key}: {test}")
    return differences.is_as_accepted


def _show(console: Console, rows: list[Row]) -> None:
    table = Table("", "tests", "pass alone", "pass with mcp-lenient", "differences", box=box.SIMPLE_HEAD)
    for row in rows:
        counts = (row.tests, row.alone, row.lenient, "-" if row.differences is None else row.differences)
        table.add_row(row.suite, *(f"{count:,}" if isinstance(count, int) else count for count in counts))
    console.print(table)


def _versions() -> Mapping[str, Any]:
    return {name: version(name) for name in ("fastmcp", "mcp", "jsonschema")}
