"""Propose likely corrections as JSON Patches (RFC 6902); each is tried before it is offered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from mcp_lenient.refusal.wording import (
    IDENTIFIERS,
    MAX_EXTRA,
    MAX_NAMES,
    WRAPPERS,
    Location,
    Names,
    Refusal,
    allowed_values,
    findings,
    format_of,
    likely_kinds,
    matches,
    may_hold_other_value,
    path_in,
    private,
)
from mcp_lenient.rules.notations import case_differs
from mcp_lenient.rules.rules import injected_keys
from mcp_lenient.rules.units import units_differ
from mcp_lenient.schema.node import Forms, any_fits, declares, names_of
from mcp_lenient.types import FaultKind, Path, Tie, ValidationIssue, ViolationCode
from mcp_lenient.values.display import (
    MAX_NAME,
    exact,
    fits_json,
    in_json,
    is_name,
    name_words,
    secret_name,
    short_scalar,
)
from mcp_lenient.values.json_values import may_be_rounded, pointer, same_json, tokens_of
from mcp_lenient.values.names import (
    by_singular,
    fold_case,
    fold_name,
    is_same_word,
    likeness,
    plural_target,
    squashed,
    words_of,
)

Operation = Mapping[str, Any]
Patch = tuple[Operation, ...]


def applied(arguments: object, patch: Patch) -> Any:
    """Return the arguments after a patch, without modifying the given ones.

    >>> applied({"a": 1}, ({"op": "move", "from": "/a", "path": "/b"},))
    {'b': 1}
    """
    for operation in patch:
        value = operation.get("value")
        if operation["op"] == "move":
            value = _found(arguments, tokens_of(operation["from"]))
            arguments = _with(arguments, tokens_of(operation["from"]), remove=True)
        arguments = _with(
            arguments,
            tokens_of(operation["path"]),
            value,
            remove=operation["op"] == "remove",
            insert=operation["op"] in ("add", "move"),
        )
    return arguments


def moves_into_itself(operation: Operation) -> bool:
    """Return whether an operation moves a value into itself, which RFC 6902 forbids (section 4.4).

    >>> moves_into_itself({"op": "move", "from": "/value", "path": "/value/value"})
    True
    """
    return bool(operation["op"] == "move" and operation["path"].startswith(f"{operation['from']}/"))


def _found(value: Any, tokens: Sequence[str]) -> Any:
    for token in tokens:
        value = value[int(token)] if isinstance(value, list) else value[token]
    return value


def _with(
    value: Any, tokens: Sequence[str], new: object = None, *, remove: bool = False, insert: bool = False
) -> Any:
    if not tokens:
        return new
    key: Any = int(tokens[0]) if isinstance(value, list) else tokens[0]
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    if len(tokens) > 1:
        copy[key] = _with(value[key], tokens[1:], new, remove=remove, insert=insert)
    elif remove:
        del copy[key]
    elif insert and isinstance(copy, list):
        copy.insert(key, new)
    else:
        copy[key] = new
    return copy


MAX_NEAR = 3
MAX_VALUE = 200
_MIN_START = 3
_MIN_COMPLETED = 2
"""Letters that an abbreviation lacks: one letter more makes another word (``usd``, ``usdt``)."""
_AROUND = " \t\r\n[]\"'`"
"""Brackets, quotes and space around a text, which say nothing of it."""
_MAX_ENDING = 2
_TOKEN = re.compile(r"[^\W_]+|[\W_]")
# ISO/IEC 9075 (SQL), <ordering specification>.
_ABBREVIATED: Mapping[str, str] = {"ascending": "asc", "descending": "desc"}


@dataclass(frozen=True, slots=True)
class _Listed:
    """The allowed strings of a location by their case-folded form, and the digits of each form."""

    values: dict[str, list[str]]
    digits: dict[str, str]
    all: tuple[str, ...]


def near_at(refusal: Refusal, place: Location) -> list[Any]:
    """Return the allowed values that a string is close to, best first: for :meth:`Refusal.once`.

    Null is close to a word for it (`none`), which some clients read as null.
    A value is close if the string differs from it by case, one letter or an English ending, is the beginning of its
    last word, or has nothing in addition but words of the parameter's name or other values. Any other word may turn
    the meaning (`non-admin`), and a longer word is another one (`offline`, `internal`).
    """
    if place.value is None and place.present and not refusal.destructive:
        return [value for value in allowed_values(place.forms) if says_nothing(value)][:MAX_NEAR]
    if refusal.destructive or not isinstance(place.value, str) or not 0 < len(place.value) <= MAX_VALUE:
        return []
    listed = refusal.of_schema(_listed, place.forms)
    text = place.value.strip(_AROUND)
    if not listed.values or not text:
        return []
    sent = text.casefold()
    own = _digits(sent)
    names = [name for name, digits in listed.digits.items() if digits == own]
    near = [name for name in names if _is_spelled_alike(sent, name)]
    likely = dict.fromkeys((*_begun(text, names, listed), *near))
    found = [value for name in likely for value in listed.values[name] if not _is_symbol(text, value, listed)]
    return (
        found[:MAX_NEAR] or _beside_own_name(text, place.path, listed) or _one_of_several(text, place, listed)
    )


def _listed(choices: Forms) -> _Listed:
    values: dict[str, list[str]] = {}
    for value in allowed_values(choices):
        if isinstance(value, str):
            values.setdefault(value.casefold(), []).append(value)
    return _Listed(
        values, {name: _digits(name) for name in values}, tuple(chain.from_iterable(values.values()))
    )


def _is_symbol(text: str, value: str, listed: _Listed) -> bool:
    """Return whether a text and a value are two units (``kbit``, ``Kibit``), or two symbols by their case."""
    return units_differ(text, value) or (
        fold_case(text) == fold_case(value) and case_differs(text, value, listed.all)
    )


def _begun(text: str, names: Iterable[str], listed: _Listed) -> list[str]:
    """Return the only allowed value whose last word a text cuts off, or of which it lacks the last words.

    Another value must end in these words too: beside ``very active``, ``moderate`` is ``moderately active``, while
    ``read`` is not ``read_write``.
    """
    words = words_of(text)
    if not words or len(words[-1]) < _MIN_START:
        return []
    at = len(words) - 1
    start = text.casefold()[: len(words[0])]
    split = ((name, words_of(listed.values[name][0])) for name in names if name.startswith(start))
    found = [
        (name, whole)
        for name, whole in split
        if whole[:at] == words[:at] and whole[at : at + 1] and whole[at].startswith(words[at])
    ]
    if len(found) != 1:
        return []
    ((name, whole),) = found
    lacks, tail = len(whole[at]) - len(words[at]), whole[at + 1 :]
    if 0 < lacks < _MIN_COMPLETED or not (lacks or tail):
        return []
    others = (words_of(value) for value in listed.all if value.casefold() != name)
    is_whole = not tail or any(other[-len(tail) :] == tail != other for other in others)
    return [name] if is_whole else []


def _is_spelled_alike(sent: str, name: str) -> bool:
    """Return whether two folded texts differ by spaces, or in one word, which is the same one."""
    # Words that begin differently are two, and a sign around a text may turn it: `-date` sorts the other way.
    if sent[0] != name[:1]:
        return False
    if _ABBREVIATED.get(sent) == name or (sent[-1] == name[-1] and fold_name(sent) == fold_name(name)):
        return True
    if abs(len(sent) - len(name)) > _MAX_ENDING:
        return False
    ours, theirs = _TOKEN.findall(sent), _TOKEN.findall(name)
    differing = [pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]]
    return len(ours) == len(theirs) and len(differing) == 1 and is_same_word(*differing[0])


def _beside_own_name(text: str, path: Path, listed: _Listed) -> list[str]:
    """Return the allowed values that a text has beside the parameter's name: ``high priority``, ``status: open``."""
    words = name_words(next((part for part in reversed(path) if isinstance(part, str)), "")[:MAX_NAME])
    for at in range(len(words)):
        own = r"[\s_-]+".join(map(re.escape, words[at:]))
        for form in (rf"{own}(?:\s*[:=]\s*|[\s_-]+)(.+)", rf"(.+?)[\s_-]+{own}"):
            found = re.fullmatch(form, text, re.IGNORECASE)
            values = listed.values.get(found[1].casefold(), []) if found else []
            if found and values:
                return [value for value in values if not _is_symbol(found[1], value, listed)]
    return []


def _one_of_several(text: str, place: Location, listed: _Listed) -> list[str]:
    """Return the allowed values of which a text has nothing but several; not in a list, which could hold them all."""
    parts = _SEPARATORS.split(text)
    if not 1 < len(parts) <= MAX_NEAR or not (place.path and isinstance(place.path[-1], str)):
        return []
    found = [value for part in parts for value in listed.values.get(part.casefold(), ())[:1]]
    if len(parts) != len(found):
        return []
    has_symbol = any(_is_symbol(part, value, listed) for part, value in zip(parts, found, strict=True))
    return [] if has_symbol else found


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def near_keys(refusal: Refusal, path: Path) -> list[str]:
    """Return the allowed keys that are close to a wrong one and were not sent, best first."""
    return refusal.once(_near_keys, refusal.look(path))


def _near_keys(refusal: Refusal, place: Location) -> list[str]:
    parent, sent = refusal.look(place.path[:-1]), place.path[-1]
    if not isinstance(parent.value, Mapping) or not isinstance(sent, str) or parent.secret:
        return []
    as_value = parent._replace(value=sent, forms=refusal.reader.keys(parent.forms))
    return [name for name in near_at(refusal, as_value) if name not in parent.value]


def key_fixes(refusal: Refusal, path: Path) -> Iterator[Patch]:
    """Yield the move of an entry to the one key that was likely meant; an entry is never removed or overwritten."""
    near = near_keys(refusal, path)
    wrong = [issue.path for issue in refusal.outcome.issues if issue.kind == "key"]
    beside = (other for other in wrong if other[:-1] == path[:-1] and other != path)
    rivals = any(near_keys(refusal, other) == near for other in islice(beside, MAX_EXTRA))
    if len(near) == 1 and exact(path[-1]) and not rivals:
        yield ({"op": "move", "from": pointer(path), "path": pointer((*path[:-1], near[0]))},)


MAX_MOVED = 16
MAX_OWNERS = 8
MAX_FIELDS = 1_000
MAX_TEXT = 10_000
_ALSO_USUAL = WRAPPERS | frozenset(
    "toolinput toolargs toolarguments function request payload body data".split()
)
_CALL_IDS = frozenset({"toolcallid", "callid"})
_KINDS_OF_CALL: Mapping[str, frozenset[str]] = {
    "type": frozenset({"function", "function_call", "tool_call", "tool_use"}),
    "method": frozenset({"tools/call"}),
}
_BESIDE_A_TOOL = frozenset({"id", "server", "servername"})
_NAMES_A_TOOL = frozenset("name tool toolname function functionname".split())
_JOINTS = (".", "_", "__", "-", "/")


@dataclass(frozen=True, slots=True)
class Wrapped:
    """Arguments sent inside an undeclared top-level name.

    ``names`` are the tool's parameters in it; ``beside`` are other names that clients write around a call, such
    as the tool's name; ``whole`` says that nothing else is in it, so that moving the names out loses
    nothing; ``in_text`` that it was sent as JSON text.
    """

    path: Path
    names: tuple[str, ...]
    whole: bool
    in_text: bool
    beside: tuple[str, ...] = ()


def wrapped(refusal: Refusal) -> Wrapped | None:
    """Return the arguments sent in a wrapper; None if there is no wrapper, or more than one."""
    return refusal.once(_wrapped, refusal.look(()))


def _wrapped(refusal: Refusal, top: Location) -> Wrapped | None:
    if not isinstance(top.value, Mapping):
        return None
    names = refusal.names_at(top)
    if not names.absent:
        return None
    tried = (_inside(refusal, top.value[key], (key,), names) for key in names.extra)
    found = [each for each in tried if each is not None]
    if len(found) != 1:
        return None
    key = found[0].path[0]
    others = [name for name in names.extra if name != key] if _squashed(key) in _ALSO_USUAL else ()
    beside = tuple(name for name in others if _of_the_call(name, top.value, refusal.tool))
    return replace(found[0], beside=beside)


def _inside(refusal: Refusal, value: Any, path: Path, names: Names, *, deeper: bool = True) -> Wrapped | None:
    """Return the arguments in a value."""
    usual = _squashed(path[-1]) in _ALSO_USUAL
    content = _parsed(value) if usual and isinstance(value, str) else value
    if not isinstance(content, Mapping) or not content:
        return None
    inner = tuple(islice((name for name in names.absent if name in content), MAX_MOVED + 1))
    whole = len(inner) == len(content) <= MAX_MOVED
    if inner and (usual or whole or (names.lacking and all(name in content for name in names.lacking))):
        return Wrapped(path, inner, whole, content is not value)
    if not deeper or not usual:
        return None
    for key in islice((key for key in content if exact(key) and _squashed(key) in WRAPPERS), MAX_EXTRA):
        below = _inside(refusal, content[key], (*path, key), names, deeper=False)
        if below is not None:
            rest = (name for name in content if name != key)
            alone = all(_of_the_call(name, content, refusal.tool) for name in rest)
            return replace(below, whole=below.whole and alone, in_text=below.in_text or content is not value)
    return None


def is_usual_wrapper(name: object, value: object) -> bool:
    """Return whether clients are known to wrap the arguments in an object of this name."""
    return isinstance(value, Mapping) and bool(value) and _squashed(name) in WRAPPERS


def _squashed(name: object) -> str:
    return "".join(name_words(name)) if isinstance(name, str) and len(name) <= MAX_NAME else ""


def _of_the_call(name: object, around: Mapping[Any, Any], tool: str | None) -> bool:
    """Return whether a name says which call this is, and nothing to the tool."""
    letters, value = _squashed(name), around[name]
    if not isinstance(value, str) or not short_scalar(value):
        return False
    if letters in _NAMES_A_TOOL:
        return value == tool
    if letters in _BESIDE_A_TOOL:
        return any(_squashed(other) in _NAMES_A_TOOL and around[other] == tool for other in around)
    return letters in _CALL_IDS or value in _KINDS_OF_CALL.get(letters, ())


def _parsed(text: str) -> Any:
    if len(text) > MAX_TEXT or not text.lstrip().startswith("{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def unwrapping(refusal: Refusal, found: Wrapped) -> Iterator[Patch]:
    """Yield the patch that moves the arguments to the top.

    Yields nothing if something would be lost, if they are text, or if another tool is named beside them.
    """
    sent, extra = refusal.outcome.arguments, refusal.names_at(refusal.look(())).extra
    elsewhere = any(
        _squashed(name) in _NAMES_A_TOOL and sent[name] != refusal.tool
        for name in extra
        if name != found.path[0]
    )
    if found.whole and not found.in_text and not elsewhere:
        moves = [
            {"op": "move", "from": pointer((*found.path, name)), "path": pointer((name,))}
            for name in found.names
        ]
        gone = [{"op": "remove", "path": pointer((name,))} for name in (found.path[0], *found.beside)]
        yield (*moves, *gone)


def held_in(refusal: Refusal, name: str) -> str | None:
    """Return the one declared parameter with a wrapper's name that a missing one was sent in, without declaring it."""
    top = refusal.look(())
    found = [
        own
        for own in islice(names_of(top.forms), MAX_NAMES)
        if is_usual_wrapper(own, top.value.get(own)) and name in top.value[own]
        if not declares(refusal.look((own,)).forms, name)
    ]
    return found[0] if len(found) == 1 else None


def another_spelling(refusal: Refusal, parent: Location, sent: object) -> str | None:
    """Return the declared name, also sent, of which an undeclared one is another spelling, or the plural with an equal value."""
    letters = _squashed(sent)
    if not isinstance(sent, str) or not letters:
        return None
    present = refusal.once(_present, parent)
    found = present.get(letters)
    if found is None:
        same = (name for name in present.values() if len(name) <= MAX_NAME and likeness(sent, name) == 1)
        found = next(same, None)
        # With another value, `id` is not a spelling of `ids`.
        if found is not None and not _has_equal_values(parent, sent, found):
            return None
    return None if found == sent else found


def _has_equal_values(parent: Location, one: str, other: str) -> bool:
    return fits_json(parent.value, MAX_ARGUMENTS) and same_json(parent.value[one], parent.value[other])


def _present(refusal: Refusal, parent: Location) -> dict[str, str]:
    """Return the declared names that were sent, by their letters and digits; bounded."""
    if not isinstance(parent.value, Mapping):
        return {}
    declared = islice(names_of(refusal.meant(parent)), MAX_NAMES)
    found: dict[str, str] = {}
    for name in declared:
        if name in parent.value:
            found.setdefault(_squashed(name), name)
    return found


def home(refusal: Refusal, parent: Location, sent: object) -> Path | None:
    """Return the path of a field that was sent beside the object that declares it; None unless there is exactly one.

    The field's name may have the object's name as a prefix (``address.city``, ``address_city``).
    """
    if not isinstance(sent, str) or not isinstance(parent.value, Mapping) or sent not in parent.value:
        return None
    found = refusal.once(_homes, parent).get(sent, [])
    if 1 < len(found) <= MAX_OWNERS:
        exact_integers = refusal.validator.exact_integers
        value = parent.value[sent]
        found = [
            path for path in found if any_fits(refusal.look(path).forms, value, exact_integers=exact_integers)
        ]
    if not found:
        path = path_in(refusal, parent, sent)
        found = [path] if path and _takes_path(refusal, path, len(parent.path) + 1) else []
    return found[0] if len(found) == 1 else None


def _takes_path(refusal: Refusal, path: Path, start: int) -> bool:
    """Return whether every object and list on a path, from a length of it on, may have its next part."""
    for length in range(start, len(path)):
        part, forms = path[length], refusal.look(path[:length]).forms
        is_item = isinstance(part, int)
        # Of any other object of any names, the whole name may be one: `files.py` for `files`.
        takes_any = is_item or path[length - 1] in WRAPPERS
        if not any(
            (form.child(part) if is_item else part in form.properties) or (takes_any and not form.closed)
            for form in forms
            if any_fits((form,), [] if is_item else {})
        ):
            return False
    return not refusal.look(path).present


def _homes(refusal: Refusal, parent: Location) -> dict[str, list[Path]]:
    """Return the fields that objects at a location still accept, by each name they may be sent under; bounded."""
    declared = names_of(refusal.meant(parent))
    fields = (
        (own, owner, name)
        for own in islice(declared, MAX_NAMES)
        if exact(own)
        for owner in _owners(refusal, parent, own)
        for name in names_of(owner.forms)
        if exact(name) and not (owner.present and name in owner.value)
    )
    found: dict[str, list[Path]] = {}
    for own, owner, name in islice(fields, MAX_FIELDS):
        for sent in (name, *(f"{own}{joint}{name}" for joint in _JOINTS)):
            found.setdefault(sent, []).append((*owner.path, name))
    return found


def _owners(refusal: Refusal, parent: Location, own: str) -> Iterator[Location]:
    """Yield the object of a name, and the first item of a missing list if all that the item requires was sent."""
    owner, names = refusal.look((*parent.path, own)), refusal.names_at(parent)
    if not owner.present or isinstance(owner.value, Mapping):
        yield owner
    if own in names.lacking and any("array" in likely_kinds(form) for form in owner.forms):
        item = refusal.look((*owner.path, 0))
        needed = {name for form in item.forms for name in form.required} or names_of(item.forms).keys()
        if needed and needed <= set(names.extra):
            yield item


def coming_home(refusal: Refusal, owner: Location) -> dict[str, Path]:
    """Return the names that were sent beside an object and belong inside it, with their paths in it."""
    parent = refusal.look(owner.path[:-1])
    found = refusal.once(_coming_home, parent)
    return {name: path for name, path in found.items() if path[: len(owner.path)] == owner.path}


def _coming_home(refusal: Refusal, parent: Location) -> dict[str, Path]:
    found = {name: home(refusal, parent, name) for name in refusal.names_at(parent).extra}
    return {name: path for name, path in found.items() if path is not None}


def _gathering(refusal: Refusal, owner: Location) -> tuple[Patch, ...]:
    """Return the patch that moves all such names into the object or list, and adds what was not sent of it; () for none."""
    fields = coming_home(refusal, owner)
    if not 0 < len(fields) <= MAX_MOVED or not _are_all_parts(refusal, owner, fields):
        return ()
    patch: list[Operation] = []
    made: dict[Path, Any] = {}
    for name, path in sorted(fields.items(), key=lambda each: _indices(each[1])):
        for at in range(len(owner.path), len(path)):
            above = path[:at]
            if above not in made and not refusal.look(above).present:
                made[above] = [] if isinstance(path[at], int) else {}
                patch.append({"op": "add", "path": pointer(above), "value": made[above]})
        patch.append(_move((*owner.path[:-1], name), path))
    return (tuple(patch),) if made.keys().isdisjoint(fields.values()) else ()


def _indices(path: Path) -> list[int]:
    return [part for part in path if isinstance(part, int)]


def _are_all_parts(refusal: Refusal, owner: Location, fields: Mapping[str, Path]) -> bool:
    """Return whether the schema describes each field once, none is left out, and each new list has all its items."""
    ways = {path[: at + 1] for path in fields.values() for at in range(len(owner.path), len(path))}
    items = {way for way in ways if isinstance(way[-1], int)}
    sent = refusal.look(owner.path[:-1]).value
    begun = (f"{owner.path[-1]}.", f"{owner.path[-1]}[")
    return (
        len(set(fields.values())) == len(fields)
        and all(refusal.look(path).forms for path in fields.values())
        and not any(refusal.look(item[:-1]).present for item in items)
        and all(not item[-1] or (*item[:-1], int(item[-1]) - 1) in items for item in items)
        and all(name in fields or not name.startswith(begun) for name in sent if isinstance(name, str))
    )


def name_fixes(refusal: Refusal, code: ViolationCode, path: Path) -> Iterator[Patch]:
    """Yield patches that may correct a missing or an unknown name, likeliest first; not yet tried."""
    parent, name = refusal.look(path[:-1]), path[-1]
    if not isinstance(parent.value, Mapping) or not isinstance(name, str):
        return
    found = wrapped(refusal) if not parent.path else None
    if found is not None and name in (found.path[0], *found.names, *found.beside):
        yield from unwrapping(refusal, found)
    elif code == "missing":
        holder = None if parent.path else held_in(refusal, name)
        if holder is not None and IDENTIFIERS.isdisjoint(name_words(name)[-1:]):
            yield (_move((holder, name), path),)
        yield from refusal.once(_gathering, refusal.look(path))
        yield from _moves_to(refusal, parent, name)
        yield from _only_value(refusal, path)
    elif exact(name):
        yield from _moves_from(refusal, parent, name)


def _moves_to(refusal: Refusal, parent: Location, name: str) -> Iterator[Patch]:
    found = matches(refusal, parent)
    likely = [
        sent for sent in found.meaning(name) if found.is_clear(sent) and found.meant_by(sent)[0] == name
    ]
    tags = [sent for sent in holding_tag(refusal, parent, (*parent.path, name)) if sent not in likely]
    likely += tags[: len(tags) == 1]
    for sent in (other for other in likely if _may_take(refusal, parent, other, name)):
        yield (_move((*parent.path, sent), (*parent.path, name)),)
    if parent.path and name in refusal.names_at(refusal.look(())).extra:
        yield (_move((name,), (*parent.path, name)),)


def _moves_from(refusal: Refusal, parent: Location, sent: str) -> Iterator[Patch]:
    names = refusal.names_at(parent)
    if sent not in names.extra or not isinstance(parent.value, Mapping):
        return
    value = parent.value[sent]
    twin = another_spelling(refusal, parent, sent)
    if twin is not None:
        if same_json(parent.value[twin], value):
            yield (_remove((*parent.path, sent)),)
        return
    found = matches(refusal, parent)
    likely = found.meant_by(sent) if found.is_clear(sent) else []
    likely += [name for name in _held_alone(refusal, parent, sent) if name not in likely]
    moves: list[Patch] = [
        (_move((*parent.path, sent), (*parent.path, name)),)
        for name in likely
        if _may_take(refusal, parent, sent, name)
    ]
    belongs = home(refusal, parent, sent)
    if belongs is not None:
        owner = refusal.look(belongs[: len(parent.path) + 1])
        inside = refusal.once(_gathering, owner)
        is_first = owner.path[-1] in (*names.lacking, *likely) or not moves
        moves = [*inside, *moves] if is_first else [*moves, *inside]
    yield from moves
    missing = [issue.path for issue in refusal.outcome.issues if issue.kind == "missing"]
    yield from (
        (_move((*parent.path, sent), path),)
        for path in missing
        if path[:-1] != parent.path and path[-1] == sent
    )
    if not moves and belongs is None and (_is_empty(value) or sent in refusal.once(_injected, parent)):
        yield (_remove((*parent.path, sent)),)


def _may_take(refusal: Refusal, parent: Location, sent: str, name: str) -> bool:
    """Return whether a fix may move the value of a sent name to a declared one that was likely meant."""
    return may_move(sent, name, _ending_alike(refusal, parent, sent)) and not may_hold_other_value(
        refusal, parent, sent, name
    )


def _is_empty(value: object) -> bool:
    """Return whether nothing is lost with a value: null, an empty string, list or object."""
    return value is None or (isinstance(value, (str, list, Mapping)) and not value)


def _injected(refusal: Refusal, parent: Location) -> frozenset[str]:
    """Return the undeclared names that known clients add to the arguments by themselves."""
    if parent.path:
        return frozenset()
    declared = {fold_name(name) for name in names_of(parent.forms)}
    return injected_keys(refusal.names_at(parent).extra, declared, refusal.policy.drop)


def _ending_alike(refusal: Refusal, parent: Location, sent: str) -> int:
    """Return how many declared names end in the sent one if it is a bare identifier, else 1."""
    words = name_words(sent)
    if len(words) != 1 or words[0] not in IDENTIFIERS:
        return 1
    return sum(name.endswith(words[0]) for name in refusal.reader.once(_run_together, parent.forms))


def _run_together(forms: Forms) -> tuple[str, ...]:
    return tuple("".join(name_words(name)) for name in names_of(forms))


def may_move(sent: str, name: str, ending_alike: int = 1) -> bool:
    """Return whether a fix may move a value to another name.

    An identifier may only move to a name of the same words; a bare ``id`` also to the only name that ends in it.
    A secret may not move to a name whose value may be shown.

    ``ending_alike`` is the number of declared names that end in the sent one.

    >>> may_move("userId", "user_id"), may_move("id", "user_id"), may_move("id", "user_id", 2)
    (True, True, False)
    >>> may_move("user_id", "customer_id"), may_move("sessionid", "session"), may_move("password", "query")
    (False, False, False)
    """
    words, declared = name_words(sent), name_words(name)
    squashed = "".join(declared)
    if not words or "".join(words) == squashed:
        return True
    if secret_name(sent) and not secret_name(name):
        return False
    if len(words) == 1 and squashed.endswith(words[0]):
        return ending_alike == 1 or words[0] not in IDENTIFIERS
    last = words[-1]
    run_together = last.endswith("id") and last.removesuffix("id") in declared
    return last not in IDENTIFIERS and not run_together


def may_be_meant(refusal: Refusal, parent: Location, sent: str, name: str) -> bool:
    """Return whether a message may say that one name was meant as another; never in a destructive tool."""
    return not refusal.destructive and len(sent) <= MAX_NAME and _may_take(refusal, parent, sent, name)


def holding_tag(refusal: Refusal, parent: Location, path: Path) -> list[str]:
    """Return the undeclared names whose value is one of the allowed values of a missing name.

    The missing name is a discriminator, such as ``kind`` for ``{"type": "slack"}``.
    """
    forms = refusal.look(path).forms
    allowed_here = allowed_values(forms)
    if refusal.destructive or not allowed_here or not isinstance(parent.value, Mapping):
        return []
    told = refusal.reader.union(parent.forms).discriminator
    if told is None or told.name != path[-1]:
        return []
    sent = ((name, parent.value[name]) for name in refusal.names_at(parent).extra)
    return [name for name, value in sent if isinstance(value, str) and value in allowed_here]


def held_tags(refusal: Refusal, parent: Location, sent: str) -> list[str]:
    """Return the missing names that an undeclared one has a value of, as in :func:`holding_tag`."""
    lacking = refusal.names_at(parent).lacking
    return [name for name in lacking if sent in holding_tag(refusal, parent, (*parent.path, name))]


def _held_alone(refusal: Refusal, parent: Location, sent: str) -> list[str]:
    """Return these names if no other undeclared one has a value of them as well."""
    held = held_tags(refusal, parent, sent)
    return [name for name in held if holding_tag(refusal, parent, (*parent.path, name)) == [sent]]


def _move(source: Path, target: Path) -> Operation:
    return {"op": "move", "from": pointer(source), "path": pointer(target)}


def _remove(path: Path) -> Operation:
    return {"op": "remove", "path": pointer(path)}


def _only_value(refusal: Refusal, path: Path) -> Iterator[Patch]:
    values = allowed_values(refusal.look(path).forms)
    if len(values) == 1:
        yield ({"op": "add", "path": pointer(path), "value": values[0]},)


Question = tuple[Patch, Sequence[Path]]
"""A patch, and the paths of the violation that it is for."""
Left = Callable[[Mapping[str, Any]], Sequence[ValidationIssue]]
"""Return the remaining issues of arguments."""
_Asked = tuple[int, Patch, Sequence[Path]]
_Faults = dict[Any, list[ValidationIssue]]


@dataclass(frozen=True, slots=True)
class _PatchTrial:
    """A trial of patches on one refused call.

    A validator checks each parameter on its own, so patches that change different parameters are tried together.
    """

    refusal: Refusal
    _before: frozenset[tuple[Path, FaultKind]]

    @staticmethod
    def of(refusal: Refusal) -> _PatchTrial:
        """Return the trial of a refused call."""
        return _PatchTrial(refusal, frozenset((issue.path, issue.kind) for issue in refusal.outcome.issues))

    def helps(self, questions: Sequence[Question]) -> list[bool]:
        """Return whether each patch leads to accepted arguments, or removes its violation and adds none."""
        verdicts: dict[int, bool] = {}
        waiting = [
            (at, patch, paths)
            for at, (patch, paths) in enumerate(questions)
            if all(_is_published(self.refusal, operation) for operation in patch)
        ]
        while waiting:
            together, waiting = _apart(waiting)
            answers = self._tried([(patch, paths) for _, patch, paths in together])
            verdicts.update(zip((at for at, _, _ in together), answers, strict=True))
        return [verdicts.get(at, False) for at in range(len(questions))]

    def _tried(self, questions: Sequence[Question]) -> list[bool]:
        """Return the verdicts of the validator and, for moves, of validation after repair."""
        verdicts = self._judged(questions, self.refusal.validator.issues)
        again = self.refusal.again
        open_still = [
            at
            for at, (patch, _) in enumerate(questions)
            if not verdicts[at] and any(each["op"] == "move" for each in patch)
        ]
        if again is not None and open_still:
            retried = self._judged([questions[at] for at in open_still], again)
            for at, verdict in zip(open_still, retried, strict=True):
                verdicts[at] = verdict
        return verdicts

    def _judged(self, questions: Sequence[Question], left: Left) -> list[bool]:
        if len(questions) == 1:
            return [self._alone(*questions[0], left)]
        patched = self.refusal.outcome.arguments
        for at, (patch, _) in enumerate(questions):
            if all(patch != other for other, _ in questions[:at]):
                patched = applied(patched, patch)
        before = _by_parameter(self.refusal.outcome.issues)
        after = _by_parameter(left(patched) if isinstance(patched, Mapping) else ())
        if None in before or None in after:
            return [self._alone(*each, left) for each in questions]
        return [self._follows(patch, paths, before, after, left) for patch, paths in questions]

    def _follows(
        self, patch: Patch, paths: Sequence[Path], before: _Faults, after: _Faults, left_by: Left
    ) -> bool:
        """Return the verdict on one of several patches, from the issues left after all of them."""
        own = _parameters(patch)
        elsewhere = {path[0] for path in paths} - own
        left = [issue for name in own for issue in after.get(name, ())]
        if not left and before.keys() <= own:
            return self._alone(patch, paths, left_by)
        left += (issue for name in elsewhere for issue in before.get(name, ()))
        return self._only_others(left, paths)

    def _alone(self, patch: Patch, paths: Sequence[Path], left: Left) -> bool:
        patched = applied(self.refusal.outcome.arguments, patch)
        return isinstance(patched, Mapping) and self._only_others(left(patched), paths)

    def _only_others(self, after: Sequence[ValidationIssue], paths: Sequence[Path]) -> bool:
        """Return whether all issues existed before, elsewhere; an issue above or below a path may be about that path."""
        return all(
            (issue.path, issue.kind) in self._before and not any(_related(issue.path, path) for path in paths)
            for issue in after
        )


def _apart(waiting: list[_Asked]) -> tuple[list[_Asked], list[_Asked]]:
    """Split patches into those that change different parameters, or are equal, and the others."""
    taken: dict[str, Patch] = {}
    together: list[_Asked] = []
    later: list[_Asked] = []
    for each in waiting:
        own = _parameters(each[1])
        if all(taken.get(name, each[1]) == each[1] for name in own):
            together.append(each)
            taken.update(dict.fromkeys(own, each[1]))
        else:
            later.append(each)
    return together, later


def _parameters(patch: Patch) -> set[str]:
    ends = (operation[end] for operation in patch for end in ("path", "from") if end in operation)
    return {tokens_of(end)[0] for end in ends}


def _by_parameter(issues: Sequence[ValidationIssue]) -> _Faults:
    found: _Faults = {}
    for issue in issues:
        found.setdefault(issue.path[0] if issue.path else None, []).append(issue)
    return found


def _related(one: Path, other: Path) -> bool:
    return one[: len(other)] == other or other[: len(one)] == one


def _is_published(refusal: Refusal, operation: Operation) -> bool:
    """Return whether the published schema accepts the value of an operation; a validator may accept more.

    An object that is added to move fields into it is checked together with the fields.
    """
    if "value" not in operation or operation["op"] == "add" or _is_reading(refusal, operation):
        return True
    try:
        path = _path(refusal.outcome.arguments, operation["path"])
    except LookupError:  # no pointer leads to a key that is not a string
        return False
    place = refusal.look(path)
    return is_taken(refusal, place, operation["value"])


def _is_reading(refusal: Refusal, operation: Operation) -> bool:
    """Return whether an operation puts a reading of a tie, which the validator has accepted."""
    ties = (tie for tie in refusal.outcome.ties if pointer(tie.path) == operation["path"])
    return any(reading.value is operation["value"] for tie in ties for reading in tie.readings)


def _path(arguments: Mapping[str, Any], pointer: str) -> Path:
    """Return the path in the arguments that a JSON Pointer names."""
    here: Any = arguments
    path: Path = ()
    for token in tokens_of(pointer):
        part = int(token) if isinstance(here, list) else token
        here = here[part]
        path = (*path, part)
    return path


def is_taken(refusal: Refusal, place: Location, value: object) -> bool:
    """Return whether the published schema accepts a value at a location."""
    exact_integers = refusal.validator.exact_integers
    return not findings(refusal.reader, place.forms, value, place.path, exact_integers=exact_integers)


MAX_FIXES = 3
MAX_TRIED = 6
MAX_PLACES = 8
MAX_ARGUMENTS = 100_000
_SEPARATORS = re.compile(r"\s*[,;\n]\s*")
_THOUSANDS = re.compile(r"-?[1-9][0-9]{0,2}(?:,[0-9]{3}){1,4}")
_DECIMALS = re.compile(r"-?(?:0|[1-9][0-9]{0,14}),[0-9]{1,14}")
_NO_LIST_MARK = re.compile(r"[\[\]{}()\"'|\t]")
_MAX_WORDS_OF_AN_ITEM = 4
_WORD = re.compile(r"[\d_-]*[^\W\d_][\w-]*")
_DIGITS = re.compile(r"\d+")
_REPEATED = re.compile(r"([^\w\s]a)\1+")
_MOVED_BY = frozenset({"wrap_arguments", "unwrap_arguments", "nest_arguments"})
_LONGEST_NOTHING = 16
_NOTHING = frozenset(
    ("", "-", "null", "none", "nil", "undefined", "n/a", "unknown", "unspecified", "not specified")
)
_HOLDERS = frozenset(
    "value values item items data text content result input string number integer boolean id name type".split()
)
"""Names in an object around one value that do not describe it."""
_TYPES = frozenset(
    "string number integer boolean array object null str int float bool list dict tuple".split()
)
"""Types as JSON Schema and Python name them."""
_MAX_WRAPPED = 3
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,10})?")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One violation to find fixes for.

    Attributes:
        code: The violation's code.
        paths: The violation's paths; several if it is about several items of a list.
        tie: The equally likely readings, if there are any.
        of_key: Whether a map's key is wrong, and not its value.
    """

    code: ViolationCode
    paths: tuple[Path, ...]
    tie: Tie | None = None
    of_key: bool = False

    @staticmethod
    def of_tie(tie: Tie) -> Wanted:
        """Return the request for a value with several readings."""
        return Wanted("ambiguous", (tie.path,), tie)


def fixes(refusal: Refusal, wanted: Sequence[Wanted], most: int = MAX_FIXES) -> list[tuple[Patch, ...]]:
    """Return patches for each violation, likeliest first.

    Each was tried: the validator accepts the result, or this violation is gone and no other has appeared. None
    contains a secret or a long value, and none removes what could be moved. A destructive tool gets none.
    """
    if not wanted or refusal.destructive or not fits_json(refusal.outcome.arguments, MAX_ARGUMENTS):
        return [()] * len(wanted)
    offered = [islice(_writable_patches(refusal, each), MAX_TRIED) for each in wanted]
    verified: list[list[Patch]] = [[] for _ in wanted]
    trial = _PatchTrial.of(refusal)
    for _ in range(MAX_TRIED):
        drawn = [
            (at, patch)
            for at, patches in enumerate(offered)
            if len(verified[at]) < (MAX_FIXES if wanted[at].tie else most)
            and (patch := next(patches, None)) is not None
        ]
        if not drawn:
            break
        good = trial.helps([(patch, wanted[at].paths) for at, patch in drawn])
        for (at, patch), helps in zip(drawn, good, strict=True):
            if helps:
                verified[at].append(patch)
    return list(map(tuple, verified))


def _writable_patches(refusal: Refusal, wanted: Wanted) -> Iterator[Patch]:
    if not 0 < len(wanted.paths) <= MAX_PLACES:
        return
    for patch in _ideas(refusal, wanted):
        if (
            _as_sent(refusal, patch)
            and _is_writable(refusal, patch)
            and not any(map(moves_into_itself, patch))
        ):
            yield patch


def _is_writable(refusal: Refusal, patch: Patch) -> bool:
    """Return whether a patch contains no key chosen by the caller that may be a value."""
    ends = (operation[end] for operation in patch for end in ("path", "from") if end in operation)
    tops = {tokens_of(end)[0] for end in ends if end}
    return all(is_name(name) or refusal.look((name,)).declared for name in tops)


def _ideas(refusal: Refusal, wanted: Wanted) -> Iterator[Patch]:
    paths = wanted.paths
    if wanted.tie is not None:
        return _readings(refusal, wanted.tie)
    if wanted.of_key:
        return key_fixes(refusal, paths[0]) if len(paths) == 1 else iter(())
    if wanted.code in ("missing", "unknown"):
        return name_fixes(refusal, wanted.code, paths[0]) if len(paths) == 1 else iter(())
    return _values(refusal, [refusal.look(path) for path in paths])


def _as_sent(refusal: Refusal, patch: Patch) -> bool:
    """Return whether the patch also applies to the arguments as they were sent, before partial repair."""
    changed = refusal.once(_changed_places, refusal.look(()))
    if changed is None:
        return False
    paths = [operation[end] for operation in patch for end in ("path", "from") if end in operation]
    return not any(_is_below(path, changed) for path in paths)


def _is_below(path: str, places: frozenset[str]) -> bool:
    """Return whether a JSON Pointer is one of these, or below one."""
    tokens = path.split("/")
    return any("/".join(tokens[:length]) in places for length in range(1, len(tokens) + 1))


def _changed_places(refusal: Refusal, _top: Location) -> frozenset[str] | None:
    """Return the JSON Pointers of repaired arguments; None if they are unclear."""
    repairs = refusal.outcome.repairs
    if any(repair.rule in _MOVED_BY for repair in repairs):
        return None
    names: dict[str, dict[str, list[str]]] = {}
    changed: set[str] = set()
    for repair in repairs:
        where = repair.pointer
        if repair.rule.startswith("rename_"):
            parent = where.rpartition("/")[0]
            if parent not in names:
                names[parent] = _spelled_at(refusal, parent)
            found = _renamed_to(refusal, names[parent], tokens_of(where)[-1])
            if found is None:
                return None
            where = f"{parent}{pointer((found,))}"
        changed.add(where)
    return frozenset(changed)


def _spelled_at(refusal: Refusal, parent: str) -> dict[str, list[str]]:
    """Return the names of an object in the arguments, by their letters."""
    here: Any = refusal.outcome.arguments
    for token in tokens_of(parent):
        here = here.get(token) if isinstance(here, Mapping) else None
    found: dict[str, list[str]] = {}
    for name in here if isinstance(here, Mapping) else ():
        if isinstance(name, str):
            found.setdefault(squashed(name), []).append(name)
    return found


def _renamed_to(refusal: Refusal, names: Mapping[str, Sequence[str]], key: str) -> str | None:
    """Return the name that a key was renamed to; None if it is unclear."""
    found = list(names.get(squashed(key), ()))
    if not found:
        aliases = refusal.policy.aliases
        others = [name for same in names.values() for name in same]
        found = [name for name in others if key in aliases.get(name, ())] or [
            name for name in others if plural_target(key, by_singular((name,)))
        ]
    return found[0] if len(found) == 1 else None


def _readings(refusal: Refusal, tie: Tie) -> Iterator[Patch]:
    """Yield all readings, or none: one alone would decide what is not known."""
    place = refusal.look(tie.path)
    values = [reading.value for reading in tie.readings]
    if not refusal.may_show(place) or len(values) > MAX_FIXES:
        return
    if all(showable(refusal, place, value) for value in values):
        yield from ((_put(tie.path, value),) for value in values)


def showable(refusal: Refusal, place: Location, value: object) -> bool:
    """Return whether a reading of a value is short and contains nothing secret or undeclared."""
    if not fits_json(value, MAX_VALUE):
        return False
    return not private(place.forms, value, refusal.policy.secret)


def _put(path: Path, value: object) -> Operation:
    return {"op": "replace", "path": pointer(path), "value": value}


def _values(refusal: Refusal, places: Sequence[Location]) -> Iterator[Patch]:
    """Yield patches for all locations at once: the n-th patch combines the n-th idea for each."""
    if not all(place.present and not place.secret and all(map(_writable, place.path)) for place in places):
        return
    doubled = list_in_list(refusal, places[0].path)
    if doubled is not None:
        yield ({"op": "move", "from": pointer((*doubled, 0)), "path": pointer(doubled)},)
    ideas = [islice(_instead(refusal, place), MAX_TRIED) for place in places]
    yield from (tuple(chain.from_iterable(each)) for each in zip(*ideas, strict=False))


def list_in_list(refusal: Refusal, path: Path) -> Path | None:
    """Return the path of a list whose only item is the list that the schema expects; None if there is none."""
    for length in range(1, len(path)):
        place = refusal.look(path[:length])
        if isinstance(place.value, list) and len(place.value) == 1 and isinstance(place.value[0], list):
            named = isinstance(path[length - 1], str)
            return place.path if named and is_taken(refusal, place, place.value[0]) else None
    return None


def _writable(part: str | int) -> bool:
    return isinstance(part, int) or exact(part)


def _instead(refusal: Refusal, place: Location) -> Iterator[Patch]:
    yield from ((_put(place.path, value),) for value in refusal.once(near_at, place))
    if refusal.may_show(place):
        yield from (
            (_put(place.path, items),) for items in _as_list(place) if showable(refusal, place, items)
        )
        yield from ((_put(place.path, text),) for text in _as_text(refusal, place))
    yield from _out_of_object(place)
    if says_nothing(place.value) and not needs_text(place) and refusal.may_leave_out(place):
        yield ({"op": "remove", "path": pointer(place.path)},)


def _out_of_object(place: Location) -> Iterator[Patch]:
    """Yield the patch that replaces an object around one value by that value.

    Not in a map: its names are the caller's, and one of them would be lost.
    """
    if not isinstance(place.value, Mapping) or not place.path or not place.declared:
        return
    inside = only_scalar(place)
    if not inside:
        return
    moved: Operation = {"op": "move", "from": pointer((*place.path, *inside)), "path": pointer(place.path)}
    at = place.path[-1]
    # A move inserts into a list, so the emptied object is now one index further.
    emptied = () if isinstance(at, str) else ({"op": "remove", "path": pointer((*place.path[:-1], at + 1))},)
    yield (moved, *emptied)


def only_scalar(place: Location) -> Path:
    """Return the path in an object to the one value in it; () if its name, or more than its type, is said beside it."""
    own = squashed(next((part for part in reversed(place.path) if isinstance(part, str)), ""))
    value: Any = place.value
    inside: Path = ()
    for _ in range(_MAX_WRAPPED):
        found = _described(value)
        if found is None:
            return ()
        name, below, has_type = found
        copied = any(below in form.says("description") for form in place.forms)
        # `{"$ne": 5}` and `{"not": true}` do not mean their value.
        if squashed(name) not in (*_HOLDERS, own) and not (has_type and name == "description" and not copied):
            return ()
        value, inside = below, (*inside, name)
        if not isinstance(value, Mapping):
            return () if isinstance(value, list) else inside
    return ()


def _described(value: Mapping[Any, Any]) -> tuple[str, Any, bool] | None:
    """Return the one name in an object and its value, and whether the name of a type is beside it."""
    entries = [
        (name, below)
        for name, below in islice(value.items(), 3)
        if len(value) == 1 or name != "type" or not isinstance(below, str) or below not in _TYPES
    ]
    if len(value) > 2 or len(entries) != 1 or not exact(entries[0][0]):
        return None
    return (*entries[0], len(value) == 2)


def says_nothing(value: object) -> bool:
    """Return whether a value was likely sent for lack of one: null, an empty string, or a word for it."""
    if isinstance(value, str):
        return len(value) <= _LONGEST_NOTHING and value.strip().casefold() in _NOTHING
    return value is None


def needs_text(place: Location) -> bool:
    """Return whether the author asks for a longer text than was sent: leaving it out would widen the call."""
    bounds = (bound for form in place.forms for bound in form.says("minLength"))
    return isinstance(place.value, str) and any(bounds)


def items_offered(offered: Sequence[Patch]) -> int:
    """Return the most items of the lists that replace one value; 0 unless another one has a single item."""
    counts = {
        len(patch[0]["value"])
        for patch in offered
        if len(patch) == 1 and isinstance(patch[0].get("value"), list)
    }
    return max(counts) if len(counts) > 1 and min(counts) == 1 else 0


def _as_list(place: Location) -> Iterator[list[Any]]:
    """Yield lists for a string: its parts, and the whole string, which comes first unless the parts are alike."""
    text = place.value
    if not isinstance(text, str) or not fits_json(text, MAX_VALUE) or _NO_LIST_MARK.search(text):
        return
    if not any("array" in likely_kinds(form) for form in place.forms):
        return
    parts = [part for part in _SEPARATORS.split(text.strip()) if part]
    if len(parts) < 2:
        return
    if all(map(_NUMBER.fullmatch, parts)):
        yield [json.loads(part) for part in parts]
        yield from ([one] for one in _one_number(text.strip()))
    is_list = _are_alike(parts) and not any(_one_number(text.strip()))
    yield from ((parts, [text]) if is_list else ([text], parts))


def _are_alike(parts: Sequence[str]) -> bool:
    """Return whether the parts of a text have one form: single words, or words with the same characters between them.

    Numbers with a point or a sign may be coordinates.
    """
    if any(len(part.split()) > _MAX_WORDS_OF_AN_ITEM or part[-1] in ".!?" for part in parts):
        return False
    forms = {_REPEATED.sub(r"\1", _DIGITS.sub("0", _WORD.sub("a", part))) for part in parts}
    is_number = not any(form == "0" or "a" in form for form in forms)
    return len(forms) == 1 and not is_number


def _one_number(text: str) -> Iterator[float]:
    """Yield the number in a string whose commas separate thousands or decimals."""
    if _THOUSANDS.fullmatch(text):
        yield int(text.replace(",", ""))
    elif _DECIMALS.fullmatch(text):
        yield float(text.replace(",", "."))


def _as_text(refusal: Refusal, place: Location) -> Iterator[str]:
    if isinstance(place.value, (list, Mapping)):
        wanted = any(format_of(form) == "json-string" for form in place.forms)
        yield from (in_json(place.value),) if wanted and showable(refusal, place, place.value) else ()
    if not isinstance(place.value, (int, float)) or not short_scalar(place.value):
        return
    if may_be_rounded(place.value):
        return
    if any_fits(place.forms, "") and any("string" in likely_kinds(form) for form in place.forms):
        yield in_json(place.value)
