"""``python -m fuzz.mutation [--sample 300] [--seed 1]``: do the tests notice faults put into the code?

Each mutant runs in a separate process: against the table of cases, then against the tests that reach its line,
fastest first, until one fails. A mutant inside a function is first put into the loaded function
(:mod:`fuzz.loaded`). Mutants that are not noticed there, and those in code that runs when a module is loaded, are put
into a module that is loaded again with the modules that import it. Mutants that the fastest tests do not notice are
finally run against all other tests that reach them.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from fuzz.loaded import alone, answers_cases, noticed_loaded, table_of_cases
from fuzz.mutants import Mutant, mutants_of, unchanged

ATTACKED: Final = """
    rules/*.py values/json_values.py values/names.py engine/repair.py engine/schema_validator.py schema/unions.py
    adapters/fastmcp/tools.py
""".split()
TESTS: Final = "tests/values tests/schema tests/rules tests/engine tests/refusal tests/adapters/fastmcp/middleware tests/adapters/fastmcp/decorator tests/adapters/fastmcp/test_private_apis.py tests/adapters/fastmcp/test_tool_error.py tests/adapters/fastmcp/test_tools.py tests/adapters/fastmcp/test_validator.py tests/attack/test_mutants.py tests/attack/test_attack_cases.py".split()
_SLOW: Final = [
    "--ignore=tests/engine/test_hostile.py",
    "--ignore=tests/adapters/fastmcp/middleware/test_event_loop.py",
]
_LOADED_BEFORE: Final = "fastmcp fastmcp.client hypothesis jsonschema_rs structlog mcp_types".split()
_QUICK: Final = 40
_FEW: Final = 150
_MOST: Final = 800
"""Number of tests to run for each mutant, the fastest that reach it; the others together take longer than these."""
_OPTIONS: Final = [
    "-x",
    "-q",
    "-q",
    "--no-header",
    "--tb=no",
    "--assert=plain",  # the modules that it would rewrite are already loaded
    "-p",
    "no:cacheprovider",
    "-rN",
    "--hypothesis-seed=0",  # noticed mutants would be noticed again
]

Reach = dict[str, dict[int, list[str]]]
"""Tests that reach each line of each file, fastest first."""


def main() -> int:
    """Print the outcome of each mutant, survivors last, and the share noticed on lines without a remark."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.mutation", description=main.__doc__)
    parser.add_argument("--sample", type=int, default=300, help="mutants chosen at random; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only mutants whose title contains this text")
    parser.add_argument("--share", default="1/1", help="2/3 for the second third of the sample")
    chosen = parser.parse_args()
    os.environ["FAST"] = "1"
    files = sorted(path for name in ATTACKED for path in Path("mcp_lenient").glob(name))
    mutants = [mutant for file in files for mutant in mutants_of(file) if chosen.only in mutant.title]
    print(f"{len(mutants)} mutants in {len(files)} files", flush=True)
    if 0 < chosen.sample < len(mutants):
        # Unsorted, so that an interrupted run is a sample too.
        mutants = random.Random(chosen.seed).sample(mutants, chosen.sample)
    part, parts = map(int, chosen.share.split("/"))
    return _attack(mutants[part - 1 :: parts], _reach())


def _attack(mutants: Sequence[Mutant], reach: Reach) -> int:
    for name in _LOADED_BEFORE:
        importlib.import_module(name)
    for file in sorted({mutant.file for mutant in mutants}):
        if not (_answers_cases(unchanged(file)) and _passes(unchanged(file), _around(file, reach)[:_QUICK])):
            sys.exit(f"The tests of {file} fail without a mutant.")
    noticed = noticed_loaded(mutants, [_tests(mutant, reach)[:_MOST] for mutant in mutants], _OPTIONS)
    print(f"{len(noticed)} of {len(mutants)} noticed in functions that are loaded", flush=True)
    hardy = _survivors(mutants, reach, noticed)
    rest = {mutant: tests for mutant in hardy if (tests := _tests(mutant, reach)[_MOST:])}
    late = noticed_loaded([*rest], [*rest.values()], _OPTIONS) if rest else set()
    late |= {mutant for mutant, tests in rest.items() if not mutant.function and not _passes(mutant, tests)}
    return _counted(mutants, {mutant for mutant in hardy if mutant not in late})


def _counted(mutants: Sequence[Mutant], survived: Collection[Mutant]) -> int:
    """Print the share noticed on lines without a remark; return 1 if a mutant there survived."""
    counted = [mutant for mutant in mutants if not mutant.is_remarked]
    apart = [mutant for mutant in mutants if mutant.is_remarked]
    survivors = [mutant for mutant in counted if mutant in survived]
    killed = len(counted) - len(survivors)
    print(f"\n{len(apart)} at lines with a remark, counted apart:")
    for mutant in apart:
        print(f"  {'survived' if mutant in survived else 'noticed'} {mutant.title}")
    print(f"{killed} of {len(counted)} noticed ({killed / max(1, len(counted)):.1%}); survivors:")
    for mutant in survivors:
        print(f"  {mutant.title}")
    return bool(survivors)


def _survivors(mutants: Sequence[Mutant], reach: Reach, noticed: set[Mutant]) -> list[Mutant]:
    """Return the mutants that the fastest tests do not notice even when their module is loaded again."""
    survivors = []
    for number, mutant in enumerate(mutants, 1):
        # Mutants in functions were already tried in the loaded function, so a few tests are enough.
        most = _FEW if mutant.function else _MOST
        outcome = "killed" if mutant in noticed else _outcome(mutant, _tests(mutant, reach)[:most])
        if outcome == "survived":
            survivors.append(mutant)
        if mutant not in noticed:
            print(f"{number:4} {outcome:9} {mutant.title}", flush=True)
    return survivors


def _outcome(mutant: Mutant, tests: Sequence[str]) -> str:
    if not _answers_cases(mutant):
        return "killed"
    for chosen in (tests[:_QUICK], tests[_QUICK:]):
        if chosen and not _passes(mutant, chosen):
            return "killed"
    return "survived"


def _tests(mutant: Mutant, reach: Reach) -> list[str]:
    return reach.get(str(mutant.file), {}).get(mutant.line) or _around(mutant.file, reach)


def _around(file: Path, reach: Reach) -> list[str]:
    """Return the tests for code that runs when a module is loaded: those that run code of the module or its package."""
    files = (str(file), *(name for name in reach if name.startswith(f"{file.parent}/")))
    lines = next(
        filter(None, ([test for found in reach.get(name, {}).values() for test in found] for name in files)),
        [],
    )
    return list(dict.fromkeys(lines))


def _answers_cases(mutant: Mutant) -> bool:
    """Return whether ``normalize`` still answers every case of the table correctly with the mutant."""
    return _in_child(mutant, lambda: answers_cases(table_of_cases()))


def _passes(mutant: Mutant, tests: Sequence[str]) -> bool:
    """Return whether these tests still pass with the mutant."""
    return _in_child(
        mutant, lambda: pytest.main([*_OPTIONS, *_files(tests)], plugins=[_Only(tests)]) == pytest.ExitCode.OK
    )


def _in_child(mutant: Mutant, succeeds: Callable[[], bool]) -> bool:
    """Return whether an action succeeds in a separate process that loads the mutant."""
    child = os.fork()
    if child == 0:
        alone(table=False)
        status = 1
        try:
            sys.meta_path.insert(0, _Planted(mutant))
            status = 0 if succeeds() else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class _Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """An import hook that loads the mutated module."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        self._name = ".".join(mutant.file.with_suffix("").parts).removesuffix(".__init__")

    def find_spec(self, name: str, _path: Any, _target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        file = str(self._mutant.file.absolute())
        inside = [str(self._mutant.file.parent.absolute())] if self._mutant.file.stem == "__init__" else None
        return importlib.util.spec_from_file_location(
            name, file, loader=self, submodule_search_locations=inside
        )

    def create_module(self, _spec: Any) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._mutant.compiled(), str(self._mutant.file), "exec"), module.__dict__)  # noqa: S102


class _Only:
    """A pytest plugin that runs only these tests, in this order."""

    def __init__(self, tests: Iterable[str]) -> None:
        self._order = {test: at for at, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self._order]
        items.sort(key=lambda item: self._order[item.nodeid])


def _files(tests: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(test.split("::")[0] for test in tests))


# --- which test reaches which line --------------------------------------------------------------------


def _reach() -> Reach:
    kept = Path(".mutation.json")
    newest = max(
        path.stat().st_mtime for root in ("mcp_lenient", "tests") for path in Path(root).rglob("*.py")
    )
    if not kept.exists() or kept.stat().st_mtime < newest:
        print("Finding out which test reaches which line ...", flush=True)
        child = os.fork()
        if child == 0:
            os._exit(_measure(kept))
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
            sys.exit("The tests fail without any mutant.")
    written = json.loads(kept.read_text())
    return {file: {int(line): tests for line, tests in lines.items()} for file, lines in written.items()}


def _measure(kept: Path) -> int:
    import coverage

    measured = coverage.Coverage(data_file=None, include=["mcp_lenient/*"], config_file=False)
    watch = _Watch(measured)
    measured.start()
    status = pytest.main([*_OPTIONS, *_SLOW, *TESTS], plugins=[watch])
    measured.stop()
    data = measured.get_data()
    reach: Reach = {}
    for file in data.measured_files():
        lines: dict[int, list[str]] = defaultdict(list)
        for line, tests in data.contexts_by_lineno(file).items():
            lines[line] = sorted(filter(None, tests), key=watch.seconds.__getitem__)
        reach[str(Path(file).relative_to(Path.cwd()))] = dict(lines)
    kept.write_text(json.dumps(reach))
    return int(status)


class _Watch:
    """A pytest plugin that tells the coverage measurement which test runs, and records how long each takes."""

    def __init__(self, measured: Any) -> None:
        self._measured = measured
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._measured.switch_context(nodeid)

    def pytest_runtest_logfinish(self) -> None:
        self._measured.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration


if __name__ == "__main__":
    sys.exit(main())
