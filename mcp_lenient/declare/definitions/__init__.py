"""What an operator declares of tools in a file, for tools whose code is not theirs."""

from mcp_lenient.declare.definitions.entries import Definitions, unknown_names
from mcp_lenient.declare.definitions.loading import load_definitions

__all__ = ["Definitions", "load_definitions", "unknown_names"]
