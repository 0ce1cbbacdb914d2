"""The metadata that ``@lenient`` attaches to a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial, update_wrapper
from types import MethodType
from typing import Annotated, Any, Final, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from mcp_lenient.declare.declarations import Declared
from mcp_lenient.declare.normalizers.annotation import annotated_aliases, annotated_normalizers
from mcp_lenient.rules.policy import Policy

T = TypeVar("T")
_ByParameter = Mapping[str, tuple[T, ...]]

_ATTRIBUTE: Final = "__mcp_lenient__"
_MAX_WRAPPERS: Final = 100


class ParameterMark:
    """Base class of the metadata that ``@lenient`` adds to a parameter's annotation."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Marks:
    """A decorated function's declarations, and the function itself.

    Attributes:
        declared: Normalizers and aliases by parameter.
        policy: The policy of this tool; None for the server's.
        function: The author's function.
        decorated: The function that ``@lenient`` returned.
    """

    declared: Declared
    policy: Policy | None
    function: Callable[..., Any]
    decorated: Callable[..., Any]


def mark(function: Callable[..., Any], marks: Marks) -> None:
    """Attach marks to a function."""
    setattr(function, _ATTRIBUTE, marks)


def marks_of(function: Callable[..., Any] | None) -> Marks | None:
    """Return the marks of a function, method, wrapper or partial, or None."""
    for _ in range(_MAX_WRAPPERS):
        marks = getattr(function, _ATTRIBUTE, None)
        if isinstance(marks, Marks):
            return marks
        function = function.func if isinstance(function, partial) else getattr(function, "__wrapped__", None)
        if function is None:
            break
    return None


def runs_first(function: Callable[..., Any] | None, decorated: Callable[..., Any]) -> bool:
    """Return whether calling ``function`` runs ``decorated`` with no other Python code in between."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__func__", function) is decorated


def as_written(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the author's function; a wrapper around it keeps its own signature."""
    marks = marks_of(function)
    if marks is None:
        return function
    if not runs_first(function, marks.decorated):
        return _without_marks(function)
    if isinstance(function, partial):
        return partial(as_written(function.func), *function.args, **function.keywords)
    if isinstance(function, MethodType):
        return MethodType(marks.function, function.__self__)
    return marks.function


def _without_marks(wrapper: Callable[..., Any]) -> Callable[..., Any]:
    """Return a stand-in with a wrapper's signature and without marks in its annotations; it is never called."""

    async def later(*args: Any, **kwargs: Any) -> None: ...

    def now(*args: Any, **kwargs: Any) -> None: ...

    # String annotations are resolved in the module of what a function wraps.
    stand_in: Any = update_wrapper(
        later if inspect.iscoroutinefunction(wrapper) else now, wrapper, updated=()
    )
    signature = inspect.signature(wrapper)
    parameters = [
        parameter.replace(annotation=_unmarked(parameter.annotation))
        for parameter in signature.parameters.values()
    ]
    annotations: dict[str, Any] = getattr(wrapper, "__annotations__", {})
    stand_in.__annotations__ = {name: _unmarked(annotation) for name, annotation in annotations.items()}
    stand_in.__signature__ = signature.replace(parameters=parameters)
    return cast("Callable[..., Any]", stand_in)


def _unmarked(annotation: Any) -> Any:
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, *notes = get_args(annotation)
    parts = (kind, *(note for note in notes if not isinstance(note, ParameterMark)))
    return Annotated[parts] if len(parts) > 1 else kind


@lru_cache(maxsize=5000)
def declared_of(function: Callable[..., Any]) -> Declared:
    """Return the declarations in a function's annotations and its ``@lenient``."""
    written = as_written(function)
    try:
        hints = get_type_hints(written, include_extras=True)
    except (NameError, TypeError):
        hints = {}  # a partial, or a name that only FastMCP can resolve
    normalizers = {name: chain for name, hint in hints.items() if (chain := annotated_normalizers(hint))}
    aliases = {name: others for name, hint in hints.items() if (others := annotated_aliases(hint))}
    declared = Declared(normalizers, aliases)
    if (marks := marks_of(function)) is not None:
        declared = combined(marks.declared, declared)  # the order in which the decorated function runs them
    return _published(declared, written, hints)


def _published(declared: Declared, function: Callable[..., Any], hints: Mapping[str, Any]) -> Declared:
    """Return the declarations by published name, which a parameter's ``Field`` may change."""
    names = {
        name: published_name(name, field_of(hints.get(name, Any), parameter.default))
        for name, parameter in inspect.signature(function).parameters.items()
    }
    return Declared(
        {names.get(name, name): entries for name, entries in declared.normalizers.items()},
        {names.get(name, name): entries for name, entries in declared.aliases.items()},
        declared.policy,
    )


def field_of(annotation: Any, default: Any) -> FieldInfo:
    """Return the Pydantic field of a parameter's annotation and default."""
    if default is inspect.Parameter.empty:
        return FieldInfo.from_annotation(annotation)
    return FieldInfo.from_annotated_attribute(annotation, default)


def published_name(name: str, field: FieldInfo) -> str:
    """Return the name of a parameter in the schema."""
    alias = field.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else (alias,)
    return next((choice for choice in choices if isinstance(choice, str)), name)


def combined(first: Declared, second: Declared) -> Declared:
    """Combine two declarations of one tool; the normalizers of the first run first."""
    return Declared(
        _joined(first.normalizers, second.normalizers),
        _joined(first.aliases, second.aliases),
        {**first.policy, **second.policy},
        {**first.stated, **second.stated},
        second.description or first.description,
    )


def _joined(first: _ByParameter[T], second: _ByParameter[T]) -> _ByParameter[T]:
    return {name: (*first.get(name, ()), *second.get(name, ())) for name in {**first, **second}}
