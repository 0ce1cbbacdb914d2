"""The table of recorded calls: how many run as meant, end to end through a FastMCP server."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from benchmarks import data, scoring, servers
from benchmarks.matching import differing
from benchmarks.scoring import CORRUPTED, OWN, REFUSED, RIGHT, Known, Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from fastmcp.server.middleware import Middleware
    from rich.console import Console

_EXPECTED_NOT_RIGHT = {"c045": "an empty free-form object for a list of them: refused by a guard"}


def main(console: Console, *, alone: bool = False, marked: bool = False, verbose: bool = False) -> None:
    """Print how the recorded calls fare.

    Args:
        console: Where to.
        alone: Without the middleware.
        marked: With ``@lenient`` on every function.
        verbose: With every row of the real invalid calls.
    """
    servers.quiet()
    try:
        folder = data.cases_folder()
    except data.MissingCasesError as missing:
        console.print(f"cases skipped: {missing}")
        return
    asyncio.run(_report(console, folder, None if alone else _refusing(), marked=marked, verbose=verbose))


def _refusing() -> Middleware:
    from mcp_lenient import LenientMiddleware, Policy  # noqa: PLC0415 (FastMCP alone is measured without it)

    return LenientMiddleware(policy=Policy(unrepairable="refuse"))


async def _report(
    console: Console, folder: Path, middleware: Middleware | None, *, marked: bool, verbose: bool
) -> None:
    scores = [section async for section in _sections(folder, middleware, marked=marked)]
    invalid = data.real_calls(folder, "invalid")
    known = await scoring.known_scores([case for case in invalid if scoring.known(case)], middleware)
    rest = await scoring.unknown_outcomes([case for case in invalid if not scoring.known(case)], middleware)
    console.print(_table(scores, known))
    _print_reported(console, scores)
    for title, section in scores:
        _print_rows(console, title, section)
    _print_known(console, known, rest, verbose=verbose)
    bare = [score for _, section in scores for score in section] + [each.score for each in known]
    _print_bare(console, [score for score in bare if not score.reply.ran and not score.reply.envelope])


async def _sections(folder: Path, middleware: Middleware | None, *, marked: bool) -> Any:
    files = (
        ("conversion_cases", data.conversion_cases(folder), scoring.conversion_verdict),
        ("reported_calls", data.reported_calls(folder), scoring.reported_verdict),
    )
    for title, cases, verdict in files:
        for kind in ("default", "strict"):
            strict = kind == "strict"
            scores = await scoring.function_scores(cases, verdict, middleware, strict=strict, marked=marked)
            yield f"{title}, {kind} server", scores
    yield "real_calls_valid", await scoring.valid_scores(data.real_calls(folder, "valid"), middleware)


def _table(sections: Iterable[tuple[str, list[Score]]], known: list[Known]) -> Table:
    table = Table(title="Recorded calls")
    for name in ("cases", "rows", RIGHT, CORRUPTED, REFUSED, OWN):
        table.add_column(name, justify="left" if name == "cases" else "right")
    table.add_column("target")
    for title, scores in sections:
        table.add_row(title, *_counts(scores), _TARGETS[title.split(",")[0]])
    invalid = "real_calls_invalid, answer known"
    table.add_row(invalid, *_counts([each.score for each in known]), _TARGETS["real_calls_invalid"])
    return table


_TARGETS = {
    "conversion_cases": "54 right, 0 corrupted",
    "reported_calls": "100 right, 0 corrupted, 1 refused",
    "real_calls_valid": "1000 right",
    "real_calls_invalid": "at least 104 right, each wrong one looked at",
}


def _counts(scores: list[Score]) -> list[str]:
    found = Counter(score.verdict for score in scores)
    return [str(len(scores)), *(str(found[verdict]) for verdict in (RIGHT, CORRUPTED, REFUSED, OWN))]


def _print_reported(console: Console, sections: Iterable[tuple[str, list[Score]]]) -> None:
    table = Table(title="reported_calls by what the report expects: right of all (corrupted)")
    table.add_column("server")
    for expect in _EXPECTS:
        table.add_column(expect, justify="right")
    for title, scores in sections:
        if title.startswith("reported_calls"):
            table.add_row(title.split(", ")[1], *(_share(scores, expect) for expect in _EXPECTS))
    console.print(table)


_EXPECTS = ("repair", "pass_through", "reject", "ambiguous", "unreachable", "warn")


def _share(scores: list[Score], expect: str) -> str:
    found = Counter(score.verdict for score in scores if score.case.row["expect"] == expect)
    corrupted = f" ({found[CORRUPTED]})" if found[CORRUPTED] else ""
    return f"{found[RIGHT]} of {found.total()}{corrupted}"


def _print_rows(console: Console, title: str, scores: list[Score]) -> None:
    wrong = [score for score in scores if score.verdict != RIGHT]
    if not wrong:
        return
    table = Table("row", "verdict", "sent", "what happened", title=f"{title}: not right")
    for score in wrong:
        note = _EXPECTED_NOT_RIGHT.get(score.case.name)
        verdict = f"{score.verdict} ({note})" if note else score.verdict
        table.add_row(*map(escape, (score.case.name, verdict, _short(score.case.sent), _happened(score))))
    console.print(table)


def _happened(score: Score) -> str:
    reply = score.reply
    if reply.ran:
        by = f" by {', '.join(reply.repairs)}" if reply.repairs else ""
        return f"ran with {_short(reply.arguments)}{by}"
    return f"{reply.outcome}: {_short(reply.envelope.get('message', ''))}"


def _print_known(console: Console, known: list[Known], rest: Counter[str], *, verbose: bool) -> None:
    fixes = Counter(each.fix for each in known if each.fix)
    table = Table(
        "what the first fixes of a refused call lead to", "calls", title="real_calls_invalid, answer known"
    )
    for fix, count in fixes.most_common():
        table.add_row(fix, str(count))
    console.print(table)
    others = ", ".join(f"{outcome} {count}" for outcome, count in rest.most_common())
    console.print(f"real_calls_invalid without a known answer, {rest.total()} calls: {others}")
    for title, chosen in _groups(known, verbose=verbose):
        _print_answers(console, title, chosen)


def _print_bare(console: Console, scores: list[Score]) -> None:
    found = Counter(score.reply.error for score in scores)
    told = ", ".join(f"{error} {count}" for error, count in found.most_common()) or "none"
    console.print(f"refused without an envelope: {told}")


def _groups(known: list[Known], *, verbose: bool) -> Iterator[tuple[str, list[Known]]]:
    yield "ran with wrong arguments", [each for each in known if each.score.verdict == CORRUPTED]
    if verbose:
        for fix in ("astray", "does not apply", "refused again", "no fix", "mended"):
            yield f"refused; first fixes: {fix}", [each for each in known if each.fix == fix]
        yield "right", [each for each in known if each.score.verdict == RIGHT]


def _print_answers(console: Console, title: str, chosen: list[Known]) -> None:
    console.print(f"\n[bold]{title}: {len(chosen)}[/bold]")
    for each in chosen:
        row = each.score.case.row
        console.print(escape(f"- {each.score.case.name} ({'; '.join(row['classes'])})"))
        for label, text in (
            ("sent", _short(row["sent"])),
            ("now", _happened(each.score)),
            ("fixes", _short(_fixes(each))),
            ("right", _short(row["expected_params"])),
            ("wrong", _wrong(each.score)),
        ):
            console.print(escape(f"    {label:6}{text}"), highlight=False)


def _wrong(score: Score) -> str:
    """What differs from the closest answer, and whether it was so when it was sent."""
    if score.verdict != CORRUPTED:
        return ""
    sent, received = score.case.sent, score.reply.arguments
    names = differing(received, score.case.row["expected_params"])
    same_as_sent = [isinstance(sent, dict) and sent.get(name) == received.get(name) for name in names]
    return ", ".join(
        f"{name} ({'as sent' if kept else 'repaired'})"
        for name, kept in zip(names, same_as_sent, strict=True)
    )


def _fixes(each: Known) -> list[Any]:
    violations = each.score.reply.envelope.get("details", {}).get("violations", [])
    return [violation.get("fixes", []) for violation in violations]


def _short(value: Any, limit: int = 300) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}..."
