"""Phrases that messages about values and about names share."""

from __future__ import annotations

import re
from typing import Any, Final

from mcp_lenient.refusal.groups import FaultGroup
from mcp_lenient.refusal.locations import Location
from mcp_lenient.refusal.sentences import example, quoted, requirement
from mcp_lenient.rules.likely import is_command, is_echo
from mcp_lenient.values.display import in_json, short_scalar
from mcp_lenient.values.language import marked

_IF_MEANT: Final = marked("Leave it out only if the tool then does what you mean.")
_SEPARATORS: Final = re.compile(r"[,;\n]")
_MOST_CALLS: Final = 100


def expected(group: FaultGroup) -> str:
    """Return what is expected, to follow "must be"; for a prompt's list or object, the string that holds it."""
    say, phrase = group.call.say, group.wanted.expected
    if not phrase or not group.takes_json_text:
        return phrase
    phrase = say("{expected}, sent as a string that holds JSON", expected=phrase)
    sample = group.node.cached(example)
    return say("{thing} such as {sample}", thing=phrase, sample=in_json(sample)) if sample else phrase


def must_be(group: FaultGroup) -> str:
    """Say what a missing value must be: what its pattern asks, or else its type."""
    say, phrase = group.call.say, expected(group)
    requirements = [requirement("pattern", pattern, say) for pattern in group.node.values_of("pattern")]
    text = say.all_of(requirements) or (say("be {thing}", thing=phrase) if phrase else "")
    return say("It must {requirement}.", requirement=text) if text else ""


def did_you_mean(group: FaultGroup) -> str:
    """Ask for the likely names or values."""
    say, write = group.call.say, in_json if group.keyword == "enum" else quoted
    names = say.either(list(map(write, group.intended)))
    return say("Did you mean {names}?", names=names) if names else ""


def leave_out_advice(group: FaultGroup, otherwise: str = _IF_MEANT) -> str:
    """Say what applies if the value is left out: its default, or a warning, since none may mean "all"."""
    if not group.location.optional or group.call.destructive:
        return ""
    say, default = group.call.say, next(filter(short_scalar, group.node.values_of("default")), None)
    return say(otherwise) if default is None else say("Left out, it is {value}.", value=in_json(default))


def advice_on_several(group: FaultGroup, value: Any) -> str:
    """Say how to send several values where one is accepted; a destructive tool's message never advises more calls."""
    say, node = group.call.say, group.node
    is_text = isinstance(value, str)
    value = list(filter(None, map(str.strip, _SEPARATORS.split(value)))) if is_text else value
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


def schema_echo(group: FaultGroup, parent: Location) -> str:
    """Say that the schema of an object was sent in its place."""
    is_echoed = any(is_echo(branch, parent.value) for branch in parent.branches)
    advice = marked("What was sent is the schema: send the values that it describes.")
    return group.call.say(advice) if is_echoed else ""
