"""Test that no call is lost if the log is full, raises or is not read."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import IO, Any

import pytest
import structlog
from calls import call, got, lenient, rules
from waiting import PATIENCE
from wire import NOTES

_CALLS = 40
_UNTIL_FULL = 400
_REPAIRED = {"text": "a", "tags": '["a"]'}


def tool(tags: list[str]) -> list[str]:
    """Return the list."""
    return tags


class _Stdio:
    """A server over stdio whose stderr the test chooses."""

    def __init__(self, stderr: int | IO[Any]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - a server of ours
            [sys.executable, str(NOTES)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
        )
        self._timer = threading.Timer(PATIENCE, self._process.kill)
        self._timer.start()
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "a", "version": "1"},
        }
        self.ask("initialize", hello)
        self._send({"method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the result of this request. Fail if the server is silent for a minute."""
        self._send({"id": 1, "method": method, "params": params})
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the server did not answer"
        result: dict[str, Any] = json.loads(line)["result"]
        return result

    def close(self) -> None:
        """Stop the server."""
        self._timer.cancel()
        self._process.kill()
        self._process.communicate()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()


def _answers_all(server: _Stdio, calls: int) -> None:
    """Send repairable and wrong calls by turns, and check each answer."""
    for number in range(calls):
        sent = _REPAIRED if number % 2 else {"text": "a", "tags": number}
        answer = server.ask("tools/call", {"name": "add_note", "arguments": sent})
        assert answer.get("isError", False) is (number % 2 == 0)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_loses_no_call():
    """A server whose stderr is a full disk answers every call, repaired and refused."""
    with Path("/dev/full").open("wb") as full, closing(_Stdio(full)) as server:
        _answers_all(server, _CALLS)


@pytest.mark.slow
def test_a_pipe_that_nobody_reads_loses_no_call():
    """A server whose stderr pipe is full still answers; once it is read, its lines are whole and later events follow."""
    with closing(_Stdio(subprocess.PIPE)) as server:
        _answers_all(server, _UNTIL_FULL)
        assert server._process.stderr is not None
        lines = [server._process.stderr.readline() for _ in range(50)]
        server.ask("tools/call", {"name": "add_note", "arguments": {"text": "a", "tags": 5}})
        server._process.kill()
        lines += server._process.stderr.read().splitlines()
    events = [json.loads(line)["event"] for line in lines if line.startswith(b"{")]
    assert events[-1] == "call_rejected"
    assert 50 < len(events) < _UNTIL_FULL


@pytest.mark.slow
def test_a_closed_pipe_loses_no_call():
    """A server whose stderr pipe is closed answers every call."""
    with closing(_Stdio(subprocess.PIPE)) as server:
        assert server._process.stderr is not None
        server._process.stderr.close()
        _answers_all(server, _CALLS)
        server._process.stderr = None


def _raising(error: type[BaseException]) -> Any:
    def process(_logger: Any, _level: str, _event: Any) -> Any:
        raise error

    return process


@pytest.mark.parametrize(
    "error",
    [OSError, ValueError, KeyError, RecursionError, MemoryError, UnicodeEncodeError, StopIteration],
    ids=lambda error: error.__name__,
)
async def test_a_processor_that_raises_loses_no_call(error):
    """If a processor of the application raises, the tool runs once and its answer is returned."""
    structlog.configure(processors=[_raising(error)])
    try:
        answer = await call(lenient(tool), "tool", {"tags": '["a"]'})
        refused = await call(lenient(tool), "tool", {"tags": 5})
    finally:
        structlog.reset_defaults()
    assert got(answer) == ["a"]
    assert rules(answer) == ["json_text_to_array"]
    assert refused.is_error


async def test_a_processor_that_damages_the_event_loses_no_call():
    """An application that empties the event, or puts unencodable values in it, still gets its answer."""

    def spoiled(_logger: Any, _level: str, event: Any) -> Any:
        event.clear()
        event["event"] = object()
        return event

    structlog.configure(processors=[spoiled, structlog.processors.JSONRenderer(default=None)])
    try:
        assert got(await call(lenient(tool), "tool", {"tags": '["a"]'})) == ["a"]
    finally:
        structlog.reset_defaults()
