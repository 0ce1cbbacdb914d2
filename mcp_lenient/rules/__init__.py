"""The three kinds of rules and the ordered table of all rules."""

from __future__ import annotations

from mcp_lenient.rules.rules import ABSENT, DEFAULT_RULES, CallRule, Guard, NameRule, Place, Rule, ValueRule

__all__ = ["ABSENT", "DEFAULT_RULES", "CallRule", "Guard", "NameRule", "Place", "Rule", "ValueRule"]
