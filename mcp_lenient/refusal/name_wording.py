"""The lines about names: a required one that was not sent, and one that nobody declared."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_lenient.redaction import HIDDEN, fits_json, is_name, shown
from mcp_lenient.refusal.describe import (
    MAX_VALUES,
    allowed_values,
    description,
    either,
    expected,
    listed,
    type_words,
)
from mcp_lenient.refusal.levels import (
    Wrapped,
    another_spelling,
    coming_home,
    home,
    is_usual_wrapper,
    wrapped,
)
from mcp_lenient.refusal.places import Place, fits, meant, properties
from mcp_lenient.refusal.refused import LAST_RESORT, Refusal, likely_name
from mcp_lenient.refusal.shapes import shape
from mcp_lenient.refusal.trouble import Trouble, more_places, parameter, where
from mcp_lenient.types import Path, Violation
from mcp_lenient.values import same_json

MAX_NAMES = 20
MAX_NAMES_TEXT = 400
MAX_NEAR = 3
MAX_COMPARED = 100_000


def missing(refusal: Refusal, trouble: Trouble, *, at_length: bool) -> Violation:
    """The violation for a required name, with the name or the level it may have been sent at."""
    spot = trouble.places[0]
    choices = spot.forms or trouble.forms
    parent = refusal.look(spot.path[:-1])
    words = _lacks(refusal, trouble, parent)
    about = description(spot.forms)
    if about:
        words += f" It means: {about.rstrip('.')}."
    if at_length and not refusal.outcome.arguments:
        words = f"the arguments arrived empty ({{}}). {words}"
    return Violation(
        "",
        parameter(spot.path),
        "missing",
        words + _sent_elsewhere(refusal, parent, spot),
        expected_types=refusal.say(type_words, choices),
        allowed_values=allowed_values(choices)[:MAX_VALUES],
    )


def _lacks(refusal: Refusal, trouble: Trouble, parent: Place) -> str:
    spot = trouble.places[0]
    choices = spot.forms or trouble.forms
    if isinstance(spot.path[-1], int):
        whole = refusal.say(expected, parent.forms)
        return f"{where(spot.path)} is missing{more_places(trouble)}: {where(parent.path)} must be {whole}."
    wanted = refusal.say(expected, choices)
    words = f"{where(spot.path)} is required but was not sent{more_places(trouble)}."
    if wanted:
        words += f" It must be {wanted}.{refusal.say(shape, choices)}"
    return words


def _sent_elsewhere(refusal: Refusal, parent: Place, spot: Place) -> str:
    """Where what is missing may have been sent instead; empty when nowhere."""
    name = str(spot.path[-1])
    found = wrapped(refusal) if not parent.path else None
    if found is not None and name in found.names:
        inside = where(found.path) if is_name(str(found.path[0])) else "the text of a name"
        return f" It was sent inside {inside}: send it at the top."
    fields = coming_home(refusal, spot)
    if fields:
        inside = listed([_quoted(field) for field in list(fields)[:MAX_NEAR]])
        return f" Send {inside} inside it{_as(fields)}."
    if parent.path and name in refusal.names_at(refusal.look(())).extra:
        return f" It was sent at the top: send it inside {where(parent.path)}."
    names = refusal.names_at(parent)
    meant = [
        other
        for other in names.extra
        if (found is None or other not in (found.path[0], *found.beside))
        and _may_stand(refusal, parent, other, spot, likely_name(names, other, name))
    ]
    if not meant:
        return ""
    return f" If {either([where((*parent.path, other)) for other in meant[:MAX_NEAR]])} is meant, send it under this name."


def _as(fields: Mapping[str, Path]) -> str:
    """The fields' own names, where they were sent under longer ones."""
    own = [str(path[-1]) for path in fields.values()]
    if own == list(fields):
        return ""
    return f", as {listed([_quoted(name) for name in own[:MAX_NEAR]])}"


def _may_stand(refusal: Refusal, parent: Place, name: str, spot: Place, likely: float) -> bool:
    """Whether a name was likely meant; where nothing but its being alone says so, its value must fit as well."""
    if likely > LAST_RESORT:
        return True
    if likely <= 0:
        return False
    if not isinstance(parent.value, Mapping) or not spot.forms:
        return True
    value, exact_integers = parent.value.get(name), refusal.judge.exact_integers
    return any(fits(form, value, exact_integers=exact_integers) for form in spot.forms)


def unknown(refusal: Refusal, trouble: Trouble, *, at_length: bool) -> Violation:
    """The violation for an undeclared name, with the names that may be meant."""
    path = trouble.places[0].path
    parent = refusal.look(path[:-1])
    inside = f" in {where(parent.path)}" if parent.path else ""
    if isinstance(path[-1], str) and not is_name(path[-1]):
        words = f"a name{inside} is not that of a parameter, but a text: send each value under its parameter's name."
        return Violation("", HIDDEN, "unknown", f"{words} {_accepted(parent)}" if at_length else words)
    hint, near = _meant(refusal, parent, path)
    words = f"unknown parameter {_quoted(path[-1])}{inside}{more_places(trouble)}.{hint}"
    if at_length:
        words += f" {_accepted(parent)}"
    return Violation("", parameter(path), "unknown", words, did_you_mean=tuple(map(shown, near)))


def _meant(refusal: Refusal, parent: Place, path: Path) -> tuple[str, list[str]]:
    """What an undeclared name was likely meant for, in a sentence, and the names that come near it."""
    sent = path[-1]
    owner = _owner(refusal, path)
    if owner is not None:
        return f" It stands for {_quoted(owner)}: send that one, once.", [owner]
    twin = another_spelling(refusal, parent, sent)
    if twin is not None:
        return _one_of_two(parent, sent, twin), [twin]
    found = wrapped(refusal) if not parent.path else None
    if found is not None and sent == found.path[0]:
        return _unwrap(found), []
    if found is not None and sent in found.beside:
        return " It is no argument of the tool: leave it out.", []
    near = _near_names(refusal, parent, sent)
    belongs = home(refusal, parent, sent)
    if belongs is not None and (not near or belongs[-2] in refusal.names_at(parent).lacking):
        own = "" if belongs[-1] == sent else f", as {_quoted(belongs[-1])}"
        return f" It belongs inside {where(belongs[:-1])}{own}.", []
    if near:
        return f" Did you mean {either([_quoted(name) for name in near])}?", near
    if (
        not parent.path
        and isinstance(parent.value, Mapping)
        and is_usual_wrapper(sent, parent.value.get(sent))
    ):
        return f" The arguments go at the top, not inside {_quoted(sent)}.", []
    return "", []


def _one_of_two(parent: Place, sent: object, twin: str) -> str:
    values = parent.value
    same = fits_json(values, MAX_COMPARED) and same_json(values[sent], values[twin])
    which = "" if same else ", with the value that is meant"
    return f" It is another spelling of {_quoted(twin)}, which was sent as well: send {_quoted(twin)} only{which}."


def _unwrap(found: Wrapped) -> str:
    names = found.names[:MAX_NEAR]
    rest = len(found.names) - len(names)
    told = [_quoted(name) for name in names] + ([f"{rest} more"] if rest else [])
    together = listed(told)
    as_text = " as JSON text" if found.in_text else ""
    return f" It holds arguments of the tool{as_text}: send {together} at the top, not inside {where(found.path)}."


def _owner(refusal: Refusal, path: Path) -> str | None:
    """The parameter that a name is declared to stand for."""
    if len(path) != 1:
        return None
    return next((name for name, others in refusal.policy.aliases.items() if path[0] in others), None)


def _quoted(name: object) -> str:
    return f"'{shown(name)}'"


def _near_names(refusal: Refusal, parent: Place, sent: object) -> list[str]:
    if not isinstance(sent, str):
        return []
    names = refusal.names_at(parent)
    scored = [(likely_name(names, sent, name), name) for name in names.absent]
    likely = sorted((entry for entry in scored if entry[0] > 0), key=lambda entry: -entry[0])
    spots = {name: refusal.look((*parent.path, name)) for _, name in likely}
    return [name for how, name in likely if _may_stand(refusal, parent, sent, spots[name], how)][:MAX_NEAR]


def _accepted(parent: Place) -> str:
    names = list(dict.fromkeys(name for form in meant(parent) for name in properties(form)))
    if not names:
        return "No parameters are accepted here."
    quoted = [_quoted(name) for name in names[:MAX_NAMES]]
    while sum(map(len, quoted)) > MAX_NAMES_TEXT:
        quoted.pop()
    rest = len(names) - len(quoted)
    return f"Accepted are {', '.join(quoted)}{f' and {rest} more' if rest else ''}."
