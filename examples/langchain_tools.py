"""LangChain tools on a FastMCP server that understands nearly right calls.

Needs ``pip install langchain-core``. Run it over stdio::

    python examples/langchain_tools.py

A LangChain tool keeps its name, its description and its schema. What its schema forbids is repaired where there
is one reading, and refused by envelope otherwise, before LangChain sees it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, Literal, get_args, get_type_hints
from uuid import uuid4

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import Tool, ToolResult
from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, ToolException, tool
from mcp.types import ContentBlock, ImageContent, TextContent
from pydantic import BaseModel, Field, SkipValidation, ValidationError

from mcp_lenient import LenientMiddleware, Policy

_FILLED_IN = ("config", "run_manager", "callbacks")


class LangChainTool(Tool):
    """A LangChain tool as a tool of a FastMCP server."""

    wrapped: Annotated[BaseTool, SkipValidation, Field(exclude=True)]

    @classmethod
    def of(cls, wrapped: BaseTool) -> LangChainTool:
        """The same tool for FastMCP.

        Raises:
            TypeError: When something is injected into the tool that only an agent's runtime has.
        """
        injected = sorted(set(_injected(wrapped)))
        if injected:
            msg = (
                f"LangChain tool {wrapped.name!r} cannot be served over MCP: {', '.join(injected)} would have to be "
                "injected by an agent's runtime. Give it a default in a function of your own, or make it an argument."
            )
            raise TypeError(msg)
        return cls(
            name=wrapped.name, description=wrapped.description, parameters=_schema(wrapped), wrapped=wrapped
        )

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the tool as an agent would, and tell what the agent would be told."""
        call = ToolCall(name=self.name, args=arguments, id=uuid4().hex, type="tool_call")
        try:
            answer: ToolMessage = await self.wrapped.ainvoke(call)
        except ToolException as error:
            raise ToolError(str(error)) from error
        except ValidationError as error:
            # What a schema cannot say: validators that are Python code.
            told = "; ".join(
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()
            )
            raise ToolError(told) from error
        return ToolResult(content=_blocks(answer.content), is_error=answer.status == "error")


def serve(name: str, tools: Iterable[BaseTool]) -> FastMCP:
    """A lenient MCP server with these LangChain tools.

    Args:
        name: What the server calls itself.
        tools: Functions with ``@tool``, ``StructuredTool`` and classes of your own.

    Raises:
        TypeError: When something is injected into one of them that only an agent's runtime has.
    """
    mcp = FastMCP(name)
    # The schema is all that speaks for such a tool, so that what it forbids is refused and not tried.
    mcp.add_middleware(LenientMiddleware(Policy(unrepairable="refuse")))
    for each in tools:
        mcp.add_tool(LangChainTool.of(each))
    return mcp


def _schema(wrapped: BaseTool) -> dict[str, Any]:
    told = wrapped.tool_call_schema
    if isinstance(told, dict):
        schema = told
    else:
        schema = told.model_json_schema() if issubclass(told, BaseModel) else told.schema()
    # LangChain silently drops arguments that it does not know; a closed schema has them repaired or refused.
    return {"additionalProperties": False, **schema}


def _injected(wrapped: BaseTool) -> Iterator[str]:
    """The parameters that neither the caller nor LangChain itself fills in."""
    shown = wrapped.args
    if not isinstance(wrapped.args_schema, dict):
        declared = wrapped.get_input_schema()
        fields = declared.model_fields if issubclass(declared, BaseModel) else declared.__fields__
        yield from fields.keys() - shown.keys()
    for function in _functions(wrapped):
        hints = get_type_hints(function, include_extras=True)
        for name, parameter in inspect.signature(function).parameters.items():
            if name in shown or name in _FILLED_IN or hints.get(name) is RunnableConfig:
                continue
            named = parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            if _is_injected(hints.get(name)) or (named and parameter.default is parameter.empty):
                yield name


def _functions(wrapped: BaseTool) -> list[Callable[..., Any]]:
    if isinstance(wrapped, StructuredTool):
        return [function for function in (wrapped.func, wrapped.coroutine) if function is not None]
    own = type(wrapped)
    return [wrapped._run] if own._arun is BaseTool._arun else [wrapped._run, wrapped._arun]  # noqa: SLF001


def _is_injected(annotation: Any) -> bool:
    return any(
        isinstance(mark, InjectedToolArg) or (isinstance(mark, type) and issubclass(mark, InjectedToolArg))
        for mark in get_args(annotation)[1:]
    )


def _blocks(content: str | list[str | dict[str, Any]]) -> list[ContentBlock]:
    parts = [content] if isinstance(content, str) else content
    return [_block(part) for part in parts]


def _block(part: str | dict[str, Any]) -> ContentBlock:
    if isinstance(part, str):
        return TextContent(type="text", text=part)
    if part.get("type") == "image" and "base64" in part:
        return ImageContent(type="image", data=part["base64"], mime_type=part.get("mime_type", "image/png"))
    return TextContent(type="text", text=part["text"] if "text" in part else json.dumps(part))


@tool
def search_recipes(query: str, ingredients: list[str] | None = None, max_results: int = 5) -> str:
    """Search recipes by a text and by ingredients, all of which they must have."""
    return f"{query}, with {', '.join(ingredients or ['anything'])}, at most {max_results}"


class Order(BaseModel):
    """What is to be bought."""

    items: list[str] = Field(description="One entry for each thing to buy.", min_length=1)
    shop: Literal["market", "bakery"] = Field(default="market", description="Where to buy it.")
    urgent: bool = False


def _buy(items: list[str], shop: str, *, urgent: bool) -> str:
    return f"{'+'.join(items)} from the {shop}{', now' if urgent else ''}"


place_order = StructuredTool.from_function(
    func=_buy, name="place_order", description="Buy what is missing.", args_schema=Order
)


class ConvertUnits(BaseTool):
    """A tool that is a class of its own."""

    name: str = "convert_units"
    description: str = "Convert cups to milliliters."

    def _run(self, cups: float, *, rounded: bool = False) -> str:
        if cups < 0:
            msg = "There is no negative cup."
            raise ToolException(msg)
        milliliters = cups * 236.588
        return str(round(milliliters) if rounded else milliliters)


TOOLS: list[BaseTool] = [search_recipes, place_order, ConvertUnits()]

if __name__ == "__main__":
    serve("kitchen", TOOLS).run(show_banner=False)
