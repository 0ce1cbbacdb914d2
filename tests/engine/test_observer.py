"""Test that an observer sees a decision and does not change it."""

from __future__ import annotations

import pytest

from mcp_lenient import Policy
from mcp_lenient.engine.contract import ToolContract
from mcp_lenient.engine.repair import Plan
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator

SCHEMA = {
    "type": "object",
    "properties": {"limit": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "additionalProperties": False,
}


class Notes:
    """An observer that records everything."""

    def __init__(self):
        self.made = []
        self.verdicts = []
        self.outcomes = []

    def applied(self, rule, site, value, made):
        self.made.append((rule.name, site.name, value, made))

    def judged(self, arguments, issues, *, accepted):
        self.verdicts.append((arguments, [issue.path for issue in issues], accepted))

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
    contract = ToolContract(Plan(SCHEMA, Policy()), PublishedSchemaValidator(SCHEMA))
    notes = Notes()
    assert contract.decide(sent, notes) == contract.decide(sent)
    assert notes.outcomes == [contract.decide(sent).status]


def test_observer_receives_rule_results_and_validator_answers():
    """An observer receives each rule's result and the validator's answers about the arguments."""
    contract = ToolContract(Plan(SCHEMA, Policy()), PublishedSchemaValidator(SCHEMA))
    notes = Notes()
    contract.decide({"limit": "5"}, notes)
    assert ("text_to_integer", "limit", "5", (5,)) in notes.made
    assert notes.verdicts == [({"limit": "5"}, [("limit",)], False), ({"limit": 5}, [], True)]
