"""``python -m benchmarks.conformance FOLDER -- COMMAND``: check a program against the cases."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import get_args

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.conformance import Case, Reply, Subject, Verdict, load_cases, verdict
from mcp_lenient.errors import LenientError

_Held = tuple[Case, Reply, Verdict]


def main(arguments: Sequence[str], console: Console) -> int:
    """Check a program against a folder of cases.

    Returns:
        0 if every answer is right, 1 if one is not, 2 if the cases or the program cannot be used.
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.conformance",
        description="Hold a program to the cases: one call a line to it, one answer a line from it.",
    )
    parser.add_argument("folder", help="where the case files are")
    parser.add_argument("--patience", type=float, default=30.0, help="seconds that one answer may take")
    parser.add_argument("--quiet", action="store_true", help="only the counts, not each wrong answer")
    parser.add_argument("command", nargs="+", help="the program and its arguments, after --")
    chosen = parser.parse_args(arguments)
    try:
        cases = load_cases(chosen.folder)
        with Subject(chosen.command, patience=chosen.patience) as subject:
            held = [
                (case, reply, verdict(case, reply))
                for case in cases
                for reply in (subject.call(case.request()),)
            ]
    except LenientError as error:
        Console(stderr=True, highlight=False).print(f"[bold red]error:[/] {escape(str(error))}")
        return 2
    wrong = [each for each in held if each[2] != "right"]
    for each in () if chosen.quiet else wrong:
        console.print(_line(each), soft_wrap=True)
    console.print(_table(held))
    return 1 if wrong else 0


def _line(held: _Held) -> str:
    case, reply, found = held
    told = {"ran": repr(reply.arguments), "refused": ", ".join(sorted(reply.codes or ()))}
    expected = case.expected
    wanted = "refused" if expected.outcome == "refused" else f"{expected.outcome}: {expected.arguments!r}"
    did = f"{reply.outcome}: {told.get(reply.outcome, reply.reason)}"
    return escape(f"{case.id}: {found}: {did}\n  wanted {wanted}. {case.why}")


def _table(held: Iterable[_Held]) -> Table:
    table = Table("file", "cases", *get_args(Verdict))
    files: dict[str, Counter[str]] = {}
    for case, _, found in held:
        files.setdefault(case.id.partition("/")[0], Counter())[found] += 1
    for name, counts in {**files, "all": sum(files.values(), Counter[str]())}.items():
        table.add_row(name, str(counts.total()), *(str(counts[each] or "") for each in get_args(Verdict)))
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Console(highlight=False)))
