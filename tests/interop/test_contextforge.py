"""Call a real ContextForge gateway, with its own database and a registered server, through the proxy."""

from __future__ import annotations

import os
import secrets
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from environments import environment
from fastmcp import Client
from processes import free_port, running

from mcp_lenient import create_lenient_proxy

pytestmark = pytest.mark.slow

_SERVER = Path(__file__).parents[1] / "adapters" / "fastmcp" / "proxy" / "servers" / "upstream.py"
_SECONDS = 120


def _settings(folder: Path) -> dict[str, str]:
    """Return the gateway's settings for loopback and one user without a password."""
    return {
        "DATABASE_URL": f"sqlite:///{folder / 'gateway.db'}",
        "JWT_SECRET_KEY": secrets.token_urlsafe(48),
        "AUTH_ENCRYPTION_SECRET": secrets.token_urlsafe(48),
        "AUTH_REQUIRED": "false",
        "ALLOW_UNAUTHENTICATED_ADMIN": "true",
        "SSRF_ALLOW_LOCALHOST": "true",
        "MCPGATEWAY_UI_ENABLED": "false",
        "CACHE_TYPE": "memory",
        "LOG_LEVEL": "ERROR",
        "HOME": str(folder),
    }


def _register(gateway: str, server: str) -> None:
    """Register a server once the gateway answers."""
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        try:
            entry = {"name": "upstream", "url": server, "transport": "STREAMABLEHTTP"}
            answer = httpx2.post(f"{gateway}/gateways", json=entry, timeout=60)
        except httpx2.HTTPError:
            time.sleep(0.5)
            continue
        assert answer.is_success, answer.text
        return
    pytest.fail("ContextForge did not answer in time")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    """Yield the address at which ContextForge serves the tools of a registered server."""
    python = Path(environment("mcp-contextforge-gateway==1.0.7.post20260921"))
    folder, server, port = tmp_path_factory.mktemp("contextforge"), free_port(), free_port()
    inherited = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    command = [str(python.parent / "mcpgateway"), "--host", "127.0.0.1", "--port", str(port)]
    with ExitStack() as stack:
        stack.enter_context(running([sys.executable, str(_SERVER)], server, UPSTREAM_PORT=str(server)))
        stack.enter_context(running(["env", "-i", *_pairs(inherited | _settings(folder)), *command], port))
        _register(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{server}/mcp")
        yield f"http://127.0.0.1:{port}/mcp/"


def _pairs(settings: dict[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in settings.items()]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_proxy_in_front_repairs_and_refuses(gateway, mode, events):
    """A call that ContextForge alone refuses with Pydantic's text is repaired or gets the envelope."""
    async with (
        Client(gateway, mode=mode) as alone,
        Client(create_lenient_proxy(gateway), mode=mode) as client,
    ):
        wrapped = {"args": {"a": 1, "b": 2}}
        before = await alone.call_tool_mcp("upstream-add", wrapped)
        answers = [
            await client.call_tool_mcp("upstream-add", sent)
            for sent in ({"a": 1, "b": 2}, {"a": "1", "b": 2}, wrapped, {"a": [], "b": 2})
        ]
        respelled = await client.call_tool_mcp("upstream_add", {"a": 1, "b": 2})
        unknown = await client.call_tool_mcp("upstream-ad", {})
    assert before.is_error
    assert "validation error" in before.content[0].text
    assert [answer.content[0].text for answer in answers[:3]] == ["3", "3", "3"]
    assert respelled.content[0].text == "3"
    assert answers[3].meta["mcp_lenient"]["error_code"] == "INVALID_A_TYPE"
    assert unknown.meta["mcp_lenient"]["details"]["did_you_mean"][0] == "upstream-add"
    names = [event["event"].removeprefix("call_") for event in events]
    assert names == ["accepted", "repaired", "repaired", "rejected", "repaired", "rejected"]
