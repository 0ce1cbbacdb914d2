"""Count the recorded calls that run as meant, end to end through a FastMCP server."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from benchmarks import data, servers
from benchmarks.printing import short, wide_console
from benchmarks.quality import damaged as damages
from benchmarks.quality import scoring
from benchmarks.quality.judgments import REASONS
from benchmarks.quality.matching import differing
from benchmarks.quality.scoring import ALLOWED, CORRUPTED, KEPT, OWN, REFUSED, RIGHT, Known, Score
from mcp_lenient.devtools import outcomes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

    from fastmcp.server.middleware import Middleware
    from rich.console import Console

    from benchmarks.data import Case
    from benchmarks.quality.damaged import Result
    from benchmarks.servers import Reply

    Verdict = Callable[[Case, Reply], str]

_FUNCTIONS = ("default", "strict")
_NO_SOURCE = "no known client adds this name, and an underscore does not say that it may be left out"
_EXPECTED_NOT_RIGHT = {
    "c045": "an empty free-form object for a list of them: refused by a guard",
    "c138": _NO_SOURCE,
    "c141": _NO_SOURCE,
    "arg_typo": "a slip is the first fix, not a repair: one letter tells right words apart",
}
_TARGETS = {
    "conversion_cases": "53 right, 0 corrupted",
    "reported_calls": "98 right, 0 corrupted",
    "real_calls_valid": "1000 right",
    "real_calls_invalid": "at least 104 right",
}
_EXPECTS = ("repair", "pass_through", "reject", "ambiguous", "unreachable", "warn")
_SECOND = {
    RIGHT: "right",
    CORRUPTED: "wrong",
    ALLOWED: "refused as allowed",
    REFUSED: "refused though wanted",
    KEPT: "kept",
    OWN: "FastMCP's own",
}
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Section:
    """The scores of one set of calls on tools of one kind."""

    title: str
    kind: str
    scores: list[Score]

    def counts(self, verdicts: Iterable[str]) -> list[str]:
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
    *,
    alone: bool = False,
    verbose: bool = False,
    save: str | None = None,
    damaged: int = 0,
    seed: int = 1,
) -> None:
    """Print the results of the recorded calls.

    Args:
        alone: Whether to leave out the middleware.
        verbose: Whether to print whole values, and every damaged call that ran as another one.
        save: A file for the outcomes of all sets on all kinds of tools, which ``mcp-lenient outcomes`` compares.
        damaged: The number of damaged correct calls to try as well.
        seed: The seed for choosing damage.
    """
    console = wide_console()
    servers.quiet()
    try:
        folder = data.cases_folder()
    except data.MissingCasesError as missing:
        console.print(f"cases skipped: {missing}")
        return
    middleware = None if alone else refusing()
    measured = asyncio.run(measure(folder, middleware, everywhere=bool(save), damaged=damaged, seed=seed))
    _report(console, measured, verbose=verbose)
    if save:
        outcomes.save(Path(save), _outcomes(measured))
        console.print(f"outcomes written to {save}")


def refusing() -> Middleware:
    """Return the middleware to measure, which refuses what it cannot repair on custom tools too."""
    from mcp_lenient import LenientMiddleware, Policy

    return LenientMiddleware(policy=Policy(unrepairable="refuse"))


# --- measuring ----------------------------------------------------------------------------------------


async def measure(
    folder: Path,
    middleware: Middleware | None,
    *,
    everywhere: bool = False,
    damaged: int = 0,
    seed: int = 1,
) -> Measured:
    """Make all recorded calls; with ``everywhere`` also on kinds of tools where a set is not scored."""
    valid, invalid = (data.real_calls(folder, kind) for kind in ("valid", "invalid"))
    second, more = _second_sets(folder), _more_sets(folder) if everywhere else ()
    calls = damages.damaged_calls(valid, damaged, seed)
    damaged_on = servers.KINDS if everywhere else ("schema",)
    return Measured(
        [section async for section in _sections(_first_sets(folder), middleware)],
        [section async for section in _sections(second, middleware)],
        await scoring.known_scores([case for case in invalid if scoring.known(case)], middleware),
        await scoring.unknown_scores([case for case in invalid if not scoring.known(case)], middleware),
        [section async for section in _sections(more, middleware)],
        [each for kind in damaged_on for each in await damages.results(calls, middleware, kind)],
    )


_Set = "tuple[str, list[Case], Verdict, Iterable[str]]"
"""The name of a set, its calls, how they are judged, and the kinds of tools that get them."""


async def _sections(sets: Iterable[_Set], middleware: Middleware | None) -> AsyncIterator[Section]:
    for title, cases, verdict, kinds in sets:
        for kind in kinds:
            chosen = cases if title in _ON_FUNCTIONS else scoring.callable_as(cases, kind)
            yield Section(title, kind, await scoring.scores(chosen, verdict, middleware, kind))


_ON_FUNCTIONS = ("conversion_cases", "reported_calls")
"""Sets whose schemas become functions even where a function does not express all of them."""


def _first_sets(folder: Path) -> Iterator[_Set]:
    yield "conversion_cases", data.conversion_cases(folder), scoring.conversion_verdict, _FUNCTIONS
    yield "reported_calls", data.reported_calls(folder), scoring.reported_verdict, _FUNCTIONS
    yield "real_calls_valid", data.real_calls(folder, "valid"), scoring.unchanged_verdict, ("schema",)


def _second_sets(folder: Path) -> Iterator[_Set]:
    for name in data.SECOND:
        if (folder / f"{name}.jsonl").is_file():
            is_peers = name == "peer_suites"
            load = data.peer_suites if is_peers else partial(data.reported_calls, name=name)
            verdict = scoring.peer_verdict if is_peers else scoring.second_reported_verdict
            yield name, load(folder), verdict, servers.KINDS


def _more_sets(folder: Path) -> Iterator[_Set]:
    """Yield sets on kinds of tools where they are not scored, for comparing two commits."""
    for title, cases, verdict, kinds in _first_sets(folder):
        if kinds is _FUNCTIONS:
            yield title, cases, verdict, ("schema",)
    for name, verdict in (("valid", scoring.unchanged_verdict), ("invalid", scoring.answer_verdict)):
        yield f"real_calls_{name}", data.real_calls(folder, name), verdict, _FUNCTIONS


def _outcomes(measured: Measured) -> Iterator[outcomes.CallOutcome]:
    invalid = Section(
        "real_calls_invalid", "schema", [*(each.score for each in measured.known), *measured.unknown]
    )
    for section in (*measured.first, *measured.second, *measured.more, invalid):
        for score in section.scores:
            yield _outcome(f"{section.title}, {section.kind}", score.case.name, score.case.sent, score.reply)
    for result in measured.damaged:
        call = result.damaged
        yield _outcome(f"damaged, {result.kind}", call.name, call.sent, result.reply)


def _outcome(where: str, name: str, sent: Any, reply: Reply) -> outcomes.CallOutcome:
    call = outcomes.CallOutcome(
        call=outcomes.digest([where, name, sent]),
        name=name,
        tool=where,
        sent=sent,
        ran=reply.ran,
        value=reply.arguments,
        why=tuple(f"{each['rule']} {each.get('pointer', '')}" for each in reply.records),
    )
    if reply.envelope:
        return outcomes.refused(call, reply.envelope)
    return call if reply.ran else call.model_copy(update={"why": (reply.error,)})


# --- printing -----------------------------------------------------------------------------------------


def _report(console: Console, measured: Measured, *, verbose: bool) -> None:
    known = Section("real_calls_invalid", "schema", [each.score for each in measured.known])
    verdicts = {RIGHT: "right", CORRUPTED: "corrupted", REFUSED: "refused", OWN: "own"}
    title = "Recorded calls (own: FastMCP itself runs it so)"
    console.print(_counted(title, [*measured.first, known], verdicts, _TARGETS))
    reported = [section for section in measured.first if section.title == "reported_calls"]
    table = Table(
        "server", *_EXPECTS, title="reported_calls by what the report expects: right of all (corrupted)"
    )
    for section in reported:
        table.add_row(section.kind, *(_share(section.scores, expect) for expect in _EXPECTS))
    console.print(table)
    console.print(_counted("The second sets", measured.second, _SECOND))
    for name in dict.fromkeys(section.title for section in (*measured.second, *measured.first)):
        sections = [each for each in (*measured.second, *measured.first) if each.title == name]
        _print_rows(console, name, sections, verbose=verbose)
    _print_known(console, measured, verbose=verbose)
    if measured.damaged:
        _print_damaged(console, measured.damaged, verbose=verbose)
    scores = [score for section in (*measured.first, *measured.second, known) for score in section.scores]
    bare = Counter(score.reply.error for score in scores if not score.reply.ran and not score.reply.envelope)
    console.print(f"refused without an envelope: {_listed(bare) or 'none'}")


def _counted(
    title: str, sections: list[Section], verdicts: dict[str, str], targets: dict[str, str] | None = None
) -> Table:
    table = Table("cases", "kind", title=title)
    for head in ("rows", *verdicts.values()):
        table.add_column(head, justify="right")
    if targets:
        table.add_column("target")
    for section in sections:
        target = [targets[section.title]] if targets else []
        table.add_row(section.title, section.kind, *section.counts(verdicts), *target)
    return table


def _share(scores: list[Score], expect: str) -> str:
    found = Counter(score.verdict for score in scores if score.case.row["expect"] == expect)
    corrupted = f" ({found[CORRUPTED]})" if found[CORRUPTED] else ""
    return f"{found[RIGHT]} of {found.total()}{corrupted}"


def _print_rows(console: Console, title: str, sections: list[Section], *, verbose: bool) -> None:
    """Print one line for each row that is not right, combining kinds of tools with the same outcome."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for section in sections:
        for score in section.scores:
            if score.verdict != RIGHT:
                key = (score.case.name, score.verdict, _note(score, verbose=verbose))
                lines.setdefault(key, []).append(section.kind)
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
    return f"{f'{reason}; ' if reason else ''}sent {_short(score.case.sent)}; {_happened(score.reply)}"


def _happened(reply: Reply) -> str:
    if not reply.ran:
        return reply.outcome
    by = f" by {', '.join(reply.repairs)}" if reply.repairs else ""
    return f"ran with {_short(reply.arguments)}{by}"


def fixes(known: list[Known]) -> Counter[str]:
    """Count the outcomes of the first fixes of refused calls."""
    return Counter(each.fix for each in known if each.fix)


def _print_known(console: Console, measured: Measured, *, verbose: bool) -> None:
    rest = Counter(score.verdict for score in measured.unknown)
    led = _listed(fixes(measured.known))
    console.print(f"\nreal_calls_invalid, answer known; first fixes of a refused call lead to: {led}")
    console.print(f"real_calls_invalid without a known answer, {rest.total()} calls: {_listed(rest)}")
    wrong = [each.score for each in measured.known if each.score.verdict == CORRUPTED]
    console.print(f"\n[bold]ran with wrong arguments: {len(wrong)}[/bold]")
    for score in wrong:
        sent, received = score.case.sent, score.reply.arguments
        names = [
            f"{name} ({'as sent' if isinstance(sent, dict) and sent.get(name) == received.get(name) else 'repaired'})"
            for name in differing(received, score.case.row["expected_params"])
        ]
        by = ", ".join(dict.fromkeys(score.reply.repairs))
        _line(console, f"{score.case.name}: {', '.join(names)}; by {by}", verbose=verbose)


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


def _listed(found: Counter[str]) -> str:
    return ", ".join(f"{each} {count}" for each, count in found.most_common())


def _line(console: Console, text: str, *, verbose: bool) -> None:
    """Limit a text to one line of the terminal, unless everything is printed."""
    how: dict[str, Any] = {"soft_wrap": True} if verbose else {"no_wrap": True, "overflow": "ellipsis"}
    console.print(text.replace("\n", " "), markup=False, highlight=False, **how)


def _short(value: Any) -> str:
    return short(value, 300)
