"""A report as text: for a terminal of any width, and for a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mcp_lenient.events import EventName
from mcp_lenient.one_line import escaped
from mcp_lenient.report.model import Report, Timeline
from mcp_lenient.report.wording import NUMBERS, TITLES, as_rows, head, outcome, span, title

STYLES: Final[Mapping[EventName, str]] = {
    "call_accepted": "green",
    "call_repaired": "cyan",
    "call_observed": "blue",
    "call_forwarded": "yellow",
    "call_rejected": "red",
    "call_refused_upstream": "magenta",
    "call_unanswered": "bright_black",
}
"""What each outcome looks like."""

_BAR: Final = 30
_BLOCKS: Final = " ▁▂▃▄▅▆▇█"
_LONGEST: Final = 2000


def as_text(report: Report) -> RenderableType:
    """What a report says, to be printed with rich; no text of a log is taken for markup."""
    parts: list[RenderableType] = []
    for part in _parts(report):
        parts += [part, Text()]
    return Group(*parts[:-1])


def _parts(report: Report) -> Iterator[RenderableType]:
    yield Text("\n").join(_plain(line, "" if number else "bold") for number, line in enumerate(head(report)))
    if not report.calls:
        return
    yield _outcomes(report)
    yield _over_time(report.timeline)
    for name in TITLES:
        if getattr(report, name):
            yield _table(report, name)
    yield _advice(report)


def _outcomes(report: Report) -> Table:
    table = _grid(4)
    for event, times in report.outcomes.items():
        share, style = times / report.calls, STYLES[event]
        bar = Text("█" * max(1, round(_BAR * share)), style=style)
        table.add_row(Text(outcome(event), style=style), Text(f"{times:,}"), Text(f"{share:.1%}"), bar)
    table.columns[1].justify = table.columns[2].justify = "right"
    return table


def _over_time(timeline: Timeline) -> RenderableType:
    """One character a step: all calls, and those that were refused."""
    if not timeline.periods:
        return Text("No event has a time, so there is nothing to show over time.")
    first = timeline.periods[0].start
    places = [int((period.start - first).total_seconds()) // timeline.seconds for period in timeline.periods]
    calls, refused = [0] * (places[-1] + 1), [0] * (places[-1] + 1)
    for at, period in zip(places, timeline.periods, strict=True):
        calls[at] = sum(period.outcomes.values())
        refused[at] = period.outcomes.get("call_rejected", 0)
    grid = _grid(3)
    for name, counts in (("calls", calls), ("refused", refused)):
        grid.add_row(Text(name), _spark(counts), Text(f"{max(counts):,} at most"))
    return Group(Text(f"Over time, each step is {span(timeline.seconds)}", style="bold"), grid)


def _spark(counts: list[int]) -> Text:
    most = max(counts) or 1
    return Text("".join(_BLOCKS[-(-8 * count // most)] for count in counts), no_wrap=True, overflow="crop")


def _table(report: Report, name: str) -> Table:
    columns, rows = as_rows(report, name)
    table = Table(
        title=_plain(title(report, name), "bold"),
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="dim",
    )
    for column in columns:
        number = column in NUMBERS
        table.add_column(
            column, justify="right" if number else "left", no_wrap=number, overflow="fold", min_width=6
        )
    for row in rows:
        table.add_row(*(_plain(f"{cell:,}" if isinstance(cell, int) else cell) for cell in row))
    return table


def _advice(report: Report) -> RenderableType:
    if not report.advice:
        return Text("Nothing in this log calls for a change.", style="bold")
    grid = _grid(2)
    grid.columns[0].justify = "right"
    grid.columns[1].overflow = "fold"
    for number, each in enumerate(report.advice, 1):
        declared = (_plain(line, "cyan") for line in (each.python, each.definition) if line)
        grid.add_row(Text(f"{number}."), Text("\n").join([_plain(each.text), *declared]))
    return Group(Text("Advice", style="bold"), grid)


def _grid(columns: int) -> Table:
    grid = Table.grid(padding=(0, 1), pad_edge=False)
    for _ in range(columns):
        grid.add_column()
    return grid


def _plain(text: str, style: str = "") -> Text:
    return Text(escaped(text, limit=_LONGEST), style=style)
