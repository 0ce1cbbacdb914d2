"""The how-to code for agent frameworks, each framework in its own environment, with a scripted model.

``tests/interop/test_hosts.py`` tests the outcome of the twelve calls. This file tests what the server gets
and the model reads.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from adapters.own_environment import names_in, outcomes_in
from environments import environment

from benchmarks.hosts.agents.driver import ALSO
from benchmarks.hosts.matrix import HOSTS, answers

pytestmark = [pytest.mark.slow]
MICROSOFT = Path(__file__).parent / "microsoft.py"


@pytest.fixture(scope="module", params=[name for name, host in HOSTS.items() if host.is_agent])
def received(request):
    """Return a framework's name, and the answer and events of each call made with it."""
    host = HOSTS[request.param]
    environment(*host.needs)
    return request.param, answers(host)


def text(received, call):
    """Return the text that the model reads as the answer to a call."""
    return received[1][call]["answer"]["content"][0]["text"]


def events(received, call):
    """Return the names of a call's events."""
    return [each["event"] for each in received[1][call]["events"]]


# CrewAI itself fills in the defaults of the schema.
_FILLED_IN = {"tags": None, "max_results": 10}


@pytest.mark.parametrize("call", ["echoed", "echoed_least"])
def test_valid_calls_reach_the_server_unchanged(received, call):
    """No argument is added, dropped or rewritten, and the call is logged as accepted."""
    filled_in = _FILLED_IN if received[0] == "crewai" else {}
    assert json.loads(text(received, call)) == {**filled_in, **ALSO[call][1]}
    assert events(received, call) == ["call_accepted"]


def test_repaired_calls_reach_the_server_with_the_intended_arguments(received):
    """The server gets the repaired arguments, and one event lists the repairs."""
    assert json.loads(text(received, "echoed_repaired")) == {"content": "x", "tags": ["a"], "max_results": 7}
    (event,) = received[1]["echoed_repaired"]["events"]
    assert event["event"] == "call_repaired"
    assert sorted(each["rule"] for each in event["repairs"]) == ["scalar_to_array", "text_to_integer"]


def test_refused_calls_are_answered_with_the_envelope(received):
    """The model reads the envelope alone, and the refusal is logged once."""
    envelope = json.loads(text(received, "wrong_type"))
    assert envelope["error_code"] == "INVALID_TAGS_TYPE"
    assert envelope["message"].endswith("The tool was not run. Correct the call and send it again.")
    assert events(received, "wrong_type") == ["call_rejected"]


def test_a_destructive_tool_gets_fewer_repairs(received):
    """A null is not dropped for a destructive tool, if the framework passes the hint on."""
    assert text(received, "destructive_repaired") == "removed 1, kept 2"
    if received[0] == "crewai":
        assert events(received, "destructive") == ["call_accepted"]
    elif received[0] in {"agent_framework", "haystack"}:
        assert events(received, "destructive") == ["call_repaired"]
    else:
        assert json.loads(text(received, "destructive"))["error_code"] == "INVALID_KEEP_TYPE"


@pytest.fixture(scope="module")
def outcomes():
    """Return the outcome of each test of ``microsoft.py`` by name."""
    return outcomes_in(MICROSOFT, *HOSTS["agent_framework"].needs)


@pytest.mark.parametrize("test", names_in(MICROSOFT))
def test_with_microsofts_framework(test, outcomes):
    """Each test of ``microsoft.py`` passes with the real package."""
    assert outcomes[test] is None, outcomes[test]
