"""Test which mutants a ``# mutant:`` comment excuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.mutants import mutants_of

SOURCE = """\
ONE = 1
# mutant: a bound
TWO = 2
# mutant: a bound,
# which no test can see
THREE = max(
    3,
    4,
)
FIVE = 5
# mutant: saves time only
if (
    ONE
    == 6
):
    SEVEN = 7
EIGHT = [
    8,
    # mutant: a bound
    9,
    10,
]
"""


@pytest.fixture
def remarked(tmp_path: Path) -> set[str]:
    """Return the mutants on lines that a comment excuses."""
    file = tmp_path / "code.py"
    file.write_text(SOURCE)
    return {mutant.words for mutant in mutants_of(file) if mutant.is_remarked}


def test_a_comment_applies_to_the_statement_below(remarked: set[str]) -> None:
    """A comment of one or more lines covers all lines of the statement or part below it."""
    assert remarked >= {"2 -> 3", "3 -> 4", "4 -> 5", "9 -> 10"}


def test_a_comment_applies_only_to_the_head_of_a_block(remarked: set[str]) -> None:
    """A comment above a condition covers the condition, not its body."""
    assert remarked >= {"Eq -> NotEq", "6 -> 7", "if ONE == 6 -> if True"}
    assert "7 -> 8" not in remarked


def test_other_lines_are_not_covered(remarked: set[str]) -> None:
    """Lines before and after a covered statement are not covered."""
    assert not remarked & {"1 -> 2", "5 -> 6", "8 -> 9", "10 -> 11"}
