"""Describe what is wrong with a refused call so that a model can correct it: one message per location."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_lenient.refusal.fixes import (
    MAX_FIXES,
    Patch,
    Wanted,
    Wrapped,
    another_spelling,
    coming_home,
    fixes,
    held_in,
    held_tags,
    holding_tag,
    home,
    is_taken,
    is_usual_wrapper,
    items_offered,
    list_in_list,
    may_be_meant,
    near_at,
    near_keys,
    needs_text,
    only_scalar,
    says_nothing,
    showable,
    wrapped,
)
from mcp_lenient.refusal.wording import (
    MAX_DETAIL,
    MAX_VALUES,
    KeywordViolation,
    Location,
    Problem,
    Refusal,
    above_private_key,
    allowed,
    allowed_values,
    and_more,
    description,
    example,
    expected,
    findings,
    format_of,
    kinds_in_words,
    likely_kinds,
    limit_words,
    marked_plural,
    matches,
    more_places,
    named,
    named_type,
    number_of,
    one_of,
    parameter,
    quoted,
    shape,
    told_safely,
    type_words,
    types_in_words,
    where,
    without_period,
)
from mcp_lenient.schema.node import KEYS, FormReader, Forms, any_fits, declares, names_of
from mcp_lenient.types import Outcome, Path, Tie, ValidationIssue, Validator, Violation, ViolationCode
from mcp_lenient.values.display import HIDDEN, MAX_NAME, cut, fits_json, in_json, is_name, short_scalar, shown
from mcp_lenient.values.json_values import json_type, looks_like_json, may_be_rounded, pointer, same_json
from mcp_lenient.values.language import Language, marked
from mcp_lenient.values.limits import MOST_ISSUES

if TYPE_CHECKING:
    from mcp_lenient.rules.policy import Policy


class Description(NamedTuple):
    """A violation without its pointer, its fixes and the author's error code."""

    parameter: str | None
    code: ViolationCode
    message: str
    received_type: str | None = None
    expected_types: tuple[str, ...] = ()
    received_value: Any = None
    has_received_value: bool = False
    did_you_mean: tuple[str, ...] = ()
    allowed_values: tuple[Any, ...] = ()


_KEY_LIMITS = ("minLength", "maxLength", "pattern")


def _wrong_key(refusal: Refusal, problem: Problem) -> Description:
    """Return the violation for a key that a map does not accept."""
    path, words = problem.places[0].path, refusal.words
    near = near_keys(refusal, path)
    meant = ""
    if near and problem.count == 1:
        meant = words("Did you mean {names}?", names=words.either([quoted(name) for name in near]))
    return Description(
        parameter(path),
        problem.code,
        words.sentences(_key_message(refusal, problem), meant),
        did_you_mean=tuple(map(shown, near)),
        allowed_values=refusal.of_schema(allowed, problem.forms),
    )


def _key_message(refusal: Refusal, problem: Problem) -> str:
    path, words = problem.places[0].path, refusal.words
    parent = refusal.look(path[:-1])
    asked = _asked(problem.forms, words)
    told = told_safely(refusal, [parent], problem.detail, MAX_DETAIL) or problem.reason or ""
    said = {
        "key": quoted(path[-1]),
        "place": where(parent.path, words),
        "more": more_places(problem, words),
    }
    # Only the reason says which part of a date is wrong.
    if asked and told and any(map(format_of, problem.forms)):
        return words(
            "{key} is not accepted as a key of {place}{more}: a key must {asked} ({reason}).",
            **said,
            asked=asked,
            reason=told,
        )
    if asked:
        return words(
            "{key} is not accepted as a key of {place}{more}: a key must {asked}.", **said, asked=asked
        )
    reason = without_period(told) or words("the tool accepts only other keys")
    return words("{key} is not accepted as a key of {place}{more}: {reason}.", **said, reason=reason)


def _asked(choices: Forms, words: Language) -> str:
    """Return what a key must be or do, to follow "must"; empty if the schema does not say it."""
    values = allowed_values(choices)
    if values:
        return words("be {thing}", thing=one_of(values, words))
    if len(choices) != 1:
        return ""
    named = format_of(choices[0])
    bounds = [(name, part[name]) for part in choices[0].parts for name in _KEY_LIMITS if name in part]
    wanted = [("format", named), *bounds] if named else bounds
    return words.both([text for text in (limit_words(*each, words) for each in wanted) if text])


_CONTAINERS = ("array", "object")


def hint(refusal: Refusal, problem: Problem, kinds: set[str]) -> str:
    """Return how to write a value right if the expected types alone are often misread, such as text for JSON."""
    spot, words = problem.places[0], refusal.words
    without = leave_out(refusal, problem)
    if without or spot.value is None:
        return without
    doubled = list_in_list(refusal, spot.path)
    if doubled is not None:
        place = where(doubled, words)
        return words("There is one pair of brackets too many around {place}.", place=place)
    if isinstance(spot.value, str):
        return _not_as_text(refusal, problem, kinds)
    if not kinds.isdisjoint(_CONTAINERS):
        return _like(refusal, problem)
    if isinstance(spot.value, (Mapping, list)):
        if any(format_of(form) == "json-string" for form in problem.forms):
            return words("Write it as JSON text.")
        return _alone(refusal, problem, kinds)
    return _another_number(spot.value, kinds, words)


def _another_number(value: object, kinds: set[str], words: Language) -> str:
    """Return how to write a number of which the type or the digits are not right."""
    if kinds == {"string"} and may_be_rounded(value):
        return words("Send it as text: so large a number may have lost digits on the way.")
    if isinstance(value, float) and kinds == {"integer"}:
        whole = value.is_integer()
        return words("Write it without a decimal point.") if whole else words("Send a whole number.")
    return ""


def _not_as_text(refusal: Refusal, problem: Problem, kinds: set[str]) -> str:
    """Return how to write a value that was wrongly sent as text."""
    sample, words = refusal.of_schema(example, problem.forms), refusal.words
    if sample is None:
        told = refusal.say(shape, problem.forms)
        return told or (words("Write it as a JSON object, not as text.") if kinds == {"object"} else "")
    if sample[0] in "[{":
        if problem.items:
            return words(
                "Write it as JSON, as one item or {count}, like {sample}, not as text.",
                count=problem.items,
                sample=sample,
            )
        return words("Write it as JSON, like {sample}, not as text.", sample=sample)
    if allowed_values(problem.forms, partly=True):
        return ""
    return _in_digits(kinds, sample, words, quoted=_is_text_alone(refusal, problem.places[0].path))


def _like(refusal: Refusal, problem: Problem) -> str:
    """Return a sample of a container if its types do not describe it completely."""
    types = refusal.of_schema(type_words, problem.forms)
    if not any("object" in word for word in types) and not any(form.prefix for form in problem.forms):
        return ""
    containers = [form for form in problem.forms if not set(likely_kinds(form)).isdisjoint(_CONTAINERS)]
    # The list that may hold the value comes first.
    containers.sort(key=lambda form: not any_fits(form.child(0), problem.places[0].value))
    sample = refusal.of_schema(example, tuple(containers))
    if sample:
        return refusal.words("Write it like {sample}.", sample=sample)
    return refusal.say(shape, problem.forms)


def _alone(refusal: Refusal, problem: Problem, kinds: set[str]) -> str:
    """Return what to send instead of a container where one plain value is expected."""
    words = refusal.words
    if not kinds:
        return ""
    if allowed_values(problem.forms):
        return words("Send one of them.")
    if kinds == {"string"} and _may_be_meant_as_json(problem):
        return words(_AS_JSON[json_type(problem.places[0].value)])
    kind = words(_BARE[next(iter(kinds)) if len(kinds) == 1 else "value"])
    place, sample = problem.places[0], refusal.of_schema(example, problem.forms)
    if isinstance(place.value, Mapping) and not place.declared and isinstance(place.path[-1], str):
        return words(
            "Send one {kind} for each key of {place}.", kind=kind, place=where(place.path[:-1], words)
        )
    has_sample = sample and kinds != {"string"}
    if isinstance(place.value, Mapping) and (kinds != {"string"} or only_scalar(place)):
        if has_sample:
            return words("Send the {kind} alone, like {sample}.", kind=kind, sample=sample)
        return words("Send the {kind} alone.", kind=kind)
    if has_sample:
        return words("Send one {kind}, like {sample}.", kind=kind, sample=sample)
    return words("Send one {kind}.", kind=kind)


def _may_be_meant_as_json(problem: Problem) -> bool:
    """Return whether a container was sent for any string, and no value in it is likely that string."""
    spot = problem.places[0]
    if any(limit for form in problem.forms for name in ("format", "pattern") for limit in form.says(name)):
        return False
    if isinstance(spot.value, Mapping):
        return not only_scalar(spot) and (spot.declared or isinstance(spot.path[-1], int))
    kinds = set(map(json_type, spot.value))
    return "string" not in kinds and not kinds.isdisjoint(_CONTAINERS)


_AS_JSON = {
    "object": marked("Send a string; if the object itself is meant, write it as JSON text."),
    "array": marked("Send a string; if the array itself is meant, write it as JSON text."),
}
_BARE = {
    "string": marked("string"),
    "integer": marked("integer"),
    "number": marked("number"),
    "boolean": marked("boolean"),
    "value": marked("value"),
}


def _in_digits(kinds: set[str], sample: str, words: Language, *, quoted: bool) -> str:
    if not kinds <= {"integer", "number", "boolean"}:
        return ""
    if "boolean" in kinds:
        also = "number" if "number" in kinds else "integer" if "integer" in kinds else "boolean"
        return words(_TRUE_OR_FALSE[also][quoted])
    if "number" in kinds:
        return words("Write a number in digits, like {sample}.", sample=sample)
    return words("Write a whole number in digits, like {sample}.", sample=sample)


_TRUE_OR_FALSE = {
    "boolean": (marked("Write true or false, without quotes."), marked("Write true or false.")),
    "number": (
        marked("Write a number in digits, or true or false, without quotes."),
        marked("Write a number in digits, or true or false."),
    ),
    "integer": (
        marked("Write a whole number in digits, or true or false, without quotes."),
        marked("Write a whole number in digits, or true or false."),
    ),
}
"""How to write a boolean where JSON can be sent, and where only a string can."""


def _is_text_alone(refusal: Refusal, path: Path) -> bool:
    """Return whether a client can send nothing but a string to a place, as to each argument of a prompt."""
    return refusal.as_texts and len(path) == 1


def _in_json_text(refusal: Refusal, path: Path, choices: Forms) -> str:
    """Return what is expected at a place that takes a container and to which only a string can be sent; else nothing."""
    wanted, words = refusal.say(expected, choices), refusal.words
    kinds = {kind for form in choices for kind in likely_kinds(form)}
    if not wanted or not _is_text_alone(refusal, path) or kinds.isdisjoint(_CONTAINERS):
        return ""
    sample = refusal.of_schema(example, choices)
    if sample is None:
        return words("{expected}, sent as a string that holds JSON", expected=wanted)
    return words(
        "{expected}, sent as a string that holds JSON, like {sample}", expected=wanted, sample=in_json(sample)
    )


def leave_out(refusal: Refusal, problem: Problem) -> str:
    """Return what to do without a value, if one was sent that means "no value".

    A destructive tool might do more without it, as without a filter, so its messages do not advise that.
    """
    if problem.count > 1 or not all(map(says_nothing, [spot.value for spot in problem.places])):
        return ""
    spot, words = problem.places[0], refusal.words
    may_leave_out = refusal.may_leave_out(spot)
    if may_leave_out and needs_text(spot):
        return "" if spot.value.strip() else words("Send a text that is not empty.")
    if refusal.destructive and (may_leave_out or spot.value is not None):
        return ""
    if may_leave_out:
        return words("Leave it out if you have no value.")
    if spot.value is None:
        return words("It cannot be left out: send a value.") if _is_required(refusal, spot) else ""
    is_nullable = bool(spot.forms) and is_taken(refusal, spot, None)
    return words("Send null if you have no value.") if is_nullable else ""


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


def missing(refusal: Refusal, problem: Problem, *, at_length: bool) -> Description:
    """Return the violation for a missing name, with the name or level it may have been sent under."""
    spot, words = problem.places[0], refusal.words
    choices = spot.forms or problem.forms
    parent = refusal.look(spot.path[:-1])
    about = without_period(description(spot.forms))
    message = words.sentences(
        _lacks(refusal, problem, parent), words("It means: {about}.", about=about) if about else ""
    )
    if at_length and not refusal.outcome.arguments and not refusal.outcome.repairs:
        message = words("the arguments arrived empty ({empty}). {rest}", empty="{}", rest=message)
    return Description(
        parameter(spot.path),
        "missing",
        words.sentences(message, _sent_elsewhere(refusal, parent, spot)),
        expected_types=refusal.of_schema(type_words, choices),
        allowed_values=allowed_values(choices)[:MAX_VALUES],
    )


def _lacks(refusal: Refusal, problem: Problem, parent: Location) -> str:
    spot, words = problem.places[0], refusal.words
    choices = spot.forms or problem.forms
    place, more = where(spot.path, words), more_places(problem, words)
    if isinstance(spot.path[-1], int):
        return words(
            "{place} is missing{more}: {parent} must be {expected}.",
            place=place,
            more=more,
            parent=where(parent.path, words),
            expected=refusal.say(expected, parent.forms),
        )
    told = words("{place} is required but was not sent{more}.", place=place, more=more)
    wanted = _in_json_text(refusal, spot.path, choices) or refusal.say(expected, choices)
    if not wanted:
        return words.sentences(told, _instead(problem, spot, words))
    return words.sentences(
        told,
        words("It must be {expected}.", expected=wanted),
        refusal.say(shape, choices),
        _instead(problem, spot, words),
    )


def _instead(problem: Problem, spot: Location, words: Language) -> str:
    """Return the names of which one may be sent in place of a missing one; empty without any."""
    others = dict(problem.broken).get("required") or ()
    if not others:
        return ""
    names = words.either([where((*spot.path[:-1], other), words) for other in others[:MAX_NEAR]])
    return words("Or send {names} instead.", names=names)


def _sent_elsewhere(refusal: Refusal, parent: Location, spot: Location) -> str:
    """Return where a missing value may have been sent instead; empty if nowhere."""
    name, words = str(spot.path[-1]), refusal.words
    found = wrapped(refusal) if not parent.path else None
    if found is not None and name in found.names:
        if is_name(str(found.path[0])):
            return words("It was sent inside {place}: send it at the top.", place=where(found.path, words))
        return words("It was sent inside the text of a name: send it at the top.")
    holder = None if parent.path else held_in(refusal, name)
    if holder is not None:
        return words("It was sent inside {place}: send it at the top.", place=where((holder,), words))
    fields = {} if refusal.destructive else coming_home(refusal, spot)
    if fields:
        return _send_inside(spot, fields, words)
    if parent.path and not refusal.destructive and name in refusal.names_at(refusal.look(())).extra:
        return words("It was sent at the top: send it inside {place}.", place=where(parent.path, words))
    meant = [
        other
        for other in matches(refusal, parent).meaning(name)
        if (found is None or other not in (found.path[0], *found.beside))
        and may_be_meant(refusal, parent, other, name)
    ]
    meant += [other for other in holding_tag(refusal, parent, spot.path) if other not in meant]
    if not meant:
        return ""
    told = words.either([where((*parent.path, other), words) for other in meant[:MAX_NEAR]])
    return words("If {names} is meant, send it under this name.", names=told)


def _send_inside(owner: Location, fields: Mapping[str, Path], words: Language) -> str:
    """Return that fields belong inside an object or list, with their own names if they were sent under longer ones."""
    names = words.all_of([quoted(field) for field in list(fields)[:MAX_NEAR]])
    own = [str(path[-1]) for path in fields.values()]
    holder = next(iter(fields.values()))[:-1]
    if any(path[:-1] != owner.path for path in fields.values()):
        if own == list(fields):
            return words("Send {names} inside {place}.", names=names, place=where(holder, words))
        return words("Send it whole, not in parts such as {name}.", name=quoted(next(iter(fields))))
    if own == list(fields):
        return words("Send {names} inside it.", names=names)
    own_names = words.all_of([quoted(name) for name in own[:MAX_NEAR]])
    return words("Send {names} inside it, as {own_names}.", names=names, own_names=own_names)


def unknown(refusal: Refusal, problem: Problem, *, at_length: bool) -> Description:
    """Return the violation for an undeclared name, with the names that may be meant."""
    path, words = problem.places[0].path, refusal.words
    parent = refusal.look(path[:-1])
    accepted = _accepted(refusal, parent) if at_length else ""
    if isinstance(path[-1], str) and not is_name(path[-1]):
        return Description(HIDDEN, "unknown", words.sentences(_text_as_name(parent, words), accepted))
    if parent.secret:
        place = where(parent.path, words)
        told = words("unknown parameter {name} in {place}{more}.", name=quoted(HIDDEN), place=place, more="")
        return Description(parameter(parent.path), "unknown", words.sentences(told, accepted))
    others = _of_another_form(parent, path[-1])
    hint, near = (_not_together(others, words), []) if others else _meant(refusal, parent, path)
    name, more = quoted(path[-1]), more_places(problem, words)
    if parent.path:
        place = where(parent.path, words)
        told = words("unknown parameter {name} in {place}{more}.", name=name, place=place, more=more)
    else:
        told = words("unknown parameter {name}{more}.", name=name, more=more)
    message = words.sentences(told, hint, accepted)
    return Description(parameter(path), "unknown", message, did_you_mean=tuple(map(shown, near)))


def _may_repeat(refusal: Refusal, path: Path) -> bool:
    """Return whether an undeclared name may be repeated: it has the form of a name and is not below a secret."""
    return is_name(str(path[-1])) and not refusal.look(path[:-1]).secret


def _text_as_name(parent: Location, words: Language) -> str:
    if parent.path:
        return words(
            "a name in {place} is a whole text, not a parameter's name: send each value under its parameter's name.",
            place=where(parent.path, words),
        )
    return words(
        "a name is a whole text, not a parameter's name: send each value under its parameter's name."
    )


def _meant(refusal: Refusal, parent: Location, path: Path) -> tuple[str, list[str]]:
    """Return a sentence about what an undeclared name was likely meant as, and the names that are close to it."""
    sent, words = path[-1], refusal.words
    owner = _owner(refusal, path)
    if owner is not None:
        return words("It is another name for {name}: send {name}, once.", name=quoted(owner)), [owner]
    twin = another_spelling(refusal, parent, sent)
    if twin is not None:
        return _one_of_two(parent, sent, twin, words), [twin]
    found = wrapped(refusal) if not parent.path else None
    if found is not None and sent == found.path[0]:
        return _unwrap(found, words), []
    if found is not None and sent in found.beside:
        return words("It is not an argument of the tool: leave it out."), []
    near = _near_names(refusal, parent, sent)
    belongs = None if refusal.destructive else home(refusal, parent, sent)
    own = belongs[len(parent.path)] if belongs else None
    if belongs is not None and (not near or own in (*near, *refusal.names_at(parent).lacking)):
        return _belongs_inside(belongs, sent, words), []
    if near:
        return words("Did you mean {names}?", names=words.either([quoted(name) for name in near])), near
    content: Any = parent.value.get(sent) if isinstance(parent.value, Mapping) else None
    if is_usual_wrapper(sent, content) and not _may_be_a_value(refusal, parent, content):
        return _not_inside(parent, sent, words), []
    return "", []


def _may_be_a_value(refusal: Refusal, parent: Location, content: Mapping[Any, Any]) -> bool:
    """Return whether the content of a wrapper names no parameter, and may be the value of an object that was not sent."""
    absent = (refusal.look((*parent.path, name)) for name in refusal.names_at(parent).absent)
    takes_object = any("object" in likely_kinds(form) for place in absent for form in place.forms)
    return takes_object and not any(declares(parent.forms, name) for name in content)


def _not_inside(parent: Location, wrapper: object, words: Language) -> str:
    if not parent.path:
        return words("The arguments go at the top, not inside {name}.", name=quoted(wrapper))
    return words(
        "The values of {place} go directly in it, not inside {name}.",
        place=where(parent.path, words),
        name=quoted(wrapper),
    )


def _of_another_form(parent: Location, sent: object) -> list[str]:
    """Return the declared names, also sent, that no branch of a union declares together with a name."""
    declaring = [form for form in parent.forms if sent in form.properties]
    if not declaring or not isinstance(parent.value, Mapping):
        return []
    known = names_of(parent.forms)
    return [name for name in parent.value if name in known and not declares(declaring, name)]


def _not_together(others: Sequence[str], words: Language) -> str:
    names = words.all_of([quoted(name) for name in others[:MAX_NEAR]])
    return words("It cannot be sent together with {names}.", names=names)


def _belongs_inside(belongs: Path, sent: object, words: Language) -> str:
    place = where(belongs[:-1], words)
    if belongs[-1] == sent or isinstance(belongs[-1], int):
        return words("It belongs inside {place}.", place=place)
    return words("It belongs inside {place}, as {name}.", place=place, name=quoted(belongs[-1]))


def _one_of_two(parent: Location, sent: object, twin: str, words: Language) -> str:
    values = parent.value
    if fits_json(values, MAX_COMPARED) and same_json(values[sent], values[twin]):
        return words(
            "It is another spelling of {name}, which was sent as well: send {name} only.", name=quoted(twin)
        )
    return words(
        "It is another spelling of {name}, which was sent as well: send {name} only, with the value that is meant.",
        name=quoted(twin),
    )


def _unwrap(found: Wrapped, words: Language) -> str:
    names = found.names[:MAX_NEAR]
    rest = len(found.names) - len(names)
    told = [quoted(name) for name in names] + ([words("{count} more", count=rest)] if rest else [])
    together, place = words.all_of(told), where(found.path, words)
    if found.in_text:
        return words(
            "It contains arguments of the tool as JSON text: send {names} at the top, not inside {place}.",
            names=together,
            place=place,
        )
    return words(
        "It contains arguments of the tool: send {names} at the top, not inside {place}.",
        names=together,
        place=place,
    )


def _owner(refusal: Refusal, path: Path) -> str | None:
    """Return the parameter of which a name is a declared alias."""
    if len(path) != 1:
        return None
    return next((name for name, others in refusal.policy.aliases.items() if path[0] in others), None)


def _near_names(refusal: Refusal, parent: Location, sent: object) -> list[str]:
    if not isinstance(sent, str) or len(sent) > MAX_NAME:
        return []
    found = matches(refusal, parent).meant_by(sent)
    likely = [name for name in found if may_be_meant(refusal, parent, sent, name)]
    tags = [] if refusal.destructive else held_tags(refusal, parent, sent)
    return list(dict.fromkeys((*likely, *tags)))[:MAX_NEAR]


def _accepted(refusal: Refusal, parent: Location) -> str:
    names, words = list(names_of(refusal.meant(parent))), refusal.words
    if not names:
        return words("No parameters are accepted here.")
    told = list(map(quoted, names[:MAX_NAMES]))
    while sum(map(len, told)) > MAX_NAMES_TEXT:
        told.pop()
    some = and_more(words.comma(told), len(names) - len(told), words)
    return words.plural("Accepted is {names}.", "Accepted are {names}.", len(names), names=some)


MAX_TIE = 800


def worded(refusal: Refusal, problem: Problem, *, at_length: bool) -> Description:
    """Return the violation without its pointer and fixes; ``at_length`` adds what is said only once per envelope."""
    if any(keyword == KEYS for keyword, _ in problem.broken):
        return _wrong_key(refusal, problem)
    if problem.broken and problem.code in ("missing", "unknown"):
        tell = missing if problem.code == "missing" else unknown
        return tell(refusal, problem, at_length=at_length)
    return (_TELLERS.get(problem.code, _wrong_value) if problem.broken else _wrong_value)(refusal, problem)


def _too_large(refusal: Refusal, problem: Problem) -> Description:
    path, words = problem.places[0].path, refusal.words
    message = words.plural(
        "{place} is too large or too deeply nested. Send less at once.",
        "{place} are too large or too deeply nested. Send less at once.",
        number_of(problem),
        place=where(path, words),
    )
    return Description(parameter(path), "size", message)


def _wrong_type(refusal: Refusal, problem: Problem) -> Description:
    wanted = refusal.say(expected, problem.forms)
    if not wanted:
        return _wrong_value(refusal, problem)
    kinds = {kind for form in problem.forms for kind in likely_kinds(form)} - {"null"}
    words = refusal.words
    in_text = _in_json_text(refusal, problem.places[0].path, problem.forms)
    if in_text:
        told, more = (
            words("{place} must be {expected}.", place=named(problem, words), expected=in_text),
            leave_out(refusal, problem),
        )
    else:
        told, more = _must_be(refusal, problem, wanted), hint(refusal, problem, kinds)
    return _about_value(refusal, problem, words.sentences(told, more))


def _wrong_enum(refusal: Refusal, problem: Problem) -> Description:
    wanted, words = refusal.say(expected, problem.forms), refusal.words
    if not wanted:
        return _wrong_value(refusal, problem)
    near, meant = refusal.once(near_at, problem.places[0]), ""
    if near and problem.count == 1 and not problem.places[0].secret:
        meant = words("Did you mean {names}?", names=words.either([in_json(value) for value in near]))
    message = words.sentences(_must_be(refusal, problem, wanted), meant, leave_out(refusal, problem))
    return _about_value(refusal, problem, message, near=tuple(near))


def _must_be(refusal: Refusal, problem: Problem, wanted: str) -> str:
    words = refusal.words
    return words.plural(
        "{places} must be {expected}, but got {received}.",
        "{places} must each be {expected}, but got {received}.",
        problem.count,
        places=named(problem, words),
        expected=wanted,
        received=_received(refusal, problem),
    )


def _wrong_value(refusal: Refusal, problem: Problem) -> Description:
    words = refusal.words
    limits = (limit_words(keyword, bound, words) for keyword, bound in problem.broken)
    asked = words.both([text for text in limits if text])
    detail = told_safely(refusal, problem.places, problem.detail, MAX_DETAIL)
    # The message already contains the type that the schema declares; a reason about the type would contradict it.
    reason = None if problem.code == "type" and problem.forms else problem.reason
    if asked:
        message = _must(refusal, problem, asked, reason if problem.code == "format" else None)
    elif detail or reason:
        message = _not_accepted(refusal, problem, without_period(detail or reason or ""))
    else:
        message = _not_accepted_by_tool(refusal, problem)
    return _about_value(refusal, problem, words.sentences(message, leave_out(refusal, problem)))


def _must(refusal: Refusal, problem: Problem, asked: str, reason: str | None) -> str:
    words = refusal.words
    received = _with_size(refusal, problem)
    if not received:
        return _must_alone(problem, asked, reason, words)
    if reason and problem.count == 1:
        return words(
            "{place} must {asked}, but got {received} ({reason}).",
            place=named(problem, words),
            asked=asked,
            received=received,
            reason=reason,
        )
    return words.plural(
        "{places} must {asked}, but got {received}.",
        "{places} must each {asked}, but got {received}.",
        problem.count,
        places=named(problem, words),
        asked=asked,
        received=received,
    )


def _not_accepted(refusal: Refusal, problem: Problem, reason: str) -> str:
    words, count = refusal.words, number_of(problem)
    places = named(problem, words)
    if problem.count == 1 and _may_echo(refusal, problem.places[0]):
        return words.plural(
            "{places} is not accepted: {reason}; got {received}.",
            "{places} are not accepted: {reason}; got {received}.",
            count,
            places=places,
            reason=reason,
            received=_received(refusal, problem),
        )
    return words.plural(
        "{places} is not accepted: {reason}.",
        "{places} are not accepted: {reason}.",
        count,
        places=places,
        reason=reason,
    )


def _not_accepted_by_tool(refusal: Refusal, problem: Problem) -> str:
    """Return that only the tool refuses a value; the published schema may even accept its type."""
    words, count = refusal.words, number_of(problem)
    said = {"places": named(problem, words), "received": _received(refusal, problem)}
    if problem.code == "type" and problem.forms:
        return words.plural(
            "{places} is not accepted by the tool, although its schema asks for this; got {received}.",
            "{places} are not accepted by the tool, although its schema asks for this; got {received}.",
            count,
            **said,
        )
    told = words.plural(
        "{places} is not accepted by the tool; got {received}.",
        "{places} are not accepted by the tool; got {received}.",
        count,
        **said,
    )
    return words.sentences(told, _formats(problem, words))


def _formats(problem: Problem, words: Language) -> str:
    if problem.code == "type":
        return ""
    said = (each for form in problem.forms for each in form.says("format"))
    names = [each for each in said if isinstance(each, str)]
    return words("It must {asked}.", asked=limit_words("format", names[0], words)) if names else ""


_TELLERS = {
    "type": _wrong_type,
    "enum": _wrong_enum,
    "size": _too_large,
}


def _about_value(refusal: Refusal, problem: Problem, words: str, near: tuple[Any, ...] = ()) -> Description:
    spot = problem.places[0]
    types = {json_type(entry.value) for entry in problem.places if entry.present}
    echoed = problem.count == 1 and refusal.once(_may_echo, spot)
    return Description(
        parameter(spot.path),
        problem.code,
        words,
        received_type=types.pop() if len(types) == 1 else None,
        expected_types=problem.expected_types or refusal.of_schema(type_words, problem.forms),
        received_value=spot.value if echoed else None,
        has_received_value=echoed,
        did_you_mean=near,
        allowed_values=refusal.of_schema(allowed, problem.forms),
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
    """Return whether a number or boolean is an entry of a map, where no name is a misspelled parameter.

    A string may be a secret under a name that does not show it.
    """
    parent = refusal.look(spot.path[:-1])
    named = any(form.properties for form in parent.forms)
    shown = refusal.policy.echo_values and parent.declared and not spot.secret
    return shown and bool(spot.forms) and not named and isinstance(spot.value, (bool, int, float))


_RECEIVED = {
    "string": marked("the string {value}"),
    "integer": marked("the integer {value}"),
    "number": marked("the number {value}"),
    "boolean": marked("the boolean {value}"),
}


def _received(refusal: Refusal, problem: Problem) -> str:
    words = refusal.words
    if problem.count > 1:
        return types_in_words(dict.fromkeys(json_type(spot.value) for spot in problem.places), words)
    spot = problem.places[0]
    kind = json_type(spot.value)
    if kind == "null" or not refusal.once(_may_echo, spot):
        return types_in_words((kind,), words)
    return words(_RECEIVED[kind], value=in_json(spot.value))


def _with_size(refusal: Refusal, problem: Problem) -> str:
    """Return the received value, with its size if that is limited; empty if only its type could be said, which is right."""
    words, spot = refusal.words, problem.places[0]
    received = _received(refusal, problem)
    if problem.count > 1:
        return ""
    limits = {keyword for keyword, _ in problem.broken}
    for kind, limiting, (one, many) in _SIZES:
        if isinstance(spot.value, kind) and not limits.isdisjoint(limiting):
            count = len(spot.value)
            return words.plural(one, many, count, received=received)
    return received if refusal.once(_may_echo, spot) else ""


_SIZES: Sequence[tuple[type[Any], frozenset[str], tuple[str, str]]] = (
    (
        str,
        frozenset(("minLength", "maxLength")),
        marked_plural("{received} of {count} character", "{received} of {count} characters"),
    ),
    (
        list,
        frozenset(("minItems", "maxItems")),
        marked_plural("{received} of {count} item", "{received} of {count} items"),
    ),
    (
        Mapping,
        frozenset(("minProperties", "maxProperties")),
        marked_plural("{received} of {count} property", "{received} of {count} properties"),
    ),
)


def _must_alone(problem: Problem, asked: str, reason: str | None, words: Language) -> str:
    places = named(problem, words)
    if reason and problem.count == 1:
        return words("{place} must {asked} ({reason}).", place=places, asked=asked, reason=reason)
    return words.plural(
        "{places} must {asked}.", "{places} must each {asked}.", problem.count, places=places, asked=asked
    )


def ambiguous(refusal: Refusal, tie: Tie) -> Description:
    """Return the violation for a value with two equally good readings, with both if they may be shown."""
    spot, words = refusal.look(tie.path), refusal.words
    place = where(tie.path, words)
    values = [reading.value for reading in tie.readings[:MAX_NEAR]]
    if refusal.may_show(spot) and values and all(showable(refusal, spot, value) for value in values):
        readings = words.or_as([in_json(value) for value in values])
        message = words(
            "{place} can be read as {readings}. Send the one that is meant, as JSON.",
            place=place,
            readings=readings,
        )
    else:
        message = words(
            "{place} can be read in {count} ways. Send the one that is meant, as JSON.",
            place=place,
            count=max(len(tie.readings), 2),
        )
    return Description(
        parameter(tie.path),
        "ambiguous",
        cut(message, MAX_TIE),
        received_type=json_type(spot.value) if spot.present else None,
        expected_types=refusal.of_schema(type_words, spot.forms),
    )


MAX_VIOLATIONS = 20
MAX_SAMPLES = 8
MAX_WITH_FIXES = 8
MAX_POINTER = 300
MAX_MESSAGE = 800
MAX_GROUPS = 50
_LIMITED: Mapping[ViolationCode, str] = {
    "range": "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
    "length": "minLength maxLength minItems maxItems minProperties maxProperties",
}
_CODES: Mapping[str, ViolationCode] = {
    "type": "type",
    "enum": "enum",
    "required": "missing",
    "additionalProperties": "unknown",
    "pattern": "pattern",
    "format": "format",
    "size": "size",
    **{keyword: code for code, keywords in _LIMITED.items() for keyword in keywords.split()},
}
_TOP: Sequence[Path] = ((),)
_UNWRAPPED = "unwrap_arguments"
_WITHOUT_WRAPPER = marked(
    "The arguments were sent inside a name that the tool does not know: send them at the paths given here."
)
_KEYWORDS = {
    "missing": "required",
    "unknown": "additionalProperties",
    "overlooked": "additionalProperties",
    "size": "size",
}


_Group = tuple[tuple[ValidationIssue, ...], int]
"""The first issues of one kind at paths that differ in list indices only, and the number of all of them."""


def violations(
    reader: FormReader,
    outcome: Outcome,
    validator: Validator,
    policy: Policy,
    *,
    destructive: bool = False,
    again: Callable[[Mapping[str, Any]], Sequence[ValidationIssue]] | None = None,
    tool: str | None = None,
    as_texts: bool = False,
) -> tuple[Violation, ...]:
    """Return the violations of a refused call, 20 at most.

    Items of a list with the same issue share one violation. The message comes from the published schema; if only the
    tool refuses a value, it is the author's own sentence.

    The validator tests whether a fix corrects the call; ``again`` returns the issues that remain after repair, since
    a fix may need a repair as well. A destructive tool gets no fixes. ``as_texts``: a client can send nothing
    but strings, so that no message asks for anything else.
    """
    refusal = Refusal(
        reader,
        outcome,
        validator,
        policy,
        destructive=destructive,
        again=again,
        tool=tool,
        as_texts=as_texts,
    )
    ties = outcome.ties[:MAX_VIOLATIONS]
    groups, more = _groups(_leading(refusal))
    problems = _problems(refusal, groups)
    kept = problems[: MAX_VIOLATIONS - len(ties)]
    found = _told(refusal, ties, kept)
    rest = len(problems) - len(kept) + more
    at_least = max(len(outcome.issues), len(problems)) >= MOST_ISSUES
    return _with_rest(_out_of_wrapper(refusal, found), rest, refusal.words, at_least=at_least)


def _out_of_wrapper(refusal: Refusal, found: tuple[Violation, ...]) -> tuple[Violation, ...]:
    """Say that the paths are not those of the sent call if its arguments were in a wrapper."""
    if not found or all(repair.rule != _UNWRAPPED for repair in refusal.outcome.repairs):
        return found
    words = refusal.words
    return (replace(found[0], message=words.sentences(found[0].message, words(_WITHOUT_WRAPPER))), *found[1:])


def _with_rest(
    found: tuple[Violation, ...], rest: int, words: Language, *, at_least: bool
) -> tuple[Violation, ...]:
    if not found or rest < 1:
        return found
    last = found[-1]
    message = words.sentences(last.message, _more_faults(rest, words, at_least=at_least))
    return (*found[:-1], replace(last, message=message))


def _more_faults(rest: int, words: Language, *, at_least: bool) -> str:
    if at_least:
        return words.plural(
            "There is at least {count} more fault.", "There are at least {count} more faults.", rest
        )
    return words.plural("There is {count} more fault.", "There are {count} more faults.", rest)


def _problems(refusal: Refusal, groups: Iterable[_Group]) -> list[Problem]:
    """Return the issues as violated keywords of the published schema, grouped again: an issue may hide several."""
    by_place: dict[tuple[Path, bool], list[KeywordViolation | ValidationIssue]] = {}
    uncounted: dict[object, int] = {}
    for issues, count in groups:
        explained = [entry for issue in issues for entry in _explained(refusal, issue)]
        for entry in explained:
            by_place.setdefault((entry.path, _of_key(entry)), []).append(entry)
        pattern = _pattern(explained[0].path)
        uncounted[pattern] = max(uncounted.get(pattern, 0), count - len(issues))
    gathered: dict[Any, list[tuple[Path, bool]]] = {}
    for place, entries in by_place.items():
        gathered.setdefault((_pattern(place[0]), place[1], _keywords(entries)), []).append(place)
    return [
        _problem(refusal, by_place[places[0]], places, uncounted.pop(pattern, 0))
        for (pattern, *_), places in gathered.items()
    ]


def _of_key(entry: KeywordViolation | ValidationIssue) -> bool:
    """Return whether the issue is about a map's key; its value may have issues of its own."""
    return entry.keyword == KEYS if isinstance(entry, KeywordViolation) else entry.kind == "key"


def _keywords(entries: Sequence[KeywordViolation | ValidationIssue]) -> frozenset[object]:
    found = [entry for entry in entries if isinstance(entry, KeywordViolation)]
    if found:
        return frozenset((entry.keyword, _identity(entry.forms)) for entry in found)
    return frozenset((entry.detail, entry.reason) for entry in entries if isinstance(entry, ValidationIssue))


def _identity(choices: Forms) -> tuple[int, ...]:
    """Return what distinguishes the items of a list from those of a tuple, which each have their own schema."""
    return tuple(id(schema) for form in choices for schema in form.parts)


def _problem(
    refusal: Refusal,
    entries: Sequence[KeywordViolation | ValidationIssue],
    at: Sequence[tuple[Path, bool]],
    uncounted: int,
) -> Problem:
    """Return the one problem of a location: what the published schema refuses, or else the author's sentence."""
    places = tuple([refusal.look(path) for path, _ in at[:MAX_SAMPLES]])
    count = len(at) + uncounted
    found = [entry for entry in entries if isinstance(entry, KeywordViolation)]
    issues = [entry for entry in entries if isinstance(entry, ValidationIssue)]
    detail = next((issue.detail for issue in issues if issue.detail), None)
    words = refusal.words
    reasons = dict.fromkeys(words.of(issue.reason) for issue in issues if issue.reason)
    reason = words.either(list(reasons)) or None
    if found:
        listed = found[0].keyword == KEYS and allowed_values(found[0].forms)
        code = "enum" if listed else _CODES.get(found[0].keyword, "value")
        broken = tuple({finding.keyword: finding.bound for finding in found}.items())
        return Problem(code, broken, detail, places, found[0].forms, count, reason)
    code = "type" if issues[0].kind == "type" else "value"
    return Problem(code, (), detail, places, places[0].forms, count, reason, issues[0].expected_types)


def _leading(refusal: Refusal) -> Iterator[ValidationIssue]:
    """Yield the most helpful issues: no duplicates, none at a tie, of a union only those of the intended branch."""
    if len(refusal.outcome.issues) == 1 and not refusal.outcome.ties:
        yield refusal.outcome.issues[0]
        return
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
    """Return the first groups, and the number of the others.

    Only a pattern is kept of the others: a garbage collection among many live objects takes long.
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
    return [(tuple(members), counts[id(members)]) for members in groups], rest


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
    # A sentence about this value: the schema of values below or beside it is not the reason.
    # Ignored names are in arguments that the validator accepts, so nothing else is wrong there.
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
    if not found and not place.forms and issue.path and isinstance(issue.path[-1], int):
        # No schema is left for an item beyond those of a tuple: the list itself is too long.
        above = refusal.look(issue.path[:-1])
        return [each for each in refusal.once(_found, above) if each.path == above.path] or (issue,)
    if own:
        found = tuple(finding for finding in found if finding.path == issue.path)
    return (*found, issue) if own or not found else found


def _found(refusal: Refusal, place: Location) -> tuple[KeywordViolation, ...]:
    exact_integers = refusal.validator.exact_integers
    return findings(refusal.reader, place.forms, place.value, place.path, exact_integers=exact_integers)


def _union_above(refusal: Refusal, path: Path) -> Location | None:
    """Return the location of a union of objects above an issue; a validator reports issues of every branch."""
    above = map(refusal.look, _above(path))
    return next((place for place in above if refusal.once(_is_union_of_objects, place)), None)


def _is_union_of_objects(_refusal: Refusal, place: Location) -> bool:
    if len(place.forms) < 2 or not isinstance(place.value, Mapping):
        return False
    return sum(bool(form.properties) for form in place.forms) > 1


def _told(refusal: Refusal, ties: Sequence[Tie], problems: Sequence[Problem]) -> tuple[Violation, ...]:
    wanted = [*map(Wanted.of_tie, ties), *(_wanted(problem) for problem in problems[:MAX_WITH_FIXES])]
    # With so many violations a second fix for each is not worth its size and time.
    most = MAX_FIXES if len(problems) <= MAX_WITH_FIXES else 1
    offered = iter(fixes(refusal, wanted, most))
    codes = {issue.path: issue.error_code for issue in reversed(refusal.outcome.issues)}
    found: list[Violation] = []
    for tie in ties:
        words, own, hiding = ambiguous(refusal, tie), next(offered), above_private_key(refusal, tie.path)
        if hiding is not None:
            words, own = _veiled(refusal, words, refusal.look(tie.path).forms, hiding), ()
        found.append(_complete(refusal, words, hiding or tie.path, own, codes.get(tie.path)))
    begun: set[tuple[str, Path]] = set()
    for problem in problems:
        path = problem.places[0].path
        kind = (problem.code, path[:-1])
        own = next(offered, ())
        items = items_offered(own)
        told = replace(problem, items=items) if items else problem
        words = worded(refusal, told, at_length=kind not in begun)
        hiding = above_private_key(refusal, path) if problem.code != "unknown" else None
        if hiding is not None:
            hidden = _veiled(refusal, words, problem.forms, hiding)
            found.append(_complete(refusal, hidden, hiding, (), codes.get(path)))
            continue
        begun.add(kind)
        found.append(_complete(refusal, words, path, own, codes.get(path)))
    return tuple(found)


def _veiled(refusal: Refusal, found: Description, forms: Forms, hiding: Path) -> Description:
    """Return a violation for a value below a possibly secret key, without that key."""
    words = refusal.words
    place, wanted = where(hiding, words), _kinds_wanted(refusal, found, forms)
    if wanted:
        message = words("A value in {place} must be {expected}.", place=place, expected=wanted)
    else:
        message = words("A value in {place} is not accepted.", place=place)
    return Description(
        parameter(hiding),
        found.code,
        message,
        received_type=found.received_type,
        expected_types=found.expected_types,
    )


def _kinds_wanted(refusal: Refusal, found: Description, forms: Forms) -> str:
    if found.expected_types == refusal.of_schema(type_words, forms):
        return refusal.say(kinds_in_words, forms)
    return refusal.words.either([named_type(word, refusal.words) for word in found.expected_types])


def _wanted(problem: Problem) -> Wanted:
    """Return what fixes are needed for; without paths if some are not listed, or are names below a secret."""
    paths = tuple(place.path for place in problem.places)
    of_key = any(keyword == KEYS for keyword, _ in problem.broken)
    hidden = problem.code == "unknown" and any(place.secret for place in problem.places)
    return Wanted(problem.code, paths if problem.count == len(paths) and not hidden else (), of_key=of_key)


def _complete(
    refusal: Refusal, found: Description, path: Path, offered: tuple[Patch, ...], error_code: str | None
) -> Violation:
    """Return the whole violation; an undeclared name is its ``parameter`` only if the name itself is the issue."""
    of_name = found.code == "unknown"
    known = of_name or refusal.look(path[:1]).declared
    if of_name and path and isinstance(path[-1], str) and not _may_repeat(refusal, path):
        path = (*path[:-1], HIDDEN)
    bounded = tuple([part if isinstance(part, int) else shown(part, MAX_NAME) for part in path])
    return Violation(
        shown(pointer(bounded), MAX_POINTER),
        found.parameter if known else None,
        found.code,
        cut(found.message, MAX_MESSAGE),
        found.received_type,
        found.expected_types,
        found.received_value,
        found.has_received_value,
        found.did_you_mean,
        found.allowed_values,
        offered,
        error_code,
    )
