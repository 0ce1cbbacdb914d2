"""The line a violation is told in: where, what came, what is expected, what may be meant, how to write it."""

from __future__ import annotations

from typing import Any

from mcp_lenient.json_text import looks_like_json
from mcp_lenient.redaction import cut, in_json, short_scalar
from mcp_lenient.refusal.describe import (
    allowed,
    either,
    expected,
    likely_kinds,
    limit_words,
    type_words,
)
from mcp_lenient.refusal.fixes import showable
from mcp_lenient.refusal.hints import hint, leave_out
from mcp_lenient.refusal.keys import wrong_key
from mcp_lenient.refusal.name_wording import missing, unknown
from mcp_lenient.refusal.near import near_at
from mcp_lenient.refusal.places import KEYS, Place, properties
from mcp_lenient.refusal.private_values import told_safely
from mcp_lenient.refusal.refused import Refusal
from mcp_lenient.refusal.trouble import MAX_DETAIL, Trouble, is_or_are, named, parameter, where
from mcp_lenient.types import Tie, Violation
from mcp_lenient.values import json_type

MAX_TIE = 800
MAX_NEAR = 3
_CONTAINERS = ("array", "object")


def worded(refusal: Refusal, trouble: Trouble, *, at_length: bool) -> Violation:
    """The violation without its pointer and fixes; ``at_length`` adds what need be said once only."""
    if any(keyword == KEYS for keyword, _ in trouble.broken):
        return wrong_key(refusal, trouble, at_length=at_length)
    tell = _TELLERS.get(trouble.code, _wrong_value) if trouble.broken else _wrong_value
    return tell(refusal, trouble, at_length=at_length)


def _too_large(refusal: Refusal, trouble: Trouble, *, at_length: bool) -> Violation:
    del refusal, at_length
    path = trouble.places[0].path
    return Violation(
        "",
        parameter(path),
        "size",
        f"{where(path)} {is_or_are(trouble)} too large or too deeply nested. Send less at once.",
    )


def _wrong_type(refusal: Refusal, trouble: Trouble, *, at_length: bool) -> Violation:
    del at_length
    wanted = refusal.say(expected, trouble.forms)
    if not wanted:
        return _wrong_value(refusal, trouble, at_length=False)
    words = f"{_subject(trouble)} be {wanted}, but got {_received(refusal, trouble)}.{hint(refusal, trouble, wanted)}"
    return _about_value(refusal, trouble, words)


def _wrong_enum(refusal: Refusal, trouble: Trouble, *, at_length: bool) -> Violation:
    del at_length
    words = f"{_subject(trouble)} be {refusal.say(expected, trouble.forms)}, but got {_received(refusal, trouble)}."
    near = refusal.once(near_at, trouble.places[0])
    if near and trouble.count == 1 and not trouble.places[0].secret:
        words += f" Did you mean {either([in_json(value) for value in near])}?"
    words += leave_out(refusal, trouble)
    return _about_value(refusal, trouble, words, near=tuple(near))


def _wrong_value(refusal: Refusal, trouble: Trouble, *, at_length: bool) -> Violation:
    del at_length
    asked = " and ".join(filter(None, (limit_words(keyword, bound) for keyword, bound in trouble.broken)))
    detail = told_safely(refusal, trouble.places, trouble.detail, MAX_DETAIL)
    # What the schema says of a place is told already, so that a reason of its type would say the contrary.
    reason = None if trouble.code == "type" and trouble.forms else trouble.reason
    why = detail or reason
    if asked:
        more = f" ({reason})" if reason and trouble.code == "format" and trouble.count == 1 else ""
        words = f"{_subject(trouble)} {asked}, but got {_received(refusal, trouble)}{_size(trouble)}{more}."
    elif why:
        words = (
            f"{named(trouble)} {is_or_are(trouble)} not accepted: {why.rstrip('.')}{_got(refusal, trouble)}."
        )
    else:
        words = f"{named(trouble)} {is_or_are(trouble)} not accepted by the tool{_as_published(trouble)}; got {_received(refusal, trouble)}.{_formats(trouble)}"
    return _about_value(refusal, trouble, words + leave_out(refusal, trouble))


def _got(refusal: Refusal, trouble: Trouble) -> str:
    echoed = trouble.count == 1 and _may_echo(refusal, trouble.places[0])
    return f"; got {_received(refusal, trouble)}" if echoed else ""


def _as_published(trouble: Trouble) -> str:
    """Said of a type that the published schema has nothing against, so that nobody can satisfy the two."""
    return ", although its schema asks for this" if trouble.code == "type" and trouble.forms else ""


def _formats(trouble: Trouble) -> str:
    if trouble.code == "type":
        return ""
    names = [
        schema["format"] for form in trouble.forms for schema in form if isinstance(schema.get("format"), str)
    ]
    return f" It must {limit_words('format', names[0])}." if names else ""


_TELLERS = {
    "missing": missing,
    "unknown": unknown,
    "type": _wrong_type,
    "enum": _wrong_enum,
    "size": _too_large,
}


def _about_value(refusal: Refusal, trouble: Trouble, words: str, near: tuple[Any, ...] = ()) -> Violation:
    spot = trouble.places[0]
    types = {json_type(entry.value) for entry in trouble.places if entry.present}
    echoed = trouble.count == 1 and _may_echo(refusal, spot)
    return Violation(
        "",
        parameter(spot.path),
        trouble.code,
        words,
        received_type=types.pop() if len(types) == 1 else None,
        expected_types=refusal.say(type_words, trouble.forms),
        received_value=spot.value if echoed else None,
        has_received_value=echoed,
        did_you_mean=near,
        allowed_values=refusal.say(allowed, trouble.forms),
    )


def _may_echo(refusal: Refusal, spot: Place) -> bool:
    if isinstance(spot.value, str) and looks_like_json(spot.value):
        return False
    may_show = refusal.may_show(spot) or _is_in_map(refusal, spot)
    if not (spot.present and may_show and short_scalar(spot.value)):
        return False
    container = any(kind in _CONTAINERS for form in spot.forms for kind in likely_kinds(form))
    return not (isinstance(spot.value, str) and container)


def _is_in_map(refusal: Refusal, spot: Place) -> bool:
    """Whether a number or boolean is an entry of a map, whose names are all the caller's: none is misspelt.

    A text may be a secret under a name that does not tell.
    """
    parent = refusal.look(spot.path[:-1])
    named = any(properties(form) for form in parent.forms)
    shown = refusal.policy.echo_values and parent.declared and not spot.secret
    return shown and bool(spot.forms) and not named and isinstance(spot.value, (bool, int, float))


def _subject(trouble: Trouble) -> str:
    return f"{named(trouble)} must each" if trouble.count > 1 else f"{named(trouble)} must"


def _received(refusal: Refusal, trouble: Trouble) -> str:
    if trouble.count > 1:
        kinds = dict.fromkeys(json_type(spot.value) for spot in trouble.places)
        return either([_kind_words(kind) for kind in kinds])
    spot = trouble.places[0]
    kind = json_type(spot.value)
    if kind == "null" or not _may_echo(refusal, spot):
        return _kind_words(kind)
    return f"the {kind} {in_json(spot.value)}"


def _kind_words(kind: str) -> str:
    return kind if kind == "null" else f"{'an' if kind[0] in 'aio' else 'a'} {kind}"


def _size(trouble: Trouble) -> str:
    spot = trouble.places[0]
    units = {"minLength": "characters", "maxLength": "characters", "minItems": "items", "maxItems": "items"}
    unit = next((units[keyword] for keyword, _ in trouble.broken if keyword in units), None)
    if unit is None or trouble.count > 1 or not isinstance(spot.value, (str, list)):
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
