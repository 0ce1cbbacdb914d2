"""Why the figures can be believed: attacks, alternatives, and the structure of the package."""
