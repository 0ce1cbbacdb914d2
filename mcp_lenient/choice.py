"""Readings compared: by cost, by value, and in every combination of several places."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

from mcp_lenient.types import Reading
from mcp_lenient.values import same_json


def combined(
    columns: list[tuple[Any, list[Reading]]], most: int
) -> Iterable[tuple[tuple[Any, Reading], ...]]:
    """Every way to take one reading of each; none when there are more than ``most``."""
    ways = 1
    for _, readings in columns:
        ways *= len(readings)
        if ways > most:
            return ()
    if ways == 1:
        return (tuple((name, readings[0]) for name, readings in columns),)
    keys = [name for name, _ in columns]
    return (
        tuple(zip(keys, chosen, strict=True)) for chosen in product(*(readings for _, readings in columns))
    )


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
