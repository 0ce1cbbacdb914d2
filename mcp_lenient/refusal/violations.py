"""Tell a caller what is wrong with a refused call: faults that are alike in one violation, with one message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mcp_lenient.refusal.groups import FaultGroup
from mcp_lenient.refusal.locations import Refused, without_format
from mcp_lenient.refusal.sentences import MAX_VALUES, MORE_FAULTS, and_more, requirement
from mcp_lenient.refusal.wrong_names import missing, undeclared, unknown
from mcp_lenient.refusal.wrong_values import MUST, ambiguous, hint, refusal
from mcp_lenient.types import Violation
from mcp_lenient.values.display import cut, shown
from mcp_lenient.values.json_values import pointer

_MAX_POINTER: Final = 300
_MAX_MESSAGE: Final = 800
_PLACES_TOLD: Final = 3


def violations(refused: Refused, groups: Sequence[FaultGroup], untold: int) -> tuple[Violation, ...]:
    """Return what is told of a refused call: each group of faults, and the number of those that are not told.

    The last message also names what is no fault, and yet may be wrong; in a line of its own, as it is not about that fault.
    """
    words, messages = refused.words, [cut(_message(group), _MAX_MESSAGE) for group in groups]
    rest = words.plural(*MORE_FAULTS, untold) if untold else ""
    if also := words.sentences(cut(_also_suspect(refused, groups), _MAX_MESSAGE), rest):
        messages[-1] = words.sentences(messages[-1], also) if len(groups) == 1 else f"{messages[-1]}\n{also}"
    return tuple(map(_violation, groups, messages))


def _violation(group: FaultGroup, message: str) -> Violation:
    first, author = group.first, group.faults[-1]
    is_known = group.code == "unknown" or group.refused.look(first.path[:1]).declared
    return Violation(
        shown(pointer(first.shown), _MAX_POINTER),
        shown(first.shown[0]) if first.path and is_known else None,
        group.code,
        message,
        received_type=group.sent_types[0] if group.is_of_value and len(group.sent_types) == 1 else None,
        expected_types=author.expected_types or group.wanted.types,
        received_value=first.value if group.echoes else None,
        has_received_value=group.echoes,
        did_you_mean=tuple(group.near if group.keyword == "enum" else map(shown, group.near)),
        allowed_values=group.wanted.values[:MAX_VALUES],
        fixes=group.offered.fixes,
        error_code=author.error_code or ("CUT_OFF" if group.broken and group.broken.is_end else None),
    )


def _message(group: FaultGroup) -> str:
    words, named = group.refused.words, group.refused.named
    told = [named(place.path) for place in group.places[:_PLACES_TOLD]]
    places = and_more(told, group.total - len(told), words)
    if group.code == "missing":
        return missing(group, places)
    if group.code == "unknown":
        return unknown(group, places)
    if group.code == "ambiguous":
        return ambiguous(group, places)
    if group.code == "size":
        return words("{place} is too large or too deeply nested. Send less at once.", place=places)
    return words.sentences(refusal(group, places), hint(group))


def _also_suspect(refused: Refused, groups: Sequence[FaultGroup]) -> str:
    """Name undeclared names that the tool may ignore, and texts that lack their format, so that the tool may fail with them."""
    words, by_format = refused.words, dict[str, list[str]]()
    is_known = all(group.code != "unknown" for group in groups)
    ignored = undeclared(groups, refused.look(())) if is_known else ""
    told = {place.path for group in groups for place in group.places}
    texts = map(refused.look, without_format(refused.top, refused.arguments))
    for text in [text for text in texts if text.declared and text.path not in told][:_PLACES_TOLD]:
        form = next(way.format for way in text.ways if way.format)
        by_format.setdefault(requirement("format", form, words), []).append(refused.named(text.path))
    must = [
        words.plural(*MUST, len(names), places=words.all_of(names), asked=asked)
        for asked, names in by_format.items()
    ]
    return words.sentences(ignored, *must, words("Ask for what you do not know.") if must else "")
