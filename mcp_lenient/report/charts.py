"""The charts of the page, as Plotly figures without colors: the page gives them those of its theme."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.one_line import escaped
from mcp_lenient.report.errors import ReportError
from mcp_lenient.report.terminal import STYLES
from mcp_lenient.report.wording import outcome

if TYPE_CHECKING:
    from mcp_lenient.report.model import Report

_LONGEST_LABEL: Final = 22
_LONGEST_SHOWN: Final = 128
_ROW: Final = 30
_MARGIN: Final = {"l": 8, "r": 8, "t": 8, "b": 8}


def plotly_script() -> str:
    """Plotly's own JavaScript.

    Raises:
        ReportError: When Plotly is not installed.
    """
    try:
        from plotly.offline import get_plotlyjs  # noqa: PLC0415 - an extra, and slow to load
    except ModuleNotFoundError:
        msg = "the page needs Plotly, which is not installed: pip install 'mcp-lenient[report]'"
        raise ReportError(msg) from None
    return str(get_plotlyjs())


def charts(report: Report) -> Mapping[str, Any]:
    """Each chart under the id of its place in the page; those without data are left out."""
    drawn = {
        "over-time": _over_time(report),
        "tool-by-client": _tool_by_client(report),
        "top-repairs": _top_repairs(report),
    }
    return {name: json.loads(figure.to_json()) for name, figure in drawn.items() if figure is not None}


def plain(text: str, limit: int = _LONGEST_SHOWN) -> str:
    """A text as Plotly shows it: it takes a few HTML tags for formatting."""
    return html.escape(escaped(text, limit=limit), quote=False)


def _figure(traces: list[Any], **layout: Any) -> Any:
    from plotly import graph_objects  # noqa: PLC0415 - as above

    figure = graph_objects.Figure(traces)
    figure.update_layout(template=None, margin=_MARGIN, dragmode=False, **layout)
    return figure


def _over_time(report: Report) -> Any:
    from plotly import graph_objects  # noqa: PLC0415 - as above

    periods = report.timeline.periods
    if not periods:
        return None
    traces = [
        graph_objects.Bar(
            name=outcome(event),
            meta=event,
            x=[period.start.isoformat() for period in periods],
            y=[period.outcomes.get(event, 0) for period in periods],
            width=report.timeline.seconds * 900,
            hovertemplate="%{y:,} %{fullData.name}<br>%{x|%d %b %Y %H:%M} UTC<extra></extra>",
        )
        for event in STYLES
        if event in report.outcomes
    ]
    return _figure(
        traces,
        barmode="stack",
        height=300,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis={"type": "date", "automargin": True, "fixedrange": True},
        yaxis={"automargin": True, "fixedrange": True, "rangemode": "tozero"},
    )


def _tool_by_client(report: Report) -> Any:
    from plotly import graph_objects  # noqa: PLC0415 - as above

    tools = [each.tool for each in report.tools]
    clients = list(dict.fromkeys(each.client for each in report.clients))
    cells = {(cell.tool, cell.client): cell for cell in report.cells}
    if not cells:
        return None
    found = [[cells.get((tool, client)) for client in clients] for tool in tools]
    trace = graph_objects.Heatmap(
        z=[[None if cell is None else cell.failed / cell.calls for cell in row] for row in found],
        text=[["" if cell is None else f"{cell.failed / cell.calls:.0%}" for cell in row] for row in found],
        texttemplate="%{text}" if len(clients) <= 6 else None,
        customdata=[
            [
                None
                if cell is None
                else [plain(cell.tool), plain(cell.client or "(none)"), f"{cell.failed:,}", f"{cell.calls:,}"]
                for cell in row
            ]
            for row in found
        ],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]} of %{customdata[3]} calls failed<extra></extra>",
        hoverongaps=False,
        xgap=2,
        ygap=2,
        zmin=0,
        zmax=max(cell.failed / cell.calls for cell in cells.values()) or 1,
        colorbar={"tickformat": ".0%", "thickness": 10},
    )
    return _figure(
        [trace],
        height=140 + _ROW * len(tools),
        xaxis=_labels([client or "(none)" for client in clients]) | {"side": "top", "tickangle": -40},
        yaxis=_labels(tools) | {"autorange": "reversed"},
    )


def _top_repairs(report: Report) -> Any:
    from plotly import graph_objects  # noqa: PLC0415 - as above

    rules = report.rules[:12]
    if not rules:
        return None
    trace = graph_objects.Bar(
        meta="call_repaired",
        orientation="h",
        x=[each.repairs for each in rules],
        y=list(range(len(rules))),
        text=[f"{each.repairs:,}" for each in rules],
        textposition="outside",
        cliponaxis=False,
        customdata=[[plain(each.rule), f"{each.tools:,}", f"{each.clients:,}"] for each in rules],
        hovertemplate="%{customdata[0]}<br>%{x:,} repairs<br>%{customdata[1]} tools, %{customdata[2]} clients<extra></extra>",
    )
    return _figure(
        [trace],
        height=60 + _ROW * len(rules),
        xaxis={"automargin": True, "fixedrange": True, "nticks": 5},
        yaxis=_labels([each.rule for each in rules]) | {"autorange": "reversed"},
    )


def _labels(texts: list[str]) -> dict[str, Any]:
    """An axis with a text at each whole number: names may look like numbers, dates or each other."""
    return {
        "tickvals": list(range(len(texts))),
        "ticktext": [plain(text, _LONGEST_LABEL) for text in texts],
        "automargin": True,
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
    }
