"""Repair or refuse the arguments of prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

import anyio
from fastmcp import Context
from fastmcp.exceptions import FastMCPError
from fastmcp.prompts.function_prompt import FunctionPrompt
from pydantic import TypeAdapter

from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.caller import caller_fields
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.compat.running import is_for_prompt_alone
from mcp_lenient.adapters.fastmcp.order import LastPlace, answered_at, first_judge, last_judged, put_in_order
from mcp_lenient.adapters.fastmcp.reentry import current
from mcp_lenient.adapters.fastmcp.tools import requested_version
from mcp_lenient.engine.contract import Contract
from mcp_lenient.engine.reader import Plan
from mcp_lenient.refusal.envelope import envelope
from mcp_lenient.refusal.text_block import text_block
from mcp_lenient.rules.policy import Policy
from mcp_lenient.telemetry.log import CallTelemetry, HostCall

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from fastmcp.prompts import Prompt, PromptResult
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.utilities.versions import VersionSpec
    from mcp.types import GetPromptRequestParams

    from mcp_lenient.engine.contract import Decision
    from mcp_lenient.types import Violation

PolicyFor = Callable[[str], Policy]
_NOTE: Final = re.compile(r"matching the following (?:JSON )?schema: (?=\{)")
_PATIENCE: Final = 5.0
"""Seconds for a new list of prompts before the last one is used."""


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The arguments that a prompt accepts.

    Attributes:
        names: Their names.
        schema: Returns their JSON Schema.
        converts: Raises ValueError, or an error of FastMCP, if the prompt cannot read one of these arguments.
        accepts: Whether the prompt accepts these arguments.
        certain: Whether its own function says so, not what a server lists.
        route: The mounted servers that the prompt is handed down through, with the name it has there.
    """

    names: frozenset[str]
    schema: Callable[[], Mapping[str, Any]]
    converts: Callable[[Mapping[str, Any]], object]
    accepts: Callable[[Mapping[str, Any]], bool]
    certain: bool = True
    route: tuple[tuple[FastMCP, str], ...] = ()

    def renders(self, arguments: Mapping[str, Any], *, closed: bool) -> bool:
        """Return whether the arguments are accepted; dropping a name counts only where it may be meant."""
        return (arguments.keys() <= self.names or (self.certain and not closed)) and self.accepts(arguments)

    def decide(self, name: str, policy: Policy, arguments: Mapping[str, Any]) -> Decision | None:
        """Return the decision about arguments; None if they stay as sent, as where a repair does not help."""
        schema = self.schema()
        properties = schema.get("properties", {})
        readable: dict[str, Any] = {  # what the prompt can read is never changed
            name: {}
            for name in properties.keys() & arguments.keys()
            if _passes(partial(self.converts, {name: arguments[name]}))
        }
        judged = {**schema, "properties": {**properties, **readable}}
        decision = Contract.of_schema(judged, policy, tool=name, as_texts=True).decide(arguments)
        decision = replace(
            decision,
            arguments=_as_texts(decision.arguments, arguments),
            certain=self.certain,
            unrepairable=policy.unrepairable,
        )
        helps = decision.status == "refused" or self.accepts(decision.arguments)
        return decision if helps and decision.status != "accepted" else None


class _Refused(Exception):  # noqa: N818 - it is not an error: it waits until all that may deny the prompt has let it pass
    """A refused prompt.

    Attributes:
        error: What the caller gets.
        record: Records the refusal.
        place: The mounted server behind whose middleware the caller gets it; None without middleware there.
    """

    def __init__(self, error: Exception, record: Callable[[], object], place: LastPlace | None) -> None:
        super().__init__()
        self.error = error
        self.record = record
        self.place = place


async def _repaired(
    context: MiddlewareContext[GetPromptRequestParams], policy_for: PolicyFor, telemetry: CallTelemetry
) -> MiddlewareContext[GetPromptRequestParams]:
    """Return the request, with repaired arguments if needed.

    Raises:
        _Refused: When the arguments are refused.
    """
    fastmcp_context, message, started = context.fastmcp_context, context.message, perf_counter_ns()
    policy, arguments = policy_for(message.name), message.arguments or {}
    if fastmcp_context is None or policy.mode == "off":
        return context
    prompt = await _arguments_of(fastmcp_context.fastmcp, message.name, requested_version(message))
    if prompt is None or await anyio.to_thread.run_sync(
        partial(prompt.renders, arguments, closed=policy.closed)
    ):
        return context
    if not prompt.certain:
        prompt = await _listed_anew(fastmcp_context.fastmcp, message) or prompt
    decision = await anyio.to_thread.run_sync(prompt.decide, message.name, policy, arguments)
    if decision is None:
        return context
    # What the prompt converts is open in the contract's schema.
    plan = Plan(prompt.schema(), policy)
    call = HostCall(message.name, arguments, started, partial(caller_fields, fastmcp_context))
    record = partial(telemetry.record_decision, call, plan, decision)
    caller = current.get()
    is_nested = caller is not None and caller.request is fastmcp_context.request_context
    if decision.fate == "refused" and not is_nested:
        place = last_judged(fastmcp_context.fastmcp, message.name, prompt.route)
        raise _Refused(_refusal(message.name, plan, decision), record, place)
    record()
    if decision.fate == "repaired":
        return context.copy(message=message.model_copy(update={"arguments": dict(decision.arguments)}))
    return context  # FastMCP's exceptions reach a tool's body unchanged


async def passed_on(
    context: MiddlewareContext[GetPromptRequestParams],
    call_next: CallNext[GetPromptRequestParams, PromptResult],
    policy_for: PolicyFor,
    telemetry: CallTelemetry,
    *,
    trusts: bool,
) -> PromptResult:
    """Pass a prompt on with repaired arguments, or as it was sent, if its refusal waits for what may deny it.

    Raises:
        MCPError: When the arguments are refused, and nothing else may deny the prompt; its message and data are the envelope.
    """
    fastmcp_context, message = context.fastmcp_context, context.message
    is_judged = (
        fastmcp_context is not None and not trusts and first_judge(fastmcp_context, message.name) is not None
    )
    if fastmcp_context is None or is_judged or not is_for_prompt_alone():
        return await call_next(context)
    try:
        context = await _repaired(context, policy_for, telemetry)
    except _Refused as refused:
        if not put_in_order(fastmcp_context.fastmcp).others_see_calls:
            return await _refused_at(refused, message, context, call_next)
        token = _pending.set((message, refused))
        try:
            return await call_next(context)
        finally:
            _pending.reset(token)
    return await call_next(context)


_pending: ContextVar[tuple[GetPromptRequestParams, _Refused] | None] = ContextVar(
    "mcp_lenient_refused_prompt", default=None
)


async def refused_or_passed_on(
    context: MiddlewareContext[Any], call_next: CallNext[Any, PromptResult]
) -> PromptResult:
    """Refuse a prompt that all other middleware of the server has let pass unchanged; pass any other on.

    Raises:
        MCPError: When it is refused, and no mounted server may deny it.
    """
    pending = _pending.get()
    if pending is None or pending[0] != context.message:
        return await call_next(context)
    return await _refused_at(pending[1], pending[0], context, call_next)


async def _refused_at(
    refused: _Refused,
    message: GetPromptRequestParams,
    context: MiddlewareContext[Any],
    call_next: CallNext[Any, PromptResult],
) -> PromptResult:
    """Refuse a prompt, behind the middleware of the mounted servers that it would pass."""
    if refused.place is None:
        refused.record()
        raise refused.error

    async def answer(context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        if context.message.arguments == message.arguments:
            refused.record()
            raise refused.error
        return await call_next(context)

    with answered_at(refused.place, answer):
        return await call_next(context)


async def _arguments_of(server: FastMCP, name: str, version: VersionSpec | None) -> _Arguments | None:
    """Return the arguments of a prompt, found through mounted servers; None if there is no such prompt."""
    prompt = await server.get_prompt(name, version)
    below = None if prompt is None else compat.delegate(prompt)
    if below is not None:
        async with Context(fastmcp=below[0]):
            arguments = await _arguments_of(*below)
        return None if arguments is None else replace(arguments, route=(below[:2], *arguments.route))
    if isinstance(prompt, FunctionPrompt):
        names = frozenset(argument.name for argument in prompt.arguments or ())
        schema = cache(lambda: TypeAdapter(prompt.fn).json_schema())  # type: ignore[arg-type]
        return _Arguments(names, schema, partial(compat.prompt_values, prompt), partial(_renders, prompt))
    return None if prompt is None else await anyio.to_thread.run_sync(_listed, prompt)


async def _listed_anew(server: FastMCP, message: GetPromptRequestParams) -> _Arguments | None:
    """Return what a server lists of a prompt now; FastMCP's proxies keep their lists for minutes."""
    with anyio.move_on_after(_PATIENCE):
        await server.list_prompts(run_middleware=False)
    return await _arguments_of(server, message.name, requested_version(message))


def _listed(prompt: Prompt) -> _Arguments:
    """Return what the list of a prompt's arguments says: names, and FastMCP's note of what is not a string."""
    arguments = prompt.arguments or ()
    stated = {argument.name: _stated(argument.description or "") for argument in arguments}
    definitions: dict[str, Any] = {}
    for name, schema in stated.items():
        parts = schema.pop("$defs", {})
        if all(definitions.setdefault(key, part) == part for key, part in parts.items()):
            continue
        stated[name] = {}
    required = [argument.name for argument in arguments if argument.required]
    schema = {"type": "object", "properties": stated, "required": required, "$defs": definitions}
    single = Contract.of_schema({**schema, "required": []}, Policy())

    def converts(arguments: Mapping[str, Any]) -> None:
        for name, text in arguments.items():
            if not single.accepts({name: text}) and not single.accepts({name: json.loads(text)}):
                raise ValueError(name)

    def accepts(arguments: Mapping[str, Any]) -> bool:
        return arguments.keys() >= set(required) and _passes(partial(converts, arguments))

    return _Arguments(frozenset(stated), lambda: schema, converts, accepts, certain=False)


def _stated(description: str) -> dict[str, Any]:
    """Return the schema in FastMCP's note to an argument that is not a string; {} if there is none."""
    note = _NOTE.search(description)
    schema: dict[str, Any] = {}
    with suppress(ValueError, RecursionError):
        schema = json.JSONDecoder().raw_decode(description, note.end())[0] if note else {}
    return schema


def _passes(validate: Callable[[], object]) -> bool:
    """Return whether FastMCP's validation raises no error about the arguments; other errors are bugs of an author's."""
    try:
        validate()
    except (FastMCPError, ValueError, RecursionError):
        return False
    except Exception:  # noqa: BLE001 - whatever an author's validator raises
        return True
    return True


def _renders(prompt: FunctionPrompt, arguments: Mapping[str, Any]) -> bool:
    """Return whether FastMCP's validation accepts these arguments for the prompt."""
    required = {argument.name for argument in prompt.arguments or () if argument.required}

    def validate() -> None:
        values = compat.prompt_values(prompt, arguments)
        compat.probe(prompt.fn, run_in_thread=True, strict=False).validate(values)

    return required <= arguments.keys() and _passes(validate)


def _as_texts(arguments: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return repaired arguments in the protocol's form: strings, with other values as JSON text."""
    return {name: value if sent.get(name) is value else _as_text(value) for name, value in arguments.items()}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _fixed_by_texts(violation: Violation) -> Violation:
    """Return the violation with the values in its fixes converted to strings."""
    fixes = (
        tuple({**step, "value": _as_text(step["value"])} if "value" in step else step for step in fix)
        for fix in violation.fixes
    )
    return replace(violation, fixes=tuple(fixes))


def _refusal(name: str, plan: Plan, decision: Decision) -> Exception:
    """Return the error for a refused request; prompts have no error results."""
    violations = tuple(map(_fixed_by_texts, decision.violations))
    language = plan.policy.language
    answer = envelope(name, plan.top, violations, decision.repairs, subject="prompt", language=language)
    return host.invalid_params(text_block(answer), answer)
