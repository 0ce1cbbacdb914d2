"""Run all contenders on the case table and the workloads, in turns."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.conformance import Case, Reply, Subject, SubjectError, load_cases, verdict
from benchmarks.environments import ROOT, NotInstalledError, interpreter
from benchmarks.evidence.side_by_side.contenders import CONTENDERS, Contender
from benchmarks.evidence.side_by_side.workloads import (
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
ADAPTERS = Path(__file__).parent / "adapters"
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
    sizes: dict[str, float | None] = field(default_factory=dict)
    tools: dict[str, float | None] = field(default_factory=dict)
    peak_mib: float = 0.0
    skipped: str = ""


class Running:
    """A contender's adapter, restarted after a crash."""

    def __init__(self, contender: Contender) -> None:
        self.figures = Figures(contender.name, contender.kind, contender.used)
        program, *arguments = contender.adapter.split()
        self._command = [interpreter(contender.requirements), str(ADAPTERS / program), *arguments]
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
            return {"outcome": "crashed"}
        try:
            return self._subject.ask(request)
        except SubjectError:
            self._stack.close()
            self._start()
            self._crashes += 1
            return {"outcome": "crashed"}

    def describe(self) -> None:
        """Note versions, and the peak memory so far."""
        reported = self._subject.ask({"id": "describe", "op": "describe"})
        self.figures.versions = reported["versions"]
        self.figures.peak_mib = max(self.figures.peak_mib, reported["peak_mib"])

    def hold(self, cases: Sequence[Case]) -> None:
        """Note the verdicts on the case table."""
        found = {case.id: self._verdict(case) for case in cases}
        self.figures.verdicts = dict(Counter(found.values()))
        self.figures.corrupted = [name for name, each in found.items() if each == "corrupted"]

    def _verdict(self, case: Case) -> str:
        answer = self.ask(case.request())
        if answer["outcome"] == "crashed":
            return "crashed"
        codes = answer.get("codes")
        reply = Reply(answer["outcome"], answer.get("arguments"), None if codes is None else frozenset(codes))
        return verdict(case, reply)

    def time(self, schemas: Sequence[Mapping[str, Any]], work: Workload) -> float | None:
        """Return the microseconds of one call, or None if it does not come out as it must."""
        request = {"op": "time", "schemas": schemas, "arguments": work.arguments, "seconds": SECONDS}
        answer = self.ask({"id": work.name, "destructive": False, "declared": {}, **request})
        if work.expected is None:
            right = answer["outcome"] == "refused"
        else:
            right = answer["outcome"] == "ran" and same_json(answer["arguments"], work.expected)
        return answer["nanoseconds"] / 1000 if right else None


def machine() -> dict[str, Any]:
    """Return a description of the machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return {
        "cpu": names[0] if names else platform.processor() or platform.machine(),
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
    # The adapters run in their own environments, and import the project's own modules.
    os.environ["PYTHONPATH"] = str(ROOT)
    os.environ.setdefault("BAML_LOG", "off")
    with ExitStack() as stack:
        running = []
        for contender in CONTENDERS:
            try:
                started = Running(contender)
                stack.callback(started.close)
                started.describe()
                running.append(started)
            except (NotInstalledError, SubjectError) as reason:
                tell(f"{contender.name} skipped: {reason}")
                skipped.append(Figures(contender.name, contender.kind, contender.used, skipped=str(reason)))
        yield running


def _time_all(running: Sequence[Running], tell: Told) -> None:
    works = [(work.name, "times", [work.schema], work) for work in WORKLOADS]
    works += [(str(kib), "sizes", [sized(kib).schema], sized(kib)) for kib in SIZES_KIB]
    works += [(str(tools), "tools", many_schemas(tools), SEARCH) for tools in TOOLS]
    for name, column, schemas, work in works:
        tell(f"timing: {column}, {name}")
        rounds = [[each.time(schemas, work) for each in running] for _ in range(ROUNDS)]
        for each, taken in zip(running, zip(*rounds, strict=True), strict=True):
            known = [time for time in taken if time is not None]
            getattr(each.figures, column)[name] = median(known) if known else None
