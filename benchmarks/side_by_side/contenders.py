"""The contenders: alternatives to this project, and how they are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["function", "server"]
"""From arguments to arguments, or a tool call through a server; only contenders of one kind are compared."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to handle a tool call.

    Attributes:
        name: Its name in the table.
        kind: The kind of contender that it is compared with.
        adapter: The program and its arguments.
        requirements: The pinned packages of its environment; none if it runs in the project's own.
        used: How it is used, in one line.
        quicker: Why it may be faster than this project.
    """

    name: str
    kind: Kind
    adapter: tuple[str, ...]
    requirements: tuple[str, ...]
    used: str
    quicker: str = ""


_COMPILED = (
    "its types are compiled from code, where normalize is given a schema with each call and has to recognize it; "
    "and it converts as it checks, by the type alone, with no second reading to look for and no record of what it changed"
)
_FIRST = "its refusal is an error without the look for all faults, near names and fixes that were tried"
_INSIDE = "a middleware is an addition to what the server does without it"

CONTENDERS = (
    Contender(
        "mcp-lenient normalize", "function", ("lenient_function.py",), (), "normalize(schema, arguments)"
    ),
    Contender(
        "json_repair with schema",
        "function",
        ("json_repair_schema.py",),
        ("json-repair==0.64.5", "jsonschema==4.26.0"),
        "json_repair.loads(text, schema=schema)",
    ),
    Contender(
        "BAML",
        "function",
        ("baml.py",),
        ("baml-py==0.226.3", "pydantic==2.14.3"),
        "its runtime parser on a class made from the schema, with @alias and @assert",
    ),
    Contender(
        "msgspec lax",
        "function",
        ("msgspec_lax.py",),
        ("msgspec==0.22.0",),
        "convert(arguments, Struct, strict=False), unknown fields forbidden",
        quicker=_COMPILED,
    ),
    Contender(
        "pydantic lax",
        "function",
        ("pydantic_lax.py",),
        (),
        "Model.model_validate(arguments), extra forbidden or allowed as the schema says",
        quicker=_COMPILED,
    ),
    Contender(
        "DSPy JSON adapter",
        "function",
        ("dspy_json.py",),
        ("dspy==3.4.1",),
        "JSONAdapter().parse(signature, text), one output field a parameter",
        quicker=_FIRST,
    ),
    Contender(
        "agent-airlock",
        "function",
        ("airlock.py",),
        ("agent-airlock==0.10.26", "pydantic==2.14.3"),
        "@Airlock() on the function, its audit file off",
        quicker=_FIRST,
    ),
    Contender(
        "mcp-lenient on FastMCP",
        "server",
        ("fastmcp_server.py", "lenient"),
        (),
        "LenientMiddleware() on a default server, server.call_tool",
    ),
    Contender(
        "mcp-lenient on FastMCP strict",
        "server",
        ("fastmcp_server.py", "lenient-strict"),
        (),
        "LenientMiddleware() on a server with strict_input_validation=True, server.call_tool",
    ),
    Contender(
        "FastMCP",
        "server",
        ("fastmcp_server.py", "default"),
        (),
        "a default server, server.call_tool",
        quicker=_INSIDE,
    ),
    Contender(
        "FastMCP strict",
        "server",
        ("fastmcp_server.py", "strict"),
        (),
        "strict_input_validation=True, server.call_tool",
        quicker=_INSIDE,
    ),
    Contender(
        "MCP SDK MCPServer",
        "server",
        ("mcp_server.py",),
        (),
        "MCPServer with function tools, server.call_tool",
        quicker="it has no middleware, no providers and no versions to look a tool up in, as FastMCP has",
    ),
)

OURS = {"function": "mcp-lenient normalize", "server": "mcp-lenient on FastMCP"}
