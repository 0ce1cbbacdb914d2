"""This library as an adapter: ``python -m benchmarks.conformance.ours``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from benchmarks.conformance import Reply, serve
from mcp_lenient.rules.policy import Policy
from mcp_lenient.standalone import normalize


def call(request: Mapping[str, Any]) -> Reply:
    """Answer a request by :func:`mcp_lenient.normalize`."""
    declared = request["declared"]
    policy = Policy(
        aliases={name: tuple(others) for name, others in declared.get("aliases", {}).items()},
        drop=frozenset(declared.get("drop", ())),
        destructive=request["destructive"],
    )
    result = normalize(request["schema"], request["arguments"], policy)
    if result.violations:
        return Reply("refused", codes=frozenset(violation.code for violation in result.violations))
    return Reply("ran", result.arguments)


if __name__ == "__main__":
    serve(call, sys.stdin, sys.stdout)
