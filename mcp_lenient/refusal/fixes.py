"""Mends that are likely but not certain, as JSON Patches (RFC 6902) that were tried before they are offered."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from mcp_lenient.pointers import pointer
from mcp_lenient.redaction import exact, fits_json, in_json, short_scalar
from mcp_lenient.refusal.describe import allowed_values, likely_kinds
from mcp_lenient.refusal.findings import findings
from mcp_lenient.refusal.likeness import likeness
from mcp_lenient.refusal.patches import Operation, Patch, applied
from mcp_lenient.refusal.places import Place, Schema, fits, look_below, private, properties, required
from mcp_lenient.types import Fault, Judge, Outcome, Path, Tie, ViolationCode

if TYPE_CHECKING:
    from mcp_lenient.policy import Policy

MAX_FIXES = 3
MAX_TRIED = 6
MAX_PLACES = 8
MAX_VALUE = 200
MAX_ARGUMENTS = 100_000
MAX_NAMES = 300
MAX_COMPARED = 200
MAX_EXTRA = 20
MIN_LIKENESS = 0.25

_SEPARATORS = re.compile(r"\s*[,;\n]\s*")
_NO_LIST_MARK = re.compile(r"[\[\]{}()\"'|\t]")
_MAX_WORDS_OF_AN_ITEM = 4
_MOVED_BY = ("rename_", "wrap_arguments", "unwrap_arguments")
LAST_RESORT = 0.3
_NEAR = 0.6
_MIN_START = 3


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused call: what the tool publishes, what is left of the arguments, and who judges them."""

    schema: Schema
    outcome: Outcome
    judge: Judge
    policy: Policy
    places: dict[Path, Place] = field(default_factory=dict, compare=False)

    def look(self, path: Path) -> Place:
        """What the schema says of a place in the arguments, and what stands there."""
        known = self.places.get(path)
        if known is None:
            above = self.look(path[:-1]) if path else None
            known = self.places[path] = look_below(
                self.schema, self.outcome.arguments, above, path, self.policy.secret
            )
        return known

    def may_show(self, place: Place) -> bool:
        """Whether the value at a place may be repeated at all."""
        return self.policy.echo_values and place.declared and not place.secret


def fixes(
    refusal: Refusal, code: ViolationCode, paths: Sequence[Path], tie: Tie | None = None
) -> tuple[Patch, ...]:
    """Patches for one violation, likeliest first, three at most.

    Each was applied to the arguments and judged: the tool accepts the result, or this violation is gone
    and no other has come. None carries a secret or a long value, and none removes what could be moved.

    Args:
        refusal: The call.
        code: What is wrong.
        paths: Where; several when one violation speaks of several items of a list.
        tie: The readings that compete there.
    """
    if not 0 < len(paths) <= MAX_PLACES or not fits_json(refusal.outcome.arguments, MAX_ARGUMENTS):
        return ()
    if tie is not None:
        offered: Iterator[Patch] = _readings(refusal, tie)
    elif code in ("missing", "unknown"):
        offered = _names(refusal, code, paths[0]) if len(paths) == 1 else iter(())
    else:
        offered = _values(refusal, [refusal.look(path) for path in paths])
    writable = (patch for patch in offered if _as_sent(refusal, patch))
    verified = (patch for patch in islice(writable, MAX_TRIED) if _mends(refusal, patch, paths))
    return tuple(islice(verified, MAX_FIXES))


def _as_sent(refusal: Refusal, patch: Patch) -> bool:
    """Whether the patch also fits the arguments as they were sent, before they were repaired in part."""
    if any(repair.rule.startswith(_MOVED_BY) for repair in refusal.outcome.repairs):
        return False
    rebuilt = tuple(f"{repair.pointer}/" for repair in refusal.outcome.repairs)
    paths = (operation.get(end, "") for operation in patch for end in ("path", "from"))
    return not any(path.startswith(rebuilt) for path in paths if rebuilt)


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


def _names(refusal: Refusal, code: ViolationCode, path: Path) -> Iterator[Patch]:
    parent, name = refusal.look(path[:-1]), path[-1]
    if not isinstance(parent.value, Mapping) or not isinstance(name, str):
        return
    if code == "missing":
        yield from _moves_to(refusal, parent, name)
        yield from _only_value(refusal, path)
    elif exact(name):
        yield from _moves_from(refusal, parent, name)


def _moves_to(refusal: Refusal, parent: Place, name: str) -> Iterator[Patch]:
    names = names_at(parent)
    for sent in _ranked((likely_name(names, other, name), other) for other in names.extra):
        yield (_move((*parent.path, sent), (*parent.path, name)),)
    if parent.path and name in names_at(refusal.look(())).extra:
        yield (_move((name,), (*parent.path, name)),)


def _moves_from(refusal: Refusal, parent: Place, sent: str) -> Iterator[Patch]:
    names = names_at(parent)
    if sent not in names.extra:
        return
    likely = _ranked((likely_name(names, sent, name), name) for name in names.absent)
    yield from ((_move((*parent.path, sent), (*parent.path, name)),) for name in likely)
    missing = [fault.path for fault in refusal.outcome.faults if fault.kind == "missing"]
    yield from (
        (_move((*parent.path, sent), path),)
        for path in missing
        if path[:-1] != parent.path and path[-1] == sent
    )
    value = parent.value[sent]
    meant = missing or any(_would_take(refusal, (*parent.path, name), value) for name in names.absent)
    if not likely and not meant:
        yield ({"op": "remove", "path": pointer((*parent.path, sent))},)


def _would_take(refusal: Refusal, path: Path, value: object) -> bool:
    """Whether a value may have been meant for this name: its JSON type fits, and it says something."""
    if value in (None, "", [], {}):
        return False
    return any(fits(form, value, exact_integers=False) for form in refusal.look(path).forms)


def _move(source: Path, target: Path) -> Operation:
    return {"op": "move", "from": pointer(source), "path": pointer(target)}


def _ranked(scored: Iterable[tuple[float, str]]) -> list[str]:
    """The names with a score, best first; the order of the schema or call decides between equals."""
    found = [(score, name) for score, name in scored if score > 0]
    return [name for _, name in sorted(found, key=lambda entry: -entry[0])]


@dataclass(frozen=True, slots=True)
class Names:
    """The names at an object: declared ones it was not sent, required first, and sent ones not declared."""

    absent: tuple[str, ...]
    lacking: tuple[str, ...]
    extra: tuple[str, ...]


def names_at(parent: Place) -> Names:
    """The names at an object, as far as they can be written; bounded."""
    sent = parent.value if isinstance(parent.value, Mapping) else {}
    declared = dict.fromkeys(name for form in parent.forms for name in properties(form))
    needed = {name for form in parent.forms for name in required(form)}
    absent = [name for name in islice(declared, MAX_NAMES) if exact(name) and name not in sent]
    lacking = tuple(name for name in absent if name in needed)
    extra = tuple(islice((name for name in sent if exact(name) and name not in declared), MAX_EXTRA))
    return Names((*lacking, *(name for name in absent if name not in needed)), lacking, extra)


def likely_name(names: Names, sent: str, name: str) -> float:
    """How likely a name that was sent stands for a declared one that was not.

    Names that have nothing in common may be one thing only where both are alone: one name too many,
    and one required name missing.
    """
    alike = likeness(sent, name)
    if alike >= MIN_LIKENESS:
        return alike
    return LAST_RESORT if alike >= 0 and names.lacking == (name,) and names.extra == (sent,) else 0.0


def _only_value(refusal: Refusal, path: Path) -> Iterator[Patch]:
    values = allowed_values(refusal.look(path).forms)
    if len(values) == 1:
        yield ({"op": "add", "path": pointer(path), "value": values[0]},)


def _values(refusal: Refusal, places: Sequence[Place]) -> Iterator[Patch]:
    """The n-th idea for each place makes the n-th patch; one patch mends all places or none."""
    if not all(place.present and not place.secret and all(map(_writable, place.path)) for place in places):
        return
    ideas = [list(islice(_instead(refusal, place), MAX_TRIED)) for place in places]
    yield from zip(*ideas, strict=False)


def _writable(part: str | int) -> bool:
    return isinstance(part, int) or exact(part)


def _instead(refusal: Refusal, place: Place) -> Iterator[Operation]:
    yield from (_put(place.path, value) for value in near_values(place))
    if refusal.may_show(place):
        yield from (_put(place.path, items) for items in _as_list(place))
        yield from (_put(place.path, text) for text in _as_text(place))
    if place.value is None and _optional(refusal, place.path):
        yield {"op": "remove", "path": pointer(place.path)}


def near_values(place: Place) -> list[Any]:
    """The allowed values that a text comes near to, best first."""
    if not isinstance(place.value, str) or not place.value or len(place.value) > MAX_VALUE:
        return []
    folded = {value.casefold(): value for value in allowed_values(place.forms) if isinstance(value, str)}
    sent = place.value.strip().casefold()
    begun = [name for name in folded if _begins(name, sent) or _begins(sent, name)]
    compared: Iterable[str] = folded
    if len(folded) > MAX_COMPARED:
        compared = islice((name for name in folded if name[:1] == sent[:1]), MAX_COMPARED)
    near = difflib.get_close_matches(sent, compared, n=2 * MAX_FIXES, cutoff=_NEAR)
    likely = dict.fromkeys((*(begun if len(begun) == 1 else ()), *near))
    return [folded[name] for name in likely if _digits(name) == _digits(sent)][:MAX_FIXES]


def _begins(text: str, start: str) -> bool:
    return len(start) >= _MIN_START and text.startswith(start)


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _as_list(place: Place) -> Iterator[list[str]]:
    """A text for a list of strings: its parts, or the whole of it where the parts look like sentences."""
    text = place.value
    if not isinstance(text, str) or not fits_json(text, MAX_VALUE) or _NO_LIST_MARK.search(text):
        return
    if not any("array" in likely_kinds(form) for form in place.forms):
        return
    parts = [part for part in _SEPARATORS.split(text.strip()) if part]
    if len(parts) < 2:
        return
    listed = all(len(part.split()) <= _MAX_WORDS_OF_AN_ITEM and part[-1] not in ".!?" for part in parts)
    yield from ((parts, [text]) if listed else ([text], parts))


def _as_text(place: Place) -> Iterator[str]:
    if isinstance(place.value, (int, float)) and short_scalar(place.value):
        yield in_json(place.value)


def _optional(refusal: Refusal, path: Path) -> bool:
    needed = {name for form in refusal.look(path[:-1]).forms for name in required(form)}
    return bool(path) and isinstance(path[-1], str) and path[-1] not in needed


def _mends(refusal: Refusal, patch: Patch, paths: Sequence[Path]) -> bool:
    patched = applied(refusal.outcome.arguments, patch)
    if not isinstance(patched, Mapping) or not all(_is_published(refusal, operation) for operation in patch):
        return False
    if refusal.judge.accepts(patched):
        return True
    before = {(fault.path, fault.kind) for fault in refusal.outcome.faults}
    after = refusal.judge.faults(patched)
    return bool(after) and all(_was_there(fault, before, paths) for fault in after)


def _is_published(refusal: Refusal, operation: Operation) -> bool:
    """Whether a value that is put somewhere is one that the published schema takes there: a judge may take more."""
    if "value" not in operation:
        return True
    place = next((refusal.look(path) for path in refusal.places if pointer(path) == operation["path"]), None)
    exact_integers = refusal.judge.exact_integers
    return place is None or not findings(
        refusal.schema, place.forms, operation["value"], place.path, exact_integers=exact_integers
    )


def _was_there(fault: Fault, before: set[tuple[Path, Any]], paths: Sequence[Path]) -> bool:
    """Whether a fault is another one that stays; one around a place may still speak of this place."""
    return (fault.path, fault.kind) in before and not any(_related(fault.path, path) for path in paths)


def _related(one: Path, other: Path) -> bool:
    return one[: len(other)] == other or other[: len(one)] == one
