"""Check tool calls in a hook of an agent framework before they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mcp_lenient.adapters.gate import Gate, HostCall
from mcp_lenient.adapters.settings import takes_settings
from mcp_lenient.engine.contract import Contract
from mcp_lenient.engine.tool import HostTool
from mcp_lenient.errors import SchemaError
from mcp_lenient.types import Repair

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.rules.policy import Policy


class ToolObject(Protocol):
    """A tool object of the official SDK 1 or 2."""

    def model_dump(self, *, by_alias: bool) -> dict[str, Any]:
        """Return the tool as the protocol has it."""
        ...


@dataclass(frozen=True, slots=True)
class OutgoingCall:
    """The checked call.

    Attributes:
        arguments: The arguments to send; the same object if they were valid.
        repairs: The changes made.
        refusal: The envelope as JSON text, for the model instead of a result; None if the call is sent.
    """

    arguments: Any
    repairs: tuple[Repair, ...] = ()
    refusal: str | None = None


class LenientCalls:
    """Repair the tool calls of an agent, in its framework's hook before a call.

    Calls are validated against the published schemas. Valid calls are unchanged; calls that can be read only one way
    are repaired; others are forwarded unchanged or, with ``Policy(unrepairable="refuse")``, refused with the envelope.
    Repairs and refusals are logged without values. Threads may share an instance.

    >>> schema = {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
    >>> call = LenientCalls().check({"name": "store", "inputSchema": schema}, {"tags": "['a']"})
    >>> call.arguments, call.refusal
    ({'tags': ['a']}, None)

    All other settings are those of :class:`mcp_lenient.HostSettings`.

    Args:
        policy: What may be repaired; the defaults of :class:`mcp_lenient.Policy` when left out.
    """

    @takes_settings
    def __init__(self, policy: Policy | None = None, **settings: Unpack[HostSettings]) -> None:
        self._gate = Gate(policy, **settings)
        self._compiled: dict[str, Contract] = {}

    def check(self, tool: ToolObject | Mapping[str, Any], arguments: Any) -> OutgoingCall:
        """Return the arguments to send, or the refusal.

        Args:
            tool: The tool as its server lists it: an object of the official SDK, or a mapping with ``name``,
                ``inputSchema`` and optional ``annotations``.
            arguments: The model's arguments, as an object or JSON text; never modified.

        Raises:
            SchemaError: When the tool has no name, or its input schema is not an object.
        """
        listed = tool if isinstance(tool, Mapping) else tool.model_dump(by_alias=True)
        if not isinstance(listed.get("name"), str) or not isinstance(listed.get("inputSchema"), Mapping):
            keys = ", ".join(sorted(map(repr, listed))) or "none"
            msg = f"A tool must have a 'name' and an 'inputSchema' that is an object; this one has the keys {keys}."
            raise SchemaError(msg)
        call = HostCall(listed["name"], arguments)
        decision = self._gate.decide_at_once(call, HostTool.listed(listed), self._compiled)
        if decision.refusal is not None:
            return OutgoingCall(arguments, refusal=decision.refusal["content"][0]["text"])
        return OutgoingCall(decision.run_with(arguments), decision.applied_repairs)
