"""Test the outcome of each call in the tables of ``tests/rules/tables/``.

A row is a name, a schema, the arguments, what runs (``null`` if the call is refused), and the repairs: a rule and
where it applied, the parameter ``p`` unless a pointer follows.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tables import INTEGER, STRING, array, check, closed, records

from mcp_lenient import DEFAULT_RULES, Guard, Policy
from mcp_lenient.engine.contract import Contract

_TABLES = [
    (f"{file.stem}: {table['says']}", table)
    for file in sorted((Path(__file__).parent / "tables").glob("*.json"))
    for table in json.loads(file.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("table", [pytest.param(table, id=name) for name, table in _TABLES])
def test_each_row_has_its_outcome(table, subtests):
    """Each call is repaired, refused or kept as its row says."""
    assert table["rows"]
    for name, schema, sent, expected, repairs in table["rows"]:
        try:
            check(schema, sent, expected, records(repairs), **table.get("policy", {}))
        except AssertionError:
            with subtests.test(name):
                raise


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        pytest.param({"properties": {"p": array(INTEGER)}}, {"p": [{None: 5}]}, id="wrapped"),
        pytest.param(closed(query=STRING), {"Query": "a", 1: 5}, id="beside a name in another case"),
    ],
)
def test_a_call_with_a_key_that_is_not_a_string_is_refused(schema, sent):
    """A key that JSON cannot have is neither unwrapped nor passed over."""
    check(schema, sent, None, [])


def test_every_guard_stops_a_result_in_a_row():
    """No guard can be deleted, or added, without a row that shows what it stops."""
    stops = _Stops()
    for _, table in _TABLES:
        for _name, schema, sent, _expected, _repairs in table["rows"]:
            policy = Policy(**table.get("policy", {}))
            is_destructive = policy.is_destructive(marked=False, read_only=False)
            contract = Contract.of_schema(schema, policy, tool="tool", destructive=is_destructive)
            contract.decide(sent, stops)
    guards = ((rule, guard) for rule in DEFAULT_RULES for guard in (*rule.guards, rule.keeps))
    named = {(rule.name, guard.name) for rule, guard in guards if isinstance(guard, Guard)}
    assert sorted(named - stops.guards) == []


class _Stops:
    """Keeps which guards of which rules have stopped a result."""

    def __init__(self):
        self.guards = set()

    def applied(self, rule, _place, results):
        self.guards |= {(rule.name, guard.name) for _result, guard in results if guard is not None}

    def withheld(self, _path, _obstacle):
        pass

    def judged(self, _arguments, _faults, *, accepted):
        pass

    def decided(self, outcome):
        pass
