"""How a tool that calls other tools names them in its arguments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from mcp_lenient.errors import PolicyError
from mcp_lenient.rules.rules import WRAPPERS
from mcp_lenient.types import Repair
from mcp_lenient.values.display import in_json
from mcp_lenient.values.json_values import pointer

Entries = Mapping[str, Mapping[str, Any]]
"""Entries of ``tools/list`` by the names of their tools."""
Tools = Literal["server"] | Entries | Callable[[], Entries] | None
_TOOL_WORDS: Final = ("name", "tool", "tool_name", "toolName")
"""What public dispatchers call the parameter with the tool's name."""


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """How a tool names the tool that it calls; made by :func:`dispatcher`.

    Attributes:
        tool: The parameter with the tool's name.
        arguments: The parameter with its arguments; None if they stand beside the name.
        server: The parameter with the name of the tool's server.
        found_by: Tools whose results describe tools that it calls.
        tools: The tools that it calls, where they are known.
    """

    tool: str = "name"
    arguments: str | None = "arguments"
    server: str | None = None
    found_by: tuple[str, ...] = ()
    tools: Tools = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        names = (self.tool, *(name for name in (self.arguments, self.server) if name is not None))
        entries = self.tools.values() if isinstance(self.tools, Mapping) else ()
        are_names = all(isinstance(name, str) and name for name in (*names, *self.found_by))
        if not are_names or len({*names}) < len(names):
            msg = f"dispatcher takes different names of parameters, and in found_by names of tools, got {self!r}."
            raise PolicyError(msg)
        is_known_form = self.tools in (None, "server") or callable(self.tools) or entries
        if not is_known_form or not all(map(is_entry, entries)):
            msg = (
                "dispatcher(tools=...) takes 'server', entries of tools/list by name, each with an inputSchema, or a "
                f"function that returns these; got {type(self.tools).__name__}."
            )
            raise PolicyError(msg)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the form."""
        return tuple(name for name in (self.server, self.tool, self.arguments) if name is not None)

    def entries(self) -> Entries | None:
        """Return the tools that it calls as they were declared; None if their declaration is another."""
        if callable(self.tools):
            return self.tools()
        return self.tools if isinstance(self.tools, Mapping) else None

    def named(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the name of the tool that arguments name, with its server before a slash; None if they name none."""
        parts = [arguments.get(name) for name in (self.server, self.tool) if name is not None]
        return "/".join(parts) if all(isinstance(part, str) and part for part in parts) else None  # type: ignore[arg-type]

    def inside(self, arguments: Mapping[str, Any]) -> Any:
        """Return the inner tool's arguments in those of the dispatcher."""
        if self.arguments is not None:
            return arguments.get(self.arguments)
        return {name: value for name, value in arguments.items() if name not in self.parameters}

    def call(self, name: str, arguments: Mapping[str, Any] | None, rest: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the dispatcher is sent for a call of a tool, with other parameters of its own."""
        server, _, tool = name.rpartition("/") if self.server is not None else ("", "", name)
        named = {self.tool: tool} if self.server is None else {self.server: server, self.tool: tool}
        inside = arguments if self.arguments is None else {self.arguments: arguments}
        return {**rest, **named, **(inside or {})} if arguments is not None else {**rest, **named}

    def shape(self, name: str) -> str:
        """Return what the dispatcher is sent for a call of a tool, as JSON with dots for the arguments."""
        if self.arguments is None:
            return f"{in_json(self.call(name, None, {}))[:-1]}, ...}}"
        return in_json(self.call(name, {}, {})).replace("{}", "{...}")

    def pointer(self, inner: str) -> str:
        """Return the JSON Pointer of a place of the inner tool's arguments in those of the dispatcher."""
        return inner if self.arguments is None else pointer((self.arguments,)) + inner

    def operation(self, inner: Mapping[str, Any]) -> dict[str, Any]:
        """Return an operation of a JSON Patch of the inner tool's arguments as one of those of the dispatcher."""
        moved = {key: self.pointer(inner[key]) for key in ("path", "from") if key in inner}
        return {**inner, **moved}

    def placed(self, repairs: Sequence[Repair]) -> tuple[Repair, ...]:
        """Return repairs of the inner tool's arguments, or of its name, at their places in those of the dispatcher."""
        of_name = pointer((self.tool,))
        pointers = [
            (of_name if step.rule == "rename_tool" else self.pointer(step.pointer)) for step in repairs
        ]
        return tuple(step._replace(pointer=at) for step, at in zip(repairs, pointers, strict=True))

    def aliases(self, declared: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return the words that callers have for the parameters of the form, without those that the tool declares."""
        arguments = {} if self.arguments is None else {self.arguments: sorted(WRAPPERS)}
        words = {self.tool: _TOOL_WORDS, **arguments}.items()
        return {name: tuple(word for word in others if word not in declared) for name, others in words}


def is_entry(entry: object) -> bool:
    """Return whether this is an entry of ``tools/list``."""
    return isinstance(entry, Mapping) and isinstance(entry.get("inputSchema"), Mapping)


@dataclass(frozen=True, slots=True)
class Via:
    """The tool that a call was made through.

    Attributes:
        tool: Its name.
        dispatcher: How it names tools; None for one that runs a model's code.
        has_output_schema: Whether clients validate its results against a schema.
    """

    tool: str
    dispatcher: Dispatcher | None = None
    has_output_schema: bool = False


def dispatcher(
    tool: str = "name",
    arguments: str | None = "arguments",
    *,
    server: str | None = None,
    found_by: str | Collection[str] = (),
    tools: Tools = None,
) -> Dispatcher:
    """Declare that a tool calls the tool that its arguments name, so that this tool's arguments are repaired too.

    >>> dispatcher("tool_name", "params", tools="server")
    Dispatcher(tool='tool_name', arguments='params', server=None, found_by=())

    Args:
        tool: The parameter with the tool's name.
        arguments: The parameter with its arguments, an object; None if they stand beside the name.
        server: The parameter with the name of the tool's server. The tool's name is then ``server/tool`` for ``tools``, for
            policies and in the log.
        found_by: The name, or names, of tools whose results describe tools that it calls: the proxy learns their schemas.
        tools: The tools that it calls: ``"server"`` for those of its own server; entries of ``tools/list`` by their names, or a
            function without parameters that returns these. Where they are not known, no call is refused because of them.

    Raises:
        PolicyError: When a name is empty or not a string, or ``tools`` is something else.
    """
    names = (found_by,) if isinstance(found_by, str) else tuple(found_by)
    return Dispatcher(tool, arguments, server, names, tools)
