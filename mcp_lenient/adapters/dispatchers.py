"""The call inside a dispatcher's call: what is decided about both, and how its refusal is worded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final, NamedTuple, cast

from mcp_lenient.adapters.source import ToolSource
from mcp_lenient.engine.contract import Contract, Decision
from mcp_lenient.refusal.envelope import META_KEY, refusal_result
from mcp_lenient.rules.dispatchers import Dispatcher
from mcp_lenient.telemetry.log import HostCall
from mcp_lenient.types import Repair
from mcp_lenient.values.display import shown_name
from mcp_lenient.values.language import language as texts
from mcp_lenient.values.language import marked

_FLAT: Final = Repair("wrap_arguments", "", "object", "object")
_SEND: Final = marked("Send it with '{tool}' as {call}.")


class Inside(NamedTuple):
    """A call as the arguments of a dispatcher have it.

    Attributes:
        name: The tool's name.
        arguments: Its arguments as they were sent: an object, None, or anything else.
        rest: The dispatcher's other arguments.
        is_flat: Whether the arguments stand beside the name where they have a parameter of their own.
    """

    name: str
    arguments: Any
    rest: Mapping[str, Any]
    is_flat: bool = False


@dataclass(frozen=True, slots=True)
class Dispatched(Decision):
    """The decision about a dispatcher's call together with that about the call inside it.

    Attributes:
        call: The call inside.
        inner: The decision about it.
        source: The tools that the dispatcher calls.
        is_left: Whether it is recorded when the call has run, since others may deny or refuse it where that tool is called.
    """

    _: KW_ONLY
    call: HostCall = field(repr=False, compare=False)
    inner: Decision = field(repr=False, compare=False)
    source: ToolSource = field(repr=False, compare=False)
    is_left: bool = False

    @property
    def has_output_schema(self) -> bool:
        """Whether clients validate the dispatcher's results against a schema."""
        return cast("Contract", self.contract).tool.has_output_schema

    @property
    def passed_on(self) -> Any:
        """The arguments of the call inside, as the dispatcher gets them."""
        contract = cast("Contract", self.contract)
        return cast("Dispatcher", contract.policy.dispatches).inside(self.arguments) or {}

    def refused(self) -> dict[str, Any]:
        """Return the result that refuses the call, for a forwarded one that the server refuses as well."""
        return worded(self.inner.refused(), self.call, cast("Contract", self.inner.contract).policy.language)


def inside(form: Dispatcher, sent: Any, decision: Decision) -> Inside | None:
    """Return the call inside a dispatcher's call, by the decision about that; None if it holds none that can be told."""
    arguments, contract = decision.arguments, decision.contract
    name = form.named(arguments)
    if name is None or contract is None:
        return None
    rest = {key: value for key, value in arguments.items() if key not in form.words}
    if decision.status != "refused":
        raw = sent.get(form.arguments) if isinstance(sent, Mapping) and form.arguments is not None else None
        value = form.inside(arguments)
        if isinstance(value, str):
            return None  # the dispatcher takes a text, which it reads itself
        # A text is read by the inner tool's schema, which says what is kept of how its numbers are spelled.
        return Inside(name, raw if isinstance(raw, str) else value, {} if form.arguments is None else rest)
    flat = {key: value for key, value in rest.items() if key not in contract.top.properties}
    are_names = bool(flat) and all(violation.code == "unknown" for violation in decision.violations)
    if not are_names or form.arguments in arguments or not contract.policy.allows(_FLAT.rule):
        return None
    return Inside(name, flat, {key: rest[key] for key in rest.keys() - flat.keys()}, is_flat=True)


def repairs_of_form(outer: Decision, form: Dispatcher, call: Inside) -> tuple[Repair, ...]:
    """Return what is repaired of a dispatcher's call itself; a text of arguments is read by the inner tool's schema."""
    is_text = isinstance(call.arguments, str)
    kept = tuple(repair for repair in outer.repairs if not (is_text and repair.pointer == form.pointer("")))
    return (*kept, _FLAT) if call.is_flat else kept


def together(
    outer: Decision, sent: Any, call: Inside, inner: Decision, host_call: HostCall, source: ToolSource
) -> Dispatched:
    """Return the decision about a dispatcher's call by those about its form and about the call inside.

    Args:
        outer: The decision about its form.
        sent: The dispatcher's arguments as they were sent.
        call: The call inside, as it was sent.
        inner: The decision about that.
        host_call: The call inside by its right name, with what was repaired of the form and of that name.
        source: The tools that the dispatcher calls.
    """
    contract = cast("Contract", outer.contract)
    form = cast("Dispatcher", contract.policy.dispatches)
    arguments = outer.arguments
    is_repaired = inner.fate == "repaired"
    if is_repaired or call.is_flat or host_call.name != call.name:
        values = (
            inner.arguments if is_repaired else call.arguments if call.is_flat else form.inside(arguments)
        )
        arguments = form.call(host_call.name, values, call.rest)
    renamed = host_call.repairs[len(repairs_of_form(outer, form, call)) :]
    placed = form.placed((*renamed, *(inner.repairs if is_repaired else ())))
    repairs = (*repairs_of_form(outer, form, call), *placed)
    is_refused = inner.contract is None or (inner.status == "refused" and inner.fate != "observed")
    is_left = source.answers_below and (is_refused or not repairs)
    return Dispatched(
        "refused" if is_refused else "repaired" if repairs else "accepted",
        arguments,
        repairs,
        inner.violations,
        outer.mode,
        outer.tool,
        certain=inner.certain and not is_left,
        unrepairable="forward" if is_left else inner.unrepairable,
        contract=contract,
        replaces=arguments is not sent,
        call=host_call,
        inner=inner,
        source=source,
        is_left=is_left,
    )


def worded(refusal: Mapping[str, Any], call: HostCall, language: str) -> dict[str, Any]:
    """Return the refusal of a call inside a dispatcher's as the dispatcher's answer, with what that must be sent."""
    form = None if call.via is None else call.via.form
    if form is None or call.via is None:
        return dict(refusal)
    answer, tool = refusal["_meta"][META_KEY], shown_name(call.via.tool)
    details = {**answer["details"], "called_through": {"tool": tool, "arguments": form.pointer("")}}
    if "violations" in details:
        details["violations"] = [_placed(violation, form) for violation in details["violations"]]
    message = answer["message"]
    if "repeated" not in details:
        name = "<name>" if answer["error_code"] == "UNKNOWN_TOOL" else call.name
        message = texts(language).sentences(message, texts(language)(_SEND, tool=tool, call=form.shape(name)))
    told = {**answer, "message": message, "details": details}
    return refusal_result(told, has_output_schema=call.via.has_output_schema)


def _placed(violation: Mapping[str, Any], form: Dispatcher) -> dict[str, Any]:
    """Return a violation whose fixes are those of the dispatcher's arguments."""
    if "fixes" not in violation:
        return {**violation}
    fixes = [
        [
            {
                key: form.pointer(value) if key in ("path", "from") else value
                for key, value in operation.items()
            }
            for operation in patch
        ]
        for patch in violation["fixes"]
    ]
    return {**violation, "fixes": fixes}
