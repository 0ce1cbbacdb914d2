"""Check the case table against its schema, another validator, the engine and the adapter."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

from benchmarks.conformance import Case, Expected, Reply, Subject, load_cases, verdict
from benchmarks.conformance.ours import call
from mcp_lenient import DEFAULT_RULES
from mcp_lenient.schema.checks import has_jsonschema_rs

FOLDER = Path(__file__).parent.parent / "cases"
CASES = load_cases(FOLDER)
FILES = sorted(file for file in FOLDER.glob("*.json") if file.name != "schema.json")


def _accepts(schema, arguments) -> bool:
    return validator_for(schema, default=Draft202012Validator)(schema).is_valid(arguments)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_each_file_keeps_the_schema_of_cases(file):
    """A file of cases is valid by its JSON Schema, and its name starts the id of each case."""
    content = json.loads(file.read_text(encoding="utf-8"))
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(content)
    assert {case["id"].partition("/")[0] for case in content["cases"]} == {file.stem}


def test_the_table_is_large_and_half_of_it_traps():
    """There are at least 260 cases with unique names, and at least half of them are traps."""
    assert len(CASES) >= 260
    assert [name for name, count in Counter(case.id for case in CASES).items() if count > 1] == []
    assert sum(case.is_trap for case in CASES) * 2 >= len(CASES)


def test_every_rule_has_a_repair_and_a_trap():
    """Each rule has a case in which it repairs and a case in which it must not."""
    known = {rule.name for rule in DEFAULT_RULES}
    named = {case.rule for case in CASES} - {None}
    repaired = {case.rule for case in CASES if not case.is_trap}
    trapped = {case.rule for case in CASES if case.is_trap}
    assert named <= known
    # JSON Schema counts 7.0 as an integer, so only a strict server has something to repair.
    assert known - repaired == {"whole_float_to_integer"}
    assert known - trapped == set()


def test_expected_arguments_are_valid():
    """The arguments that a case expects are valid, according to another validator."""
    for case in CASES:
        if case.expected.outcome != "refused":
            assert _accepts(case.schema, case.expected.arguments), case.id


def test_repaired_and_refused_arguments_are_invalid():
    """Arguments that must be repaired or refused are invalid, according to another validator."""
    for case in CASES:
        if case.expected.outcome != "unchanged":
            assert not _accepts(case.schema, case.arguments), case.id


def test_true_differs_from_one():
    """A value that Python finds equal but JSON does not, such as true for 1, counts as corrupted."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    case = Case("numbers/text", schema, {"n": "1"}, Expected("repaired", {"n": 1}), "One reading.")
    assert [verdict(case, Reply("ran", {"n": value})) for value in (1, 1.0, True)] == [
        "right",
        "right",
        "corrupted",
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_normalize(file):
    """``normalize`` answers each case of a file with the expected arguments or codes."""
    replies = {case.id: (case, call(case.request())) for case in CASES if case.id.startswith(f"{file.stem}/")}
    wrong = {
        id_: (case.why, reply) for id_, (case, reply) in replies.items() if verdict(case, reply) != "right"
    }
    if not has_jsonschema_rs():
        wrong.pop("hostile/costly-pattern", None)  # it is not read, as docs/architecture.md says
    assert wrong == {}


def test_the_adapter_answers_like_the_engine():
    """The adapter, called over the protocol in another process, answers like the engine in this one."""
    with Subject([sys.executable, "-m", "benchmarks.conformance.ours"]) as subject:
        assert [case.id for case in CASES[::5] if subject.call(case.request()) != call(case.request())] == []
