"""Test the deployment page: its commands run its server behind nginx, and calls go through."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp_versions import IS_3, PROXY, skip_on_3
from processes import free_port, running

PAGE = (Path(__file__).parents[2] / "docs/how-to/deploy.md").read_text(encoding="utf-8")
PROGRAMS = Path(sys.executable).parent
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
ERAS = [{}] if IS_3 else [{"mode": "legacy"}, {"mode": "auto"}]

pytestmark = pytest.mark.slow


def _blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def _unit_commands():
    for block in _blocks("ini"):
        unit = configparser.ConfigParser(interpolation=None)
        unit.read_string(block)
        yield unit["Service"]["ExecStart"].replace("/opt/notes/.venv/bin/", "").split()


def _container_command():
    (command,) = re.findall(r"^CMD (\[.*\])$", _blocks("dockerfile")[0], re.MULTILINE)
    return json.loads(command)


SERVER, PROXY_COMMAND = _unit_commands()


@contextmanager
def _serving(folder, command):
    """Run a command of the page in a folder with its server, on a free port; yield the port."""
    port = free_port()
    (folder / "notes.py").write_text(_blocks("python")[0], encoding="utf-8")
    ours = {"8000": str(port), "0.0.0.0": "127.0.0.1", "127.0.0.1:%i": f"127.0.0.1:{port}"}  # noqa: S104
    words = [ours.get(word, word) for word in command]
    with running([str(PROGRAMS / words[0]), *words[1:]], port, PYTHONPATH=str(folder)):
        yield port


@contextmanager
def _nginx(folder, *ports):
    """Run nginx with the configuration of the page, without TLS, in front of these ports; yield its URL."""
    if NGINX is None:
        pytest.skip("nginx is not installed")
    front = free_port()
    (site,) = _blocks("nginx")
    site = re.sub(r"listen 443 ssl;|ssl_\w+ .*;|server_name .*;", "", site)
    site = site.replace("server {\n", f"server {{\n    listen 127.0.0.1:{front};\n")
    site = site.replace("server 127.0.0.1:8000;", "".join(f"server 127.0.0.1:{port};" for port in ports))
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{kind}_temp_path {folder / kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder / 'pid'}; events {{}}\nhttp {{ access_log off; {folders}\n{site}\n}}"
    )
    log = str(folder / "error.log")
    with running([NGINX, "-e", log, "-c", str(folder / "nginx.conf")], front):
        yield f"http://127.0.0.1:{front}/mcp"


async def _check(url):
    """Send calls in several sessions of each era, so that several processes get them."""
    for era in ERAS * 3:
        async with Client(url, **era) as client:
            for _ in range(4):
                result = await client.call_tool("store", {"content": "tea", "tags": '["a"]'})
                assert result.data == ["a"]
                assert result.meta["mcp_lenient"]["repairs"]
            result = await client.call_tool("store", {"content": "tea", "tags": 5}, raise_on_error=False)
            assert result.meta["mcp_lenient"]["error_code"] == "INVALID_TAGS_TYPE"


@pytest.mark.parametrize("command", [SERVER, _container_command()], ids=["systemd", "container"])
async def test_several_processes_behind_nginx(command, tmp_path):
    """Four processes behind nginx repair and refuse calls of each protocol era."""
    with _serving(tmp_path, command) as port, _nginx(tmp_path, port) as url:
        await _check(url)


async def test_several_proxies_behind_nginx(tmp_path):
    """Two proxies in front of the server and behind nginx repair and refuse calls of each protocol era."""
    skip_on_3(PROXY)
    with _serving(tmp_path, SERVER) as behind:
        command = [word.replace("8000", str(behind)) for word in PROXY_COMMAND]
        with (
            _serving(tmp_path, command) as first,
            _serving(tmp_path, command) as second,
            _nginx(tmp_path, first, second) as url,
        ):
            await _check(url)
