"""The cheapest candidates for a value at a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from mcp_lenient.engine.ignored_names import leaves_no_name
from mcp_lenient.engine.names import AS_SENT, Naming, names_right, naming
from mcp_lenient.engine.session import OutOfSteps, RepairSession, Scope
from mcp_lenient.engine.walk import cheapest, distinct, takes, walk_array, walk_object
from mcp_lenient.rules.rule import ABSENT, worst_tier
from mcp_lenient.schema.node import SchemaNode
from mcp_lenient.types import Candidate, Path, Repair
from mcp_lenient.values.json_values import json_type
from mcp_lenient.values.names import fold_name
from mcp_lenient.values.numbers import plain, plain_type
from mcp_lenient.values.pointers import pointer

_CLOSE: Final = 2
_MOST_COMPARED: Final = 16
_TIER_1_WITHIN: Final = frozenset({"scalar_to_array", "object_to_array"})


def candidates(
    node: SchemaNode,
    value: Any,
    path: Path,
    session: RepairSession,
    scope: Scope | None,
    *,
    wrong: bool = False,
    optional: bool = False,
    again: int = 2,
) -> list[Candidate]:
    """Return the cheapest candidates for a value; none when it has no reading, several when they tie.

    Args:
        node: Where it stands.
        value: What was sent.
        path: The way there.
        session: The repair under way.
        scope: What the validator holds something against; all of it when None.
        wrong: Whether it is known not to be taken as it is.
        optional: Whether it may be left out, as ``ABSENT``.
        again: How many rules may act one after the other.
    """
    found = _candidates(node, value, path, session, scope, wrong=wrong, again=again)
    if optional:
        for rule, cost, apply in session.plan.at(node).absence.get(type(value), ()):
            if apply(value):
                record = Repair(rule.name, pointer(path), json_type(value), "absent")
                found = cheapest([*found, Candidate(ABSENT, cost, (record,))])
    return found


def _candidates(
    node: SchemaNode,
    value: Any,
    path: Path,
    session: RepairSession,
    scope: Scope | None,
    *,
    wrong: bool,
    again: int,
) -> list[Candidate]:
    partly = scope is not None and not scope.full
    if not wrong:
        session.steps -= 1
        if session.steps < 0:
            raise OutOfSteps
        found = structure(node, value, path, session, scope) if partly else []
        if found:
            return found
        if takes(node, value, session):
            return [Candidate(value, 0)]
    found = [] if partly else structure(node, value, path, session, scope)
    return _by_rules(node, value, path, session, again, found)


def _by_rules(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, again: int, found: list[Candidate]
) -> list[Candidate]:
    """Return the cheapest of the candidates found and of those of the values that the rules make, tier by tier."""
    for rule, cost, apply in session.plan.at(node).values.get(plain_type(value), ()):
        if found and worst_tier(found[0].cost) < rule.tier:
            break
        for new in apply(value, session.texts) if rule.reads_text else apply(value):
            record = Repair(rule.name, pointer(path), json_type(value), json_type(new))
            for inner in _after(node, new, path, session, again - 1 if rule.again else 0):
                if not _is_too_much(rule.name, inner.cost):
                    found.append(Candidate(inner.value, cost + inner.cost, (record, *inner.repairs)))  # noqa: PERF401
        found = cheapest(found)
    return found


def _is_too_much(rule: str, inner: int) -> bool:
    """Whether too much would have to change inside for wrapping to be the one reading (123 for strings)."""
    return rule in _TIER_1_WITHIN and worst_tier(inner) > 1


def _after(node: SchemaNode, value: Any, path: Path, session: RepairSession, again: int) -> list[Candidate]:
    """Return the candidates for a value that a rule made, at the same place."""
    if again > 0:
        return candidates(node, value, path, session, None, again=again)
    if takes(node, value, session):
        return [Candidate(value, 0)]
    return structure(node, value, path, session, None)


def structure(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, scope: Scope | None
) -> list[Candidate]:
    """Return the candidates for a value of the right JSON type, from those of what is in it."""
    if node.is_union:
        return _of_union(node, value, path, session, scope)
    if node.is_object and isinstance(value, dict):
        return _of_object(node, value, path, session, scope)
    if node.is_array and isinstance(value, list):
        found = walk_array(candidates, node, value, path, session, scope)
        return _whole(node, found, session) if scope is None or scope.full else found
    return []


def _of_union(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, scope: Scope | None
) -> list[Candidate]:
    told = _of_discriminated(node, value, path, session, scope) if isinstance(value, dict) else None
    if told is not None:
        return told
    branches: Sequence[SchemaNode] = node.branches
    below = None
    if scope is not None and not scope.full:
        fitting = node.union.fitting(value, exact_integers=session.exact)
        if fitting:
            branches, below = fitting, scope
    found = [each for branch in branches for each in candidates(branch, value, path, session, below)]
    if node.has_lists_beside_objects and isinstance(value, (dict, list)):
        # {"item": ["1"]} may be the one or a wrapped other: only what stays close to what was sent tells.
        found = [each for each in found if worst_tier(each.cost) <= _CLOSE]
    return cheapest(_with_all_names_read(node, found) if isinstance(value, dict) else found)


def _with_all_names_read(node: SchemaNode, found: list[Candidate]) -> list[Candidate]:
    """Return those candidates that leave no name in another spelling than a branch has it, where there are any."""
    if len(found) < 2:
        return found
    found = distinct(sorted(found, key=lambda each: each.cost))
    if not 1 < len(found) <= _MOST_COMPARED:
        return found
    read = leaves_no_name(node, (plain(each.value) for each in found))
    return [each for each, is_read in zip(found, read, strict=True) if is_read] or found


def _of_discriminated(
    node: SchemaNode, value: dict[str, Any], path: Path, session: RepairSession, scope: Scope | None
) -> list[Candidate] | None:
    """Return the candidates of the branch that the discriminator names; None when it names none."""
    if node.tag is None or node.union.discriminator is None:
        return None
    name, tag = node.tag
    key = name if name in value else _renamed_tag(name, value)
    if key is None:
        return None
    found = candidates(tag, value[key], (*path, key), session, None)
    if len(found) != 1:
        return None
    told = found[0]
    branch = node.union.discriminator.owner(told.value)
    assert branch is not None  # noqa: S101 - the tag takes no other values
    if key != name:
        # The branch renames the key itself; of every other branch the tag is another.
        return candidates(branch, value, path, session, scope)
    named = {**value, name: told.value} if told.cost else value
    return [
        Candidate(inner.value, told.cost + inner.cost, (*told.repairs, *inner.repairs))
        for inner in candidates(branch, named, path, session, None if told.cost else scope)
    ]


def _renamed_tag(name: str, value: Mapping[str, Any]) -> str | None:
    """Return the one key that is the discriminator under another case style."""
    folded = fold_name(name)
    keys = [key for key in value if isinstance(key, str) and fold_name(key) == folded]
    return keys[0] if len(keys) == 1 else None


def names_in(
    node: SchemaNode, value: Mapping[str, Any], session: RepairSession, scope: Scope | None
) -> Naming:
    """Return what the keys of an object become, as far as the validator holds something against its names."""
    if scope is not None and not (scope.full or scope.names):
        return AS_SENT
    unknown = scope.unknown if scope is not None else ()
    return naming(session.plan, node, value, partial(_accepts_items, session), unknown)


def _accepts_items(session: RepairSession, node: SchemaNode, name: str, value: Any) -> bool:
    """Whether a list takes a value as it is, or as its one item."""
    found = candidates(node.property_nodes[name], value, (), session, None)
    return len(found) == 1 and all(each.rule == "scalar_to_array" for each in found[0].repairs)


def _of_object(
    node: SchemaNode, value: dict[str, Any], path: Path, session: RepairSession, scope: Scope | None
) -> list[Candidate]:
    by_schema = scope is None or scope.full
    names = names_in(node, value, session, scope)
    if (scope is None or scope.full or scope.names) and not names_right(node, value, names):
        return []
    found = walk_object(candidates, node, value, path, session, scope, names)
    return found if node is session.plan.top or not by_schema else _whole(node, found, session)


def _whole(node: SchemaNode, found: list[Candidate], session: RepairSession) -> list[Candidate]:
    """Return those candidates of a container whose whole the schema takes; the validator decides about the top."""
    # Where 7.0 is no integer, JSON Schema cannot tell of a whole that is repaired; only the validator can.
    return [each for each in found if (session.exact and each.repairs) or node.takes(plain(each.value))]
