"""Each example runs where it is copied, alone, with chat.py beside it."""

from __future__ import annotations

import shutil

import pytest
from example_runs import ROOT, answers, run

EXAMPLES = ROOT / "examples"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "typed", "told"),
    [
        ("smart_home.py", "太暗了\n卧室台灯", "已将卧室台灯的亮度调到90%"),
        ("context_store.py", "remember tea", "Noted as 1: tea"),
        ("type_conversion.py", "animals 1987", "1987: 兔"),
        ("langchain_agent/agent.py", "6 times 7", "42"),
        ("agent_platform/server.py", "packages: PDF", "pypdf"),
    ],
)
def test_a_copy_runs_alone(tmp_path, file, typed, told):
    """A copy of the file or the folder runs with the library, chat.py, and nothing else of this repository."""
    example = file.partition("/")[0]
    if (EXAMPLES / example).is_dir():
        shutil.copytree(EXAMPLES / example, tmp_path / example)
    else:
        shutil.copy(EXAMPLES / example, tmp_path)
    shutil.copy(EXAMPLES / "chat.py", tmp_path)
    library = tmp_path / "library"
    library.mkdir()
    (library / "mcp_lenient").symlink_to(ROOT / "mcp_lenient")
    done = run(tmp_path / file, typed=typed, cwd=tmp_path, PYTHONPATH=str(library))
    assert done.returncode == 0, done.stderr
    assert answers(done)[-1].startswith(told), done.stdout
    assert "chat.jsonl" in {path.name for path in (tmp_path / "data").iterdir()}
