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
        used: How it is used, in one line.
        requirements: The pinned packages of its environment; none if it runs in the project's own.
        quicker: Why it may be faster than this project.
    """

    name: str
    kind: Kind
    adapter: str
    used: str
    requirements: tuple[str, ...] = ()
    quicker: str = ""


_COMPILED = (
    "its types are compiled from code, where normalize is given a schema with each call and has to recognize it; "
    "and it converts as it checks, by the type alone, with no second reading to look for and no record of what it changed"
)
_FIRST = "its refusal is an error without the look for all faults, near names and fixes that were tried"
_INSIDE = "a middleware is an addition to what the server does without it"
_MODEL = "Model.model_validate(arguments), extra forbidden or allowed as the schema says"
_BAML = "its runtime parser on a class made from the schema, with @alias and @assert"
_MSGSPEC = "convert(arguments, Struct, strict=False), unknown fields forbidden"
_DSPY = "JSONAdapter().parse(signature, text), one output field a parameter"
_SHORT = "it has no middleware, no providers and no versions to look a tool up in, as FastMCP has"
_STRICT = "LenientMiddleware() on a server with strict_input_validation=True, server.call_tool"
_JSON_REPAIR = ("json-repair==0.64.5", "jsonschema==4.26.0")
_PYDANTIC = "pydantic==2.14.3"

# fmt: off - one contender a block, however long its lines
CONTENDERS = (
    Contender("mcp-lenient normalize", "function", "lenient_function.py", "normalize(schema, arguments)"),
    Contender(
        "json_repair with schema",
        "function",
        "json_repair_schema.py",
        "json_repair.loads(text, schema=schema)",
        _JSON_REPAIR,
    ),
    Contender("BAML", "function", "baml.py", _BAML, ("baml-py==0.226.3", _PYDANTIC)),
    Contender("msgspec lax", "function", "msgspec_lax.py", _MSGSPEC, ("msgspec==0.22.0",), _COMPILED),
    Contender("pydantic lax", "function", "pydantic_lax.py", _MODEL, (), _COMPILED),
    Contender("DSPy JSON adapter", "function", "dspy_json.py", _DSPY, ("dspy==3.4.1",), _FIRST),
    Contender(
        "agent-airlock",
        "function",
        "airlock.py",
        "@Airlock() on the function, its audit file off",
        ("agent-airlock==0.10.26", _PYDANTIC),
        _FIRST,
    ),
    Contender(
        "mcp-lenient on FastMCP",
        "server",
        "fastmcp_server.py lenient",
        "LenientMiddleware() on a default server, server.call_tool",
    ),
    Contender("mcp-lenient on FastMCP strict", "server", "fastmcp_server.py lenient-strict", _STRICT),
    Contender(
        "FastMCP", "server", "fastmcp_server.py default", "a default server, server.call_tool", (), _INSIDE
    ),
    Contender(
        "FastMCP strict",
        "server",
        "fastmcp_server.py strict",
        "strict_input_validation=True, server.call_tool",
        (),
        _INSIDE,
    ),
    Contender(
        "MCP SDK MCPServer",
        "server",
        "mcp_server.py",
        "MCPServer with function tools, server.call_tool",
        (),
        _SHORT,
    ),
)
# fmt: on

OURS = {"function": "mcp-lenient normalize", "server": "mcp-lenient on FastMCP"}
