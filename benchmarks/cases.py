"""Count the recorded calls that run as meant, end to end through a FastMCP server."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from benchmarks import damaged as damages
from benchmarks import data, outcomes, scoring, servers
from benchmarks.judgments import REASONS
from benchmarks.matching import differing
from benchmarks.scoring import ALLOWED, CORRUPTED, KEPT, OWN, REFUSED, RIGHT, Known, Score

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from fastmcp.server.middleware import Middleware
    from rich.console import Console

    from benchmarks.damaged import Result
    from benchmarks.data import Case
    from benchmarks.servers import Reply

_NO_SOURCE = "no known client adds this name, and an underscore does not say that it may be left out"
_EXPECTED_NOT_RIGHT = {
    "c045": "an empty free-form object for a list of them: refused by a guard",
    "c138": _NO_SOURCE,
    "c141": _NO_SOURCE,
    "arg_typo": "a slip is the first fix, not a repair: one letter tells right words apart",
}


@dataclass(frozen=True, slots=True)
class Section:
    """The scores of one set of calls on tools of one kind."""

    title: str
    kind: str
    scores: list[Score]

    def counts(self, verdicts: tuple[str, ...]) -> list[str]:
        """Return the number of rows, and of rows with each verdict."""
        found = Counter(score.verdict for score in self.scores)
        return [str(len(self.scores)), *(str(found[verdict]) for verdict in verdicts)]


@dataclass(frozen=True, slots=True)
class Measured:
    """All results for the recorded calls."""

    first: list[Section]
    second: list[Section]
    known: list[Known]
    unknown: list[Score]
    more: list[Section]
    damaged: list[Result]


def main(
    console: Console,
    *,
    alone: bool = False,
    marked: bool = False,
    verbose: bool = False,
    json_file: str | None = None,
    damaged: int = 0,
    seed: int = 1,
) -> None:
    """Print the results of the recorded calls.

    Args:
        console: The output.
        alone: Whether to leave out the middleware.
        marked: Whether every function has ``@lenient``.
        verbose: Whether to print every row of the real invalid calls, and every refusal that a row leaves open.
        json_file: A file for each outcome as a line of JSON, of all sets on all kinds of tools.
        damaged: The number of damaged correct calls to try as well.
        seed: The seed for choosing damage.
    """
    servers.quiet()
    try:
        folder = data.cases_folder()
    except data.MissingCasesError as missing:
        console.print(f"cases skipped: {missing}")
        return
    middleware = None if alone else refusing()
    measured = asyncio.run(
        measure(folder, middleware, marked=marked, everywhere=bool(json_file), damaged=damaged, seed=seed)
    )
    for name in data.missing_second_sets(folder):
        console.print(f"{name} skipped: not in {folder}")
    _report(console, measured, verbose=verbose)
    if json_file:
        outcomes.write(Path(json_file), _outcomes(measured))
        console.print(f"outcomes written to {json_file}")


def refusing() -> Middleware:
    """Return the middleware to measure, which refuses what it cannot repair on custom tools too."""
    from mcp_lenient import LenientMiddleware, Policy

    return LenientMiddleware(policy=Policy(unrepairable="refuse"))


async def measure(
    folder: Path,
    middleware: Middleware | None,
    *,
    marked: bool = False,
    everywhere: bool = False,
    damaged: int = 0,
    seed: int = 1,
) -> Measured:
    """Make all recorded calls; with ``everywhere`` also on kinds of tools where a set is not scored."""
    first = [section async for section in _first_sections(folder, middleware, marked=marked)]
    second = [section async for section in _second_sections(folder, middleware, marked=marked)]
    invalid = data.real_calls(folder, "invalid")
    known = await scoring.known_scores([case for case in invalid if scoring.known(case)], middleware)
    unknown = await scoring.unknown_scores([case for case in invalid if not scoring.known(case)], middleware)
    more = [section async for section in _more_sections(folder, middleware)] if everywhere else []
    valid = data.real_calls(folder, "valid")
    kinds = servers.KINDS if everywhere else ("schema",)
    results = [each for kind in kinds for each in await _damaged(valid, damaged, seed, middleware, kind)]
    return Measured(first, second, known, unknown, more, results)


async def _damaged(
    valid: list[Case], count: int, seed: int, middleware: Middleware | None, kind: str
) -> list[Result]:
    calls = damages.damaged_calls(valid, count, seed)
    said = {case.name for case in scoring.callable_as(valid, kind)}
    return await damages.results([call for call in calls if call.case.name in said], middleware, kind)


async def _first_sections(
    folder: Path, middleware: Middleware | None, *, marked: bool
) -> AsyncIterator[Section]:
    for title, cases, verdict in _first_sets(folder):
        for kind in _FUNCTIONS:
            scores = await scoring.scores(cases, verdict, middleware, kind, marked=marked)
            yield Section(title, kind, scores)
    valid = data.real_calls(folder, "valid")
    scores = await scoring.scores(valid, scoring.unchanged_verdict, middleware, "schema")
    yield Section("real_calls_valid", "schema", scores)


def _first_sets(folder: Path) -> tuple[tuple[str, list[Case], Callable[[Case, Reply], str]], ...]:
    return (
        ("conversion_cases", data.conversion_cases(folder), scoring.conversion_verdict),
        ("reported_calls", data.reported_calls(folder), scoring.reported_verdict),
    )


async def _second_sections(
    folder: Path, middleware: Middleware | None, *, marked: bool
) -> AsyncIterator[Section]:
    reported = ("reported_calls_2", "reported_calls_3")
    sets: tuple[tuple[str, Callable[[], list[Case]], Callable[[Case, Reply], str]], ...] = (
        *(
            (name, partial(data.reported_calls, folder, name), scoring.second_reported_verdict)
            for name in reported
        ),
        ("peer_suites", lambda: data.peer_suites(folder), scoring.peer_verdict),
    )
    missing = data.missing_second_sets(folder)
    for title, cases, verdict in sets:
        if title not in missing:
            for kind in servers.KINDS:
                chosen = scoring.callable_as(cases(), kind)
                scores = await scoring.scores(chosen, verdict, middleware, kind, marked=marked)
                yield Section(title, kind, scores)


async def _more_sections(folder: Path, middleware: Middleware | None) -> AsyncIterator[Section]:
    """Return sets on kinds of tools where they are not scored, for comparing two commits."""
    for title, cases, verdict in _first_sets(folder):
        yield Section(title, "schema", await scoring.scores(cases, verdict, middleware, "schema"))
    for name in ("valid", "invalid"):
        for kind in _FUNCTIONS:
            cases = scoring.callable_as(data.real_calls(folder, name), kind)
            scores = await scoring.scores(
                cases,
                scoring.answer_verdict if name == "invalid" else scoring.unchanged_verdict,
                middleware,
                kind,
            )
            yield Section(f"real_calls_{name}", kind, scores)


def _outcomes(measured: Measured) -> Iterator[outcomes.Row]:
    invalid = [each.score for each in measured.known] + measured.unknown
    sections = [
        *measured.first,
        *measured.second,
        *measured.more,
        Section("real_calls_invalid", "schema", invalid),
    ]
    for section in sections:
        for score in section.scores:
            case = score.case
            yield outcomes.outcome(section.title, section.kind, case.name, case.sent, score.reply)
    for result in measured.damaged:
        call = result.damaged
        yield outcomes.outcome("damaged", result.kind, call.name, call.sent, result.reply)


def _report(console: Console, measured: Measured, *, verbose: bool) -> None:
    console.print(_table(measured))
    console.print(_reported_table(measured.first))
    for title in data.SECOND:
        sections = [section for section in measured.second if section.title == title]
        if sections:
            console.print(_second_table(title, sections))
            _print_rows(console, title, sections, verbose=verbose)
    for title in ("conversion_cases", "reported_calls"):
        sections = [section for section in measured.first if section.title == title]
        _print_rows(console, title, sections, verbose=verbose)
    _print_known(console, measured, verbose=verbose)
    if measured.damaged:
        _print_damaged(console, measured.damaged, verbose=verbose)
    _print_bare(console, measured)


_FUNCTIONS = ("default", "strict")
_HEADS = {REFUSED: "refused", OWN: "own"}


def _table(measured: Measured) -> Table:
    verdicts = (RIGHT, CORRUPTED, REFUSED, OWN)
    table = _counting("Recorded calls (own: FastMCP itself runs it so)", "cases", "kind", "rows", *verdicts)
    for section in measured.first:
        table.add_row(section.title, section.kind, *section.counts(verdicts), _TARGETS[section.title])
    known = Section("real_calls_invalid", "schema", [each.score for each in measured.known])
    table.add_row(known.title, known.kind, *known.counts(verdicts), _TARGETS[known.title])
    return table


def _counting(title: str, *heads: str) -> Table:
    table = Table(title=title)
    for head in heads:
        words = head in ("cases", "kind", "server")
        table.add_column(_HEADS.get(head, head), justify="left" if words else "right", no_wrap=words)
    if heads[0] == "cases":
        table.add_column("target")
    return table


_TARGETS = {
    "conversion_cases": "53 right, 0 corrupted",
    "reported_calls": "98 right, 0 corrupted",
    "real_calls_valid": "1000 right",
    "real_calls_invalid": "at least 104 right",
}
_EXPECTS = ("repair", "pass_through", "reject", "ambiguous", "unreachable", "warn")


def _reported_table(sections: list[Section]) -> Table:
    title = "reported_calls by what the report expects: right of all (corrupted)"
    table = _counting(title, "server", *_EXPECTS)
    for section in sections:
        if section.title == "reported_calls":
            table.add_row(section.kind, *(_share(section.scores, expect) for expect in _EXPECTS))
    return table


def _share(scores: list[Score], expect: str) -> str:
    found = Counter(score.verdict for score in scores if score.case.row["expect"] == expect)
    corrupted = f" ({found[CORRUPTED]})" if found[CORRUPTED] else ""
    return f"{found[RIGHT]} of {found.total()}{corrupted}"


_SECOND = {
    RIGHT: "right",
    CORRUPTED: "wrong",
    ALLOWED: "refused as allowed",
    REFUSED: "refused though wanted",
    KEPT: "kept",
    OWN: "FastMCP's own",
}


def _second_table(title: str, sections: list[Section]) -> Table:
    table = Table(title=title)
    for head in ("kind", "rows", *_SECOND.values()):
        table.add_column(head, justify="left" if head == "kind" else "right")
    for section in sections:
        table.add_row(section.kind, *section.counts(tuple(_SECOND)))
    return table


def _print_rows(console: Console, title: str, sections: list[Section], *, verbose: bool) -> None:
    """Print one line for each row that is not right, combining kinds of tools with the same outcome."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for section in sections:
        for score in section.scores:
            if score.verdict != RIGHT:
                note = _note(score, verbose=verbose)
                lines.setdefault((score.case.name, score.verdict, note), []).append(section.kind)
    if lines:
        console.print(f"\n[bold]{title}: not right[/bold]")
    for (name, verdict, note), kinds in lines.items():
        where = "all" if len(kinds) == len(sections) else ", ".join(kinds)
        _line(console, f"{name:5} {_SECOND.get(verdict, verdict)} ({where}): {note}", verbose=verbose)


def _note(score: Score, *, verbose: bool) -> str:
    """Return the reason if the difference is kept; otherwise what happened."""
    reason = REASONS.get(score.case.name) or _EXPECTED_NOT_RIGHT.get(score.case.name)
    if reason and not verbose and score.verdict not in (CORRUPTED, OWN):
        return reason
    reported = f"sent {_short(score.case.sent)}; {_happened(score, brief=not verbose)}"
    return f"{reason}; {reported}" if reason and verbose else reported


def _line(console: Console, text: str, *, verbose: bool) -> None:
    """Limit a text to one line of the terminal, unless everything is printed."""
    how: dict[str, Any] = {"soft_wrap": True} if verbose else {"no_wrap": True, "overflow": "ellipsis"}
    console.print(text.replace("\n", " "), markup=False, highlight=False, **how)


def _happened(score: Score, *, brief: bool = False) -> str:
    reply = score.reply
    if reply.ran:
        by = f" by {', '.join(reply.repairs)}" if reply.repairs else ""
        return f"ran with {_short(reply.arguments)}{by}"
    return reply.outcome if brief else f"{reply.outcome}: {_short(reply.envelope.get('message', ''))}"


def fixes(known: list[Known]) -> Counter[str]:
    """Count the outcomes of the first fixes of refused calls."""
    return Counter(each.fix for each in known if each.fix)


def _print_known(console: Console, measured: Measured, *, verbose: bool) -> None:
    known = measured.known
    reported = ", ".join(f"{fix} {count}" for fix, count in fixes(known).most_common())
    console.print(f"\nreal_calls_invalid, answer known; first fixes of a refused call lead to: {reported}")
    rest = Counter(score.verdict for score in measured.unknown)
    others = ", ".join(f"{outcome} {count}" for outcome, count in rest.most_common())
    console.print(f"real_calls_invalid without a known answer, {rest.total()} calls: {others}")
    for title, chosen in _groups(known, verbose=verbose):
        _print_answers(console, title, chosen, verbose=verbose)


def _print_damaged(console: Console, found: list[Result], *, verbose: bool) -> None:
    table = Table(title="damaged right calls")
    for head in ("kind", "calls", *damages.VERDICTS):
        table.add_column(head, justify="left" if head == "kind" else "right")
    for kind in servers.KINDS:
        counts = damages.counts([result for result in found if result.kind == kind])
        if counts:
            table.add_row(kind, str(counts.total()), *(str(counts[each]) for each in damages.VERDICTS))
    console.print(table)
    others = [result for result in found if result.verdict == "another call"]
    # A function receives more than was sent (defaults, models without extras), so custom tools are more exact.
    others.sort(key=lambda result: -servers.KINDS.index(result.kind))
    for result in others if verbose else others[:_SHOWN]:
        _line(console, f"{result.kind}, {result.damaged.name}: {_changed(result)}", verbose=verbose)


def _changed(result: Result) -> str:
    """Return what differs from the right call, as sent and as run."""
    right, sent, ran = result.damaged.case.sent, result.damaged.sent, result.reply.arguments
    names = [name for name in {**right, **ran} if name not in ran or ran[name] != right.get(name)]
    reported = [f"{name} {_short(sent.get(name))} ran as {_short(ran.get(name))}" for name in names]
    return f"{', '.join(result.reply.repairs)}; {'; '.join(reported)}"


_SHOWN = 20


def _print_bare(console: Console, measured: Measured) -> None:
    scores = [score for section in (*measured.first, *measured.second) for score in section.scores]
    scores += [each.score for each in measured.known]
    found = Counter(score.reply.error for score in scores if not score.reply.ran and not score.reply.envelope)
    reported = ", ".join(f"{error} {count}" for error, count in found.most_common()) or "none"
    console.print(f"refused without an envelope: {reported}")


def _groups(known: list[Known], *, verbose: bool) -> Iterator[tuple[str, list[Known]]]:
    yield "ran with wrong arguments", [each for each in known if each.score.verdict == CORRUPTED]
    if verbose:
        for fix in (
            "astray",
            "astray, by what was sent elsewhere",
            "does not apply",
            "refused again",
            "no fix",
            "mended",
        ):
            yield f"refused; first fixes: {fix}", [each for each in known if each.fix == fix]
        yield "right", [each for each in known if each.score.verdict == RIGHT]


def _print_answers(console: Console, title: str, chosen: list[Known], *, verbose: bool) -> None:
    console.print(f"\n[bold]{title}: {len(chosen)}[/bold]")
    for each in chosen:
        if not verbose:
            by = ", ".join(dict.fromkeys(each.score.reply.repairs))
            _line(console, f"{each.score.case.name}: {_wrong(each.score)}; by {by}", verbose=False)
            continue
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
    """Return what differs from the closest answer, and whether it already differed when sent."""
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
