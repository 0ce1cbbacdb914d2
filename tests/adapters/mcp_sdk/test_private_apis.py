"""Private APIs of the official SDK 2 used by the adapter; these tests fail when they change."""

from typing import Any

import pytest
from mcp import Client
from mcp.server.extension import Extension
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool
from tables import each_row

from mcp_lenient.adapters.mcp_sdk import private_sdk


def note(text: str, ctx: Context, labels: list[str] | None = None) -> Any:
    """Keep a note."""
    return [text, labels, ctx is not None]


def entry(server: MCPServer) -> Any:
    """Return a server's handler of tool calls."""
    return server._lowlevel_server.get_request_handler("tools/call").handler


@pytest.mark.parametrize("inner", [0, 3])
async def test_a_middleware_finds_the_server_that_calls_it(inner):
    """The ``call_next`` chain ends in the SDK's runner, which has the server."""
    found: list[Any] = []

    async def look(ctx: Any, call_next: Any) -> Any:
        found.append(private_sdk.server_behind(call_next))
        return await call_next(ctx)

    async def pass_on(ctx: Any, call_next: Any) -> Any:
        return await call_next(ctx)

    server = MCPServer("notes", middleware=[look, *([pass_on] * inner)], log_level="ERROR")
    async with Client(server) as client:
        await client.list_tools()
    assert set(found) == {server._lowlevel_server}
    assert found[0].name == "notes"
    assert found[0].server_info_stamp["name"] == "notes"


@each_row("foreign", [None, print, lambda ctx: ctx, 5])
def test_other_objects_have_no_server(foreign):
    """No server is found behind other objects."""
    assert private_sdk.server_behind(foreign) is None


def test_the_functions_of_a_server_are_found():
    """The handler leads to the server, also through the interceptors of extensions, and the server to each function's model."""

    class Watch(Extension):
        identifier = "com.example/watch"

        async def intercept_tool_call(self, params: Any, ctx: Any, call_next: Any) -> Any: ...

    for server in (MCPServer("a"), MCPServer("b", extensions=[Watch()])):
        server.tool()(note)
        assert private_sdk.function_server(entry(server)) is server
        assert private_sdk.validator(private_sdk.function_tool(server, "note")) is not None
        assert private_sdk.function_tool(server, "other") is None


def test_a_custom_server_is_not_treated_as_a_function_server():
    """If other code runs the tools, only their published schemas are known."""

    class Own(MCPServer):
        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            return await super().call_tool(name, arguments, context)

    async def run(_ctx: Any, _params: Any) -> Any: ...

    low: Server[Any] = Server("low", on_call_tool=run)
    assert private_sdk.function_server(entry(Own("own"))) is None
    assert private_sdk.function_server(low.get_request_handler("tools/call").handler) is None


def test_a_custom_tool_is_validated_by_its_schema():
    """A tool class with its own ``run`` may validate differently, and has no validator."""

    class Own(Tool):
        async def run(self, *_args: Any, **_named: Any) -> Any: ...

    own = Own(**dict(Tool.from_function(note)))
    assert private_sdk.validator(own) is None


def with_model(model: Any) -> Tool:
    """Return a function tool whose author replaced the SDK's model of its arguments."""
    tool = Tool.from_function(note)
    tool.fn_metadata.arg_model = model(tool.fn_metadata.arg_model)
    return tool


def _subclass(model: Any, **attributes: Any) -> Any:
    return type(model.__name__, (model,), attributes)


def _that_never_raises(model: Any) -> Any:
    return _subclass(model, model_validate=classmethod(lambda _cls, sent: sent))


def test_a_replaced_model_of_arguments_leaves_the_published_schema():
    """A model that validates by other code says nothing of what the tool accepts; one with more fields still does."""
    assert private_sdk.validator(with_model(_subclass)) is not None
    assert private_sdk.validator(with_model(_that_never_raises)) is None
    assert private_sdk.validator(with_model(lambda _: object)) is None


def test_replaced_metadata_leaves_the_published_schema():
    """Metadata of another class may read the arguments in another way."""
    tool = Tool.from_function(note)
    tool.fn_metadata = _subclass(type(tool.fn_metadata)).model_construct(**dict(tool.fn_metadata))
    assert private_sdk.validator(tool) is None
