"""Schemas that providers reject, each with a call in the author's words and in those of the portable form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
SHAPES: dict[str, tuple[Json, Json, Json]] = {
    name: tuple(shape)
    for name, shape in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")).items()
}


def parameters(**properties: Any) -> Json:
    """Return the schema of a tool with these parameters, the last of which is required."""
    return {"type": "object", "properties": properties, "required": list(properties)[-1:]}
