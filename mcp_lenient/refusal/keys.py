"""The keys of a map: what they must be, and the one that may be meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mcp_lenient.pointers import pointer
from mcp_lenient.redaction import exact, shown
from mcp_lenient.refusal.describe import (
    allowed,
    allowed_values,
    either,
    format_of,
    limit_words,
    one_of,
)
from mcp_lenient.refusal.near import near_at
from mcp_lenient.refusal.patches import Patch
from mcp_lenient.refusal.places import Forms, key_forms
from mcp_lenient.refusal.private_values import told_safely
from mcp_lenient.refusal.refused import Refusal
from mcp_lenient.refusal.trouble import MAX_DETAIL, Trouble, more_places, parameter, where
from mcp_lenient.types import Path, Violation

_LIMITS = ("minLength", "maxLength", "pattern")


def wrong_key(refusal: Refusal, trouble: Trouble, *, at_length: bool) -> Violation:
    """The violation for a key that a map does not take: what a key must be there, not what its value must be."""
    del at_length
    path = trouble.places[0].path
    parent = refusal.look(path[:-1])
    asked = _asked(trouble.forms)
    reason = told_safely(refusal, [parent], trouble.detail, MAX_DETAIL) or trouble.reason or ""
    words = f"{_quoted(path[-1])} is not accepted as a key of {where(parent.path)}{more_places(trouble)}: "
    if asked:
        # Of a key with a format the reason says what its words do not: which part of a date is wrong.
        why = f" ({reason})" if reason and any(map(format_of, trouble.forms)) else ""
        words += f"a key must {asked}{why}."
    else:
        words += f"{reason.rstrip('.')}." if reason else "the tool takes other keys only."
    near = near_keys(refusal, path)
    if near and trouble.count == 1:
        words += f" Did you mean {either([_quoted(name) for name in near])}?"
    return Violation(
        "",
        parameter(path),
        trouble.code,
        words,
        did_you_mean=tuple(map(shown, near)),
        allowed_values=refusal.say(allowed, trouble.forms),
    )


def _asked(choices: Forms) -> str:
    """What a key must be or do, after "must"; empty where the schema does not say it."""
    values = allowed_values(choices)
    if values:
        return f"be {one_of(values)}"
    if len(choices) != 1:
        return ""
    named = format_of(choices[0])
    bounds = ((name, part[name]) for part in choices[0] for name in _LIMITS if name in part)
    told = [limit_words("format", named)] if named else []
    return " and ".join(filter(None, (*told, *(limit_words(name, bound) for name, bound in bounds))))


def near_keys(refusal: Refusal, path: Path) -> list[str]:
    """The allowed keys that a wrong one comes near to and that were not sent, best first."""
    parent, sent = refusal.look(path[:-1]), path[-1]
    if not isinstance(parent.value, Mapping) or not isinstance(sent, str) or parent.secret:
        return []
    as_value = replace(parent, value=sent, forms=key_forms(refusal.schema, parent.forms))
    return [name for name in near_at(refusal, as_value) if name not in parent.value]


def key_fixes(refusal: Refusal, path: Path) -> Iterator[Patch]:
    """The entry under the one key that was likely meant; an entry is never left out."""
    near = near_keys(refusal, path)
    if len(near) == 1 and exact(path[-1]):
        yield ({"op": "move", "from": pointer(path), "path": pointer((*path[:-1], near[0]))},)


def _quoted(name: object) -> str:
    return f"'{shown(name)}'"
