"""Test the outcome of each call in the tables of ``tests/rules/tables/``.

A row is a name, a schema, the arguments, what runs (``null`` if the call is refused), and the repairs: a rule and
where it applied, the parameter ``p`` unless a pointer follows.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tables import INTEGER, STRING, array, check, closed, records

_TABLES = [
    pytest.param(table, id=f"{file.stem}: {table['says']}")
    for file in sorted((Path(__file__).parent / "tables").glob("*.json"))
    for table in json.loads(file.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("table", _TABLES)
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
