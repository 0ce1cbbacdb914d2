"""Test that the SDKs of providers take the published forms of real schemas."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from environments import environment
from schema_shapes import SHAPES
from strategies import CASES

from mcp_lenient import publish

pytestmark = pytest.mark.slow
PACKAGES = ("google-genai==3.6.1", "openai-agents==0.24.0", "anthropic==2.14.0")
CLIENT = Path(__file__).parent / "clients" / "schema_sdks.py"
FORMS = ("unchanged", "portable", "gemini", "vertex", "openai-strict", "anthropic-strict")


def tools() -> list[dict[str, Any]]:
    """Return our own shapes and, where they are, the recorded schemas of real servers."""
    file = CASES / "real_tool_schemas.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return [*(schema for schema, *_ in SHAPES.values()), *(json.loads(line)["schema"] for line in lines)]


@pytest.fixture(scope="module")
def refused() -> dict[str, dict[str, list[str]]]:
    """Return the tools that each SDK refuses in each form, but for those that cannot have the form."""
    python = environment(*PACKAGES)
    schemas = tools()
    lists = {}
    for form in FORMS:
        published = {str(at): publish(schema, form) for at, schema in enumerate(schemas)}
        lists[form] = [
            {"name": name, "schema": each.schema} for name, each in published.items() if not each.lost
        ]
    done = subprocess.run(  # noqa: S603 - our own script
        [python, str(CLIENT)], input=json.dumps(lists), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


TAKES = [
    ("google-genai", "portable"),
    ("google-genai", "gemini"),
    ("google-genai", "vertex"),
    ("anthropic", "portable"),
    ("anthropic", "anthropic-strict"),
    ("openai-agents", "openai-strict"),
]


@pytest.mark.parametrize(("sdk", "form"), TAKES)
def test_an_sdk_takes_each_schema_of_its_form(refused, sdk, form):
    """Each SDK refuses some schemas as their authors wrote them, and none of its form."""
    assert refused["unchanged"][sdk] != []
    assert refused[form][sdk] == []
