"""Run the examples as a person does: in another process, with what is typed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*words, typed="", python=sys.executable, cwd=ROOT, **environment):
    """Run Python with words; return the finished process. Of the variables, those that change an example are left out."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not re.match("OPENAI_|ANTHROPIC_|EXAMPLES_DATA$", key)
    }
    return subprocess.run(  # noqa: S603 - the words are those of the tests
        [python, *map(str, words)],
        cwd=cwd,
        env={**kept, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **environment},
        input=typed,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def answers(done):
    """Return what was answered in a chat."""
    return re.findall(r"^answer +(.*)$", done.stdout, re.MULTILINE)
