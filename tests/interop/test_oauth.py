"""Log in with the TypeScript client through proxies of two servers that ask for OAuth."""

from __future__ import annotations

import json
import subprocess
from contextlib import ExitStack

import pytest
from interop.installed import HERE, node
from login import Login
from wire import serving

from mcp_lenient import create_lenient_proxy

_TIME = 60


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1", "2"])
def test_the_typescript_client_logs_in_through_two_proxies(version):
    """The client gets a token for each server, and no token reaches the other server."""
    program, logins = node(), (Login(), Login())
    with ExitStack() as stack:
        behind = [stack.enter_context(serving(login.server)) for login in logins]
        urls = [stack.enter_context(serving(create_lenient_proxy(url))) for url in behind]
        done = subprocess.run(  # noqa: S603 - our own script
            [program, "clients/oauth.mjs", version, *urls],
            cwd=HERE,
            capture_output=True,
            encoding="utf-8",
            timeout=_TIME,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    tokens = [told[url].pop("token") for url in urls]
    assert list(told.values()) == [
        {"refused": told[url]["refused"], "resource": url, "tools": ["add"], "sums": [3, 3]} for url in urls
    ]
    assert all("Unauthorized" in told[url]["refused"] for url in urls)
    assert [set(login.seen) for login in logins] == [{f"Bearer {token}"} for token in tokens]
    assert tokens[0] != tokens[1]
