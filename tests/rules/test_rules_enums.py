"""Test enum values in another spelling."""

from __future__ import annotations

from time import process_time

import pytest
from tables import (
    array,
    closed,
    enum,
)

from mcp_lenient import normalize

MANY = 3_000


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        pytest.param(
            array(enum(*(f"Value_{at}" for at in range(MANY)))), [f"value {at}" for at in range(MANY)]
        ),
        pytest.param(array(enum(*(f"v{at}" for at in range(MANY)))), [f"w{at}" for at in range(MANY)]),
        pytest.param(array(array(enum(*(f"v{at}" for at in range(MANY))))), ["v1, v2"] * MANY),
        pytest.param(array(closed(p=enum(*(f"v{at}" for at in range(MANY))))), [{"p": None}] * MANY),
    ],
    ids=["other-spelling", "other-values", "lists-in-texts", "nulls"],
)
def test_many_values_of_a_large_enum_are_read_fast(schema, sent):
    """A value costs as much beside thousands of allowed values as beside a few."""
    started = process_time()
    normalize({"type": "object", "properties": {"p": schema}, "additionalProperties": False}, {"p": sent})
    assert process_time() - started < 1
