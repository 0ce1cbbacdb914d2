"""Keeps a tool author's sentence from carrying what must not be repeated to the caller."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from mcp_lenient.redaction import MAX_SCALAR, is_name, secret_name, sentence
from mcp_lenient.refusal.places import Forms, Place, Schema, child, forms, marked_secret, properties

if TYPE_CHECKING:
    from mcp_lenient.refusal.refused import Refusal
    from mcp_lenient.types import Path

MAX_LOOKED_AT = 2_000
MIN_SUBSTRING = 4


def told_safely(refusal: Refusal, places: Sequence[Place], detail: str | None, limit: int) -> str:
    """The author's sentence in one line; empty where it is about a secret, or repeats one from the call.

    A call too large to be searched for secrets gets no such sentence either.
    """
    if not detail or not all(map(refusal.may_show, places)):
        return ""
    if any(place.path and _holds_secrets(refusal, place) for place in places):
        return ""
    for text in _private_texts(refusal.schema, refusal.outcome.arguments, refusal.policy.secret):
        if text is None or _repeated(text, detail):
            return ""
    return sentence(detail, limit)


def _holds_secrets(refusal: Refusal, place: Place) -> bool:
    """Return whether a sentence about a container may be about a secret in it, of which it may say a part."""
    waiting: list[Any] = [place.value]
    for value in islice(waiting, MAX_LOOKED_AT):
        if isinstance(value, Mapping):
            if any(secret_name(key, refusal.policy.secret) for key in value):
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return len(waiting) > MAX_LOOKED_AT


def above_private_key(refusal: Refusal, path: Path) -> Path | None:
    """Return the place below which a key of a secret map stands in this path; None if there is none.

    The keys that a schema declares are published; any other key below a secret name may be a secret itself.
    """
    for length in range(1, len(path)):
        above, key = refusal.look(path[:length]), path[length]
        hides = isinstance(key, str) and (above.secret or not is_name(key))
        if hides and not any(key in properties(form) for form in above.forms):
            return path[:length]
    return None


def _repeated(text: str, detail: str) -> bool:
    if len(text) >= MIN_SUBSTRING:
        return text in detail or repr(text)[1:-1] in detail
    return bool(text) and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", detail) is not None


def _private_texts(
    root: Schema, arguments: Mapping[str, Any], secrets: frozenset[str]
) -> Iterator[str | None]:
    """Texts and numbers under secret or undeclared names, and long texts; ``None`` when there is too much."""
    waiting: list[tuple[Forms, Any, bool]] = [(forms(root, root), arguments, False)]
    looked_at = 0
    while waiting:
        choices, value, private = waiting.pop()
        looked_at += 1
        if looked_at > MAX_LOOKED_AT:
            yield None
            return
        if isinstance(value, (Mapping, list)):
            waiting.extend(_inside(root, choices, value, secrets, private=private or marked_secret(choices)))
        elif isinstance(value, str) and (private or marked_secret(choices) or len(value) > MAX_SCALAR):
            yield value
        elif isinstance(value, (int, float)) and (private or marked_secret(choices)):
            yield _digits(value)


def _digits(value: float) -> str:
    # Python refuses to write an integer of thousands of digits; no sentence holds one either.
    return (
        ""
        if isinstance(value, bool) or (isinstance(value, int) and value.bit_length() > 4_000)
        else repr(value)
    )


def _inside(
    root: Schema,
    choices: Forms,
    value: Mapping[str, Any] | list[Any],
    secrets: frozenset[str],
    *,
    private: bool,
) -> Iterator[tuple[Forms, Any, bool]]:
    declared = {name for form in choices for name in properties(form)}
    named = isinstance(value, Mapping)
    for key, entry in value.items() if isinstance(value, Mapping) else enumerate(value):
        below = tuple(form for choice in choices for form in child(root, choice, key))
        if private and named and isinstance(key, str) and key not in declared:
            yield (), key, True
        yield below, entry, private or (named and (key not in declared or secret_name(key, secrets)))
