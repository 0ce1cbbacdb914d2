"""Readings compared: by cost, by value, and in every combination of several places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from mcp_lenient.types import Reading
from mcp_lenient.values import same_json


def combined(columns: list[list[Reading]], most: int) -> Iterable[Sequence[Reading]]:
    """Every way to take one reading of each; none when there are more than ``most``."""
    ways = 1
    for readings in columns:
        if len(readings) > 1:
            ways *= len(readings)
            if ways > most:
                return ()
    return ([readings[0] for readings in columns],) if ways == 1 else product(*columns)


def cheapest(readings: list[Reading]) -> list[Reading]:
    """The readings of the lowest cost, each value once."""
    if len(readings) < 2:
        return readings
    lowest = min(reading.cost for reading in readings)
    return distinct(reading for reading in readings if reading.cost == lowest)


def distinct(readings: Iterable[Reading]) -> list[Reading]:
    """The readings, each JSON value once, the first of it."""
    found: list[Reading] = []
    for reading in readings:
        if not any(same_json(reading.value, other.value) for other in found):
            found.append(reading)
    return found
