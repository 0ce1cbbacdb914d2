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

from benchmarks.side_by_side.contenders import CONTENDERS, OURS
from benchmarks.side_by_side.measuring import Figures, machine, measure
from benchmarks.side_by_side.workloads import SIZES_KIB, TOOLS, WORKLOADS

_SCORES = ("right", "corrupted", "refused", "unsupported", "crashed")
_HEADS = ("right", "wrong", "refused", "no way", "crash")


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
    on = f"{found['cpu']}, {found['cores']} cores, {found['system']}, Python {found['python']}, load {found['load']} on average"
    measured = [each for each in figures if not each.skipped]
    for table in (_scores(measured), *_times(measured), _growth(measured)):
        console.print(table)
    for line in _quicker(measured):
        console.print(line, soft_wrap=True)
    for each in figures:
        console.print(
            f"{each.name}: {(each.skipped and 'skipped: ' + each.skipped) or _reported(each)}", soft_wrap=True
        )
    console.print(f"Measured on {on}.", soft_wrap=True)


def _quicker(figures: list[Figures]) -> Iterator[str]:
    """Print which contenders are faster than this project, on which calls, and why."""
    by_name = {each.name: each for each in figures}
    reasons = {each.name: each.quicker for each in CONTENDERS}
    for each in figures:
        ours = by_name.get(OURS[each.kind])
        if ours is None or each.name.startswith("mcp-lenient"):
            continue
        heads = [
            work.head
            for work in WORKLOADS
            if (took := each.times.get(work.name)) and took < (ours.times.get(work.name) or 0)
        ]
        if heads:
            yield f"Quicker than {ours.name}: {each.name} on {', '.join(heads)}: {reasons[each.name] or 'not looked into'}."


def _reported(figures: Figures) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in figures.versions.items())
    return f"{versions}; {figures.used}"


def _table(title: str, *heads: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("contender", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right")
    return table


def _scores(figures: list[Figures]) -> Table:
    total = sum(figures[0].verdicts.values())
    table = _table(f"The case table, {total} calls", *_HEADS, "MiB")
    for each in figures:
        counts = dict(each.verdicts)
        counts["right"] = counts.get("right", 0) + counts.get("miscoded", 0)
        table.add_row(each.name, *(str(counts.get(name, 0)) for name in _SCORES), f"{each.peak_mib:.0f}")
    return table


def _times(figures: list[Figures]) -> list[Table]:
    tables = []
    for kind, title in (("function", "As a function"), ("server", "Through a server")):
        chosen = [each for each in figures if each.kind == kind]
        if not chosen:
            continue
        ours = next((each for each in chosen if each.name == OURS[kind]), None)
        table = _table(f"{title}: microseconds a call (x: times ours)", *(work.head for work in WORKLOADS))
        for each in chosen:
            table.add_row(
                each.name, *(_time(each.times, ours and ours.times, work.name) for work in WORKLOADS)
            )
        tables.append(table)
    return tables


def _time(times: dict[str, float | None], ours: Any, name: str) -> str:
    took = times.get(name)
    if took is None:
        return "-"
    base = ours and ours.get(name)
    return _number(took) + (f"\nx{_ratio(took / base)}" if base and times is not ours else "")


def _ratio(times: float) -> str:
    return f"{times:.0f}" if times >= 10 else f"{times:.2f}"


def _number(microseconds: float) -> str:
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.1f} s"
    return f"{microseconds:.0f}" if microseconds >= 100 else f"{microseconds:.1f}"


def _growth(figures: list[Figures]) -> Table:
    heads = (*(f"{kib} KiB" for kib in SIZES_KIB), *(f"{tools} tools" for tools in TOOLS))
    table = _table("An accepted call as arguments and tools grow: microseconds", *heads)
    for each in figures:
        cells = [each.sizes.get(str(kib)) for kib in SIZES_KIB] + [
            each.tools.get(str(count)) for count in TOOLS
        ]
        table.add_row(each.name, *("-" if cell is None else _number(cell) for cell in cells))
    return table
