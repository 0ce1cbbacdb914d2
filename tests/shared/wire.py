"""Send JSON-RPC directly over pipes and HTTP, also what no client would send, and read all answers."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from inspect import isroutine
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from fastmcp import FastMCP
from fastmcp_versions import IS_3, NOT_THERE, skip_on_3

if IS_3:
    import httpx as httpx2
else:
    import httpx2

from waiting import PATIENCE

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

HANDSHAKE = "2025-06-18"
MODERN = "2026-07-28"
NOTES = Path(__file__).parent / "servers" / "notes.py"
ABSENT = object()

Message = dict[str, Any]

_CLIENT = {"name": "by-hand", "version": "1"}
INITIALIZE = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": _CLIENT}
_PREFIX = "io.modelcontextprotocol/"
_ENVELOPE = {
    f"{_PREFIX}protocolVersion": MODERN,
    f"{_PREFIX}clientInfo": _CLIENT,
    f"{_PREFIX}clientCapabilities": {},
}


def call(wire: Http | Pipes, tool: str, arguments: Any = ABSENT) -> Message:
    """Return the whole message that answers a tool call. ``arguments`` may be any value."""
    sent = {} if arguments is ABSENT else {"arguments": arguments}
    return wire.request("tools/call", {"name": tool, **sent})


def _params(params: Mapping[str, Any], modern: bool) -> Message:
    return {**params, "_meta": {**params.get("_meta", {}), **_ENVELOPE}} if modern else dict(params)


class Pipes:
    """A process that is spoken to over stdin and stdout."""

    def __init__(self, *command: str, modern: bool = False, **environment: str) -> None:
        self.stdout: list[str] = []
        self.stderr: list[str] = []
        self._modern = modern
        self._ids = count(1)
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8", **environment}
        self.process = subprocess.Popen(command, env=environment, encoding="utf-8", **streams)  # type: ignore[call-overload]  # noqa: S603 - our own
        self._reader = threading.Thread(target=lambda: self.stderr.extend(self.process.stderr), daemon=True)
        self._reader.start()

    @property
    def events(self) -> list[Message]:
        """Return the events logged so far."""
        return [json.loads(line) for line in self.stderr if line.startswith('{"timestamp"')]

    def post(self, method: str, params: Mapping[str, Any]) -> int:
        """Send a request without waiting for the answer, and return its id."""
        number = next(self._ids)
        self._write({"id": number, "method": method, "params": _params(params, self._modern)})
        return number

    def request(self, method: str, params: Mapping[str, Any]) -> Message:
        """Return the whole message that answers a request."""
        number = self.post(method, params)
        # A proxy starts its server with the first request.
        late = threading.Timer(2 * PATIENCE, self.process.kill)
        late.start()
        try:
            return next(message for message in self._messages() if message.get("id") == number)
        finally:
            late.cancel()

    def handshake(self) -> None:
        """Do the handshake of the older protocol."""
        assert "result" in self.request("initialize", INITIALIZE)
        self._write({"method": "notifications/initialized", "params": {}})

    def close(self) -> None:
        """Disconnect, and read all output to its end."""
        self.process.stdin.close()
        try:
            self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.stdout.extend(self.process.stdout)
        self._reader.join(timeout=PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()

    def _messages(self) -> Iterator[Message]:
        for line in self.process.stdout:
            self.stdout.append(line)
            yield json.loads(line) if line.startswith("{") else {}
        msg = f"The server has gone: {self.stderr}"
        raise AssertionError(msg)

    def _write(self, message: Message) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()


@contextmanager
def pipes(*command: str, modern: bool = False, **environment: str) -> Iterator[Pipes]:
    """Yield a server over stdio, after the handshake if its protocol has one."""
    wire = Pipes(*command, modern=modern, **environment)
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
        answer = self._client.send(self.prepared("initialize", INITIALIZE))
        self._session = {"mcp-session-id": answer.headers["mcp-session-id"]}
        self._client.send(self._built({"method": "notifications/initialized", "params": {}}))

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
        return self._built({"id": next(self._ids), "method": method, "params": _params(params, self._modern)})

    def _built(self, message: Message) -> httpx2.Request:
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
    server: FastMCP | MCPServer | Callable[[str], FastMCP], *, stateless: bool = False, **settings: Any
) -> Iterator[str]:
    """Serve a FastMCP or SDK server on a free port, and yield its URL. A function gets its address and returns it.

    ``settings`` are uvicorn's.
    """
    # Named as TCP, so that asyncio sends small answers without delay.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        made = server(address) if isroutine(server) else server
        app = (made.http_app if isinstance(made, FastMCP) else made.streamable_http_app)(
            stateless_http=stateless
        )
        web = _Server(uvicorn.Config(app, log_level="error", ws="none", **settings))
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
