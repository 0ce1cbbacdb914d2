"""The report as one page: charts, tables and advice, in one file that needs no network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Any, Final

from mcp_lenient.devtools.report.database import ReportError
from mcp_lenient.devtools.report.model import Cell, Report
from mcp_lenient.devtools.report.wording import NUMBERS, STYLES, TABLES, head, outcome, rows, title
from mcp_lenient.values.display import escaped

_LONGEST_LABEL: Final = 22
_LONGEST_SHOWN: Final = 128
_ROW: Final = 30
_MARGIN: Final = {"l": 8, "r": 8, "t": 8, "b": 8}


def _plotly_script() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ModuleNotFoundError:
        msg = "the page needs Plotly, which is not installed: pip install plotly"
        raise ReportError(msg) from None
    return str(get_plotlyjs())


def _plain(text: str, limit: int = _LONGEST_SHOWN) -> str:
    """Escape text for Plotly, which interprets some HTML tags."""
    return html.escape(escaped(text, limit=limit), quote=False)


def _figure(*traces: Mapping[str, Any], **layout: Any) -> dict[str, Any]:
    return {"data": traces, "layout": {"margin": _MARGIN, "dragmode": False, **layout}}


def _over_time(report: Report) -> dict[str, Any] | None:
    periods = report.timeline.periods
    if not periods:
        return None
    traces = [
        {
            "type": "bar",
            "name": outcome(event),
            "meta": event,
            "x": [period.start.isoformat() for period in periods],
            "y": [period.outcomes.get(event, 0) for period in periods],
            "width": report.timeline.seconds * 900,
            "hovertemplate": "%{y:,} %{fullData.name}<br>%{x|%d %b %Y %H:%M} UTC<extra></extra>",
        }
        for event in STYLES
        if event in report.outcomes
    ]
    return _figure(
        *traces,
        barmode="stack",
        height=300,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis={"type": "date", "automargin": True, "fixedrange": True},
        yaxis={"automargin": True, "fixedrange": True, "rangemode": "tozero"},
    )


def _tool_by_client(report: Report) -> dict[str, Any] | None:
    tools = [each.tool for each in report.tools]
    clients = list(dict.fromkeys(each.client for each in report.clients))
    cells = {(cell.tool, cell.client): cell for cell in report.cells}
    if not cells:
        return None
    found = [[cells.get((tool, client)) for client in clients] for tool in tools]
    shares = [[cell and cell.failed / cell.calls for cell in row] for row in found]
    trace = {
        "type": "heatmap",
        "z": shares,
        "text": [["" if share is None else f"{share:.0%}" for share in row] for row in shares],
        "customdata": [[cell and _hover(cell) for cell in row] for row in found],
        "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]} of %{customdata[3]} calls failed<extra></extra>",
        "hoverongaps": False,
        "xgap": 2,
        "ygap": 2,
        "zmin": 0,
        "zmax": max(cell.failed / cell.calls for cell in cells.values()) or 1,
        "colorbar": {"tickformat": ".0%", "thickness": 10},
    }
    if len(clients) <= 6:
        trace["texttemplate"] = "%{text}"
    return _figure(
        trace,
        height=140 + _ROW * len(tools),
        xaxis=_labels([client or "(none)" for client in clients]) | {"side": "top", "tickangle": -40},
        yaxis=_labels(tools) | {"autorange": "reversed"},
    )


def _hover(cell: Cell) -> list[str]:
    return [_plain(cell.tool), _plain(cell.client or "(none)"), f"{cell.failed:,}", f"{cell.calls:,}"]


def _top_repairs(report: Report) -> dict[str, Any] | None:
    rules = report.rules[:12]
    if not rules:
        return None
    trace = {
        "type": "bar",
        "meta": "call_repaired",
        "orientation": "h",
        "x": [each.repairs for each in rules],
        "y": list(range(len(rules))),
        "text": [f"{each.repairs:,}" for each in rules],
        "textposition": "outside",
        "cliponaxis": False,
        "customdata": [[_plain(each.rule), f"{each.tools:,}", f"{each.clients:,}"] for each in rules],
        "hovertemplate": "%{customdata[0]}<br>%{x:,} repairs<br>%{customdata[1]} tools, %{customdata[2]} clients<extra></extra>",
    }
    return _figure(
        trace,
        height=60 + _ROW * len(rules),
        xaxis={"automargin": True, "fixedrange": True, "nticks": 5},
        yaxis=_labels([each.rule for each in rules]) | {"autorange": "reversed"},
    )


def _labels(texts: list[str]) -> dict[str, Any]:
    """Make an axis with a label at each whole number, since names may look like numbers or dates."""
    return {
        "tickvals": list(range(len(texts))),
        "ticktext": [_plain(text, _LONGEST_LABEL) for text in texts],
        "automargin": True,
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
    }


_FOLDER: Final = Path(__file__).parent
_LONGEST: Final = 2000
_CHARTS: Final = (
    ("over-time", "Outcomes over time", _over_time),
    ("tool-by-client", "Share of calls that failed, by tool and client", _tool_by_client),
    ("top-repairs", "Most frequent repairs", _top_repairs),
)
"""The charts: the id of the place in the page, the heading, and the function that draws it if there is data."""


def page(report: Report) -> str:
    """Return the report as a self-contained HTML page.

    It follows the browser's light or dark scheme and fits a phone. Its content security policy allows no address
    and only its own two scripts, which contain no text from the log.

    Raises:
        ReportError: When Plotly is not installed.
    """
    # Without calls there is nothing to draw.
    plotly, script = (_plotly_script(), _file("page.js")) if report.calls else ("", "")
    figures = {name: draw(report) for name, _, draw in _CHARTS if report.calls}
    drawn = {name: figure for name, figure in figures.items() if figure is not None}
    return Template(_file("page.html")).substitute(
        plotly=_packed(plotly),
        script=script,
        hashes=" ".join(map(_hash, (plotly, script))),
        style=_file("page.css"),
        charts=_json(drawn),
        body="\n".join(_body(report, drawn)),
    )


def _file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _packed(script: str) -> str:
    """Compress a script for the page: Plotly is 4.8 MB, of which the charts need a third."""
    return (
        base64.b64encode(gzip.compress(script.encode(), compresslevel=1, mtime=0)).decode() if script else ""
    )


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _json(value: object) -> str:
    """Write JSON that cannot end a script element."""
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
    for name, heading, _ in _CHARTS:
        if name in drawn:
            yield f'<section><h2>{heading}</h2><div class="chart" id="{name}"></div></section>'
    for name in TABLES:
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
    columns = TABLES[name].columns
    sides = [' class="number"' if column in NUMBERS else "" for column in columns]
    first = "".join(f"<th{side}>{column}</th>" for side, column in zip(sides, columns, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{side}>{_text(cell)}</td>' for side, cell in zip(sides, row, strict=True))}</tr>"
        for row in rows(report, name)
    )
    return (
        f"<section><h2>{_text(title(report, name))}</h2>"
        f'<div class="scroll"><table><thead><tr>{first}</tr></thead><tbody>{body}</tbody></table></div></section>'
    )


def _text(text: str) -> str:
    return escape(escaped(text, limit=_LONGEST))
