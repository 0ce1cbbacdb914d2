"""``mcp-lenient stress``: call tools with damaged arguments and show what happens."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from mcp_lenient.cli.errors import DONE, FOUND, INTERRUPTED, fail
from mcp_lenient.cli.files import InputFile, check_target

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from mcp_lenient.testing import StressReport


def stress(  # noqa: PLR0913 - each is an option of the command
    *target: str,
    tool: Annotated[str, Parameter(show_default=False)] = "*",
    seed: int = 0,
    per_tool: Annotated[int, Parameter(validator=Number(gte=1))] = 3,
    arguments: InputFile = None,
    everything: Annotated[bool, Parameter(name="--all", negative=(), show_default=False)] = False,
    dry_run: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    yes: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    summary: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    output: Annotated[Literal["text", "json"], Parameter(name="--format")] = "text",
) -> int:
    """Call tools with arguments damaged as models damage them, and show what happens.

    `mcp-lenient stress server.py`

    The tools of a Python file are not run: each call is stopped before the tool. Any other server receives real
    calls through the middleware, so only its read-only tools (`readOnlyHint`) are called.

    Exits with 1 if a call was corrupted (repaired to something other than what was meant), if no tool could be
    tried, if a tool has no LenientMiddleware, or if a tool rejects the arguments given for it; else with 0; with 2 if the server cannot be used. Tools
    that could not be tried are listed with the reason.

    Args:
        target: A Python file (`server.py`, `server.py:name`), a URL, a client configuration (`servers.json`),
            or a command line after `--`.
        tool: Only tools whose names match this pattern, such as `search_*`.
        seed: Seed of the generated arguments: the same seed gives the same calls.
        per_tool: Number of valid calls to damage for each tool.
        arguments: JSON file with valid arguments to use instead of generated ones: for each tool an object or a list
            of objects, such as `{"search": {"query": "tea"}}`.
        everything: Also call tools that may change something.
        dry_run: Only show what would be called.
        yes: Call without asking.
        summary: Show only the totals, without a table for each tool.
        output: `text` for people, `json` for programs.
    """
    check_target(target)
    from fastmcp import FastMCP

    from mcp_lenient.cli.rehearsal import given_arguments, rehearse
    from mcp_lenient.cli.targets import lenient_front, one_line_errors, quiet, target_of
    from mcp_lenient.devtools.printing import Output, put, show

    console = Output(highlight=False)
    calls = given_arguments(arguments) if arguments is not None else {}
    with one_line_errors(" ".join(target)), quiet():
        server = target_of(target)
        plan = rehearse(server, tool, seed, per_tool, everything=everything, arguments=calls)
        if plan.reaches_the_tools or (dry_run and output == "text"):
            show(Output(stderr=True, highlight=False) if output == "json" else console, plan)
        if dry_run or not plan.would_call:
            if output == "json":
                put(json.dumps(asdict(plan), indent=2))
            return DONE if dry_run else FOUND
        if plan.reaches_the_tools and not yes and not _confirmed():
            return DONE
        # A transport belongs to the event loop that first used it, so the calls get a new one.
        subject = server if isinstance(server, FastMCP) else lenient_front(target_of(target))
        names = [planned.tool for planned in plan.would_call]
        how = {"seed": seed, "per_tool": per_tool, "arguments": calls, "run": plan.reaches_the_tools}
        report, is_whole = _report(subject, only=names, **how)
    if output == "json":
        put(json.dumps(report.as_dict(), indent=2, default=repr))
    else:
        show(console, report if summary or len(report.tried) == 1 else report.in_detail())
    if not is_whole:
        sys.stderr.write("interrupted: this is the report of the calls until then\n")
        return INTERRUPTED
    wrong = report.corrupted or not report.calls or report.unprotected or calls.keys() & report.skipped.keys()
    return FOUND if wrong else DONE


def _report(subject: FastMCP, **how: Any) -> tuple[StressReport, bool]:
    """Return the report of the calls, and whether it has all of them: after Ctrl-C it has those until then."""
    from mcp_lenient.cli.report import progress_bar
    from mcp_lenient.testing.stress_run import StressInterrupt
    from mcp_lenient.testing.stress_run import stress as run_stress

    try:
        with progress_bar() as progress:
            return run_stress(subject, **how, progress=progress), True
    except StressInterrupt as interrupt:
        if not interrupt.report.calls:
            raise
        return interrupt.report, False


def _confirmed() -> bool:
    from rich.prompt import Confirm

    from mcp_lenient.devtools.printing import Output

    if not sys.stdin.isatty():
        fail("these calls would reach the server: add --yes to make them, or --dry-run to only see them")
    return Confirm.ask("Make these calls?", console=Output(stderr=True), default=False)
