"""Cases that still get a wrong answer."""

OPEN: dict[str, str] = {}
"""Cases that the engine answers against the laws, each with its answer."""

OPEN_IN_FUNCTIONS: dict[str, str] = {}
"""Cases that are right for a published schema but refused for a function."""
