"""``@lenient`` on functions of every kind, called as tools and directly."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator
from types import FunctionType
from typing import Annotated, Any, get_type_hints

import pytest
from calls import call, envelope, got
from fastmcp import Client, Context, FastMCP
from fastmcp.dependencies import Depends
from pydantic import Field
from tables import each_row

from mcp_lenient import lenient
from mcp_lenient.normalizers import strip, tags


def sync(content: str, tags: list[str] | None = None) -> list[str]:
    """Store a text.

    Args:
        content: What to store.
        tags: Under what.
    """
    return [content, *(tags or [])]


async def asynchronous(content: str, tags: list[str] | None = None) -> list[str]:
    """Store a text later."""
    return sync(content, tags)


def generator(content: str, tags: list[str] | None = None) -> Iterator[str]:
    """Store a text bit by bit."""
    yield from sync(content, tags)


async def async_generator(content: str, tags: list[str] | None = None) -> AsyncIterator[str]:
    """Store a text later, bit by bit."""
    for each in sync(content, tags):
        yield each


def described(
    content: Annotated[str, "What to store"],
    tags: Annotated[list[str] | None, Field(description="Under what", max_length=3)] = None,
) -> list[str]:
    """Store a described text."""
    return sync(content, tags)


def in_defaults(
    content: str = Field(min_length=1, description="What to store"),
    tags: list[str] | None = Field(None, max_length=3),  # noqa: B008 - as above
) -> list[str]:
    """Store a text described in the defaults."""
    return sync(content, tags if isinstance(tags, list) else None)


def with_context(content: str, ctx: Context, tags: list[str] | None = None) -> list[str]:
    """Store a text on a server."""
    assert ctx.fastmcp.name == "server"
    return sync(content, tags)


def _shelf() -> str:
    return "shelf"


async def with_dependency(
    content: str, tags: list[str] | None = None, shelf: str = Depends(_shelf)
) -> list[str]:
    """Store a text on a shelf."""
    assert shelf == "shelf"
    return sync(content, tags)


FUNCTIONS = [
    sync,
    asynchronous,
    generator,
    async_generator,
    described,
    in_defaults,
    with_context,
    with_dependency,
]


def _with_types(function: Any) -> Any:
    """Return the function with its types evaluated, as without ``from __future__ import annotations``."""
    typed = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, None
    )
    typed.__kwdefaults__ = function.__kwdefaults__
    typed.__doc__ = function.__doc__
    typed.__annotations__ = get_type_hints(function, include_extras=True)
    return typed


every_function = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
DECORATORS = pytest.mark.parametrize(
    "decorate",
    [lenient, lenient(), lenient(content=strip(), tags=tags())],
    ids=["bare", "parentheses", "normalizers"],
)
SPELT = pytest.mark.parametrize("spell", [lambda function: function, _with_types], ids=["texts", "types"])


async def _listed(*functions: Any) -> list[str]:
    async with Client(FastMCP("server", tools=functions)) as client:
        return [tool.model_dump_json(by_alias=True) for tool in await client.list_tools()]


@DECORATORS
@SPELT
async def test_the_published_tools_stay_unchanged(decorate, spell):
    """Schemas, names and descriptions of tools are byte for byte those of the undecorated ones."""
    written = [spell(function) for function in FUNCTIONS]
    assert await _listed(*map(decorate, written)) == await _listed(*written)


@DECORATORS
@SPELT
@each_row("function", FUNCTIONS)
def test_the_python_signature_stays_unchanged(function, decorate, spell):
    """Name, docstring, types and signature are the function's own, except for constraints in defaults."""
    written = spell(function)
    decorated = decorate(written)
    for name in ("__name__", "__doc__", "__module__", "__qualname__"):
        assert getattr(decorated, name) == getattr(written, name)
    assert get_type_hints(decorated) == get_type_hints(written)
    if function is not in_defaults:
        assert inspect.signature(decorated) == inspect.signature(written)
    assert list(inspect.signature(decorated).parameters) == list(inspect.signature(written).parameters)
    assert inspect.iscoroutinefunction(decorated) == inspect.iscoroutinefunction(written)


@every_function
async def test_calls_with_evaluated_types(function):
    """A function whose annotations are types, not strings, works as before."""
    server = FastMCP("server", tools=[lenient(_with_types(function))])
    assert got(await call(server, function.__name__, {"content": "a", "tags": ["b"]})) == ["a", "b"]


@every_function
async def test_calls(function, serve):
    """Valid calls work as before, nearly right calls are repaired, and wrong calls get the envelope."""
    name = function.__name__
    async with Client(serve(lenient(content=strip(), tags=tags())(function))) as client:
        sent = [{"content": "a"}, {"content": "a", "tags": ["b"]}, {"content": "a", "tags": '["b", "c"]'}]
        results = [await client.call_tool_mcp(name, arguments) for arguments in sent]
        refused = await client.call_tool_mcp(name, {"content": "a", "tags": 5})
    assert [got(result) for result in results] == [["a"], ["a", "b"], ["a", "b", "c"]]
    reported = envelope(refused)
    assert (reported["error_code"], reported["details"]["tool"]) == ("INVALID_TAGS_TYPE", name)
    names = reported["details"]["parameters"]
    assert {*names["required"], *names["optional"]} == {"content", "tags"}


async def _direct(function: Any, **arguments: Any) -> list[str]:
    result = function(**arguments)
    if inspect.isawaitable(result):
        return await result
    return [each async for each in result] if inspect.isasyncgen(result) else list(result)


@pytest.mark.parametrize(
    "function",
    [sync, asynchronous, generator, async_generator],
    ids=lambda function: function.__name__,
)
@pytest.mark.parametrize(
    "sent", [{}, {"tags": ["b"]}, {"tags": "bc"}], ids=["default", "right", "not_judged"]
)
async def test_direct_calls_stay_unchanged(function, sent):
    """Called from Python, a decorated function does not validate or change its arguments."""
    decorated = lenient(content=strip(), tags=tags())(function)
    assert await _direct(decorated, content=" a ", **sent) == await _direct(function, content=" a ", **sent)


def test_direct_calls_raise_the_same_errors():
    """Errors of the body, and Python's own errors for wrong arguments, are raised unchanged."""
    with pytest.raises(TypeError, match="content"):
        lenient(sync)()

    @lenient
    def fails(number: int) -> None:
        raise KeyError(number)

    with pytest.raises(KeyError):
        fails(5)
