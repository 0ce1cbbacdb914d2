"""Names that came at another level than theirs: inside a wrapper, or outside the object they belong to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mcp_lenient.pointers import pointer
from mcp_lenient.redaction import exact, name_words, short_scalar
from mcp_lenient.refusal.patches import Patch
from mcp_lenient.refusal.places import Place, fits, meant, properties
from mcp_lenient.refusal.refused import MAX_EXTRA, MAX_NAMES, Refusal
from mcp_lenient.types import Path

MAX_MOVED = 16
MAX_OWNERS = 8
MAX_FIELDS = 1_000
MAX_TEXT = 10_000

_USUAL = frozenset("args arguments params parameters kwargs input inputs properties".split())
_ALSO_USUAL = _USUAL | frozenset(
    "toolinput toolargs toolarguments function request payload body data".split()
)
_OF_THE_CALL = frozenset(
    "name tool toolname function functionname type id method toolcallid callid server servername".split()
)
_JOINTS = (".", "_", "__", "-", "/")


@dataclass(frozen=True, slots=True)
class Wrapped:
    """Arguments that came below an undeclared name of the top.

    ``names`` are the tool's own that stand there; ``beside`` what else a client writes around a call, such
    as the tool's name; ``whole`` says that there is nothing more in it, so that taking the names out loses
    nothing; ``in_text`` that it came as JSON text.
    """

    path: Path
    names: tuple[str, ...]
    beside: tuple[str, ...]
    whole: bool
    in_text: bool


def wrapped(refusal: Refusal) -> Wrapped | None:
    """The arguments that came in a wrapper; None when none did, or more than one thing could be it."""
    return refusal.once(_wrapped, refusal.look(()))


def _wrapped(refusal: Refusal, top: Place) -> Wrapped | None:
    if not isinstance(top.value, Mapping):
        return None
    names = refusal.names_at(top)
    if not names.absent:
        return None
    found = []
    for key in names.extra:
        place = _inside(top.value[key], (key,), names.absent, names.lacking)
        if place is not None:
            usual = _squashed(key) in _ALSO_USUAL
            others = [name for name in names.extra if usual and name != key]
            beside = tuple(name for name in others if _of_the_call(name, top.value[name]))
            path, inner, whole, in_text = place
            found.append(Wrapped(path, inner, beside, whole, in_text))
    return found[0] if len(found) == 1 else None


def _inside(
    value: Any, path: Path, absent: Sequence[str], lacking: Sequence[str], *, deeper: bool = True
) -> tuple[Path, tuple[str, ...], bool, bool] | None:
    """Where the arguments are in a value, which they are, whether they are all, and whether they are text."""
    usual = _squashed(path[-1]) in _ALSO_USUAL
    content = _parsed(value) if usual and isinstance(value, str) else value
    if not isinstance(content, Mapping) or not content:
        return None
    inner = tuple(islice((name for name in absent if name in content), MAX_MOVED + 1))
    whole = len(inner) == len(content) <= MAX_MOVED
    if inner and (usual or whole or (lacking and all(name in content for name in lacking))):
        return path, inner, whole, content is not value
    if not deeper or not usual:
        return None
    for key in islice((key for key in content if exact(key) and _squashed(key) in _USUAL), MAX_EXTRA):
        below = _inside(content[key], (*path, key), absent, lacking, deeper=False)
        if below is not None:
            rest = (name for name in content if name != key)
            alone = all(_of_the_call(name, content[name]) for name in rest)
            return below[0], below[1], below[2] and alone, below[3] or content is not value
    return None


def is_usual_wrapper(name: object, value: object) -> bool:
    """Whether clients are known to put the arguments into an object of this name."""
    return _squashed(name) in _USUAL and isinstance(value, Mapping) and bool(value)


def _squashed(name: object) -> str:
    return "".join(name_words(name)) if isinstance(name, str) else ""


def _of_the_call(name: object, value: object) -> bool:
    return _squashed(name) in _OF_THE_CALL and isinstance(value, str) and short_scalar(value)


def _parsed(text: str) -> Any:
    if len(text) > MAX_TEXT or not text.lstrip().startswith("{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def unwrapping(found: Wrapped) -> Iterator[Patch]:
    """The patch that brings the arguments to the top; none where something would be lost, or they are text."""
    if found.whole and not found.in_text:
        moves = [
            {"op": "move", "from": pointer((*found.path, name)), "path": pointer((name,))}
            for name in found.names
        ]
        gone = [{"op": "remove", "path": pointer((name,))} for name in (found.path[0], *found.beside)]
        yield (*moves, *gone)


def another_spelling(refusal: Refusal, parent: Place, sent: object) -> str | None:
    """The declared name that came as well, and that an undeclared one spells in another way."""
    squashed = _squashed(sent)
    return refusal.once(_present, parent).get(squashed) if squashed else None


def _present(_refusal: Refusal, parent: Place) -> dict[str, str]:
    """The declared names that were sent, by their letters and digits; bounded."""
    if not isinstance(parent.value, Mapping):
        return {}
    declared = islice((name for form in meant(parent) for name in properties(form)), MAX_NAMES)
    found: dict[str, str] = {}
    for name in declared:
        if name in parent.value:
            found.setdefault(_squashed(name), name)
    return found


def home(refusal: Refusal, parent: Place, sent: object) -> Path | None:
    """Where a field belongs that was sent beside the object that declares it; None unless that is one place.

    The field may carry the object's name in front of its own (``address.city``, ``address_city``).
    """
    if not isinstance(sent, str) or not isinstance(parent.value, Mapping) or sent not in parent.value:
        return None
    found = refusal.once(_homes, parent).get(sent, [])
    if 1 < len(found) <= MAX_OWNERS:
        found = [path for path in found if _takes(refusal, path, parent.value[sent])]
    return found[0] if len(found) == 1 else None


def _homes(refusal: Refusal, parent: Place) -> dict[str, list[Path]]:
    """The fields that objects at a place may still take, under each name they may be sent by; bounded."""
    declared = dict.fromkeys(name for form in meant(parent) for name in properties(form))
    fields = (
        (owner, name)
        for own in islice(declared, MAX_NAMES)
        if exact(own)
        for owner in (refusal.look((*parent.path, own)),)
        if not owner.present or isinstance(owner.value, Mapping)
        for name in dict.fromkeys(name for form in owner.forms for name in properties(form))
        if exact(name) and not (owner.present and name in owner.value)
    )
    found: dict[str, list[Path]] = {}
    for owner, name in islice(fields, MAX_FIELDS):
        for sent in (name, *(f"{owner.path[-1]}{joint}{name}" for joint in _JOINTS)):
            found.setdefault(sent, []).append((*owner.path, name))
    return found


def _takes(refusal: Refusal, path: Path, value: object) -> bool:
    exact_integers = refusal.judge.exact_integers
    return any(fits(form, value, exact_integers=exact_integers) for form in refusal.look(path).forms)


def coming_home(refusal: Refusal, owner: Place) -> dict[str, Path]:
    """The names that were sent beside an object and belong inside it, with their places there."""
    parent = refusal.look(owner.path[:-1])
    found = refusal.once(_coming_home, parent)
    return {name: path for name, path in found.items() if path[:-1] == owner.path}


def _coming_home(refusal: Refusal, parent: Place) -> dict[str, Path]:
    found = {name: home(refusal, parent, name) for name in refusal.names_at(parent).extra}
    return {name: path for name, path in found.items() if path is not None}


def gathering(refusal: Refusal, owner: Place) -> Iterator[Patch]:
    """The patch that brings all such names into the object, and makes it where it was not sent."""
    fields = coming_home(refusal, owner)
    if not 0 < len(fields) <= MAX_MOVED or len(set(fields.values())) < len(fields):
        return
    made = () if owner.present else ({"op": "add", "path": pointer(owner.path), "value": {}},)
    moves = (
        {"op": "move", "from": pointer((*owner.path[:-1], name)), "path": pointer(path)}
        for name, path in fields.items()
    )
    yield (*made, *moves)
