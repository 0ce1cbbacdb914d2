"""Explain what would happen to a call, step by step, without running the tool, and what a log line means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal

from fastmcp import Context, FastMCP

from mcp_lenient.adapters.fastmcp.middleware import LenientMiddleware
from mcp_lenient.adapters.fastmcp.standing import judged_by
from mcp_lenient.adapters.fastmcp.tools import find_target
from mcp_lenient.adapters.gate import RENAMED_TOOL
from mcp_lenient.devtools.explain.masking import Mask, node_below
from mcp_lenient.devtools.explain.trace import Proposal, Trace, ValidatorAnswer, closest
from mcp_lenient.devtools.explain.unapplied import as_guard, barred, stop_of, unapplied, words_of
from mcp_lenient.devtools.report.advice import WORDS
from mcp_lenient.devtools.rule_catalogue import FAMILY_OF
from mcp_lenient.engine.contract import Contract, Decision, Fate
from mcp_lenient.engine.reader import Plan
from mcp_lenient.refusal.envelope import envelope, unknown_tool
from mcp_lenient.refusal.locations import RefusedCall
from mcp_lenient.refusal.sentences import describe, description
from mcp_lenient.rules import ABSENT, NameRule, Rule
from mcp_lenient.rules.rules import TIER_OF
from mcp_lenient.schema.node import Node, Tree
from mcp_lenient.telemetry.events import CallEvent, RepairRecord, event_parts
from mcp_lenient.types import Fault, Repair
from mcp_lenient.values.display import cut, shown
from mcp_lenient.values.json_values import pointer, tokens_of
from mcp_lenient.values.language import Language
from mcp_lenient.values.names import near, tool_target

__all__ = ["RUNS", "Explanation", "Step", "explain", "explain_event"]

Explained = Fate | Literal["logged"]
"""What would become of a call, as in a :class:`mcp_lenient.Decision`. ``logged``: it is past, and known only from the log."""
RUNS: Final[frozenset[Explained]] = frozenset({"accepted", "repaired", "forwarded", "observed", "off"})
"""The fates of calls that reach the tool."""
_LONGEST: Final = 240
_LONGEST_LINE: Final = 10_000


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a title and its lines."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one call.

    Attributes:
        tool: The tool that is called.
        fate: What happens to the call.
        steps: Why.
        arguments: What the tool would get; None if it would not run.
        repairs: What would be changed.
        envelope: The refusal that the caller would get; None if the tool would run.
        masked: The arguments without secrets.
    """

    tool: str
    fate: Explained
    steps: tuple[Step, ...]
    arguments: Any = field(default=None, repr=False)
    repairs: tuple[Repair, ...] = ()
    envelope: Mapping[str, Any] | None = None
    masked: Any = None

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON, without secrets."""
        return {
            "tool": self.tool,
            "fate": self.fate,
            "steps": [{"title": step.title, "lines": list(step.lines)} for step in self.steps],
            "arguments": self.masked,
            "repairs": [repair._asdict() for repair in self.repairs],
            "envelope": self.envelope,
        }

    def __str__(self) -> str:
        numbered = enumerate(self.steps, 1)
        return "\n".join("\n   ".join((f"{at}. {step.title}", *step.lines)) for at, step in numbered)


def _step(title: str, *lines: str) -> Step:
    """Make a step that is safe to print."""
    return Step(shown(title, _LONGEST_LINE), tuple(shown(line, _LONGEST_LINE) for line in lines))


def _tool_name(name: str) -> str:
    return shown(name, _LONGEST)


def _in_words(value: Any) -> str:
    """Return a value as one short line of JSON; "left out" if absent."""
    if value is ABSENT:
        return "left out"
    try:
        return cut(shown(json.dumps(value, ensure_ascii=False, default=repr), 4 * _LONGEST), _LONGEST)
    except (ValueError, RecursionError):
        return "a value that cannot be shown"


def _where(pointer: str) -> str:
    """Return a JSON Pointer for use in a sentence."""
    return shown(pointer, _LONGEST) or "the arguments as a whole"


_MOST_LINES = 60


async def explain(server: FastMCP, tool: str, sent: Any, *, guards: bool = True) -> Explanation:
    """Explain what would happen to a call, step by step. The tool is not run; authors' validators are.

    A tool without a LenientMiddleware is explained with the default one. The steps contain no secrets.

    Args:
        server: The server; call this while a client is connected to it.
        tool: The tool's name.
        sent: The arguments as sent, however wrong: a string, a list, nothing.
        guards: Whether to say of each rule that does not apply what stops it, and of each that is not asked why.
    """
    async with Context(fastmcp=server):
        host_tool = await server.get_tool(tool)
        if host_tool is None:
            return await _of_unknown(server, tool, sent, guards=guards)
        validators = await judged_by(server, await find_target(server, host_tool))
        contract = validators[0] if validators else await LenientMiddleware().contract_for(server, tool)
    if contract is None:
        return await _of_unknown(server, tool, sent, guards=guards)
    return _Explainer(tool, contract, is_protected=bool(validators), guards=guards).explain(sent)


async def _of_unknown(server: FastMCP, tool: str, sent: Any, *, guards: bool) -> Explanation:
    """Explain a call of a tool that the server does not have: that of the one with another spelling, if it is repaired."""
    lenient = (entry for entry in server.middleware if isinstance(entry, LenientMiddleware))
    middleware, called = next(lenient, None) or LenientMiddleware(), _tool_name(tool)
    renamed, rule = await middleware.similar_tool(server, tool), RENAMED_TOOL.rule
    if renamed is not None:
        name = _tool_name(renamed.tool.name)
        words = f"{rule}: {called} is {name} in another spelling. The call starts again under this name."
        if renamed.mode == "observe":
            step = _step(
                "The name of the tool", words, "The policy only observes: the call goes on as it was sent."
            )
            return Explanation(tool, "observed", (step,), sent, repairs=(RENAMED_TOOL,))
        explained = await explain(server, renamed.tool.name, sent, guards=guards)
        fate: Explained = "repaired" if explained.fate == "accepted" else explained.fate
        steps = (_step("The name of the tool", words), *explained.steps)
        return replace(
            explained, tool=tool, fate=fate, steps=steps, repairs=(RENAMED_TOOL, *explained.repairs)
        )
    names = {listed.name for listed in await server.list_tools()}
    lines = [f"The server has {', '.join(map(_tool_name, sorted(names))) or 'no tools at all'}."]
    target = tool_target(tool, names, [server.name])
    contract = None if target is None else await middleware.contract_for(server, target.name)
    if contract is not None and contract.plan.destructive:
        name = _tool_name(contract.tool.name)
        lines.append(f"{called} is {name} in another spelling, but {rule} never acts on a destructive tool.")
    decision = Decision("refused", {}, mode=middleware.policy_for(tool).mode, tool=tool)
    answer = unknown_tool(tool, near(tool, names), names) if decision.fate == "refused" else None
    if answer is None:
        lines.append(f"The server's own answer stands: the policy's mode is {decision.mode!r}.")
    return Explanation(tool, decision.fate, (_step("There is no such tool.", *lines),), envelope=answer)


class _Explainer:
    def __init__(self, tool: str, contract: Contract, *, is_protected: bool, guards: bool) -> None:
        self.tool = tool
        self.contract = contract
        self.mask = Mask(contract)
        self.guards = guards
        self.is_protected = is_protected
        self.steps: list[Step] = []
        self.tiers = {**TIER_OF, **{rule.name: rule.tier for rule in contract.policy.rules}}

    def explain(self, sent: Any) -> Explanation:
        """Follow the call as the middleware would."""
        contract = self.contract
        self._step("The validator", *self._judged_by())
        if contract.plan.tree.unread:
            what = "repaired" if contract.certain else "validated or repaired"
            lines = (f"{_where(place)}: {reason}" for place, reason in contract.plan.tree.unread.items())
            self._step(f"Parts of the schema that are not {what}", *lines)
        if contract.mode == "off":
            words = "The policy's mode is off: the call goes on as it was sent."
            return self._end("off", words, arguments=sent)
        trace = Trace()
        decision, is_object = contract.decide(sent, trace), sent is None or isinstance(sent, Mapping)
        if not is_object:
            self._step(*self._reading(decision, trace))
        if decision.status == "accepted":
            words = "Nothing: the tool accepts the arguments as sent, so no rule is tried."
            self._step("What is wrong", words)
        elif is_object or decision.repairs:
            self._on_decision(trace)
        return self._outcome(sent, decision)

    def _reading(self, decision: Decision, trace: Trace) -> tuple[str, str]:
        """Return what became of arguments that are not an object."""
        if not decision.repairs:  # each that was read is a repair
            return "The arguments are not an object", decision.violations[0].message
        rule = decision.repairs[0].rule
        arguments = trace.answers[0].arguments if trace.answers else decision.arguments
        words = f"{rule} (tier {self.tiers[rule]}) reads it as {_in_words(self.mask.value(arguments))}"
        return "The arguments came as a text", words

    def _judged_by(self) -> Iterator[str]:
        contract = self.contract
        if contract.certain:
            yield f"{_tool_name(self.tool)}'s own function: its types, as FastMCP validates them."
        else:
            yield f"The schema that {_tool_name(self.tool)} publishes; its own validator cannot be reached."
        if not self.is_protected:
            yield "This tool has no LenientMiddleware; this is what it would do."
        if contract.plan.destructive:
            yield (
                "The tool is destructive, so only rules that keep every value may act: those of tiers 1 and 2, and of "
                "the others those that check each result, such as unwrap_arguments."
            )
        if contract.normalizers:
            yield f"The author declares normalizers for {', '.join(contract.normalizers)}; they run first."

    def _on_decision(self, trace: Trace) -> None:
        """Explain how the engine came to repair or refuse."""
        first, *later = trace.answers
        self._step("What is wrong", *(self._fault(fault, first.arguments) for fault in first.faults))
        proposals = [self._masked(proposal) for proposal in trace.proposals.values()]
        self._step("What the rules propose", *self._proposed(proposals, trace))
        not_applied = [*self._not_applied(trace)] if self.guards else []
        if not_applied:
            self._step("What stops each rule", *not_applied)
        if later:
            # After one that it accepts, it is only asked whether it would accept other values too.
            count = next((at for at, answer in enumerate(later, 1) if answer.accepted), len(later))
            lines = (
                f"{'accepts' if answer.accepted else 'refuses'} {_in_words(self.mask.value(answer.arguments))}"
                for answer in later[:count]
            )
            self._step("What the validator says of the best proposals", *lines)
        self._step("The choice", *self._choice(trace, proposals))

    def _where(self, place: str) -> str:
        return _where(self.mask.place(place))

    def _masked(self, proposal: Proposal) -> Proposal:
        if isinstance(proposal.rule, NameRule) or proposal.after is ABSENT:
            return proposal
        return replace(proposal, after=self.mask.value(proposal.after, proposal.pointer))

    def _fault(self, fault: Fault, arguments: Mapping[str, Any]) -> str:
        why = self.mask.reason(fault, arguments)
        reason = f" ({why})" if why else ""
        return f"{self._where(pointer(fault.path))}: {_FAULTS[fault.kind]}{reason}"

    def _proposed(self, proposals: list[Proposal], trace: Trace) -> Iterator[str]:
        for proposal in proposals:
            yield f"{self._where(proposal.pointer)}: {_titled(proposal.rule)} {_read_as(proposal)}"
        plan, first, unread = self.contract.plan, trace.answers[0], trace.unread()
        refused = RefusedCall(plan.top, first.arguments, plan.policy)
        read = {step.pointer for step in proposals}
        for path in dict.fromkeys(fault.path for fault in first.faults[:_MOST_LINES] if not fault.of_name):
            where = pointer(path)
            rivals = [] if where in read else [*barred(plan, refused.location(path))]
            if rivals:
                unread[where] = closest([unread.get(where, rivals[0]), *rivals])
        if not proposals and not unread:
            yield f"Nothing: {_silence(plan)}."
        for proposal in map(self._masked, unread.values()):
            why = f"{_titled(proposal.rule)} comes closest: {_stop(proposal)}"
            yield f"{self._where(proposal.pointer)}: no rule applies. {why}"

    def _not_applied(self, trace: Trace) -> Iterator[str]:
        for pointers, rules in unapplied(self.contract.plan, trace):
            yield f"{', '.join(map(self._where, pointers))}:"
            yield from (f"  {why}: {', '.join(named)}" for why, named in rules.items())

    def _choice(self, trace: Trace, proposals: list[Proposal]) -> Iterator[str]:
        outcome, tiers = trace.outcome, self.tiers
        ties = [fault for fault in outcome.faults if fault.kind == "ambiguous"]
        for tie in ties:
            place = pointer(tie.path)
            yield f"{self._where(place)}: {len(tie.readings)} readings are equally likely, so none is used:"
            yield from (f"  {_in_words(self.mask.value(value, place))}" for value in tie.readings)
        verb = "repaired" if outcome.status == "repaired" else "would be repaired"
        used = {(repair.rule, repair.pointer) for repair in outcome.repairs}
        unused = [proposal for proposal in proposals if (proposal.rule.name, proposal.pointer) not in used]
        for repair in outcome.repairs:
            yield f"{self._where(repair.pointer)}: {verb} by {repair.rule} (tier {tiers[repair.rule]})"
            yield from _beaten(repair, unused, tiers)
        if outcome.status == "repaired":
            yield "It is the only reading of the lowest tier. Higher tiers are not tried."
        elif not ties:
            if any(fault.kind == "overlooked" for fault in outcome.faults):
                yield "The tool accepts that, but would ignore part of it:"
            else:
                reasons = [*self._reasons(trace)]
                yield from reasons
                yield _still_wrong(
                    trace.answers[1:], has_proposals=bool(proposals), has_reasons=bool(reasons)
                )
            yield from (f"  {self._fault(fault, outcome.arguments)}" for fault in outcome.faults)

    def _reasons(self, trace: Trace) -> Iterator[str]:
        """Say of the values and names that are still wrong why a reading of them is not used."""
        wrong = {pointer(fault.path) for fault in trace.answers[0].faults}
        repaired = {repair.pointer for repair in trace.outcome.repairs}
        for where, obstacle in trace.unused.items():
            if where in wrong - repaired:
                yield f"{self._where(where)}: no reading is used: {words_of(as_guard(obstacle))}."

    def _outcome(self, sent: Any, decision: Decision) -> Explanation:
        fate, repairs, violations = decision.fate, decision.repairs, decision.violations
        declared = [repair for repair in repairs if repair.rule not in self.tiers]
        if declared:
            lines = (f"{repair.rule} changes {self._where(repair.pointer)}" for repair in declared)
            self._step("What the author declared", *lines)
        if fate == "observed":
            words = "The policy only observes: the call goes on as it was sent."
            return self._end(fate, words, arguments=sent, repairs=repairs)
        if fate == "forwarded":
            words = "It goes on as it was sent: the tool may take more than it publishes (unrepairable='forward')."
            return self._end(fate, words, *(violation.message for violation in violations), arguments=sent)
        if fate == "refused":
            contract = self.contract
            answer = envelope(
                self.tool, contract.plan.top, violations, repairs, language=contract.policy.language
            )
            words = "The tool is not run; the caller gets the envelope."
            return self._end(fate, words, repairs=repairs, envelope=answer)
        words = f"{_tool_name(self.tool)} runs with {_in_words(self.mask.value(decision.arguments))}"
        return self._end(fate, words, arguments=dict(decision.arguments), repairs=repairs)

    def _step(self, title: str, *lines: str) -> None:
        rest = len(lines) - _MOST_LINES
        shown_lines = lines if rest <= 0 else (*lines[:_MOST_LINES], f"… and {rest} more")
        self.steps.append(_step(title, *shown_lines))

    def _end(self, fate: Explained, *lines: str, arguments: Any = None, **fields: Any) -> Explanation:
        self._step("The outcome", *lines)
        masked = self.mask.value(arguments)
        return Explanation(self.tool, fate, tuple(self.steps), arguments, masked=masked, **fields)


_FAULTS = {
    "type": "the type is wrong",
    "value": "the value is not allowed",
    "missing": "is required but missing",
    "unknown": "is not a declared name",
    "overlooked": "may be a misspelled declared name, which the tool would ignore",
    "key": "is not a key that the tool accepts here",
    "ambiguous": "has several readings",
    "size": "is too large or too deeply nested to be checked",
}


def _silence(plan: Plan) -> str:
    policy = plan.policy
    if not policy.rules:
        return "the policy has no rules, like Policy.strict()"
    disabled = [rule.name for rule in policy.rules if not policy.allows(rule.name)]
    if len(disabled) == len(policy.rules):
        return "the policy disables all of its rules"
    if disabled:
        return f"no rule that the policy allows applies; it disables {', '.join(disabled)}"
    return "no rule applies"


def _still_wrong(answers: Sequence[ValidatorAnswer], *, has_proposals: bool, has_reasons: bool) -> str:
    if not has_proposals:
        return "There is no reading. Still wrong:"
    if answers and not any(answer.accepted for answer in answers):
        return "The validator accepts none of the readings. Still wrong:"
    return "Still wrong:" if has_reasons else "There is no reading of the whole call. Still wrong:"


def _titled(rule: Rule) -> str:
    return f"{rule.name} (tier {rule.tier})"


def _read_as(proposal: Proposal) -> str:
    if isinstance(proposal.rule, NameRule):
        return f"reads the name as {_in_words(proposal.after)}"
    if proposal.after is ABSENT:
        return "leaves it out"
    fits = "" if proposal.fits else ", which does not fit as it is"
    return f"reads it as {_in_words(proposal.after)}{fits}"


def _stop(proposal: Proposal) -> str:
    reading = "" if proposal.guard is None else f"it {_read_as(replace(proposal, fits=True))}, but "
    return f"{reading}{stop_of(proposal)}."


def _beaten(winner: Repair, proposals: list[Proposal], tiers: Mapping[str, int]) -> Iterator[str]:
    tier = tiers[winner.rule]
    for proposal in proposals:
        if proposal.pointer == winner.pointer and proposal.fits and proposal.rule.tier > tier:
            yield f"  closer to what was sent than {_in_words(proposal.after)} by {_titled(proposal.rule)}"


_EVENTS: Final = {
    "call_repaired": "The call was repaired and passed on.",
    "call_rejected": "The call was refused with the envelope; the tool was not run.",
    "call_accepted": "The tool accepted the call as sent.",
    "call_observed": "The call went on as it was sent; this is what repair mode would have done.",
    "call_forwarded": "The call could not be repaired, and went on as it was sent.",
    "call_refused_upstream": "The call went on to the server behind the proxy, which refused its arguments.",
    "call_unanswered": "The call went on to the server behind the proxy, which did not answer.",
    "call_failed": "The tool was run, and its own code raised an exception.",
}


async def explain_event(server: FastMCP, event: CallEvent, *, guards: bool = True) -> Explanation:
    """Explain a log line: where, by which rule, and what was likely sent.

    Args:
        server: The server with the tool; call this while a client is connected to it.
        event: The event, from :func:`mcp_lenient.telemetry.events.read_event`.
        guards: Whether to name the guards of each rule.
    """
    async with Context(fastmcp=server):
        tool = await server.get_tool(event.tool)
    fields = event.model_dump(mode="json", exclude_defaults=True)
    parts = event_parts(fields, today=datetime.min)  # noqa: DTZ901 - another day, so that the date is shown
    steps = [_step("What was logged", " ".join(text for text, _ in parts), _EVENTS[event.event])]
    if tool is None:
        steps.append(_step("The tool", f"The server has no tool {_tool_name(event.tool)} (any more)."))
    top = Tree({} if tool is None else tool.parameters).top
    steps += [
        _step(f"Repaired at {_where(repair.pointer)}", *_repaired(top, repair, guards=guards))
        for repair in event.repairs
    ]
    for violation in event.violations:
        _, wrong, remedy = WORDS[violation.code]
        words = f"{violation.code}. Likely sent: {wrong}. {remedy}"
        place = _place_words(top, violation.pointer)
        steps.append(_step(f"Wrong at {_where(violation.pointer)}", words, *place))
    return Explanation(event.tool, "logged", tuple(steps))


def _repaired(top: Node, repair: RepairRecord, *, guards: bool) -> Iterator[str]:
    rule, change = repair.rule, f"{repair.before} to {repair.after}"
    family = FAMILY_OF.get(rule)
    if family is None:
        yield f"{rule}: {change}; declared by the author or operator."
    else:
        yield f"{rule} (tier {TIER_OF[rule]}): {change}."
        yield f"Likely sent: {family.rules[rule]}."
        if guards:
            yield f"Its guards: {family.unless}."
    yield from _place_words(top, repair.pointer)


def _place_words(top: Node, pointer: str) -> Iterator[str]:
    """Describe a place by the current schema, which may have changed since the call."""
    tokens = tokens_of(pointer)
    here = _node_at(top, tokens)
    if here is not None:
        words = describe(here, Language())
        yield f"The schema expects {words} there." if words else "The schema takes anything there."
        about = description(here)
        if about:
            yield f"Its description: {about}"
    elif tokens:
        around = _node_at(top, tokens[:-1])
        names = around.names if around else ()
        likely = near(tokens[-1], names)
        nearest = f"; the nearest is {Language().either(likely[:3])}" if likely else ""
        words = f"declares no such name{nearest}" if names else "does not describe this place"
        yield f"The schema {words}."


def _node_at(top: Node, tokens: list[str]) -> Node | None:
    here: Node | None = top
    for token in tokens:
        here = node_below(here, token)
    return here
