"""Repair or refuse the arguments of prompts and resource templates."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread
from fastmcp.exceptions import FastMCPError
from fastmcp.prompts.function_prompt import FunctionPrompt
from fastmcp.resources.template import FunctionResourceTemplate
from pydantic import TypeAdapter

from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.caller import caller_fields
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.tools import current, version_asked
from mcp_lenient.engine.contract import ToolContract
from mcp_lenient.refusal.envelope import Subject, envelope, written
from mcp_lenient.rules.policy import Policy
from mcp_lenient.schema.node import Tree
from mcp_lenient.telemetry.log import CallTelemetry, RecordedCall

if TYPE_CHECKING:
    from fastmcp import Context
    from fastmcp.server.middleware import MiddlewareContext
    from mcp.types import GetPromptRequestParams, ReadResourceRequestParams

    from mcp_lenient.engine.contract import Decision
    from mcp_lenient.schema.node import Node
    from mcp_lenient.telemetry.events import EventName
    from mcp_lenient.types import Violation

PolicyFor = Callable[[str], Policy]
_CONVERTED: Final[Mapping[Any, Callable[[str], object]]] = {
    int: int,
    float: float,
    bool: compat.template_boolean,
}
"""Annotations of template parameters for which FastMCP converts the string; all others get the string."""
_served: ContextVar[tuple[object, object] | None] = ContextVar("mcp_lenient_served", default=None)


@contextmanager
def serving(context: MiddlewareContext[Any]) -> Iterator[None]:
    """Mark requests made by a prompt or resource function to its own server as nested."""
    own = context.fastmcp_context
    token = _served.set(None if own is None else (own.request_context, own.fastmcp))
    try:
        yield
    finally:
        _served.reset(token)


def _is_nested(own: Context) -> bool:
    """Return whether a tool, prompt or resource body makes this request; FastMCP's exceptions reach it unchanged."""
    call = current.get()
    if call is not None and call.request is own.request_context:
        return True
    return _served.get() == (own.request_context, own.fastmcp)


async def repaired_prompt(
    context: MiddlewareContext[GetPromptRequestParams], policy_for: PolicyFor, telemetry: CallTelemetry
) -> MiddlewareContext[GetPromptRequestParams]:
    """Return the request, with repaired arguments if needed.

    Raises:
        MCPError: When the arguments are refused; its message and data are the envelope.
    """
    own, message, started = context.fastmcp_context, context.message, perf_counter_ns()
    policy, sent = policy_for(message.name), message.arguments or {}
    if own is None or policy.mode == "off":
        return context
    prompt = await own.fastmcp.get_prompt(message.name, version_asked(message))
    if not isinstance(prompt, FunctionPrompt):
        return context
    drops_none = not policy.closed or _declares(prompt, sent)
    if drops_none and await anyio.to_thread.run_sync(_renders, prompt, sent):
        return context
    schema = TypeAdapter(prompt.fn).json_schema()  # type: ignore[arg-type]
    judged = await anyio.to_thread.run_sync(_open_to_converted, schema, prompt, sent)
    decision = ToolContract.of_schema(judged, policy, tool=message.name, as_texts=True).decide(sent)
    arguments = _as_texts(decision.arguments, sent)
    if decision.status != "refused" and not await anyio.to_thread.run_sync(_renders, prompt, arguments):
        return context
    given = arguments if decision.status == "repaired" and policy.mode == "repair" else sent
    _record(telemetry, own, message.name, replace(decision, arguments=given), policy, started)
    if policy.mode == "observe" or (decision.status == "refused" and _is_nested(own)):
        return context
    if decision.status == "refused":
        decision = replace(decision, violations=tuple(map(_fixed_by_texts, decision.violations)))
        # What FastMCP converts is open in the contract's schema.
        raise _refused(message.name, Tree(schema).top, decision, policy, subject="prompt")
    return context.copy(message=message.model_copy(update={"arguments": arguments}))


async def check_resource(
    context: MiddlewareContext[ReadResourceRequestParams], policy_for: PolicyFor, telemetry: CallTelemetry
) -> None:
    """Refuse a URI whose parameters the template's function does not accept; a URI is never changed.

    Raises:
        MCPError: When it is refused; its message and data are the envelope.
    """
    own, uri, started = context.fastmcp_context, str(context.message.uri), perf_counter_ns()
    version = version_asked(context.message)
    if own is None or await own.fastmcp.get_resource(uri, version) is not None:
        return
    template = await own.fastmcp.get_resource_template(uri, version)
    if not isinstance(template, FunctionResourceTemplate):
        return
    policy, types = policy_for(template.name), _converted(template)
    sent = {name: text for name, text in (template.matches(uri) or {}).items() if name in types}
    wrong = {
        name: text
        for name, text in sent.items()
        if isinstance(text, str) and not _passes(partial(_CONVERTED[types[name]], text))
    }
    if policy.mode == "off" or not wrong:
        return
    schema = {
        "type": "object",
        "properties": {name: TypeAdapter(kind).json_schema() for name, kind in types.items()},
    }
    contract = ToolContract.of_schema(schema, policy.changed(rules=()), tool=template.name, as_texts=True)
    decision = contract.decide(wrong)
    _record(telemetry, own, template.name, decision, policy, started)
    if policy.mode == "repair" and not _is_nested(own):
        raise _refused(template.name, contract.plan.top, decision, policy, subject="resource")


def _record(
    telemetry: CallTelemetry, own: Context, name: str, decision: Decision, policy: Policy, started: int
) -> None:
    done: EventName = "call_repaired" if decision.status == "repaired" else "call_rejected"
    event: EventName = "call_observed" if policy.mode == "observe" else done
    caller = partial(caller_fields, own)
    call = RecordedCall(name, started, caller, secret=frozenset(policy.secret), arguments=decision.arguments)
    telemetry.record(event, call, repairs=decision.repairs, violations=decision.violations)


def _passes(validate: Callable[[], object]) -> bool:
    """Return whether FastMCP's validation raises no error about the arguments; other errors are bugs of an author's."""
    try:
        validate()
    except (FastMCPError, ValueError, RecursionError):
        return False
    except Exception:  # noqa: BLE001 - whatever an author's validator raises
        return True
    return True


def _declares(prompt: FunctionPrompt, arguments: Mapping[str, Any]) -> bool:
    """Return whether a prompt has all these arguments; FastMCP drops others."""
    return arguments.keys() <= {argument.name for argument in prompt.arguments or ()}


def _renders(prompt: FunctionPrompt, arguments: Mapping[str, Any]) -> bool:
    """Return whether FastMCP's validation accepts these arguments for the prompt."""
    required = {argument.name for argument in prompt.arguments or () if argument.required}

    def validate() -> None:
        values = compat.prompt_values(prompt, arguments)
        compat.probe(prompt.fn, run_in_thread=True, strict=False).validate(values)

    return required <= arguments.keys() and _passes(validate)


def _open_to_converted(
    schema: Mapping[str, Any], prompt: FunctionPrompt, sent: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the schema with parameters that FastMCP converts accepting what was sent, which is never changed."""
    properties = schema.get("properties", {})
    kept: dict[str, Any] = {
        name: {}
        for name in properties.keys() & sent.keys()
        if _passes(partial(compat.prompt_values, prompt, {name: sent[name]}))
    }
    return {**schema, "properties": {**properties, **kept}}


def _as_texts(arguments: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return repaired arguments in the protocol's form: strings, with other values as JSON text."""
    return {name: value if sent.get(name) is value else _as_text(value) for name, value in arguments.items()}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _fixed_by_texts(violation: Violation) -> Violation:
    """Return the violation with the values in its fixes converted to strings."""
    fixes = (
        tuple({**each, "value": _as_text(each["value"])} if "value" in each else each for each in fix)
        for fix in violation.fixes
    )
    return replace(violation, fixes=tuple(fixes))


def _converted(template: FunctionResourceTemplate) -> dict[str, Any]:
    parameters = inspect.signature(template.fn).parameters
    # Metadata of an annotation may not be hashable; a class always is.
    annotations = {name: each.annotation for name, each in parameters.items()}
    return {name: each for name, each in annotations.items() if isinstance(each, type) and each in _CONVERTED}


def _refused(name: str, top: Node, decision: Decision, policy: Policy, *, subject: Subject) -> Exception:
    """Return the error for a refused request; prompts and resources have no error results."""
    violations, repairs = decision.violations, decision.repairs
    safe, text = written(envelope(name, top, violations, repairs, subject=subject, language=policy.language))
    return host.invalid_params(text, safe)
