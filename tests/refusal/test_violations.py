"""Test the violations of a refused call: each error in one line that a model can act on."""

from __future__ import annotations

import json
import time

import pytest
from tables import each_row

from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.refusal.envelope import envelope
from mcp_lenient.refusal.violations import violations
from mcp_lenient.rules.policy import Policy
from mcp_lenient.schema.node import FormReader, SchemaTree
from mcp_lenient.types import Candidate, Outcome, Tie, ValidationIssue

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
TAGS = {"anyOf": [TEXTS, {"type": "null"}], "default": None}
SHAPES = {
    "Circle": {
        "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}},
        "required": ["kind", "r"],
    },
    "Square": {
        "properties": {"kind": {"const": "square"}, "a": {"type": "number"}},
        "required": ["kind", "a"],
    },
}
SCHEMA = {
    "type": "object",
    "properties": {
        "content": {"type": "string", "description": "The text to keep. See https://example.com for more."},
        "tags": TAGS,
        "order": {"enum": ["asc", "desc"]},
        "limit": {"type": "integer", "minimum": 1, "maximum": 10},
        "code": {"type": "string", "pattern": "^[A-Z]{2}$", "minLength": 2},
        "ahead": {"type": "string", "pattern": "^(?=a)ab"},
        "day": {"type": "string", "format": "date"},
        "ids": {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
        "shape": {"oneOf": [{"$ref": "#/$defs/Circle"}, {"$ref": "#/$defs/Square"}]},
        "flag": {"type": "boolean"},
        "api_key": {"type": "string", "maxLength": 3},
        "pin": {"type": "string", "writeOnly": True, "maxLength": 3},
        "login": {"type": "object", "properties": {"token": {"type": "string"}}},
        "anything": {},
    },
    "required": ["content"],
    "additionalProperties": False,
    "$defs": {
        name: {"type": "object", "additionalProperties": False, **shape} for name, shape in SHAPES.items()
    },
}


class FixedIssues:
    """A validator that reports fixed issues for any arguments, as a tool's own validator may."""

    def __init__(self, *issues, exact_integers=False):
        self._issues = issues
        self.exact_integers = exact_integers

    def accepts(self, arguments):
        """Accept nothing."""
        del arguments
        return False

    def issues(self, arguments):
        """Return the same issues for any arguments."""
        del arguments
        return self._issues


def violations_of(sent, *, schema=SCHEMA, validator=None, policy=None, ties=()):
    """Return the violations of one call."""
    validator = validator or PublishedSchemaValidator(schema)
    return violations(
        SchemaTree(schema).reader,
        Outcome("refused", sent, (), validator.issues(sent), ties),
        validator,
        policy or Policy(),
    )


ONE_FAULT = [
    pytest.param(
        {"tags": 123},
        "type",
        "/tags",
        "'tags' must be an array of strings or null, but got the integer 123.",
        id="type",
    ),
    pytest.param(
        {"tags": "a"},
        "type",
        "/tags",
        "'tags' must be an array of strings or null, but got a string. "
        'Write it as JSON, like ["a", "b"], not as text.',
        id="text for a list",
    ),
    pytest.param(
        {"tags": ["a", 5]},
        "type",
        "/tags/1",
        "'tags[1]' must be a string, but got the integer 5.",
        id="inside a union",
    ),
    pytest.param(
        {"limit": "five"},
        "type",
        "/limit",
        "'limit' must be an integer, but got the string \"five\". Write a whole number in digits, like 1.",
        id="text for a number",
    ),
    pytest.param(
        {"flag": None},
        "type",
        "/flag",
        "'flag' must be a boolean, but got null. Leave it out if you have no value.",
        id="null for an optional one",
    ),
    pytest.param(
        {"order": "ascending"},
        "enum",
        "/order",
        '\'order\' must be one of "asc", "desc", but got the string "ascending". Did you mean "asc"?',
        id="enum",
    ),
    pytest.param(
        {"limit": 11}, "range", "/limit", "'limit' must be at most 10, but got the integer 11.", id="range"
    ),
    pytest.param(
        {"code": "u"},
        "length",
        "/code",
        "'code' must be at least 2 characters long and match the pattern \"^[A-Z]{2}$\", "
        'but got the string "u" of 1 character.',
        id="two limits in one line",
    ),
    pytest.param(
        {"ahead": "b"},
        "pattern",
        "/ahead",
        '\'ahead\' must match the pattern "^(?=a)ab", but got the string "b".',
        id="lookahead",
    ),
    pytest.param(
        {"ids": [1, 2, 3]},
        "length",
        "/ids",
        "'ids' must have at most 2 items, but got an array of 3 items.",
        id="length",
    ),
    pytest.param(
        {"shape": {"kind": "circel", "r": 1}},
        "enum",
        "/shape/kind",
        '\'shape.kind\' must be one of "circle", "square", but got the string "circel". Did you mean "circle"?',
        id="discriminator",
    ),
    pytest.param(
        {"shape": {"kind": "circle", "r": "x"}},
        "type",
        "/shape/r",
        "'shape.r' must be a number, but got the string \"x\". Write a number in digits, like 1.5.",
        id="selected branch",
    ),
    pytest.param(
        {"shape": {"r": 1}},
        "missing",
        "/shape/kind",
        '\'shape.kind\' is required but was not sent. It must be one of "circle", "square".',
        id="discriminator missing",
    ),
    pytest.param(
        {"tgas": []},
        "unknown",
        "/tgas",
        "unknown parameter 'tgas'. Did you mean 'tags'? Accepted are 'content', 'tags', 'order', 'limit', 'code', "
        "'ahead', 'day', 'ids', 'shape', 'flag', 'api_key', 'pin', 'login', 'anything'.",
        id="unknown",
    ),
    pytest.param(
        {"api_key": "hunter22"},
        "length",
        "/api_key",
        "'api_key' must be at most 3 characters long, but got a string of 8 characters.",
        id="secret by name",
    ),
]


@pytest.mark.quick_rows("type", "unknown")
@pytest.mark.parametrize(("sent", "code", "pointer", "message"), ONE_FAULT)
def test_one_fault(sent, code, pointer, message):
    """One error gives one line with the place, the value, the expected value and a hint."""
    (violation,) = violations_of({"content": "x", **sent})
    assert (violation.code, violation.pointer, violation.message) == (code, pointer, message)
    assert violation.parameter == pointer.split("/")[1]


def test_a_missing_parameter_in_empty_arguments():
    """Empty arguments are called empty, and a missing parameter is described in its author's words."""
    (violation,) = violations_of({})
    assert violation.message == (
        "the arguments arrived empty ({}). 'content' is required but was not sent. It must be a string. "
        "It means: The text to keep."
    )


def test_missing_beside_unknown():
    """A missing and an unknown parameter refer to each other."""
    first, second = sorted(violations_of({"text": "x"}), key=lambda violation: violation.code)
    assert "If 'text' is meant, send it under this name." in first.message
    assert "Did you mean 'content'?" in second.message
    assert second.did_you_mean == ("content",)


def test_all_violations_are_reported_together():
    """Each place has its own violation, and the accepted names are listed once."""
    found = violations_of({"content": 1, "limit": 11, "a": 1, "b": 2})
    assert {violation.pointer for violation in found} == {"/content", "/limit", "/a", "/b"}
    assert sum("Accepted are" in violation.message for violation in found) == 1


def test_items_share_a_line():
    """A list with 300 wrong items is one violation with the first places and a count."""
    (violation,) = violations_of({"content": "x", "tags": [7] * 300})
    assert violation.message.startswith("'tags[0]', 'tags[1]', 'tags[2]' and 297 more must each be a string")
    assert not violation.has_received_value


@each_row(
    ("issue", "message"),
    [
        pytest.param(
            ValidationIssue(("anything",), "value", "Give a city, not a country."),
            "'anything' is not accepted: Give a city, not a country; got the integer 7.",
            id="its author's sentence",
        ),
        pytest.param(
            ValidationIssue(("anything",), "value"),
            "'anything' is not accepted by the tool; got the integer 7.",
            id="no sentence",
        ),
        pytest.param(
            ValidationIssue((), "value", "end must come after start"),
            "the arguments are not accepted: end must come after start.",
            id="whole call",
        ),
        pytest.param(
            ValidationIssue(("anything",), "value", "See https://errors.example.com/x now"),
            "'anything' is not accepted: See now; got the integer 7.",
            id="no address",
        ),
        pytest.param(
            ValidationIssue(("anything",), "value", "hunter22 is wrong"),
            "'anything' is not accepted by the tool; got the integer 7.",
            id="repeats a secret",
        ),
        pytest.param(
            ValidationIssue(("api_key",), "value", "this key has expired"),
            "'api_key' is not accepted by the tool; got a string.",
            id="about a secret",
        ),
        pytest.param(
            ValidationIssue(("limit",), "type"),
            "'limit' must be an integer, but got the number 7.0. Write it without a decimal point.",
            id="strict integer",
        ),
    ],
)
def test_only_the_tool_refuses(issue, message):
    """If the published schema accepts a value, the author's message is used."""
    sent = {"content": "x", "anything": 7, "limit": 7.0, "api_key": "abc", "login": {"token": "hunter22"}}
    (violation,) = violations_of(sent, validator=FixedIssues(issue, exact_integers=True))
    assert violation.message == message


def test_union_errors_are_one_violation():
    """Of the errors in the branches of a union, only those of the selected branch are reported."""
    item = ValidationIssue(("tags", 1), "type")
    branches = (
        ValidationIssue(("shape", "r"), "type"),
        ValidationIssue(("shape", "kind"), "value"),
        ValidationIssue(("shape", "a"), "missing"),
    )
    (violation,) = violations_of({"shape": {"kind": "circle", "r": "x"}}, validator=FixedIssues(*branches))
    assert violation.pointer == "/shape/r"
    (violation,) = violations_of(
        {"tags": ["a", 1]}, validator=FixedIssues(ValidationIssue(("tags",), "type"), item)
    )
    assert violation.pointer == "/tags/1"
    (violation,) = violations_of({"tags": 5}, validator=FixedIssues(ValidationIssue(("tags",), "type"), item))
    assert violation.pointer == "/tags"


def test_tie_names_both_readings():
    """Two tied candidates are both shown as JSON, unless they may not be shown."""
    tie = Tie(("tags",), (Candidate(["a"], 1), Candidate(["a", "b"], 1)))
    (violation,) = violations_of({"content": "x", "tags": []}, ties=(tie,))
    assert violation.code == "ambiguous"
    assert violation.message == (
        '\'tags\' can be read as ["a"] or as ["a", "b"]. Send the one that is meant, as JSON.'
    )
    secret = Tie(("login",), (Candidate({"token": "hunter22"}, 1), Candidate({}, 1)))
    (violation,) = violations_of({"content": "x", "login": {}}, ties=(secret,))
    assert "can be read in 2 ways" in violation.message


@pytest.mark.quick_rows("name", "undeclared")
@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"api_key": "hunter22"}, id="name"),
        pytest.param({"pin": "hunter22"}, id="writeOnly"),
        pytest.param({"login": {"token": ["hunter22"]}}, id="below"),
        pytest.param({"login": "hunter22"}, id="text in place of a container"),
        pytest.param({"api_kye": "hunter22"}, id="undeclared"),
        pytest.param({"shape": {"kind": "circle", "r": 1, "x": "hunter22"}}, id="undeclared below"),
        pytest.param({"flag": "hunter22" * 9}, id="long"),
        pytest.param({"day": ["hunter22"]}, id="in a container"),
        pytest.param({"session": "hunter22"}, id="named by the operator"),
        pytest.param({"code": "hunter22"}, id="declared, named by the operator"),
    ],
)
def test_values_stay_private(sent):
    """No secret, undeclared or long value, or text in place of a container, is repeated anywhere."""
    policy = Policy(secret={"session", "code"})
    found = violations_of({"content": "x", **sent}, policy=policy)
    assert found
    assert "hunter22" not in json.dumps(envelope("t", FormReader(SCHEMA), found))


def test_echo_values_false_repeats_no_value():
    """With ``echo_values=False`` no value is repeated."""
    found = violations_of({"content": 4711, "limit": 4711, "order": "4711"}, policy=Policy(echo_values=False))
    assert len(found) == 3
    assert "4711" not in json.dumps(envelope("t", FormReader(SCHEMA), found))


def test_names_are_escaped_and_cut():
    """A name chosen by the client is printable and shortened."""
    (violation,) = violations_of({"content": "x", "a\n\x1b\u202e\ud800" + "b" * 500: 1})
    assert violation.message.isprintable()
    assert len(violation.pointer) < 120
    assert violation.message.startswith("unknown parameter 'a\\n\\u001b\\u202e\\ud800bbb")


@each_row(
    "value",
    [
        pytest.param(10**5_000, id="digits"),
        pytest.param(float("nan"), id="NaN"),
        pytest.param("\ud800", id="lone surrogate"),
        pytest.param({1: 2}, id="name that is not a string"),
        pytest.param(json.loads("[" * 900 + "]" * 900), id="depth"),
    ],
)
def test_odd_values(value):
    """A value that JSON represents badly or not at all is refused and never echoed."""
    found = violations_of({"content": "x", "flag": value})
    whole = envelope("t", FormReader(SCHEMA), found)
    assert found
    assert not any(violation.has_received_value for violation in found)
    json.dumps(whole, allow_nan=False).encode()


def test_bounds():
    """Ten thousand errors are listed as twenty and a count of the rest, in bounded time."""
    sent = {"content": "x", **{f"key_{number}": number for number in range(10_000)}}
    start = time.process_time()
    found = violations_of(sent)
    assert time.process_time() - start < 10
    assert len(found) == 20
    assert found[-1].message.endswith("There are at least 980 more faults.")
