"""Test the violations of a refused call: each error in one line that a model can act on."""

from __future__ import annotations

import json
import time
from typing import Annotated

import pytest
from decisions import decide, decide_value
from pydantic import AfterValidator
from tables import NUMBER, STRING, array, closed, each_row, nullable

from mcp_lenient import Policy, normalize

TAGS = {**nullable(array(STRING)), "default": None}
CIRCLE = closed("kind", "r", kind={"const": "circle"}, r=NUMBER)
SQUARE = closed("kind", "a", kind={"const": "square"}, a=NUMBER)
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
        "shape": {"oneOf": [{"$ref": "#/$defs/circle"}, {"$ref": "#/$defs/square"}]},
        "flag": {"type": "boolean"},
        "api_key": {"type": "string", "maxLength": 3},
        "pin": {"type": "string", "writeOnly": True, "maxLength": 3},
        "login": {"type": "object", "properties": {"token": {"type": "string"}}},
        "anything": {},
    },
    "required": ["content"],
    "additionalProperties": False,
    "$defs": {"circle": CIRCLE, "square": SQUARE},
}


def violations_of(sent, *, schema=SCHEMA, **policy):
    """Return the violations of one call."""
    return normalize(schema, sent, Policy(**policy)).violations


ONE_FAULT = [
    pytest.param(
        {"ids": "a"},
        "type",
        "/ids",
        "'ids' must be an array of integers, but got a string. Write it in the form […].",
        id="text for a list",
    ),
    pytest.param(
        {"tags": ["a", {}]},
        "type",
        "/tags/1",
        "'tags[1]' must be a string, but got an object. Send one value.",
        id="inside a union",
    ),
    pytest.param(
        {"code": "u"},
        "length",
        "/code",
        "'code' must have at least 2 characters and match the pattern \"^[A-Z]{2}$\", "
        'but got the string "u" of 1 character.',
        id="two limits in one line",
    ),
    pytest.param(
        {"ahead": "b"},
        "pattern",
        "/ahead",
        '\'ahead\' must match the pattern "^(?=a)ab", but got the string "b". If no such text means it, ask.',
        id="lookahead",
    ),
    pytest.param(
        {"shape": {"kind": "circel", "r": 1}},
        "enum",
        "/shape/kind",
        '\'shape.kind\' must be one of "circle", "square", but got the string "circel". Did you mean "circle"?',
        id="discriminator",
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
        "'api_key' must have at most 3 characters, but got a string of 8 characters.",
        id="secret by name",
    ),
]


@each_row(("sent", "code", "pointer", "message"), ONE_FAULT)
def test_one_fault(sent, code, pointer, message):
    """One error gives one line with the place, the value, the expected value and a hint."""
    (violation,) = violations_of({"content": "x", **sent})
    assert (violation.code, violation.pointer, violation.message) == (code, pointer, message)
    assert violation.parameter == pointer.split("/")[1]


def test_a_missing_parameter_in_empty_arguments():
    """Empty arguments are called empty, and a missing parameter is described in its author's words."""
    (violation,) = violations_of({})
    assert violation.message == (
        "the arguments arrived empty. 'content' is required but was not sent. It must be a string. "
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
    found = violations_of({"content": [1], "limit": 11, "a": 1, "b": 2})
    assert {violation.pointer for violation in found} == {"/content", "/limit", "/a", "/b"}
    assert sum("Accepted are" in violation.message for violation in found) == 1


def test_items_share_a_line():
    """A list with 300 wrong items is one violation with the first places and a count."""
    (violation,) = violations_of({"content": "x", "tags": [{}] * 300})
    assert violation.message.startswith("'tags[0]', 'tags[1]', 'tags[2]' and 297 more must each be a string")
    assert not violation.has_received_value


@each_row("sent")
def test_values_stay_private(sent):
    """No secret, undeclared or long value, or text in place of a container, is repeated anywhere."""
    found = violations_of({"content": "x", **sent}, secret={"session", "code"})
    assert found
    assert "hunter22" not in repr(found)


def test_echo_values_false_repeats_no_value():
    """With ``echo_values=False`` no value is repeated."""
    found = violations_of({"content": [4711], "limit": 4711, "order": "4711"}, echo_values=False)
    assert len(found) == 3
    assert "4711" not in repr(found)


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
    assert found
    assert not any(violation.has_received_value for violation in found)
    assert all(each.message.isprintable() for each in found)


def test_bounds():
    """Ten thousand errors are listed as twenty and a count of the rest, in bounded time."""
    for names, rest in ((10_000, "980 more faults were found."), (21, "1 more fault was found.")):
        start = time.process_time()
        found = violations_of({"content": "x", **{f"key_{at}": at for at in range(names)}})
        assert time.process_time() - start < 10
        assert len(found) == 20
        assert found[-1].message.endswith(rest)


def _says(sentence):
    def check(_value):
        raise ValueError(sentence)

    return Annotated[int, AfterValidator(check)]


@each_row(
    ("sentence", "message"),
    [
        ("Give a city, not a country.", "'x' is not accepted: Give a city, not a country."),
        ("See https://errors.example.com/x now", "'x' is not accepted: See now."),
        ("", "'x' is not accepted by the tool; got the integer 7."),
    ],
)
def test_the_authors_sentence_is_told(sentence, message):
    """If the published schema accepts a value, the message is the author's sentence, without addresses."""
    (violation,) = decide_value(_says(sentence), 7).violations
    assert violation.message == message


def test_the_authors_sentence_that_repeats_a_secret_is_not_told():
    """A sentence that repeats the value of a secret is left out."""

    def refuse(_given):
        msg = "hunter22 is wrong"
        raise ValueError(msg)

    def tool(x: int, api_key: str) -> None: ...

    tool.__annotations__["x"] = Annotated[int, AfterValidator(refuse)]
    (violation,) = decide(tool, {"x": 7, "api_key": "hunter22"}).violations
    assert violation.message == "'x' is not accepted by the tool; got the integer 7."
