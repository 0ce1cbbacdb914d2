"""Test what a new process imports, for the library alone and for a server that starts."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version

import pytest
from engine_alone import ENGINE
from fastmcp_versions import IS_3

import mcp_lenient

# Each is imported by the first function or public name that needs it.
NOT_IMPORTED = """
cyclopts dateutil duckdb jsonschema jsonschema_rs opentelemetry.metrics ruamel.yaml structlog
mcp_lenient.devtools.check mcp_lenient.cli mcp_lenient.adapters.fastmcp.decorator mcp_lenient.declare.definitions
mcp_lenient.standalone mcp_lenient.declare.normalizers.scalars mcp_lenient.declare.normalizers.lists mcp_lenient.adapters.fastmcp.proxy
mcp_lenient.refusal.violations mcp_lenient.refusal.fixes
mcp_lenient.devtools.report mcp_lenient.devtools.rule_catalogue mcp_lenient.adapters.fastmcp.decorator mcp_lenient.testing mcp_lenient.text_calls
""".split()

# A valid call needs only one of them, the schema validator.
WITH_ACCEPTED = [name for name in NOT_IMPORTED if name != "jsonschema_rs"]

FRAMEWORKS = "fastmcp mcp mcp_types".split()
NOT_IN_ENGINE = [
    *FRAMEWORKS,
    *"cyclopts jsonschema opentelemetry pydantic pydantic_core rich ruamel structlog".split(),
]
"""What the engine works without, besides the frameworks. It needs only jsonschema_rs."""

SERVER = """
from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
"""

CALLED = """
import asyncio
server = FastMCP("notes")
server.add_middleware(LenientMiddleware())
@server.tool
def store(text: str, tags: list[str] | None = None) -> str:
    return text
"""

BLOCKED = """
import sys
from importlib.abc import MetaPathFinder
class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""


def run(program: str) -> str:
    """Return what a new process prints."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return done.stdout


def imported(program: str) -> set[str]:
    """Return the modules that a new process imports."""
    whole = f"import json, sys\nbefore = set(sys.modules)\n{program}\n"
    return set(json.loads(run(f"{whole}print(json.dumps(sorted(set(sys.modules) - before)))")))


def test_importing_the_library_imports_only_its_name_table():
    """`import mcp_lenient` alone imports its lazy loader and the standard library."""
    found = imported("import mcp_lenient")
    assert {name for name in found if name.startswith("mcp_lenient")} == {
        "mcp_lenient",
        "mcp_lenient.values",
        "mcp_lenient.values.lazy",
    }
    assert {name.partition(".")[0] for name in found} <= {"mcp_lenient", *sys.stdlib_module_names}


@pytest.fixture(scope="module", params=["INFO", pytest.param("ERROR", marks=pytest.mark.slow)])
def server_that_logs(request):
    """Return the level of the log, and what a server has imported with the middleware, a valid and a repaired call."""
    calls = "".join(
        f"asyncio.run(server.call_tool('store', {sent}))\nprint(json.dumps(sorted(set(sys.modules) - before)))\n"
        for sent in ({"text": "a note", "tags": ["a"]}, {"text": "a note", "tags": '["a"]'})
    )
    printed = run(
        f"import json, logging, sys\n{SERVER}\nbefore = set(sys.modules)\nfrom mcp_lenient import LenientMiddleware\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))\n"
        f"logging.getLogger('mcp_lenient').setLevel(logging.{request.param})\n{CALLED}{calls}"
    )
    return request.param, *(set(json.loads(line)) for line in printed.splitlines())


def test_importing_the_middleware_imports_no_optional_module(server_that_logs):
    """A server that starts with the middleware imports no optional module."""
    _, found, *_ = server_that_logs
    assert "mcp_lenient.adapters.fastmcp.middleware" in found
    assert found.isdisjoint(NOT_IMPORTED)


def test_a_valid_call_imports_no_repair_module(server_that_logs):
    """Building the middleware and answering a valid call imports no refusals, structlog or metrics."""
    _, _, found, _ = server_that_logs
    assert found.isdisjoint(WITH_ACCEPTED)


def test_a_repair_imports_no_refusal(server_that_logs):
    """A repaired call imports the repair code, but not the wording of refusals."""
    *_, found = server_that_logs
    assert "mcp_lenient.engine.repair" in found
    assert found.isdisjoint({"mcp_lenient.refusal.violations", "opentelemetry.metrics"})


def test_structlog_is_imported_for_the_first_event(server_that_logs):
    """The first event imports structlog, even unconfigured. Without events it is not imported."""
    level, *_, found = server_that_logs
    assert ("structlog" in found) is (level == "INFO")


def test_the_command_line_imports_no_framework():
    """The command line imports FastMCP only to reach a server, so help and completion are fast."""
    found = imported("from mcp_lenient.cli import app")
    assert "mcp_lenient.cli.stress" in found
    assert found.isdisjoint(FRAMEWORKS)


def test_the_engine_works_without_a_framework():
    """Repairs, refusals and calls in a model's text need no FastMCP, SDK, Pydantic or structlog."""
    assert run(BLOCKED.format(absent=NOT_IN_ENGINE) + ENGINE) == ""


def test_declarations_need_no_framework():
    """Public names other than those for servers and sessions need neither FastMCP nor the SDK."""
    names = [*mcp_lenient.__all__, "__version__"]
    program = f"""
import mcp_lenient
for name in {names!r}:
    try:
        getattr(mcp_lenient, name)
    except ModuleNotFoundError as error:
        print(name, error.name)
"""
    lines = run(BLOCKED.format(absent=FRAMEWORKS) + program).splitlines()
    clients = ["dispatch", "lenient_session"]
    assert sorted(line.split()[0] for line in lines) == sorted(
        ["LenientMiddleware", "create_lenient_proxy", "lenient", "tool_error", *clients]
    )


def test_a_repair_without_a_server_imports_no_refusal():
    """A first `normalize` without a refusal does not import the wording of refusals."""
    schema = {"type": "object", "properties": {"limit": {"type": "integer"}}}
    found = imported(f'from mcp_lenient import normalize\nnormalize({schema}, {{"limit": "5"}})')
    assert "mcp_lenient.standalone" in found
    assert not [name for name in found if name.startswith("mcp_lenient.refusal")]


def test_every_public_name_can_be_imported():
    """Each name in `__all__` can be imported."""
    absent = {"create_lenient_proxy"} if IS_3 else set()
    assert all(getattr(mcp_lenient, name) is not None for name in set(mcp_lenient.__all__) - absent)
    assert set(mcp_lenient.__all__) <= set(dir(mcp_lenient))


def test_public_names_are_sorted_and_include_the_version():
    """`__all__` is sorted, constants first, and the version is that of the installed distribution."""
    assert mcp_lenient.__all__ == sorted(mcp_lenient.__all__, key=lambda name: (not name.isupper(), name))
    assert mcp_lenient.__version__ == version("mcp-lenient")
    assert "__version__" in dir(mcp_lenient)


def test_an_unknown_name_is_an_attribute_error():
    """An unknown name raises the usual errors of a module."""
    with pytest.raises(AttributeError, match=r"module 'mcp_lenient' has no attribute 'lenjent'"):
        mcp_lenient.lenjent  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'taggs'"):
        from mcp_lenient import taggs  # noqa: F401


WITHOUT_METADATA = """
from importlib.metadata import MetadataPathFinder
found = MetadataPathFinder.find_distributions
MetadataPathFinder.find_distributions = lambda context: (
    each for each in found(context) if each.metadata["Name"] != "mcp-lenient"
)
"""


def test_a_bundle_without_metadata_records_calls():
    """Where the package is files alone, as in a bundle of PyInstaller, telemetry has no version and fails no call."""
    called = 'from mcp_lenient.telemetry.otel import own_span\nwith own_span("store"):\n    print(1)'
    assert json.loads(run(f"{WITHOUT_METADATA}\n{called}")) == 1
