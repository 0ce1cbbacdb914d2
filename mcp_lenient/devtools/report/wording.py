"""Format the report as text, for a terminal of any width or a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from mcp_lenient.devtools.printing import count
from mcp_lenient.devtools.report.model import (
    ClientFigures,
    LogFigures,
    ParameterFigures,
    RepeatedMistake,
    Report,
    Timeline,
    ToolFigures,
    Unrepaired,
)
from mcp_lenient.telemetry.events import EventName
from mcp_lenient.values.display import cut, shown

TableCell = str | int
_MOST_SKIPPED: Final = 20
_LONGEST_CLIENT: Final = 40
_LONGEST_VERSION: Final = 20
_RAN: Final[frozenset[EventName]] = frozenset({"call_accepted", "call_repaired", "call_observed"})
"""The outcomes of calls that need no change."""


def outcome(event: EventName) -> str:
    """Return the outcome of a call in one word; a tool whose own code failed has raised, since any call may fail.

    >>> outcome("call_rejected"), outcome("call_failed")
    ('rejected', 'raised')
    """
    return "raised" if event == "call_failed" else event.removeprefix("call_")


def base(report: Report) -> str:
    """Return what the shares of all calls are shares of."""
    logged = "logged calls" if "call_accepted" not in report.outcomes else "calls"
    return f"% of {report.calls:,} {logged}"


def head(report: Report) -> Iterator[str]:
    """Yield the lines that say what was read."""
    log = report.log
    when = f", {_time(report.first)} to {_time(report.last)}" if report.first else ""
    yield f"{count(report.calls, 'call')}{when}"
    yield (
        f"{sources(log)}, {count(log.lines, 'line')}: {count(log.events, 'event')}, "
        f"{log.foreign:,} from other programs or cut off"
        if log.lines
        else f"{sources(log)}: empty"
    )
    if log.undated:
        yield f"{count(log.undated, 'event')} without a readable time"
    if log.cut_files:
        yield f"{count(log.cut_files, 'compressed file')} ended too early and was read up to that point"
    yield from skipped(log)
    chosen = report.selection.model_dump(exclude_none=True)
    if chosen:
        yield "only " + ", ".join(f"{name} {_shown(value)}" for name, value in chosen.items())
    if report.calls and "call_accepted" not in report.outcomes:
        yield "accepted calls are not in this log (they are logged at level DEBUG)"


def no_advice(report: Report) -> str:
    """Say why there is no advice."""
    if all(event in _RAN for event in report.outcomes):
        return "Nothing in this log calls for a change."
    return "No advice: too few of the calls that failed are alike. It takes at least three."


def skipped(log: LogFigures) -> Iterator[str]:
    """Yield a line for each file that is not a log, with the reason."""
    for file in log.skipped[:_MOST_SKIPPED]:
        yield f"skipped {file.file}: {file.reason}"
    if len(log.skipped) > _MOST_SKIPPED:
        yield f"skipped {len(log.skipped) - _MOST_SKIPPED:,} more files"


def sources(log: LogFigures) -> str:
    """Return what was read, such as ``standard input and 2 files``."""
    files = log.files - log.stdin
    parts = ["standard input"] * log.stdin + [count(log.tables, "table")] * (log.tables > 0)
    return " and ".join(parts + [count(files, "file")] * (files > 0)) or "no file"


class _Table(NamedTuple):
    """A table: its title, its columns, and the cells of an entry."""

    title: str
    columns: Sequence[str]
    cells: Callable[[Any], tuple[TableCell, ...]]


def _with_outcomes(name: str, row: ToolFigures | ClientFigures) -> tuple[TableCell, ...]:
    repaired = row.outcomes.get("call_repaired", 0)
    share = f"{row.failed / row.calls:.0%}"
    return name, row.calls, repaired, row.failed, share, next(iter(row.error_codes), "")


def _parameter(row: ParameterFigures) -> tuple[TableCell, ...]:
    came = f" (came: {', '.join(row.received)})" if row.received and "type" in row.codes else ""
    return (row.tool, row.place or "(arguments)", row.failed, row.repaired, _times(row.codes) + came)


def _times(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{name} {times:,}" for name, times in counts.items())


def _repeated(row: RepeatedMistake) -> tuple[TableCell, ...]:
    who = client(row.client, row.version)
    mistake = " ".join(filter(None, (row.error_code, *row.places[:2])))
    over = "" if row.first is None or row.last is None else span((row.last - row.first).total_seconds())
    return (f"{row.subject} ({who})" if row.subject else who, row.tool, row.times, over, mistake)


def _unrepaired(row: Unrepaired) -> tuple[TableCell, ...]:
    where = f"{row.code} {row.place}" if row.code else ""
    return row.tool, row.error_code or "", where, row.calls, row.clients


_OUTCOMES: Final = ("calls", "repaired", "failed", "% failed", "most frequent error")
TABLES: Final[Mapping[str, _Table]] = {
    "tools": _Table(
        "Tools, by calls that no rule could repair",
        ("tool", *_OUTCOMES),
        lambda row: _with_outcomes(row.tool, row),
    ),
    "faults": _Table(
        "Why calls came to nothing",
        ("reason", "calls", "by tool", "by client", "by model"),
        lambda row: (
            row.fault,
            row.calls,
            _times(row.tools),
            _times({client(name): times for name, times in row.clients.items()}),
            _times(row.models) or "(not told)",
        ),
    ),
    "unknown_tools": _Table(
        "Called tools that do not exist",
        ("name", "calls", "clients"),
        lambda row: (row.tool, row.calls, row.clients),
    ),
    "parameters": _Table(
        "Parameters, by calls that no rule could repair",
        ("tool", "parameter", "failed", "repaired", "what is wrong"),
        _parameter,
    ),
    "rules": _Table(
        "Repairs",
        ("rule", "repairs", "tools", "clients"),
        lambda row: (row.rule, row.repairs, row.tools, row.clients),
    ),
    "clients": _Table(
        "Clients",
        ("client", *_OUTCOMES),
        lambda row: _with_outcomes(client(row.client, row.version), row),
    ),
    "repeated": _Table(
        "Callers that repeat a mistake", ("caller", "tool", "times", "over", "mistake"), _repeated
    ),
    "unrepaired": _Table(
        "Errors that no rule could repair", ("tool", "error", "where", "calls", "clients"), _unrepaired
    ),
}
"""The tables in their order, by the fields of the report."""
NUMBERS: Final = frozenset(
    {"calls", "repaired", "failed", "% failed", "repairs", "tools", "clients", "times"}
)
"""The columns that are aligned to the right."""


def title(report: Report, name: str) -> str:
    """Return the title of a table, with the number of entries shown if some are left out."""
    listed, total = len(getattr(report, name)), report.found[name]
    return TABLES[name].title + (f" ({listed:,} of {total:,})" if total > listed else "")


def rows(report: Report, name: str) -> list[list[str]]:
    """Return the rows of a table."""
    cells = map(TABLES[name].cells, getattr(report, name))
    return [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in cells]


def client(name: str | None, version: str | None = None) -> str:
    """Return the name of a client with its version, each cut where it would fill a line."""
    parts = (cut(name or "", _LONGEST_CLIENT), cut(version or "", _LONGEST_VERSION))
    return " ".join(filter(None, parts)) or "(none)"


def span(seconds: float) -> str:
    """Return a length of time in its largest unit of which there are two, or exactly one.

    >>> span(3600), span(5400), span(259_200)
    ('1 hour', '90 minutes', '3 days')
    """
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds == size or seconds >= 2 * size:
            return count(round(seconds / size), unit)
    return count(round(seconds), "second")


def _time(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def _shown(value: object) -> str:
    return _time(value) if isinstance(value, datetime) else str(value)


STYLES: Final[Mapping[EventName, str]] = {
    "call_accepted": "green",
    "call_repaired": "cyan",
    "call_observed": "blue",
    "call_forwarded": "yellow",
    "call_rejected": "red",
    "call_refused_upstream": "magenta",
    "call_unanswered": "bright_black",
    "call_failed": "bright_red",
}
"""What each outcome looks like."""
_BAR: Final = 30
_BLOCKS: Final = " ▁▂▃▄▅▆▇█"
_LONGEST: Final = 2000


def as_text(report: Report) -> RenderableType:
    """Format a report for rich; text from a log is never markup."""
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
    for name in TABLES:
        if getattr(report, name):
            yield _table(report, name)
    yield _advice(report)


def _outcomes(report: Report) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    for event, times in report.outcomes.items():
        share, style = times / report.calls, STYLES[event]
        bar = Text("█" * max(1, round(_BAR * share)), style=style)
        table.add_row(Text(outcome(event), style=style), Text(f"{times:,}"), Text(f"{share:.1%}"), bar)
    table.columns[1].justify = table.columns[2].justify = "right"
    return Group(Text(f"Outcomes, in {base(report)}", style="bold"), table)


def _over_time(timeline: Timeline) -> RenderableType:
    """Draw one character for each step: all calls, and refused calls."""
    if not timeline.periods:
        return Text("No event has a time, so there is nothing to show over time.")
    places = steps(timeline)
    calls, refused = [0] * (places[-1] + 1), [0] * (places[-1] + 1)
    for at, period in zip(places, timeline.periods, strict=True):
        calls[at] = sum(period.outcomes.values())
        refused[at] = period.outcomes.get("call_rejected", 0)
    grid = Table.grid(padding=(0, 1))
    for name, counts in (("calls", calls), ("refused", refused)):
        grid.add_row(Text(name), _spark(counts), Text(f"{max(counts):,} at most"))
    return Group(Text(f"Over time, each step is {span(timeline.seconds)}", style="bold"), grid)


def steps(timeline: Timeline) -> list[int]:
    """Return the number of steps from the first period to each."""
    first = timeline.periods[0].start
    return [round((period.start - first).total_seconds() / timeline.seconds) for period in timeline.periods]


def _spark(counts: list[int]) -> Text:
    most = max(counts) or 1
    return Text("".join(_BLOCKS[-(-8 * count // most)] for count in counts), no_wrap=True, overflow="crop")


def _table(report: Report, name: str) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in TABLES[name].columns:
        number = column in NUMBERS
        table.add_column(
            column, justify="right" if number else "left", no_wrap=number, overflow="fold", min_width=6
        )
    for row in rows(report, name):
        table.add_row(*map(_plain, row))
    return Group(_plain(title(report, name), "bold"), table)


def _advice(report: Report) -> RenderableType:
    if not report.advice:
        return Text(no_advice(report), style="bold")
    grid = Table.grid(Column(justify="right"), Column(overflow="fold"), padding=(0, 1))
    for number, piece in enumerate(report.advice, 1):
        declared = (_plain(line, "cyan") for line in (piece.python, piece.definition) if line)
        grid.add_row(Text(f"{number}."), Text("\n").join([_plain(piece.text), *declared]))
    return Group(Text("Advice", style="bold"), grid)


def _plain(text: str, style: str = "") -> Text:
    return Text(shown(text, _LONGEST), style=style)
