"""Readings compared and put together: by cost, by value, and in every combination of several places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, NamedTuple, Protocol, TypeVar

from mcp_lenient.rules.rule import ABSENT
from mcp_lenient.types import Reading, Repair
from mcp_lenient.values import same_json

Key = TypeVar("Key", str, int)


class Change(NamedTuple):
    """What a value becomes, and the repairs that make it so, where no other reading is weighed against it."""

    value: Any
    repairs: tuple[Repair, ...] = ()


class _Valued(Protocol):
    @property
    def value(self) -> Any: ...


ValuedT = TypeVar("ValuedT", bound=_Valued)


def combined(columns: list[tuple[Key, list[Reading]]], most: int) -> Iterable[Iterable[tuple[Key, Reading]]]:
    """Every way to take one reading at each key; none when there are more than ``most``."""
    ways = 1
    for _, readings in columns:
        ways *= len(readings)
        if ways > most:
            return ()
    if ways == 1:
        return ([(key, readings[0]) for key, readings in columns],)
    keys = [key for key, _ in columns]
    return (zip(keys, chosen, strict=True) for chosen in product(*(readings for _, readings in columns)))


def cheapest(readings: list[Reading]) -> list[Reading]:
    """The readings of the lowest cost, each value once."""
    if len(readings) < 2:
        return readings
    lowest = min(reading.cost for reading in readings)
    return distinct(reading for reading in readings if reading.cost == lowest)


def distinct(readings: Iterable[ValuedT]) -> list[ValuedT]:
    """The readings, each JSON value once, the first of it."""
    found: list[ValuedT] = []
    for reading in readings:
        if not any(same_json(reading.value, other.value) for other in found):
            found.append(reading)
    return found


def put_together(
    kept: Mapping[str, Any], changed: Iterable[tuple[str, Reading]], cost: int, repairs: tuple[Repair, ...]
) -> Reading:
    """The object with the readings of some properties in their places, those that are ``ABSENT`` left out."""
    value = dict(kept)
    made = list(repairs)
    for name, reading in changed:
        if reading.value is ABSENT:
            value.pop(name, None)
        else:
            value[name] = reading.value
        cost += reading.cost
        made += reading.repairs
    return Reading(value, cost, tuple(made))


def list_with(sent: list[Any], changed: Iterable[tuple[int, Reading]]) -> Reading:
    """The list with the readings of some items in their places."""
    values = list(sent)
    cost = 0
    repairs: list[Repair] = []
    for index, reading in changed:
        values[index] = reading.value
        cost += reading.cost
        repairs += reading.repairs
    return Reading(values, cost, tuple(repairs))
