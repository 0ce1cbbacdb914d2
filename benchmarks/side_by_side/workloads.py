"""The timed calls: correct, nearly right and wrong ones, of growing size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Group = Literal["accepted", "repair", "refusal"]


@dataclass(frozen=True, slots=True)
class Workload:
    """One timed call; ``expected`` must reach the tool, or is None for a refusal."""

    name: str
    head: str
    group: Group
    schema: Mapping[str, Any]
    arguments: Mapping[str, Any]
    expected: Mapping[str, Any] | None


def _closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_SEARCH = _closed(
    ["query", "limit"],
    query=_TEXT,
    limit={"type": "integer"},
    tags=_TEXTS,
    kind={"type": "string", "enum": ["new", "old"]},
    exact={"type": "boolean"},
)
_RIGHT = {"query": "tea", "limit": 5, "tags": ["a", "b"], "kind": "old", "exact": True}
_NOTE = _closed(["content"], content=_TEXT, tags=_TEXTS)
_ROW = _closed(["name"], name=_TEXT, amount={"type": "number"})
_ROWS = _closed(["rows"], rows={"type": "array", "items": _ROW})

WORKLOADS = (
    Workload("five parameters", "right", "accepted", _SEARCH, _RIGHT, _RIGHT),
    Workload("text for a number", "number", "repair", _SEARCH, {**_RIGHT, "limit": "5"}, _RIGHT),
    Workload(
        "JSON text for a list",
        "JSON",
        "repair",
        _NOTE,
        {"content": "x", "tags": '["a", "b"]'},
        {"content": "x", "tags": ["a", "b"]},
    ),
    Workload(
        "camelCase name",
        "name",
        "repair",
        _closed(["max_results"], max_results={"type": "integer"}),
        {"maxResults": 5},
        {"max_results": 5},
    ),
    Workload(
        "text for a number in each of 50 objects",
        "50",
        "repair",
        _ROWS,
        {"rows": [{"name": f"row {at}", "amount": "12.5"} for at in range(50)]},
        {"rows": [{"name": f"row {at}", "amount": 12.5} for at in range(50)]},
    ),
    Workload("number for a list", "refused", "refusal", _NOTE, {"content": "x", "tags": 123}, None),
)

SIZES_KIB = (4, 40, 400)
TOOLS = (10, 100, 1000)


def sized(kib: int) -> Workload:
    """Return an accepted call with a list of texts of about this size."""
    arguments = {"content": "x", "tags": [f"tag-{at:012}" for at in range(kib * 1024 // 20)]}
    return Workload(f"{kib} KiB", f"{kib} KiB", "accepted", _NOTE, arguments, arguments)


def many_schemas(tools: int) -> list[dict[str, Any]]:
    """Return this many schemas, each with its own title."""
    return [{**_SEARCH, "title": f"tool {at}"} for at in range(tools)]


SEARCH = WORKLOADS[0]
