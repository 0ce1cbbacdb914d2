"""The code of the pages for agent frameworks, each in an environment of its own, with a model that is a script.

What becomes of the twelve calls is in ``tests/interop/test_hosts.py``; here is what the server gets, and what the model reads.
"""

from __future__ import annotations

import json

import pytest
from environments import environment

from benchmarks.hosts.agents.driver import ALSO
from benchmarks.hosts.matrix import HOSTS, answers

pytestmark = [pytest.mark.full]


@pytest.fixture(scope="module", params=[name for name, host in HOSTS.items() if host.is_agent])
def received(request):
    """The answers and events of each call through one framework, under the framework's name."""
    host = HOSTS[request.param]
    environment(*host.needs)
    return request.param, answers(host)


def text(received, call):
    """What the model reads of a call."""
    return received[1][call]["answer"]["content"][0]["text"]


def events(received, call):
    """The events of a call."""
    return [each["event"] for each in received[1][call]["events"]]


# CrewAI itself fills in what a schema has defaults for.
_FILLED_IN = {"tags": None, "max_results": 10}


@pytest.mark.parametrize("call", ["echoed", "echoed_least"])
def test_a_right_call_reaches_the_server_as_it_was_sent(received, call):
    """Nothing is added, left out or rewritten, and the log says that it was accepted."""
    filled_in = _FILLED_IN if received[0] == "crewai" else {}
    assert json.loads(text(received, call)) == {**filled_in, **ALSO[call][1]}
    assert events(received, call) == ["call_accepted"]


def test_a_repaired_call_reaches_the_server_as_it_was_meant(received):
    """The log says what was changed, once."""
    assert json.loads(text(received, "echoed_repaired")) == {"content": "x", "tags": ["a"], "max_results": 7}
    (event,) = received[1]["echoed_repaired"]["events"]
    assert event["event"] == "call_repaired"
    assert sorted(each["rule"] for each in event["repairs"]) == ["scalar_to_array", "text_to_integer"]


def test_a_refused_call_is_answered_with_the_envelope(received):
    """It is the whole of what the model reads, and the log has it once."""
    envelope = json.loads(text(received, "wrong_type"))
    assert envelope["error_code"] == "INVALID_TAGS_TYPE"
    assert envelope["message"].endswith("The tool was not run. Correct the call and send it again.")
    assert events(received, "wrong_type") == ["call_rejected"]


def test_a_destructive_tool_gets_fewer_repairs(received):
    """No value of it is left out, where the framework keeps the hint."""
    assert text(received, "destructive_repaired") == "removed 1, kept 2"
    if received[0] == "crewai":
        assert events(received, "destructive") == ["call_accepted"]
    else:
        assert json.loads(text(received, "destructive"))["error_code"] == "INVALID_KEEP_TYPE"
