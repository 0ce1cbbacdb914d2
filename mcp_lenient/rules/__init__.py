"""The rule type and the ordered table of all rules."""

from __future__ import annotations

from mcp_lenient.rules.rules import ABSENT, DEFAULT_RULES, Place, Rule

__all__ = ["ABSENT", "DEFAULT_RULES", "Place", "Rule"]
