"""Build the JSON envelope of a refused call, and the record of repairs in a result."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, Literal, NamedTuple, get_args

from mcp_lenient.refusal.sentences import MORE_FAULTS, and_more
from mcp_lenient.schema.node import Node
from mcp_lenient.types import Repair, Violation
from mcp_lenient.values.display import cut, encodable, escaped_pointer, in_json, shown, shown_key, shown_name
from mcp_lenient.values.json_values import tokens_of
from mcp_lenient.values.language import ENGLISH, ONE_OF_A_TYPE, Language, Text, marked
from mcp_lenient.values.language import language as texts
from mcp_lenient.values.names import nearest

Subject = Literal["tool", "prompt"]
"""What arguments are sent to."""
Recovery = Literal["correctable", "transient", "terminal"]
"""What may come of a refused call: another call may succeed, the same one later, or none.

The words are those of the Ad Context Protocol: github.com/adcontextprotocol/adcp, its page on error handling.
"""
RECOVERIES: Final[tuple[Recovery, ...]] = get_args(Recovery)
_RECOVERY: Final = ("recovery", "retryable")
META_KEY: Final = "mcp_lenient"
"""The key in a result's ``_meta`` for the envelope or the repairs."""
UPSTREAM_KEY: Final = "mcp_lenient_upstream"
"""The key for the server's own ``mcp_lenient`` entry, where this middleware needs that key."""
_MAX_MESSAGE: Final = 4_000
_MAX_PARAMETER: Final = 64
_MAX_POINTER: Final = 300
_MAX_REPAIRS: Final = 50
_ON_TOP: Final[Sequence[str]] = ("parameter", "received_type", "expected_types", "received_value")
_MAX_NEAR: Final = 5
_MAX_TOOLS: Final = 10
_MAX_REASON: Final = 240
_MAX_REASONS: Final = 5
_TWICE: Final = 2
_UNCHANGED: Final = marked("This exact call of '{tool}' was refused {count} times, unchanged.")
_DO_OTHERWISE: Final = marked(
    "Do not send it again: change it, ask the user for what is missing, or do without this tool."
)
_TOO_MANY: Final = 5
_ONLY_VALUES: Final = marked(
    "{count} calls of '{tool}' were refused for the same reason; only other values were sent."
)
_CHANGE_THIS: Final = marked("Change what is named here, or ask the user.")
_STOP: Final = marked("Stop calling it and tell the user what is missing or wrong.")
_MOST_NOTED: Final = 3
_BYTES_OF_VIOLATIONS: Final = 7_000
_BYTES_OF_LIST: Final = 1_500
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
as_text: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Write a whole envelope as JSON, for an error without ``_meta``."""
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_WORD: Final = re.compile(r"[^A-Za-z0-9]+")
_CODES: Final = {"type": "INVALID_{}_TYPE", "missing": "MISSING_{}", "ambiguous": "AMBIGUOUS_{}"}
_CODES_INSIDE: Final = {**_CODES, **dict.fromkeys(("missing", "unknown"), "INVALID_{}_TYPE")}
_OR_ASK: Final = marked("The tool was not run. Correct the call; do not guess: look up or ask the user.")
_FRAMES: Final[Mapping[Subject, tuple[str, str]]] = {
    "tool": (
        marked("Invalid arguments for tool '{name}':"),
        marked("The tool was not run. Correct the call and send it again."),
    ),
    "prompt": (marked("Invalid arguments for prompt '{name}':"), marked("Correct this and ask again.")),
}


class Again(NamedTuple):
    """How often the same caller was refused.

    Attributes:
        times: How often it has sent this call, or calls with other values and the same faults.
        corrected: The arguments that would be accepted, in each way they may be meant. A value that is long or secret is
            its name in angle brackets.
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

    ``tool_name`` is as the client called it, ``top`` the published schema; ``again`` is None the first time.
    """
    name, words = shown_name(tool_name), texts(language)
    told = [_violation(violation, words) for violation in violations]
    kept = _within(told, _BYTES_OF_VIOLATIONS)
    alone = told[0] if len(told) == 1 else {}
    on_top = {key: alone[key] for key in _ON_TOP if key in alone}
    details: dict[str, Any] = {subject: name, **on_top, "violations": kept}
    if len(kept) < len(told):
        details["violations_omitted"] = len(told) - len(kept)
    details |= {"parameters": {**top.once(_parameters)}, **repairs_told(repairs, _BYTES_OF_LIST)}
    if again is None or again.is_alike:
        message = _message(name, violations, words, subject, again)
        details |= {} if again is None else {"alike": again.times}
    else:
        details["repeated"] = again.times
        message = _message_again(name, violations, words, again)
    return error_envelope(error_code(violations), message, details)


def _message_again(name: str, violations: Sequence[Violation], words: Language, again: Again) -> str:
    told = _without_twins(violations)[: 1 if again.corrected else _MAX_REASONS]
    reasons = [cut(words.of(each.message), _MAX_REASON) for each in told]
    reason = words.sentences(*(each[:1].upper() + each[1:] for each in reasons))
    if again.times > _TWICE:
        return words.sentences(words(_UNCHANGED, tool=name, count=again.times), reason, words(_DO_OTHERWISE))
    said = [words("'{tool}' refused the same call before.", tool=name), reason]
    codes = {violation.code for violation in violations}
    if "missing" in codes and "unknown" not in codes:  # otherwise it came under another name
        said.append(
            words("If what is missing was sent, an output limit may have cut it off: send less at once.")
        )
    return words.sentences(*said, *_sent_instead(again.corrected, words))


def _sent_instead(calls: Sequence[Mapping[str, Any]], words: Language) -> Iterator[str]:
    if not calls:
        return
    written = [in_json(call) for call in calls]
    if len(written) == 1:
        yield words("Send this instead: {call}", call=written[0])
    else:
        yield words("Send the one that is meant: {calls}", calls=words.either(written))
    names = (f"<{name}>" for call in calls for name, value in call.items() if value == f"<{name}>")
    if listed := [in_json(name) for name in dict.fromkeys(names)]:
        yield words("Put the real values in place of {names}.", names=words.all_of(listed))


def error_envelope(
    code: str, message: str, details: Mapping[str, Any], recovery: Recovery = "correctable"
) -> dict[str, Any]:
    """Return an envelope of any kind, such as that of a call that a tool's body refuses; it can be sent as UTF-8."""
    told = {
        "status": "error",
        "error_code": code,
        "recovery": recovery,
        "retryable": recovery == "transient",
        "message": message,
        "details": details,
    }
    try:
        _ENCODER.encode(told).encode()
    except UnicodeEncodeError:  # a lone surrogate
        return {**encodable(told)}
    return told


def _within(entries: Sequence[Any], limit: int) -> list[Any]:
    """Return the first entries that fit into this number of bytes."""
    sizes = [len(_ENCODER.encode(entry).encode(errors="backslashreplace")) + 2 for entry in entries]
    return list(entries[: sum([used <= limit for used in accumulate(sizes)])])


def _alike(name: str, times: int, words: Language) -> str:
    advice = _STOP if times >= _TOO_MANY else _CHANGE_THIS
    return words.sentences(words(_ONLY_VALUES, tool=name, count=times), words(advice))


def _message(
    name: str,
    violations: Sequence[Violation],
    words: Language,
    subject: Subject,
    again: Again | None = None,
) -> str:
    first, last = _FRAMES[subject]
    opening = words(first, name=name)
    if subject == "tool" and any(map(_may_be_unknown, violations)):
        last = _OR_ASK
    closing = words(last) if again is None else _alike(name, again.times, words)
    said = [words.of(violation.message) for violation in _without_twins(violations)]
    if len(said) < 2:
        return words.sentences(opening, *(cut(each, _MAX_MESSAGE - 300) for each in said), closing)
    lines = [f"{number}. {each}" for number, each in enumerate(said, 1)]
    while sum(map(len, lines)) > _MAX_MESSAGE - 400:
        lines.pop()
    rest = len(said) - len(lines)
    more = [words.plural(*MORE_FAULTS, rest)] if rest else []
    return "\n".join((opening, *lines, *more, closing))


def _may_be_unknown(violation: Violation) -> bool:
    """Return whether the caller may not know all that a right value needs, and its message does not say so."""
    is_choice = violation.code == "enum" and len(violation.allowed_values) > 1
    return not (violation.fixes or is_choice or violation.code == "size" or violation.error_code == "CUT_OFF")


def _without_twins(violations: Sequence[Violation]) -> list[Violation]:
    """Leave out each missing name that was sent under another name, since the violation of that name says so."""
    renamed = [each for each in violations if each.code == "unknown" and len(each.did_you_mean) == 1]
    fixes = [each.fixes[0] for each in renamed if each.fixes]
    moved = {fix[0]["path"] for fix in fixes if len(fix) == 1 and fix[0]["op"] == "move"}
    return [each for each in violations if each.code != "missing" or each.pointer not in moved]


def _violation(violation: Violation, words: Language) -> dict[str, Any]:
    told: dict[str, Any] = {
        "pointer": violation.pointer,
        "parameter": violation.parameter,
        "code": violation.code,
        "message": words.of(violation.message),
    }
    if violation.received_type is not None:
        told["received_type"] = violation.received_type
    if violation.has_received_value:
        told["received_value"] = violation.received_value
    lists = {
        "expected_types": [*violation.expected_types],
        "did_you_mean": [*violation.did_you_mean],
        "allowed_values": _within(violation.allowed_values, _BYTES_OF_LIST),
        "fixes": [[dict(operation) for operation in patch] for patch in violation.fixes],
    }
    return told | {name: entries for name, entries in lists.items() if entries}


def _parameters(top: Node) -> dict[str, Any]:
    """Return the required and the optional names, as many as fit, and the number of the others."""
    everywhere = set.intersection(*(set(way.required) for way in top.ways))
    required = [shown(name) for name in top.ways[0].required if name in everywhere]
    optional = [shown(name) for name in top.names if name not in everywhere]
    kept = {"required": _within(required, _BYTES_OF_LIST), "optional": _within(optional, _BYTES_OF_LIST)}
    rest = len(required) + len(optional) - sum(map(len, kept.values()))
    return kept | ({"omitted": rest} if rest else {})


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
    words = _NO_WORD.sub("_", _CAMEL.sub("_", violation.parameter or ""))
    parameter = words.strip("_").upper()[:_MAX_PARAMETER] or "PARAMETER"
    if violation.error_code is not None:
        return violation.error_code.replace("{PARAMETER}", parameter)
    is_inside = violation.pointer.count("/") > 1
    if violation.code == "unknown" and not is_inside:
        return "UNKNOWN_PARAMETER"
    if violation.parameter is None:
        return "INVALID_ARGUMENTS"
    code = (_CODES_INSIDE if is_inside else _CODES).get(violation.code, "INVALID_{}_VALUE")
    return code.format(parameter)


# --- other refusals ---------------------------------------------------------------------------------------


def unknown_tool(
    name: str,
    near: Iterable[str] = (),
    listed: Collection[str] = (),
    *,
    has_versions: bool = False,
    language: str = ENGLISH,
) -> dict[str, Any]:
    """Return the envelope for a tool name or version that does not exist.

    ``near`` and ``listed`` are similar names and all names that the same client can see; ``has_versions``: the tool exists
    in other versions.
    """
    told, words = shown_name(name), texts(language)
    if has_versions:
        text = words(
            "Tool '{tool}' has no such version. The tool was not run. Call it without a version.", tool=told
        )
        return error_envelope("UNKNOWN_TOOL", text, {"tool": told})
    names = [other for other in near if shown_name(other) == other][:_MAX_NEAR]
    rest = {other for other in listed if shown_name(other) == other and other not in names}
    tools = [*names, *nearest(name, rest, _MAX_TOOLS - len(names))]
    said = [words("Unknown tool '{tool}'. Nothing was run.", tool=told)]
    if names:
        said.append(words("Did you mean {names}?", names=words.either([f"'{other}'" for other in names])))
    if others := [f"'{other}'" for other in tools[len(names) :]]:
        form = marked("Other tools: {names}.") if names else marked("Tools: {names}.")
        said.append(words(form, names=and_more(others, len(listed) - len(tools), words)))
    elif not names:
        said.append(words("List the tools to see what there is."))
    lists = {"did_you_mean": names, "tools": tools}
    details = {"tool": told} | {key: each for key, each in lists.items() if each}
    return error_envelope("UNKNOWN_TOOL", words.sentences(*said), details)


def unknown_again(answer: Mapping[str, Any], again: Again, language: str = ENGLISH) -> dict[str, Any]:
    """Return the envelope for a tool that does not exist and that the same caller has called before."""
    words, details = texts(language), answer["details"]
    advice = words(_DO_OTHERWISE)
    if names := [f"'{name}'" for name in details.get("did_you_mean") or details.get("tools", ())]:
        advice = words("Call {names}, or do without it.", names=words.either(names))
    counted = _ONLY_VALUES if again.is_alike else _UNCHANGED
    unknown = words("Unknown tool '{tool}'. Nothing was run.", tool=details["tool"])
    told = words.sentences(unknown, words(counted, tool=details["tool"], count=again.times), advice)
    times = {"alike" if again.is_alike else "repeated": again.times}
    return error_envelope(answer["error_code"], told, {**details, **times})


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
    return error_envelope(code, texts(language)(_ABOUT_TOOL[code], **details), details, "terminal")


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
    words, tool = texts(language), shown_name(name)
    advice = (
        words("Try again later.") if passes else words("Only whoever operates the proxy can change this.")
    )
    message = words.sentences(
        words("Tool '{tool}' cannot be called now.", tool=tool),
        words.of(reason),
        words("The tool was not run."),
        advice,
    )
    recovery: Recovery = "transient" if passes else "terminal"
    return error_envelope("UPSTREAM_UNAVAILABLE", message, {"tool": tool}, recovery)


# --- the text of an envelope ------------------------------------------------------------------------------


def written(told: Mapping[str, Any]) -> str:
    """Write an envelope as JSON that says nothing twice."""
    details = told["details"]
    if "repeated" in details:
        details = {"repeated": details["repeated"]}
    elif details.get("violations"):
        details = _said_once(details, told["message"])
    elif told["error_code"] == "UNKNOWN_TOOL":
        details = {name: value for name, value in details.items() if name != "tools"}
    # The message of a call that may be corrected says so.
    said = _RECOVERY if told.get("recovery") == "correctable" else ()
    return as_text({name: told[name] for name in told if name not in said} | {"details": details})


def _said_once(details: Mapping[str, Any], message: str) -> dict[str, Any]:
    kept = {**details}
    if f"'{kept.get('tool')}'" in message:
        del kept["tool"]
    if not kept["repairs"]:
        del kept["repairs"]
    names = (*kept["parameters"]["required"], *kept["parameters"]["optional"])
    is_about_names = any(each["code"] in ("missing", "unknown") for each in kept["violations"])
    if not is_about_names or all(f"'{each}'" in message for each in names):
        del kept["parameters"]
    offered: list[Any] = []
    kept["violations"] = [_slim(each, message, details, offered) for each in kept["violations"]]
    for told in (kept, *kept["violations"]):
        if "received_value" in told and _ENCODER.encode(told["received_value"]) in message:
            del told["received_value"]
    return kept


def _slim(
    violation: Mapping[str, Any], message: str, details: Mapping[str, Any], offered: list[Any]
) -> dict[str, Any]:
    """Return a violation without what the message, the details, its pointer or ``offered`` fixes already say."""
    said = {name for name in violation if name in details}
    # The violation of the name that was sent says that it is this missing one.
    if violation["message"] in message or (violation["code"] == "missing" and "fixes" in violation):
        said.add("message")
    if violation["pointer"] == f"/{violation['parameter']}":
        said.add("pointer" if "parameter" in details else "parameter")
    if violation.get("fixes", ...) in offered:
        said.add("fixes")
    offered.append(violation.get("fixes"))
    return {name: value for name, value in violation.items() if name not in said}


# --- repairs ----------------------------------------------------------------------------------------------


def repairs_told(repairs: Sequence[Repair], limit: int | None = None) -> dict[str, Any]:
    """Return the record of repairs in a result's ``_meta``: the first 50, or those within ``limit`` bytes."""
    records = [
        {
            "rule": shown(repair.rule, _MAX_POINTER),
            "pointer": shown(escaped_pointer(repair.pointer), _MAX_POINTER),
            "before": repair.before,
            "after": repair.after,
        }
        for repair in repairs[:_MAX_REPAIRS]
    ]
    kept = records if limit is None else _within(records, limit)
    rest = len(repairs) - len(kept)
    return {"repairs": kept, "repairs_omitted": rest} if rest else {"repairs": kept}


def repairs_note(repairs: Sequence[Repair], *, language: str = ENGLISH) -> str:
    """Describe the repairs in one short text, for a model that does not see ``_meta``.

    >>> repairs_note([Repair("json_text_to_array", "/tags", "string", "array")])
    "Note: 'tags' was sent as a string and read as an array. Send an array."
    """
    words = texts(language)
    said = [_noted(repair, words) for repair in repairs[:_MOST_NOTED]]
    more = len(repairs) - len(said)
    if more:
        said.append(
            words.plural("{count} more value was corrected.", "{count} more values were corrected.", more)
        )
    return words("Note: {repairs}", repairs=words.sentences(*dict.fromkeys(said)))


def _noted(repair: Repair, words: Language) -> str:
    if repair.rule == "rename_tool":
        return words("The tool was called by another spelling of its name. Use its name as it is listed.")
    name = f"'{'.'.join(map(shown_key, tokens_of(repair.pointer))) or 'arguments'}'"
    if repair.before in (repair.after, "absent"):
        return words("{name} was read in another form. Send it as the schema has it.", name=name)
    sent = words(ONE_OF_A_TYPE[repair.before])
    if repair.after == "absent":
        return words("{name} was sent as {sent} and left out. Leave it out.", name=name, sent=sent)
    read = words(ONE_OF_A_TYPE[repair.after])
    return words(
        "{name} was sent as {sent} and read as {read}. Send {read}.", name=name, sent=sent, read=read
    )


def refusal_result(answer: Mapping[str, Any], *, has_output_schema: bool) -> dict[str, Any]:
    """Return an envelope as a ``tools/call`` result.

    Some clients validate ``structuredContent`` against the output schema even on errors and throw the envelope
    away, so it is only set when the tool has no output schema.
    """
    text = {"type": "text", "text": written(answer)}
    result = {"content": [text], "isError": True, "_meta": {META_KEY: answer}}
    return result if has_output_schema else {**result, "structuredContent": answer}
