"""A folder per framework."""
