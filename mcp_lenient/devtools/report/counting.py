"""Count calls that are alike: the only statements that see each call, in one text for every engine.

What they count is all that a report needs, and so all that is kept of a day or fetched from a server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Final, NamedTuple, get_args

from mcp_lenient.devtools.report.model import LogFigures, Selection
from mcp_lenient.telemetry.events import EventName

Counted = tuple[LogFigures, Selection, int]
"""What was counted: the figures of the log, the calls that were selected, and at least how many seconds a period has."""
DAY: Final = 86_400_000_000
"""The microseconds of a day."""
HOUR: Final = 3600
"""The seconds of a period where days are kept."""
_ASKED: Final = ("server", "tool", "client_name")
"""What a selection asks of a call, besides its time; kept in each table of a day."""
FAILED: Final = """event IN ('call_rejected', 'call_forwarded', 'call_refused_upstream', 'call_unanswered')
            OR (event = 'call_observed' AND error_code IS NOT NULL)"""
_NAMES: Final = ", ".join(f"'{name}'" for name in get_args(EventName))


class _Counted(NamedTuple):
    """A table: what its calls have in common, what is counted of them, and which calls they are."""

    keys: tuple[str, ...]
    figures: tuple[str, ...]
    of: str | None = None
    least: int = 1
    """How many times a call must have been sent to be reported."""


TABLES: Final[Mapping[str, _Counted]] = {
    "shapes": _Counted(
        (
            *("tool", "client_name", "client_version", "model", "event", "failed", "fault", "error_code"),
            *("violations", "repairs", "hints"),
        ),
        ("times",),
    ),
    "mistakes": _Counted(
        ("subject", "client_name", "client_version", "tool", "error_code", "violations"),
        ("times", "earliest", "latest"),
        of="failed",
        least=3,
    ),
    "periods": _Counted(("start", "event"), ("times", "earliest", "latest")),
}
"""The tables, by name."""
_TYPES: Final = {
    "failed": "BOOLEAN",
    **dict.fromkeys(("day", "start", "times", "earliest", "latest"), "BIGINT"),
}
_FIGURES: Final[Mapping[str, tuple[str, str]]] = {
    "times": ("count(*)", "sum(kept.times)"),
    "earliest": ("min(micros)", "min(kept.earliest)"),
    "latest": ("max(micros)", "max(kept.latest)"),
}
"""How a figure comes from calls, and from figures."""


def columns(name: str, *, stored: bool = False) -> tuple[str, ...]:
    """Return the columns of a table; one that is stored also has the day, and the columns of a selection."""
    keys, figures, *_ = TABLES[name]
    return tuple(dict.fromkeys((*(("day", *_ASKED) if stored else ()), *keys, *figures)))


def created(table: str, name: str, *, stored: bool = False) -> str:
    """Return the statement that creates a table of counts in DuckDB."""
    typed = [f"{column} {_TYPES.get(column, 'VARCHAR')}" for column in columns(name, stored=stored)]
    return f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(typed)})"


def counting(name: str, selection: Selection, seconds: int, *, stored: bool = False) -> str:
    """Return the query that counts the rows of ``calls``; periods have this many seconds."""
    step = seconds * 1_000_000
    computed = {
        "day": f"micros - micros % {DAY}",
        "start": f"micros - micros % {step}",
    }
    _, figures, of, _ = TABLES[name]
    shown = [
        *(_named(computed.get(key, key), key) for key in columns(name, stored=stored) if key not in figures),
        *(f"{_FIGURES[figure][0]} AS {figure}" for figure in figures),
    ]
    where = " AND ".join(filter(None, (of, f"event IN ({_NAMES})", *_conditions(selection))))
    return f"SELECT {', '.join(shown)} FROM calls WHERE {where} GROUP BY ALL{_at_least(name, 'count(*)', stored=stored)}"


def span(selection: Selection, *, stored: bool = False) -> str:
    """Return the query for the first and the last moment of the calls, and their number."""
    table, time, which = ("kept_periods", "day", 1) if stored else ("calls", "micros", 0)
    shown = ", ".join(f"{_FIGURES[name][which]} AS {name}" for name in ("earliest", "latest", "times"))
    where = " AND ".join([f"event IN ({_NAMES})", *_conditions(selection, time)])
    return f"SELECT {shown} FROM {table} AS kept WHERE {where}"


def merging(name: str, source: str, selection: Selection, *, stored: bool = False) -> str:
    """Return the query that adds up what was kept of days; the selection's times are whole days."""
    figures = TABLES[name].figures
    shown = [
        _FIGURES[column][1] + f" AS {column}" if column in figures else f"kept.{column}"
        for column in columns(name, stored=stored)
    ]
    where = " AND ".join(["true", *_conditions(selection, time="day")])
    return (
        f"SELECT {', '.join(shown)} FROM {source} AS kept WHERE {where} GROUP BY ALL"
        f"{_at_least(name, 'sum(kept.times)', stored=stored)}"
    )


def parameters(selection: Selection) -> dict[str, Any]:
    """Return the values of the parameters of a query with this selection."""
    moments = {"since": selection.since, "until": selection.until}
    named = {"tool": selection.tool, "client": selection.client, "server": selection.server}
    return {
        **{name: round(moment.timestamp() * 1_000_000) for name, moment in moments.items() if moment},
        **{name: _pattern(text) for name, text in named.items() if text is not None},
    }


def _conditions(selection: Selection, time: str = "micros") -> Iterator[str]:
    values = {
        "since": f"{time} >= $since",
        "until": f"{time} < $until",
        "tool": "regexp_matches(tool, $tool)",
        "client": "regexp_matches(client_name, $client)",
        "server": "regexp_matches(server, $server)",
    }
    return (values[name] for name in parameters(selection))


def whole_days(selection: Selection) -> Selection:
    """Return a selection whose times are the starts of days, UTC, and that has all calls of the given one."""
    since, until = selection.since, selection.until
    return selection.model_copy(
        update={
            "since": since and _midnight(since),
            "until": until and _midnight(until + timedelta(days=1, microseconds=-1)),
        }
    )


def _midnight(moment: datetime) -> datetime:
    return moment.astimezone(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)


def _at_least(name: str, times: str, *, stored: bool) -> str:
    least = TABLES[name].least
    return f" HAVING {times} >= {least}" if least > 1 and not stored else ""


def _named(computed: str, name: str) -> str:
    return name if computed == name else f"{computed} AS {name}"


def _pattern(text: str) -> str:
    """Return a pattern with ``*`` and ``?`` as a regular expression that both engines read alike."""
    wild = re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")
    return f"(?s)^{wild}$"
