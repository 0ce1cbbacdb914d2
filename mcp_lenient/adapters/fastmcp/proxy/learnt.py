"""The tools behind a dispatcher of a server, as the results of its searches describe them."""

from __future__ import annotations

import json
import math
from collections import OrderedDict, deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import Any, Final

from fastmcp.tools import ToolResult
from mcp_types import TextContent

from mcp_lenient.adapters.source import ToolSource
from mcp_lenient.engine.contract import Contract
from mcp_lenient.engine.tool import HostTool, says_effect

Place = tuple[bytes, str]
"""A caller, by what the servers see of the credentials, and a server."""
_SCHEMA_WORDS: Final = ("inputSchema", "input_schema", "parameters")
_SECONDS: Final = 600.0
"""How long a tool is remembered."""
_MOST: Final = 2_000
"""The number of tools that are remembered."""
_LONGEST: Final = 512 * 2**10
"""The longest text of a result that is read."""
_LONGEST_NAME: Final = 1_000
_LONGEST_SCHEMA: Final = 64 * 2**10
_DEEPEST: Final = 4
_MOST_NODES: Final = 1_000


class LearntTools:
    """What is remembered of the tools behind dispatchers, for each caller and server."""

    def __init__(self) -> None:
        self._tools: OrderedDict[tuple[Place, str], tuple[float, HostTool | None]] = OrderedDict()

    def get(self, place: Place, name: str) -> HostTool | None:
        """Return a tool that a server has described to a caller lately, and not in two ways."""
        learnt, tool = self._tools.get((place, name), (-math.inf, None))
        return tool if monotonic() - learnt < _SECONDS else None

    def names(self, place: Place) -> set[str]:
        """Return the names of these tools."""
        return {name for at, name in self._tools if at == place and self.get(place, name) is not None}

    def forget(self, place: Place, name: str, *, is_misled: bool) -> None:
        """Forget a tool whose server has contradicted what it said of it.

        Args:
            place: The caller and the server.
            name: The tool's name.
            is_misled: Whether the server refused a call that was repaired by it: the next searches do not count, either.
        """
        self._tools.pop((place, name), None)
        if is_misled:
            self._tools[place, name] = (monotonic(), None)

    def learn(self, place: Place, result: ToolResult, server: str | None, server_field: str | None) -> None:
        """Remember the tools that a result describes.

        Args:
            place: The caller and the server.
            result: The result of a search.
            server: The server that was searched, where the dispatcher names one.
            server_field: The field of an entry with the name of its server, where it has one.
        """
        described: dict[str, HostTool | None] = {}
        for entry in _entries(result):
            at = entry.get(server_field, server) if server_field is not None else None
            if server_field is not None and not isinstance(at, str):
                continue
            name = entry["name"] if at is None else f"{at}/{entry['name']}"
            if len(name) > _LONGEST_NAME:
                continue
            tool = _tool(entry, name, place)
            # What is described in two ways is not known: results may repeat what others wrote.
            described[name] = tool if described.get(name, tool) == tool else None
        for name, tool in described.items():
            learnt, earlier = self._tools.pop((place, name), (-math.inf, tool))
            is_other = monotonic() - learnt < _SECONDS and earlier != tool
            self._tools[place, name] = (learnt, None) if is_other else (monotonic(), tool)
            if len(self._tools) > _MOST:
                self._tools.popitem(last=False)


class LearntSource(ToolSource):
    """The tools behind a dispatcher, as far as they are learnt; nothing is refused because of them.

    Args:
        learnt: What is remembered.
        place: The caller and the server.
        compiled: The contracts of the server's tools.
    """

    certain_names = None
    answers_below = True

    def __init__(self, learnt: LearntTools, place: Place, compiled: dict[Any, Contract]) -> None:
        self.compiled = compiled
        self._learnt = learnt
        self.place = place

    async def tool(self, name: str, *, fresh: bool) -> HostTool | None:  # noqa: ARG002 - the server lists none of them
        """Return a tool."""
        return self._learnt.get(self.place, name)

    async def names(self) -> Collection[str] | None:
        """Return None: there are others, so that no name is that of another tool."""
        return None

    def unknown(self, name: str, names: Collection[str], language: str) -> dict[str, Any]:
        """Return the envelope for a tool that the server does not have; it suggests those that it has described."""
        return super().unknown(name, {*names, *self._learnt.names(self.place)} - {name}, language)

    def forget(self, name: str, *, is_misled: bool) -> None:
        """Forget a tool whose server has contradicted what it said of it; for ten minutes if it misled a repair."""
        self._learnt.forget(self.place, name, is_misled=is_misled)


def _tool(entry: Mapping[str, Any], name: str, place: Place) -> HostTool | None:
    schema, annotations = _schema_of(entry), entry.get("annotations")
    with suppress(RecursionError, ValueError):
        has_effect = isinstance(annotations, Mapping) and says_effect(annotations)
        effects = annotations if has_effect else {"destructiveHint": True}
        if len(json.dumps((schema, effects))) <= _LONGEST_SCHEMA:
            tool = HostTool.listed({"name": name, "inputSchema": schema, "annotations": effects})
            return replace(tool, key=("learnt", *place, name))
    return None


def _schema_of(entry: object) -> Mapping[str, Any] | None:
    """Return the input schema of an entry of a list of tools; None of anything else."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        return None
    schema = next((entry[word] for word in _SCHEMA_WORDS if isinstance(entry.get(word), Mapping)), None)
    return schema if schema is not None and schema.get("type") == "object" else None


def _entries(result: ToolResult) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of tools in a result: in its structured content, or else in texts that are JSON as a whole."""
    if result.structured_content is not None:
        pending = deque([(result.structured_content, 0)])
    else:
        texts = [block.text for block in result.content if isinstance(block, TextContent)]
        pending = deque((_read(text), 0) for text in texts if len(text) <= _LONGEST)
    for _ in range(_MOST_NODES):
        if not pending:
            break
        node, depth = pending.popleft()
        if _schema_of(node) is not None:
            yield node
        elif depth < _DEEPEST and isinstance(node, (Mapping, list)):
            below = node.values() if isinstance(node, Mapping) else node
            pending.extend((value, depth + 1) for value in below)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
