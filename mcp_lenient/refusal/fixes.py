"""Mends that are likely but not certain, as JSON Patches (RFC 6902) that were tried before they are offered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from mcp_lenient.names import by_singular, plural_target
from mcp_lenient.pointers import pointer, tokens_of
from mcp_lenient.redaction import exact, fits_json, in_json, is_name, short_scalar
from mcp_lenient.refusal.describe import format_of, likely_kinds
from mcp_lenient.refusal.keys import key_fixes
from mcp_lenient.refusal.name_fixes import name_fixes
from mcp_lenient.refusal.near import MAX_VALUE, near_at
from mcp_lenient.refusal.patches import Operation, Patch, moves_into_itself
from mcp_lenient.refusal.places import Place, fits, private
from mcp_lenient.refusal.refused import Refusal
from mcp_lenient.refusal.trials import Trial, is_taken
from mcp_lenient.spelling import squashed
from mcp_lenient.types import Path, Tie, ViolationCode

MAX_FIXES = 3
MAX_TRIED = 6
MAX_PLACES = 8
MAX_ARGUMENTS = 100_000

_SEPARATORS = re.compile(r"\s*[,;\n]\s*")
_NO_LIST_MARK = re.compile(r"[\[\]{}()\"'|\t]")
_MAX_WORDS_OF_AN_ITEM = 4
_MOVED_BY = frozenset({"wrap_arguments", "unwrap_arguments"})
_LONGEST_NOTHING = 16
_NOTHING = frozenset(
    ("", "-", "null", "none", "nil", "undefined", "n/a", "unknown", "unspecified", "not specified")
)
_HOLDERS = frozenset(
    "value values item items data text content result input string number integer boolean id name type".split()
)
"""Names of an object around one value that say nothing of it."""
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,10})?")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One violation that fixes are looked for.

    Attributes:
        code: What is wrong.
        paths: Where; several when one violation speaks of several items of a list.
        tie: The readings that compete there.
        of_key: Whether a map's key is wrong, and not its value.
    """

    code: ViolationCode
    paths: tuple[Path, ...]
    tie: Tie | None = None
    of_key: bool = False

    @staticmethod
    def of_tie(tie: Tie) -> Wanted:
        """Return the request for a place with several readings."""
        return Wanted("ambiguous", (tie.path,), tie)


def fixes(refusal: Refusal, wanted: Sequence[Wanted], most: int = MAX_FIXES) -> list[tuple[Patch, ...]]:
    """Return patches for each violation, likeliest first.

    Each was applied to the arguments and judged: the tool accepts the result, or this violation is gone
    and no other has come. None carries a secret or a long value, and none removes what could be moved. A
    destructive tool gets none.

    Args:
        refusal: The call.
        wanted: The violations.
        most: How many patches a violation gets at most.
    """
    if not wanted or refusal.destructive or not fits_json(refusal.outcome.arguments, MAX_ARGUMENTS):
        return [()] * len(wanted)
    offered = [islice(_writable_patches(refusal, each), MAX_TRIED) for each in wanted]
    verified: list[list[Patch]] = [[] for _ in wanted]
    trial = Trial.of(refusal)
    for _ in range(MAX_TRIED):
        drawn = [
            (at, patch)
            for at, patches in enumerate(offered)
            if len(verified[at]) < most and (patch := next(patches, None)) is not None
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
    """Return whether a patch names no key that is a text of the caller's, which may hold a value."""
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
    """Whether the patch also fits the arguments as they were sent, before they were repaired in part."""
    changed = refusal.once(_changed_places, refusal.look(()))
    if changed is None:
        return False
    paths = [operation[end] for operation in patch for end in ("path", "from") if end in operation]
    return not any(_is_below(path, changed) for path in paths)


def _is_below(path: str, places: frozenset[str]) -> bool:
    """Return whether a JSON Pointer leads to one of these places, or below it."""
    tokens = path.split("/")
    return any("/".join(tokens[:length]) in places for length in range(1, len(tokens) + 1))


def _changed_places(refusal: Refusal, _top: Place) -> frozenset[str] | None:
    """Return where the arguments are no longer as they were sent, as JSON Pointers; None where that is unclear."""
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
    """Return the names of an object in the arguments by their letters."""
    here: Any = refusal.outcome.arguments
    for token in tokens_of(parent):
        here = here.get(token) if isinstance(here, Mapping) else None
    found: dict[str, list[str]] = {}
    for name in here if isinstance(here, Mapping) else ():
        if isinstance(name, str):
            found.setdefault(squashed(name), []).append(name)
    return found


def _renamed_to(refusal: Refusal, names: Mapping[str, Sequence[str]], key: str) -> str | None:
    """Return the name that a key was renamed to; None where that is unclear."""
    found = list(names.get(squashed(key), ()))
    if not found:
        aliases = refusal.policy.aliases
        others = [name for same in names.values() for name in same]
        found = [name for name in others if key in aliases.get(name, ())] or [
            name for name in others if plural_target(key, by_singular((name,)))
        ]
    return found[0] if len(found) == 1 else None


def _readings(refusal: Refusal, tie: Tie) -> Iterator[Patch]:
    place = refusal.look(tie.path)
    if not refusal.may_show(place):
        return
    for reading in tie.readings:
        if showable(refusal, place, reading.value):
            yield (_put(tie.path, reading.value),)


def showable(refusal: Refusal, place: Place, value: object) -> bool:
    """Whether a reading of what stands at a place is short and holds nothing secret or undeclared."""
    if not fits_json(value, MAX_VALUE):
        return False
    return not private(refusal.schema, place.forms, value, refusal.policy.secret)


def _put(path: Path, value: object) -> Operation:
    return {"op": "replace", "path": pointer(path), "value": value}


def _values(refusal: Refusal, places: Sequence[Place]) -> Iterator[Patch]:
    """The n-th idea for each place makes the n-th patch; one patch mends all places or none."""
    if not all(place.present and not place.secret and all(map(_writable, place.path)) for place in places):
        return
    doubled = list_in_list(refusal, places[0].path)
    if doubled is not None:
        yield ({"op": "move", "from": pointer((*doubled, 0)), "path": pointer(doubled)},)
    ideas = [list(islice(_instead(refusal, place), MAX_TRIED)) for place in places]
    yield from (tuple(chain.from_iterable(each)) for each in zip(*ideas, strict=False))


def list_in_list(refusal: Refusal, path: Path) -> Path | None:
    """The property around a place whose list holds nothing but the list that the schema asks for there."""
    for length in range(1, len(path)):
        place = refusal.look(path[:length])
        if isinstance(place.value, list) and len(place.value) == 1 and isinstance(place.value[0], list):
            named = isinstance(path[length - 1], str)
            return place.path if named and is_taken(refusal, place, place.value[0]) else None
    return None


def _writable(part: str | int) -> bool:
    return isinstance(part, int) or exact(part)


def _instead(refusal: Refusal, place: Place) -> Iterator[Patch]:
    yield from ((_put(place.path, value),) for value in refusal.once(near_at, place))
    if refusal.may_show(place):
        yield from (
            (_put(place.path, items),) for items in _as_list(place) if showable(refusal, place, items)
        )
        yield from ((_put(place.path, text),) for text in _as_text(refusal, place))
    yield from _out_of_object(place)
    if says_nothing(place.value) and refusal.may_leave_out(place):
        yield ({"op": "remove", "path": pointer(place.path)},)


def _out_of_object(place: Place) -> Iterator[Patch]:
    """What is in an object of one property stands in place of the object.

    In a map it does not: names there are the caller's own, and one of them would be lost.
    """
    if not isinstance(place.value, Mapping) or len(place.value) != 1 or not place.path or not place.declared:
        return
    ((name, value),) = place.value.items()
    if not exact(name) or isinstance(value, (Mapping, list)):
        return
    own = next((part for part in reversed(place.path) if isinstance(part, str)), "")
    if squashed(name) not in _HOLDERS and squashed(name) != squashed(own):
        return  # `{"$ne": 5}` and `{"not": true}` say something else than what is in them
    moved: Operation = {"op": "move", "from": pointer((*place.path, name)), "path": pointer(place.path)}
    at = place.path[-1]
    # In a list a move inserts, so that the object that was left empty stands one further.
    emptied = () if isinstance(at, str) else ({"op": "remove", "path": pointer((*place.path[:-1], at + 1))},)
    yield (moved, *emptied)


def says_nothing(value: object) -> bool:
    """Whether a value was likely sent because there is none: null, an empty text, or a word for it."""
    if isinstance(value, str):
        return len(value) <= _LONGEST_NOTHING and value.strip().casefold() in _NOTHING
    return value is None


def _as_list(place: Place) -> Iterator[list[Any]]:
    """A text for a list: its parts, or the whole of it where the parts look like sentences."""
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
    listed = all(len(part.split()) <= _MAX_WORDS_OF_AN_ITEM and part[-1] not in ".!?" for part in parts)
    yield from ((parts, [text]) if listed else ([text], parts))


def _as_text(refusal: Refusal, place: Place) -> Iterator[str]:
    if isinstance(place.value, (list, Mapping)):
        wanted = any(format_of(form) == "json-string" for form in place.forms)
        yield from (in_json(place.value),) if wanted and showable(refusal, place, place.value) else ()
    if not isinstance(place.value, (int, float)) or not short_scalar(place.value):
        return
    if any(fits(form, "", exact_integers=False) for form in place.forms):
        yield in_json(place.value)
