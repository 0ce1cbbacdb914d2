"""Declared normalizers at work: on arguments, and on what a validator is asked."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.declare.declared import Default
from mcp_lenient.declare.normalizers.annotation import ValueNormalizer
from mcp_lenient.errors import NormalizationError
from mcp_lenient.rules.rules import ABSENT
from mcp_lenient.types import FaultKind, Repair, ValidationIssue, Validator
from mcp_lenient.values.json_values import json_type, pointer, same_json

if TYPE_CHECKING:
    from mcp_lenient.declare.declared import Normalize

Normalizers = Mapping[str, "tuple[Normalize, ...]"]

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LOGGER = logging.getLogger("mcp_lenient")
_DEFAULT_RULE: Final = "declared_default"


@dataclass(frozen=True, slots=True)
class NormalizedArguments:
    """The arguments after their normalizers: the same object where nothing changed."""

    arguments: Mapping[str, Any]
    repairs: tuple[Repair, ...] = ()
    issues: tuple[ValidationIssue, ...] = ()


def normalized(
    arguments: Mapping[str, Any], normalizers: Normalizers, *, tell: bool = False
) -> NormalizedArguments:
    """Run the normalizers of the parameters that were sent, and fill in declared defaults of others.

    A value that one of them refuses stays as it was sent, and becomes an issue with its code and message.

    Args:
        arguments: What was sent.
        normalizers: What runs, by parameter.
        tell: Whether the author is told of exceptions: a call is normalized more than once.
    """
    changed: dict[str, Any] = {}
    repairs: list[Repair] = []
    issues: list[ValidationIssue] = []
    for name in normalizers:
        if name not in arguments:
            for default in _defaults(normalizers[name], arguments):
                changed[name] = deepcopy(default)
                repairs.append(Repair(_DEFAULT_RULE, pointer((name,)), "absent", json_type(default)))
            continue
        sent = arguments[name]
        value, rules, issue = _one(name, sent, normalizers[name], tell=tell)
        if issue is not None:
            issues.append(issue)
        elif value is ABSENT or not _same(value, sent):
            changed[name] = value
            after = "absent" if value is ABSENT else json_type(value)
            repairs += [Repair(rule, pointer((name,)), json_type(sent), after) for rule in rules]
    if not changed:
        return NormalizedArguments(arguments, (), tuple(issues))
    together = {**arguments, **changed}
    kept = {name: value for name, value in together.items() if value is not ABSENT}
    return NormalizedArguments(kept, tuple(repairs), tuple(issues))


def _defaults(normalizers: tuple[Normalize, ...], arguments: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the value that a file gives a parameter which was left out, once."""
    found = (each for each in normalizers if isinstance(each, Default) and each.applies(arguments))
    return (each.value for each in islice(found, 1))


def unchanged_by(normalizers: tuple[Normalize, ...]) -> Callable[[Any], Any]:
    """The check that normalizers give a value back as it came; quick, and does not say why not.

    It returns the value, and raises ValueError where they change or refuse it.
    """
    drops_null = any(isinstance(each, ValueNormalizer) and each.null_is_absent for each in normalizers)

    def unchanged(value: Any) -> Any:
        given = value
        try:
            for normalize in normalizers:
                given = normalize(given)
                if given is None and drops_null:
                    break
        except Exception as error:
            raise ValueError from error
        if (given is value or _same(given, value)) and not (given is None and drops_null):
            return value
        raise ValueError

    return unchanged


def _one(
    name: str, value: Any, normalizers: tuple[Normalize, ...], *, tell: bool
) -> tuple[Any, list[str], ValidationIssue | None]:
    rules: list[str] = []
    for normalize in normalizers:
        try:
            result = normalize(value)
        except NormalizationError as error:
            issue = ValidationIssue((name,), kind_of(error.code), error.message, error.code)
            return value, [], replace(issue, expected_types=error.expected_types)
        except Exception as error:  # noqa: BLE001 - whatever an author's callable raises refuses this one value
            if tell:
                _tell_of(name, normalize, error)
            return value, [], ValidationIssue((name,), "value")
        if result is None and isinstance(normalize, ValueNormalizer) and normalize.null_is_absent:
            return ABSENT, [*rules, rule_name(normalize)], None
        if not _same(result, value):
            rules.append(rule_name(normalize))
        value = result
    return value, rules, None


def kind_of(code: str) -> FaultKind:
    """What a normalizer's code says is wrong: the type or the value."""
    return "type" if code.endswith("_TYPE") else "value"


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and same_json(one, other)


def _tell_of(name: str, normalize: Normalize, error: Exception) -> None:
    """The traceback for the author, by places in the code alone: an error's own text may hold the value."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{code.co_filename}:{trace.tb_lineno} in {code.co_name}")
        trace = trace.tb_next
    _LOGGER.error(
        "normalizer %s of parameter %r raised %s at %s",
        rule_name(normalize),
        name,
        type(error).__name__,
        " <- ".join(reversed(frames)),
    )


def rule_name(normalize: Normalize) -> str:
    """The name under which a normalizer's change is recorded."""
    name = getattr(normalize, "__name__", None)
    return name if isinstance(name, str) else _HUMP.sub("_", type(normalize).__name__).lower()


@dataclass(frozen=True, slots=True)
class NormalizingValidator:
    """A validator of arguments that their normalizers run on first.

    Attributes:
        validator: What judges the outcome.
        normalizers: What runs, by parameter.
    """

    validator: Validator
    normalizers: Normalizers

    @property
    def exact_integers(self) -> bool:
        """Whether ``7.0`` is refused for an integer."""
        return self.validator.exact_integers

    @property
    def by_schema(self) -> bool:
        """Whether the published schema alone judges what the normalizers give."""
        return self.validator.by_schema

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the tool would take these arguments once they are normalized, as far as it takes that."""
        result = normalized(arguments, self.normalizers)
        if result.issues:
            return False
        if self.validator.accepts(result.arguments):
            return True
        return bool(result.repairs) and self.validator.accepts(self._reverted(arguments, result).arguments)

    def _reverted(self, arguments: Mapping[str, Any], result: NormalizedArguments) -> NormalizedArguments:
        """The arguments with those parameters as they were sent whose normalized value is refused."""
        refused = {issue.path[0] for issue in self.validator.issues(result.arguments) if issue.path}
        return normalized(
            arguments, {name: own for name, own in self.normalizers.items() if name not in refused}
        )

    def tells_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Whether the tool would get something else from the one than from the other, once they are normalized."""
        first, second = normalized(one, self.normalizers), normalized(other, self.normalizers)
        if first.issues or second.issues:
            return first.issues != second.issues
        return self.validator.tells_apart(first.arguments, second.arguments)

    def settled(self, arguments: Mapping[str, Any]) -> NormalizedArguments:
        """Accepted arguments as the tool gets them: normalized, unless only as they are it takes them."""
        result = normalized(arguments, self.normalizers)
        if result.repairs and not self.validator.accepts(result.arguments):
            return self._reverted(arguments, result)
        return result

    def issues(self, arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        """What the normalizers refuse, and what is wrong with the rest; tells the author what they raised."""
        result = normalized(arguments, self.normalizers, tell=True)
        refused = {issue.path[0] for issue in result.issues}
        others = (
            issue
            for issue in self.validator.issues(result.arguments)
            if not issue.path or issue.path[0] not in refused
        )
        return (*result.issues, *others)
