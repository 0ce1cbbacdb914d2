"""Private APIs of FastMCP, used nowhere else.

``FunctionTool.run`` builds its validator with functions that are private to FastMCP, and a mounted tool
keeps its server in a private attribute. If one of them is gone, such a tool cannot be inspected (``SchemaError``,
``None`` or ``False``), and everything else keeps working.

Each major version of FastMCP has a module for its differences; ``host`` is that of the installed version.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial, wraps
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, get_type_hints

from fastmcp import FastMCP
from fastmcp.decorators import get_fastmcp_meta
from fastmcp.exceptions import NotFoundError, ToolError, ValidationError
from fastmcp.prompts import Prompt
from fastmcp.prompts.function_prompt import FunctionPrompt
from fastmcp.server import dependencies
from fastmcp.server import server as fastmcp_server
from fastmcp.server.middleware import Middleware
from fastmcp.server.providers.fastmcp_provider import FastMCPProviderPrompt, FastMCPProviderTool
from fastmcp.tools import FunctionTool, Tool
from fastmcp.tools.function_parsing import ParsedFunction
from fastmcp.tools.function_tool import ToolMeta
from fastmcp.tools.tool_transform import TransformedTool
from fastmcp.utilities import types as fastmcp_types
from fastmcp.utilities.async_utils import is_coroutine_function
from fastmcp.utilities.types import NotSet, get_cached_typeadapter
from fastmcp.utilities.versions import VersionSpec
from pydantic.errors import PydanticUserError
from pydantic_core import CoreSchema, SchemaValidator
from pydantic_core import SchemaError as CoreSchemaError
from pydantic_core import ValidationError as PydanticValidationError

from mcp_lenient.adapters.fastmcp.compat.running import RUN, local
from mcp_lenient.adapters.fastmcp.compat.version import VERSION
from mcp_lenient.adapters.pydantic.core_schemas import runs_authors_code, schemas_in
from mcp_lenient.adapters.pydantic.plain_types import Check, quick_check
from mcp_lenient.declare.decorator_metadata import as_written
from mcp_lenient.errors import SchemaError

if TYPE_CHECKING or VERSION >= (4, 0):
    from mcp_lenient.adapters.fastmcp.compat import v4 as host
else:
    from mcp_lenient.adapters.fastmcp.compat import v3 as host

_ENTRY_POINTS = ("run", "_run", "_run_body", "_execute")
_ANNOTATIONS = ("title", "description", "default", "examples")
_SCALARS = frozenset({"any", "none", "bool", "int", "float", "str", "literal"})

function_hints: Callable[[Any], dict[str, Any]] = getattr(
    fastmcp_types, "get_function_type_hints", partial(get_type_hints, include_extras=True)
)
"""Resolves annotations as FastMCP does, which has a function for it since 4.0.11."""
Validate = Callable[[dict[str, Any]], object]
"""Raises what FastMCP's validation of these arguments raises."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A function tool's validator without its body, at the strictness of a server.

    Attributes:
        validate: Validates arguments.
        core_schema: Pydantic's schema of the arguments.
        runs_code: Whether validation runs Python code of the author.
        in_thread: Whether FastMCP runs that code in a worker thread.
        exact_integers: Whether ``7.0`` is refused for an integer.
        is_surely_right: A quick check for long lists of plain types: True means that ``validate`` would not raise; or
            None.
    """

    validate: Validate
    core_schema: CoreSchema
    runs_code: bool
    in_thread: bool
    exact_integers: bool
    is_surely_right: Check | None


@dataclass(frozen=True, slots=True)
class Forwarding:
    """How a transformed tool passes its arguments on.

    Attributes:
        parent: The tool that receives them.
        names: The parent's name of each published parameter.
        required: Published parameters that must be sent.
        defaults: Values of published parameters that are not sent.
        hidden: Additional constants for the parent, under the parent's names.
    """

    parent: Tool
    names: Mapping[str, str]
    required: tuple[str, ...]
    defaults: Mapping[str, Any]
    hidden: Mapping[str, Any]

    @property
    def published(self) -> dict[str, str]:
        """The published name of each parameter of the parent that has one."""
        return {parents: name for name, parents in self.names.items()}


@lru_cache(maxsize=5000)
def probe(function: Callable[..., Any], *, run_in_thread: bool, strict: bool) -> Probe:
    """Build what ``FunctionTool.run`` would validate with; it never runs a body or a dependency.

    Args:
        function: The tool's function.
        run_in_thread: Whether the tool runs in a worker thread, if it is not asynchronous.
        strict: ``strict_input_validation`` of the server.

    Raises:
        SchemaError: When FastMCP or Pydantic cannot build a validator for the function.
    """
    try:
        # The author's function is the validator; the wrapper of `@lenient` accepts everything and answers itself.
        called, validated = host.called_for(as_written(function), run_in_thread=run_in_thread)
        schema = get_cached_typeadapter(validated).core_schema
        arguments = _arguments_schema(schema)
        validate = host.validates(SchemaValidator(arguments))[strict]
    except (AttributeError, KeyError, NameError, TypeError, PydanticUserError, CoreSchemaError) as error:
        msg = f"FastMCP's validator for {function!r} cannot be built: {error}"
        raise SchemaError(msg) from error
    nodes, in_thread = tuple(schemas_in(schema)), run_in_thread and not is_coroutine_function(called)
    runs_code = any(map(runs_authors_code, nodes))
    # On a strict server FastMCP checks each value itself; on others Pydantic is slow only where it builds objects.
    is_slow = host.STRICT_READS_JSON if strict else any(map(_builds_many, nodes))
    return Probe(
        validate,
        core_schema=arguments,
        runs_code=runs_code,
        in_thread=in_thread and runs_code,
        exact_integers=strict or any(map(_is_strict_integer, nodes)),
        is_surely_right=quick_check(arguments, strict=strict) if is_slow else None,
    )


def runs_its_function(tool: Tool) -> TypeGuard[FunctionTool]:
    """Return whether the tool validates and calls its function like FastMCP's own function tools."""
    return isinstance(tool, FunctionTool) and _keeps(tool, FunctionTool, _ENTRY_POINTS)


def passes_on(function: Callable[..., Any] | None) -> bool:
    """Return whether this is the function of FastMCP's search transforms that calls a found tool for the client."""
    return getattr(function, "__module__", None) == "fastmcp.server.transforms.search.base"


def search_transform(function: Callable[..., Any] | None) -> Any:
    """Return FastMCP's search transform whose function calls a found tool; None for any other function."""
    if function is None or not (passes_on(function) and function.__name__ == "call_tool"):
        return None
    return inspect.getclosurevars(function).nonlocals.get("transform")


def runs_code(function: Callable[..., Any]) -> bool:
    """Return whether this is the function of FastMCP's Code Mode that runs code which a model wrote."""
    is_of_code_mode = getattr(function, "__module__", None) == "fastmcp.experimental.transforms.code_mode"
    return is_of_code_mode and getattr(function, "__name__", None) == "execute"


_SEARCH_PARAMETERS = frozenset({("name", "arguments"), ("pattern",), ("query",)})
"""Those of FastMCP's search tools; making these to compare a listed tool with takes a tenth of a second."""


@lru_cache(maxsize=1)
def _search_tools() -> list[tuple[Literal["caller", "finder"], Tool]]:
    from fastmcp.server.transforms.search import BM25SearchTransform, RegexSearchTransform

    transforms = RegexSearchTransform(), BM25SearchTransform()
    finders = [("finder", transform._make_search_tool()) for transform in transforms]  # noqa: SLF001 - private to FastMCP
    return [("caller", transforms[0]._make_call_tool()), *finders]  # type: ignore[list-item]  # noqa: SLF001


def search_tool(tool: Tool) -> Literal["caller", "finder"] | None:
    """Return what a listed tool is by its entry, but for its name: FastMCP's own that calls a found tool, or a search."""
    if tuple(_properties(tool)) not in _SEARCH_PARAMETERS:
        return None
    entry = tool.parameters, tool.description
    return next(
        (kind for kind, search in _search_tools() if (search.parameters, search.description) == entry), None
    )


def unknown_inside(error: Exception, name: str) -> bool:
    """Return whether a tool's body raised this because there is no tool of this name."""
    raised = [str(reason) for reason in (error, error.__cause__) if isinstance(reason, NotFoundError)]
    return any(name in text or repr(name) in text for text in raised)


def says_unknown_itself(error: Exception, name: str) -> bool:
    """Return whether middleware raised what FastMCP raises of a tool that is not there, and no tool ran."""
    if str(error) != f"Unknown tool: {name!r}":
        return False
    return all(frame.f_code is not RUN.__code__ for frame, _ in walk_tb(error.__traceback__))


def drops_names(tool: Tool) -> bool:
    """Return whether a tool ignores arguments that its schema does not declare, as those of OpenAPI do."""
    # A server with such a tool has imported its module already; importing it here would take long.
    openapi: Any = sys.modules.get("fastmcp.server.providers.openapi")
    return openapi is not None and isinstance(tool, openapi.OpenAPITool)


def is_registered(function: Callable[..., Any]) -> bool:
    """Return whether this is a function that FastMCP's ``@tool``, which returns it, has already seen."""
    return isinstance(get_fastmcp_meta(function), ToolMeta)


def transformed(tool: Tool) -> TransformedTool | None:
    """Return the tool if it is transformed from another and runs like FastMCP's own such tools, otherwise None."""
    if isinstance(tool, TransformedTool) and _keeps(tool, TransformedTool, ("run", "_run")):
        return tool
    return None


def forwarding(tool: TransformedTool) -> Forwarding | None:
    """Return how a transformed tool passes its arguments on; None for a tool that does more.

    This ignores the type that an ``ArgTransform`` publishes: FastMCP passes on any value.
    """
    if tool.fn is not tool.forwarding_fn:
        return None
    changes = tool.transform_args
    hidden = {name: change for name, change in changes.items() if change.hide}
    shown = [name for name in _properties(tool.parent_tool) if name not in hidden]
    published = _properties(tool)
    return Forwarding(
        parent=tool.parent_tool,
        names={_published_name(tool, name): name for name in shown},
        required=tuple(tool.parameters.get("required", ())),
        defaults={name: schema["default"] for name, schema in published.items() if "default" in schema},
        hidden={name: change.default for name, change in hidden.items() if change.default is not NotSet},
    )


def accepted_schema(tool: TransformedTool, below: Mapping[str, Any], *, certain: bool) -> Mapping[str, Any]:
    """Return the schema of what a transformed tool accepts.

    Args:
        tool: The transformed tool.
        below: The schema of what its parent accepts.
        certain: Whether the parent's own validator is known. Otherwise a parameter whose type differs takes anything.
    """
    changes = tool.transform_args
    changed = {name for name, change in changes.items() if change.type is not NotSet and not change.hide}
    if tool.fn is not tool.forwarding_fn:
        changed -= _declared_names(tool)
    elif below != tool.parent_tool.parameters:
        changed = set(below.get("properties", {}))
    if not changed:
        return tool.parameters
    definitions = {**tool.parameters.get("$defs", {}), **below.get("$defs", {})}
    merge = _as_parent if certain and tool.fn is tool.forwarding_fn else _as_any
    published = _properties(tool)
    merged = {
        name: merge(published[name], below["properties"][parents])
        for parents in changed
        if (name := _published_name(tool, parents)) in published
    }
    schema = {**tool.parameters, "properties": {**published, **merged}}
    return {**schema, "$defs": definitions} if definitions else schema


def _declared_names(tool: TransformedTool) -> set[str]:
    """Return the parent's names of the parameters that a ``transform_fn`` declares itself, types included."""
    declared = inspect.signature(tool.fn).parameters
    return {name for name in tool.transform_args if _published_name(tool, name) in declared}


def _as_parent(published: Mapping[str, Any], below: Mapping[str, Any]) -> dict[str, Any]:
    keywords = {key: value for key, value in below.items() if key not in _ANNOTATIONS}
    return keywords | _as_any(published, below)


def _as_any(published: Mapping[str, Any], _below: Mapping[str, Any]) -> dict[str, Any]:
    return {key: published[key] for key in _ANNOTATIONS if key in published}


def delegate(part: Tool | Prompt) -> tuple[FastMCP, str, VersionSpec | None] | None:
    """Return the mounted server that runs this tool or prompt, with its name and version there."""
    is_tool = isinstance(part, FastMCPProviderTool) and _keeps(part, FastMCPProviderTool, ("run", "_run"))
    if not is_tool and not isinstance(part, FastMCPProviderPrompt):
        return None
    server, name = getattr(part, "_server", None), getattr(part, "_original_name", None)
    if not isinstance(server, FastMCP) or not isinstance(name, str):
        return None
    return server, name, VersionSpec(eq=part.version) if part.version else None


def _keeps(tool: Tool, base: type[Tool], methods: tuple[str, ...]) -> bool:
    return all(getattr(type(tool), name, None) is getattr(base, name, None) for name in methods)


def _properties(tool: Tool) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    return properties


def _published_name(tool: TransformedTool, name: str) -> str:
    change = tool.transform_args.get(name)
    return change.name if change is not None and isinstance(change.name, str) else name


def _arguments_schema(schema: Mapping[str, Any]) -> CoreSchema:
    """Return the part of a call's schema that binds and validates the arguments, without the function."""
    if schema["type"] == "definitions":
        return {**schema, "schema": _arguments_schema(schema["schema"])}
    arguments: CoreSchema = schema["arguments_schema"]
    return arguments


def _builds_many(node: Mapping[str, Any]) -> bool:
    """Return whether validating a long container here builds a Python object for each entry."""
    entries = node.get("items_schema") if node["type"] == "list" else node.get("values_schema")
    return node["type"] in ("list", "dict") and isinstance(entries, dict) and entries["type"] not in _SCALARS


def _is_strict_integer(node: Mapping[str, Any]) -> bool:
    setting = node if node["type"] == "int" else node.get("config") or {}
    return setting.get("strict") is True


def log_invalid_arguments(tool: str, error: PydanticValidationError) -> None:
    """Write FastMCP's log line about arguments that it refuses: the number of errors, and Pydantic's codes."""
    summary = getattr(fastmcp_server, "_validation_error_summary", None)
    if summary is None:
        fastmcp_server.logger.warning("Invalid arguments for tool %r", tool)
    else:
        fastmcp_server.logger.warning("Invalid arguments for tool %r: %s", tool, summary(error))


def refused_before_running(error: Exception, tool: str) -> bool:
    """Return whether FastMCP raised this for the call itself, and not the tool's body.

    FastMCP refuses arguments because of Pydantic, and names an unknown tool.
    """
    if isinstance(error, ValidationError):
        return isinstance(error.__cause__, PydanticValidationError)
    return repr(tool) in str(error)


def body_exception(error: ToolError) -> BaseException | None:
    """Return the unexpected exception of a tool's body that FastMCP turned into this; None if the author raised this."""
    cause = error.__cause__
    if cause is None or not str(error).startswith("Error calling tool "):
        return None
    is_wrapped = type(cause).__module__.startswith("fastmcp.") and cause.__cause__ is not None
    return cause.__cause__ if is_wrapped else cause


def prompt_values(prompt: FunctionPrompt, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that FastMCP validates for a prompt: strings converted to the parameters' types.

    Raises:
        PromptError: When a string cannot be converted.
    """
    values = prompt._convert_string_arguments(dict(arguments))  # noqa: SLF001
    parameters = inspect.signature(prompt.fn).parameters
    return {name: value for name, value in values.items() if name in parameters}


def running_tool() -> FunctionTool | None:
    """Return the tool whose validator is being built for a call; None outside of ``FunctionTool.run``.

    Pydantic asks an annotation for its schema without naming the function, and a wrapper made with
    ``functools.wraps`` shares the annotations of the wrapped function: only the caller's frame distinguishes them.
    """
    tool = local(RUN, "self")
    return tool if isinstance(tool, FunctionTool) else None


def registered_function() -> Callable[..., Any] | None:
    """Return the function whose schema FastMCP is reading to make a tool of it; None outside of that."""
    function = local(ParsedFunction.from_function, "fn")
    return function if callable(function) else None


def header_name() -> str | None:
    """Return the name of the called tool in a header of the request; None without one."""
    return dependencies.get_http_headers(include_all=True).get("mcp-name")


def is_rate_limit(middleware: Middleware) -> bool:
    """Return whether a middleware is FastMCP's own that counts requests, and changes no list of tools."""
    is_own = type(middleware).__module__ == "fastmcp.server.middleware.rate_limiting"
    return is_own and vars(middleware).keys().isdisjoint(vars(Middleware))


def wrap_dispatch(*wrappers: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Wrap, once, the methods of FastMCP that run a server's middleware, and its extensions.

    No middleware is told to which server it is added, and no public place is behind all that may deny a call.
    """
    for name, wrap in zip(host.DISPATCH, wrappers, strict=False):  # FastMCP 3 has no extensions
        method = getattr(FastMCP, name, None)
        if method is not None and not hasattr(method, "__wrapped__"):
            setattr(FastMCP, name, wraps(method)(wrap(method)))


def is_wrapped() -> bool:
    """Return whether the methods are there, and wrapped."""
    return all(hasattr(getattr(FastMCP, name, None), "__wrapped__") for name in host.DISPATCH)


def take_calls(function: Callable[..., Any], schema: Callable[..., CoreSchema]) -> bool:
    """Let Pydantic ask for the schema of a tool's calls; return whether FastMCP still allows it.

    FastMCP validates calls with a function of its own around the tool's, which it makes once and keeps, and Pydantic
    asks every type, also a function, for its ``__get_pydantic_core_schema__``.
    """
    try:
        for run_in_thread in (True, False):
            _, validated = host.called_for(function, run_in_thread=run_in_thread)
            validated.__get_pydantic_core_schema__ = schema  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        return False
    return True
