"""``make_lenient`` on the oldest supported and the newest version of the official SDK 1."""

from __future__ import annotations

from pathlib import Path

import pytest
from adapters.own_environment import names_in, outcomes_in
from adapters.sdk_1_versions import NEWEST, OLDEST

pytestmark = [pytest.mark.slow]

FILE = Path(__file__).parent / "sdk_1.py"


@pytest.fixture(scope="module", params=[OLDEST, NEWEST], ids=["oldest", "newest"])
def outcomes(request):
    """Return the outcome of each test by name."""
    return outcomes_in(FILE, *request.param)


@pytest.mark.parametrize("test", names_in(FILE))
def test_on_sdk_1(test, outcomes):
    """Each test of ``sdk_1.py`` passes on this version."""
    assert outcomes[test] is None, outcomes[test]
