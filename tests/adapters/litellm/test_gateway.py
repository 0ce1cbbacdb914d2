"""``LenientCallback`` in a LiteLLM gateway on loopback, in a separate environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from adapters.own_environment import names_in, outcomes_in

from benchmarks.hosts.matrix import HOSTS

pytestmark = [pytest.mark.slow]

FILE = Path(__file__).parent / "gateway.py"


@pytest.fixture(scope="module")
def outcomes():
    """Return the outcome of each test by name."""
    return outcomes_in(FILE, *HOSTS["litellm"].needs)


@pytest.mark.parametrize("test", names_in(FILE))
def test_in_the_gateway(test, outcomes):
    """Each test of ``gateway.py`` passes."""
    assert outcomes[test] is None, outcomes[test]
