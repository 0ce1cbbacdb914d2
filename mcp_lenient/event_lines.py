"""An event as people read it: one line, with what matters first."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.one_line import LONGEST_TEXT, escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Part = tuple[str, str]
"""A piece of a line and its style, by the names that rich has for styles."""

_STYLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "repaired": "green",
        "rejected": "bold red",
        "accepted": "dim",
        "observed": "cyan",
        "forwarded": "yellow",
    }
)
_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "": "",
        "green": "\x1b[32m",
        "bold red": "\x1b[1;31m",
        "dim": "\x1b[2m",
        "cyan": "\x1b[36m",
        "yellow": "\x1b[33m",
        "bold": "\x1b[1m",
    }
)
_MOST_SHOWN: Final = 5


def event_parts(known: Mapping[str, Any], *, today: datetime | None = None) -> list[Part]:
    """The parts of one event's line; nothing in them can break the line or steer a terminal.

    Args:
        known: The event's fields as they are written.
        today: Lines of another day carry their date; by default all carry the time alone.
    """
    outcome = str(known["event"]).removeprefix("call_")
    parts = [(_time(known.get("timestamp"), today), "dim"), (f"{outcome:<9}", _STYLES.get(outcome, "yellow"))]
    if "tool" in known:
        parts.append((known["tool"], "bold"))
    if "subject" in known and "reason" in known:
        parts += [(known["subject"], "bold"), (known["reason"], "")]
    parts += [(text, "") for text in _found(known)]
    caller = " ".join(str(known[name]) for name in ("client_name", "client_version") if name in known)
    if caller:
        parts.append((f"by {caller}", "dim"))
    parts += [(f"{name}={value}", "dim") for name, value in known.get("context", {}).items()]
    return [(escaped(text, limit=8 * LONGEST_TEXT), style) for text, style in parts]


def plain(parts: list[Part]) -> str:
    """The line without colours."""
    return " ".join(text for text, _ in parts)


def coloured(parts: list[Part]) -> str:
    """The line with the codes that terminals colour it by."""
    return " ".join(f"{_CODES[style]}{text}\x1b[0m" if style else text for text, style in parts)


def _time(written: str | None, today: datetime | None) -> str:
    if written is None:
        return "--:--:--"
    at = datetime.fromisoformat(written.replace("Z", "+00:00")).astimezone()
    same_day = today is None or at.date() == today.date()
    return at.strftime("%H:%M:%S" if same_day else "%Y-%m-%d %H:%M:%S")


def _found(known: Mapping[str, Any]) -> Iterator[str]:
    violations, repairs = known.get("violations", ()), known.get("repairs", ())
    if "error_code" in known:
        yield known["error_code"]
    faults = [_violation(each, alone=len(violations) == 1) for each in violations]
    yield from _some("at ", faults, known.get("violation_count", 0))
    mended = [f"{each['rule']} at {each['pointer'] or '/'}" for each in repairs]
    yield from _some("after " if faults else "", mended, known.get("repair_count", 0))
    yield from _some("", [f"{each['code']} at {each['pointer']}" for each in known.get("hints", ())], 0)


def _some(word: str, texts: list[str], count: int) -> Iterator[str]:
    """The first few of a list, and how many more there are."""
    more = max(count, len(texts)) - min(len(texts), _MOST_SHOWN)
    if texts:
        yield f"{word}{', '.join(texts[:_MOST_SHOWN])}{f' and {more} more' if more > 0 else ''}"


def _violation(record: Mapping[str, Any], *, alone: bool) -> str:
    """Place, fault and what came; of a single one the event's code tells the fault."""
    received = f" ({record['received']})" if "received" in record else ""
    return f"{record['pointer'] or '/'}{'' if alone else ' ' + record['code']}{received}"
