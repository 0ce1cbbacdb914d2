"""A lenient server process over stdio."""

from __future__ import annotations

import json
import sys

import pytest
from answers import envelope, rules, value
from fastmcp_versions import NOT_THERE, RAW, not_on_3, skip_on_3
from wire import HANDSHAKE, MODERN, NOTES, Pipes, call, pipes

_RIGHT = {"text": "kept", "tags": ["a"], "priority": 1}
_NEARLY = {"text": "kept", "tags": '["a"]', "priority": 1}
_WRONG = {"text": "s3cr3t-looking", "tags": 123}
_TEXT = json.dumps(_RIGHT)
_KEPT = {"text": "kept", "tags": ["a"], "priority": 1}


_ERAS = [pytest.param(False, id=HANDSHAKE, marks=pytest.mark.slow), pytest.param(True, id=MODERN)]


class _Spoken:
    """The answers to each kind of call, and everything that the server wrote."""

    def __init__(self, *, modern: bool) -> None:
        with pipes(sys.executable, str(NOTES), modern=modern) as wire:
            wire.request("tools/list", {})
            self.text = call(wire, "add_note", _TEXT)
            self.right = call(wire, "add_note", _RIGHT)
            self.repaired = call(wire, "add_note", _NEARLY)
            self.refused = call(wire, "add_note", _WRONG)
            self.refused_whole = call(wire, "add_note", [1])
            self.unknown = call(wire, "add_notes", {})
            self.unknown_text = call(wire, "add_notes", "{}")
        self.wire: Pipes = wire


@pytest.fixture(scope="module", params=_ERAS)
def spoken(request: pytest.FixtureRequest) -> _Spoken:
    """Make all calls once in each protocol era."""
    if request.param:
        skip_on_3(NOT_THERE)
    return _Spoken(modern=request.param)


@pytest.mark.slow
def test_stdout_contains_only_json_rpc(spoken):
    """Each line on stdout is one JSON-RPC message, while repairs and refusals are logged."""
    messages = [json.loads(line) for line in spoken.wire.stdout]
    assert len(messages) >= 7
    assert {message["jsonrpc"] for message in messages} == {"2.0"}
    assert all(("result" in message) ^ ("error" in message) ^ ("method" in message) for message in messages)


@not_on_3(RAW)
def test_events_go_to_stderr(spoken):
    """Repairs and refusals are JSON lines on stderr, in the order of the calls."""
    reported = [(event["event"], event["tool"]) for event in spoken.wire.events]
    repaired, rejected = ("call_repaired", "add_note"), ("call_rejected", "add_note")
    assert reported == [repaired, repaired, rejected, rejected, *[("call_rejected", "add_notes")] * 2]
    assert {event["transport"] for event in spoken.wire.events} == {"stdio"}
    assert {event["client_name"] for event in spoken.wire.events} == {"by-hand"}


@not_on_3(RAW)
def test_values_stay_out_of_stderr(spoken):
    """No value of a repaired or refused call is written to stderr."""
    assert not [line for line in spoken.wire.stderr if "s3cr3t" in line or "kept" in line]


def test_each_call_is_answered(spoken):
    """A valid call has no record, a nearly right one lists its repair, and a wrong one gets the envelope."""
    assert (value(spoken.right), rules(spoken.right)) == (_KEPT, [])
    assert (value(spoken.repaired), rules(spoken.repaired)) == (_KEPT, ["json_text_to_array"])
    assert envelope(spoken.refused)["error_code"] == "INVALID_TAGS_TYPE"


@not_on_3(RAW)
def test_arguments_may_be_a_text(spoken):
    """Text is parsed; a list gets the envelope, not a protocol error."""
    assert (value(spoken.text), rules(spoken.text)) == (_KEPT, ["json_text_to_object"])
    assert envelope(spoken.refused_whole)["error_code"] == "INVALID_ARGUMENTS"


@pytest.mark.parametrize(
    "sent", ["unknown", pytest.param("unknown_text", marks=not_on_3(RAW))], ids=["object", "text"]
)
def test_an_unknown_tool_gets_the_envelope(spoken, sent):
    """An unknown tool is refused with the most similar name."""
    reported = envelope(getattr(spoken, sent))
    assert reported["error_code"] == "UNKNOWN_TOOL"
    assert reported["details"]["did_you_mean"][0] == "add_note"
