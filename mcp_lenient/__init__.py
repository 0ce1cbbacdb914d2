"""Nearly right tool calls run, the rest is refused so that a model can mend it, and both are logged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lenient.by_name import loaded_by_name
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
from mcp_lenient.policy import Policy
from mcp_lenient.rules import DEFAULT_RULES, Rule
from mcp_lenient.types import Normalized, Repair, Violation

if TYPE_CHECKING:
    from mcp_lenient.decorator import lenient
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
    from mcp_lenient.proxy import create_lenient_proxy
    from mcp_lenient.tool_calls import ToolCall, parse_tool_call, parse_tool_calls

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

__getattr__ = loaded_by_name(
    __name__,
    {
        "mcp_lenient.decorator": "lenient",
        "mcp_lenient.normalization": "normalize",
        "mcp_lenient.normalizers": "aliases clamp default_on_null iso_date lower normalizer null_as parse_json split "
        "strip synonyms tags upper",
        "mcp_lenient.proxy": "create_lenient_proxy",
        "mcp_lenient.tool_calls": "ToolCall parse_tool_call parse_tool_calls",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
