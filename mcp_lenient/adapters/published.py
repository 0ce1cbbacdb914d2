"""Decide about calls for a tool whose schema is published in another form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcp_lenient.engine.contract import Decision, ToolContract
from mcp_lenient.engine.faults import explained
from mcp_lenient.engine.schema_validator import WrappedValidator
from mcp_lenient.portable.publishing import Published, is_any_value, read_back, spelled_back
from mcp_lenient.refusal.locations import Refused
from mcp_lenient.schema.drafts import with_subschemas
from mcp_lenient.types import Fault, Path, Repair
from mcp_lenient.values.display import place as shown_place
from mcp_lenient.values.json_values import plain, pointer, tokens_of

if TYPE_CHECKING:
    from mcp_lenient.engine.observer import Observer
    from mcp_lenient.engine.reader import Plan

_WORDS = {"missing": "is missing", "unknown": "is not a known name", "type": "has the wrong type"}


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
        own = [Fault(each.path, "value", reason=each.reason) for each in read.unreadable]
        told = {each.path[:1] for each in own}
        refused = Refused(self.plan.top, read.arguments, self.plan.policy)
        others = (
            self._said(_by_author(refused, each), arguments) for each in self.validator.faults(read.arguments)
        )
        return (*own, *(each for each in others if each.path[:1] not in told))

    def _said(self, fault: Fault, sent: Mapping[str, Any]) -> Fault:
        """Return a fault of the author's form at its place in the published one."""
        path = self.published.published_path(fault.path, sent)
        if len(path) >= len(fault.path):
            return replace(fault, path=path)
        inside: Path = fault.path[len(path) :]
        words = _WORDS.get(
            fault.kind, f"is not accepted ({fault.keyword})" if fault.keyword else "is not accepted"
        )
        return Fault(
            path, "value", fault.detail, fault.error_code, reason=f"'{shown_place(inside)}' in it {words}"
        )

    def distinguishes(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Return whether the tool receives different values from the two."""
        first, second = read_back(self.published, one), read_back(self.published, other)
        return self.validator.distinguishes(first.arguments, second.arguments)


def _by_author(refused: Refused, fault: Fault) -> Fault:
    """Return a fault with the author's values or limit, which the published schema may only describe."""
    place = refused.look(fault.path)
    if place.node is None or fault.of_name:
        return fault
    if fault.kind == "value" and not fault.detail:
        found = (each for each in explained(refused, [fault]) if each.path == fault.path)
        return next((each for each in found if each.keyword != "type"), fault)
    return replace(fault, node=fault.node or place.node) if any(way.enum for way in place.ways) else fault


def _with_any_values(schema: Any) -> Any:
    """Return a published schema that also takes an author's any value as it is, so that none is repaired."""
    if not isinstance(schema, Mapping):
        return schema
    if is_any_value(schema):
        return {name: each for name, each in schema.items() if name == "description"}
    return with_subschemas(schema, _with_any_values)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedContract(ToolContract):
    """The contract of a tool in its published form. Its decisions hold arguments in the author's form.

    Repairs, violations and fixes speak of the published form.

    Attributes:
        inner: The contract in the author's form.
        published: The published schema, and how values are said in it.
    """

    inner: ToolContract
    published: Published

    @classmethod
    def around(cls, inner: ToolContract, published: Published) -> ToolContract:
        """Return the contract of a tool whose schema is published so; ``inner`` where values are said alike."""
        if published.codec is None:
            return inner
        policy, plan = inner.plan.policy, inner.plan
        # The form may not say that other names are forbidden; names are repaired where they are.
        closed = {"additionalProperties": False} if plan.top.closed else {}
        outer = ToolContract.of_schema(
            {**_with_any_values(published.schema), **closed},
            policy.changed(secret=policy.secret | published.secret),
            destructive=plan.destructive,
            read_only=plan.read_only,
            tool=plan.tool,
            validator=PublishedValidator(inner.validator, published, plan),
        )
        return cls(outer.plan, outer.validator, inner=inner, published=published)

    def decide(
        self,
        arguments: Mapping[str, Any],
        observer: Observer | None = None,
        *,
        is_rejected: bool = False,  # noqa: ARG002 - another form may be accepted
    ) -> Decision:
        """Accept, repair or refuse arguments of the published form, or of the author's."""
        read = spelled_back(self.published, arguments)
        plainly = plain(read.arguments)
        if not read.unreadable and self.inner.accepts(plainly):
            return Decision("accepted", plainly, (), (), self.plan.policy.mode, self.plan.tool)
        found = ToolContract.decide(self, arguments, observer)
        if any(self._gives_only_value(each.pointer) for each in found.repairs):
            return self.inner.decide(read.arguments)
        if found.status != "refused":
            return replace(found, arguments=read_back(self.published, found.arguments).arguments)
        if all(each.may_be_repaired for each in read.unreadable):
            other = self.inner.decide(read.arguments)
            if other.status != "refused":
                return replace(other, repairs=tuple(map(self._said, other.repairs)))
        return found

    def _gives_only_value(self, sent: str) -> bool:
        """Return whether a repair is in a parameter whose only allowed value the published schema does not say."""
        names = {self.published.published_path((name,))[0] for name in self.published.only_value}
        return bool(names) and (sent == "" or tokens_of(sent)[0] in names)

    def _said(self, repair: Repair) -> Repair:
        path = tuple(int(each) if each.isdecimal() else each for each in tokens_of(repair.pointer))
        return Repair(repair.rule, pointer(self.published.published_path(path)), repair.before, repair.after)
