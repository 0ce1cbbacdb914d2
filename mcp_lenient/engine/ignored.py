"""Find names that a tool would silently ignore: misspelled ones, and those of a union branch that it did not take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from mcp_lenient.rules.rules import is_empty_key_alone, names_in_other_style
from mcp_lenient.schema.node import Node, Tree
from mcp_lenient.types import Fault, Path, Repair, Validator
from mcp_lenient.values.json_values import JSON, parse_container, pointer, same_json
from mcp_lenient.values.limits import Limits
from mcp_lenient.values.names import by_key, one_slip_away, shortened_names, squashed
from mcp_lenient.values.patches import REMOVED, entries, with_value

_MAX_GROUPS: Final = 16
"""Groups of paths that are probed per call; more are skipped as unlikely."""
_VISITS: Final = 20_000
"""Branches looked at beside the first of each union, before a call is refused."""
_DEEPEST: Final = 100
"""Levels of values in which names are corrected."""
_PROBE: Final = {"\x00": [None]}
"""A value that almost no type accepts and that is never a default: if it makes no difference, nothing reads it."""


class OutOfSteps(Exception):  # noqa: N818 - a signal within the repair, never raised to callers
    """The schema branches too much to repair this call."""


def spellings(node: Node) -> Mapping[str, Sequence[str]]:
    """Return the declared names by their letters and digits."""
    return by_key((squashed(name), name) for name in node.properties)


def _shortened(node: Node) -> Mapping[str, Sequence[str]]:
    return shortened_names(node.properties)


def has_open_objects(tree: Tree) -> bool:
    """Return whether an object of a schema has properties, or the arguments have none, and does not forbid other names."""
    is_without = not tree.top.properties and _says_nothing_of_others(tree.top)
    return is_without or any(schema.get("additionalProperties") is not False for schema in tree.objects)


def _says_nothing_of_others(node: Node) -> bool:
    return node.additional is None and not (node.closed or node.patterns or node.is_union)


def names_in_wrong_case(node: Node, value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of undeclared names that are declared, absent ones in another case style.

    Only in objects of which the schema does not say that other names are read. Two of them for one name are both lost.
    """
    if not isinstance(value, (dict, list)) or len(path) > _DEEPEST:
        return
    branches = _branches_for(node, value)
    if len(branches) != 1 or branches[0].is_union:  # another branch may read the name
        return
    branch = branches[0]
    if isinstance(value, dict):
        yield from ((*path, key) for key in names_in_other_style(branch, value))
    for key, entry in entries(value):
        child = branch.child(key) if isinstance(entry, (dict, list)) else None
        if child is not None:
            yield from names_in_wrong_case(child, entry, (*path, key))


_BODY: Final = "body"


def misplaced_body(top: Node, arguments: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the path of an undeclared ``body`` that holds nothing but declared, absent names, in any case style.

    Only where the schema does not say that other names are read: FastMCP's OpenAPI tools would send no body. Also that of
    an empty name without a value, where no name is declared.
    """
    if is_empty_key_alone(top, arguments) and _says_nothing_of_others(top):
        yield ("",)
    content = arguments.get(_BODY) if isinstance(arguments, Mapping) else None
    says_nothing = top.additional is None and not top.closed
    if content is None or not top.properties or not says_nothing or top.declares(_BODY):
        return
    if isinstance(content, str):
        parsed = parse_container(content, Limits(), JSON)
        content = None if parsed is None else parsed.value
    if content and isinstance(content, dict):
        names = names_in_other_style(top, content)
        if {names.get(key, key) for key in content} <= top.properties.keys() - arguments.keys():
            yield (_BODY,)


def ignored_names(
    top: Node, arguments: Mapping[str, Any], validator: Validator, repairs: Sequence[Repair]
) -> tuple[Fault, ...]:
    """Return the faults of accepted keys that the tool ignores: misspelled, or of a union branch that it did not take.

    A name that the validator reads, such as a Pydantic alias, is not ignored; one that it only keeps (``extra="allow"``)
    is. Raises OutOfSteps if nested unions need too many visits.
    """
    by_schema = validator.by_schema
    if not top.cached(_may_ignore_names, by_schema):
        return ()
    changed = frozenset(repair.pointer for repair in repairs)
    search = _NameSearch(open_branch_declares_all=by_schema, changed=changed)
    candidates = sorted(set(search.paths([top], arguments, ())), key=str)
    of_other_branch = search.of_other_branch
    if by_schema:  # misspelled names pass, as they do in calls that need no repair
        ignored = [path for path in candidates if path in of_other_branch or pointer(path) in changed]
    else:  # a name that is kept is read by whatever keeps every name, but not as the declared one
        kept = search.kept_as_extra
        unread = unread_paths([path for path in candidates if path not in kept], arguments, validator)
        ignored = [path for path in candidates if path in kept or path in unread]
    return tuple(Fault(path, "value" if path in of_other_branch else "overlooked") for path in ignored)


def _may_ignore_names(top: Node, by_schema: bool) -> bool:  # noqa: FBT001 - as `cached` passes it
    if by_schema:
        return has_open_objects(top.tree)
    return any(schema is not top.tree.root for schema in top.tree.objects)


def ignores_names(node: Node, value: Any) -> bool:
    """Return whether a value has a name that every branch of a union would ignore."""
    return any(_NameSearch(open_branch_declares_all=True).paths([node], value, ()))


class _NameSearch:
    """A search for ignored names; ``kept_as_extra`` are those that their object keeps, ``of_other_branch`` those of another union branch.

    If ``open_branch_declares_all``, a branch without properties counts as declaring every name, since by the schema alone it may
    be the intended one. ``changed`` are the JSON Pointers of repaired values: before it was repaired to fit
    ``additionalProperties``, a value might have fitted the declared name.
    """

    def __init__(self, *, open_branch_declares_all: bool, changed: frozenset[str] = frozenset()) -> None:
        self.open_branch_declares_all, self.changed = open_branch_declares_all, changed
        self.kept_as_extra: set[Path] = set()
        self.of_other_branch: set[Path] = set()
        self._visits = 0

    def paths(self, nodes: Iterable[Node | None], value: Any, path: Path) -> Iterator[Path]:
        """Yield the paths of ignored names of an object or list that any of these nodes describes."""
        every_branch = (branch for node in nodes if node for branch in _branches_for(node, value))
        branches = list(dict.fromkeys(every_branch))
        self._visits += max(len(branches) - 1, 0)  # without unions, the size of the value is the bound
        if self._visits > _VISITS:
            raise OutOfSteps
        if isinstance(value, Mapping):
            if len(branches) > 1:
                accepting = [branch for branch in branches if branch.accepts(value)]
                paths = {(*path, key) for key in self._not_held_by_all(branches, accepting, value)}
                self.of_other_branch |= paths
                yield from paths
                branches = accepting or branches
            yield from ((*path, key) for key in self._misspelled(branches, value, path))
        for key, entry in entries(value):
            if isinstance(entry, (dict, list)):
                yield from self.paths([branch.child(key) for branch in branches], entry, (*path, key))

    def _not_held_by_all(
        self, branches: Sequence[Node], accepting: Sequence[Node], value: Mapping[str, Any]
    ) -> set[str]:
        """Return the declared keys that not every branch holds which takes the value; none if one holds them all."""
        named = {key for key in value if any(key in branch.properties for branch in branches)}
        # A branch holds a name that it declares, or keeps every other one.
        held = [
            named
            if (self.open_branch_declares_all and not branch.properties) or branch.additional is not None
            else {key for key in named if branch.declares(key)}
            for branch in accepting or branches
        ]
        return set() if accepting and named in held else named - named.intersection(*held)

    def _misspelled(self, branches: Sequence[Node], value: Mapping[str, Any], path: Path) -> Iterator[str]:
        is_union = len(branches) > 1 and self.open_branch_declares_all
        if is_union and any(not (branch.properties or branch.closed) for branch in branches):
            return
        declared = {key for branch in branches for key in value if key in branch.properties}
        for branch in branches:
            for key in branch.undeclared(value) if branch.properties else ():
                if key not in declared and self._is_spelling(branch, value, path, key):
                    yield key

    def _is_spelling(self, node: Node, value: Mapping[str, Any], path: Path, key: str) -> bool:
        """Return whether a key may misspell a declared name that is absent or holds another value."""
        same = node.cached(spellings).get(squashed(key), ())
        targets = [name for name in same if name not in value or not same_json(value[name], value[key])]
        if not same:
            near = one_slip_away(key, node.cached(_shortened))
            targets = [name for name in near if name not in value]
            # `todos[0].title` may be meant as a part of `todos`.
            root = key.partition("[")[0].partition(".")[0]
            targets += [root] if root != key and root in node.properties and root not in value else []
        if targets and node.additional in (True, {}):
            self.kept_as_extra.add((*path, key))
        elif targets and isinstance(node.additional, Mapping) and pointer((*path, key)) not in self.changed:
            # The object expects other names, with values of their own type.
            return any(node.property_nodes[name].accepts(value[key]) for name in targets)
        return bool(targets)


def _branches_for(node: Node, value: Any) -> tuple[Node, ...]:
    return node.matching_branches(value) if node.is_union else (node,)


def unread_paths(ignored: list[Path], arguments: Mapping[str, Any], validator: Validator) -> tuple[Path, ...]:
    """Return those of the ignored paths whose values the tool does not read; of too many kinds, the first, untested."""
    groups: dict[tuple[str | None, ...], list[Path]] = {}
    for path in ignored:
        groups.setdefault(tuple(part if isinstance(part, str) else None for part in path), []).append(path)
    unread = list(groups.values())[:_MAX_GROUPS]
    if ignored and len(groups) <= _MAX_GROUPS and _are_read(arguments, ignored, validator):
        unread = [paths for paths in unread if not _are_read(arguments, paths, validator)]
    return tuple(path for paths in unread for path in paths)


def _are_read(arguments: Mapping[str, Any], paths: list[Path], validator: Validator) -> bool:
    without = probed = arguments
    for path in sorted(paths, key=len, reverse=True):
        without, probed = with_value(without, path, REMOVED), with_value(probed, path, _PROBE)
    return validator.distinguishes(without, probed) or validator.distinguishes(without, arguments)
