"""An agent platform: forty tools of four kinds behind one lenient server."""
