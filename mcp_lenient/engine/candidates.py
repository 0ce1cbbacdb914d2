"""The cheapest candidates for a value at a node, compared and combined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple, Protocol, TypeVar

from mcp_lenient.engine.ignored_names import hearing
from mcp_lenient.engine.names import AS_SENT, Naming, names_right, naming
from mcp_lenient.engine.session import UNTOUCHED, OutOfSteps, RepairSession, Scope, scope_below
from mcp_lenient.rules.rule import ABSENT, worst_tier
from mcp_lenient.schema.node import SchemaNode
from mcp_lenient.types import Candidate, Path, Repair
from mcp_lenient.values.json_values import has_whole_float, json_type, same_json
from mcp_lenient.values.names import fold_name
from mcp_lenient.values.numbers import plain, plain_type, rounds
from mcp_lenient.values.pointers import pointer

Key = TypeVar("Key", str, int)


class Change(NamedTuple):
    """What a value becomes, and the repairs that make it so, where no other reading is weighed against it."""

    value: Any
    repairs: tuple[Repair, ...] = ()


class _Valued(Protocol):
    @property
    def value(self) -> Any: ...


ValuedT = TypeVar("ValuedT", bound=_Valued)


def combined(
    columns: list[tuple[Key, list[Candidate]]], most: int
) -> Iterable[Iterable[tuple[Key, Candidate]]]:
    """Every way to take one reading at each key; none when there are more than ``most``."""
    ways = 1
    for _, readings in columns:
        ways *= len(readings)
        if ways > most:
            return ()
    if ways == 1:
        return ([(key, readings[0]) for key, readings in columns],)
    keys = [key for key, _ in columns]
    return (zip(keys, chosen, strict=True) for chosen in product(*(readings for _, readings in columns)))


def cheapest(readings: list[Candidate]) -> list[Candidate]:
    """The readings of the lowest cost, each value once."""
    if len(readings) < 2:
        return readings
    lowest = min(reading.cost for reading in readings)
    return distinct(reading for reading in readings if reading.cost == lowest)


def distinct(readings: Iterable[ValuedT]) -> list[ValuedT]:
    """The readings, each JSON value once, the first of it."""
    found: list[ValuedT] = []
    for reading in readings:
        if not any(same_json(reading.value, other.value) for other in found):
            found.append(reading)
    return found


def put_together(
    kept: Mapping[str, Any], changed: Iterable[tuple[str, Candidate]], cost: int, repairs: tuple[Repair, ...]
) -> Candidate:
    """The object with the readings of some properties in their places, those that are ``ABSENT`` left out."""
    value = dict(kept)
    made = list(repairs)
    for name, reading in changed:
        if reading.value is ABSENT:
            value.pop(name, None)
        else:
            value[name] = reading.value
        cost += reading.cost
        made += reading.repairs
    return Candidate(value, cost, tuple(made))


def list_with(sent: list[Any], changed: Iterable[tuple[int, Candidate]]) -> Candidate:
    """The list with the readings of some items in their places."""
    values = list(sent)
    cost = 0
    repairs: list[Repair] = []
    for index, reading in changed:
        values[index] = reading.value
        cost += reading.cost
        repairs += reading.repairs
    return Candidate(values, cost, tuple(repairs))


def read(
    node: SchemaNode, value: Any, path: Path, run: RepairSession, scope: Scope | None, again: int = 2
) -> list[Candidate]:
    """The cheapest readings of a value at a place; none when it has no reading, several when they tie."""
    run.steps -= 1
    if run.steps < 0:
        raise OutOfSteps
    partly = scope is not None and not scope.full
    found = structure(node, value, path, run, scope) if partly else []
    if found:
        return found
    if takes(node, value, run):
        return [Candidate(value, 0)]
    if partly:
        return _by_rules(node, value, path, run, again, [])
    return _read_wrong(node, value, path, run, scope, again)


def _read_wrong(
    node: SchemaNode, value: Any, path: Path, run: RepairSession, scope: Scope | None = None, again: int = 2
) -> list[Candidate]:
    """As :func:`read`, for a value of which it is known that it does not stand as it is."""
    return _by_rules(node, value, path, run, again, structure(node, value, path, run, scope))


def _by_rules(
    node: SchemaNode, value: Any, path: Path, run: RepairSession, again: int, found: list[Candidate]
) -> list[Candidate]:
    """The cheapest of the readings found and of those of the values that the rules make, tier by tier."""
    for rule, cost, apply in run.plan.at(node).values.get(plain_type(value), ()):
        if found and worst_tier(found[0].cost) < rule.tier:
            break
        for new in apply(value, run.texts) if rule.reads_text else apply(value):
            readings = _after(node, new, path, run, again - 1 if rule.again else 0)
            record = Repair(rule.name, pointer(path), json_type(value), json_type(new))
            for inner in readings:
                if not _beyond(rule.name, inner.cost):
                    found.append(Candidate(inner.value, cost + inner.cost, (record, *inner.repairs)))  # noqa: PERF401
        found = cheapest(found)
    return found


_CLOSE = 2
_MOST_COMPARED = 16
_TIER_1_WITHIN = frozenset({"scalar_to_array", "object_to_array"})


def _beyond(rule: str, inner: int) -> bool:
    """Whether too much would have to change inside for wrapping to be the one reading (123 for strings)."""
    return rule in _TIER_1_WITHIN and worst_tier(inner) > 1


def _after(node: SchemaNode, value: Any, path: Path, run: RepairSession, again: int) -> list[Candidate]:
    """The readings of a value that a rule made, at the same place."""
    if again > 0:
        return read(node, value, path, run, None, again)
    if takes(node, value, run):
        return [Candidate(value, 0)]
    return structure(node, value, path, run, None)


def takes(node: SchemaNode, value: Any, run: RepairSession) -> bool:
    """Whether a value stands as it is, as far as the schema and the judge's way with integers tell."""
    if plain_type(value) is not type(value):
        if node.shape.is_only("number") and rounds(value):
            return False
        value = plain(value)
    # Pydantic's strict mode refuses 7.0 for an integer, which JSON Schema takes.
    if run.exact and (node.looks_within or node.shape.is_only("integer")) and has_whole_float(value):
        return False
    return node.takes(value)


def structure(
    node: SchemaNode, value: Any, path: Path, run: RepairSession, scope: Scope | None
) -> list[Candidate]:
    """The readings of a value of the right JSON type, from the readings of what is in it."""
    if node.is_union:
        return _read_union(node, value, path, run, scope)
    if node.is_object and isinstance(value, dict):
        return _read_object(node, value, path, run, scope)
    if node.is_array and isinstance(value, list):
        return _read_array(node, value, path, run, scope)
    return []


def _read_union(
    node: SchemaNode, value: Any, path: Path, run: RepairSession, scope: Scope | None
) -> list[Candidate]:
    told = _read_discriminated(node, value, path, run, scope) if isinstance(value, dict) else None
    if told is not None:
        return told
    branches: Sequence[SchemaNode] = node.branches
    below = None
    if scope is not None and not scope.full:
        fitting = node.union.fitting(value, exact_integers=run.exact)
        if fitting:
            branches, below = fitting, scope
    found = [reading for branch in branches for reading in read(branch, value, path, run, below)]
    if node.has_lists_beside_objects and isinstance(value, (dict, list)):
        # {"item": ["1"]} may be the one or a wrapped other: only what stays close to what was sent tells.
        found = [reading for reading in found if worst_tier(reading.cost) <= _CLOSE]
    return cheapest(_hearing(node, found) if isinstance(value, dict) else found)


def _hearing(node: SchemaNode, found: list[Candidate]) -> list[Candidate]:
    """Those readings of an object that leave no name in another spelling than a branch has it, where there are any."""
    if len(found) < 2:
        return found
    found = distinct(sorted(found, key=lambda reading: reading.cost))
    if not 1 < len(found) <= _MOST_COMPARED:
        return found
    heard = hearing(node, (plain(reading.value) for reading in found))
    return [reading for reading, hears in zip(found, heard, strict=True) if hears] or found


def names_in(node: SchemaNode, value: Mapping[str, Any], run: RepairSession, scope: Scope | None) -> Naming:
    """What the keys of an object become, as far as the judge holds something against its names."""
    if scope is not None and not (scope.full or scope.names):
        return AS_SENT
    return naming(
        run.plan, node, value, partial(_accepts_items, run), scope.unknown if scope is not None else ()
    )


def _accepts_items(run: RepairSession, node: SchemaNode, name: str, value: Any) -> bool:
    """Return whether a list takes a value as it is, or as its one item."""
    readings = read(node.property_nodes[name], value, (), run, None)
    return len(readings) == 1 and all(each.rule == "scalar_to_array" for each in readings[0].repairs)


def _read_discriminated(
    node: SchemaNode, value: dict[str, Any], path: Path, run: RepairSession, scope: Scope | None
) -> list[Candidate] | None:
    """The readings of the branch that the discriminator names; None when it names none."""
    if node.tag is None or node.union.discriminator is None:
        return None
    name, tag = node.tag
    key = name if name in value else _renamed_tag(name, value)
    if key is None:
        return None
    found = read(tag, value[key], (*path, key), run, None)
    if len(found) != 1:
        return None
    told = found[0]
    branch = node.union.discriminator.owner(told.value)
    assert branch is not None  # noqa: S101 - the tag takes no other values
    if key != name:
        # The branch renames the key itself; of every other branch the tag is another.
        return read(branch, value, path, run, scope)
    named = {**value, name: told.value} if told.cost else value
    return [
        Candidate(inner.value, told.cost + inner.cost, (*told.repairs, *inner.repairs))
        for inner in read(branch, named, path, run, None if told.cost else scope)
    ]


def _renamed_tag(name: str, value: Mapping[str, Any]) -> str | None:
    """Return the one key that is the discriminator under another case style."""
    folded = fold_name(name)
    keys = [key for key in value if isinstance(key, str) and fold_name(key) == folded]
    return keys[0] if len(keys) == 1 else None


def _read_object(
    node: SchemaNode, value: dict[str, Any], path: Path, run: RepairSession, scope: Scope | None
) -> list[Candidate]:
    by_schema = scope is None or scope.full
    names = names_in(node, value, run, scope)
    if (scope is None or scope.full or scope.names) and not names_right(node, value, names):
        return []
    cost, repairs = names.records(value, path)
    declared = node.property_nodes
    kept: dict[str, Any] = {}
    changed: list[tuple[str, list[Candidate]]] = []
    for key, sent in value.items():
        child = declared.get(key) if scope is None else None
        if child is not None and takes(child, sent, run):
            kept[key] = sent
        elif key not in names.dropped:
            if child is not None:
                below = (*path, key)
                name, readings = key, _read_wrong(child, sent, below, run)
                readings = _or_absent(run, node, child, key, sent, below, readings)
            else:
                name, readings = _read_key(node, key, sent, path, run, names, scope)
            if not readings:
                return []
            kept[name] = readings[0].value
            if readings[0].repairs:
                changed.append((name, readings))
    found = [
        put_together(kept, chosen, cost, repairs)
        for chosen in combined(changed, run.plan.policy.limits.readings)
    ]
    return found if node is run.plan.top or not by_schema else _whole(node, found, run)


def _read_key(
    node: SchemaNode, key: str, sent: Any, path: Path, run: RepairSession, names: Naming, scope: Scope | None
) -> tuple[str, list[Candidate]]:
    below = (*path, key)
    rename = names.renamed.get(key)
    if rename is None:
        return key, read_property(node, key, sent, below, run, scope_below(scope, key))
    record = Repair(rename.rule, pointer(below), json_type(sent), json_type(sent))
    readings = read_property(node, rename.name, sent, below, run, None)
    return rename.name, [
        Candidate(each.value, each.cost + rename.cost, (record, *each.repairs)) for each in readings
    ]


def _whole(node: SchemaNode, found: list[Candidate], run: RepairSession) -> list[Candidate]:
    """Those readings of a container of which its schema takes the whole; of the top the judge decides."""
    return [reading for reading in found if _is_whole(node, reading, run)]


def _is_whole(node: SchemaNode, reading: Candidate, run: RepairSession) -> bool:
    # Where 7.0 is no integer, JSON Schema cannot tell of a whole that is repaired; only the judge can.
    return bool(run.exact and reading.repairs) or node.takes(plain(reading.value))


def is_mixed(items: list[Any]) -> bool:
    """Whether a list is anything but numbers throughout, so that none of them is to become text."""
    return not all(isinstance(entry, (int, float)) and not isinstance(entry, bool) for entry in items)


def read_property(
    node: SchemaNode, name: str, value: Any, path: Path, run: RepairSession, scope: Scope | None
) -> list[Candidate]:
    """The cheapest readings of a property's value, ``ABSENT`` among them where it may be left out."""
    run.steps -= 1
    if scope is UNTOUCHED:
        return [Candidate(value, 0)]
    child = node.property(name)
    if child is None:
        return [Candidate(value, 0)]
    return _or_absent(run, node, child, name, value, path, read(child, value, path, run, scope))


def _or_absent(
    run: RepairSession,
    node: SchemaNode,
    child: SchemaNode,
    name: str,
    value: Any,
    path: Path,
    found: list[Candidate],
) -> list[Candidate]:
    if name not in node.shape.properties or name in node.shape.required:
        return found
    for rule, cost, apply in run.plan.at(child).absence.get(type(value), ()):
        if apply(value):
            record = Repair(rule.name, pointer(path), json_type(value), "absent")
            found = cheapest([*found, Candidate(ABSENT, cost, (record,))])
    return found


def _read_array(
    node: SchemaNode, value: list[Any], path: Path, run: RepairSession, scope: Scope | None
) -> list[Candidate]:
    by_schema = scope is None or scope.full
    indices: Sequence[int] = range(len(value)) if scope is None or scope.full else scope.indices
    item_at = node.item_nodes(mixed=is_mixed(value))
    changed: list[tuple[int, list[Candidate]]] = []
    for index in indices:
        below = scope_below(scope, index)
        item, entry = item_at(index), value[index]
        if below is None and takes(item, entry, run):
            continue
        within = (*path, index)
        readings = (
            _read_wrong(item, entry, within, run) if below is None else read(item, entry, within, run, below)
        )
        if not readings:
            return []
        changed.append((index, readings))
    found = [list_with(value, chosen) for chosen in combined(changed, run.plan.policy.limits.readings)]
    return _whole(node, found, run) if by_schema else found
