"""Several stateless proxies behind a load balancer that sends each request to the next one."""

from __future__ import annotations

import itertools
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import httpx2
import pytest
from adapters.fastmcp.proxy.fronts import COMMAND, UPSTREAM, web
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from processes import free_port, running
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_lenient.cli import run

pytestmark = pytest.mark.slow  # four processes

_PROXY = [*COMMAND, "--stateless", "--http"]


@contextmanager
def _balanced(ports: list[int]):
    """Serve a load balancer; return its address, and the ports in the order of their requests."""
    turns, taken = itertools.cycle(ports), []

    async def passed_on(request: Request) -> Response:
        port = next(turns)
        taken.append(port)
        headers = {
            name: value for name, value in request.headers.items() if name not in ("host", "content-length")
        }
        async with httpx2.AsyncClient(timeout=30) as client:
            answer = await client.request(
                request.method, f"http://127.0.0.1:{port}/mcp", content=await request.body(), headers=headers
            )
        kept = {
            name: value
            for name, value in answer.headers.items()
            if name in ("content-type", "mcp-session-id")
        }
        return Response(answer.content, answer.status_code, kept)

    with web(Route("/mcp", passed_on, methods=["GET", "POST", "DELETE"])) as address:
        yield f"{address}/mcp", taken


@pytest.fixture(scope="module")
def replicas():
    """Return the ports of three proxies of the same server."""
    behind, *ports = (free_port() for _ in range(4))
    with ExitStack() as stack:
        starts = [([sys.executable, UPSTREAM], behind)]
        starts += [([*_PROXY, f"127.0.0.1:{port}", f"http://127.0.0.1:{behind}/mcp"], port) for port in ports]
        with ThreadPoolExecutor() as pool:  # start them concurrently
            started = [running(command, port, UPSTREAM_PORT=str(behind)) for command, port in starts]
            list(pool.map(stack.enter_context, started))
        yield ports


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_any_replica_answers_any_request(replicas, mode):
    """Each request may go to another process, with the same lists, results, repairs and refusals."""
    with _balanced(replicas) as (url, taken):
        async with Client(StreamableHttpTransport(url), mode=mode) as client:
            assert "add" in {tool.name for tool in await client.list_tools()}
            right = [await client.call_tool_mcp("add", {"a": at, "b": 1}) for at in range(6)]
            repaired = [await client.call_tool_mcp("add", {"a": str(at), "b": 1}) for at in range(6)]
            refused = [await client.call_tool_mcp("add", {"a": [], "b": 1}) for _ in range(3)]
    assert [each.structured_content["result"] for each in right + repaired] == [*range(1, 7), *range(1, 7)]
    assert {each.meta["mcp_lenient"]["error_code"] for each in refused} == {"INVALID_A_TYPE"}
    assert set(taken) == set(replicas)


def test_stateless_requires_http(capsys):
    """``--stateless`` is an error over stdio, which has only one client and session."""
    assert run(["proxy", "--stateless", "https://example.com/mcp"]) == 2
    assert "--stateless: only for a proxy that is served with --http" in capsys.readouterr().err
