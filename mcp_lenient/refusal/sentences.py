"""Say what a schema expects: types, values, limits and properties in words, and a small example."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from mcp_lenient.schema.node import Node
from mcp_lenient.types import Fault
from mcp_lenient.values.display import (
    cut,
    first_sentences,
    fits_json,
    in_json,
    is_quotable,
    short_scalar,
    shown,
)
from mcp_lenient.values.json_values import Break, json_type
from mcp_lenient.values.language import ONE_OF_A_TYPE, Language, Text, marked, marked_plural

MAX_VALUES: Final = 50
NAMES_TEXT: Final = 400
_VALUES_TEXT: Final = 300
_MAX_LISTED: Final = 20
_MAX_TYPES: Final = 8
_MAX_ITEM_TYPES: Final = 3
_MAX_CHOICES: Final = 4
_MAX_DESCRIPTION: Final = 160
_MAX_BOUND: Final = 200
_MAX_FORMAT: Final = 40
_MAX_EXAMPLE: Final = 160
_EXAMPLE_DEPTH: Final = 3
_SHORTEST_CUT_OFF: Final = 500
"""Characters of the shortest text that an output limit may have ended."""

_PLURALS: Final = {
    "string": marked("strings"),
    "integer": marked("integers"),
    "number": marked("numbers"),
    "boolean": marked("booleans"),
    "array": marked("arrays"),
    "object": marked("objects"),
    "null": marked("null"),
}
SAMPLES: Final = {
    "date-time": "2026-01-31T09:30:00Z",
    "date": "2026-01-31",
    "time": "09:30:00Z",
    "duration": "PT1H30M",
    "email": "name@example.com",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "uri": "https://example.com/a",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "json": "[1, 2]",
}
"""The formats that are named with the type, with a sample of each."""
_SCALARS: Final[Mapping[str, tuple[Any, ...]]] = {
    "string": ("...", "a"),  # no one takes the first for a real one
    "integer": (1, 2),
    "number": (1.5, 2),
    "boolean": (True,),
}
_LIMITS: Final = {
    "minimum": marked("be at least {bound}"),
    "maximum": marked("be at most {bound}"),
    "exclusiveMinimum": marked("be greater than {bound}"),
    "exclusiveMaximum": marked("be less than {bound}"),
    "multipleOf": marked("be a multiple of {bound}"),
    "pattern": marked("match the pattern {bound}"),
    "uniqueItems": marked("contain no item twice"),
}
"""What each keyword requires, to follow "must"."""
_LEAST_OR_MOST: Final = {"min": marked("have at least {size}"), "max": marked("have at most {size}")}
MORE_FAULTS: Final = marked_plural("{count} more fault was found.", "{count} more faults were found.")
SIZES: Final = {
    "Length": marked_plural("{count} character", "{count} characters"),
    "Items": marked_plural("{count} item", "{count} items"),
    "Properties": marked_plural("{count} property", "{count} properties"),
}
"""What a keyword counts, by its ending: ``minLength`` counts characters."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a place of a schema takes, in words.

    Attributes:
        types: Its types, such as ``array of strings``.
        values: The allowed values; empty if others are accepted.
        expected: One phrase: ``an array of strings or null``; empty if anything is accepted.
        contents: A sentence about the properties of the object, or the items of the list; may be empty.
        alternatives: The same where one of several objects or values is expected; else empty.
        types_say_all: Whether the types say all that an example would show.
        meaning: A sentence that repeats the beginning of the author's description; empty if there is none.
    """

    types: tuple[str, ...]
    values: tuple[Any, ...]
    expected: str
    contents: str
    alternatives: str
    types_say_all: bool
    meaning: str


def wanted_at(node: Node, say: Language) -> Wanted:
    """Return what a place takes; call it by :meth:`mcp_lenient.schema.node.Node.cached`, which caches it."""
    owners, is_list = _owners(node)
    is_choice = len(owners) > 1 or (is_list and all(branch.enum is not None for branch in owners))
    contents = _contents(owners, say, is_list=is_list)
    about = description(node).rstrip(".。, ")
    return Wanted(
        type_words(node),
        allowed_values(node),
        describe(node, say),
        contents,
        contents if is_choice else "",
        _types_say_all(node),
        say("It means: {about}.", about=about) if about else "",
    )


# --- types and values -------------------------------------------------------------------------------------

_Kind = tuple[str, tuple[str, ...]]
"""A JSON type, and the types of an array's items, if they are few."""
_NULL: Final[_Kind] = ("null", ())


def likely_types(branch: Node) -> tuple[str, ...]:
    """Return the JSON types that a branch declares, or else those of its enum; an object if it has properties."""
    if branch.declared_types is not None:
        return tuple([kind for kind in branch.declared_types if kind in _PLURALS])
    if branch.enum is not None:
        return tuple(dict.fromkeys(map(json_type, branch.enum[:MAX_VALUES])))
    return ("object",) if branch.properties else ()


def _kinds(branches: Iterable[Node]) -> list[_Kind]:
    kinds: dict[_Kind, None] = {}
    for branch in branches:
        item_types = dict.fromkeys(name for item in branch.items.branches for name in likely_types(item))
        items = () if branch.prefix_items or len(item_types) > _MAX_ITEM_TYPES else tuple(item_types)
        kinds |= dict.fromkeys((name, items if name == "array" else ()) for name in likely_types(branch))
    return sorted(kinds, key=lambda kind: kind == _NULL)[:_MAX_TYPES]


def type_words(node: Node) -> tuple[str, ...]:
    """Return the expected types, such as ``array of strings``; ``null`` comes last."""
    kinds = [(name, " or ".join(_PLURALS[item] for item in items)) for name, items in _kinds(node.branches)]
    return tuple(f"{name} of {items}" if items else name for name, items in kinds)


def _types_say_all(node: Node) -> bool:
    """Return whether the types say all that an example would show, as of lists of scalars."""
    return all(name == "null" or (items and "object" not in items) for name, items in _kinds(node.branches))


def describe(node: Node, say: Language, *, all_values: bool = False) -> str:
    """Return what is expected in one phrase: ``an array of strings or null``; empty if anything is accepted.

    Args:
        node: The place.
        say: The language.
        all_values: Whether a long list of allowed values is not cut.
    """
    free = [branch for branch in node.branches if branch.enum is None]
    phrases = {kind: _phrase(kind, free, say) for kind in _kinds(free)}
    null = phrases.pop(_NULL, "")
    values = [value for value in allowed_values(node, partly=True) if value is not None or not null]
    texts = list(map(in_json, values))
    listed = say.comma(texts) if all_values else first_of(texts, _VALUES_TEXT, say)
    if len(values) > 1:
        listed = say("one of {values}", values=listed)
    # An array of several types comes last: its "or" would take in the next choice.
    mixed_arrays = [phrase for (_, items), phrase in phrases.items() if len(items) > 1]
    others = [phrase for phrase in phrases.values() if phrase not in mixed_arrays]
    return say.either([phrase for phrase in (*others, listed, null, *mixed_arrays) if phrase])


def _phrase(kind: _Kind, free: Iterable[Node], say: Language) -> str:
    name, items = kind
    if items:
        return say("an array of {items}", items=say.either([say(_PLURALS[item]) for item in items]))
    formats = dict.fromkeys(branch.format or "" for branch in free if "string" in likely_types(branch))
    if name == "string" and SAMPLES.keys() >= formats.keys():
        return say("a string ({formats})", formats=say.either([*formats]))
    return say(ONE_OF_A_TYPE[name])


def allowed_values(node: Node, *, partly: bool = False) -> tuple[Any, ...]:
    """Return the enum values that are short scalars; empty unless ``partly`` or if every branch but null has an enum."""
    if not partly and any(branch.enum is None for branch in _without_null(node)):
        return ()
    return tuple({(type(value), value): value for value in filter(short_scalar, node.members)}.values())


def first_of(parts: Sequence[str], limit: int, say: Language) -> str:
    """Return the first parts of a list, within 20 parts and a number of characters, and the number of the others."""
    listed = list(parts[:_MAX_LISTED])
    while len(listed) > 1 and sum(map(len, listed)) > limit:
        listed.pop()
    rest = len(parts) - len(listed)
    return and_more(listed, rest, say) if rest else say.comma(listed)


def and_more(parts: Sequence[str], rest: int, say: Language) -> str:
    """List parts, and the number of the others."""
    if not rest:
        return say.all_of(parts)
    return say("{some} and {count} more", some=say.comma(parts), count=rest)


def requirement_of(fault: Fault, say: Language) -> str:
    """Return what the keyword of a fault requires, to follow "must"; empty if that is not said in words."""
    if not fault.alternatives:
        return "" if fault.keyword is None else requirement(fault.keyword, fault.bound, say)
    choices = [say.all_of([requirement_of(part, say) for part in faults]) for faults in fault.alternatives]
    return say.either(list(dict.fromkeys(choices))) if all(choices) and len(choices) <= _MAX_TYPES else ""


def requirement(keyword: str, bound: Any, say: Language) -> str:
    """Return what a keyword requires, to follow "must"; empty if that is not said in words."""
    if keyword == "format":
        thing, sample = cut(str(bound), _MAX_FORMAT), SAMPLES.get(str(bound))
        if sample:
            thing = say("{thing} such as {sample}", thing=thing, sample=in_json(sample))
        return say("have the format {thing}", thing=thing)
    if keyword[3:] in SIZES:
        return say(_LEAST_OR_MOST[keyword[:3]], size=say.plural(*SIZES[keyword[3:]], int(bound)))
    if isinstance(bound, str):  # a pattern, whose backslashes JSON would double
        text = f'"{shown(bound, _MAX_BOUND)}"'
    else:
        text = cut(in_json(bound), _MAX_BOUND) if isinstance(bound, (int, float)) else ""
    return say(_LIMITS[keyword], bound=text) if keyword in _LIMITS else ""


def quoted(name: object) -> str:
    """Return a name in quotes, as it is shown."""
    return f"'{shown(name)}'"


def description(node: Node) -> str:
    """Return the first sentences of the author's description."""
    texts = (*node.values_of("description"), *node.branch_values_of("description"))
    return next(filter(None, (first_sentences(text, _MAX_DESCRIPTION) for text in texts)), "")


# --- the properties of an object, and examples --------------------------------------------------------------


def _contents(owners: Sequence[Node], say: Language, *, is_list: bool) -> str:
    """Return a sentence about the properties of an object, or the items of a list; empty if there is none."""
    if is_list and len(owners) == 1 and owners[0].enum is not None:
        return say("Each item must be {expected}.", expected=describe(owners[0], say))
    names = _properties(owners[0], say) if len(owners) == 1 else _either(owners, say)
    form = marked("Each item has {names}.") if is_list else marked("It has {names}.")
    return say(form, names=names) if names else ""


def _owners(node: Node) -> tuple[list[Node], bool]:
    """Return the branches that may have properties, and whether they are of a list's items."""
    branches = _without_null(node)
    is_list = len(branches) == 1 and branches[0].is_only("array")
    return _without_null(branches[0].items) if is_list else branches, is_list


def _either(branches: Sequence[Node], say: Language) -> str:
    """Return the required properties of several objects; empty if there are too many objects, or one requires none."""
    required = [list(filter(is_quotable, branch.required)) for branch in branches]
    if not 1 < len(required) <= _MAX_CHOICES or not all(required):
        return ""
    choices = [
        say.all_of([_property(branch, name, say) for name in names[:_MAX_TYPES]])
        for branch, names in zip(branches, required, strict=True)
    ]
    return say("either {ways}", ways=say.either(choices))


def _without_null(node: Node) -> list[Node]:
    return [branch for branch in node.branches if likely_types(branch) != ("null",)]


def _properties(branch: Node, say: Language) -> str:
    names = sorted(filter(is_quotable, branch.properties), key=lambda name: name not in branch.required)
    return first_of([_property(branch, name, say) for name in names], NAMES_TEXT, say)


def _property(branch: Node, name: str, say: Language) -> str:
    child = branch.child(name)
    kind = describe(child, say) if child else ""
    if kind and name not in branch.required:
        kind = say("{kind}, optional", kind=kind)
    return f"'{name}' ({kind})" if kind else f"'{name}'"


_BREAKS: Final = marked("{its} breaks at character {at:,}, {where}.")
_BREAKS_BY_QUOTE: Final = marked(
    "{its} breaks at character {at:,}, {where}. A quote within a text is written with a backslash."
)
_IS_OPEN: Final = marked("{its} has a string that begins at character {at:,}, {where}, and does not end.")
_ENDS: Final = marked(
    "{its} ends after {count:,} characters, {where}. Send it again in full; do not just close the brackets."
)
_IS_CUT_OFF: Final = marked(
    "{its} ends after {count:,} characters, {where}; an output limit may have cut it off. "
    "Send it in smaller pieces, or write the content to a file first."
)


def broken_json(broken: Break, *, whole: bool = False) -> Text:
    """Return a sentence that says where the JSON of a value, or of the whole arguments, breaks."""
    its = Text("the JSON of the arguments") if whole else Text("Its JSON")
    where = Text("inside the {bracket} at character {opened:,}", bracket=broken.bracket, opened=broken.opened)
    if not broken.is_end:
        form = _IS_OPEN if broken.is_open else _BREAKS_BY_QUOTE if broken.by_quote else _BREAKS
        return Text(form, its=its, at=broken.at + 1, where=where)
    form = _ENDS if broken.at < _SHORTEST_CUT_OFF else _IS_CUT_OFF
    return Text(form, its=its, count=broken.at, where=where)


def example(node: Node) -> str | None:
    """Return a small accepted value as JSON; None if there is none."""
    for branch in node.branches:
        values = _simple_values(branch, 0) if likely_types(branch)[:1] != ("null",) else ()
        if values and fits_json(values[0], _MAX_EXAMPLE):
            return in_json(values[0])
    return None


def _simple_values(branch: Node, depth: int) -> Sequence[Any]:
    """Return the two simplest values that a branch accepts, or fewer."""
    kind = next((kind for kind in likely_types(branch) if kind != "null"), "")
    ends = (*branch.values_of("minimum"), *branch.values_of("maximum"))
    candidates: Sequence[Any] = (*_SCALARS.get(kind, ()), *ends)
    if branch.enum is not None:
        candidates = branch.enum[:MAX_VALUES]
    elif kind in ("array", "object"):
        build = _simple_lists if kind == "array" else _simple_objects
        candidates = build(branch, depth + 1) if depth < _EXAMPLE_DEPTH else ()
    elif kind == "string" and branch.format:
        candidates = [SAMPLES[branch.format]] if branch.format in SAMPLES else ()
    return [*islice(filter(branch.accepts, candidates), 2)]


def _simplest(node: Node, depth: int) -> Sequence[Any]:
    return next(filter(None, (_simple_values(branch, depth) for branch in node.branches)), ())


def _simple_lists(branch: Node, depth: int) -> Sequence[Any]:
    if branch.prefix_items:
        items = [_simplest(item, depth) for item in branch.prefix_items[:_MAX_TYPES]]
        return [[values[0] for values in items]] if all(items) else ()
    values = list(_simplest(branch.items, depth))
    is_long = isinstance(next(iter(values), None), (list, dict, str))
    return [values[:1] if is_long else values, values[:1]] if values else ()


def _simple_objects(branch: Node, depth: int) -> Sequence[Any]:
    if not branch.required and len(branch.properties) > 1:
        return ()  # any choice of them would look like what is meant
    names = list(filter(is_quotable, branch.required or branch.properties or ["key"]))
    instance: dict[str, Any] = {}
    for name in names:
        child = branch.child(name)
        is_free = child is None and depth > 1 and not branch.properties
        values = _SCALARS["string"] if is_free else _simplest(child, depth) if child else ()
        instance.update({name: values[0]} if values else {})
    return [instance] if instance else ()
