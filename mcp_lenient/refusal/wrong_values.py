"""Messages about values: what one must be, what was sent, and how to correct it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mcp_lenient.refusal.groups import CONTAINERS, MAX_NEAR, FaultGroup
from mcp_lenient.refusal.locations import MAX_SUGGESTION
from mcp_lenient.refusal.phrases import advice_on_several, did_you_mean, expected
from mcp_lenient.refusal.sentences import SAMPLES, SIZES, allowed_values, broken_json, example, requirement_of
from mcp_lenient.rules.likely import is_echo
from mcp_lenient.rules.words import is_identifier
from mcp_lenient.values.display import HIDDEN, fits_json, in_json, short_scalar
from mcp_lenient.values.json_values import json_type, number_in_text
from mcp_lenient.values.language import ONE_OF_A_TYPE, marked, marked_plural

MUST: Final = marked_plural("{places} must {requirement}.", "{places} must each {requirement}.")
_MUST_BUT_GOT: Final = marked_plural(
    "{places} must {requirement}, but got {received}.",
    "{places} must each {requirement}, but got {received}.",
)
_NOT_ACCEPTED: Final = marked_plural(
    "{places} is not accepted: {reason}.", "{places} are not accepted: {reason}."
)
_NOT_ACCEPTED_BY_TOOL: Final = marked_plural(
    "{places} is not accepted by the tool; got {received}.",
    "{places} are not accepted by the tool; got {received}.",
)
_RECEIVED: Final = {
    "string": marked("the string {value}"),
    "integer": marked("the integer {value}"),
    "number": marked("the number {value}"),
    "boolean": marked("the boolean {value}"),
}
_TIME_ZONE: Final = marked("Z stands for UTC; another time zone is written like +02:00.")
_IF_MEANT: Final = marked("Leave it out only if the tool then does what you mean.")
_IF_MEANS_IT: Final = marked("Leave it out only if that means it.")
_WHOLE_NUMBER: Final = marked("Send a whole number.")
_IN_FORM: Final = marked("Write it in the form {sample}.")
_MAX_DETAIL: Final = 300


def ambiguous_message(group: FaultGroup, where: str) -> str:
    """Name the readings; one that is long, or that may hold a secret, is masked."""
    call, first, say = group.call, group.location, group.call.say
    values = group.readings[:MAX_NEAR]
    readings = [in_json(value) if call.may_suggest(first, value) else HIDDEN for value in values]
    text = marked("{place} can be read as {readings}. Send the one that is meant, as JSON.")
    return say(text, place=where, readings=say.either(readings))


def refusal_message(group: FaultGroup, where: str) -> str:
    """Say what a value must be, and what was sent."""
    say, requirement = group.call.say, _requirement(group)
    reason, received = _reason(group), _received(group)
    if reason and received and group.code == "format":
        received = f"{received} ({reason})"
    must = _MUST_BUT_GOT if received and not group.is_about_key and not group.takes_json_text else MUST
    return say.plural(
        *(must if requirement else _NOT_ACCEPTED if reason else _NOT_ACCEPTED_BY_TOOL),
        group.location_count if requirement or group.location.path else 2,
        places=say("the key {name}", name=where) if group.is_about_key else where,
        requirement=requirement,
        received=received,
        reason=reason.rstrip(".。"),
    )


def _requirement(group: FaultGroup) -> str:
    """Return what the schema requires of a value, to follow "must"."""
    say, faults = group.call.say, group.faults[0].alternatives[0] if group.is_about_key else group.faults
    if any(fault.keyword in ("type", "enum") for fault in faults):
        phrase = expected(group)
        return say("be {thing}", thing=phrase) if phrase else ""
    return _range(group) or say.all_of([text for fault in faults if (text := requirement_of(fault, say))])


def _range(group: FaultGroup) -> str:
    """Return the range that a number is outside of; empty if it has only one end, or another keyword is violated."""
    minimums, maximums = group.node.values_of("minimum"), group.node.values_of("maximum")
    breaks_one_end = [fault.keyword for fault in group.faults] in (["minimum"], ["maximum"])
    if not (breaks_one_end and minimums and maximums and fits_json([*minimums, *maximums], MAX_SUGGESTION)):
        return ""
    ends = {"least": in_json(max(minimums)), "most": in_json(min(maximums))}
    return group.call.say("be from {least} to {most}", **ends)


def _reason(group: FaultGroup) -> str:
    """Return the author's reason, or a known reason of the validator's, unless the type says it."""
    call, fault, locations = group.call, group.faults[-1], group.locations
    if group.is_about_key:
        locations = tuple([call.location(location.path[:-1]) for location in locations])
    detail = call.safe_sentence(locations, fault.detail, _MAX_DETAIL) if fault.detail else ""
    is_of_type = group.code == "type" and group.location.node is not None
    return detail or ("" if is_of_type else call.say.of(fault.reason or ""))


def _received(group: FaultGroup) -> str:
    """Return the value or type, with its size if that is limited; empty if its type alone is right."""
    say, value = group.call.say, group.location.value
    if group.is_about_key:
        return say(ONE_OF_A_TYPE["string"])
    shows_value = group.may_echo and value is not None
    if shows_value:
        received = say(_RECEIVED[json_type(value)], value=in_json(value))
    else:
        received = say.either([say(ONE_OF_A_TYPE[name]) for name in group.sent_types])
    endings = [fault.keyword[3:] for fault in group.faults if fault.keyword is not None]
    sizes = [SIZES[name] for name in endings if name in SIZES]
    if sizes and group.location_count == 1 and isinstance(value, (str, list, Mapping)):
        size = say.plural(*sizes[0], len(value))
        return say("{received} of {size}", received=received, size=size)
    return received if shows_value or group.keyword in ("type", "enum", None) else ""


def hint(group: FaultGroup) -> str:
    """Say how to correct a value."""
    say, value, absence_advice = group.call.say, group.location.value, _absence_advice(group)
    if group.keyword == "enum":
        return say.sentences(did_you_mean(group), advice_on_several(group, value), absence_advice)
    if group.code in ("length", "pattern", "format", "range"):
        return absence_advice or _limit_hint(group)
    if absence_advice or group.keyword != "type" or value is None:
        return absence_advice
    if isinstance(value, str):
        return _hint_for_sent_text(group)
    if group.types & CONTAINERS:
        return _hint_for_wanted_container(group)
    if isinstance(value, (Mapping, list)):
        return advice_on_several(group, value) or _hint_for_sent_container(group)
    if isinstance(value, float) and group.types == {"integer"}:
        return say.sentences(group.wanted.meaning, say(_WHOLE_NUMBER))
    is_short_text = group.types == {"string"} and short_scalar(value)
    return group.wanted.meaning if is_short_text and not group.node.accepts(in_json(value)) else ""


def _absence_advice(group: FaultGroup) -> str:
    """Say whether a null or a value that is not allowed may be left out; never for a destructive tool."""
    first = group.location
    if first.optional and any(change["op"] == "remove" for change in group.operations):
        return _leave_out_advice(group, marked("Leave it out if you have no value."))
    is_none_of_several = len(group.wanted.values) > 1 and not group.intended
    is_scalar = first.value is not None and not CONTAINERS.intersection(group.sent_types)
    say = group.call.say
    if is_none_of_several and is_scalar:
        return say.sentences(say("If none means it, ask."), _leave_out_advice(group, _IF_MEANS_IT))
    is_named = bool(first.path) and isinstance(first.path[-1], str)
    is_null = first.value is None and first.declared and is_named and not first.optional
    advice = say.sentences(say("It cannot be left out."), group.wanted.meaning)
    return advice if is_null and group.location_count == 1 else ""


def _leave_out_advice(group: FaultGroup, otherwise: str = _IF_MEANT) -> str:
    """Say what applies if the value is left out: its default, or a warning, since none may mean "all"."""
    if not group.location.optional or group.call.destructive:
        return ""
    say, default = group.call.say, next(filter(short_scalar, group.node.values_of("default")), None)
    return say(otherwise) if default is None else say("Left out, it is {value}.", value=in_json(default))


def _limit_hint(group: FaultGroup) -> str:
    """Say what to do about a value of the right type; no message to a destructive tool advises more calls."""
    say = group.call.say
    if group.code in ("pattern", "range"):
        is_known = group.code == "range" or is_identifier(group.name) or group.offer.fixes
        otherwise = "" if is_known else say("If no such text means it, ask.")
        return advice_on_several(group, group.location.value) or say.sentences(
            group.wanted.meaning, otherwise
        )
    if group.code == "format":
        return say(_TIME_ZONE) if group.faults[0].bound == "date-time" and not _reason(group) else ""
    is_list = isinstance(group.location.value, list) and group.keyword == "maxItems"
    is_tuple = any(branch.prefix_items for branch in group.node.branches)
    is_split = is_list and not is_tuple and len(group.location.path) == 1 and not group.call.destructive
    return say("If each item stands alone, send the rest in another call.") if is_split else ""


def _hint_for_wanted_container(group: FaultGroup) -> str:
    say, node, wanted = group.call.say, group.node, group.wanted
    if wanted.alternatives:
        return wanted.alternatives
    lists = (branch for branch in node.branches if branch.is_only("array"))
    holders = (branch for branch in lists if branch.items.accepts(group.location.value))
    sample = None if wanted.types_say_all or not _sample(group) else next(holders, node).cached(example)
    form = say(_IN_FORM, sample=sample) if sample else ""
    return say.sentences(wanted.meaning, wanted.contents, form)


def _hint_for_sent_text(group: FaultGroup) -> str:
    say, types, wanted, text = group.call.say, group.types, group.wanted, group.location.value
    if group.json_break is not None:
        return str(say.of(broken_json(group.json_break)))
    if group.is_prompt_argument and (types & CONTAINERS or "boolean" in types):
        return ""
    if types & CONTAINERS:
        sample = _sample(group)
        form = sample or ("{…}" if "object" in types else "[…]")
        contents = wanted.alternatives if sample else wanted.contents
        return contents or say.sentences(wanted.meaning, say(_IN_FORM, sample=form))
    if not types <= {"boolean", "number", "integer"} or allowed_values(group.node, partly=True):
        return ""
    if types != {"boolean"} and number_in_text(text) is not None:
        return say("Write the number without quotes.") if "number" in types else say(_WHOLE_NUMBER)
    if "boolean" in types:
        return say("Write true or false, without quotes.")
    if any(map(str.isdigit, text)):  # `2026-01-31` for a time stamp is more than another spelling
        return wanted.meaning
    return say.sentences(wanted.meaning, _leave_out_advice(group))


def _sample(group: FaultGroup) -> str | None:
    """Return the value that a fix gives, or an example that cannot be taken for a real value."""
    values = [fix[0].get("value") for fix in group.offer.fixes if len(fix) == 1]
    lists = [value for value in values if isinstance(value, list)]
    lists = [value for value in lists if all(isinstance(item, str) for item in value)]
    if lists and values[0] in lists:
        return group.call.say.either(list(map(in_json, lists)))  # `1,234` may be one number
    is_risky = group.call.destructive or is_identifier(group.name)
    return None if is_risky else group.node.cached(example)


def _hint_for_sent_container(group: FaultGroup) -> str:
    say, node, value = group.call.say, group.node, group.location.value
    if is_echo(node, value):
        return say("This is the schema of the value: send the value itself.")
    formats = node.formats
    if isinstance(value, Mapping) and len(formats) == 1 and formats <= SAMPLES.keys() - {"json"}:
        like = say(_IN_FORM, sample=node.cached(example) or "")
        return say.sentences(like, say(_TIME_ZONE) if formats == {"date-time"} else "")
    is_unlimited = formats == {None} and not node.members
    is_flat = isinstance(value, list) and not any(isinstance(item, (Mapping, list)) for item in value)
    may_be_json = (is_unlimited and not is_flat) or bool(formats & {"json", "json-string"})
    if len(group.location.path) == 1 and group.types == {"string"} and may_be_json:
        advice = say("Send a string, and JSON text only if JSON is asked for.")
        return say.sentences(group.wanted.meaning, advice)
    return say("Send one value.") if group.types else ""
