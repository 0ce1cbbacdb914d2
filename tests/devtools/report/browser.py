"""Open a page in headless Chromium over its debugging pipe, and record its errors and requests."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from contextlib import contextmanager

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --remote-debugging-pipe --hide-scrollbars"
).split()


class Page:
    """One page. ``complaints`` are errors in its console, ``fetched`` the addresses that it requested."""

    def __init__(self, to_browser, from_browser):
        self._to, self._from, self._last, self._waiting = to_browser, from_browser, 0, b""
        self._session = None
        self.complaints, self.fetched, self._loaded = [], [], False

    def open(self, file, *, width, height=900, scheme="light"):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        self.scheme(scheme)
        self._loaded = False
        self.ask("Page.navigate", url=file.as_uri())
        deadline = time.monotonic() + 60
        while not self._loaded and time.monotonic() < deadline:
            self._read()
        assert self._loaded

    def wait_for(self, selector):
        """Wait until the page has such an element."""
        there = f"document.querySelector({json.dumps(selector)}) !== null"
        look = f"const look = () => {there} ? done(true) : tries-- ? setTimeout(look, 100) : done(false); look();"
        assert self.js(f"new Promise(done => {{ let tries = 300; {look} }})")

    def scheme(self, scheme):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def js(self, expression):
        reported = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in reported, reported
        return reported["result"].get("value")

    def screenshot(self, file):
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        reported = self.ask(
            "Page.captureScreenshot", captureBeyondViewport=True, clip={**size, "x": 0, "y": 0, "scale": 1}
        )
        file.write_bytes(base64.b64decode(reported["data"]))

    def ask(self, method, **parameters):
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session and not method.startswith("Target."):
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self):
        while b"\0" not in self._waiting:
            block = os.read(self._from, 2**16)
            assert block, "the browser is gone"
            self._waiting += block
        line, _, self._waiting = self._waiting.partition(b"\0")
        message = json.loads(line)
        self._note(message.get("method"), message.get("params"))
        return message

    def _note(self, method, reported):
        if method == "Runtime.exceptionThrown" or (
            method == "Runtime.consoleAPICalled" and reported["type"] in ("error", "warning", "assert")
        ):
            self.complaints.append(reported)
        elif method == "Log.entryAdded" and reported["entry"]["level"] in ("error", "warning"):
            self.complaints.append(reported["entry"])
        elif method == "Network.requestWillBeSent":
            self.fetched.append(reported["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True


@contextmanager
def browser(profile):
    """Yield a page of a browser with an empty profile in this folder."""
    for_browser, to_browser = os.pipe()
    from_browser, by_browser = os.pipe()

    def on_three_and_four():
        os.dup2(for_browser, 103)
        os.dup2(by_browser, 104)
        os.dup2(103, 3)
        os.dup2(104, 4)

    process = subprocess.Popen(  # noqa: S603 - the browser
        [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}"],
        preexec_fn=on_three_and_four,  # noqa: PLW1509 - Chromium's pipe must have these numbers
        close_fds=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(for_browser)
    os.close(by_browser)
    try:
        yield Page(to_browser, from_browser)
    finally:
        process.terminate()
        process.wait(timeout=20)
        os.close(to_browser)
        os.close(from_browser)
