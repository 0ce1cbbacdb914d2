"""Test partial repairs of a refused call: certain repairs are made, the rest stays unchanged."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from decisions import decide, records, refusals
from pydantic import BeforeValidator
from strategies import exactly
from tables import BOOLEAN, INTEGER, NUMBER, STRING, array, closed, each_row, enum, nullable, union

from mcp_lenient import Decision

EITHER = union(closed("x", x=INTEGER), closed("x", x=BOOLEAN))


def _refused(schema: Any, value: Any) -> Decision:
    """Return the decision about a value, next to another value that no rule can repair."""
    schema = closed("wrong", p=schema, wrong=INTEGER)
    outcome = decide(schema, {"p": value, "wrong": "x"})
    assert outcome.status == "refused"
    assert outcome.arguments.pop("wrong") == "x"  # type: ignore[attr-defined]
    return outcome


@each_row(
    ("schema", "sent", "expected", "repairs"),
    [
        pytest.param(
            closed("max", "m", max=INTEGER, m=INTEGER),
            {"Max": "5", "m": "x"},
            {"max": 5, "m": "x"},
            ["rename_case /p/Max string string", "text_to_integer /p/Max string integer"],
            id="name next to a wrong value",
        ),
        pytest.param(
            closed(n=INTEGER, m=INTEGER),
            {"n": None, "m": "x"},
            {"m": "x"},
            ["null_to_absent /p/n null absent"],
            id="dropped name next to a wrong value",
        ),
        pytest.param(
            {**NUMBER, "maximum": 5},
            "6.5",
            6.5,
            ["text_to_number /p string number"],
            id="the number in a text, beyond a bound",
        ),
        pytest.param(
            {**INTEGER, "maximum": 5},
            "6",
            6,
            ["text_to_integer /p string integer"],
            id="the integer in a text, beyond a bound",
        ),
        pytest.param(
            nullable(closed("n", "m", n=INTEGER, m=INTEGER)),
            {"n": "5", "m": "x"},
            {"n": 5, "m": "x"},
            ["text_to_integer /p/n string integer"],
            id="in an object that may be null",
        ),
        pytest.param(
            nullable(array(INTEGER)),
            ["5", "x"],
            [5, "x"],
            ["text_to_integer /p/0 string integer"],
            id="in a list that may be null",
        ),
        pytest.param(
            union(closed("n", n=INTEGER), closed("m", m=INTEGER)),
            {"n": "x"},
            {"n": "x"},
            [],
            id="ambiguous union",
        ),
        pytest.param(
            array(INTEGER),
            '["5", "x"]',
            [5, "x"],
            ["json_text_to_array /p string array", "text_to_integer /p/0 string integer"],
            id="in the text of a list",
        ),
        pytest.param(
            nullable(closed("n", "m", n=INTEGER, m=INTEGER)),
            '{"n": "5", "m": "x"}',
            {"n": 5, "m": "x"},
            ["json_text_to_object /p string object", "text_to_integer /p/n string integer"],
            id="in the text of an object that may be null",
        ),
        pytest.param(
            nullable({**INTEGER, "maximum": 5}),
            "6",
            6,
            ["text_to_integer /p string integer"],
            id="the integer in a text, nullable",
        ),
        pytest.param(enum("a", "b"), "c", "c", [], id="text not in the enum"),
        pytest.param(array(STRING), [5, {}], [5, {}], [], id="number in a list with other errors"),
    ],
)
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
