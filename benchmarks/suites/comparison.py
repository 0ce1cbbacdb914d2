"""Compare the outcomes of a suite without and with mcp-lenient with the differences that are accepted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ACCEPTED = Path(__file__).with_name("accepted.yaml")
_TRIES = 3
"""Under load a test that waits for a time may fail; one that differs does so each time."""

Outcomes = Mapping[str, str]
"""What became of each test, by its name."""
Again = Callable[[frozenset[str]], tuple[Outcomes, Outcomes]]
"""Runs some tests alone, without and with mcp-lenient."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The differences of a suite.

    Attributes:
        bare: The outcomes without mcp-lenient.
        lenient: Those with it.
        new: Differences that are not accepted: both outcomes, by the name of the test.
        gone: Accepted differences that there are no longer.
        flaky: Tests whose difference was gone, or there again, when they ran alone.
    """

    bare: Outcomes
    lenient: Outcomes
    new: Mapping[str, str]
    gone: frozenset[str]
    flaky: frozenset[str] = frozenset()

    @property
    def is_as_accepted(self) -> bool:
        """Whether the differences are those that are accepted."""
        return not (self.new or self.gone)


def accepted(suite: str, file: Path = ACCEPTED) -> frozenset[str]:
    """Return the names of a suite's accepted differences.

    Raises:
        ValueError: If one is listed twice, or without a reason.
    """
    groups: Mapping[str, Any] = yaml.safe_load(file.read_text("utf-8"))[suite] or {}
    names = [name for reason, group in groups.items() if reason for name in group]
    if len(names) != len({*names}) or "" in groups:
        raise ValueError(f"{file.name}: {suite} lists a difference twice, or without a reason")
    return frozenset(names)


def compared(
    bare: Outcomes, lenient: Outcomes, listed: frozenset[str], again: Again | None = None
) -> Compared:
    """Compare two runs; what is not as listed runs again, alone, up to three times, until it is."""
    first = unexpected = _unexpected(bare, lenient, listed)
    tries = _TRIES
    while unexpected and again is not None and tries:
        tries -= 1
        bare_again, lenient_again = again(unexpected)
        bare, lenient = {**bare, **bare_again}, {**lenient, **lenient_again}
        unexpected = _unexpected(bare, lenient, listed)
    new = {name: f"{_at(bare, name)} -> {_at(lenient, name)}" for name in sorted(unexpected - listed)}
    return Compared(bare, lenient, new, unexpected & listed, first - unexpected)


def _unexpected(bare: Outcomes, lenient: Outcomes, listed: frozenset[str]) -> frozenset[str]:
    return differing(bare, lenient) ^ listed


def differing(bare: Outcomes, lenient: Outcomes) -> frozenset[str]:
    """Return the tests with another outcome, but not those that fail without mcp-lenient: they say nothing of it."""
    names = bare.keys() | lenient.keys()
    return frozenset(name for name in names if _at(bare, name) not in ("failed", _at(lenient, name)))


def _at(outcomes: Outcomes, name: str) -> str:
    return outcomes.get(name, "absent")
