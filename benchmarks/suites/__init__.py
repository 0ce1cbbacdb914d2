"""Others' suites, run without and with mcp-lenient, and what may differ."""
