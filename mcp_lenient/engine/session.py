"""One repair under way: its budget, and the places that a validator refuses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mcp_lenient.engine.plan import Plan
from mcp_lenient.types import Tie, ValidationIssue
from mcp_lenient.values.json_text import TextParseCache


@dataclass(slots=True)
class RepairSession:
    """What one call's repair shares.

    Attributes:
        plan: The compiled schema and policy.
        exact: Whether ``7.0`` is refused for an integer.
        steps: Places that may still be looked at.
        texts: The texts of the call, each read once.
        ties: Places whose best readings cost the same.
    """

    plan: Plan
    exact: bool
    steps: int
    texts: TextParseCache
    ties: list[Tie] = field(default_factory=list)


class OutOfSteps(Exception):  # noqa: N818 - a signal within the repair, never seen outside
    """The schema branches so much that this call is given up."""


@dataclass(slots=True)
class Scope:
    """Which places the judge holds something against; every other place stays as it was sent."""

    full: bool = False
    names: bool = False
    unknown: set[str] = field(default_factory=set)
    below: dict[str | int, Scope] = field(default_factory=dict)

    @property
    def indices(self) -> list[int]:
        """The items that something is held against, in order."""
        return sorted(key for key in self.below if isinstance(key, int))


UNTOUCHED = Scope()


def scope_below(scope: Scope | None, key: str | int) -> Scope | None:
    """The scope of what stands under a key: its own faults, all of it, or nothing."""
    if scope is None:
        return None
    own = scope.below.get(key)
    return own if own is not None or scope.full else UNTOUCHED


def scope_of(faults: Iterable[ValidationIssue]) -> Scope:
    """The scope that faults make: all of a faulty value, and the names of an object that lacks or has one."""
    top = Scope()
    for fault in faults:
        names = fault.kind in ("missing", "unknown", "key")
        scope = top
        for part in fault.path[:-1] if names else fault.path:
            scope = scope.below.setdefault(part, Scope())
        if names:
            scope.names = True
            if fault.kind == "unknown" and isinstance(fault.path[-1], str):
                scope.unknown.add(fault.path[-1])
        else:
            scope.full = True
    return top
