"""What an operator declares of tools in a file, for tools whose code is not theirs."""

from mcp_lenient.definitions.declarations import Definitions
from mcp_lenient.definitions.loading import load_definitions
from mcp_lenient.definitions.names import unknown_names

__all__ = ["Definitions", "load_definitions", "unknown_names"]
