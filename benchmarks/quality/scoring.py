"""Run recorded calls end to end through a FastMCP server and its client, and score their outcomes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks import servers
from benchmarks.quality.judgments import OUTCOMES, REASONS, digest
from benchmarks.quality.matching import answers, differing
from benchmarks.signatures import expressible
from mcp_lenient.values.json_values import same_json, tokens_of
from mcp_lenient.values.patches import applied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fastmcp.server.middleware import Middleware

    from benchmarks.data import Case
    from benchmarks.servers import Caller, Reply

Verdict = str
"""``right``, ``corrupted`` (ran with other arguments), ``refused`` (wrongly), ``own`` (see below)."""

RIGHT, CORRUPTED, REFUSED, OWN = "right", "corrupted", "refused", "FastMCP's own"
ALLOWED, KEPT = "refused as allowed", "kept"
"""Only in the second sets: a refusal that the row allows, and a difference kept for a reason."""
"""``own``: FastMCP alone runs the call with these arguments, so the middleware does nothing."""


@dataclass(frozen=True, slots=True)
class Score:
    """One case, its outcome, and its verdict."""

    case: Case
    reply: Reply
    verdict: Verdict


def conversion_verdict(case: Case, reply: Reply) -> Verdict:
    """Return ``right`` for any of the accepted outcomes."""
    accepted = case.row["accepted"]
    if not reply.ran:
        return RIGHT if "REJECT" in accepted else REFUSED
    return _ran_as(case, reply, [outcome for outcome in accepted if outcome != "REJECT"])


def reported_verdict(case: Case, reply: Reply) -> Verdict:
    """Return the verdict by what the report expects; an ambiguous call may be refused, unchanged or repaired."""
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
    return _ran_as(case, reply, [*outcomes, *case.row.get("wanted_any", ())])


def second_reported_verdict(case: Case, reply: Reply) -> Verdict:
    """Return the verdict by what the report expects; a refusal that it allows counts separately."""
    if not reply.ran and case.row["expect"] in ("ambiguous", "unreachable"):
        return ALLOWED
    return reported_verdict(case, reply)


def peer_verdict(case: Case, reply: Reply) -> Verdict:
    """Return the verdict by what the peer expects, or by our judgment if the row does not say it."""
    expected = case.row["expected"]
    if expected is None:
        return _judged(case, reply)
    if expected == "REJECT":
        return _kept_or(case, CORRUPTED) if reply.ran else RIGHT
    return _ran_as(case, reply, [expected]) if reply.ran else REFUSED


def _judged(case: Case, reply: Reply) -> Verdict:
    if not reply.ran:
        ours_to_win = str(case.row["merit"]).startswith("miss")
        return _kept_or(case, REFUSED) if ours_to_win else ALLOWED
    if same_json(reply.arguments, case.sent) or digest(reply.arguments) in OUTCOMES.get(case.name, ()):
        return RIGHT
    return CORRUPTED


def _kept_or(case: Case, verdict: Verdict) -> Verdict:
    return KEPT if case.name in REASONS else verdict


def _ran_as(case: Case, reply: Reply, outcomes: Iterable[Any]) -> Verdict:
    return RIGHT if any(same_call(case, reply.arguments, outcome) for outcome in outcomes) else CORRUPTED


def same_call(case: Case, received: Any, outcome: Any) -> bool:
    """Return whether the function got the expected arguments; an omitted parameter may have its default."""
    if not isinstance(outcome, dict):
        return False
    declared = case.schema.get("properties", {})
    defaults = {
        name: declared[name]["default"]
        for name in received
        if name not in outcome and "default" in declared.get(name, {})
    }
    return same_json(received, {**defaults, **outcome})


async def scores(
    cases: list[Case],
    verdict: Callable[[Case, Reply], Verdict],
    middleware: Middleware | None,
    kind: str,
) -> list[Score]:
    """Return the score of each case on a tool of this kind; FastMCP's own conversions count separately."""
    replies = await _replies(cases, middleware, kind)
    verdicts = [verdict(case, reply) for case, reply in zip(cases, replies, strict=True)]
    if kind != "schema":
        alone = await _replies(cases, None, kind)
        verdicts = list(map(_unless_own, verdicts, replies, alone))
    return [Score(*found) for found in zip(cases, replies, verdicts, strict=True)]


async def _replies(cases: list[Case], middleware: Middleware | None, kind: str) -> list[Reply]:
    async with servers.tools(kind, cases, middleware) as caller:
        return [await caller.call(servers.tool_name(case), case.sent) for case in cases]


def callable_as(cases: list[Case], kind: str) -> list[Case]:
    """Return the cases whose schema a tool of this kind can fully express."""
    return cases if kind == "schema" else [case for case in cases if expressible(case.schema)]


def _unless_own(verdict: Verdict, reply: Reply, alone: Reply) -> Verdict:
    by_itself = reply.ran and alone.ran and _is_exactly(reply.arguments, alone.arguments)
    return OWN if verdict == CORRUPTED and by_itself else verdict


def unchanged_verdict(case: Case, reply: Reply) -> Verdict:
    """Return ``right`` only if exactly the same values arrive."""
    if not reply.ran:
        return REFUSED
    return RIGHT if _is_exactly(reply.arguments, case.sent) else CORRUPTED


def _is_exactly(left: Any, right: Any) -> bool:
    """Return whether values are spelled alike: ``1`` and ``1.0`` are not, NaN and NaN are."""
    return json.dumps(left) == json.dumps(right)


@dataclass(frozen=True, slots=True)
class Known:
    """An invalid call with a known answer; ``fix`` is the outcome of a refused call's first fixes."""

    score: Score
    fix: str = ""


def answer_verdict(case: Case, reply: Reply) -> Verdict:
    """Return ``right`` for one of the known answers; without known answers, return what happened."""
    if not reply.ran:
        return REFUSED
    return _answered(case, reply) if known(case) else "ran"


def known(case: Case) -> bool:
    """Return whether the answer is known and the schema accepts it."""
    return bool(case.row["expected_params"]) and bool(case.row.get("expected_is_schema_valid"))


async def known_scores(cases: list[Case], middleware: Middleware | None) -> list[Known]:
    """Score invalid calls with a known answer on custom tools; send refused calls again with their first fixes."""
    async with servers.tools("schema", cases, middleware) as caller:
        return [await _known_score(caller, case) for case in cases]


async def _known_score(caller: Caller, case: Case) -> Known:
    reply = await caller.call(servers.tool_name(case), case.sent)
    if reply.ran:
        return Known(Score(case, reply, _answered(case, reply)))
    return Known(Score(case, reply, REFUSED), fix=await _first_fixes(caller, case, reply))


def _answered(case: Case, reply: Reply) -> Verdict:
    return RIGHT if answers(reply.arguments, case.row["expected_params"]) else CORRUPTED


async def _first_fixes(caller: Caller, case: Case, refused: Reply) -> str:
    """Return the outcome for a caller that applies each violation's first fix and sends the call again."""
    violations = refused.envelope.get("details", {}).get("violations", [])
    patches = [violation["fixes"][0] for violation in violations if violation.get("fixes")]
    if not patches:
        return "no fix"
    # A missing name and the unknown name meant by it have the same patch.
    once = [patch for at, patch in enumerate(patches) if patch not in patches[:at]]
    try:
        mended = applied(case.sent, tuple(operation for patch in once for operation in patch))
    except LookupError:
        return "does not apply"
    reply = await caller.call(servers.tool_name(case), mended)
    if not reply.ran:
        return "refused again"
    if _answered(case, reply) == RIGHT:
        return "mended"
    changed = {tokens_of(operation["path"])[0] for patch in once for operation in patch}
    own = changed.intersection(differing(reply.arguments, case.row["expected_params"]))
    return "astray" if own else "astray, by what was sent elsewhere"


async def unknown_scores(cases: list[Case], middleware: Middleware | None) -> list[Score]:
    """Return the outcomes of invalid calls without a known answer on custom tools."""
    replies = await _replies(cases, middleware, "schema")
    return [
        Score(case, reply, "ran" if reply.ran else reply.outcome.split("_")[0].lower())
        for case, reply in zip(cases, replies, strict=True)
    ]
