"""Serve LangChain tools on a FastMCP server, with their schemas."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Annotated, Any, Final, get_args, get_type_hints
from uuid import uuid4

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import Tool, ToolResult
from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, ToolException
from mcp.types import ContentBlock, ImageContent, TextContent, ToolAnnotations
from pydantic import BaseModel, Field, SkipValidation, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from mcp_lenient.adapters.fastmcp.middleware import LenientMiddleware
from mcp_lenient.rules.policy import Policy

META_KEY: Final = "langchain"
"""The key in ``_meta`` of LangChain's metadata, tags and artifacts."""
_FILLED_IN: Final = ("config", "run_manager", "callbacks")
_HINTS: Final = frozenset(field.alias or name for name, field in ToolAnnotations.model_fields.items())
_BLOCKS: Final = TypeAdapter(list[ContentBlock])


class LangChainTool(Tool):
    """A LangChain tool as a tool of a FastMCP server."""

    wrapped: Annotated[BaseTool, SkipValidation, Field(exclude=True)]

    @classmethod
    def of(cls, wrapped: BaseTool) -> LangChainTool:
        """Return the same tool for FastMCP.

        Metadata that MCP defines as annotations (``destructiveHint``, ``readOnlyHint``, ``title``, ...) becomes
        annotations, so that a destructive tool gets fewer repairs. Other metadata and the tags are in
        ``_meta["langchain"]``.

        Raises:
            TypeError: When the tool needs an injected value that only an agent's runtime has.
        """
        injected = sorted(set(_injected(wrapped)))
        if injected:
            msg = (
                f"LangChain tool {wrapped.name!r} cannot be served over MCP: {', '.join(injected)} would have to be "
                "injected by an agent's runtime. Give it a default in a function of your own, or make it an argument."
            )
            raise TypeError(msg)
        metadata = wrapped.metadata or {}
        hints = {name: value for name, value in metadata.items() if name in _HINTS and value is not None}
        rest = {name: value for name, value in metadata.items() if name not in _HINTS}
        extra = _jsonable({"metadata": rest, "tags": wrapped.tags or []})
        return cls(
            name=wrapped.name,
            description=wrapped.description,
            parameters=_schema(wrapped),
            annotations=ToolAnnotations.model_validate(hints) if hints else None,
            meta={META_KEY: extra} if (rest or wrapped.tags) and extra is not None else None,
            wrapped=wrapped,
        )

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the tool like an agent, and return the result that the agent would see.

        MCP blocks in its artifact become content; any other artifact is in ``_meta["langchain"]["artifact"]``, for
        programs only.
        """
        call = ToolCall(name=self.name, args=arguments, id=uuid4().hex, type="tool_call")
        try:
            answer: ToolMessage = await self.wrapped.ainvoke(call)
        except ToolException as error:
            raise ToolError(str(error)) from error
        except ValidationError as error:
            # Validators in Python code, which a schema cannot express.
            messages = "; ".join(
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()
            )
            raise ToolError(messages) from error
        parts = [answer.content] if isinstance(answer.content, str) else answer.content
        blocks, artifact = [_block(part) for part in parts], answer.artifact
        if artifact and isinstance(artifact, list):
            with suppress(ValidationError):
                blocks, artifact = [*blocks, *_BLOCKS.validate_python(artifact)], None
        json_artifact = _jsonable(artifact)
        meta = None if json_artifact is None else {META_KEY: {"artifact": json_artifact}}
        return ToolResult(content=blocks, meta=meta, is_error=answer.status == "error")


def serve(name: str, tools: Iterable[BaseTool]) -> FastMCP:
    """Return a lenient MCP server with these LangChain tools.

    Args:
        name: The name of the server.
        tools: Functions with ``@tool``, ``StructuredTool`` and your own classes.

    Raises:
        TypeError: When a tool needs an injected value that only an agent's runtime has.
    """
    mcp = FastMCP(name)
    # Only the schema describes such a tool, so calls that it forbids are refused and not tried.
    mcp.add_middleware(LenientMiddleware(Policy(unrepairable="refuse")))
    for tool in tools:
        mcp.add_tool(LangChainTool.of(tool))
    return mcp


def _jsonable(value: Any) -> Any:
    """Return a value as JSON; None if it cannot be converted."""
    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, ValueError, RecursionError):
        return None


def _schema(wrapped: BaseTool) -> dict[str, Any]:
    model = wrapped.tool_call_schema
    if isinstance(model, dict):
        schema = model
    else:
        schema = model.model_json_schema() if issubclass(model, BaseModel) else model.schema()
    # LangChain silently drops unknown arguments; with a closed schema they are repaired or refused.
    return {"additionalProperties": False, **schema}


def _injected(wrapped: BaseTool) -> Iterator[str]:
    """Yield injected parameters that LangChain does not fill in itself."""
    shown = wrapped.args
    if not isinstance(wrapped.args_schema, dict):
        declared = wrapped.get_input_schema()
        fields = declared.model_fields if issubclass(declared, BaseModel) else declared.__fields__
        yield from fields.keys() - shown.keys()
    for function in _functions(wrapped):
        hints = _hints_of(function)
        for name, parameter in inspect.signature(function).parameters.items():
            if name in shown or name in _FILLED_IN or hints.get(name) is RunnableConfig:
                continue
            named = parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            if _is_injected(hints.get(name)) or (named and parameter.default is parameter.empty):
                yield name


def _hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError:  # imports under TYPE_CHECKING are known by name only
        return {}


def _functions(wrapped: BaseTool) -> list[Callable[..., Any]]:
    if isinstance(wrapped, StructuredTool):
        return [function for function in (wrapped.func, wrapped.coroutine) if function is not None]
    tool_type = type(wrapped)
    return [wrapped._run] if tool_type._arun is BaseTool._arun else [wrapped._run, wrapped._arun]  # noqa: SLF001


def _is_injected(annotation: Any) -> bool:
    return any(
        isinstance(mark, InjectedToolArg) or (isinstance(mark, type) and issubclass(mark, InjectedToolArg))
        for mark in get_args(annotation)[1:]
    )


def _block(part: str | dict[str, Any]) -> ContentBlock:
    if isinstance(part, str):
        return TextContent(type="text", text=part)
    if part.get("type") == "image" and "base64" in part:
        kind = part.get("mime_type", "image/png")
        return ImageContent.model_validate({"type": "image", "data": part["base64"], "mimeType": kind})
    return TextContent(type="text", text=part["text"] if "text" in part else json.dumps(part))
