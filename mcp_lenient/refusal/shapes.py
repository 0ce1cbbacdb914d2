"""The shape of an object in a sentence: what it requires, and what it may have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_lenient.redaction import exact
from mcp_lenient.refusal.describe import expected, likely_kinds, listed
from mcp_lenient.refusal.places import Form, Forms, Schema, child, properties, required

MAX_NAMES = 12
MAX_TEXT = 400
MAX_BRANCHES = 4


def shape(root: Schema, choices: Forms) -> str:
    """The properties of the one object, or of the items of the one list, that is expected; or nothing.

    >>> point = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    >>> shape({}, ((point,),))
    " It has 'x' (an integer)."
    """
    free = [form for form in choices if likely_kinds(form) != ("null",)]
    if 1 < len(free) <= MAX_BRANCHES and all(map(properties, free)):
        return _branches(root, free)
    if len(free) != 1:
        return ""
    if properties(free[0]):
        return _told(root, free[0], "It has")
    items = child(root, free[0], 0) if likely_kinds(free[0]) == ("array",) else ()
    if len(items) == 1 and properties(items[0]):
        return _told(root, items[0], "Each item has")
    return (
        _branches(root, items, "Each item has")
        if 1 < len(items) <= MAX_BRANCHES and all(map(properties, items))
        else ""
    )


def _branches(root: Schema, branches: Sequence[Form], opening: str = "It has") -> str:
    """What each object of a union requires: their other properties would make it long."""
    told: list[str] = []
    for form in branches:
        needed = [name for name in required(form) if exact(name) and name in properties(form)]
        if not needed:
            return ""
        told.append(listed(list(_within(root, form, needed, MAX_NAMES // len(branches)))))
    return f" {opening} either {', or '.join(told)}."


def _told(root: Schema, form: Form, opening: str) -> str:
    names = [name for name in properties(form) if exact(name)]
    needed = [name for name in required(form) if name in names]
    others = [name for name in names if name not in set(needed)]
    told_needed = list(_within(root, form, needed))
    told_others = list(_within(root, form, others, MAX_NAMES - len(told_needed)))
    may_have = opening.replace("has", "may have")
    parts = [f"{opening} {listed(told_needed)}"] if told_needed else []
    if told_others:
        parts.append(f"may have {listed(told_others)}" if parts else f"{may_have} {listed(told_others)}")
    return f" {', and '.join(parts)}." if parts else ""


def _within(root: Schema, form: Form, names: list[str], most: int = MAX_NAMES) -> Iterator[str]:
    used = 0
    for at, name in enumerate(names):
        kind = expected(root, child(root, form, name), brief=True)
        text = f"'{name}'{f' ({kind})' if kind else ''}"
        used += len(text)
        if at >= most or used > MAX_TEXT:
            yield f"{len(names) - at} more"
            return
        yield text
