"""The rules in words, for those who see one in a log: what was sent, and where the rule keeps out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


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
