"""Build the JSON envelope of a refused call."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, get_args

from mcp_lenient.refusal.repair_record import repair_record
from mcp_lenient.refusal.sentences import MORE_FAULTS, and_more
from mcp_lenient.refusal.text_block import text_block
from mcp_lenient.schema.node import Node
from mcp_lenient.types import Repair, Violation
from mcp_lenient.values.display import cut, encodable, first_fitting, in_json, shown, shown_name
from mcp_lenient.values.language import ENGLISH, Language, Text, load_language, marked
from mcp_lenient.values.names import nearest

Subject = Literal["tool", "prompt"]
"""What arguments are sent to."""
Recovery = Literal["correctable", "transient", "terminal"]
"""What may come of a refused call: another call may succeed, the same one later, or none.

The words are those of the Ad Context Protocol: github.com/adcontextprotocol/adcp, its page on error handling.
"""
RECOVERIES: Final[tuple[Recovery, ...]] = get_args(Recovery)
META_KEY: Final = "mcp_lenient"
"""The key in a result's ``_meta`` for the envelope or the repairs."""
UPSTREAM_KEY: Final = "mcp_lenient_upstream"
"""The key for the server's own ``mcp_lenient`` entry, where this middleware needs that key."""
_MAX_MESSAGE: Final = 4_000
_MAX_PARAMETER: Final = 64
_ON_TOP: Final[Sequence[str]] = ("parameter", "received_type", "expected_types", "received_value")
"""What the details repeat of the only violation."""
_MAX_NEAR: Final = 5
_MAX_TOOLS: Final = 10
_MAX_REASON: Final = 240
_MAX_REASONS: Final = 5
_TWICE: Final = 2
_UNCHANGED: Final = marked("This exact call of '{tool}' was refused {count} times, unchanged.")
_DO_OTHERWISE: Final = marked(
    "Do not send it again: change it, ask the user for what is missing, or do without this tool."
)
_STOP_AFTER: Final = 5
_ONLY_VALUES: Final = marked(
    "{count} calls of '{tool}' were refused for the same reason; only other values were sent."
)
_CHANGE_THIS: Final = marked("Change what is named here, or ask the user.")
_STOP: Final = marked("Stop calling it and tell the user what is missing or wrong.")
_BYTES_OF_VIOLATIONS: Final = 7_000
_BYTES_OF_LIST: Final = 1_500
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NON_WORD: Final = re.compile(r"[^A-Za-z0-9]+")
_CODES: Final = {"type": "INVALID_{}_TYPE", "missing": "MISSING_{}", "ambiguous": "AMBIGUOUS_{}"}
_CODES_INSIDE: Final = {**_CODES, **dict.fromkeys(("missing", "unknown"), "INVALID_{}_TYPE")}
_CORRECT_OR_ASK: Final = marked(
    "The tool was not run. Correct the call; do not guess: look up or ask the user."
)
_OPENING_AND_CLOSING: Final[Mapping[Subject, tuple[str, str]]] = {
    "tool": (
        marked("Invalid arguments for tool '{name}':"),
        marked("The tool was not run. Correct the call and send it again."),
    ),
    "prompt": (marked("Invalid arguments for prompt '{name}':"), marked("Correct this and ask again.")),
}


class Again(NamedTuple):
    """How often the same caller was refused.

    Attributes:
        times: How often it has sent this call, or calls with other values and the same faults, this time included.
        corrected: Arguments that would be accepted, one for each reading. A long or secret value is replaced by its
            name in angle brackets.
        is_alike: Whether other values were sent each time.
    """

    times: int
    corrected: tuple[Mapping[str, Any], ...] = ()
    is_alike: bool = False


# --- the envelope -----------------------------------------------------------------------------------------


def envelope(
    tool_name: str,
    top: Node,
    violations: Sequence[Violation],
    repairs: Sequence[Repair] = (),
    *,
    language: str = ENGLISH,
    subject: Subject = "tool",
    again: Again | None = None,
) -> dict[str, Any]:
    """Return the envelope of a refused call: JSON that can be sent as UTF-8, 16 kB at most.

    Args:
        tool_name: The name as the client called it.
        top: The published schema.
        violations: What is wrong: one for each group of faults that are alike.
        repairs: What was repaired.
        language: The language of the messages.
        subject: Whether a tool or a prompt was called.
        again: How often the same caller was refused; None the first time.
    """
    name, say = shown_name(tool_name), load_language(language)
    entries = [_entry(violation, say) for violation in violations]
    listed = first_fitting(entries, _BYTES_OF_VIOLATIONS)
    only = entries[0] if len(entries) == 1 else {}
    at_top = {key: only[key] for key in _ON_TOP if key in only}
    details: dict[str, Any] = {subject: name, **at_top, "violations": listed}
    if len(listed) < len(entries):
        details["violations_omitted"] = len(entries) - len(listed)
    details |= {"parameters": {**top.cached(_parameters)}, **repair_record(repairs, _BYTES_OF_LIST)}
    if again is None or again.is_alike:
        message = _message(name, violations, say, subject, again)
        details |= {} if again is None else {"alike": again.times}
    else:
        details["repeated"] = again.times
        message = _repeated_message(name, violations, say, again)
    return error_envelope(error_code(violations), message, details)


def _entry(violation: Violation, say: Language) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "pointer": violation.pointer,
        "parameter": violation.parameter,
        "code": violation.code,
        "message": say.of(violation.message),
    }
    if violation.received_type is not None:
        entry["received_type"] = violation.received_type
    if violation.has_received_value:
        entry["received_value"] = violation.received_value
    lists = {
        "expected_types": [*violation.expected_types],
        "did_you_mean": [*violation.did_you_mean],
        "allowed_values": first_fitting(violation.allowed_values, _BYTES_OF_LIST),
        "fixes": [[dict(operation) for operation in patch] for patch in violation.fixes],
    }
    return entry | {key: values for key, values in lists.items() if values}


def _parameters(top: Node) -> dict[str, Any]:
    """Return the required and the optional names that fit, and the number of those omitted."""
    always_required = set.intersection(*(set(branch.required) for branch in top.branches))
    required = [shown(name) for name in top.branches[0].required if name in always_required]
    optional = [shown(name) for name in top.names if name not in always_required]
    lists = {"required": required, "optional": optional}
    listed = {key: first_fitting(names, _BYTES_OF_LIST) for key, names in lists.items()}
    omitted = len(required) + len(optional) - sum(map(len, listed.values()))
    return listed | ({"omitted": omitted} if omitted else {})


def error_code(violations: Sequence[Violation]) -> str:
    """Return the ``error_code`` of an envelope.

    >>> error_code([Violation("/maxResults", "maxResults", "type", "")])
    'INVALID_MAX_RESULTS_TYPE'
    """
    if any(violation.code == "size" for violation in violations):
        return "ARGUMENTS_TOO_LARGE"
    if len(violations) != 1:
        return "INVALID_ARGUMENTS"
    (violation,) = violations
    snake_name = _NON_WORD.sub("_", _CAMEL.sub("_", violation.parameter or ""))
    parameter = snake_name.strip("_").upper()[:_MAX_PARAMETER] or "PARAMETER"
    if violation.error_code is not None:
        return violation.error_code.replace("{PARAMETER}", parameter)
    is_inside = violation.pointer.count("/") > 1
    if violation.code == "unknown" and not is_inside:
        return "UNKNOWN_PARAMETER"
    if violation.parameter is None:
        return "INVALID_ARGUMENTS"
    template = (_CODES_INSIDE if is_inside else _CODES).get(violation.code, "INVALID_{}_VALUE")
    return template.format(parameter)


# --- its message ------------------------------------------------------------------------------------------


def _message(
    name: str, violations: Sequence[Violation], say: Language, subject: Subject, again: Again | None
) -> str:
    opening, closing = _OPENING_AND_CLOSING[subject]
    opening = say(opening, name=name)
    if subject == "tool" and any(map(_may_lack_value, violations)):
        closing = _CORRECT_OR_ASK
    closing = say(closing) if again is None else _only_values_changed(name, again.times, say)
    reasons = [say.of(violation.message) for violation in _without_renamed(violations)]
    if len(reasons) < 2:
        return say.sentences(opening, *(cut(reason, _MAX_MESSAGE - 300) for reason in reasons), closing)
    lines = [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)]
    while sum(map(len, lines)) > _MAX_MESSAGE - 400:
        lines.pop()
    rest = len(reasons) - len(lines)
    more = [say.plural(*MORE_FAULTS, rest)] if rest else []
    return "\n".join((opening, *lines, *more, closing))


def _may_lack_value(violation: Violation) -> bool:
    """Return whether the caller may not know all that a right value needs, and its message does not say so."""
    is_choice = violation.code == "enum" and len(violation.allowed_values) > 1
    return not (violation.fixes or is_choice or violation.code == "size" or violation.error_code == "CUT_OFF")


def _only_values_changed(name: str, times: int, say: Language) -> str:
    advice = _STOP if times >= _STOP_AFTER else _CHANGE_THIS
    return say.sentences(say(_ONLY_VALUES, tool=name, count=times), say(advice))


def _repeated_message(name: str, violations: Sequence[Violation], say: Language, again: Again) -> str:
    explained = _without_renamed(violations)[: 1 if again.corrected else _MAX_REASONS]
    reasons = [cut(say.of(violation.message), _MAX_REASON) for violation in explained]
    reason = say.sentences(*(text[:1].upper() + text[1:] for text in reasons))
    if again.times > _TWICE:
        return say.sentences(say(_UNCHANGED, tool=name, count=again.times), reason, say(_DO_OTHERWISE))
    sentences = [say("'{tool}' refused the same call before.", tool=name), reason]
    codes = {violation.code for violation in violations}
    if "missing" in codes and "unknown" not in codes:  # otherwise it came under another name
        cut_off = marked(
            "If what is missing was sent, an output limit may have cut it off: send less at once."
        )
        sentences.append(say(cut_off))
    return say.sentences(*sentences, *_corrections(again.corrected, say))


def _corrections(calls: Sequence[Mapping[str, Any]], say: Language) -> Iterator[str]:
    if not calls:
        return
    if len(calls) == 1:
        yield say("Send this instead: {call}", call=in_json(calls[0]))
    else:
        yield say("Send the one that is meant: {calls}", calls=say.either(list(map(in_json, calls))))
    names = (f"<{name}>" for call in calls for name, value in call.items() if value == f"<{name}>")
    if placeholders := [in_json(name) for name in dict.fromkeys(names)]:
        yield say("Put the real values in place of {names}.", names=say.all_of(placeholders))


def _without_renamed(violations: Sequence[Violation]) -> list[Violation]:
    """Leave out a missing name that was sent under another name, since the violation of that name says so."""
    unknown = [violation for violation in violations if violation.code == "unknown" and violation.fixes]
    fixes = [violation.fixes[0] for violation in unknown if len(violation.did_you_mean) == 1]
    renamed = {("missing", fix[0]["path"]) for fix in fixes if len(fix) == 1 and fix[0]["op"] == "move"}
    return [violation for violation in violations if (violation.code, violation.pointer) not in renamed]


# --- any refusal ------------------------------------------------------------------------------------------


def error_envelope(
    code: str, message: str, details: Mapping[str, Any], recovery: Recovery = "correctable"
) -> dict[str, Any]:
    """Return an envelope of any kind, such as that of a call that a tool's body refuses; it can be sent as UTF-8."""
    answer = {
        "status": "error",
        "error_code": code,
        "recovery": recovery,
        "retryable": recovery == "transient",
        "message": message,
        "details": details,
    }
    try:
        _ENCODER.encode(answer).encode()
    except UnicodeEncodeError:  # a lone surrogate
        return {**encodable(answer)}
    return answer


def refusal_result(answer: Mapping[str, Any], *, has_output_schema: bool) -> dict[str, Any]:
    """Return an envelope as a ``tools/call`` result.

    Some clients validate ``structuredContent`` against the output schema even on errors and throw the envelope
    away, so it is only set when the tool has no output schema.
    """
    text = {"type": "text", "text": text_block(answer)}
    result = {"content": [text], "isError": True, "_meta": {META_KEY: answer}}
    return result if has_output_schema else {**result, "structuredContent": answer}


# --- a tool that cannot be called -------------------------------------------------------------------------


def unknown_tool(
    name: str,
    near: Iterable[str] = (),
    listed: Collection[str] = (),
    *,
    has_versions: bool = False,
    language: str = ENGLISH,
) -> dict[str, Any]:
    """Return the envelope for a tool name or version that does not exist.

    Args:
        name: The name as the client called it.
        near: Similar names that the same client can see.
        listed: All names that it can see.
        has_versions: Whether the tool exists in other versions.
        language: The language of the message.
    """
    tool, say = shown_name(name), load_language(language)
    if has_versions:
        text = marked("Tool '{tool}' has no such version. The tool was not run. Call it without a version.")
        return error_envelope("UNKNOWN_TOOL", say(text, tool=tool), {"tool": tool})
    names = [other for other in near if shown_name(other) == other][:_MAX_NEAR]
    rest = {other for other in listed if shown_name(other) == other and other not in names}
    tools = [*names, *nearest(name, rest, _MAX_TOOLS - len(names))]
    sentences = [say("Unknown tool '{tool}'. Nothing was run.", tool=tool)]
    if names:
        quoted = [f"'{other}'" for other in names]
        sentences.append(say("Did you mean {names}?", names=say.either(quoted)))
    if others := [f"'{other}'" for other in tools[len(names) :]]:
        form = marked("Other tools: {names}.") if names else marked("Tools: {names}.")
        sentences.append(say(form, names=and_more(others, len(listed) - len(tools), say)))
    elif not names:
        sentences.append(say("List the tools to see what there is."))
    lists = {"did_you_mean": names, "tools": tools}
    details = {"tool": tool} | {key: values for key, values in lists.items() if values}
    return error_envelope("UNKNOWN_TOOL", say.sentences(*sentences), details)


def unknown_again(answer: Mapping[str, Any], again: Again, language: str = ENGLISH) -> dict[str, Any]:
    """Return the envelope for a tool that does not exist and that the same caller has called before."""
    say, details = load_language(language), answer["details"]
    advice = say(_DO_OTHERWISE)
    if names := [f"'{name}'" for name in details.get("did_you_mean") or details.get("tools", ())]:
        advice = say("Call {names}, or do without it.", names=say.either(names))
    counted = _ONLY_VALUES if again.is_alike else _UNCHANGED
    unknown = say("Unknown tool '{tool}'. Nothing was run.", tool=details["tool"])
    message = say.sentences(unknown, say(counted, tool=details["tool"], count=again.times), advice)
    times = {"alike" if again.is_alike else "repeated": again.times}
    return error_envelope(answer["error_code"], message, {**details, **times})


_ABOUT_TOOL: Final = {
    "TOOL_FAILED": marked(
        "Tool '{tool}' failed with an error of its own. It may have run in part: find out what it has done before you "
        "call it again. Whoever operates the server finds the error under the id {error_id}."
    ),
    "UPSTREAM_TIMED_OUT": marked(
        "Tool '{tool}' did not answer within {timeout_seconds:g} seconds. The call was cancelled, but it may have run: "
        "find out what it has done before you send it again."
    ),
}


def about_tool(code: str, name: str, *, language: str = ENGLISH, **details: Any) -> dict[str, Any]:
    """Return the envelope for a call that no violation explains; ``details`` has what the text for the code names."""
    details = {"tool": shown_name(name), **details}
    return error_envelope(code, load_language(language)(_ABOUT_TOOL[code], **details), details, "terminal")


def unavailable_tool(
    name: str, reason: Text, *, passes: bool = True, language: str = ENGLISH
) -> dict[str, Any]:
    """Return the envelope for a call that could not be sent to the tool's server.

    Args:
        name: The tool.
        reason: Why, in one sentence.
        passes: Whether the same call may succeed later.
        language: The language of the message.
    """
    say, tool = load_language(language), shown_name(name)
    later = marked("Try again later.")
    advice = say(later if passes else marked("Only whoever operates the proxy can change this."))
    message = say.sentences(
        say("Tool '{tool}' cannot be called now.", tool=tool),
        say.of(reason),
        say("The tool was not run."),
        advice,
    )
    recovery: Recovery = "transient" if passes else "terminal"
    return error_envelope("UPSTREAM_UNAVAILABLE", message, {"tool": tool}, recovery)
