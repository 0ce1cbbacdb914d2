"""Phrases that messages about values and about names share."""

from __future__ import annotations

from typing import Any, Final

from mcp_lenient.refusal.groups import FaultGroup
from mcp_lenient.refusal.sentences import example, quoted
from mcp_lenient.rules.likely import is_command, listed_in
from mcp_lenient.values.display import in_json
from mcp_lenient.values.language import marked

_MOST_CALLS: Final = 100


def expected(group: FaultGroup) -> str:
    """Return what is expected, to follow "must be"; for a prompt's list or object, the string that holds it."""
    say, phrase = group.call.say, group.wanted.expected
    if not phrase or not group.takes_json_text:
        return phrase
    phrase = say("{expected}, sent as a string that holds JSON", expected=phrase)
    sample = group.node.cached(example)
    return say("{thing} such as {sample}", thing=phrase, sample=in_json(sample)) if sample else phrase


def did_you_mean(group: FaultGroup) -> str:
    """Ask for the likely names or values."""
    say, write = group.call.say, in_json if group.keyword == "enum" else quoted
    names = say.either(list(map(write, group.intended)))
    return say("Did you mean {names}?", names=names) if names else ""


def advice_on_several(group: FaultGroup, value: Any) -> str:
    """Say how to send several values where one is accepted; a destructive tool's message never advises more calls."""
    say, node = group.call.say, group.node
    is_text = isinstance(value, str)
    value = listed_in(value) if is_text else value
    is_list = isinstance(value, list) and 1 < len(value) <= _MOST_CALLS and not group.call.destructive
    fits = [node.accepts(item) for item in value] if is_list else []
    if not any(fits) or len(group.location.path) > 1 or (is_text and not all(fits)):
        return ""
    if is_command(value) and node.accepts(" "):
        return say("Write the command as one string.")
    is_free = not any(node.formats) and all(isinstance(item, str) for item in value)
    advice = marked("One call takes one value: call once for each that is meant.")
    if is_free and all(fits) and node.accepts("\n".join(value)):
        advice = marked("Join it if it is one text; else call once for each.")
    return say.sentences("" if group.code == "missing" else group.wanted.meaning, say(advice))
