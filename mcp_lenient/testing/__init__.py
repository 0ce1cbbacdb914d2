"""Test what tools do with nearly right calls, without running them.

Every call goes through the real server and middleware; a recorder behind all other middleware stops it before
the tool's body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lenient.values.lazy import lazy_getattr

if TYPE_CHECKING:
    from mcp_lenient.testing.assertions import assert_refuses, assert_repairs
    from mcp_lenient.testing.stress_run import StressCall, StressReport, stress

__all__ = ["StressCall", "StressReport", "assert_refuses", "assert_repairs", "stress"]

# pytest loads the plugin in every run, so this must not import a server framework.
__getattr__ = lazy_getattr(
    __name__,
    {
        "mcp_lenient.testing.assertions": "assert_refuses assert_repairs",
        "mcp_lenient.testing.stress_run": "StressCall StressReport stress",
    },
)
