"""Declarations in a file, for tools whose code you cannot change."""

from mcp_lenient.declare.definitions.entries import Definitions, unknown_names
from mcp_lenient.declare.definitions.loading import WatchedDefinitions, load_definitions

__all__ = ["Definitions", "WatchedDefinitions", "load_definitions", "unknown_names"]
