"""Nearly right tool calls run, the rest is refused so that a model can mend it, and both are logged.

Each public name is imported when it is asked for: ``from mcp_lenient import normalize`` needs no server framework.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_lenient.decorator import lenient
    from mcp_lenient.errors import (
        DefinitionError,
        LenientError,
        LoggingError,
        NormalizationError,
        PolicyError,
        SchemaError,
        ToolCallError,
    )
    from mcp_lenient.limits import Limits
    from mcp_lenient.logging_setup import configure_logging
    from mcp_lenient.middleware import LenientMiddleware
    from mcp_lenient.normalization import normalize
    from mcp_lenient.normalizers import (
        aliases,
        clamp,
        default_on_null,
        iso_date,
        lower,
        normalizer,
        null_as,
        parse_json,
        split,
        strip,
        synonyms,
        tags,
        upper,
    )
    from mcp_lenient.policy import Policy
    from mcp_lenient.proxy import create_lenient_proxy
    from mcp_lenient.rules import DEFAULT_RULES, Rule
    from mcp_lenient.tool_calls import ToolCall, parse_tool_call, parse_tool_calls
    from mcp_lenient.types import Normalized, Repair, Violation

    __version__: str

__all__ = [
    "DEFAULT_RULES",
    "DefinitionError",
    "LenientError",
    "LenientMiddleware",
    "Limits",
    "LoggingError",
    "NormalizationError",
    "Normalized",
    "Policy",
    "PolicyError",
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
    "iso_date",
    "lenient",
    "lower",
    "normalize",
    "normalizer",
    "null_as",
    "parse_json",
    "parse_tool_call",
    "parse_tool_calls",
    "split",
    "strip",
    "synonyms",
    "tags",
    "upper",
]

_HOMES = {
    "mcp_lenient.decorator": "lenient",
    "mcp_lenient.errors": "DefinitionError LenientError LoggingError NormalizationError PolicyError SchemaError "
    "ToolCallError",
    "mcp_lenient.limits": "Limits",
    "mcp_lenient.logging_setup": "configure_logging",
    "mcp_lenient.middleware": "LenientMiddleware",
    "mcp_lenient.normalization": "normalize",
    "mcp_lenient.normalizers": "aliases clamp default_on_null iso_date lower normalizer null_as parse_json split strip "
    "synonyms tags upper",
    "mcp_lenient.policy": "Policy",
    "mcp_lenient.proxy": "create_lenient_proxy",
    "mcp_lenient.rules": "DEFAULT_RULES Rule",
    "mcp_lenient.tool_calls": "ToolCall parse_tool_call parse_tool_calls",
    "mcp_lenient.types": "Normalized Repair Violation",
}

if not TYPE_CHECKING:  # a type checker is to know the names above and no others
    from mcp_lenient.by_name import loaded_by_name

    _public = loaded_by_name(__name__, _HOMES)

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415 - few ask for it

            value = version("mcp-lenient")
        else:
            value = _public(name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
