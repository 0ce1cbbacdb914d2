"""Why Pydantic refuses a value, in words that hold nothing of the value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mcp_lenient.values import json_type

_WORDS: Mapping[str, str] = {
    "decimal_parsing": 'write a number in digits, like 12.5 or "12.50"',
    "decimal_max_digits": "its digits are limited to {max_digits}",
    "decimal_max_places": "its decimal places are limited to {decimal_places}",
    "decimal_whole_digits": "its digits before the decimal point are limited to {whole_digits}",
    "finite_number": "it must be a finite number",
    "date_past": "it must be in the past",
    "date_future": "it must be in the future",
    "datetime_past": "it must be in the past",
    "datetime_future": "it must be in the future",
    "date_from_datetime_inexact": "write the date only, without a time",
    "timezone_naive": "write it without a time zone",
    "timezone_aware": "write it with a time zone, such as a final Z",
    "url_scheme": "the scheme must be {expected_schemes}",
    "uuid_version": "it must be a UUID of version {expected_version}",
    "path_not_file": "it must be the path of a file",
    "path_not_directory": "it must be the path of a directory",
    "json_invalid": 'it must be JSON in a text, such as "[1, 2]"',
    "json_type": 'it must be JSON in a text, such as "[1, 2]"',
}
"""What is wrong where no keyword of JSON Schema says it, by Pydantic's error type."""

_TYPES: Mapping[str, str] = {
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "string": "a string",
    "list": "an array",
    "set": "an array",
    "frozen_set": "an array",
    "tuple": "an array",
    "dict": "an object",
    "model": "an object",
    "dataclass": "an object",
    "none": "null",
}
"""JSON's words for Pydantic's types, by how its error types begin."""

_KEYS: Mapping[str, str] = {
    "int_parsing": 'an integer in digits, such as "1"',
    "int_from_float": 'an integer in digits, such as "1"',
    "float_parsing": 'a number in digits, such as "1.5"',
    "decimal_parsing": 'a number in digits, such as "1.5"',
    "bool_parsing": '"true" or "false"',
    "literal_error": "{expected}",
    "enum": "{expected}",
    "greater_than_equal": "at least {ge}",
    "greater_than": "greater than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "multiple_of": "a multiple of {multiple_of}",
    "string_pattern_mismatch": 'a text that matches the pattern "{pattern}"',
}
"""What the key of a map must be, by Pydantic's error type: a published schema seldom says it."""

_TYPE = re.compile(r"([a-z_]+)_(?:type|parsing)")
_OUTSIDE = re.compile(r"(\w+) value is outside expected range.*")
_TIMES = (
    "date_parsing",
    "date_from_datetime_parsing",
    "datetime_parsing",
    "datetime_from_date_parsing",
    "time_parsing",
)
_NO_SCHEME = "relative URL without a base"
_URL_FAULTS: Mapping[str, str] = {
    _NO_SCHEME: "write a URL with its scheme",
    "empty host": "it names no host",
    "invalid international domain name": "its host is not a valid name",
    "invalid domain character": "its host is not a valid name",
    "invalid IPv4 address": "its host is not a valid IPv4 address",
    "invalid IPv6 address": "its host is not a valid IPv6 address",
    "invalid port number": "its port is not a valid number",
}


def reason_of(code: str, context: Mapping[str, Any], given: object = None) -> str | None:
    """Why a value is refused, after a colon; None where the error type alone says nothing to a caller.

    Args:
        code: Pydantic's error type.
        context: What Pydantic says besides; of its texts only known ones are used, as others quote the value.
        given: The value, to say nothing of its type where that is right already.
    """
    if code in _WORDS:
        return _WORDS[code].format(**context)
    said = str(context.get("error", ""))
    if code in _TIMES:
        outside = _OUTSIDE.fullmatch(said)
        return f"its {outside[1]} is out of range" if outside else None
    if code == "url_parsing":
        return _URL_FAULTS.get(said, _URL_FAULTS[_NO_SCHEME])
    kind = _TYPE.fullmatch(code)
    words = _TYPES.get(kind[1]) if kind else None
    return f"it must be {words}" if words and not words.endswith(json_type(given)) else None


def key_reason(code: str, context: Mapping[str, Any]) -> str | None:
    """What the key of a map must be; None where the error type does not say it."""
    words = _KEYS.get(code)
    return f"a key must be {words.format(**context)}" if words is not None else reason_of(code, context)


def key_path_ends(loc: tuple[str | int, ...]) -> Iterator[int]:
    """Where in a ``loc`` Pydantic's mark of a key stands; a property may have this name as well."""
    return (at for at in range(len(loc) - 1, 0, -1) if loc[at] == "[key]")
