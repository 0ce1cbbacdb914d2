"""Run the MCP conformance runner: FastMCP's server alone, with the middleware, and behind both proxies."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.ports import free_port, wait_for
from benchmarks.suites.comparison import Outcomes
from benchmarks.suites.fastmcp_tests import environment
from benchmarks.suites.fetched import conformance_runner, fastmcp_python, source

_TIME = 600
_STARTED = re.compile(r"^server-(.+?)-\d{4}-\d\d-\d\dT[\d-]+Z$")
_WORDS = {"SUCCESS": "passed", "FAILURE": "failed", "WARNING": "warned", "SKIPPED": "skipped"}
SERVERS = ("bare", "lenient", "our proxy", "FastMCP's proxy")


def conformance_outcomes(server: str, checks: Iterable[str] = ()) -> Outcomes:
    """Return the outcome of each check of one of the ``SERVERS``; of the scenarios of some checks, if they are named.

    Raises:
        NotInstalledError: If FastMCP's server or the runner cannot be installed.
    """
    folder = source("fastmcp")
    runner = conformance_runner(folder / "tests" / "conformance" / "test_conformance.py")
    scenarios = sorted({check.partition(": ")[0] for check in checks})
    with _served(server, folder) as url, TemporaryDirectory() as results:
        for chosen in [["--scenario", name] for name in scenarios] or [["--suite", "all"]]:
            subprocess.run(  # noqa: S603 - the conformance runner; its exit code says whether all is passed
                [*runner, "server", "--url", url, *chosen, "--output-dir", results],
                capture_output=True,
                timeout=_TIME,
                check=False,
            )
        outcomes = dict(_read(Path(results)))
    if not outcomes:
        raise RuntimeError(f"the conformance runner wrote no outcome for {server}")
    return outcomes


@contextmanager
def _served(server: str, folder: Path) -> Iterator[str]:
    """Yield the address of a server that runs in a process of its own."""
    with ExitStack() as processes:
        python = fastmcp_python()
        served = partial(_running, cwd=folder, env=environment(python, folder))
        command = [python, "-m", "benchmarks.suites.inside.conformance_server"]
        kind = "lenient" if server == "lenient" else "bare"
        url = processes.enter_context(served(lambda port: [*command, kind, port]))
        if server == "our proxy":
            ours = [str(Path(sys.executable).with_name("mcp-lenient")), "proxy", url, "--http"]
            url = processes.enter_context(_running(lambda port: [*ours, f"127.0.0.1:{port}"]))
        elif server == "FastMCP's proxy":
            behind = url
            url = processes.enter_context(served(lambda port: [*command, "proxied", port, behind]))
        yield url


@contextmanager
def _running(command: Callable[[str], list[str]], **options: Any) -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen(  # noqa: S603 - our own servers
        command(str(port)),
        **options,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


def _read(results: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(results.glob("*/checks.json")):
        started = _STARTED.match(file.parent.name)
        scenario = file.parent.name if started is None else started[1]
        times: Counter[str] = Counter()
        for check in json.loads(file.read_text("utf-8")):
            if check["status"] in _WORDS:
                times[check["id"]] += 1
                again = f" {times[check['id']]}" if times[check["id"]] > 1 else ""
                yield f"{scenario}: {check['id']}{again}", _WORDS[check["status"]]
