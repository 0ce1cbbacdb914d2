"""Run mutants of loaded functions against collected tests, so that each mutant only costs a fork.

Objects made from a function before the fork keep its original code. So a mutant that is not noticed here may
still be noticed when everything is loaded again.
"""

from __future__ import annotations

import gc
import importlib
import os
import resource
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final

import pytest

from fuzz.mutants import Mutant

_CASES_SECONDS: Final = 10
_TESTS_SECONDS: Final = 300
_MEMORY: Final = 2**33
"""Seconds for one mutant, many times more than needed: some mutants loop forever."""


def noticed_loaded(
    mutants: Sequence[Mutant], tests: Sequence[Sequence[str]], options: Iterable[str]
) -> set[Mutant]:
    """Return the mutants that the table of cases or one of their tests notices.

    Args:
        mutants: The mutants; those in code that runs when a module is loaded are skipped.
        tests: For each mutant, the tests that may notice it, in the order in which to run them.
        options: Options of pytest.
    """
    files = sorted({test.split("::")[0] for chosen in tests for test in chosen})
    with tempfile.TemporaryFile() as found:
        child = os.fork()
        if child == 0:
            loop = _Loop(mutants, tests, found.fileno())
            os._exit(int(pytest.main([*options, *files], plugins=[loop])))
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
            sys.exit(1)
        found.seek(0)
        return {mutants[int(number)] for number in found.read().split()}


class _Loop:
    """A pytest plugin that runs only each mutant's tests, in a separate process per mutant."""

    def __init__(self, mutants: Sequence[Mutant], tests: Sequence[Sequence[str]], found: int) -> None:
        self._mutants = mutants
        self._tests = tests
        self._found = found
        self._shown = os.dup(1)  # pytest captures the output

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        cases = table_of_cases()
        session.config.pluginmanager.unregister(name="terminalreporter")
        gc.freeze()  # otherwise the first collection in each child copies all of memory
        failure = _FirstFailure(self._shown)
        session.config.pluginmanager.register(failure)
        needed = {test for chosen in self._tests for test in chosen}
        if _is_noticed(None, cases, [item for name, item in items.items() if name in needed]):
            os.write(self._shown, b"The tests fail without a mutant.\n")
            os._exit(1)
        failure.shown = None
        for number, (mutant, tests) in enumerate(zip(self._mutants, self._tests, strict=True)):
            if mutant.function:
                noticed = _is_noticed(mutant, cases, [items[test] for test in tests if test in items])
                os.write(self._found, b"%d\n" % number if noticed else b"")
                outcome = "killed" if noticed else "not yet"
                os.write(self._shown, f"{number + 1:4} {outcome:9} {mutant.title}\n".encode())
        return True


class _FirstFailure:
    """A pytest plugin that ends the process at the first failing test, and reports it if there is a listener."""

    def __init__(self, shown: int) -> None:
        self.shown: int | None = shown

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            if self.shown is not None:
                os.write(self.shown, f"{report.nodeid}\n{report.longreprtext}\n".encode())
            os._exit(1)


def _is_noticed(mutant: Mutant | None, cases: Sequence[Any], items: Sequence[pytest.Item]) -> bool:
    child = os.fork()
    if child == 0:
        alone(table=True)
        if mutant is not None and not planted(mutant):
            os._exit(0)
        status = 1
        try:
            if answers_cases(cases):
                bound(_TESTS_SECONDS if mutant else 4 * _TESTS_SECONDS)
                for item, after in zip(items, [*items[1:], None], strict=True):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0


def alone(*, table: bool) -> None:
    """Keep this process silent, and limit its memory and time."""
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    bound(_CASES_SECONDS if table else _TESTS_SECONDS)


def bound(seconds: int) -> None:
    """End this process after this many more seconds of processor time."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + seconds, most))


def planted(mutant: Mutant) -> bool:
    """Replace the code of the mutant's function with the mutated code, if the function can be found."""
    module = importlib.import_module(".".join(mutant.file.with_suffix("").parts).removesuffix(".__init__"))
    code = compile(mutant.compiled(), str(mutant.file.absolute()), "exec", dont_inherit=True)
    found: Any = module
    for name in mutant.function:
        found = vars(found)[name]
        code = next(each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == name)
    function = _function(found)
    if function is None or len(function.__code__.co_freevars) != len(code.co_freevars):
        return False
    function.__code__ = code
    return True


def _function(found: Any) -> FunctionType | None:
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, cached_property):
        found = found.func
    elif isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    return found if isinstance(found, FunctionType) else None


def table_of_cases() -> Sequence[Any]:
    """Return the cases of the conformance suite."""
    from benchmarks.conformance import load_cases

    return load_cases(Path("tests/cases"))


def answers_cases(cases: Collection[Any]) -> bool:
    """Return whether ``normalize`` still answers every case correctly with the mutant."""
    from benchmarks.conformance import verdict
    from benchmarks.conformance.ours import call

    return all(verdict(case, call(case.request())) == "right" for case in cases)
