"""Test ``pytest --lenient-stress`` in a pytest run within this one."""

from __future__ import annotations

import pytest
from fastmcp_versions import STRICT, not_on_3

pytest_plugins = ["pytester"]

_SERVER = """
from fastmcp import FastMCP
from mcp_lenient import DEFAULT_RULES, LenientMiddleware, Policy, ValueRule

def tool(count: int) -> None:
    raise SystemError

wrong = ValueRule("text_to_twice", 1, lambda place, value: (int(value) * 2,), ("string",), ("integer",))
rules = tuple(wrong if rule.name == "text_to_integer" else rule for rule in DEFAULT_RULES)

right = FastMCP("right")
right.add_tool(tool)
right.add_middleware(LenientMiddleware())
empty = FastMCP("empty")
empty.add_middleware(LenientMiddleware())
broken = FastMCP("broken", strict_input_validation=True)
broken.add_tool(tool)
broken.add_middleware(LenientMiddleware(Policy(rules=rules)))
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Run pytest with these options in a folder with a module ``served``."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(served=_SERVER)
    pytester.syspathinsert()
    return lambda *options: pytester.runpytest_inprocess("-p", "mcp_lenient.testing.pytest_plugin", *options)


@not_on_3(STRICT)
def test_a_server_is_one_more_test(run):
    """A server without corrupted calls passes, without a test file."""
    result = run("--lenient-stress", "served:right", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*lenient-stress?served:right?*PASSED*"])


@not_on_3(STRICT)
def test_a_corrupted_call_fails_with_the_report(run):
    """A server with corrupted calls fails with a report, and each server is a separate test."""
    result = run("--lenient-stress", "served:right", "--lenient-stress", "served:broken")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*calls were repaired to something other than was meant; see the report.",
            "corrupted tool, number_as_text",
        ]
    )


@pytest.mark.parametrize("where", ["served:nothing", "served"])
@not_on_3(STRICT)
def test_a_wrong_name_is_reported(run, where):
    """A wrong server name fails with the correct syntax."""
    result = run("--lenient-stress", where)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*takes MODULE:SERVER*'{where}' names nothing*"])


def test_a_missing_module_is_reported(run):
    """If the module is not found, the failure says so without a traceback of the import."""
    result = run("--lenient-stress", "elsewhere:mcp")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*elsewhere:mcp: no module named 'elsewhere'. `python -m pytest` also searches*"]
    )
    result.stdout.no_fnmatch_line("*importlib*")


def test_without_the_option_nothing_is_run(run):
    """Without the option the plugin adds no test."""
    assert run().ret == pytest.ExitCode.NO_TESTS_COLLECTED


@not_on_3(STRICT)
def test_a_server_without_tools_fails(run):
    """A server without anything to try fails instead of passing."""
    result = run("--lenient-stress", "served:empty")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["Nothing was tested: empty has no tools; see the report."])
