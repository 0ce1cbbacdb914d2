"""A program that uses the engine alone, for environments without a server framework."""

from __future__ import annotations

ENGINE = """
from mcp_lenient import (
    DEFAULT_RULES,
    LenientError,
    Limits,
    Normalizer,
    Policy,
    Repair,
    ValueRule,
    ToolCall,
    Violation,
    normalize,
    parse_tool_call,
    parse_tool_calls,
)
from mcp_lenient.results import Normalized
schema = {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
assert normalize(schema, {"tags": '["a"]'}).arguments == {"tags": ["a"]}
assert normalize(schema, {"tags": "['a',]"}, Policy(limits=Limits(depth=8))).arguments == {"tags": ["a"]}
assert Normalizer(schema)({"tags": '["a"]'}).arguments == {"tags": ["a"]}
assert normalize(schema, {"tags": 7}).violations[0].expected_types == ("array of strings",)
call = parse_tool_call('<tool_call>{"name": "store", "arguments": {"tags": "a"}}</tool_call>')
assert (call.tool, call.arguments) == ("store", {"tags": "a"})
"""
