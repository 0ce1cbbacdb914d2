"""Show the figures as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.evidence.side_by_side.contenders import OURS
from benchmarks.evidence.side_by_side.measuring import Figures, machine, measure
from benchmarks.evidence.side_by_side.workloads import SIZES_KIB, TOOLS, WORKLOADS

_SCORES = {
    "right": "right",
    "corrupted": "wrong",
    "refused": "refused",
    "unsupported": "no way",
    "crashed": "crash",
}


def main(console: Console, *, json_file: str | None = None) -> None:
    """Print all contenders side by side.

    Args:
        console: The output.
        json_file: A file for the figures as JSON.
    """
    reported = Console(stderr=True, highlight=False)
    figures = measure(lambda line: reported.print(line, style="dim"))
    found = machine()
    if json_file:
        content = {"machine": found, "contenders": [asdict(each) for each in figures]}
        Path(json_file).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    show(console, figures, found)


def show(console: Console, figures: list[Figures], found: Mapping[str, Any]) -> None:
    """Print the figures and the machine."""
    measured = [each for each in figures if not each.skipped]
    for table in (_scores(measured), *_times(measured), _growth(measured)):
        console.print(table)
    lines = [*map(_described, figures)]
    lines.append(
        f"Measured on {found['cpu']}, {found['cores']} cores, {found['system']}, Python {found['python']}, "
        f"load {found['load']} on average."
    )
    for line in lines:
        console.print(line, soft_wrap=True)


def _described(figures: Figures) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in figures.versions.items())
    how = f"skipped: {figures.skipped}" if figures.skipped else f"{versions}; {figures.used}"
    return f"{figures.name}: {how}"


def _table(title: str, *heads: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("contender", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right")
    return table


def _scores(figures: list[Figures]) -> Table:
    table = _table(f"The case table, {sum(figures[0].verdicts.values())} calls", *_SCORES.values(), "MiB")
    for each in figures:
        counts = {**each.verdicts, "right": each.verdicts.get("right", 0) + each.verdicts.get("miscoded", 0)}
        table.add_row(each.name, *(str(counts.get(name, 0)) for name in _SCORES), f"{each.peak_mib:.0f}")
    return table


def _times(figures: list[Figures]) -> Iterator[Table]:
    for kind, title in (("function", "As a function"), ("server", "Through a server")):
        chosen = [each for each in figures if each.kind == kind]
        ours = next((each.times for each in chosen if each.name == OURS[kind]), {})
        table = _table(f"{title}: microseconds a call (x: times ours)", *(work.head for work in WORKLOADS))
        for each in chosen:
            base = {} if each.times is ours else ours
            cells = (_time(each.times.get(work.name), base.get(work.name)) for work in WORKLOADS)
            table.add_row(each.name, *cells)
        if chosen:
            yield table


def _time(took: float | None, base: float | None) -> str:
    if took is None or base is None:
        return _number(took)
    return f"{_number(took)}\nx{took / base:.{0 if took / base >= 10 else 2}f}"


def _number(microseconds: float | None) -> str:
    if microseconds is None:
        return "-"
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.1f} s"
    return f"{microseconds:.{0 if microseconds >= 100 else 1}f}"


def _growth(figures: list[Figures]) -> Table:
    heads = (*(f"{kib} KiB" for kib in SIZES_KIB), *(f"{tools} tools" for tools in TOOLS))
    table = _table("An accepted call as arguments and tools grow: microseconds", *heads)
    for each in figures:
        cells = [
            *(each.sizes.get(str(kib)) for kib in SIZES_KIB),
            *(each.tools.get(str(count)) for count in TOOLS),
        ]
        table.add_row(each.name, *map(_number, cells))
    return table
