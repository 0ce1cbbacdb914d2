"""What a quicker part of the tests leaves to a slower one: most rows of a broad table, most examples of a law."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import settings

ParameterSet = type(pytest.param())


def sampled(rows: Mapping[str, Any] | Iterable[Any], every: int) -> list[Any]:
    """The rows of a table by name, or as ``pytest.param``, of which all but each n-th are slow."""
    return [row if at % every == 0 else slow(row) for at, row in enumerate(_rows(rows))]


def pairwise(rows: Mapping[str, Any] | Iterable[Any]) -> list[Any]:
    """Like ``lax_and_strict``, but only the whole of the tests tries each row on both: of others each second is strict."""
    both = lax_and_strict(rows)
    return [full(row) if at % 4 in (1, 2) else row for at, row in enumerate(both)]


def lax_and_strict(rows: Mapping[str, Any] | Iterable[Any]) -> list[Any]:
    """Each row twice, for a server that is lax and for one that is strict; an argument ``strict`` comes last."""
    return [
        pytest.param(*row.values, strict, id=f"{row.id}-{'strict' if strict else 'lax'}", marks=row.marks)
        for row in _rows(rows)
        for strict in (False, True)
    ]


def slow(row: Any) -> Any:
    """A row that the quick part leaves out."""
    return _marked(row, pytest.mark.slow)


def full(row: Any) -> Any:
    """A row that only the whole of the tests runs."""
    return _marked(row, pytest.mark.full)


def _marked(row: Any, mark: pytest.MarkDecorator) -> Any:
    assert isinstance(row, ParameterSet), f"{row!r} has to be a pytest.param"
    return row._replace(marks=[*row.marks, mark])


_WHOLE = 100
"""The examples of a law in the whole of the tests: Hypothesis's default."""


def examples(most: int) -> int:
    """Return how many examples a law gets that gets more, or fewer, than others in the whole of the tests."""
    share = settings.default.max_examples / _WHOLE
    return max(3, round(most * share))


def _rows(rows: Mapping[str, Any] | Iterable[Any]) -> Iterable[Any]:
    return (
        [pytest.param(value, id=name) for name, value in rows.items()] if isinstance(rows, Mapping) else rows
    )
