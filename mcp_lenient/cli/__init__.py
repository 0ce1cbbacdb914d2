"""The command line, ``mcp-lenient``: one file per command; each imports what it needs when it runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mcp_lenient.cli.errors import INTERRUPTED
from mcp_lenient.values.lazy import lazy_getattr

if TYPE_CHECKING:
    from mcp_lenient.cli.commands import app, run

__all__ = ["app", "main", "run"]

__getattr__ = lazy_getattr(__name__, {"mcp_lenient.cli.commands": "app run"})


def main() -> None:
    """Run the command that the arguments name, and exit with its code; quietly with 130 after Ctrl-C."""
    try:
        # Here, so that Ctrl-C during the imports ends the program quietly too.
        from mcp_lenient.cli.commands import run_and_flush

        code = run_and_flush(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)
