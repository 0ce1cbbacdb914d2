"""``/health`` over HTTP: whether the servers behind a proxy answer, for monitoring."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from starlette.requests import Request

    from mcp_lenient.adapters.fastmcp.proxy.upstream import Upstream


def add_health(server: FastMCP, upstreams: Collection[Upstream] = ()) -> None:
    """Add ``GET /health`` to a server: 200 if all servers behind it answer, otherwise 503.

    It needs no credentials and answers with numbers only.

    Args:
        server: The server that is served over HTTP.
        upstreams: The servers behind it.
    """

    async def health(_: Request) -> JSONResponse:
        answers = await asyncio.gather(*(upstream.answers() for upstream in upstreams))
        told = {
            "status": "ok" if all(answers) else "unavailable",
            "upstreams": len(answers),
            "answering": sum(answers),
        }
        status = 200 if all(answers) else 503
        return JSONResponse(told, status, {"cache-control": "no-store"})

    server.custom_route("/health", methods=["GET"])(health)
