"""Clients from npm that validate a call before they send it, with a server's own schema and with the form ``tolerant``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from interop import installed
from processes import free_port, running

pytestmark = pytest.mark.slow

HERE: Final = Path(__file__).parent
FOLDER: Final = HERE / "validating"
STORED: Final = {"tags": None, "numbers": [], "max_results": 10, "urgency": "low", "is_open": False}
NEARLY_RIGHT: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "json_text": ({"tags": '["a", "b"]'}, {"tags": ["a", "b"]}),
    "python_text": ({"tags": "['a', 'b']"}, {"tags": ["a", "b"]}),
    "one_item": ({"tags": "a"}, {"tags": ["a"]}),
    "list_text": ({"numbers": "[1, 2]"}, {"numbers": [1, 2]}),
    "number_text": ({"max_results": "5"}, {"max_results": 5}),
    "null": ({"max_results": None}, {}),
    "enum": ({"urgency": "High"}, {"urgency": "high"}),
    "boolean": ({"is_open": "true"}, {"is_open": True}),
    "optional_name": ({"maxResults": 5}, {"max_results": 5}),
    "injected": ({"toolCallId": "1"}, {}),
    "item": ({"numbers": ["1"]}, {"numbers": [1]}),
    "required_name": ({"Content": "kept", "content": ...}, {}),
    "wrapped": ({"arguments": {"content": "kept"}, "content": ...}, {}),
}
"""What is sent beside ``content`` (``...`` is not sent), and what is stored."""
NEVER_SENT: Final = {"item", "required_name", "wrapped"}
"""The form says nothing of what is inside a parameter, and keeps what is required."""
SENT_ANYWAY: Final = {"langchain": {"json_text", "python_text", "one_item"}, "mastra": {"null"}}
"""LangChain drops ``anyOf``, and so accepts anything for ``list[str] | None``; Mastra leaves out nulls."""
RIGHT: Final = {"right": ({"tags": ["a"]}, {"tags": ["a"]})}


@pytest.fixture(scope="module")
def url():
    """Yield the URL of a lenient server."""
    port = free_port()
    with running([sys.executable, str(HERE / "servers" / "store.py"), str(port)], port):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.fixture(scope="module", params=SENT_ANYWAY)
def client(request):
    """Return the name of a client."""
    return request.param


def answers(client: str, url: str, calls: dict[str, Any]) -> dict[str, str]:
    """Return what a model reads as the answer to each call."""
    job = json.dumps({"url": url, "calls": calls})
    done = subprocess.run(  # noqa: S603 - a client of ours
        [installed.node(FOLDER), f"{client}.mjs", job],
        cwd=FOLDER,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    reported: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return reported


def arrived(client: str, url: str) -> set[str]:
    """Return the calls that ran as they were meant."""
    wanted = {**RIGHT, **NEARLY_RIGHT}
    calls = {
        name: {key: value for key, value in {"content": "kept", **sent}.items() if value is not ...}
        for name, (sent, _) in wanted.items()
    }
    received = answers(client, url, calls)
    return {
        name
        for name, (_, stored) in wanted.items()
        if received[name].startswith("{")
        and json.loads(received[name]) == {"content": "kept", **STORED, **stored}
    }


def test_with_the_servers_own_schema_most_nearly_right_calls_are_not_sent(client, url):
    """Most are refused by the client itself, so that no server could repair them."""
    assert arrived(client, url) == {"right", *SENT_ANYWAY[client]}


def test_with_the_tolerant_form_they_are_sent_and_repaired(client, url):
    """All are, but for faults inside a parameter and missing required names."""
    assert arrived(client, f"{url}?publish=tolerant") == {"right", *NEARLY_RIGHT} - NEVER_SENT


def test_with_the_tolerant_form_wrong_calls_get_the_envelope(client, url):
    """A model reads what is wrong, by the author's schema, instead of the client's own words."""
    sent = {"wrong": {"content": "kept", "urgency": "never"}}
    own = answers(client, url, sent)["wrong"]
    assert "INVALID_URGENCY_VALUE" not in own
    assert "INVALID_URGENCY_VALUE" in answers(client, f"{url}?publish=tolerant", sent)["wrong"]
