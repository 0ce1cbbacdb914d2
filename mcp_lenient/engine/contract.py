"""The decision about one call's arguments: an adapter finds the tool, asks its contract, runs it or answers, and logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from mcp_lenient.engine.observer import ObservedValidator, Observer
from mcp_lenient.engine.reader import Plan
from mcp_lenient.engine.repair import repair
from mcp_lenient.engine.schema_validator import ClosedValidator, MarkupValidator, PublishedSchemaValidator
from mcp_lenient.engine.spelled_numbers import keeping_digits
from mcp_lenient.schema.compile import readable
from mcp_lenient.types import Outcome, Repair, Status, Validator, Violation

if TYPE_CHECKING:
    from mcp_lenient.rules.policy import Mode, Policy, Unrepairable
    from mcp_lenient.schema.compile import ReadableSchema


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
        arguments: The arguments to run the tool with: the same object when ``accepted``; partly repaired when
            ``refused``.
        repairs: The changes made.
        violations: The remaining errors; empty unless ``refused``.
        mode: The mode of the policy in force: whether an adapter applies this decision or only logs it.
        tool: The tool's name, where it is known.
        certain: Whether a refusal is the tool's own, and does not rest on its published schema alone.
        unrepairable: What the policy does with a call that only the published schema refuses; None to refuse it.
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


@dataclass(frozen=True, slots=True)
class ToolContract:
    """A tool's schema under a policy, and the validation run after the normalizers that its author declared.

    ``as_texts``: whether a client can send nothing but strings, as to a prompt; the violations ask for nothing else.
    """

    plan: Plan
    validator: Validator
    as_texts: bool = False

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
    ) -> ToolContract:
        """Make the contract of a tool with this input schema, of any draft; nothing is fetched.

        ``validator`` is the tool's own; None where only the published schema is known. Raises SchemaError for a schema that
        is not a JSON object.
        """
        read = readable(schema)
        if policy.closed:
            from mcp_lenient.schema.closing import closed

            read = closed(read)
        if validator is None:
            from mcp_lenient.schema.defaults import with_defaults

            read = with_defaults(read)
        plan = Plan(
            read,
            policy,
            destructive=destructive,
            read_only=read_only,
            tool=tool,
            by_schema=validator is None or validator.by_schema,
        )
        own = PublishedSchemaValidator(read, plan.top) if validator is None else validator
        if plan.corrects_names and isinstance(own, PublishedSchemaValidator):
            own = own.correcting_names()
        if policy.closed and validator is not None:
            own = ClosedValidator(own, plan.top)
        if policy.leaked_markup == "refuse":
            own = MarkupValidator(own, plan.top)
        return cls(plan, own, as_texts)

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the tool accepts these arguments unchanged."""
        return self.validator.accepts(arguments)

    def decide(
        self, arguments: Mapping[str, Any], observer: Observer | None = None, *, is_rejected: bool = False
    ) -> Decision:
        """Accept, repair or refuse arguments, without running the tool, I/O or logging.

        The arguments are never modified; those parsed from text keep the source spelling of numbers. ``is_rejected``: the
        validator has already refused them.
        """
        plan, validator = self.plan, self.validator
        if observer is not None:
            validator = ObservedValidator(validator, observer)
        sent = keeping_digits(plan.top, arguments, validator)
        if not is_rejected and validator.accepts(sent):
            outcome = Outcome("accepted", sent)
        else:
            outcome = repair(plan, arguments, validator, observer)
        if observer is not None:
            observer.decided(outcome)
        found: tuple[Violation, ...] = ()
        if outcome.status == "refused":
            from mcp_lenient.engine.offers import violations_of

            found = violations_of(plan, arguments, outcome, self.validator, as_texts=self.as_texts)
        return Decision(
            outcome.status, outcome.arguments, outcome.repairs, found, plan.policy.mode, plan.tool
        )
