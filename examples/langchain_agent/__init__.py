"""A LangGraph agent, and the three MCP servers that it uses."""
