"""What ``@lenient`` leaves on a function for whoever calls it through a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MethodType
from typing import Any, Final, TypeVar, get_type_hints

from mcp_lenient.declared import Declared
from mcp_lenient.normalizers import annotated_aliases, annotated_normalizers
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
    return declared if marks is None else combined(declared, marks.declared)


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
