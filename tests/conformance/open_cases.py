"""The cases whose answer is still wrong."""

OPEN: dict[str, str] = {}
"""Cases that the engine does not answer as the laws say, each with what it does."""

OPEN_IN_FUNCTIONS: dict[str, str] = {}
"""Cases that are right by schema alone, and refused for a function."""
