"""``@lenient``: an author's declarations for one tool, with or without the middleware."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property, partial, wraps
from time import perf_counter_ns
from typing import Annotated, Any, Final, NoReturn, TypeAlias, TypeVar, get_args, get_origin, overload

from fastmcp import Context
from fastmcp.decorators import get_fastmcp_meta
from fastmcp.exceptions import ValidationError as InvalidArguments
from fastmcp.tools import FunctionTool, Tool, ToolResult
from fastmcp.tools.function_tool import ToolMeta
from fastmcp.utilities.types import is_class_member_of_type
from pydantic import Discriminator, Field, GetCoreSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, ValidationError, core_schema, to_json

from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.caller import caller_fields
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.compat.running import current_context
from mcp_lenient.adapters.fastmcp.tools import FunctionValidator, as_result, current
from mcp_lenient.adapters.gate import is_destructive, is_read_only
from mcp_lenient.adapters.pydantic.faults import faults_of, makes_a_difference
from mcp_lenient.adapters.settings import settings
from mcp_lenient.declare.declared import Declared, Normalize
from mcp_lenient.declare.decorator_metadata import (
    Marks,
    ParameterMark,
    declared_of,
    field_of,
    mark,
    marks_of,
    published_name,
    runs_first,
)
from mcp_lenient.declare.normalizers.annotation import Aliases, annotated_normalizers
from mcp_lenient.engine.contract import ToolContract, own_validator
from mcp_lenient.engine.declared import NormalizingValidator, unchanged_by
from mcp_lenient.engine.reader import Plan
from mcp_lenient.portable.forms import Form, form_named
from mcp_lenient.refusal.envelope import as_text, envelope
from mcp_lenient.rules.policy import Policy
from mcp_lenient.schema.node import Tree
from mcp_lenient.telemetry.events import EventName
from mcp_lenient.telemetry.log import CallTelemetry, RecordedCall, shown
from mcp_lenient.types import Fault, Repair, Violation


@dataclass(frozen=True, slots=True)
class _Repaired:
    value: Any
    repairs: tuple[Repair, ...]


@dataclass(frozen=True, slots=True)
class _Refused:
    violations: tuple[Violation, ...]
    repairs: tuple[Repair, ...]


_MARKED: Final = frozenset({_Repaired, _Refused})


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """The arguments that the function gets, or the answer instead."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    answer: ToolResult | None = None


class DecoratedTool:
    """One decorated function: its schema, its declarations, and the outcome of its calls.

    Args:
        function: The function as its author wrote it.
        declared: The declarations of its parameters.
        policy: What may be repaired.
    """

    def __init__(self, function: Callable[..., Any], declared: Declared, policy: Policy) -> None:
        self.function = function
        self.declared = declared
        self.policy = policy
        self.decorated = function
        self._telemetry = CallTelemetry(own_spans=host.SPAN_IS_INSIDE)

    @cached_property
    def tool(self) -> Tool:
        """The tool of the function as written; built when its schema is first needed."""
        meta = get_fastmcp_meta(self.decorated)
        if not isinstance(meta, ToolMeta):
            meta = ToolMeta()
        name = meta.name or getattr(self.function, "__name__", "tool").strip("<>")
        return Tool.from_function(
            self.function, name=name, output_schema=meta.output_schema, annotations=meta.annotations
        )

    def schema(self, bound: int = 0) -> dict[str, Any]:
        """Return the tool's input schema, without the bound first parameters of a method."""
        schema = self.tool.parameters
        own = tuple(inspect.signature(self.function).parameters)[:bound]
        properties = {name: each for name, each in schema.get("properties", {}).items() if name not in own}
        required = [name for name in schema.get("required", ()) if name not in own]
        return {**schema, "properties": properties, "required": required}

    def contract(self, schema: Mapping[str, Any], **known: Any) -> ToolContract:
        """Return the contract of a schema under the policy and the hints of this tool."""
        hints = self.tool.annotations
        reads = is_read_only(hints)
        destructive = self.policy.is_destructive(marked=is_destructive(hints), read_only=reads)
        return ToolContract.of_schema(schema, self.policy, destructive=destructive, read_only=reads, **known)

    def runs_first(self, tool: FunctionTool | None) -> bool:
        """Return whether a tool calls the decorated function directly, without a wrapper around it."""
        return tool is not None and runs_first(tool.fn, self.decorated)

    def prepare(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> PreparedCall:
        """Unwrap repaired values; if a value was refused, answer with the envelope."""
        started = perf_counter_ns()
        values = (*args, *kwargs.values())
        repairs = tuple(each for value in values if type(value) in _MARKED for each in value.repairs)
        violations = tuple(each for value in values if type(value) is _Refused for each in value.violations)
        self.record("call_rejected" if violations else "call_repaired", repairs, violations, started)
        if violations:
            top, language = Tree(self.schema(len(args))).top, self.policy.language
            refusal = envelope(self.tool.name, top, violations, repairs, language=language)
            return PreparedCall((), {}, self._answer(refusal))
        return PreparedCall(tuple(map(_unwrapped, args)), {k: _unwrapped(v) for k, v in kwargs.items()})

    def _answer(self, refusal: Mapping[str, Any]) -> ToolResult:
        """Return the envelope to a client; raise it to Python code, where a result would look like success."""
        call = current.get()
        if (call is not None and call.parent is not None) or not host.is_clients_call(self.tool.name):
            raise _exception(refusal)
        return as_result(refusal, has_output_schema=self.tool.output_schema is not None)

    def refuse(
        self,
        wrapper: FunctionTool | None,
        violations: tuple[Violation, ...],
        repairs: tuple[Repair, ...],
        *,
        strict: bool,
    ) -> NoReturn:
        """Refuse a call while its arguments are validated, so that no wrapper around the function runs.

        Raises:
            ValidationError: FastMCP's, with the envelope as its text.
        """
        started = perf_counter_ns()
        tool = self.tool if wrapper is None else wrapper
        arguments = host.validated_arguments()
        if wrapper is not None and arguments is not None:
            violations = self._all_violations(wrapper, arguments, strict=strict) or violations
        self.record("call_rejected", repairs, violations, started)
        top, language = Tree(tool.parameters).top, self.policy.language
        raise _exception(envelope(tool.name, top, violations, repairs, language=language))

    def refuse_as_written(
        self, wrapper: FunctionTool | None, parameter: str, error: ValidationError, *, strict: bool
    ) -> NoReturn:
        """Refuse a call as FastMCP refuses it without the decorator.

        Args:
            wrapper: The tool, if it is code around the decorated function.
            parameter: A refused parameter.
            error: Its error, which stands alone where the other arguments are not known.
            strict: Whether the server is strict.

        Raises:
            ValidationError: FastMCP's, with the errors of the function as its author wrote it.
        """
        tool, arguments = wrapper or self.tool, host.validated_arguments()
        refused = f"'{parameter}' of call[{_name(self.function)}]"
        if arguments is not None and isinstance(tool, FunctionTool):
            probe = compat.probe(tool.fn, run_in_thread=tool.run_in_thread, strict=strict)
            try:
                probe.validate(dict(arguments))
            except ValidationError as whole:
                error, refused = whole, f"call[{_name(self.function)}]"
        text = str(error).replace(f"for {error.title}", f"for {refused}", 1)
        raise InvalidArguments(text, log_level=logging.WARNING) from error

    def _all_violations(
        self, tool: FunctionTool, arguments: Mapping[str, Any], *, strict: bool
    ) -> tuple[Violation, ...]:
        own = FunctionValidator(tool, strict=strict)
        contract = self.contract(tool.parameters, tool=tool.name, validator=own)
        validator = NormalizingValidator(contract.validator, declared_of(tool.fn).normalizers)
        return ToolContract(contract.plan, validator).decide(arguments).violations

    def record(
        self, event: EventName, repairs: tuple[Repair, ...], violations: tuple[Violation, ...], started: int
    ) -> None:
        """Record the outcome of a call on the span, in the log and in the metrics."""
        asks = self.policy.log_values == "shapes"
        sent = (
            shown(self.policy, Tree(self.schema()).top, host.sent_arguments(self.tool.name)) if asks else None
        )
        caller = partial(caller_fields, current_context())
        call = RecordedCall(self.tool.name, started, caller, secret=frozenset(self.policy.secret), sent=sent)
        self._telemetry.record(event, call, repairs=repairs, violations=violations)


def _exception(refusal: Mapping[str, Any]) -> InvalidArguments:
    """Return FastMCP's exception for bad arguments, whose text it sends as an error result even if it masks errors."""
    return InvalidArguments(as_text(refusal), log_level=logging.WARNING)


def _is_plain(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Return whether no argument was repaired or refused."""
    return _MARKED.isdisjoint(map(type, (*args, *kwargs.values())))


Handler = core_schema.ValidatorFunctionWrapHandler


def _unwrapped(value: Any) -> Any:
    return value.value if type(value) is _Repaired else value


@dataclass(slots=True, eq=False)
class Parameter(ParameterMark):
    """The marker in a parameter's annotation: it tries the type first, then a repair.

    Attributes:
        owner: The decorated function.
        name: The parameter's published name.
        field: The parameter's annotation and default as a Pydantic field.
        normalizers: Those of ``@lenient``, then those in the annotation.
    """

    owner: DecoratedTool
    name: str
    field: FieldInfo
    normalizers: tuple[Normalize, ...]
    _plan: Plan | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the type's own schema with a repair for values it refuses."""
        inner = handler(source)
        # Strict mode only accepts the JSON spelling of a date or an enum from JSON, and what Python code
        # passes on is not JSON any more, so it is serialized again.
        as_json = core_schema.no_info_before_validator_function(to_json, core_schema.json_schema(inner))
        again = core_schema.json_or_python_schema(json_schema=as_json, python_schema=inner)
        tool = compat.running_tool()
        runs_first = self.owner.runs_first(tool)
        repair = partial(self._repair, None if runs_first else tool, runs_first)
        repaired = core_schema.with_info_wrap_validator_function(
            repair, again, json_schema_input_schema=inner
        )
        if self.owner.policy.mode == "observe" or self.owner.policy.closed:
            return repaired
        if self.normalizers:
            unchanged = unchanged_by(self.normalizers)
            inner = core_schema.no_info_before_validator_function(
                unchanged, again, json_schema_input_schema=inner
            )
        return core_schema.union_schema([inner, repaired], mode="left_to_right")

    def _repair(
        self,
        tool: FunctionTool | None,
        runs_first: bool,  # noqa: FBT001 - Pydantic calls it
        value: Any,
        handler: Handler,
        info: core_schema.ValidationInfo[Any],
    ) -> Any:
        """Return the repaired value; with code around the decorated function, refuse and record here."""
        running = current.get()
        if running is not None and running.mode != "repair":
            try:
                return handler(value)  # the operator's policy for this call changes nothing
            except ValidationError as error:
                # Pydantic would list the errors of the type and of its repair.
                self.owner.refuse_as_written(tool, self.name, error, strict=info.mode == "json")
        started = perf_counter_ns()
        own = {self.name: self.normalizers}
        needed = self.field.is_required()
        pydantic = _HandlerValidator(self.name, handler, needed, exact_integers=info.mode == "json")
        plan = self._planned()
        validator = NormalizingValidator(own_validator(plan, pydantic), own)
        decision = ToolContract(plan, validator).decide({self.name: value})
        refused, violations = decision.status == "refused", decision.violations
        final = validator.settled(decision.arguments)
        repairs = decision.repairs if refused else (*decision.repairs, *final.repairs)
        if decision.mode == "observe":
            return self._observed(value, handler, repairs, violations)
        if refused and not runs_first:
            self.owner.refuse(tool, violations, repairs, strict=info.mode == "json")
        if refused:
            return _Refused(violations, repairs)
        validated = (
            handler(final.arguments[self.name]) if self.name in final.arguments else self._default(handler)
        )
        if repairs and not runs_first:
            self.owner.record("call_repaired", repairs, (), started)
            return validated
        return _Repaired(validated, repairs) if repairs else validated

    def _observed(
        self, value: Any, handler: Handler, repairs: tuple[Repair, ...], violations: tuple[Violation, ...]
    ) -> Any:
        if repairs or violations:
            self.owner.record("call_observed", repairs, violations, perf_counter_ns())
        return handler(value)

    def _default(self, handler: Handler) -> Any:
        default = self.field.get_default(call_default_factory=True, validated_data={})
        return handler(default) if self.field.validate_default else default

    def _planned(self) -> Plan:
        """Return the plan of this parameter, from its part of the tool's schema."""
        if self._plan is None:
            owner, name = self.owner, self.name
            whole = owner.schema()
            schema: dict[str, Any] = {key: whole[key] for key in ("$defs", "definitions") if key in whole}
            schema |= {
                "type": "object",
                "properties": {name: whole["properties"].get(name, {})},
                "required": [name] if name in whole["required"] else [],
                "additionalProperties": False,
            }
            self._plan = owner.contract(schema).plan
        return self._plan


@dataclass(frozen=True, slots=True)
class _HandlerValidator:
    """Pydantic's own validation of one parameter, while it runs."""

    name: str
    handler: Handler
    needed: bool
    exact_integers: bool
    by_schema: bool = False

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        return not self.faults(arguments)

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        if self.name not in arguments:
            return (Fault((self.name,), "missing"),) if self.needed else ()
        value = arguments[self.name]
        try:
            self.handler(value)
        except ValidationError as error:
            return faults_of(error, arguments, (self.name,))
        except (ValueError, RecursionError):
            return (Fault((self.name,), "value"),)
        except Exception:  # noqa: BLE001 - whatever an author's validator raises says nothing of the value
            return ()
        return ()

    def tells_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        return makes_a_difference(self.handler, one.get(self.name), other.get(self.name))


_NONE: Final = inspect.Parameter.empty
F = TypeVar("F", bound=Callable[..., Any])
Declaration: TypeAlias = "Normalize | Aliases | tuple[Normalize | Aliases, ...]"
"""What is declared of one parameter: a normalizer, other names, or several of both in a tuple."""


@overload
def lenient(function: F, /) -> F: ...


@overload
def lenient(
    *,
    policy: Policy | Declaration | None = None,
    publish: Form | str | Declaration | None = ...,
    **parameters: Declaration,
) -> Callable[[F], F]: ...


def lenient(
    function: Callable[..., Any] | None = None,
    /,
    *,
    policy: Policy | Declaration | None = None,
    publish: Any = ...,
    **parameters: Declaration,
) -> Any:
    """Make one tool lenient, and declare what its parameters accept. Write it below ``@mcp.tool``.

    On its own it repairs values, and answers values that cannot be repaired with the envelope. With
    :class:`mcp_lenient.LenientMiddleware` on the server, names, missing and wrapped arguments are handled as
    well. The function keeps its signature, docstring and schema, and is still called directly as before.

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
    if publish is None or isinstance(publish, (str, Form)):
        fields["publish"] = form_named("unchanged" if publish is None else publish)
    elif publish is not ...:
        declarations["publish"] = publish

    def decorate(written: Callable[..., Any]) -> Callable[..., Any]:
        declared = replace(_declared(written, declarations), policy=fields)
        return _decorated(written, declared, own_policy)

    return decorate if function is None else decorate(function)


def _declared(function: Callable[..., Any], declarations: Mapping[str, Declaration]) -> Declared:
    if isinstance(function, Tool) or compat.is_registered(function):
        msg = (
            f"lenient: {_name(function)} is a tool of a server already, which would not see what is declared; "
            "write @mcp.tool above @lenient."
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
    owner = DecoratedTool(function, declared, settings().bounded(policy or Policy()))
    decorated = owner.decorated = _wrapped(function, owner)
    hints, signature = _hints(function), inspect.signature(function)
    if owner.policy.mode != "off":
        marked = [_marked(owner, parameter, hints) for parameter in signature.parameters.values()]
        hints |= {each.name: each.annotation for each in marked if each.annotation is not _NONE}
        read = signature.replace(parameters=list(map(_as_read, signature.parameters.values(), marked)))
        if read != signature:
            # Only then: a wrapper of a bound method would copy it with `self` in it.
            decorated.__signature__ = read  # type: ignore[attr-defined]
    # FastMCP reads types from the annotations, everything else from the signature.
    decorated.__annotations__ = hints
    mark(decorated, Marks(declared, policy, function, decorated))
    return decorated


def _as_read(written: inspect.Parameter, marked: inspect.Parameter) -> inspect.Parameter:
    """Return the parameter as written; Pydantic only looks for markers if the signature has an annotation."""
    annotation = Any if written.annotation is _NONE is not marked.annotation else written.annotation
    return written.replace(annotation=annotation, default=marked.default)


def _wrapped(function: Callable[..., Any], owner: DecoratedTool) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def run_async(*args: Any, **kwargs: Any) -> Any:
            if _is_plain(args, kwargs):
                return await function(*args, **kwargs)
            call = owner.prepare(args, kwargs)
            return await function(*call.args, **call.kwargs) if call.answer is None else call.answer

        return run_async

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if _is_plain(args, kwargs):
            return function(*args, **kwargs)
        call = owner.prepare(args, kwargs)
        return function(*call.args, **call.kwargs) if call.answer is None else call.answer

    return run


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    written = dict(getattr(function, "__annotations__", {}))
    try:
        resolved = host.function_hints(function)
    except (NameError, TypeError):
        return written  # a forward reference: FastMCP resolves it, even inside Annotated
    return {**written, **resolved}


def _marked(
    owner: DecoratedTool, parameter: inspect.Parameter, hints: Mapping[str, Any]
) -> inspect.Parameter:
    """Return the parameter with a marker in its annotation, which repairs values that Pydantic refuses."""
    name, default = parameter.name, parameter.default
    declared = owner.declared.normalizers.get(name, ())
    annotation = hints.get(name, Any if declared else _NONE)
    if annotation is _NONE or _is_context(annotation):
        return parameter.replace(annotation=annotation)
    annotation, default, field = _with_room(annotation, default)
    normalizers: tuple[Any, ...] = (*declared, *annotated_normalizers(annotation))
    own = Parameter(owner, published_name(name, field), field, normalizers)
    return parameter.replace(annotation=Annotated[annotation, own], default=default)


def _with_room(annotation: Any, default: Any) -> tuple[Any, Any, FieldInfo]:
    """Return a parameter's annotation and default so that appending a marker does not change their meaning.

    FastMCP only reads a string in ``Annotated`` as a description if it is alone there, and Pydantic applies the
    constraints and the discriminator of a ``Field`` used as the default last.
    """
    kind, *notes = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    if len(notes) == 1 and isinstance(notes[0], str):
        annotation = Annotated[kind, Field(description=notes[0])]
    field = field_of(annotation, default)
    late = isinstance(default, FieldInfo) and default.metadata
    if not late and field.discriminator is None:
        return annotation, default, field
    parts = field.asdict()
    rest = {name: each for name, each in parts["attributes"].items() if name != "discriminator"}
    by = field.discriminator
    before = [*parts["metadata"], *([Discriminator(by)] if isinstance(by, str) else [by] if by else [])]
    annotation = parts["annotation"]
    for each in before:
        annotation = Annotated[annotation, each]
    return annotation, Field(**rest), field


def _is_context(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.split("|")[0].strip().rpartition(".")[2] == Context.__name__
    return is_class_member_of_type(annotation, Context)
