"""Build the JSON envelope of a refused call, and the record of repairs in a result."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

from mcp_lenient.schema.node import FormReader, Forms, names_of
from mcp_lenient.types import Repair, Violation
from mcp_lenient.values.display import cut, encodable, shown, shown_key, shown_name
from mcp_lenient.values.json_values import tokens_of
from mcp_lenient.values.language import ENGLISH, ONE_OF_A_TYPE, Language, marked
from mcp_lenient.values.language import language as texts

if TYPE_CHECKING:
    from mcp_lenient.rules.policy import Policy

Subject = Literal["tool", "prompt", "resource"]
"""What arguments are sent to."""
META_KEY: Final = "mcp_lenient"
"""The key in a result's ``_meta`` for the envelope or the repairs."""
UPSTREAM_KEY: Final = "mcp_lenient_upstream"
"""The key for what a server itself has under ``mcp_lenient``, where whoever calls it needs that key."""
MAX_MESSAGE = 4_000
MAX_PARAMETER = 64
MAX_POINTER = 300
MAX_REPAIRS = 50
MAX_NEAR = 5
_BYTES_OF_VIOLATIONS = 7_000
_BYTES_OF_NAMES = 1_500
_BYTES_OF_REPAIRS = 1_500

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_COMPACT_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_SNAKE = re.compile(r"[a-z]+(?:_[a-z]+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_PLACEHOLDER = "{PARAMETER}"
_VALUE_CODE = "INVALID_{}_VALUE"
_CODES = {
    "type": "INVALID_{}_TYPE",
    "missing": "MISSING_{}",
    "ambiguous": "AMBIGUOUS_{}",
}
_CODES_INSIDE = {"type": "INVALID_{}_TYPE", "missing": "INVALID_{}_TYPE", "unknown": "INVALID_{}_TYPE"}


def envelope(
    tool_name: str,
    reader: FormReader,
    violations: Sequence[Violation],
    repairs: Sequence[Repair] = (),
    *,
    language: str = ENGLISH,
    subject: Subject = "tool",
) -> dict[str, Any]:
    """Return the envelope of a refused call, 16 kB at most.

    Args:
        tool_name: The tool as the client called it.
        reader: The reader of the tool's published input schema.
        violations: The errors.
        repairs: The repairs made before the call was refused.
        language: The language of the message, as in the policy.
        subject: What has the name: a tool, a prompt or a resource template.

    Returns:
        JSON that can be sent as UTF-8: ``status``, ``error_code``, ``message`` and ``details``.
    """
    name = shown_name(tool_name)
    words = texts(language)
    code, message = error_code(violations), _message(name, violations, words, subject)
    told = [_violation(violation, words) for violation in violations]
    records = list(map(_repair, repairs[:MAX_REPAIRS]))
    required, optional, omitted = reader.once(_parameters, reader.top)
    parameters = {"required": [*required], "optional": [*optional], **omitted}
    details: dict[str, Any] = {subject: name}
    if len(told) == 1:
        top = ("parameter", "received_type", "expected_types", "received_value")
        details.update((key, told[0][key]) for key in top if key in told[0])
    whole = {**details, "violations": told, "parameters": parameters, "repairs": records}
    answer = _answer(code, message, whole)
    if _is_small(answer):
        return answer
    kept, kept_records = _within(told, _BYTES_OF_VIOLATIONS), _within(records, _BYTES_OF_REPAIRS)
    details |= {"violations": kept, **_omitted("violations", told, kept), "parameters": parameters}
    details |= {"repairs": kept_records, **_omitted("repairs", repairs, kept_records)}
    return _error(code, message, details)


def _answer(code: str, message: str, details: dict[str, Any]) -> dict[str, Any]:
    return {"status": "error", "error_code": code, "message": message, "details": details}


def _is_small(answer: Mapping[str, Any]) -> bool:
    """Return whether an envelope can be encoded as UTF-8 and keeps every limit, since it keeps the smallest."""
    text = _ENCODER.encode(answer)
    return _can_be_sent(text) and len(text.encode()) <= _BYTES_OF_REPAIRS


def _error(code: str, message: str, details: dict[str, Any]) -> dict[str, Any]:
    told = _answer(code, message, details)
    if _can_be_sent(_ENCODER.encode(told)):
        return told
    safe: dict[str, Any] = encodable(told)
    return safe


def _can_be_sent(text: str) -> bool:
    """Return whether a text can be encoded as UTF-8: it contains no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _omitted(name: str, everything: Sequence[Any], kept: Sequence[Any]) -> dict[str, int]:
    rest = len(everything) - len(kept)
    return {f"{name}_omitted": rest} if rest else {}


def _within(entries: list[Any], limit: int) -> list[Any]:
    """Return the first entries, as many as fit into this number of bytes."""
    if not entries or _bytes(entries) <= limit:  # brackets and separators are two bytes an entry, as below
        return entries
    kept, used = [], 0
    for entry in entries:
        used += _bytes(entry) + 2
        if used > limit:
            break
        kept.append(entry)
    return kept


def _bytes(entry: Any) -> int:
    text = _ENCODER.encode(entry)
    try:
        return len(text.encode())
    except UnicodeEncodeError:  # a lone surrogate
        return len(json.dumps(encodable(entry), ensure_ascii=False).encode())


_ONE_FAULT: Final[Mapping[Subject, str]] = MappingProxyType(
    {
        "tool": marked(
            "Invalid arguments for tool '{name}': {fault} The tool was not run. Correct the call and send it again."
        ),
        "prompt": marked("Invalid arguments for prompt '{name}': {fault} Correct them and ask again."),
        "resource": marked("Invalid URI for resource '{name}': {fault} Correct it and ask again."),
    }
)
_FAULTS: Final[Mapping[Subject, tuple[str, str]]] = MappingProxyType(
    {
        "tool": (
            marked("Invalid arguments for tool '{name}', {count} faults:"),
            marked("The tool was not run. Correct the call and send it again."),
        ),
        "prompt": (
            marked("Invalid arguments for prompt '{name}', {count} faults:"),
            marked("Correct them and ask again."),
        ),
        "resource": (
            marked("Invalid URI for resource '{name}', {count} faults:"),
            marked("Correct it and ask again."),
        ),
    }
)


def _message(name: str, violations: Sequence[Violation], words: Language, subject: Subject) -> str:
    if len(violations) < 2:
        told = words.of(violations[0].message) if violations else words("the tool does not accept them.")
        return words(_ONE_FAULT[subject], name=name, fault=cut(told, MAX_MESSAGE - 300))
    opening, closing = _FAULTS[subject]
    lines = [words(opening, name=name, count=len(violations))]
    used = 0
    for number, violation in enumerate(violations, 1):
        line = f"{number}. {words.of(violation.message)}"
        if used + len(line) > MAX_MESSAGE - 400:
            lines.append(words("… and {count} more.", count=len(violations) - number + 1))
            break
        lines.append(line)
        used += len(line)
    return "\n".join((*lines, words(closing)))


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
        "allowed_values": _within(list(violation.allowed_values), _BYTES_OF_NAMES),
        "fixes": [[dict(operation) for operation in patch] for patch in violation.fixes],
    }
    return told | {name: list(entries) for name, entries in lists.items() if entries}


def _parameters(choices: Forms) -> tuple[list[str], list[str], dict[str, int]]:
    """Return the required and the optional names, as many as fit, and the number of the others."""
    names = names_of(choices)
    everywhere = frozenset.intersection(*(frozenset(form.required) for form in choices))
    needed = [name for name in choices[0].required if name in everywhere]
    others = [name for name in names if name not in everywhere]
    required = _within(list(map(shown, needed)), _BYTES_OF_NAMES)
    optional = _within(list(map(shown, others)), _BYTES_OF_NAMES)
    rest = len(needed) + len(others) - len(required) - len(optional)
    return required, optional, {"omitted": rest} if rest else {}


def _repair(repair: Repair) -> dict[str, str]:
    return {
        "rule": shown(repair.rule, MAX_POINTER),
        "pointer": shown(repair.pointer, MAX_POINTER),
        "before": repair.before,
        "after": repair.after,
    }


def error_code(violations: Sequence[Violation]) -> str:
    """Return the ``error_code`` of an envelope.

    >>> error_code([Violation("/maxResults", "maxResults", "type", "")])
    'INVALID_MAX_RESULTS_TYPE'
    """
    if len(violations) != 1:
        return (
            "ARGUMENTS_TOO_LARGE"
            if any(entry.code == "size" for entry in violations)
            else "INVALID_ARGUMENTS"
        )
    violation = violations[0]
    if violation.error_code is not None:
        return violation.error_code.replace(_PLACEHOLDER, _upper_snake(violation.parameter or ""))
    inside = violation.pointer.count("/") > 1
    if violation.code == "size":
        return "ARGUMENTS_TOO_LARGE"
    if violation.code == "unknown" and not inside:
        return "UNKNOWN_PARAMETER"
    if violation.parameter is None:
        return "INVALID_ARGUMENTS"
    codes = _CODES_INSIDE if inside and violation.code != "ambiguous" else _CODES
    return codes.get(violation.code, _VALUE_CODE).format(_upper_snake(violation.parameter))


def _upper_snake(name: str) -> str:
    if _SNAKE.fullmatch(name):
        return name.upper()[:MAX_PARAMETER]
    words = re.sub(r"[^A-Za-z0-9]+", "_", _CAMEL.sub("_", name))
    return words.strip("_").upper()[:MAX_PARAMETER] or "PARAMETER"


def unknown_tool(
    name: str, near: Iterable[str] = (), *, has_versions: bool = False, language: str = ENGLISH
) -> dict[str, Any]:
    """Return the envelope for a tool name or version that does not exist.

    ``near`` are similar names that the same client can see; with ``has_versions``, the tool exists in other versions.
    """
    told, words = shown_name(name), texts(language)
    if has_versions:
        message = words(
            "Tool '{tool}' has no such version. The tool was not run. Call it without a version.", tool=told
        )
        return _error("UNKNOWN_TOOL", message, {"tool": told})
    names = [other for other in near if shown_name(other) == other][:MAX_NEAR]
    if not names:
        message = words(
            "Unknown tool '{tool}'. Nothing was run. List the tools to see what there is.", tool=told
        )
        return _error("UNKNOWN_TOOL", message, {"tool": told})
    quoted = words.either([f"'{other}'" for other in names])
    message = words("Unknown tool '{tool}'. Nothing was run. Did you mean {names}?", tool=told, names=quoted)
    return _error("UNKNOWN_TOOL", message, {"tool": told, "did_you_mean": names})


def upstream_unavailable(name: str, *, language: str = ENGLISH) -> dict[str, Any]:
    """Return the envelope for a tool of a server that a proxy cannot reach."""
    told, words = shown_name(name), texts(language)
    message = words(
        "Tool '{tool}' cannot be called now: the server behind this proxy does not answer. "
        "The tool was not run. Try again later.",
        tool=told,
    )
    return _error("UPSTREAM_UNAVAILABLE", message, {"tool": told})


def upstream_timed_out(name: str, seconds: float, *, language: str = ENGLISH) -> dict[str, Any]:
    """Return the envelope for a call that the server behind a proxy did not answer in time."""
    told, words = shown_name(name), texts(language)
    message = words(
        "Tool '{tool}' did not answer within {seconds} seconds. The call was cancelled, but it may have run: "
        "find out what it has done before you send it again.",
        tool=told,
        seconds=f"{seconds:g}",
    )
    return _error("UPSTREAM_TIMED_OUT", message, {"tool": told, "timeout_seconds": seconds})


def authors_error(code: str, message: str, details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the envelope for a call that a tool's body refuses."""
    return _error(code, message, dict(details))


def as_text(told: Mapping[str, Any]) -> str:
    """Write a whole envelope as JSON, for an error without ``_meta``."""
    text = _in_json(told)
    return text if _can_be_sent(text) else _in_json(encodable(told))


def written(told: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return an envelope and its text, which says nothing twice; both can be encoded as UTF-8."""
    safe = dict(told)
    text = _compact(safe)
    if not _can_be_sent(text):
        safe = encodable(told)
        text = _compact(safe)
    return safe, text


_OF_NAMES: Final = frozenset({"missing", "unknown"})


def _compact(told: Mapping[str, Any]) -> str:
    """Write an envelope as JSON without repetition; ``_meta`` has it whole."""
    details = told["details"]
    if details.get("violations"):
        told = {**told, "details": dict(_said_once(details, told["message"]))}
    return _in_json(told)


def _in_json(told: Mapping[str, Any]) -> str:
    return _COMPACT_ENCODER.encode(told)


def _said_once(details: Mapping[str, Any], message: str) -> Iterator[tuple[str, Any]]:
    violations = details["violations"]
    for name, value in details.items():
        if name == "violations":
            offered: list[Any] = []
            yield name, [_slim(each, message, details, offered) for each in violations]
        elif name == "parameters":
            names = (*value["required"], *value["optional"])
            is_said = all(f"'{each}'" in message for each in names)
            if not is_said and any(each["code"] in _OF_NAMES for each in violations):
                yield name, value
        elif not _is_said(name, value, message) and (name != "repairs" or value):
            yield name, value


def _is_said(name: str, value: Any, message: str) -> bool:
    """Return whether the message already contains the tool's name or the received value."""
    if name == "tool":
        return f"'{value}'" in message
    return name == "received_value" and _ENCODER.encode(value) in message


def _slim(
    violation: Mapping[str, Any], message: str, details: Mapping[str, Any], offered: list[Any]
) -> dict[str, Any]:
    """Return a violation without what the message, the details or its pointer already say.

    ``offered`` are the fixes of the previous violations; those of this one are added.
    """
    slim = {
        name: value
        for name, value in violation.items()
        if name not in details and not _is_said(name, value, message)
    }
    if violation["message"] in message:
        del slim["message"]
    if violation["pointer"] == f"/{violation['parameter']}":
        slim.pop("pointer" if "parameter" in details else "parameter", None)
    if slim.get("fixes", ...) in offered:
        del slim["fixes"]
    else:
        offered.append(slim.get("fixes"))
    return slim


def repairs_told(repairs: Sequence[Repair]) -> dict[str, Any]:
    """Return the record of repairs in a result's ``_meta``."""
    listed = [_repair(repair) for repair in repairs[:MAX_REPAIRS]]
    return {"repairs": listed, **_omitted("repairs", repairs, listed)}


_MOST_NOTED: Final = 3
_ADVICE: Final = MappingProxyType(
    {
        "string": marked("Send a string."),
        "integer": marked("Send an integer."),
        "number": marked("Send a number."),
        "boolean": marked("Send a boolean."),
        "array": marked("Send a JSON array."),
        "object": marked("Send a JSON object."),
        "null": marked("Send null."),
    }
)
"""How to send a value of a type, in a note about repairs."""


def repairs_note(repairs: Sequence[Repair], *, language: str = ENGLISH) -> str:
    """Describe the repairs in one short text, for a model that does not see ``_meta``.

    >>> repairs_note([Repair("json_text_to_array", "/tags", "string", "array")])
    "Note: 'tags' was sent as text and read as an array. Send a JSON array."
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
    path = tokens_of(repair.pointer)
    if repair.rule == "rename_tool":
        return words("The tool was called by another spelling of its name. Use its name as it is listed.")
    if not path:
        return words(
            "The arguments were not sent as the schema has them, and were rearranged. "
            "Send them as the schema has them."
        )
    name = f"'{'.'.join(map(shown_key, path))}'"
    if repair.rule == "drop_injected":
        return words(
            "{name} was sent as a key that the tool does not have and left out. Leave it out.", name=name
        )
    if repair.after == "absent":
        sent = words(ONE_OF_A_TYPE[repair.before])
        return words("{name} was sent as {sent} and left out. Leave it out.", name=name, sent=sent)
    if repair.rule.startswith("rename_"):
        return words(
            "{name} was read as another name in the schema. Send the names as the schema has them.", name=name
        )
    if repair.before == repair.after:
        return words("{name} was read in another form. Send it as the schema has it.", name=name)
    told = words(
        "{name} was sent as {sent} and read as {read}.",
        name=name,
        sent=words(marked("text") if repair.before == "string" else ONE_OF_A_TYPE[repair.before]),
        read=words(ONE_OF_A_TYPE[repair.after]),
    )
    return words.sentences(told, words(_ADVICE[repair.after]))
