"""Check the laws again with the inputs that the coverage-guided fuzzer kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.targets import TARGETS

_CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"
_MOST_BYTES = 200_000


@pytest.mark.parametrize("name", TARGETS)
def test_the_laws_hold_for_the_corpus(name):
    """Every kept input of a target is answered within the laws."""
    inputs = sorted((_CORPUS / name).iterdir())
    assert inputs
    for path in inputs:
        TARGETS[name](path.read_bytes())


def test_the_corpus_is_small():
    """The corpus stays below 200 kB."""
    assert sum(path.stat().st_size for path in _CORPUS.rglob("*") if path.is_file()) < _MOST_BYTES
