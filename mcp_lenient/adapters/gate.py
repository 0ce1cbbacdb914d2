"""Decide about a call for any host: find the tool, ask its contract, record, and return the decision.

The host runs the tool with the decision's arguments, or answers with its refusal. This module knows no framework.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from mcp_lenient.adapters.allowance import Allowance, without_rules
from mcp_lenient.adapters.aside import decide_aside
from mcp_lenient.adapters.corrections import corrected
from mcp_lenient.adapters.dispatchers import (
    DispatcherDecision,
    inside,
    is_decided,
    stays_as_sent,
    together,
    worded,
)
from mcp_lenient.adapters.repeats import Caller, Refusals, caller_of
from mcp_lenient.adapters.settings import Operator
from mcp_lenient.adapters.source import ToolSource, ToolsUnknownError
from mcp_lenient.engine.contract import AS_SENT, Contract, Decision
from mcp_lenient.engine.tool import HostTool
from mcp_lenient.engine.tool_contracts import contract_of
from mcp_lenient.refusal.envelope import Again, error_code, refusal_result, unknown_again
from mcp_lenient.rules.dispatchers import Dispatcher, Via
from mcp_lenient.rules.rules import RENAME_TOOL
from mcp_lenient.telemetry.log import HostCall as HostCall  # noqa: PLC0414 - hosts import it from here
from mcp_lenient.types import Repair
from mcp_lenient.values.names import same_tool_name, tool_target

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.declare.policies import Policies
    from mcp_lenient.engine.reader import Plan
    from mcp_lenient.rules.policy import Policy, Unrepairable
    from mcp_lenient.telemetry.events import EventName

RENAMED_TOOL: Final = Repair(RENAME_TOOL, "", "string", "string")
_MOST: Final = 10_000
_MANY_ALIKE: Final = 3
"""Different calls with the same faults, after which the answer says so."""


class Gate:
    """Decide about the calls of a host, and record their outcomes.

    Args:
        policy: What may be repaired; the defaults of :class:`mcp_lenient.Policy` when left out.
        unrepairable: What happens to a call that cannot be repaired if no policy decides it.
        own_spans: Whether a call gets its own span if none is recorded yet.
        publishes: Whether the host lists schemas in the form of the policy.
        settings: The operator's other settings.

    Attributes:
        operator: The operator's settings in force.
        telemetry: Records outcomes.
        repeats: Remembers refused calls.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        unrepairable: Unrepairable = "forward",
        own_spans: bool = False,
        publishes: bool = False,
        **settings: Unpack[HostSettings],
    ) -> None:
        self.operator = Operator(policy, unrepairable=unrepairable, own_spans=own_spans, **settings)
        self._publishes = publishes
        self.telemetry = self.operator.telemetry
        self.repeats = self.operator.repeats

    def policy_for(self, tool: str) -> Policy:
        """Return the operator's policy for a tool name, without the author's declarations."""
        return self.operator.policies.named(tool)

    async def decide(
        self, call: HostCall, source: ToolSource, *, allowance: Allowance | None = None
    ) -> Decision:
        """Decide about one call and record the decision; the host acts on it.

        Args:
            call: The call.
            source: The tools of its host.
            allowance: How far the decision may change the call; None where nothing limits it. With one, refusals are left to
                :meth:`recorded`.
        """
        try:
            if await self.reload(source) or not source.compiled:
                await self._warn_of_unused(source)
            decision = await self._decide_once(call, source, allowance)
            if decision.name is None:
                return decision
            again = renamed(call, decision.name)
            return replace(await self._decide_once(again, source, allowance), name=decision.name)
        except ToolsUnknownError as error:
            reason = f"the server cannot list its tools: {type(error.__cause__).__name__}"
            self.telemetry.log.warn_once("hook_unavailable", "tools/list", reason)
            return AS_SENT

    async def reload(self, source: ToolSource) -> bool:
        """Load a changed definitions file, if it is valid and does not contradict a tool; return whether it applies."""
        return await self.operator.reload(partial(self.check, source))

    async def _decide_once(self, call: HostCall, source: ToolSource, allowance: Allowance | None) -> Decision:
        """Decide about one call by the name that it was made under, and record the decision."""
        decision = await self.decide_unrecorded(call, source, allowance=allowance)
        is_open = decision.name is not None or decision.contract is None
        if is_open or (allowance is not None and decision.fate == "refused"):
            return decision
        return await self.recorded(call, decision)

    async def decide_unrecorded(
        self,
        call: HostCall,
        source: ToolSource,
        *,
        rejected_by: Contract | None = None,
        allowance: Allowance | None = None,
    ) -> Decision:
        """Decide about one call by the name that it was made under, and about the call inside it, without recording that.

        Args:
            call: The call.
            source: The tools of its host.
            rejected_by: The contract that is known to reject the arguments, as it was compiled last.
            allowance: How far the decision may change the call; None where nothing limits it.
        """
        decision = await self.decide_one(call, source, rejected_by)
        if decision.name is not None or decision.contract is None:
            return decision
        if allowance is not None:
            decision = allowance.limited(decision)
        dispatcher = cast("Contract", decision.contract).policy.dispatches
        if dispatcher is not None and decision.mode == "repair":
            decision = await self._with_inner(call, source, decision, dispatcher, allowance)
        return decision

    async def decide_one(
        self, call: HostCall, source: ToolSource, rejected_by: Contract | None = None, *, fresh: bool = False
    ) -> Decision:
        """Decide about one call by the name that it was made under, without recording the decision.

        Args:
            call: The call.
            source: The tools of its host.
            rejected_by: The contract that is known to reject the arguments, as it was compiled last.
            fresh: Whether its tool is looked up again in any case.
        """
        contract = rejected_by
        if contract is None:
            tool = await source.tool(call.name, fresh=fresh)
            if tool is None and not fresh:
                tool = await source.tool(call.name, fresh=True)
            if tool is None:
                return await self._not_found(call, source)
            contract = self.compiled(tool, source.compiled)
        decision = await decide_aside(contract, call.arguments, is_rejected=rejected_by is not None)
        if decision.status == "accepted":
            return decision
        # A call is never changed or refused by the schema of a tool that has since been replaced.
        latest = await source.tool(call.name, fresh=True)
        if latest is None:
            return await self._not_found(call, source)
        again = self.compiled(latest, source.compiled)
        return decision if again is contract else await decide_aside(again, call.arguments)

    async def _with_inner(
        self,
        call: HostCall,
        source: ToolSource,
        outer: Decision,
        dispatcher: Dispatcher,
        allowance: Allowance | None,
    ) -> Decision:
        """Return the decision about a dispatcher's call with that about the call inside it; unchanged if nothing is known of that."""
        contract = cast("Contract", outer.contract)
        if outer.status == "accepted":
            author_arguments = contract.read_back(outer.arguments)
            outer = outer if author_arguments is None else replace(outer, arguments=author_arguments)
        sent, tools = inside(dispatcher, call.arguments, outer), source.inside(contract.tool, dispatcher)
        is_unseen = allowance is None or allowance.is_unseen
        if sent is None or tools is None or (sent.is_flat and not is_unseen):
            return outer
        tools.may_rename = is_unseen
        repairs = (*call.repairs, *sent.repairs)
        via = Via(call.name, dispatcher, contract.tool.has_output_schema)
        inner_call = replace(call, name=sent.name, arguments=sent.arguments, repairs=repairs, via=via)
        inner = await self.decide_one(inner_call, tools, fresh=outer.status != "accepted")
        if inner.name is not None:
            inner_call = renamed(inner_call, inner.name)
            inner = await self.decide_one(inner_call, tools)
        if allowance is not None:
            inner = allowance.inside(sent.arguments).limited(inner)
        if stays_as_sent(sent, outer, inner, tools):
            return without_rules(outer, call.arguments)
        if not is_decided(sent, inner):
            return outer
        decision = together(outer, call, sent, inner, inner_call, tools)
        is_barred = allowance is not None and inner.contract is not None and allowance.says_other(decision)
        return without_rules(outer, call.arguments) if is_barred else decision

    def decide_at_once(
        self,
        call: HostCall,
        tool: HostTool,
        contracts: dict[Any, Contract],
        allowance: Allowance | None = None,
    ) -> Decision:
        """Decide about a call whose tool is known, in this thread.

        Args:
            call: The call.
            tool: Its current tool.
            contracts: Those compiled so far; that of this tool is added.
            allowance: How far the decision may change the call; None where nothing limits it.
        """
        self.operator.reload_at_once()
        decision = self.compiled(tool, contracts).decide(call.arguments)
        decision = decision if allowance is None else allowance.limited(decision)
        if decision.status != "refused":
            self.forget_at_once(call.name, call.who)
        return self._recorded_at_once(call, decision)

    async def recorded(self, call: HostCall, decision: Decision) -> Decision:
        """Record a decision, as servers do that share what they have refused; a refusal gets its result."""
        if isinstance(decision, DispatcherDecision):
            if decision.is_recorded_below:
                return decision
            inner = decision.inner
            if inner.contract is None:
                return replace(decision, refusal=inner.refusal or (inner.if_unknown and inner.if_unknown()))
            inner = await self.recorded(decision.call, inner)
            return replace(decision, inner=inner, refusal=inner.refusal)
        if decision.status != "refused":
            await self.forget(call.name, call.who)
        elif decision.mode == "repair":
            who = call.who()
            call, caller = replace(call, who=partial(dict, who)), caller_of(who)
            contract = decision.contract
            if caller is not None and contract is not None and contract.policy.repeats:
                await self.repeats.recall(caller, call.name)
                recorded = self._recorded_at_once(call, decision)
                await self.repeats.save(caller, call.name)
                return recorded
        return self._recorded_at_once(call, decision)

    async def ran(self, call: HostCall, decision: Decision) -> None:
        """Record the decision of :func:`as_run` about a call that was passed on, once it is known what has run."""
        if isinstance(decision, DispatcherDecision):
            if decision.is_recorded_below:
                return
            call = replace(decision.call, started=call.started)
            decision = as_run(call, decision.inner)
        self._record_passed_on(call, decision)
        if decision.status != "refused":
            await self.forget(call.name, call.who)

    def _recorded_at_once(self, call: HostCall, decision: Decision) -> Decision:
        """Record a decision; return it with what the host does: run with other arguments, answer, or pass on as sent."""
        contract = decision.contract
        if contract is not None and decision.after(call.repairs).fate == "refused":
            return self._record_refusal(call, decision, contract)
        decision = as_run(call, decision)
        self._record_passed_on(call, decision)
        return decision

    def _record_passed_on(self, call: HostCall, decision: Decision) -> None:
        contract, fate = decision.contract, decision.fate
        if fate == "off" or contract is None:
            return
        self._append_to_recording(call, contract)
        if fate != "accepted":
            self.record(call, decision)
        elif self.telemetry.count_accepted(call.name, call.started, call.sent, decision.mode):
            self.write_accepted(call, contract)

    def _record_refusal(self, call: HostCall, decision: Decision, contract: Contract) -> Decision:
        self._append_to_recording(call, contract)
        decision = replace(decision, tool=call.name, repairs=(*call.repairs, *decision.repairs))
        faults = sorted({(fault.pointer, fault.code) for fault in decision.violations})
        times = self._times(call, contract.policy, error_code(decision.violations), faults)
        self.record(call, decision, repeated=times.same)
        corrections = corrected(contract, call.arguments, decision.violations) if times.same > 1 else ()
        if call.via is not None and call.via.dispatcher is not None:
            call_with = partial(call.via.dispatcher.call, call.name, rest={})
            corrections = tuple(map(call_with, corrections))
        refusal = contract.refusal(decision, _again(times, corrections))
        return replace(decision, refusal=worded(refusal, call, contract.policy.language))

    def _append_to_recording(self, call: HostCall, contract: Contract) -> None:
        if self.operator.recording is not None:
            self.operator.recording.write(contract.plan, contract.tool.schema, call.arguments)

    def write_accepted(self, call: HostCall, contract: Contract) -> None:
        """Log a call that the tool accepts as it was sent."""
        placed_call, _ = _placed(call, contract)
        self.telemetry.write_accepted(placed_call, contract.plan)

    def forget_at_once(self, tool: str, who: Callable[[], Mapping[str, str | None]]) -> Caller | None:
        """Forget a caller's refused calls of a tool, after a call of it that runs; return the caller if there were any."""
        caller = caller_of(who()) if self.repeats.knows(tool) else None
        return caller if caller is not None and self.repeats.forget(caller, tool) else None

    async def forget(self, tool: str, who: Callable[[], Mapping[str, str | None]]) -> None:
        """Forget a caller's refused calls of a tool, on other servers too, after a call of it that runs."""
        caller = self.forget_at_once(tool, who)
        if caller is not None:
            await self.repeats.save(caller, tool)

    def _times(
        self, call: HostCall, policy: Policy, code: str, faults: Any = (), *, exists: bool = True
    ) -> Refusals:
        """Count a refused call, and return how often its caller was refused; once where nothing identifies the caller."""
        caller = caller_of(call.who()) if policy.repeats else None
        if caller is None:
            return Refusals()
        return self.repeats.count(caller, call.name, code, call.arguments, faults, exists=exists)

    async def _not_found(self, call: HostCall, source: ToolSource) -> Decision:
        """Find the tool that a name in another spelling means; otherwise refuse the call, or forward it."""
        names = await source.names()
        may_rename = names is not None and source.may_rename
        similar = await self.similar_tool(call.name, names or (), source) if may_rename else None
        if similar is not None:
            renamed = replace(similar.accepted({}), repairs=(RENAMED_TOOL,), name=similar.tool.name)
            if renamed.fate != "observed":
                return renamed
            self.record(call, renamed)
            return AS_SENT
        unknown = Decision("refused", {}, mode=self.policy_for(call.name).mode, tool=call.name)
        if_unknown = partial(self._unknown, call, unknown, source, names or ())
        if source.certain_names is None:
            return replace(unknown, if_unknown=if_unknown)
        is_certain = source.certain_names or self.policy_for(call.name).unrepairable == "refuse"
        return replace(unknown, refusal=if_unknown()) if is_certain else AS_SENT

    async def similar_tool(self, name: str, names: Collection[str], source: ToolSource) -> Contract | None:
        """Return the listed tool that a name in another spelling means, as far as its policy allows."""
        target = None if name in names else tool_target(name, names, source.server_names)
        tool = None if target is None else await source.tool(target.name, fresh=True)
        if tool is None or target is None:
            return None
        listed = self.compiled(tool, source.compiled)
        if listed.mode == "off" or listed.plan.destructive or not listed.policy.allows(RENAMED_TOOL.rule):
            return None
        is_there = target.upstream is None or same_tool_name(target.upstream, "".join(tool.mounted[:1]))
        return listed if is_there else None

    async def hidden(self, call: HostCall, source: ToolSource) -> dict[str, Any] | None:
        """Return the refusal of a tool that others hide, as of one that is not there."""
        decision = Decision("refused", {}, mode=self.policy_for(call.name).mode, tool=call.name)
        return self._unknown(call, decision, source, await source.names() or ())

    def _unknown(
        self, call: HostCall, decision: Decision, source: ToolSource, names: Collection[str]
    ) -> dict[str, Any] | None:
        """Record a call of an unknown tool, and return its refusal; None if the host's own answer stands."""
        if decision.fate == "off":
            return None
        policy = self.policy_for(call.name)
        answer = source.unknown(call.name, names, policy.language)
        code = answer["error_code"]
        if decision.fate == "observed":
            self.record(call, decision, code=code)
            return None
        is_counted = code == "UNKNOWN_TOOL"
        times = self._times(call, policy, code, exists=False) if is_counted else Refusals()
        self.record(call, decision, code=code, repeated=times.same)
        again = _again(times)
        answer = answer if again is None else unknown_again(answer, again, policy.language)
        return worded(refusal_result(answer, has_output_schema=False), call, policy.language)

    def compiled(self, tool: HostTool, contracts: dict[Any, Contract]) -> Contract:
        """Return a tool with its contract, which is compiled again only if the tool or its policy has changed."""
        policies, key = self.operator.policies, tool.key or tool.name
        cached = contracts.get(key)
        if cached is not None and cached.policies is policies and cached.tool == tool:
            return cached
        if len(contracts) >= _MOST:
            contracts.pop(next(iter(contracts)), None)
        warn = self.telemetry.log.warn_once
        contracts[key] = contract_of(tool, policies, warn, publishes=self._publishes)
        return contracts[key]

    async def check(self, source: ToolSource, policies: Policies | None = None) -> None:
        """Compare a definitions file with the tools of a host.

        Args:
            source: The tools.
            policies: The policies from the file; those in force when left out.

        Raises:
            DefinitionError: When it contradicts a function.
        """
        applied = self.operator.policies if policies is None else policies
        for name in applied.stated:
            try:
                tool = await source.tool(name, fresh=False) or await source.tool(name, fresh=True)
            except ToolsUnknownError:
                return  # the file applies before the tools are known, as when the host starts
            if tool is not None and tool.name == name:
                contract_of(tool, applied, self.telemetry.log.warn_once)

    async def _warn_of_unused(self, source: ToolSource) -> None:
        """Log what the operator declares of tools that do not exist, if the host can list its tools."""
        policies = self.operator.policies
        names = await source.names() if policies.names_tools else None
        if names is None:
            return
        schemas: dict[str, Mapping[str, Any]] = {name: {} for name in names}
        declared = policies.definitions.names if policies.definitions is not None else {}
        for name in declared.keys() & schemas.keys():
            tool = await source.tool(name, fresh=False)
            schemas[name] = {} if tool is None else tool.schema
        self.operator.warn_of_unused(schemas)

    def record(self, call: HostCall, decision: Decision, **facts: Any) -> None:
        """Record what becomes of a call."""
        placed_call, plan = _placed(call, decision.contract)
        self.telemetry.record_decision(placed_call, plan, decision, **facts)

    def record_event(self, event: EventName, call: HostCall, contract: Contract | None, **facts: Any) -> None:
        """Record what happened to a call after the decision; None is a tool that does not exist."""
        placed_call, plan = _placed(call, contract)
        self.telemetry.record(event, placed_call, plan, **facts)


def _again(times: Refusals, corrections: tuple[Mapping[str, Any], ...] = ()) -> Again | None:
    if times.same > 1:
        return Again(times.same, corrections)
    return Again(times.alike, is_alike=True) if times.alike >= _MANY_ALIKE else None


def renamed(call: HostCall, tool: str) -> HostCall:
    """Return a call by the tool's right name, and with the repair of its name."""
    return replace(call, name=tool, repairs=(*call.repairs, RENAMED_TOOL))


def as_run(call: HostCall, decision: Decision) -> Decision:
    """Return a decision with what the host passes on: the repaired arguments, or the call as it was sent."""
    fate = decision.after(call.repairs).fate
    if decision.contract is None or fate in ("off", "refused") or isinstance(decision, DispatcherDecision):
        return decision
    if fate == "accepted":
        return _as_sent(call, decision)
    # What was repaired of the arguments of a forwarded call is not sent.
    repairs = call.repairs if fate == "forwarded" else (*call.repairs, *decision.repairs)
    decision = replace(decision, tool=call.name, repairs=repairs, replaces=fate == "repaired")
    return decision if fate == "repaired" else _as_sent(call, decision)


def _as_sent(call: HostCall, decision: Decision) -> Decision:
    """Return a decision whose tool gets what was sent, in the author's form."""
    contract = decision.contract
    author_arguments = None if contract is None else contract.read_back(call.arguments)
    if author_arguments is not None:
        return replace(decision, arguments=author_arguments, replaces=True)
    return decision if decision.arguments is call.arguments else replace(decision, arguments=call.sent)


def _placed(call: HostCall, contract: Contract | None) -> tuple[HostCall, Plan | None]:
    """Return a call whose event says where its tool is mounted and the form of its schema, and the tool's plan."""
    mounted = () if contract is None else contract.tool.mounted
    facts = {"mounted": "/".join(mounted)} if mounted else {}
    if contract is not None and contract.form is not None:
        facts["form"] = contract.form
    if call.via is not None:
        facts["via"] = call.via.tool
    placed = replace(call, who=lambda: {**call.who(), **facts}) if facts else call
    return placed, None if contract is None else contract.plan
