"""The live pages of the smart home and the context store, in Chromium: what they show, and to whom."""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.request

import pytest
import pytest_asyncio
from example_runs import ROOT
from fastmcp import Client
from processes import free_port, running

from agent_platform import browser_use

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
            ("set_climate", {"device_id": "uuid-air001", "temperature": "<img src=x onerror=alert(1)>"}),
        ],
        "it is too dark\nStudio lamp",
        [
            "客厅吸顶灯",
            "/commands: json_text_to_array (string → array)",
            "'temperature' must be a number",
            "<img src=x onerror=alert(1)>",
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
            '["home"]',
        ],
    ),
}


@pytest.fixture(scope="module")
def shown(request, tmp_path_factory):
    """The process of an example with its page, and the address."""
    port = free_port()
    command = [sys.executable, str(ROOT / f"examples/{request.param}.py"), "--page", str(port)]
    data = str(tmp_path_factory.mktemp("data"))
    with running(command, port, EXAMPLES_DATA=data, PYTHONPATH=str(ROOT)) as process:
        yield process, f"http://127.0.0.1:{port}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium():
    """A browser for all pages."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        options = {"executable_path": browser_use.executable(), "chromium_sandbox": os.geteuid() != 0}
        browser = await playwright.chromium.launch(**options)
        yield browser
        await browser.close()


@needs_chromium
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("shown", "example"),
    [
        pytest.param("smart_home", "smart_home", id="smart_home"),
        pytest.param("context_store", "context_store", id="context_store", marks=pytest.mark.slow),
    ],
    indirect=["shown"],
)
async def test_a_page_shows_the_state_and_the_last_calls(shown, example, chromium):
    """The page follows what clients and the chat do, shows what was repaired or refused and why, and escapes all of it."""
    from playwright.async_api import expect

    calls, typed, parts = PAGES[example]
    process, url = shown
    page = await chromium.new_page(viewport={"width": 900, "height": 760})
    alerts, errors = [], []
    page.on("dialog", lambda dialog: alerts.append(dialog.message))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    await page.goto(url)
    await expect(page.locator("main")).to_contain_text("No calls yet.")
    async with Client(f"{url}/mcp") as client:
        for tool, arguments in calls:
            await client.call_tool_mcp(tool, arguments)
    process.stdin.write(f"{typed}\n")
    process.stdin.flush()
    for part in parts:
        await expect(page.locator("main")).to_contain_text(part)
    await page.set_viewport_size({"width": 375, "height": 760})
    assert await page.evaluate("document.documentElement.scrollWidth") <= 375
    await page.set_viewport_size({"width": 900, "height": 760})
    if "PICTURES" in os.environ:
        await page.screenshot(path=PICTURES / f"{example}.png")
    await page.close()
    assert (alerts, errors) == ([], [])


@pytest.mark.parametrize("shown", ["smart_home"], indirect=True)
def test_a_page_is_for_this_machine_only(shown):
    """Under another name, which a site may point at this machine, the page and its events are refused."""
    _, url = shown
    for path in ("/", "/changes"):
        request = urllib.request.Request(url + path, headers={"Host": "evil.example"})  # noqa: S310 - loopback
        with pytest.raises(urllib.error.HTTPError, match="403") as refused:
            urllib.request.urlopen(request, timeout=10)  # noqa: S310 - as above
        refused.value.close()
