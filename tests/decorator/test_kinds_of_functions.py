"""Functions and methods of every kind under ``@lenient``: as tools, and called directly."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator
from types import FunctionType
from typing import Annotated, Any, get_type_hints

import pytest
from calls import call, code, envelope, got
from fastmcp import Client, Context, FastMCP
from fastmcp.dependencies import Depends
from fastmcp.tools import Tool, tool
from pydantic import AfterValidator, BaseModel, Field

from mcp_lenient import aliases, lenient, parse_json, strip, tags


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


def keyword_only(*, content: str, tags: list[str] | None = None) -> list[str]:
    """Store a text by name."""
    return sync(content, tags)


def described(
    content: Annotated[str, "What to store"],
    tags: Annotated[list[str] | None, Field(description="Under what", max_length=3)] = None,
) -> list[str]:
    """Store a text that is told of."""
    return sync(content, tags)


def in_defaults(
    content: str = Field(min_length=1, description="What to store"),
    tags: list[str] | None = Field(None, max_length=3),  # noqa: B008 - as above
) -> list[str]:
    """Store a text, told of in the defaults."""
    return sync(content, tags if isinstance(tags, list) else None)


def with_context(content: str, ctx: Context, tags: list[str] | None = None) -> list[str]:
    """Store a text on a server."""
    assert ctx.fastmcp.name == "server"
    return sync(content, tags)


async def with_optional_context(
    content: str, tags: list[str] | None = None, ctx: Context | None = None
) -> list[str]:
    """Store a text on a server, or without one."""
    assert ctx is None or ctx.fastmcp.name == "server"
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
    keyword_only,
    described,
    in_defaults,
    with_context,
    with_optional_context,
    with_dependency,
]


def _with_types(function: Any) -> Any:
    """The function as a module without ``from __future__ import annotations`` has it."""
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


async def _published(function: Any) -> str:
    async with Client(FastMCP("server", tools=[function])) as client:
        (published,) = await client.list_tools()
    return published.model_dump_json(by_alias=True)


@every_function
@DECORATORS
@SPELT
async def test_what_is_published_stays(function, decorate, spell):
    """Schema, output schema, name and description of a tool are byte for byte those of the undecorated one."""
    assert await _published(decorate(spell(function))) == await _published(spell(function))


@every_function
@DECORATORS
@SPELT
def test_what_python_sees_stays(function, decorate, spell):
    """Name, docstring and types are those of the function; so is the signature, but for constraints in defaults."""
    written = spell(function)
    decorated = decorate(written)
    assert (decorated.__name__, decorated.__doc__) == (written.__name__, written.__doc__)
    assert (decorated.__module__, decorated.__qualname__) == (written.__module__, written.__qualname__)
    assert get_type_hints(decorated) == get_type_hints(written)
    if function is not in_defaults:
        assert inspect.signature(decorated) == inspect.signature(written)
    assert list(inspect.signature(decorated).parameters) == list(inspect.signature(written).parameters)
    assert inspect.iscoroutinefunction(decorated) == inspect.iscoroutinefunction(written)


@every_function
async def test_calls_with_types(function):
    """A tool whose types are no texts does what it did."""
    server = FastMCP("server", tools=[lenient(_with_types(function))])
    assert got(await call(server, function.__name__, {"content": "a", "tags": ["b"]})) == ["a", "b"]


@every_function
@pytest.mark.parametrize(
    "decorate", [lenient, lenient(content=strip(), tags=tags())], ids=["bare", "normalizers"]
)
async def test_calls(function, decorate, serve):
    """A right call does what it did, a nearly right one is repaired, and a wrong one gets the envelope."""
    name = function.__name__
    async with Client(serve(decorate(function))) as client:
        sent = [{"content": "a"}, {"content": "a", "tags": ["b"]}, {"content": "a", "tags": '["b", "c"]'}]
        results = [await client.call_tool_mcp(name, arguments) for arguments in sent]
        refused = await client.call_tool_mcp(name, {"content": "a", "tags": 5})
    assert [got(result) for result in results] == [["a"], ["a", "b"], ["a", "b", "c"]]
    told = envelope(refused)
    assert told["error_code"] == "INVALID_TAGS_TYPE"
    assert told["details"]["tool"] == function.__name__
    names = told["details"]["parameters"]
    assert {*names["required"], *names["optional"]} == {"content", "tags"}


async def _direct(function: Any, **arguments: Any) -> list[str]:
    result = function(**arguments)
    if inspect.isawaitable(result):
        return await result
    return [each async for each in result] if inspect.isasyncgen(result) else list(result)


@pytest.mark.parametrize(
    "function",
    [sync, asynchronous, generator, async_generator, keyword_only],
    ids=lambda function: function.__name__,
)
@pytest.mark.parametrize(
    "sent", [{}, {"tags": ["b"]}, {"tags": "bc"}], ids=["default", "right", "not_judged"]
)
async def test_direct_calls_are_as_before(function, sent):
    """Called by Python code, a decorated function does what it did: nothing is judged and nothing changed."""
    decorated = lenient(content=strip(), tags=tags())(function)
    assert await _direct(decorated, content=" a ", **sent) == await _direct(function, content=" a ", **sent)


def test_direct_calls_raise_as_before():
    """What the body raises, and what Python says of wrong arguments, goes through."""
    with pytest.raises(TypeError, match="content"):
        lenient(sync)()

    @lenient
    def fails(number: int) -> None:
        raise KeyError(number)

    with pytest.raises(KeyError):
        fails(5)


class Shelf:
    """A class with tools."""

    def __init__(self, name: str) -> None:
        self.name = name

    @lenient(tags=tags(), content=aliases("text"))
    def put(self, content: str, tags: list[str] | None = None) -> list[str]:
        """Put a text on this shelf."""
        return [self.name, content, *(tags or [])]

    def bare(self, content: str, tags: list[str] | None = None) -> list[str]:
        """Put a text on this shelf, not decorated."""
        return [self.name, content, *(tags or [])]

    @lenient(tags=tags())
    async def put_later(self, content: str, tags: list[str] | None = None) -> list[str]:
        """Put a text on this shelf later."""
        return self.bare(content, tags)

    @classmethod
    @lenient(tags=tags())
    def of_class(cls, content: str, tags: list[str] | None = None) -> list[str]:
        """Put a text on any shelf."""
        return [cls.__name__, content, *(tags or [])]

    @staticmethod
    @lenient(tags=tags())
    def of_none(content: str, tags: list[str] | None = None) -> list[str]:
        """Put a text nowhere."""
        return ["nowhere", content, *(tags or [])]

    @tool
    @lenient(tags=tags())
    def below_tool(self, content: str, tags: list[str] | None = None) -> list[str]:
        """Put a text here."""
        return self.bare(content, tags)


METHODS = [
    pytest.param(Shelf("left").put, "left", id="instance"),
    pytest.param(Shelf("left").put_later, "left", id="async"),
    pytest.param(Shelf.of_class, "Shelf", id="class"),
    pytest.param(Shelf("left").of_class, "Shelf", id="class-of-instance"),
    pytest.param(Shelf.of_none, "nowhere", id="static"),
    pytest.param(Shelf("left").below_tool, "left", id="below-tool"),
    pytest.param(lenient(tags=tags())(Shelf("left").bare), "left", id="bound"),
]


@pytest.mark.parametrize(("method", "where"), METHODS)
async def test_methods(method, where, serve):
    """Methods of each kind are repaired and refused; the envelope knows nothing of what they are bound to."""
    server, name = serve(method), method.__name__
    assert got(await call(server, name, {"content": "a", "tags": ["b"]})) == [where, "a", "b"]
    assert got(await call(server, name, {"content": "a", "tags": "b"})) == [where, "a", "b"]
    told = envelope(await call(server, name, {"content": "a", "tags": 5}))
    assert told["error_code"] == "INVALID_TAGS_TYPE"
    assert told["details"]["parameters"] == {"required": ["content"], "optional": ["tags"]}


async def test_methods_keep_their_instances_apart(serve):
    """Two instances' methods are two tools."""
    server = serve(
        *(Tool.from_function(Shelf(name).put, name=name) for name in ("left", "right")),
    )
    for name in ("left", "right"):
        assert got(await call(server, name, {"content": "a", "tags": "b"})) == [name, "a", "b"]


def _by_server(function: Any) -> FastMCP:
    server = FastMCP("server")
    server.tool(function)
    return server


def _by_server_with_arguments(function: Any) -> FastMCP:
    server = FastMCP("server")
    server.tool(description="told elsewhere", tags={"notes"})(function)
    return server


def _added(made: Any) -> FastMCP:
    server = FastMCP("server")
    server.add_tool(made)
    return server


@pytest.mark.parametrize(
    "register",
    [
        pytest.param(lambda function: _by_server(lenient(function)), id="server-tool"),
        pytest.param(
            lambda function: _by_server_with_arguments(lenient(function)), id="server-tool-arguments"
        ),
        pytest.param(lambda function: _added(tool(lenient(function))), id="tool-above"),
        pytest.param(
            lambda function: _added(tool(version="2")(lenient(function))), id="tool-above-arguments"
        ),
        pytest.param(lambda function: _added(lenient(tool(function))), id="tool-below"),
        pytest.param(
            lambda function: _added(lenient(tool(version="2")(function))), id="tool-below-arguments"
        ),
        pytest.param(lambda function: _added(Tool.from_function(lenient(function))), id="from-function"),
        pytest.param(lambda function: FastMCP("server", tools=[lenient(function)]), id="tools-of-server"),
    ],
)
async def test_ways_to_register(register):
    """It works with each way to make a tool of a function."""
    server = register(_with_types(sync))
    assert got(await call(server, "sync", {"content": "a", "tags": '["b"]'})) == ["a", "b"]
    assert code(await call(server, "sync", {"content": "a", "tags": 5})) == "INVALID_TAGS_TYPE"


@pytest.mark.parametrize(
    "register",
    [
        pytest.param(lambda server, function: server.tool(function, name="store"), id="keyword"),
        pytest.param(lambda server, function: server.tool("store")(function), id="first"),
        pytest.param(lambda server, function: server.add_tool(tool(name="store")(function)), id="standalone"),
    ],
)
async def test_the_envelope_has_the_tools_own_name(register, events):
    """Envelope and log name the tool as its author does, where the function has another name."""
    server = FastMCP("server")
    register(server, lenient(_with_types(sync)))
    told = envelope(await call(server, "store", {"content": "a", "tags": 5}))
    assert told["details"]["tool"] == events[-1]["tool"] == "store"


class Note(BaseModel):
    """A type that a schema refers to."""

    text: str


async def test_one_function_on_two_servers():
    """A decorated function may be registered again after it was called."""

    @lenient
    def store(note: Annotated[Note, parse_json()]) -> str:
        return note.text

    published = []
    for _ in range(2):
        server = FastMCP("server", tools=[store])
        assert got(await call(server, "store", {"note": '{"text": "a"}'})) == "a"
        published.append(await _published(store))
    assert published[0] == published[1]


async def test_parameters_without_a_type(serve):
    """A normalizer works on a parameter that has no type."""

    @lenient(tags=tags())
    def untyped(tags, more=None):
        return {"tags": tags, "more": more}

    def written(tags, more=None):
        return {"tags": tags, "more": more}

    written.__name__ = written.__qualname__ = "untyped"
    server = serve(untyped)
    assert got(await call(server, "untyped", {"tags": "a", "more": 5})) == {"tags": ["a"], "more": 5}
    assert code(await call(server, "untyped", {"tags": 5})) == "INVALID_TAGS_TYPE"
    assert await _published(untyped) == await _published(written)


async def test_parameters_by_another_name(serve):
    """Where a ``Field`` publishes a parameter under another name, that is the one that is spoken of."""

    @lenient(limit=(strip(), aliases("count")))
    def search(limit: Annotated[int, Field(alias="maxResults")] = 3) -> int:
        return limit

    server = serve(search)
    assert got(await call(server, "search", {"maxResults": " 7 "})) == 7
    told = envelope(await call(server, "search", {"maxResults": "many"}))
    assert told["error_code"] == "INVALID_MAX_RESULTS_TYPE"
    assert told["details"]["parameter"] == "maxResults"


@pytest.mark.parametrize(
    ("annotation", "default", "wanted"),
    [
        pytest.param(int, 5, 5, id="plain"),
        pytest.param(int, Field(5, ge=1, description="many"), 5, id="field"),
        pytest.param(
            Annotated[int, Field(default_factory=lambda: 5)], inspect.Parameter.empty, 5, id="factory"
        ),
        pytest.param(
            Annotated[int, AfterValidator(lambda value: value * 2), Field(validate_default=True)],
            5,
            10,
            id="validated",
        ),
    ],
)
async def test_null_for_a_default(annotation, default, wanted, serve):
    """A null that the type forbids stands for the default, however the default is given."""

    def search(limit):
        return {"limit": limit}

    search.__annotations__ = {"limit": annotation}
    search.__defaults__ = None if default is inspect.Parameter.empty else (default,)
    assert got(await call(serve(lenient(search)), "search", {"limit": None})) == {"limit": wanted}
