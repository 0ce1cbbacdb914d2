"""The tools that the caller passes: names and parameter schemas."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mcp_lenient.schema.node import Node

_MORE_NAMES: Final = frozenset("$ref allOf anyOf oneOf patternProperties".split())
"""Keywords that may declare other parameters than ``properties``."""
PYTHON_NAMES: Final[Mapping[str, str]] = {"True": "true", "False": "false", "None": "null"}
"""JSON literals as written by chat templates that print Python values (Qwen3-Coder, Qwen3.5)."""


@dataclass(frozen=True, slots=True)
class KnownTools:
    """The tools that may be called.

    Attributes:
        schemas: Input schemas by tool name, empty if unknown; None if no tools are given.
        servers: The servers whose tags may be around those of tools.
        is_open: Whether calls of other tools are read as well.
    """

    schemas: Mapping[str, Mapping[str, Any]] | None = None
    servers: frozenset[str] = frozenset()
    is_open: bool = True
    _read: dict[str, Mapping[str, Node]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(
        cls,
        tools: Iterable[Any] | Mapping[str, Any] | None,
        servers: Iterable[str] = (),
        *,
        is_open: bool = False,
    ) -> KnownTools:
        """Build from names, MCP or OpenAI definitions (also as objects), or a mapping of names to schemas."""
        if tools is None:
            return cls(None, frozenset(servers))
        if isinstance(tools, Mapping):
            schemas = {name: schema if isinstance(schema, Mapping) else {} for name, schema in tools.items()}
        else:
            schemas = dict(map(_definition, tools))
        return cls(schemas, frozenset(servers), is_open)

    def has(self, name: str) -> bool:
        """Return whether a tool of this name may be called."""
        return self.is_open or self.lists(name)

    def lists(self, name: str) -> bool:
        """Return whether a tool of this name is among the given ones."""
        return self.schemas is not None and name in self.schemas

    def is_text(self, tool: str, parameter: str, raw: str) -> bool | None:
        """Return whether a value is a string, in a dialect that does not mark strings; otherwise it is JSON.

        A value is a string if the schema accepts one. Without a schema, a value that is not JSON is a string, and what
        any other is cannot be said: None.
        """
        if not _is_json(raw):
            return True
        types = self._types_of(tool, parameter)
        if types is None:
            return None
        return "string" in types and not (raw.strip() == "null" and "null" in types)

    def parameters(self, tool: str) -> frozenset[str] | None:
        """Return the names of a tool's parameters; None if they are not known or the tool takes others."""
        schema = (self.schemas or {}).get(tool, {})
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or _MORE_NAMES & schema.keys():
            return None
        return frozenset(properties) if schema.get("additionalProperties", False) is False else None

    def takes_text(self, tool: str, parameter: str) -> bool:
        """Return whether the schema of a parameter accepts a string."""
        return "string" in (self._types_of(tool, parameter) or ())

    def _types_of(self, tool: str, parameter: str) -> frozenset[str] | None:
        """Return the JSON types of a parameter; None if its schema has none."""
        if tool not in self._read:
            from mcp_lenient.schema.compile import readable
            from mcp_lenient.schema.node import Tree

            self._read[tool] = Tree(readable((self.schemas or {}).get(tool, {}))).top.property_nodes
        node = self._read[tool].get(parameter)
        return None if node is None or node.accepts_any_type else node.accepted_types


def _is_json(text: str) -> bool:
    """Return whether a text is a JSON value other than a string, or a Python literal for one."""
    if text in PYTHON_NAMES:
        return True
    try:
        return not isinstance(json.loads(text, parse_constant=str), str)
    except (ValueError, RecursionError):
        return False


def _definition(tool: Any) -> tuple[str, Mapping[str, Any]]:
    if isinstance(tool, str):
        return tool, {}
    if isinstance(tool, Mapping):
        function = tool.get("function")
        look: Callable[[str], Any] = (function if isinstance(function, Mapping) else tool).get
    else:
        look = lambda key: getattr(tool, key, None)  # noqa: E731
    name = look("name")
    if not isinstance(name, str):
        msg = f"tools must be names or definitions with a name, but one is of type {type(tool).__name__}"
        raise TypeError(msg)
    # The newer name first: the SDK 2 warns where the older one is read.
    schemas = map(look, ("input_schema", "inputSchema", "parameters"))
    return name, next((schema for schema in schemas if isinstance(schema, Mapping)), {})
