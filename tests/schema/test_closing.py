"""Test which objects a closed schema forbids other names in, and which it leaves open."""

from __future__ import annotations

from typing import Any

from tables import STRING, Json, each_row, opened

from mcp_lenient import Policy, normalize

_PERSON = opened(name=STRING)
_DEFS: Json = {"$defs": {"Person": _PERSON}}


def _accepts(schema: Json, value: Any) -> tuple[bool, bool]:
    """Return whether the schema accepts a value of its property ``p``, as written and when closed."""
    whole = {**opened(p=schema), **_DEFS}
    policies = (Policy(rules=()), Policy(rules=(), closed=True))
    one, other = (not normalize(whole, {"p": value}, each).violations for each in policies)
    return one, other


@each_row(("schema", "value"))
def test_an_unknown_name_is_refused(schema: Json, value: Any) -> None:
    """A closed schema forbids undeclared names in an object that is not explicitly open."""
    assert _accepts(schema, value) == (True, False)


@each_row(("schema", "value"))
def test_explicitly_allowed_names_stay_allowed(schema: Json, value: Any) -> None:
    """An object that allows other names, or whose parts declare them, is not closed."""
    assert _accepts(schema, value) == (True, True)


def test_closing_changes_no_input() -> None:
    """The published schema is never changed."""
    published = opened(p=_PERSON)
    normalize(published, {"p": {"x": 1}}, Policy(closed=True))
    assert published == opened(p=opened(name=STRING))


def test_recursion_ends() -> None:
    """A recursive schema is closed in finite time."""
    node: Json = {**opened(next={"$ref": "#/$defs/Node"}), "allOf": [{"$ref": "#/$defs/Node"}]}
    schema = {**opened(p={"$ref": "#/$defs/Node"}), "$defs": {"Node": node}}
    assert not normalize(schema, {"p": {"next": {}}}, Policy(closed=True)).violations
