"""Tests for authors of servers: what a tool makes of nearly right calls, without running it.

Everything goes through a real server with the real middleware; a recorder behind all other middleware
stops each call before the tool's body.
"""

from mcp_lenient.testing.assertions import assert_refuses, assert_repairs
from mcp_lenient.testing.stress import StressCall, StressReport, stress

__all__ = ["StressCall", "StressReport", "assert_refuses", "assert_repairs", "stress"]
