"""Each example runs where it is copied, alone; what several need is the same text in each."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
TALK = EXAMPLES / "agent_platform/talk.py"


def section(path, name):
    """The lines of a file from the beginning of a section to its end."""
    text = path.read_text(encoding="utf-8")
    found = re.search(
        rf"^# --- The {name}:.*?^# --- The end of the {name} [^\n]*\n", text, re.MULTILINE | re.DOTALL
    )
    assert found, path
    return found[0]


@pytest.mark.parametrize(
    "example", ["smart_home.py", "context_store.py", "type_conversion.py", "langchain_agent/talk.py"]
)
def test_the_chat_is_the_same_in_each_example(example):
    """The lines of the chat are those of agent_platform/talk.py; copy them where this fails."""
    assert section(EXAMPLES / example, "chat") == section(TALK, "chat")


def test_the_page_is_the_same_in_each_example():
    """The lines of the page are those of the smart home; copy them where this fails."""
    assert section(EXAMPLES / "context_store.py", "page") == section(EXAMPLES / "smart_home.py", "page")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "file", "typed", "told"),
    [
        pytest.param(
            "smart_home.py",
            "smart_home.py",
            "太暗了\n卧室台灯",
            "已将卧室台灯的亮度调到90%",
            id="smart_home",
        ),
        pytest.param(
            "context_store.py", "context_store.py", "remember tea", "Noted as 1: tea", id="context_store"
        ),
        pytest.param("type_conversion.py", "type_conversion.py", "1987", "1987: 兔", id="type_conversion"),
        pytest.param("langchain_agent", "langchain_agent/agent.py", "6 times 7", "42", id="langchain_agent"),
        pytest.param(
            "agent_platform", "agent_platform/server.py", "packages: PDF", "pypdf", id="agent_platform"
        ),
    ],
)
def test_a_copy_runs_alone(tmp_path, example, file, typed, told):
    """A copy of the file or the folder runs with the library and nothing else of this repository."""
    if (EXAMPLES / example).is_dir():
        shutil.copytree(EXAMPLES / example, tmp_path / example)
    else:
        shutil.copy(EXAMPLES / example, tmp_path)
    library = tmp_path / "library"
    library.mkdir()
    (library / "mcp_lenient").symlink_to(ROOT / "mcp_lenient")
    environment = {name: value for name, value in os.environ.items() if name != "EXAMPLES_DATA"}
    done = subprocess.run(  # noqa: S603 - our own examples
        [sys.executable, str(tmp_path / file)],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(library), "PYTHONIOENCODING": "utf-8"},
        input=typed,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(rf"^answer +{re.escape(told)}", done.stdout, re.MULTILINE), done.stdout
    assert "chat.jsonl" in {path.name for path in (tmp_path / "data").iterdir()}
