"""FastMCP: the middleware, the decorator, and the proxy."""
