"""What a definitions file declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_lenient.declared import Declared


@dataclass(frozen=True, slots=True)
class Definitions:
    """What a file declares.

    Attributes:
        policy: Fields of :class:`mcp_lenient.Policy` that are other for the whole server.
        tools: What is declared of each tool, by its name as the server publishes it.
        names: The parameters that the file names, by tool.
    """

    policy: Mapping[str, Any] = field(default_factory=dict)
    tools: Mapping[str, Declared] = field(default_factory=dict)
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def declared(self, tool: str) -> Declared | None:
        """What is declared of a tool; None where the file does not name it."""
        return self.tools.get(tool)
