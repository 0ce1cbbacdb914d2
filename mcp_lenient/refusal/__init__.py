"""The words of a refusal: what is wrong, where, what is expected, and which mends are likely."""

from mcp_lenient.refusal.violations import violations

__all__ = ["violations"]
