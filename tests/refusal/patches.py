"""The fixes of refused calls as plain patches, and patches written shortly."""

from __future__ import annotations

from typing import Any

from mcp_lenient import Policy, normalize

Patch = list[dict[str, Any]]


def fixes_of(schema: dict[str, Any], sent: Any, **policy: Any) -> list[Patch]:
    """Return the patches of all violations in order."""
    found = normalize(schema, sent, Policy(**policy)).violations
    return [[dict(operation) for operation in patch] for each in found for patch in each.fixes]


def offered(schema: dict[str, Any], sent: Any, **policy: Any) -> list[Patch]:
    """Return the patches of all violations in order, without duplicates."""
    plain = fixes_of(schema, sent, **policy)
    return [patch for at, patch in enumerate(plain) if repr(patch) not in map(repr, plain[:at])]


def move(source: str, target: str) -> Patch:
    """Return a patch that moves one value."""
    return [{"op": "move", "from": source, "path": target}]


def replace(path: str, value: Any) -> Patch:
    """Return a patch that replaces one value."""
    return [{"op": "replace", "path": path, "value": value}]
