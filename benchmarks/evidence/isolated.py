"""Run a measurement in a process of its own, so that a crash or an endless loop is an outcome too."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from typing import Any

Probes = Callable[[int], Iterable[Any]]
"""A function of a module that yields one result for each probe of the case with this number."""
_START_S = 120
"""Seconds that a process may take to start beside other work."""


def results(probes: Probes, case: int, patience: float) -> tuple[list[Any], str]:
    """Return the results until one takes longer than ``patience`` seconds or fails, and how it ended then."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_send, args=(there, probes, case))
    process.start()
    there.close()
    found: list[Any] = []
    ended = f"no answer in {patience:g} s"
    try:
        while here.poll(patience if found else _START_S):
            found.append(here.recv())
    except EOFError:
        ended = "raised or crashed"
    process.kill()
    process.join()
    return found[1:], ended


def _send(answer: Connection, probes: Probes, case: int) -> None:
    answer.send("started")
    for result in probes(case):
        answer.send(result)
