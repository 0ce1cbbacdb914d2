"""Which schemas lead a validator as deep as a value goes, so that the value's depth is to be looked at first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from typing import Any, Final

from mcp_lenient.schema import resolve
from mcp_lenient.values import is_shallow

_MOVING_REFERENCES: Final = frozenset({"$dynamicRef", "$recursiveRef"})
_MOST_NODES: Final = 100_000


def depth_check(schema: Mapping[str, Any]) -> Callable[[object], bool]:
    """The check that a value nests so little that a validator of this schema can walk it on any stack.

    Only a schema that refers to itself leads a validator as deep as a value goes: every other goes no deeper
    than itself, or stops by itself where it compares whole values.

    >>> endless = {"type": "array", "items": {"$ref": "#"}}
    >>> depth_check(endless) is depth_check({"type": "array"})
    False
    """
    return is_shallow if refers_to_itself(schema) else takes_any_depth


def takes_any_depth(_value: object) -> bool:
    """The check where no depth is too deep."""
    return True


def refers_to_itself(root: Mapping[str, Any]) -> bool:
    """Whether a reference leads back to itself, or may."""
    nodes = _Nodes()
    targets: dict[str, set[str]] = {}
    waiting = nodes.references(root)
    while waiting:
        reference = waiting.pop()
        if reference in targets:
            continue
        target = resolve(root, reference)
        if target is None:  # another dialect's way to name a schema: it may lead anywhere
            return True
        further = nodes.references(target)
        targets[reference] = set(further)
        waiting += further
    try:
        TopologicalSorter(targets).prepare()
    except CycleError:
        return True
    return nodes.left == 0


class _Nodes:
    """A walk through schemas that ends after so many nodes in all, however they nest in one another."""

    def __init__(self) -> None:
        self.left = _MOST_NODES

    def references(self, schema: object) -> list[str]:
        """The references within a schema; an empty one, which resolves to nothing, for one that moves."""
        found: list[str] = []
        for node in islice(_mappings(schema), self.left):
            self.left -= 1
            if isinstance(reference := node.get("$ref"), str):
                found.append(reference)
            if not _MOVING_REFERENCES.isdisjoint(node):
                found.append("")
        return found


def _mappings(schema: object) -> Iterator[Mapping[str, Any]]:
    waiting: list[object] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, (list, tuple)):
            waiting.extend(node)
