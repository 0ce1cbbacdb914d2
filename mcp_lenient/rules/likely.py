"""What a refused value or name was likely meant as, but not certainly: never used, only offered to the caller as a fix."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

from mcp_lenient.rules.rules import ABSENT, WRAPPERS, Place, Rule, allows_one_value, injected_keys, keeps_unit
from mcp_lenient.rules.words import IDENTIFIERS, Codes, case_matters, is_identifier
from mcp_lenient.schema.node import Node
from mcp_lenient.values.display import (
    MAX_NAME,
    exact,
    in_json,
    is_name,
    name_words,
    secret_name,
    short_scalar,
)
from mcp_lenient.values.json_values import json_type, may_be_rounded, same_json
from mcp_lenient.values.names import SPELLING, fold_case, fold_name, likeness, same_word, singular

_MAX_NAMES: Final = 300
_MAX_KEYS: Final = 1_000
_MAX_UNKNOWN: Final = 20
_MAX_TEXT: Final = 200
_MAX_NEAR: Final = 3
_MAX_HOLDERS: Final = 3
_MAX_WORDS: Final = 4
"""Words of an item of a list that was sent as text."""

# --- values -----------------------------------------------------------------------------------------------

_NOTHING: Final = frozenset(
    ("", "-", "null", "none", "nil", "undefined", "n/a", "unknown", "unspecified", "not specified")
)
_AROUND: Final = " \t\r\n[]\"'`"
_SIGN: Final = re.compile(r"[,;\n]")
_SEPARATORS: Final = re.compile(r"\s*[,;\n]\s*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,10})?")
_THOUSANDS: Final = re.compile(r"-?[1-9][0-9]{0,2}(?:,[0-9]{3})+")
_WORD: Final = re.compile(r"[\d_-]*[^\W\d_][\w-]*")
_DIGITS: Final = re.compile(r"\d+")
_REPEATED: Final = re.compile(r"([^\w\s]a)\1+")
_QUOTED_PART: Final = re.compile(r"'[^'\\]*'|\"[^\"\\]*\"")
_QUOTED_PARTS: Final = re.compile(rf"(?:{_QUOTED_PART.pattern})(?:\s*,\s*(?:{_QUOTED_PART.pattern}))+")
_NO_LIST_MARK: Final = re.compile(r"[\[\]{}()\"'|\t]")
_HOLDERS: Final = frozenset(
    "value values item items data text content result input string number integer boolean".split()
)
"""Names in an object around one value that do not describe it."""
_TYPES: Final = frozenset(
    "string number integer boolean array object null str int float bool list dict tuple".split()
)
"""Types as JSON Schema and Python name them."""
_SEVERAL: Final = frozenset("array list tuple comma separated json".split())
"""Words of a description of a text that holds several values."""


def says_nothing(value: object) -> bool:
    """Return whether a value was likely sent for lack of one: null, an empty string, or a word for it."""
    return value is None or (
        isinstance(value, str) and len(value) < 16 and value.strip().casefold() in _NOTHING
    )


def needs_text(node: Node | None, value: object) -> bool:
    """Return whether the author asks for a longer text than was sent: leaving it out would widen the call."""
    least = (each for way in (node.ways if node else ()) for each in way.says("minLength"))
    return isinstance(value, str) and any(least)


def is_empty(node: Node | None, value: object) -> bool:
    """Return whether a value is an empty container where none is taken."""
    kind = json_type(value)
    is_taken = any(way.kinds is None or kind in way.kinds for way in (node.ways if node else ()))
    return isinstance(value, (list, dict)) and not value and not is_taken


def leave_out(place: Place, value: Any) -> Iterator[Any]:
    """A word for nothing, or an empty container, left out, for an optional property."""
    if is_empty(place.node, value) or (says_nothing(value) and not needs_text(place.node, value)):
        yield ABSENT


def as_null(place: Place, text: str) -> Iterator[None]:
    """A word for nothing as null."""
    if text and says_nothing(text) and _expects(place.node, "null"):
        yield None


def near_member(place: Place, text: Any) -> Sequence[str]:
    """An allowed value that a text is close to: `organisation`, `crit`, `high priority`."""
    if text is None:
        return [each for each in place.node.once(_members) if says_nothing(each)][:_MAX_NEAR]
    found = near_values(place.node, text, place.name)
    # One value of a text that has several would drop the others.
    is_several = _SIGN.search(text) and not any(map(_SIGN.search, found))
    return () if found and is_several else found


def near_values(node: Node, text: str, name: str | None = None) -> list[str]:
    """Return the allowed values that a text is close to, best first.

    A text is close to a value if it has the same words, also with slips, or the first ones, the last of them cut off. It
    may have words of the parameter's name in addition, but no others, which may turn the meaning (`non-admin`). It is
    also close to several values if it has nothing but them. The only allowed value, such as ``DELETE``, is never said for
    the caller.
    """
    if len(text) > _MAX_TEXT or node.once(allows_one_value):
        return []
    sent, own, members = text.strip(_AROUND), set(name_words(name or "")), node.once(_members)
    words = name_words(sent)
    less = tuple(word for word in words if word not in own)
    close, begun = [], []
    for member, whole in members.items() if words else ():
        has_own = bool(less) and less != words and _has_words(less, whole)
        # The signs around a text may turn it: `-date` sorts the other way.
        if has_own or (_has_words(words, whole) and _signs(sent) == _signs(member)):
            close.append(member)
        elif _is_cut_off(words, whole):
            begun.append(member)
    folded = fold_case(text)
    for member in close:
        at = folded.find(fold_case(member))
        written = text[max(at, 0) :][: len(member)]
        # A value in another case may be another unit or symbol.
        if (
            at >= 0
            and written != member
            and (written == text.strip() or case_matters(written, member, Codes(members)))
        ):
            return []
    parts = _SEPARATORS.split(text)
    several = [part for part in parts if part in members]
    alone = begun if len(begun) == 1 else several if 1 < len(several) == len(parts) else []
    return (close or alone)[:_MAX_NEAR]


def _members(node: Node) -> Mapping[str, tuple[str, ...]]:
    texts = (each for way in node.ways for each in way.enum or () if isinstance(each, str))
    return {each: name_words(each) for each in islice(texts, _MAX_KEYS)}


def _signs(text: str) -> list[str]:
    return [each for each in (text[:1], text[-1:]) if not each.isalnum()]


def _has_words(words: Sequence[str], whole: Sequence[str]) -> bool:
    if len(words) != len(whole):
        joined = "".join(words)
        return joined == "".join(whole) and joined.isalpha()
    differing = [sorted(pair, key=len) for pair in zip(words, whole, strict=True) if pair[0] != pair[1]]
    return not differing or (len(differing) == 1 and _is_form(*differing[0]))


def _is_form(short: str, long: str) -> bool:
    is_ending = singular(long) == short or (len(short) > 3 and f"{short.removesuffix('e')}ed" == long)
    return is_ending or (len(short) > 4 and same_word(short, long))


def _is_cut_off(words: Sequence[str], whole: Sequence[str]) -> bool:
    """Return whether the last word lacks two letters or more; other words may follow it."""
    *before, last = words
    if list(whole[: len(before)]) != before or len(whole) <= len(before) or len(last) < 3:
        return False
    return whole[len(before)].startswith(last) and len(whole[len(before)]) - len(last) > 1


def as_list(place: Place, text: str) -> Iterator[list[Any]]:
    """The parts of a text as a list, and the whole text as one item, which comes first unless the parts are alike."""
    if len(text) > _MAX_TEXT or not _expects(place.node, "array"):
        return
    if _QUOTED_PARTS.fullmatch(text.strip()):
        yield [each[1:-1] for each in _QUOTED_PART.findall(text)]
    if _NO_LIST_MARK.search(text):
        return
    parts = [part for part in _SEPARATORS.split(text.strip()) if part]
    if len(parts) < 2:
        return
    has_thousands = _THOUSANDS.fullmatch(text) is not None
    if all(map(_NUMBER.fullmatch, parts)):
        if "," in text and ";" in text:  # `0,5; 1,5` has decimal commas
            return
        yield [json.loads(part) for part in parts]
        yield from [[json.loads(text.replace(",", ""))]] if has_thousands else ()
    yield from (parts, [text]) if _are_alike(parts) and not has_thousands else ([text], parts)


def _are_alike(parts: Sequence[str]) -> bool:
    """Return whether the parts of a text are words with the same signs between them, or whole numbers."""
    if any(len(part.split()) > _MAX_WORDS or part[-1] in ".!?" for part in parts):
        return False
    forms = {_REPEATED.sub(r"\1", _DIGITS.sub("0", _WORD.sub("a", part))) for part in parts}
    # Numbers with a point or a sign may be coordinates.
    return len(forms) == 1 and (forms == {"0"} or "a" in forms.pop())


def _expects(node: Node, kind: str) -> bool:
    return any(kind in (way.kinds or ()) for way in node.ways)


def as_text(place: Place, value: Any) -> Iterator[str]:
    """A number or boolean as text, and a list or object as JSON text where such a text is expected."""
    ways = [way for way in place.node.ways if "string" in (way.kinds or ())]
    if isinstance(value, (list, dict)):
        yield from (in_json(value) for way in ways[:1] if way.format == "json" or _is_said_to_be_json(way))
    elif short_scalar(value) and not may_be_rounded(value) and not all(way.format for way in ways):
        yield in_json(value)


def _is_said_to_be_json(node: Node) -> bool:
    return any(isinstance(each, str) and "json" in name_words(each) for each in node.says("description"))


def out_of_object(place: Place, value: dict[str, Any]) -> Iterator[Any]:
    """The one value in an object, unless its name, or more than its type beside it, says more.

    Not in a map: its names are the caller's, and one of them would be lost.
    """
    said = {each for way in place.node.ways for each in way.says("description")}
    held: Any = value
    for _ in range(_MAX_HOLDERS if place.name is not None or place.item else 0):
        if not isinstance(held, Mapping):  # no JSON at all
            return
        kind = held.get("type")
        is_typed = len(held) == 2 and isinstance(kind, str) and kind in _TYPES
        names = [key for key in held if isinstance(key, str) and not (is_typed and key == "type")]
        # `{"$ne": 5}` and `{"not": true}` do not mean their value.
        usual = {*_HOLDERS, fold_name(place.name or "value"), *({"description"} if is_typed else ())}
        usual |= {"id"} if is_identifier(place.name) else set()
        if len(names) != 1 or len(held) != 1 + is_typed or fold_name(names[0]) not in usual:
            return
        held = held[names[0]]
        if not isinstance(held, Mapping):
            yield from () if isinstance(held, list) or held in said else (held,)
            return


def any_item(place: Place, value: list[Any]) -> Sequence[str]:
    """Return the texts of a list sent for one text, each for a call of its own; none unless all may be offered.

    The text may be meant to hold the list as JSON. For free text whose name or description speaks of several,
    the list may be meant as one text.
    """
    is_few = len(value) <= _MAX_NEAR and all(isinstance(each, str) for each in value)
    if not is_few or len(value) < 2:
        return value if is_few else ()
    may_hold_several = not _is_enum(place.node) and _speaks_of_several(place)
    is_each_taken = len({*value}) == len(value) and all(map(place.node.takes, value))
    return value if is_each_taken and not may_hold_several else ()


def _is_enum(node: Node) -> bool:
    return all(way.enum is not None for way in node.ways if way.types != ("null",))


def _speaks_of_several(place: Place) -> bool:
    *_, last = name_words(place.name or "") or ("",)
    said = {text for way in place.node.ways for text in way.says("description")}
    about = {word for text in said for word in name_words(text)}
    return singular(last) != last or not about.isdisjoint(_SEVERAL)


def out_of_list(place: Place, value: list[Any]) -> Iterator[list[Any]]:
    """The list that is the only item of a list, also as its type and values: ``[{"type": "string", "enum": ["a"]}]``."""
    held = value[0] if len(value) == 1 and place.name is not None else None
    if isinstance(held, dict) and len(held) == 2 and held.get("type") in (*_TYPES,):
        name = next((each for each in held if each != "type"), None)
        held = held[name] if name == "enum" or name in _HOLDERS else None
    if isinstance(held, list):
        yield held


# --- names ------------------------------------------------------------------------------------------------

_SAY_NOTHING: Final = frozenset("is are was has have do does".split())
"""Auxiliary verbs of English, which do not change the sense of a boolean."""
_JOINTS: Final = "._-/"
"""Signs between the name of an object and that of a field of it."""
_NAME: Final = re.compile(r"[\w .$@#/*?\[\]-]+")
"""The characters of names: a key with any others is likely a piece of text."""
_SHORTEST_BEGINNING: Final = 3
_INDEX: Final = re.compile(r"\[[0-9]")


class Names(NamedTuple):
    """The names of an object that can be repeated, bounded: undeclared, and declared ones sent, absent and missing."""

    unknown: tuple[str, ...]
    present: tuple[str, ...]
    absent: tuple[str, ...]
    missing: tuple[str, ...]


def names_at(node: Node, value: Any) -> Names:
    """Return the names of an object; none of one that has very many."""
    if not isinstance(value, Mapping) or len(value) > _MAX_KEYS:
        return Names((), (), (), ())
    return _names(node, tuple(key for key in value if isinstance(key, str) and len(key) <= MAX_NAME))


# Each of the faults of an object asks for its names, and for what they may mean.
@lru_cache(maxsize=16)
def _names(node: Node, keys: tuple[str, ...]) -> Names:
    sent = frozenset(keys)
    declared = [name for name in islice(node.properties, _MAX_NAMES) if exact(name)]
    absent = tuple(name for name in declared if name not in sent)
    others = (key for key in keys if not node.declares(key) and exact(key))
    unknown = (key for key in others if is_name(key) and _NAME.fullmatch(key))
    return Names(
        unknown=tuple(islice(unknown, _MAX_UNKNOWN)),
        present=tuple(name for name in declared if name in sent),
        absent=absent,
        missing=tuple(name for name in absent if name in node.required),
    )


def matches(node: Node, value: Mapping[str, Any], tool: str | None = None) -> dict[str, Sequence[str]]:
    """Return which undeclared names of an object may be meant as which declared ones, those most like them.

    A word of the tool's name adds nothing to that of its only missing parameter: ``note_text`` for ``text`` of ``add_note``.
    """
    names = names_at(node, value)
    flags = frozenset(key for key in names.unknown if isinstance(value[key], bool))
    parts = {(key, owner) for key, (owner, _) in homes(node, value).items()}
    found = _matches(node, names, flags).items()
    likely: dict[str, Sequence[str]] = {
        key: [name for name in meant if (key, name) not in parts] for key, meant in found
    }
    if len(likely) == len(names.missing) == 1 and not any(likely.values()) and not flags:
        (key,), (name,) = likely, names.missing
        if (key, name) not in parts and _adds_the_tool(node, key, name, tool or ""):
            return {key: [name]}
    return likely


def _adds_the_tool(node: Node, sent: str, name: str, tool: str) -> bool:
    """Return whether a name has all words of another one, and in addition words of the tool's name alone."""
    ours, theirs = frozenset(name_words(sent)), frozenset(name_words(name))
    is_flag = _expects(node.property_nodes[name], "boolean")
    return not is_flag and bool(theirs) and ours > theirs and ours - theirs <= {*name_words(tool)}


@lru_cache(maxsize=16)
def _matches(node: Node, names: Names, flags: frozenset[str]) -> Mapping[str, Sequence[str]]:
    likely = {key: _most_like(node, names, key, is_flag=key in flags) for key in names.unknown}
    for _ in names.unknown:
        # A name that is another one's only match is not free, and no optional one is taken in its place.
        only = [found[0] for found in likely.values() if len(found) == 1]
        taken = {name for name in only if only.count(name) == 1}
        likely = {
            key: found
            if len(found) < 2 or taken.isdisjoint(found)
            else [name for name in found if name not in taken and name in node.required]
            for key, found in likely.items()
        }
    return likely | {key: [name] for key, name in _in_other_words(node, names).items() if not likely[key]}


def _in_other_words(node: Node, names: Names) -> dict[str, str]:
    """Return the missing texts that undeclared names mean whose last word is another one.

    It is the same other word in several of them (``old_string`` and ``new_string`` for ``old_text`` and ``new_text``), or
    another declared name has it too, so that only the other words tell the name apart (``end_location`` for ``end_point``
    beside ``start_point``).
    """
    swaps: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for name in names.missing:
        *theirs, last = name_words(name) or ("",)
        for key in names.unknown if theirs and _expects(node.property_nodes[name], "string") else ():
            *ours, own = name_words(key) or ("",)
            if ours == theirs:
                swaps.setdefault((own, last), []).append((key, name))
    pairs = (
        pair for each in swaps.values() for pair in each if len(each) > 1 or _is_told_by_front(node, *pair)
    )
    return dict(pairs)


def _is_told_by_front(node: Node, sent: str, name: str) -> bool:
    *front, last = name_words(name)
    others = [name_words(each) for each in islice(node.properties, _MAX_NAMES) if each != name]
    is_shared = any(each[-1:] == (last,) and each[:-1] for each in others)
    return is_shared and not any(
        list(each[: len(front)]) == front or each[-1:] == name_words(sent)[-1:] for each in others
    )


def _most_like(node: Node, names: Names, sent: str, *, is_flag: bool) -> Sequence[str]:
    if any(likeness(sent, name) >= SPELLING for name in names.present):
        return ()  # another spelling of a name that was sent as well
    absent = (name for name in names.absent if not _is_path(node, name, sent))
    scores = {name: score for name in absent if (score := likeness(sent, name))}
    likely = [
        name
        for name, score in scores.items()
        if score >= SPELLING or _adds_nothing(node, sent, name, is_flag=is_flag)
    ]
    best = max((scores[name] for name in likely), default=0)
    if likely or is_flag:
        return [name for name in likely if scores[name] == best]
    return _said_otherwise(node, names, sent)


def _is_path(node: Node, name: str, sent: str) -> bool:
    """Return whether a name is written as a path into a declared list or object: ``rows[0].title``."""
    owner = node.property_nodes[name]
    is_below = sent.startswith(f"{name}.") and (_expects(owner, "array") or _expects(owner, "object"))
    return is_below or _INDEX.search(sent) is not None


def _said_otherwise(node: Node, names: Names, sent: str) -> Sequence[str]:
    """Return the only missing or only optional name that the only undeclared one begins or describes."""
    words = name_words(sent)
    if len(names.unknown) > 1 or len(names.missing) > 1 or not words:
        return ()
    if not names.missing:
        return _only_said(node, names, words)
    (name,) = names.missing
    letters = "".join(name_words(name))
    is_described = _is_described(node, name, words)
    is_part = letters.startswith(words[:1]) or (words[0] in IDENTIFIERS and letters.endswith(words[0]))
    lists = [each for each in names.missing if _expects(node.property_nodes[each], "array")]
    is_only_list = words[0] in IDENTIFIERS and words[0].endswith("s") and lists == [name]
    is_meant = is_described or ((is_part or is_only_list) and len(words) == 1)
    return names.missing if is_meant and not _is_path(node, name, sent) else ()


def _is_described(node: Node, name: str, words: Sequence[str]) -> bool:
    """Return whether a name's description has all these words, and none of its own."""
    about = _about(node, name)
    return about.issuperset(words) and about.isdisjoint(name_words(name))


def _only_said(node: Node, names: Names, words: Sequence[str]) -> Sequence[str]:
    """Return the only declared name with this initial or described by these words, if it is an absent one for a text."""
    known = (*names.present, *names.absent)
    begun = [name for name in known if len(words) == len(words[0]) == 1 and name.lower().startswith(words[0])]
    found = begun or [name for name in known if _is_described(node, name, words)]
    is_only = len(found) == 1 and found[0] in names.absent
    return found if is_only and _expects(node.property_nodes[found[0]], "string") else ()


def _adds_nothing(node: Node, sent: str, name: str, *, is_flag: bool) -> bool:
    """Return whether the words that one of two names has in addition leave the meaning as it is."""
    ours, theirs = name_words(sent), name_words(name)
    # A word or an ending more may turn a boolean: `no_cache`, `stateless`.
    if is_flag or _expects(node.property_nodes[name], "boolean"):
        return ours != theirs and set(ours) ^ set(theirs) <= _SAY_NOTHING
    more = {word for word in ours if not any(_stands_for(word, each) for each in theirs)}
    if not more:
        return name in node.required or ours == theirs[: len(ours)]
    # Another word may turn a name, unless its description has it: `excluded_tags`, `reply_to`, `start_before`.
    return _about(node, name) >= more


def _stands_for(word: str, whole: str) -> bool:
    """Return whether two words are the same one, or one begins the other: ``max`` and ``maximum``."""
    is_begun = whole.startswith(singular(word)) or (
        len(whole) >= _SHORTEST_BEGINNING and word.startswith(whole)
    )
    return is_begun or same_word(word, whole)


def _about(node: Node, name: str) -> set[str]:
    """Return the words of a name's description."""
    said = (text for way in node.property_nodes[name].ways for text in way.says("description"))
    return {word for text in said for word in name_words(text[:_MAX_TEXT])}


def rename_likely(place: Place, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One name read as a declared one that it is like: `tgas` for `tags`, `file` for `file_path`."""
    found = matches(place.node, value, place.call.tool)
    often = Counter(name for names in found.values() for name in names)
    for key, names in found.items():
        for name in names if all(often[name] == 1 for name in names) else ():
            if may_rename(place.node, value, key, name):
                yield {name if each == key else each: own for each, own in value.items()}


def may_rename(node: Node, value: Mapping[str, Any], sent: str, name: str) -> bool:
    """Return whether a value may be moved to another name: not an identifier or secret to another one, nor to another unit.

    A number may have another unit (``timeout`` and ``timeout_ms``), the words another order (``lat_lon`` and ``lon_lat``).
    """
    ours, theirs = name_words(sent), name_words(name)
    if "".join(ours) == "".join(theirs):
        return keeps_unit(node, sent, name)
    if sorted(ours) == sorted(theirs) or (secret_name(sent) and not secret_name(name)):
        return False
    if secret_name(name) and len(ours) > len(theirs):  # `token_name` is no token
        return False
    kinds = [kind for kind in ("integer", "number") if _expects(node.property_nodes[name], kind)]
    is_number = bool(kinds) or (isinstance(value[sent], (int, float)) and not isinstance(value[sent], bool))
    if is_number and (ours == theirs[: len(ours)] or ours[: len(theirs)] == theirs):
        return False
    if ours[-1] in IDENTIFIERS:
        if (
            ours == ("ids",)
            and theirs[-1] not in IDENTIFIERS
            and _expects(node.property_nodes[name], "array")
        ):
            return True
        declared = islice(node.properties, _MAX_NAMES)
        ends = [each for each in declared if "".join(name_words(each)).endswith(ours[0])]
        return len(ours) == 1 and ends == [name]
    return not (ours[-1].endswith("id") and ours[-1][:-2] in theirs)


# --- the whole call ---------------------------------------------------------------------------------------

_ALSO_WRAPPERS: Final = WRAPPERS | frozenset("request payload body data function".split())


def homes(node: Node, value: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return the undeclared names that belong inside one declared object, with its name and their name in it.

    A field may have the object's name in front (``address.city``, ``address_city``).
    """
    found: dict[str, list[tuple[str, str]]] = {key: [] for key in names_at(node, value).unknown}
    for own, child in islice(node.property_nodes.items(), _MAX_NAMES) if found else ():
        sent, fields = value.get(own, {}), child.once(_fields)
        for key, places in found.items() if fields and isinstance(sent, Mapping) else ():
            is_prefix = key.startswith(own) and not key[len(own)].isalnum()
            within = key.removeprefix(own).lstrip(_JOINTS) if is_prefix else key
            places += [(own, each) for each in dict.fromkeys((key, within)) if each in fields - sent.keys()]
    return {key: places[0] for key, places in found.items() if len(places) == 1}


def _fields(node: Node) -> frozenset[str]:
    """Return the names declared in the objects that a value may be, or of which it may be a list."""
    ways = (each for way in node.ways for each in (way, *(way.items.ways if way.is_only("array") else ())))
    return frozenset(name for way in ways for name in way.properties)


def move_inside(place: Place, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Fields beside an object moved into it; those of a missing list become its only item."""
    found = homes(place.node, value)
    for own in dict.fromkeys(own for own, _ in found.values()):
        fields = {key: field for key, (holder, field) in found.items() if holder == own}
        if len(set(fields.values())) < len(fields):
            continue
        inner = {**value.get(own, {}), **{field: value[key] for key, field in fields.items()}}
        rest = {key: each for key, each in value.items() if key not in fields}
        yield {**rest, own: inner if _expects(place.node.property_nodes[own], "object") else [inner]}


def wrapper(node: Node, value: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return the one undeclared name that holds declared ones which are absent, and these."""
    names = names_at(node, value)
    held = []
    for key in names.unknown:
        inner = value[key] if isinstance(value[key], Mapping) else {}
        own = {name: inner[name] for name in names.absent if name in inner}
        is_around = len(own) == len(inner) or own.keys() >= {*names.missing}
        if own and (is_around or fold_name(key) in _ALSO_WRAPPERS):
            held.append((key, own))
    return held[0] if len(held) == 1 else None


def move_out(place: Place, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All arguments in an undeclared name moved to the top."""
    key, own = wrapper(place.node, value) or ("", {})
    if own and len(own) == len(value[key]):
        yield {**{other: each for other, each in value.items() if other != key}, **own}


def drop_empty(place: Place, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An undeclared name left out: one without a value, one that clients add, or a spelling of one with an equal value."""
    names = names_at(place.node, value)
    declared = {fold_name(name): name for name in place.node.properties}
    injected = () if place.path else injected_keys(names.unknown, declared, place.call.policy.drop)
    likely = matches(place.node, value, place.call.tool)
    kept = {*homes(place.node, value)} | {key for key, meant in likely.items() if meant}
    for key in names.unknown:
        twin = another_spelling(place.node, value, key)
        is_part = any(_is_path(place.node, name, key) for name in islice(place.node.properties, _MAX_NAMES))
        is_gone = (value[key] in (None, "", [], {}) and not is_part) or key in injected
        if same_json(value[twin], value[key]) if twin is not None else is_gone and key not in kept:
            yield {other: each for other, each in value.items() if other != key}


def another_spelling(node: Node, value: Mapping[str, Any], sent: str) -> str | None:
    """Return the declared name that was also sent, if an undeclared name is another spelling of it, or its plural with the same value."""
    same = [name for name in names_at(node, value).present if name != sent and likeness(sent, name) == 1.0]
    found = (
        name for name in same if fold_name(name) == fold_name(sent) or same_json(value[name], value[sent])
    )
    return next(found, None)


_TEXT: Final = ("string",)
_OBJECT: Final = ("object",)
LIKELY_RULES: Final[tuple[Rule, ...]] = (
    Rule("near_member", 16, near_member, ("string", "null"), certain=False),
    Rule("out_of_list", 16, out_of_list, ("array",), certain=False),
    Rule("any_item", 16, any_item, ("array",), certain=False),
    Rule("as_list", 16, as_list, _TEXT, certain=False),
    Rule("as_null", 16, as_null, _TEXT, certain=False),
    Rule("as_text", 16, as_text, ("integer", "number", "boolean", "array", "object"), certain=False),
    Rule("out_of_object", 16, out_of_object, _OBJECT, certain=False),
    Rule("leave_out", 16, leave_out, ("string", "null", "array", "object"), part="absence", certain=False),
    Rule("move_out", 16, move_out, _OBJECT, part="names", certain=False),
    Rule("move_inside", 16, move_inside, _OBJECT, part="names", certain=False),
    Rule("rename_likely", 16, rename_likely, _OBJECT, part="names", certain=False),
    Rule("drop_empty", 16, drop_empty, _OBJECT, part="names", certain=False),
)
"""The uncertain rules: each is tried like any other, and what it makes is offered as a fix."""
