"""Compare the outcomes of two commits. Each accepted difference must be in the docs."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.quality import differences, outcomes
from benchmarks.quality.judgments import OUTCOMES, REASONS, digest
from benchmarks.servers import Reply
from benchmarks.signatures import expressible

_DOCS = Path(__file__).parents[2] / "docs" / "how-to" / "conformance.md"
_RAN = Reply(ran=True, arguments={"n": 1}, repairs=("r",), records=({"rule": "r", "pointer": "/n"},))
_REFUSED = Reply(ran=False, envelope={"error_code": "UNKNOWN_PARAMETER", "details": {"violations": []}})


def _file(path, reply, sent=1):
    outcomes.write(path, [outcomes.outcome("set", "schema", "row", {"n": sent}, reply)])
    return str(path)


@pytest.mark.parametrize(
    ("after", "differs"),
    [
        pytest.param(_RAN, False, id="same"),
        pytest.param(_REFUSED, True, id="status"),
        pytest.param(Reply(ran=True, arguments={"n": 1.0}, records=_RAN.records), True, id="type"),
        pytest.param(Reply(ran=True, arguments={"n": True}, records=_RAN.records), True, id="boolean"),
        pytest.param(Reply(ran=True, arguments={"n": 1}), True, id="repairs"),
    ],
)
def test_a_changed_outcome_is_found(after, differs, tmp_path):
    """A call whose status, arguments or repairs differ is printed, and the exit code is 1."""
    files = [_file(tmp_path / "a", _RAN), _file(tmp_path / "b", after)]
    console = Console(record=True, width=100, file=StringIO())
    assert differences.main(console, files=files) == int(differs)
    assert ("set, schema, row" in console.export_text()) == differs


def test_other_calls_are_not_compared(tmp_path):
    """Rows that send another call in the other file are counted, not compared."""
    files = [_file(tmp_path / "a", _RAN), _file(tmp_path / "b", _REFUSED, sent=2)]
    console = Console(record=True, width=100, file=StringIO())
    assert differences.main(console, files=files) == 0
    assert console.export_text().count("1 rows only in") == 2


def test_codes_are_compared_when_asked(tmp_path):
    """Two refusals that differ only in their codes are equal unless envelopes are compared."""
    other = Reply(ran=False, envelope={"error_code": "MISSING_A", "details": {}})
    files = [_file(tmp_path / "a", _REFUSED), _file(tmp_path / "b", other)]
    console = Console(file=StringIO())
    assert differences.main(console, files=files) == 0
    assert differences.main(console, files=files, envelopes=True) == 1


def test_a_foreign_file_is_named(tmp_path):
    """A file of other JSON lines is refused, with its name in the error."""
    path = tmp_path / "foreign"
    path.write_text(json.dumps({"a": 1}) + "\n")
    with pytest.raises(ValueError, match="foreign holds lines that are not outcomes"):
        outcomes.read(path)


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
