"""JSON values, JSON Pointers, and texts in JSON, JSON5 or Python's literals."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Final, Literal, NamedTuple, get_args

from mcp_lenient.types import Path
from mcp_lenient.values.limits import Limits


def pointer(path: Path) -> str:
    """Return the JSON Pointer for a path."""
    return "".join(["/" + text_of(part).replace("~", "~0").replace("/", "~1") for part in path])


def tokens_of(text: str) -> list[str]:
    """Return the parts of a JSON Pointer as text, indices included."""
    return [token.replace("~1", "/").replace("~0", "~") for token in text.split("/")[1:]]


def text_of(part: object) -> str:
    """Return an index or a non-string key as text; an integer too long to print gives its type."""
    try:
        return str(part)
    except ValueError:
        return f"<{type(part).__name__}>"


JSON_TYPES: Final[Mapping[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    tuple: "array",
    dict: "object",
    type(None): "null",
}


def json_type(value: Any) -> str:
    """Return the JSON type name of a value; a Python subclass counts as its base."""
    json_type = JSON_TYPES.get(type(value))
    return json_type or next((name for kind, name in JSON_TYPES.items() if isinstance(value, kind)), "object")


def same_json(left: Any, right: Any) -> bool:
    """Return whether two values are equal as JSON: true is not 1, but 1.0 is 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return bool(left == right)


# --- sizes ------------------------------------------------------------------------------------------------

_SCALAR_SIZE: Final = 8
_MAX_CONTAINERS: Final = 1_000_000
_MANY: Final = Limits(items=100, bytes=10_000)


class Size(NamedTuple):
    """The size of arguments: characters, values, and the first exceeded limit."""

    bytes: int
    items: int
    beyond: str | None


def measured(arguments: Any, limits: Limits) -> Size:
    """Return the size of the arguments; stop at the first exceeded limit."""
    size = items = depth = 0
    level: list[Any] = [arguments]
    while level:
        depth += 1
        items += len(level)
        if depth > limits.depth or items > limits.items:
            return Size(size, items, "depth" if depth > limits.depth else "items")
        below: list[Any] = []
        for value in level:
            if isinstance(value, str):
                size += len(value)
            elif isinstance(value, (list, tuple)):
                below += value
            elif isinstance(value, (int, float)) or not isinstance(value, (dict, Mapping)):
                size += value.bit_length() // 3 if type(value) is int else _SCALAR_SIZE
            else:
                below += value.values()
                size += sum([len(key) if isinstance(key, str) else _SCALAR_SIZE for key in value])
        if size > limits.bytes:
            return Size(size, items, "bytes")
        level = below
    return Size(size, items, None)


def holds_many(arguments: Any) -> bool:
    """Return whether arguments have so many values or characters, at any depth, that a look at each takes long."""
    return measured(arguments, _MANY).beyond is not None


def _everything_in(value: Any) -> list[Any]:
    """Return a value and all values in it, level by level; each container once, as one may contain itself."""
    everything: list[Any] = [value]
    seen: set[int] = set()
    for part in everything:
        if isinstance(part, (dict, list)) and id(part) not in seen:
            seen.add(id(part))
            everything += part.values() if isinstance(part, dict) else part
    return everything


def has_whole_float(value: Any) -> bool:
    """Return whether the value is or contains a float without a fraction."""
    return any(isinstance(number, float) and number.is_integer() for number in _everything_in(value))


def nests_at_most(value: Any, max_depth: int) -> bool:
    """Return whether a value has at most this many levels; False for one that contains itself."""
    level = [value]
    for _ in range(max_depth + 1):
        level = [value for value in level if isinstance(value, (dict, list, tuple))]
        if not level:
            return True
        if len(level) > _MAX_CONTAINERS:  # a list that contains itself twice
            return False
        entries = (part.values() if isinstance(part, dict) else part for part in level)
        level = [*chain.from_iterable(entries)]
    return False


# --- numbers ----------------------------------------------------------------------------------------------

_MAX_SPELLING: Final = 4000  # below the digit limit of `int()`
_SAFE: Final = 2**53
_SPACE: Final = " \t\n\r"
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_THOUSANDS: Final = re.compile(r"-?[0-9]{1,3}\.000")
_TWO_PLACES: Final = re.compile(r"-?[0-9]+\.[0-9]{2}")
_DIGITS_OF_DOUBLE: Final = 15  # one with more may have been rounded by the sender
_DIGITS_WRITTEN: Final = (15, 16, 17)
"""Significant digits of a double as it is written: no fewer than it always keeps, no more than it can need."""


class SpelledFloat(float):
    """A float with its source spelling."""

    __slots__ = ("spelling",)

    def __init__(self, spelling: str) -> None:
        self.spelling = spelling


class ParsedInteger(int):
    """An integer beyond 2**53 that was parsed from text, so that no double has rounded it."""

    __slots__ = ()


PARSED_TYPES: Final = {SpelledFloat: float, ParsedInteger: int}


def unshared(value: Any) -> Any:
    """Return a JSON value in new lists and objects."""
    if isinstance(value, Mapping):
        return {key: unshared(entry) for key, entry in value.items()}
    return [unshared(item) for item in value] if isinstance(value, list) else value


def plain(value: Any) -> Any:
    """Return the value without source spellings; the same object if it has none."""
    if PARSED_TYPES.keys().isdisjoint(map(type, _everything_in(value))):
        return value
    try:
        return _plain(value)
    except RecursionError:  # beyond any limit of depth, and so refused
        return value


def loses_spelling(value: Any) -> bool:
    """Return whether a float in a value that was parsed from text was spelled otherwise than it would be written."""
    floats = (part for part in _everything_in(value) if isinstance(part, SpelledFloat))
    return any(number.spelling != repr(number) for number in floats)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return PARSED_TYPES[type(value)](value) if type(value) in PARSED_TYPES else value


def parsed_integer(spelling: str) -> int | SpelledFloat:
    """Return an integer of a JSON text; ValueError if it is too long."""
    if spelling == "-0":  # an `int` would lose its sign
        return SpelledFloat(spelling)
    if len(spelling) > _MAX_SPELLING:
        raise ValueError(spelling)
    value = int(spelling)  # may also raise: the interpreter's own digit limit may be lower
    return ParsedInteger(value) if abs(value) > _SAFE else value


def _spelled_float(spelling: str) -> SpelledFloat:
    if len(spelling) > _MAX_SPELLING:
        raise ValueError(spelling)
    value = SpelledFloat(spelling)
    if spelling == repr(value):
        return value
    digits = _digits(spelling)
    # The second form is for "0.10000000000000001", whose shortest form is 0.1. Infinity and underflow to zero differ
    # from both.
    if digits and digits not in (_digits(repr(value)), _digits(f"{value:.{len(digits) - 1}e}")):
        raise ValueError(spelling)
    return value


def _digits(spelling: str) -> str:
    return spelling.lower().partition("e")[0].replace(".", "").lstrip("-").strip("0")


def number_in_text(text: str) -> int | float | None:
    """Parse a whole text as a JSON number, or return None, also if a double overflows or loses a digit of it."""
    spelling = text.strip(_SPACE)
    number = _NUMBER.fullmatch(spelling)
    if number is None:
        return None
    try:
        value = parsed_integer(spelling) if number.lastindex is None else _spelled_float(spelling)
    except ValueError:
        return None
    return float(value) if isinstance(value, float) else int(value)


def may_have_thousands(text: str) -> bool:
    """Return whether a text is a whole number with three zeros after a point, which may part thousands."""
    return _THOUSANDS.fullmatch(text.strip(_SPACE)) is not None


def whole_float(value: float) -> int | None:
    """Convert a float without a fraction, up to 2**53, to an integer, or return None; -0.0 would lose its sign."""
    if not value.is_integer() or abs(value) > _SAFE or repr(value) == "-0.0":
        return None
    return int(value)


def number_as_text(value: float) -> str | None:
    """Return the text that a number was sent as; None for a boolean, and where that is uncertain.

    ``3.1`` may have been ``3.10``, ``0.0003`` the six digits ``0.000300`` of a time stamp, and a large integer rounded.
    """
    if isinstance(value, SpelledFloat):
        return value.spelling
    if not isinstance(value, int):
        spelling = repr(value)
        sure = _TWO_PLACES.fullmatch(spelling) and len(_digits(spelling)) <= _DIGITS_OF_DOUBLE
        return spelling if sure else None
    if isinstance(value, bool) or (type(value) is not ParsedInteger and may_be_rounded(value)):
        return None
    try:
        spelling = str(int(value))
    except ValueError:  # more digits than the interpreter writes
        return None
    return spelling if len(spelling) <= _MAX_SPELLING else None


def rounds_as_double(value: object) -> bool:
    """Return whether a value is an integer that a double would round."""
    return isinstance(value, int) and _through_double(value) != value


def may_be_rounded(value: object) -> bool:
    """Return whether a number is beyond 2**53, and an integer a double in full, or in its significant digits and zeros.

    JavaScript writes the fewest digits that tell a double from its neighbors, and C as many as a format asks for.
    """
    if isinstance(value, float):
        return abs(value) > _SAFE
    if not isinstance(value, int) or abs(value) <= _SAFE:
        return False
    exact = _through_double(value)
    length = len(str(abs(exact)))
    return exact == value or any(round(exact, digits - length) == value for digits in _DIGITS_WRITTEN)


def _through_double(value: int) -> int:
    """Return an integer as a double holds it; 0 beyond the largest double."""
    try:
        return int(float(value))
    except OverflowError:
        return 0


# --- texts ------------------------------------------------------------------------------------------------

Dialect = Literal["json", "json5", "python"]
JSON: Final[frozenset[Dialect]] = frozenset({"json"})
ALL_DIALECTS: Final[frozenset[Dialect]] = frozenset(get_args(Dialect))


class Parsed(NamedTuple):
    """A list or dict parsed from text, with a :class:`SpelledFloat` for each float in it, and its grammar."""

    value: Any
    dialect: Dialect


_MAY_BEGIN: Final = re.compile(r"""[\s\ufeff]*[\[{(/"`]""")
_JSON_LIKE: Final = re.compile(r"""[\s\ufeff]*(?:[\[{"]|```|[('`][ \t\r\n]*[\[{("'])""")
_MAX_QUOTINGS: Final = 3
_FENCED: Final = re.compile(r"```(?:[A-Za-z0-9+_-]*[ \t]*[\r\n])?(.*)```", re.DOTALL)
_MAY_LOSE: Final = re.compile(r"[\\\b\f\t\n\r]")
# A control character that no text needs (the `\b` of a regex), or one in place of the backslash after a drive; elsewhere than
# at the beginning, a line may end in `A:`.
_LOST_BACKSLASH: Final = re.compile(r"[\b\f]|^[A-Za-z]:[\t\n\r]\w|(?<![^\s\"'(=:,;])[A-Za-z]:\t\w")


def parse_container(text: str, limits: Limits, dialects: frozenset[Dialect]) -> Parsed | None:
    r"""Parse a whole text as an array or object, or return None; never raises.

    White space, a byte order mark, one Markdown fence and up to three layers of JSON quoting are removed. Plain JSON, whose
    strings may contain raw control characters, has no other grammar. A text that JSON5 and Python read differently has none.

    Refused in every grammar: a duplicate key, NaN and Infinity, a number that a double overflows or loses a digit
    of, truncated text, text after the value, and in a string or key what comes from the backslash of a regex or of a
    Windows path (``C:\temp``).
    """
    if len(text) > limits.text or _MAY_BEGIN.match(text) is None:
        return None
    text = _unquoted(text)
    value = _decoded(text)
    if isinstance(value, (list, dict)):
        parsed = Parsed(value, "json") if "json" in dialects else None
    else:
        parsed = _relaxed(text, dialects) if len(text) <= limits.relaxed_text else None
    if parsed is None or not nests_at_most(parsed.value, limits.depth):
        return None
    if _MAY_LOSE.search(text) is None:
        return parsed
    parts = _everything_in(parsed.value)
    texts = [part for part in parts if isinstance(part, str)]
    texts += [key for part in parts if isinstance(part, dict) for key in part]
    return None if any(map(_LOST_BACKSLASH.search, texts)) else parsed


_ANY_ESCAPE: Final = re.compile(r'\\(?:["\\/]|u[0-9a-fA-F]{4}|(.))', re.DOTALL)
_SHORT_ESCAPES: Final = frozenset("bfnrt'")
"""What a backslash escapes in JSON, or in JSON5 and Python alone: the apostrophe."""


def container(text: str, limits: Limits, dialects: frozenset[Dialect] = ALL_DIALECTS) -> Any:
    """Parse a whole text as an array or object; None if that fails."""
    parsed = parse_call_text(text, limits, dialects)
    return None if parsed is None else plain(parsed.value)


def parse_call_text(text: str, limits: Limits, dialects: frozenset[Dialect]) -> Parsed | None:
    r"""Parse the text of a call or of its arguments like :func:`parse_container`; an invalid escape may be a backslash.

    It is one in ``"\d+"``, if the text has no valid one-letter escape but ``\\``, ``\"`` and ``\/``: in ``"C:\data\new"`` the
    ``\n`` would be a line break.
    """
    parsed = parse_container(text, limits, dialects)
    if parsed is not None or "json" not in dialects:
        return parsed
    escaped = {escape[1] for escape in _ANY_ESCAPE.finditer(text) if escape[1]}
    if not escaped or escaped & _SHORT_ESCAPES or any(map(str.isspace, escaped)):
        return None
    doubled = _ANY_ESCAPE.sub(lambda escape: f"\\{escape[0]}" if escape[1] else escape[0], text)
    return parse_container(doubled, limits, JSON)


def looks_like_json(text: str) -> bool:
    """Return whether the text begins like a container, a quoted JSON string or a fence, complete or not."""
    return _JSON_LIKE.match(text) is not None


def _unquoted(text: str) -> str:
    text = _without_fence(text)
    for _ in range(_MAX_QUOTINGS):
        if text[:1] == '"':
            text = _without_fence(_decoded(text) or "")
    return text


def _without_fence(text: str) -> str:
    text = text.strip().removeprefix("\ufeff").lstrip()
    if not text.startswith("```"):
        return text
    fenced = _FENCED.fullmatch(text)
    return fenced[1].strip() if fenced else ""


class DuplicateKeyError(ValueError):
    """Raised for an object of a JSON text with a key that comes twice, its argument."""


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of a JSON parser; DuplicateKeyError if a key comes twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise DuplicateKeyError(next(key for key in members if counts[key] > 1))
    return members


def no_constant(name: str) -> None:
    """Raise ValueError for constants that are not JSON: ``NaN`` and ``Infinity``."""
    raise ValueError(name)


_OPENING_FENCE: Final = re.compile(r"```\w*\s*")
_BARE: Final = re.compile(r"[\w.+-]*")
_CLOSING: Final = {"[": "]", "{": "}"}
_STRING_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=unique_keys,
    parse_int=parsed_integer,
    parse_float=_spelled_float,
    parse_constant=no_constant,
    strict=False,
)


def _decoded(text: str) -> Any:
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):  # too deep, or the caller's stack is nearly full
        return None
    return value if end == len(text) else None


class Break(NamedTuple):
    """Where JSON text stops being JSON: the characters before it and up to the innermost open bracket, and whether it ends.

    ``by_quote``: behind a quote that may belong to the string; ``is_open``: a string begins there that does not end.
    """

    at: int
    opened: int
    bracket: str
    is_end: bool
    by_quote: bool = False
    is_open: bool = False


def break_of(text: str) -> Break | None:
    """Return where a text that begins like a container in JSON breaks, by the JSON parser; None if it does not."""
    body = _OPENING_FENCE.sub("", text.strip())
    if body[:1] not in ("[", "{"):
        return None
    try:
        _, at = _DECODER.raw_decode(body)
    except json.JSONDecodeError as error:
        is_open_string = error.msg.startswith("Unterminated")
        # A text that ends in the bracket which closes the first one was not cut off.
        is_cut_off = _BARE.fullmatch(body, error.pos) or (is_open_string and body[-1] != _CLOSING[body[0]])
        at = len(body) if is_cut_off else error.pos
    except (ValueError, RecursionError):
        return None
    brackets = _open_brackets(body[:at])
    if not brackets or body[at : at + 1] == "'":  # complete, or written in another grammar
        return None
    opened, is_end = brackets[-1], at == len(body)
    by_quote = body[at - 1] == '"' and body[at : at + 1].isalnum()
    return Break(at, opened + 1, body[opened], is_end, by_quote, is_open_string)


def _open_brackets(text: str) -> list[int]:
    unclosed: list[int] = []
    for match in _STRING_OR_BRACKET.finditer(text):
        if match[0] in "[{":
            unclosed.append(match.start())
        elif match[0] in "]}" and unclosed:
            unclosed.pop()
    return unclosed


# --- JSON5 and Python -------------------------------------------------------------------------------------

_ESCAPE: Final = r"""\\(?:["'\\/bfnrt]|u[0-9a-fA-F]{4})"""
_TOKEN: Final = re.compile(
    rf"""[ \t\n\r\f]*(?:
        (?P<open>[\[{{(])
      | (?P<close>[\]}})])
      | (?P<mark>[:,])
      | (?P<escaped>\\"[^"\\\n\r]*\\"(?=[ \t]*[,:\]}}]))
      | (?P<string>"[^"\\\n\r]*(?:{_ESCAPE}[^"\\\n\r]*)*" | '[^'\\\n\r]*(?:{_ESCAPE}[^'\\\n\r]*)*')
      | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
      | (?P<key>(?!(?:True|False|None)\b)(?:[^\W\d]|\$)[\w$]*(?=\s*:))
      | (?P<json_word>(?:true|false|null)(?![\w$]))
      | (?P<python_word>(?:True|False|None)(?![\w$]))
      | (?P<comment>//[^\n\r\u2028\u2029]* | /\*[^*]*\*+(?:[^/*][^*]*\*+)*/)
      | (?P<space>[\v\xa0\ufeff\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+)
      | (?P<other>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_IN_JSON: Final = {"True": "true", "False": "false", "None": "null", "(": "[", ")": "]"}
_BRACKETS: Final = frozenset({"[]", "{}", "()"})
_OPENING: Final = frozenset("[{")
_FOREIGN: Final[Mapping[Dialect, frozenset[str]]] = {
    "json5": frozenset({"python_word", "tuple"}),
    "python": frozenset({"key", "json_word", "comment", "space", "no_python", "escaped"}),
}
_IN_QUOTES: Final = re.compile(r'\\.|"')
_REQUOTED: Final = {"\\'": "'", '"': '\\"'}
_NO_PYTHON: Final = re.compile("[\0\ud800-\udfff]")
"""Characters that no Python source contains."""


def _relaxed(text: str, dialects: frozenset[Dialect]) -> Parsed | None:
    scanned = _as_json(text)
    if scanned is None:
        return None
    as_json, kinds = scanned
    kinds |= {"no_python"} if _NO_PYTHON.search(text) else set()
    free_of_foreign = [dialect for dialect in _FOREIGN if _FOREIGN[dialect].isdisjoint(kinds)]
    possible = [dialect for dialect in free_of_foreign if dialect in dialects]
    # `\/` is one character in JSON5 and two in Python.
    if not possible or ("python" in possible and "slash" in kinds):
        return None
    value = _decoded(as_json)
    return Parsed(value, possible[0]) if isinstance(value, (list, dict)) else None


def _as_json(text: str) -> tuple[str, set[str]] | None:
    """Translate the tokens to JSON; return the text and the kinds of tokens, or None if one has no JSON form.

    Their order is left to the JSON decoder. A space is put between them, so that it refuses ``1_000`` and ``b"x"``.
    """
    tokens: list[str] = []
    kinds: set[str] = set()
    opened: list[str] = []
    commas = [0]
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        word = match[kind]
        kinds.add("tuple" if word == "(" else kind)
        misspelled = kind == "key" and not word.replace("$", "_").isidentifier()
        if kind == "other" or word == "-0" or misspelled:
            return None
        if kind == "open":
            opened.append(word)
            commas.append(0)
        elif kind == "close":
            if not opened or not _closes(opened.pop() + word, commas.pop(), tokens):
                return None
        elif word == ",":
            commas[-1] += 1
        elif kind == "string" and "\\/" in _IN_QUOTES.findall(word):
            kinds.add("slash")
        if kind not in _UNWRITTEN:
            tokens.append(_QUOTED.get(kind, str)(_IN_JSON.get(word, word)))
    return " ".join(tokens), kinds


def _closes(brackets: str, commas: int, tokens: list[str]) -> bool:
    """Return whether the brackets around the last tokens fit, and take off a comma at their end."""
    if brackets not in _BRACKETS:
        return False
    if tokens[-1] == ",":
        tokens.pop()
        return tokens[-1] not in _OPENING
    return brackets != "()" or commas > 0 or tokens[-1] in _OPENING  # `(1)` is no tuple


def _requoted(token: str) -> str:
    body = _IN_QUOTES.sub(lambda part: _REQUOTED.get(part[0], part[0]), token[1:-1])
    return f'"{body}"'


_UNWRITTEN: Final = frozenset({"comment", "space"})
_QUOTED: Final[Mapping[str, Callable[[str], str]]] = {
    "string": _requoted,
    "key": '"{}"'.format,
    "escaped": lambda token: f'"{token[2:-2]}"',
}
