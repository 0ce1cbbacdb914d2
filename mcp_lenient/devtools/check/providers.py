"""Report what providers and clients reject or ignore in a server's tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from mcp_lenient.devtools.check.surface import Surface
from mcp_lenient.portable.limits import STRICT, Rejection, providers, rejections

_EFFECTS: Final = {
    "request_fails": "the whole request fails",
    "tool_dropped": "the tool is missing",
    "call_fails": "calls fail",
    "ignored": "ignored",
}
_MOST_PLACES: Final = 5
_AGED: Final = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class ToolRejection:
    """What a provider or client rejects in one tool."""

    tool: str
    rejection: Rejection

    @property
    def fails(self) -> bool:
        """Return whether more than an ignored keyword is lost."""
        return self.rejection.limit.effect != "ignored"

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        limit = self.rejection.limit
        place = {"for": limit.of, "tool": self.tool, "pointer": self.rejection.pointer}
        return {
            **place,
            "rule": limit.rule,
            "effect": limit.effect,
            "source": limit.source,
            "date": limit.date,
        }


def chosen_providers(names: Iterable[str]) -> list[str]:
    """Return the providers named in comma-separated lists; ``all`` are all but the strict modes.

    Raises:
        ValueError: When one is not in the table.
    """
    known = providers()
    chosen: list[str] = []
    for name in (each.strip() for listed in names for each in listed.split(",")):
        if name not in (*known, "all"):
            msg = f"--for {name}: must be all, or some of {', '.join(known)}"
            raise ValueError(msg)
        chosen += [each for each in known if each not in STRICT] if name == "all" else [name]
    return list(dict.fromkeys(chosen))


def rejected(tools: Iterable[Surface], chosen: Sequence[str]) -> list[ToolRejection]:
    """Return what these providers reject or ignore, provider by provider."""
    listed = [each.tool for each in tools]
    return [
        ToolRejection(tool.name, each)
        for of in chosen
        for tool in listed
        for each in rejections(tool.name, tool.input_schema, of)
    ]


def as_text(found: Sequence[ToolRejection], chosen: Sequence[str], tools: int, today: date) -> str:
    """Return the report for people: by provider and rule, with a verdict."""
    lines: list[str] = []
    for of in chosen:
        own = [each for each in found if each.rejection.limit.of == of]
        lines.append(f"{of}: {_verdict(own, tools)}")
        for limit in dict.fromkeys(each.rejection.limit for each in own):
            places = [
                f"{each.tool}{' ' if each.rejection.pointer else ''}{each.rejection.pointer}"
                for each in own
                if each.rejection.limit is limit
            ]
            more = len(places) - _MOST_PLACES
            is_aged = today - date.fromisoformat(f"{limit.date}-01") > _AGED
            lines.append(f"  {limit.rule}; else {_EFFECTS[limit.effect]}")
            lines += [f"    {place}" for place in places[:_MOST_PLACES]]
            lines += [f"    and {more} more places"] if more > 0 else []
            lines.append(f"    seen {limit.date}{', over a year ago' if is_aged else ''}: {limit.source}")
    failing = {each.rejection.limit.of for each in found if each.fails}
    if failing:
        lines.append(
            f'\n{len(failing)} of {len(chosen)} reject some tools. publish="portable" has the form that they take.'
        )
    return "\n".join(lines) + "\n"


def _verdict(own: Sequence[ToolRejection], tools: int) -> str:
    failing = len({each.tool for each in own if each.fails})
    if failing:
        return f"{failing} of {tools} tools rejected"
    return f"takes all {tools} tools, and ignores parts of them" if own else f"takes all {tools} tools"


def as_json(found: Sequence[ToolRejection], chosen: Sequence[str], tools: int) -> str:
    """Return the report for programs."""
    told = {"for": list(chosen), "tools": tools, "rejections": [each.as_dict() for each in found]}
    return json.dumps(told, ensure_ascii=False, indent=2)
