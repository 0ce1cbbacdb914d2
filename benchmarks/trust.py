"""Print the main figures in one table: nothing corrupted, nothing stalled, every real schema read."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from rich.table import Table

from benchmarks import cases, data, servers
from benchmarks.scoring import CORRUPTED, OWN, REFUSED, RIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from benchmarks.cases import Measured, Section

Figure = tuple[str, str, str]
"""What was measured, the result, and the target."""

_ROOT = Path(__file__).resolve().parents[1]
_CORPUS = _ROOT / "tests" / "cases" / "attack"
_RUNNER = _ROOT / "tests" / "attack" / "test_attack_cases.py"
_NOT_YET = "not there yet"
_MODULES = {
    "benchmarks.attacks": "recorded attacks",
    "benchmarks.references": "doubled references",
    "benchmarks.refusals": "refusals against FastMCP's own; lateness of the loop",
    "benchmarks.overhead": "accepted call against a do-nothing middleware",
}
"""Modules with a function ``figures() -> list[tuple[str, str, str]]``, and what they measure."""


def main(console: Console, *, damaged: int = 0, seed: int = 1) -> None:
    """Print the results and their targets.

    Args:
        console: The output.
        damaged: The number of damaged correct calls to try as well.
        seed: The seed for choosing damage.
    """
    servers.quiet()
    table = Table("what", "measured", "asked", title="Trust")
    for part in (lambda: _of_cases(damaged, seed), _of_attacks, *map(_of_module, _MODULES)):
        for what, measured, asked in part():
            table.add_row(what, measured, asked)
        table.add_section()
    console.print(table)


def _of_module(name: str) -> Callable[[], list[Figure]]:
    def figures() -> list[Figure]:
        if find_spec(name) is None or not hasattr(module := import_module(name), "figures"):
            return [(_MODULES[name], _NOT_YET, "")]
        found: list[Figure] = module.figures()
        return found

    return figures


# --- recorded calls -----------------------------------------------------------------------------------


def _of_cases(damaged: int, seed: int) -> Iterator[Figure]:
    try:
        folder = data.cases_folder()
    except data.MissingCasesError as missing:
        yield ("recorded calls", f"skipped: {missing}", "")
        return
    measured = asyncio.run(cases.measure(folder, cases.refusing(), damaged=damaged, seed=seed))
    for section in measured.second:
        yield (f"{section.title}, {section.kind}", _second(section), _ASKED_SECOND[section.title])
    yield from _first(measured)
    if measured.damaged:
        counts = cases.damages.counts(measured.damaged)
        reported = ", ".join(f"{counts[each]} {each}" for each in cases.damages.VERDICTS)
        yield ("damaged right calls, by schema", reported, "")


_ASKED_SECOND = {
    "reported_calls_2": "wrong 0; refused though wanted at most 3",
    "reported_calls_3": "wrong 0; refused though wanted at most 9",
    "peer_suites": "each judged",
}
_ASKED_FIRST = {
    ("conversion_cases", "default"): "53 right, 1 own",
    ("conversion_cases", "strict"): "54 right",
    ("reported_calls", "default"): "100 right, but for c138 and c141",
    ("reported_calls", "strict"): "100 right, but for c138 and c141",
    ("real_calls_valid", "schema"): "1000 right",
}


def _second(section: Section) -> str:
    rows, wrong, refused, kept, own = section.counts((CORRUPTED, REFUSED, cases.KEPT, OWN))
    return f"wrong {wrong}, refused though wanted {refused}, kept {kept}, own {own} of {rows}"


def _first(measured: Measured) -> Iterator[Figure]:
    for section in measured.first:
        rows, right, wrong, refused, own = section.counts((RIGHT, CORRUPTED, REFUSED, OWN))
        reported = f"right {right}, corrupted {wrong}, refused {refused}, own {own} of {rows}"
        yield (
            f"{section.title}, {section.kind}",
            reported,
            _ASKED_FIRST.get((section.title, section.kind), ""),
        )
    scores = [each.score for each in measured.known]
    right, wrong = (sum(score.verdict == verdict for score in scores) for verdict in (RIGHT, CORRUPTED))
    yield ("real_calls_invalid", f"right {right}, ran with others {wrong} of {len(scores)}", "111 right")
    fixes = cases.fixes(measured.known)
    yield (
        "first fix on the invalid set",
        f"right {fixes['mended']}, astray {fixes['astray']}",
        "38; at most 1",
    )


# --- the attack corpus --------------------------------------------------------------------------------


def _of_attacks() -> Iterator[Figure]:
    what, asked = "attack corpus: rows, broken", "at least 400, 0 broken"
    if not _CORPUS.is_dir() or not _RUNNER.is_file():
        yield (what, _NOT_YET, asked)
        return
    rows = [case for file in sorted(_CORPUS.glob("*.json")) for case in _cases_of(file)]
    ran, broken = _ran()
    yield (what, f"{len(rows)} rows, {ran} tests, {broken} broken", asked)


def _cases_of(file: Path) -> list[object]:
    content = json.loads(file.read_text(encoding="utf-8"))
    found = content.get("cases", []) if isinstance(content, dict) else content
    return list(found)


def _ran() -> tuple[int, int]:
    """Run the corpus as its tests do; return how many tests ran and how many failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", str(_RUNNER), "-q", "--tb=no", f"--junitxml={report}"]
        subprocess.run(command, cwd=_ROOT, check=False, capture_output=True, timeout=1200)  # noqa: S603 (our own tests)
        suites = list(ET.parse(report).getroot().iter("testsuite"))  # noqa: S314 (pytest has just written it)
    count = {key: sum(int(suite.get(key, 0)) for suite in suites) for key in ("tests", "failures", "errors")}
    return count["tests"], count["failures"] + count["errors"]
