"""Advice on what the log refuses most, where no other advice is about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mcp_lenient.report.database import Database
from mcp_lenient.report.model import Advice
from mcp_lenient.report.wording import count
from mcp_lenient.types import ViolationCode

_FEWEST: Final = 5
"""How many calls make a mistake frequent."""

_FIRST: Final = 3
_CLIENTS: Final = 3
_BETWEEN: Final = "\x1f"

# A call counts once for a place, however many items of a list are wrong there.
_MISTAKES: Final = f"""
    SELECT tool, place, code, CAST(sum(times) AS BIGINT) AS calls, list(DISTINCT who ORDER BY who),
        list_sort(list_distinct(flatten(list(came))))
    FROM (
        SELECT * EXCLUDE (received), coalesce(list(DISTINCT received) FILTER (received IS NOT NULL), []) AS came
        FROM faults WHERE code IS NOT NULL GROUP BY ALL
    )
    GROUP BY tool, place, code HAVING calls >= {_FEWEST}
    ORDER BY calls DESC, tool, code, place LIMIT {_FIRST}
"""

_SAY: Final = "Let its description say what it takes, with an example."
_WORDS: Final[Mapping[ViolationCode, tuple[str, str]]] = {
    "type": ("the wrong JSON type", _SAY),
    "enum": ("none of the allowed values", _SAY),
    "value": ("a value that the tool's own check refuses", _SAY),
    "range": ("a number out of bounds", _SAY),
    "length": ("the wrong length", _SAY),
    "pattern": ("the wrong form", _SAY),
    "format": ("the wrong format", _SAY),
    "missing": (
        "nothing there",
        "Give it a default, or have its description say where the value comes from.",
    ),
    "unknown": (
        "a name that is not known there",
        "See which name is meant, and declare it with aliases() or say it in the description.",
    ),
    "ambiguous": ("two ways to read it", "Declare which is meant, with split() or a normalizer of your own."),
    "size": ("too much to be looked at", "Raise Policy(limits=...), or take files."),
}


def refused_most(database: Database, others: Sequence[Advice]) -> Iterator[Advice]:
    """The most frequent mistakes that no other advice is about, one for each tool at most.

    Args:
        database: With the tables of the calls, prepared.
        others: All other advice.
    """
    tools: set[str] = set()
    for tool, place, code, calls, clients, came in database.run(_MISTAKES):
        if tool in tools or any(_is_about(each, tool, place, code) for each in others):
            continue
        tools.add(tool)
        wrong, remedy = _WORDS[code]
        types = f" (came: {', '.join(came)})" if came and code == "type" else ""
        where = place or "the arguments as a whole"
        yield Advice(
            kind="refused_most",
            calls=calls,
            text=f"{count(calls, 'call')} of {tool} by {_by(clients)} failed at {where}, with {wrong}{types}, one of "
            f"the most frequent mistakes in this log. {remedy} "
            "mcp-lenient explain SERVER --event LINE says of a line what was likely sent.",
            tool=tool,
            parameter=place,
            client=_named(clients[0]) if len(clients) == 1 else None,
        )


def _is_about(advice: Advice, tool: str, place: str, code: ViolationCode) -> bool:
    if advice.kind == "drop_unknown":
        return code == "unknown" and place == f"/{advice.parameter}"
    if advice.tool != tool:
        return False
    if advice.kind == "declare_alias" and code == "unknown":
        return place.count("/") == 1
    if advice.kind == "too_large":
        return code == "size"
    return place in (advice.parameter, f"/{advice.parameter}")


def _by(clients: Sequence[str]) -> str:
    named = list(map(_named, clients[:_CLIENTS]))
    rest = len(clients) - len(named)
    if rest:
        return f"{', '.join(named)} and {count(rest, 'other client')}"
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))


def _named(client: str) -> str:
    return " ".join(filter(None, client.split(_BETWEEN))) or "an unnamed client"
