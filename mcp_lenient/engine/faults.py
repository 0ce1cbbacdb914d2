"""Find what is wrong with a value: the one traversal of a schema that seeds the repair and words the refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.schema.checks import holds
from mcp_lenient.schema.node import Node, discriminator_of
from mcp_lenient.types import Fault, FaultKind, Path
from mcp_lenient.values.json_values import json_type
from mcp_lenient.values.language import Text
from mcp_lenient.values.limits import MOST_FAULTS

if TYPE_CHECKING:
    from mcp_lenient.refusal.locations import RefusedCall

_ASSERTED: Final[Mapping[str, tuple[str, ...]]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("minItems", "maxItems", "uniqueItems"),
    "object": ("minProperties", "maxProperties"),
}
"""Keywords that limit a value of the right type."""
_STRICTEST: Final[Mapping[str, Callable[[Iterable[Any]], Any]]] = {
    **dict.fromkeys("minimum exclusiveMinimum minLength minItems minProperties".split(), max),
    **dict.fromkeys("maximum exclusiveMaximum maxLength maxItems maxProperties".split(), min),
}
_KINDS: Final[Mapping[str, FaultKind]] = {
    "type": "type",
    "required": "missing",
    "additionalProperties": "unknown",
    "propertyNames": "key",
}
_MAX_DEPTH: Final = 100
_MAX_VISITS: Final = 100_000
"""Places looked at; what lies beyond counts as accepted, so that a large value in a large union costs no more."""
_MAX_BRANCHES: Final = 16
"""Branches of a union that are explained; of more, those that declare most names of the value."""


def _fault(path: Path, keyword: str | None, node: Node | None, bound: Any = None) -> Fault:
    kind = "value" if keyword is None else _KINDS.get(keyword, "value")
    return Fault(path, kind, keyword=keyword, bound=bound, node=node)


def find_faults(
    node: Node, value: Any, path: Path = (), *, exact_integers: bool = False, is_refused: bool = False
) -> tuple[Fault, ...]:
    """Return what a schema refuses of a value and in it, at most 1,000 faults.

    Of a union, the faults of the branch that the value most likely targets. ``exact_integers`` refuses ``7.0`` for an integer; with
    ``is_refused`` a value is looked through even if the schema accepts it.
    """
    search = _FaultSearch(exact_integers=exact_integers)
    faults_here = search.reasons(node, value, path) if is_refused else search.of(node, value, path)
    return tuple(islice({(fault.path, fault.keyword): fault for fault in faults_here}.values(), MOST_FAULTS))


@dataclass(slots=True)
class _FaultSearch:
    """The traversal, at one strictness. A node visits a place once, however unions nest."""

    exact_integers: bool
    _visits_left: int = _MAX_VISITS
    _seen: dict[tuple[Node, Path], tuple[Fault, ...]] = field(default_factory=dict)

    def of(self, node: Node | None, value: Any, path: Path) -> tuple[Fault, ...]:
        if node is None or len(path) > _MAX_DEPTH or self._visits_left <= 0:
            return ()
        self._visits_left -= 1
        at = node, path
        if at not in self._seen:
            accepted = node.accepts(value, exact_integers=self.exact_integers)
            reasons = () if accepted else tuple(self.reasons(node, value, path))
            self._seen[at] = reasons if accepted or reasons else (_fault(path, None, node),)
        return self._seen[at]

    def reasons(self, node: Node, value: Any, path: Path) -> Iterator[Fault]:
        """Yield the faults of a value that is known to be refused."""
        if node.is_union:
            yield from self._of_union(node, value, path)
        elif not node.fits(value, exact_integers=self.exact_integers):
            yield _fault(path, "type", node)
        elif not node.in_enum(value):
            yield _fault(path, "enum", node)
        else:
            yield from _broken_limits(node, value, path)
            for consequence in _conditional(node, value):
                yield from self.of(consequence, value, path)
            if isinstance(value, Mapping):
                yield from _wrong_names(node, value, path)
                for key, entry in value.items():
                    yield from self.of(node.child(key), entry, (*path, key))
            elif isinstance(value, list):
                # The length of the list says that no item may follow those of a tuple.
                described_count = len(node.prefix_items) if _is_tuple(node) else None
                for index, entry in enumerate(value[:described_count]):
                    yield from self.of(node.item(index), entry, (*path, index))

    def _of_union(self, node: Node, value: Any, path: Path) -> Sequence[Fault]:
        targets = node.likely_branches(value, exact_integers=self.exact_integers)
        candidates = [branch for branch in targets if branch.in_enum(value)]
        if not candidates:
            return [_fault(path, "enum" if targets else "type", node)]
        discriminator = discriminator_of(targets) if isinstance(value, Mapping) else None
        if discriminator is not None:
            keyword = "enum" if discriminator.name in value else "required"
            return [_fault((*path, discriminator.name), keyword, discriminator.tags)]
        if isinstance(value, Mapping):
            shared_counts = {branch: len(value.keys() & branch.properties.keys()) for branch in candidates}
            most = max(shared_counts.values())
            candidates = [branch for branch in candidates if shared_counts[branch] == most]
        per_branch = [list(self.reasons(branch, value, path)) for branch in candidates[:_MAX_BRANCHES]]
        best = min(per_branch, key=len)
        paths = {fault.path for faults in per_branch for fault in faults}
        if len(per_branch) > 1 and all(per_branch) and paths == {path}:
            return [replace(_fault(path, best[0].keyword, node), alternatives=tuple(per_branch))]
        missing = [[fault for fault in faults if _lacks_property(fault, path)] for faults in per_branch]
        others = [[fault for fault in faults if not _lacks_property(fault, path)] for faults in per_branch]
        needed = {tuple(fault.path[-1] for fault in faults): faults for faults in missing}
        distinct_others = {frozenset((fault.path, fault.keyword) for fault in faults) for faults in others}
        if len(needed) > 1 and () not in needed and len(distinct_others) == 1:
            # None of them is required alone: each branch requires others.
            index = per_branch.index(best)
            return [replace(missing[index][0], alternatives=tuple(needed.values())), *others[index]]
        return best


def _lacks_property(fault: Fault, path: Path) -> bool:
    return fault.keyword == "required" and fault.path[:-1] == path


def _broken_limits(node: Node, value: Any, path: Path) -> Iterator[Fault]:
    for keyword, bound in node.cached(_limits, json_type(value)):
        if not (node.tree.has_format(value, bound) if keyword == "format" else holds(keyword, bound, value)):
            yield _fault(path, keyword, node, bound)
    if isinstance(value, list) and len(value) > len(node.prefix_items) and _is_tuple(node):
        yield _fault(path, "maxItems", node, len(node.prefix_items))


def _limits(node: Node, kind: str) -> Sequence[tuple[str, Any]]:
    """Return the keywords that limit a value of a type, with their bounds: of several numbers the strictest."""
    limits: list[tuple[str, Any]] = []
    for keyword in _ASSERTED.get(kind, ()):
        bounds = node.values_of(keyword)
        if bounds and keyword in _STRICTEST:
            bounds = [_STRICTEST[keyword](bounds)]
        limits += [(keyword, bound) for bound in bounds]
    return limits


def _is_tuple(node: Node) -> bool:
    return len(node.prefix_items) > 0 and False in node.values_of("items")


def _conditional(node: Node, value: Any) -> Iterator[Node]:
    """Yield the nodes of the conditions that apply to a value; which branch of a union one means is not known."""
    for part in node.parts:
        if "if" in part:
            branch = node.tree.node(part.get("else" if holds("not", part["if"], value) else "then"))
            yield from () if branch.is_union else (branch,)
        for name, schema in part.get("dependentSchemas", {}).items():
            if isinstance(value, Mapping) and name in value:
                yield node.tree.node(schema)


def _wrong_names(node: Node, value: Mapping[Any, Any], path: Path) -> Iterator[Fault]:
    needed = [*node.required]
    for dependent in node.values_of("dependentRequired"):
        needed += [name for trigger, names in dependent.items() if trigger in value for name in names]
    for name in dict.fromkeys(needed):
        if name not in value:
            yield _fault((*path, name), "required", node.child(name))
    for name in value if node.closed else ():
        if not node.declares(name):
            yield _fault((*path, name if isinstance(name, int) else str(name)), "additionalProperties", None)
    for keys in map(node.tree.node, node.values_of("propertyNames")):
        yield from (_of_key((*path, name), keys) for name in value if not keys.accepts(name))


def _of_key(path: Path, keys: Node | None) -> Fault:
    refused = () if keys is None else find_faults(keys, path[-1], is_refused=True)
    return replace(_fault(path, "propertyNames", keys), alternatives=(refused,))


# --- faults of a tool's own validator ------------------------------------------------------------------------

_OF_NAMES: Final[Mapping[str, str]] = {
    "missing": "required",
    "unknown": "additionalProperties",
    "overlooked": "additionalProperties",
}


def explain_faults(call: RefusedCall, reported: Sequence[Fault]) -> Iterator[Fault]:
    """Yield the most helpful faults of a validator, as the published schema has them.

    None above others at a value of the right type, and none below a wrong or ambiguous value.
    """
    ambiguous_paths = {fault.path for fault in reported if fault.kind == "ambiguous"}
    refused_inside = {above for fault in reported for above in _above(fault.path)}
    of_values = {fault.path for fault in reported if fault.kind in ("type", "value")}
    wrong = ambiguous_paths | {path for path in of_values & refused_inside if not _is_of_type(call, path)}
    # Of a union of objects the schema may refuse more than the validator, a text for a number, and another branch may
    # forbid the name of the value.
    reported_places = {(fault.path, fault.of_name) for fault in reported}
    schema_faults = cache(partial(_faults_at, call))
    for fault in reported:
        is_hidden = fault.kind == "type" and fault.path in refused_inside and fault.path not in wrong
        is_beside_ambiguity = fault.path in ambiguous_paths and fault.kind != "ambiguous"
        if not is_hidden and not is_beside_ambiguity and wrong.isdisjoint(_above(fault.path)):
            explanation = _explained(call, fault, schema_faults)
            at_reported = [entry for entry in explanation if (entry.path, entry.of_name) in reported_places]
            yield from at_reported or explanation


def _above(path: Path) -> Iterator[Path]:
    return (path[:length] for length in range(len(path)))


def _is_of_type(call: RefusedCall, path: Path) -> bool:
    node, value = call.location(path).node, call.location(path).value
    return node is None or bool(node.branches_of_type(value, exact_integers=call.exact_integers))


def _repeats_schema(call: RefusedCall, fault: Fault) -> bool:
    """Return whether a ready-made normalizer has refused the types that the schema refuses, which says what came as well."""
    node = call.location(fault.path).node
    if fault.kind != "type" or not isinstance(fault.detail, Text) or node is None:
        return False
    from mcp_lenient.refusal.sentences import type_words

    return fault.expected_types == node.cached(type_words)


def _explained(
    call: RefusedCall, fault: Fault, schema_faults: Callable[[Path], tuple[Fault, ...]]
) -> Sequence[Fault]:
    """Return what the published schema refuses where a tool's validator does; the fault itself if it refuses nothing."""
    if _repeats_schema(call, fault):
        fault = Fault(fault.path, fault.kind)
    if fault.keyword or fault.error_code or fault.kind in ("ambiguous", "size"):
        return (fault,)
    if fault.kind == "key":
        maps = call.location(fault.path[:-1]).branches
        keys = [branch.tree.node(schema) for branch in maps for schema in branch.values_of("propertyNames")]
        return (_of_key(fault.path, call.top.tree.any_of(keys)), fault)
    location = call.location(fault.path)
    # A sentence about this value: the schema of values below or beside it is not the reason.
    has_text = bool(fault.detail or fault.kind == "overlooked" or (fault.reason and fault.kind == "value"))
    # A validator reports the faults of every branch of a union of objects.
    for around in () if has_text else map(call.location, _above(fault.path)):
        objects = [branch for branch in around.branches if branch.properties]
        is_union = isinstance(around.value, Mapping) and len(objects) > 1
        if is_union and (union_faults := schema_faults(around.path)):
            return union_faults
    if fault.kind in _OF_NAMES:
        return (replace(fault, keyword=_OF_NAMES[fault.kind], node=location.node),)
    # No schema is left for an item beyond those of a tuple: the list is too long.
    shown = call.location(fault.path[:-1]) if location.node is None else location
    explaining = schema_faults(shown.path)
    if shown is not location or has_text:
        explaining = tuple(entry for entry in explaining if entry.path == shown.path)
    return (*explaining, fault) if has_text or not explaining else explaining


def _faults_at(call: RefusedCall, path: Path) -> tuple[Fault, ...]:
    """Return what the published schema refuses of a value and in it."""
    location = call.location(path)
    if location.node is None:
        return ()
    at_path = location.node, location.value, path
    return find_faults(*at_path, exact_integers=call.exact_integers, is_refused=True)
