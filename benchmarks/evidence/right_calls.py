"""Send right calls of listed tools through the proxy to tools that record them: none may be refused, changed or lose a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final

from fastmcp import Client, FastMCP
from fastmcp.tools import Tool, ToolResult
from pydantic import Field

from mcp_lenient import create_lenient_proxy
from mcp_lenient.adapters.sdk_caller import field
from mcp_lenient.testing.example_arguments import valid_arguments
from mcp_lenient.values.json_values import same_json

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_STYLES: Final = (
    "_".join,
    "-".join,
    lambda words: "_".join(words).upper(),
    lambda words: "".join(map(str.capitalize, words)),
    lambda words: "".join([*words[:1], *map(str.capitalize, words[1:])]),
)
"""Snake, kebab, constants, Pascal and camel."""
_Arguments = dict[str, Any]


class _Recording(Tool):
    received: list[_Arguments] = Field(default_factory=list, exclude=True)

    async def run(self, arguments: _Arguments) -> ToolResult:
        self.received.append(arguments)
        return ToolResult(content="ran")


async def outcomes(listed: list[Any]) -> Counter[str]:
    """Return how many calls of these tools arrived as they should, were refused, and arrived otherwise."""
    server, found = FastMCP("recording"), Counter[str]()
    tools = [
        _Recording(name=each.name, parameters=field(each, "input_schema"), annotations=each.annotations)
        for each in listed
    ]
    for tool in tools:
        server.add_tool(tool)
    async with Client(create_lenient_proxy(server)) as client:
        for tool in tools:
            for sent, right in _calls(tool.parameters):
                tool.received.clear()
                await client.call_tool_mcp(tool.name, sent)
                is_right = tool.received and same_json(tool.received[0], right)
                found["right" if is_right else "changed" if tool.received else "refused"] += 1
    return found


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _calls(schema: Mapping[str, Any]) -> Iterator[tuple[_Arguments, _Arguments]]:
    """Yield calls and what must arrive: each default as it is, and the names one by one and together in each case style."""
    random = Random(1)  # noqa: S311 - the same calls each time
    least, most = (valid_arguments(schema, random, optional=each) for each in (0, 1))
    properties: Mapping[str, Any] = schema.get("properties", {})
    optional = [name for name in properties if name not in least]
    right = [
        {**least, name: properties[name]["default"]} for name in optional if "default" in properties[name]
    ]
    yield from ((each, each) for each in (least, most, *right))
    for styled in _STYLES:
        names = {name: styled(_words(name)) if len(name) > 1 else name for name in most}
        yield {names[name]: value for name, value in most.items()}, most
        for name in optional:
            if name in most:
                yield {**least, names[name]: most[name]}, {**least, name: most[name]}
