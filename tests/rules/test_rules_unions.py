"""Test unions and discriminators."""

from __future__ import annotations

from typing import Any

import jsonpatch
import pytest
from decisions import decide, refusals
from tables import (
    BOOLEAN,
    INTEGER,
    array,
    closed,
    each_row,
    tied_values,
    union,
)

EITHER = union(closed("x", x=INTEGER), closed("x", x=BOOLEAN))


@each_row(
    ("schema", "sent", "readings"),
    [
        pytest.param(EITHER, {"x": "1"}, [{"x": 1}, {"x": True}], id="objects"),
        pytest.param(union(array(INTEGER), array(BOOLEAN)), ["1"], [[1], [True]], id="lists"),
    ],
)
def test_tie_reports_both_candidates(schema: Any, sent: Any, readings: list[Any]) -> None:
    """Law 3: two candidates of equal cost are refused, and both are reported."""
    named = tied_values(closed("p", "n", p=schema, n=INTEGER), {"p": sent, "n": 1})["p"]
    assert len(named) == 2
    assert all(reading in named for reading in readings)


@each_row(("schema", "sent", "kept"))
def test_tie_of_whole_values_is_reported_at_the_parameter(schema: Any, sent: Any, kept: Any) -> None:
    """If the readings tie as a whole, the parameter is ambiguous, and none is offered that the tool refuses."""
    decision = decide(schema, sent)
    assert refusals(decision) == [f"ambiguous /{name}" for name in schema["required"]]
    for patch in decision.violations[0].fixes:
        assert not decide(schema, jsonpatch.apply_patch(sent, [*patch])).violations
    assert decision.arguments == kept
