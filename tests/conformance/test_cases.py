"""The case table, held to its schema and against the engine, a server of each kind, and the adapter."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import jsonschema_rs
import pytest
from conformance.open_cases import OPEN

from benchmarks.conformance import Case, Expected, Reply, Subject, load_cases, verdict
from benchmarks.conformance.ours import call
from mcp_lenient import DEFAULT_RULES

FOLDER = Path(__file__).parent.parent / "cases"
CASES = load_cases(FOLDER)
FILES = sorted(file for file in FOLDER.glob("*.json") if file.name != "schema.json")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_each_file_keeps_the_schema_of_cases(file):
    """A file of cases is what its JSON Schema says, and its cases are named after it."""
    content = json.loads(file.read_text(encoding="utf-8"))
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    jsonschema_rs.Draft202012Validator(schema).validate(content)
    assert {case["id"].partition("/")[0] for case in content["cases"]} == {file.stem}


def test_the_table_is_large_and_half_of_it_traps():
    """There are more than 260 cases, no two of one name, and at least half of them must not be changed."""
    assert len(CASES) >= 260
    assert [name for name, count in Counter(case.id for case in CASES).items() if count > 1] == []
    assert sum(case.is_trap for case in CASES) * 2 >= len(CASES)


def test_every_rule_has_a_repair_and_a_trap():
    """Each rule of the table is shown at work, and held back, by a case; the two that JSON cannot tell apart aside."""
    known = {rule.name for rule in DEFAULT_RULES if rule.kind != "tool"}  # a case is a schema without a name
    named = {case.rule for case in CASES} - {None}
    repaired = {case.rule for case in CASES if not case.is_trap}
    trapped = {case.rule for case in CASES if case.is_trap}
    assert named <= known
    # For JSON Schema 7.0 is an integer already: only a strict server has anything to repair.
    assert known - repaired == {"whole_float_to_integer"}
    assert known - trapped == set()


def test_expected_arguments_are_valid():
    """The arguments that a case expects are valid by its schema, as another validator than ours says."""
    for case in CASES:
        if case.expected.outcome != "refused":
            assert jsonschema_rs.is_valid(dict(case.schema), case.expected.arguments), case.id


def test_repaired_and_refused_arguments_are_invalid():
    """The arguments that a case has repaired or refused break its schema, as another validator than ours says."""
    for case in CASES:
        if case.expected.outcome != "unchanged":
            assert not jsonschema_rs.is_valid(dict(case.schema), case.arguments), case.id


def test_true_is_no_one():
    """A tool that runs with another value than the expected one is corrupted, also where Python finds them equal."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    case = Case("numbers/text", schema, {"n": "1"}, Expected("repaired", {"n": 1}), "One reading.")
    assert [verdict(case, Reply("ran", {"n": value})) for value in (1, 1.0, True)] == [
        "right",
        "right",
        "corrupted",
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_normalize(file):
    """``normalize`` answers the cases of a file, each with acceptable codes."""
    replies = {case.id: (case, call(case.request())) for case in CASES if case.id.startswith(f"{file.stem}/")}
    wrong = {
        id_: (case.why, reply) for id_, (case, reply) in replies.items() if verdict(case, reply) != "right"
    }
    assert wrong.keys() == {id_ for id_ in OPEN if id_.startswith(f"{file.stem}/")}, wrong


@pytest.mark.slow
def test_the_adapter_answers_like_the_engine():
    """Over the protocol, in a process of its own, every case is answered as it is in this one."""
    with Subject([sys.executable, "-m", "benchmarks.conformance.ours"]) as subject:
        assert [case.id for case in CASES if subject.call(case) != call(case.request())] == []
