"""``mcp-lenient outcomes``: what an upgrade or another policy changes about recorded calls."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from mcp_lenient.cli.errors import DONE, FOUND, INTERRUPTED, fail
from mcp_lenient.cli.files import Config, InputFile, check_file

if TYPE_CHECKING:
    from mcp_lenient.devtools.outcomes import CallOutcome, Change

_LONGEST = 200


def outcomes(
    calls: Annotated[Path, Parameter(validator=check_file)],
    /,
    *,
    save: Path | None = None,
    against: InputFile = None,
    config: Config = None,
    jobs: Annotated[int, Parameter(validator=Number(gte=0, lte=64))] = 0,
    top: Annotated[int, Parameter(validator=Number(gte=1, lte=1000))] = 20,
) -> int:
    """Judge recorded calls by their schemas, and say what has changed since an earlier version or policy.

    `mcp-lenient outcomes calls.jsonl --against before.jsonl`

    Exits with 0; with 1 if `--against` finds a call that ran and is now refused, or that runs with another value; with
    2 if a file cannot be read. No tool is run. Values of secrets are neither saved nor printed.

    Args:
        calls: A recording that `LenientMiddleware(record=...)` has made, a JSON file of calls, each with `schema`
            and `sent`, or a file that `--save` wrote.
        save: Write what becomes of each call to this file.
        against: A file that `--save` wrote, to compare with.
        config: A definitions file in YAML or TOML with the policy to judge by; without it the defaults.
        jobs: Number of processes; 0 for one on each processor.
        top: Maximum number of calls to print of each change.
    """
    from mcp_lenient.devtools.outcomes import are_saved, read_outcomes
    from mcp_lenient.devtools.outcomes import save as write

    if save is not None and not save.resolve().parent.is_dir():
        fail(f"--save {save}: the folder does not exist: {save.resolve().parent}")
    before = None if against is None else read_outcomes(against)
    outcomes: list[CallOutcome] = []
    if are_saved(calls):
        outcomes.extend(read_outcomes(calls).values())
    elif not _judged(outcomes, calls, config, jobs):
        return INTERRUPTED
    if save is not None:
        try:
            write(save, outcomes)
        except OSError as error:
            fail(f"--save {save}: {error.strerror}")
    _put_totals(outcomes)
    return DONE if before is None else _compared(before, outcomes, top)


def _judged(outcomes: list[CallOutcome], calls: Path, config: Path | None, jobs: int) -> bool:
    """Add what becomes of the calls; return False after Ctrl-C."""
    from mcp_lenient.cli.report import progress_bar
    from mcp_lenient.devtools import processors
    from mcp_lenient.devtools.outcomes import judge_all, read_calls

    rows = read_calls(calls)
    try:
        with progress_bar() as progress:
            for outcome in judge_all(rows, config, jobs=jobs or processors()):
                outcomes.append(outcome)
                if progress is not None and len(outcomes) % 100 == 0:
                    progress("judging", 100 * len(outcomes) / len(rows))
    except KeyboardInterrupt:
        sys.stderr.write(
            f"interrupted: {len(outcomes):,} of {len(rows):,} calls were judged, nothing was saved\n"
        )
        _put_totals(outcomes)
        return False
    return True


def _put_totals(judged: list[CallOutcome]) -> None:
    from mcp_lenient.devtools.printing import put

    ran = sum(outcome.ran for outcome in judged)
    repaired = sum(bool(outcome.why) for outcome in judged if outcome.ran)
    put(f"{len(judged):,} calls: {ran:,} run, {repaired:,} of them repaired, {len(judged) - ran:,} refused")


def _compared(before: dict[str, CallOutcome], outcomes: list[CallOutcome], top: int) -> int:
    """Print what has changed, the worst first."""
    from mcp_lenient.devtools.outcomes import CHANGES, WORSE, changed
    from mcp_lenient.devtools.printing import put
    from mcp_lenient.values.display import cut

    changes: dict[Change, list[tuple[CallOutcome, CallOutcome]]] = {name: [] for name in CHANGES}
    pairs_of_calls = [(before[outcome.call], outcome) for outcome in outcomes if outcome.call in before]
    for old, new in pairs_of_calls:
        if (change := changed(old, new)) is not None:
            changes[change].append((old, new))
    for name, pairs in changes.items():
        put(f"{name}: {len(pairs):,}")
        for old, new in pairs[:top]:
            sent = cut(json.dumps(new.sent), _LONGEST)
            put(
                f"  {new.tool} (call {new.name})\n    sent    {sent}\n    before  {_said(old)}\n    now     {_said(new)}"
            )
    if others := len(outcomes) - len(pairs_of_calls):
        put(f"not among the saved calls: {others:,}")
    return FOUND if any(changes[name] for name in WORSE) else DONE


def _said(outcome: CallOutcome) -> str:
    from mcp_lenient.values.display import cut

    if outcome.ran:
        why = f" by {', '.join(outcome.why)}" if outcome.why else ""
        return f"runs with {cut(json.dumps(outcome.value), _LONGEST)}{why}"
    violations = f" {cut(json.dumps(outcome.violations), _LONGEST)}" if outcome.violations else ""
    return f"refused: {', '.join(outcome.why)}{violations}"
