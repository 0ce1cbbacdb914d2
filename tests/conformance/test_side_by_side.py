"""Test that the side-by-side comparison's tables and picture are complete and readable."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from xml.etree import ElementTree as ET

from rich.console import Console

from benchmarks.evidence.plot import picture
from benchmarks.evidence.side_by_side.contenders import CONTENDERS
from benchmarks.evidence.side_by_side.measuring import Figures, machine
from benchmarks.evidence.side_by_side.tables import show
from benchmarks.evidence.side_by_side.workloads import SIZES_KIB, TOOLS, WORKLOADS


def _figures():
    made = [Figures(each.name, each.kind, each.used, {"package": "1.0"}) for each in CONTENDERS]
    for at, each in enumerate(made):
        each.verdicts = (
            {"right": 500 + at, "refused": 70, "corrupted": at} if at else {"right": 570, "miscoded": 7}
        )
        each.times = {work.name: 123456.7 if at else 5.0 for work in WORKLOADS}
        each.sizes = {str(kib): 123456.7 for kib in SIZES_KIB}
        each.tools = {str(tools): None for tools in TOOLS}
    return [*made, Figures("gone", "function", "", skipped="cannot be installed")]


def test_the_tables_are_whole_at_80_columns():
    """Tables with any results fit into 80 columns, and name each skipped contender with the reason."""
    output = io.StringIO()
    show(Console(file=output, width=80), _figures(), machine())
    reported = output.getvalue()
    assert "…" not in reported
    assert "577" in reported
    assert "gone: skipped: cannot be installed" in reported
    assert all(each.name in reported for each in CONTENDERS)


def test_the_chart_is_drawn_from_the_figures():
    """The saved figures become an SVG with a row for each contender that was measured."""
    written = json.loads(
        json.dumps({"machine": machine(), "contenders": [asdict(each) for each in _figures()]})
    )
    drawn = ET.fromstring(picture(written))  # noqa: S314 - made in this test
    texts = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {each.name for each in CONTENDERS} <= set(texts)
    assert "gone" not in texts
