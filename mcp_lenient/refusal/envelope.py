"""Build the JSON envelope of a refused call, and the record of repairs in a result."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from mcp_lenient.refusal.sentences import and_more
from mcp_lenient.schema.node import Node
from mcp_lenient.types import Repair, Violation
from mcp_lenient.values.display import cut, encodable, escaped_pointer, in_json, shown, shown_key, shown_name
from mcp_lenient.values.json_values import tokens_of
from mcp_lenient.values.language import ENGLISH, ONE_OF_A_TYPE, Language, marked
from mcp_lenient.values.language import language as texts
from mcp_lenient.values.names import nearest

if TYPE_CHECKING:
    from mcp_lenient.rules.policy import Policy

Subject = Literal["tool", "prompt"]
"""What arguments are sent to."""
META_KEY: Final = "mcp_lenient"
"""The key in a result's ``_meta`` for the envelope or the repairs."""
UPSTREAM_KEY: Final = "mcp_lenient_upstream"
"""The key for the server's own ``mcp_lenient`` entry, where this middleware needs that key."""
_MAX_MESSAGE: Final = 4_000
_MAX_PARAMETER: Final = 64
_MAX_POINTER: Final = 300
_MAX_REPAIRS: Final = 50
_MAX_NEAR: Final = 5
_MAX_TOOLS: Final = 10
_MAX_REASON: Final = 240
_MAX_REASONS: Final = 5
_TWICE: Final = 2
_UNCHANGED: Final = marked("This exact call of '{tool}' was refused {count} times, unchanged.")
_DO_OTHERWISE: Final = marked(
    "Do not send it again: change it, ask the user for what is missing, or do without this tool."
)
_MOST_NOTED: Final = 3
_BYTES_OF_VIOLATIONS: Final = 7_000
_BYTES_OF_NAMES: Final = 1_500
_BYTES_OF_REPAIRS: Final = 1_500
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
_COMPACT_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PLACEHOLDER: Final = "{PARAMETER}"
_CODES: Final = {"type": "INVALID_{}_TYPE", "missing": "MISSING_{}", "ambiguous": "AMBIGUOUS_{}"}
_CODES_INSIDE: Final = {**_CODES, **dict.fromkeys(("missing", "unknown"), "INVALID_{}_TYPE")}
_OPENINGS: Final[Mapping[Subject, str]] = {
    "tool": marked("Invalid arguments for tool '{name}':"),
    "prompt": marked("Invalid arguments for prompt '{name}':"),
}
_CLOSINGS: Final[Mapping[Subject, str]] = {
    "tool": marked("The tool was not run. Correct the call and send it again."),
    "prompt": marked("Correct this and ask again."),
}


class Again(NamedTuple):
    """A call that the same caller has sent before, unchanged.

    Attributes:
        times: How often it was refused, this time included.
        corrected: The arguments that would be accepted, in each way in which they may be meant; a value that is long or
            secret is its name in angle brackets.
    """

    times: int
    corrected: tuple[Mapping[str, Any], ...] = ()


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
        tool_name: The tool as the client called it.
        top: The tool's published input schema.
        violations: What the caller is told.
        repairs: The repairs made before the call was refused.
        language: The language of the message, as in the policy.
        subject: What has the name: a tool, a prompt or a resource template.
        again: How often the same caller has sent the same call; None the first time.
    """
    name, words = shown_name(tool_name), texts(language)
    told = [_violation(violation, words) for violation in violations]
    kept, records = _within(told, _BYTES_OF_VIOLATIONS), _within(_records(repairs), _BYTES_OF_REPAIRS)
    details: dict[str, Any] = {subject: name}
    if len(told) == 1:
        named = ("parameter", "received_type", "expected_types", "received_value")
        details.update((key, told[0][key]) for key in named if key in told[0])
    details |= {"violations": kept, **_omitted("violations", told, kept)}
    details |= {"parameters": {**top.once(_parameters)}, "repairs": records}
    details |= _omitted("repairs", repairs, records)
    message = _message(name, violations, words, subject)
    if again is not None:
        details |= {"repeated": again.times}
        message = _message_again(name, violations, words, again)
    return error_envelope(error_code(violations), message, details)


def _message_again(name: str, violations: Sequence[Violation], words: Language, again: Again) -> str:
    told = _without_twins(violations)[: 1 if again.corrected else _MAX_REASONS]
    reasons = [cut(words.of(each.message), _MAX_REASON) for each in told]
    reason = words.sentences(*(each[:1].upper() + each[1:] for each in reasons))
    if again.times > _TWICE:
        return words.sentences(
            words(_UNCHANGED, tool=name, count=again.times),
            reason,
            words(_DO_OTHERWISE),
        )
    said = [words("'{tool}' refused the same call before.", tool=name), reason]
    codes = {violation.code for violation in violations}
    if "missing" in codes and "unknown" not in codes:  # otherwise it came under another name
        said.append(
            words("If you did send what is missing, an output limit may have cut it off: send less at once.")
        )
    return words.sentences(*said, *_sent_instead(again.corrected, words))


def _sent_instead(calls: Sequence[Mapping[str, Any]], words: Language) -> Iterator[str]:
    if not calls:
        return
    written = [in_json(call) for call in calls]
    if len(written) == 1:
        yield words("Send this instead: {call}", call=written[0])
    else:
        yield words("Send the one that you mean: {calls}", calls=words.either(written))
    names = (f"<{name}>" for call in calls for name, value in call.items() if value == f"<{name}>")
    if listed := [in_json(name) for name in dict.fromkeys(names)]:
        yield words("Put your own values in place of {names}.", names=words.all_of(listed))


def error_envelope(code: str, message: str, details: Mapping[str, Any]) -> dict[str, Any]:
    """Return an envelope of any kind, such as that of a call that a tool's body refuses."""
    return _safe({"status": "error", "error_code": code, "message": message, "details": details})


def _safe(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return an envelope without lone surrogates, which cannot be encoded as UTF-8."""
    try:
        _ENCODER.encode(told).encode()
    except UnicodeEncodeError:
        return {**encodable(told)}
    return {**told}


def _omitted(name: str, everything: Sequence[Any], kept: Sequence[Any]) -> dict[str, int]:
    rest = len(everything) - len(kept)
    return {f"{name}_omitted": rest} if rest else {}


def _within(entries: Sequence[Any], limit: int) -> list[Any]:
    """Return the first entries that fit into this number of bytes."""
    sizes = (len(_ENCODER.encode(entry).encode(errors="backslashreplace")) + 2 for entry in entries)
    return list(entries[: sum(used <= limit for used in accumulate(sizes))])


def _message(name: str, violations: Sequence[Violation], words: Language, subject: Subject) -> str:
    opening, closing = words(_OPENINGS[subject], name=name), words(_CLOSINGS[subject])
    said = [words.of(violation.message) for violation in _without_twins(violations)]
    if len(said) < 2:
        return words.sentences(opening, *(cut(each, _MAX_MESSAGE - 300) for each in said), closing)
    lines = [f"{number}. {each}" for number, each in enumerate(said, 1)]
    while sum(map(len, lines)) > _MAX_MESSAGE - 400:
        lines.pop()
    rest = len(said) - len(lines)
    more = words.plural("{count} more fault was found.", "{count} more faults were found.", rest)
    return "\n".join((opening, *lines, *([more] if rest else []), closing))


def _without_twins(violations: Sequence[Violation]) -> list[Violation]:
    """Leave out each missing name that was sent under another name, since the violation of that name says so."""
    fixes = [
        each.fixes[0] for each in violations if each.code == "unknown" and each.did_you_mean and each.fixes
    ]
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
        "expected_types": violation.expected_types,
        "did_you_mean": violation.did_you_mean,
        "allowed_values": _within(violation.allowed_values, _BYTES_OF_NAMES),
        "fixes": [[dict(operation) for operation in patch] for patch in violation.fixes],
    }
    return told | {name: list(entries) for name, entries in lists.items() if entries}


def _parameters(top: Node) -> dict[str, Any]:
    """Return the required and the optional names, as many as fit, and the number of the others."""
    names = dict.fromkeys(name for way in top.ways for name in way.properties)
    everywhere = set.intersection(*(set(way.required) for way in top.ways))
    required = [shown(name) for name in top.ways[0].required if name in everywhere]
    optional = [shown(name) for name in names if name not in everywhere]
    kept = {"required": _within(required, _BYTES_OF_NAMES), "optional": _within(optional, _BYTES_OF_NAMES)}
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
    if violation.error_code is not None:
        return violation.error_code.replace(_PLACEHOLDER, _upper_snake(violation.parameter or ""))
    is_inside = violation.pointer.count("/") > 1
    if violation.code == "unknown" and not is_inside:
        return "UNKNOWN_PARAMETER"
    if violation.parameter is None:
        return "INVALID_ARGUMENTS"
    code = (_CODES_INSIDE if is_inside else _CODES).get(violation.code, "INVALID_{}_VALUE")
    return code.format(_upper_snake(violation.parameter))


def _upper_snake(name: str) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", "_", _CAMEL.sub("_", name))
    return words.strip("_").upper()[:_MAX_PARAMETER] or "PARAMETER"


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

    Args:
        name: The name that was called.
        near: Similar names that the same client can see.
        listed: All names that it can see.
        has_versions: Whether the tool exists in other versions.
        language: The language of the message.
    """
    told, words = shown_name(name), texts(language)
    if has_versions:
        text = marked("Tool '{tool}' has no such version. The tool was not run. Call it without a version.")
        return _about_tool("UNKNOWN_TOOL", name, words, text)
    names = [other for other in near if shown_name(other) == other][:_MAX_NEAR]
    rest = {other for other in listed if shown_name(other) == other and other not in names}
    tools = [*names, *nearest(name, rest, _MAX_TOOLS - len(names))]
    said = [words("Unknown tool '{tool}'. Nothing was run.", tool=told)]
    if names:
        said.append(words("Did you mean {names}?", names=words.either([f"'{other}'" for other in names])))
    if others := [f"'{other}'" for other in tools[len(names) :]]:
        some = and_more(others, len(listed) - len(tools), words)
        said.append(
            words("Other tools: {names}.", names=some) if names else words("Tools: {names}.", names=some)
        )
    elif not names:
        said.append(words("List the tools to see what there is."))
    lists = {"did_you_mean": names, "tools": tools}
    details = {"tool": told} | {key: each for key, each in lists.items() if each}
    return error_envelope("UNKNOWN_TOOL", words.sentences(*said), details)


def unknown_again(answer: Mapping[str, Any], times: int, language: str = ENGLISH) -> dict[str, Any]:
    """Return the envelope for a tool that does not exist and that the same caller has called this often."""
    words, details = texts(language), answer["details"]
    told = words(_UNCHANGED, tool=details["tool"], count=times)
    names = [f"'{name}'" for name in details.get("did_you_mean") or details.get("tools", ())]
    advice = (
        words("There is no such tool: call {names}, or do without it.", names=words.either(names))
        if names
        else words(_DO_OTHERWISE)
    )
    return error_envelope(answer["error_code"], words.sentences(told, advice), {**details, "repeated": times})


def tool_failed(name: str, error_id: str, *, language: str = ENGLISH) -> dict[str, Any]:
    """Return the envelope for a call whose tool raised an unexpected exception; the log has the same id."""
    text = marked(
        "Tool '{tool}' failed with an error of its own. It may have run in part: find out what it has done before you "
        "call it again. Whoever operates the server finds the error under the id {error_id}."
    )
    return _about_tool("TOOL_FAILED", name, texts(language), text, error_id=error_id)


def upstream_unavailable(name: str, *, language: str = ENGLISH) -> dict[str, Any]:
    """Return the envelope for a tool of a server that a proxy cannot reach."""
    text = marked(
        "Tool '{tool}' cannot be called now: the server behind this proxy is not available. "
        "The tool was not run. Try again later."
    )
    return _about_tool("UPSTREAM_UNAVAILABLE", name, texts(language), text)


def upstream_timed_out(name: str, seconds: float, *, language: str = ENGLISH) -> dict[str, Any]:
    """Return the envelope for a call that the server behind a proxy did not answer in time."""
    text = marked(
        "Tool '{tool}' did not answer within {timeout_seconds:g} seconds. The call was cancelled, but it may have run: "
        "find out what it has done before you send it again."
    )
    return _about_tool("UPSTREAM_TIMED_OUT", name, texts(language), text, timeout_seconds=seconds)


def _about_tool(code: str, name: str, words: Language, text: str, **details: Any) -> dict[str, Any]:
    details = {"tool": shown_name(name), **details}
    return error_envelope(code, words(text, **details), details)


# --- the text of an envelope ------------------------------------------------------------------------------


def as_text(told: Mapping[str, Any]) -> str:
    """Write a whole envelope as JSON, for an error without ``_meta``."""
    return _COMPACT_ENCODER.encode(_safe(told))


def written(told: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return an envelope and its text, which says nothing twice; both can be encoded as UTF-8."""
    safe = _safe(told)
    details = safe["details"]
    if "repeated" in details:
        details = {"repeated": details["repeated"]}
    elif details.get("violations"):
        details = _said_once(details, safe["message"])
    elif safe["error_code"] == "UNKNOWN_TOOL":
        details = {name: value for name, value in details.items() if name != "tools"}
    return safe, _COMPACT_ENCODER.encode({**safe, "details": details})


def _said_once(details: Mapping[str, Any], message: str) -> dict[str, Any]:
    kept = {name: value for name, value in details.items() if not _is_said(name, value, message)}
    names = (*kept["parameters"]["required"], *kept["parameters"]["optional"])
    is_about_names = any(each["code"] in ("missing", "unknown") for each in kept["violations"])
    if not is_about_names or all(f"'{each}'" in message for each in names):
        del kept["parameters"]
    offered: list[Any] = []
    kept["violations"] = [_slim(each, message, details, offered) for each in kept["violations"]]
    return kept


def _is_said(name: str, value: Any, message: str) -> bool:
    """Return whether an entry is empty, or the message contains the tool's name or the received value."""
    if name == "received_value":
        return _ENCODER.encode(value) in message
    return f"'{value}'" in message if name == "tool" else name == "repairs" and not value


def _slim(
    violation: Mapping[str, Any], message: str, details: Mapping[str, Any], offered: list[Any]
) -> dict[str, Any]:
    """Return a violation without what the message, the details, its pointer or ``offered`` fixes already say."""
    said = {name for name, value in violation.items() if name in details or _is_said(name, value, message)}
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


def _records(repairs: Sequence[Repair]) -> list[dict[str, str]]:
    return [
        {
            "rule": shown(repair.rule, _MAX_POINTER),
            "pointer": shown(escaped_pointer(repair.pointer), _MAX_POINTER),
            "before": repair.before,
            "after": repair.after,
        }
        for repair in repairs[:_MAX_REPAIRS]
    ]


def repairs_told(repairs: Sequence[Repair]) -> dict[str, Any]:
    """Return the record of repairs in a result's ``_meta``."""
    records = _records(repairs)
    return {"repairs": records, **_omitted("repairs", repairs, records)}


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


def note_language(policy: Policy) -> str | None:
    """Return the language of the note about repairs; None if the policy wants no note."""
    return policy.language if policy.tell_model else None


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
