"""A server over stdio that only speaks the older era, and asks for the client's roots as soon as it is connected.

It appends a line to the file given as its argument.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_INFO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "older", "version": "1"},
}
_TOOL = {
    "name": "roots",
    "description": "Return the roots.",
    "inputSchema": {"type": "object", "properties": {}},
}
_roots: list[str] = ["not asked"]


def _send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def _answer(message: dict[str, Any]) -> None:
    method = message.get("method")
    if method == "notifications/initialized":
        _send(id="roots", method="roots/list")
    elif message.get("id") == "roots":
        _roots[:] = [each["uri"] for each in message.get("result", {}).get("roots", [{"uri": "refused"}])]
    elif "id" in message:
        found = {
            "initialize": _INFO,
            "ping": {},
            "tools/list": {"tools": [_TOOL]},
            "tools/call": {"content": [{"type": "text", "text": _roots[0]}]},
        }.get(str(method))
        if found is None:
            _send(id=message["id"], error={"code": -32601, "message": "Method not found"})
        else:
            _send(id=message["id"], result=found)


if __name__ == "__main__":
    with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
        file.write("started\n")
    for line in sys.stdin:
        _answer(json.loads(line))
