"""``make_lenient`` on the official SDK 1, in environments of its own: the oldest version that is promised, and the newest."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from environments import environment

from benchmarks.hosts.matrix import HOSTS

pytestmark = [pytest.mark.full]

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
TESTS = re.findall(r"^async def (test_\w+)", (HERE / "sdk_1.py").read_text(encoding="utf-8"), re.MULTILINE)
NEWEST, *ENGINE = HOSTS["sdk_1"].needs


# The oldest one does not start with a newer Pydantic.
OLDEST = ("mcp==1.20.0", "pydantic==2.12.*")


@pytest.fixture(scope="module", params=[OLDEST, (NEWEST,)], ids=["oldest", "newest"])
def told(request):
    """What came out of each test, by its name."""
    done = subprocess.run(  # noqa: S603 - our own file
        [environment(*request.param, *ENGINE), "-W", "ignore", str(HERE / "sdk_1.py")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("test", TESTS)
def test_on_sdk_1(test, told):
    """It comes out as its own sentence says."""
    assert told[test] is None, told[test]
