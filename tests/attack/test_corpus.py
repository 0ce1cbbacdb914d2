"""The inputs that a coverage-guided fuzzer found to reach something new, each against the laws once more."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.targets import TARGETS

_CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"
_MOST_BYTES = 200_000


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_the_laws_hold_for_the_corpus(name):
    """Every kept input of a target is answered within the laws."""
    inputs = sorted((_CORPUS / name).iterdir())
    assert inputs
    for path in inputs:
        TARGETS[name](path.read_bytes())


def test_the_corpus_is_small():
    """What is kept of the attacks weighs no more than a picture."""
    assert sum(path.stat().st_size for path in _CORPUS.rglob("*") if path.is_file()) < _MOST_BYTES
