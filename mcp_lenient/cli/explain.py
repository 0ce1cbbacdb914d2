"""``mcp-lenient explain``: what would happen to a call, step by step."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from mcp_lenient.cli.errors import DONE, FOUND, fail
from mcp_lenient.cli.files import check_target

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from mcp_lenient.devtools.explain import Explanation
    from mcp_lenient.telemetry.events import CallEvent


def explain(
    target: str,
    tool: str | None = None,
    arguments: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    /,
    *,
    event: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    everything: Annotated[bool, Parameter(name="--all", negative=(), show_default=False)] = False,
    output: Annotated[Literal["text", "json"], Parameter(name="--format")] = "text",
) -> int:
    """Explain what would happen to a call, step by step. The tool is not run.

    `mcp-lenient explain server.py store '{"tags": "a"}'`

    `mcp-lenient explain store '{"tags": "a"}' -- npx -y some-server`

    Exits with 0 if the tool would run, with 1 if the call would be refused, and with 2 if the server cannot be used.
    With `--event` it exits with 0. Secrets are masked.

    Args:
        target: A Python file (`server.py`, `server.py:name`), a URL, a client configuration (`servers.json`),
            or a command line after `--` at the end.
        tool: The tool.
        arguments: Its arguments as JSON, such as `'{"tags": "a"}'`. Anything that is not JSON counts as arguments that
            were sent as one text.
        event: Instead of a tool and arguments: a log line to explain, or `-` for all lines on stdin.
        everything: Show also what stops each rule that does not apply, why others are not asked, and the guards of a
            logged repair.
        output: `text` for people, `json` for programs, always with the guards.
    """
    check_target([target])
    import asyncio

    from mcp_lenient.cli.targets import one_line_errors, quiet, served, target_of
    from mcp_lenient.devtools.explain import RUNS, explain_event
    from mcp_lenient.devtools.explain import explain as explain_call
    from mcp_lenient.devtools.printing import put

    if (tool is None) is (event is None):
        fail("name a tool and its arguments, or give a line of the log with --event")
    events = _events(event) if event is not None else []
    guards = everything or output == "json"

    async def work(server: FastMCP) -> list[Explanation]:
        if tool is not None:
            return [await explain_call(server, tool, _sent(arguments), guards=guards)]
        return [await explain_event(server, event, guards=guards) for event in events]

    with one_line_errors(target), quiet():
        explanations = asyncio.run(served(target_of([target]), work))
    if output == "json":
        shown = [explanation.as_dict() for explanation in explanations]
        put(json.dumps(shown if event is not None else shown[0], indent=2, default=repr))
    else:
        _print(explanations)
    return FOUND if any(explanation.fate not in {*RUNS, "logged"} for explanation in explanations) else DONE


def _sent(arguments: str | None) -> Any:
    if arguments is None:
        return {}
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _events(event: str) -> list[CallEvent]:
    from mcp_lenient.telemetry.events import read_event

    lines = sys.stdin if event == "-" else [event]
    events = [read for read in map(read_event, lines) if read is not None]
    if not events:
        fail("--event: the input has no mcp-lenient event")
    return events


def _print(explanations: list[Explanation]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from mcp_lenient.devtools.printing import Output, show

    console = Output(highlight=False)
    for explanation in explanations:
        for number, step in enumerate(explanation.steps, 1):
            show(console, Text(f"{number}. {step.title}", "bold"))
            for line in step.lines:
                indent = 5 if line.startswith("  ") else 3
                show(console, Padding(Text(line.strip()), (0, 0, 0, indent), expand=False))
        if explanation.envelope is not None:
            console.print(Text("The envelope", "bold"))
            console.print(Text(json.dumps(explanation.envelope, indent=2)), soft_wrap=True)
        console.print()
