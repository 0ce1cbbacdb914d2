"""What a refused value or name was likely meant as, but not certainly: never used, only offered to the caller as a fix."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from mcp_lenient.rules.rules import (
    ABSENT,
    WRAPPERS,
    CallRule,
    Place,
    Rule,
    ValueRule,
    allows_one_value,
    has_holder,
    injected_keys,
    is_free_object,
    is_qualified,
    keeps_unit,
)
from mcp_lenient.rules.words import IDENTIFIERS, SHORT_TYPES
from mcp_lenient.schema.node import Node
from mcp_lenient.values.display import in_json, is_name, is_quotable, is_secret_name, name_words, short_scalar
from mcp_lenient.values.json_values import looks_like_json, may_be_rounded, same_json
from mcp_lenient.values.names import SPELLING, fold_case, fold_name, likeness, same_word, singular

_MAX_NAMES: Final = 300
_MAX_KEYS: Final = 1_000
_MAX_UNKNOWN: Final = 20
_MAX_TEXT: Final = 200
_MAX_NEAR: Final = 3
_MAX_NESTING: Final = 3
_MAX_WORDS_OF_ITEM: Final = 4

# --- values -----------------------------------------------------------------------------------------------

_NOTHING: Final = frozenset(
    ("", "-", "null", "none", "nil", "undefined", "n/a", "unknown", "unspecified", "not specified")
)
_AROUND: Final = " \t\r\n[]\"'`"
_EDGES: Final = re.compile(r"\A[\W_]|[\W_]\Z")
_SIGNS: Final = ("/", ":", ",", ";", "|", "@", " - ", " ")
"""The signs between parts of a text that may be values of their own."""
_LIST_SEPARATOR: Final = re.compile(r"[,;\n]")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,10})?")
_THOUSANDS: Final = re.compile(r"-?[1-9][0-9]{0,2}(?:,[0-9]{3})+")
_WORD: Final = re.compile(r"[\d_-]*[^\W\d_][\w-]*")
_DIGITS: Final = re.compile(r"\d+")
_REPEATED: Final = re.compile(r"([^\w\s]a)\1+")
_QUOTED_PART: Final = re.compile(r"'[^'\\]*'|\"[^\"\\]*\"")
_QUOTED_PARTS: Final = re.compile(rf"(?:{_QUOTED_PART.pattern})(?:\s*,\s*(?:{_QUOTED_PART.pattern}))+")
_NO_LIST_MARK: Final = re.compile(r"[\[\]{}()\"'|\t]")
_PAIR: Final = re.compile(r"[\w.-]+\s*=")
_PROGRAM: Final = re.compile(r"[A-Za-z_./~][\w./~+-]*")
_OPTION: Final = re.compile(r"--?[A-Za-z]")
_HOLDERS: Final = frozenset(
    "value values item items data text content result input string number integer boolean".split()
)
"""Names in an object around one value that do not describe it."""
_EXPLAINING: Final = ("description", "examples")
_TYPES: Final = (*SHORT_TYPES, *SHORT_TYPES.values(), "null", "tuple")
"""Types as JSON Schema and Python name them."""


def _is_null_like(value: object) -> bool:
    """Return whether a value was likely sent for lack of one: null, an empty string, or a word for it."""
    is_text = isinstance(value, str) and len(value) < 16
    return value is None or (is_text and str(value).strip().casefold() in _NOTHING)


def leave_out(place: Place, value: Any) -> Iterator[Any]:
    """A word for nothing, a zero or -1, or an empty container left out, for an optional property.

    A text stays where the author asks for a longer one: leaving it out would widen the call.
    """
    has_min_length = isinstance(value, str) and any(place.node.branch_values_of("minLength"))
    is_placeholder = value in ([], {}, 0, -1) and not isinstance(value, bool)
    if is_placeholder or (_is_null_like(value) and not has_min_length):
        yield ABSENT


def near_member(place: Place, text: Any) -> Sequence[str]:
    """An allowed value that a text is close to: `organisation`, `crit`.

    It has the same words, also with slips, or the first ones, the last of them cut off; other words may reverse the meaning
    (`non-admin`). The only allowed value, such as ``DELETE``, is never offered.
    """
    members = place.node.cached(_members)
    if text is None:
        return [member for member in members if _is_null_like(member)][:_MAX_NEAR]
    if len(text) > _MAX_TEXT or place.node.cached(allows_one_value):
        return ()
    sent_words, bare = name_words(text), text.strip(_AROUND)
    close, cut_off = [], []
    for member, member_words in members.items() if sent_words else ():
        # The signs around a text may reverse its meaning: `-date` sorts the other way.
        if _has_words(sent_words, member_words) and _EDGES.findall(bare) == _EDGES.findall(member):
            close.append(member)
        elif _is_cut_off(sent_words, member_words):
            cut_off.append(member)
    near = close or (cut_off if len(cut_off) == 1 else [])
    # One value of a text that has several would drop the others; in another case it may be another unit or symbol.
    is_several = _LIST_SEPARATOR.search(text) and not any(map(_LIST_SEPARATOR.search, near))
    differs_in_case_alone = any(fold_case(bare) == fold_case(member) and bare != member for member in close)
    return () if is_several or differs_in_case_alone else near[:_MAX_NEAR]


def _members(node: Node) -> Mapping[str, tuple[str, ...]]:
    texts = (member for member in node.members if isinstance(member, str))
    return {text: name_words(text) for text in islice(texts, _MAX_KEYS)}


def _has_words(sent_words: Sequence[str], member_words: Sequence[str]) -> bool:
    if len(sent_words) != len(member_words):
        return False
    pairs = zip(sent_words, member_words, strict=True)
    differing = [sorted(pair, key=len) for pair in pairs if pair[0] != pair[1]]
    if len(differing) != 1:
        return not differing
    short, long = differing[0]
    is_ending = singular(long) == short or (len(short) > 3 and f"{short.removesuffix('e')}ed" == long)
    return is_ending or (len(short) > 4 and same_word(short, long))


def _is_cut_off(sent_words: Sequence[str], member_words: Sequence[str]) -> bool:
    """Return whether the last sent word lacks two letters or more; other words may follow it in the member."""
    *before, last = sent_words
    at = len(before)
    if list(member_words[:at]) != before or len(member_words) <= at or len(last) < 3:
        return False
    return member_words[at].startswith(last) and len(member_words[at]) - len(last) > 1


def as_list(place: Place, text: str) -> Iterator[list[Any]]:
    """The parts of a text as a list, and the whole text as one item, which comes first unless the parts are alike."""
    if len(text) > _MAX_TEXT or not _expects(place.node, "array"):
        return
    if _QUOTED_PARTS.fullmatch(text.strip()):
        yield [part[1:-1] for part in _QUOTED_PART.findall(text)]
    parts = listed_in(text)
    are_numbers = all(map(_NUMBER.fullmatch, parts))
    has_decimal_commas = are_numbers and "," in text and ";" in text  # `0,5; 1,5`
    if len(parts) < 2 or has_decimal_commas or _NO_LIST_MARK.search(text):
        return
    if all(map(_PAIR.match, parts)) and not _shows_pairs(place.node):
        return  # the names may be other parameters'
    has_thousands = _THOUSANDS.fullmatch(text) is not None
    if are_numbers:
        yield [json.loads(part) for part in parts]
        yield from [[json.loads(text.replace(",", ""))]] if has_thousands else ()
    if _are_alike(parts) and not has_thousands:
        yield from (parts, [text])
    elif place.node.accepts([text]):  # otherwise the parts alone would be offered
        yield from ([text], parts)


def listed_in(text: str) -> list[str]:
    """Return the parts of a text that may be a list."""
    return list(filter(None, map(str.strip, _LIST_SEPARATOR.split(text))))


def _shows_pairs(node: Node) -> bool:
    """Return whether the author shows texts such as ``a=b`` for a list."""
    nodes = [node, *(branch.items for branch in node.branches)]
    texts = [text for part in nodes for word in _EXPLAINING for text in part.branch_values_of(word)]
    return any("=" in str(text) for text in texts)


def _are_alike(parts: Sequence[str]) -> bool:
    """Return whether the parts of a text are words with the same signs between them, or whole numbers."""
    if any(len(part.split()) > _MAX_WORDS_OF_ITEM or part[-1] in ".!?" for part in parts):
        return False
    forms = {_REPEATED.sub(r"\1", _DIGITS.sub("0", _WORD.sub("a", part))) for part in parts}
    # Numbers with a point or a sign may be coordinates.
    return len(forms) == 1 and (forms == {"0"} or "a" in forms.pop())


def _expects(node: Node, kind: str) -> bool:
    return any(kind in branch.accepted_types for branch in node.branches)


def _description_words(node: Node) -> set[str]:
    texts = (text for text in node.branch_values_of("description") if isinstance(text, str))
    return {word for text in texts for word in name_words(text[:_MAX_TEXT])}


def as_text(place: Place, value: Any) -> Iterator[str]:
    """A number or boolean as text, and a list or object as JSON text where such a text is expected."""
    formats = [branch.format for branch in place.node.branches if "string" in branch.accepted_types]
    if isinstance(value, (list, dict)):
        is_text_likely = formats and (formats[0] == "json" or "json" in _description_words(place.node))
    else:
        is_text_likely = short_scalar(value) and not may_be_rounded(value) and not all(formats)
    yield from (in_json(value),) if is_text_likely else ()


def out_of_object(place: Place, value: dict[str, Any]) -> Iterator[Any]:
    """The one value in an object, unless its name, or more than its type beside it, says more.

    Not in a map: its names are the caller's, and one of them would be lost.
    """
    descriptions = place.node.branch_values_of("description")
    held: Any = value
    for _ in range(_MAX_NESTING if place.name is not None or place.is_item else 0):
        if not isinstance(held, Mapping):  # no JSON at all
            return
        is_typed = len(held) == 2 and held.get("type") in _TYPES
        names = [key for key in held if isinstance(key, str) and not (is_typed and key == "type")]
        # `{"$ne": 5}` and `{"not": true}` do not mean their value.
        holder_names = {*_HOLDERS, fold_name(place.name or "value"), *({"description"} if is_typed else ())}
        if len(names) != 1 or len(held) != 1 + is_typed or fold_name(names[0]) not in holder_names:
            return
        held = held[names[0]]
        if not isinstance(held, Mapping):
            yield from () if isinstance(held, list) or held in descriptions else (held,)
            return


def any_item(_place: Place, value: list[Any]) -> Sequence[str]:
    """Return the only item of a list sent for one text, if it is a text; one of several would drop the others."""
    return value if len(value) == 1 and isinstance(value[0], str) else ()


def as_command(_place: Place, value: list[Any]) -> Iterator[str]:
    """The words of a command, as its options show, in one line."""
    if is_command(value):
        yield shlex.join(value)


def is_command(value: Any) -> bool:
    """Return whether a list is the words of a command: texts, the first a plain one and a later one an option."""
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return False
    is_named = len(value) > 1 and _PROGRAM.fullmatch(value[0]) is not None
    return is_named and any(_OPTION.match(word) for word in value[1:])


def out_of_list(place: Place, value: list[Any]) -> Iterator[list[Any]]:
    """The list that is the only item of a list, also as a schema: ``[{"type": "string", "enum": ["a"]}]``."""
    held = value[0] if len(value) == 1 and place.name is not None else None
    if isinstance(held, dict) and len(held) == 2 and held.get("type") in _TYPES:
        held = held.get("enum")
    if isinstance(held, list):
        yield held


def is_echo(node: Node, value: Any) -> bool:
    """Return whether a value is the schema of its place, or part of it."""
    if not isinstance(value, dict) or not value or len(value) > _MAX_KEYS:
        return False
    parts = {key: node.values_of(key) for key in value if isinstance(key, str)}
    properties = value.get("properties")
    if isinstance(properties, dict) and properties and properties.keys() <= node.properties.keys():
        children = node.property_nodes
        return all(is_echo(children[name], schema) for name, schema in properties.items())
    are_said = (any(same_json(value[key], part) for part in parts[key]) for key in parts)
    return len(parts) == len(value) and all(are_said)


# --- names ------------------------------------------------------------------------------------------------

_NAME: Final = re.compile(r"(?:[\w .$@#/*?-]|\[\])+")
"""The characters of names: a key with any others is likely a piece of text, or a path such as ``rows[0].title``."""
_SHORTEST_BEGINNING: Final = 3


class Names(NamedTuple):
    """An object, and its names that can be repeated, bounded: undeclared, and declared ones sent, absent and missing."""

    place: Place
    value: Mapping[str, Any]
    unknown: Sequence[str]
    present: Sequence[str]
    absent: Sequence[str]
    missing: Sequence[str]


def other_names(place: Place, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An object with undeclared names at other places, read as the names that they are like, or left out."""
    names = _names_at(place, value)
    if names.unknown:
        holders = _holders(names)
        targets = _likely_targets(names, holders)
        yield from _moved_out(names)
        yield from _moved_inside(names, holders)
        yield from _renamed(names, targets)
        yield from _without_empty(names, {*holders, *(key for key in targets if targets[key])})


def _names_at(place: Place, value: Mapping[str, Any]) -> Names:
    """Return the names of an object; none undeclared of one that has very many."""
    node = place.node
    declared = [name for name in islice(node.properties, _MAX_NAMES) if is_quotable(name)]
    others = (key for key in value if is_quotable(key) and not node.declares(key))
    unknown = (key for key in others if is_name(key) and _NAME.fullmatch(key))
    absent = [name for name in declared if name not in value]
    return Names(
        place,
        value,
        unknown=list(islice(unknown, _MAX_UNKNOWN)) if len(value) <= _MAX_KEYS else [],
        present=[name for name in declared if name in value],
        absent=absent,
        missing=[name for name in absent if name in node.required],
    )


def _likely_targets(names: Names, holders: Mapping[str, str]) -> dict[str, Sequence[str]]:
    """Return which undeclared names may be meant as which declared ones, those most like them."""
    likely = {key: _most_like(names, key) for key in names.unknown}
    for _ in names.unknown:
        # A name that is another one's only match is not free, and no optional one is taken in its place.
        only = [matches[0] for matches in likely.values() if len(matches) == 1]
        taken = {name for name in only if only.count(name) == 1}
        for key, matches in likely.items():
            if len(matches) > 1 and not taken.isdisjoint(matches):
                likely[key] = [name for name in matches if name not in taken and name in names.missing]
    likely |= {key: [name] for key, name in _in_other_words(names).items() if not likely[key]}
    return {key: [name for name in matches if holders.get(key) != name] for key, matches in likely.items()}


def may_hold_several(place: Place, value: Mapping[str, Any], sent: str) -> bool:
    """Return whether the value of an undeclared name may be those of several missing names of one type.

    Its name is like several, or it has as many parts as there are names that no other undeclared name is likely meant as.
    """
    names = _names_at(place, value)
    if sent not in names.unknown or len(names.missing) < 2:
        return False
    targets = _likely_targets(names, _holders(names))
    is_missing = {*targets[sent]} <= {*names.missing}
    if len(targets[sent]) > 1 or not is_missing:
        return is_missing
    splits = [value[sent].split(sign) for sign in _SIGNS] if isinstance(value[sent], str) else [value[sent]]
    counts = {len(parts) for parts in splits if isinstance(parts, list) and "" not in parts} - {0, 1}
    others = {name for key, matches in targets.items() for name in matches if key != sent}
    free = [place.node.property_nodes[name] for name in names.missing if name not in others]
    types = Counter(node.accepted_types for node in free)
    sharing = 1 if targets[sent] else sum(not targets[key] for key in names.unknown)
    return any(number // sharing in counts for number in types.values())


def _in_other_words(names: Names) -> dict[str, str]:
    """Return the missing texts that undeclared names mean whose last word is another one.

    Several have the same one (``old_string``, ``new_string`` for ``old_text``, ``new_text``), or another declared name ends
    like the missing one (``end_location`` for ``end_point`` beside ``start_point``).
    """
    node = names.place.node
    swaps: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for name in names.missing:
        *theirs, last = name_words(name) or ("",)
        for key in names.unknown if theirs and _expects(node.property_nodes[name], "string") else ():
            *ours, key_end = name_words(key) or ("",)
            if ours == theirs:
                swaps.setdefault((key_end, last), []).append((key, name))
    alike = (pairs for pairs in swaps.values() if len(pairs) > 1 or _differs_in_front(node, *pairs[0]))
    return dict(pair for pairs in alike for pair in pairs)


def _differs_in_front(node: Node, sent: str, name: str) -> bool:
    *front, last = name_words(name)
    others = [name_words(other) for other in islice(node.properties, _MAX_NAMES) if other != name]
    is_shared = any(other[-1:] == (last,) and other[:-1] for other in others)
    alike = (other[: len(front)] == (*front,) or other[-1:] == name_words(sent)[-1:] for other in others)
    return is_shared and not any(alike)


def _most_like(names: Names, sent: str) -> Sequence[str]:
    if any(likeness(sent, name) >= SPELLING for name in names.present):
        return ()  # another spelling of a name that was sent as well
    absent = (name for name in names.absent if not sent.startswith(f"{name}."))
    scores = {name: score for name in absent if (score := likeness(sent, name))}
    likely = [name for name in scores if scores[name] >= SPELLING or _adds_nothing(names, sent, name)]
    if likely:
        best = max(scores[name] for name in likely)
        return [name for name in likely if scores[name] == best]
    containing = [name for name in names.absent if _contains(names, sent, name)]
    if len(containing) == 1:
        return containing
    is_only = len(names.unknown) == 1 and not isinstance(names.value[sent], bool)
    return _begun_or_described(names, name_words(sent)) if is_only else ()


def _begun_or_described(names: Names, words: Sequence[str]) -> Sequence[str]:
    """Return the only missing name, or the only one for a text, that these words begin or describe."""
    node, is_missing = names.place.node, len(names.missing) == 1
    if len(names.missing) > 1 or not words:
        return ()
    pool = names.missing or (*names.present, *names.absent)
    pool_for_word = pool if len(words) == 1 else ()
    begun = [name for name in pool_for_word if _abbreviates(node, name, words[0], is_missing=is_missing)]
    matches = begun or [name for name in pool if _is_described(node, name, words)]
    is_only = len(matches) == 1 and matches[0] in names.absent
    return matches if is_only and (is_missing or _expects(node.property_nodes[matches[0]], "string")) else ()


def _abbreviates(node: Node, name: str, word: str, *, is_missing: bool) -> bool:
    """Return whether a word is the beginning of a name, of an optional one its initial, or a word for identifiers its end."""
    joined_name = "".join(name_words(name))
    if not is_missing:
        return len(word) == 1 and joined_name.startswith(word)
    is_list = word.endswith("s") and _expects(node.property_nodes[name], "array")
    return joined_name.startswith(word) or (word in IDENTIFIERS and (is_list or joined_name.endswith(word)))


def _is_described(node: Node, name: str, words: Sequence[str]) -> bool:
    """Return whether a name's description has all these words, and none of its own."""
    about = _description_words(node.property_nodes[name])
    return about.issuperset(words) and about.isdisjoint(name_words(name))


def _contains(names: Names, sent: str, name: str) -> bool:
    """Return whether one of two names begins or ends with the other: ``depth`` and ``max_depth``, ``hours`` and ``hours_back``.

    A name sent with words in front only where it can be no other one: a number's, or the only one that is missing.
    """
    child, ours, theirs = names.place.node.property_nodes[name], name_words(sent), name_words(name)
    short, long = sorted((ours, theirs), key=len)
    if isinstance(names.value[sent], bool) or _expects(child, "boolean"):
        return False
    if len("".join(short)) < _SHORTEST_BEGINNING:
        return False
    if len(ours) == len(theirs):  # `maxDept`
        ends = sorted((ours[-1], theirs[-1]), key=len)
        is_begun = len(ends[0]) >= _SHORTEST_BEGINNING and ends[1].startswith(ends[0])
        return len(ours) > 1 and ours[:-1] == theirs[:-1] and is_begun
    if len(ours) < len(theirs):
        return long[: len(short)] == short or long[-len(short) :] == short
    types = child.accepted_types - {"null"}
    is_number = types and types <= {"integer", "number"} and isinstance(names.value[sent], (int, float))
    return is_qualified(sent, name) and len(names.unknown) == 1 and (is_number or names.missing == [name])


def _adds_nothing(names: Names, sent: str, name: str) -> bool:
    """Return whether the words that one of two names has in addition leave the meaning as it is."""
    node, ours, theirs = names.place.node, name_words(sent), name_words(name)
    # One more word or ending may reverse a boolean: `no_cache`, `stateless`.
    if isinstance(names.value[sent], bool) or _expects(node.property_nodes[name], "boolean"):
        return False
    more = {word for word in ours if not any(_stands_for(word, whole) for whole in theirs)}
    if not more:
        return name in node.required or ours == theirs[: len(ours)]
    # Another word may change what a name means, unless its description or the tool's name has it: `excluded_tags`, `reply_to`.
    return more <= {*_description_words(node.property_nodes[name]), *name_words(names.place.call.tool or "")}


def _stands_for(word: str, whole: str) -> bool:
    """Return whether two words are the same one, or one begins the other: ``max`` and ``maximum``."""
    is_longer = len(whole) >= _SHORTEST_BEGINNING and word.startswith(whole)
    return is_longer or whole.startswith(singular(word)) or same_word(word, whole)


def _renamed(names: Names, targets: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
    """Yield one name read as a declared one that it is like: `tgas` for `tags`, `file` for `file_path`."""
    often = Counter(name for matches in targets.values() for name in matches)
    nodes = names.place.node.property_nodes
    for key, matches in targets.items():
        last = (name_words(key) or ("",))[-1]
        is_several = len(matches) > 1 and singular(last) != last  # `dates` for the dates of start and end
        for name in matches if all(often[name] == 1 for name in matches) and not is_several else ():
            value = names.value[key]
            is_text = isinstance(value, str) and not looks_like_json(value)
            is_part = is_text or len(names.unknown) > 1
            is_held = name not in names.missing and has_holder(names.place.node, names.value)
            belongs_inside = is_held or (is_part and is_free_object(nodes[name]))
            if not belongs_inside and _may_rename(names.place.node, value, key, name):
                yield {name if sent == key else sent: item for sent, item in names.value.items()}


def _may_rename(node: Node, value: Any, sent: str, name: str) -> bool:
    """Return whether a value may be moved to another name: not an identifier or secret to another one, nor to another unit.

    A number may have another unit (``timeout`` and ``timeout_ms``), the words another order (``lat_lon`` and ``lon_lat``).
    """
    ours, theirs = name_words(sent), name_words(name)
    if "".join(ours) == "".join(theirs):
        return keeps_unit(node, sent, name)
    is_longer_or_public = len(ours) > len(theirs) or not is_secret_name(name)  # `token_name` is no token
    if sorted(ours) == sorted(theirs) or (is_secret_name(sent) and is_longer_or_public):
        return False
    kinds = [kind for kind in ("integer", "number") if _expects(node.property_nodes[name], kind)]
    is_number = bool(kinds) or (isinstance(value, (int, float)) and not isinstance(value, bool))
    is_plural = singular(ours[-1]) != ours[-1]
    says_unit = is_plural and len(ours) < len(theirs)  # `hours` says that of `hours_back`
    if is_number and not says_unit and (ours == theirs[: len(ours)] or ours[: len(theirs)] == theirs):
        return False
    if ours[-1] in IDENTIFIERS:
        is_list = ours == ("ids",) and _expects(node.property_nodes[name], "array")
        declared = islice(node.properties, _MAX_NAMES)
        ends = [entry for entry in declared if "".join(name_words(entry)).endswith(ours[0])]
        return len(ours) == 1 and (ends == [name] or (is_list and theirs[-1] not in IDENTIFIERS))
    return not (ours[-1].endswith("id") and ours[-1][:-2] in theirs)


def _holders(names: Names) -> dict[str, str]:
    """Return the undeclared names that belong inside one declared object, with its name."""
    holders: dict[str, list[str]] = {key: [] for key in names.unknown}
    nodes = names.place.node.property_nodes
    for holder, child in islice(nodes.items(), _MAX_NAMES):
        sent, fields = names.value.get(holder, {}), child.cached(_fields)
        inner = {key: names.value[key] for key in names.unknown if key in fields}
        is_known = holder in names.value or holder in names.missing
        is_whole = is_known or child.accepts(inner) or child.accepts([inner])
        # `content` is not said to be part of an attachment where `body` is missing.
        rivals = [] if is_whole else [nodes[name] for name in names.missing if name in nodes]
        for key, value in inner.items() if isinstance(sent, Mapping) else ():
            if key not in sent and not any(rival.accepts(value) for rival in rivals):
                holders[key].append(holder)
    return {key: places[0] for key, places in holders.items() if len(places) == 1}


def _fields(node: Node) -> frozenset[str]:
    """Return the names declared in the objects that a value may be, or of which it may be a list."""
    items = (name for branch in node.branches if branch.is_only("array") for name in branch.items.names)
    return frozenset((*node.names, *items))


def _moved_inside(names: Names, holders: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield fields beside an object moved into it; those of a missing list become its only item."""
    for name in dict.fromkeys(holders.values()):
        fields = {key: names.value[key] for key, holder in holders.items() if holder == name}
        inner = {**names.value.get(name, {}), **fields}
        holder = inner if _expects(names.place.node.property_nodes[name], "object") else [inner]
        yield {**_without(names.value, fields), name: holder}


def _moved_out(names: Names) -> Iterator[dict[str, Any]]:
    """Yield the arguments in the only undeclared name that holds declared ones, moved to the top."""
    value, fields_by_wrapper = names.value, {}
    for key in names.unknown:
        inner = value[key] if isinstance(value[key], Mapping) else {}
        fields = {name: inner[name] for name in names.absent if name in inner}
        # What stays behind may be ignored, or say something else of what is moved: `{"not": {"status": "open", "n": 1}}`.
        is_wrapper = len(fields) == len(inner) or fields.keys() >= {*names.missing}
        if fields and (is_wrapper or fold_name(key) in WRAPPERS):
            fields_by_wrapper[key] = fields
    for key, fields in fields_by_wrapper.items() if len(fields_by_wrapper) == 1 else ():
        rest = _without(value[key], fields)
        yield {**_without(value, [key]), **({key: rest} if rest else {}), **fields}


def _without(value: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key not in keys}


def _without_empty(names: Names, useful: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield an undeclared name left out that has no value or is added by clients."""
    place, value = names.place, names.value
    declared = {*map(fold_name, place.node.properties)}
    injected = () if place.path else injected_keys(names.unknown, declared, place.call.policy.drop)
    for key in names.unknown:
        is_empty_or_added = value[key] in (None, "", [], {}) or key in injected
        if is_empty_or_added and key not in useful and fold_name(key) not in declared:
            yield _without(value, [key])


_ANY_BUT_BOOLEAN: Final = ("string", "null", "integer", "number", "array", "object")
LIKELY_RULES: Final[tuple[Rule, ...]] = (
    ValueRule("near_member", 16, near_member, ("string", "null"), certain=False),
    ValueRule("out_of_list", 16, out_of_list, ("array",), certain=False),
    ValueRule("any_item", 16, any_item, ("array",), certain=False),
    ValueRule("as_command", 16, as_command, ("array",), ("string",), certain=False),
    ValueRule("as_list", 16, as_list, ("string",), certain=False),
    ValueRule("as_text", 16, as_text, ("integer", "number", "boolean", "array", "object"), certain=False),
    ValueRule("out_of_object", 16, out_of_object, ("object",), certain=False),
    ValueRule("leave_out", 16, leave_out, _ANY_BUT_BOOLEAN, ("absent",), certain=False),
    CallRule("other_names", 16, other_names, certain=False),
)
"""The uncertain rules: each is tried like any other, and what it makes is offered as a fix."""
