"""What ``@lenient`` leaves on a function for whoever calls it through a server."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MethodType
from typing import Any, Final, TypeVar, get_type_hints

from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from mcp_lenient.declared import Declared
from mcp_lenient.normalizers.annotation import annotated_normalizers
from mcp_lenient.normalizers.other_names import annotated_aliases
from mcp_lenient.policy import Policy

T = TypeVar("T")

_ATTRIBUTE: Final = "__mcp_lenient__"


@dataclass(frozen=True, slots=True)
class Marks:
    """A decorated function's declarations, and the function itself.

    Attributes:
        declared: Normalizers and other names by parameter.
        policy: The policy of this tool; None for the server's.
        function: The function as its author wrote it.
    """

    declared: Declared
    policy: Policy | None
    function: Callable[..., Any]


def mark(function: Callable[..., Any], marks: Marks) -> None:
    """Leave the marks on a function."""
    setattr(function, _ATTRIBUTE, marks)


def marks_of(function: Callable[..., Any] | None) -> Marks | None:
    """The marks of a function or method; None where it has none."""
    marks = getattr(function, _ATTRIBUTE, None)
    return marks if isinstance(marks, Marks) else None


def as_written(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that was decorated, bound as the decorated one is; itself where it is not decorated."""
    marks = marks_of(function)
    if marks is None:
        return function
    if isinstance(function, MethodType):
        return MethodType(marks.function, function.__self__)
    return marks.function


@lru_cache(maxsize=5000)
def declared_of(function: Callable[..., Any]) -> Declared:
    """What is declared of a function's parameters: in their annotations, and by ``@lenient``."""
    written = as_written(function)
    try:
        hints = get_type_hints(written, include_extras=True)
    except (NameError, TypeError):
        hints = {}  # a partial, or a name that only FastMCP resolves
    normalizers = {
        name: annotated_normalizers(hint) for name, hint in hints.items() if annotated_normalizers(hint)
    }
    aliases = {name: annotated_aliases(hint) for name, hint in hints.items() if annotated_aliases(hint)}
    marks = marks_of(function)
    declared = Declared(normalizers, aliases)
    if marks is not None:
        declared = combined(marks.declared, declared)  # as the decorated function runs them
    return _published(declared, written, hints)


def _published(declared: Declared, function: Callable[..., Any], hints: Mapping[str, Any]) -> Declared:
    """What is declared by the names of parameters, by those that their ``Field`` publishes them under."""
    names = {
        name: published_name(name, field_of(hints.get(name, Any), parameter.default))
        for name, parameter in inspect.signature(function).parameters.items()
    }
    return Declared(
        {names.get(name, name): own for name, own in declared.normalizers.items()},
        {names.get(name, name): own for name, own in declared.aliases.items()},
        declared.policy,
    )


def field_of(annotation: Any, default: Any) -> FieldInfo:
    """What a parameter's annotation and default say of it, as Pydantic reads them."""
    if default is inspect.Parameter.empty:
        return FieldInfo.from_annotation(annotation)
    return FieldInfo.from_annotated_attribute(annotation, default)


def published_name(name: str, field: FieldInfo) -> str:
    """The name under which the schema has a parameter."""
    alias = field.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else (alias,)
    return next((choice for choice in choices if isinstance(choice, str)), name)


def combined(first: Declared, second: Declared) -> Declared:
    """Two declarations of one tool, the second one's normalizers after the first one's."""
    return Declared(
        _joined(first.normalizers, second.normalizers),
        _joined(first.aliases, second.aliases),
        {**first.policy, **second.policy},
    )


def _joined(
    first: Mapping[str, tuple[T, ...]], second: Mapping[str, tuple[T, ...]]
) -> dict[str, tuple[T, ...]]:
    return {name: (*first.get(name, ()), *second.get(name, ())) for name in {**first, **second}}
