"""Send twelve calls to every host with a real client, and print their outcomes as a matrix."""

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

from benchmarks.environments import NotInstalledError, interpreter
from benchmarks.hosts.calls import CALLS, outcome
from benchmarks.printing import wide_console

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT: Final = Path(__file__).resolve().parents[2]
PATIENCE: Final = 600
_LISTED: Final = "the host drops a name that it does not know, unless `closed`"
_FIRST: Final = "the host refuses arguments that are not an object, before any hook"
_ITSELF: Final = "the host answers by itself, in its own words"
_NULLABLE: Final = "the host accepts null for an optional argument, and sends it"
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


def dependencies() -> tuple[str, ...]:
    """Return the dependencies of mcp-lenient."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return tuple(project["dependencies"])


def _engine() -> tuple[str, ...]:
    """Return the dependencies without FastMCP, which would install its own SDK."""
    return tuple(each for each in dependencies() if not each.startswith("fastmcp"))


def _agent(title: str, program: str, *packages: str, lost: Mapping[str, str] = _AGENT) -> Host:
    """Return an agent framework as a host."""
    return Host(title, ("agents.driver", program), (*packages, *dependencies()), lost, is_agent=True)


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
        {"whole_text": _FIRST, "unknown_tool": _ITSELF},
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
    "llamaindex": _agent(
        "LlamaIndex",
        "llamaindex",
        "llama-index-core>=0.14.25",
        "llama-index-tools-mcp>=0.6",
        lost={"unknown_tool": _ITSELF},
    ),
    "agent_framework": _agent(
        "agent-framework",
        "agent_framework",
        "agent-framework-core>=1.23,<2",
        "tenacity>=9.1.4,<9.2",
        lost={"unknown_tool": _ITSELF},
    ),
    "haystack": _agent("Haystack", "haystack", "haystack-ai>=3.4", "mcp-haystack>=2.1"),
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
        raise RuntimeError(f"{host.title}: {done.stderr.strip()[-2000:]}")
    reported: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return reported


def _last(events: list[dict[str, Any]]) -> str | None:
    return events[-1]["event"] if events else None


def main() -> int:
    """Print the matrix; return 1 if an outcome differs from the documented one."""
    return show(wide_console(), HOSTS)


def show(console: Console, hosts: Mapping[str, Host]) -> int:
    """Print the matrix, and the progress to stderr; return 1 if an outcome differs from the documented one."""
    progress = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    columns: dict[str, dict[str, str]] = {}
    left_out = []
    for number, (name, host) in enumerate(hosts.items(), 1):
        progress.print(f"{number} of {len(hosts)}: {host.title}")
        try:
            columns[name] = outcomes(host)
        except NotInstalledError as error:
            left_out.append(f"{host.title} is left out: {error}")
    for line in (*left_out, *matrix(hosts, columns)):
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    wrong = [
        f"{hosts[name].title}, {CALLS[call].says}: {said}"
        for name, column in columns.items()
        for call, said in column.items()
        if _is_wrong(hosts[name], call, said)
    ]
    for line in wrong:
        console.print(line, style="bold red", soft_wrap=True, highlight=False, markup=False)
    return 1 if wrong else 0


_LETTERS: Final[Mapping[str, str]] = {"accepted": "A", "repaired": "R", "refused": "X"}
_WRONG: Final = "!!"


def matrix(hosts: Mapping[str, Host], columns: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the lines of the matrix, which fit into 80 columns: a row for each host, a letter for each call.

    Args:
        hosts: The hosts by name.
        columns: The outcome of each call on each host that was run.
    """
    reasons = list(dict.fromkeys(why for name in columns for why in (hosts[name].lost or {}).values()))
    numbers = range(1, len(CALLS) + 1)
    width = max((len(hosts[name].title) for name in columns), default=0)
    lines = [f"{number:>2} {call.says}" for number, call in zip(numbers, CALLS.values(), strict=True)]
    lines += ["", " ".join([" " * width, *(f"{number:>2}" for number in numbers)])]
    for is_agent in (False, True):
        lines += [
            " ".join([hosts[name].title.ljust(width), *_cells(hosts[name], columns[name], reasons)])
            for name in columns
            if hosts[name].is_agent is is_agent
        ]
    lines += ["", ", ".join(f"{letter} {said}" for said, letter in _LETTERS.items())]
    lines += [f"{_WRONG} not as documented", *(["not reached, since:"] if reasons else [])]
    return [*lines, *(f"{number} {why}" for number, why in enumerate(reasons, 1))]


def _cells(host: Host, column: Mapping[str, str], reasons: list[str]) -> list[str]:
    return [f"{_cell(host, call, column[call], reasons):>2}" for call in CALLS]


def _cell(host: Host, call: str, said: str, reasons: list[str]) -> str:
    if _is_wrong(host, call, said):
        return _WRONG
    return _LETTERS.get(said) or str(reasons.index((host.lost or {})[call]) + 1)


def _is_wrong(host: Host, call: str, said: str) -> bool:
    return said.startswith("host:") != (call in (host.lost or {}))
