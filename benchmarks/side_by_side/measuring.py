"""Run all contenders on the case table and the workloads, in turns."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.conformance import Case, Reply, Subject, SubjectError, load_cases, verdict
from benchmarks.side_by_side.contenders import CONTENDERS, Contender
from benchmarks.side_by_side.environments import ADAPTERS, ROOT, NotInstalledError, command
from benchmarks.side_by_side.workloads import (
    SEARCH,
    SIZES_KIB,
    TOOLS,
    WORKLOADS,
    Workload,
    many_schemas,
    sized,
)
from mcp_lenient.values.json_values import same_json

CASES = ROOT / "tests" / "cases"
ROUNDS = 5
SECONDS = 0.08
MOST_CRASHES = 5
PATIENCE = 120
"""Time limit for one answer, in seconds: some need a minute to set up a thousand tools."""
Told = Callable[[str], None]


@dataclass(slots=True)
class Figures:
    """The figures of one contender; times are microseconds, None if it cannot do the call."""

    name: str
    kind: str
    used: str
    versions: Mapping[str, str] = field(default_factory=dict)
    verdicts: dict[str, int] = field(default_factory=dict)
    corrupted: list[str] = field(default_factory=list)
    times: dict[str, float | None] = field(default_factory=dict)
    instead: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, float | None] = field(default_factory=dict)
    tools: dict[str, float | None] = field(default_factory=dict)
    peak_mib: float = 0.0
    skipped: str = ""


class Running:
    """A contender's adapter, restarted after a crash."""

    def __init__(self, contender: Contender, started: list[str]) -> None:
        self.figures = Figures(contender.name, contender.kind, contender.used)
        self._command = started
        self._stack = ExitStack()
        self._crashes = 0
        self._start()

    def _start(self) -> None:
        self._subject = self._stack.enter_context(Subject(self._command, patience=PATIENCE))

    def close(self) -> None:
        """End the adapter."""
        self._stack.close()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return one answer; a crash or a timeout is an answer too."""
        if self._crashes > MOST_CRASHES:
            return {"outcome": "crashed", "reason": "crashed too often"}
        try:
            return self._subject.ask(request)
        except SubjectError as error:
            self._stack.close()
            self._start()
            self._crashes += 1
            return {"outcome": "crashed", "reason": str(error)}

    def describe(self) -> None:
        """Return versions, and the peak memory so far."""
        reported = self._subject.ask({"id": "describe", "op": "describe"})
        self.figures.versions = reported["versions"]
        self.figures.peak_mib = max(self.figures.peak_mib, reported["peak_mib"])

    def hold(self, cases: Sequence[Case]) -> None:
        """The case table."""
        for case in cases:
            answer = self.ask(case.request())
            outcome = answer["outcome"]
            if outcome == "crashed":
                found = "crashed"
            else:
                codes = answer.get("codes")
                reply = Reply(outcome, answer.get("arguments"), None if codes is None else frozenset(codes))
                found = verdict(case, reply)
            self.figures.verdicts[found] = self.figures.verdicts.get(found, 0) + 1
            if found == "corrupted":
                self.figures.corrupted.append(case.id)

    def time(self, schemas: Sequence[Mapping[str, Any]], work: Workload) -> tuple[float | None, str]:
        """Return the microseconds of one call, or None and what happens instead."""
        request = {"op": "time", "schemas": schemas, "arguments": work.arguments, "seconds": SECONDS}
        answer = self.ask({"id": work.name, "destructive": False, "declared": {}, **request})
        if answer["outcome"] == "ran":
            right = work.expected is not None and same_json(answer["arguments"], work.expected)
            instead = "" if right else "runs with other arguments" if work.expected else "runs it"
        else:
            instead = "" if answer["outcome"] == "refused" and work.expected is None else answer["outcome"]
        return (None, instead) if instead else (answer["nanoseconds"] / 1000, "")


def machine() -> dict[str, Any]:
    """Return a description of the machine."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        cpu = names[0] if names else cpu
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[1], 1),
    }


def measure(tell: Told) -> list[Figures]:
    """Return the figures of all contenders; for those that cannot be installed, the reason."""
    cases = [case for case in load_cases(CASES) if not case.declared and not case.destructive]
    skipped: list[Figures] = []
    with _all_running(skipped, tell) as running:
        for each in running:
            tell(f"{each.figures.name}: {len(cases)} cases")
            each.hold(cases)
        _time_all(running, tell)
        for each in running:
            each.describe()
        return [each.figures for each in running] + skipped


@contextmanager
def _all_running(skipped: list[Figures], tell: Told) -> Iterator[list[Running]]:
    # An adapter imports modules next to it, and the project if it runs in the project's environment.
    os.environ["PYTHONPATH"] = str(ADAPTERS)
    os.environ.setdefault("BAML_LOG", "off")
    running = []
    for contender in CONTENDERS:
        try:
            started = Running(contender, command(contender))
            started.describe()
            running.append(started)
        except (NotInstalledError, SubjectError) as reason:
            tell(f"{contender.name} skipped: {reason}")
            skipped.append(Figures(contender.name, contender.kind, contender.used, skipped=str(reason)))
    try:
        yield running
    finally:
        for each in running:
            each.close()


def _time_all(running: Sequence[Running], tell: Told) -> None:
    for work in WORKLOADS:
        tell(f"timing: {work.name}")
        _rounds(running, work.name, lambda figures: figures.times, [work.schema], work)
    for kib in SIZES_KIB:
        tell(f"timing: {kib} KiB")
        work = sized(kib)
        _rounds(running, str(kib), lambda figures: figures.sizes, [work.schema], work)
    for tools in TOOLS:
        tell(f"timing: {tools} tools")
        _rounds(running, str(tools), lambda figures: figures.tools, many_schemas(tools), SEARCH)


def _rounds(
    running: Sequence[Running],
    name: str,
    where: Callable[[Figures], dict[str, float | None]],
    schemas: Sequence[Mapping[str, Any]],
    work: Workload,
) -> None:
    """Return the median of several rounds, in which the contenders take turns."""
    times: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for each in running:
            if each.figures.instead.get(name) == "crashed":
                continue
            took, instead = each.time(schemas, work)
            if instead:
                each.figures.instead[name] = instead
            if took is not None:
                times.setdefault(each.figures.name, []).append(took)
    for each in running:
        found = times.get(each.figures.name)
        where(each.figures)[name] = median(found) if found else None
