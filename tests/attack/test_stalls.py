"""No arguments of a stranger stall a server: the time is linear in their size, whatever they consist of."""

from __future__ import annotations

from time import process_time

import pytest

from mcp_lenient import Normalizer
from tests.shared.stalls import FAMILIES, SCHEMA

pytestmark = pytest.mark.slow

_SMALL, _LARGE = 2**16, 2**20
_FACTOR = 4
"""How many times more than linear a measurement may be: the larger data leaves the processor's caches."""
_LEAST_S = 0.05
"""CPU time of 64 KiB that is too short to be compared."""


def _seconds(normalizer: Normalizer, family: str, size: int) -> float:
    arguments = FAMILIES[family](size)
    started = process_time()
    normalizer(arguments)
    return process_time() - started


@pytest.mark.parametrize("family", FAMILIES)
def test_work_is_linear_in_the_size(family):
    """1 MiB takes about 16 times as long as 64 KiB."""
    normalizer = Normalizer(SCHEMA)
    _seconds(normalizer, family, 2**10)
    small = max(min(_seconds(normalizer, family, _SMALL) for _ in range(3)), _LEAST_S)
    assert _seconds(normalizer, family, _LARGE) < small * _FACTOR * _LARGE / _SMALL
