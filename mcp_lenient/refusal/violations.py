"""What is wrong with a refused call, in words a model can act on: one line for each place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcp_lenient.refusal.describe import allowed_values, either
from mcp_lenient.refusal.fixes import MAX_FIXES, Patch, Wanted, fixes
from mcp_lenient.refusal.locations import KeywordViolation, Location, findings
from mcp_lenient.refusal.problems import Problem, Refusal, above_private_key, parameter, where
from mcp_lenient.refusal.wording import ambiguous, worded
from mcp_lenient.schema.forms import KEYS, FormReader, Forms, any_fits
from mcp_lenient.types import Outcome, Path, Tie, ValidationIssue, Validator, Violation, ViolationCode
from mcp_lenient.values.display import HIDDEN, MAX_NAME, cut, is_name, shown
from mcp_lenient.values.limits import MOST_FAULTS
from mcp_lenient.values.pointers import pointer

if TYPE_CHECKING:
    from mcp_lenient.rules.policy import Policy

MAX_VIOLATIONS = 20
MAX_SAMPLES = 8
MAX_WITH_FIXES = 8
MAX_POINTER = 300
MAX_MESSAGE = 800
MAX_GROUPS = 50

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
_TOP: Sequence[Path] = ((),)
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

    faults: tuple[ValidationIssue, ...]
    count: int


def violations(
    reader: FormReader,
    outcome: Outcome,
    judge: Validator,
    policy: Policy,
    *,
    destructive: bool = False,
    again: Callable[[Mapping[str, Any]], Sequence[ValidationIssue]] | None = None,
) -> tuple[Violation, ...]:
    """What is wrong with a refused call, 20 violations at most.

    Items of a list with the same fault share one violation. The published schema supplies the words; where
    it has nothing against a value that the tool refuses, the tool author's own sentence does.

    Args:
        reader: The tool's published input schema, and what earlier refusals said of it.
        outcome: The refused call, as :class:`Outcome` describes it.
        judge: What the tool accepts; asked whether a fix corrects the call.
        policy: Which values may be repeated.
        destructive: Whether the tool destroys something, so that no fix is offered.
        again: What is still wrong with arguments once they are repaired; a fix may need a repair as well.
    """
    refusal = Refusal(reader, outcome, judge, policy, destructive=destructive, again=again)
    ties = outcome.ties[:MAX_VIOLATIONS]
    groups, more = _groups(_leading(refusal))
    problems = _problems(refusal, groups)
    kept = problems[: MAX_VIOLATIONS - len(ties)]
    found = _told(refusal, ties, kept)
    rest = len(problems) - len(kept) + more
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


def _problems(refusal: Refusal, groups: Iterable[_Group]) -> list[Problem]:
    """The faults in the published schema's terms, gathered once more: a fault may hide several."""
    by_place: dict[tuple[Path, bool], list[KeywordViolation | ValidationIssue]] = {}
    uncounted: dict[object, int] = {}
    for group in groups:
        explained = [entry for fault in group.faults for entry in _explained(refusal, fault)]
        for entry in explained:
            by_place.setdefault((entry.path, _of_key(entry)), []).append(entry)
        pattern = _pattern(explained[0].path)
        uncounted[pattern] = max(uncounted.get(pattern, 0), group.count - len(group.faults))
    gathered: dict[Any, list[tuple[Path, bool]]] = {}
    for place, entries in by_place.items():
        gathered.setdefault((_pattern(place[0]), place[1], _keywords(entries)), []).append(place)
    return [
        _problem(refusal, by_place[places[0]], places, uncounted.pop(pattern, 0))
        for (pattern, *_), places in gathered.items()
    ]


def _of_key(entry: KeywordViolation | ValidationIssue) -> bool:
    """Whether a map's key is meant: what stands under it may have faults of its own."""
    return entry.keyword == KEYS if isinstance(entry, KeywordViolation) else entry.kind == "key"


def _keywords(entries: Sequence[KeywordViolation | ValidationIssue]) -> frozenset[object]:
    found = [entry for entry in entries if isinstance(entry, KeywordViolation)]
    if found:
        return frozenset((entry.keyword, _identity(entry.forms)) for entry in found)
    return frozenset((entry.detail, entry.reason) for entry in entries if isinstance(entry, ValidationIssue))


def _identity(choices: Forms) -> tuple[int, ...]:
    """What tells the items of a list apart from those of a tuple, where each has a schema of its own."""
    return tuple(id(schema) for form in choices for schema in form.parts)


def _problem(
    refusal: Refusal,
    entries: Sequence[KeywordViolation | ValidationIssue],
    at: Sequence[tuple[Path, bool]],
    uncounted: int,
) -> Problem:
    """A place speaks once: with what the published schema holds against it, or else with the author's words."""
    places = tuple(refusal.look(path) for path, _ in at[:MAX_SAMPLES])
    count = len(at) + uncounted
    found = [entry for entry in entries if isinstance(entry, KeywordViolation)]
    faults = [entry for entry in entries if isinstance(entry, ValidationIssue)]
    detail = next((fault.detail for fault in faults if fault.detail), None)
    reason = either(list(dict.fromkeys(fault.reason for fault in faults if fault.reason))) or None
    if found:
        listed = found[0].keyword == KEYS and allowed_values(found[0].forms)
        code = "enum" if listed else _CODES.get(found[0].keyword, "value")
        broken = tuple({finding.keyword: finding.bound for finding in found}.items())
        return Problem(code, broken, detail, places, found[0].forms, count, reason)
    code = "type" if faults[0].kind == "type" else "value"
    return Problem(code, (), detail, places, places[0].forms, count, reason)


def _leading(refusal: Refusal) -> Iterator[ValidationIssue]:
    """The faults that say most: none twice, none at a tie, of a union's faults those of the branch that was meant."""
    faults = dict.fromkeys(refusal.outcome.faults)
    tied = {tie.path for tie in refusal.outcome.ties}
    within = {above for fault in faults for above in _above(fault.path)}
    own = {fault.path for fault in faults if fault.kind in ("type", "value")}
    wrong_type = {path for path in own & within if not _fitting(refusal, path)}
    hiding = wrong_type | tied
    for fault in faults:
        hidden = fault.kind == "type" and fault.path in within and fault.path not in wrong_type
        if not hidden and fault.path not in tied and hiding.isdisjoint(_above(fault.path)):
            yield fault


def _above(path: Path) -> Sequence[Path]:
    return [path[:length] for length in range(len(path))] if len(path) > 1 else _TOP[: len(path)]


def _fitting(refusal: Refusal, path: Path) -> bool:
    place = refusal.look(path)
    exact_integers = refusal.judge.exact_integers
    return not place.forms or any_fits(place.forms, place.value, exact_integers=exact_integers)


def _groups(faults: Iterable[ValidationIssue]) -> tuple[list[_Group], int]:
    """The first groups, and how many more there are.

    Of the others nothing is kept but one pattern each: what many objects live through is what makes Python
    search the whole process for garbage.
    """
    gathered: dict[tuple[str, str | None], dict[object, list[ValidationIssue] | None]] = {}
    counts: dict[int, int] = {}
    groups: list[list[ValidationIssue]] = []
    rest = 0
    for fault in faults:
        alike = gathered.setdefault((fault.kind, fault.detail), {})
        pattern = _pattern(fault.path)
        if pattern in alike:
            members = alike[pattern]
        elif len(groups) < MAX_GROUPS:
            members = alike[pattern] = []
            groups.append(members)
        else:
            members = alike[pattern] = None
            rest += 1
        if members is not None:
            counts[id(members)] = counts.get(id(members), 0) + 1
            if len(members) < MAX_SAMPLES:
                members.append(fault)
    return [_Group(tuple(members), counts[id(members)]) for members in groups], rest


def _pattern(path: Path) -> tuple[str | int | None, ...]:
    for part in path:
        if not isinstance(part, str):
            return tuple([each if isinstance(each, str) else None for each in path])
    return path


def _explained(refusal: Refusal, fault: ValidationIssue) -> Sequence[KeywordViolation | ValidationIssue]:
    if fault.error_code:
        return (fault,)
    if fault.kind == "key":
        keys = refusal.reader.keys(refusal.look(fault.path[:-1]).forms)
        return (KeywordViolation(fault.path, KEYS, keys), fault)
    # A sentence about this very value: what is published of values below it, or beside it, is not the reason.
    # What would be overlooked stands in arguments that the judge takes: nothing else is wrong there.
    own = bool(fault.detail or fault.kind == "overlooked" or (fault.reason and fault.kind == "value"))
    union = None if own else _union_above(refusal, fault.path)
    told = () if union is None else refusal.once(_found, union)
    if told:
        return told
    place = refusal.look(fault.path)
    keyword = _KEYWORDS.get(fault.kind)
    if keyword is not None:
        return (KeywordViolation(fault.path, keyword, place.forms),)
    found = refusal.once(_found, place)
    if own:
        found = tuple(finding for finding in found if finding.path == fault.path)
    return (*found, fault) if own or not found else found


def _found(refusal: Refusal, place: Location) -> tuple[KeywordViolation, ...]:
    exact_integers = refusal.judge.exact_integers
    return findings(refusal.reader, place.forms, place.value, place.path, exact_integers=exact_integers)


def _union_above(refusal: Refusal, path: Path) -> Location | None:
    """The place of a union of objects above a fault: a judge tells the faults of each branch, and one was meant."""
    above = map(refusal.look, _above(path))
    return next((place for place in above if refusal.once(_is_union_of_objects, place)), None)


def _is_union_of_objects(_refusal: Refusal, place: Location) -> bool:
    if len(place.forms) < 2 or not isinstance(place.value, Mapping):
        return False
    return sum(bool(form.properties) for form in place.forms) > 1


def _told(refusal: Refusal, ties: Sequence[Tie], problems: Sequence[Problem]) -> tuple[Violation, ...]:
    wanted = [*map(Wanted.of_tie, ties), *(_wanted(problem) for problem in problems[:MAX_WITH_FIXES])]
    # Of so many violations each first fix is worth its place and time, and no second one.
    most = MAX_FIXES if len(problems) <= MAX_WITH_FIXES else 1
    offered = iter(fixes(refusal, wanted, most))
    codes = {fault.path: fault.error_code for fault in reversed(refusal.outcome.faults)}
    found: list[Violation] = []
    for tie in ties:
        words, own, hiding = ambiguous(refusal, tie), next(offered), above_private_key(refusal, tie.path)
        if hiding is not None:
            words, own = _veiled(words, hiding), ()
        found.append(_complete(refusal, words, hiding or tie.path, own, codes.get(tie.path)))
    begun: set[tuple[str, Path]] = set()
    for problem in problems:
        path = problem.places[0].path
        kind = (problem.code, path[:-1])
        words = worded(refusal, problem, at_length=kind not in begun)
        own = next(offered, ())
        hiding = above_private_key(refusal, path) if problem.code != "unknown" else None
        if hiding is not None:
            found.append(_complete(refusal, _veiled(words, hiding), hiding, (), codes.get(path)))
            continue
        begun.add(kind)
        found.append(_complete(refusal, words, path, own, codes.get(path)))
    return tuple(found)


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


def _wanted(problem: Problem) -> Wanted:
    """A problem as fixes are looked for; at no place where it stands for more places than it names."""
    paths = tuple(place.path for place in problem.places)
    of_key = any(keyword == KEYS for keyword, _ in problem.broken)
    return Wanted(problem.code, paths if problem.count == len(paths) else (), of_key=of_key)


def _complete(
    refusal: Refusal, words: Violation, path: Path, offered: tuple[Patch, ...], error_code: str | None
) -> Violation:
    """A name that only the client knows is a parameter's name nowhere but where it is the fault itself."""
    known = words.code == "unknown" or refusal.look(path[:1]).declared
    if words.code == "unknown" and path and isinstance(path[-1], str) and not is_name(path[-1]):
        path = (*path[:-1], HIDDEN)
    return replace(
        words,
        pointer=_bounded_pointer(path),
        parameter=words.parameter if known else None,
        message=cut(words.message, MAX_MESSAGE),
        fixes=offered,
        error_code=error_code,
    )


def _bounded_pointer(path: Path) -> str:
    bounded = tuple(part if isinstance(part, int) else shown(part, MAX_NAME) for part in path)
    return shown(pointer(bounded), MAX_POINTER)
