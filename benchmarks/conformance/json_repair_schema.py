"""json_repair with a schema as an adapter, ``json_repair.loads(text, schema=schema)``, in an environment that has it."""

# mypy: ignore-errors

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import json_repair

from benchmarks.conformance import Reply, serve


def call(request: Mapping[str, Any]) -> Reply:
    """Answer a request."""
    if request["declared"]:
        return Reply("unsupported", reason="aliases and keys to drop")
    arguments = request["arguments"]
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    try:
        value = json_repair.loads(text, schema=request["schema"])
    except ValueError:  # its error for a text that does not fit the schema
        return Reply("refused")
    return Reply("ran", value) if isinstance(value, dict) else Reply("refused")


if __name__ == "__main__":
    serve(call)
