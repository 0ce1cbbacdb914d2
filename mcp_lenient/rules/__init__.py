"""The rule type and the ordered table of all rules.

Rules are tried in the order of :data:`DEFAULT_RULES`; the winning reading is decided by tier alone.
"""

from __future__ import annotations

from mcp_lenient.rules.rules import ABSENT, DEFAULT_RULES, Place, Rule

__all__ = ["ABSENT", "DEFAULT_RULES", "Place", "Rule"]
