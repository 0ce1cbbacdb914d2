"""The rule catalogue: what each rule does, its guards, and example calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Family:
    """Rules of one tier that make the same change for different types.

    Args:
        rules: The names of the rules, as in :data:`mcp_lenient.DEFAULT_RULES`, each with the mistake it repairs.
        does: The change.
        unless: The guards.
        properties: The properties of the closed schema that the example calls use.
        repaired: Arguments that these rules repair.
        refused: Similar arguments that stay refused.
        required: The required properties.
    """

    rules: Mapping[str, str]
    does: str
    unless: str
    properties: Mapping[str, Any]
    repaired: tuple[Mapping[str, Any], ...]
    refused: tuple[Mapping[str, Any], ...] = ()
    required: tuple[str, ...] = ()


_TEXT: Final = {"type": "string"}
_INTEGER: Final = {"type": "integer"}
_NUMBER: Final = {"type": "number"}
_BOOLEAN: Final = {"type": "boolean"}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_FILTER: Final = {"type": "object", "properties": {"city": _TEXT}, "additionalProperties": False}
_TODO: Final = {
    "type": "object",
    "properties": {"title": _TEXT},
    "required": ["title"],
    "additionalProperties": False,
}

CATALOGUE: Final[tuple[Family, ...]] = (
    Family(
        {
            "json_text_to_array": "a list, written as JSON text",
            "json_text_to_object": "an object, written as JSON text",
        },
        does="JSON text where a list or object is expected; also in a code fence, encoded twice, or with raw "
        "control characters",
        unless="the text is not one complete JSON value of the expected type: it is cut off, or has a duplicate key, `NaN` or "
        "a number that overflows; a code fence whose first line continues; `\\b` or `\\f` in a string, which are "
        "more often part of a regex or a Windows path than control characters, or a tab or line break after a drive "
        r"(`C:\temp`)",
        properties={"tags": _TEXTS, "filter": _FILTER},
        repaired=({"tags": '["a", "b"]'}, {"filter": '{"city": "Oslo"}'}, {"tags": '"[\\"a\\"]"'}),
        refused=(
            {"tags": '["a", "b'},
            {"filter": '{"city": "Oslo", "city": "Bergen"}'},
            {"tags": r'["\bfoo\b"]'},
            {"filter": '```x{"city": "Oslo"}```'},
        ),
    ),
    Family(
        {
            "json5_text_to_array": "a list as text with trailing commas, comments or single quotes",
            "json5_text_to_object": "an object as text with unquoted keys, comments or single quotes",
            "python_text_to_array": "a Python list or tuple as text",
            "python_text_to_object": "a Python dict as text",
        },
        does="JSON5 or Python text where a list or object is expected: trailing commas, comments, single quotes, unquoted "
        'keys, `True`, `None`, tuples; JSON whose quotes are escaped (`[\\"a\\"]`)',
        unless="a number that JSON writes differently, a string prefix, adjacent strings, `...`, a set, a key that is not "
        "a string, a backslash that is not part of a JSON escape; the two grammars give different values",
        properties={"tags": _TEXTS, "filter": _FILTER},
        repaired=({"tags": '["a", "b",]'}, {"filter": "{city: 'Oslo'}"}, {"tags": "('a', 'b')"}),
        refused=({"tags": "{'a', 'b'}"}, {"tags": r"['C:\dir']"}),
    ),
    Family(
        {
            "text_to_integer": 'an integer in quotes, such as "42"',
            "text_to_number": 'a number in quotes, such as "3.5"',
            "whole_float_to_integer": "an integer with a decimal point, such as 7.0",
        },
        does="a number as text, or a whole number with a decimal point",
        unless="the text is not a JSON number (`1_000`, `.5`, `NaN`), but for the sign or zeros before a declared "
        "integer parameter's own value (`+5`, `05`), if it is no identifier and the tool does not take the octal number too (`0644`); "
        "`10.000`, perhaps ten thousand, for an integer; a digit would be lost",
        properties={"limit": _INTEGER, "price": _NUMBER},
        repaired=(
            {"limit": "42"},
            {"limit": "5.0"},
            {"limit": "1e3"},
            {"limit": "+5"},
            {"price": "3.14"},
        ),
        refused=(
            {"limit": "3.9"},
            {"limit": "1,234"},
            {"limit": "10.000"},
            {"limit": "0644"},
            {"price": "+5"},
        ),
    ),
    Family(
        {"text_to_boolean": 'true or false in quotes, or "yes", "no", "on", "off"'},
        does="the texts true/false, yes/no, on/off, 1/0, in any case, for a boolean",
        unless="if a text or number is allowed too, only true and false are read",
        properties={"active": _BOOLEAN},
        repaired=({"active": "true"}, {"active": "No"}),
        refused=({"active": "maybe"},),
    ),
    Family(
        {"integer_to_boolean": "1 or 0 for true or false"},
        does="the numbers `1` and `0` for a boolean",
        unless="another number; a number or text is allowed too",
        properties={"active": _BOOLEAN},
        repaired=({"active": 1},),
        refused=({"active": 2},),
    ),
    Family(
        {"number_to_text": "a number without its quotes"},
        does="a number where a text is expected; a list of numbers where texts are expected",
        unless="the number may have been rounded on the way (`1917043659912705300`) or lost a zero (`3.1`, `0.0003`: any "
        "number of decimals but two); the text has a `format`; the list is mixed",
        properties={"zip": _TEXT, "tags": _TEXTS},
        repaired=({"zip": 90210}, {"tags": [1, 2]}),
        refused=({"zip": 3.1}, {"tags": ["a", 1]}),
    ),
    Family(
        {"fold_enum": "an allowed value in another spelling: case, spaces, hyphens or quotes"},
        does="an allowed value in another case, with outer spaces or quotes, or with another of `-`, `_` and space between "
        'words; `"2"` for the allowed `2`',
        unless="more than one value fits; another case, where it may have a meaning: of a single letter (`1M` for `1m`, `-R` for "
        "`-r`; but `c++` and `n/a` have one meaning), of up to three letters (`Mb` for `MB`, `kn` for `kN`), unless all "
        "values are codes in one case (`usd` for `USD`), of up to five letters in both cases (`MOhm` for `mOhm`), of "
        "letters in runs (`mm` for `MM`), and of `m` before a consonant (`Mbit` for `mbit`); the only allowed value, unless "
        "it is the discriminator of a union",
        properties={
            "status": {"enum": ["open", "in_progress"]},
            "unit": {"enum": ["MB", "GB"]},
            "currency": {"enum": ["GBP", "USD"]},
            "language": {"enum": ["C++", "Java"]},
        },
        repaired=(
            {"status": "OPEN"},
            {"status": "In Progress"},
            {"currency": "gbp"},
            {"language": "c++"},
        ),
        refused=({"status": "opened"}, {"unit": "Mb"}, {"currency": "GBp"}),
    ),
    Family(
        {
            "null_text_to_null": 'null in quotes: "null" or "None"',
            "null_text_to_absent": '"null" or "None" for an optional parameter',
        },
        does='`"null"` and `"None"` for a nullable or optional parameter; `"none"` for a nullable one',
        unless="the parameter accepts text, except a nullable one whose text has a format without words, such as a date or a "
        "UUID; the word is another allowed value or an example, also of a list's items; in destructive tools",
        properties={
            "tags": {"anyOf": [_TEXTS, {"type": "null"}]},
            "limit": _INTEGER,
            "page": _INTEGER,
            "since": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        },
        repaired=({"tags": "null", "page": 1}, {"limit": "None", "page": 1}, {"since": "none", "page": 1}),
        refused=({"page": "null"},),
        required=("page",),
    ),
    Family(
        {
            "null_to_absent": "null for an optional parameter",
            "empty_text_to_absent": 'an empty text ("") for an optional parameter',
        },
        does='`null` or `""` for an optional parameter, which is left out',
        unless='the tool accepts it unchanged; it is a map entry or list item; `""` for a list, for an enum with a '
        "default other than null, or for a text with a `minLength`; `null` if the enum has a word for it; in destructive tools; "
        "but a `null` that is the schema's own default, and that the type refuses, is always left out",
        properties={
            "country": _TEXT,
            "limit": _INTEGER,
            "tags": _TEXTS,
            "search": {"type": "string", "minLength": 1},
        },
        repaired=({"country": None}, {"limit": ""}),
        refused=({"tags": ""}, {"tags": ["a", None]}, {"search": ""}),
    ),
    Family(
        {"rename_case": "the right name in another case style, such as maxResults for max_results"},
        does="a declared name in another case style or with other separators",
        unless="more than one name fits; the declared name was sent too; a single letter; a name that is not as a whole in "
        "a usual case style (`powerMW` for `power_mw`; but `powerMw` and `POWER_MW` are), if it is a number's or its short "
        "last word, which may be a unit, has another case, but for booleans; another branch of a union declares the sent name; the object accepts any name "
        "and no required name came in the same style: if such a call needs another repair, it is refused, since the tool "
        "would ignore the name",
        properties={"max_results": _INTEGER, "rateMbps": _INTEGER},
        repaired=({"maxResults": 5}, {"max-results": 5}, {"rate_mbps": 5}),
        refused=({"maxResults": 5, "max_results": 6}, {"rateMBps": 5}),
    ),
    Family(
        {"rename_quoted": "the right name in quotes, such as \"'command'\""},
        does="a declared name inside one pair of quotes",
        unless="the declared name was sent too; the quotes do not match",
        properties={"query": _TEXT},
        repaired=({"'query'": "tea"}, {'"query"': "tea"}),
        refused=({"'query'": "tea", "query": "coffee"}, {"'query\"": "tea"}),
    ),
    Family(
        {
            "rename_qualified": "the one missing name with a word in front, such as visit_date for date, as the author describes it"
        },
        does="the only unknown name, if it ends in the words of the only missing one, and the description of that one begins with the "
        'unknown name\'s words: `visit_date` for a `date` that is a "Visit date"',
        unless="the value does not fit; the parameter is an identifier, a secret or a boolean; the object accepts any name by its "
        "schema; in destructive tools",
        properties={"date": {"type": "string", "description": "Visit date (e.g. 2026-03-01)"}, "city": _TEXT},
        repaired=({"visit_date": "2026-03-01"}, {"visitDate": "2026-03-01", "city": "Oslo"}),
        refused=(
            {"travel_date": "2026-03-01"},
            {"visit_date": "2026-03-01", "town": "Oslo"},
            {"visit_date": 20260301.5},
        ),
        required=("date",),
    ),
    Family(
        {"rename_alias": "an alias that the author or operator declared"},
        does="an alias declared by `Policy(aliases={...})`, `aliases(...)` or a file",
        unless="the declared name was sent too",
        properties={"query": _TEXT},
        repaired=({"q": "tea"},),
        refused=({"q": "tea", "query": "coffee"},),
    ),
    Family(
        {"drop_injected": "a key that clients add, such as n8n's toolCallId"},
        does="keys that known clients add, which are left out: `toolCallId`, `wait_for_previous`, `waitForPreviousTools`, "
        "`task_progress`, `_meta`; `sessionId`, `action` and `chatInput` only together with `toolCallId`; "
        "`security_context` with CrewAI's fingerprints alone; more with `Policy(drop={...})`",
        unless="the tool declares the name or accepts any name; the key is below the top level; in destructive tools "
        "only `toolCallId`",
        properties={"query": _TEXT},
        repaired=({"query": "tea", "toolCallId": "call_1"},),
        refused=({"query": "tea", "sessionId": "s1"}, {"query": "tea", "_limit": 5}),
    ),
    Family(
        {
            "item_wrapper_to_array": 'a list in an object, such as {"item": [..]}',
            "wrapped_value": 'a value in an object, such as {"type": "number", "value": 2}',
        },
        does='`{"item": [...]}` or `{"item": "a"}` for a list; `{"limit": {"limit": 5}}` and `{"type": "integer", "value": 5}` '
        'or `{"value": 5}` for a value',
        unless="the schema accepts the wrapper, also as an item of the list; the text is to hold JSON; `value` alone contains "
        "a list or an object",
        properties={"tags": _TEXTS, "limit": _INTEGER},
        repaired=(
            {"tags": {"item": ["a"]}},
            {"tags": {"item": "a"}},
            {"limit": {"limit": 5}},
            {"limit": {"type": "integer", "value": 5}},
            {"limit": {"value": 5}},
        ),
        refused=({"limit": {"count": 5}}, {"tags": {"value": ["a"]}}),
    ),
    Family(
        {"array_to_scalar": "a single value in a list, such as [5]"},
        does="a list of one item where a single value is expected",
        unless="there is more than one item; the item would also have to be converted; a text without a format or allowed values, "
        "which may be to hold JSON",
        properties={"limit": _INTEGER, "name": _TEXT},
        repaired=({"limit": [5]},),
        refused=({"limit": [5, 6]}, {"limit": ["5"]}, {"name": ["a"]}),
    ),
    Family(
        {
            "scalar_to_array": "a single value without its list",
            "object_to_array": "a single object without its list, also as JSON text",
        },
        does="one value where a list of such values is expected",
        unless="a text that looks like JSON, is empty, or says null or n/a; a text that may be several items, "
        "that is, every text except: an allowed value; one absolute URI; letters, digits and ``-_.@/:#'*?=%~$`` without a "
        "space, unless it has `@`, `://` or `#` twice, or paths, settings or globs with a colon between (`./a:./b`); "
        "words of letters and digits, separated by single spaces (not in Han, Kana or Thai), not all of them numbers, and "
        "none of them an allowed value or example by itself; within a list of lists; an object with keys that the item "
        "does not declare",
        properties={"tags": _TEXTS, "filters": {"type": "array", "items": _FILTER}},
        repaired=(
            {"tags": "urgent"},
            {"tags": "New York"},
            {"tags": "https://example.com/?a=1&b=2"},
            {"filters": {"city": "Oslo"}},
            {"filters": '{"city": "Oslo"}'},
        ),
        refused=({"tags": "a, b"}, {"tags": "10 20 30"}, {"tags": ""}, {"filters": {"town": "Oslo"}}),
    ),
    Family(
        {"delimited_text_to_array": 'a list as text with commas, such as "1, 2, 3"'},
        does="numbers in one text, separated by commas or semicolons; allowed values, also separated by `|` or line breaks",
        unless="a list of free texts; spaces alone between the numbers; a decimal comma or thousands (`1,5`, `1,234,567`), as two integers without a space may be; an "
        "allowed value contains the separator",
        properties={"ids": {"type": "array", "items": _INTEGER}, "tags": _TEXTS},
        repaired=({"ids": "1, 2, 3"}, {"ids": "1;2"}),
        refused=({"ids": "1,234"}, {"ids": "1 2 3"}, {"tags": "a, b"}),
    ),
    Family(
        {"unwrap_arguments": 'all arguments under one key, such as {"args": {..}}'},
        does='a wrapper such as `{"args": {...}}`, `input` or `params`; all arguments as JSON text in place of a key; the call as its '
        'own arguments, `{"name": "this_tool", "arguments": {...}}`; all arguments inside one parameter; `{"": {}}` for a tool '
        "without parameters; a variable of a prompt's template as the only key, `$PARAMETER_NAME`",
        unless="there is another key; the wrapper's name is a declared parameter, or the parameter around all arguments "
        "accepts an object; the content is not accepted",
        properties={"query": _TEXT, "limit": _INTEGER},
        repaired=(
            {"args": {"query": "tea"}},
            {"input": '{"query": "tea"}'},
            {"query": {"query": "tea", "limit": 5}},
            {"$PARAMETER_NAME": {"query": "tea"}},
        ),
        refused=(
            {"args": {"search": "tea"}},
            {"$not": {"query": "tea"}},
            {"args": {"query": "tea"}, "more": 1},
            {"query": {"text": "tea", "limit": 5}},
        ),
        required=("query",),
    ),
    Family(
        {"wrap_arguments": "the fields of the tool's one object parameter, without that object"},
        does="flat fields for a tool whose only parameter is an object, or whose only missing parameter is an object "
        "`arguments`, `params` or the like that accepts any name, or the only list, whose items declare them",
        unless="the object does not declare a key; another required parameter is missing too, or the list is optional; an "
        "identifier would become a list's; the content is not accepted",
        properties={"filter": _FILTER},
        repaired=({"city": "Oslo"},),
        refused=({"town": "Oslo"},),
        required=("filter",),
    ),
    Family(
        {"nest_arguments": "paths in place of names, such as todos[0].title"},
        does="names that are paths into a list or an object: `todos[0].title`, `filter.city`",
        unless="a declared name contains `.` or `[`; the schema does not declare every step (but for any name in an object "
        "`arguments`, `params` or the like); the parameter was sent too; an "
        "index is missing, or two paths end at one place; the content is not accepted",
        properties={"todos": {"type": "array", "items": _TODO}, "filter": _FILTER},
        repaired=({"todos[0].title": "tea", "todos[1].title": "milk"}, {"filter.city": "Oslo"}),
        refused=({"todos[1].title": "tea"}, {"todos[0].text": "tea"}),
    ),
    Family(
        {"rename_tool": "the tool's name in another spelling, or with a prefix that some clients show"},
        does="another case, other separators (`-`, `_`, `.`) or a prefix `mcp__server__` in the name of the tool; "
        "the call starts again under the tool's own name, at the outermost middleware",
        unless="a tool of the sent name exists; more than one listed tool fits; the prefix names another server; the tool is "
        "destructive",
        properties={},
        repaired=(),
    ),
)
"""All families; each rule is in exactly one."""

FAMILY_OF: Final[Mapping[str, Family]] = {rule: family for family in CATALOGUE for rule in family.rules}
"""The family of each rule, by the rule's name."""
