"""What runs in the environment of FastMCP's tests: it imports FastMCP, mcp-lenient and the standard library alone."""
