"""Run declared normalizers on arguments, and before a validator."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from mcp_lenient.declare.declarations import Default
from mcp_lenient.declare.normalizers.annotation import ValueNormalizer, WrongItemsError
from mcp_lenient.engine.schema_validator import WrappedValidator
from mcp_lenient.errors import NormalizationError
from mcp_lenient.rules.rules import ABSENT
from mcp_lenient.types import Fault, FaultKind, Repair
from mcp_lenient.values.json_values import json_type, pointer, same_json

if TYPE_CHECKING:
    from mcp_lenient.declare.declarations import Normalize

Normalizers = Mapping[str, "tuple[Normalize, ...]"]

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LOGGER = logging.getLogger("mcp_lenient")


@dataclass(frozen=True, slots=True)
class NormalizedArguments:
    """The arguments after their normalizers: the same object if nothing changed."""

    arguments: Mapping[str, Any]
    repairs: tuple[Repair, ...] = ()
    faults: tuple[Fault, ...] = ()


def normalized(
    arguments: Mapping[str, Any], normalizers: Normalizers, *, log_errors: bool = False
) -> NormalizedArguments:
    """Run the normalizers of the parameters that were sent, and fill in declared defaults of others.

    A refused value stays unchanged and becomes a fault with the normalizer's code and message. As a call is normalized
    more than once, only one run should log errors.
    """
    changed: dict[str, Any] = {}
    repairs: list[Repair] = []
    faults: list[Fault] = []
    for name, chain in normalizers.items():
        sent = arguments.get(name, ABSENT)
        if sent is ABSENT:
            defaults = (entry for entry in chain if isinstance(entry, Default) and entry.applies(arguments))
            default = next(defaults, None)
            value, rules = (sent, []) if default is None else (deepcopy(default.value), ["declared_default"])
        else:
            value, rules, wrong = _normalize_one(name, sent, chain, log_errors=log_errors)
            faults += wrong
        if not _same(value, sent):
            changed[name] = value
            before, after = ("absent" if state is ABSENT else json_type(state) for state in (sent, value))
            repairs += [Repair(rule, pointer((name,)), before, after) for rule in rules]
    if changed:
        together = {**arguments, **changed}
        arguments = {name: value for name, value in together.items() if value is not ABSENT}
    return NormalizedArguments(arguments, tuple(repairs), tuple(faults))


def _normalize_one(
    name: str, sent: Any, normalizers: tuple[Normalize, ...], *, log_errors: bool
) -> tuple[Any, list[str], list[Fault]]:
    """Return the value, the rules that changed it, and faults: with any, the value as it was sent."""
    value = sent
    rules: list[str] = []
    for normalize in normalizers:
        try:
            result = normalize(value)
        except NormalizationError as error:
            return sent, [], _faults(name, error)
        except Exception as error:  # noqa: BLE001 - whatever an author's callable raises refuses this one value
            if log_errors:
                _log_error(name, normalize, error)
            return sent, [], [Fault((name,), "value")]
        if result is None and isinstance(normalize, ValueNormalizer) and normalize.null_is_absent:
            return ABSENT, [*rules, _rule_name(normalize)], []
        if not _same(result, value):
            rules.append(_rule_name(normalize))
        value = result
    return value, rules, []


def _faults(name: str, error: NormalizationError) -> list[Fault]:
    kind: FaultKind = "type" if error.code.endswith("_TYPE") else "value"
    if isinstance(error, WrongItemsError):
        return [Fault((name, at), kind) for at in error.items]
    return [Fault((name,), kind, error.message, error.code, expected_types=error.expected_types)]


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and same_json(one, other))


def _log_error(name: str, normalize: Normalize, error: Exception) -> None:
    # Code locations only: the text of the exception may contain the value.
    places = [(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)]
    trace = " <- ".join(f"{code.co_filename}:{line} in {code.co_name}" for code, line in reversed(places))
    rule, kind = _rule_name(normalize), type(error).__name__
    _LOGGER.error("normalizer %s of parameter %r raised %s at %s", rule, name, kind, trace)


def _rule_name(normalize: Normalize) -> str:
    name = getattr(normalize, "__name__", None)
    return name if isinstance(name, str) else _HUMP.sub("_", type(normalize).__name__).lower()


@dataclass(frozen=True, slots=True)
class NormalizingValidator(WrappedValidator):
    """A validator that runs the declared normalizers first."""

    normalizers: Normalizers

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the tool accepts these arguments, normalized or unchanged."""
        result = normalized(arguments, self.normalizers)
        if result.faults:
            return False
        if self.validator.accepts(result.arguments):
            return True
        return bool(result.repairs) and self.validator.accepts(self._reverted(arguments, result).arguments)

    def _reverted(self, arguments: Mapping[str, Any], result: NormalizedArguments) -> NormalizedArguments:
        """Return the arguments without the normalizations that the tool refuses."""
        refused = {fault.path[:1] for fault in self.validator.faults(result.arguments)}
        remaining = {name: chain for name, chain in self.normalizers.items() if (name,) not in refused}
        return normalized(arguments, remaining)

    def distinguishes(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Return whether the tool receives different values from the two, once normalized."""
        first, second = normalized(one, self.normalizers), normalized(other, self.normalizers)
        if first.faults or second.faults:
            return first.faults != second.faults
        return self.validator.distinguishes(first.arguments, second.arguments)

    def normalized(self, arguments: Mapping[str, Any]) -> NormalizedArguments:
        """Return accepted arguments as the tool receives them: normalized where it accepts that."""
        result = normalized(arguments, self.normalizers)
        if result.repairs and not self.validator.accepts(result.arguments):
            return self._reverted(arguments, result)
        return result

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Return the faults of the normalizers and of the validator; log the normalizers' exceptions."""
        result = normalized(arguments, self.normalizers, log_errors=True)
        refused = {fault.path[:1] for fault in result.faults}
        others = [fault for fault in self.validator.faults(result.arguments) if fault.path[:1] not in refused]
        return (*result.faults, *others)
