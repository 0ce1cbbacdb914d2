"""``make_lenient`` on the official SDK 1, in environments of its own: the oldest version that is promised, and the newest."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_environment import names_in, told_by

from benchmarks.hosts.matrix import HOSTS

pytestmark = [pytest.mark.full]

FILE = Path(__file__).parent / "sdk_1.py"
NEWEST = HOSTS["sdk_1"].needs
# The oldest one does not start with a newer Pydantic.
OLDEST = ("mcp==1.20.0", "pydantic==2.12.*", *NEWEST[1:])


@pytest.fixture(scope="module", params=[OLDEST, NEWEST], ids=["oldest", "newest"])
def told(request):
    """What came out of each test, by its name."""
    return told_by(FILE, *request.param)


@pytest.mark.parametrize("test", names_in(FILE))
def test_on_sdk_1(test, told):
    """It comes out as its own sentence says."""
    assert told[test] is None, told[test]
