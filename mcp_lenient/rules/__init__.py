"""The rule type and the ordered table of all rules.

A rule looks at one node of a schema once and returns the function that runs per value, or None if it does not apply
there. Rules are tried in the order of :data:`DEFAULT_RULES`; the winning candidate is decided by tier alone.
"""

from __future__ import annotations

from mcp_lenient.rules.rules import ABSENT, DEFAULT_RULES, Rule, Site
from mcp_lenient.schema.node import Position

__all__ = ["ABSENT", "DEFAULT_RULES", "Position", "Rule", "Site"]
