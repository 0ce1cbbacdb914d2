"""Values of a decorated function that Pydantic refuses: repaired one by one, or answered by the envelope.

Pydantic tries a parameter's own type first; what it takes costs nothing more. Only for what it refuses is
:class:`Parameter` asked, which gives the function a :class:`_Repaired` or :class:`_Refused` in place of an error, so
that the decorated function can say what became of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter_ns
from typing import Any

from fastmcp.tools import Tool, ToolResult
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ValidationError, core_schema, to_json

from mcp_lenient import spans
from mcp_lenient.caller import call_facts
from mcp_lenient.declared import Declared, Normalize
from mcp_lenient.envelope import as_result, envelope, error_code
from mcp_lenient.eventlog import EventLog
from mcp_lenient.events import EventName, call_event
from mcp_lenient.fastmcp_private import current_context
from mcp_lenient.normalizing import NormalizingJudge
from mcp_lenient.plan import Plan
from mcp_lenient.policy import Policy
from mcp_lenient.pydantic_faults import faults_of
from mcp_lenient.refusal import violations
from mcp_lenient.repair import repair
from mcp_lenient.rules import ABSENT
from mcp_lenient.types import Fault, Repair, Violation


@dataclass(frozen=True, slots=True)
class _Repaired:
    value: Any
    repairs: tuple[Repair, ...]


@dataclass(frozen=True, slots=True)
class _Refused:
    violations: tuple[Violation, ...]
    repairs: tuple[Repair, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """A call as the function gets it, or the answer that it gets instead."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    answer: ToolResult | None = None


class Settler:
    """One decorated function: its schema, its declarations, and what becomes of its calls.

    Args:
        function: The function as its author wrote it.
        declared: What was declared of its parameters.
        policy: What may be repaired.
    """

    def __init__(self, function: Callable[..., Any], declared: Declared, policy: Policy) -> None:
        self.function = function
        self.declared = declared
        self.policy = policy
        self._log = EventLog()

    @cached_property
    def tool(self) -> Tool:
        """The tool that the function as written makes; built when its schema is first needed."""
        return Tool.from_function(self.function, name=getattr(self.function, "__name__", "tool"))

    def parameter(self, name: str) -> Parameter:
        """The mark for one parameter's annotation."""
        return Parameter(self, name, self.declared.normalizers.get(name, ()))

    def settled(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Settled:
        """Take repaired values out of their wrappers; where a value was refused, the envelope is the answer."""
        if not any(type(value) in _WRAPPERS for value in (*args, *kwargs.values())):
            return Settled(args, kwargs)
        started = perf_counter_ns()
        values = (*args, *kwargs.values())
        repairs = tuple(each for value in values if type(value) in _WRAPPERS for each in value.repairs)
        found = tuple(each for value in values if type(value) is _Refused for each in value.violations)
        self._tell("call_rejected" if found else "call_repaired", repairs, found, started)
        if found:
            answer = envelope(self.tool.name, self.tool.parameters, found, repairs)
            return Settled((), {}, as_result(answer, has_output_schema=self.tool.output_schema is not None))
        taken = {name: _taken(value) for name, value in kwargs.items()}
        return Settled(
            tuple(map(_taken, args)), {name: value for name, value in taken.items() if value is not ABSENT}
        )

    def _tell(
        self, event: EventName, repairs: tuple[Repair, ...], found: tuple[Violation, ...], started: int
    ) -> None:
        code = error_code(found) if found else None
        spans.record(event, repairs=repairs, violations=found, error_code=code)
        if self._log.wants(event):
            duration = (perf_counter_ns() - started) // 1000
            facts = call_facts(current_context(), self.tool.name, duration_us=duration, mounted=None)
            self._log.emit(call_event(event, facts, error_code=code, violations=found, repairs=repairs))


_WRAPPERS = (_Repaired, _Refused)


def _taken(value: Any) -> Any:
    return value.value if type(value) is _Repaired else value


@dataclass(slots=True, eq=False)
class Parameter:
    """The mark in a parameter's annotation: its type is tried first, and the settler asked where that fails."""

    settler: Settler
    name: str
    normalizers: tuple[Normalize, ...]
    _inner: CoreSchema | None = None
    _plan: Plan | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The type's own schema, and behind it what repairs."""
        inner = self._inner = handler(source)
        # Strict mode takes a date or an enum in its JSON spelling from JSON only, and what Python code
        # hands on is no JSON any more: so it is written as JSON once more.
        as_json = core_schema.no_info_before_validator_function(to_json, core_schema.json_schema(inner))
        again = core_schema.json_or_python_schema(json_schema=as_json, python_schema=inner)
        settle = core_schema.with_info_wrap_validator_function(self._settle, again)
        if self.normalizers:
            return settle
        return core_schema.union_schema([inner, settle], mode="left_to_right")

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The type's own."""
        return handler(self._inner if self._inner is not None else schema)

    def _settle(
        self,
        value: Any,
        handler: core_schema.ValidatorFunctionWrapHandler,
        info: core_schema.ValidationInfo[Any],
    ) -> Any:
        sent = {self.name: value}
        own = {self.name: self.normalizers} if self.normalizers else {}
        judge = NormalizingJudge(_HandlerJudge(self.name, handler, exact_integers=info.mode == "json"), own)
        plan = self._planned()
        outcome = repair(plan, sent, judge)
        if outcome.status == "refused":
            found = violations(plan.root, outcome, judge, plan.policy)
            return _Refused(found, outcome.repairs)
        final = judge.settled(outcome.arguments)
        repairs = (*outcome.repairs, *final.repairs)
        if self.name not in final.arguments:
            return _Repaired(ABSENT, repairs)
        taken = handler(final.arguments[self.name])
        return _Repaired(taken, repairs) if repairs else taken

    def _planned(self) -> Plan:
        if self._plan is None:
            self._plan = _plan_for(self.settler, self.name, self.normalizers)
        return self._plan


def _plan_for(settler: Settler, name: str, normalizers: tuple[Normalize, ...]) -> Plan:
    """The plan of one parameter: of the tool's schema only what is said of it."""
    whole = settler.tool.parameters
    schema: dict[str, Any] = {key: whole[key] for key in ("$defs", "definitions") if key in whole}
    schema |= {
        "type": "object",
        "properties": {name: whole.get("properties", {}).get(name, {})},
        "required": [name] if name in whole.get("required", ()) else [],
        "additionalProperties": False,
    }
    destructive = settler.policy.destructive is True
    return Plan(
        schema,
        settler.policy,
        destructive=destructive,
        normalizers={name: normalizers} if normalizers else {},
    )


@dataclass(frozen=True, slots=True)
class _HandlerJudge:
    """Pydantic's own validation of one parameter, while it runs."""

    name: str
    handler: core_schema.ValidatorFunctionWrapHandler
    exact_integers: bool
    by_schema: bool = False

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        return not self.faults(arguments)

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        if self.name not in arguments:
            return ()  # only what may be left out is left out
        value = arguments[self.name]
        try:
            self.handler(value)
        except ValidationError as error:
            return faults_of(error, arguments, (self.name,))
        except (ValueError, RecursionError):
            return (Fault((self.name,), "value"),)
        return ()
