"""Time calls that take turns, and functions in batches."""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from random import Random
from statistics import median
from time import perf_counter, perf_counter_ns
from timeit import repeat
from typing import Any


async def in_turns(
    calls: Sequence[Callable[[], Awaitable[object]]],
    rounds: int,
    clock: Callable[[], int] = perf_counter_ns,
) -> list[float]:
    """Return the median microseconds of each call.

    The order differs in each round, since each call leaves the processor's caches warm for the next.
    """
    times: list[list[int]] = [[] for _ in calls]
    chance = Random(0)  # noqa: S311 - an order that can be repeated
    for _ in range(rounds):
        for at in chance.sample(range(len(calls)), len(calls)):
            started = clock()
            await calls[at]()
            times[at].append(clock() - started)
    return [median(each) / 1000 for each in times]


def batches(
    function: Callable[..., object],
    *arguments: Any,
    clock: Callable[[], float] = perf_counter,
    number: int = 100,
) -> list[float]:
    """Return the microseconds of one call, of each of a hundred batches, with the garbage collector on."""
    gc.collect()
    seconds = repeat(partial(function, *arguments), gc.enable, clock, repeat=100, number=number)
    return [each * 1e6 / number for each in seconds]
