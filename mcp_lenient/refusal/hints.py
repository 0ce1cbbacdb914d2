"""How to write a value right, or what to do without one: the sentence behind what is expected."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_lenient.refusal.describe import allowed_values, format_of, likely_kinds
from mcp_lenient.refusal.fixes import list_in_list, says_nothing
from mcp_lenient.refusal.places import Place
from mcp_lenient.refusal.refused import Refusal
from mcp_lenient.refusal.samples import example
from mcp_lenient.refusal.shapes import shape
from mcp_lenient.refusal.trouble import Trouble, where

_CONTAINERS = ("array", "object")


def hint(refusal: Refusal, trouble: Trouble, wanted: str) -> str:
    """How to write it right, where the type words alone are often misread: text in place of something else."""
    spot = trouble.places[0]
    without = leave_out(refusal, trouble)
    if without or spot.value is None:
        return without
    doubled = list_in_list(refusal, spot.path)
    if doubled is not None:
        return f" There is one pair of brackets too many around {where(doubled)}."
    kinds = {kind for form in trouble.forms for kind in likely_kinds(form)} - {"null"}
    if isinstance(spot.value, str):
        return _not_as_text(refusal, trouble, kinds)
    if not kinds.isdisjoint(_CONTAINERS):
        return _like(refusal, trouble, wanted)
    if isinstance(spot.value, (Mapping, list)):
        if any(format_of(form) == "json-string" for form in trouble.forms):
            return " Write it as JSON in a text."
        return _alone(trouble, kinds, refusal.say(example, trouble.forms))
    if isinstance(spot.value, float) and kinds == {"integer"}:
        return " Write it without a decimal point." if spot.value.is_integer() else " Send a whole number."
    return ""


def _not_as_text(refusal: Refusal, trouble: Trouble, kinds: set[str]) -> str:
    """How to write what came as a text and is none."""
    sample = refusal.say(example, trouble.forms)
    if sample is None:
        as_object = " Write it as a JSON object, not as text." if kinds == {"object"} else ""
        return refusal.say(shape, trouble.forms) or as_object
    if sample[0] in "[{":
        return f" Write it as JSON, like {sample}, not as text."
    return "" if allowed_values(trouble.forms, partly=True) else _in_digits(kinds, sample)


def _like(refusal: Refusal, trouble: Trouble, wanted: str) -> str:
    """A sample of a container, where its type words do not say all of its shape."""
    if "object" not in wanted and not any("prefixItems" in part for form in trouble.forms for part in form):
        return ""
    sample = refusal.say(example, trouble.forms)
    return f" Write it like {sample}." if sample else refusal.say(shape, trouble.forms)


def _alone(trouble: Trouble, kinds: set[str], sample: str | None) -> str:
    """What to send where one plain value came in a container."""
    if not kinds:
        return ""
    if allowed_values(trouble.forms):
        return " Send one of them."
    what = next(iter(kinds)) if len(kinds) == 1 else "value"
    place = trouble.places[0]
    if isinstance(place.value, Mapping) and not place.declared and isinstance(place.path[-1], str):
        return f" Send one {what} for each key of {where(place.path[:-1])}."
    like = f", like {sample}" if sample and kinds != {"string"} else ""
    return (
        f" Send the {what} alone{like}."
        if isinstance(trouble.places[0].value, Mapping)
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


def leave_out(refusal: Refusal, trouble: Trouble) -> str:
    """What to do without a value, where one was sent that says there is none."""
    if trouble.count > 1 or not all(map(says_nothing, [spot.value for spot in trouble.places])):
        return ""
    spot = trouble.places[0]
    if refusal.may_leave_out(spot):
        return " Leave it out if you have no value."
    nullable = any("null" in likely_kinds(form) for form in spot.forms)
    if spot.value is None:
        return " It cannot be left out: send a value." if _is_required(refusal, spot) else ""
    return " Send null if you have no value." if nullable else ""


def _is_required(refusal: Refusal, spot: Place) -> bool:
    return (
        spot.declared
        and bool(spot.path)
        and isinstance(spot.path[-1], str)
        and not refusal.may_leave_out(spot)
    )
