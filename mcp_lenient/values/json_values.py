"""JSON values, JSON texts and JSON Pointers.

A text may be JSON or, if it is not, JSON5 or a Python literal.
"""

from __future__ import annotations

import ast
import json
import marshal
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

from mcp_lenient.types import Path

if TYPE_CHECKING:
    from typing_extensions import Self

    from mcp_lenient.values.limits import Limits


def pointer(path: Path) -> str:
    """Return the JSON Pointer for a path.

    >>> pointer(("rows", 0, "a/b"))
    '/rows/0/a~1b'
    """
    text = ""
    for part in path:
        text += f"/{_token(part)}"
    return text


def text_of(part: object) -> str:
    """Return an index or a non-string key as text; an integer too long to print gives its type.

    >>> text_of(3), text_of(None), text_of(10**5000)
    ('3', 'None', '<int>')
    """
    try:
        return str(part)
    except ValueError:
        return f"<{type(part).__name__}>"


def tokens_of(text: str) -> list[str]:
    """Return the parts of a JSON Pointer as text, indices included.

    >>> tokens_of("/rows/0/a~1b")
    ['rows', '0', 'a/b']
    """
    return [token.replace("~1", "/").replace("~0", "~") for token in text.split("/")[1:]]


def _token(part: str | int) -> str:
    if not isinstance(part, str):
        return text_of(part)
    if "~" in part or "/" in part:
        return part.replace("~", "~0").replace("/", "~1")
    return part


PYTHON_TYPES: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    tuple: "array",
    dict: "object",
    type(None): "null",
}
_NUMBERS = frozenset({int, float})
_SCALARS = frozenset({bool, float, type(None)})
_SHORT = _SCALARS | {int}
_SCALAR_SIZE = 8
_MAX_DEPTH = 1_000
_MAX_CONTAINERS = 1_000_000
_MARSHAL_VERSION = 2
_MANY_VALUES = 100
_LONG_TEXT = 10_000


def json_type(value: Any) -> str:
    """Return the JSON type name of a value; a Python subclass counts as its base.

    >>> [json_type(value) for value in ("a", 1, 1.0, True, None, [], {})]
    ['string', 'integer', 'number', 'boolean', 'null', 'array', 'object']
    """
    name = PYTHON_TYPES.get(type(value))
    if name is not None:
        return name
    return next((name for kind, name in PYTHON_TYPES.items() if isinstance(value, kind)), "object")


def same_json(left: Any, right: Any) -> bool:
    """Return whether two values are equal as JSON: true is not 1, but 1.0 is 1.

    >>> same_json([1], [True]), same_json({"a": 1}, {"a": 1.0})
    (False, True)
    """
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            same_json(value, right[key]) for key, value in left.items()
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return bool(left == right)


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
        below: list[Any] = []
        for value in level:
            kind = type(value)
            if kind is str:
                size += len(value)
            elif kind is dict:
                for key in value:
                    size += len(key) if isinstance(key, str) else _SCALAR_SIZE
                below += value.values()
            elif kind is list:
                below += value
            elif kind is int:
                size += value.bit_length() // 3
            elif kind in _SCALARS:
                size += _SCALAR_SIZE
            else:
                size += _other_size(value, below)
        if depth > limits.depth or items > limits.items or size > limits.bytes:
            return Size(size, items, _first_beyond(depth, items, limits))
        level = below
    return Size(size, items, None)


def _other_size(value: Any, below: list[Any]) -> int:
    """Return the size of a subclass of a JSON type or of a non-JSON value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        below += value.values()
        return sum(len(key) if isinstance(key, str) else _SCALAR_SIZE for key in value)
    if isinstance(value, (list, tuple)):
        below += value
        return 0
    return _SCALAR_SIZE


def _first_beyond(depth: int, items: int, limits: Limits) -> str:
    if depth > limits.depth:
        return "depth"
    return "items" if items > limits.items else "bytes"


def has_whole_float(value: Any) -> bool:
    """Return whether the value is or contains a float without a fraction.

    >>> has_whole_float({"a": [1, 2.5, 7.0]}), has_whole_float([1, 2.5])
    (True, False)
    """
    return any(isinstance(each, float) and each.is_integer() for each in _everything_in(value))


def _everything_in(value: Any) -> Iterator[Any]:
    """Yield a value and all values in it, level by level."""
    waiting = [value]
    for each in waiting:
        yield each
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def has_many(arguments: Mapping[str, Any]) -> bool:
    """Return whether an argument is a list or object of many values."""
    for value in arguments.values():
        kind = type(value)
        if (kind is list or kind is dict) and len(value) > _MANY_VALUES:
            return True
    return False


def takes_long(arguments: Mapping[str, Any]) -> bool:
    """Return whether visiting each value may take more than a few milliseconds; looks at the top level only."""
    if has_many(arguments) or len(arguments) > _MANY_VALUES:
        return True
    return any(type(value) is str and len(value) > _LONG_TEXT for value in arguments.values())


def holds_many(arguments: Mapping[str, Any]) -> bool:
    """Return whether arguments have so many values or characters, at any depth, that repairing them takes long."""
    waiting: list[Any] = [arguments]
    characters = 0
    for value in waiting:
        if isinstance(value, str):
            characters += len(value)
        elif isinstance(value, list):
            waiting += value
        elif type(value) not in _SHORT and isinstance(value, (dict, Mapping)):
            waiting += value.values()
            characters += sum(len(key) for key in value if isinstance(key, str))
        if len(waiting) > _MANY_VALUES or characters > _LONG_TEXT:
            return True
    return False


def is_shallow(value: Any) -> bool:
    """Return whether a validator written in C or Rust can walk a value without overflowing the stack."""
    try:
        marshal.dumps(value, _MARSHAL_VERSION)
    except ValueError:
        return nests_less(value, _MAX_DEPTH)
    return True


def nests_less(value: Any, deepest: int) -> bool:
    """Return whether a value has at most this many levels; False for one that contains itself.

    >>> nests_less([[1]], 2), nests_less([[1]], 1)
    (True, False)
    """
    level = [value]
    for _ in range(deepest + 1):
        containers = [each for each in level if isinstance(each, (dict, list, tuple))]
        if not containers:
            return True
        if len(containers) > _MAX_CONTAINERS:  # a list that contains itself twice
            return False
        level = [
            inner for each in containers for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return False


# mutant: a bound, which the tests follow
MAX_SPELLING: Final = 4000
"""Characters of the longest number that is parsed or printed: below the digit limit of ``int()``."""
_SAFE: Final = 2**53
_MAX_BITS: Final = math.floor(MAX_SPELLING * math.log2(10))
_SPACE: Final = " \t\n\r"
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>\.[0-9]+)?(?P<exponent>[eE][+-]?[0-9]+)?")
_TWO_PLACES: Final = re.compile(r"-?[0-9]+\.[0-9]{2}")
_DIGITS_OF_DOUBLE: Final = 15
"""A number with more digits may have been rounded by the sender."""
_DIGITS_WRITTEN: Final = (15, 16, 17)
"""Significant digits of a double as it is written: no fewer than it always keeps, no more than it can need."""
_ALWAYS_EXACT: Final = 16
"""A number this short with a point and no exponent has at most 15 digits, which a double preserves."""


class SpelledFloat(float):
    """A float with its source spelling.

    >>> SpelledFloat(3.1, "3.10").spelling
    '3.10'
    """

    __slots__ = ("spelling",)

    spelling: str

    def __new__(cls, value: float, spelling: str) -> Self:
        """Return ``value`` with a spelling."""
        self = super().__new__(cls, value)
        self.spelling = spelling
        return self

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override]
        """Return the arguments for ``copy`` and ``pickle``."""
        return float(self), self.spelling


class ParsedInteger(int):
    """An integer beyond 2**53 that was parsed from text, so that no double has rounded it."""

    __slots__ = ()


SPELLED: Final = {SpelledFloat: float, ParsedInteger: int}
"""The types of numbers parsed from text, and the built-in types of their values."""


def plain_type(value: Any) -> type:
    """Return the type of a value; for a number parsed from text, the built-in type.

    >>> plain_type(SpelledFloat(3.1, "3.10")), plain_type(True)
    (<class 'float'>, <class 'bool'>)
    """
    kind = type(value)
    return SPELLED.get(kind, kind)


def read_integer(spelling: str) -> int | SpelledFloat | None:
    """Return the value of a JSON number without fraction and exponent, or None if it is too long.

    ``-0`` is a float: an ``int`` would lose its sign.
    """
    if spelling == "-0":
        return SpelledFloat(-0.0, spelling)
    if len(spelling) > MAX_SPELLING:
        return None
    try:
        return int(spelling)
    except ValueError:  # the interpreter's own digit limit is lower
        return None


def read_float(spelling: str) -> SpelledFloat | None:
    """Return the value of a JSON number with a fraction or an exponent, or None if a double loses a digit.

    >>> read_float("0.10000000000000001"), read_float("0.1234567890123456789"), read_float("1e999")
    (0.1, None, None)
    """
    if len(spelling) > MAX_SPELLING:
        return None
    value = SpelledFloat(float(spelling), spelling)
    if len(spelling) <= _ALWAYS_EXACT and "e" not in spelling and "E" not in spelling:
        return value
    digits = _digits(spelling)
    # The second form is for "0.10000000000000001", whose shortest form is 0.1. Infinity and underflow to zero
    # differ from both.
    kept = not digits or digits in {_digits(repr(value)), _digits(f"{value:.{len(digits) - 1}e}")}
    return value if kept else None


def _digits(spelling: str) -> str:
    return spelling.lower().partition("e")[0].replace(".", "").lstrip("-").strip("0")


def plain(value: Any) -> Any:
    """Return the value without source spellings; the same object if it has none."""
    if type(value) in SPELLED:
        return plain_type(value)(value)
    if not isinstance(value, (list, dict)):
        return value
    spelled = False
    containers = [value]
    for container in containers:
        for child in container.values() if isinstance(container, dict) else container:
            kind = type(child)
            if kind is dict or kind is list:
                containers.append(child)  # breadth first: the list is the queue
            elif kind in SPELLED:
                spelled = True
    return _without_spellings(containers) if spelled else value


def _without_spellings(containers: list[Any]) -> Any:
    """Rebuild the first container; each container precedes those inside it."""
    rebuilt: dict[int, Any] = {}

    def plain_child(child: Any) -> Any:
        kind = type(child)
        return SPELLED[kind](child) if kind in SPELLED else rebuilt.get(id(child), child)

    for container in reversed(containers):
        if isinstance(container, dict):
            rebuilt[id(container)] = {key: plain_child(child) for key, child in container.items()}
        else:
            rebuilt[id(container)] = [plain_child(child) for child in container]
    return rebuilt[id(containers[0])]


def number_in_text(text: str) -> int | float | None:
    """Parse a whole text as a JSON number, or return None.

    White space around it is ignored. Numbers not spelled as JSON are refused (``+5``, ``0644``, ``1_000``,
    ``1,234``, ``.5``, ``NaN``, full-width digits), as are numbers that a double overflows or loses a digit of.

    >>> number_in_text(" 42 "), number_in_text("4.20"), number_in_text("0644")
    (42, 4.2, None)
    """
    spelling = text.strip(_SPACE)
    number = _NUMBER.fullmatch(spelling)
    if number is None:
        return None
    value = read_integer(spelling) if number.lastgroup is None else read_float(spelling)
    return float(value) if isinstance(value, SpelledFloat) else value


def exact_number_in_text(text: str) -> int | float | None:
    """Parse a whole text as a JSON number that a double holds exactly, or return None.

    >>> exact_number_in_text("9007199254740992"), exact_number_in_text("9007199254740993")
    (9007199254740992, None)
    """
    value = number_in_text(text)
    return None if isinstance(value, int) and not _fits_double(value) else value


def rounds(value: Any) -> bool:
    """Return whether a value contains an integer, parsed from text, that a double would round."""
    waiting = [value]
    for each in waiting:
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
        elif type(each) is ParsedInteger and not _fits_double(each):
            return True
    return False


def integer_in_text(text: str) -> int | None:
    """Parse a whole text as a JSON integer, or return None.

    ``"5.0"`` and ``"1e3"`` are integers up to 2**53. ``"-0"`` is refused: an integer loses its sign, which may
    have a meaning, for instance in an offset.

    >>> integer_in_text("5.0"), integer_in_text("1e3"), integer_in_text("5.5")
    (5, 1000, None)
    """
    value = number_in_text(text)
    return whole_float(value) if isinstance(value, float) else value


def whole_float(value: float) -> int | None:
    """Convert a float without a fraction, up to 2**53, to an integer, or return None; -0.0 would lose its sign.

    >>> whole_float(7.0), whole_float(7.5)
    (7, None)
    """
    if not value.is_integer() or abs(value) > _SAFE or repr(value) == "-0.0":
        return None
    return int(value)


def number_as_text(value: float) -> str | None:
    """Return the text that a number was sent as, or None if that is uncertain.

    Certain are integers up to 2**53, larger ones that no double is written as (and so were not rounded on the way),
    floats of at most 15 digits with two after the point, and numbers parsed from text. ``3.1`` may have been ``3.10``,
    and ``0.0003`` the six digits ``0.000300`` of a time stamp. A boolean is not a number.

    >>> number_as_text(42), number_as_text(3.14), number_as_text(3.1), number_as_text(True)
    ('42', '3.14', None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, SpelledFloat):
        return value.spelling
    if isinstance(value, ParsedInteger):
        return str(int(value))
    if isinstance(value, int):
        return _integer_as_text(value)
    spelling = repr(value)
    sure = _TWO_PLACES.fullmatch(spelling) and len(_digits(spelling)) <= _DIGITS_OF_DOUBLE
    return spelling if sure else None


def _integer_as_text(value: int) -> str | None:
    if value.bit_length() > _MAX_BITS:
        return None
    if may_be_rounded(value):
        return None
    try:
        return str(value)
    except ValueError:  # the interpreter's own digit limit is lower
        return None


def may_be_rounded(value: object) -> bool:
    """Return whether a number is beyond 2**53, and an integer one that a double is written as.

    Such an integer is a double in full, or its significant digits followed by zeros.

    >>> may_be_rounded(1917043659912705300), may_be_rounded(1917043659912705296), may_be_rounded(42)
    (True, False, False)

    JavaScript writes the fewest digits that tell a double from its neighbors (ECMA-262, Number::toString), and C as many
    as a format asks for, up to the 17 that do so for every double.
    """
    if isinstance(value, float):
        return abs(value) > _SAFE
    if not isinstance(value, int) or abs(value) <= _SAFE:
        return False
    try:
        exact = int(float(value))
    except OverflowError:
        return False
    length = len(str(abs(exact)))
    return exact == value or any(round(exact, digits - length) == value for digits in _DIGITS_WRITTEN)


def _fits_double(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


Dialect = Literal["json", "json5", "python"]
JSON: Final[frozenset[Dialect]] = frozenset({"json"})
"""The grammar of a text."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A container parsed from text, and its grammar.

    ``value`` is a list or a dict; every float in it is a :class:`SpelledFloat`.
    """

    value: Any
    dialect: Dialect


_STARTS: Final = frozenset("[{(/")
_ENDS: Final = frozenset("]})")
_MAY_BEGIN: Final = re.compile(r"""[\s\ufeff]*[\[{(/"`]""")
_MAX_COMMENT: Final = 1000
"""Length of the tail that may contain a comment after the value."""
_MAX_QUOTINGS: Final = 3
_FENCE: Final = "```"
_FENCED: Final = re.compile(r"```(?:[A-Za-z0-9+_-]*[ \t]*[\r\n])?(.*)```", re.DOTALL)
"""Without a line break, the text after the marks is content, not an info string."""
_LOST_BACKSLASH: Final = re.compile(r"[\b\f]|^[A-Za-z]:[\t\n\r]\w|(?<![^\s\"'(=:,;])[A-Za-z]:\t\w")
"""A control character that no text needs, or one in place of the backslash after a Windows drive.

A line break after a drive counts only at the beginning: elsewhere a line may end in `A:`.
"""
_MAY_LOSE_BACKSLASH: Final = re.compile(r"[\b\f]|\\[bf]|\\u000[8cC]|[A-Za-z]:(?:[\t\n\r]|\\[tnr])")
_JSON_LIKE: Final = re.compile(r"""[\s\ufeff]*(?:[\[{"]|```|[('`][ \t\r\n]*[\[{("'])""")


def parse_container(text: str, limits: Limits, dialects: frozenset[Dialect]) -> Parsed | None:
    r"""Parse a whole text as an array or object, or return None.

    White space, a byte order mark, one Markdown fence and up to three layers of JSON quoting are removed. JSON is
    tried first; its strings may contain raw control characters. If it fails, JSON5 and Python are tried; if both
    accept the text and differ, it is refused.

    Refused in every grammar: a duplicate key, NaN and Infinity, a number that a double overflows or loses a digit
    of, truncated text, text after the value, and in a string or key what comes from the backslash of a regex or of a
    Windows path: U+0008, U+000C, a tab or a line break after a drive (``C:\temp``). Never raises.

    Args:
        text: Any string.
        limits: Bounds on the length and depth of a text.
        dialects: The grammars in force. Without ``"json"``, plain JSON is not parsed as JSON5 either.
    """
    if len(text) > limits.text:
        return None
    text = _unquoted(text)
    parsed = _parsed(text, limits, dialects)
    return None if parsed is None or _has_lost_backslashes(text, parsed.value) else parsed


def _parsed(text: str, limits: Limits, dialects: frozenset[Dialect]) -> Parsed | None:
    if text[:1] not in _STARTS or (text[-1:] not in _ENDS and "/" not in text[-_MAX_COMMENT:]):
        return None
    if not _too_deep(text, limits.depth):
        value = _decoded(text)
        if value is not None:
            return Parsed(value, "json") if "json" in dialects else None
    return _relaxed(text, limits.depth, dialects) if len(text) <= limits.relaxed_text else None


_ANY_ESCAPE: Final = re.compile(r'\\(?:["\\/]|u[0-9a-fA-F]{4}|(.))', re.DOTALL)
_ONE_LETTER: Final = frozenset("bfnrt'")


def parse_call_text(text: str, limits: Limits, dialects: frozenset[Dialect]) -> Parsed | None:
    r"""Parse the text of a call or of its arguments like :func:`parse_container`; an invalid escape may be a backslash.

    It is one in ``"\d+"``, if the text has no valid one-letter escape but ``\\``, ``\"`` and ``\/``: in ``"C:\data\new"`` the
    ``\n`` would be a line break.
    """
    parsed = parse_container(text, limits, dialects)
    if parsed is not None or "json" not in dialects:
        return parsed
    invalid = {each[1] for each in _ANY_ESCAPE.finditer(text) if each[1]}
    if not invalid or invalid & _ONE_LETTER or any(map(str.isspace, invalid)):
        return None
    doubled = _ANY_ESCAPE.sub(lambda each: f"\\{each[0]}" if each[1] else each[0], text)
    return parse_container(doubled, limits, JSON)


def _has_lost_backslashes(text: str, value: Any) -> bool:
    r"""Return whether JSON decoded the ``\b`` of a regex or the ``\f`` of a Windows path to a control character."""
    if _MAY_LOSE_BACKSLASH.search(text) is None:
        return False
    parts = _everything_in(value)
    texts = (text for part in parts for text in (part if isinstance(part, dict) else (part,)))
    return any(isinstance(text, str) and _LOST_BACKSLASH.search(text) is not None for text in texts)


class TextParseCache:
    """A cache of the parsed texts of one call."""

    __slots__ = ("_limits", "_parsed")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._parsed: dict[tuple[str, frozenset[Dialect]], Parsed | None] = {}

    def parse(self, text: str, dialects: frozenset[Dialect]) -> Parsed | None:
        """Return the cached result of :func:`parse_container`."""
        key = (text, dialects)
        if key not in self._parsed:
            # Plain JSON is not parsed as another dialect.
            known = self._parsed.get((text, JSON)) is not None and "json" not in dialects
            parses = not known and may_be_container(text)
            self._parsed[key] = parse_container(text, self._limits, dialects) if parses else None
        return self._parsed[key]


def may_be_container(text: str) -> bool:
    """Return whether :func:`parse_container` may accept the text, from its beginning; fast."""
    return _MAY_BEGIN.match(text) is not None


def looks_like_json(text: str) -> bool:
    """Return whether the text begins like a container, a quoted JSON string or a fence, complete or not.

    >>> looks_like_json('[1, 2'), looks_like_json("['a'"), looks_like_json("urgent")
    (True, True, False)
    """
    return _JSON_LIKE.match(text) is not None


def _unquoted(text: str) -> str:
    for _ in range(_MAX_QUOTINGS):
        text = _without_fence(text)
        if text[:1] != '"':
            return text
        text = _decoded(text) or ""
    return _without_fence(text)


def _without_fence(text: str) -> str:
    text = text.strip()
    if text[:1] == "\ufeff":
        text = text[1:].lstrip()
    if not text.startswith(_FENCE):
        return text
    fenced = _FENCED.fullmatch(text)
    return fenced[1].strip() if fenced else ""


_DEPTH_CHANGES: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NOT_BRACKETS: Final = bytes(set(range(256)) - set(b"[{]}"))
_ALWAYS_SAFE: Final = 15
"""Characters of an integer that is always below 2**53."""
_Number = TypeVar("_Number", bound="int | SpelledFloat")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        msg = "duplicate key"
        raise ValueError(msg)
    return found


def _integer(spelling: str) -> int | SpelledFloat:
    value = _exact(read_integer(spelling))
    # Beyond 2**53, an integer parsed here is exact; one sent as a number may have been rounded.
    return ParsedInteger(value) if len(spelling) > _ALWAYS_SAFE and isinstance(value, int) else value


def _float(spelling: str) -> SpelledFloat:
    return _exact(read_float(spelling))


def _exact(value: _Number | None) -> _Number:
    if value is None:
        msg = "digits would be lost"
        raise ValueError(msg)
    return value


def _no_constant(name: str) -> None:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique_keys,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=_no_constant,
    strict=False,
)


def _decoded(text: str) -> Any:
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):  # recursion: the caller's stack may be nearly full
        return None
    return value if end == len(text) else None


def _too_deep(text: str, max_depth: int) -> bool:
    """Return whether JSON text nests deeper than the limit, in linear time and without recursion."""
    if text.count("[") + text.count("{") <= max_depth:
        return False
    outside = text.replace("\\\\", "").replace('\\"', "").split('"')[::2]
    brackets = "".join(outside).encode("utf-8", "surrogatepass").translate(_DEPTH_CHANGES, _NOT_BRACKETS)
    return max_depth + 1 in accumulate(memoryview(brackets).cast("b"))


_ESCAPE: Final = r"""\\(?:["'\\/bfnrt]|u[0-9a-fA-F]{4})"""
_TOKEN: Final = re.compile(
    rf"""[\s\ufeff]*(?:
        (?P<mark>[\[\]{{}}:,])
      | (?P<string>"[^"\\\n\r]*(?:{_ESCAPE}[^"\\\n\r]*)*" | '[^'\\\n\r]*(?:{_ESCAPE}[^'\\\n\r]*)*')
      | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
      | (?P<key>(?!(?:True|False|None)\b)(?:[^\W\d]|\$)[\w$]*(?=\s*:))
      | (?P<json_word>(?:true|false|null)(?![\w$]))
      | (?P<python_word>(?:True|False|None)(?![\w$]))
      | (?P<paren>[()])
      | (?P<comment>//[^\n\r\u2028\u2029]* | /\*[^*]*\*+(?:[^/*][^*]*\*+)*/)
      | (?P<other>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_DEPTH: Final[Mapping[str, int]] = MappingProxyType({"[": 1, "{": 1, "(": 1, "]": -1, "}": -1, ")": -1})
_CLOSING: Final = frozenset("]})")
_IN_JSON: Final[Mapping[str, str]] = MappingProxyType(
    {"True": "true", "False": "false", "None": "null", "(": "[", ")": "]"}
)
_ONLY_IN: Final[Mapping[str, Dialect]] = MappingProxyType(
    {"key": "json5", "json_word": "json5", "comment": "json5", "python_word": "python", "paren": "python"}
)
_IN_QUOTES: Final = re.compile(r'\\.|"')
_REQUOTED: Final[Mapping[str, str]] = MappingProxyType({"\\'": "'", '"': '\\"'})
# mutant: any negative number is no bound
_UNBOUNDED: Final = -1  # pyjson5 stops at 32 levels by default; the scanner has checked the depth
_SLASH_ESCAPE: Final = re.compile(r"\\\\|\\(?=/)")


def _relaxed(text: str, max_depth: int, dialects: frozenset[Dialect]) -> Parsed | None:
    scanned = _as_json(text, max_depth)
    if scanned is None:
        return None
    as_json, kinds = scanned
    value = _decoded(as_json)
    if not isinstance(value, (list, dict)):
        return None
    only = {_ONLY_IN[kind] for kind in kinds if kind in _ONLY_IN}
    accepted: Dialect | None = None
    for dialect, read in _READERS.items():
        if dialect not in dialects or not only <= {dialect}:
            continue
        reading = read(text)
        if reading is None:
            continue
        # Compared as JSON text, since a tuple equals an array there and a surrogate pair one character.
        if reading != json.dumps(value):
            return None
        # mutant: saves time only, as the grammars differ only in escapes
        if "\\" not in text:
            return Parsed(value, dialect)
        accepted = accepted or dialect
    return accepted and Parsed(value, accepted)


def _as_json(text: str, max_depth: int) -> tuple[str, frozenset[str]] | None:
    """Translate the tokens to JSON; return the text and the kinds of tokens, or None if one has no JSON form.

    A space is put between all tokens, so that the JSON decoder refuses texts such as ``1_000`` and ``b"x"``.
    """
    tokens: list[str] = []
    kinds: set[str] = set()
    depth = 0
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        token = match[kind]
        depth += _DEPTH.get(token, 0)
        if kind == "other" or depth > max_depth:
            return None
        kinds.add(kind)
        if kind == "comment":
            continue
        if token in _CLOSING and tokens and tokens[-1] == ",":
            tokens.pop()
        quote = _QUOTING.get(kind)
        tokens.append(quote(token) if quote else _IN_JSON.get(token, token))
    return " ".join(tokens), frozenset(kinds)


def _requoted(token: str) -> str:
    body = _IN_QUOTES.sub(lambda part: _REQUOTED.get(part[0], part[0]), token[1:-1])
    return f'"{body}"'


_QUOTING: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {"string": _requoted, "key": '"{}"'.format}
)


def _json5_reading(text: str) -> str | None:
    import pyjson5

    try:
        return json.dumps(pyjson5.decode(text, _UNBOUNDED))
    except (pyjson5.Json5DecoderException, RecursionError):
        return None


def _python_reading(text: str) -> str | None:
    # Python warns about `\/`, which is not an escape there: double its backslash.
    spelled_out = _SLASH_ESCAPE.sub(r"\\\\", text)
    try:
        return json.dumps(ast.literal_eval(spelled_out))
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


_READERS: Final[Mapping[Dialect, Callable[[str], str | None]]] = MappingProxyType(
    {"json5": _json5_reading, "python": _python_reading}
)
