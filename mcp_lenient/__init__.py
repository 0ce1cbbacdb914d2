"""Repair nearly right tool calls, refuse the rest with errors that a model can act on, and log both.

Each public name is imported when it is asked for: ``from mcp_lenient import normalize`` needs no server framework.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_lenient.adapters.calls import LenientCalls
    from mcp_lenient.adapters.client.dispatch import dispatch
    from mcp_lenient.adapters.client.session import lenient_session
    from mcp_lenient.adapters.fastmcp.decorator import lenient
    from mcp_lenient.adapters.fastmcp.middleware import LenientMiddleware
    from mcp_lenient.adapters.fastmcp.proxy import create_lenient_proxy
    from mcp_lenient.adapters.fastmcp.results import tool_error
    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.engine.contract import Decision
    from mcp_lenient.errors import LenientError, NormalizationError, ToolCallError
    from mcp_lenient.portable import Form, publish, read_back
    from mcp_lenient.rules import ABSENT, DEFAULT_RULES, CallRule, Guard, NameRule, Place, ValueRule
    from mcp_lenient.rules.dispatchers import dispatcher
    from mcp_lenient.rules.policy import Policy
    from mcp_lenient.standalone import Normalizer, normalize
    from mcp_lenient.telemetry.setup import configure_logging
    from mcp_lenient.text_calls import ToolCall, parse_tool_call, parse_tool_calls
    from mcp_lenient.types import Repair, Violation
    from mcp_lenient.values.limits import Limits

    __version__: str

__all__ = [
    "ABSENT",
    "DEFAULT_RULES",
    "CallRule",
    "Decision",
    "Form",
    "Guard",
    "HostSettings",
    "LenientCalls",
    "LenientError",
    "LenientMiddleware",
    "Limits",
    "NameRule",
    "NormalizationError",
    "Normalizer",
    "Place",
    "Policy",
    "Repair",
    "ToolCall",
    "ToolCallError",
    "ValueRule",
    "Violation",
    "configure_logging",
    "create_lenient_proxy",
    "dispatch",
    "dispatcher",
    "lenient",
    "lenient_session",
    "normalize",
    "parse_tool_call",
    "parse_tool_calls",
    "publish",
    "read_back",
    "tool_error",
]

_HOMES = {
    "mcp_lenient.adapters.calls": "LenientCalls",
    "mcp_lenient.adapters.client.dispatch": "dispatch",
    "mcp_lenient.adapters.client.session": "lenient_session",
    "mcp_lenient.adapters.fastmcp.decorator": "lenient",
    "mcp_lenient.adapters.settings": "HostSettings",
    "mcp_lenient.engine.contract": "Decision",
    "mcp_lenient.errors": "LenientError NormalizationError ToolCallError",
    "mcp_lenient.values.limits": "Limits",
    "mcp_lenient.telemetry.setup": "configure_logging",
    "mcp_lenient.adapters.fastmcp.middleware": "LenientMiddleware",
    "mcp_lenient.standalone": "Normalizer normalize",
    "mcp_lenient.portable": "Form publish read_back",
    "mcp_lenient.rules.dispatchers": "dispatcher",
    "mcp_lenient.rules.policy": "Policy",
    "mcp_lenient.adapters.fastmcp.proxy": "create_lenient_proxy",
    "mcp_lenient.adapters.fastmcp.results": "tool_error",
    "mcp_lenient.rules": "ABSENT CallRule DEFAULT_RULES Guard NameRule Place ValueRule",
    "mcp_lenient.text_calls": "ToolCall parse_tool_call parse_tool_calls",
    "mcp_lenient.types": "Repair Violation",
}

if not TYPE_CHECKING:  # a type checker is to know the names above and no others
    from mcp_lenient.values.lazy import lazy_getattr

    _public = lazy_getattr(__name__, _HOMES)

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            value = version("mcp-lenient")
        else:
            value = _public(name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
