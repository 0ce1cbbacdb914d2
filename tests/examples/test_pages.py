"""The live pages of the smart home and the context store, in Chromium: what they show, and to whom."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from fastmcp import Client

from agent_platform import browser_use

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs/images"
needs_chromium = pytest.mark.skipif(
    browser_use.missing() is not None, reason="Playwright or Chromium is not installed"
)

# The calls of a client, what is typed into the chat, and what the page must show.
PAGES = {
    "smart_home": (
        [
            ("search_devices", {"query": "living room light", "limit": "2"}),
            (
                "execute_commands",
                {"deviceId": "uuid-abc123", "commands": '[{"capability": "switch", "command": "on"}]'},
            ),
            ("set_climate", {"device_id": "uuid-air001", "temperature": "warm"}),
        ],
        "it is too dark\nStudio lamp",
        [
            "客厅吸顶灯",
            "/commands: json_text_to_array (string → array)",
            "'temperature' must be a number",
            "refused",
        ],
    ),
    "context_store": (
        [
            ("store_context", {"content": "<img src=x onerror=alert(1)>", "tags": '["a", "b"]'}),
            ("store_context", {"content": "A trip", "tags": 7}),
        ],
        "remember to buy tea #home",
        [
            "<img src=x onerror=alert(1)>",
            "/tags: json_text_to_array (string → array)",
            "but got the integer 7",
            "buy tea",
        ],
    ),
}


def free_port():
    """A port of loopback that nothing listens on."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def shown(example, folder):
    """Run an example with its page; yields the process and the address."""
    port = free_port()
    process = subprocess.Popen(  # noqa: S603 - the example itself
        [sys.executable, str(ROOT / f"examples/{example}.py"), "--page", str(port)],
        env={**os.environ, "EXAMPLES_DATA": str(folder), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        encoding="utf-8",
    )
    try:
        for _ in range(200):
            assert process.poll() is None
            with closing(socket.socket()) as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate()


@needs_chromium
@pytest.mark.parametrize("example", PAGES)
async def test_a_page_shows_the_state_and_the_last_calls(example, tmp_path):
    """The page follows what clients and the chat do, shows what was repaired or refused and why, and escapes all of it."""
    from playwright.async_api import async_playwright, expect

    calls, typed, parts = PAGES[example]
    with shown(example, tmp_path) as (process, url):
        async with async_playwright() as playwright:
            options = {"executable_path": browser_use.executable(), "chromium_sandbox": os.geteuid() != 0}
            browser = await playwright.chromium.launch(**options)
            page = await browser.new_page(viewport={"width": 900, "height": 760})
            alerts, errors = [], []
            page.on("dialog", lambda dialog: alerts.append(dialog.message))
            page.on(
                "console", lambda message: errors.append(message.text) if message.type == "error" else None
            )
            await page.goto(url)
            await expect(page.locator("main")).to_contain_text("No calls yet.")
            async with Client(f"{url}/mcp") as client:
                for tool, arguments in calls:
                    await client.call_tool_mcp(tool, arguments)
            process.stdin.write(f"{typed}\n")
            process.stdin.flush()
            for part in parts:
                await expect(page.locator("main")).to_contain_text(part)
            if "PICTURES" in os.environ:
                await page.screenshot(path=PICTURES / f"{example}.png")
            await browser.close()
    assert (alerts, errors) == ([], [])


def test_a_page_is_for_this_machine_only(tmp_path):
    """Under another name, which a site may point at this machine, the page and its events are refused."""
    with shown("smart_home", tmp_path) as (_, url):
        for path in ("/", "/changes"):
            request = urllib.request.Request(url + path, headers={"Host": "evil.example"})  # noqa: S310 - loopback
            with pytest.raises(urllib.error.HTTPError, match="403") as refused:
                urllib.request.urlopen(request, timeout=10)  # noqa: S310 - as above
            refused.value.close()
