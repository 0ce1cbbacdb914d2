"""Print the main figures in one table: nothing corrupted, nothing stalled, every real schema read."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from rich.table import Table

from benchmarks import data, servers
from benchmarks.evidence import attacks, references, refusals
from benchmarks.quality import cases
from benchmarks.quality.scoring import CORRUPTED, KEPT, OWN, REFUSED, RIGHT
from benchmarks.speed import overhead

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from benchmarks.quality.cases import Section

Figure = tuple[str, str, str]
"""What was measured, the result, and the target."""

_ROOT = Path(__file__).resolve().parents[2]
_CORPUS = _ROOT / "tests" / "cases" / "attack"
_RUNNER = _ROOT / "tests" / "attack" / "test_attack_cases.py"


def main(console: Console, *, damaged: int = 0, seed: int = 1) -> None:
    """Print the results and their targets.

    Args:
        console: The output.
        damaged: The number of damaged correct calls to try as well.
        seed: The seed for choosing damage.
    """
    servers.quiet()
    table = Table("what", "measured", "asked", title="Trust")
    modules = (attacks, references, refusals, overhead)
    for part in (lambda: _of_cases(damaged, seed), _of_attacks, *(each.figures for each in modules)):
        for figure in part():
            table.add_row(*figure)
        table.add_section()
    console.print(table)


_ASKED = {
    ("reported_calls_2", None): "wrong 0; refused though wanted at most 3",
    ("reported_calls_3", None): "wrong 0; refused though wanted at most 9",
    ("peer_suites", None): "each judged",
    ("conversion_cases", "default"): "53 right, 1 own",
    ("conversion_cases", "strict"): "54 right",
    ("reported_calls", "default"): "100 right, but for c138 and c141",
    ("reported_calls", "strict"): "100 right, but for c138 and c141",
    ("real_calls_valid", "schema"): "1000 right",
}


def _of_cases(damaged: int, seed: int) -> Iterator[Figure]:
    try:
        folder = data.cases_folder()
    except data.MissingCasesError as missing:
        yield ("recorded calls", f"skipped: {missing}", "")
        return
    measured = asyncio.run(cases.measure(folder, cases.refusing(), damaged=damaged, seed=seed))
    for section in (*measured.second, *measured.first):
        key = (section.title, None if section in measured.second else section.kind)
        yield (f"{section.title}, {section.kind}", _counted(section), _ASKED.get(key, ""))
    scores = [each.score for each in measured.known]
    right, wrong = (sum(score.verdict == verdict for score in scores) for verdict in (RIGHT, CORRUPTED))
    yield ("real_calls_invalid", f"right {right}, ran with others {wrong} of {len(scores)}", "111 right")
    fixes = cases.fixes(measured.known)
    led = f"right {fixes['mended']}, astray {fixes['astray']}"
    yield ("first fix on the invalid set", led, "38; at most 1")
    if measured.damaged:
        counts = cases.damages.counts(measured.damaged)
        reported = ", ".join(f"{counts[each]} {each}" for each in cases.damages.VERDICTS)
        yield ("damaged right calls, by schema", reported, "")


def _counted(section: Section) -> str:
    rows, *counts = section.counts((RIGHT, CORRUPTED, REFUSED, KEPT, OWN))
    words = ("right", "wrong", "refused though wanted", "kept", "own")
    return f"{', '.join(map(' '.join, zip(words, counts, strict=True)))} of {rows}"


def _of_attacks() -> Iterator[Figure]:
    """Run the attack corpus as its tests do."""
    rows = sum(len(json.loads(file.read_text(encoding="utf-8"))["cases"]) for file in _CORPUS.glob("*.json"))
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", str(_RUNNER), "-q", "--tb=no", f"--junitxml={report}"]
        subprocess.run(command, cwd=_ROOT, check=False, capture_output=True, timeout=1200)  # noqa: S603 (our own tests)
        suites = list(ET.parse(report).getroot().iter("testsuite"))  # noqa: S314 (pytest has just written it)
    tests, *broken = (
        sum(int(suite.get(key, 0)) for suite in suites) for key in ("tests", "failures", "errors")
    )
    measured = f"{rows} rows, {tests} tests, {sum(broken)} broken"
    yield ("attack corpus: rows, broken", measured, "at least 400, 0 broken")
