"""Correct calls of real models, damaged as in the property tests."""

from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import servers
from benchmarks.quality.scoring import callable_as, same_call

if TYPE_CHECKING:
    from fastmcp.server.middleware import Middleware

    from benchmarks.data import Case
    from benchmarks.servers import Reply

_TESTS = Path(__file__).resolve().parents[2] / "tests"
_TWICE = 4
"""One of this many calls is damaged a second time."""
_MOST_WAYS = 400
"""Maximum number of ways to damage one call; a call with a long list has far more."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A correct call and its damaged form; ``between`` is the form before a second damage."""

    case: Case
    name: str
    sent: Any
    between: Any


@dataclass(frozen=True, slots=True)
class Result:
    """A damaged call and its outcome on a tool of one kind."""

    damaged: Damaged
    kind: str
    reply: Reply

    @property
    def verdict(self) -> str:
        """Return whether the damage was undone, the call refused, run as sent, or run as another call."""
        if not self.reply.ran:
            return "refused"
        rights = (self.damaged.case.sent, self.damaged.between)
        if any(same_call(self.damaged.case, self.reply.arguments, right) for right in rights):
            return "undone"
        return "another call" if self.reply.repairs else "run without a repair"


VERDICTS = ("undone", "refused", "run without a repair", "another call")


def damaged_calls(cases: list[Case], count: int, seed: int) -> list[Damaged]:
    """Return this many damaged calls, the same for the same seed."""
    choose = random.Random(seed)  # noqa: S311 (a sample that can be repeated)
    ways_of = cache(lambda at: _ways(cases[at].schema, cases[at].sent))
    calls: list[Damaged] = []
    # A call without arguments cannot be damaged; the limit is for sets with only such calls.
    for number in range(count * 2):
        at = choose.randrange(len(cases))
        case, ways = cases[at], ways_of(at)
        if not ways or len(calls) == count:
            continue
        label, between = choose.choice(ways)
        sent = between
        if number % _TWICE == 0 and (again := _ways(case.schema, between)):
            second, sent = choose.choice(again)
            label = f"{label}, {second}"
        calls.append(Damaged(case, f"{case.name} {label}", sent, between))
    return calls


@cache
def _module() -> Any:
    """Import the damage of the property tests, with its folder on the path, as in pytest."""
    sys.path[:0] = [str(_TESTS / "shared")]
    return import_module("damage")


def _ways(schema: Any, arguments: Any) -> list[tuple[str, Any]]:
    damage = _module()
    found = (*islice(damage.damages(schema, schema, arguments), _MOST_WAYS), *damage.whole_damages(arguments))
    return [(label, sent) for label, sent in found if isinstance(sent, dict)]


async def results(calls: list[Damaged], middleware: Middleware | None, kind: str) -> list[Result]:
    """Call each damaged call whose schema a tool of this kind can express."""
    tools = {call.case.name: call.case for call in calls}
    chosen = {case.name: case for case in callable_as(list(tools.values()), kind)}
    async with servers.tools(kind, chosen.values(), middleware) as caller:
        return [
            Result(call, kind, await caller.call(servers.tool_name(call.case), call.sent))
            for call in calls
            if call.case.name in chosen
        ]


def counts(found: list[Result]) -> Counter[str]:
    """Count the outcomes of damaged calls."""
    return Counter(result.verdict for result in found)
