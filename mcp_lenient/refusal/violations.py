"""What is wrong with a refused call, in words that a model can act on: one message for each place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcp_lenient.refusal.fixes import (
    MAX_FIXES,
    Patch,
    Wanted,
    Wrapped,
    another_spelling,
    coming_home,
    fixes,
    holding_tag,
    home,
    is_usual_wrapper,
    list_in_list,
    may_be_meant,
    near_at,
    says_nothing,
    showable,
    wrapped,
    wrong_key,
)
from mcp_lenient.refusal.wording import (
    LAST_RESORT,
    MAX_DETAIL,
    MAX_VALUES,
    KeywordViolation,
    Location,
    Problem,
    Refusal,
    above_private_key,
    allowed,
    allowed_values,
    description,
    either,
    example,
    expected,
    findings,
    format_of,
    is_or_are,
    likely_kinds,
    likely_name,
    limit_words,
    listed,
    more_places,
    named,
    parameter,
    quoted,
    shape,
    told_safely,
    type_words,
    where,
    with_article,
)
from mcp_lenient.schema.node import KEYS, FormReader, Forms, any_fits, names_of
from mcp_lenient.types import Outcome, Path, Tie, ValidationIssue, Validator, Violation, ViolationCode
from mcp_lenient.values.display import HIDDEN, MAX_NAME, cut, fits_json, in_json, is_name, short_scalar, shown
from mcp_lenient.values.json_values import json_type, looks_like_json, pointer, same_json
from mcp_lenient.values.limits import MOST_ISSUES

if TYPE_CHECKING:
    from mcp_lenient.rules.policy import Policy


_CONTAINERS = ("array", "object")


def hint(refusal: Refusal, problem: Problem, wanted: str) -> str:
    """How to write it right, where the type words alone are often misread: text in place of something else."""
    spot = problem.places[0]
    without = leave_out(refusal, problem)
    if without or spot.value is None:
        return without
    doubled = list_in_list(refusal, spot.path)
    if doubled is not None:
        return f" There is one pair of brackets too many around {where(doubled)}."
    kinds = {kind for form in problem.forms for kind in likely_kinds(form)} - {"null"}
    if isinstance(spot.value, str):
        return _not_as_text(refusal, problem, kinds)
    if not kinds.isdisjoint(_CONTAINERS):
        return _like(refusal, problem, wanted)
    if isinstance(spot.value, (Mapping, list)):
        if any(format_of(form) == "json-string" for form in problem.forms):
            return " Write it as JSON in a text."
        return _alone(problem, kinds, refusal.say(example, problem.forms))
    if isinstance(spot.value, float) and kinds == {"integer"}:
        return " Write it without a decimal point." if spot.value.is_integer() else " Send a whole number."
    return ""


def _not_as_text(refusal: Refusal, problem: Problem, kinds: set[str]) -> str:
    """How to write what came as a text and is none."""
    sample = refusal.say(example, problem.forms)
    if sample is None:
        as_object = " Write it as a JSON object, not as text." if kinds == {"object"} else ""
        return refusal.say(shape, problem.forms) or as_object
    if sample[0] in "[{":
        return f" Write it as JSON, like {sample}, not as text."
    return "" if allowed_values(problem.forms, partly=True) else _in_digits(kinds, sample)


def _like(refusal: Refusal, problem: Problem, wanted: str) -> str:
    """A sample of a container, where its type words do not say all of its shape."""
    if "object" not in wanted and not any(form.prefix for form in problem.forms):
        return ""
    sample = refusal.say(example, problem.forms)
    return f" Write it like {sample}." if sample else refusal.say(shape, problem.forms)


def _alone(problem: Problem, kinds: set[str], sample: str | None) -> str:
    """What to send where one plain value came in a container."""
    if not kinds:
        return ""
    if allowed_values(problem.forms):
        return " Send one of them."
    what = next(iter(kinds)) if len(kinds) == 1 else "value"
    place = problem.places[0]
    if isinstance(place.value, Mapping) and not place.declared and isinstance(place.path[-1], str):
        return f" Send one {what} for each key of {where(place.path[:-1])}."
    like = f", like {sample}" if sample and kinds != {"string"} else ""
    return (
        f" Send the {what} alone{like}."
        if isinstance(problem.places[0].value, Mapping)
        else f" Send one {what}{like}."
    )


def _in_digits(kinds: set[str], sample: str) -> str:
    if not kinds <= {"integer", "number", "boolean"}:
        return ""
    number = "a whole number" if "number" not in kinds else "a number"
    if kinds == {"boolean"}:
        return " Write true or false, without quotes."
    if "boolean" in kinds:
        return f" Write {number} in digits, or true or false, without quotes."
    return f" Write {number} in digits, like {sample}."


def leave_out(refusal: Refusal, problem: Problem) -> str:
    """What to do without a value, where one was sent that says there is none."""
    if problem.count > 1 or not all(map(says_nothing, [spot.value for spot in problem.places])):
        return ""
    spot = problem.places[0]
    if refusal.may_leave_out(spot):
        return " Leave it out if you have no value."
    nullable = any("null" in likely_kinds(form) for form in spot.forms)
    if spot.value is None:
        return " It cannot be left out: send a value." if _is_required(refusal, spot) else ""
    return " Send null if you have no value." if nullable else ""


def _is_required(refusal: Refusal, spot: Location) -> bool:
    return (
        spot.declared
        and bool(spot.path)
        and isinstance(spot.path[-1], str)
        and not refusal.may_leave_out(spot)
    )


MAX_NAMES = 20
MAX_NAMES_TEXT = 400
MAX_NEAR = 3
MAX_COMPARED = 100_000


def missing(refusal: Refusal, problem: Problem, *, at_length: bool) -> Violation:
    """The violation for a required name, with the name or the level it may have been sent at."""
    spot = problem.places[0]
    choices = spot.forms or problem.forms
    parent = refusal.look(spot.path[:-1])
    words = _lacks(refusal, problem, parent)
    about = description(spot.forms)
    if about:
        words += f" It means: {about.rstrip('.')}."
    if at_length and not refusal.outcome.arguments and not refusal.outcome.repairs:
        words = f"the arguments arrived empty ({{}}). {words}"
    return Violation(
        "",
        parameter(spot.path),
        "missing",
        words + _sent_elsewhere(refusal, parent, spot),
        expected_types=refusal.say(type_words, choices),
        allowed_values=allowed_values(choices)[:MAX_VALUES],
    )


def _lacks(refusal: Refusal, problem: Problem, parent: Location) -> str:
    spot = problem.places[0]
    choices = spot.forms or problem.forms
    if isinstance(spot.path[-1], int):
        whole = refusal.say(expected, parent.forms)
        return f"{where(spot.path)} is missing{more_places(problem)}: {where(parent.path)} must be {whole}."
    wanted = refusal.say(expected, choices)
    words = f"{where(spot.path)} is required but was not sent{more_places(problem)}."
    if wanted:
        words += f" It must be {wanted}.{refusal.say(shape, choices)}"
    return words


def _sent_elsewhere(refusal: Refusal, parent: Location, spot: Location) -> str:
    """Where what is missing may have been sent instead; empty when nowhere."""
    name = str(spot.path[-1])
    found = wrapped(refusal) if not parent.path else None
    if found is not None and name in found.names:
        inside = where(found.path) if is_name(str(found.path[0])) else "the text of a name"
        return f" It was sent inside {inside}: send it at the top."
    fields = {} if refusal.destructive else coming_home(refusal, spot)
    if fields:
        inside = listed([quoted(field) for field in list(fields)[:MAX_NEAR]])
        return f" Send {inside} inside it{_as(fields)}."
    if parent.path and not refusal.destructive and name in refusal.names_at(refusal.look(())).extra:
        return f" It was sent at the top: send it inside {where(parent.path)}."
    names = refusal.names_at(parent)
    meant = [
        other
        for other in names.extra
        if (found is None or other not in (found.path[0], *found.beside))
        and may_be_meant(refusal, parent, other, name)
        and _may_stand(refusal, parent, other, spot, likely_name(names, other, name))
    ]
    meant += [other for other in holding_tag(refusal, parent, spot.path) if other not in meant]
    if not meant:
        return ""
    return f" If {either([where((*parent.path, other)) for other in meant[:MAX_NEAR]])} is meant, send it under this name."


def _as(fields: Mapping[str, Path]) -> str:
    """The fields' own names, where they were sent under longer ones."""
    own = [str(path[-1]) for path in fields.values()]
    if own == list(fields):
        return ""
    return f", as {listed([quoted(name) for name in own[:MAX_NEAR]])}"


def _may_stand(refusal: Refusal, parent: Location, name: str, spot: Location, likely: float) -> bool:
    """Whether a name was likely meant; where nothing but its being alone says so, its value must fit as well."""
    if likely > LAST_RESORT:
        return True
    if likely <= 0:
        return False
    if not isinstance(parent.value, Mapping) or not spot.forms:
        return True
    return any_fits(spot.forms, parent.value.get(name), exact_integers=refusal.validator.exact_integers)


def unknown(refusal: Refusal, problem: Problem, *, at_length: bool) -> Violation:
    """The violation for an undeclared name, with the names that may be meant."""
    path = problem.places[0].path
    parent = refusal.look(path[:-1])
    inside = f" in {where(parent.path)}" if parent.path else ""
    if isinstance(path[-1], str) and not is_name(path[-1]):
        words = f"a name{inside} is not that of a parameter, but a text: send each value under its parameter's name."
        return Violation(
            "", HIDDEN, "unknown", f"{words} {_accepted(refusal, parent)}" if at_length else words
        )
    hint, near = _meant(refusal, parent, path)
    words = f"unknown parameter {quoted(path[-1])}{inside}{more_places(problem)}.{hint}"
    if at_length:
        words += f" {_accepted(refusal, parent)}"
    return Violation("", parameter(path), "unknown", words, did_you_mean=tuple(map(shown, near)))


def _meant(refusal: Refusal, parent: Location, path: Path) -> tuple[str, list[str]]:
    """What an undeclared name was likely meant for, in a sentence, and the names that come near it."""
    sent = path[-1]
    owner = _owner(refusal, path)
    if owner is not None:
        return f" It stands for {quoted(owner)}: send that one, once.", [owner]
    twin = another_spelling(refusal, parent, sent)
    if twin is not None:
        return _one_of_two(parent, sent, twin), [twin]
    found = wrapped(refusal) if not parent.path else None
    if found is not None and sent == found.path[0]:
        return _unwrap(found), []
    if found is not None and sent in found.beside:
        return " It is no argument of the tool: leave it out.", []
    near = _near_names(refusal, parent, sent)
    belongs = None if refusal.destructive else home(refusal, parent, sent)
    if belongs is not None and (not near or belongs[-2] in refusal.names_at(parent).lacking):
        own = "" if belongs[-1] == sent else f", as {quoted(belongs[-1])}"
        return f" It belongs inside {where(belongs[:-1])}{own}.", []
    if near:
        return f" Did you mean {either([quoted(name) for name in near])}?", near
    if (
        not parent.path
        and isinstance(parent.value, Mapping)
        and is_usual_wrapper(sent, parent.value.get(sent))
    ):
        return f" The arguments go at the top, not inside {quoted(sent)}.", []
    return "", []


def _one_of_two(parent: Location, sent: object, twin: str) -> str:
    values = parent.value
    same = fits_json(values, MAX_COMPARED) and same_json(values[sent], values[twin])
    which = "" if same else ", with the value that is meant"
    return (
        f" It is another spelling of {quoted(twin)}, which was sent as well: send {quoted(twin)} only{which}."
    )


def _unwrap(found: Wrapped) -> str:
    names = found.names[:MAX_NEAR]
    rest = len(found.names) - len(names)
    told = [quoted(name) for name in names] + ([f"{rest} more"] if rest else [])
    together = listed(told)
    as_text = " as JSON text" if found.in_text else ""
    return f" It holds arguments of the tool{as_text}: send {together} at the top, not inside {where(found.path)}."


def _owner(refusal: Refusal, path: Path) -> str | None:
    """The parameter that a name is declared to stand for."""
    if len(path) != 1:
        return None
    return next((name for name, others in refusal.policy.aliases.items() if path[0] in others), None)


def _near_names(refusal: Refusal, parent: Location, sent: object) -> list[str]:
    if not isinstance(sent, str):
        return []
    names = refusal.names_at(parent)
    absent = [name for name in names.absent if may_be_meant(refusal, parent, sent, name)]
    scored = [(likely_name(names, sent, name), name) for name in absent]
    likely = sorted((entry for entry in scored if entry[0] > 0), key=lambda entry: -entry[0])
    spots = {name: refusal.look((*parent.path, name)) for _, name in likely}
    return [name for how, name in likely if _may_stand(refusal, parent, sent, spots[name], how)][:MAX_NEAR]


def _accepted(refusal: Refusal, parent: Location) -> str:
    names = list(names_of(refusal.meant(parent)))
    if not names:
        return "No parameters are accepted here."
    told = list(map(quoted, names[:MAX_NAMES]))
    while sum(map(len, told)) > MAX_NAMES_TEXT:
        told.pop()
    rest = len(names) - len(told)
    return f"Accepted {'is' if len(names) == 1 else 'are'} {', '.join(told)}{f' and {rest} more' if rest else ''}."


MAX_TIE = 800


def worded(refusal: Refusal, problem: Problem, *, at_length: bool) -> Violation:
    """The violation without its pointer and fixes; ``at_length`` adds what need be said once only."""
    if any(keyword == KEYS for keyword, _ in problem.broken):
        return wrong_key(refusal, problem)
    if problem.broken and problem.code in ("missing", "unknown"):
        tell = missing if problem.code == "missing" else unknown
        return tell(refusal, problem, at_length=at_length)
    return (_TELLERS.get(problem.code, _wrong_value) if problem.broken else _wrong_value)(refusal, problem)


def _too_large(_refusal: Refusal, problem: Problem) -> Violation:
    path = problem.places[0].path
    return Violation(
        "",
        parameter(path),
        "size",
        f"{where(path)} {is_or_are(problem)} too large or too deeply nested. Send less at once.",
    )


def _wrong_type(refusal: Refusal, problem: Problem) -> Violation:
    wanted = refusal.say(expected, problem.forms)
    if not wanted:
        return _wrong_value(refusal, problem)
    words = f"{_subject(problem)} be {wanted}, but got {_received(refusal, problem)}.{hint(refusal, problem, wanted)}"
    return _about_value(refusal, problem, words)


def _wrong_enum(refusal: Refusal, problem: Problem) -> Violation:
    wanted = refusal.say(expected, problem.forms)
    if not wanted:
        return _wrong_value(refusal, problem)
    words = f"{_subject(problem)} be {wanted}, but got {_received(refusal, problem)}."
    near = refusal.once(near_at, problem.places[0])
    if near and problem.count == 1 and not problem.places[0].secret:
        words += f" Did you mean {either([in_json(value) for value in near])}?"
    words += leave_out(refusal, problem)
    return _about_value(refusal, problem, words, near=tuple(near))


def _wrong_value(refusal: Refusal, problem: Problem) -> Violation:
    asked = " and ".join(filter(None, (limit_words(keyword, bound) for keyword, bound in problem.broken)))
    detail = told_safely(refusal, problem.places, problem.detail, MAX_DETAIL)
    # What the schema says of a place is told already, so that a reason of its type would say the contrary.
    reason = None if problem.code == "type" and problem.forms else problem.reason
    why = detail or reason
    if asked:
        more = f" ({reason})" if reason and problem.code == "format" and problem.count == 1 else ""
        words = f"{_subject(problem)} {asked}, but got {_received(refusal, problem)}{_size(problem)}{more}."
    elif why:
        words = (
            f"{named(problem)} {is_or_are(problem)} not accepted: {why.rstrip('.')}{_got(refusal, problem)}."
        )
    else:
        words = f"{named(problem)} {is_or_are(problem)} not accepted by the tool{_as_published(problem)}; got {_received(refusal, problem)}.{_formats(problem)}"
    return _about_value(refusal, problem, words + leave_out(refusal, problem))


def _got(refusal: Refusal, problem: Problem) -> str:
    echoed = problem.count == 1 and _may_echo(refusal, problem.places[0])
    return f"; got {_received(refusal, problem)}" if echoed else ""


def _as_published(problem: Problem) -> str:
    """Said of a type that the published schema has nothing against, so that nobody can satisfy the two."""
    return ", although its schema asks for this" if problem.code == "type" and problem.forms else ""


def _formats(problem: Problem) -> str:
    if problem.code == "type":
        return ""
    said = (each for form in problem.forms for each in form.says("format"))
    names = [each for each in said if isinstance(each, str)]
    return f" It must {limit_words('format', names[0])}." if names else ""


_TELLERS = {
    "type": _wrong_type,
    "enum": _wrong_enum,
    "size": _too_large,
}


def _about_value(refusal: Refusal, problem: Problem, words: str, near: tuple[Any, ...] = ()) -> Violation:
    spot = problem.places[0]
    types = {json_type(entry.value) for entry in problem.places if entry.present}
    echoed = problem.count == 1 and refusal.once(_may_echo, spot)
    return Violation(
        "",
        parameter(spot.path),
        problem.code,
        words,
        received_type=types.pop() if len(types) == 1 else None,
        expected_types=problem.expected_types or refusal.say(type_words, problem.forms),
        received_value=spot.value if echoed else None,
        has_received_value=echoed,
        did_you_mean=near,
        allowed_values=refusal.say(allowed, problem.forms),
    )


def _may_echo(refusal: Refusal, spot: Location) -> bool:
    if isinstance(spot.value, str) and looks_like_json(spot.value):
        return False
    may_show = refusal.may_show(spot) or _is_in_map(refusal, spot)
    if not (spot.present and may_show and short_scalar(spot.value)):
        return False
    container = any(kind in _CONTAINERS for form in spot.forms for kind in likely_kinds(form))
    return not (isinstance(spot.value, str) and container)


def _is_in_map(refusal: Refusal, spot: Location) -> bool:
    """Whether a number or boolean is an entry of a map, whose names are all the caller's: none is misspelt.

    A text may be a secret under a name that does not tell.
    """
    parent = refusal.look(spot.path[:-1])
    named = any(form.properties for form in parent.forms)
    shown = refusal.policy.echo_values and parent.declared and not spot.secret
    return shown and bool(spot.forms) and not named and isinstance(spot.value, (bool, int, float))


def _subject(problem: Problem) -> str:
    return f"{named(problem)} must each" if problem.count > 1 else f"{named(problem)} must"


def _received(refusal: Refusal, problem: Problem) -> str:
    if problem.count > 1:
        kinds = dict.fromkeys(json_type(spot.value) for spot in problem.places)
        return either(list(map(with_article, kinds)))
    spot = problem.places[0]
    kind = json_type(spot.value)
    if kind == "null" or not refusal.once(_may_echo, spot):
        return with_article(kind)
    return f"the {kind} {in_json(spot.value)}"


def _size(problem: Problem) -> str:
    spot = problem.places[0]
    units = {"minLength": "characters", "maxLength": "characters", "minItems": "items", "maxItems": "items"}
    unit = next((units[keyword] for keyword, _ in problem.broken if keyword in units), None)
    if unit is None or problem.count > 1 or not isinstance(spot.value, (str, list)):
        return ""
    count = len(spot.value)
    return f" of {count} {unit.removesuffix('s') if count == 1 else unit}"


def ambiguous(refusal: Refusal, tie: Tie) -> Violation:
    """The violation for a place with two equally good readings; both are named where they may be."""
    spot = refusal.look(tie.path)
    values = [reading.value for reading in tie.readings[:MAX_NEAR]]
    if refusal.may_show(spot) and values and all(showable(refusal, spot, value) for value in values):
        told = f"as {' or as '.join(in_json(value) for value in values)}"
    else:
        told = f"in {max(len(tie.readings), 2)} ways"
    words = cut(f"{where(tie.path)} can be read {told}. Send the one that is meant, as JSON.", MAX_TIE)
    wanted = refusal.say(type_words, spot.forms)
    received = json_type(spot.value) if spot.present else None
    return Violation(
        "", parameter(tie.path), "ambiguous", words, received_type=received, expected_types=wanted
    )


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
    """Issues of one kind at places that differ in list indices only."""

    issues: tuple[ValidationIssue, ...]
    count: int


def violations(
    reader: FormReader,
    outcome: Outcome,
    validator: Validator,
    policy: Policy,
    *,
    destructive: bool = False,
    again: Callable[[Mapping[str, Any]], Sequence[ValidationIssue]] | None = None,
    tool: str | None = None,
) -> tuple[Violation, ...]:
    """What is wrong with a refused call, 20 violations at most.

    Items of a list with the same issue share one violation. The published schema supplies the words; where
    it has nothing against a value that the tool refuses, the tool author's own sentence does.

    Args:
        reader: The tool's published input schema, and what earlier refusals said of it.
        outcome: The refused call, as :class:`Outcome` describes it.
        validator: What the tool accepts; asked whether a fix corrects the call.
        policy: Which values may be repeated.
        destructive: Whether the tool destroys something, so that no fix is offered.
        again: What is still wrong with arguments once they are repaired; a fix may need a repair as well.
        tool: The tool's name, where it is known.
    """
    refusal = Refusal(reader, outcome, validator, policy, destructive=destructive, again=again, tool=tool)
    ties = outcome.ties[:MAX_VIOLATIONS]
    groups, more = _groups(_leading(refusal))
    problems = _problems(refusal, groups)
    kept = problems[: MAX_VIOLATIONS - len(ties)]
    found = _told(refusal, ties, kept)
    rest = len(problems) - len(kept) + more
    return _with_rest(_out_of_wrapper(outcome, found), rest, at_least=len(outcome.issues) >= MOST_ISSUES)


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
        replace(last, message=f"{last.message} {_more_faults(rest, at_least=at_least)}"),
    )


def _more_faults(rest: int, *, at_least: bool) -> str:
    count = f"at least {rest}" if at_least else str(rest)
    return "There is 1 more fault." if count == "1" else f"There are {count} more faults."


def _problems(refusal: Refusal, groups: Iterable[_Group]) -> list[Problem]:
    """The issues in the published schema's terms, gathered once more: an issue may hide several."""
    by_place: dict[tuple[Path, bool], list[KeywordViolation | ValidationIssue]] = {}
    uncounted: dict[object, int] = {}
    for group in groups:
        explained = [entry for issue in group.issues for entry in _explained(refusal, issue)]
        for entry in explained:
            by_place.setdefault((entry.path, _of_key(entry)), []).append(entry)
        pattern = _pattern(explained[0].path)
        uncounted[pattern] = max(uncounted.get(pattern, 0), group.count - len(group.issues))
    gathered: dict[Any, list[tuple[Path, bool]]] = {}
    for place, entries in by_place.items():
        gathered.setdefault((_pattern(place[0]), place[1], _keywords(entries)), []).append(place)
    return [
        _problem(refusal, by_place[places[0]], places, uncounted.pop(pattern, 0))
        for (pattern, *_), places in gathered.items()
    ]


def _of_key(entry: KeywordViolation | ValidationIssue) -> bool:
    """Whether a map's key is meant: what stands under it may have issues of its own."""
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
    places = tuple([refusal.look(path) for path, _ in at[:MAX_SAMPLES]])
    count = len(at) + uncounted
    found = [entry for entry in entries if isinstance(entry, KeywordViolation)]
    issues = [entry for entry in entries if isinstance(entry, ValidationIssue)]
    detail = next((issue.detail for issue in issues if issue.detail), None)
    reason = either(list(dict.fromkeys(issue.reason for issue in issues if issue.reason))) or None
    if found:
        listed = found[0].keyword == KEYS and allowed_values(found[0].forms)
        code = "enum" if listed else _CODES.get(found[0].keyword, "value")
        broken = tuple({finding.keyword: finding.bound for finding in found}.items())
        return Problem(code, broken, detail, places, found[0].forms, count, reason)
    code = "type" if issues[0].kind == "type" else "value"
    return Problem(code, (), detail, places, places[0].forms, count, reason, issues[0].expected_types)


def _leading(refusal: Refusal) -> Iterator[ValidationIssue]:
    """The issues that say most: none twice, none at a tie, of a union's issues those of the branch that was meant."""
    issues = dict.fromkeys(refusal.outcome.issues)
    tied = {tie.path for tie in refusal.outcome.ties}
    within = {above for issue in issues for above in _above(issue.path)}
    own = {issue.path for issue in issues if issue.kind in ("type", "value")}
    wrong_type = {path for path in own & within if not _fitting(refusal, path)}
    hiding = wrong_type | tied
    for issue in issues:
        hidden = issue.kind == "type" and issue.path in within and issue.path not in wrong_type
        if not hidden and issue.path not in tied and hiding.isdisjoint(_above(issue.path)):
            yield issue


def _above(path: Path) -> Sequence[Path]:
    return [path[:length] for length in range(len(path))] if len(path) > 1 else _TOP[: len(path)]


def _fitting(refusal: Refusal, path: Path) -> bool:
    place = refusal.look(path)
    exact_integers = refusal.validator.exact_integers
    return not place.forms or any_fits(place.forms, place.value, exact_integers=exact_integers)


def _groups(issues: Iterable[ValidationIssue]) -> tuple[list[_Group], int]:
    """The first groups, and how many more there are.

    Of the others nothing is kept but one pattern each: what many objects live through is what makes Python
    search the whole process for garbage.
    """
    gathered: dict[tuple[str, str | None], dict[object, list[ValidationIssue] | None]] = {}
    counts: dict[int, int] = {}
    groups: list[list[ValidationIssue]] = []
    rest = 0
    for issue in issues:
        alike = gathered.setdefault((issue.kind, issue.detail), {})
        pattern = _pattern(issue.path)
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
                members.append(issue)
    return [_Group(tuple(members), counts[id(members)]) for members in groups], rest


def _pattern(path: Path) -> tuple[str | int | None, ...]:
    for part in path:
        if not isinstance(part, str):
            return tuple([each if isinstance(each, str) else None for each in path])
    return path


def _explained(refusal: Refusal, issue: ValidationIssue) -> Sequence[KeywordViolation | ValidationIssue]:
    if issue.error_code:
        return (issue,)
    if issue.kind == "key":
        keys = refusal.reader.keys(refusal.look(issue.path[:-1]).forms)
        return (KeywordViolation(issue.path, KEYS, keys), issue)
    # A sentence about this very value: what is published of values below it, or beside it, is not the reason.
    # What would be overlooked stands in arguments that the validator takes: nothing else is wrong there.
    own = bool(issue.detail or issue.kind == "overlooked" or (issue.reason and issue.kind == "value"))
    union = None if own else _union_above(refusal, issue.path)
    told = () if union is None else refusal.once(_found, union)
    if told:
        return told
    place = refusal.look(issue.path)
    keyword = _KEYWORDS.get(issue.kind)
    if keyword is not None:
        return (KeywordViolation(issue.path, keyword, place.forms),)
    found = refusal.once(_found, place)
    if own:
        found = tuple(finding for finding in found if finding.path == issue.path)
    return (*found, issue) if own or not found else found


def _found(refusal: Refusal, place: Location) -> tuple[KeywordViolation, ...]:
    exact_integers = refusal.validator.exact_integers
    return findings(refusal.reader, place.forms, place.value, place.path, exact_integers=exact_integers)


def _union_above(refusal: Refusal, path: Path) -> Location | None:
    """The place of a union of objects above an issue: a validator tells the issues of each branch, and one was meant."""
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
    codes = {issue.path: issue.error_code for issue in reversed(refusal.outcome.issues)}
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
    expected = (
        f"must be {either(list(map(with_article, words.expected_types)))}"
        if words.expected_types
        else "is not accepted"
    )
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
    """A name that only the client knows is a parameter's name nowhere but where it is the issue itself."""
    known = words.code == "unknown" or refusal.look(path[:1]).declared
    if words.code == "unknown" and path and isinstance(path[-1], str) and not is_name(path[-1]):
        path = (*path[:-1], HIDDEN)
    return Violation(
        _bounded_pointer(path),
        words.parameter if known else None,
        words.code,
        cut(words.message, MAX_MESSAGE),
        words.received_type,
        words.expected_types,
        words.received_value,
        words.has_received_value,
        words.did_you_mean,
        words.allowed_values,
        offered,
        error_code,
    )


def _bounded_pointer(path: Path) -> str:
    bounded = tuple(part if isinstance(part, int) else shown(part, MAX_NAME) for part in path)
    return shown(pointer(bounded), MAX_POINTER)
