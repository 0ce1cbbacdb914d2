"""Replay recorded answers of real models through a public benchmark's own checker, and recorded runs on MCP servers."""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.environments import NotInstalledError
from benchmarks.evidence.recorded.answers import (
    BFCL_4,
    BFCL_2024,
    BFCL_SUBSET,
    Benchmark,
    Change,
    Effect,
    Replayed,
    replay,
)
from benchmarks.evidence.recorded.methods import OURS, Method, first_fixes, json_repair, ours, pydantic_lax
from benchmarks.evidence.recorded.runs import COUNTED, Call, Runs, replay_runs
from benchmarks.printing import line, short, wide_console
from mcp_lenient.types import Normalized
from mcp_lenient.values.json_values import same_json

_ABSENT = object()
_WIDEST = 90
"""The length of a printed value, in characters."""


def main(*folders: Path) -> int:
    """Print the tables of what the folders contain; return 2 if that is nothing that can be replayed.

    Args:
        folders: Clones of recorded answers, of a benchmark's code, and of recorded runs (README.md).
    """
    return show(folders)


def show(
    folders: Sequence[Path],
    benchmarks: Sequence[Benchmark] = (BFCL_2024, BFCL_4, BFCL_SUBSET),
    makers: Sequence[Callable[[], Method]] = (ours, first_fixes, json_repair, pydantic_lax),
) -> int:
    """Print the tables.

    Args:
        folders: As above.
        benchmarks: The benchmarks whose answers are looked for.
        makers: Functions that start the compared methods; one that cannot be installed is left out, with the reason.
    """
    console = wide_console()
    methods = list(_started(console, makers))
    found = False
    for benchmark in benchmarks:
        replayed = replay(benchmark, folders, methods)
        if replayed.sets or replayed.skipped:
            found = True
            _show(console, benchmark, replayed, [method.name for method in methods])
    runs = list(replay_runs(folders))
    if runs:
        _show_runs(console, runs)
    for method in methods:
        method.close()
    if not found and not runs:
        console.print(
            "Nothing to replay in these folders. benchmarks/evidence/README.md names the repositories to clone."
        )
        return 2
    line(console, _measured(methods))
    return 0


def _started(console: Console, makers: Sequence[Callable[[], Method]]) -> Iterator[Method]:
    for make in makers:
        try:
            yield make()
        except NotInstalledError as reason:
            line(console, f"{make.__name__} is left out: {reason}")


def _measured(methods: Sequence[Method]) -> str:
    versions = {name: number for method in methods for name, number in method.versions.items()}
    named = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"Measured on {date.today()} with {OURS} {version(OURS)}, Python {platform.python_version()}; {named}."  # noqa: DTZ011 - the user's own day


# --- answers ------------------------------------------------------------------------------------------


def _show(console: Console, benchmark: Benchmark, replayed: Replayed, methods: Sequence[str]) -> None:
    of = len(replayed.sets) + len(replayed.skipped)
    came = "the published score came out for" if benchmark.scores else "no score was published; read are"
    line(console, f"{benchmark.name}: {came} {len(replayed.sets)} of {of} sets.")
    for recorded, reason in replayed.skipped:
        line(console, f"  skipped: {recorded.run} {recorded.model} {recorded.category}: {reason}")
    if not replayed.sets:
        return
    console.print(_by_method(benchmark, replayed, methods))
    _show_intervals(console, replayed)
    console.print(_by_writing(replayed))
    console.print(_by_model(replayed, methods))
    console.print(_by_rule(replayed))
    _list(console, "Lost", [each for each in replayed.changes if each.effect == "lost"])
    own = [each for each in replayed.changes if each.method == OURS]
    _list(console, "Changed and still wrong", [each for each in own if each.effect == "still wrong"])
    _list(console, "Changed although accepted", [each for each in own if each.accepted])


def _by_method(benchmark: Benchmark, replayed: Replayed, methods: Sequence[str]) -> Table:
    models = len({recorded.model for recorded in replayed.sets})
    table = _table(
        f"{benchmark.name}: {replayed.answers:,} answers, {replayed.right:,} right as recorded; models: {models}; "
        f"{replayed.valid_calls:,} calls that their schema accepts",
        (
            "gained",
            "questions",
            "lost",
            "still wrong",
            "still right",
            "right but refused",
            "accepted changed",
        ),
    )
    for method in methods:
        changes = [each for each in replayed.changes if each.method == method]
        effects = Counter(each.effect for each in changes)
        questions = {(each.recorded.category, each.id) for each in changes if each.effect == "gained"}
        counts = (
            effects["gained"],
            len(questions),
            *(effects[effect] for effect in ("lost", "still wrong", "still right")),
            replayed.refused[method],
            sum(each.accepted for each in changes),
        )
        table.add_row(method, *map(str, counts))
    return table


def _show_intervals(console: Console, replayed: Replayed) -> None:
    """Print on how many questions answers were gained and lost: answers of one question are alike."""
    for effect in ("gained", "lost"):
        ours = (each for each in replayed.changes if each.method == OURS and each.effect == effect)
        count, total = len({(each.recorded.category, each.id) for each in ours}), len(replayed.questions)
        low, high = wilson(count, total)
        line(
            console,
            f"{OURS} {effect} answers of {count} of {total:,} questions: 95 % interval {low:.1%} to {high:.1%}",
        )


def wilson(count: int, total: int, z: float = 1.959964) -> tuple[float, float]:
    """Return Wilson's interval of a share.

    >>> [round(bound, 3) for bound in wilson(94, 1000)]
    [0.078, 0.114]
    >>> [round(bound, 4) for bound in wilson(0, 1000)]
    [0.0, 0.0038]
    """
    middle = (count + z * z / 2) / (total + z * z)
    half = z * math.sqrt(count * (total - count) / total + z * z / 4) / (total + z * z)
    return max(0.0, middle - half), min(1.0, middle + half)


def _by_writing(replayed: Replayed) -> Table:
    effects = Counter((each.written, each.effect) for each in replayed.changes if each.method == OURS)
    columns: tuple[Effect, ...] = ("gained", "lost", "still wrong", "still right")
    table = _table(f"By how the model wrote the call, for {OURS}", columns)
    for written in sorted(
        {written for written, _ in effects}, key=lambda written: -effects[written, "gained"]
    ):
        table.add_row(written, *(str(effects[written, column]) for column in columns))
    return table


def _by_model(replayed: Replayed, methods: Sequence[str]) -> Table:
    effects = Counter((each.recorded.model, each.method, each.effect) for each in replayed.changes)
    table = _table("By model: gained, lost", ("right", *methods))
    unchanged = []
    for model in sorted({recorded.model for recorded in replayed.sets}):
        pairs = [(effects[model, method, "gained"], effects[model, method, "lost"]) for method in methods]
        right = replayed.right_by_model[model]
        if any(map(any, pairs)):
            table.add_row(model, str(right), *(f"{gained}, {lost}" for gained, lost in pairs))
        else:
            unchanged.append(right)
    if unchanged:
        others = f"{len(unchanged)} others", f"{min(unchanged)}-{max(unchanged)}"
        table.add_row(*others, *("0, 0" for _ in methods))
    return table


def _by_rule(replayed: Replayed) -> Table:
    effects = Counter(
        (rule, each.effect) for each in replayed.changes if each.method == OURS for rule in each.rules
    )
    columns: tuple[Effect, ...] = ("gained", "lost", "still wrong", "still right")
    table = _table(f"By rule of {OURS}; an answer counts for each of its rules", columns)
    for rule in sorted({rule for rule, _ in effects}, key=lambda rule: (-effects[rule, "gained"], rule)):
        table.add_row(rule, *(str(effects[rule, column]) for column in columns))
    return table


def _list(console: Console, title: str, changes: Sequence[Change]) -> None:
    """Print changes, one line for equal changes of one question."""
    told: Counter[str] = Counter()
    for each in changes:
        differences = "; ".join(_difference(sent, new) for sent, new in each.calls)
        rules = f" by {', '.join(sorted(each.rules))}" if each.rules else ""
        told[f"{each.method}: {each.recorded.category} {each.id}{rules}: {differences}"] += 1
    line(console, f"{title}: {len(changes)}")
    for text, times in told.items():
        line(console, f"  {text}" + (f" ({times} times)" if times > 1 else ""))


# --- runs ---------------------------------------------------------------------------------------------


def _show_runs(console: Console, collections: Sequence[Runs]) -> None:
    for runs in collections:
        if runs.skipped:
            line(console, f"{runs.name} is left out: {runs.skipped}")
    collections = [runs for runs in collections if not runs.skipped]
    table = _table("Recorded agent runs; closed: with no other names, where that makes a difference", COUNTED)
    for runs in collections:
        table.add_row(runs.name, *(f"{runs.counts[name]:,}" for name in COUNTED))
    console.print(table)
    notes: Counter[str] = Counter()
    for runs in collections:
        notes |= Counter(_notes(runs))
    for text, times in notes.items():
        line(console, f"  {text}" + (f" ({times} times)" if times > 1 else ""))


def _notes(runs: Runs) -> Iterator[str]:
    """Return what is to be looked at, each kind once: a closed schema mostly changes nothing."""
    for call, new in runs.changed:
        yield f"changed although accepted: {call.tool}: {_difference(call.arguments, new)}"
    for call, fixed, following in runs.not_followed:
        fix, sent = (_difference(call.arguments, new) for new in (fixed, following))
        yield f"fix: {call.tool}: {fix}; the model: {sent}"
    yield from (_noted(*each) for each in runs.not_accepted)


def _noted(call: Call, found: Normalized, following: Call | None) -> str:
    """Return what became of a call, what came back when it was made, and what the model sent then."""
    refused = ", ".join(f"{each.code} {each.pointer}" for each in found.violations)
    outcome = (
        f"refused, {refused}" if refused else f"repaired, {_difference(call.arguments, found.arguments)}"
    )
    then = _short(following.arguments) if following else "not called again"
    return f"{call.tool}: {outcome}; answered: {_short(call.answer)}; then: {then}"


# --- printing -----------------------------------------------------------------------------------------


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _difference(sent: Any, new: Any) -> str:
    if not isinstance(sent, dict) or not isinstance(new, dict):
        return f"{_short(sent)} -> {_short(new)}"
    pairs = [(name, sent.get(name, _ABSENT), new.get(name, _ABSENT)) for name in {**sent, **new}]
    return ", ".join(
        f"{name} {_short(old)} -> {_short(other)}" for name, old, other in pairs if not same_json(old, other)
    )


def _short(value: Any) -> str:
    return "absent" if value is _ABSENT else short(value, _WIDEST)
