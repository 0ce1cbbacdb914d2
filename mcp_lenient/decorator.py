"""``@lenient``: what an author says of one tool, with or without the middleware."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from typing import Annotated, Any, Final, TypeAlias, TypeVar, get_args, get_origin, overload

from fastmcp import Context
from fastmcp.utilities.types import get_function_type_hints, is_class_member_of_type
from pydantic import Discriminator, Field
from pydantic.fields import FieldInfo

from mcp_lenient.declared import Declared, Normalize
from mcp_lenient.marks import Marks, field_of, mark, marks_of, published_name
from mcp_lenient.normalizers.annotation import annotated_normalizers
from mcp_lenient.normalizers.other_names import Aliases
from mcp_lenient.policy import Policy
from mcp_lenient.settling import Parameter, Settler, is_right

_NONE: Final = inspect.Parameter.empty

F = TypeVar("F", bound=Callable[..., Any])

Declaration: TypeAlias = "Normalize | Aliases | tuple[Normalize | Aliases, ...]"
"""What is declared of one parameter: a normalizer, other names, or several of both in a tuple."""


@overload
def lenient(function: F, /) -> F: ...


@overload
def lenient(*, policy: Policy | Declaration | None = None, **parameters: Declaration) -> Callable[[F], F]: ...


def lenient(
    function: Callable[..., Any] | None = None,
    /,
    *,
    policy: Policy | Declaration | None = None,
    **parameters: Declaration,
) -> Any:
    """Make one tool lenient, and declare what its parameters understand; goes below ``@mcp.tool``.

    By itself it repairs values and answers those that cannot be repaired with the envelope. With
    :class:`mcp_lenient.LenientMiddleware` on the server, names, missing and wrapped arguments are seen to as
    well. The function keeps its signature, docstring and schema, and is still called directly as before.

    >>> from mcp_lenient import aliases, lenient, tags
    >>> @lenient(tags=tags(), task=aliases("query", "q"))
    ... def store_context(content: str, task: str, tags: list[str] | None = None) -> dict:
    ...     return {"content": content, "task": task, "tags": tags}
    >>> store_context("a note", task="keep")
    {'content': 'a note', 'task': 'keep', 'tags': None}

    Args:
        function: The function, where the decorator is used without parentheses.
        policy: The policy of this tool. (A parameter of this name takes its declaration here as well.)
        parameters: Declarations by parameter. Normalizers always run, in their order, before anything
            judges the value.

    Raises:
        TypeError: When a declaration names no parameter of the function, or is none.
    """
    declarations = dict(parameters)
    if policy is not None and not isinstance(policy, Policy):
        declarations["policy"] = policy
        policy = None
    own_policy = policy

    def decorate(written: Callable[..., Any]) -> Callable[..., Any]:
        return _decorated(written, _declared(written, declarations), own_policy)

    return decorate if function is None else decorate(function)


def _declared(function: Callable[..., Any], declarations: Mapping[str, Declaration]) -> Declared:
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
    """Whether it can be called with a value and gives one: a normalizer's factory that was not called cannot."""
    if not callable(entry) or inspect.iscoroutinefunction(entry):
        return False
    try:
        inspect.signature(entry).bind(None)
    except TypeError:
        return False
    except ValueError:
        return True  # a builtin that does not tell
    return True


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))


def _decorated(function: Callable[..., Any], declared: Declared, policy: Policy | None) -> Callable[..., Any]:
    settler = Settler(function, declared, policy or Policy())
    decorated = settler.decorated = _wrapped(function, settler)
    hints, signature = _hints(function), inspect.signature(function)
    if settler.policy.mode != "off":
        marked = [_marked(settler, parameter, hints) for parameter in signature.parameters.values()]
        hints |= {each.name: each.annotation for each in marked if each.annotation is not _NONE}
        read = signature.replace(parameters=list(map(_as_read, signature.parameters.values(), marked)))
        if read != signature:
            # Only then: a wrapper of a bound method would copy it with `self` in it.
            decorated.__signature__ = read  # type: ignore[attr-defined]
    # FastMCP reads types from the annotations and the rest from the signature.
    decorated.__annotations__ = hints
    mark(decorated, Marks(declared, policy, function, decorated))
    return decorated


def _as_read(written: inspect.Parameter, marked: inspect.Parameter) -> inspect.Parameter:
    """The parameter as written; Pydantic looks for marks only where the signature has an annotation."""
    annotation = Any if written.annotation is _NONE is not marked.annotation else written.annotation
    return written.replace(annotation=annotation, default=marked.default)


def _wrapped(function: Callable[..., Any], settler: Settler) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def run_async(*args: Any, **kwargs: Any) -> Any:
            if is_right(args, kwargs):
                return await function(*args, **kwargs)
            call = settler.settled(args, kwargs)
            return await function(*call.args, **call.kwargs) if call.answer is None else call.answer

        return run_async

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if is_right(args, kwargs):
            return function(*args, **kwargs)
        call = settler.settled(args, kwargs)
        return function(*call.args, **call.kwargs) if call.answer is None else call.answer

    return run


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    written = dict(getattr(function, "__annotations__", {}))
    try:
        resolved = get_function_type_hints(function)
    except (NameError, TypeError):
        return written  # a name that comes to be later: FastMCP resolves it, inside Annotated too
    return {**written, **resolved}


def _marked(settler: Settler, parameter: inspect.Parameter, hints: Mapping[str, Any]) -> inspect.Parameter:
    """The parameter with a mark in its annotation, by which Pydantic asks the settler where it refuses."""
    name, default = parameter.name, parameter.default
    declared = settler.declared.normalizers.get(name, ())
    annotation = hints.get(name, Any if declared else _NONE)
    if annotation is _NONE or _is_context(annotation):
        return parameter.replace(annotation=annotation)
    annotation, default, field = _with_room(annotation, default)
    normalizers: tuple[Any, ...] = (*declared, *annotated_normalizers(annotation))
    own = Parameter(settler, published_name(name, field), field, normalizers)
    return parameter.replace(annotation=Annotated[annotation, own], default=default)


def _with_room(annotation: Any, default: Any) -> tuple[Any, Any, FieldInfo]:
    """A parameter's annotation and default, which mean the same when a mark comes behind the annotation.

    A lone text in ``Annotated`` is a description to FastMCP only where nothing else stands there, and what a
    ``Field`` in place of the default says of the type, or of a discriminator, Pydantic applies last of all.
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
