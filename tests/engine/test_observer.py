"""Test that an observer sees a decision and does not change it."""

from __future__ import annotations

import pytest
from decisions import contract
from tables import INTEGER, STRING, array, closed

SCHEMA = closed(limit=INTEGER, tags=array(STRING))


class Notes:
    """An observer that records everything."""

    def __init__(self):
        self.results = []
        self.verdicts = []
        self.outcomes = []
        self.withheld_at = []

    def applied(self, rule, place, results):
        self.results.append((rule.name, place.name, results))

    def withheld(self, path, obstacle):
        self.withheld_at.append((path, obstacle.name))

    def judged(self, arguments, faults, *, accepted):
        self.verdicts.append((arguments, [fault.path for fault in faults], accepted))

    def decided(self, outcome):
        self.outcomes.append(outcome.status)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"limit": 5}, id="accepted"),
        pytest.param({"limit": "5", "tags": "a"}, id="repaired"),
        pytest.param({"limit": "five", "tags": "a", "more": 1}, id="refused"),
    ],
)
def test_observer_does_not_change_the_decision(sent):
    """The decision is the same with and without an observer."""
    asked = contract(SCHEMA)
    notes = Notes()
    assert asked.decide(sent, notes) == asked.decide(sent)
    assert notes.outcomes == [asked.decide(sent).status]


def test_observer_receives_rule_results_and_validator_answers():
    """An observer receives each rule's result, the guard that stops it, and the validator's answers about the arguments."""
    asked = contract(SCHEMA)
    notes = Notes()
    asked.decide({"limit": "1.000"}, notes)
    stopped = [results for name, _, results in notes.results if name == "text_to_integer"]
    assert [(result, guard.name) for ((result, guard),) in stopped] == [(1, "no_thousands")]
    notes = Notes()
    asked.decide({"limit": "5"}, notes)
    assert ("text_to_integer", "limit", [(5, None)]) in notes.results
    assert notes.verdicts == [({"limit": "5"}, [("limit",)], False), ({"limit": 5}, [], True)]
