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
        found: What breaks the limits of each provider and client.
        failing: Those that reject a request, a tool or a call.
        left: Those that would still reject something of the form ``portable``.
    """

    sizes: Mapping[str, int]
    found: Mapping[str, Sequence[Rejection]]
    failing: tuple[str, ...]
    left: tuple[str, ...]


def chosen_providers(names: Iterable[str]) -> list[str]:
    """Return the providers named in comma-separated lists; ``all`` are all but the strict modes.

    Raises:
        UnknownNameError: When one is not in the table.
    """
    known = providers()
    chosen: list[str] = []
    for name in (each.strip() for listed in names for each in listed.split(",")):
        if name not in (*known, "all"):
            msg = f"--for {name}: must be all, or some of {', '.join(known)}"
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
    listed = [_listed(each, each.server if server is None else server) for each in tools]
    portable = [replace(each, schema=publish(each.schema, "portable").schema) for each in listed]
    found = {of: rejections(listed, of) for of in chosen}
    failing = tuple(of for of in chosen if any(each.fails for each in found[of]))
    left = tuple(of for of in failing if any(each.fails for each in rejections(portable, of)))
    return ProviderFindings(_sizes(listed), found, failing, left)


def _listed(surface: Surface, server: str) -> ListedTool:
    tool = surface.tool
    return ListedTool(tool.name, surface.input_schema, tool.description or "", surface.output_schema, server)


def _sizes(tools: Sequence[ListedTool]) -> dict[str, int]:
    return {
        "tools": len(tools),
        "schema_bytes": sum(len(json.dumps(each.schema, separators=(",", ":"))) for each in tools),
        "longest_name": max((len(each.name) for each in tools), default=0),
        "longest_description": max((len(each.description) for each in tools), default=0),
    }


def is_aged(limit: Limit, today: date) -> bool:
    """Return whether a limit was last seen over a year ago; of a month or year its first day counts."""
    day = limit.seen + _AFTER_YEAR[len(limit.seen) - len("2026") :]
    return today - date.fromisoformat(day) > _AGED


def as_text(told: ProviderFindings, today: date) -> str:
    """Return the report for people: by provider and rule, with a verdict."""
    sizes = told.sizes
    size = f"{count(sizes['tools'], 'tool')}, {sizes['schema_bytes']:,} bytes of schemas"
    longest = f"names up to {sizes['longest_name']} and descriptions up to {sizes['longest_description']:,}"
    lines = [f"{size}, {longest} characters\n"]
    for of, own in told.found.items():
        lines.append(f"{of}: {_verdict(own, sizes['tools'])}")
        for limit in dict.fromkeys(each.limit for each in own):
            lines += _of_limit(limit, [each for each in own if each.limit is limit], today)
    return "\n".join([*lines, "", *_verdicts(told)]) + "\n"


def _of_limit(limit: Limit, found: Sequence[Rejection], today: date) -> Iterator[str]:
    yield f"  {limit.rule}; else {EFFECTS[limit.effect]}"
    places = [" ".join(filter(None, (each.tool or "all tools together", each.pointer))) for each in found]
    yield from (f"    {place}" for place in places[:_MOST_PLACES])
    if len(places) > _MOST_PLACES:
        yield f"    and {len(places) - _MOST_PLACES} more places"
    yield f"    Change: {limit.change}"
    aged = ", over a year ago: it may be gone" if is_aged(limit, today) else ""
    yield f"    Seen {limit.seen}{aged}: {', '.join(limit.sources)}"


def _verdict(own: Sequence[Rejection], tools: int) -> str:
    failing = {each.tool for each in own if each.fails}
    if "" in failing:
        return "rejects the list as a whole"
    if failing:
        return f"rejects {len(failing)} of {count(tools, 'tool')}"
    return f"rejects none of {count(tools, 'tool')}{', and ignores parts' if own else ''}"


def _verdicts(told: ProviderFindings) -> Iterator[str]:
    """Yield the verdict over all: who rejects what, and whether the portable form helps."""
    if not told.failing:
        yield f"Verdict: none of {len(told.found)} rejects a tool."
        return
    yield f"Verdict: {len(told.failing)} of {len(told.found)} reject something: {', '.join(told.failing)}."
    if told.left == told.failing:
        yield 'publish="portable" changes nothing of it.'
    else:
        yield f'With publish="portable", {", ".join(told.left) or "none of them"} still would.'


def as_json(told: ProviderFindings, today: date) -> str:
    """Return the report for programs."""
    shown = {
        "for": list(told.found),
        **told.sizes,
        "failing": told.failing,
        "failing_portable": told.left,
        "verdicts": {of: _verdict(own, told.sizes["tools"]) for of, own in told.found.items()},
        "rejections": [_as_dict(each, today) for own in told.found.values() for each in own],
    }
    return json.dumps(shown, ensure_ascii=False, indent=2)


def _as_dict(found: Rejection, today: date) -> dict[str, Any]:
    limit = found.limit
    return {
        "for": limit.of,
        "tool": found.tool,
        "pointer": found.pointer,
        "rule": limit.rule,
        "effect": limit.effect,
        "change": limit.change,
        "sources": [address(each) or each for each in limit.sources],
        "seen": limit.seen,
        "over_a_year_ago": is_aged(limit, today),
    }
