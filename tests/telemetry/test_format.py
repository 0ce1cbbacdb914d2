"""Test the published format of events: the JSON Schema, and sample lines of version 1."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest
from tables import each_row

from mcp_lenient.telemetry.events import LEVELS, CallEvent, line_schema, read_event

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "docs" / "reference" / "event.schema.json"
LINES = (Path(__file__).parent / "events.v1.jsonl").read_text(encoding="utf-8").splitlines()


def test_the_schema_in_the_docs_is_that_of_the_model():
    """The published file equals the output of ``line_schema``; ``make format`` writes it."""
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == line_schema()


@each_row("line", LINES)
def test_lines_of_version_1_are_read(line):
    """A line of version 1 is read with all its fields, and other keys are ignored."""
    event = read_event(line)
    assert event is not None
    written = {name: value for name, value in json.loads(line).items() if name in CallEvent.model_fields}
    read = event.model_dump(mode="json", exclude_defaults=True)
    assert read == written


def test_the_sample_lines_have_every_event():
    """The sample lines contain every event; they stay as they were written, without fields that were added since."""
    assert {json.loads(line)["event"] for line in LINES} == set(LEVELS)


@each_row("line", LINES)
def test_the_schema_describes_the_lines(line):
    """The published schema accepts the sample lines, for readers in other languages."""
    validator = jsonschema_rs.validator_for(json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert validator.is_valid(json.loads(line))
    assert not validator.is_valid({**json.loads(line), "tool": 5})


@pytest.mark.parametrize("line", [None, 5, {}, b"{}"])
def test_non_text_is_not_a_line(line):
    """An argument that is not a string is a TypeError."""
    with pytest.raises(TypeError, match=rf"^read_event: line must be a str, got {type(line).__name__}\.$"):
        read_event(line)
