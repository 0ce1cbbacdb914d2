"""Each example runs where it is copied, alone; what several need is the same text in each."""

from __future__ import annotations

import re
import shutil

import pytest
from example_runs import ROOT, answers, run

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
    ("file", "typed", "told"),
    [
        ("smart_home.py", "太暗了\n卧室台灯", "已将卧室台灯的亮度调到90%"),
        ("context_store.py", "remember tea", "Noted as 1: tea"),
        ("type_conversion.py", "1987", "1987: 兔"),
        ("langchain_agent/agent.py", "6 times 7", "42"),
        ("agent_platform/server.py", "packages: PDF", "pypdf"),
    ],
)
def test_a_copy_runs_alone(tmp_path, file, typed, told):
    """A copy of the file or the folder runs with the library and nothing else of this repository."""
    example = file.partition("/")[0]
    if (EXAMPLES / example).is_dir():
        shutil.copytree(EXAMPLES / example, tmp_path / example)
    else:
        shutil.copy(EXAMPLES / example, tmp_path)
    library = tmp_path / "library"
    library.mkdir()
    (library / "mcp_lenient").symlink_to(ROOT / "mcp_lenient")
    done = run(tmp_path / file, typed=typed, cwd=tmp_path, PYTHONPATH=str(library))
    assert done.returncode == 0, done.stderr
    assert answers(done)[-1].startswith(told), done.stdout
    assert "chat.jsonl" in {path.name for path in (tmp_path / "data").iterdir()}
