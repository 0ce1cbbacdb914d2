"""An explanation: its steps in words, and the rules in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from mcp_lenient.rules import ABSENT
from mcp_lenient.types import Repair
from mcp_lenient.values.display import cut, shown


@dataclass(frozen=True, slots=True)
class RuleWords:
    """A rule in words.

    Attributes:
        sent: What the caller most likely sent.
        guards: Where the rule does not act.
    """

    sent: str
    guards: str


_WHOLE = (
    "the text must be one whole value; cut-off text, a key twice, NaN and overflowing numbers are refused"
)
_SPELT = (
    "numbers not spelt as in JSON, string prefixes, sets and lone backslashes are refused, and text that "
    "the two grammars read differently"
)
_NUMBER = "the text must be a JSON number, and no digit may be lost (1_000, 0644 and 1,234 are refused)"
_NULL = "a parameter that takes text keeps the text"
_ABSENT = "only where the tool refuses it, and in destructive tools only where the default is null"
RULE_WORDS: Final[Mapping[str, RuleWords]] = {
    "json_text_to_array": RuleWords("a list, written as JSON text", _WHOLE),
    "json_text_to_object": RuleWords("an object, written as JSON text", _WHOLE),
    "json5_text_to_array": RuleWords(
        "a list as text with trailing commas, comments or single quotes", _SPELT
    ),
    "json5_text_to_object": RuleWords("an object as text with bare keys, comments or single quotes", _SPELT),
    "python_text_to_array": RuleWords("a list or tuple as Python writes it, in a text", _SPELT),
    "python_text_to_object": RuleWords("a dict as Python writes it, in a text", _SPELT),
    "text_to_integer": RuleWords('an integer in quotes, such as "42"', _NUMBER),
    "text_to_number": RuleWords('a number in quotes, such as "3.5"', _NUMBER),
    "whole_float_to_integer": RuleWords("an integer with a decimal point, such as 7.0", "up to 2^53 only"),
    "text_to_boolean": RuleWords(
        'true or false in quotes, or "yes", "no", "on", "off"',
        "where a text or a number would do as well, only true and false count",
    ),
    "integer_to_boolean": RuleWords("1 or 0 for true or false", "no other number"),
    "number_to_text": RuleWords(
        "a number without its quotes",
        "numbers that may have been rounded or lost a zero, texts with a format, and mixed lists are refused",
    ),
    "fold_enum": RuleWords(
        "an allowed value in another spelling: case, spaces, hyphens or quotes",
        "one allowed value must fit; another case of a single letter, a unit or a date pattern is refused, "
        "and so is another spelling of the only allowed value",
    ),
    "null_text_to_null": RuleWords('null in quotes: "null" or "None"', _NULL),
    "null_text_to_absent": RuleWords('"null" or "None" for what may be left out', _NULL),
    "null_to_absent": RuleWords("null for what may be left out", _ABSENT),
    "empty_text_to_absent": RuleWords(
        'an empty text ("") for what may be left out',
        f"{_ABSENT}; never for lists, texts with a minimum length or enums with a default",
    ),
    "rename_case": RuleWords(
        "the right name in another case style, such as maxResults for max_results",
        "one declared name must fit and must not be there already; in an object that takes any name, a required one must be missing",
    ),
    "rename_alias": RuleWords(
        "another name, which the author or operator declared", "none but the declared ones"
    ),
    "rename_plural": RuleWords(
        "the singular of a list's name, such as tag for tags",
        "only toward a declared list that was not sent and takes the value, as it is or as its one item",
    ),
    "drop_injected": RuleWords(
        "a key that clients add by themselves, such as n8n's toolCallId",
        "at the top level of tools that forbid other names; only known keys",
    ),
    "item_wrapper_to_array": RuleWords(
        'a list in an object, such as {"item": [..]}', "the schema must refuse it"
    ),
    "wrapped_value": RuleWords(
        'a value in an object, such as {"type": "number", "value": 2}', "the schema must refuse the wrapper"
    ),
    "array_to_scalar": RuleWords("a single value in a list, such as [5]", "the list must have one item"),
    "scalar_to_array": RuleWords(
        "a single value without its list",
        "text that looks like JSON, is empty, says null or holds a comma, semicolon, bar or line break is refused",
    ),
    "object_to_array": RuleWords("a single object without its list", "the items must declare every key"),
    "delimited_text_to_array": RuleWords(
        'a list as text with commas, such as "1, 2, 3"', "only numbers and allowed values; never free texts"
    ),
    "unwrap_arguments": RuleWords(
        'all arguments under one key, such as {"args": {..}}',
        "it must be the only key, and none that the tool declares",
    ),
    "wrap_arguments": RuleWords(
        "the fields of the tool's one object parameter, without that object",
        "every key must be declared there",
    ),
}
"""Each rule of :data:`mcp_lenient.DEFAULT_RULES`, by its name."""

Fate = Literal["accepted", "repaired", "refused", "forwarded", "observed", "off", "logged"]
"""What would become of a call.

``accepted``: it runs as it was sent. ``repaired``: it runs, changed. ``refused``: it is answered by the
envelope. ``forwarded``: it goes on as it was sent, against the published schema. ``observed`` and ``off``:
it goes on as it was sent, whatever is wrong. ``logged``: it has been, and only the log tells of it.
"""
RUNS: Final[frozenset[Fate]] = frozenset({"accepted", "repaired", "forwarded", "observed", "off"})
"""What becomes of calls that reach the tool."""
_LONGEST: Final = 240
_LONGEST_LINE: Final = 10_000


@dataclass(frozen=True, slots=True)
class Step:
    """One step on the way: what is looked at, and what is found, line by line."""

    title: str
    lines: tuple[str, ...]


def step(title: str, *lines: str) -> Step:
    """A step in a form that can be printed anywhere."""
    return Step(shown(title, _LONGEST_LINE), tuple(shown(line, _LONGEST_LINE) for line in lines))


def tool_name(name: str) -> str:
    """A tool's name in a sentence."""
    return shown(name, _LONGEST)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would become of a call.

    Attributes:
        tool: The tool that is called.
        fate: What becomes of the call.
        steps: How that comes about.
        arguments: What the tool would get; None where it gets nothing.
        repairs: What is changed.
        envelope: What the caller would get in place of the tool's answer; None where the tool runs.
    """

    tool: str
    fate: Fate
    steps: tuple[Step, ...]
    arguments: Any = None
    repairs: tuple[Repair, ...] = ()
    envelope: Mapping[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """The explanation as JSON."""
        return {
            "tool": self.tool,
            "fate": self.fate,
            "steps": [{"title": step.title, "lines": list(step.lines)} for step in self.steps],
            "arguments": self.arguments,
            "repairs": [
                {"rule": each.rule, "pointer": each.pointer, "before": each.before, "after": each.after}
                for each in self.repairs
            ],
            "envelope": self.envelope,
        }

    def __str__(self) -> str:
        lines: list[str] = []
        for number, step in enumerate(self.steps, 1):
            lines += [f"{number}. {step.title}", *(f"   {line}" for line in step.lines)]
        return "\n".join(lines)


def in_words(value: Any) -> str:
    """A value in JSON, on one line and cut; what is left out says so."""
    if value is ABSENT:
        return "left out"
    try:
        return cut(shown(json.dumps(value, ensure_ascii=False, default=repr), 4 * _LONGEST), _LONGEST)
    except (ValueError, RecursionError):
        return "a value that cannot be shown"


def where(pointer: str) -> str:
    """A JSON Pointer in a sentence."""
    return shown(pointer, _LONGEST) or "the arguments as a whole"
