"""Test what is required where."""

from __future__ import annotations

import sys
from pathlib import Path

from packaging.requirements import Requirement
from tables import each_row

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FAST = next(
    requirement
    for requirement in map(Requirement, PROJECT["dependencies"])
    if requirement.name == "jsonschema-rs"
)


@each_row(
    ("system", "machine", "implementation", "has_wheel"),
    [
        ("linux", "x86_64", "CPython", True),
        ("linux", "aarch64", "CPython", True),
        ("linux", "i686", "CPython", True),
        ("darwin", "arm64", "CPython", True),
        ("win32", "AMD64", "CPython", True),
        ("linux", "armv7l", "CPython", False),
        ("linux", "ppc64le", "CPython", False),
        ("linux", "s390x", "CPython", False),
        ("linux", "riscv64", "CPython", False),
        ("linux", "x86_64", "PyPy", False),
        ("freebsd14", "amd64", "CPython", False),
        ("emscripten", "wasm32", "CPython", False),
    ],
)
def test_jsonschema_rs_is_required_where_it_has_a_wheel(system, machine, implementation, has_wheel):
    """Elsewhere an installation would have to compile it; there jsonschema validates."""
    environment = {
        "sys_platform": system,
        "platform_machine": machine,
        "platform_python_implementation": implementation,
    }
    assert FAST.marker is not None
    assert FAST.marker.evaluate(environment) is has_wheel
