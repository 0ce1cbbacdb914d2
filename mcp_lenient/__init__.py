"""Nearly right tool calls run, the rest is refused so that a model can mend it, and both are logged."""

from mcp_lenient.errors import LenientError, PolicyError, SchemaError
from mcp_lenient.middleware import LenientMiddleware
from mcp_lenient.normalization import normalize
from mcp_lenient.policy import Limits, Policy
from mcp_lenient.rules import DEFAULT_RULES, Rule
from mcp_lenient.types import Normalized, Repair, Violation

__all__ = [
    "DEFAULT_RULES",
    "LenientError",
    "LenientMiddleware",
    "Limits",
    "Normalized",
    "Policy",
    "PolicyError",
    "Repair",
    "Rule",
    "SchemaError",
    "Violation",
    "normalize",
]
