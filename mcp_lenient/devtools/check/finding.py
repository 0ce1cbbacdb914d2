"""What the linter sees of a tool, and what it reports."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final, Literal, get_args

from mcp_types import Tool

from mcp_lenient.schema.compile import readable
from mcp_lenient.schema.node import SchemaNode, SchemaTree

_DEEPEST: Final = 8
_MOST_SPOTS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Spot:
    """One place of an input schema.

    Attributes:
        node: The compiled schema there.
        place: Where it is, such as ``rows[].age``.
        name: The name of the parameter or property; None for items of a list and entries of a map.
        optional: Whether it may be left out.
        depth: 1 for a parameter of the tool.
    """

    node: SchemaNode
    place: str
    name: str | None
    optional: bool
    depth: int

    @property
    def alternatives(self) -> tuple[SchemaNode, ...]:
        """Return the branches of a union, nested unions opened; the node itself where it is no union."""
        return tuple(_opened(self.node, 0))

    @property
    def description(self) -> str:
        """Return its description, with those of the types it refers to."""
        told = [
            schema["description"]
            for form in self.node.tree.reader.forms(self.node.schema)
            for schema in form.parts
            if isinstance(schema.get("description"), str)
        ]
        return " ".join(dict.fromkeys(told))

    @property
    def own_description(self) -> str:
        """Return the description at this very place."""
        schema = self.node.schema
        told = schema.get("description") if isinstance(schema, Mapping) else None
        return told if isinstance(told, str) else ""


def _opened(node: SchemaNode, depth: int) -> Iterator[SchemaNode]:
    if not node.is_union or depth > _DEEPEST:
        yield node
        return
    for branch in node.branches:
        yield from _opened(branch, depth + 1)


class Surface:
    """A published tool, with its input schema compiled.

    Args:
        tool: The tool as a client sees it.
        normalized: The parameters whose values the author has put right by a declared normalizer.
        drops_null: Whether a middleware leaves out a null that the schema forbids.
        destructive: Whether the tool is destructive; as its annotations say when None.

    Attributes:
        tool: As above.
        normalized: As above.
        drops_null: As above.
        destructive: Whether the tool is destructive.
        issue: Which places of its schema cannot be read; None where all can.
    """

    def __init__(
        self,
        tool: Tool,
        normalized: Collection[str] = (),
        *,
        drops_null: bool = False,
        destructive: bool | None = None,
    ) -> None:
        self.tool = tool
        self.drops_null = drops_null
        hint = tool.annotations is not None and tool.annotations.destructive_hint is True
        self.destructive = hint if destructive is None else destructive
        self.normalized = normalized
        read = readable(tool.input_schema)
        self.issue = read.told if read.unread else None
        self._tree = SchemaTree(read)

    @property
    def top(self) -> SchemaNode:
        """Return the node of the arguments as a whole."""
        return self._tree.top

    @cached_property
    def spots(self) -> tuple[Spot, ...]:
        """Return every place of the input schema, from the top down; a shared part appears once."""
        found: list[Spot] = []
        seen: set[int] = set()
        waiting = deque(_below(self.top, "", 0))
        while waiting and len(found) < _MOST_SPOTS:
            spot = waiting.popleft()
            # The nodes keep their schemas alive, so that an id stays one schema's.
            if id(spot.node.schema) in seen:
                continue
            seen.add(id(spot.node.schema))
            found.append(spot)
            if spot.depth < _DEEPEST:
                waiting += (
                    below for node in spot.alternatives for below in _below(node, spot.place, spot.depth)
                )
        return tuple(found)

    def is_normalized(self, spot: Spot) -> bool:
        """Return whether the author normalizes the values of this place."""
        return spot.depth == 1 and spot.name in self.normalized

    @property
    def parameters(self) -> Iterator[Spot]:
        """Yield the parameters."""
        return (spot for spot in self.spots if spot.depth == 1 and spot.name is not None)

    @property
    def objects(self) -> Iterator[tuple[str, SchemaNode]]:
        """Yield every object that declares properties, with its place."""
        yield "", self.top
        for spot in self.spots:
            for node in spot.alternatives:
                if node.property_nodes:
                    yield spot.place, node


def _below(node: SchemaNode, place: str, depth: int) -> Iterator[Spot]:
    shape = node.shape
    for name, child in node.property_nodes.items():
        yield Spot(child, within(place, name), name, name not in shape.required, depth + 1)
    for at in range(len(shape.prefix)):
        yield Spot(node.item(at, mixed=False), f"{place}[{at}]", None, optional=False, depth=depth + 1)
    if _says(shape.items) and not shape.prefix:
        yield Spot(node.item(0, mixed=False), f"{place}[]", None, optional=False, depth=depth + 1)
    if _says(shape.extra):
        # Any name that is not declared leads there.
        extra = node.tree.node(shape.extra, node.position, None)
        yield Spot(extra, within(place, "*"), None, optional=True, depth=depth + 1)


def within(place: str, name: str) -> str:
    """Return the place of a property, such as ``rows[].age``.

    Args:
        place: That of the object; empty for the arguments as a whole.
        name: The name of the property.
    """
    return f"{place}.{name}" if place else name


def _says(schema: Any) -> bool:
    return isinstance(schema, Mapping) and bool(schema)


Level = Literal["note", "warning", "error"]
"""How much a finding matters.

``note``: right as it is, and some callers will still get it wrong. ``warning``: callers will be
misunderstood. ``error``: no call can be right, or nothing can be judged.
"""
LEVELS: Final[tuple[Level, ...]] = get_args(Level)


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule finds in one tool.

    Attributes:
        place: The parameter, such as ``rows[].age``; empty for the tool as a whole.
        reason: What will go wrong, in one sentence.
        mend: What to change, in one sentence.
        level: How much it matters, where that differs from the rule's own level.
    """

    place: str
    reason: str
    mend: str
    level: Level | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One rule of the linter.

    Attributes:
        code: Its stable name, by which it is selected and ignored.
        level: How much its findings matter, unless a finding says otherwise.
        summary: What it looks for, in one sentence.
        why: What goes wrong when nothing is changed.
        find: The function that looks at one tool.
    """

    code: str
    level: Level
    summary: str
    why: str
    find: Callable[[Surface], Iterable[Hit]]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that callers of a tool will misunderstand.

    Attributes:
        code: The rule that found it.
        level: How much it matters.
        tool: The tool.
        place: The parameter, such as ``rows[].age``; empty for the tool as a whole.
        reason: What will go wrong.
        mend: What to change.
        file: The file of the tool's function, where it is known.
        line: The line at which that function begins.
    """

    code: str
    level: Level
    tool: str
    place: str
    reason: str
    mend: str
    file: str | None = None
    line: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        return asdict(self)
