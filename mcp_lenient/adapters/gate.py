"""Decide about a call for any host: find the tool, decide, record, and return a verdict.

The host runs the tool with the verdict's arguments, or answers with its refusal. This module knows no framework.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio.to_thread

from mcp_lenient.adapters.published import PublishedContract
from mcp_lenient.adapters.repeats import caller_of
from mcp_lenient.adapters.settings import Operator
from mcp_lenient.declare.declared import Declared, with_types
from mcp_lenient.declare.decorator_metadata import combined
from mcp_lenient.engine.contract import Decision, ToolContract
from mcp_lenient.engine.declared import NormalizedArguments, NormalizingValidator
from mcp_lenient.engine.ignored import wrapped_away
from mcp_lenient.engine.raw_arguments import arguments_in_text, not_an_object
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.engine.tool import HostTool, is_destructive, is_read_only
from mcp_lenient.portable.forms import FORMS, Form
from mcp_lenient.portable.publishing import publish, read_back
from mcp_lenient.refusal.envelope import (
    META_KEY,
    UPSTREAM_KEY,
    Again,
    envelope,
    error_code,
    repairs_note,
    repairs_told,
    unknown_again,
    unknown_tool,
    written,
)
from mcp_lenient.refusal.locations import may_be_told
from mcp_lenient.schema.compile import readable
from mcp_lenient.telemetry.log import HostCall as HostCall  # noqa: PLC0414 - hosts import it from here
from mcp_lenient.types import Repair, Violation
from mcp_lenient.values.json_values import holds_many
from mcp_lenient.values.names import near, same_tool_name, tool_target
from mcp_lenient.values.patches import Patch, applied

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.declare.policies import Policies
    from mcp_lenient.engine.declared import Normalizers
    from mcp_lenient.engine.observer import Observer
    from mcp_lenient.engine.reader import Plan
    from mcp_lenient.portable.publishing import Published
    from mcp_lenient.rules.policy import Mode, Policy, Unrepairable
    from mcp_lenient.telemetry.events import EventName
    from mcp_lenient.telemetry.log import LibraryEventName

    Warn = Callable[[LibraryEventName, str, str], None]

RENAMED_TOOL: Final = Repair("rename_tool", "", "string", "string")
_MOST: Final = 10_000
_WRONG: Final = [{"\x00": [None]}]
"""A list that almost no parameter accepts, not even once it is repaired."""
_MANY_PARAMETERS: Final = 100
_MOST_WAYS: Final = 3
"""The ways to correct a call, of which the caller chooses one."""


class ToolsUnknownError(Exception):
    """The host cannot list its tools."""


class ToolSource:
    """The tools of one host that the caller of one call may see.

    Attributes:
        compiled: Their contracts; kept by the host between calls.
        certain_names: Whether a name that is not listed is certainly not a tool; None if the host itself finds out, and
            then asks ``if_unknown`` of the verdict.
        server_names: Names of the server that a prefix ``mcp__server__`` may have.
        renames: Whether a call may be given the name of another tool.
    """

    compiled: dict[Any, CompiledTool]
    certain_names: bool | None = False
    server_names: Collection[str] = ()
    renames: bool = True

    async def tool(self, name: str, *, fresh: bool) -> HostTool | None:
        """Return a tool; with ``fresh``, look it up again.

        Raises:
            ToolsUnknownError: When the host cannot list its tools.
        """
        raise NotImplementedError

    async def names(self) -> Collection[str] | None:
        """Return the names of all tools; None if the host only shows the called tool.

        Raises:
            ToolsUnknownError: When the host cannot list its tools.
        """
        return None

    def unknown(self, name: str, names: Collection[str], language: str) -> dict[str, Any]:
        """Return the envelope for a call of an unknown tool; ``names`` are those of all tools."""
        similar = near(name, set(names) - {name})
        return unknown_tool(name, similar, names, has_versions=name in names, language=language)


class Judged(NamedTuple):
    """What a tool's contract decides about a call.

    Attributes:
        compiled: The tool.
        decision: The decision, with what text and declared normalizers became.
    """

    compiled: CompiledTool
    decision: Decision


@dataclass(frozen=True)
class CompiledTool:
    """A tool with its contract.

    Attributes:
        tool: The tool.
        policies: The policies that the contract was compiled with.
        own: The contract in the author's form.
        contract: The contract in the published form, which decides about calls.
        published: The schema as it is published, if that is not as the author wrote it.
    """

    tool: HostTool
    policies: Policies
    own: ToolContract
    contract: ToolContract
    published: Published | None = None

    @classmethod
    def of(cls, tool: HostTool, policies: Policies, warn: Warn, *, publishes: bool = False) -> CompiledTool:
        """Compile a tool.

        Args:
            tool: The tool.
            policies: The operator's policies and definitions.
            warn: Called with an event, its subject and the reason if something declared or published cannot be used.
            publishes: Whether the host lists the schema in the form of the policy.

        Raises:
            DefinitionError: When a definitions file contradicts a function of this process.
        """
        declared, schema = _declared(tool, policies, warn)
        read = readable(with_types(schema, declared))
        if read.unread:
            warn("tool_not_compiled", tool.name, read.told)
        policy = policies.of(tool.name, tool.policy, declared)
        read_only = is_read_only(tool.annotations)
        own = ToolContract.of_schema(
            read,
            policy,
            destructive=policy.is_destructive(marked=is_destructive(tool.annotations), read_only=read_only),
            read_only=read_only,
            tool=tool.name,
            validator=tool.validator,
        )
        if declared.normalizers:
            own = ToolContract(own.plan, NormalizingValidator(own.validator, declared.normalizers))
        form = _published_form(policy, tool.form)
        listed = schema if policy.publish_statements else tool.schema
        published = publish(listed, form) if publishes and form is not None else None
        if published is not None and published.lost is not None:
            warn("form_unavailable", tool.name, published.lost)
        if published is None or published.schema is listed:
            return cls(tool, policies, own, own)
        return cls(tool, policies, own, PublishedContract.around(own, published), published)

    @cached_property
    def plan(self) -> Plan:
        """The published schema under the policy in force."""
        return self.contract.plan

    @cached_property
    def policy(self) -> Policy:
        """The policy in force for this tool."""
        return self.plan.policy

    @cached_property
    def certain(self) -> bool:
        """Whether the tool's own validator is asked, and not its published schema alone."""
        return self.tool.validator is not None

    @cached_property
    def mode(self) -> Mode:
        """The mode of the policy in force."""
        return self.policy.mode

    @cached_property
    def accepts_at_once(self) -> Callable[[Mapping[str, Any]], bool] | None:
        """The validator's check, if a call that it accepts goes on at once; None if more has to be done."""
        does_more = self.normalizers or self.tool.in_thread or self.mode == "off" or self.recoded
        return None if does_more else self.contract.validator.accepts

    @cached_property
    def normalizers(self) -> Normalizers:
        """Normalizers declared by the author or operator, which run first."""
        validator = self.own.validator
        return validator.normalizers if isinstance(validator, NormalizingValidator) else {}

    @cached_property
    def recoded(self) -> Published | None:
        """The published schema, if values are said in another way than the author's schema has it."""
        return None if self.published is None or self.published.codec is None else self.published

    def decide(self, sent: Any, observer: Observer | None = None, *, is_rejected: bool = False) -> Judged:
        """Decide about the arguments of a call, which may be text; accepted ones stay the same object.

        Args:
            sent: The arguments as sent.
            observer: What is told of each step.
            is_rejected: Whether the validator has refused them already.
        """
        if self.mode == "off":
            return Judged(self, Decision("accepted", {}, mode="off"))
        read: tuple[Repair, ...] = ()
        if not (sent is None or isinstance(sent, Mapping)):
            parsed = arguments_in_text(sent, self.policy, destructive=self.plan.destructive)
            if parsed is None:
                return Judged(self, Decision("refused", {}, (), (not_an_object(sent),), self.mode))
            sent, read = parsed[0], (parsed[1],)
        decision = self.contract.decide({} if sent is None else sent, observer, is_rejected=is_rejected)
        certain = self.certain or self._drops_what_is_missing(decision)
        decision = replace(decision, certain=certain, unrepairable=self.policy.unrepairable)
        declared = None if decision.status == "refused" else self.settled(decision.arguments)
        if declared is not None and declared.repairs:
            repairs = (*decision.repairs, *declared.repairs)
            decision = replace(decision, arguments=declared.arguments, repairs=repairs)
        return Judged(self, decision.after(read))

    async def decide_aside(self, sent: Any, *, is_rejected: bool = False) -> Judged:
        """Decide in a worker thread if that may take long."""
        decide = partial(self.decide, sent, is_rejected=is_rejected)
        is_long = isinstance(sent, str) or self.may_take_long(sent)
        return await anyio.to_thread.run_sync(decide) if is_long else decide()

    def may_take_long(self, arguments: Any) -> bool:
        """Return whether a decision about these arguments may block an event loop."""
        is_wide = len(self.plan.top.properties) > _MANY_PARAMETERS
        return self.tool.in_thread or is_wide or holds_many(arguments)

    def _drops_what_is_missing(self, decision: Decision) -> bool:
        """Return whether the host would drop an argument of a call that lacks another one or holds it, and run the tool."""
        unread = decision.arguments.keys() - self.plan.top.properties.keys()
        if not self.tool.drops_names or not unread:
            return False
        is_missing = any(each.code == "missing" for each in decision.violations)
        return is_missing or any(wrapped_away(self.plan.top, decision.arguments))

    def settled(self, arguments: Mapping[str, Any]) -> NormalizedArguments:
        """Return accepted arguments after the declared normalizers."""
        validator = self.own.validator
        if isinstance(validator, NormalizingValidator):
            return validator.settled(arguments)
        return NormalizedArguments(arguments)

    def read_back(self, arguments: Any) -> dict[str, Any] | None:
        """Return arguments of the published form in the author's; None if they are handed on as they were sent."""
        if self.recoded is None or not isinstance(arguments, Mapping):
            return None
        return dict(read_back(self.recoded, arguments).arguments)

    def rehearse(self) -> None:
        """Decide about a call without arguments and one whose arguments are all wrong, and word the refusals."""
        wrong = dict.fromkeys(self.plan.top.properties, _WRONG)
        for arguments in ({}, wrong):
            self.refusal(self.tool.name, self.contract.decide(arguments).violations)

    def corrected(self, sent: Any, violations: tuple[Violation, ...]) -> tuple[Mapping[str, Any], ...]:
        """Return the arguments with the fixes of all violations, if the tool would take them and that is soon known.

        Where one place has several fixes, with each; where there are more ways, none. Values that are long or secret are
        replaced by their names.
        """
        fixes = [each.fixes for each in violations if each.fixes]
        choices = [each for at, each in enumerate(fixes) if each not in fixes[:at]]
        is_told = isinstance(sent, Mapping) and self.policy.echo_values
        if not fixes or not is_told or prod(map(len, choices)) > _MOST_WAYS or self.may_take_long(sent):
            return ()
        calls = [_with_all(sent, patches) for patches in product(*choices)]
        if any(call is None or self.contract.decide(call).status == "refused" for call in calls):
            return ()
        return tuple(self._without_values(call) for call in calls if call is not None)

    def _without_values(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return arguments with names in place of values that are long or secret."""
        kept = self.plan.top.property_nodes
        return {
            name: value if name in kept and may_be_told(name, value, kept[name], self.policy) else f"<{name}>"
            for name, value in arguments.items()
        }

    def placed(self, call: HostCall) -> HostCall:
        """Return a call whose event says where this tool is mounted, and the form of its schema."""
        own = {"mounted": "/".join(self.tool.mounted)} if self.tool.mounted else {}
        if self.published is not None:
            own["form"] = self.published.form.name
        return replace(call, who=lambda: {**call.who(), **own}) if own else call

    def refusal(
        self,
        name: str,
        violations: tuple[Violation, ...],
        repairs: tuple[Repair, ...] = (),
        again: Again | None = None,
    ) -> dict[str, Any]:
        """Return the result that refuses a call made under this name."""
        language = self.policy.language
        answer = envelope(name, self.contract.plan.top, violations, repairs, language=language, again=again)
        return refusal_result(answer, has_output_schema=self.tool.has_output_schema)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a host does with a call.

    Attributes:
        tool: The tool, if there is one.
        name: The name to call the tool by instead of the one that was sent.
        arguments: The arguments to run the tool with; None for those sent.
        repairs: The changes made.
        refusal: The result to return instead of running the tool, as the protocol has it.
        if_refused: For a forwarded call that its schema forbids: returns the refusal, in case the server refuses the
            call as well.
        if_unknown: For a name that is not listed, where the host finds out whether it has such a tool: records and
            returns the refusal in case it has not; None if its own answer stands.
        note_language: The language of the text block that lists the repairs for the model; None for no block.
    """

    tool: CompiledTool | None = None
    name: str | None = None
    arguments: dict[str, Any] | None = None
    repairs: tuple[Repair, ...] = ()
    refusal: dict[str, Any] | None = None
    if_refused: Callable[[], dict[str, Any]] | None = None
    if_unknown: Callable[[], dict[str, Any] | None] | None = None
    note_language: str | None = None

    def changed(self, arguments: str = "arguments") -> dict[str, Any]:
        """Return what replaces the name and the arguments that were sent, under the host's word for arguments."""
        fields = {"name": self.name, arguments: self.arguments}
        return {name: value for name, value in fields.items() if value is not None}

    def with_repairs(self, result: dict[str, Any]) -> dict[str, Any]:
        """Return a result with the repairs in its ``_meta``; an entry already there moves to another key."""
        if not self.repairs:
            return result
        meta = dict(result.get("_meta") or {})
        if META_KEY in meta:
            meta[UPSTREAM_KEY] = meta.pop(META_KEY)
        changed = {**result, "_meta": {**meta, META_KEY: repairs_told(self.repairs)}}
        if self.note_language is not None:
            text = repairs_note(self.repairs, language=self.note_language)
            changed["content"] = [*result.get("content", ()), {"type": "text", "text": text}]
        return changed


AS_SENT: Final = Verdict()
"""Forward the call unchanged."""


def _with_all(sent: Mapping[str, Any], patches: Sequence[Patch]) -> Mapping[str, Any] | None:
    """Return arguments after all patches, each once; None if one does not fit what another leaves."""
    try:
        for at, patch in enumerate(patches):
            sent = sent if patch in patches[:at] else applied(sent, patch)
    except LookupError:
        return None
    return sent


def refusal_result(answer: Mapping[str, Any], *, has_output_schema: bool) -> dict[str, Any]:
    """Return an envelope as a ``tools/call`` result.

    Some clients validate ``structuredContent`` against the output schema even on errors and throw the envelope
    away, so it is only set when the tool has no output schema.
    """
    text = {"type": "text", "text": written(answer)}
    result = {"content": [text], "isError": True, "_meta": {META_KEY: answer}}
    return result if has_output_schema else {**result, "structuredContent": answer}


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

    async def verdict(self, call: HostCall, source: ToolSource, *, restarts: bool = False) -> Verdict:
        """Decide about one call and record the decision; the host acts on it.

        Args:
            call: The call.
            source: The tools of its host.
            restarts: Whether the host starts a call again if the verdict gives its tool another name. Other hosts only
                call the tool by this name.
        """
        try:
            if await self.reload(source) or not source.compiled:
                await self._warn_of_unused(source)
            verdict = await self.decide(call, source)
            if verdict.name is None or restarts:
                return verdict
            again = replace(call, name=verdict.name, repairs=(*call.repairs, RENAMED_TOOL))
            return replace(await self.decide(again, source), name=verdict.name)
        except ToolsUnknownError as error:
            reason = f"the server cannot list its tools: {type(error.__cause__).__name__}"
            self.telemetry.log.warn_once("hook_unavailable", "tools/list", reason)
            return AS_SENT

    async def reload(self, source: ToolSource) -> bool:
        """Load a changed definitions file, if it is valid and does not contradict a tool; return whether it applies."""
        return await self.operator.reload(partial(self.check, source))

    async def decide(
        self, call: HostCall, source: ToolSource, *, rejected_by: CompiledTool | None = None
    ) -> Verdict:
        """Decide about one call and record the decision.

        Args:
            call: The call.
            source: The tools of its host.
            rejected_by: The tool that is known to reject the arguments, as it was compiled last.
        """
        compiled = rejected_by
        if compiled is None:
            tool = await source.tool(call.name, fresh=False) or await source.tool(call.name, fresh=True)
            if tool is None:
                return await self._not_found(call, source)
            compiled = self.compiled(tool, source.compiled)
        judged = await compiled.decide_aside(call.arguments, is_rejected=rejected_by is not None)
        if judged.decision.status != "accepted":
            # A call is never changed or refused by the schema of a tool that has since been replaced.
            fresh = await source.tool(call.name, fresh=True)
            if fresh is None:
                return await self._not_found(call, source)
            again = self.compiled(fresh, source.compiled)
            if again is not compiled:
                judged = await again.decide_aside(call.arguments)
        return await self._shared_outcome(call, judged)

    def verdict_at_once(self, call: HostCall, tool: HostTool, kept: dict[Any, CompiledTool]) -> Verdict:
        """Decide about a call whose tool is known, in this thread.

        Args:
            call: The call.
            tool: Its current tool.
            kept: The contracts compiled so far; that of this tool is added.
        """
        self.operator.reload_at_once()
        judged = self.compiled(tool, kept).decide(call.arguments)
        if judged.decision.status != "refused":
            self.forget_refused(call)
        return self._outcome(call, judged)

    async def _shared_outcome(self, call: HostCall, judged: Judged) -> Verdict:
        """Record a decision and return the verdict, as servers do that share what they have refused."""
        if judged.decision.status != "refused":
            await self.ran(call)
        elif judged.compiled.mode == "repair":
            who = call.who()
            call, caller = replace(call, who=partial(dict, who)), caller_of(who)
            if caller is not None:
                await self.repeats.recall(caller, call.name)
                verdict = self._outcome(call, judged)
                await self.repeats.save(caller, call.name)
                return verdict
        return self._outcome(call, judged)

    def _outcome(self, call: HostCall, judged: Judged) -> Verdict:
        """Record a decision and return the verdict."""
        compiled, decision = judged.compiled, judged.decision.after(call.repairs)
        fate, repairs, violations = decision.fate, decision.repairs, decision.violations
        if fate == "off":
            return Verdict(compiled)
        if self.operator.recording is not None:
            self.operator.recording.write(compiled.plan, compiled.tool.schema, call.arguments)
        as_sent = Verdict(compiled, arguments=compiled.read_back(call.arguments))
        if fate == "accepted":
            if self.telemetry.count_accepted(call.name, call.started, call.sent, compiled.mode):
                self.write_accepted(call, compiled)
            return as_sent
        if fate == "refused":
            times = self._times(call, error_code(violations))
            again = Again(times, compiled.corrected(call.arguments, violations)) if times > 1 else None
            self.record(call, compiled, decision, repeated=times)
            return Verdict(compiled, refusal=compiled.refusal(call.name, violations, repairs, again))
        if fate == "forwarded":
            # What was repaired of the arguments is not sent.
            self.record(call, compiled, replace(decision, repairs=call.repairs))
            if_refused = partial(compiled.refusal, call.name, violations)
            return replace(as_sent, repairs=call.repairs, if_refused=if_refused)
        self.record(call, compiled, decision)
        if fate == "observed":
            return as_sent
        note = compiled.policy.language if compiled.policy.tell_model else None
        return Verdict(compiled, arguments=dict(decision.arguments), repairs=repairs, note_language=note)

    def write_accepted(self, call: HostCall, compiled: CompiledTool) -> None:
        """Log a call that the tool accepts as it was sent."""
        self.telemetry.write_accepted(compiled.placed(call), compiled.plan)

    def forget_refused(self, call: HostCall) -> str | None:
        """Forget a caller's refused calls of a tool, after a call of it that runs; return the caller if there were any."""
        caller = caller_of(call.who()) if self.repeats.knows(call.name) else None
        return caller if caller is not None and self.repeats.forget(caller, call.name) else None

    async def ran(self, call: HostCall) -> None:
        """Forget a caller's refused calls of a tool, on other servers too, after a call of it that runs."""
        caller = self.forget_refused(call)
        if caller is not None:
            await self.repeats.save(caller, call.name)

    def _times(self, call: HostCall, code: str) -> int:
        """Count a refused call, and return how often its caller has sent it; 1 where nothing identifies the caller."""
        caller = caller_of(call.who())
        return 1 if caller is None else self.repeats.count(caller, call.name, code, call.arguments)

    async def _not_found(self, call: HostCall, source: ToolSource) -> Verdict:
        """Find the tool that a name in another spelling means; otherwise refuse the call, or forward it."""
        names = await source.names()
        meant = await self.meant(call.name, names, source) if names is not None and source.renames else None
        if meant is not None:
            renamed = Decision("accepted", {}, (RENAMED_TOOL,), mode=meant.mode)
            if renamed.fate != "observed":
                return Verdict(meant, name=meant.tool.name)
            self.record(call, meant, renamed)
            return AS_SENT
        if_unknown = partial(self._unknown, call, source, names or ())
        if source.certain_names is None:
            return Verdict(if_unknown=if_unknown)
        is_certain = source.certain_names or self.policy_for(call.name).unrepairable == "refuse"
        return Verdict(refusal=if_unknown()) if is_certain else AS_SENT

    async def meant(self, name: str, names: Collection[str], source: ToolSource) -> CompiledTool | None:
        """Return the listed tool that a name in another spelling means, as far as its policy allows."""
        target = None if name in names else tool_target(name, names, source.server_names)
        tool = None if target is None else await source.tool(target.name, fresh=True)
        if tool is None or target is None:
            return None
        meant = self.compiled(tool, source.compiled)
        if meant.mode == "off" or meant.plan.destructive or not meant.policy.allows(RENAMED_TOOL.rule):
            return None
        is_there = target.upstream is None or same_tool_name(target.upstream, "".join(tool.mounted[:1]))
        return meant if is_there else None

    def _unknown(self, call: HostCall, source: ToolSource, names: Collection[str]) -> dict[str, Any] | None:
        """Record a call of an unknown tool, and return its refusal; None if the host's own answer stands."""
        policy = self.policy_for(call.name)
        decision = Decision("refused", {}, mode=policy.mode, tool=call.name)
        if decision.fate == "off":
            return None
        answer = source.unknown(call.name, names, policy.language)
        code = answer["error_code"]
        if decision.fate == "observed":
            self.record(call, None, decision, code=code)
            return None
        times = self._times(call, code) if code == "UNKNOWN_TOOL" else 1
        self.record(call, None, decision, code=code, repeated=times)
        again = answer if times == 1 else unknown_again(answer, times, policy.language)
        return refusal_result(again, has_output_schema=False)

    def compiled(self, tool: HostTool, kept: dict[Any, CompiledTool]) -> CompiledTool:
        """Return a tool with its contract, which is compiled again only if the tool or its policy has changed."""
        policies, key = self.operator.policies, tool.key or tool.name
        cached = kept.get(key)
        if cached is not None and cached.policies is policies and cached.tool == tool:
            return cached
        if len(kept) >= _MOST:
            kept.pop(next(iter(kept)), None)
        warn = self.telemetry.log.warn_once
        kept[key] = CompiledTool.of(tool, policies, warn, publishes=self._publishes)
        return kept[key]

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
                CompiledTool.of(tool, applied, self.telemetry.log.warn_once)

    async def _warn_of_unused(self, source: ToolSource) -> None:
        """Log declarations in a file that match no tool, if the host can list its tools."""
        definitions = self.operator.policies.definitions
        names = None if definitions is None else await source.names()
        if definitions is None or names is None:
            return
        schemas: dict[str, Mapping[str, Any]] = {name: {} for name in names}
        for name in definitions.names.keys() & schemas.keys():
            tool = await source.tool(name, fresh=False)
            schemas[name] = {} if tool is None else tool.schema
        self.operator.warn_of_unused(schemas)

    def record(self, call: HostCall, compiled: CompiledTool | None, decision: Decision, **facts: Any) -> None:
        """Record what becomes of a call; None is a tool that does not exist."""
        placed_call, plan = _placed(call, compiled)
        self.telemetry.record_decision(placed_call, plan, decision, **facts)

    def record_event(
        self, event: EventName, call: HostCall, compiled: CompiledTool | None, **facts: Any
    ) -> None:
        """Record what happened to a call after the decision."""
        placed_call, plan = _placed(call, compiled)
        self.telemetry.record(event, placed_call, plan, **facts)


def _placed(call: HostCall, compiled: CompiledTool | None) -> tuple[HostCall, Plan | None]:
    """Return a call whose event says where its tool is mounted, and the tool's plan."""
    return (call, None) if compiled is None else (compiled.placed(call), compiled.plan)


def _declared(tool: HostTool, policies: Policies, warn: Warn) -> tuple[Declared, Mapping[str, Any]]:
    """Return what is declared of a tool, and its schema with what a definitions file says of it."""
    declared = combined(tool.declared, policies.declared(tool.name))
    if not declared.stated:
        return declared, tool.schema
    from mcp_lenient.declare.definitions.statements import with_statements

    return with_statements(
        tool.name,
        declared,
        tool.schema,
        tool.validator or PublishedSchemaValidator(readable(tool.schema)),
        certain=tool.validator is not None,
        warn=lambda reason: warn("definition_unused", reason, reason),
    )


def _published_form(policy: Policy, asked: Form | None) -> Form | None:
    """Return the form of a tool's schema: the one that a client asked for, unless the policy keeps it unchanged."""
    own = policy.publish if isinstance(policy.publish, Form) else None
    if policy.mode == "off":
        return None
    return own if asked is None or own == FORMS["unchanged"] else asked
