"""One walk through a place of a schema and a value: for repair, partial repair and relocation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, TypeVar

from mcp_lenient.engine.names import Naming
from mcp_lenient.engine.session import UNTOUCHED, RepairSession, Scope, scope_below
from mcp_lenient.rules.rule import ABSENT
from mcp_lenient.schema.node import SchemaNode
from mcp_lenient.types import Candidate, Path, Repair
from mcp_lenient.values.json_values import has_whole_float, json_type, same_json
from mcp_lenient.values.numbers import plain, plain_type, rounds
from mcp_lenient.values.pointers import pointer

Key = TypeVar("Key", str, int)


Becomes = Callable[..., list[Candidate]]
"""What a walk makes of a value at a node: ``(node, value, path, session, scope, *, wrong, optional)``.

``wrong``: the value is known not to be taken as it is. ``optional``: it may be left out, as ``ABSENT``.
"""


def walk_object(
    becomes: Becomes,
    node: SchemaNode,
    value: Mapping[str, Any],
    path: Path,
    session: RepairSession,
    scope: Scope | None,
    names: Naming,
) -> list[Candidate]:
    """Return an object's candidates from those of its properties; none where a property has none."""
    cost, repairs = names.records(value, path)
    declared = node.property_nodes if scope is None and value else {}
    kept: dict[str, Any] = {}
    changed: list[tuple[str, list[Candidate]]] = []
    for key, sent in value.items():
        child, rename = declared.get(key), names.renamed.get(key)
        wrong = child is not None
        if child is not None and takes(child, sent, session):
            kept[key] = sent
            continue
        if key in names.dropped:
            continue
        name = key if rename is None else rename.name
        below = scope_below(scope, key) if rename is None else None
        child = child or (None if below is UNTOUCHED else node.property(name))
        if child is None:
            found = [Candidate(sent, 0)]
        else:
            optional = name in node.properties and name not in node.required
            found = becomes(child, sent, (*path, key), session, below, wrong=wrong, optional=optional)
        if rename is not None:
            record = Repair(rename.rule, pointer((*path, key)), json_type(sent), json_type(sent))
            found = [Candidate(v, c + rename.cost, (record, *made)) for v, c, made in found]
        if not found:
            return []
        kept[name] = found[0].value
        if found[0].repairs:
            changed.append((name, found))
    ways = combined(changed, session.plan.policy.limits.readings)
    return [put_together(kept, chosen, cost, repairs) for chosen in ways]


def walk_array(
    becomes: Becomes,
    node: SchemaNode,
    value: list[Any],
    path: Path,
    session: RepairSession,
    scope: Scope | None,
) -> list[Candidate]:
    """Return a list's candidates from those of its items; none where an item has none."""
    indices: Sequence[int] = range(len(value)) if scope is None or scope.full else scope.indices
    item_at = node.item_nodes(mixed=_is_mixed(value))
    changed: list[tuple[int, list[Candidate]]] = []
    for index in indices:
        below = scope_below(scope, index)
        item, entry = item_at(index), value[index]
        if below is None and takes(item, entry, session):
            continue
        found = becomes(item, entry, (*path, index), session, below, wrong=below is None)
        if not found:
            return []
        changed.append((index, found))
    return [list_with(value, chosen) for chosen in combined(changed, session.plan.policy.limits.readings)]


def _is_mixed(items: list[Any]) -> bool:
    """Whether a list is anything but numbers throughout, so that none of them is to become text."""
    return not all(isinstance(entry, (int, float)) and not isinstance(entry, bool) for entry in items)


def takes(node: SchemaNode, value: Any, session: RepairSession) -> bool:
    """Whether a value stands as it is, as far as the schema and the validator's way with integers tell."""
    if plain_type(value) is not type(value):
        if node.shape.is_only("number") and rounds(value):
            return False
        value = plain(value)
    # Pydantic's strict mode refuses 7.0 for an integer, which JSON Schema takes.
    if session.exact and (node.looks_within or node.shape.is_only("integer")) and has_whole_float(value):
        return False
    return node.takes(value)


def combined(
    columns: list[tuple[Key, list[Candidate]]], most: int
) -> Iterable[Iterable[tuple[Key, Candidate]]]:
    """Return every way to take one candidate at each key; none when there are more than ``most``."""
    ways = 1
    for _, candidates in columns:
        ways *= len(candidates)
        if ways > most:
            return ()
    if ways == 1:
        return ([(key, candidates[0]) for key, candidates in columns],)
    keys = [key for key, _ in columns]
    return (zip(keys, chosen, strict=True) for chosen in product(*(candidates for _, candidates in columns)))


def cheapest(candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates of the lowest cost, each value once."""
    if len(candidates) < 2:
        return candidates
    lowest = min(each.cost for each in candidates)
    return distinct(each for each in candidates if each.cost == lowest)


def distinct(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates, each JSON value once, the first of it."""
    found: list[Candidate] = []
    for candidate in candidates:
        if not any(same_json(candidate.value, other.value) for other in found):
            found.append(candidate)
    return found


def put_together(
    kept: Mapping[str, Any], changed: Iterable[tuple[str, Candidate]], cost: int, repairs: tuple[Repair, ...]
) -> Candidate:
    """Return an object with the candidates of some properties in their places, those that are ``ABSENT`` left out."""
    value = dict(kept)
    made = list(repairs)
    for name, candidate in changed:
        if candidate.value is ABSENT:
            value.pop(name, None)
        else:
            value[name] = candidate.value
        cost += candidate.cost
        made += candidate.repairs
    return Candidate(value, cost, tuple(made))


def list_with(sent: list[Any], changed: Iterable[tuple[int, Candidate]]) -> Candidate:
    """Return a list with the candidates of some items in their places."""
    values = list(sent)
    cost = 0
    repairs: list[Repair] = []
    for index, candidate in changed:
        values[index] = candidate.value
        cost += candidate.cost
        repairs += candidate.repairs
    return Candidate(values, cost, tuple(repairs))
