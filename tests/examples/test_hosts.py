"""The examples for hosts other than FastMCP run, and serve over stdio."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from environments import environment
from example_runs import ROOT, run
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import sdk_2
from benchmarks.hosts.matrix import HOSTS


@pytest.mark.slow
def test_an_example_prints_its_results_on_sdk_1():
    """Three calls run, two are refused with the envelope."""
    _check(run("examples/sdk_1.py", python=environment(*HOSTS["sdk_1"].needs)).stdout)


async def test_an_example_prints_its_results_on_sdk_2(capsys):
    """Three calls run, two are refused with the envelope."""
    await sdk_2.main()
    _check(capsys.readouterr().out)


def _check(printed):
    said = [line.strip() for line in printed.splitlines() if line.startswith("  ")]
    assert said[:3] == [
        "ran: kept 'a' with ['x'], 10 at most",
        "ran: kept 'b' with ['x'], 10 at most",
        "ran: kept 'c' with ['x', 'y'], 10 at most",
    ]
    assert all(line.startswith('refused: {"status":"error"') for line in said[3:])
    assert len(said) == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "package"),
    [("sdk_1.py", "mcp>=1.20,<2"), ("litellm_gateway/run.py", "litellm[proxy]>=1.106")],
)
def test_an_example_says_in_one_line_what_to_install(example, package):
    """Without its packages an example says how to make its environment, and exits with 1."""
    done = run(f"examples/{example}")
    assert (done.returncode, done.stdout) == (1, "")
    (said,) = done.stderr.splitlines()
    _, *commands = re.split(": (?=python)| && ", said)
    assert f'pip install "{package}" .' in commands[1]
    readme = (ROOT / "examples/README.md").read_text(encoding="utf-8")
    assert "\n".join(commands) in readme


@pytest.fixture
def quiet():
    """Where a server's own log goes."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        yield nowhere


@pytest.mark.slow
@pytest.mark.parametrize(("example", "needs"), [("sdk_2.py", ()), ("sdk_1.py", HOSTS["sdk_1"].needs)])
async def test_an_example_serves_over_stdio(example, needs, quiet):
    """A client of its own process is understood as well, and stdout has the protocol alone."""
    server = StdioServerParameters(
        command=environment(*needs) if needs else sys.executable,
        args=[str(ROOT / "examples" / example), "--serve"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    async with Client(stdio_client(server, errlog=quiet), mode="legacy") as client:
        result = await client.call_tool("store", {"content": "x", "tags": "a"})
    assert result.content[0].text == "kept 'x' with ['a'], 10 at most"
    assert result.meta["mcp_lenient"]["repairs"][0]["rule"] == "scalar_to_array"
