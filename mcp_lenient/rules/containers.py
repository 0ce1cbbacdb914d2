"""Rules for arrays and objects: as text, in a wrapper, and between one value and a list of it."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from mcp_lenient.rules.rule import Apply, Site, made
from mcp_lenient.rules.words import enum_folder, says_nothing, split_members, split_numbers
from mcp_lenient.schema.node import Position
from mcp_lenient.values.json_text import Dialect, TextParseCache, looks_like_json, may_be_container
from mcp_lenient.values.names import fold_case

_LETTERS_AND_DIGITS: Final = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd"})
# UAX #31: Persian and the scripts of India write words with them. A variation selector is a mark of emoji.
_JOINERS: Final = frozenset("\u200c\u200d")
_EMOJI_STYLES: Final = frozenset(map(chr, range(0xFE00, 0xFE10)))
_SIGNS: Final = frozenset("-_.@/:#'*?=%~$")
# RFC 3986, but for `,` and `;`, which also part URIs, and for brackets.
_URI_SIGNS: Final = frozenset("-._~:/?#@!$&'()*+=%")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?=.)(?!.*://)")
# A `+` that has something on one side alone (C++, 18+, +47), in a time's offset (RFC 3339) or a mailbox (RFC
# 5322); a `&` beside a single capital (R&D, AT&T).
_JOINED: Final = re.compile(
    r"[^+]+\+{1,2}"
    r"|\+[0-9]+"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+\+[0-9]{2}:?[0-9]{2}"
    r"|[^\W_][\w.-]*\+[\w.-]+@[\w.-]+"
    r"|[A-Z]&[A-Z]{1,2}|[A-Z]{2}&[A-Z]"
)
_OPENS_EACH: Final = frozenset("#@$")
_QUOTE: Final = re.compile(r"(?<![^\W_])'|'(?![^\W_])")
_PATHS: Final = re.compile(r"/.*:/", re.DOTALL)
_PARTING: Final = re.compile(r"[,;|\n+&/]")
_LONGEST: Final = 2**16
"""Characters of the longest text in which known items are looked for."""
# Scripts that put no spaces between words, so that a space parts more than words: Han and Kana, and what UAX
# #14 calls complex context (Thai, Lao, Myanmar, Khmer, New Tai Lue, Tai Le, Tai Tham).
_WITHOUT_SPACES: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)


def one_item(members: Sequence[str], examples: Sequence[str]) -> Callable[[str], bool]:
    """Compile the enum values and the examples of the items to the check that a text is surely one item.

    It is one where it is one of them, unless its parts are too; or an enum value in another spelling; or one
    absolute URI; or a single symbol, such as an emoji; or has no space, and only letters, digits and
    ``-_.@/:#'*?=%~$``; or is words of letters and digits with single spaces between. A text with a part that is
    itself one of the known items may be several.
    """
    items = frozenset({*members, *examples})
    fold = enum_folder(members)
    parts: dict[str, list[str]] = defaultdict(list)
    for item in items:
        words = _words(item)
        if words:
            parts[words[0]].append(f" {' '.join(words)} ")

    def check(text: str) -> bool:
        if text in items:
            return not is_a_list(text)
        whole = fold(text) or _is_uri(text) or _is_token(text) or _is_words(text) or _is_symbol(text)
        return bool(whole) and not has_known_part(text)

    def is_a_list(text: str) -> bool:
        listings = ([part.strip() for part in split(text)] for split in (_PARTING.split, str.split))
        return any(len(parts) > 1 and items.issuperset(parts) for parts in listings)

    def has_known_part(text: str) -> bool:
        if not parts:
            return False
        words = _words(text)
        padded = f" {' '.join(words)} "
        begun = (part for word in set(words) for part in parts.get(word, ()))
        return len(text) > _LONGEST or any(part in padded and part != padded for part in begun)

    return check


def _words(text: str) -> list[str]:
    return _PARTING.sub(" ", fold_case(text)).split()


def _is_letter_or_digit(character: str) -> bool:
    return character in _JOINERS or (
        unicodedata.category(character) in _LETTERS_AND_DIGITS and character not in _EMOJI_STYLES
    )


def _only(text: str, signs: frozenset[str]) -> bool:
    return all(character in signs or _is_letter_or_digit(character) for character in set(text))


def _is_uri(text: str) -> bool:
    return _SCHEME.match(text) is not None and _only(text, _URI_SIGNS)


def _is_token(text: str) -> bool:
    several = (text[:1] in _OPENS_EACH and text[0] in text[1:]) or _QUOTE.search(text) or _PATHS.match(text)
    joined = _JOINED.fullmatch(text)
    return not several and _only(text, _SIGNS | frozenset("+&") if joined else _SIGNS)


def _is_symbol(text: str) -> bool:
    return len(text) == 1 and unicodedata.category(text) == "So"


def _is_words(text: str) -> bool:
    words = text.split(" ")
    return (
        all(words) and _only(text, frozenset(" ")) and not (len(words) > 1 and _WITHOUT_SPACES.search(text))
    )


_Values = tuple[Any, ...]
_WRAPPER_KEYS = frozenset({"item", "items"})
_SCALAR_TYPES = frozenset({"string", "number", "integer", "boolean"})


def item_wrapper_to_array(site: Site) -> Apply | None:
    """``{"item": [..]}`` to ``[..]``, ``[{"item": 1}]`` to ``[1]``."""
    if not site.shape.is_only("array"):
        return None
    declared = item_names(site)

    def apply(value: dict[str, Any] | list[Any]) -> _Values:
        if isinstance(value, dict):
            inner = () if value.keys() & declared else _inner(value)
            return inner if inner and isinstance(inner[0], list) else ()
        inners = [
            _inner(entry) if isinstance(entry, dict) and not entry.keys() & declared else ()
            for entry in value
        ]
        return ([inner[0] for inner in inners],) if inners and all(inners) else ()

    return apply


def item_names(site: Site) -> frozenset[str]:
    """Return the names that the items of a list declare: an object with one of them is an item, not a wrapper."""
    item = site.shape_at(site.shape.items)
    shapes = [item, *map(site.shape_at, item.branches)]
    return frozenset(name for shape in shapes for name in shape.properties)


def _inner(entry: dict[str, Any]) -> _Values:
    """What stands in a wrapper of a single well-known key."""
    return tuple(entry.values()) if len(entry) == 1 and next(iter(entry)) in _WRAPPER_KEYS else ()


def array_to_scalar(site: Site) -> Apply | None:
    """``[5]`` to 5."""
    shape = site.shape
    if not shape.types or not shape.types <= _SCALAR_TYPES or shape.format == "json":
        return None

    def apply(value: list[Any]) -> _Values:
        return (value[0],) if len(value) == 1 and not isinstance(value[0], list) else ()

    return apply


def scalar_to_array(site: Site) -> Apply | None:
    """``"a"`` to ``["a"]``; a text only if it is surely one item."""
    if not site.shape.is_only("array") or Position.ITEM in site.place:
        return None
    item = site.shape_at(site.shape.items)
    shapes = [item, *map(site.shape_at, item.branches)]
    members = _texts(value for shape in shapes for value in shape.enum or ())
    examples = [value for shape in shapes for value in shape.examples]
    examples += [value for example in site.shape.examples if isinstance(example, list) for value in example]
    is_one = one_item(members, _texts(examples))

    def apply(value: Any) -> _Values:
        if isinstance(value, str) and (says_nothing(value) or looks_like_json(value) or not is_one(value)):
            return ()
        return ([value],)

    return apply


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))


def object_to_array(site: Site) -> Apply | None:
    """``{..}`` to ``[{..}]``, where the items declare every key that came."""
    if not site.shape.is_only("array") or Position.ITEM in site.place:
        return None
    item = site.shape_at(site.shape.items)
    shapes = [item, *map(site.shape_at, item.branches)]

    def apply(value: dict[str, Any]) -> _Values:
        return (
            ([value],) if value and any(value.keys() <= shape.properties.keys() for shape in shapes) else ()
        )

    return apply


def delimited_text_to_array(site: Site) -> Apply | None:
    """``"1,2,3"`` to ``[1, 2, 3]``, and texts whose parts are enum members throughout."""
    if not site.shape.is_only("array"):
        return None
    item = site.shape_at(site.shape.items)
    members = item.enum
    if members is None:
        numbers = item.types and item.types <= {"integer", "number"}
        integers = "integer" in (item.types or ())
        return (lambda text: made(split_numbers(text, integers=integers))) if numbers else None
    texts = all(isinstance(member, str) for member in members)
    return (lambda text: made(split_members(text, members))) if texts else None


_SCALARS = frozenset({str, int, float, bool})
_TYPE_NAMES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "str": (str,),
    "number": (int, float),
    "float": (int, float),
    "integer": (int,),
    "int": (int,),
    "boolean": (bool,),
    "bool": (bool,),
    "array": (list,),
    "list": (list,),
    "object": (dict,),
    "dict": (dict,),
    "null": (type(None),),
}


def text_to_array(dialect: Dialect) -> Callable[[Site], Apply | None]:
    """``'["a"]'`` to ``["a"]``, in one dialect of JSON."""
    return _text_to("array", list, dialect)


def text_to_object(dialect: Dialect) -> Callable[[Site], Apply | None]:
    """``'{"a": 1}'`` to ``{"a": 1}``, in one dialect of JSON."""
    return _text_to("object", dict, dialect)


def _text_to(json_type: str, python_type: type, dialect: Dialect) -> Callable[[Site], Apply | None]:
    def build(site: Site) -> Apply | None:
        if not site.shape.is_only(json_type):
            return None
        dialects: frozenset[Dialect] = (
            frozenset({"json"}) if dialect == "json" else _in_force(site, json_type)
        )

        def apply(text: str, texts: TextParseCache) -> _Values:
            # mutant: saves time only
            if not may_be_container(text):
                return ()
            parsed = texts.parse(text, dialects)
            if parsed is None or parsed.dialect != dialect or not isinstance(parsed.value, python_type):
                return ()
            return (parsed.value,)

        return apply

    return build


def _in_force(site: Site, json_type: str) -> frozenset[Dialect]:
    """Every relaxed dialect in force, so that a text which two of them read differently is refused by both."""
    dialects: tuple[Dialect, ...] = ("json5", "python")
    return frozenset(each for each in dialects if site.policy.allows(f"{each}_text_to_{json_type}"))


def wrapped_value(site: Site) -> Apply | None:
    """``{"type": "float", "value": 2}`` and ``{"value": 2}`` to 2, and ``{"p": {"p": X}}`` to ``{"p": X}``."""
    name = site.name
    if site.shape.format == "json":
        return None
    if site.shape.is_only("array") and site.shape.items in (None, True, {}) and not site.shape.prefix:
        return None  # any object is an item
    declared = item_names(site)

    def apply(value: dict[str, Any]) -> _Values:
        if value.keys() & declared:
            return ()
        if len(value) == 1 and (name in value or type(value.get("value")) in _SCALARS):
            return tuple(value.values())
        if len(value) == 2 and "type" in value and "value" in value:
            kinds = _TYPE_NAMES.get(value["type"]) if isinstance(value["type"], str) else None
            if kinds is not None and type(value["value"]) in kinds:
                return (value["value"],)
        return ()

    return apply
