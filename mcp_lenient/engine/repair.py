"""From arguments that a tool refuses to the one candidate it accepts, or to none.

Pure: no framework, no input or output, no logging. The validator says what is wrong; the rules propose candidates for
each place that is wrong; the validator decides which of them the tool accepts, and only a candidate that is alone is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, product
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from mcp_lenient.engine.plan import Plan
from mcp_lenient.rules.rules import ABSENT, Apply, Rule, worst_tier
from mcp_lenient.schema.node import Position, SchemaNode, SchemaTree
from mcp_lenient.schema.unions import Disambiguator
from mcp_lenient.types import Candidate, Outcome, Path, Repair, Tie, ValidationIssue, Validator
from mcp_lenient.values.json_values import (
    TextParseCache,
    has_whole_float,
    json_type,
    measured,
    plain,
    plain_type,
    pointer,
    rounds,
    same_json,
)
from mcp_lenient.values.names import fold_name, squashed


@dataclass(slots=True)
class RepairSession:
    """What one call's repair shares.

    Attributes:
        plan: The compiled schema and policy.
        exact: Whether ``7.0`` is refused for an integer.
        steps: Places that may still be looked at.
        texts: The texts of the call, each read once.
        ties: Places whose best readings cost the same.
    """

    plan: Plan
    exact: bool
    steps: int
    texts: TextParseCache
    ties: list[Tie] = field(default_factory=list)


class OutOfSteps(Exception):  # noqa: N818 - a signal within the repair, never seen outside
    """The schema branches so much that this call is given up."""


@dataclass(slots=True)
class Scope:
    """Which places the validator holds something against; every other place stays as it was sent."""

    full: bool = False
    names: bool = False
    unknown: set[str] = field(default_factory=set)
    below: dict[str | int, Scope] = field(default_factory=dict)

    @property
    def indices(self) -> list[int]:
        """The items that something is held against, in order."""
        return sorted(key for key in self.below if isinstance(key, int))


UNTOUCHED = Scope()


def scope_below(scope: Scope | None, key: str | int) -> Scope | None:
    """The scope of what stands under a key: its own issues, all of it, or nothing."""
    if scope is None:
        return None
    own = scope.below.get(key)
    return own if own is not None or scope.full else UNTOUCHED


def scope_of(issues: Iterable[ValidationIssue]) -> Scope:
    """The scope that issues make: all of a faulty value, and the names of an object that lacks or has one."""
    top = Scope()
    for issue in issues:
        names = issue.kind in ("missing", "unknown", "key")
        scope = top
        for part in issue.path[:-1] if names else issue.path:
            scope = scope.below.setdefault(part, Scope())
        if names:
            scope.names = True
            if issue.kind == "unknown" and isinstance(issue.path[-1], str):
                scope.unknown.add(issue.path[-1])
        else:
            scope.full = True
    return top


class Rename(NamedTuple):
    """A declared name in place of the key that was sent."""

    name: str
    cost: int
    rule: str


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Naming(NamedTuple):
    """What the keys of one object become: declared names, or nothing."""

    renamed: Mapping[str, Rename] = _NOTHING
    dropped: Mapping[str, tuple[int, str]] = _NOTHING

    def records(self, value: Mapping[str, Any], path: Path) -> tuple[int, tuple[Repair, ...]]:
        """What leaving keys out costs, and its repairs."""
        if not self.dropped:
            return 0, ()
        repairs = tuple(
            Repair(self.dropped[key][1], pointer((*path, key)), json_type(sent), "absent")
            for key, sent in value.items()
            if key in self.dropped
        )
        return sum(cost for cost, _ in self.dropped.values()), repairs


_STYLE = "rename_case"
_PLURAL = "rename_plural"
AS_SENT = Naming()
"""Every key under its own name."""
AcceptsItems = Callable[[SchemaNode, str, Any], bool]
"""Whether a declared list takes a value that was sent under its singular, as it is or as its one item."""


def naming(
    plan: Plan,
    node: SchemaNode,
    value: Mapping[str, Any],
    accepts_items: AcceptsItems,
    judged: Collection[str] = (),
) -> Naming:
    """Find for each undeclared key the declared name it was meant for; never two keys for one name.

    Args:
        plan: The rules.
        node: Where the object stands.
        value: The object.
        accepts_items: Whether a plural takes what was sent under its singular.
        judged: The keys that the tool's own validator calls unknown, where it calls any so: no other key is
            looked at, since it may be one that only this validator knows.
    """
    unknown = undeclared(node, value)
    if judged:
        unknown = [key for key in unknown if key in judged]
    if not unknown:
        return AS_SENT
    dropped = _drops(plan, node, unknown)
    return Naming(
        _renamed(plan, node, value, [key for key in unknown if key not in dropped], accepts_items), dropped
    )


def undeclared(node: SchemaNode, value: Mapping[str, Any]) -> list[str]:
    """The keys that the schema knows neither by name nor by pattern."""
    declared = node.properties
    if value.keys() <= declared.keys():
        return []
    return [
        key for key in value if key not in declared and isinstance(key, str) and not node.has_pattern_for(key)
    ]


def _drops(plan: Plan, node: SchemaNode, unknown: list[str]) -> dict[str, tuple[int, str]]:
    """The keys to leave out, each with its cost and rule."""
    found: dict[str, tuple[int, str]] = {}
    if not unknown:
        return found
    for rule, cost, apply in plan.at(node).drops:
        for key in apply(unknown):
            found.setdefault(key, (cost, rule.name))
    return found


def without_injected(plan: Plan, value: dict[str, Any]) -> tuple[dict[str, Any], int, tuple[Repair, ...]]:
    """Return the arguments without the keys that a client added, what that costs, and its repairs."""
    dropped = _drops(plan, plan.top, undeclared(plan.top, value))
    if not dropped:
        return value, 0, ()
    rest = {key: sent for key, sent in value.items() if key not in dropped}
    return rest, *Naming(dropped=dropped).records(value, ())


def _renamed(
    plan: Plan, node: SchemaNode, value: Mapping[str, Any], unknown: list[str], accepts_items: AcceptsItems
) -> dict[str, Rename]:
    shape = node.shape
    absent = frozenset(name for name in shape.properties if name not in value)
    wanted = absent if shape.closed else absent & shape.required
    if not wanted:
        return {}
    found: dict[str, Rename] = {}
    for key in unknown:
        rename = _rename(plan, node, key, value[key], wanted, accepts_items)
        if rename is not None:
            found[key] = rename
    if shape.extra in (None, True, {}) and any(each.rule == _STYLE for each in found.values()):
        # Who writes one name of an object in another case style does so with its other names too.
        for key in (key for key in unknown if key not in found):
            rename = _rename(plan, node, key, value[key], absent, accepts_items)
            if rename is not None and rename.rule == _STYLE:
                found[key] = rename
    if len(found) < 2:
        return found
    targets = Counter(rename.name for rename in found.values())
    return {key: rename for key, rename in found.items() if targets[rename.name] == 1}


def _rename(
    plan: Plan, node: SchemaNode, key: str, value: Any, wanted: Collection[str], accepts_items: AcceptsItems
) -> Rename | None:
    """The declared name that a key was meant for, by the first rule that knows one."""
    for rule, cost, apply in plan.at(node).renames:
        name = apply(key, wanted, value)
        if name is not None:
            fits = rule.name != _PLURAL or accepts_items(node, name, value)
            return Rename(name, cost, rule.name) if fits else None
    return None


def names_right(node: SchemaNode, value: Mapping[str, Any], names: Naming) -> bool:
    """Whether, so renamed, no required name is missing and none is there that may not be."""
    shape = node.shape
    if names is AS_SENT:
        return shape.required <= value.keys()
    present = {
        names.renamed[key].name if key in names.renamed else key for key in value if key not in names.dropped
    }
    if shape.closed and any(node.property(name) is None for name in present):
        return False
    return shape.required <= present


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
    # The branch renames the key itself; of every other branch the tag is another.
    named = {**value, key: told.value} if told.cost else value
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
        if not wrong:
            session.steps -= 1  # a key that no schema speaks of is work as well
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


def relocate(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, scope: Scope | None
) -> Candidate:
    """Return the value with every relocation that its issues ask for; without repairs where there is none."""
    if scope is None or scope is UNTOUCHED:
        return Candidate(value, 0)
    if node.is_union:
        branches = node.union.told(value, exact_integers=session.exact)
        if len(branches) == 1:
            return relocate(branches[0], value, path, session, scope)
    elif isinstance(value, dict):
        names = names_in(node, value, session, scope) if scope.names else AS_SENT
        other = None
        if not path and scope.names and not names_right(node, value, names):
            other = _other_arguments(value, session.plan)
        return other or walk_object(_relocated, node, value, path, session, scope, names)[0]
    elif isinstance(value, list):
        return walk_array(_relocated, node, value, path, session, scope)[0]
    return _out_of_text(node, value, path, session) if isinstance(value, str) else Candidate(value, 0)


def _other_arguments(arguments: dict[str, Any], plan: Plan) -> Candidate | None:
    """Return other arguments in place of these, where there is one way to; injected keys are left out first."""
    rest, _, dropped = without_injected(plan, arguments)
    found = [
        Candidate(content, 0, (*dropped, Repair(rule.name, "", "object", "object")))
        for rule, _, apply in plan.at(plan.top).values.get(dict, ())
        for content in apply(rest)
    ]
    return found[0] if len(distinct(found)) == 1 else None


def _out_of_text(node: SchemaNode, text: str, path: Path, session: RepairSession) -> Candidate:
    found = [
        Candidate(new, 0, (Repair(rule.name, pointer(path), "string", json_type(new)),))
        for each in node.branches or (node,)
        for rule, _, apply in session.plan.at(each).values.get(str, ())
        if rule.reads_text
        for new in apply(text, session.texts)
    ]
    return found[0] if len(distinct(found)) == 1 else Candidate(text, 0)


def _relocated(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, scope: Scope | None, **_known: bool
) -> list[Candidate]:
    return [relocate(node, value, path, session, scope)]


_SPELLINGS: Final = frozenset({"text_to_integer", "text_to_number"})


def repair_partially(value: dict[str, Any], session: RepairSession, scope: Scope | None) -> Candidate:
    """Return arguments with every repair that is certain by itself; ties are left to the session."""
    return _broken(session.plan.top, value, (), session, scope)


def _repaired(
    node: SchemaNode,
    value: Any,
    path: Path,
    session: RepairSession,
    scope: Scope | None,
    **known: bool,
) -> list[Candidate]:
    """Return the one candidate there is; of several that tie none, so that the value stays as it was sent."""
    if scope is UNTOUCHED:
        return [Candidate(value, 0)]
    found = candidates(node, value, path, session, scope, **known)
    if len(found) > 1:
        session.ties.append(Tie(path, tuple(found)))
        return [Candidate(value, 0)]
    return found or [_broken(node, value, path, session, scope)]


def _broken(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, scope: Scope | None
) -> Candidate:
    """Return a value that has no candidate, with what is in it repaired."""
    if node.is_union:
        branches = node.union.meant(value, exact_integers=session.exact)
        if len(branches) == 1:
            within = _repaired(branches[0], value, path, session, scope)[0] if path else None
            return within or _broken(branches[0], value, path, session, scope)
    elif node.is_object and isinstance(value, dict):
        names = names_in(node, value, session, scope)
        return walk_object(_repaired, node, value, path, session, scope, names)[0]
    elif node.is_array and isinstance(value, list):
        return walk_array(_repaired, node, value, path, session, scope)[0]
    return _text(node, value, path, session) if isinstance(value, str) else Candidate(value, 0)


def _text(node: SchemaNode, value: str, path: Path, session: RepairSession) -> Candidate:
    """Return what a text spells: a number that the schema does not allow, or a container not all of which is right."""
    for each in node.branches or (node,):
        rules = session.plan.at(each).values.get(str, ())
        spelled = ((rule, new) for rule, _, apply in rules if rule.name in _SPELLINGS for new in apply(value))
        held = (
            (rule, new) for rule, _, apply in rules if rule.reads_text for new in apply(value, session.texts)
        )
        for rule, new in chain(spelled, held):
            record = Repair(rule.name, pointer(path), "string", json_type(new))
            inner = _broken(each, new, path, session, None) if rule.reads_text else Candidate(new, 0)
            return Candidate(inner.value, 0, (record, *inner.repairs))
    return Candidate(value, 0)


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
    return (*kept, *unread_paths([path for path in found if path not in look.kept], arguments, validator))


def unread_paths(found: list[Path], arguments: Mapping[str, Any], validator: Validator) -> tuple[Path, ...]:
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


_STEPS = 3_000
_PARTIAL_STEPS = 5_000
"""Places looked at before a call is given up; grows with the arguments, so that only a schema that
branches without end can use it up."""


def repair(plan: Plan, arguments: Mapping[str, Any], validator: Validator) -> Outcome:
    """Repair what can be read only one way that the validator accepts.

    Args:
        plan: The schema, and the rules in force.
        arguments: As the caller sent them; never changed.
        validator: What the tool accepts.

    Returns:
        The same arguments when they are accepted, repaired ones when that is certain, else what is wrong.
    """
    if validator.accepts(arguments):
        return Outcome("accepted", arguments)
    return repair_rejected(plan, arguments, validator)


def repair_parsed(plan: Plan, arguments: Mapping[str, Any], validator: Validator) -> Outcome:
    """Repair arguments that were read from text, whose numbers still have their source spelling.

    Args:
        plan: The schema, and the rules in force.
        arguments: What was read, floats as :class:`~mcp_lenient.values.json_values.SpelledFloat`; never changed.
        validator: What the tool accepts.

    Returns:
        As :func:`repair`, with plain floats.
    """
    sent = plain(arguments)
    return (
        Outcome("accepted", sent) if validator.accepts(sent) else repair_rejected(plan, arguments, validator)
    )


def repair_rejected(plan: Plan, arguments: Mapping[str, Any], validator: Validator) -> Outcome:
    """As :func:`repair`, for arguments that the validator has refused already."""
    outcome = _outcome(plan, arguments, validator)
    if outcome.status != "repaired":
        return outcome
    try:
        unread = ignored_names(plan.top, outcome.arguments, validator, outcome.repairs)
    except OutOfSteps:
        sent = plain(dict(arguments))
        return Outcome("refused", sent, issues=validator.issues(sent))
    if not unread:
        return outcome
    issues = tuple(ValidationIssue(path, "overlooked") for path in unread)
    return Outcome("refused", outcome.arguments, outcome.repairs, issues)


def still_wrong(
    plan: Plan, validator: Validator
) -> Callable[[Mapping[str, Any]], tuple[ValidationIssue, ...]]:
    """Return the function that says what is still wrong with arguments once they are repaired."""

    def issues(arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        outcome = repair(plan, arguments, validator)
        if outcome.status != "refused":
            return ()
        tied = tuple(ValidationIssue(tie.path, "value") for tie in outcome.ties)
        return (*outcome.issues, *tied) or (ValidationIssue((), "value"),)

    return issues


def _outcome(plan: Plan, arguments: Mapping[str, Any], validator: Validator) -> Outcome:
    size = measured(arguments, plan.policy.limits)
    if size.beyond is not None:
        return Outcome("refused", arguments, issues=(ValidationIssue((), "size", size.beyond),))
    steps = _STEPS + 2 * size.bytes + 10 * size.items
    texts = TextParseCache(plan.policy.limits)
    session = RepairSession(plan, validator.exact_integers, steps, texts)
    if validator.by_schema:
        return _repaired_by_schema(arguments, validator, session, None, ())
    base, relocations, issues = _relocate_all(dict(arguments), validator, session)
    if relocations and not issues:
        if not rounds(base):
            return Outcome("repaired", plain(base), relocations)
        # The tool takes a number there, and would round it.
        return _repaired_by_schema(base, validator, session, None, relocations)
    return _repaired_by_schema(base, validator, session, issues, relocations)


# mutant: a bound; one more changes no answer
_ROUNDS = 4
"""Relocations within relocations that are followed: arguments out of a wrapper, out of a text, under their names."""


def _relocate_all(
    sent: dict[str, Any], validator: Validator, session: RepairSession
) -> tuple[dict[str, Any], tuple[Repair, ...], tuple[ValidationIssue, ...]]:
    """Apply relocations until none remain; return the arguments with their source spellings, and the leftover issues."""
    base = sent
    relocations: tuple[Repair, ...] = ()
    issues = validator.issues(plain(base))
    for _ in range(_ROUNDS):
        step = relocate(session.plan.top, base, (), session, scope_of(issues))
        if not step.repairs:
            break
        base, relocations = step.value, (*relocations, *step.repairs)
        issues = validator.issues(plain(base))
    return base, relocations, issues


def _repaired_by_schema(
    arguments: Mapping[str, Any],
    validator: Validator,
    session: RepairSession,
    issues: tuple[ValidationIssue, ...] | None,
    relocations: tuple[Repair, ...],
) -> Outcome:
    """Read what the validator holds something against by the schema; all of it where the validator is the schema."""
    plan = session.plan
    spelled = dict(arguments)
    sent = plain(spelled)
    scope = None if issues is None else scope_of(issues)
    try:
        candidates = [
            candidate
            for candidate in _candidates_of_arguments(spelled, session, scope)
            if validator.accepts(candidate.value)
        ]
        if len(candidates) > 1:
            candidates = distinct(candidates)
        if len(candidates) == 1:
            return Outcome("repaired", candidates[0].value, (*relocations, *candidates[0].repairs))
        if candidates:
            return _tied(sent, candidates, validator, relocations)
        session = RepairSession(
            plan, validator.exact_integers, min(session.steps, _PARTIAL_STEPS), session.texts
        )
        partial = repair_partially(spelled, session, scope)
    except OutOfSteps:
        return Outcome("refused", sent, relocations, validator.issues(sent))
    value = plain(partial.value)
    remaining = validator.issues(value) if partial.repairs or not issues else issues
    if not remaining:
        # So repaired it would be taken, but only against a guard: what was sent is what is refused.
        return Outcome("refused", sent, relocations, validator.issues(sent), tuple(session.ties))
    return Outcome("refused", value, (*relocations, *partial.repairs), remaining, tuple(session.ties))


def _candidates_of_arguments(
    arguments: dict[str, Any], session: RepairSession, scope: Scope | None
) -> list[Candidate]:
    """Return the cheapest candidates for the whole: repaired in place, unwrapped or wrapped."""
    top = session.plan.top
    found = structure(top, arguments, (), session, scope)
    for rule, cost, apply in session.plan.at(top).values.get(dict, ()):
        if found and worst_tier(found[0].cost) < rule.tier:
            break
        found += _content_candidates(rule, cost, apply, arguments, session)
    return [_plain(candidate) for candidate in cheapest(found)]


def _content_candidates(
    rule: Rule, cost: int, apply: Apply, arguments: dict[str, Any], session: RepairSession
) -> Iterator[Candidate]:
    """Yield the candidates for other arguments in place of these; keys that a client added are left out first."""
    top = session.plan.top
    rest, dropped_cost, dropped = without_injected(session.plan, arguments)
    for content in apply(rest):
        record = Repair(rule.name, "", "object", "object")
        for inner in structure(top, content, (), session, None) or _as_is(top, content):
            if worst_tier(inner.cost) < rule.tier:
                yield Candidate(
                    inner.value, dropped_cost + cost + inner.cost, (*dropped, record, *inner.repairs)
                )


def _as_is(node: SchemaNode, value: Any) -> list[Candidate]:
    return [Candidate(value, 0)] if node.takes(value) else []


def _plain(candidate: Candidate) -> Candidate:
    value = plain(candidate.value)
    return candidate if value is candidate.value else Candidate(value, candidate.cost, candidate.repairs)


def _tied(
    sent: dict[str, Any], candidates: list[Candidate], validator: Validator, relocations: tuple[Repair, ...]
) -> Outcome:
    """Refuse the parameters on which the candidates differ; what they agree on is repaired."""
    ties = _ties(candidates)
    open_names = {tie.path[0] for tie in ties}
    first = candidates[0]
    settled = {name: value for name, value in first.value.items() if name not in open_names}
    unsettled = {name: value for name, value in sent.items() if name in open_names}
    pointers = tuple(pointer((name,)) for name in open_names)
    repairs = tuple(
        each
        for each in first.repairs
        if not any(f"{each.pointer}/".startswith(f"{own}/") for own in pointers)
    )
    arguments = {**settled, **unsettled}
    return Outcome("refused", arguments, (*relocations, *repairs), validator.issues(arguments), ties)


def _ties(candidates: list[Candidate]) -> tuple[Tie, ...]:
    """Return the parameters on which the candidates differ, each with its candidates."""
    ties = []
    for name in dict.fromkeys(name for candidate in candidates for name in candidate.value):
        own = distinct(
            Candidate(candidate.value[name], candidate.cost, candidate.repairs)
            for candidate in candidates
            if name in candidate.value
        )
        if len(own) > 1 or any(name not in candidate.value for candidate in candidates):
            ties.append(Tie((name,), tuple(own)))
    return tuple(ties)
