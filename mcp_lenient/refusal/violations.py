"""What is wrong with a refused call, in words a model can act on: one line for each place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcp_lenient.pointers import pointer
from mcp_lenient.redaction import MAX_NAME, cut, shown
from mcp_lenient.refusal.describe import allowed_values, either
from mcp_lenient.refusal.findings import Finding, findings
from mcp_lenient.refusal.fixes import fixes
from mcp_lenient.refusal.patches import Patch
from mcp_lenient.refusal.places import KEYS, Forms, Place, fits, key_forms, properties
from mcp_lenient.refusal.private_values import above_private_key
from mcp_lenient.refusal.refused import Refusal
from mcp_lenient.refusal.trouble import Trouble, parameter, where
from mcp_lenient.refusal.wording import ambiguous, worded
from mcp_lenient.schema_judge import MOST_FAULTS
from mcp_lenient.types import Fault, Judge, Outcome, Path, Tie, Violation, ViolationCode

if TYPE_CHECKING:
    from mcp_lenient.policy import Policy

MAX_VIOLATIONS = 20
MAX_SAMPLES = 8
MAX_WITH_FIXES = 8
MAX_POINTER = 300
MAX_MESSAGE = 800
MAX_GROUPS = 200

_CODES: Mapping[str, ViolationCode] = {
    "type": "type",
    "enum": "enum",
    "required": "missing",
    "additionalProperties": "unknown",
    "minimum": "range",
    "maximum": "range",
    "exclusiveMinimum": "range",
    "exclusiveMaximum": "range",
    "multipleOf": "range",
    "minLength": "length",
    "maxLength": "length",
    "minItems": "length",
    "maxItems": "length",
    "minProperties": "length",
    "maxProperties": "length",
    "pattern": "pattern",
    "format": "format",
    "size": "size",
}
_UNWRAPPED = "unwrap_arguments"
_WITHOUT_WRAPPER = (
    "The arguments came under a name that the tool does not know; "
    "their places are told as if they stood where the tool looks for them: send them there."
)
_KEYWORDS = {
    "missing": "required",
    "unknown": "additionalProperties",
    "overlooked": "additionalProperties",
    "size": "size",
}


@dataclass(frozen=True, slots=True)
class _Group:
    """Faults of one kind at places that differ in list indices only."""

    faults: tuple[Fault, ...]
    count: int


def violations(
    schema: Mapping[str, Any], outcome: Outcome, judge: Judge, policy: Policy
) -> tuple[Violation, ...]:
    """What is wrong with a refused call, 20 violations at most.

    Items of a list with the same fault share one violation. The published schema supplies the words; where
    it has nothing against a value that the tool refuses, the tool author's own sentence does.

    Args:
        schema: The tool's published input schema. Nothing it refers to is fetched.
        outcome: The refused call, as :class:`Outcome` describes it.
        judge: What the tool accepts; asked whether a fix mends the call.
        policy: Which values may be repeated.
    """
    refusal = Refusal(schema, outcome, judge, policy)
    ties = outcome.ties[:MAX_VIOLATIONS]
    groups = _groups(_leading(refusal))
    troubles = _troubles(refusal, groups[:MAX_GROUPS])
    kept = troubles[: MAX_VIOLATIONS - len(ties)]
    found = (*(_tied(refusal, tie) for tie in ties), *_told(refusal, kept))
    rest = len(troubles) - len(kept) + max(len(groups) - MAX_GROUPS, 0)
    return _with_rest(_out_of_wrapper(outcome, found), rest, at_least=len(outcome.faults) >= MOST_FAULTS)


def _out_of_wrapper(outcome: Outcome, found: tuple[Violation, ...]) -> tuple[Violation, ...]:
    """Says that the places are not those of the call as it was sent, where its arguments came in a wrapper."""
    if not found or all(repair.rule != _UNWRAPPED for repair in outcome.repairs):
        return found
    return (replace(found[0], message=f"{found[0].message} {_WITHOUT_WRAPPER}"), *found[1:])


def _with_rest(found: tuple[Violation, ...], rest: int, *, at_least: bool) -> tuple[Violation, ...]:
    if not found or rest < 1:
        return found
    last = found[-1]
    return (
        *found[:-1],
        replace(
            last, message=f"{last.message} There are {'at least ' if at_least else ''}{rest} more faults."
        ),
    )


def _troubles(refusal: Refusal, groups: Iterable[_Group]) -> list[Trouble]:
    """The faults in the published schema's terms, gathered once more: a fault may hide several."""
    by_place: dict[tuple[Path, bool], list[Finding | Fault]] = {}
    uncounted: dict[object, int] = {}
    for group in groups:
        explained = [entry for fault in group.faults for entry in _explained(refusal, fault)]
        for entry in explained:
            by_place.setdefault((entry.path, _of_key(entry)), []).append(entry)
        pattern = _pattern(explained[0].path)
        uncounted[pattern] = max(uncounted.get(pattern, 0), group.count - len(group.faults))
    gathered: dict[object, list[tuple[Path, bool]]] = {}
    for place, entries in by_place.items():
        gathered.setdefault((_pattern(place[0]), place[1], _keywords(entries)), []).append(place)
    return [
        _trouble(refusal, by_place[places[0]], places, uncounted.pop(_pattern(places[0][0]), 0))
        for places in gathered.values()
    ]


def _of_key(entry: Finding | Fault) -> bool:
    """Whether a map's key is meant: what stands under it may have faults of its own."""
    return entry.keyword == KEYS if isinstance(entry, Finding) else entry.kind == "key"


def _keywords(entries: Sequence[Finding | Fault]) -> frozenset[object]:
    found = [entry for entry in entries if isinstance(entry, Finding)]
    if found:
        return frozenset((entry.keyword, _identity(entry.forms)) for entry in found)
    return frozenset((entry.detail, entry.reason) for entry in entries if isinstance(entry, Fault))


def _identity(choices: Forms) -> tuple[int, ...]:
    """What tells the items of a list apart from those of a tuple, where each has a schema of its own."""
    return tuple(id(schema) for form in choices for schema in form)


def _trouble(
    refusal: Refusal, entries: Sequence[Finding | Fault], at: Sequence[tuple[Path, bool]], uncounted: int
) -> Trouble:
    """A place speaks once: with what the published schema holds against it, or else with the author's words."""
    places = tuple(refusal.look(path) for path, _ in at[:MAX_SAMPLES])
    count = len(at) + uncounted
    found = [entry for entry in entries if isinstance(entry, Finding)]
    faults = [entry for entry in entries if isinstance(entry, Fault)]
    detail = next((fault.detail for fault in faults if fault.detail), None)
    reason = either(list(dict.fromkeys(fault.reason for fault in faults if fault.reason))) or None
    if found:
        listed = found[0].keyword == KEYS and allowed_values(found[0].forms)
        code = "enum" if listed else _CODES.get(found[0].keyword, "value")
        broken = tuple({finding.keyword: finding.bound for finding in found}.items())
        return Trouble(code, broken, detail, places, found[0].forms, count, reason)
    code = "type" if faults[0].kind == "type" else "value"
    return Trouble(code, (), detail, places, places[0].forms, count, reason)


def _leading(refusal: Refusal) -> Iterator[Fault]:
    """The faults that say most: none twice, none at a tie, of a union's faults those of the branch that was meant."""
    faults = dict.fromkeys(refusal.outcome.faults)
    tied = {tie.path for tie in refusal.outcome.ties}
    within = {above for fault in faults for above in _above(fault.path)}
    own = {fault.path for fault in faults if fault.kind in ("type", "value")}
    wrong_type = {path for path in own & within if not _fitting(refusal, path)}
    for fault in faults:
        above = _above(fault.path)
        hidden = fault.kind == "type" and fault.path in within and fault.path not in wrong_type
        if not hidden and not wrong_type.intersection(above) and not tied.intersection((*above, fault.path)):
            yield fault


def _above(path: Path) -> list[Path]:
    return [path[:length] for length in range(len(path))]


def _fitting(refusal: Refusal, path: Path) -> bool:
    place = refusal.look(path)
    exact_integers = refusal.judge.exact_integers
    return not place.forms or any(
        fits(form, place.value, exact_integers=exact_integers) for form in place.forms
    )


def _groups(faults: Iterable[Fault]) -> list[_Group]:
    gathered: dict[object, list[Fault]] = {}
    for fault in faults:
        gathered.setdefault((fault.kind, fault.detail, _pattern(fault.path)), []).append(fault)
    return [_Group(tuple(members[:MAX_SAMPLES]), len(members)) for members in gathered.values()]


def _pattern(path: Path) -> tuple[str | None, ...]:
    return tuple(part if isinstance(part, str) else None for part in path)


def _explained(refusal: Refusal, fault: Fault) -> Sequence[Finding | Fault]:
    if fault.error_code:
        return (fault,)
    if fault.kind == "key":
        keys = key_forms(refusal.schema, refusal.look(fault.path[:-1]).forms)
        return (Finding(fault.path, KEYS, keys), fault)
    # A sentence about this very value: what is published of values below it, or beside it, is not the reason.
    # What would be overlooked stands in arguments that the judge takes: nothing else is wrong there.
    own = bool(fault.detail or fault.kind == "overlooked" or (fault.reason and fault.kind == "value"))
    union = None if own else _union_above(refusal, fault.path)
    told = () if union is None else _found(refusal, union)
    if told:
        return told
    place = refusal.look(fault.path)
    keyword = _KEYWORDS.get(fault.kind)
    if keyword is not None:
        return (Finding(fault.path, keyword, place.forms),)
    found = _found(refusal, place)
    if own:
        found = tuple(finding for finding in found if finding.path == fault.path)
    return (*found, fault) if own or not found else found


def _found(refusal: Refusal, place: Place) -> tuple[Finding, ...]:
    exact_integers = refusal.judge.exact_integers
    return findings(refusal.schema, place.forms, place.value, place.path, exact_integers=exact_integers)


def _union_above(refusal: Refusal, path: Path) -> Place | None:
    """The place of a union of objects above a fault: a judge tells the faults of each branch, and one was meant."""
    for above in _above(path):
        place = refusal.look(above)
        if isinstance(place.value, Mapping) and len([form for form in place.forms if properties(form)]) > 1:
            return place
    return None


def _told(refusal: Refusal, troubles: Sequence[Trouble]) -> Iterator[Violation]:
    begun: set[tuple[str, Path]] = set()
    for index, trouble in enumerate(troubles):
        paths = [place.path for place in trouble.places]
        whole = trouble.count == len(paths) and index < MAX_WITH_FIXES
        kind = (trouble.code, paths[0][:-1])
        words = worded(refusal, trouble, at_length=kind not in begun)
        hiding = above_private_key(refusal, paths[0]) if trouble.code != "unknown" else None
        if hiding is not None:
            yield _complete(refusal, _veiled(words, hiding), hiding, ())
            continue
        begun.add(kind)
        of_key = any(keyword == KEYS for keyword, _ in trouble.broken)
        offered = fixes(refusal, trouble.code, paths, of_key=of_key) if whole else ()
        yield _complete(refusal, words, paths[0], offered)


def _veiled(words: Violation, hiding: Path) -> Violation:
    """Speak of a value below a key that may be secret, without that key."""
    expected = f"must be {either(list(words.expected_types))}" if words.expected_types else "is not accepted"
    return Violation(
        "",
        parameter(hiding),
        words.code,
        f"A value in {where(hiding)} {expected}.",
        received_type=words.received_type,
        expected_types=words.expected_types,
    )


def _complete(refusal: Refusal, words: Violation, path: Path, offered: tuple[Patch, ...]) -> Violation:
    """A name that only the client knows is a parameter's name nowhere but where it is the fault itself."""
    known = words.code == "unknown" or refusal.look(path[:1]).declared
    return replace(
        words,
        pointer=_bounded_pointer(path),
        parameter=words.parameter if known else None,
        message=cut(words.message, MAX_MESSAGE),
        fixes=offered,
        error_code=next((fault.error_code for fault in refusal.outcome.faults if fault.path == path), None),
    )


def _tied(refusal: Refusal, tie: Tie) -> Violation:
    words, hiding = ambiguous(refusal, tie), above_private_key(refusal, tie.path)
    if hiding is not None:
        return _complete(refusal, _veiled(words, hiding), hiding, ())
    offered = fixes(refusal, "ambiguous", [tie.path], tie)
    return _complete(refusal, words, tie.path, offered)


def _bounded_pointer(path: Path) -> str:
    bounded = tuple(part if isinstance(part, int) else shown(part, MAX_NAME) for part in path)
    return shown(pointer(bounded), MAX_POINTER)
