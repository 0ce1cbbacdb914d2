"""The rules: each sees a place of the schema and a refused value, and says what the value may have been meant as."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar, Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from mcp_lenient.rules.words import (
    JSON_BOOLEANS,
    MAX_SEARCHED,
    SHORT_TYPES,
    KnownItems,
    Spellings,
    ends_in_other_case,
    is_identifier,
    may_be_in_numbers,
    numbers_in,
    renderings,
    says_nothing,
)
from mcp_lenient.schema.checks import NULL_WORDS
from mcp_lenient.schema.node import Node, fits
from mcp_lenient.types import Path
from mcp_lenient.values.display import bare_key, is_secret_name, name_words
from mcp_lenient.values.json_values import (
    JSON,
    Dialect,
    Parsed,
    looks_like_json,
    may_have_thousands,
    number_as_text,
    number_in_text,
    parse_container,
    rounds_as_double,
    whole_float,
)
from mcp_lenient.values.limits import Limits
from mcp_lenient.values.names import by_key, case_target, fold_name, singular, style_of

Tier = Literal[1, 2, 4, 8, 16]
Read = Callable[..., Iterable[Any]]
Result = TypeVar("Result")
TIERS: Final[tuple[Tier, ...]] = (1, 2, 4, 8, 16)
_BITS_PER_TIER: Final = 32
_NUMBERS: Final = frozenset({"integer", "number"})
_CONTAINERS: Final = frozenset({"array", "object"})
_MAX_BITS: Final = 1_000
"""Bits of the largest integer that is written."""
_LONGEST_OPENING: Final = 200
"""Characters of a description in which the words of a name are looked for."""


class Obstacle(enum.Enum):
    """Why a rule is not applied to a value, in the order in which this is checked: the place, the policy or the tool.

    The last ones say why a reading is not used although each of its rules is applied.
    """

    TAKES = "the value has a type that is not in `takes`"
    UNREAD = "this part of the schema is not read"
    REQUIRED = "only optional properties are left out"
    GIVES = "the schema accepts other types here than those in `gives`"
    ENUM = "numbers of an enum without a type are only read by fold_enum"
    ASKS = "the schema does not say here what is needed"
    ONE_VALUE = "only one value is allowed here, and no rule says it for the caller"
    UNION = "in a union, only rules with `literal` read a value of another type"
    DISABLED = "it is disabled by the policy"
    UNCERTAIN = "it is only offered as a fix (`certain=False`)"
    DESTRUCTIVE = "it is not allowed in a destructive tool"
    TIER = "a rule of a lower tier gave a value that fits"
    WRONG_INSIDE = "what is in it would have to be changed as well, so it may not be what is meant"
    SAME_NAME = "another name that was sent means the same"
    STRICT_FIELD = "the author made the field strict, so the type of a scalar is not changed"
    AUTHORS_CHECK = "only a check of the author's refuses what was sent, so another value may be meant"


class Absent(enum.Enum):
    """The type of ``ABSENT``, which replaces the value of a property to leave out."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class _Settings(Protocol):
    """The part of :class:`mcp_lenient.Policy` that rules use."""

    @property
    def limits(self) -> Limits: ...
    @property
    def aliases(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def drop(self) -> AbstractSet[str]: ...
    def allows(self, rule: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class CallScope:
    """What all places of one call share: the policy, and what is known of the tool.

    ``by_schema``: nothing but the published schema says what it takes. ``observe`` receives each result of a rule, with
    the guard that stops it.
    """

    policy: _Settings
    destructive: bool = False
    tool: str | None = None
    by_schema: bool = False
    read_only: bool = False
    observe: Callable[[Rule, Place, Sequence[tuple[Any, Guard | None]]], None] | None = None
    _parsed: dict[Any, Parsed | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    def parsed(self, text: str, dialects: frozenset[Dialect]) -> Parsed | None:
        """Return what :func:`parse_container` makes of a text of the call; each is parsed once."""
        key = text, dialects
        if key not in self._parsed:
            self._parsed[key] = parse_container(text, self.policy.limits, dialects)
        return self._parsed[key]


class Place(NamedTuple):
    """Where a value is: its node of the schema, and what its surroundings say of it.

    Attributes:
        node: What the schema says here.
        call: What all places of the call share.
        path: The path in the arguments, with the names that were sent; () for the arguments.
        result_path: The path with the declared names, which is that of the result.
        name: The declared name of the property; None for an item or the arguments.
        optional: Whether the value may be left out.
        is_item: Whether it is an item of a list.
        in_mixed_list: Whether that list has anything but numbers.
        in_mixed_union: Whether the node is a branch of a union of several JSON types.
        in_union: Whether it is a branch of any union.
        unknown: The undeclared names of an object that may be renamed or dropped.
    """

    node: Node
    call: CallScope
    path: Path = ()
    result_path: Path = ()
    name: str | None = None
    optional: bool = False
    is_item: bool = False
    in_mixed_list: bool = False
    in_mixed_union: bool = False
    in_union: bool = False
    unknown: Sequence[str] = ()

    def inside(
        self,
        node: Node,
        key: str | int,
        declared: str | int,
        *,
        name: str | None = None,
        optional: bool = False,
        in_mixed_list: bool = False,
    ) -> Place:
        """Return the place of a value in the object or list here, by the key that was sent and the declared one."""
        path, result_path = (*self.path, key), (*self.result_path, declared)
        return Place(node, self.call, path, result_path, name, optional, isinstance(key, int), in_mixed_list)

    def as_branch(self, branch: Node) -> Place:
        """Return the place as a branch of the union here describes it."""
        is_mixed = self.in_mixed_union or self.node.mixes_types
        return self._replace(node=branch, optional=False, unknown=(), in_mixed_union=is_mixed, in_union=True)


@dataclass(frozen=True, slots=True)
class Guard:
    """A named condition of a rule: what the rule reads is only used where it holds.

    >>> guard = Guard("below_100", "it is above 100", lambda place, sent, result: result <= 100)

    Args:
        name: What holds, in a word or two.
        says: Why the result is not used where it does not hold, as ``mcp-lenient explain`` says it.
        holds: Returns whether it holds, by the place, the sent value and the rule's result; of ``asks``, by the node.
    """

    name: str
    says: str
    holds: Callable[..., bool]


def _guard(says: str) -> Callable[[Callable[..., bool]], Guard]:
    return lambda holds: Guard(holds.__name__.removeprefix("_"), says, holds)


@dataclass(frozen=True, slots=True)
class _Rule(Generic[Result]):
    name: str
    tier: Tier
    read: Callable[[Place, Any], Iterable[Result]]
    _: KW_ONLY
    guards: tuple[Guard, ...] = ()
    keeps: bool | Guard = True
    certain: bool = True
    cost: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", 1 << (_BITS_PER_TIER * TIERS.index(self.tier)))

    def apply(self, place: Place, value: Any) -> Sequence[Result]:
        """Return what the function yields and no guard stops."""
        results = [(result, self._stopped(place, value, result)) for result in self.read(place, value)]
        if place.call.observe is not None:
            place.call.observe(self, place, results)  # type: ignore[arg-type]
        return [result for result, guard in results if guard is None]

    def _stopped(self, place: Place, value: Any, result: Result) -> Guard | None:
        for guard in self.guards:
            if not guard.holds(place, value, result):
                return guard
        keeps = self.keeps if place.call.destructive and isinstance(self.keeps, Guard) else None
        return None if keeps is None or keeps.holds(place, value, result) else keeps


@dataclass(frozen=True, slots=True)
class ValueRule(_Rule[Any]):
    """A rule that reads a refused value as another one.

    Args:
        name: The conversion, such as ``text_to_integer``; the code in records.
        tier: 1, 2, 4, 8 or 16; lower is closer to the sent value.
        read: Yields what a value at a place may mean: other values, or ``ABSENT`` to leave it out; nothing for a value that
            does not have the form which the rule reads.
        takes: JSON types of the values it reads.
        gives: JSON types of the values it makes: it is applied where only these are accepted; empty for any. ``"absent"``, if it
            leaves values out: it is applied where a property is optional.
        literal: Whether it may choose between union branches of different JSON types.
        chains: Whether another rule may be applied to its result.
        asks: A guard of the place alone: where it does not hold, the rule is not applied.
        guards: The conditions of a result, in the order in which they are checked.
        keeps: Whether the result keeps the sent value, for destructive tools: with True it is used up to tier 2, with False
            never, and with a guard in any tier, where that holds.
        certain: Whether its result may be used; otherwise it is only offered to the caller as a fix.

    Attributes:
        cost: A number that orders readings: by worst tier first, then by the number of rules of each tier.
    """

    takes: Collection[str] = ()
    gives: Collection[str] = ()
    literal: bool = False
    chains: bool = False
    asks: Guard | None = None

    @property
    def leaves_out(self) -> bool:
        """Whether it leaves values out."""
        return "absent" in self.gives

    def obstacle(self, node: Node) -> Obstacle | None:
        """Return what at a node this rule is not made for; None if it is for such a node."""
        types = node.accepted_types
        if self.gives and not self.leaves_out:
            if node.accepts_any_type or not types.issubset(self.gives):
                return Obstacle.GIVES
            # The numbers of an enum without a type are read by the rule for enums.
            if node.declared_types is None and not types.isdisjoint(_NUMBERS):
                return Obstacle.ENUM
        if self.asks is not None and not self.asks.holds(node):
            return Obstacle.ASKS
        # It changes more of a scalar than its type, or also the type of an allowed value.
        is_literal = self.literal and node.declared_types is not None
        rewords = not (self.leaves_out or is_literal) and _CONTAINERS.isdisjoint(self.takes)
        return Obstacle.ONE_VALUE if rewords and node.cached(allows_one_value) else None


@dataclass(frozen=True, slots=True)
class NameRule(_Rule[tuple[str, str | Absent]]):
    """A rule that reads undeclared names of an object.

    Args:
        name: As in :class:`ValueRule`, like ``tier``, ``guards``, ``keeps`` and ``certain``.
        read: Yields pairs of an undeclared name (one of ``place.unknown``) and the declared name that it means, or ``ABSENT``
            to leave it out, by the place of the object and the object.
    """

    takes: ClassVar[Collection[str]] = ("object",)


@dataclass(frozen=True, slots=True)
class CallRule(_Rule[dict[str, Any]]):
    """A rule that reads the refused arguments of a call as other ones, to which other rules may be applied.

    Args:
        name: As in :class:`ValueRule`, like ``tier``, ``guards``, ``keeps`` and ``certain``.
        read: Yields the arguments that were likely meant, by the place of the arguments and the arguments.
    """

    takes: ClassVar[Collection[str]] = ("object",)
    literal: ClassVar[bool] = False
    chains: ClassVar[bool] = True


Rule = ValueRule | NameRule | CallRule


def allows_one_value(node: Node) -> bool:
    """Return whether only one value is allowed, besides null: no repair chooses ``DELETE``."""
    enums = [branch.enum for branch in node.branches if branch.declared_types != ("null",)]
    if None in enums:
        return False
    scalars = (member for enum in enums for member in enum or () if not isinstance(member, (list, dict)))
    return len({repr(scalar) for scalar in scalars if scalar not in (None, "")}) < 2


def spelled_constants(place: Place, value: Any) -> list[Any]:
    """Return the values that a text spells and that are the only ones of a branch, ``"DELETE"`` for ``"delete"``.

    No rule chooses them, nor reads the text as another value.
    """
    branches = place.node.branches if isinstance(value, str) and place.node.is_union else ()
    constants = (branch for branch in branches if branch.enum is not None and branch.cached(allows_one_value))
    return [member for branch in constants for member in _spelled_members(branch, value)]


def worst_tier(cost: int) -> int:
    """Return the worst tier within a cost; 0 for an unchanged value."""
    return TIERS[(cost.bit_length() - 1) // _BITS_PER_TIER] if cost else 0


def _unless_none(value: Any) -> tuple[Any, ...]:
    return () if value is None else (value,)


def _by_value(function: Callable[[Any], Any]) -> Read:
    return lambda _place, value: _unless_none(function(value))


# --- texts ------------------------------------------------------------------------------------------------


def _parsed(kind: str, python_type: type, dialect: Dialect) -> Read:
    def read(place: Place, text: str) -> Iterator[Any]:
        parsed = place.call.parsed(text, JSON if dialect == "json" else _relaxed(place, kind))
        if parsed is not None and parsed.dialect == dialect and isinstance(parsed.value, python_type):
            yield parsed.value

    return read


def _relaxed(place: Place, kind: str) -> frozenset[Dialect]:
    """Return every relaxed dialect in force, so that a text that two of them parse differently is refused by both."""
    dialects: tuple[Dialect, ...] = ("json5", "python")
    return frozenset(dialect for dialect in dialects if place.call.policy.allows(f"{dialect}_text_to_{kind}"))


_LEADING: Final = re.compile(r"\+?[0-9]{1,100}")
_OCTAL: Final = re.compile(r"\+?0[0-7]+")


def text_to_integer(place: Place, text: str) -> Iterable[float]:
    """``"42"`` to 42, ``"5.0"`` to 5; a parameter's own ``"+3"`` and ``"03"`` to 3."""
    digits = text.strip(" \t\n\r")
    is_of_parameter = place.name is not None and not (place.in_mixed_union or is_identifier(place.name))
    is_leading = is_of_parameter and _LEADING.fullmatch(digits)
    number = int(digits) if is_leading else number_in_text(text)
    integer = whole_float(number) if isinstance(number, float) else number
    return _unless_none(number if integer is None else integer)


@_guard("the point may part thousands")
def _no_thousands(_place: Place, text: str, _number: float) -> bool:
    return not may_have_thousands(text)


@_guard("it is not whole, or not exact as a double")
def _is_whole(_place: Place, _text: str, number: float) -> bool:
    return isinstance(number, int)


@_guard("it is another number in base 8, which is accepted too")
def _no_octal(place: Place, text: str, number: int) -> bool:
    digits = text.strip(" \t\n\r")
    octal = int(digits, 8) if _OCTAL.fullmatch(digits) else number
    return octal == number or not place.node.accepts(octal)


@_guard("a double would lose digits of it")
def _is_exact(_place: Place, _text: str, number: float) -> bool:
    return not rounds_as_double(number)


_BOOLEANS: Final = JSON_BOOLEANS | {"yes": True, "on": True, "1": True, "no": False, "off": False, "0": False}


def text_to_boolean(_place: Place, text: str) -> Iterable[bool]:
    """``"true"``, ``"yes"``, ``"on"``, ``"1"`` to true."""
    return _unless_none(_BOOLEANS.get(text.strip().lower()))


@_guard("where other types are accepted too, only true and false are read")
def _is_json_word(place: Place, text: str, _result: bool) -> bool:  # noqa: FBT001 - the result of a rule
    return not place.in_mixed_union or text.strip().lower() in JSON_BOOLEANS


def number_to_text(_place: Place, value: float) -> Iterable[str]:
    """42 to ``"42"``."""
    is_short = not isinstance(value, int) or value.bit_length() < _MAX_BITS
    return _unless_none(number_as_text(value) or (f"{value}" if is_short else None))


@_guard("the text has a format")
def _no_format(place: Place, _number: float, _text: str) -> bool:
    return not (place.node.format or any(place.node.formats))


@_guard("the list has more than numbers")
def _numbers_alone(place: Place, _number: float, _text: str) -> bool:
    return not place.in_mixed_list


@_guard("it may have been rounded, or lost a zero at its end")
def _keeps_all_digits(_place: Place, number: float, text: str) -> bool:
    return number_as_text(number) == text


def fold_enum(place: Place, text: str) -> Iterable[Any]:
    """``"FAST"`` to ``"fast"``, ``"2"`` to 2: an enum value that differs in spelling alone."""
    return _spelled_members(place.node, text) or place.node.cached(_spellings).alike(text.strip())


def _spelled_members(node: Node, text: str) -> Collection[Any]:
    """Return the only enum value that a text spells; null too, where it is accepted and the text is a word for it."""
    spellings = node.cached(_spellings)
    if len(text) > spellings.longest:  # of a large union, each branch would read it
        return ()
    text = text.strip()
    members = spellings.of(text)
    is_null = text in NULL_WORDS and any(branch.cached(_spellings).of(text) for branch in node.branches)
    return (*members, None) if is_null and node.accepts(None) else members


@_guard("it may be another allowed value, or its case has a meaning")
def _is_one_member(place: Place, text: str, member: Any) -> bool:
    return member is None or bool(place.node.cached(_spellings).of(text.strip()))


def _spellings(node: Node) -> Spellings:
    return Spellings(node.enum or (), node.accepted_types)


# --- nothing ----------------------------------------------------------------------------------------------


def null_text_to_null(_place: Place, text: str) -> Iterator[None]:
    """``"null"`` to null."""
    if text in NULL_WORDS:
        yield None


@_guard("another branch of the union may take it")
def _not_in_union(place: Place, _sent: Any, _result: Any) -> bool:
    return not place.in_union


@_guard("the word is an allowed value or an example")
def _no_listed_word(place: Place, text: str, _result: None) -> bool:
    return text.casefold() not in place.node.cached(_listed_words)


@_guard("null is not accepted, or a word is")
def _takes_null_but_no_words(node: Node) -> bool:
    takes_null = any(branch.is_only("null") for branch in node.branches)
    return takes_null and not any(map(_takes_words, node.branches))


def _takes_words(branch: Node) -> bool:
    """Return whether a text may be any word: no date or UUID, whose format refuses one."""
    if branch.enum is not None or not branch.may_be("string"):
        return False
    return not branch.format or branch.tree.node({"type": "string", "format": branch.format}).accepts("null")


def _left_out(*values: Any) -> Read:
    return _by_value(dict.fromkeys(values, ABSENT).get)


@_guard("null or a text is accepted, or a word for it")
def _takes_no_null_or_text(node: Node) -> bool:
    takes_text = any(branch.may_be("string") and branch.enum is None for branch in node.branches)
    return not (takes_text or node.accepts(None)) and _lists_no_none(node)


@_guard("in a destructive tool, only a null that is the default is left out")
def _is_default(place: Place, sent: Any, _absent: Absent) -> bool:
    return sent in place.node.default


@_guard("one of the allowed values is the default, which may not be meant")
def _has_no_default(place: Place, _text: str, _absent: Absent) -> bool:
    has_choice = place.node.has_enum and not place.node.cached(allows_one_value)
    return not has_choice or place.node.default in ((), (None,))


@_guard("without a list, a free text or a `minLength` text, the call may ask for more")
def _widens_nothing(place: Place, _text: str, _absent: Absent) -> bool:
    return not any(_guards_empty(branch, read_only=place.call.read_only) for branch in place.node.branches)


def _guards_empty(node: Node, *, read_only: bool) -> bool:
    """Return whether leaving out an empty text would widen the call; a format or an enum has no empty text anyway."""
    types = node.declared_types or ()
    is_free = "string" in types and node.enum is None and not node.format
    return ("array" in types and not read_only) or is_free or bool(node.values_of("minLength"))


def _lists_no_none(node: Node) -> bool:
    """Return whether neither null nor a word for an absent value is allowed here, nor such a word as an item of a list."""
    words = node.cached(_listed_words)
    return not (None in node.members or "unset" in words or any(map(says_nothing, words)))


@_guard("null or a word for it is allowed")
def _null_is_absent(node: Node) -> bool:
    return None in node.default or _lists_no_none(node)


def _listed_words(node: Node) -> frozenset[str]:
    """Return the texts, without case, that are allowed values or examples here or as items of a list."""
    nodes = [node, *(part for branch in node.branches for part in (branch, *branch.items.branches))]
    values = [value for part in nodes for value in (*(part.enum or ()), *part.examples)]
    values += [item for value in values if isinstance(value, list) for item in value]
    return frozenset(value.strip().casefold() for value in values if isinstance(value, str))


# --- lists and wrappers -----------------------------------------------------------------------------------


def item_wrapper_to_array(place: Place, value: dict[str, Any] | list[Any]) -> Iterator[list[Any]]:
    """``{"item": [..]}`` to ``[..]``, ``{"item": 1}`` to ``[1]``, ``[{"item": 1}]`` to ``[1]``."""
    entries = value if isinstance(value, list) else [value]
    keys = {"item", "items"} - place.node.items.names
    objects = [entry for entry in entries if isinstance(entry, dict) and len(entry) == 1]
    if len(objects) < max(len(entries), 1) or not all(entry.keys() <= keys for entry in objects):
        return
    content = [item for entry in entries for item in entry.values()]
    yield content[0] if isinstance(value, dict) and isinstance(content[0], list) else content


@_guard("what it holds may be no item, or several")
def _holds_items(place: Place, sent: Any, _items: list[Any]) -> bool:
    return isinstance(sent, list) or _is_one(place.node, *sent.values())


@_guard("the list takes the object as an item")
def _not_taken_as_item(place: Place, sent: Any, _items: list[Any]) -> bool:
    return isinstance(sent, list) or not _takes_as_item(place.node, sent)


def _takes_as_item(node: Node, entry: Any) -> bool:
    has_free_items = any(not branch.properties and branch.may_be("object") for branch in node.items.branches)
    return has_free_items and node.accepts([entry])


def _is_one(node: Node, value: Any) -> bool:
    """Return whether a value is certainly one item of a list, and not several in one text, or none."""
    return value is not None and _is_something(value) and _is_not_several(node, value)


def _is_something(value: Any) -> bool:
    return not isinstance(value, str) or not (says_nothing(value) or looks_like_json(value))


def _is_not_several(node: Node, value: Any) -> bool:
    if not isinstance(value, str):
        return True
    is_member = any(branch.cached(_spellings).of(value.strip()) for branch in node.items.branches)
    return node.cached(_listed_items).is_one(value, is_member=is_member)


def _listed_items(node: Node) -> KnownItems:
    items = [*node.items.members, *(item for branch in node.items.branches for item in branch.examples)]
    items += [item for example in node.examples if isinstance(example, list) for item in example]
    return KnownItems([item for item in items if isinstance(item, str)])


def wrapped_value(place: Place, value: dict[str, Any]) -> Iterable[Any]:
    """``{"type": "float", "value": 2}`` and ``{"value": 2}`` to 2, and ``{"p": {"p": X}}`` to ``{"p": X}``."""
    if _is_keyed_by_own_name(place, value) or value.keys() == {"value"}:
        return (*value.values(),)
    is_typed = value.keys() == {"type", "value"} and isinstance(value["type"], str)
    return (value["value"],) if is_typed else ()


def _is_keyed_by_own_name(place: Place, value: Mapping[str, Any]) -> bool:
    return len(value) == 1 and place.name is not None and place.name in value


@_guard("the list may take the object as an item")
def _cannot_be_item(place: Place, sent: dict[str, Any], _content: Any) -> bool:
    node, is_list = place.node, place.node.is_only("array")
    takes_any = is_list and node.items.schema in (None, True, {}) and not node.prefix_items
    is_taken = is_list and not _is_keyed_by_own_name(place, sent) and _takes_as_item(node, sent)
    return not takes_any and node.items.names.isdisjoint(sent) and not is_taken


@_guard("the text may be to hold JSON")
def _holds_no_json(place: Place, sent: dict[str, Any] | list[Any], _content: Any) -> bool:
    return not (_may_hold_json if len(sent) == 1 else _is_json_text)(place.node)


@_guard("what it holds is nothing, several, or not of the type that it names")
def _holds_one_value(place: Place, sent: dict[str, Any], content: Any) -> bool:
    if _is_keyed_by_own_name(place, sent):  # what was sent inside a wrapper is not left out
        return content not in (None, "") or place.node.accepts(content)
    if "type" not in sent:
        return not (content is None or isinstance(content, (list, dict)))
    return fits({SHORT_TYPES.get(sent["type"], sent["type"])}, content, exact_integers=True)


def _is_json_text(node: Node) -> bool:
    """Return whether a text holds JSON, by its format: a value sent in its place may be meant as it is."""
    return "json" in node.formats


def _may_hold_json(node: Node) -> bool:
    """Return whether a text may be to hold JSON, by its format or as any text may."""
    texts = [branch for branch in node.branches if branch.is_only("string") and branch.enum is None]
    is_free = any(not (branch.format or any(branch.values_of("pattern"))) for branch in texts)
    return _is_json_text(node) or is_free


def array_to_scalar(_place: Place, value: list[Any]) -> Iterable[Any]:
    """``[5]`` to 5."""
    return value if len(value) == 1 and not isinstance(value[0], list) else ()


@_guard("the list may be what an object around it wraps")
def _no_wrapper(place: Place, _sent: list[Any], _item: Any) -> bool:
    return len(place.path) < 2 or place.path[-1] not in ("item", "items")


@_guard("the schema names no type, or does so in the branches of a union alone")
def _has_type(place: Place, _sent: list[Any], _item: Any) -> bool:
    return bool(place.node.declared_types)


@_guard("in a list of lists, it may be one of several items")
def _no_inner_list(place: Place, _sent: Any, _items: list[Any]) -> bool:
    return not place.is_item


def scalar_to_array(_place: Place, value: Any) -> Iterable[list[Any]]:
    """``"a"`` to ``["a"]``."""
    return ([value],)


@_guard("it is a text for nothing, or begins like JSON")
def _says_something(_place: Place, sent: Any, _items: list[Any]) -> bool:
    return _is_something(sent)


@_guard("the text may be several items")
def _is_one_item(place: Place, sent: Any, _items: list[Any]) -> bool:
    return _is_not_several(place.node, sent)


def object_to_array(place: Place, value: dict[str, Any] | str) -> Iterator[list[Any]]:
    """``{..}`` to ``[{..}]``, also as JSON text."""
    is_read = isinstance(value, dict) or place.call.policy.allows("json_text_to_object")
    entry = _object_in(place, value) if is_read else None
    if entry:
        yield [entry]


@_guard("the items do not declare each of its names")
def _items_declare_names(place: Place, _sent: Any, items: list[dict[str, Any]]) -> bool:
    return any(items[0].keys() <= branch.properties.keys() for branch in place.node.items.branches)


def delimited_text_to_array(place: Place, text: str) -> Iterable[list[Any]]:
    """``"1,2,3"`` to ``[1, 2, 3]``, and texts whose parts are all enum members."""
    node = place.node
    if len(text) > MAX_SEARCHED:
        return ()
    if node.items.enum is None or node.prefix_items:
        # Each item has its own node; all others have that of `items`, if there may be others.
        rest = () if node.prefix_items and node.items.schema in (None, False) else (node.items,)
        item_types = [frozenset(item.declared_types or ()) for item in (*node.prefix_items, *rest)]
        if not all(types and types <= _NUMBERS for types in item_types):
            return ()
        are_integers = all("integer" in types for types in item_types)
        return _unless_none(numbers_in(text, allow_large_integers=are_integers))
    members, separators = node.items.cached(_texts_and_separators)
    splits = (text.split(separator) for separator in separators if separator in text)
    listed = ([part.strip() for part in parts] for parts in splits)
    return _unless_none(next((parts for parts in listed if members.issuperset(parts)), None))


@_guard("only spaces are between the numbers")
def _has_delimiter(_place: Place, text: str, items: list[Any]) -> bool:
    return isinstance(items[0], str) or "," in text or ";" in text


@_guard("a comma or point may be decimal, or part thousands")
def _no_other_comma(_place: Place, text: str, items: list[Any]) -> bool:
    return isinstance(items[0], str) or not may_be_in_numbers(text)


def _texts_and_separators(node: Node) -> tuple[frozenset[str], Sequence[str]]:
    """Return the texts of an enum that has nothing else, and the signs that may part a list of them, as they are in none."""
    texts = [member for member in node.enum or () if isinstance(member, str)]
    signs = [sign for sign in ",;|\n" if not any(sign in text for text in texts)]
    return frozenset(texts) - {""}, signs if len(texts) == len(node.enum or ()) else ()


# --- names ------------------------------------------------------------------------------------------------

_CALL_ID: Final = "toolCallId"
SOURCES: Final[Mapping[str, str]] = {
    _CALL_ID: "n8n, MCP Client Tool node: github.com/n8n-io/n8n/issues/21500",
    "wait_for_previous": "Gemini CLI, tool scheduling: github.com/google-gemini/gemini-cli",
    "waitForPreviousTools": "Windsurf and Antigravity, tool scheduling: their published tool schemas",
    "task_progress": "Cline, focus chain: github.com/cline/cline",
    "_meta": "MCP, reserved for request metadata: modelcontextprotocol.io/specification/2025-11-25/basic#_meta",
}
"""Every dropped key, with the client that adds it."""
_CONTEXT: Final = "security_context"
_IN_CONTEXT: Final = frozenset({"agent_fingerprint", "task_fingerprint", "metadata"})
"""What CrewAI adds to each call: github.com/crewAIInc/crewAI, tools/tool_usage and issue 4796."""
BESIDE_CALL_ID: Final = frozenset({"action", "sessionId", "chatInput"})
"""Keys of n8n's chat trigger, which its MCP Client Tool sends beside ``toolCallId``."""


def injected_keys(unknown: Collection[Any], declared: Collection[str], also: Collection[str]) -> set[str]:
    """Return the undeclared keys that clients add, or the operator lists, unless they fold to a (folded) declared name."""
    listed = {_CALL_ID, *also, *(BESIDE_CALL_ID if _CALL_ID in unknown else ())}
    added = {*unknown} & {*listed, *SOURCES}
    return {key for key in added if key in listed or fold_name(key.lstrip("_")) not in declared}


def drop_injected(place: Place, value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keys that known clients add dropped."""
    declared, context = place.node.cached(_folded_names), value.get(_CONTEXT)
    injected = injected_keys(place.unknown, declared, place.call.policy.drop)
    if isinstance(context, dict) and {"agent_fingerprint"} <= context.keys() <= _IN_CONTEXT:
        injected |= {_CONTEXT} if fold_name(_CONTEXT) not in declared else set()
    yield from ((key, ABSENT) for key in place.unknown if key in injected)


_Renamed = tuple[str, str | Absent]


@_guard("it is below the arguments")
def _is_at_top(place: Place, _sent: dict[str, Any], _name: _Renamed) -> bool:
    return not place.path


@_guard("the schema does not forbid the name")
def _forbids_names(place: Place, _sent: dict[str, Any], _name: _Renamed) -> bool:
    return place.node.closed


@_guard("in a destructive tool, only `toolCallId` is dropped, and what the operator lists")
def _is_call_id(place: Place, _sent: dict[str, Any], name: _Renamed) -> bool:
    return name[0] == _CALL_ID or name[0] in place.call.policy.drop


def _folded_names(node: Node) -> Mapping[str, Sequence[str]]:
    return by_key((fold_name(name), name) for name in node.properties)


@_guard("the declared name was sent too")
def _not_sent(_place: Place, sent: dict[str, Any], name: _Renamed) -> bool:
    return name[1] not in sent


@_guard("the schema does not forbid the name, and the declared one may be left out")
def _is_refused(place: Place, _sent: dict[str, Any], name: _Renamed) -> bool:
    return place.node.closed or name[1] in place.node.required


def rename_case(place: Place, value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """``maxResults`` to ``max_results``, the only declared name that differs in case style alone."""
    renamed = _in_other_case(place.node, place.unknown)
    yield from (renamed if place.node.closed else _renamed_in_open(place, value, renamed)).items()


def _renamed_in_open(place: Place, value: Mapping[str, Any], alike: Mapping[str, str]) -> dict[str, str]:
    """Return the names that an open object would ignore: in place of required ones, and others in the same style."""
    node = place.node
    free = {key: name for key, name in alike.items() if name not in value and keeps_unit(node, key, name)}
    renamed = {key: name for key, name in free.items() if name in node.required}
    if place.call.by_schema:
        in_other_style = names_in_other_style(node, value)
        renamed |= {key: in_other_style[key] for key in place.unknown if key in in_other_style}
    if renamed and node.additional in (None, True, {}):
        # A client that changes the case style of one name changes it for the other names of the object too.
        has_style = style_of(renamed)
        renamed |= {key: name for key, name in free.items() if has_style(key)}
    return renamed


def names_in_other_style(node: Node, value: Mapping[str, Any]) -> dict[str, str]:
    """Return the declared, absent name for each undeclared one that has the same words in another case style.

    Only where the schema does not say whether other names than the declared ones are read.
    """
    says_all = not node.properties or node.additional is not None or node.patterns or node.closed
    if says_all or value.keys() <= node.properties.keys():
        return {}
    unknown = (key for key in value if isinstance(key, str) and key not in node.properties)
    return {
        key: name
        for key, name in _in_other_case(node, unknown).items()
        if name not in value and name_words(key) == name_words(name) and keeps_unit(node, key, name)
    }


def _in_other_case(node: Node, unknown: Iterable[str]) -> dict[str, str]:
    """Return the declared name for each undeclared one that differs from it in case style alone."""
    folded = node.cached(_folded_names)
    return {key: name for key in unknown if len(key) > 1 and (name := case_target(key, folded))}


def keeps_unit(node: Node, sent: str, name: str) -> bool:
    """Return whether no case in a name is a unit's: that of a number as a whole, that of others in a short last word."""
    if sent in renderings(name):
        return True
    types_of_branches = [branch.accepted_types for branch in node.property_nodes[name].branches]
    if any(not types.isdisjoint(_NUMBERS) for types in types_of_branches):
        return is_identifier(name)
    if all(types and types <= {"boolean", "null"} for types in types_of_branches):
        return True
    is_text = all(types and types <= {"string", "null"} for types in types_of_branches)
    # `imageURL` is an acronym; a text has its unit with it, if any.
    return (is_text and sent.isalnum() and sent[-2:].isupper()) or not ends_in_other_case(sent, name)


@_guard("its case may be that of a unit")
def _no_unit(place: Place, _sent: dict[str, Any], name: tuple[str, str]) -> bool:
    return keeps_unit(place.node, *name)


@_guard("a missing object of any names may hold it")
def _no_holder(place: Place, sent: dict[str, Any], name: tuple[str, str]) -> bool:
    return name[1] in place.node.required or not has_holder(place.node, sent)


@_guard("in a destructive tool, a name has to have the same words")
def _has_same_words(_place: Place, _sent: dict[str, Any], name: tuple[str, str]) -> bool:
    return name_words(name[0]) == name_words(name[1])


def rename_quoted(place: Place, _value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """``'command'`` to ``command``: a declared name inside one pair of quotes."""
    names = place.node.properties
    yield from ((key, key[1:-1]) for key in place.unknown if key != bare_key(key) in names)


def rename_qualified(place: Place, value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """``visit_date`` to the only missing name, ``date``, whose description begins with these words: "Visit date"."""
    node, unknown = place.node, place.unknown
    missing = [name for name in node.required if name not in value]
    if len(missing) == len(unknown) == 1:
        (sent,), (name,) = unknown, missing
        if name in node.properties and is_qualified(sent, name) and is_described_as(node, name, sent):
            yield sent, name


@_guard("the schema says what other names hold")
def _describes_no_others(place: Place, _sent: dict[str, Any], _name: _Renamed) -> bool:
    return place.node.additional in (None, False) and not place.node.patterns


@_guard("the declared name does not take the value")
def _takes_value(place: Place, sent: dict[str, Any], name: tuple[str, str]) -> bool:
    return place.node.property_nodes[name[1]].accepts(sent[name[0]])


def is_qualified(sent: str, name: str) -> bool:
    """Return whether a name is another one with words in front, and neither is an identifier or a secret."""
    ours, theirs = name_words(sent), name_words(name)
    is_longer = bool(theirs) and len(ours) > len(theirs) and ours[-len(theirs) :] == theirs
    return is_longer and not (is_identifier(name) or is_secret_name(sent) or is_secret_name(name))


_ARTICLES: Final = frozenset(("the", "a", "an"))


def is_described_as(node: Node, name: str, sent: str) -> bool:
    """Return whether the description of a value, not of a boolean, begins with the words of a name."""
    child, words = node.property_nodes[name], name_words(sent)
    texts = (*child.values_of("description"), *child.branch_values_of("description"))
    opening = [name_words(text[:_LONGEST_OPENING]) for text in texts if isinstance(text, str)]
    opening += [text[1:] for text in opening if text[:1] and text[0] in _ARTICLES]
    is_statement = any(text[: len(words)] == words for text in opening)
    return is_statement and not child.accepts_any_type and "boolean" not in child.accepted_types


def rename_alias(place: Place, _value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """An alias that the author or operator declared, to the parameter's name."""
    owners = {other: name for name, others in place.call.policy.aliases.items() for other in others}
    names = place.node.properties
    yield from ((key, owners[key]) for key in place.unknown if owners.get(key) in names)


# --- the whole call ---------------------------------------------------------------------------------------

_Arguments = dict[str, Any]
WRAPPERS: Final = frozenset(
    "args input params arguments parameters kwargs properties raw_arguments tool_input".split()
)
"""Names that callers wrap the whole arguments in, and that servers have for an object of them."""
_ONLY_WRAPPERS: Final = WRAPPERS | frozenset("action_input body data payload request".split())
"""Names that callers wrap the whole arguments in."""
_PLACEHOLDER: Final = re.compile(r"\$[A-Z]+(?:_[A-Z]+)*")


def is_placeholder(key: object) -> bool:
    """Return whether a key is a variable of a prompt's template (``$PARAMETER_NAME``), and no operator (``$not``)."""
    return isinstance(key, str) and _PLACEHOLDER.fullmatch(key) is not None


def unwrap_arguments(place: Place, arguments: _Arguments) -> Iterator[_Arguments]:
    """``{"args": {..}}`` and the call as its own arguments to ``{..}``, and ``params`` to a required ``arguments``."""
    node, call = place.node, place.call
    unknown = [key for key in arguments if key not in node.properties]
    is_call = bool(unknown) and arguments.keys() == {"name", "arguments"} and isinstance(call.tool, str)
    if is_call and arguments["name"] == call.tool:
        yield from _unless_none(_object_in(place, arguments["arguments"]))
    if len(arguments) == 1:
        yield from _in_only_key(place, *arguments.items())
    if len(unknown) == 1 and unknown[0] in WRAPPERS:
        yield from _with_renamed_wrapper(place, arguments, unknown[0])


@_guard("in a destructive tool, only a known wrapper around all arguments is taken off")
def _wraps_whole_call(place: Place, arguments: _Arguments, _unwrapped: _Arguments) -> bool:
    is_wrapper = len(arguments) == 1 and arguments.keys() <= _ONLY_WRAPPERS
    return is_wrapper or is_empty_key_alone(place.node, arguments)


def _in_only_key(place: Place, entry: tuple[str, Any]) -> Iterator[_Arguments]:
    node, (key, value) = place.node, entry
    if key in node.properties:
        holds_key = isinstance(value, dict) and len(value) > 1 and key in value
        child = node.property_nodes[key]
        may_be_object = child.accepts_any_type or "object" in child.accepted_types or _is_json_text(child)
        if holds_key and not may_be_object and value.keys() <= node.properties.keys():
            yield value
    elif is_empty_key_alone(node, {key: value}):
        yield {}
    elif (is_wrapper := key in _ONLY_WRAPPERS or is_placeholder(key)) or value in ("", None, {}):
        inner = _object_in(place, value if is_wrapper else key)
        yield from (inner,) if inner and not (key == "properties" and _is_of_schemas(inner)) else ()


def is_empty_key_alone(node: Node, arguments: Any) -> bool:
    """Return whether arguments are an empty name without a value, for a tool without parameters."""
    is_unnamed = isinstance(arguments, Mapping) and arguments.keys() == {""}
    takes_none = not node.properties and any(properties == {} for properties in node.values_of("properties"))
    return is_unnamed and takes_none and arguments[""] in ("", None, {}, [])


def _is_of_schemas(content: _Arguments) -> bool:
    schemas = [value for value in content.values() if isinstance(value, dict) and "value" not in value]
    are_typed = all(schema.get("type") in SHORT_TYPES.values() for schema in schemas)
    return len(schemas) == len(content) and are_typed


def _with_renamed_wrapper(place: Place, arguments: _Arguments, wrapper_key: str) -> Iterator[_Arguments]:
    """Yield the arguments with a wrapper renamed to the missing required object that has such a name."""
    node, content = place.node, _object_in(place, arguments[wrapper_key])
    names = node.required & WRAPPERS & node.properties.keys() - arguments.keys()
    missing = [name for name in names if node.property_nodes[name].is_only("object")]
    if content and len(missing) == 1:
        renamed = {wrapper_key: (missing[0], content)}
        yield dict(renamed.get(key, (key, value)) for key, value in arguments.items())


def _object_in(place: Place, value: Any) -> _Arguments | None:
    if isinstance(value, str):
        parsed = place.call.parsed(value, JSON)
        value = parsed and parsed.value
    return value if isinstance(value, dict) else None


def wrap_arguments(place: Place, arguments: _Arguments) -> Iterator[_Arguments]:
    """Flat fields to the object that they belong to: the only parameter, or the only missing one or its only item."""
    node = place.node
    if arguments and len(node.properties) == 1:
        ((name, parameter),) = node.property_nodes.items()
        same_named = [
            branch.property_nodes[name] for branch in parameter.branches if name in branch.properties
        ]
        type_lists = (branch.declared_types or () for child in same_named for branch in child.branches)
        has_same_named_list = any("array" in types for types in type_lists)
        # A scalar in place of the object may be meant for any of its properties.
        may_be_wrapped = name not in arguments or (has_same_named_list and isinstance(arguments[name], list))
        declares_all = any(arguments.keys() <= branch.properties.keys() for branch in parameter.branches)
        if may_be_wrapped and declares_all:
            yield {name: arguments}
    flat = {key: value for key, value in arguments.items() if key not in node.properties}
    missing = [*(node.required - arguments.keys())] if flat else []
    if len(missing) == 1:
        (name,) = missing
        others = {key: value for key, value in arguments.items() if key not in flat}
        if _is_missing_wrapper_for(node, name, arguments, flat):
            yield {**others, name: flat}
        if _is_only_list_of(node, name, flat):
            yield {**others, name: [flat]}


def _is_missing_wrapper_for(node: Node, name: str, arguments: _Arguments, flat: _Arguments) -> bool:
    """Return whether flat fields belong in the only parameter missing: an open object that has a name for such fields."""
    nodes = node.property_nodes
    # One of another name would swallow misspelled names and those of another tool.
    holders = {holder for holder in node.required & WRAPPERS & nodes.keys() if is_free_object(nodes[holder])}
    if not {name} == holders == nodes.keys() - arguments.keys():
        return False
    # A wrapper, or a single object, may be the parameter itself under another name.
    declared, (first, *more) = frozenset(map(singular, nodes)), flat.values()
    is_object = isinstance(first, dict) or (isinstance(first, str) and looks_like_json(first))
    is_other = any(key in WRAPPERS or _is_declared_otherwise(key, declared) for key in flat)
    return not is_other and (bool(more) or not is_object)


def _is_only_list_of(node: Node, name: str, flat: _Arguments) -> bool:
    """Return whether flat fields are an item of a list, and no identifier: `device_id` may be another parameter's."""
    nodes = node.property_nodes
    lists = [(key, branch) for key in nodes for branch in nodes[key].branches if branch.may_be("array")]
    if {key for key, _ in lists} != {name}:
        return False
    items = (item for _, branch in lists for item in branch.items.branches)
    is_item = any(item.closed and flat.keys() <= item.properties.keys() for item in items)
    return is_item and not any(map(is_identifier, flat))


def _is_declared_otherwise(key: object, declared: Collection[str]) -> bool:
    """Check whether a key is a declared name in another case or number, or a path into the value of one."""
    return not isinstance(key, str) or singular(re.split(r"[.\[]", key, maxsplit=1)[0]) in declared


def has_holder(node: Node, sent: Mapping[str, Any]) -> bool:
    """Return whether an object of any names is missing, in which undeclared names may belong."""
    keys = {fold_name(key) for key in sent if isinstance(key, str)}
    missing = [name for name in node.required if name in node.properties and fold_name(name) not in keys]
    return any(is_free_object(node.property_nodes[name]) for name in missing)


def is_free_object(node: Node) -> bool:
    """Return whether a node takes nothing but objects, of any names."""
    return node.is_only("object") and not (node.properties or node.patterns or node.closed)


_PATH_NAME: Final = re.compile(r"[^.\[\]]+(?:\[(?:0|[1-9][0-9]{0,3})\]|\.[^.\[\]]+){1,15}")
_STEP: Final = re.compile(r"\[(?P<index>[0-9]+)\]|(?P<name>[^.\[\]]+)")


def nest_arguments(place: Place, arguments: _Arguments) -> Iterator[_Arguments]:
    """``{"todos[0].id": 1, "todos[0].title": "a"}`` to ``{"todos": [{"id": 1, "title": "a"}]}``."""
    named = [key for key in arguments if isinstance(key, str) and _PATH_NAME.fullmatch(key)]
    if not named:
        return
    declared = place.node.properties
    # A declared name may itself be a path, `filter.name`, and so may others that begin like it.
    literal = {re.split(r"[.\[]", name, maxsplit=1)[0] for name in declared if "." in name or "[" in name}
    holders = declared.keys() - literal
    paths = {key: path for key in named if (path := _steps(key))[0] in holders}
    is_free = arguments.keys().isdisjoint(path[0] for path in paths.values())
    if paths and is_free and all(_is_declared_path(place.node, path) for path in paths.values()):
        others = {key: value for key, value in arguments.items() if key not in paths}
        for nested in _nested({path: arguments[key] for key, path in paths.items()}):
            yield {**others, **nested}


def _steps(key: str) -> Path:
    return tuple(match["name"] or int(match["index"]) for match in _STEP.finditer(key))


def _is_declared_path(top: Node, steps: Path) -> bool:
    """Return whether the schema declares each step of a path, or the last is into an object of a call's arguments."""
    reached = [top]
    for index, step in enumerate(steps):
        branches = [branch for node in reached for branch in node.branches]
        # In another object of any names, the whole path may be a name: `files.py` for `files`.
        if index == 1 == len(steps) - 1 and steps[0] in WRAPPERS and any(map(is_free_object, branches)):
            return isinstance(step, str)
        if isinstance(step, int):
            lists = [branch for branch in branches if branch.is_only("array") and not branch.prefix_items]
            reached = [branch.items for branch in lists if branch.items.schema is not None]
        else:
            reached = [branch.property_nodes[step] for branch in branches if step in branch.properties]
    return bool(reached)


def _nested(values: Mapping[Path, Any]) -> tuple[Any, ...]:
    """Return the value that has these values at their paths; nothing if two paths collide or an index is missing."""
    if () in values:
        return tuple(values.values()) if len(values) == 1 else ()
    parts: dict[str | int, dict[Path, Any]] = {}
    for (first, *rest), value in values.items():
        parts.setdefault(first, {})[tuple(rest)] = value
    built = {step: inner for step, part in parts.items() for inner in _nested(part)}
    if built.keys() == parts.keys() and all(isinstance(step, str) for step in built):
        return (built,)
    return ([built[index] for index in range(len(built))],) if built.keys() == {*range(len(parts))} else ()


# --- the table --------------------------------------------------------------------------------------------

_TEXT: Final = ("string",)
_SCALAR_TYPES: Final = ("string", "integer", "number", "boolean")
_LISTS_VALUES: Final = Guard("lists_values", "no allowed values are listed", attrgetter("has_enum"))
_INTEGER_GUARDS: Final = (_no_thousands, _is_whole, _no_octal)
_TEXT_GUARDS: Final = (_no_format, _numbers_alone, _keeps_all_digits)
_EMPTY_GUARDS: Final = (_has_no_default, _widens_nothing)
_WRAPPED_GUARDS: Final = (_cannot_be_item, _holds_no_json, _holds_one_value)
_SCALAR_GUARDS: Final = (_no_wrapper, _has_type, _holds_no_json)
_ITEM_GUARDS: Final = (_no_inner_list, _says_something, _is_one_item)
_OBJECT_GUARDS: Final = (_no_inner_list, _items_declare_names)
_PARTS_GUARDS: Final = (_has_delimiter, _no_other_comma)
_parsing = partial(ValueRule, takes=_TEXT, chains=True)
_leaving_out = partial(ValueRule, gives=("absent",), keeps=_is_default)
_literal = partial(ValueRule, literal=True)

DEFAULT_RULES: tuple[Rule, ...] = (
    _parsing("json_text_to_array", 1, _parsed("array", list, "json"), gives=("array",), literal=True),
    _parsing("json_text_to_object", 1, _parsed("object", dict, "json"), gives=("object",), literal=True),
    _parsing("json5_text_to_array", 2, _parsed("array", list, "json5"), gives=("array",)),
    _parsing("json5_text_to_object", 2, _parsed("object", dict, "json5"), gives=("object",)),
    _parsing("python_text_to_array", 2, _parsed("array", list, "python"), gives=("array",)),
    _parsing("python_text_to_object", 2, _parsed("object", dict, "python"), gives=("object",)),
    _literal("text_to_integer", 1, text_to_integer, _TEXT, ("integer",), guards=_INTEGER_GUARDS),
    _literal("text_to_number", 1, _by_value(number_in_text), _TEXT, ("number",), guards=(_is_exact,)),
    _literal("whole_float_to_integer", 1, _by_value(whole_float), ("number",), ("integer",)),
    _literal("text_to_boolean", 1, text_to_boolean, _TEXT, ("boolean",), guards=(_is_json_word,)),
    ValueRule("integer_to_boolean", 4, _by_value({0: False, 1: True}.get), ("integer",), ("boolean",)),
    ValueRule("number_to_text", 4, number_to_text, _NUMBERS, ("string",), guards=_TEXT_GUARDS),
    ValueRule("fold_enum", 1, fold_enum, _TEXT, asks=_LISTS_VALUES, guards=(_is_one_member,)),
    ValueRule(
        *("null_text_to_null", 1, null_text_to_null, _TEXT),
        asks=_takes_null_but_no_words,
        guards=(_no_listed_word,),
        keeps=False,
    ),
    _leaving_out("null_text_to_absent", 1, _left_out("null", "None"), _TEXT, asks=_takes_no_null_or_text),
    _leaving_out("null_to_absent", 2, _left_out(None), ("null",), asks=_null_is_absent),
    _leaving_out("empty_text_to_absent", 2, _left_out(""), _TEXT, guards=_EMPTY_GUARDS),
    NameRule("drop_injected", 2, drop_injected, guards=(_is_at_top, _forbids_names), keeps=_is_call_id),
    NameRule("rename_case", 1, rename_case, guards=(_not_sent, _no_unit, _no_holder), keeps=_has_same_words),
    NameRule("rename_quoted", 1, rename_quoted, guards=(_not_sent,)),
    NameRule("rename_alias", 2, rename_alias, guards=(_is_at_top, _not_sent, _is_refused)),
    NameRule(
        "rename_qualified",
        4,
        rename_qualified,
        guards=(_not_in_union, _describes_no_others, _takes_value),
        keeps=False,
    ),
    ValueRule(
        *("item_wrapper_to_array", 4, item_wrapper_to_array, ("object", "array"), ("array",)),
        chains=True,
        guards=(_holds_items, _not_taken_as_item),
    ),
    ValueRule("wrapped_value", 4, wrapped_value, ("object",), chains=True, guards=_WRAPPED_GUARDS),
    ValueRule("array_to_scalar", 4, array_to_scalar, ("array",), _SCALAR_TYPES, guards=_SCALAR_GUARDS),
    ValueRule("scalar_to_array", 8, scalar_to_array, _SCALAR_TYPES, ("array",), guards=_ITEM_GUARDS),
    ValueRule("object_to_array", 8, object_to_array, ("object", "string"), ("array",), guards=_OBJECT_GUARDS),
    ValueRule("delimited_text_to_array", 8, delimited_text_to_array, _TEXT, ("array",), guards=_PARTS_GUARDS),
    CallRule("unwrap_arguments", 8, unwrap_arguments, keeps=_wraps_whole_call),
    CallRule("wrap_arguments", 8, wrap_arguments),
    CallRule("nest_arguments", 8, nest_arguments),
)
"""Every rule, in the order it is tried; the rule catalogue describes each."""

RENAME_TOOL: Final = "rename_tool"
"""The name of the repair of a tool's name, which is read before there is a schema: no line of the table."""
TIER_OF: Final[Mapping[str, Tier]] = {**{rule.name: rule.tier for rule in DEFAULT_RULES}, RENAME_TOOL: 1}
"""The tier of every repair of the library."""
