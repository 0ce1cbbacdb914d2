"""``python -m mcp_lenient.devtools.demo``: the same as ``mcp-lenient demo``."""

import sys

from mcp_lenient.devtools.demo import main

if __name__ == "__main__":
    sys.exit(main())
