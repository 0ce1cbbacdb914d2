"""Names that a tool would ignore: no call is made to run with a part of it unread.

An open object takes any key, and a tool that does not know ``dryRun`` runs as if nobody had asked for
``dry_run``. Who sends such a call has it from the tool alone; but a call that runs only because it was
repaired must carry all that it was sent with. Whether ``dryRun`` is ``dry_run`` or a name of the caller's
own nobody can tell in an open object (there are tools whose schema misspells what they read), so such a call
is refused, and the envelope names the declared one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_lenient.engine.names import undeclared
from mcp_lenient.engine.session import OutOfSteps
from mcp_lenient.schema.node import Position, SchemaNode, SchemaTree
from mcp_lenient.schema.unions import Disambiguator
from mcp_lenient.types import Path, Repair, Validator
from mcp_lenient.values.json_values import same_json
from mcp_lenient.values.names import squashed
from mcp_lenient.values.pointers import pointer

_MOST_GROUPS: Final = 16
"""Places of one call that the validator is asked about; nobody slips at more."""
_LOOKS_FOR_EACH: Final = 64
_LOOKS_AT_LEAST: Final = 1_000
"""How often a container is looked at, by one branch of a union after the other, before a call is given up."""

_ODD: Final = {"\x00": [None]}
"""A value that hardly any type takes, and that no default is: where it makes no difference, nobody reads it."""
_GONE: Final = object()

_Names = frozenset[Path]


def ignored_names(
    top: SchemaNode, arguments: Mapping[str, Any], validator: Validator, repairs: Iterable[Repair] = ()
) -> tuple[Path, ...]:
    """Return the paths of undeclared keys that are a declared name in another spelling, and that nobody reads.

    Args:
        top: Where the arguments stand.
        arguments: Arguments that the validator accepts.
        validator: What the tool accepts. A name that its validator reads, such as one of Pydantic's aliases,
            is not ignored; one that stays beside the declared one (``extra="allow"``) is.
        repairs: What was changed in the arguments: a value that was made to fit what any other name holds
            might have fitted the declared one.

    Raises:
        OutOfSteps: Where unions within unions leave too many ways to look at it.
    """
    tree = top.tree
    if not (tree.has_open_objects if validator.by_schema else tree.has_objects_within):
        return ()
    changed = frozenset(repair.pointer for repair in repairs)
    look = _Look(tree, everything_is_own=validator.by_schema, changed=changed)
    found = sorted(look.ignored(top, arguments), key=str)
    if not found:
        return ()
    # What keeps every name would read this one too, and still not as the one that may be meant.
    kept = [path for path in found if path in look.kept]
    return (*kept, *_unread([path for path in found if path not in look.kept], arguments, validator))


def _unread(found: list[Path], arguments: Mapping[str, Any], validator: Validator) -> tuple[Path, ...]:
    """Return the paths whose values the tool does not read."""
    groups: dict[tuple[str | None, ...], list[Path]] = {}
    for path in found:
        groups.setdefault(tuple(part if isinstance(part, str) else None for part in path), []).append(path)
    asked = list(groups.values())[:_MOST_GROUPS]
    if found and len(groups) <= _MOST_GROUPS and _are_read(arguments, found, validator):
        asked = [paths for paths in asked if not _are_read(arguments, paths, validator)]
    return tuple(path for paths in asked for path in paths)


def leaves_no_name(node: SchemaNode, values: Iterable[Any]) -> list[bool]:
    """Return for each candidate of a union whether every name in it is spelled as some branch has it."""
    look = _Look(node.tree, everything_is_own=True)
    return [not look.ignored(node, value) for value in values]


def _are_read(arguments: Mapping[str, Any], paths: list[Path], validator: Validator) -> bool:
    """Whether the tool reads the values at these paths."""
    tree: dict[Any, Any] = {}
    for path in sorted(paths, key=len):
        below: Any = tree
        for part in path[:-1]:
            below = below.setdefault(part, {})
            if below is None:  # it stands within another one
                break
        else:
            below[path[-1]] = None
    return validator.tells_apart(_with(arguments, tree, _GONE), _with(arguments, tree, _ODD))


def _with(container: Any, tree: Mapping[Any, Any], value: Any) -> Any:
    """The arguments with another value at the leaves of a tree of paths, or with nothing there."""
    changed: Any = dict(container) if isinstance(container, Mapping) else list(container)
    for part, below in tree.items():
        if below is not None:
            changed[part] = _with(container[part], below, value)
        elif value is _GONE:
            del changed[part]
        else:
            changed[part] = value
    return changed


@dataclass(slots=True)
class _Look:
    """One look through arguments.

    Attributes:
        tree: The schema.
        everything_is_own: Whether a branch that declares nothing knows every name: by the schema alone
            such a branch may be the one that was meant.
        changed: The JSON Pointers of values that were repaired.
        kept: Where names stand that their object says it keeps.
    """

    tree: SchemaTree
    everything_is_own: bool
    changed: frozenset[str] = frozenset()
    kept: set[Path] = field(default_factory=set)
    _seen: dict[tuple[int, Path], tuple[_Names, _Names]] = field(default_factory=dict)
    _paths: set[Path] = field(default_factory=set)

    def ignored(self, node: SchemaNode, value: Any) -> _Names:
        """Return where names stand that are a declared one in another spelling."""
        self._seen.clear()
        self._paths.clear()
        return self._names(node, value, (), in_union=False)[0]

    def _names(self, node: SchemaNode, value: Any, path: Path, *, in_union: bool) -> tuple[_Names, _Names]:
        """Return the names that some branch has in another spelling and no branch as they are; and those that one has."""
        at = (id(node.schema), path)
        if at not in self._seen:
            self._paths.add(path)
            if len(self._seen) > _LOOKS_AT_LEAST + _LOOKS_FOR_EACH * len(self._paths):
                raise OutOfSteps
            self._seen[at] = frozenset(), frozenset()
            if node.shape.branches:
                self._seen[at] = self._of_branches(node, value, path)
            else:
                found: set[Path] = set()
                known: set[Path] = set()
                for ignored, read in self._below(node, value, path, in_union=in_union):
                    found.update(ignored)
                    known.update(read)
                self._seen[at] = frozenset(found), frozenset(known)
        return self._seen[at]

    def _of_branches(self, node: SchemaNode, value: Any, path: Path) -> tuple[_Names, _Names]:
        # Not `node.branches`: of unions within unions those are few, and here each costs no more than a look.
        branches = [self.tree.node(branch, Position.NONE, None) for branch in node.shape.branches]
        possible = Disambiguator(branches).possible(value)
        looks = [self._names(branch, value, path, in_union=True) for branch in possible]
        known = frozenset[Path]().union(*(read for _, read in looks))
        return frozenset[Path]().union(*(ignored for ignored, _ in looks)) - known, known

    def _below(
        self, node: SchemaNode, value: Any, path: Path, *, in_union: bool
    ) -> Iterator[tuple[Iterable[Path], Iterable[Path]]]:
        shape = node.shape
        if isinstance(value, list):
            item_at = node.item_nodes(mixed=False)
            for index, entry in enumerate(value):
                if isinstance(entry, (dict, list)):
                    yield self._names(item_at(index), entry, (*path, index), in_union=in_union)
        elif isinstance(value, Mapping):
            free = not shape.properties and not shape.closed and self.everything_is_own
            if in_union:
                yield (), ((*path, key) for key in value if free or key in shape.properties)
            if shape.properties:
                unknown = undeclared(node, value)
                yield ((*path, key) for key in unknown if self._is_spelling(node, value, path, key)), ()
            for key, entry in value.items():
                child = node.property(key) if isinstance(entry, (dict, list)) else None
                if child is not None:
                    yield self._names(child, entry, (*path, key), in_union=in_union)

    def _is_spelling(self, node: SchemaNode, value: Mapping[str, Any], path: Path, key: str) -> bool:
        """Whether a key may be a declared name in another spelling, and says something that this name does not."""
        same = node.spellings.get(squashed(key), ())
        meant = [name for name in same if name not in value or not same_json(value[name], value[key])]
        if not same:
            meant = [name for near in node.slips(key) for name in near if name not in value]
        if not meant:
            return False
        if node.shape.extra in (True, {}):
            self.kept.add((*path, key))
        elif isinstance(node.shape.extra, Mapping) and pointer((*path, key)) not in self.changed:
            # Other names are expected here, and of a kind of their own.
            return any(node.property_nodes[name].takes(value[key]) for name in meant)
        return True
