"""Report what providers and clients reject or ignore in a server's tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Final

from mcp_lenient.devtools.check.catalogue import UnknownNameError
from mcp_lenient.devtools.check.surface import Surface
from mcp_lenient.devtools.printing import count
from mcp_lenient.portable.provider_limits import Limit, ListedTool, Rejection, address, providers, rejections
from mcp_lenient.portable.publishing import publish

EFFECTS: Final = {
    "request_fails": "the whole request fails",
    "tool_dropped": "the tool is missing",
    "call_fails": "calls fail",
    "ignored": "ignored",
}
"""What happens to what breaks a limit, in words."""
_MOST_PLACES: Final = 5
_AGED: Final = timedelta(days=365)
_AFTER_YEAR: Final = "-01-01"


@dataclass(frozen=True, slots=True)
class ProviderFindings:
    """What the chosen providers and clients reject or ignore in a list of tools.

    Attributes:
        sizes: The number of tools, the bytes of their schemas, and the characters of the longest name and description.
        broken: What breaks the limits of each provider and client.
        failing: Those that reject a request, a tool or a call.
        still_failing: Those that would still reject something of the form ``portable``.
    """

    sizes: Mapping[str, int]
    broken: Mapping[str, Sequence[Rejection]]
    failing: tuple[str, ...]
    still_failing: tuple[str, ...]


def chosen_providers(names: Iterable[str]) -> list[str]:
    """Return the providers named in comma-separated lists; ``all`` are all but the strict modes.

    Raises:
        UnknownNameError: When one is not in the table.
    """
    table = providers()
    chosen: list[str] = []
    for name in (name.strip() for listed in names for name in listed.split(",")):
        if name not in (*table, "all"):
            msg = f"--for {name}: must be all, or some of {', '.join(table)}"
            raise UnknownNameError(msg)
        chosen += providers(strict=False) if name == "all" else [name]
    return list(dict.fromkeys(chosen))


def report(tools: Iterable[Surface], chosen: Sequence[str], server: str | None = None) -> ProviderFindings:
    """Return what these providers reject or ignore.

    Args:
        tools: The tools.
        chosen: The providers and clients.
        server: The server's name in the clients' configuration; by default the name that it gives itself.
    """
    listed = [_listed(surface, surface.server if server is None else server) for surface in tools]
    portable = [replace(tool, schema=publish(tool.schema, "portable").schema) for tool in listed]
    broken = {of: rejections(listed, of) for of in chosen}
    failing = tuple(of for of in chosen if any(entry.fails for entry in broken[of]))
    still_failing = tuple(of for of in failing if any(entry.fails for entry in rejections(portable, of)))
    return ProviderFindings(_sizes(listed), broken, failing, still_failing)


def _listed(surface: Surface, server: str) -> ListedTool:
    tool = surface.tool
    return ListedTool(tool.name, surface.input_schema, tool.description or "", surface.output_schema, server)


def _sizes(tools: Sequence[ListedTool]) -> dict[str, int]:
    return {
        "tools": len(tools),
        "schema_bytes": sum(len(json.dumps(tool.schema, separators=(",", ":"))) for tool in tools),
        "longest_name": max((len(tool.name) for tool in tools), default=0),
        "longest_description": max((len(tool.description) for tool in tools), default=0),
    }


def is_aged(limit: Limit, today: date) -> bool:
    """Return whether a limit was last seen over a year ago; of a month or year its first day counts."""
    day = limit.seen + _AFTER_YEAR[len(limit.seen) - len("2026") :]
    return today - date.fromisoformat(day) > _AGED


def as_text(findings: ProviderFindings, today: date) -> str:
    """Return the report for people: by provider and rule, with a verdict."""
    sizes = findings.sizes
    size = f"{count(sizes['tools'], 'tool')}, {sizes['schema_bytes']:,} bytes of schemas"
    longest = f"names up to {sizes['longest_name']} and descriptions up to {sizes['longest_description']:,}"
    lines = [f"{size}, {longest} characters\n"]
    for of, broken in findings.broken.items():
        lines.append(f"{of}: {_verdict(broken, sizes['tools'])}")
        for limit in dict.fromkeys(rejection.limit for rejection in broken):
            lines += _of_limit(limit, [rejection for rejection in broken if rejection.limit is limit], today)
    return "\n".join([*lines, "", *_verdicts(findings)]) + "\n"


def _of_limit(limit: Limit, broken: Sequence[Rejection], today: date) -> Iterator[str]:
    yield f"  {limit.rule}; else {EFFECTS[limit.effect]}"
    places = [" ".join(filter(None, (entry.tool or "all tools together", entry.pointer))) for entry in broken]
    yield from (f"    {place}" for place in places[:_MOST_PLACES])
    if len(places) > _MOST_PLACES:
        yield f"    and {len(places) - _MOST_PLACES} more places"
    yield f"    Change: {limit.change}"
    aged = ", over a year ago: it may be gone" if is_aged(limit, today) else ""
    yield f"    Seen {limit.seen}{aged}: {', '.join(limit.sources)}"


def _verdict(broken: Sequence[Rejection], tools: int) -> str:
    failing = {rejection.tool for rejection in broken if rejection.fails}
    if "" in failing:
        return "rejects the list as a whole"
    if failing:
        return f"rejects {len(failing)} of {count(tools, 'tool')}"
    return f"rejects none of {count(tools, 'tool')}{', and ignores parts' if broken else ''}"


def _verdicts(findings: ProviderFindings) -> Iterator[str]:
    """Yield the verdict over all: who rejects what, and whether the portable form helps."""
    if not findings.failing:
        yield f"Verdict: none of {len(findings.broken)} rejects a tool."
        return
    yield f"Verdict: {len(findings.failing)} of {len(findings.broken)} reject something: {', '.join(findings.failing)}."
    if findings.still_failing == findings.failing:
        yield 'publish="portable" changes nothing of it.'
    else:
        yield f'With publish="portable", {", ".join(findings.still_failing) or "none of them"} still would.'


def as_json(findings: ProviderFindings, today: date) -> str:
    """Return the report for programs."""
    shown = {
        "for": list(findings.broken),
        **findings.sizes,
        "failing": findings.failing,
        "failing_portable": findings.still_failing,
        "verdicts": {of: _verdict(broken, findings.sizes["tools"]) for of, broken in findings.broken.items()},
        "rejections": [_as_dict(entry, today) for broken in findings.broken.values() for entry in broken],
    }
    return json.dumps(shown, ensure_ascii=False, indent=2)


def _as_dict(rejection: Rejection, today: date) -> dict[str, Any]:
    limit = rejection.limit
    return {
        "for": limit.of,
        "tool": rejection.tool,
        "pointer": rejection.pointer,
        "rule": limit.rule,
        "effect": limit.effect,
        "change": limit.change,
        "sources": [address(source) or source for source in limit.sources],
        "seen": limit.seen,
        "over_a_year_ago": is_aged(limit, today),
    }
