"""The lines about names: a required one that was not sent, and one that nobody declared."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_lenient.redaction import shown
from mcp_lenient.refusal.describe import MAX_VALUES, allowed_values, description, either, expected, type_words
from mcp_lenient.refusal.fixes import LAST_RESORT, Refusal, likely_name, names_at
from mcp_lenient.refusal.places import Place, fits, properties
from mcp_lenient.refusal.trouble import Trouble, parameter, where
from mcp_lenient.types import Path, Violation

MAX_NAMES = 20
MAX_NAMES_TEXT = 400
MAX_NEAR = 3


def missing(refusal: Refusal, trouble: Trouble, *, at_length: bool) -> Violation:
    """The violation for a required name, with the name it may have been sent under."""
    spot = trouble.places[0]
    wanted = expected(refusal.schema, spot.forms or trouble.forms)
    words = f"{where(spot.path)} is required but was not sent{_more(trouble)}."
    if wanted:
        words += f" It must be {wanted}."
    about = description(spot.forms)
    if about:
        words += f" It means: {about.rstrip('.')}."
    if at_length and not refusal.outcome.arguments:
        words = f"the arguments arrived empty ({{}}). {words}"
    parent = refusal.look(spot.path[:-1])
    names = names_at(parent)
    meant = [
        name
        for name in names.extra
        if _may_stand(refusal, parent, name, spot, likely_name(names, name, str(spot.path[-1])))
    ]
    if meant:
        words += f" If {either([where((*parent.path, name)) for name in meant[:MAX_NEAR]])} is meant, send it under this name."
    return Violation(
        "",
        parameter(spot.path),
        "missing",
        words,
        expected_types=type_words(refusal.schema, spot.forms or trouble.forms),
        allowed_values=allowed_values(spot.forms or trouble.forms)[:MAX_VALUES],
    )


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
    owner = _owner(refusal, path)
    near = [owner] if owner is not None else _near_names(refusal, parent, path[-1])
    inside = f" in {where(parent.path)}" if parent.path else ""
    words = f"unknown parameter {_quoted(path[-1])}{inside}{_more(trouble)}."
    if owner is not None:
        words += f" It stands for {_quoted(owner)}: send that one, once."
    elif near:
        words += f" Did you mean {either([_quoted(name) for name in near])}?"
    if at_length:
        words += f" {_accepted(parent)}"
    return Violation("", parameter(path), "unknown", words, did_you_mean=tuple(map(shown, near)))


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
    names = names_at(parent)
    scored = [(likely_name(names, sent, name), name) for name in names.absent]
    likely = sorted((entry for entry in scored if entry[0] > 0), key=lambda entry: -entry[0])
    spots = {name: refusal.look((*parent.path, name)) for _, name in likely}
    return [name for how, name in likely if _may_stand(refusal, parent, sent, spots[name], how)][:MAX_NEAR]


def _accepted(parent: Place) -> str:
    names = list(dict.fromkeys(name for form in parent.forms for name in properties(form)))
    if not names:
        return "No parameters are accepted here."
    quoted = [_quoted(name) for name in names[:MAX_NAMES]]
    while sum(map(len, quoted)) > MAX_NAMES_TEXT:
        quoted.pop()
    rest = len(names) - len(quoted)
    return f"Accepted are {', '.join(quoted)}{f' and {rest} more' if rest else ''}."


def _more(trouble: Trouble) -> str:
    return f" (and so at {trouble.count - 1} more places)" if trouble.count > 1 else ""
