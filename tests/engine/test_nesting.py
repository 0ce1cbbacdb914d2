"""Test that a value's depth is checked before a validator walks an endless value."""

from __future__ import annotations

import pytest
from tables import rows

from mcp_lenient import normalize
from tests.shared.hostile import lists


@pytest.mark.parametrize(
    "schema",
    rows(__file__, "an_endless_value_of_a_recursive_schema_is_refused"),
)
def test_an_endless_value_of_a_recursive_schema_is_refused(schema):
    """An endlessly nested value is refused before a validator sees it; a nested one is accepted."""
    assert [each.code for each in normalize(schema, {"x": lists([], 100_000)}).violations] == ["size"]
    assert not normalize(schema, {"x": lists([], 50)}).violations


def test_an_endless_value_of_a_plain_schema_is_accepted():
    """Without recursion a validator goes no deeper than the schema, so that depth does not matter."""
    assert not normalize({"properties": {"x": {"type": "array"}}}, {"x": lists([], 100_000)}).violations
