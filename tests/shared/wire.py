"""Send JSON-RPC directly over pipes and HTTP, also what no client would send, and read all answers."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from inspect import isroutine
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import uvicorn
from fastmcp import FastMCP
from fastmcp_versions import IS_3, NOT_THERE, skip_on_3

if IS_3:
    import httpx as httpx2
else:
    import httpx2

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

HANDSHAKE = "2025-06-18"
MODERN = "2026-07-28"
NOTES = Path(__file__).parent / "servers" / "notes.py"
PATIENCE = 60
ABSENT = object()

Message = dict[str, Any]

_CLIENT = {"name": "by-hand", "version": "1"}
_INITIALIZE = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": _CLIENT}
_PREFIX = "io.modelcontextprotocol/"
_ENVELOPE = {
    f"{_PREFIX}protocolVersion": MODERN,
    f"{_PREFIX}clientInfo": _CLIENT,
    f"{_PREFIX}clientCapabilities": {},
}


class Wire(Protocol):
    """A connection that sends any request unchanged."""

    def request(self, method: str, params: Mapping[str, Any]) -> Message:
        """Return the whole message that answers this request."""
        ...


def call(wire: Wire, tool: str, arguments: Any = ABSENT) -> Message:
    """Return the whole message that answers a tool call. ``arguments`` may be any value."""
    sent = {} if arguments is ABSENT else {"arguments": arguments}
    return wire.request("tools/call", {"name": tool, **sent})


def _params(params: Mapping[str, Any], modern: bool) -> Message:
    return {**params, "_meta": {**params.get("_meta", {}), **_ENVELOPE}} if modern else dict(params)


class Pipes:
    """A server in another process, reached over stdin and stdout."""

    def __init__(self, *arguments: str, modern: bool = False) -> None:
        self.stdout: list[str] = []
        self.stderr: list[str] = []
        self._modern = modern
        self._ids = count(1)
        self._arrived: queue.Queue[Message | None] = queue.Queue()
        self._answers: dict[Any, Message] = {}
        self._process = subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, NOTES, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            encoding="utf-8",
        )
        self._readers = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def events(self) -> list[Message]:
        """Return the events logged so far."""
        lines = [line for line in self.stderr if line.startswith('{"timestamp"')]
        return [json.loads(line) for line in lines]

    def wait_for_event(self, name: str) -> Message:
        """Wait for the first event of this name and return it."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for event in self.events:
                if event["event"] == name:
                    return event
            time.sleep(0.01)
        msg = f"No {name} was logged: {self.stderr}"
        raise AssertionError(msg)

    def post(self, method: str, params: Mapping[str, Any]) -> int:
        """Send a request without waiting for the answer, and return its id."""
        number = next(self._ids)
        self._write(
            {"jsonrpc": "2.0", "id": number, "method": method, "params": _params(params, self._modern)}
        )
        return number

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification."""
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self, number: int) -> Message:
        """Return the message that answers this request, whenever it arrives."""
        while number not in self._answers:
            message = self._arrived.get(timeout=PATIENCE)
            assert message is not None, f"The server has gone: {self.stderr}"
            self._answers[message.get("id")] = message
        return self._answers.pop(number)

    def request(self, method: str, params: Mapping[str, Any]) -> Message:
        return self.answer(self.post(method, params))

    def handshake(self) -> None:
        """Do the handshake of the older protocol."""
        assert "result" in self.request("initialize", _INITIALIZE)
        self.notify("notifications/initialized", {})

    def close(self) -> None:
        """Disconnect, and read all output to its end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        for reader in self._readers:
            reader.join(timeout=PATIENCE)
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()

    def _write(self, message: Message) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _read_stdout(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.stdout.append(line)
            self._arrived.put(json.loads(line) if line.startswith("{") else {})
        self._arrived.put(None)

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        self.stderr.extend(self._process.stderr)


@contextmanager
def pipes(*arguments: str, modern: bool = False) -> Iterator[Pipes]:
    """Yield a server over stdio, after the handshake if its protocol has one."""
    wire = Pipes(*arguments, modern=modern)
    try:
        if not modern:
            wire.handshake()
        yield wire
    finally:
        wire.close()


class Http:
    """An HTTP endpoint, called by single POSTs."""

    def __init__(self, url: str, *, modern: bool = False) -> None:
        self._url = url
        self._modern = modern
        self._ids = count(1)
        # Without TLS, because loading certificates takes longer than a test.
        self._client = httpx2.Client(timeout=PATIENCE, trust_env=False, verify=False)
        self._session: dict[str, str] = {}

    def handshake(self) -> None:
        """Do the handshake of a stateful connection."""
        answer = self._post({"id": next(self._ids), "method": "initialize", "params": _INITIALIZE})
        self._session = {"mcp-session-id": answer.headers["mcp-session-id"]}
        self._post({"method": "notifications/initialized", "params": {}})

    def request(self, method: str, params: Mapping[str, Any]) -> Message:
        request = self.prepared(method, params)
        message: Message = json.loads(_payload(self._client.send(request)))
        assert message["id"] == json.loads(request.content)["id"]
        return message

    def close(self) -> None:
        """Disconnect."""
        self._client.close()

    def prepared(self, method: str, params: Mapping[str, Any]) -> httpx2.Request:
        """Return a request as it would be sent, so that a test can send it in another way."""
        return self._prepared(
            {"id": next(self._ids), "method": method, "params": _params(params, self._modern)}
        )

    def _post(self, message: Message) -> httpx2.Response:
        return self._client.send(self._prepared(message))

    def _prepared(self, message: Message) -> httpx2.Request:
        routing = {"mcp-method": message["method"], "mcp-name": str(message["params"].get("name", ""))}
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": MODERN if self._modern else HANDSHAKE,
            **(routing if self._modern else {}),
            **self._session,
        }
        return self._client.build_request(
            "POST", self._url, json={"jsonrpc": "2.0", **message}, headers=headers
        )


def _payload(answer: httpx2.Response) -> str:
    if answer.headers["content-type"].startswith("text/event-stream"):
        return next(line[6:] for line in answer.text.splitlines() if line.startswith("data: {"))
    return answer.text


class _Server(uvicorn.Server):
    """A server that stops at once. Uvicorn's own checks only every tenth of a second, and then waits."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._left: Future[None] = Future()

    def leave(self) -> None:
        """Stop the server, from any thread."""
        self._left.set_result(None)

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await asyncio.wrap_future(self._left)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002 - the signature of uvicorn's method
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        if self.server_state.tasks:
            _, running = await asyncio.wait(self.server_state.tasks, timeout=1)
            for task in running:
                task.cancel()
        await self.lifespan.shutdown()


@contextmanager
def serving(
    server: FastMCP | MCPServer | Callable[[str], FastMCP], *, stateless: bool = False
) -> Iterator[str]:
    """Serve a FastMCP or SDK server on a free port, and yield its URL. A function gets its address and returns it."""
    # Named as TCP, so that asyncio sends small answers without delay.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        made = server(address) if isroutine(server) else server
        app = (made.http_app if isinstance(made, FastMCP) else made.streamable_http_app)(
            stateless_http=stateless
        )
        web = _Server(uvicorn.Config(app, log_level="error", ws="none"))
        thread = threading.Thread(target=web.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + PATIENCE
        while not web.started:
            assert thread.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        try:
            yield f"{address}/mcp"
        finally:
            web.leave()
            thread.join(timeout=PATIENCE)
            assert not thread.is_alive()


@contextmanager
def http(server: FastMCP | MCPServer, kind: str) -> Iterator[Http]:
    """Yield an HTTP connection to a server of one of these kinds: stateful, stateless, modern."""
    if kind == "modern":
        skip_on_3(NOT_THERE)
    with serving(server, stateless=kind == "stateless") as url:
        wire = Http(url, modern=kind == "modern")
        try:
            if kind == "stateful":
                wire.handshake()
            yield wire
        finally:
            wire.close()
