"""A server over stdio that answers every list and call with an error, or with its second argument.

It claims to have the kinds of components named by its first argument.
"""

from __future__ import annotations

import json
import sys
from typing import Any

_CLAIMED = sys.argv[1].split(",")
_DOWN = {"error": {"code": -32603, "message": "database is down at 10.0.0.7"}}
_FAILED = json.loads(sys.argv[2]) if len(sys.argv) > 2 else _DOWN
_HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {kind: {} for kind in _CLAIMED},
    "serverInfo": {"name": "broken", "version": "1"},
}
_ANSWERS: dict[str, Any] = {
    "initialize": {"result": _HELLO},
    "server/discover": {"error": {"code": -32601, "message": "Method not found"}},
    "ping": {"result": {}},
}

for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        answer = _ANSWERS.get(request["method"], _FAILED)
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}) + "\n")
        sys.stdout.flush()
