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
from mcp_lenient.values.language import load_language, marked

_FLAT: Final = Repair("wrap_arguments", "", "object", "object")
_SEND: Final = marked("Send it with '{tool}' as {call}.")


class Inside(NamedTuple):
    """A call as the arguments of a dispatcher have it.

    Attributes:
        name: The tool's name.
        arguments: Its arguments as they were sent: an object, None, or anything else.
        rest: The dispatcher's other arguments.
        repairs: What is repaired of the dispatcher's arguments themselves.
        is_flat: Whether the arguments stand beside the name where they have a parameter of their own.
    """

    name: str
    arguments: Any
    rest: Mapping[str, Any]
    repairs: tuple[Repair, ...] = ()
    is_flat: bool = False


@dataclass(frozen=True, slots=True)
class DispatcherDecision(Decision):
    """The decision about a dispatcher's call together with that about the call inside it.

    Attributes:
        call: The call inside.
        inner: The decision about it.
        source: The tools that the dispatcher calls.
        is_recorded_below: Whether it is recorded when the call has run, since others may deny or refuse it where that tool is called.
    """

    _: KW_ONLY
    call: HostCall = field(repr=False, compare=False)
    inner: Decision = field(repr=False, compare=False)
    source: ToolSource = field(repr=False, compare=False)
    is_recorded_below: bool = False

    @property
    def passed_on(self) -> Any:
        """The arguments of the call inside, as the dispatcher gets them."""
        contract = cast("Contract", self.contract)
        return cast("Dispatcher", contract.policy.dispatches).inside(self.arguments) or {}

    def refused(self) -> dict[str, Any]:
        """Return the result that refuses the call, for a forwarded one that the server refuses as well."""
        return worded(self.inner.refused(), self.call, cast("Contract", self.inner.contract).policy.language)


def inside(dispatcher: Dispatcher, sent_arguments: Any, decision: Decision) -> Inside | None:
    """Return the call inside a dispatcher's call, by the decision about that; None if it holds none that can be told."""
    arguments, contract = decision.arguments, cast("Contract", decision.contract)
    name, value, repairs = dispatcher.named(arguments), dispatcher.inside(arguments), decision.repairs
    if name is None or isinstance(value, str):  # a dispatcher that takes a text reads it itself
        return None
    rest = {key: entry for key, entry in arguments.items() if key not in dispatcher.parameters}
    if decision.status != "refused" or dispatcher.arguments is None:
        raw = sent_arguments.get(dispatcher.arguments) if isinstance(sent_arguments, Mapping) else None
        if isinstance(raw, str):
            # The inner tool's schema reads it, and says what is kept of how its numbers are spelled.
            value, repairs = raw, tuple(step for step in repairs if step.pointer != dispatcher.pointer(""))
        return Inside(name, value, {} if dispatcher.arguments is None else rest, repairs)
    flat = {key: entry for key, entry in rest.items() if key not in contract.top.properties}
    are_names = bool(flat) and all(violation.code == "unknown" for violation in decision.violations)
    if not are_names or dispatcher.arguments in arguments or not contract.policy.allows(_FLAT.rule):
        return None
    beside = {key: entry for key, entry in rest.items() if key not in flat}
    return Inside(name, flat, beside, (*repairs, _FLAT), is_flat=True)


def stays_as_sent(call: Inside, outer: Decision, inner: Decision, source: ToolSource) -> bool:
    """Return whether a dispatcher's call is passed on as it was sent, since its form may not be changed for the tool inside.

    That one is destructive, not known, not to be repaired, or calls another itself.
    """
    contract, is_text = inner.contract, isinstance(call.arguments, str)
    is_read = is_text or bool(call.repairs)
    if contract is None:
        return is_read and source.answers_below
    is_dispatcher = contract.policy.dispatches is not None
    is_guarded = contract.plan.destructive or is_dispatcher or inner.mode != "repair"
    dispatcher = cast("Dispatcher", cast("Contract", outer.contract).policy.dispatches)
    is_nothing = outer.status != "refused" and dispatcher.inside(outer.arguments) is None
    # What the dispatcher reads as no arguments is none for the inner tool.
    return (is_read and is_guarded) or (is_text and is_nothing and inner.fate == "refused")


def is_decided(call: Inside, inner: Decision) -> bool:
    """Return whether the decision about the call inside is one about the dispatcher's call as well."""
    contract = inner.contract
    if contract is None:
        is_unknown = inner.refusal is not None or (inner.if_unknown is not None and inner.mode == "repair")
        return is_unknown and not call.is_flat
    is_other = call.is_flat and not call.arguments.keys() <= contract.top.properties.keys()
    # What is inside another dispatcher is decided when that is called.
    return not is_other and contract.policy.dispatches is None and inner.mode != "off"


def together(
    outer: Decision, whole: HostCall, call: Inside, inner: Decision, host_call: HostCall, source: ToolSource
) -> DispatcherDecision:
    """Return the decision about a dispatcher's call by those about its form and about the call inside.

    Args:
        outer: The decision about its form.
        whole: The dispatcher's call.
        call: The call inside, as it was sent.
        inner: The decision about that.
        host_call: The call inside by its right name.
        source: The tools that the dispatcher calls.
    """
    dispatcher = cast("Dispatcher", cast("Contract", outer.contract).policy.dispatches)
    arguments, is_renamed = outer.arguments, host_call.name != call.name
    values = call.arguments if call.is_flat else dispatcher.inside(arguments)
    steps = host_call.repairs[-1:] if is_renamed else ()
    if inner.fate == "repaired":
        values, steps = inner.arguments, (*steps, *inner.repairs)
    if steps or call.is_flat:
        arguments = dispatcher.call(host_call.name, values, call.rest)
    repairs = (*whole.repairs, *call.repairs, *dispatcher.placed(steps))
    is_refused = inner.contract is None or (inner.status == "refused" and inner.fate != "observed")
    is_recorded_below = source.answers_below and (is_refused or not repairs)
    return DispatcherDecision(
        "refused" if is_refused else "repaired" if repairs else "accepted",
        arguments,
        repairs,
        inner.violations,
        outer.mode,
        outer.tool,
        certain=inner.certain and not is_recorded_below,
        unrepairable="forward" if is_recorded_below else inner.unrepairable,
        contract=outer.contract,
        replaces=arguments is not whole.arguments,
        call=host_call,
        inner=inner,
        source=source,
        is_recorded_below=is_recorded_below,
    )


def worded(refusal: dict[str, Any], call: HostCall, language: str) -> dict[str, Any]:
    """Return the refusal of a call inside a dispatcher's as the dispatcher's answer, with what that must be sent."""
    dispatcher = None if call.via is None else call.via.dispatcher
    if dispatcher is None or call.via is None:
        return refusal
    answer, tool, say = refusal["_meta"][META_KEY], shown_name(call.via.tool), load_language(language)
    details = {**answer["details"], "called_through": {"tool": tool, "arguments": dispatcher.pointer("")}}
    for violation in (violations := [*map(dict, details.get("violations", ()))]):
        if "fixes" in violation:
            violation["fixes"] = [[*map(dispatcher.operation, patch)] for patch in violation["fixes"]]
    message, placed = answer["message"], {"violations": violations} if violations else {}
    if "repeated" not in details:
        name = "<name>" if answer["error_code"] == "UNKNOWN_TOOL" else call.name
        message = say.sentences(message, say(_SEND, tool=tool, call=dispatcher.shape(name)))
    answer = {**answer, "message": message, "details": {**details, **placed}}
    return refusal_result(answer, has_output_schema=call.via.has_output_schema)
