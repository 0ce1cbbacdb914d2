"""Test that the envelope, like the log, hides undeclared keys below a secret parameter."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from tables import INTEGER, OBJECT, STRING, array, closed, each_row, enum, rows

from mcp_lenient import LenientCalls, Policy

KEY = "hunter"


def refusal_of(properties: Any, sent: Any, **policy: Any) -> str:
    """Return the answer to a call that is refused, for a tool with these parameters."""
    calls = LenientCalls(Policy(unrepairable="refuse", **policy))
    answer = calls.check({"name": "sign_in", "inputSchema": closed(**properties)}, sent)
    assert answer.refusal is not None
    return answer.refusal


INTEGERS = {**OBJECT, "additionalProperties": INTEGER}
ROWS = [
    pytest.param({"credentials": closed(user=STRING)}, {KEY: "x"}, id="unknown"),
    pytest.param({"credentials": closed(user=STRING)}, {"user": [], KEY: "x"}, id="with another"),
    pytest.param({"credentials": closed(user=STRING)}, {"users": "a", KEY: "x"}, id="two unknown"),
    pytest.param({"credentials": closed(hunter2=STRING)}, {KEY: "x"}, id="near a declared name"),
    pytest.param({"credentials": closed(a=closed(b=STRING))}, {"a": {KEY: 1}}, id="deeper"),
    pytest.param({"password": array(closed(a=STRING))}, [{KEY: 1}], id="in a list"),
    pytest.param({"pin_": closed(a=STRING)}, {KEY: 1}, id="secret by policy"),
    pytest.param({"login": {**closed(a=STRING), "writeOnly": True}}, {KEY: 1}, id="write-only"),
    pytest.param({"credentials": INTEGERS}, {KEY: "x"}, id="the value of a map's key"),
    pytest.param({"credentials": {**OBJECT, "propertyNames": enum("a")}}, {KEY: 1}, id="the key of a map"),
    pytest.param(
        {"credentials": {**OBJECT, "propertyNames": {"pattern": "^[0-9]$"}}}, {KEY: 1}, id="a pattern"
    ),
    pytest.param({"credentials": {**INTEGERS, "maxProperties": 1}}, {KEY: 1, "b": 2}, id="too many keys"),
    pytest.param({"credentials": {**OBJECT, "dependentRequired": {KEY: ["b"]}}}, {KEY: 1}, id="a condition"),
    pytest.param(
        {"credentials": {"type": "object", "additionalProperties": array(INTEGER)}},
        {KEY: "[1]", "other": "x"},
        id="a repair",
    ),
]


@each_row(("properties", "sent"), ROWS)
@each_row("language", ["en", "zh"])
def test_undeclared_keys_below_a_secret_are_hidden(properties: Any, sent: Any, language: str) -> None:
    """No part of the envelope repeats such a key: not the message, the pointers, the hints or the fixes."""
    (name,) = properties
    refusal = refusal_of(properties, {name: sent}, secret={"pin_"}, language=language)
    assert json.loads(refusal)["status"] == "error"
    assert KEY not in refusal.replace("hunter2", "")


def test_the_hidden_key_is_named_as_in_the_log() -> None:
    """The message and the pointer have the mask of the log, and the declared names are still listed."""
    envelope = json.loads(refusal_of({"credentials": closed(user=STRING)}, {"credentials": {KEY: 1}}))
    assert "unknown parameter 'credentials.{…}'. Accepted is 'user'." in envelope["message"]
    assert envelope["details"]["violations"][0]["pointer"] == "/credentials/{…}"


ENTRY = closed(name=STRING, value=INTEGER)


@each_row(("properties", "sent"))
def test_a_value_beside_the_name_of_a_secret_is_hidden(properties: Any, sent: Any) -> None:
    """In an object, a text that names a secret makes its siblings secret; so does the part of a URI before the host."""
    assert "SEK" not in refusal_of(properties, sent, secret={"pin_"})


@pytest.mark.parametrize(("sent", "echoed"), rows(__file__, "a_value_beside_other_texts_is_repeated"))
def test_a_value_beside_other_texts_is_repeated(sent: Any, echoed: str) -> None:
    """A sentence is not the name of a secret, and an address without a password is none."""
    assert echoed in refusal_of({"pair": ENTRY}, {"pair": sent})


_KEY = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@each_row(
    ("kind", "sent"),
    [
        (INTEGER, _KEY),
        (INTEGER, f"Bearer {_KEY}"),
        (INTEGER, "AKIA2E0A8F3B244C9986"),
        (array(STRING), f"{_KEY}, b"),
        (array(INTEGER), [_KEY]),
        ({"type": "object"}, _KEY),
    ],
)
def test_a_long_random_key_is_not_repeated(kind: Any, sent: Any) -> None:
    """A generated key in a parameter of any name is in no message, value or fix."""
    refusal = refusal_of({"what": kind}, {"what": sent})
    assert "2E0A8F" not in refusal
    assert "16C7e42F" not in refusal


@each_row(
    "text",
    [
        "123e4567-e89b-12d3-a456-426614174000",
        "a-long-name-with-2-digits",
        "ORDER_NUMBER_2024_0001",
        "quarterly_report_2024_final",
        "d41d8cd98f00b204e9800998ecf8427e",
    ],
)
def test_an_identifier_in_words_or_digits_is_no_key(text: str) -> None:
    """Names, UUIDs and checksums are repeated."""
    assert text in refusal_of({"limit": INTEGER}, {"limit": text})


def test_the_text_of_a_secret_is_repeated_from_no_other_place() -> None:
    """A text that is also sent as a secret is one wherever it stands."""
    sent = {"limit": "hunter2zz", "password": "hunter2zz"}
    assert "hunter2zz" not in refusal_of({"limit": INTEGER, "password": STRING}, sent)


def test_the_search_for_a_password_in_a_long_text_is_quick():
    """Slashes and colons before a space and one ``@`` are no reason to try every place with every other."""
    text = "//:" * 300_000 + " @"
    started = time.process_time()
    refusal_of({"limit": INTEGER}, {"limit": text})
    assert time.process_time() - started < 0.5
