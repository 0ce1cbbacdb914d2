"""Serve FastMCP's conformance server: ``bare PORT``, ``lenient PORT``, or ``proxied PORT URL`` by FastMCP's proxy."""

from __future__ import annotations

import sys

import uvicorn
from fastmcp.server import create_proxy

from benchmarks.suites.inside import older_docket


def main(kind: str, port: str, *url: str) -> None:
    """Serve until the process is ended."""
    if kind == "proxied":
        create_proxy(*url).run(transport="http", host="127.0.0.1", port=int(port), show_banner=False)
        return
    older_docket.accept()
    if kind == "lenient":
        import benchmarks.suites.inside.lenient_everywhere  # noqa: F401
    from tests.conformance.server import build_app

    uvicorn.run(build_app(), host="127.0.0.1", port=int(port), log_level="warning")


if __name__ == "__main__":
    main(*sys.argv[1:])
