"""The timed calls: correct, nearly right and wrong ones, of growing size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Workload:
    """One timed call; ``expected`` must reach the tool, or is None for a refusal."""

    name: str
    head: str
    schema: Mapping[str, Any]
    arguments: Mapping[str, Any]
    expected: Mapping[str, Any] | None


def _closed(required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


_TEXT, _INTEGER = {"type": "string"}, {"type": "integer"}
_TEXTS = {"type": "array", "items": _TEXT}
_SEARCH = _closed(
    "query limit",
    query=_TEXT,
    limit=_INTEGER,
    tags=_TEXTS,
    kind={"type": "string", "enum": ["new", "old"]},
    exact={"type": "boolean"},
)
_RIGHT = {"query": "tea", "limit": 5, "tags": ["a", "b"], "kind": "old", "exact": True}
_NOTE = _closed("content", content=_TEXT, tags=_TEXTS)
_NAMED = _closed("max_results", max_results=_INTEGER)
_ROWS = _closed(
    "rows", rows={"type": "array", "items": _closed("name", name=_TEXT, amount={"type": "number"})}
)
_TAGS = {"content": "x", "tags": ["a", "b"]}


def _rows(amount: object) -> dict[str, Any]:
    return {"rows": [{"name": f"row {at}", "amount": amount} for at in range(50)]}


WORKLOADS = (
    Workload("five parameters", "right", _SEARCH, _RIGHT, _RIGHT),
    Workload("text for a number", "number", _SEARCH, {**_RIGHT, "limit": "5"}, _RIGHT),
    Workload("JSON text for a list", "JSON", _NOTE, {**_TAGS, "tags": '["a", "b"]'}, _TAGS),
    Workload("camelCase name", "name", _NAMED, {"maxResults": 5}, {"max_results": 5}),
    Workload("text for a number in each of 50 objects", "50", _ROWS, _rows("12.5"), _rows(12.5)),
    Workload("number for a list", "refused", _NOTE, {"content": "x", "tags": 123}, None),
)
SEARCH = WORKLOADS[0]
SIZES_KIB = (4, 40, 400)
TOOLS = (10, 100, 1000)


def sized(kib: int) -> Workload:
    """Return an accepted call with a list of texts of about this size."""
    arguments = {"content": "x", "tags": [f"tag-{at:012}" for at in range(kib * 1024 // 20)]}
    return Workload(f"{kib} KiB", f"{kib} KiB", _NOTE, arguments, arguments)


def many_schemas(tools: int) -> list[dict[str, Any]]:
    """Return this many schemas, each with its own title."""
    return [{**_SEARCH, "title": f"tool {at}"} for at in range(tools)]
