"""One call's repair under way: its bounds, and what it came upon."""

from __future__ import annotations

from dataclasses import dataclass, field

from mcp_lenient.json_text import Texts
from mcp_lenient.plan import Plan
from mcp_lenient.types import Tie


@dataclass(slots=True)
class Run:
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
    texts: Texts
    ties: list[Tie] = field(default_factory=list)


class OutOfSteps(Exception):  # noqa: N818 - a signal within the repair, never seen outside
    """The schema branches so much that this call is given up."""
