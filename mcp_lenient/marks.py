"""What ``@lenient`` leaves on a function for whoever calls it through a server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MethodType
from typing import Any, Final

from mcp_lenient.declared import Declared
from mcp_lenient.policy import Policy

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
