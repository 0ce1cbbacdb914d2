"""Explain what would become of a call, step by step, without running the tool."""

from mcp_lenient.devtools.explain.calls import explain
from mcp_lenient.devtools.explain.logged import explain_event
from mcp_lenient.devtools.explain.steps import Explanation, Step

__all__ = ["Explanation", "Step", "explain", "explain_event"]
