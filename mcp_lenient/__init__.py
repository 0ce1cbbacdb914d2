"""Repair nearly right tool calls, refuse the rest with errors that a model can act on, and log both.

Each public name is imported when it is asked for: ``from mcp_lenient import normalize`` needs no server framework.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_lenient.adapters.calls import LenientCalls, OutgoingCall
    from mcp_lenient.adapters.client.dispatch import Dispatched, DispatchedCall, dispatch
    from mcp_lenient.adapters.client.session import LenientSession, lenient_session
    from mcp_lenient.adapters.fastmcp.decorator import lenient
    from mcp_lenient.adapters.fastmcp.middleware import LenientMiddleware
    from mcp_lenient.adapters.fastmcp.proxy import create_lenient_proxy
    from mcp_lenient.adapters.fastmcp.tools import tool_error
    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.declare.normalizers.annotation import aliases, normalizer
    from mcp_lenient.declare.normalizers.lists import parse_json, split, tags
    from mcp_lenient.declare.normalizers.scalars import (
        clamp,
        default_on_null,
        iso_date,
        lower,
        null_as,
        strip,
        synonyms,
        upper,
    )
    from mcp_lenient.engine.contract import Decision
    from mcp_lenient.errors import (
        DefinitionError,
        LenientError,
        LoggingError,
        NormalizationError,
        NoToolCallError,
        PolicyError,
        SchemaError,
        ToolCallError,
    )
    from mcp_lenient.normalization import Normalizer, normalize
    from mcp_lenient.portable import Form, Published, ReadBack, publish, read_back
    from mcp_lenient.rules import DEFAULT_RULES, Rule
    from mcp_lenient.rules.policy import Policy
    from mcp_lenient.telemetry.setup import configure_logging
    from mcp_lenient.text_calls import ToolCall, parse_tool_call, parse_tool_calls
    from mcp_lenient.types import Normalized, Repair, Violation
    from mcp_lenient.values.limits import Limits

    __version__: str

__all__ = [
    "DEFAULT_RULES",
    "Decision",
    "DefinitionError",
    "Dispatched",
    "DispatchedCall",
    "Form",
    "HostSettings",
    "LenientCalls",
    "LenientError",
    "LenientMiddleware",
    "LenientSession",
    "Limits",
    "LoggingError",
    "NoToolCallError",
    "NormalizationError",
    "Normalized",
    "Normalizer",
    "OutgoingCall",
    "Policy",
    "PolicyError",
    "Published",
    "ReadBack",
    "Repair",
    "Rule",
    "SchemaError",
    "ToolCall",
    "ToolCallError",
    "Violation",
    "aliases",
    "clamp",
    "configure_logging",
    "create_lenient_proxy",
    "default_on_null",
    "dispatch",
    "iso_date",
    "lenient",
    "lenient_session",
    "lower",
    "normalize",
    "normalizer",
    "null_as",
    "parse_json",
    "parse_tool_call",
    "parse_tool_calls",
    "publish",
    "read_back",
    "split",
    "strip",
    "synonyms",
    "tags",
    "tool_error",
    "upper",
]

_HOMES = {
    "mcp_lenient.adapters.calls": "LenientCalls OutgoingCall",
    "mcp_lenient.adapters.client.dispatch": "Dispatched DispatchedCall dispatch",
    "mcp_lenient.adapters.client.session": "LenientSession lenient_session",
    "mcp_lenient.adapters.fastmcp.decorator": "lenient",
    "mcp_lenient.adapters.settings": "HostSettings",
    "mcp_lenient.engine.contract": "Decision",
    "mcp_lenient.errors": "DefinitionError LenientError LoggingError NoToolCallError NormalizationError PolicyError "
    "SchemaError ToolCallError",
    "mcp_lenient.values.limits": "Limits",
    "mcp_lenient.telemetry.setup": "configure_logging",
    "mcp_lenient.adapters.fastmcp.middleware": "LenientMiddleware",
    "mcp_lenient.normalization": "Normalizer normalize",
    "mcp_lenient.declare.normalizers.annotation": "aliases normalizer",
    "mcp_lenient.declare.normalizers.lists": "parse_json split tags",
    "mcp_lenient.declare.normalizers.scalars": "clamp default_on_null iso_date lower null_as strip synonyms upper",
    "mcp_lenient.portable": "Form Published ReadBack publish read_back",
    "mcp_lenient.rules.policy": "Policy",
    "mcp_lenient.adapters.fastmcp.proxy": "create_lenient_proxy",
    "mcp_lenient.adapters.fastmcp.tools": "tool_error",
    "mcp_lenient.rules": "DEFAULT_RULES Rule",
    "mcp_lenient.text_calls": "ToolCall parse_tool_call parse_tool_calls",
    "mcp_lenient.types": "Normalized Repair Violation",
}

if not TYPE_CHECKING:  # a type checker is to know the names above and no others
    from mcp_lenient.values.lazy import loaded_by_name

    _public = loaded_by_name(__name__, _HOMES)

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
