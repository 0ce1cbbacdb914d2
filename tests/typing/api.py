"""The public names as type checkers see them. Checked by mypy, never executed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Annotated, Any

from fastmcp import Context, FastMCP
from fastmcp.tools import tool
from mcp import ClientSession
from mcp.server.mcpserver import MCPServer
from typing_extensions import Unpack, assert_type

from mcp_lenient import (
    ABSENT,
    CallRule,
    Decision,
    Guard,
    HostSettings,
    LenientCalls,
    LenientMiddleware,
    NameRule,
    NormalizationError,
    Normalizer,
    Place,
    Policy,
    ValueRule,
    lenient,
    lenient_session,
    normalize,
)
from mcp_lenient.adapters.mcp_sdk import LenientServerMiddleware, make_lenient
from mcp_lenient.normalizers import aliases, clamp, from_function, strip, tags
from mcp_lenient.results import LenientSession, Normalized

mcp: FastMCP[Any] = FastMCP("types")
mcp.add_middleware(LenientMiddleware(tools={"pay_*": Policy.strict()}))


@lenient
def bare(content: str, limit: int = 5) -> list[str]:
    """Decorated without parentheses."""
    return [content] * limit


@lenient(content=strip(), limit=(aliases("count"), clamp(1, 10)), policy=Policy.strict())
async def asynchronous(content: str, *, limit: int = 5) -> list[str]:
    """Decorated with declarations."""
    return [content] * limit


@lenient()
def generator(content: str) -> Iterator[str]:
    """Decorated with empty parentheses."""
    yield content


@lenient(content=strip())
async def async_generator(content: str, ctx: Context) -> AsyncIterator[str]:
    """Decorated, with a context parameter."""
    await ctx.info("one is coming")
    yield content


@mcp.tool
@lenient(tags=tags())
def registered(tags: list[str] | None = None) -> int:
    """Decorated below the server's decorator."""
    return len(tags or [])


@tool
@lenient(tags=tags())
def standalone(tags: list[str] | None = None) -> int:
    """Decorated below the standalone decorator."""
    return len(tags or [])


class Shelf:
    """Decorated methods of each kind."""

    @lenient(content=strip())
    def put(self, content: str) -> str:
        """An instance method."""
        return content

    @classmethod
    @lenient(content=strip())
    def of_class(cls, content: str) -> str:
        """A class method."""
        return content

    @staticmethod
    @lenient(content=strip())
    def of_none(content: str) -> str:
        """A static method."""
        return content


def refuse(value: Any) -> Any:
    """An author's own normalizer."""
    if value == "":
        code, message = "EMPTY_{PARAMETER}", "send a text that is not empty"
        raise NormalizationError(code, message)
    return value


def annotated(
    content: Annotated[str, strip(), from_function(refuse)], tags: Annotated[list[str], tags()]
) -> str:
    """Annotated types keep their type."""
    assert_type(content, str)
    assert_type(tags, list[str])
    return content


def seen() -> None:
    """Each decorated function keeps its type."""
    assert_type(bare("a"), list[str])
    assert_type(bare(content="a", limit=3), list[str])
    assert_type(generator("a"), Iterator[str])
    assert_type(registered(["a"]), int)
    assert_type(standalone(["a"]), int)
    assert_type(Shelf().put("a"), str)
    assert_type(Shelf.of_class("a"), str)
    assert_type(Shelf.of_none("a"), str)
    as_declared: Callable[[str, Context], AsyncIterator[str]] = async_generator
    later: Awaitable[list[str]] = asynchronous("a", limit=3)
    assert_type(as_declared, Callable[[str, Context], AsyncIterator[str]])
    assert_type(later, Awaitable[list[str]])


def without_a_server() -> None:
    """Normalize arguments with a schema."""
    schema = {"type": "object"}
    assert_type(normalize(schema, {"a": 1}), Normalized)
    assert_type(normalize(schema, '{"a": 1}', Policy.strict()), Normalized)
    assert_type(Normalizer(schema, policy=Policy())({"a": 1}), Normalized)


def seen_by(decision: Decision) -> None:
    """Use a decision in an application."""
    assert_type(decision.tool, str | None)


def hosts(session: ClientSession, **settings: Unpack[HostSettings]) -> None:
    """Every host accepts the same settings, and so may a function of the application."""
    assert_type(lenient_session(session, Policy(), **settings), LenientSession)
    assert_type(make_lenient(MCPServer("types"), reload=True, definitions="tools.yaml"), MCPServer)
    LenientServerMiddleware(on_decision=seen_by, decision_values=True, clients=["acme"])
    LenientMiddleware(definitions="tools.yaml", warm=True, mode="observe")
    LenientCalls(tools={"pay_*": 5})  # type: ignore[dict-item]
    LenientCalls(reload="yes")  # type: ignore[arg-type]
    LenientCalls(toolz={})  # type: ignore[call-arg]
    LenientCalls(warm=True)  # type: ignore[call-arg]


def refused() -> None:
    """Wrong calls and declarations are type errors. mypy reports an ignore that is not needed."""
    bare(5)  # type: ignore[arg-type]
    bare("a", "b")  # type: ignore[arg-type]
    asynchronous("a", 3)  # type: ignore[call-arg, unused-coroutine]
    Shelf().put(content=5)  # type: ignore[arg-type]
    lenient(content="a")  # type: ignore[call-overload]
    lenient(5)  # type: ignore[call-overload]
    Normalizer('{"type": "object"}')  # type: ignore[arg-type]


def percent_to_number(_place: Place, text: str) -> Iterator[float]:
    """Read a value."""
    yield int(text.removesuffix("%")) / 100


def drop_trace(place: Place, _value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Leave names out."""
    yield from ((name, ABSENT) for name in place.unknown)


def rules() -> None:
    """Each kind of rule has results of one type."""
    small = Guard("small", "it is above 1", lambda _place, _text, number: number <= 1)
    value = ValueRule("percent_to_number", 4, percent_to_number, ("string",), ("number",), guards=(small,))
    Policy(rules=(value, NameRule("drop_trace", 2, drop_trace), CallRule("unpack", 8, lambda *_: [{}])))
    NameRule("percent_to_name", 4, percent_to_number)  # type: ignore[arg-type]
    CallRule("percent_to_call", 4, percent_to_number)  # type: ignore[arg-type]


def sets_are_accepted() -> None:
    """Names may be given as a set literal."""
    Policy(disable={"fold_enum"}, secret={"pin"}, drop={"trace"})
