"""What a tool accepts and what is done about the rest (`Contract`), and what is done with one call (`Decision`).

A host finds the tool, asks its contract through the gate, and does what the decision says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

from mcp_lenient.engine.ignored import misplaced_body
from mcp_lenient.engine.observer import ObservedValidator, Observer
from mcp_lenient.engine.raw_arguments import arguments_in_text, not_an_object
from mcp_lenient.engine.reader import Plan
from mcp_lenient.engine.repair import repair
from mcp_lenient.engine.schema_validator import ClosedValidator, MarkupValidator, PublishedSchemaValidator
from mcp_lenient.engine.spelled_numbers import keeping_digits
from mcp_lenient.engine.tool import HostTool, is_in_header
from mcp_lenient.rules.policy import added_aliases
from mcp_lenient.schema.compile import readable
from mcp_lenient.types import Outcome, Repair, Status, Validator, Violation
from mcp_lenient.values.language import load_language

if TYPE_CHECKING:
    from mcp_lenient.declare.policies import Policies
    from mcp_lenient.engine.normalizing_validator import Normalizers, NormalizingValidator
    from mcp_lenient.refusal.envelope import Again
    from mcp_lenient.rules.policy import Mode, Policy, Unrepairable
    from mcp_lenient.schema.compile import ReadableSchema
    from mcp_lenient.schema.node import Node

ArgumentsT = TypeVar("ArgumentsT")
Fate = Literal["accepted", "repaired", "refused", "forwarded", "observed", "off"]
"""What becomes of a call.

``accepted``: the tool runs as it was called. ``repaired``: it runs, with changes. ``refused``: the envelope is the answer.
``forwarded``: the call goes on as it was sent, against the published schema. ``observed`` and ``off``: it goes on as it
was sent, whatever is wrong.
"""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about one call.

    Attributes:
        status: Whether the arguments are valid unchanged, valid once repaired, or refused.
        arguments: The arguments: the same object when ``accepted``; partly repaired when ``refused``.
        repairs: The changes made.
        violations: The remaining faults, worded; empty unless ``refused``.
        mode: The mode of the policy in force: whether an adapter applies this decision or only logs it.
        tool: The tool's name, where it is known.
        certain: Whether a refusal is the tool's own, and does not rest on its published schema alone.
        unrepairable: What the policy does with a call that only the published schema refuses; None to refuse it.
        contract: What decided; None if there is no such tool. It and the following are for hosts.
        name: The name to call the tool by instead of the one that was sent.
        replaces: Whether the tool gets ``arguments`` instead of those sent.
        refusal: The result to return instead of running the tool, as the protocol has it.
        if_unknown: For a name that is not listed, where the host finds out whether it has such a tool: records and
            returns the refusal in case it has not; None if its own answer stands.
    """

    status: Status
    arguments: Mapping[str, Any]
    repairs: tuple[Repair, ...] = ()
    violations: tuple[Violation, ...] = ()
    mode: Mode = "repair"
    tool: str | None = None
    _: KW_ONLY
    certain: bool = True
    unrepairable: Unrepairable | None = None
    contract: Contract | None = field(default=None, repr=False, compare=False)
    name: str | None = None
    replaces: bool = False
    refusal: dict[str, Any] | None = field(default=None, repr=False)
    if_unknown: Callable[[], dict[str, Any] | None] | None = field(default=None, repr=False, compare=False)

    @property
    def fate(self) -> Fate:
        """What becomes of the call: the one place where mode, status and certainty are weighed."""
        if self.mode == "off":
            return "off"
        if self.status == "accepted" and not self.repairs:
            return "accepted"
        if self.mode == "observe":
            return "observed"
        if self.status != "refused":
            return "repaired"
        return "forwarded" if not self.certain and self.unrepairable == "forward" else "refused"

    def after(self, repairs: tuple[Repair, ...]) -> Decision:
        """Return the decision about a call that was repaired before, as a tool's name is."""
        return replace(self, repairs=(*repairs, *self.repairs)) if repairs else self

    def plain(self, arguments: Mapping[str, Any], tool: str) -> Decision:
        """Return the decision about a repaired or refused call as applications get it: without contract or functions."""
        status: Status = "refused" if self.status == "refused" else "repaired"
        return Decision(
            status,
            arguments,
            self.repairs,
            self.violations,
            self.mode,
            tool,
            certain=self.certain,
            unrepairable=self.unrepairable,
        )

    def run_with(self, sent: ArgumentsT) -> ArgumentsT | dict[str, Any]:
        """Return the arguments to run the tool with: those that were sent, if nothing replaces them."""
        return dict(self.arguments) if self.replaces else sent

    def changed(self, arguments: str = "arguments") -> dict[str, Any]:
        """Return what replaces the name and the arguments that were sent, under the host's word for arguments."""
        name = {} if self.name is None else {"name": self.name}
        return {**name, arguments: dict(self.arguments)} if self.replaces else name

    def refused(self) -> dict[str, Any]:
        """Return the result that refuses the call, for a forwarded one that the server refuses as well."""
        return cast("Contract", self.contract).refusal(self)

    @property
    def applied_repairs(self) -> tuple[Repair, ...]:
        """The repairs that the tool's result names: those that took effect, and were not only observed."""
        return self.repairs if self.fate in ("repaired", "forwarded") else ()

    def with_repairs(self, result: dict[str, Any]) -> dict[str, Any]:
        """Return a result with the repairs in its ``_meta``; an entry already there moves to another key."""
        repairs = self.applied_repairs
        if not repairs:
            return result
        from mcp_lenient.refusal.envelope import META_KEY, UPSTREAM_KEY
        from mcp_lenient.refusal.repair_record import repair_record, repairs_note

        meta = dict(result.get("_meta") or {})
        if META_KEY in meta:
            meta[UPSTREAM_KEY] = meta.pop(META_KEY)
        changed = {**result, "_meta": {**meta, META_KEY: repair_record(repairs)}}
        if self.contract is not None and self.contract.policy.tell_model and self.fate == "repaired":
            text = repairs_note(repairs, language=self.contract.policy.language)
            changed["content"] = [*result.get("content", ()), {"type": "text", "text": text}]
        return changed


AS_SENT: Final = Decision("accepted", {}, mode="off")
"""Forward the call unchanged."""


@dataclass(frozen=True, eq=False)
class Contract:
    """What a tool accepts, and what its policy does about the rest.

    Attributes:
        plan: The schema under the policy, with the rules for each of its places.
        validator: What accepts or refuses, after the normalizers that the author declared.
        tool: The host's record of the tool; one with a schema alone where there is no host.
        policies: The policies that it was compiled with.
        certain: Whether the tool's own validator judges, and not its published schema alone.
        as_texts: Whether a client can send nothing but strings, as to a prompt; the violations ask for nothing else.
        normalizing: The validator that runs the declared normalizers, if there are any.
        listed: The schema as it is listed, and ``form`` the name of its form, if that is not as the author wrote it.
    """

    plan: Plan
    validator: Validator
    _: KW_ONLY
    tool: HostTool
    policies: Policies | None = None
    certain: bool = False
    as_texts: bool = False
    normalizing: NormalizingValidator | None = None
    listed: Mapping[str, Any] | None = None
    form: str | None = None

    @classmethod
    def of_schema(
        cls,
        schema: Mapping[str, Any] | ReadableSchema,
        policy: Policy,
        *,
        destructive: bool = False,
        read_only: bool = False,
        tool: str | None = None,
        validator: Validator | None = None,
        as_texts: bool = False,
    ) -> Contract:
        """Make the contract of a tool with this input schema, of any draft; nothing is fetched.

        ``validator`` is the tool's own; None where only the published schema is known. Raises SchemaError for a schema that
        is not a JSON object.
        """
        readable_schema = readable(schema)
        if policy.closed:
            from mcp_lenient.schema.closing import closed

            readable_schema = closed(readable_schema)
        if validator is None:
            from mcp_lenient.schema.defaults import with_defaults

            readable_schema = with_defaults(readable_schema)
        plan = Plan(
            readable_schema,
            policy,
            destructive=destructive,
            read_only=read_only,
            tool=tool,
            by_schema=validator is None or validator.by_schema,
        )
        judge = PublishedSchemaValidator(readable_schema, plan.top) if validator is None else validator
        if plan.corrects_names and isinstance(judge, PublishedSchemaValidator):
            judge = judge.correcting_names()
        if policy.closed and validator is not None:
            judge = ClosedValidator(judge, plan.top)
        if policy.leaked_markup == "refuse":
            judge = MarkupValidator(judge, plan.top)
        host_tool = HostTool(tool or "", readable_schema.root)
        return Contract(plan, judge, tool=host_tool, certain=validator is not None, as_texts=as_texts)

    @cached_property
    def top(self) -> Node:
        """The arguments, as the published schema has them."""
        return self.plan.top

    @cached_property
    def policy(self) -> Policy:
        """The policy in force for this tool."""
        return self.plan.policy

    @cached_property
    def mode(self) -> Mode:
        """The mode of the policy in force."""
        return self.policy.mode

    @cached_property
    def normalizers(self) -> Normalizers:
        """Normalizers declared by the author or operator, which run first."""
        return {} if self.normalizing is None else self.normalizing.normalizers

    @cached_property
    def accepts_at_once(self) -> Callable[[Mapping[str, Any]], bool] | None:
        """The validator's check, if a call that it accepts goes on at once; None if more has to be done."""
        tool, calls_others = self.tool, self.policy.dispatches is not None or self.tool.runs_code
        does_more = self.normalizers or tool.in_thread or self.mode == "off" or calls_others
        return None if does_more else self.validator.accepts

    @cached_property
    def header_parameters(self) -> tuple[str, ...]:
        """The parameters that a header of the request repeats."""
        properties: Mapping[str, Any] = self.tool.schema.get("properties", {})
        return tuple(name for name, schema in properties.items() if is_in_header(schema))

    @cached_property
    def with_declared_repairs_only(self) -> Contract:
        """The contract that repairs nothing but what is declared on the tool: normalizers, and other names of parameters."""
        rules = tuple(rule for rule in self.policy.rules if not rule.certain or rule.name == "rename_alias")
        # Those of a policy for several tools, and of a dispatcher's parameters, are not declared on the tool.
        aliases = {} if self.tool.policy is None else self.tool.policy.aliases
        of_operator = None if self.policies is None else self.policies.declared(self.tool.name)
        for declared in filter(None, (of_operator, self.tool.declared)):
            aliases = added_aliases(aliases, declared.aliases)
        aliases = aliases if self.policy.dispatches is None else {}
        policy = self.policy.changed(rules=rules, unrepairable="refuse", aliases=aliases)
        return replace(self, plan=self.plan.under(policy))

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the tool accepts these arguments unchanged."""
        return self.validator.accepts(arguments)

    def decide(
        self, arguments: Any, observer: Observer | None = None, *, is_rejected: bool = False
    ) -> Decision:
        """Accept, repair or refuse the arguments of a call, without running the tool, I/O or logging.

        They are never modified, and may be text; accepted ones stay the same object. ``is_rejected``: the validator has
        already refused them.
        """
        if self.mode == "off":
            return self._decision("accepted", arguments)
        parse_repairs: tuple[Repair, ...] = ()
        arguments = {} if arguments is None else arguments
        if not isinstance(arguments, Mapping):
            parsed = arguments_in_text(arguments, self.policy, destructive=self.plan.destructive)
            if parsed is None:
                violation = not_an_object(arguments)
                message = load_language(self.policy.language).of(violation.message)
                refused = self._decision("refused", {}, (), (replace(violation, message=message),))
                return replace(refused, certain=True)
            arguments, parse_repairs = parsed[0], (parsed[1],)
        decision = self.decide_object(arguments, observer, is_rejected=is_rejected)
        if decision.status != "refused":
            normalized, repairs = self.normalized(decision.arguments)
            if repairs:
                decision = replace(decision, arguments=normalized, repairs=(*decision.repairs, *repairs))
        elif self._host_would_drop_argument(decision):
            decision = replace(decision, certain=True)
        return decision.after(parse_repairs)

    def decide_object(
        self, arguments: Mapping[str, Any], observer: Observer | None = None, *, is_rejected: bool = False
    ) -> Decision:
        """Decide about arguments that are an object; those parsed from text keep the source spelling of numbers."""
        validator = self.validator if observer is None else ObservedValidator(self.validator, observer)
        plain_arguments = keeping_digits(self.plan.top, arguments, validator)
        if not is_rejected and validator.accepts(plain_arguments):
            outcome = Outcome("accepted", plain_arguments)
        else:
            outcome = repair(self.plan, arguments, validator, observer)
        if observer is not None:
            observer.decided(outcome)
        violations: tuple[Violation, ...] = ()
        if outcome.status == "refused":
            from mcp_lenient.engine.offers import violations_of

            violations = violations_of(self.plan, arguments, outcome, self.validator, as_texts=self.as_texts)
        return self._decision(outcome.status, outcome.arguments, outcome.repairs, violations)

    def accepted(self, arguments: Mapping[str, Any]) -> Decision:
        """Return the decision about arguments that the validator is known to accept."""
        return self._decision("accepted", arguments)

    def _decision(
        self,
        status: Status,
        arguments: Mapping[str, Any],
        repairs: tuple[Repair, ...] = (),
        violations: tuple[Violation, ...] = (),
    ) -> Decision:
        return Decision(
            status,
            arguments,
            repairs,
            violations,
            self.mode,
            self.plan.tool,
            certain=self.certain,
            unrepairable=self.policy.unrepairable,
            contract=self,
        )

    def _host_would_drop_argument(self, decision: Decision) -> bool:
        """Return whether the host would drop an argument of a call that lacks another one or holds it, and run the tool."""
        undeclared = decision.arguments.keys() - self.top.properties.keys()
        if not self.tool.drops_names or not undeclared:
            return False
        is_missing = any(violation.code == "missing" for violation in decision.violations)
        return is_missing or any(misplaced_body(self.top, decision.arguments))

    def normalized(self, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], tuple[Repair, ...]]:
        """Return accepted arguments after the declared normalizers, and what these changed."""
        if self.normalizing is None:
            return arguments, ()
        normalized = self.normalizing.normalized(arguments)
        return normalized.arguments, normalized.repairs

    def read_back(self, arguments: Any) -> dict[str, Any] | None:  # noqa: ARG002 - for another form
        """Return arguments of the published form in the author's; None if they are handed on as they were sent."""
        return None

    def refusal(self, decision: Decision, again: Again | None = None) -> dict[str, Any]:
        """Return the result that refuses a call."""
        from mcp_lenient.refusal.envelope import envelope, refusal_result

        name, violations, repairs = decision.tool or "", decision.violations, decision.repairs
        language = self.policy.language
        answer = envelope(name, self.top, violations, repairs, language=language, again=again)
        return refusal_result(answer, has_output_schema=self.tool.has_output_schema)
