"""What type checkers see of the public names; checked by mypy, never executed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Annotated, Any

from fastmcp import Context, FastMCP
from fastmcp.tools import tool
from mcp import ClientSession
from mcp.server.mcpserver import MCPServer
from typing_extensions import Unpack, assert_type

from mcp_lenient import (
    Decision,
    HostSettings,
    LenientCalls,
    LenientMiddleware,
    LenientSession,
    NormalizationError,
    Normalized,
    Normalizer,
    Policy,
    aliases,
    clamp,
    lenient,
    lenient_session,
    normalize,
    normalizer,
    strip,
    tags,
)
from mcp_lenient.adapters.mcp_sdk import LenientServerMiddleware, make_lenient

mcp: FastMCP[Any] = FastMCP("types")
mcp.add_middleware(LenientMiddleware(tools={"pay_*": Policy.strict()}))


@lenient
def bare(content: str, limit: int = 5) -> list[str]:
    """Without parentheses."""
    return [content] * limit


@lenient(content=strip(), limit=(aliases("count"), clamp(1, 10)), policy=Policy.strict())
async def asynchronous(content: str, *, limit: int = 5) -> list[str]:
    """With declarations."""
    return [content] * limit


@lenient()
def generator(content: str) -> Iterator[str]:
    """With empty parentheses."""
    yield content


@lenient(content=strip())
async def async_generator(content: str, ctx: Context) -> AsyncIterator[str]:
    """With a context."""
    await ctx.info("one is coming")
    yield content


@mcp.tool
@lenient(tags=tags())
def registered(tags: list[str] | None = None) -> int:
    """Below the server's decorator."""
    return len(tags or [])


@tool
@lenient(tags=tags())
def standalone(tags: list[str] | None = None) -> int:
    """Below the standalone decorator."""
    return len(tags or [])


class Shelf:
    """Methods of each kind."""

    @lenient(content=strip())
    def put(self, content: str) -> str:
        """Of an instance."""
        return content

    @classmethod
    @lenient(content=strip())
    def of_class(cls, content: str) -> str:
        """Of the class."""
        return content

    @staticmethod
    @lenient(content=strip())
    def of_none(content: str) -> str:
        """Of nothing."""
        return content


def refuse(value: Any) -> Any:
    """A normalizer of an author's own."""
    if value == "":
        code, message = "EMPTY_{PARAMETER}", "send a text that is not empty"
        raise NormalizationError(code, message)
    return value


def annotated(
    content: Annotated[str, strip(), normalizer(refuse)], tags: Annotated[list[str], tags()]
) -> str:
    """Marked types stay what they are."""
    assert_type(content, str)
    assert_type(tags, list[str])
    return content


def seen() -> None:
    """Each decorated function has the type that it had."""
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
    """A schema, arguments, and what becomes of them."""
    schema = {"type": "object"}
    assert_type(normalize(schema, {"a": 1}), Normalized)
    assert_type(normalize(schema, '{"a": 1}', Policy.strict()), Normalized)
    assert_type(Normalizer(schema, policy=Policy())({"a": 1}), Normalized)


def seen_by(decision: Decision) -> None:
    """What an application does with a decision."""
    assert_type(decision.tool, str | None)


def hosts(session: ClientSession, **settings: Unpack[HostSettings]) -> None:
    """Every host takes the same settings, and so may a function of one's own."""
    assert_type(lenient_session(session, Policy(), **settings), LenientSession)
    assert_type(make_lenient(MCPServer("types"), reload=True, definitions="tools.yaml"), MCPServer)
    LenientServerMiddleware(on_decision=seen_by, decision_values=True, clients=["acme"])
    LenientMiddleware.from_file("tools.yaml", warm=True, mode="observe")
    LenientCalls(tools={"pay_*": 5})  # type: ignore[dict-item]
    LenientCalls(reload="yes")  # type: ignore[arg-type]
    LenientCalls(toolz={})  # type: ignore[call-arg]
    LenientCalls(warm=True)  # type: ignore[call-arg]


def refused() -> None:
    """Wrong calls and wrong declarations are seen; an ignore that is not needed would be an error."""
    bare(5)  # type: ignore[arg-type]
    bare("a", "b")  # type: ignore[arg-type]
    asynchronous("a", 3)  # type: ignore[call-arg, unused-coroutine]
    Shelf().put(content=5)  # type: ignore[arg-type]
    lenient(content="a")  # type: ignore[call-overload]
    lenient(5)  # type: ignore[call-overload]
    Normalizer('{"type": "object"}')  # type: ignore[arg-type]
