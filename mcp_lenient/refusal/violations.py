"""Turn the groups of faults of a refused call into violations, one message for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mcp_lenient.refusal.groups import FaultGroup
from mcp_lenient.refusal.locations import RefusedCall, without_format
from mcp_lenient.refusal.sentences import MAX_VALUES, MORE_FAULTS, and_more, requirement
from mcp_lenient.refusal.wrong_names import ignored_names_note, missing_message, unknown_message
from mcp_lenient.refusal.wrong_values import MUST, ambiguous_message, hint, refusal_message
from mcp_lenient.types import Violation
from mcp_lenient.values.display import cut, shown
from mcp_lenient.values.json_values import pointer

_MAX_POINTER: Final = 300
_MAX_MESSAGE: Final = 800
_MAX_PLACES: Final = 3


def violations(call: RefusedCall, groups: Sequence[FaultGroup], omitted_count: int) -> tuple[Violation, ...]:
    """Return a violation for each group of faults; the last message counts the omitted_count groups.

    The last message also names accepted values and names that may still be wrong, in a line of their own.
    """
    say, messages = call.say, [cut(_message(group), _MAX_MESSAGE) for group in groups]
    more_faults = say.plural(*MORE_FAULTS, omitted_count) if omitted_count else ""
    if also := say.sentences(cut(_also_suspect(call, groups), _MAX_MESSAGE), more_faults):
        messages[-1] = say.sentences(messages[-1], also) if len(groups) == 1 else f"{messages[-1]}\n{also}"
    return tuple(map(_violation, groups, messages))


def _violation(group: FaultGroup, message: str) -> Violation:
    first, author = group.location, group.faults[-1]
    shows_name = group.code == "unknown" or group.call.location(first.path[:1]).declared
    return Violation(
        shown(pointer(first.shown), _MAX_POINTER),
        shown(first.shown[0]) if first.path and shows_name else None,
        group.code,
        message,
        received_type=group.sent_types[0] if group.is_of_value and len(group.sent_types) == 1 else None,
        expected_types=author.expected_types or group.wanted.types,
        received_value=first.value if group.may_echo else None,
        has_received_value=group.may_echo,
        did_you_mean=tuple(group.intended if group.keyword == "enum" else map(shown, group.intended)),
        allowed_values=group.wanted.values[:MAX_VALUES],
        fixes=group.offer.fixes,
        error_code=author.error_code or ("CUT_OFF" if group.json_break and group.json_break.is_end else None),
    )


def _message(group: FaultGroup) -> str:
    say, shown_path = group.call.say, group.call.shown_path
    names = [shown_path(location.path) for location in group.locations[:_MAX_PLACES]]
    where = and_more(names, group.location_count - len(names), say)
    if group.code == "missing":
        return missing_message(group, where)
    if group.code == "unknown":
        return unknown_message(group, where)
    if group.code == "ambiguous":
        return ambiguous_message(group, where)
    if group.code == "size":
        return say("{place} is too large or too deeply nested. Send less at once.", place=where)
    return say.sentences(refusal_message(group, where), hint(group))


def _also_suspect(call: RefusedCall, groups: Sequence[FaultGroup]) -> str:
    """Name undeclared names, which the tool may ignore, and texts without their format, with which it may fail."""
    say, paths_by_requirement = call.say, dict[str, list[str]]()
    has_unknown = any(group.code == "unknown" for group in groups)
    ignored = "" if has_unknown else ignored_names_note(groups, call.location(()))
    refused_paths = {location.path for group in groups for location in group.locations}
    texts = map(call.location, without_format(call.top, call.arguments))
    suspects = [text for text in texts if text.declared and text.path not in refused_paths]
    for suspect in suspects[:_MAX_PLACES]:
        format_name = next(branch.format for branch in suspect.branches if branch.format)
        needed = requirement("format", format_name, say)
        paths_by_requirement.setdefault(needed, []).append(call.shown_path(suspect.path))
    sentences = [ignored]
    for needed, paths in paths_by_requirement.items():
        sentences.append(say.plural(*MUST, len(paths), places=say.all_of(paths), requirement=needed))
    or_ask = say("Ask for what you do not know.") if paths_by_requirement else ""
    return say.sentences(*sentences, or_ask)
