"""Decide about calls for a tool whose schema is published in another form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mcp_lenient.engine.contract import Contract, Decision
from mcp_lenient.engine.faults import explain_faults
from mcp_lenient.engine.schema_validator import WrappedValidator
from mcp_lenient.portable.publishing import (
    Published,
    is_any_value,
    loosened,
    publish,
    read_back,
    spelled_back,
)
from mcp_lenient.refusal.locations import RefusedCall
from mcp_lenient.schema.drafts import with_subschemas
from mcp_lenient.types import Fault, Path, Repair
from mcp_lenient.values.display import path_text
from mcp_lenient.values.json_values import plain, pointer, tokens_of

if TYPE_CHECKING:
    from mcp_lenient.engine.observer import Observer
    from mcp_lenient.engine.reader import Plan
    from mcp_lenient.portable.forms import Form

_WORDS = {
    "missing": "is missing",
    "unknown": "is not a known name",
    "type": "has the wrong type",
    "ambiguous": "has several readings",
}


@dataclass(frozen=True, slots=True)
class PublishedValidator(WrappedValidator):
    """A tool's validator for calls of the published form, which are read back before they are judged."""

    published: Published
    plan: Plan

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the arguments can be read back, and the tool accepts the result."""
        read = read_back(self.published, arguments)
        return not read.unreadable and self.validator.accepts(read.arguments)

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Return what cannot be read back, and what the tool refuses elsewhere, at places of the published form."""
        read = read_back(self.published, arguments)
        unreadable = [Fault(place.path, "value", reason=place.reason) for place in read.unreadable]
        parameters = {fault.path[:1] for fault in unreadable}
        refused = RefusedCall(self.plan.top, read.arguments, self.plan.policy)
        others = (
            self._placed(_by_author(refused, fault), arguments)
            for fault in self.validator.faults(read.arguments)
        )
        return (*unreadable, *(fault for fault in others if fault.path[:1] not in parameters))

    def _placed(self, fault: Fault, sent: Mapping[str, Any]) -> Fault:
        """Return a fault of the author's form at its place in the published one."""
        path = self.published.published_path(fault.path, sent)
        if len(path) >= len(fault.path):
            return replace(fault, path=path)
        inside: Path = fault.path[len(path) :]
        words = _WORDS.get(
            fault.kind, f"is not accepted ({fault.keyword})" if fault.keyword else "is not accepted"
        )
        return Fault(
            path, "value", fault.detail, fault.error_code, reason=f"'{path_text(inside)}' in it {words}"
        )

    def distinguishes(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Return whether the tool receives different values from the two."""
        first, second = read_back(self.published, one), read_back(self.published, other)
        return self.validator.distinguishes(first.arguments, second.arguments)


def _by_author(refused: RefusedCall, fault: Fault) -> Fault:
    """Return a fault with the author's values or limit, which the published schema may only describe."""
    place = refused.location(fault.path)
    if place.node is None or fault.of_name:
        return fault
    if fault.kind == "value" and not fault.detail:
        explanations = (entry for entry in explain_faults(refused, [fault]) if entry.path == fault.path)
        return next((entry for entry in explanations if entry.keyword != "type"), fault)
    has_values = place.node is not None and place.node.members
    return replace(fault, node=fault.node or place.node) if has_values else fault


def _with_any_values(schema: Any) -> Any:
    """Return a published schema that also takes an author's any value as it is, so that none is repaired."""
    if not isinstance(schema, Mapping):
        return schema
    if is_any_value(schema):
        return {name: entry for name, entry in schema.items() if name == "description"}
    return with_subschemas(schema, _with_any_values)


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedContract(Contract):
    """The contract of a tool whose published form says values in another way than its author.

    Its decisions hold arguments in the author's form; repairs, violations and fixes speak of the published one.

    Attributes:
        inner: The contract in the author's form.
        published: The published schema, and how values are said in it.
    """

    inner: Contract
    published: Published

    @classmethod
    def around(cls, inner: Contract, published: Published) -> Contract:
        """Return the contract of a tool whose schema is published so; ``inner`` where values are said alike."""
        listed, form = published.schema, published.form.name
        if published.codec is None:
            return replace(inner, listed=listed, form=form)
        policy, plan = inner.policy, inner.plan
        # The form may not say that other names are forbidden; names are repaired where they are.
        closed = {"additionalProperties": False} if plan.top.closed else {}
        outer = Contract.of_schema(
            {**_with_any_values(listed), **closed},
            policy.changed(secret=policy.secret | published.secret),
            destructive=plan.destructive,
            read_only=plan.read_only,
            tool=plan.tool,
            validator=PublishedValidator(inner.validator, published, plan),
        )
        return cls(
            outer.plan,
            outer.validator,
            tool=inner.tool,
            policies=inner.policies,
            certain=inner.certain,
            normalizing=inner.normalizing,
            listed=listed,
            form=form,
            inner=inner,
            published=published,
        )

    @property
    def accepts_at_once(self) -> None:
        """None: arguments are read back first."""
        return None

    @cached_property
    def with_declared_repairs_only(self) -> Contract:
        """The author's contract, which reads no other form."""
        return self.inner.with_declared_repairs_only

    def read_back(self, arguments: Any) -> dict[str, Any] | None:
        """Return arguments of the published form in the author's; None if they are no object."""
        if not isinstance(arguments, Mapping):
            return None
        return dict(read_back(self.published, arguments).arguments)

    def decide_object(
        self,
        arguments: Mapping[str, Any],
        observer: Observer | None = None,
        *,
        is_rejected: bool = False,  # noqa: ARG002 - another form may be accepted
    ) -> Decision:
        """Decide about arguments of the published form, or of the author's."""
        read = spelled_back(self.published, arguments)
        author_arguments = plain(read.arguments)
        if not read.unreadable and self.inner.accepts(author_arguments):
            return self.accepted(author_arguments)
        decision = super().decide_object(arguments, observer)
        if any(self._gives_only_value(repair.pointer) for repair in decision.repairs):
            return replace(self.inner.decide_object(read.arguments), contract=self)
        if decision.status != "refused":
            return replace(decision, arguments=read_back(self.published, decision.arguments).arguments)
        if all(place.may_be_repaired for place in read.unreadable):
            inner_decision = self.inner.decide_object(read.arguments)
            if inner_decision.status != "refused":
                repairs = tuple(map(self._published_repair, inner_decision.repairs))
                return replace(inner_decision, repairs=repairs, contract=self)
        return decision

    def _gives_only_value(self, sent: str) -> bool:
        """Return whether a repair is in a parameter whose only allowed value the published schema does not say."""
        names = {self.published.published_path((name,))[0] for name in self.published.only_value}
        return bool(names) and (sent == "" or tokens_of(sent)[0] in names)

    def _published_repair(self, repair: Repair) -> Repair:
        path = tuple(int(token) if token.isdecimal() else token for token in tokens_of(repair.pointer))
        return Repair(repair.rule, pointer(self.published.published_path(path)), repair.before, repair.after)


def published_as(
    form: Form, inner: Contract, listed: Mapping[str, Any], warn: Callable[..., None]
) -> Contract:
    """Return the contract of a tool whose schema is published in a form."""
    published = publish(listed, replace(form, tolerant=False))
    if published.lost is not None:
        warn("form_unavailable", inner.tool.name, published.lost)
    contract = inner if published.schema is listed else PublishedContract.around(inner, published)
    return replace(contract, listed=loosened(published.schema), form=form.name) if form.tolerant else contract
