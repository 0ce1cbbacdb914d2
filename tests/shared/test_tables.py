"""Test tables that are one test, in a pytest run within this one."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester, monkeypatch):
    """Return a function that runs a table's test and returns what pytest prints."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def ran(decorators: str, body: str) -> str:
        pytester.makepyfile(
            f"import pytest\nfrom tables import each_row\n\n{decorators}\ndef test_it(a, b):\n    {body}\n"
        )
        return str(pytester.runpytest_inprocess("-p", "no:cacheprovider", "-o", "addopts=").stdout)

    return ran


def test_each_row_that_fails_is_named(run):
    """Rows after a failure run too, and a missing exception is a failure."""
    rows = "[pytest.param(1, 2, id='first'), (3, 3), pytest.param(4, 4, id='last')]"
    printed = run(
        f"@each_row('a, b', {rows})",
        "assert a == b\n    with pytest.raises(KeyError): a if a == 4 else {}[a]",
    )
    assert "SUBFAILED[first]" in printed
    assert "SUBFAILED[last]" in printed
    assert "2 failed subtests" in printed


def test_two_tables_are_combined(run):
    """Each row of one table runs with each row of the other."""
    both = "@each_row('a', [pytest.param(1, id='x'), 2])\n@each_row('b', [pytest.param(1, id='y'), 2])"
    printed = run(both, "assert (a, b) != (1, 1) and (a, b) != (2, 2)")
    assert "SUBFAILED[y-x]" in printed
    assert "2 failed subtests" in printed


def test_a_row_with_marks_is_refused(run):
    """A row's mark would be lost, so it is refused."""
    printed = run("@each_row('a, b', [pytest.param(1, 1, marks=pytest.mark.slow)])", "pass")
    assert "a row with marks is a test of its own" in printed


def test_a_table_without_rows_is_refused(run):
    """An empty table would run nothing, so it is refused."""
    assert "a table without rows would always pass" in run("@each_row('a, b', [])", "assert False")


def test_an_async_test_is_refused(run):
    """Rows of an async test would not be awaited, so it is refused."""
    printed = run("@each_row('a, b', [(1, 1)])\nasync def test_that(a, b):\n    assert False\n", "pass")
    assert "nothing here awaits the test" in printed
