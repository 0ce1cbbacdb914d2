"""The hosts, and the matrix of the outcomes of each call on each host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from benchmarks.hosts.calls import CALLS, outcome
from benchmarks.side_by_side.environments import NotInstalledError, interpreter

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT: Final = Path(__file__).resolve().parents[2]
PATIENCE: Final = 600
_LISTED: Final = "the host drops a name that it does not know, unless `closed`"
_FIRST: Final = "the host refuses arguments that are no object first"
_ITSELF: Final = "the host answers by itself, in its own words"
_NULLABLE: Final = "the host lets what may be left out be null, and sends that"
_AGENT: Final[Mapping[str, str]] = {"whole_text": _FIRST, "unknown_tool": _ITSELF}


@dataclass(frozen=True, slots=True)
class Host:
    """A host, and the program that sends the calls to it.

    Attributes:
        title: Its name.
        program: The module and its arguments.
        needs: The packages of its own environment; empty if it runs in this one.
        lost: The calls with a different outcome on this host, and why.
        is_agent: Whether an agent repairs the calls before it sends them.
    """

    title: str
    program: tuple[str, ...]
    needs: tuple[str, ...] = ()
    lost: Mapping[str, str] | None = None
    is_agent: bool = False


def _dependencies() -> tuple[str, ...]:
    """Return the dependencies of mcp-lenient."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return tuple(project["dependencies"])


def _engine() -> tuple[str, ...]:
    """Return the dependencies without FastMCP, which would install its own SDK."""
    return tuple(each for each in _dependencies() if not each.startswith("fastmcp"))


def _agent(title: str, program: str, *packages: str, lost: Mapping[str, str] = _AGENT) -> Host:
    """Return an agent framework as a host."""
    return Host(title, (f"agents.{program}_host",), (*packages, *_dependencies()), lost, is_agent=True)


HOSTS: Final[Mapping[str, Host]] = {
    "fastmcp_memory": Host("FastMCP", ("fastmcp_hosts", "memory")),
    "fastmcp_stdio": Host("FastMCP, stdio", ("fastmcp_hosts", "stdio")),
    "sdk_2": Host("SDK 2 MCPServer", ("sdk_2", "functions"), lost={"optional_name": _LISTED}),
    "sdk_2_low_level": Host("SDK 2 Server", ("sdk_2", "low_level")),
    "sdk_1": Host(
        "SDK 1 FastMCP",
        ("sdk_1", "functions"),
        ("mcp>=1.20,<2", *_engine()),
        {"optional_name": _LISTED, "whole_text": _FIRST},
    ),
    "sdk_1_low_level": Host(
        "SDK 1 Server", ("sdk_1", "low_level"), ("mcp>=1.20,<2", *_engine()), {"whole_text": _FIRST}
    ),
    "litellm": Host(
        "LiteLLM gateway",
        ("litellm_host",),
        ("litellm[proxy]>=1.106", *_engine()),
        {
            "optional_name": _LISTED,
            "whole_text": _FIRST,
            "unknown_tool": _ITSELF,
        },
    ),
    "langchain_mcp": _agent("LangChain MCPAdapter", "langchain_mcp", "langchain[mcp]>=1.4"),
    "langchain_adapters": _agent(
        "langchain-mcp-adapters", "langchain_adapters", "langchain-mcp-adapters>=0.3.2", "langchain>=1.4"
    ),
    "pydantic_ai": _agent("Pydantic AI", "pydantic_ai", "pydantic-ai-slim[mcp]>=2"),
    "openai_agents": _agent("OpenAI Agents SDK", "openai_agents", "openai-agents>=0.24"),
    "google_adk": _agent("Google ADK", "google_adk", "google-adk>=2"),
    "strands": _agent("Strands", "strands", "strands-agents>=1.62", lost={"unknown_tool": _ITSELF}),
    "crewai": _agent(
        "CrewAI", "crewai", "crewai>=1.15", "crewai-tools[mcp]>=1.15", lost={**_AGENT, "null": _NULLABLE}
    ),
}


def outcomes(host: Host) -> dict[str, str]:
    """Return the outcome of each call, by its name.

    Raises:
        NotInstalledError: If the host cannot be installed.
    """
    reported = answers(host)
    return {
        name: outcome(call, reported[name]["answer"], _last(reported[name]["events"]))
        for name, call in CALLS.items()
    }


def answers(host: Host) -> dict[str, Any]:
    """Return the answer and the events of each call.

    Raises:
        NotInstalledError: If the host cannot be installed.
        RuntimeError: If its program fails; says how it ended.
    """
    module, *arguments = host.program
    done = subprocess.run(  # noqa: S603 - our own programs
        [interpreter(host.needs), "-W", "ignore", "-m", f"benchmarks.hosts.{module}", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode:
        msg = f"{host.title}: {done.stderr.strip()[-2000:]}"
        raise RuntimeError(msg)
    reported: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return reported


def _last(events: list[dict[str, Any]]) -> str | None:
    return events[-1]["event"] if events else None


def main(console: Console) -> int:
    """Print the matrix; return 1 if an outcome differs from the documented one."""
    columns: dict[str, dict[str, str]] = {}
    for name, host in HOSTS.items():
        try:
            columns[name] = outcomes(host)
        except NotInstalledError as error:
            console.print(f"{host.title} is left out: {error}")
    reasons = list(dict.fromkeys(why for name in columns for why in (HOSTS[name].lost or {}).values()))
    for is_agent in (False, True):
        console.print(
            _table(
                {name: each for name, each in columns.items() if HOSTS[name].is_agent is is_agent}, reasons
            )
        )
    for number, why in enumerate(reasons, 1):
        console.print(f"{'*' * number} {why}")
    wrong = [
        f"{HOSTS[name].title}, {CALLS[call].says}: {said}"
        for name, column in columns.items()
        for call, said in column.items()
        if said.startswith("host:") != (call in (HOSTS[name].lost or {}))
    ]
    for line in wrong:
        console.print(f"[bold red]{line}")
    return 1 if wrong else 0


def _table(columns: Mapping[str, Mapping[str, str]], reasons: list[str]) -> Table:
    table = Table("call", *(HOSTS[name].title for name in columns))
    for call, smoke in CALLS.items():
        cells = (_cell(HOSTS[name], call, column[call], reasons) for name, column in columns.items())
        table.add_row(smoke.says, *cells)
    return table


def _cell(host: Host, call: str, said: str, reasons: list[str]) -> str:
    if not said.startswith("host:"):
        return said
    why = (host.lost or {}).get(call)
    return "[bold red]wrong" if why is None else f"not reached{'*' * (reasons.index(why) + 1)}"
