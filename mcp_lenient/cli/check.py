"""``mcp-lenient check``: find what models will misunderstand in a server's tools."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from mcp_lenient.cli.errors import DONE, FOUND, fail
from mcp_lenient.cli.files import check_target


def check(
    *target: str,
    level: Literal["note", "warning", "error"] = "warning",
    select: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = (),
    ignore: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = (),
    providers: Annotated[tuple[str, ...], Parameter(name="--for", negative=(), show_default=False)] = (),
    server: Annotated[str | None, Parameter(show_default=False)] = None,
    output: Annotated[Literal["text", "json", "github", "sarif"], Parameter(name="--format")] = "text",
) -> int:
    """Find what models will misunderstand in a server's tools. No tool is called.

    `mcp-lenient check server.py`

    Exits with 1 if a finding is at or above `--level`, else with 0; with 2 if the server cannot be used.

    Args:
        target: A Python file (`server.py`, `server.py:name`), a URL, a client configuration (`servers.json`),
            or a command line after `--`.
        level: The lowest level that makes the exit code 1; all findings are shown.
        select: Apply only this rule, given by its code or a pattern such as `*_description`. Repeatable.
        ignore: Skip this rule, given by its code or a pattern. Repeatable.
        providers: Report instead what these providers and clients reject: `anthropic,gemini`, or `all`; the exit code is
            1 if a request, a tool or a call would fail.
        server: The server's name in the clients' configuration, which some put before the names of tools; by default the
            name that the server gives itself.
        output: `text` for people, `json` for programs, `github` for workflow commands, `sarif` for SARIF 2.1.0.
    """
    check_target(target)
    from datetime import datetime, timezone

    from mcp_lenient.cli.targets import tools_of
    from mcp_lenient.devtools.check import LEVELS, chosen_checks, findings
    from mcp_lenient.devtools.check import output as shown
    from mcp_lenient.devtools.check import providers as limits
    from mcp_lenient.devtools.printing import Output, put, show

    if providers:
        if output not in ("text", "json"):
            fail(f"--format {output}: --for has the formats text and json")
        chosen = limits.chosen_providers(providers)
        report = limits.report(tools_of(target), chosen, server)
        today = datetime.now(timezone.utc).date()
        if output == "text":
            show(Output(highlight=False, soft_wrap=True), limits.as_text(report, today))
        else:
            put(limits.as_json(report, today))
        return FOUND if report.failing else DONE
    checks = chosen_checks(select, ignore)
    tools = tools_of(target)
    hits, named = findings(tools, checks), " ".join(target)
    if output == "text":
        show(Output(highlight=False), shown.as_text(hits, len(tools)))
    elif output == "json":
        put(shown.as_json(hits, named, len(tools)))
    elif output == "github":
        for hit in hits:
            put(shown.as_github(hit))
    else:
        put(shown.as_sarif(hits, named))
    counts = LEVELS[LEVELS.index(level) :]
    return FOUND if any(hit.level in counts for hit in hits) else DONE
