"""What a server that starts does not wait for, asked of new processes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import mcp_lenient
import mcp_lenient.normalizers

# Each is imported by the function that first needs it, or with the public name that needs it.
NOT_IMPORTED = """
cyclopts dateutil duckdb jsonschema jsonschema_rs opentelemetry.metrics plotly pyjson5 structlog yaml
mcp_lenient.check mcp_lenient.cli mcp_lenient.decorator mcp_lenient.definitions mcp_lenient.events
mcp_lenient.normalization mcp_lenient.normalizers.dates mcp_lenient.normalizers.tag_lists mcp_lenient.proxy
mcp_lenient.reading mcp_lenient.refusal.violations mcp_lenient.refusal.wording mcp_lenient.repair
mcp_lenient.report mcp_lenient.rules.catalogue mcp_lenient.settling mcp_lenient.testing mcp_lenient.tool_calls
""".split()

# What checks the schema of a tool is the only one of them that a call needs which is right.
WITH_ACCEPTED = [name for name in NOT_IMPORTED if name != "jsonschema_rs"]

PRELUDE = """
import asyncio, json, sys
from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
before = set(sys.modules)
import mcp_lenient
"""

CALLED = """
from mcp_lenient import LenientMiddleware
server = FastMCP("notes")
server.add_middleware(LenientMiddleware())
@server.tool
def store(text: str, tags: list[str] | None = None) -> str:
    return text
for arguments in json.loads(sys.argv[1]):
    asyncio.run(server.call_tool("store", arguments))
"""


def imported(program: str, *calls: dict[str, object]) -> set[str]:
    """The modules that a new process has imported besides those that a server of FastMCP's has anyway."""
    whole = f"{PRELUDE}{program}\nprint(json.dumps(sorted(set(sys.modules) - before)))"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", whole, json.dumps(calls)], check=True, capture_output=True, text=True
    )
    return set(json.loads(done.stdout))


@pytest.mark.slow
def test_importing_the_library_imports_nothing_that_only_some_calls_or_servers_need():
    """What `import mcp_lenient` must leave alone is named here, so that nobody brings it back unnoticed."""
    assert imported("").isdisjoint(NOT_IMPORTED)


def test_a_right_call_imports_nothing_that_only_wrong_ones_need():
    """Building the middleware and answering a right call imports no repair, no refusal, no log and no metrics."""
    assert imported(CALLED, {"text": "a note", "tags": ["a"]}).isdisjoint(WITH_ACCEPTED)


@pytest.mark.slow
def test_a_repair_imports_no_refusal():
    """A repaired call imports the repair, and nothing of the wording of refusals."""
    found = imported(CALLED, {"text": "a note", "tags": '["a"]'})
    assert "mcp_lenient.repair" in found
    assert found.isdisjoint({"mcp_lenient.refusal.violations", "mcp_lenient.events", "opentelemetry.metrics"})


@pytest.mark.slow
@pytest.mark.parametrize("level", ["INFO", "ERROR"])
def test_structlog_is_imported_for_the_first_event_that_is_written(level):
    """Lines are structlog's where the application has configured none too; who writes none does not pay for it."""
    chosen = f"import logging\nlogging.getLogger('mcp_lenient').setLevel(logging.{level}){CALLED}"
    found = imported(chosen, {"text": "a note", "tags": '["a"]'})
    assert ("structlog" in found) is (level == "INFO")


@pytest.mark.parametrize("package", [mcp_lenient, mcp_lenient.normalizers], ids=lambda each: each.__name__)
def test_every_public_name_is_there_when_it_is_asked_for(package):
    """Each name of `__all__` can be got, whether it was imported with the package or is loaded by name."""
    assert all(getattr(package, name) is not None for name in package.__all__)
    assert set(package.__all__) <= set(dir(package))


def test_a_name_that_is_not_there_is_an_attribute_error():
    """Asking for what does not exist says so as any module does."""
    with pytest.raises(AttributeError, match=r"module 'mcp_lenient' has no attribute 'lenjent'"):
        mcp_lenient.lenjent  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'taggs'"):
        from mcp_lenient.normalizers import taggs  # noqa: F401, PLC0415
