"""A server over stdio with the answers of its argument, a JSON object by method, also ones that no SDK would give.

``tools/call#2`` answers the second request with that method, and ``*`` all requests without an answer of their own.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Any

_UNKNOWN = {"error": {"code": -32601, "message": "Method not found"}}
_ANSWERS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "by-hand", "version": "1"},
    },
    "server/discover": _UNKNOWN,
    "ping": {},
    **json.loads(sys.argv[1]),
}
_asked: Counter[str] = Counter()

for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if "id" not in request:
        continue
    _asked[method] += 1
    usual = _ANSWERS.get(method, _ANSWERS.get("*", _UNKNOWN))
    answer = _ANSWERS.get(f"{method}#{_asked[method]}", usual)
    whole = answer if isinstance(answer, dict) and "error" in answer else {"result": answer}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **whole}) + "\n")
    sys.stdout.flush()
