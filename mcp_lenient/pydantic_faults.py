"""What Pydantic holds against arguments, as faults: places in the arguments instead of places in types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from pydantic_core import ErrorDetails, PydanticSerializationError, ValidationError

from mcp_lenient.limits import MOST_FAULTS
from mcp_lenient.normalizers.annotation import ERROR_TYPE
from mcp_lenient.pydantic_reasons import key_path_ends, key_reason, reason_of
from mcp_lenient.types import Fault, FaultKind, Path

_KINDS: Mapping[str, FaultKind] = {
    "missing": "missing",
    "missing_argument": "missing",
    "missing_keyword_only_argument": "missing",
    "missing_positional_only_argument": "missing",
    "unexpected_keyword_argument": "unknown",
    "extra_forbidden": "unknown",
    "invalid_key": "unknown",
    "recursion_loop": "size",
    "bool_parsing": "type",
    "float_parsing": "type",
    "int_parsing": "type",
    "int_parsing_size": "type",
    "int_from_float": "type",
    "is_instance_of": "type",
    "is_subclass_of": "type",
    "needs_python_object": "type",
    "none_required": "type",
}
"""Pydantic's error types that do not tell their kind by their name (``*_type``); all others are values."""

_AUTHORS_PREFIX = {"value_error": "Value error, ", "assertion_error": "Assertion failed, "}
_PROPERTY = re.compile(r"'([^']+)'")
_WALKS = 64
_ANY = object()


def faults_of(error: ValidationError, arguments: Mapping[str, Any], below: Path = ()) -> tuple[Fault, ...]:
    """All that an error holds against arguments, in their order, then what is missing.

    Args:
        error: What Pydantic raised.
        arguments: All arguments of the call.
        below: Where the value that was validated stands in them.
    """
    if error.error_count() > MOST_FAULTS:
        return _by_parameter(error, arguments, below)
    details = error.errors(include_url=False)
    for detail in details:
        detail["loc"] = (*below, *detail["loc"])
    return ordered((_fault(detail, arguments) for detail in details), arguments)


def faults_of_many(
    error: ValidationError, arguments: Mapping[str, Any], validate: Callable[[dict[str, Any]], object]
) -> tuple[Fault, ...]:
    """Return the faults of a call; of one with very many errors only which parameters they are about.

    Pydantic gives its errors all or not at all. So a few parameters at a time are validated again, and a single
    one with very many errors is not asked for them: they would be objects by the hundred thousand.

    Args:
        error: What Pydantic raised.
        arguments: All arguments of the call.
        validate: What raised it.
    """
    if error.error_count() <= MOST_FAULTS:
        return faults_of(error, arguments)
    without = _error(validate, {})
    absent = 0 if without is None else without.error_count()
    if absent > MOST_FAULTS // 2:
        return _by_parameter(error, arguments, ())
    found: dict[Fault, None] = {}
    if without is not None:
        found |= dict.fromkeys(
            fault for fault in _by_parameter(without, {}, ()) if fault.path[0] not in arguments
        )
    waiting = [list(arguments)]
    for names in waiting:
        own_names = frozenset(names)
        own = _error(validate, {name: arguments[name] for name in names})
        if own is None:
            continue
        if own.error_count() <= MOST_FAULTS:
            found |= dict.fromkeys(
                fault for fault in _by_parameter(own, arguments, ()) if fault.path[0] in own_names
            )
        elif len(names) == 1:
            found[Fault((step(names[0]),), "type")] = None
        else:
            half = len(names) // 2
            waiting += [names[:half], names[half:]]
    return ordered(found, arguments)


def _error(validate: Callable[[dict[str, Any]], object], arguments: dict[str, Any]) -> ValidationError | None:
    try:
        validate(arguments)
    except ValidationError as error:
        return error
    return None


def _by_parameter(error: ValidationError, arguments: Mapping[str, Any], below: Path) -> tuple[Fault, ...]:
    """Of very many errors only which parameters they are about, so that they cost little more than their count."""
    found: dict[Fault, None] = {}
    for detail in error.errors(include_url=False, include_input=False, include_context=False):
        loc = (*below, *detail["loc"])
        kind = _kind(detail["type"], loc) if len(loc) == 1 else "type"
        found[Fault(loc[:1], kind)] = None
    return ordered(found, arguments)


def _fault(error: ErrorDetails, arguments: Mapping[str, Any]) -> Fault:
    """What one error says; of a branch of a union no reason, since it is not that of the others."""
    code, loc, given = error["type"], error["loc"], error["input"]
    kind = _kind(code, loc)
    if kind == "missing":
        return Fault((*_path(arguments, loc[:-1], given), *loc[-1:]), kind)
    if code == "invalid_key":
        return Fault(loc, kind)
    if loc and loc[0] not in arguments:
        return Fault(loc[:1], "missing")  # a default that is validated and refused: something has to be sent
    if code == ERROR_TYPE:
        own = error["ctx"]
        told: FaultKind = "type" if own["code"].endswith("_TYPE") else "value"
        return Fault(_path(arguments, loc, given), told, own["message"], own["code"])
    detail, context = _detail(error), error.get("ctx", {})
    keyed = _key_path(arguments, loc, given)
    if keyed is not None:
        return Fault(keyed, "key", detail, reason=key_reason(code, context) if loc[-1] == "[key]" else None)
    if code.startswith("union_tag_"):
        return _tag_fault(_path(arguments, loc, given), given, context["discriminator"])
    path = _path(arguments, loc, given)
    of_branch = not path or loc[-1] != path[-1]
    return Fault(path, kind, detail, reason=None if of_branch else reason_of(code, context, given))


def _key_path(arguments: Mapping[str, Any], loc: Path, given: object) -> Path | None:
    """The entry of a map whose key an error is about; what follows the mark in ``loc`` are union branches."""
    for at in key_path_ends(loc):
        path = _path(arguments, loc[:at], _ANY)
        if path and (at == len(loc) - 1 or path[-1] == given):
            return path
    return None


def _detail(error: ErrorDetails) -> str | None:
    """The author's own sentence."""
    prefix = _AUTHORS_PREFIX.get(error["type"])
    return error["msg"].removeprefix(prefix) if prefix is not None else None


def _kind(code: str, loc: Path) -> FaultKind:
    if code == "json_invalid" and not loc:
        return "size"  # strict servers go through JSON text, whose parser has bounds of its own
    return _KINDS.get(code) or ("type" if code.endswith("_type") else "value")


def _tag_fault(path: Path, given: object, discriminator: str) -> Fault:
    """The fault of a discriminated union stands at the discriminator where that is a property."""
    name = _PROPERTY.fullmatch(discriminator)
    if name is None or not isinstance(given, dict):
        return Fault(path, "value")
    return Fault((*path, name[1]), "value" if name[1] in given else "missing")


def _path(arguments: Mapping[str, Any], loc: Path, given: object) -> Path:
    """The way through the arguments that a ``loc`` means.

    A ``loc`` names union branches and validators besides properties, and such a name may be a property as
    well; the right way is the one that ends at the value the error speaks of.
    """
    here: Any = arguments
    for part in loc:
        if not _holds(here, part):
            break
        here = here[part]
    else:
        if _same(here, given):
            return loc
    walks = islice(_walks(arguments, loc), _WALKS)
    straight, end = next(walks)
    if _same(end, given):
        return straight
    return next((path for path, end in walks if _same(end, given)), straight)


def _same(here: object, given: object) -> bool:
    try:
        return here is given or (type(here) is type(given) and here == given)
    except RecursionError:
        return False


def _walks(arguments: Mapping[str, Any], loc: Path) -> Iterator[tuple[Path, Any]]:
    pending: list[tuple[Any, int, Path]] = [(arguments, 0, ())]
    while pending:
        here, at, path = pending.pop()
        if at == len(loc):
            yield path, here
            continue
        step = loc[at]
        pending.append((here, at + 1, path))
        if _holds(here, step):
            pending.append((here[step], at + 1, (*path, step)))


def _holds(here: object, step: str | int) -> bool:
    if isinstance(here, Mapping):
        return step in here
    return isinstance(here, list) and isinstance(step, int) and 0 <= step < len(here)


def ordered(faults: Iterable[Fault], arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
    """The faults, each once, in the order of the arguments, then what is missing."""
    positions = {step(name): at for at, name in enumerate(arguments)}

    def place(fault: Fault) -> tuple[bool, int]:
        return fault.kind == "missing", positions.get(fault.path[0], -1) if fault.path else -1

    return tuple(sorted(dict.fromkeys(faults), key=place))


def step(name: object) -> str | int:
    """A name as a step of a path."""
    return name if isinstance(name, (str, int)) else str(name)


_SURROGATE: Final = re.compile("[\\ud800-\\udfff]")
_NO_CHARACTER: Final = "it holds half of a surrogate pair, which is no character"


def unwritable(error: ValueError | RecursionError, arguments: Mapping[str, Any]) -> Fault:
    """Why a strict server could not write the arguments as JSON: great depth, or a lone surrogate, told where it is."""
    if not isinstance(error, PydanticSerializationError) or "surrogate" not in str(error):
        return Fault((), "size")
    waiting: list[tuple[Path, Any]] = [((), arguments)]
    for path, value in waiting:
        if isinstance(value, str) and _SURROGATE.search(value):
            return Fault(path, "value", reason=_NO_CHARACTER)
        if isinstance(value, Mapping):
            waiting += [((*path, step(key)), each) for key, each in value.items()]
        elif isinstance(value, list):
            waiting += [((*path, at), each) for at, each in enumerate(value)]
    return Fault((), "value", reason=f"a name in {_NO_CHARACTER}")
