"""The implementation's side of the suite: the protocol, and this library behind it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import IO, Any, TypeAlias

from mcp_lenient.testing.conformance.suite import Reply

__all__ = ["Adapted", "serve"]

Adapted: TypeAlias = Callable[[Mapping[str, Any]], Reply]
"""An implementation: it is given a request with ``schema``, ``arguments``, ``destructive`` and ``declared``."""


def serve(call: Adapted, requests: IO[str] = sys.stdin, answers: IO[str] = sys.stdout) -> None:
    """Answer one call a line until the requests end.

    Args:
        call: The implementation.
        requests: Where the calls come from.
        answers: Where the answers go; nothing else may be printed there.
    """
    for line in requests:
        request = json.loads(line)
        answers.write(json.dumps({"id": request["id"], **_as_json(call(request))}) + "\n")
        answers.flush()


def _as_json(reply: Reply) -> dict[str, Any]:
    if reply.outcome == "ran":
        return {"outcome": "ran", "arguments": reply.arguments}
    if reply.outcome == "unsupported":
        return {"outcome": "unsupported", "reason": reply.reason}
    return {"outcome": "refused"} | ({} if reply.codes is None else {"codes": sorted(reply.codes)})
