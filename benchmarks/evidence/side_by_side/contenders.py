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
        kind: The kind of contender that it is compared with.
        name: Its name in the table.
        adapter: The program and its arguments.
        used: How it is used, in one line.
        requirements: The pinned packages of its environment; none if it runs in the project's own.
    """

    kind: Kind
    name: str
    adapter: str
    used: str
    requirements: tuple[str, ...] = ()


_PYDANTIC = "pydantic==2.14.3"
_JSON_REPAIR = ("json-repair==0.64.5", "jsonschema==4.26.0")
_AIRLOCK = ("agent-airlock==0.10.26", _PYDANTIC)
_BAML = "its runtime parser on a class made from the schema, with @alias and @assert"
_MODEL = "Model.model_validate(arguments), extra forbidden or allowed as the schema says"
_STRUCT = "convert(arguments, Struct, strict=False), unknown fields forbidden"
_SIGNATURE = "JSONAdapter().parse(signature, text), one output field a parameter"
_STRICT = "LenientMiddleware() on a server with strict_input_validation=True, server.call_tool"
_DEFAULT = "LenientMiddleware() on a default server, server.call_tool"
_LOADS = "json_repair.loads(text, schema=schema)"
_DECORATED = "@Airlock() on the function, its audit file off"
_FASTMCP = "fastmcp_server.py"

CONTENDERS = (
    Contender("function", "mcp-lenient normalize", "lenient_function.py", "normalize(schema, arguments)"),
    Contender("function", "json_repair with schema", "json_repair_schema.py", _LOADS, _JSON_REPAIR),
    Contender("function", "BAML", "baml.py", _BAML, ("baml-py==0.226.3", _PYDANTIC)),
    Contender("function", "msgspec lax", "msgspec_lax.py", _STRUCT, ("msgspec==0.22.0",)),
    Contender("function", "pydantic lax", "pydantic_lax.py", _MODEL),
    Contender("function", "DSPy JSON adapter", "dspy_json.py", _SIGNATURE, ("dspy==3.4.1",)),
    Contender("function", "agent-airlock", "airlock.py", _DECORATED, _AIRLOCK),
    Contender("server", "mcp-lenient on FastMCP", f"{_FASTMCP} lenient", _DEFAULT),
    Contender("server", "mcp-lenient on FastMCP strict", f"{_FASTMCP} lenient-strict", _STRICT),
    Contender("server", "FastMCP", f"{_FASTMCP} default", "a default server, server.call_tool"),
    Contender(
        "server", "FastMCP strict", f"{_FASTMCP} strict", "strict_input_validation=True, server.call_tool"
    ),
    Contender(
        "server", "MCP SDK MCPServer", "mcp_server.py", "MCPServer with function tools, server.call_tool"
    ),
)

OURS = {"function": "mcp-lenient normalize", "server": "mcp-lenient on FastMCP"}
