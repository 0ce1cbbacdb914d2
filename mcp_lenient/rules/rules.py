"""The rules: each is a function that looks at a node of the schema once and returns a function to run per value."""

from __future__ import annotations

import enum
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from mcp_lenient.rules.units import named_units_differ, units_differ
from mcp_lenient.rules.words import (
    boolean_in_text,
    enum_folder,
    is_null_text,
    json_boolean_in_text,
    says_nothing,
    split_members,
    split_numbers,
)
from mcp_lenient.schema.node import Position
from mcp_lenient.schema.shape import Shape
from mcp_lenient.values.json_values import (
    JSON,
    Dialect,
    TextParseCache,
    exact_number_in_text,
    integer_in_text,
    looks_like_json,
    number_as_text,
    parse_container,
    whole_float,
)
from mcp_lenient.values.names import (
    by_singular,
    case_target,
    fold_case,
    fold_name,
    folded_names,
    plural_target,
    tool_target,
    words_of,
)

if TYPE_CHECKING:
    from mcp_lenient.values.limits import Limits


Tier = Literal[1, 2, 4, 8, 16]
Kind = Literal["value", "property", "name", "drop", "arguments", "tool"]
Apply = Callable[..., Any]
TIERS: Final[tuple[Tier, ...]] = (1, 2, 4, 8, 16)
_BITS_PER_TIER: Final = 32


class Absent(enum.Enum):
    """The type of ``ABSENT``, which replaces the value of a property to omit."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class SitePolicy(Protocol):
    """The part of :class:`mcp_lenient.Policy` that rules use."""

    @property
    def limits(self) -> Limits:
        """Bounds on size, depth and parsed text."""
        ...

    @property
    def aliases(self) -> Mapping[str, tuple[str, ...]]:
        """Other names of top-level parameters."""
        ...

    @property
    def drop(self) -> frozenset[str]:
        """Additional top-level keys to drop where the schema forbids them."""
        ...

    def allows(self, rule: str) -> bool:
        """Return whether a rule is in force."""
        ...


@dataclass(frozen=True, slots=True)
class Site:
    """One node of a schema, as passed to a rule's factory.

    ``takes`` returns whether the schema here accepts a value unchanged, ``shape_at`` reads a sub-schema found in
    ``shape``; ``tool`` is the tool's name, if known.
    """

    shape: Shape
    place: Position
    policy: SitePolicy
    destructive: bool
    name: str | None
    takes: Callable[[Any], bool]
    shape_at: Callable[[Any], Shape]
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the table.

    ``build(site)`` returns the function to run per value, or None if the rule does not apply:

    - ``kind="value"``: ``apply(value) -> tuple of values`` to be read instead;
    - ``kind="property"``: ``apply(value) -> bool``: the property may be left out;
    - ``kind="name"``: ``apply(sent, absent, value) -> str | None``: the declared name that was meant;
    - ``kind="drop"``: ``apply(unknown, sent) -> frozenset`` of the keys to leave out;
    - ``kind="arguments"``: ``apply(arguments) -> tuple of arguments`` to be read instead;
    - ``kind="tool"``: ``apply(sent, listed, servers) -> ToolName | None``: the tool that was meant; no place of a schema asks it.

    Args:
        name: The conversion, such as ``text_to_integer``; the code in records.
        tier: 1, 2, 4, 8 or 16; lower is closer to the sent value.
        build: The factory, called once per node of a schema.
        on: Python types of the values it accepts.
        kind: See above.
        across: Whether it may win across union branches of different JSON types.
        again: Whether one more value rule may be applied to its result.
        reads_text: Whether ``apply`` also takes the call's
            :class:`mcp_lenient.values.json_values.TextParseCache`, which parses each text once.
        keeps_value: Whether the result keeps the sent value; other rules are off in destructive tools.

    Attributes:
        cost: A number that orders candidates: by worst tier first, then by the number of rules of each tier.
    """

    name: str
    tier: Tier
    build: Callable[[Site], Apply | None]
    on: Sequence[type] = ()
    kind: Kind = "value"
    across: bool = False
    again: bool = False
    reads_text: bool = False
    keeps_value: bool = True
    cost: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", 1 << (_BITS_PER_TIER * TIERS.index(self.tier)))


def made(value: Any) -> tuple[Any, ...]:
    """Return one value or None as the tuple that a rule returns."""
    return () if value is None else (value,)


def worst_tier(cost: int) -> int:
    """Return the worst tier within a cost; 0 for an unchanged value."""
    return TIERS[(cost.bit_length() - 1) // _BITS_PER_TIER] if cost else 0


Names = Mapping[str, Any]

_LETTERS_AND_DIGITS: Final = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd"})
# UAX #31: words in Persian and Indic scripts contain joiners. Variation selectors are for emoji.
_JOINERS: Final = frozenset("\u200c\u200d")
_EMOJI_STYLES: Final = frozenset(map(chr, range(0xFE00, 0xFE10)))
_SIGNS: Final = frozenset("-_.@/:#'*?=%~$")
# RFC 3986 without brackets, and without `,` and `;`, which also separate URIs.
_URI_SIGNS: Final = frozenset("-._~:/?#@!$&'()*+=%")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?=.)(?!.*://)")
# A `+` at one end (C++, 18+, +47), in a time's offset (RFC 3339) or a mailbox (RFC 5322); a `&` beside a single
# capital (R&D, AT&T).
_JOINED: Final = re.compile(
    r"[^+]+\+{1,2}"
    r"|\+[0-9]+"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+\+[0-9]{2}:?[0-9]{2}"
    r"|[^\W_][\w.-]*\+[\w.-]+@[\w.-]+"
    r"|[A-Z]&[A-Z]{1,2}|[A-Z]{2}&[A-Z]"
)
_ITEM_MARKS: Final = frozenset("#@$")
_HASHES: Final = re.compile(r"#+")
_QUOTE: Final = re.compile(r"(?<![^\W_])'|'(?![^\W_])")
# A colon separates paths, settings and globs in one text. It is part of a time, a port, a tag, a key and its value.
_ANCHOR: Final = r"(?:\.{0,2}|~)/"
_LISTED: Final = re.compile(
    rf"{_ANCHOR}.*:{_ANCHOR}"  # /a:/b, ./a:../b
    r"|[^:=]+=[^:=]+:[^:=]+=."  # a=1:b=2
    r"|\*\.[^:]+:\*\.",  # *.py:*.js
    re.DOTALL,
)
_SEPARATOR: Final = re.compile(r"[,;|\n+&/]")
_MAX_SEARCHED: Final = 2**16
"""Characters of the longest text that is searched for known items."""
# Scripts without spaces between words, so that a space separates phrases: Han and Kana, and the complex context of
# UAX #14 (Thai, Lao, Myanmar, Khmer, New Tai Lue, Tai Le, Tai Tham).
_WITHOUT_SPACES: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)


def one_item(members: Sequence[str], examples: Sequence[str]) -> Callable[[str], bool]:
    """Compile the enum values and examples of a list's items to a check that a text is certainly one item.

    It is one item if it is a known item whose parts are not all known items; an enum value in another spelling; one
    absolute URI; a single symbol such as an emoji; without spaces, only letters, digits and ``-_.@/:#'*?=%~$``; or
    words of letters and digits with single spaces between. A text that contains a known item may be several.
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
        listings = ([part.strip() for part in split(text)] for split in (_SEPARATOR.split, str.split))
        return any(len(parts) > 1 and items.issuperset(parts) for parts in listings)

    def has_known_part(text: str) -> bool:
        if not parts:
            return False
        words = _words(text)
        padded = f" {' '.join(words)} "
        begun = (part for word in set(words) for part in parts.get(word, ()))
        return len(text) > _MAX_SEARCHED or any(part in padded and part != padded for part in begun)

    return check


def _words(text: str) -> list[str]:
    return _SEPARATOR.sub(" ", fold_case(text)).split()


def _is_letter_or_digit(character: str) -> bool:
    return character in _JOINERS or (
        unicodedata.category(character) in _LETTERS_AND_DIGITS and character not in _EMOJI_STYLES
    )


_ASCII: Final = frozenset(ascii_letters + digits)


def _only(text: str, signs: frozenset[str]) -> bool:
    return all(map(_is_letter_or_digit, set(text) - signs - _ASCII))


def _is_uri(text: str) -> bool:
    return _SCHEME.match(text) is not None and _only(text, _URI_SIGNS)


def _is_token(text: str) -> bool:
    # One mailbox, one address and one tag have their sign once; `C##` is one note.
    repeated = text.count("@") > 1 or text.count("://") > 1 or len(_HASHES.findall(text)) > 1
    marked = text[:1] in _ITEM_MARKS and text[0] in text[1:]
    several = repeated or marked or _QUOTE.search(text) or _LISTED.match(text)
    joined = _JOINED.fullmatch(text)
    return not several and _only(text, _SIGNS | frozenset("+&") if joined else _SIGNS)


def _is_symbol(text: str) -> bool:
    return len(text) == 1 and unicodedata.category(text) == "So"


def _is_words(text: str) -> bool:
    words = text.split(" ")
    if not all(words) or not _only(text, frozenset(" ")):
        return False
    return len(words) == 1 or not (_WITHOUT_SPACES.search(text) or all(map(str.isdecimal, words)))


_Values = tuple[Any, ...]
_JSON_TEXT: Final = "json"
"""The format of a text that holds JSON: a value sent in its place may be meant as it is."""
_WRAPPER_KEYS = frozenset({"item", "items"})
_SCALAR_TYPES = frozenset({"string", "number", "integer", "boolean"})


def item_wrapper_to_array(site: Site) -> Apply | None:
    """``{"item": [..]}`` to ``[..]``, ``{"item": 1}`` to ``[1]``, ``[{"item": 1}]`` to ``[1]``."""
    if not site.shape.is_only("array"):
        return None
    declared, is_free = item_names(site), _has_free_items(site)

    def apply(value: dict[str, Any] | list[Any]) -> _Values:
        if isinstance(value, dict):
            is_item = value.keys() & declared or (is_free and site.takes([value]))
            inner = () if is_item else _unwrapped_value(value)
            # A text under `items` may be several items, as it may be without the wrapper.
            is_one = _is_one_item(site) if "items" in value else _is_item
            return tuple(each if isinstance(each, list) else [each] for each in inner if is_one(each))
        inners = [
            _unwrapped_value(entry) if isinstance(entry, dict) and not entry.keys() & declared else ()
            for entry in value
        ]
        return ([inner[0] for inner in inners],) if inners and all(inners) else ()

    return apply


def _shapes(site: Site, shape: Shape) -> list[Shape]:
    return [shape, *map(site.shape_at, shape.branches)]


def _item_shapes(site: Site) -> list[Shape]:
    return _shapes(site, site.shape_at(site.shape.items))


def item_names(site: Site) -> frozenset[str]:
    """Return the property names of a list's items: an object with one of them is an item, not a wrapper."""
    return frozenset(name for shape in _item_shapes(site) for name in shape.properties)


def _has_free_items(site: Site) -> bool:
    """Return whether an object with any names may be an item of a list."""
    shapes = _item_shapes(site)
    return any(not shape.properties and (shape.types is None or "object" in shape.types) for shape in shapes)


def _unwrapped_value(entry: dict[str, Any]) -> _Values:
    """Return the content of a wrapper with a single well-known key."""
    return tuple(entry.values()) if len(entry) == 1 and next(iter(entry)) in _WRAPPER_KEYS else ()


def _is_item(entry: Any) -> bool:
    """Return whether wrapped content is an item: not an empty text or the text of a list."""
    return entry is not None and not (
        isinstance(entry, str) and (says_nothing(entry) or looks_like_json(entry))
    )


def _is_one_item(site: Site) -> Callable[[Any], bool]:
    """Return a check that a value is certainly one item of a list, and not several in one text."""
    shapes = _item_shapes(site)
    members = _texts(value for shape in shapes for value in shape.enum or ())
    examples = [value for shape in shapes for value in shape.examples]
    examples += [value for example in site.shape.examples if isinstance(example, list) for value in example]
    is_one = one_item(members, _texts(examples))
    return lambda value: _is_item(value) and (not isinstance(value, str) or is_one(value))


def array_to_scalar(site: Site) -> Apply | None:
    """``[5]`` to 5."""
    shape = site.shape
    if not shape.types or not shape.types <= _SCALAR_TYPES or shape.format == _JSON_TEXT:
        return None

    def apply(value: list[Any]) -> _Values:
        return (value[0],) if len(value) == 1 and not isinstance(value[0], list) else ()

    return apply


def scalar_to_array(site: Site) -> Apply | None:
    """``"a"`` to ``["a"]``; a text only if it is certainly one item."""
    if not site.shape.is_only("array") or Position.ITEM in site.place:
        return None
    is_one = _is_one_item(site)
    return lambda value: ([value],) if is_one(value) else ()


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))


def object_to_array(site: Site) -> Apply | None:
    """``{..}`` to ``[{..}]``, also as JSON text, if the items declare every sent key."""
    if not site.shape.is_only("array") or Position.ITEM in site.place:
        return None
    shapes = _item_shapes(site)
    reads_json = site.policy.allows("json_text_to_object")

    def apply(value: dict[str, Any] | str, texts: TextParseCache) -> _Values:
        entry = value if isinstance(value, dict) else _object_in(value, texts) if reads_json else None
        is_one = entry and any(entry.keys() <= shape.properties.keys() for shape in shapes)
        return ([entry],) if is_one else ()

    return apply


def _object_in(text: str, texts: TextParseCache) -> dict[str, Any] | None:
    parsed = texts.parse(text, JSON)
    return parsed.value if parsed is not None and isinstance(parsed.value, dict) else None


def delimited_text_to_array(site: Site) -> Apply | None:
    """``"1,2,3"`` to ``[1, 2, 3]``, and texts whose parts are all enum members."""
    if not site.shape.is_only("array"):
        return None
    item = site.shape_at(site.shape.items)
    members = item.enum
    if site.shape.prefix or members is None:
        kinds = [shape.types or _NO_TYPES for shape in _entry_shapes(site, item)]
        numbers = all(types and types <= _NUMBER_TYPES for types in kinds)
        integers = all("integer" in types for types in kinds)
        return (lambda text: made(split_numbers(text, integers=integers))) if numbers else None
    texts = all(isinstance(member, str) for member in members)
    return (lambda text: made(split_members(text, members))) if texts else None


def _entry_shapes(site: Site, item: Shape) -> list[Shape]:
    """Return the shapes of the entries of a list: those by position, and that of all others if it may have them."""
    first = [site.shape_at(schema) for schema in site.shape.prefix]
    return first if first and site.shape.items in (None, False) else [*first, item]


_NO_TYPES: Final[frozenset[str]] = frozenset()
_NUMBER_TYPES: Final = frozenset({"integer", "number"})
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
    """``'["a"]'`` to ``["a"]``, in one dialect."""
    return _text_to("array", list, dialect)


def text_to_object(dialect: Dialect) -> Callable[[Site], Apply | None]:
    """``'{"a": 1}'`` to ``{"a": 1}``, in one dialect."""
    return _text_to("object", dict, dialect)


def _text_to(json_type: str, python_type: type, dialect: Dialect) -> Callable[[Site], Apply | None]:
    def build(site: Site) -> Apply | None:
        if not site.shape.is_only(json_type):
            return None
        dialects = JSON if dialect == "json" else _in_force(site, json_type)

        def apply(text: str, texts: TextParseCache) -> _Values:
            parsed = texts.parse(text, dialects)
            if parsed is None or parsed.dialect != dialect or not isinstance(parsed.value, python_type):
                return ()
            return (parsed.value,)

        return apply

    return build


def _in_force(site: Site, json_type: str) -> frozenset[Dialect]:
    """Return every relaxed dialect in force, so that a text that two of them parse differently is refused by both."""
    dialects: tuple[Dialect, ...] = ("json5", "python")
    return frozenset(each for each in dialects if site.policy.allows(f"{each}_text_to_{json_type}"))


def wrapped_value(site: Site) -> Apply | None:
    """``{"type": "float", "value": 2}`` and ``{"value": 2}`` to 2, and ``{"p": {"p": X}}`` to ``{"p": X}``."""
    name = site.name
    if any(shape.format == _JSON_TEXT for shape in _shapes(site, site.shape)):
        return None
    is_list = site.shape.is_only("array")
    if is_list and site.shape.items in (None, True, {}) and not site.shape.prefix:
        return None  # any object is an item
    declared, is_free = item_names(site), is_list and _has_free_items(site)

    def apply(value: dict[str, Any]) -> _Values:
        if value.keys() & declared:
            return ()
        if len(value) == 1 and name is not None and name in value:
            return tuple(value.values())
        if is_free and site.takes([value]):
            return ()
        if len(value) == 1 and type(value.get("value")) in _SCALARS:
            return tuple(value.values())
        if len(value) == 2 and "type" in value and "value" in value:
            kinds = _TYPE_NAMES.get(value["type"]) if isinstance(value["type"], str) else None
            if kinds is not None and type(value["value"]) in kinds:
                return (value["value"],)
        return ()

    return apply


def to_scalar(json_type: str, convert: Callable[[Any], Any]) -> Callable[[Site], Apply | None]:
    """A value converted, where only one scalar type is allowed; ``convert`` returns None for a value that is not it."""

    def build(site: Site) -> Apply | None:
        is_meant = site.shape.is_only(json_type) or (json_type == "boolean" and _is_boolean_enum(site.shape))
        return (lambda value: made(convert(value))) if is_meant else None

    return build


def _is_boolean_enum(shape: Shape) -> bool:
    """Return whether a schema without ``type`` allows just true and false."""
    members = shape.enum or ()
    return shape.types is None and all(isinstance(each, bool) for each in members) and len(set(members)) > 1


def text_to_boolean(site: Site) -> Apply | None:
    """``"true"``, ``"yes"``, ``"on"``, ``"1"`` to true; in unions only ``"true"`` and ``"false"``."""
    read = json_boolean_in_text if Position.UNION in site.place else boolean_in_text
    return to_scalar("boolean", read)(site)


def _as_boolean(value: int) -> bool | None:
    return bool(value) if value in (0, 1) else None


def number_to_text(site: Site) -> Apply | None:
    """42 to ``"42"``; not with a format, a single allowed value or in a mixed list."""
    members = site.shape.enum or ()
    is_text = site.shape.is_only("string") or (members and all(isinstance(member, str) for member in members))
    if not is_text or site.shape.format or len(members) == 1 or Position.MIXED in site.place:
        return None

    return lambda value: made(number_as_text(value))


def fold_enum(site: Site) -> Apply | None:
    """``"FAST"`` to ``"fast"``, the only enum value that differs in spelling alone."""
    values = site.shape.enum or ()
    words = {value for value in values if not isinstance(value, (list, dict)) and value not in (None, "")}
    return enum_folder(values) if len(words) > 1 else None


_NONE_TEXT = "none"
_NONE_WORDS = frozenset({"none", "null", "unset"})


def null_text_to_null(site: Site) -> Apply | None:
    """``"null"`` to null, where null is allowed and a string is not."""
    if not site.shape.is_only("null") or Position.TEXT in site.place:
        return None

    def apply(text: str) -> tuple[None, ...]:
        return (None,) if is_null_text(text) or text == _NONE_TEXT else ()

    return apply


def null_text_to_absent(site: Site) -> Apply | None:
    """``"null"`` omitted, for an optional property that accepts neither null nor strings."""
    kinds = _kinds(site)
    takes_strings = not kinds or "string" in kinds
    return None if site.takes(None) or takes_strings or _has_none_member(site) else is_null_text


def null_to_absent(site: Site) -> Apply | None:
    """Null omitted, for an optional property that forbids it."""
    if _has_none_member(site) or None in _members(site):
        return None

    return lambda _null: True


def empty_text_to_absent(site: Site) -> Apply | None:
    """``""`` omitted, for an optional property that forbids it."""
    has_default = any(value is not None for value in site.shape.default)
    if "array" in _kinds(site) or (_members(site) and has_default) or _forbids_empty_text(site):
        return None

    return lambda text: not text


def _kinds(site: Site) -> frozenset[str]:
    return frozenset().union(*(shape.types or () for shape in _shapes(site, site.shape)))


def _members(site: Site) -> tuple[object, ...]:
    return tuple(member for shape in _shapes(site, site.shape) for member in shape.enum or ())


def _forbids_empty_text(site: Site) -> bool:
    """Return whether the author forbids the empty text, so that omitting it would widen the call.

    A format or an enum has no empty text anyway; any other string refuses it by the author's own guard.
    """
    return any(shape.has_min_length or _is_free_text(shape) for shape in _shapes(site, site.shape))


def _is_free_text(shape: Shape) -> bool:
    return "string" in (shape.types or ()) and shape.enum is None and not shape.format and not shape.branches


def _has_none_member(site: Site) -> bool:
    """Return whether a word for an absent value is allowed, here or as an item of a list."""
    items = (site.shape_at(shape.items).enum or () for shape in _shapes(site, site.shape))
    members = (*_members(site), *(member for enum in items for member in enum))
    return any(
        isinstance(member, str) and (says_nothing(member) or member.casefold() in _NONE_WORDS)
        for member in members
    )


_CALL_ID: Final = "toolCallId"
SOURCES: Final[Mapping[str, str]] = {
    _CALL_ID: "n8n, MCP Client Tool node: github.com/n8n-io/n8n/issues/21500",
    "wait_for_previous": "Gemini CLI, tool scheduling: github.com/google-gemini/gemini-cli",
    "waitForPreviousTools": "Windsurf and Antigravity, tool scheduling: their published tool schemas",
    "task_progress": "Cline, focus chain: github.com/cline/cline",
    "_meta": "MCP, reserved for request metadata: modelcontextprotocol.io/specification/2025-11-25/basic#_meta",
}
"""Every dropped key, with the client that adds it."""
BESIDE_CALL_ID: Final = frozenset({"action", "sessionId", "chatInput"})
"""Keys of n8n's chat trigger, which its MCP Client Tool sends beside ``toolCallId``."""


def injected_keys(
    unknown: Collection[Any],
    declared: Collection[str],
    also: Collection[str] = (),
    *,
    destructive: bool = False,
) -> frozenset[str]:
    """Return the undeclared keys that known clients add to the arguments, or that the operator lists (``also``).

    A key that folds to a declared name (``declared`` has them folded) is kept, since it may be that parameter.
    """
    known = {_CALL_ID, *(BESIDE_CALL_ID if _CALL_ID in unknown else ())}
    if not destructive:
        known |= {key for key in SOURCES if fold_name(key.lstrip("_")) not in declared}
        known.update(also)
    return frozenset(key for key in unknown if key in known)


def rename_case(site: Site) -> Apply:
    """``maxResults`` to ``max_results``, the only declared name that differs in case style alone."""
    folded = folded_names(site.shape.properties)

    def apply(sent: str, absent: Collection[str], _value: Any) -> str | None:
        name = case_target(sent, folded)
        if name is None or name not in absent or _has_other_units(sent, name):
            return None
        return None if site.destructive and words_of(sent) != words_of(name) else name

    return apply


def _has_other_units(sent: str, name: str) -> bool:
    # A name of one letter is that of a variable: `R`, `G` and `B`.
    as_written = len(name) > 1 and fold_case(sent) == fold_case(name) and units_differ(sent, name)
    return as_written or named_units_differ(sent, name)


def rename_alias(site: Site) -> Apply | None:
    """An alias that the author or operator declared, to the parameter's name."""
    if Position.TOP not in site.place:
        return None
    owners = {other: name for name, others in site.policy.aliases.items() for other in others}

    def apply(sent: str, absent: Collection[str], _value: Any) -> str | None:
        name = owners.get(sent)
        return name if name in absent else None

    return apply


def rename_tool(_site: Site) -> Apply:
    """``storeContext`` to ``store_context``: the one tool whose name differs by case, separators or prefix alone."""
    return tool_target


def rename_plural(site: Site) -> Apply:
    """``tag`` to ``tags``, if that is an absent list."""
    shape = site.shape
    lists = (
        name
        for name, sub in shape.properties.items()
        if any(each.is_only("array") for each in _shapes(site, site.shape_at(sub)))
    )
    plurals = by_singular(lists, shape.properties)

    def apply(sent: str, absent: Collection[str], _value: Any) -> str | None:
        name = plural_target(sent, plurals)
        return name if name in absent else None

    return apply


def drop_injected(site: Site) -> Apply | None:
    """Keys that known clients add dropped, at the top level of a closed schema."""
    if Position.TOP not in site.place or not site.shape.closed:
        return None
    declared = folded_names(site.shape.properties)
    also = site.policy.drop

    def apply(unknown: Collection[str]) -> frozenset[str]:
        return injected_keys(unknown, declared, also, destructive=site.destructive)

    return apply


_Arguments = tuple[dict[str, Any], ...]
WRAPPERS = frozenset(
    "args input params arguments parameters kwargs properties raw_arguments tool_input".split()
)
"""Names that callers wrap the whole arguments in."""
_CALL_KEYS = frozenset({"name", "arguments"})
_MAX_SHAPES: Final = 64
"""Branches looked at for an object: unions can hold one another endlessly."""


def unwrap_arguments(site: Site) -> Apply | None:
    """``{"args": {..}}`` to ``{..}``, also as JSON text, and ``params`` to a required ``arguments``.

    Also unwraps the call as its own arguments (``{"name": "this_tool", "arguments": {..}}``), all arguments
    inside the first parameter (``{"name": {"name": .., "age": ..}}``), and for a tool without parameters ``{"": {}}``.
    """
    declared = frozenset(site.shape.properties)
    objects = frozenset(
        name
        for name in WRAPPERS & site.shape.required
        if site.shape_at(site.shape.properties.get(name)).is_only("object")
    )
    scalars = frozenset(name for name in declared if not _may_be_object(site, name))
    limits = site.policy.limits

    def apply(arguments: dict[str, Any]) -> _Arguments:
        own = _own_call(arguments, declared, site.tool, limits)
        readings = [_inside_first_parameter(arguments, declared, scalars)]
        if not arguments.keys() <= declared:
            readings += [
                _renamed(arguments, declared, objects, limits),
                _unwrapped(arguments, declared, limits),
            ]
        if not declared and _is_nothing(arguments):
            return ({},)
        return (*(() if own is None else (own,)), *filter(None, readings))

    return apply


def _is_nothing(arguments: dict[str, Any]) -> bool:
    """Return whether the arguments are a name without a character, with nothing in it."""
    return arguments.keys() == {""} and (arguments[""] in ("", None) or arguments[""] in ({}, []))


def _may_be_object(site: Site, name: str) -> bool:
    waiting = [site.shape_at(site.shape.properties[name])]
    for shape in waiting:
        if shape.branches and len(waiting) < _MAX_SHAPES:
            waiting += map(site.shape_at, shape.branches)
        elif shape.enum is not None:
            if any(isinstance(value, dict) for value in shape.enum):
                return True
        elif shape.types is None or "object" in shape.types or shape.format == _JSON_TEXT:
            return True
    return False


def _own_call(
    arguments: dict[str, Any], declared: frozenset[str], tool: str | None, limits: Limits
) -> dict[str, Any] | None:
    """Return the arguments of a call that was sent as its own arguments."""
    if tool is None or arguments.keys() != _CALL_KEYS or declared >= _CALL_KEYS:
        return None
    if arguments["name"] != tool:
        return None
    inner = arguments["arguments"]
    return inner if isinstance(inner, dict) else _parsed(inner, limits)


def _inside_first_parameter(
    arguments: dict[str, Any], declared: frozenset[str], scalars: frozenset[str]
) -> dict[str, Any] | None:
    """Return all arguments if they were sent inside one parameter that is not an object."""
    if len(arguments) != 1:
        return None
    ((name, inner),) = arguments.items()
    if name not in scalars or not isinstance(inner, dict) or len(inner) < 2:
        return None
    return inner if name in inner and inner.keys() <= declared else None


def _renamed(
    arguments: dict[str, Any], declared: frozenset[str], objects: frozenset[str], limits: Limits
) -> dict[str, Any] | None:
    """Return the arguments with the only undeclared key, a wrapper's, renamed to a missing required object."""
    unknown = [key for key in arguments if key not in declared]
    missing = objects - arguments.keys()
    if len(unknown) != 1 or len(missing) != 1 or unknown[0] not in WRAPPERS:
        return None
    (key,), (name,), value = unknown, missing, arguments[unknown[0]]
    content = value if isinstance(value, dict) else _parsed(value, limits)
    if not content:
        return None
    return {name if each == key else each: content if each == key else own for each, own in arguments.items()}


def _unwrapped(arguments: dict[str, Any], declared: frozenset[str], limits: Limits) -> dict[str, Any] | None:
    """Return the content of the only key if it is a wrapper, or the key itself if it is a whole JSON text."""
    keys = list(arguments)
    if len(keys) != 1 or keys[0] in declared:
        return None
    (key,), value = keys, arguments[keys[0]]
    if key in WRAPPERS:
        return value if isinstance(value, dict) else _parsed(value, limits)
    return _parsed(key, limits) if value in ("", None) or value == {} else None


def _parsed(text: Any, limits: Limits) -> dict[str, Any] | None:
    if not isinstance(text, str):
        return None
    parsed = parse_container(text, limits, frozenset({"json"}))
    return parsed.value if parsed is not None and isinstance(parsed.value, dict) else None


def wrap_arguments(site: Site) -> Apply | None:
    """Flat fields to the object parameter that they belong to.

    The object is the only parameter and declares every sent key; or it is the only missing parameter, accepts any
    name, and has a name for such fields (``arguments``). An open object of another name would swallow misspelled
    names and those of another tool.
    """
    only = _only_object(site)
    missing = _open_object(site)
    if only is None and missing is None:
        return None

    def apply(arguments: dict[str, Any]) -> _Arguments:
        readings = (only(arguments) if only else None, missing(arguments) if missing else None)
        return tuple(each for each in readings if each)

    return apply


def _only_object(site: Site) -> Callable[[dict[str, Any]], dict[str, Any] | None] | None:
    if len(site.shape.properties) != 1:
        return None
    (name, schema), *_ = site.shape.properties.items()
    shapes = _shapes(site, site.shape_at(schema))
    own = [site.shape_at(shape.properties[name]) for shape in shapes if name in shape.properties]
    holds_itself = any("array" in (each.types or ()) for each in own)

    def wrapped(arguments: dict[str, Any]) -> dict[str, Any] | None:
        # A scalar in place of the object may be meant for any of its properties.
        if not arguments or (name in arguments and not (holds_itself and isinstance(arguments[name], list))):
            return None
        fits = any(arguments.keys() <= shape.properties.keys() for shape in shapes)
        return {name: arguments} if fits else None

    return wrapped


def _open_object(site: Site) -> Callable[[dict[str, Any]], dict[str, Any] | None] | None:
    declared, required = frozenset(site.shape.properties), site.shape.required
    found = [name for name in required & WRAPPERS if name in declared and _is_open_object(site, name)]
    if len(found) != 1:
        return None
    (name,) = found

    def wrapped(arguments: dict[str, Any]) -> dict[str, Any] | None:
        flat = {key: value for key, value in arguments.items() if key not in declared}
        # A wrapper, or a single object, may be the parameter itself under another name.
        if (
            declared - arguments.keys() != {name}
            or not flat
            or flat.keys() & WRAPPERS
            or _may_be_the_object(flat)
            or any(_is_declared_otherwise(key, declared) for key in flat)
        ):
            return None
        return {**{key: value for key, value in arguments.items() if key in declared}, name: flat}

    return wrapped


def _is_declared_otherwise(key: object, declared: frozenset[str]) -> bool:
    """Check whether a key is a declared name in another case or number, or a path into the value of one."""
    if not isinstance(key, str):
        return True
    head = fold_name(re.split(r"[.\[]", key, maxsplit=1)[0])
    own = by_singular((key,))
    return any(
        head == fold_name(name) or plural_target(key, by_singular((name,))) or plural_target(name, own)
        for name in declared
    )


def _is_open_object(site: Site, name: str) -> bool:
    return _is_free_object(site.shape_at(site.shape.properties[name]))


def _may_be_the_object(flat: dict[str, Any]) -> bool:
    (value, *more) = flat.values()
    return not more and (isinstance(value, dict) or (isinstance(value, str) and looks_like_json(value)))


_PATH_NAME: Final = re.compile(r"[^.\[\]]+(?:\[(?:0|[1-9][0-9]{0,3})\]|\.[^.\[\]]+)+")
_STEP: Final = re.compile(r"\[(?P<index>[0-9]+)\]|(?P<name>[^.\[\]]+)")
_MAX_STEPS: Final = 16
_Step = str | int


class _Nested(dict["_Step", Any]):
    """An object or a list that is built from the paths into it."""


def nest_arguments(site: Site) -> Apply | None:
    """``{"todos[0].id": 1, "todos[0].title": "a"}`` to ``{"todos": [{"id": 1, "title": "a"}]}``."""
    declared = site.shape.properties
    if any("." in name or "[" in name for name in declared):
        return None

    def apply(arguments: dict[str, Any]) -> _Arguments:
        paths = {key: steps for key in arguments if (steps := _steps(key)) and steps[0] in declared}
        whole = _Nested()
        for key, steps in paths.items():
            is_free = steps[0] not in arguments and _leads_to_a_value(site, steps)
            if not is_free or not _put(whole, steps, arguments[key]):
                return ()
        built = _built(whole) if paths else None
        rest = {key: value for key, value in arguments.items() if key not in paths}
        return ({**rest, **built},) if isinstance(built, dict) else ()

    return apply


def _steps(key: object) -> list[_Step]:
    """Return the steps of a name that is a path, ``todos[0].id``; empty if it is none."""
    if not isinstance(key, str) or not _PATH_NAME.fullmatch(key):
        return []
    steps = [match["name"] or int(match["index"]) for match in _STEP.finditer(key)]
    return steps if len(steps) <= _MAX_STEPS else []


def _leads_to_a_value(site: Site, steps: Sequence[_Step]) -> bool:
    """Return whether the schema declares each step of a path; one into an object of a call's arguments may be any name.

    Of another object of any names, the whole path may be such a name: `files.py` for `files`.
    """
    reached = [site.shape]
    for at, step in enumerate(steps):
        below: dict[int, Shape] = {}
        for each in (one for shape in reached for one in _shapes(site, shape)):
            if isinstance(step, int):
                found = each.items if each.is_only("array") and not each.prefix else None
            else:
                found = each.properties.get(step)
            if found is not None:
                below[id(found)] = site.shape_at(found)
            elif at == 1 == len(steps) - 1 and steps[0] in WRAPPERS and _is_free_object(each):
                return True
        reached = list(below.values())
    return bool(reached)


def _is_free_object(shape: Shape) -> bool:
    return shape.is_only("object") and not (shape.properties or shape.patterns or shape.closed)


def _put(whole: _Nested, steps: Sequence[_Step], value: Any) -> bool:
    """Put a value at a path; return False if another path ends at or in the same place."""
    *above, last = steps
    for step in above:
        below = whole.setdefault(step, _Nested())
        if not isinstance(below, _Nested):
            return False
        whole = below
    return whole.setdefault(last, value) is value


def _built(nested: _Nested) -> dict[str, Any] | list[Any] | None:
    """Return the object or list; None if names and indices are mixed, or an index is missing."""
    values = {step: _built(each) if isinstance(each, _Nested) else each for step, each in nested.items()}
    if any(values[step] is None and isinstance(nested[step], _Nested) for step in nested):
        return None
    if all(isinstance(step, str) for step in values):
        return {str(step): value for step, value in values.items()}
    return [values[at] for at in range(len(values))] if values.keys() == set(range(len(values))) else None


_FROM_TEXT = (str,)
_FROM_SCALARS = (str, int, float, bool)
_parsing = partial(Rule, on=_FROM_TEXT, reads_text=True, again=True)

DEFAULT_RULES: tuple[Rule, ...] = (
    _parsing("json_text_to_array", 1, text_to_array("json"), across=True),
    _parsing("json_text_to_object", 1, text_to_object("json"), across=True),
    _parsing("json5_text_to_array", 2, text_to_array("json5")),
    _parsing("json5_text_to_object", 2, text_to_object("json5")),
    _parsing("python_text_to_array", 2, text_to_array("python")),
    _parsing("python_text_to_object", 2, text_to_object("python")),
    Rule("text_to_integer", 1, to_scalar("integer", integer_in_text), on=_FROM_TEXT, across=True),
    Rule("text_to_number", 1, to_scalar("number", exact_number_in_text), on=_FROM_TEXT, across=True),
    Rule("whole_float_to_integer", 1, to_scalar("integer", whole_float), on=(float,), across=True),
    Rule("text_to_boolean", 1, text_to_boolean, on=_FROM_TEXT, across=True),
    Rule("integer_to_boolean", 4, to_scalar("boolean", _as_boolean), on=(int,)),
    Rule("number_to_text", 4, number_to_text, on=(int, float)),
    Rule("fold_enum", 1, fold_enum, on=_FROM_TEXT),
    Rule("null_text_to_null", 1, null_text_to_null, on=_FROM_TEXT, across=True, keeps_value=False),
    Rule("null_text_to_absent", 1, null_text_to_absent, on=_FROM_TEXT, kind="property", keeps_value=False),
    Rule("null_to_absent", 2, null_to_absent, on=(type(None),), kind="property", keeps_value=False),
    Rule("empty_text_to_absent", 2, empty_text_to_absent, on=_FROM_TEXT, kind="property", keeps_value=False),
    Rule("rename_case", 1, rename_case, kind="name"),
    Rule("rename_alias", 2, rename_alias, kind="name"),
    Rule("rename_plural", 16, rename_plural, kind="name"),
    Rule("drop_injected", 2, drop_injected, kind="drop"),
    Rule("item_wrapper_to_array", 4, item_wrapper_to_array, on=(dict, list), again=True),
    Rule("wrapped_value", 4, wrapped_value, on=(dict,), again=True),
    Rule("array_to_scalar", 4, array_to_scalar, on=(list,)),
    Rule("scalar_to_array", 8, scalar_to_array, on=_FROM_SCALARS),
    Rule("object_to_array", 8, object_to_array, on=(dict, str), reads_text=True),
    Rule("delimited_text_to_array", 8, delimited_text_to_array, on=_FROM_TEXT),
    Rule("unwrap_arguments", 8, unwrap_arguments, on=(dict,), kind="arguments"),
    Rule("wrap_arguments", 8, wrap_arguments, on=(dict,), kind="arguments"),
    Rule("nest_arguments", 8, nest_arguments, on=(dict,), kind="arguments"),
    Rule("rename_tool", 1, rename_tool, kind="tool"),
)
"""Every rule, in the order it is tried; the rule catalogue describes each with its guards."""
