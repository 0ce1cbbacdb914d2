"""Decide about a call for any host: find the tool, decide, record, and return a verdict.

The host runs the tool with the verdict's arguments, or answers with its refusal. This module knows no framework.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio.to_thread

from mcp_lenient.adapters.settings import Operator
from mcp_lenient.declare.declared import Declared
from mcp_lenient.declare.decorator_metadata import combined
from mcp_lenient.engine.contract import Decision, ToolContract
from mcp_lenient.engine.declared import NormalizingValidator
from mcp_lenient.engine.raw_arguments import arguments_in_text, not_an_object
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.refusal.envelope import (
    META_KEY,
    UPSTREAM_KEY,
    envelope,
    note_language,
    repairs_note,
    repairs_told,
    unknown_tool,
    written,
)
from mcp_lenient.schema.compile import readable
from mcp_lenient.telemetry.log import RecordedCall, shown
from mcp_lenient.types import Repair, Validator, Violation
from mcp_lenient.values.json_values import holds_many
from mcp_lenient.values.names import near

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.declare.policies import Policies
    from mcp_lenient.rules.policy import Policy
    from mcp_lenient.telemetry.events import EventName
    from mcp_lenient.telemetry.log import LibraryEventName

_MOST: Final = 10_000
_MANY_PARAMETERS: Final = 100


@dataclass(frozen=True, slots=True)
class HostTool:
    """A tool of a host.

    Attributes:
        name: The name used by policies and definitions.
        schema: The published input schema.
        destructive: Whether its annotations say that it is destructive.
        read_only: Whether they say that it only reads.
        has_output_schema: Whether clients validate results against a schema.
        validator: The tool's own validator; None if only the published schema is known.
        declared: The author's declarations.
        policy: The policy set by ``@lenient``.
    """

    name: str
    schema: Mapping[str, Any]
    destructive: bool = False
    read_only: bool = False
    has_output_schema: bool = False
    validator: Validator | None = None
    declared: Declared = field(default_factory=Declared)
    policy: Policy | None = None

    @classmethod
    def listed(cls, tool: Mapping[str, Any], validator: Validator | None = None) -> HostTool:
        """Return a tool from an entry of ``tools/list``."""
        return cls(
            tool["name"],
            tool["inputSchema"],
            destructive=is_destructive(tool.get("annotations")),
            read_only=is_read_only(tool.get("annotations")),
            has_output_schema=tool.get("outputSchema") is not None,
            validator=validator,
        )


class ToolsUnknownError(Exception):
    """The host cannot list its tools."""


class ToolSource(Protocol):
    """The tools of one host that the caller of one call may see.

    Attributes:
        compiled: Their contracts by name; kept by the host between calls.
        certain_names: Whether a name that is not listed is certainly not a tool.
    """

    compiled: dict[str, CompiledTool]
    certain_names: bool

    async def tool(self, name: str, *, fresh: bool) -> HostTool | None:
        """Return a tool; with ``fresh``, look it up again.

        Raises:
            ToolsUnknownError: When the host cannot list its tools.
        """
        ...

    async def names(self) -> Collection[str] | None:
        """Return the names of all tools; None if the host only shows the called tool.

        Raises:
            ToolsUnknownError: When the host cannot list its tools.
        """
        ...


@dataclass(frozen=True, slots=True)
class HostCall:
    """A call as received.

    Attributes:
        name: The name of the called tool.
        arguments: The arguments as sent: an object, None, or anything else.
        started: The time of arrival, by ``perf_counter_ns``.
        who: Returns the event fields that identify the caller; only called if they are needed.
    """

    name: str
    arguments: Any
    started: int
    who: Callable[[], dict[str, str | None]]


@dataclass(frozen=True, slots=True)
class CompiledTool:
    """A tool with its contract and the policies that the contract was compiled with."""

    tool: HostTool
    contract: ToolContract
    policies: Policies

    @property
    def policy(self) -> Policy:
        """The policy in force for this tool."""
        return self.contract.plan.policy

    def refusal(
        self, name: str, violations: tuple[Violation, ...], repairs: tuple[Repair, ...]
    ) -> dict[str, Any]:
        """Return the result that refuses a call made under this name."""
        language = self.policy.language
        answer = envelope(name, self.contract.plan.top, violations, repairs, language=language)
        return refusal_result(answer, has_output_schema=self.tool.has_output_schema)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a host does with a call.

    Attributes:
        arguments: The arguments to run the tool with; None for those sent.
        repairs: The changes made.
        refusal: The result to return instead of running the tool, as the protocol has it.
        if_refused: For a forwarded call that its schema forbids: returns the refusal, in case the server refuses the
            call as well.
        note_language: The language of the text block that lists the repairs for the model; None for no block.
    """

    arguments: dict[str, Any] | None = None
    repairs: tuple[Repair, ...] = ()
    refusal: dict[str, Any] | None = None
    if_refused: Callable[[], dict[str, Any]] | None = None
    note_language: str | None = None

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
            note = {"type": "text", "text": text}
            changed["content"] = [*result.get("content", ()), note]
        return changed


AS_SENT: Final = Verdict()
"""Forward the call unchanged."""


def refusal_result(answer: Mapping[str, Any], *, has_output_schema: bool) -> dict[str, Any]:
    """Return an envelope as a ``tools/call`` result.

    Some clients validate ``structuredContent`` against the output schema even on errors and throw the envelope
    away, so it is only set when the tool has no output schema.
    """
    safe, text = written(answer)
    result = {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {META_KEY: safe}}
    return result if has_output_schema else {**result, "structuredContent": safe}


Annotations = Mapping[str, Any] | Iterable[tuple[str, Any]] | None
"""A tool's annotations: as listed, or an object of the official SDK, which yields its fields and unknown keys."""


def is_destructive(annotations: Annotations) -> bool:
    """Return whether a tool's annotations say that it is destructive."""
    return True in _hints(annotations, "destructiveHint", "destructive_hint")


def is_read_only(annotations: Annotations) -> bool:
    """Return whether a tool's annotations say that it only reads."""
    return _hints(annotations, "readOnlyHint", "read_only_hint") == {True}


def says_effect(annotations: Annotations) -> bool:
    """Return whether a tool's annotations say that it is destructive or is not, or that it only reads."""
    return is_read_only(annotations) or bool(_hints(annotations, "destructiveHint", "destructive_hint"))


def _hints(annotations: Annotations, *spellings: str) -> set[bool]:
    """Return what annotations say of a hint, in MCP's spelling and in that of SDK 2.

    SDK 1 keeps the spelling of SDK 2 as an unknown key, beside its own field.
    """
    said = dict(annotations or ())
    return {said[name] for name in spellings if isinstance(said.get(name), bool)}


def _recorded(call: HostCall, compiled: CompiledTool) -> RecordedCall:
    sent = call.arguments if isinstance(call.arguments, Mapping) else None
    told = shown(compiled.policy, compiled.contract.plan.top, sent)
    return RecordedCall(
        call.name, call.started, call.who, secret=compiled.policy.secret, sent=told, arguments=sent
    )


class Gate:
    """Decide about the calls of a host, and record their outcomes.

    Args:
        policy: What may be repaired; the defaults of :class:`mcp_lenient.Policy` when left out.
        settings: The operator's other settings.
    """

    def __init__(self, policy: Policy | None = None, **settings: Unpack[HostSettings]) -> None:
        self._operator = Operator(policy, **settings)
        self._telemetry = self._operator.telemetry

    def policy_for(self, tool: str) -> Policy:
        """Return the operator's policy for a tool name, without the author's declarations."""
        return self._operator.policies.named(tool)

    def is_destructive(self, tool: HostTool, compiled: dict[str, CompiledTool]) -> bool:
        """Return whether a tool is destructive by its policy and declarations."""
        return self._compiled(tool, compiled).contract.plan.destructive

    async def verdict(self, call: HostCall, source: ToolSource) -> Verdict:
        """Decide about one call and record the decision; the host acts on it."""
        try:
            return await self._verdict(call, source)
        except ToolsUnknownError as error:
            reason = f"the server cannot list its tools: {type(error.__cause__).__name__}"
            self._telemetry.log.warn_once("hook_unavailable", "tools/list", reason)
            return AS_SENT

    async def _verdict(self, call: HostCall, source: ToolSource) -> Verdict:
        is_new = self._operator.reloads and await self._operator.reload(partial(self._check, source))
        if is_new or not source.compiled:
            await self._warn_of_unused(source)
        tool = await source.tool(call.name, fresh=False) or await source.tool(call.name, fresh=True)
        if tool is None:
            return await self._unknown(call, source)
        compiled = self._compiled(tool, source.compiled)
        if compiled.policy.mode == "off":
            return AS_SENT
        decided = await _decided(compiled, call.arguments)
        if decided.decision is None or decided.decision.status != "accepted":
            # A call is never changed or refused by the schema of a tool that has since been replaced.
            fresh = await source.tool(call.name, fresh=True)
            if fresh is None:
                return await self._unknown(call, source)
            if fresh is not tool:
                compiled = self._compiled(fresh, source.compiled)
                decided = await _decided(compiled, call.arguments)
        return self._outcome(call, compiled, decided)

    def verdict_at_once(self, call: HostCall, tool: HostTool, compiled: dict[str, CompiledTool]) -> Verdict:
        """Decide about a call whose tool is known, in this thread.

        Args:
            call: The call.
            tool: Its current tool.
            compiled: The contracts compiled so far, by name; that of this tool is added.
        """
        if self._operator.reloads:
            self._operator.reload_at_once()
        known = self._compiled(tool, compiled)
        if known.policy.mode == "off":
            return AS_SENT
        return self._outcome(call, known, _decided_at_once(known, call.arguments))

    def _outcome(self, call: HostCall, compiled: CompiledTool, decided: _Decided) -> Verdict:
        """Record a decision and return the verdict."""
        decision, read, violation = decided.decision, decided.read, decided.violation
        if decision is None:
            return self._told(call, compiled, (), (violation,) if violation else (), certain=True)
        if decision.status == "refused":
            certain = compiled.tool.validator is not None
            return self._told(
                call, compiled, (*read, *decision.repairs), decision.violations, certain=certain
            )
        return self._run(call, compiled, decision, read)

    def _run(
        self, call: HostCall, compiled: CompiledTool, decision: Decision, read: tuple[Repair, ...]
    ) -> Verdict:
        """Return the arguments to run the tool with, after its declared normalizers."""
        arguments, repairs = decision.arguments, (*read, *decision.repairs)
        validator = compiled.contract.validator
        if isinstance(validator, NormalizingValidator):
            final = validator.settled(arguments)
            arguments, repairs = final.arguments, (*repairs, *final.repairs)
        if not repairs:
            if self._telemetry.count_accepted(call.name, call.started, arguments, compiled.policy.mode):
                self._telemetry.write_accepted(
                    _recorded(call, compiled), compiled.contract.plan.top, arguments
                )
            return AS_SENT
        if compiled.policy.mode == "observe":
            self._record("call_observed", call, compiled, repairs=repairs)
            return AS_SENT
        self._record(
            "call_repaired", call, compiled, repairs=repairs, kept_in=(compiled.contract.plan.top, arguments)
        )
        return Verdict(dict(arguments), repairs, note_language=note_language(compiled.policy))

    def _told(
        self,
        call: HostCall,
        compiled: CompiledTool,
        repairs: tuple[Repair, ...],
        violations: tuple[Violation, ...],
        *,
        certain: bool,
    ) -> Verdict:
        """Refuse a call, or forward it unchanged if the refusal is uncertain or the policy forwards it."""
        policy = compiled.policy
        if policy.mode == "observe":
            self._record("call_observed", call, compiled, repairs=repairs, violations=violations)
            return AS_SENT
        if not certain and policy.unrepairable == "forward":
            self._record("call_forwarded", call, compiled, violations=violations)
            return Verdict(if_refused=partial(compiled.refusal, call.name, violations, ()))
        self._record("call_rejected", call, compiled, repairs=repairs, violations=violations)
        return Verdict(refusal=compiled.refusal(call.name, violations, repairs))

    async def _unknown(self, call: HostCall, source: ToolSource) -> Verdict:
        """Refuse a call of an unknown tool; forward it if the host may have unlisted tools."""
        policy = self.policy_for(call.name)
        if policy.mode == "off" or not (source.certain_names or policy.unrepairable == "refuse"):
            return AS_SENT
        names = near(call.name, set(await source.names() or ()) - {call.name})
        answer = unknown_tool(call.name, names, language=policy.language)
        event: EventName = "call_observed" if policy.mode == "observe" else "call_rejected"
        self._telemetry.record(
            event, RecordedCall(call.name, call.started, call.who, exists=False), code=answer["error_code"]
        )
        return (
            AS_SENT
            if policy.mode == "observe"
            else Verdict(refusal=refusal_result(answer, has_output_schema=False))
        )

    def _compiled(self, tool: HostTool, kept: dict[str, CompiledTool]) -> CompiledTool:
        cached, policies = kept.get(tool.name), self._operator.policies
        is_same = cached is not None and (cached.tool is tool or cached.tool == tool)
        if cached is not None and is_same and cached.policies is policies:
            return cached
        if len(kept) >= _MOST:
            kept.pop(next(iter(kept)), None)
        contract = contract_of(tool, policies, self._telemetry.log.warn_once)
        compiled = kept[tool.name] = CompiledTool(tool, contract, policies)
        return compiled

    async def _check(self, source: ToolSource, policies: Policies) -> None:
        """Raise a DefinitionError if a changed file contradicts a tool of this host."""
        for name in policies.stated:
            try:
                tool = await source.tool(name, fresh=False)
            except ToolsUnknownError:
                return  # the file applies before the tools are known, as when the host starts
            if tool is not None and tool.name == name:
                contract_of(tool, policies, self._telemetry.log.warn_once)

    async def _warn_of_unused(self, source: ToolSource) -> None:
        """Log declarations in a file that match no tool, if the host can list its tools."""
        definitions = self._operator.policies.definitions
        names = None if definitions is None else await source.names()
        if definitions is None or names is None:
            return
        schemas: dict[str, Mapping[str, Any]] = {name: {} for name in names}
        for name in definitions.names.keys() & schemas.keys():
            tool = await source.tool(name, fresh=False)
            schemas[name] = {} if tool is None else tool.schema
        self._operator.warn_of_unused(schemas)

    def _record(self, event: EventName, call: HostCall, compiled: CompiledTool, **outcome: Any) -> None:
        self._telemetry.record(event, _recorded(call, compiled), **outcome)


def contract_of(
    tool: HostTool, policies: Policies, warn: Callable[[LibraryEventName, str, str], None]
) -> ToolContract:
    """Return the contract of a tool.

    Args:
        tool: The tool.
        policies: The operator's policies and definitions.
        warn: Called with an event, its subject and the reason if something declared or published cannot be used.

    Raises:
        DefinitionError: When a definitions file contradicts a function of this process.
    """
    declared, schema = combined(tool.declared, policies.declared(tool.name)), tool.schema
    if declared.stated:
        from mcp_lenient.declare.definitions.statements import with_statements

        declared, schema = with_statements(
            tool.name,
            declared,
            schema,
            tool.validator or PublishedSchemaValidator(readable(schema)),
            certain=tool.validator is not None,
            warn=lambda reason: warn("definition_unused", reason, reason),
        )
    read = readable(schema)
    if read.unread:
        warn("tool_not_compiled", tool.name, read.told)
    policy = policies.of(tool.name, tool.policy, declared)
    destructive = policy.is_destructive(marked=tool.destructive, read_only=tool.read_only)
    contract = ToolContract.of_schema(
        read, policy, destructive=destructive, tool=tool.name, validator=tool.validator
    )
    if not declared.normalizers:
        return contract
    return ToolContract(contract.plan, NormalizingValidator(contract.validator, declared.normalizers))


@dataclass(frozen=True, slots=True)
class _Decided:
    """The decision about unchanged arguments, with how their text was parsed or why it could not be."""

    decision: Decision | None
    read: tuple[Repair, ...] = ()
    violation: Violation | None = None


@dataclass(frozen=True, slots=True)
class _Undecided:
    """Arguments that the tool does not accept unchanged, with the contract that decides about them."""

    decide: Callable[[Mapping[str, Any]], Decision]
    arguments: Mapping[str, Any]
    read: tuple[Repair, ...] = ()


def _looked_at(compiled: CompiledTool, sent: Any) -> _Decided | _Undecided:
    """Return the decision if it needs no repair."""
    contract = compiled.contract
    if sent is None or isinstance(sent, Mapping):
        arguments: Mapping[str, Any] = {} if sent is None else sent
        if contract.accepts(arguments):
            return _Decided(Decision("accepted", arguments, (), (), compiled.policy.mode))
        return _Undecided(contract.decide_rejected, arguments)
    read = arguments_in_text(sent, compiled.policy, destructive=contract.plan.destructive)
    if read is None:
        return _Decided(None, violation=not_an_object(sent))
    return _Undecided(contract.decide, read[0], (read[1],))


async def _decided(compiled: CompiledTool, sent: Any) -> _Decided:
    found = _looked_at(compiled, sent)
    if isinstance(found, _Decided):
        return found
    return _Decided(await decided_aside(compiled.contract, found.decide, found.arguments), found.read)


def _decided_at_once(compiled: CompiledTool, sent: Any) -> _Decided:
    found = _looked_at(compiled, sent)
    return found if isinstance(found, _Decided) else _Decided(found.decide(found.arguments), found.read)


async def decided_aside(
    contract: ToolContract,
    decide: Callable[[Mapping[str, Any]], Decision],
    arguments: Mapping[str, Any],
    *,
    always: bool = False,
) -> Decision:
    """Decide in a worker thread if deciding may take long, or ``always``."""
    is_wide = len(contract.plan.top.properties) > _MANY_PARAMETERS
    if always or is_wide or holds_many(arguments):
        return await anyio.to_thread.run_sync(decide, arguments)
    return decide(arguments)
