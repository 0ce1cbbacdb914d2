"""Test partial repairs of a refused call: certain repairs are made, the rest stays unchanged."""

from __future__ import annotations

from typing import Annotated, Any

from decisions import decide, records, refusals
from pydantic import BeforeValidator
from strategies import exactly
from tables import BOOLEAN, INTEGER, closed, each_row, union

from mcp_lenient import Decision

EITHER = union(closed("x", x=INTEGER), closed("x", x=BOOLEAN))


def _refused(schema: Any, value: Any) -> Decision:
    """Return the decision about a value, next to another value that no rule can repair."""
    schema = closed("wrong", p=schema, wrong=INTEGER)
    outcome = decide(schema, {"p": value, "wrong": "x"})
    assert outcome.status == "refused"
    assert outcome.arguments.pop("wrong") == "x"  # type: ignore[attr-defined]
    return outcome


@each_row(("schema", "sent", "expected", "repairs"))
def test_certain_parts_are_repaired(schema, sent, expected, repairs):
    """In a value that stays wrong, parts with one candidate are repaired."""
    outcome = _refused(schema, sent)
    assert exactly(outcome.arguments) == exactly({"p": expected})
    assert records(outcome) == repairs


def test_ties_are_reported_at_the_parameter():
    """If every candidate of the whole call is invalid, ties are reported where the candidates differ."""
    schema = {**closed("p", p=EITHER, n=INTEGER, q=INTEGER), "dependentRequired": {"p": ["q"]}}
    outcome = decide(schema, {"p": {"x": "1"}, "n": "5"})
    assert (outcome.status, outcome.arguments) == ("refused", {"p": {"x": "1"}, "n": 5})
    assert "ambiguous /p" in refusals(outcome)


def test_item_accepted_by_the_author_stays_unchanged():
    """In a refused list, an item that only the author's validator accepts stays unchanged."""

    def switches(
        p: list[Annotated[bool, BeforeValidator(lambda value: "on" if value == "no" else value)]],
    ) -> None:
        """Takes switches."""

    outcome = decide(switches, {"p": ["no", 7]})
    assert (outcome.status, outcome.arguments, outcome.repairs) == ("refused", {"p": ["no", 7]}, ())


def test_a_tie_in_an_object_does_not_block_its_other_names():
    """If a value in an object has two readings, it is reported, and the other values of the object are repaired."""
    sent = {"one": {"x": "1"}, "n": "5"}
    outcome = _refused(closed("one", "n", one=EITHER, n=INTEGER), sent)
    assert outcome.arguments == {"p": {"one": {"x": "1"}, "n": 5}}
    assert "ambiguous /p/one" in refusals(outcome)
