"""``python -m mcp_lenient.demo``: the same as ``mcp-lenient demo``."""

import sys

from mcp_lenient.demo import main

if __name__ == "__main__":
    sys.exit(main())
