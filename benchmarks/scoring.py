"""What becomes of recorded calls, end to end through a FastMCP server and its client, and how it counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks import servers
from benchmarks.matching import answers, identical, patched, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fastmcp.server.middleware import Middleware

    from benchmarks.data import Case
    from benchmarks.servers import Caller, Reply

Verdict = str
"""``right``, ``corrupted`` (ran with other arguments), ``refused`` (and should not), ``own`` (see below)."""

RIGHT, CORRUPTED, REFUSED, OWN = "right", "corrupted", "refused", "FastMCP's own"
"""``own``: FastMCP by itself runs the call with these arguments, so nobody asked the middleware."""


@dataclass(frozen=True, slots=True)
class Score:
    """One case, what became of it, and how that counts."""

    case: Case
    reply: Reply
    verdict: Verdict


def conversion_verdict(case: Case, reply: Reply) -> Verdict:
    """Right is any of the accepted outcomes."""
    accepted = case.row["accepted"]
    if not reply.ran:
        return RIGHT if "REJECT" in accepted else REFUSED
    return _ran_as(case, reply, [outcome for outcome in accepted if outcome != "REJECT"])


def reported_verdict(case: Case, reply: Reply) -> Verdict:
    """Right depends on what the report expects; an ambiguous call may be refused, left or run as wanted."""
    expect, wanted, sent = (case.row[key] for key in ("expect", "wanted", "sent"))
    may_refuse, outcomes = {
        "repair": (False, [wanted]),
        "pass_through": (False, [sent]),
        "reject": (True, []),
        "ambiguous": (True, [sent, *([wanted] if wanted is not None else [])]),
        "unreachable": (True, [wanted]),
        "warn": (False, [sent]),
    }[expect]
    if not reply.ran:
        return RIGHT if may_refuse else REFUSED
    return _ran_as(case, reply, outcomes)


def _ran_as(case: Case, reply: Reply, outcomes: Iterable[Any]) -> Verdict:
    return RIGHT if any(_same_call(case, reply.arguments, outcome) for outcome in outcomes) else CORRUPTED


def _same_call(case: Case, received: Any, outcome: Any) -> bool:
    """Whether the function got what the outcome says; a parameter that was left out may show its default."""
    if not isinstance(outcome, dict):
        return False
    declared = case.schema.get("properties", {})
    defaults = {
        name: declared[name]["default"]
        for name in received
        if name not in outcome and "default" in declared.get(name, {})
    }
    return same(received, {**defaults, **outcome})


async def function_scores(
    cases: list[Case],
    verdict: Callable[[Case, Reply], Verdict],
    middleware: Middleware | None,
    *,
    strict: bool,
    marked: bool = False,
) -> list[Score]:
    """Each case called on a function tool of a default or strict server."""
    async with servers.function_tools(cases, None, strict=strict) as caller:
        alone = [await caller.call(servers.tool_name(case), case.sent) for case in cases]
    async with servers.function_tools(cases, middleware, strict=strict, marked=marked) as caller:
        replies = [await caller.call(servers.tool_name(case), case.sent) for case in cases]
    return [
        Score(case, reply, _unless_own(verdict(case, reply), reply, before))
        for case, reply, before in zip(cases, replies, alone, strict=True)
    ]


def _unless_own(verdict: Verdict, reply: Reply, alone: Reply) -> Verdict:
    by_itself = reply.ran and alone.ran and same(reply.arguments, alone.arguments)
    return OWN if verdict == CORRUPTED and by_itself else verdict


async def valid_scores(cases: list[Case], middleware: Middleware | None) -> list[Score]:
    """Valid calls on custom tools: right only when the very same values arrive."""
    async with servers.custom_tools(cases, middleware) as caller:
        replies = [await caller.call(servers.tool_name(case), case.sent) for case in cases]
    return [Score(case, reply, _unchanged(case, reply)) for case, reply in zip(cases, replies, strict=True)]


def _unchanged(case: Case, reply: Reply) -> Verdict:
    if not reply.ran:
        return REFUSED
    return RIGHT if identical(reply.arguments, case.sent) else CORRUPTED


@dataclass(frozen=True, slots=True)
class Known:
    """An invalid call with a known answer; ``fix`` says where a refused one's first fixes lead."""

    score: Score
    fix: str = ""


def known(case: Case) -> bool:
    """Whether the answer is known and the schema takes it."""
    return bool(case.row["expected_params"]) and bool(case.row.get("expected_is_schema_valid"))


async def known_scores(cases: list[Case], middleware: Middleware | None) -> list[Known]:
    """Invalid calls with a known answer on custom tools, and the refused ones again with their first fixes."""
    async with servers.custom_tools(cases, middleware) as caller:
        return [await _known_score(caller, case) for case in cases]


async def _known_score(caller: Caller, case: Case) -> Known:
    reply = await caller.call(servers.tool_name(case), case.sent)
    if reply.ran:
        return Known(Score(case, reply, _answered(case, reply)))
    return Known(Score(case, reply, REFUSED), fix=await _first_fixes(caller, case, reply))


def _answered(case: Case, reply: Reply) -> Verdict:
    return RIGHT if answers(reply.arguments, case.row["expected_params"]) else CORRUPTED


async def _first_fixes(caller: Caller, case: Case, refused: Reply) -> str:
    """What happens to a caller who applies each violation's first fix to what it sent, and sends again."""
    violations = refused.envelope.get("details", {}).get("violations", [])
    patches = [violation["fixes"][0] for violation in violations if violation.get("fixes")]
    if not patches:
        return "no fix"
    # A missing name and the unknown one that is meant by it carry the same patch.
    once = [patch for at, patch in enumerate(patches) if patch not in patches[:at]]
    try:
        mended = patched(case.sent, [operation for patch in once for operation in patch])
    except LookupError:
        return "does not apply"
    reply = await caller.call(servers.tool_name(case), mended)
    if not reply.ran:
        return "refused again"
    return "mended" if _answered(case, reply) == RIGHT else "astray"


async def unknown_outcomes(cases: list[Case], middleware: Middleware | None) -> Counter[str]:
    """Invalid calls without a known answer: only what happens is counted."""
    async with servers.custom_tools(cases, middleware) as caller:
        replies = [await caller.call(servers.tool_name(case), case.sent) for case in cases]
    return Counter("ran" if reply.ran else reply.outcome.split("_")[0].lower() for reply in replies)
