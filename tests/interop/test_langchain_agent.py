"""Test a LangChain agent, with two servers behind proxies, that corrects its call from the envelope."""

from __future__ import annotations

import json

import pytest
from interop import installed
from interop.conversations import printed
from interop.routes import http, proxy

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """Yield the proxies of two servers, one over stdio and one over HTTP."""
    folder = tmp_path_factory.mktemp("agent")
    with proxy(folder) as home, http(folder) as work:
        yield {"home": home.connection, "work": work.connection}


@pytest.mark.parametrize(
    ("server", "sent", "code", "meant"),
    [
        pytest.param(
            "home",
            {"text": "kept", "tags": "a, b"},
            "INVALID_TAGS_TYPE",
            {"text": "kept", "tags": ["a", "b"]},
            id="a-value-over-stdio",
        ),
        pytest.param(
            "work", {"note_text": "kept"}, "INVALID_ARGUMENTS", {"text": "kept"}, id="a-name-over-http"
        ),
    ],
)
def test_an_agent_corrects_its_call_from_the_envelope(servers, server, sent, code, meant):
    """The model gets the tool error, and the envelope's first fix makes the call run."""
    job = {"servers": servers, "tool": f"{server}_add_note", "sent": sent}
    reported = printed([installed.langchain_python(), "clients/langchain_agent.py", json.dumps(job)])
    assert {"home_add_note", "work_add_note", "home_remove_notes", "work_remove_notes"} <= set(
        reported["offered"]
    )
    _, first, refused, second, ran, last = reported["messages"]
    assert first["tool_calls"][0]["args"] == sent
    assert refused["status"] == "error"
    assert json.loads(refused["content"][0]["text"])["error_code"] == code
    assert second["tool_calls"][0]["args"] == meant
    assert ran["status"] == "success"
    assert ran["artifact"]["structured_content"] == {"tags": [], "priority": 0, **meant}
    assert last["content"] == "done"
