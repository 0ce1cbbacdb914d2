"""``mcp-lenient demo``: nearly right calls to a real server over stdio, with and without this package."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mcp_lenient.cli.errors import fail


def demo(
    *, everything: Annotated[bool, Parameter(name="--all", negative="", show_default=False)] = False
) -> int:
    """Send nearly right calls over stdio, to FastMCP alone and to FastMCP with mcp-lenient.

    `mcp-lenient demo --all`

    Args:
        everything: Show each call with both answers, a complete refusal and a log line.
    """
    from pathlib import Path
    from runpy import run_path

    from mcp_lenient.adapters.fastmcp.compat.version import VERSION

    if VERSION < (4, 0):
        fail("The demo needs FastMCP 4. docs/where-it-runs.md says what works on FastMCP 3.")
    package = Path(__file__).parents[1]
    # One of the examples; the wheel contains it.
    files = (folder / "examples" / "demo.py" for folder in (package, package.parent))
    main = run_path(str(next(file for file in files if file.exists())))["main"]
    return int(main(everything=everything))
