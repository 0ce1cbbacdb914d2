"""Find how each tool of a server is validated, down to its function, and compile it once."""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from fastmcp import Context, FastMCP
from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import MiddlewareContext
from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware
from fastmcp.server.providers import LocalProvider
from fastmcp.server.transforms.visibility import apply_session_transforms, is_enabled
from fastmcp.tools import FunctionTool
from fastmcp.utilities.versions import VersionSpec
from mcp.types import CallToolRequestParams, ListToolsRequest

from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.pydantic.faults import ordered, step
from mcp_lenient.adapters.pydantic.validator import PydanticValidator
from mcp_lenient.adapters.source import ToolSource
from mcp_lenient.declare.declarations import Declared
from mcp_lenient.declare.decorator_metadata import declared_of, marks_of
from mcp_lenient.engine.contract import Contract
from mcp_lenient.engine.schema_validator import WrappedValidator
from mcp_lenient.engine.tool import HostTool
from mcp_lenient.errors import SchemaError
from mcp_lenient.rules.dispatchers import Dispatcher, dispatcher
from mcp_lenient.telemetry import otel as spans
from mcp_lenient.types import Fault, Path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmcp.server.middleware import Middleware
    from fastmcp.tools import Tool
    from fastmcp.tools.tool_transform import TransformedTool
    from mcp.types import RequestParams

    from mcp_lenient.adapters.fastmcp.compat import Forwarding
    from mcp_lenient.rules.policy import Face


class FunctionValidator(PydanticValidator):
    """A function tool's own validator, at the strictness of the server that runs it.

    Args:
        tool: The function tool.
        strict: ``strict_input_validation`` of the server that runs it.

    Attributes:
        exact_integers: Whether ``7.0`` is refused for an integer.
        has_validators: Whether validation runs Python code of the author that FastMCP runs in a worker thread.

    Raises:
        SchemaError: When FastMCP's validator for the function cannot be built.
    """

    def __init__(self, tool: FunctionTool, *, strict: bool) -> None:
        probe = compat.probe(tool.fn, run_in_thread=tool.run_in_thread, strict=strict)
        super().__init__(
            probe.validate, probe.is_surely_right, core_schema=probe.core_schema, runs_code=probe.runs_code
        )
        self.exact_integers, self.has_validators = probe.exact_integers, probe.in_thread


@dataclass(frozen=True, slots=True)
class TransformedValidator(WrappedValidator):
    """Validates with the validator of a transformed tool's parent, and reports faults under the published names.

    Faults of hidden arguments are ignored: the caller cannot send them.
    """

    validator: FunctionValidator | TransformedValidator
    forwarding: Forwarding

    def received(self, arguments: Mapping[str, Any]) -> object:
        """Return what the function receives for these arguments; raise what its validation raises."""
        return self.validator.received(self._forwarded(arguments))

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the tool accepts these arguments."""
        return not self.faults(arguments)

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Return all faults, under the published names."""
        names, published = self.forwarding.names, self.forwarding.published
        sent = {**self.forwarding.defaults, **arguments}
        unknown = [Fault((step(name),), "unknown") for name in arguments if name not in names]
        missing = [Fault((name,), "missing") for name in self.forwarding.required if name not in sent]
        below = [
            _published(fault, published, arguments)
            for fault in self.validator.faults(self._forwarded(arguments))
            if not fault.path or fault.path[0] in published
        ]
        return ordered([*unknown, *below, *missing], arguments)

    def is_strict_at(self, path: Path) -> bool:
        """Return whether the author made a field of the function strict."""
        name = self.forwarding.names.get(str(path[0]))
        return name is not None and self.validator.is_strict_at((name, *path[1:]))

    def distinguishes(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Return whether the tool would get different values from the two."""
        return self.validator.distinguishes(self._forwarded(one), self._forwarded(other))

    def _forwarded(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        names = self.forwarding.names
        filled = {**self.forwarding.defaults, **arguments}
        forwarded = {names[name]: value for name, value in filled.items() if name in names}
        return {**forwarded, **self.forwarding.hidden}


def _published(fault: Fault, published: Mapping[Any, str], arguments: Mapping[str, Any]) -> Fault:
    if not fault.path:
        return fault
    name = published[fault.path[0]]
    # A filled-in default may be refused: then the caller has to send a value.
    return replace(fault, path=(name, *fault.path[1:])) if name in arguments else Fault((name,), "missing")


def as_published(tool: Tool, **requested: Any) -> dict[str, Any]:
    """Return the fields of a :class:`HostTool` that its server publishes, and those of the request: key and form."""
    return {
        **requested,
        "name": tool.name,
        "schema": tool.parameters,
        "annotations": tool.annotations,
        "has_output_schema": tool.output_schema is not None,
        "record": tool,
    }


async def find_target(server: FastMCP, tool: Tool, **requested: Any) -> HostTool:
    """Find what validates a tool, down through mounted servers and transformed tools.

    Must run where the tool was looked up: mounted servers are asked for what this client may see.
    """
    delegated = compat.delegate(tool)
    if delegated is not None:
        below = await _target_in(*delegated)
        if below is None:
            return HostTool(**as_published(tool, **requested))
        fields = {**as_published(tool, **requested), "schema": below.schema}
        return replace(below, **fields, route=(delegated[:2], *below.route))
    transformed = compat.transformed(tool)
    if transformed is not None:
        return await _transformed(server, transformed, **requested)
    if compat.runs_its_function(tool):
        return reached(tool, strict=host.is_strict(server), **requested)
    return HostTool(**as_published(tool, **requested), drops_names=compat.drops_names(tool))


async def _transformed(server: FastMCP, tool: TransformedTool, **requested: Any) -> HostTool:
    below = await find_target(server, tool.parent_tool)
    schema = compat.accepted_schema(tool, below.schema, certain=below.validator is not None)
    fields, forwarding = {**as_published(tool, **requested), "schema": schema}, compat.forwarding(tool)
    if forwarding is None:
        return HostTool(**fields)
    # Below a server of FastMCP there are tools of such servers only.
    inner = cast("FunctionValidator | TransformedValidator | None", below.validator)
    validator = None if inner is None else TransformedValidator(inner, forwarding)
    return replace(below, **fields, validator=validator, declared=_renamed(below.declared, forwarding))


async def _target_in(server: FastMCP, name: str, version: VersionSpec | None) -> HostTool | None:
    async with Context(fastmcp=server):
        tool = await server.get_tool(name, version)
        return None if tool is None else await find_target(server, tool)


def reached(tool: FunctionTool, *, strict: bool, **requested: Any) -> HostTool:
    """Return a function tool with its validator on a server of this strictness."""
    try:
        validator = FunctionValidator(tool, strict=strict)
    except SchemaError:
        return HostTool(**as_published(tool, **requested))
    marks = marks_of(tool.fn)
    return HostTool(
        **as_published(tool, **requested),
        validator=validator,
        in_thread=validator.has_validators,
        function=tool.fn,
        declared=_declared(tool.fn),
        policy=marks.policy if marks is not None else None,
        runs_code=compat.runs_code(tool.fn),
    )


def _declared(function: Callable[..., Any]) -> Declared:
    """Return what is declared of a function, and of FastMCP's own that call a found tool how they name it."""
    if compat.search_transform(function) is None:
        return declared_of(function)
    return Declared(policy={"dispatches": dispatcher()})


def _renamed(declared: Declared, forwarding: Forwarding) -> Declared:
    """Rename the declarations of a transformed tool's parent to the published names."""
    published = forwarding.published
    return Declared(
        normalizers={
            published[name]: calls for name, calls in declared.normalizers.items() if name in published
        },
        aliases={published[name]: names for name, names in declared.aliases.items() if name in published},
        policy=declared.policy,
    )


Key = tuple[str, str | None, bytes]
Contracts = weakref.WeakKeyDictionary[FastMCP, dict[Any, Contract]]
"""The contracts of each server's tools, kept between calls."""


class ServerSource(ToolSource):
    """The tools of a server as the caller of one request sees them.

    Args:
        compiled: The contracts of all servers.
        server: The server.
        message: The request, which may ask for a version.
        caller: What distinguishes callers for whom the same name may be another tool.
        logged_as: The name under which the server is logged.

    Attributes:
        form: The form of the schemas that the caller asked for.
        is_of_call: Whether the request is a call.
    """

    certain_names = None
    form: Face | None = None

    def __init__(
        self,
        compiled: Contracts,
        server: FastMCP,
        message: RequestParams,
        caller: bytes = b"",
        logged_as: str | None = None,
    ) -> None:
        self.contracts = compiled
        self.compiled = compiled.setdefault(server, {})
        self.server = server
        self.server_names = {server.name, logged_as or server.name}
        self.is_of_call = isinstance(message, CallToolRequestParams)
        self._message = message
        self._caller = caller

    def inside(self, outer: HostTool, form: Dispatcher) -> ToolSource | None:
        """Return the tools that a dispatcher calls: of its own server, in which the call passes all middleware again."""
        transform = compat.search_transform(outer.function)
        if transform is None and form.tools != "server":
            return super().inside(outer, form)
        server = outer.route[-1][0] if outer.route else self.server
        return ToolsBelow(
            self.contracts, server, CallToolRequestParams(name=""), self._caller, transform=transform
        )

    def compiled_last(self, name: str) -> Contract | None:
        """Return a tool as it was compiled last; it may have been replaced since."""
        return self.compiled.get(_key(name, self._message, self._caller))

    async def tool(self, name: str, *, fresh: bool) -> HostTool | None:
        """Return a tool; one with normalizers is always looked up, as they must not run on another's arguments."""
        contract = self.compiled_last(name)
        if contract is not None and not fresh and not contract.normalizers:
            return contract.tool
        tool, key = await self._look_up(name), _key(name, self._message, self._caller)
        if tool is None:
            self.compiled.pop(key, None)
            return None
        return await find_target(self.server, tool, key=key, form=self.form)

    async def _look_up(self, name: str) -> Tool | None:
        """Return a tool as FastMCP's look-up does, which starts a task for each provider at half the cost of a call.

        Of a server that has nothing but its own tools, their provider alone is asked.
        """
        server, version = self.server, requested_version(self._message)
        local = [entry for entry in server.providers if isinstance(entry, LocalProvider)]
        injects = any(isinstance(entry, ToolInjectionMiddleware) for entry in server.middleware)
        is_plain = type(server) is FastMCP and len(local) == len(server.providers) == 1
        tool: Tool | None = None
        if is_plain and not (injects or server.transforms):
            tool = await local[0].get_tool(name, version)
        if tool is None or tool.auth is not None or not is_enabled(*await apply_session_transforms([tool])):
            tool = await server.get_tool(name, version)
        return tool

    def unknown(self, name: str, names: Collection[str], language: str) -> dict[str, Any]:
        """Return the envelope for a call of an unknown tool; one that is listed and yet denied is answered alike."""
        asks_version = requested_version(self._message) is not None
        return super().unknown(name, names if asks_version else set(names) - {name}, language)

    async def names(self) -> Collection[str]:
        """Return the names of the tools that the client is listed, without asking its rate limit about a list of ours."""
        async with Context(fastmcp=self.server) as context:
            run: Callable[..., Awaitable[Any]] = partial(_listed, self.server)
            for middleware in reversed(self.server.middleware):
                run = run if compat.is_rate_limit(middleware) else partial(_run_next, middleware, run)
            request = ListToolsRequest(method="tools/list")
            message = MiddlewareContext(message=request, method="tools/list", fastmcp_context=context)
            with spans.aside():
                return {tool.name for tool in await run(message)}


def _run_next(middleware: Middleware, call_next: Any, context: Any) -> Any:
    return middleware(context, call_next)  # which an author's may name otherwise


async def _listed(server: FastMCP, _message: object) -> Sequence[Tool]:
    return await server.list_tools(run_middleware=False)


class ToolsBelow(ServerSource):
    """The tools of a server that one of its own tools calls.

    Args:
        compiled: The contracts of all servers.
        server: The server.
        message: A request without a version.
        caller: What distinguishes callers for whom the same name may be another tool.
        transform: FastMCP's search transform, of which its tool calls no others than the caller may find.
    """

    answers_below = True

    def __init__(
        self, compiled: Contracts, server: FastMCP, message: RequestParams, caller: bytes, *, transform: Any
    ) -> None:
        super().__init__(compiled, server, message, caller)
        self._transform = transform

    async def tool(self, name: str, *, fresh: bool) -> HostTool | None:
        """Return a tool; one that is not listed to the caller changes nothing that others could see."""
        if fresh and self._transform is not None and name not in await self.names():
            return None
        async with self._context():
            return await super().tool(name, fresh=fresh)

    async def names(self) -> Collection[str]:
        """Return the names of the tools that the caller may call in this way."""
        async with self._context():
            if self._transform is None:
                return await super().names()
            with spans.aside():
                return {tool.name for tool in await self._transform.get_tool_catalog(get_context())}

    def _context(self) -> AbstractAsyncContextManager[Any]:
        """Return the context in which the server's tools are looked up."""
        return nullcontext() if get_context().fastmcp is self.server else Context(fastmcp=self.server)


def cached_contract(
    compiled: Contracts, server: FastMCP, message: CallToolRequestParams, caller: bytes
) -> Contract | None:
    """Return the tool that a message calls as it was compiled last; it may have been replaced since."""
    contracts = compiled.get(server)
    return None if contracts is None else contracts.get(_key(message.name, message, caller))


def _key(name: str, message: RequestParams, caller: bytes) -> Key:
    version = None if message.meta is None else requested_version(message)
    return name, None if version is None else repr(version), caller  # a VersionSpec has no hash


def requested_version(message: RequestParams) -> VersionSpec | None:
    """Return the version of the tool, prompt or resource that a request asks for."""
    meta = host.fastmcp_meta(message)
    version = meta.get("version") if isinstance(meta, dict) else None
    if isinstance(version, str):
        return VersionSpec(eq=version)
    if isinstance(version, dict):
        return VersionSpec(**{bound: version.get(bound) for bound in ("gte", "lt", "eq")})
    return None
