"""Arguments that are not an object: parse them from text, or report a violation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.types import Repair, Violation
from mcp_lenient.values.json_values import ALL_DIALECTS, break_of, json_type, parse_call_text
from mcp_lenient.values.language import ONE_OF_A_TYPE, Text

if TYPE_CHECKING:
    from mcp_lenient.rules.policy import Policy

_EMPTY_TEXTS: Final[Mapping[str, str]] = {"": "empty_text_to_absent", "null": "null_to_absent"}


def arguments_in_text(
    arguments: Any, policy: Policy, *, destructive: bool = False
) -> tuple[dict[str, Any], Repair] | None:
    """Parse arguments from text, keeping source spellings; return them and the repair, or None."""
    rules = {dialect: f"{dialect}_text_to_object" for dialect in ALL_DIALECTS}
    if not isinstance(arguments, str) or not any(map(policy.allows, rules.values())):
        return None
    empty_rule = _EMPTY_TEXTS.get(arguments.strip())
    if empty_rule is not None:
        is_allowed = policy.allows(empty_rule) and not destructive
        return ({}, Repair(empty_rule, "", "string", "absent")) if is_allowed else None
    parsed = parse_call_text(arguments, policy.limits, ALL_DIALECTS)
    if parsed is None or not isinstance(parsed.value, dict) or not policy.allows(rules[parsed.dialect]):
        return None
    return parsed.value, Repair(rules[parsed.dialect], "", "string", "object")


def not_an_object(arguments: Any) -> Violation:
    """Return the violation for arguments that are not an object and cannot be parsed as one."""
    kind, error_code = json_type(arguments), None
    received = kind if kind in ONE_OF_A_TYPE and kind != "object" else None
    text_break = break_of(arguments) if isinstance(arguments, str) else None
    if text_break is not None:
        from mcp_lenient.refusal.sentences import broken_json

        error_code = "CUT_OFF" if text_break.is_end else None
        message = broken_json(text_break, whole=True)
    elif kind == "string":
        message = Text(
            "the arguments must be an object of parameters, but got a text that is not one whole JSON object; "
            "send a JSON object."
        )
    elif received is not None:
        message = Text(
            "the arguments must be an object of parameters, but got {received}; send them as a JSON object.",
            received=Text(ONE_OF_A_TYPE[kind]),
        )
    else:  # no value of JSON, such as bytes
        message = Text("the arguments must be an object of parameters; send them as a JSON object.")
    types = ("object",)
    return Violation("", None, "type", message, received, expected_types=types, error_code=error_code)
