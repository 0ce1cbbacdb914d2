"""Text that is an array or an object: JSON, and where JSON fails, JSON5 and Python literals.

Plain JSON is read by the standard library. Anything else is read twice: our own scanner admits only
tokens that mean the same in JSON and rewrites them as JSON, and the grammar's own parser must give the
very same value. Where the two differ, the text has more than one reading and is refused.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from mcp_lenient.values.numbers import ParsedInteger, SpelledFloat, plain, read_float, read_integer

if TYPE_CHECKING:
    from mcp_lenient.values.limits import Limits

__all__ = [
    "Dialect",
    "Parsed",
    "SpelledFloat",
    "TextParseCache",
    "looks_like_json",
    "parse_container",
    "plain",
]

Dialect = Literal["json", "json5", "python"]
"""The grammar that a text is written in."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A container read from text, and the grammar it was written in.

    ``value`` is a list or a dict; every float in it is a :class:`SpelledFloat`.
    """

    value: Any
    dialect: Dialect


_STARTS: Final = frozenset("[{(/")
_ENDS: Final = frozenset("]})")
_MAY_BEGIN: Final = re.compile(r"""[\s\ufeff]*[\[{(/"`]""")
_LAST_LINE: Final = 1000
"""Characters at the end in which a comment may stand after the value."""
_QUOTINGS: Final = 3
_FENCE: Final = "```"
_FENCED: Final = re.compile(r"```(?:[A-Za-z0-9+_-]*[ \t]*[\r\n])?(.*)```", re.DOTALL)
"""Without a line break after it, what follows the marks is no info string but the text itself."""
_LOST: Final = re.compile("[\b\f]")
_MAY_LOSE: Final = re.compile(r"[\b\f]|\\[bf]|\\u000[8cC]")
_JSON_LIKE: Final = re.compile(r"""[\s\ufeff]*(?:[\[{"]|```|[('`][ \t\r\n]*[\[{("'])""")


def parse_container(
    text: str, *, max_text: int, max_relaxed: int, max_depth: int, dialects: frozenset[Dialect]
) -> Parsed | None:
    """The array or object that the whole text spells, or None.

    White space, a byte order mark and one Markdown fence around it are taken off, and up to three layers
    of JSON quoting. JSON is tried first; strings in it may hold raw control characters. Only where it
    fails are JSON5 and Python tried; where both accept and differ, the text is refused.

    Refused in every grammar: a duplicate key, NaN and Infinity, a number that a double would overflow or
    lose a digit of, text that is cut off or goes on after its value, U+0008 or U+000C in a string or key
    (they come from the backslash of a regex or of a Windows path). Never raises.

    Args:
        text: Any string.
        max_text: Characters of the longest text that is read at all.
        max_relaxed: Characters of the longest text that is read as JSON5 or Python.
        max_depth: Levels of arrays and objects.
        dialects: The grammars in force. Plain JSON is not read as JSON5 when ``"json"`` is missing.
    """
    if len(text) > max_text:
        return None
    text = _unquoted(text)
    parsed = _parsed(text, max_relaxed, max_depth, dialects)
    return None if parsed is None or _has_lost_backslashes(text, parsed.value) else parsed


def _parsed(text: str, max_relaxed: int, max_depth: int, dialects: frozenset[Dialect]) -> Parsed | None:
    if text[:1] not in _STARTS or (text[-1:] not in _ENDS and "/" not in text[-_LAST_LINE:]):
        return None
    if not _too_deep(text, max_depth):
        value = _decoded(text)
        if value is not None:
            return Parsed(value, "json") if "json" in dialects else None
    return _relaxed(text, max_depth, dialects) if len(text) <= max_relaxed else None


def _has_lost_backslashes(text: str, value: Any) -> bool:
    r"""Check for U+0008 and U+000C, as which JSON reads the ``\b`` of a regex and the ``\f`` of a Windows path."""
    if _MAY_LOSE.search(text) is None:
        return False
    containers = [value]
    for container in containers:
        entries = container.values() if isinstance(container, dict) else container
        texts = [*container, *entries] if isinstance(container, dict) else entries
        if any(isinstance(entry, str) and _LOST.search(entry) for entry in texts):
            return True
        containers += [entry for entry in entries if isinstance(entry, (dict, list))]  # the list is the queue
    return False


class TextParseCache:
    """The texts of one call, each read once however many places and rules ask.

    Args:
        limits: How long and how deep a text may be.
    """

    __slots__ = ("_limits", "_parsed")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._parsed: dict[tuple[str, frozenset[Dialect]], Parsed | None] = {}

    def parse(self, text: str, dialects: frozenset[Dialect]) -> Parsed | None:
        """What :func:`parse_container` makes of a text."""
        key = (text, dialects)
        if key not in self._parsed:
            self._parsed[key] = parse_container(
                text,
                max_text=self._limits.text,
                max_relaxed=self._limits.relaxed_text,
                max_depth=self._limits.depth,
                dialects=dialects,
            )
        return self._parsed[key]


def may_be_container(text: str) -> bool:
    """Whether the text begins with anything that :func:`parse_container` reads at all; asked of every text."""
    return _MAY_BEGIN.match(text) is not None


def looks_like_json(text: str) -> bool:
    """Whether the text begins like a container, a quoted JSON string or a fence, whole or cut off.

    >>> looks_like_json('[1, 2'), looks_like_json("['a'"), looks_like_json("urgent")
    (True, True, False)
    """
    return _JSON_LIKE.match(text) is not None


def _unquoted(text: str) -> str:
    for _ in range(_QUOTINGS):
        text = _bare(text)
        if text[:1] != '"':
            return text
        text = _decoded(text) or ""
    return _bare(text)


def _bare(text: str) -> str:
    text = text.strip()
    if text[:1] == "\ufeff":
        text = text[1:].lstrip()
    if not text.startswith(_FENCE):
        return text
    fenced = _FENCED.fullmatch(text)
    return fenced[1].strip() if fenced else ""


# --- JSON ---------------------------------------------------------------------------------------------

_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NOT_BRACKETS: Final = bytes(set(range(256)) - set(b"[{]}"))


_ALWAYS_SAFE: Final = 15
"""Characters of an integer that is below 2**53 whatever its digits are."""

_Number = TypeVar("_Number", bound="int | SpelledFloat")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        msg = "duplicate key"
        raise ValueError(msg)
    return found


def _integer(spelling: str) -> int | SpelledFloat:
    value = _kept(read_integer(spelling))
    # Beyond 2**53 an integer that was read here is whole, and one that came as a number may have been rounded.
    return ParsedInteger(value) if len(spelling) > _ALWAYS_SAFE and isinstance(value, int) else value


def _float(spelling: str) -> SpelledFloat:
    return _kept(read_float(spelling))


def _kept(value: _Number | None) -> _Number:
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
    except (ValueError, RecursionError):  # recursion: the caller's own stack may be nearly full
        return None
    return value if end == len(text) else None


def _too_deep(text: str, max_depth: int) -> bool:
    """Whether JSON text nests deeper, told in linear time and before any parser recurses."""
    if text.count("[") + text.count("{") <= max_depth:
        return False
    outside = text.replace("\\\\", "").replace('\\"', "").split('"')[::2]
    brackets = "".join(outside).encode("utf-8", "surrogatepass").translate(_STEPS, _NOT_BRACKETS)
    return max_depth + 1 in accumulate(memoryview(brackets).cast("b"))


# --- JSON5 and Python ---------------------------------------------------------------------------------

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
_UNBOUNDED: Final = -1  # for pyjson5, which by itself stops at 32 levels: the scanner has checked the depth
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
        # Dumped, both are in JSON's own terms: a tuple is an array, a surrogate pair one character.
        if reading != json.dumps(value):
            return None
        if "\\" not in text:  # only in what they make of an escape do the grammars differ
            return Parsed(value, dialect)
        accepted = accepted or dialect
    return accepted and Parsed(value, accepted)


def _as_json(text: str, max_depth: int) -> tuple[str, frozenset[str]] | None:
    """The tokens respelled in JSON, and the kinds of them; None at the first that JSON has no word for.

    A space between all tokens keeps apart what only looks like one (``1_000``, ``b"x"``), so that the
    JSON decoder, which then judges the grammar, refuses it.
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
    # `\/` is no escape in Python: its backslash is spelled out, or the interpreter warns about it.
    spelled_out = _SLASH_ESCAPE.sub(r"\\\\", text)
    try:
        return json.dumps(ast.literal_eval(spelled_out))
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


_READERS: Final[Mapping[Dialect, Callable[[str], str | None]]] = MappingProxyType(
    {"json5": _json5_reading, "python": _python_reading}
)
