"""Test how candidates are combined and compared."""

from __future__ import annotations

import pytest

from mcp_lenient.engine.repair import build_object, cheapest, combinations, distinct, replace_items
from mcp_lenient.rules import ABSENT
from mcp_lenient.types import Candidate, Repair

ONE = Repair("text_to_integer", "/a", "string", "integer")
TWO = Repair("null_to_absent", "/b", "null", "absent")


def several(*values):
    return [Candidate(value, 1) for value in values]


@pytest.mark.parametrize(
    ("most", "ways"), [pytest.param(4, 4, id="at the limit"), pytest.param(3, 0, id="beyond the limit")]
)
def test_combinations_are_bounded(most, ways):
    """Candidates of several places are combined in every way, unless there are too many ways."""
    columns = [("a", several(1, 2)), ("b", several(3)), ("c", several(4, 5))]
    found = [[reading.value for _, reading in way] for way in combinations(columns, most)]
    assert found == [[1, 3, 4], [1, 3, 5], [2, 3, 4], [2, 3, 5]][:ways]


def test_combinations_without_columns_give_one_way():
    """Without candidates there is exactly one combination."""
    assert [list(way) for way in combinations([], 1)] == [[]]


def test_cheapest_and_distinct_drop_equal_values():
    """Each JSON value is kept once. True differs from 1, but 1.0 does not."""
    readings = [Candidate(1, 2), Candidate(True, 2), Candidate(1.0, 2), Candidate(5, 3)]
    assert cheapest(readings) == [Candidate(1, 2), Candidate(True, 2)]
    assert cheapest(readings[3:]) == readings[3:]
    assert cheapest([]) == []
    assert distinct(readings) == [Candidate(1, 2), Candidate(True, 2), Candidate(5, 3)]


def test_build_object_combines_candidates():
    """An object gets its candidates and loses absent properties. Costs and repairs are summed."""
    changed = [("a", Candidate(1, 4, (ONE,))), ("b", Candidate(ABSENT, 8, (TWO,))), ("new", Candidate(2, 16))]
    sent = {"a": "1", "b": None, "c": 3}
    assert build_object(sent, changed, 2, (TWO,)) == Candidate(
        {"a": 1, "c": 3, "new": 2}, 30, (TWO, ONE, TWO)
    )
    assert sent == {"a": "1", "b": None, "c": 3}


def test_replace_items_combines_candidates():
    """A list gets its candidates. Costs and repairs are summed."""
    sent = ["1", 2, "3"]
    found = replace_items(sent, [(0, Candidate(1, 4, (ONE,))), (2, Candidate(3, 8, (TWO,)))])
    assert found == Candidate([1, 2, 3], 12, (ONE, TWO))
    assert sent == ["1", 2, "3"]
