"""Mark rows and examples that only the slower parts of the tests run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from hypothesis import settings

ParameterSet = type(pytest.param())


def quick(rows: Mapping[str, Any] | Iterable[Any], *names: str) -> list[Any]:
    """The rows of a table by name, or as ``pytest.param``, of which all but the named are slow."""
    return _but_for(names, rows, slow)


def usual(rows: Mapping[str, Any] | Iterable[Any], *names: str) -> list[Any]:
    """The rows of a table of which only the whole of the tests runs those that are not named."""
    return _but_for(names, rows, full)


def _but_for(
    names: Iterable[str], rows: Mapping[str, Any] | Iterable[Any], mark: Callable[[Any], Any]
) -> list[Any]:
    rows = list(_rows(rows))
    unknown = {*names} - {row.id for row in rows}
    assert not unknown, f"the table has no row {unknown}"
    return [row if row.id in names else mark(row) for row in rows]


def pairwise(rows: Mapping[str, Any] | Iterable[Any]) -> list[Any]:
    """Each row on the server, lax or strict, that its neighbors are not on; only the whole of the tests tries both."""
    both = [_on_both(row) for row in _rows(rows)]
    return [
        each if strict == at % 2 else full(each)
        for at, row in enumerate(both)
        for strict, each in enumerate(row)
    ]


def lax_and_strict(rows: Mapping[str, Any] | Iterable[Any]) -> list[Any]:
    """Each row on a server that is lax, which is slow, and on one that is strict; ``strict`` is the last argument."""
    return [each for row in _rows(rows) for each in (slow(_on_both(row)[0]), _on_both(row)[1])]


def _on_both(row: Any) -> list[Any]:
    return [
        pytest.param(*row.values, strict, id=f"{row.id}-{'strict' if strict else 'lax'}", marks=row.marks)
        for strict in (False, True)
    ]


def slow(row: Any) -> Any:
    """Mark a row that the quick part leaves out."""
    return _marked(row, pytest.mark.slow)


def full(row: Any) -> Any:
    """Mark a row that only ``make test-all`` runs."""
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


on_both_servers = pytest.mark.parametrize(
    "strict", [slow(pytest.param(False, id="lax")), pytest.param(True, id="strict")]
)
"""On a server that is lax, which is slow, and on one that is strict."""
