"""What the TypeScript SDK's client, which checks structured content by itself, gets from a lenient server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

_HERE = Path(__file__).parent
_NOTES = _HERE.parent / "transports" / "servers" / "notes.py"
_SDK = json.loads((_HERE / "package.json").read_text())["dependencies"]["@modelcontextprotocol/sdk"]
_INSTALLED = _HERE / "node_modules" / "@modelcontextprotocol" / "sdk" / "package.json"

_CALLS = {
    "right": ("add_note", {"text": "kept", "tags": ["a"]}),
    "repaired": ("add_note", {"text": "kept", "tags": '["a"]'}),
    "repaired_whole": ("add_note", '{"text": "kept", "tags": ["a"]}'),
    "refused": ("add_note", {"text": "kept", "tags": 123}),
    "refused_whole": ("add_note", [1]),
    "refused_without_schema": ("count_words", {"words": {"a": 1}}),
    "refused_whole_without_schema": ("count_words", 5),
    "unknown": ("add_notes", {"text": "kept"}),
}
_KEPT = {"text": "kept", "tags": ["a"], "priority": 0}


@dataclass(frozen=True)
class _Conversation:
    """The tools that the client saw, and for each call how ``callTool`` ended."""

    tools: dict[str, Any]
    outcomes: dict[str, Any]

    def result(self, call: str) -> dict[str, Any]:
        """The result of a call, for which the client must not have thrown."""
        outcome = self.outcomes[call]
        assert "result" in outcome, outcome
        result: dict[str, Any] = outcome["result"]
        return result

    def envelope(self, call: str) -> dict[str, Any]:
        """The envelope that the client can read in the first text block."""
        result = self.result(call)
        assert result["isError"] is True
        envelope: dict[str, Any] = json.loads(result["content"][0]["text"])
        return envelope


def _is_installed() -> bool:
    return _INSTALLED.exists() and json.loads(_INSTALLED.read_text())["version"] == _SDK


def _run(*command: str, timeout: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - npm and our own script
        command,
        cwd=_HERE,
        env=dict(os.environ),
        capture_output=True,
        encoding="utf-8",
        timeout=timeout,
        check=False,
    )


def _install(npm: str) -> None:
    try:
        done = _run(
            npm, "install", "--prefer-offline", "--no-audit", "--no-fund", "--no-package-lock", timeout=180
        )
    except subprocess.TimeoutExpired:
        pytest.skip("npm install took too long; is there a network?")
    if done.returncode:
        pytest.skip(f"npm install failed; is there a network? {done.stderr.strip()[-300:]}")


@pytest.fixture(scope="module")
def node() -> str:
    """Node, with the pinned SDK beside the client; skips where either cannot be had."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("Node and npm are needed to run the TypeScript SDK's client")
    if not _is_installed():
        _install(npm)
    return node


@pytest.fixture(scope="module")
def conversation(node: str) -> _Conversation:
    """All the calls, made by the TypeScript client over stdio."""
    calls = [{"name": name, "arguments": arguments} for name, arguments in _CALLS.values()]
    job = {"server": [sys.executable, str(_NOTES)], "calls": calls}
    done = _run(node, "client.mjs", json.dumps(job), timeout=120)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    tools = {tool["name"]: tool for tool in told["tools"]}
    return _Conversation(tools, dict(zip(_CALLS, told["outcomes"], strict=True)))


def test_one_tool_has_an_output_schema_and_one_has_none(conversation):
    """The two tools differ in what these tests are about."""
    assert "outputSchema" in conversation.tools["add_note"]
    assert "outputSchema" not in conversation.tools["count_words"]


@pytest.mark.parametrize("call", ["refused", "refused_whole"])
def test_a_refusal_of_a_tool_with_an_output_schema_reaches_the_caller(conversation, call):
    """The client resolves with the envelope in the first text block, and finds no structured content to check."""
    assert conversation.envelope(call)["status"] == "error"
    assert "structuredContent" not in conversation.result(call)


@pytest.mark.parametrize("call", ["refused_without_schema", "refused_whole_without_schema"])
def test_a_refusal_of_a_tool_without_an_output_schema_is_structured(conversation, call):
    """Where no schema speaks against it, structured content is the envelope too."""
    assert conversation.result(call)["structuredContent"] == conversation.envelope(call)


@pytest.mark.parametrize("call", ["right", "repaired", "repaired_whole"])
def test_structured_content_is_valid_after_a_repair(conversation, call):
    """The client, which validates it, hands on the structured content of a call that ran."""
    assert conversation.result(call)["structuredContent"] == _KEPT


@pytest.mark.parametrize(
    ("call", "rules"),
    [
        pytest.param("repaired", ["json_text_to_array"], id="one-argument"),
        pytest.param("repaired_whole", ["json_text_to_object"], id="whole-arguments"),
    ],
)
def test_the_caller_can_read_what_was_repaired(conversation, call, rules):
    """The repairs arrive in the result's ``_meta``."""
    repairs = conversation.result(call)["_meta"]["mcp_lenient"]["repairs"]
    assert [repair["rule"] for repair in repairs] == rules


@pytest.mark.parametrize(
    ("call", "code"),
    [
        pytest.param("refused", "INVALID_TAGS_TYPE", id="a-wrong-type"),
        pytest.param("refused_whole", "INVALID_ARGUMENTS", id="no-object"),
        pytest.param("refused_without_schema", "INVALID_WORDS_TYPE", id="without-output-schema"),
        pytest.param("unknown", "UNKNOWN_TOOL", id="unknown-tool"),
    ],
)
def test_the_caller_can_read_why_a_call_was_refused(conversation, call, code):
    """The envelope says what is wrong, and it is the same in ``_meta``."""
    told = conversation.envelope(call)
    assert told["error_code"] == code
    assert conversation.result(call)["_meta"]["mcp_lenient"] == told
