"""Compare the outcomes of two commits. Each accepted difference must be in the docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.quality.cases import _outcome
from benchmarks.quality.judgments import OUTCOMES, REASONS, digest
from benchmarks.servers import Reply
from benchmarks.signatures import expressible
from mcp_lenient.devtools.outcomes import changed

_DOCS = Path(__file__).parents[2] / "benchmarks" / "quality" / "README.md"
_RAN = Reply(ran=True, arguments={"n": 1}, repairs=("r",), records=({"rule": "r", "pointer": "/n"},))
_DETAILS = {"violations": [{"pointer": "/n", "code": "type", "fixes": []}]}
_REFUSED = Reply(ran=False, envelope={"error_code": "INVALID_N_TYPE", "details": _DETAILS})


@pytest.mark.parametrize(
    ("after", "change"),
    [
        (_RAN, None),
        (_REFUSED, "newly refused"),
        (Reply(ran=False, error="FastMCP refused"), "newly refused"),
        (Reply(ran=True, arguments={"n": 1.0}, records=_RAN.records), "another value"),
        (Reply(ran=True, arguments={"n": True}, records=_RAN.records), "another value"),
        (Reply(ran=True, arguments={"n": 1}), "another reason"),
    ],
)
def test_a_changed_outcome_of_a_case_is_found(after, change):
    """The command ``outcomes`` compares the rows that ``cases --save`` writes."""
    before, now = (_outcome("set, schema", "row", {"n": 1}, each) for each in (_RAN, after))
    assert before.call == now.call
    assert changed(before, now) == change


def test_refusals_with_other_codes_or_fixes_differ():
    other = Reply(ran=False, envelope={"error_code": "INVALID_N_TYPE", "details": {}})
    before, now = (_outcome("set, schema", "row", {"n": 1}, each) for each in (_REFUSED, other))
    assert changed(before, now) == "another reason"


def test_every_accepted_difference_is_in_the_docs():
    """The docs table has each row with a reason, by name or in a range."""
    text = _DOCS.read_text(encoding="utf-8")
    for first, last in re.findall(r"p(\d{3}) to p(\d{3})", text):
        text += " ".join(f"p{row:03}" for row in range(int(first), int(last)))
    assert [row for row in REASONS if row not in text] == []


def test_a_fingerprint_ignores_the_spelling_of_whole_floats():
    """Equal JSON values have the same fingerprint, and different ones have different fingerprints."""
    assert digest({"a": 1.0, "b": [2]}) == digest({"b": [2.0], "a": 1})
    assert digest({"a": "1"}) != digest({"a": 1})
    assert all(re.fullmatch("[0-9a-f]{12}", each) for found in OUTCOMES.values() for each in found)


@pytest.mark.parametrize(
    ("schema", "can"),
    [
        pytest.param({"type": "object", "properties": {"a": {"type": "integer"}}}, True, id="plain"),
        pytest.param({"type": "object", "properties": {"a-b": {}}}, False, id="name"),
        pytest.param({"type": "object", "additionalProperties": {"type": "string"}}, False, id="open"),
        pytest.param(
            {"type": "object", "oneOf": [{"properties": {"a": {}}}]}, False, id="union-of-arguments"
        ),
        pytest.param({"type": "object", "properties": {"a": {"items": [{}]}}}, False, id="items-as-a-list"),
        pytest.param({"type": "object", "properties": {"a": {"anyOf": [True]}}}, False, id="boolean-schema"),
    ],
)
def test_a_function_is_built_only_if_it_expresses_the_schema(schema, can):
    """A schema whose keyword or name no function can express is measured as a schema only."""
    assert expressible(schema) is can
