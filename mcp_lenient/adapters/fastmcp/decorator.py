"""``@lenient``: an author's declarations for one tool, with or without the middleware."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property, partial, wraps
from time import perf_counter_ns
from typing import Annotated, Any, TypeAlias, TypeVar, cast, get_args, get_origin, overload

from fastmcp import Context
from fastmcp.exceptions import ValidationError as InvalidArguments
from fastmcp.tools import FunctionTool, Tool, ToolResult
from fastmcp.utilities.types import is_class_member_of_type
from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, ValidationError, core_schema, to_json

from mcp_lenient.adapters.allowance import Allowance
from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.caller import caller_fields, identity
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.compat.running import (
    current_context,
    is_called_again,
    note_origins,
    noted_origin,
)
from mcp_lenient.adapters.fastmcp.order import first_judge, not_first
from mcp_lenient.adapters.fastmcp.reentry import current
from mcp_lenient.adapters.fastmcp.results import refused, repaired_result
from mcp_lenient.adapters.fastmcp.tools import reached
from mcp_lenient.adapters.gate import Gate, HostCall
from mcp_lenient.adapters.settings import settings
from mcp_lenient.declare.declarations import Declared, Normalize
from mcp_lenient.declare.decorator_metadata import Marks, ParameterMark, declared_of, mark, marks_of
from mcp_lenient.declare.normalizers.annotation import Aliases
from mcp_lenient.engine.contract import Contract, Decision
from mcp_lenient.engine.normalizing_validator import normalized
from mcp_lenient.engine.tool import HostTool
from mcp_lenient.rules.dispatchers import Dispatcher
from mcp_lenient.rules.policy import Face, Policy, face_named


class DecoratedFunction:
    """One decorated function, and how a client's calls of it run.

    Args:
        name: The name of the function.
        policy: What may be repaired.
    """

    def __init__(self, name: str, policy: Policy) -> None:
        self.name = name
        self.policy = policy

    @cached_property
    def gate(self) -> Gate:
        """What decides about calls; an operator's file is for the middleware alone."""
        return Gate(self.policy, own_spans=host.SPAN_IS_INSIDE, definitions="")

    def registered(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return a schema as it is; where FastMCP reads a function for a tool, have the tool's calls decided."""
        function = compat.registered_function()
        if function is not None and not compat.take_calls(function, self.calls):
            reason = "FastMCP has changed how it calls tools: @lenient needs the middleware"
            self.gate.telemetry.log.warn_once("hook_unavailable", self.name, reason)
        return handler(source)

    def calls(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return Pydantic's schema of a tool's calls, with a decision between arguments and function."""
        schema: Any = handler(source)
        tool = compat.running_tool()
        if tool is None:
            return cast("CoreSchema", schema)
        arguments = schema["arguments_schema"]
        # Strict mode only accepts the JSON spelling of a date or an enum from JSON, and what Python code
        # passes on is not JSON any more, so it is serialized again.
        as_json = core_schema.no_info_before_validator_function(to_json, core_schema.json_schema(arguments))
        again = core_schema.json_or_python_schema(json_schema=as_json, python_schema=arguments)
        calls = _Calls(self, tool, schema["function"])
        decided = core_schema.no_info_wrap_validator_function(calls.validated, again)
        return core_schema.call_schema(decided, calls.run, function_name=calls.body.__name__)


@dataclass(slots=True)
class ParameterTrigger(ParameterMark):
    """The marker in parameters' annotations, which leaves them as they are.

    FastMCP makes a function of its own around one with a ``Context``, and keeps nothing but its annotations.
    """

    owner: DecoratedFunction

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the type's own schema."""
        return self.owner.registered(source, handler)


@dataclass(slots=True)
class _Calls:
    """The calls of a tool that runs a decorated function, before they reach it.

    Attributes:
        owner: The function.
        tool: The tool that was called first.
        body: What FastMCP runs.
    """

    owner: DecoratedFunction
    tool: FunctionTool
    body: Callable[..., Any]
    _compiled: dict[Any, Contract] = field(default_factory=dict)

    def validated(self, sent: Any, handler: core_schema.ValidatorFunctionWrapHandler) -> Any:
        """Return the validated arguments of a call, with the decision before them if they are not as sent.

        Raises:
            ValidationError: Pydantic's, where the policy in force changes nothing.
        """
        running, gate, started = current.get(), self.owner.gate, perf_counter_ns()
        if running is not None and running.mode != "repair":
            return handler(sent)
        if self._may_be_right(sent):
            with suppress(ValidationError):
                validated = handler(sent)
                if gate.repeats.knows(self.tool.name):
                    gate.forget_at_once(self._called().name, partial(identity, current_context()))
                return validated
            if running is not None and running.refuses(self.tool.fn):
                return handler(sent)  # refused again, which the middleware records and words
        call, context = self._call(sent, started), current_context()
        # What a rewriter has passed on is accepted here, unless other middleware has changed it since.
        is_changed = running is not None and running.is_rewriting(self.tool.fn)
        is_unseen = noted_origin() in ("client", "program") and not is_called_again() and not is_changed
        if context is not None:
            judge = first_judge(context, call.name, runs=self._called())
            if judge is not None:
                is_unseen = False
                gate.telemetry.log.warn_once("not_first", context.fastmcp.name, not_first(judge))
        allowance = Allowance(call.arguments, is_unseen=is_unseen, header_name=None)
        decision = gate.decide_at_once(call, self._host_tool(), self._compiled, allowance)
        if decision.refusal is not None:
            return (decision,), {}
        args, kwargs = handler(decision.run_with(sent))
        return ((decision, *args) if decision.applied_repairs else args), kwargs

    def _may_be_right(self, sent: Any) -> bool:
        """Return whether arguments go on as sent if FastMCP accepts them."""
        if self.owner.policy.closed or self.owner.policy.leaked_markup == "refuse":
            contract = self.owner.gate.compiled(self._host_tool(), self._compiled)
            return contract.accepts(sent) and not contract.normalized(sent)[1]
        normalizers = declared_of(self.tool.fn).normalizers
        outcome = normalized(sent, normalizers) if normalizers else None
        return outcome is None or not (outcome.repairs or outcome.faults)

    def _call(self, sent: Any, started: int) -> HostCall:
        return HostCall(self._called().name, sent, started, partial(caller_fields, current_context()))

    def _called(self) -> FunctionTool:
        """Return the tool that is called; in a worker thread, where it cannot be seen, the function's first."""
        return compat.running_tool() or self.tool

    def _host_tool(self) -> HostTool:
        tool, context = self._called(), current_context()
        strict = context is not None and host.is_strict(context.fastmcp)
        # FastMCP validates where this runs.
        return replace(reached(tool, strict=strict), in_thread=False)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run what FastMCP runs, or answer instead; tell of repairs in the result."""
        decision = args[0] if args else None
        if type(decision) is not Decision:
            return self.body(*args, **kwargs)
        if decision.refusal is not None:
            return self._answer(decision.refusal)
        result = self.body(*args[1:], **kwargs)
        if inspect.isawaitable(result) or inspect.isasyncgen(result) or inspect.isgenerator(result):
            return self._with_repairs_later(result, decision)
        return self._with_repairs(result, decision)

    def _answer(self, refusal: Mapping[str, Any]) -> ToolResult:
        """Return the envelope to a client; raise it to Python code, where a result would look like success."""
        call = current.get()
        is_first = (call is None or call.parent is None) and host.is_clients_call(self._called().name)
        if is_first and noted_origin() == "client" and not is_called_again():
            return refused(refusal)
        # FastMCP sends its text as an error result even if it masks errors.
        raise InvalidArguments(refusal["content"][0]["text"], log_level=logging.WARNING)

    async def _with_repairs_later(self, result: Any, decision: Decision) -> Any:
        """Await a result or run a generator, where FastMCP takes what that raises for an error of the body."""
        if inspect.isawaitable(result):
            return self._with_repairs(await result, decision)
        entries = list(result) if inspect.isgenerator(result) else [entry async for entry in result]
        return self._with_repairs(entries, decision)

    def _with_repairs(self, result: Any, decision: Decision) -> Any:
        if host.asks_for_input(result):
            return result
        return repaired_result(self._called().convert_result(result), decision)


F = TypeVar("F", bound=Callable[..., Any])
Declaration: TypeAlias = "Normalize | Aliases | tuple[Normalize | Aliases, ...]"
"""What is declared of one parameter: a normalizer, other names, or several of both in a tuple."""


@overload
def lenient(function: F, /) -> F: ...


@overload
def lenient(
    *,
    policy: Policy | Declaration | None = None,
    publish: Face | str | Declaration | None = ...,
    dispatches: Dispatcher | Declaration | None = None,
    **parameters: Declaration,
) -> Callable[[F], F]: ...


def lenient(
    function: Callable[..., Any] | None = None,
    /,
    *,
    policy: Policy | Declaration | None = None,
    publish: Any = ...,
    dispatches: Any = None,
    **parameters: Declaration,
) -> Any:
    """Make one tool lenient, and declare what its parameters accept. Write it below ``@mcp.tool``.

    Each call that FastMCP makes of it is repaired, or answered with the envelope, and logged. What never reaches it,
    as arguments sent as one text, needs :class:`mcp_lenient.LenientMiddleware` on the server. The function keeps its
    signature, docstring and schema, and is still called directly as before.

    >>> from mcp_lenient import lenient
    >>> from mcp_lenient.normalizers import aliases, tags
    >>> @lenient(tags=tags(), task=aliases("query", "q"))
    ... def store_context(content: str, task: str, tags: list[str] | None = None) -> dict:
    ...     return {"content": content, "task": task, "tags": tags}
    >>> store_context("a note", task="keep")
    {'content': 'a note', 'task': 'keep', 'tags': None}

    Args:
        function: The function, if the decorator is used without parentheses.
        publish: The form in which :class:`mcp_lenient.LenientMiddleware` publishes the schema of this tool; None for as
            it is written, whatever form others have. (For a parameter of this name as well.)
        dispatches: How this tool calls the tool that its arguments name, a :func:`mcp_lenient.dispatcher`: the middleware
            repairs and refuses the call inside as well. (For a parameter of this name as well.)
        policy: The policy of this tool. (If a parameter has this name, its declaration may be given here too.)
        parameters: Declarations by parameter. Normalizers always run, in order, before the
            value is validated.

    Raises:
        TypeError: When a declaration is invalid, or names no parameter of the function.
    """
    declarations = dict(parameters)
    if policy is not None and not isinstance(policy, Policy):
        declarations["policy"] = policy
        policy = None
    own_policy, fields = policy, dict[str, Any]()
    if publish is None or isinstance(publish, (str, Face)):
        fields["publish"] = face_named("unchanged" if publish is None else publish)
    elif publish is not ...:
        declarations["publish"] = publish
    if policy is not None and policy.dispatches is not None:  # without the middleware it has no effect
        fields["dispatches"], own_policy = policy.dispatches, policy.changed(dispatches=None)
    if isinstance(dispatches, Dispatcher):
        fields["dispatches"] = dispatches
    elif dispatches is not None:
        declarations["dispatches"] = dispatches

    def decorate(written: Callable[..., Any]) -> Callable[..., Any]:
        declared = replace(_declared(written, declarations), policy=fields)
        return _decorated(written, declared, own_policy)

    return decorate if function is None else decorate(function)


def _declared(function: Callable[..., Any], declarations: Mapping[str, Declaration]) -> Declared:
    if isinstance(function, Tool) or compat.is_registered(function):
        msg = (
            f"lenient: {_name(function)} is a tool already, which would not see what is declared; "
            "write @mcp.tool or @tool above @lenient."
        )
        raise TypeError(msg)
    if isinstance(function, (classmethod, staticmethod)) or not inspect.isroutine(function):
        above = f": write @{type(function).__name__} above it" if inspect.isroutine(function) else ""
        msg = f"lenient takes a function or method, got {function!r}{above}."
        raise TypeError(msg)
    if marks_of(function) is not None:
        msg = f"lenient: {_name(function)} is decorated already; one @lenient takes all declarations."
        raise TypeError(msg)
    names = inspect.signature(function).parameters
    normalizers: dict[str, tuple[Normalize, ...]] = {}
    aliases: dict[str, tuple[str, ...]] = {}
    for name, declaration in declarations.items():
        if name not in names:
            near = get_close_matches(name, names)
            meant = f" Did you mean {near[0]!r}?" if near else f" Its parameters are {', '.join(names)}."
            msg = f"lenient: {_name(function)} has no parameter {name!r}.{meant}"
            raise TypeError(msg)
        entries: tuple[object, ...] = declaration if isinstance(declaration, tuple) else (declaration,)
        wrong = [entry for entry in entries if not isinstance(entry, Aliases) and not _normalizes(entry)]
        if wrong:
            msg = f"lenient: {name} takes a normalizer or aliases(...), got {wrong[0]!r}."
            raise TypeError(msg)
        own: tuple[Any, ...] = tuple(entry for entry in entries if not isinstance(entry, Aliases))
        if own:
            normalizers[name] = own
        others = tuple(other for entry in entries if isinstance(entry, Aliases) for other in entry.names)
        if others:
            aliases[name] = others
    return Declared(normalizers, aliases)


def _normalizes(entry: object) -> bool:
    """Return whether it can be called with one value; a normalizer factory that was not called cannot."""
    if not callable(entry) or inspect.iscoroutinefunction(entry):
        return False
    try:
        inspect.signature(entry).bind(None)
    except TypeError:
        return False
    except ValueError:
        return True  # a builtin without a signature
    return True


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", None) or getattr(function, "name", repr(function)))


def _decorated(function: Callable[..., Any], declared: Declared, policy: Policy | None) -> Callable[..., Any]:
    note_origins()
    owner = DecoratedFunction(_name(function), settings().bounded(policy or Policy()))
    decorated = _wrapped(function)
    hints = _hints(function)
    if owner.policy.mode != "off":
        trigger = ParameterTrigger(owner)
        hints |= {
            name: _triggering(hints[name], trigger)
            for name in inspect.signature(function).parameters
            if name in hints
        }
        decorated.__get_pydantic_core_schema__ = owner.registered  # type: ignore[attr-defined]
    decorated.__annotations__ = hints
    mark(decorated, Marks(declared, policy, function, decorated))
    return decorated


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that can be marked while the author's stays as it is."""
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def run_async(*args: Any, **kwargs: Any) -> Any:
            return await function(*args, **kwargs)

        return run_async

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return run


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    written = dict(getattr(function, "__annotations__", {}))
    try:
        resolved = compat.function_hints(function)
    except (NameError, TypeError):
        return written  # a forward reference: FastMCP resolves it, even inside Annotated
    return {**written, **resolved}


def _triggering(annotation: Any, trigger: ParameterTrigger) -> Any:
    """Return a parameter's annotation with the trigger, without a change of meaning."""
    if _is_context(annotation):
        return annotation
    kind, *notes = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    if len(notes) == 1 and isinstance(notes[0], str):
        # FastMCP only reads a string as a description if it is alone.
        annotation = Annotated[kind, Field(description=notes[0])]
    return Annotated[annotation, trigger]


def _is_context(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.split("|")[0].strip().rpartition(".")[2] == Context.__name__
    return is_class_member_of_type(annotation, Context)
