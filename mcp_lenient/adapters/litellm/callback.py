"""Callback for LiteLLM's MCP gateway, run before a call is forwarded to its server."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, final

from litellm.integrations.custom_logger import CustomLogger

from mcp_lenient.adapters.gate import Gate, HostCall
from mcp_lenient.adapters.litellm import private_gateway as gateway
from mcp_lenient.adapters.settings import takes_settings
from mcp_lenient.adapters.source import ToolSource
from mcp_lenient.engine.contract import Contract
from mcp_lenient.engine.tool import HostTool
from mcp_lenient.telemetry.otel import trace_fields

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.rules.policy import Policy

_CALLS: Final = frozenset({"call_mcp_tool", "mcp_call"})


class _EvenEmpty(dict[str, Any]):
    """Arguments that are true even if empty: the gateway treats empty arguments as none and forwards the original."""

    def __bool__(self) -> bool:
        return True


class _OneTool(ToolSource):
    """The tool of one call; the gateway has looked it up and shows the hook no other tool.

    Args:
        tool: The tool.
        compiled: The contracts of all tools, by name.
    """

    def __init__(self, tool: HostTool, compiled: dict[str, Contract]) -> None:
        self._tool = tool
        self.compiled = compiled

    async def tool(self, name: str, *, fresh: bool) -> HostTool | None:  # noqa: ARG002 - there is no other
        """Return the tool."""
        return self._tool


@final
class LenientCallback(CustomLogger):  # type: ignore[misc]  # LiteLLM is not installed for type checking
    """Make the tools of every MCP server behind LiteLLM's gateway lenient, as a callback in its ``config.yaml``.

    Calls are validated against the published schemas. Valid calls are forwarded unchanged; calls that can be read only
    one way are repaired; others are forwarded unchanged or, with ``Policy(unrepairable="refuse")``, answered with the
    envelope as JSON text. Model calls and other MCP requests are ignored.

    With the defaults, ``callbacks: ["mcp_lenient.adapters.litellm.lenient_callback"]`` is enough. LiteLLM calls a hook
    only if the class itself defines it, so do not subclass this one.

    All other settings are those of :class:`mcp_lenient.HostSettings`.

    Args:
        policy: What may be repaired; the defaults of :class:`mcp_lenient.Policy` when left out.
    """

    @takes_settings
    def __init__(self, policy: Policy | None = None, **settings: Unpack[HostSettings]) -> None:
        super().__init__()
        self._gate = Gate(policy, **settings)
        self._compiled: dict[str, Contract] = {}

    async def async_pre_call_hook(
        self,
        user_api_key_dict: object,  # noqa: ARG002 - LiteLLM passes these by name
        cache: object,  # noqa: ARG002
        data: dict[str, Any],
        call_type: str,
    ) -> dict[str, Any] | None:
        """Repair the arguments of one call, or raise the exception that the gateway answers with the envelope."""
        name, schema = data.get("mcp_tool_name"), data.get("mcp_input_schema")
        if call_type not in _CALLS or not isinstance(name, str) or not isinstance(schema, Mapping):
            return None
        server = data.get("mcp_server_name")
        tool = HostTool(f"{server or ''}/{name}", schema, gateway.hints(server, name))
        sent = data.get("modified_arguments") or data.get("mcp_arguments")
        call = HostCall(gateway.called_name(data, name), sent, who=partial(_caller_fields, data))
        decision = await self._gate.decide(call, _OneTool(tool, self._compiled))
        if decision.refusal is not None:
            envelope = decision.refusal["_meta"]["mcp_lenient"]
            raise gateway.refusal(server, envelope["error_code"], decision.refusal["content"][0]["text"])
        return _with_arguments(data, sent, decision.run_with({})) if decision.replaces else None


lenient_callback = LenientCallback()
"""The callback with the default policy, to be named in ``config.yaml``."""


def _with_arguments(data: dict[str, Any], sent: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the call with other arguments, in every place that the gateway and its guardrails read."""
    changed = {**data, "mcp_arguments": arguments, "modified_arguments": _EvenEmpty(arguments)}
    written, messages = f"\nArguments: {sent}", data.get("messages")
    if (
        isinstance(messages, list)
        and len(messages) == 1
        and str(messages[0].get("content")).endswith(written)
    ):
        text = messages[0]["content"].removesuffix(written)
        changed["messages"] = [{**messages[0], "content": f"{text}\nArguments: {arguments}"}]
    return changed


def _caller_fields(data: Mapping[str, Any]) -> dict[str, str | None]:
    metadata = data.get("metadata")
    headers = metadata.get("headers") if isinstance(metadata, Mapping) else None
    session = headers.get("mcp-session-id") if isinstance(headers, Mapping) else None
    return {
        "server": _text(data.get("mcp_server_name")),
        "subject": _text(data.get("user_api_key_user_id")),
        "session_id": _text(session),
        **trace_fields(),
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
