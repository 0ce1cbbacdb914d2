"""What a tool accepts, asked without running it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from fastmcp import Context, FastMCP
from pydantic_core import ErrorDetails, PydanticSerializationError, ValidationError

from mcp_lenient import fastmcp_private
from mcp_lenient.errors import SchemaError
from mcp_lenient.types import Fault, FaultKind, Judge, Path

if TYPE_CHECKING:
    from fastmcp.tools import FunctionTool, Tool
    from fastmcp.utilities.versions import VersionSpec

    from mcp_lenient.fastmcp_private import Forwarding

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


class FunctionJudge:
    """A function tool's own validator, at the strictness of the server that runs it.

    Args:
        tool: The function tool.
        strict: ``strict_input_validation`` of the server that runs it.

    Attributes:
        exact_integers: Whether ``7.0`` is refused for an integer.
        has_validators: Whether judging runs Python code of the author that FastMCP runs in a worker thread.

    Raises:
        SchemaError: When FastMCP's validator for the function cannot be built.
    """

    by_schema = False
    __slots__ = ("_validate", "exact_integers", "has_validators")

    def __init__(self, tool: FunctionTool, *, strict: bool) -> None:
        probe = fastmcp_private.probe(tool.fn, run_in_thread=tool.run_in_thread)
        self._validate = probe.strict if strict else probe.lax
        self.exact_integers = strict or probe.exact_integers
        self.has_validators = probe.has_validators and probe.in_thread

    def __eq__(self, other: object) -> bool:
        """Whether both ask the very same validator."""
        return isinstance(other, FunctionJudge) and self._validate == other._validate

    def __hash__(self) -> int:
        """By the validator."""
        return hash(self._validate)

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the tool would take these arguments.

        A validator of the author that fails by anything but a ``ValueError`` or ``AssertionError`` says
        nothing about the arguments: FastMCP answers with a tool error, and this does not stand in its way.
        """
        try:
            self._validate(arguments if type(arguments) is dict else dict(arguments))
        except (ValueError, RecursionError):
            return False
        except Exception:  # noqa: BLE001 - whatever an author's validator raises
            return True
        return True

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """All that is wrong, in the order of the arguments, then what is missing."""
        try:
            self._validate(dict(arguments))
        except ValidationError as error:
            details = error.errors(include_url=False)
            return _ordered([_fault(detail, arguments) for detail in details], arguments)
        except (ValueError, RecursionError) as error:
            return (Fault((), _unserializable(error)),)
        except Exception:  # noqa: BLE001 - as in accepts
            return ()
        return ()


@dataclass(frozen=True, slots=True)
class TransformedJudge:
    """A transformed tool's parent, asked in the parent's words and answering in the published ones.

    Faults of hidden arguments are not held against a caller who cannot send them.
    """

    parent: Judge
    forwarding: Forwarding

    @property
    def exact_integers(self) -> bool:
        """Whether ``7.0`` is refused for an integer."""
        return self.parent.exact_integers

    @property
    def by_schema(self) -> bool:
        """Whether it judges by the published schema alone: never, the parent's own validator does."""
        return False

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the tool would take these arguments."""
        if arguments.keys() <= self.forwarding.names.keys() and not self._missing(arguments):
            return self.parent.accepts(self._forwarded(arguments)) or not self.faults(arguments)
        return False

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """All that is wrong, under the published names."""
        names = self.forwarding.names
        published = {parents: name for name, parents in names.items()}
        unknown = [Fault((_step(name),), "unknown") for name in arguments if name not in names]
        missing = [Fault((name,), "missing") for name in self._missing(arguments)]
        below = [
            _published(fault, published, arguments)
            for fault in self.parent.faults(self._forwarded(arguments))
            if not fault.path or fault.path[0] in published
        ]
        return _ordered([*unknown, *below, *missing], arguments)

    def _missing(self, arguments: Mapping[str, Any]) -> list[str]:
        names, defaults = self.forwarding.required, self.forwarding.defaults
        return [name for name in names if name not in arguments and name not in defaults]

    def _forwarded(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        names = self.forwarding.names
        filled = {**self.forwarding.defaults, **arguments}
        known = {names[name]: value for name, value in filled.items() if name in names}
        return {**known, **self.forwarding.hidden}


@dataclass(frozen=True, slots=True)
class Target:
    """What a tool's arguments are judged by.

    Attributes:
        tool: The tool as the server that was asked sees it.
        judge: Its own validator; None where only the published schema speaks.
        certain: Whether its own validator was reached.
        has_validators: Whether judging runs Python code of the author that FastMCP runs in a worker thread.
        function: The function below all mounts and transforms.
        route: The mounted servers that a call is handed down through, with the name it has there.
    """

    tool: Tool
    judge: Judge | None = None
    certain: bool = False
    has_validators: bool = False
    function: Callable[..., Any] | None = None
    route: tuple[tuple[FastMCP, str], ...] = ()

    @property
    def mounted(self) -> str | None:
        """The mounted servers down to the tool's own, by name; None for a server's own tool."""
        return "/".join(server.name for server, _ in self.route) or None


async def find_target(server: FastMCP, tool: Tool) -> Target:
    """Find the validator of a tool, down through mounted servers and transformed tools.

    Must run where the tool was looked up: mounted servers are asked for what this client may see.
    """
    delegated = fastmcp_private.delegate(tool)
    if delegated is not None:
        below = await _target_in(*delegated) or Target(tool)
        return replace(below, tool=tool, route=(delegated[:2], *below.route))
    forwarding = fastmcp_private.forwarding(tool)
    if forwarding is not None:
        below = await find_target(server, forwarding.parent)
        judge = None if below.judge is None else TransformedJudge(below.judge, forwarding)
        return replace(below, tool=tool, judge=judge)
    if fastmcp_private.runs_its_function(tool):
        return _reached(tool, strict=server.strict_input_validation)
    return Target(tool)


async def _target_in(server: FastMCP, name: str, version: VersionSpec | None) -> Target | None:
    async with Context(fastmcp=server):
        tool = await server.get_tool(name, version)
        return None if tool is None else await find_target(server, tool)


def _reached(tool: FunctionTool, *, strict: bool) -> Target:
    try:
        judge = FunctionJudge(tool, strict=strict)
    except SchemaError:
        return Target(tool)
    return Target(tool, judge, certain=True, has_validators=judge.has_validators, function=tool.fn)


def _published(fault: Fault, published: Mapping[Any, str], arguments: Mapping[str, Any]) -> Fault:
    if not fault.path:
        return fault
    name = published[fault.path[0]]
    # What is filled in for the caller may be refused: then the caller has to send something better.
    return replace(fault, path=(name, *fault.path[1:])) if name in arguments else Fault((name,), "missing")


def _fault(error: ErrorDetails, arguments: Mapping[str, Any]) -> Fault:
    code, loc, given = error["type"], error["loc"], error["input"]
    kind = _kind(code, loc)
    if kind == "missing":
        return Fault((*_path(arguments, loc[:-1], given), *loc[-1:]), kind)
    if code == "invalid_key":
        return Fault(loc, kind)
    if loc and loc[0] not in arguments:
        return Fault(loc[:1], "missing")  # a default that is validated and refused: something has to be sent
    detail = error["msg"].removeprefix(_AUTHORS_PREFIX[code]) if code in _AUTHORS_PREFIX else None
    if loc[-1:] == ("[key]",):
        return Fault(_path(arguments, loc[:-1], _ANY), "unknown", detail)
    if code.startswith("union_tag_"):
        return _tag_fault(_path(arguments, loc, given), given, error["ctx"]["discriminator"])
    return Fault(_path(arguments, loc, given), kind, detail)


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


def _ordered(faults: list[Fault], arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
    positions = {_step(name): at for at, name in enumerate(arguments)}

    def place(fault: Fault) -> tuple[bool, int]:
        return fault.kind == "missing", positions.get(fault.path[0], -1) if fault.path else -1

    return tuple(sorted(dict.fromkeys(faults), key=place))


def _step(name: object) -> str | int:
    return name if isinstance(name, (str, int)) else str(name)


def _unserializable(error: ValueError | RecursionError) -> FaultKind:
    """Strict servers write the arguments as JSON first, which lone surrogates and great depth do not survive."""
    return "value" if isinstance(error, PydanticSerializationError) and "surrogate" in str(error) else "size"
