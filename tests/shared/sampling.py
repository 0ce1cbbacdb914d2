"""Mark rows and examples that only the slower parts of the tests run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from hypothesis import settings

ParameterSet = type(pytest.param())


def quick(rows: Mapping[str, Any] | Iterable[Any], *names: str) -> list[Any]:
    """Return the rows of a table, by name or as ``pytest.param``. All but the named ones are slow."""
    return _mark_others(names, rows, slow)


def usual(rows: Mapping[str, Any] | Iterable[Any], *names: str) -> list[Any]:
    """Return the rows of a table. All but the named ones run only in the whole of the tests."""
    return _mark_others(names, rows, full)


def _mark_others(
    names: Iterable[str], rows: Mapping[str, Any] | Iterable[Any], mark: Callable[[Any], Any]
) -> list[Any]:
    rows = list(_rows(rows))
    unknown = {*names} - {row.id for row in rows}
    assert not unknown, f"the table has no row {unknown}"
    return [row if row.id in names else mark(row) for row in rows]


def pairwise(rows: Mapping[str, Any] | Iterable[Any]) -> list[Any]:
    """Return each row on a lax or a strict server in turn. Only the whole of the tests runs both."""
    both = [_on_both(row) for row in _rows(rows)]
    return [
        each if strict == at % 2 else full(each)
        for at, row in enumerate(both)
        for strict, each in enumerate(row)
    ]


def lax_and_strict(rows: Mapping[str, Any] | Iterable[Any]) -> list[Any]:
    """Return each row on a lax server, which is slow, and on a strict one. ``strict`` comes last."""
    return [each for row in _rows(rows) for each in (slow(_on_both(row)[0]), _on_both(row)[1])]


def _on_both(row: Any) -> list[Any]:
    return [
        pytest.param(*row.values, strict, id=f"{row.id}-{'strict' if strict else 'lax'}", marks=row.marks)
        for strict in (False, True)
    ]


def slow(row: Any) -> Any:
    """Mark a row that the quick part omits."""
    return _marked(row, pytest.mark.slow)


def full(row: Any) -> Any:
    """Mark a row that only ``make test-all`` runs."""
    return _marked(row, pytest.mark.full)


def _marked(row: Any, mark: pytest.MarkDecorator) -> Any:
    assert isinstance(row, ParameterSet), f"{row!r} has to be a pytest.param"
    return row._replace(marks=[*row.marks, mark])


_WHOLE = 100
"""The number of examples of a law in the whole of the tests, which is Hypothesis's default."""


def examples(most: int) -> int:
    """Return the number of examples for a law that gets ``most`` in the whole of the tests."""
    share = settings.default.max_examples / _WHOLE
    return max(3, round(most * share))


def _rows(rows: Mapping[str, Any] | Iterable[Any]) -> Iterable[Any]:
    return (
        [pytest.param(value, id=name) for name, value in rows.items()] if isinstance(rows, Mapping) else rows
    )


on_both_servers = pytest.mark.parametrize(
    "strict", [slow(pytest.param(False, id="lax")), pytest.param(True, id="strict")]
)
"""Run a test on a lax server, which is slow, and on a strict one."""
