"""The report as one page: charts, tables and advice, in one file that needs no network and no script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from string import Template
from typing import Final

from mcp_lenient.devtools.printing import count
from mcp_lenient.devtools.report.model import Report
from mcp_lenient.devtools.report.wording import (
    NUMBERS,
    STYLES,
    TABLES,
    base,
    head,
    no_advice,
    outcome,
    rows,
    span,
    steps,
    title,
)
from mcp_lenient.devtools.report.wording import client as short
from mcp_lenient.values.display import shown

_MOST_RULES: Final = 12


def _over_time(report: Report) -> str:
    """Draw a bar for each step, of one part for each outcome."""
    periods = report.timeline.periods
    if not periods:
        return ""
    places = steps(report.timeline)
    most = max(sum(period.outcomes.values()) for period in periods)
    parts = []
    for at, period in zip(places, periods, strict=True):
        top = 100.0
        for event in (event for event in STYLES if period.outcomes.get(event)):
            times = period.outcomes[event]
            top -= (height := 100 * times / most)
            caption = f"{times:,} {outcome(event)}, {period.start:%d %b %Y %H:%M} UTC"
            parts.append(
                f'<rect x="{at + 0.05}" y="{top:.2f}" width="0.9" height="{height:.2f}" fill="var(--{event})">'
                f"<title>{caption}</title></rect>"
            )
    return (
        f'<div class="soft">Each bar is the calls of {span(report.timeline.seconds)}, in parts by outcome; '
        f"the tallest is {count(most, 'call')}</div>"
        f'<svg viewBox="0 0 {places[-1] + 1} 100" preserveAspectRatio="none" role="img">{"".join(parts)}</svg>'
        f'<div class="axis"><span>{periods[0].start:%d %b %Y %H:%M}</span><span>{periods[-1].start:%d %b %Y %H:%M} UTC</span></div>'
    )


def _tool_by_client(report: Report) -> str:
    """Draw a table of shares, the darker the larger."""
    clients = list(dict.fromkeys(row.client for row in report.clients))
    cells = {(cell.tool, cell.client): cell for cell in report.cells}
    most = max((cell.failed / cell.calls for cell in cells.values()), default=0) or 1
    if not cells:
        return ""

    def drawn(tool: str, client: str | None) -> str:
        cell = cells.get((tool, client))
        if cell is None:
            return "<td></td>"
        share, caption = cell.failed / cell.calls, f"{cell.failed:,} of {cell.calls:,} calls failed"
        named = f'data-column="{_text(short(client))}" title="{caption}"'
        return f'<td class="share" style="--share: {share / most:.0%}" {named}>{share:.0%}</td>'

    head = "".join(f'<th title="{_text(client or "")}">{_name(short(client))}</th>' for client in clients)
    rows = "".join(
        f"<tr><th>{_name(row.tool)}</th>{''.join(drawn(row.tool, client) for client in clients)}</tr>"
        for row in report.tools
    )
    about = "Each cell: of this client's calls of the tool, the share that failed; the darkest is"
    return f'<div class="soft">{about} {most:.0%}</div>{_folding(f"<th></th>{head}", rows)}'


def _top_repairs(report: Report) -> str:
    """Draw a bar for each rule."""
    rules = report.rules[:_MOST_RULES]
    about = (
        '<div class="soft">How often each rule was applied, of the most frequent ones</div>' if rules else ""
    )
    return about + "".join(
        f'<div class="rule" title="{row.tools:,} tools, {row.clients:,} clients"><span>{_text(row.rule)}</span>'
        f'<div class="bar" style="width: {70 * row.repairs / rules[0].repairs:.1f}%"></div> {row.repairs:,}</div>'
        for row in rules
    )


_FOLDER: Final = Path(__file__).parent
_LONGEST: Final = 2000
_BETWEEN_WORDS: Final = re.compile(r"(?<=\w)(?:[_/]|\.(?=[^\W\d]))(?=\w)")
_CHARTS: Final = (
    ("over-time", "Outcomes over time", _over_time),
    ("tool-by-client", "Share of calls that failed, by tool and client", _tool_by_client),
    ("top-repairs", "Most frequent repairs", _top_repairs),
)
"""The charts: the id of the place in the page, the heading, and the function that draws it if there is data."""


def page(report: Report) -> str:
    """Return the report as a self-contained HTML page, without scripts.

    It follows the browser's light or dark scheme and fits a phone. Its content security policy allows no address and
    no script.
    """
    body = "\n".join(_body(report))
    return Template(_file("page.html")).substitute(style=_file("page.css"), body=body)


def _file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _body(report: Report) -> Iterator[str]:
    yield "<h1>Tool calls</h1>"
    yield from (f'<p class="soft">{_text(line)}</p>' for line in head(report))
    if not report.calls:
        return
    yield f'<p class="soft">Outcomes, in {base(report)}</p><div class="figures">'
    for event, times in report.outcomes.items():
        share = f"{times / report.calls:.1%}"
        yield f'<div style="--tone: var(--{event})"><b>{times:,}</b>{outcome(event)} <span class="soft">{share}</span></div>'
    yield "</div>"
    yield _advice(report)
    for name, heading, draw in _CHARTS:
        if drawn := draw(report):
            yield f'<section><h2>{heading}</h2><div class="chart" id="{name}">{drawn}</div></section>'
    for name in TABLES:
        if getattr(report, name):
            yield _table(report, name)


def _advice(report: Report) -> str:
    if not report.advice:
        return f"<section><h2>Advice</h2><p>{no_advice(report)}</p></section>"
    items = "".join(
        f"<li>{_text(piece.text)}"
        + "".join(
            f"<small>{where}</small><code>{_text(line)}</code>"
            for where, line in (("In Python", piece.python), ("In a definitions file", piece.definition))
            if line
        )
        + "</li>"
        for piece in report.advice
    )
    return f'<section id="advice"><h2>Advice</h2><ol>{items}</ol></section>'


def _table(report: Report, name: str) -> str:
    columns = TABLES[name].columns
    sides = [' class="number"' if column in NUMBERS else "" for column in columns]
    first = "".join(f"<th{side}>{column}</th>" for side, column in zip(sides, columns, strict=True))
    marks = [f'{side} data-column="{column}"' for side, column in zip(sides, columns, strict=True)]
    body = "".join(
        f"<tr>{''.join(f'<td{mark}>{_name(cell)}</td>' for mark, cell in zip(marks, row, strict=True))}</tr>"
        for row in rows(report, name)
    )
    return f"<section><h2>{_text(title(report, name))}</h2>{_folding(first, body)}</section>"


def _folding(head: str, body: str) -> str:
    """Return a table; on a phone its style makes a card of each row, in which a cell is named by its column."""
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _name(text: str) -> str:
    """Return a text that may be broken after the marks between the words of a name."""
    return _BETWEEN_WORDS.sub(r"\g<0><wbr>", _text(text))


def _text(text: str) -> str:
    return escape(shown(text, _LONGEST))
