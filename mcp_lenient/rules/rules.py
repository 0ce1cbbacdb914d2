"""The rules: one function each, that looks at a place of the schema once and returns what runs per value."""

from __future__ import annotations

import enum
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from mcp_lenient.rules.units import units_differ
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
    Dialect,
    TextParseCache,
    exact_number_in_text,
    integer_in_text,
    looks_like_json,
    may_be_container,
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
    """What a property rule answers for a property that is to be left out."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class SitePolicy(Protocol):
    """What a rule asks of the :class:`mcp_lenient.Policy` in force."""

    @property
    def limits(self) -> Limits:
        """Bounds on what is looked at."""
        ...

    @property
    def aliases(self) -> Mapping[str, tuple[str, ...]]:
        """Other names of top-level parameters."""
        ...

    @property
    def drop(self) -> frozenset[str]:
        """Further top-level keys that are dropped where the schema forbids them."""
        ...

    def allows(self, rule: str) -> bool:
        """Whether this rule is in force."""
        ...


@dataclass(frozen=True, slots=True)
class Site:
    """One place of a schema, as a rule sees it when it is built.

    ``takes`` tells whether the schema at this place accepts a value as it is, ``shape_at`` reads a
    sub-schema found in ``shape``; ``tool`` is the tool's name, where it is known.
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

    ``build(site)`` returns the function to run per value, or None where the rule does not apply:

    - ``kind="value"``: ``apply(value) -> tuple of values`` to be read instead;
    - ``kind="property"``: ``apply(value) -> bool``: the property may be left out;
    - ``kind="name"``: ``apply(sent, absent, value) -> str | None``: the declared name that was meant;
    - ``kind="drop"``: ``apply(unknown, sent) -> frozenset`` of the keys to leave out;
    - ``kind="arguments"``: ``apply(arguments) -> tuple of arguments`` to be read instead;
    - ``kind="tool"``: ``apply(sent, listed, servers) -> ToolName | None``: the tool that was meant; no place of a schema asks it.

    Args:
        name: What becomes what; the code in records.
        tier: 1, 2, 4, 8 or 16; lower is closer to what was sent.
        build: The factory, called once per place of a schema.
        on: Python types of the values it looks at.
        kind: See above.
        across: Whether it may win across union branches of different JSON type.
        again: Whether its result may need one more value rule at the same place.
        reads_text: Whether ``apply`` also takes the :class:`mcp_lenient.values.json_values.TextParseCache` of the call, which
            read each text once.
        keeps_value: Whether all that was sent is still in the outcome; in a destructive tool no other rule acts.
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

    @property
    def cost(self) -> int:
        """A number by which readings compare: by worst tier first, then by rules of each tier."""
        return 1 << (_BITS_PER_TIER * TIERS.index(self.tier))


def made(value: Any) -> tuple[Any, ...]:
    """The values that a rule answers, of which it found one, or None."""
    return () if value is None else (value,)


def worst_tier(cost: int) -> int:
    """The worst tier within a cost; 0 for a reading that changed nothing."""
    return TIERS[(cost.bit_length() - 1) // _BITS_PER_TIER] if cost else 0


Names = Mapping[str, Any]

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


_ASCII: Final = frozenset(ascii_letters + digits)


def _only(text: str, signs: frozenset[str]) -> bool:
    return all(map(_is_letter_or_digit, set(text) - signs - _ASCII))


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
    """``{"item": [..]}`` to ``[..]``, ``{"item": 1}`` to ``[1]``, ``[{"item": 1}]`` to ``[1]``."""
    if not site.shape.is_only("array"):
        return None
    declared = item_names(site)

    def apply(value: dict[str, Any] | list[Any]) -> _Values:
        if isinstance(value, dict):
            inner = () if value.keys() & declared else _inner(value)
            return tuple(
                each if isinstance(each, list) else [each] for each in inner if not _is_unclear(each)
            )
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


def _is_unclear(entry: Any) -> bool:
    """Return whether what is wrapped may be no item: nothing, or the text of a list."""
    return entry is None or (isinstance(entry, str) and (says_nothing(entry) or looks_like_json(entry)))


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


def text_to_integer(site: Site) -> Apply | None:
    """``"42"`` to 42, ``"5.0"`` to 5."""
    if not _is(site, "integer"):
        return None

    def apply(text: str) -> _Values:
        return made(integer_in_text(text))

    return apply


def text_to_number(site: Site) -> Apply | None:
    """``"3.14"`` to 3.14."""
    if not _is(site, "number"):
        return None

    def apply(text: str) -> _Values:
        return made(exact_number_in_text(text))

    return apply


def whole_float_to_integer(site: Site) -> Apply | None:
    """``7.0`` to 7."""
    if not _is(site, "integer"):
        return None

    def apply(value: float) -> _Values:
        return made(whole_float(value))

    return apply


def text_to_boolean(site: Site) -> Apply | None:
    """``"true"``, ``"yes"``, ``"on"``, ``"1"`` to true; beside other types only ``"true"`` and ``"false"``."""
    if not _is(site, "boolean"):
        return None
    read = json_boolean_in_text if Position.UNION in site.place else boolean_in_text

    def apply(text: str) -> _Values:
        return made(read(text))

    return apply


def integer_to_boolean(site: Site) -> Apply | None:
    """1 to true, 0 to false."""
    if not _is(site, "boolean"):
        return None

    def apply(value: int) -> _Values:
        return (bool(value),) if value in (0, 1) else ()

    return apply


def number_to_text(site: Site) -> Apply | None:
    """42 to ``"42"``; never where a format, the only allowed value or a mixed list speaks against it."""
    members = site.shape.enum or ()
    is_text = _is(site, "string") or (members and all(isinstance(member, str) for member in members))
    if not is_text or site.shape.format or len(members) == 1 or Position.MIXED in site.place:
        return None

    def apply(value: float) -> _Values:
        return made(number_as_text(value))

    return apply


def fold_enum(site: Site) -> Apply | None:
    """``"FAST"`` to the one enum value ``"fast"`` that differs by nothing but spelling."""
    values = site.shape.enum or ()
    words = {value for value in values if not isinstance(value, (list, dict)) and value not in (None, "")}
    return enum_folder(values) if len(words) > 1 else None


def _is(site: Site, json_type: str) -> bool:
    return site.shape.is_only(json_type)


_NONE = "none"
_NONE_WORDS = frozenset({"none", "null", "unset"})


def null_text_to_null(site: Site) -> Apply | None:
    """``"null"`` to null, where null may come and a string may not."""
    if not site.shape.is_only("null") or Position.TEXT in site.place:
        return None

    def apply(text: str) -> tuple[None, ...]:
        return (None,) if is_null_text(text) or text == _NONE else ()

    return apply


def null_text_to_absent(site: Site) -> Apply | None:
    """``"null"`` for an optional property that takes neither null nor strings: left out."""
    return None if site.takes(None) or _takes_strings(site) or _has_none_member(site) else is_null_text


def null_to_absent(site: Site) -> Apply | None:
    """Null for an optional property that forbids it: left out."""
    if _has_none_member(site) or None in _members(site):
        return None

    def apply(value: None) -> bool:
        return value is None

    return apply


def empty_text_to_absent(site: Site) -> Apply | None:
    """``""`` for an optional property that forbids it: left out."""
    if "array" in _kinds(site) or (_members(site) and site.shape.default) or _asks_for_text(site):
        return None

    def apply(text: str) -> bool:
        return not text

    return apply


def _shapes(site: Site) -> list[Shape]:
    """Return what is said at a place and in the branches of its union."""
    return [site.shape, *(site.shape_at(branch) for branch in site.shape.branches)]


def _kinds(site: Site) -> frozenset[str]:
    """Return the JSON types that are taken here."""
    return frozenset().union(*(shape.types or () for shape in _shapes(site)))


def _members(site: Site) -> tuple[object, ...]:
    return tuple(member for shape in _shapes(site) for member in shape.enum or ())


def _asks_for_text(site: Site) -> bool:
    """Return whether the author forbids the empty text itself: to leave it out would widen the call.

    A date, another format or an enum has no empty text; any other string refuses it by a guard of the author's.
    """
    return any(shape.has_min_length or _is_free_text(shape) for shape in _shapes(site))


def _is_free_text(shape: Shape) -> bool:
    return "string" in (shape.types or ()) and shape.enum is None and not shape.format and not shape.branches


def _takes_strings(site: Site) -> bool:
    return "string" in _kinds(site) or not _kinds(site)


def _has_none_member(site: Site) -> bool:
    """Return whether a word for nothing is an allowed value, here or as the item of a list."""
    items = (site.shape_at(shape.items).enum or () for shape in _shapes(site))
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
"""Every key that is dropped on its own, with the client that adds it."""
BESIDE_CALL_ID: Final = frozenset({"action", "sessionId", "chatInput"})
"""Keys of n8n's chat trigger, which its MCP Client Tool sends beside ``toolCallId``."""


def injected_keys(
    unknown: Collection[Any],
    declared: Collection[str],
    also: Collection[str] = (),
    *,
    destructive: bool = False,
) -> frozenset[str]:
    """Return the undeclared keys that a known client adds to the arguments of a call.

    Args:
        unknown: All keys that were sent and are not declared.
        declared: The folds of the declared names (:func:`~mcp_lenient.values.names.fold_name`); a key that is one
            of them in another spelling may be meant for it.
        also: Further keys that the operator lists.
        destructive: Whether the tool destroys; then only ``toolCallId`` and the keys sent with it.
    """
    known = {_CALL_ID, *(BESIDE_CALL_ID if _CALL_ID in unknown else ())}
    if not destructive:
        known |= {key for key in SOURCES if fold_name(key.lstrip("_")) not in declared}
        known.update(also)
    return frozenset(key for key in unknown if key in known)


def rename_case(site: Site) -> Apply:
    """``maxResults`` to ``max_results``: the one declared name that differs by nothing but case style."""
    folded = folded_names(site.shape.properties)

    def apply(sent: str, absent: Collection[str], value: Any) -> str | None:
        del value
        name = case_target(sent, folded)
        if (
            name is None
            or name not in absent
            or (fold_case(sent) == fold_case(name) and units_differ(sent, name))
        ):
            return None
        return None if site.destructive and words_of(sent) != words_of(name) else name

    return apply


def rename_alias(site: Site) -> Apply | None:
    """Another name that the author or operator declared."""
    if Position.TOP not in site.place:
        return None
    owners = {other: name for name, others in site.policy.aliases.items() for other in others}

    def apply(sent: str, absent: Collection[str], value: Any) -> str | None:
        del value
        name = owners.get(sent)
        return name if name in absent else None

    return apply


def rename_tool(_site: Site) -> Apply:
    """``storeContext`` to ``store_context``: the one tool whose name differs by case, separators or prefix alone."""
    return tool_target


def rename_plural(site: Site) -> Apply:
    """``tag`` to ``tags``: the plural of the sent name, an absent list."""
    shape = site.shape
    kinds = {name: site.shape_at(sub) for name, sub in shape.properties.items()}
    lists = (
        name
        for name, kind in kinds.items()
        if kind.is_only("array") or any(site.shape_at(branch).is_only("array") for branch in kind.branches)
    )
    plurals = by_singular(lists, shape.properties)

    def apply(sent: str, absent: Collection[str], value: Any) -> str | None:
        del value
        name = plural_target(sent, plurals)
        return name if name in absent else None

    return apply


def drop_injected(site: Site) -> Apply | None:
    """Keys that known clients add, at the top of a closed schema."""
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
"""Names under which callers put the arguments as a whole."""
_CALL_KEYS = frozenset({"name", "arguments"})


def unwrap_arguments(site: Site) -> Apply | None:
    """``{"args": {..}}`` to ``{..}``, also as JSON text, and a required ``arguments`` that came as ``params``.

    So with the call as its own arguments (``{"name": "this_tool", "arguments": {..}}``), and with all arguments
    inside the first parameter (``{"name": {"name": .., "age": ..}}``).
    """
    declared = frozenset(site.shape.properties)
    objects = frozenset(name for name in WRAPPERS & site.shape.required if _is_object(site, name))
    scalars = frozenset(name for name in declared if not _may_be_object(site, name))
    limits = site.policy.limits

    def apply(arguments: dict[str, Any]) -> _Arguments:
        own = _of_this_call(arguments, declared, site.tool, limits)
        readings = [_inside_of_one(arguments, declared, scalars)]
        if not arguments.keys() <= declared:
            readings += [_renamed(arguments, declared, objects), _unwrapped(arguments, declared, limits)]
        return (*(() if own is None else (own,)), *filter(None, readings))

    return apply


def _may_be_object(site: Site, name: str) -> bool:
    shape = site.shape_at(site.shape.properties[name])
    return any(
        each.types is None or "object" in each.types for each in (shape, *map(site.shape_at, shape.branches))
    )


def _of_this_call(
    arguments: dict[str, Any], declared: frozenset[str], tool: str | None, limits: Limits
) -> dict[str, Any] | None:
    """The arguments of a call that came as its own arguments."""
    if tool is None or arguments.keys() != _CALL_KEYS or declared >= _CALL_KEYS:
        return None
    if arguments["name"] != tool:
        return None
    inner = arguments["arguments"]
    return inner if isinstance(inner, dict) else _parsed(inner, limits)


def _inside_of_one(
    arguments: dict[str, Any], declared: frozenset[str], scalars: frozenset[str]
) -> dict[str, Any] | None:
    """All arguments, where they came inside of one parameter that takes no object."""
    if len(arguments) != 1:
        return None
    ((name, inner),) = arguments.items()
    if name not in scalars or not isinstance(inner, dict) or len(inner) < 2:
        return None
    return inner if name in inner and inner.keys() <= declared else None


def _is_object(site: Site, name: str) -> bool:
    return site.shape_at(site.shape.properties.get(name)).is_only("object")


def _renamed(
    arguments: dict[str, Any], declared: frozenset[str], objects: frozenset[str]
) -> dict[str, Any] | None:
    """A required object under its own name, where it came under the one undeclared key, a wrapper's."""
    unknown = [key for key in arguments if key not in declared]
    wanted = objects - arguments.keys()
    if len(unknown) != 1 or len(wanted) != 1 or unknown[0] not in WRAPPERS:
        return None
    if not isinstance(arguments[unknown[0]], dict) or not arguments[unknown[0]]:
        return None
    (name,) = wanted
    return {name if key == unknown[0] else key: value for key, value in arguments.items()}


def _unwrapped(arguments: dict[str, Any], declared: frozenset[str], limits: Limits) -> dict[str, Any] | None:
    """What the only key holds, where it is a wrapper's, or what it is, where it is the whole JSON text."""
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
    parsed = parse_container(
        text,
        max_text=limits.text,
        max_relaxed=limits.relaxed_text,
        max_depth=limits.depth,
        dialects=frozenset({"json"}),
    )
    return parsed.value if parsed is not None and isinstance(parsed.value, dict) else None


def wrap_arguments(site: Site) -> Apply | None:
    """Flat fields to the object that they belong to.

    It is the only parameter, which declares every one of them; or the one required parameter that is missing, an
    object that takes any name and is called what such fields are (``arguments``), where every other parameter was
    sent. An open object of another name would swallow what was meant for another tool, or misspelled.
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
    inner = site.shape_at(schema)
    shapes = [inner, *map(site.shape_at, inner.branches)]

    def wrapped(arguments: dict[str, Any]) -> dict[str, Any] | None:
        if not arguments or name in arguments:
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
        # What came under a wrapper's name, or as one object, may be the parameter itself under another name.
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
    shape = site.shape_at(site.shape.properties[name])
    return shape.is_only("object") and not (shape.properties or shape.patterns or shape.closed)


def _may_be_the_object(flat: dict[str, Any]) -> bool:
    (value, *more) = flat.values()
    return not more and (isinstance(value, dict) or (isinstance(value, str) and looks_like_json(value)))
