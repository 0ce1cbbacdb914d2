"""``@lenient``: what an author says of one tool, with or without the middleware."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from typing import Annotated, Any, TypeAlias, TypeVar, get_type_hints, overload

from fastmcp import Context
from fastmcp.utilities.types import is_class_member_of_type
from pydantic.fields import FieldInfo

from mcp_lenient.declared import Declared, Normalize
from mcp_lenient.marks import Marks, mark
from mcp_lenient.normalizers import Aliases
from mcp_lenient.policy import Policy
from mcp_lenient.settling import Settler

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
        wrong = [entry for entry in entries if not isinstance(entry, Aliases) and not callable(entry)]
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


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))


def _decorated(function: Callable[..., Any], declared: Declared, policy: Policy | None) -> Callable[..., Any]:
    settler = Settler(function, declared, policy or Policy())
    decorated = _wrapped(function, settler)
    # FastMCP reads types from the annotations and the rest from the signature, which stays as it was written.
    decorated.__annotations__ = _marked_annotations(function, settler)
    decorated.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    mark(decorated, Marks(declared, policy, function))
    return decorated


def _wrapped(function: Callable[..., Any], settler: Settler) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def run_async(*args: Any, **kwargs: Any) -> Any:
            call = settler.settled(args, kwargs)
            return await function(*call.args, **call.kwargs) if call.answer is None else call.answer

        return run_async

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        call = settler.settled(args, kwargs)
        return function(*call.args, **call.kwargs) if call.answer is None else call.answer

    return run


def _marked_annotations(function: Callable[..., Any], settler: Settler) -> dict[str, Any]:
    """The annotations, each parameter's with a mark by which Pydantic asks the settler where it refuses."""
    written = dict(getattr(function, "__annotations__", {}))
    try:
        resolved = get_type_hints(function, include_extras=True)
    except (NameError, TypeError):
        resolved = written  # a name that comes to be later: FastMCP resolves it, inside Annotated too
    defaults = {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
    marked = {}
    for name, annotation in {**written, **resolved}.items():
        if name == "return" or _is_context(annotation) or _has_discriminator(annotation, defaults.get(name)):
            marked[name] = annotation
        else:
            marked[name] = Annotated[annotation, settler.parameter(name)]
    return marked


def _has_discriminator(annotation: Any, default: Any) -> bool:
    """Whether Pydantic looks for a discriminated union here, which nothing may stand around."""
    fields = (*getattr(annotation, "__metadata__", ()), default)
    return any(isinstance(field, FieldInfo) and field.discriminator is not None for field in fields)


def _is_context(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.split("|")[0].strip().rpartition(".")[2] == Context.__name__
    return is_class_member_of_type(annotation, Context)
