"""A report as one page: charts, tables and advice, in a file that needs no other and no network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Final

from mcp_lenient.one_line import escaped
from mcp_lenient.report.charts import charts, plotly_script
from mcp_lenient.report.model import Report
from mcp_lenient.report.wording import NUMBERS, TITLES, as_rows, head, outcome, title

_FOLDER: Final = Path(__file__).parent
_LONGEST: Final = 2000
_QUICKLY: Final = 1
_CHARTS: Final = (
    ("over-time", "Outcomes over time"),
    ("tool-by-client", "Share of calls that failed, by tool and client"),
    ("top-repairs", "Most frequent repairs"),
)


def page(report: Report) -> str:
    """The report as HTML, to be kept as a file and opened in a browser.

    It follows the browser's light or dark scheme and fits a phone. Its rules forbid it every address and
    every script but its own two, and no text of the log stands in those.

    Args:
        report: The report.

    Raises:
        ReportError: When Plotly is not installed.
    """
    scripts = (
        {"plotly": plotly_script(), "script": _file("page.js")}
        if report.calls
        else {"plotly": "", "script": ""}
    )
    drawn = charts(report) if report.calls else {}
    return Template(_file("page.html")).substitute(
        plotly=_packed(scripts["plotly"]),
        script=scripts["script"],
        hashes=" ".join(map(_hash, scripts.values())),
        style=_file("page.css"),
        charts=_json(drawn),
        body="\n".join(_body(report, drawn)),
    )


def _file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _packed(script: str) -> str:
    """A script as the page unpacks it: Plotly comes whole, in 4.8 MB of which the charts need a third."""
    return base64.b64encode(gzip.compress(script.encode(), _QUICKLY, mtime=0)).decode() if script else ""


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _json(value: object) -> str:
    """JSON that no HTML parser takes for the end of a script."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _body(report: Report, drawn: Mapping[str, object]) -> Iterator[str]:
    yield "<h1>Tool calls</h1>"
    yield from (f'<p class="soft">{_text(line)}</p>' for line in head(report))
    if not report.calls:
        return
    yield '<div class="figures">'
    for event, times in report.outcomes.items():
        share = f"{times / report.calls:.1%}"
        yield f'<div style="--tone: var(--{event})"><b>{times:,}</b>{outcome(event)} <span class="soft">{share}</span></div>'
    yield "</div>"
    yield _advice(report)
    yield '<noscript><p class="soft">The charts need JavaScript; the tables do not.</p></noscript>'
    for name, heading in _CHARTS:
        if name in drawn:
            yield f'<section><h2>{heading}</h2><div class="chart" id="{name}"></div></section>'
    for name in TITLES:
        if getattr(report, name):
            yield _table(report, name)


def _advice(report: Report) -> str:
    if not report.advice:
        return "<section><h2>Advice</h2><p>Nothing in this log calls for a change.</p></section>"
    items = "".join(
        f"<li>{_text(each.text)}"
        + "".join(f"<code>{_text(line)}</code>" for line in (each.python, each.definition) if line)
        + "</li>"
        for each in report.advice
    )
    return f'<section id="advice"><h2>Advice</h2><ol>{items}</ol></section>'


def _table(report: Report, name: str) -> str:
    columns, rows = as_rows(report, name)
    sides = [' class="number"' if column in NUMBERS else "" for column in columns]
    first = "".join(f"<th{side}>{column}</th>" for side, column in zip(sides, columns, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{side}>{_cell(cell)}</td>' for side, cell in zip(sides, row, strict=True))}</tr>"
        for row in rows
    )
    return (
        f"<section><h2>{_text(title(report, name))}</h2>"
        f'<div class="scroll"><table><thead><tr>{first}</tr></thead><tbody>{body}</tbody></table></div></section>'
    )


def _cell(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) else _text(value)


def _text(text: str) -> str:
    return escape(escaped(text, limit=_LONGEST))
