"""A server over stdio that writes Latin-1 where it should write UTF-8.

A server built with the SDK could not: the SDK keeps everything else away from standard output.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

_NAMES = ("latin", "stray", "process")


def _write(message: Any) -> None:
    text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
    sys.stdout.buffer.write(f"{text}\n".encode("latin-1"))
    sys.stdout.buffer.flush()


def _called(name: str) -> dict[str, Any]:
    if name == "stray":
        sys.stdout.buffer.write(b"\xff\xfe\n")
        _write({"method": "notifications/message", "params": {"level": "info", "data": "caf\xe9"}})
    text = {"latin": "caf\xe9", "stray": "written", "process": str(os.getpid())}[name]
    return {"content": [{"type": "text", "text": text}]}


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    method = request["method"]
    if method == "initialize":
        hello = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "prompts": {}}}
        return {"result": {**hello, "serverInfo": {"name": "latin", "version": "1"}}}
    if method == "tools/list":
        return {"result": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in _NAMES]}}
    if method == "prompts/list":
        return {"result": {"prompts": [{"name": "caf\xe9"}]}}
    if method == "tools/call":
        return {"result": _called(request["params"]["name"])}
    return {"error": {"code": -32601, "message": "Method not found"}}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        _write({"id": message["id"], **_answer(message)})
