"""Repair arguments that a tool refuses.

Pure: no framework, no input or output, no logging. The validator reports the issues, the rules propose candidates for
each of them, and the validator decides which candidates the tool accepts. A candidate is used only if it is the only one.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from mcp_lenient.rules.rules import ABSENT, Apply, Rule, Site, worst_tier
from mcp_lenient.schema.node import Position, SchemaNode, SchemaTree
from mcp_lenient.types import Candidate, Outcome, Path, Repair, Tie, ValidationIssue, Validator
from mcp_lenient.values.json_values import (
    PYTHON_TYPES,
    SPELLED,
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
from mcp_lenient.values.names import fold_name, share_style, squashed

if TYPE_CHECKING:
    from mcp_lenient.rules.policy import Policy
    from mcp_lenient.schema.compile import ReadableSchema, UnreadPlace
    from mcp_lenient.schema.node import FormReader

Compiled = tuple[Rule, Apply]
"""A rule that applies at a node, and the function to run per value."""
_DESTRUCTIVE_TIERS = frozenset({1, 2})


class Plan:
    """A tool's input schema under a policy.

    For a destructive tool, only rules of tiers 1 and 2 may act.
    """

    def __init__(
        self,
        schema: Mapping[str, Any] | ReadableSchema,
        policy: Policy,
        *,
        destructive: bool = False,
        tool: str | None = None,
    ) -> None:
        self.tree = SchemaTree(schema)
        self.top = self.tree.top
        self.root = self.tree.root
        self.policy = policy
        self.destructive = destructive
        self.tool = tool
        self.rules = tuple(
            rule
            for rule in policy.rules
            if rule.name not in policy.disable and (not destructive or _allowed_in_destructive(rule))
        )
        self._rules_at: dict[SchemaNode, NodeRules] = {}

    @property
    def reader(self) -> FormReader:
        """The reader of the schema for messages."""
        return self.tree.reader

    @property
    def unread(self) -> tuple[UnreadPlace, ...]:
        """The parts of the schema that are neither validated nor repaired."""
        return self.tree.unread

    def at(self, node: SchemaNode) -> NodeRules:
        """Return the rules at a node, built once."""
        rules = self._rules_at.get(node)
        if rules is None:
            rules = self._rules_at[node] = NodeRules(self, node)
        return rules


def _allowed_in_destructive(rule: Rule) -> bool:
    return rule.tier in _DESTRUCTIVE_TIERS and rule.keeps_value and rule.kind != "property"


class NodeRules:
    """The rules that apply at one node of a schema, by kind, built on first use."""

    def __init__(self, plan: Plan, node: SchemaNode) -> None:
        self._plan = plan
        self._node = node

    def _compiled(self, kind: str) -> list[Compiled]:
        """Return the rules of a kind that apply here, cheapest first."""
        plan, node = self._plan, self._node
        if node.shape.unread:
            return []
        site = Site(
            shape=node.shape,
            place=node.position,
            policy=plan.policy,
            destructive=plan.destructive,
            name=node.name,
            takes=node.takes,
            shape_at=plan.tree.shape,
            tool=plan.tool,
        )
        built = ((rule, rule.build(site)) for rule in plan.rules if rule.kind == kind)
        found = [(rule, apply) for rule, apply in built if apply is not None]
        return sorted(found, key=lambda compiled: compiled[0].cost)

    @cached_property
    def values(self) -> Mapping[type, tuple[Compiled, ...]]:
        """The value rules, cheapest first, by the Python type they accept."""
        position = self._node.position
        found = _by_type(self._compiled("arguments" if Position.TOP in position else "value"))
        if Position.UNION not in position:
            return found
        own = {kind for kind, name in PYTHON_TYPES.items() if self._is_of(name)}
        across = {
            kind: tuple(each for each in rules if each[0].across or kind in own)
            for kind, rules in found.items()
        }
        return {kind: rules for kind, rules in across.items() if rules}

    def _is_of(self, json_type_name: str) -> bool:
        """Return whether this branch accepts a JSON type, by its type or enum."""
        shape = self._node.shape
        return json_type_name in (shape.types or frozenset(map(json_type, shape.enum or ())))

    @cached_property
    def parsers(self) -> tuple[Compiled, ...]:
        """The rules that parse a text here, or in a branch here, and do not put it into a list."""
        rules = (self._plan.at(each).values.get(str, ()) for each in self._node.branches or (self._node,))
        return tuple(
            (rule, apply)
            for own in rules
            for rule, apply in own
            if rule.reads_text and rule.name not in _SHALLOW_WRAPS
        )

    @cached_property
    def absence(self) -> Mapping[type, tuple[Compiled, ...]]:
        """The rules that omit this property, by the Python type they accept."""
        return _by_type([] if Position.KEPT in self._node.position else self._compiled("property"))

    @cached_property
    def renames(self) -> tuple[Compiled, ...]:
        """The rules that rename keys, cheapest first."""
        return tuple(self._compiled("name"))

    @cached_property
    def drops(self) -> tuple[Compiled, ...]:
        """The rules that drop keys."""
        return tuple(self._compiled("drop"))


def _by_type(compiled: Iterable[Compiled]) -> Mapping[type, tuple[Compiled, ...]]:
    found: dict[type, list[Compiled]] = {}
    for each in compiled:
        for python_type in each[0].on:
            found.setdefault(python_type, []).append(each)
    return {kind: tuple(rules) for kind, rules in found.items()}


@dataclass(slots=True)
class RepairSession:
    """The state that one call's repair shares.

    Attributes:
        plan: The compiled schema and policy.
        exact: Whether ``7.0`` is refused for an integer.
        steps: Values that may still be visited.
        texts: The texts of the call, each parsed once.
        ties: Values whose cheapest candidates cost the same.
        hopeless: Values without a candidate, which partial repair would search for again.
        undone: Repairs, by rule and pointer, that are tried without: the value is left for the validator to accept.
    """

    plan: Plan
    exact: bool
    steps: int
    texts: TextParseCache
    ties: list[Tie] = field(default_factory=list)
    hopeless: dict[tuple[object, ...], tuple[object, ...]] = field(default_factory=dict)
    undone: frozenset[tuple[str, str]] = frozenset()

    def give_up(self, *asked: object, **known: bool) -> None:
        """Remember that :func:`candidates` found none for a node, a value and a scope."""
        key = (*map(id, asked), *known.items())
        self.hopeless[key] = asked  # kept alive, so that the ids are not reused

    def gave_up(self, *asked: object, **known: bool) -> bool:
        """Return whether :func:`candidates` is known to find none."""
        return bool(self.hopeless) and (*map(id, asked), *known.items()) in self.hopeless


class OutOfSteps(Exception):  # noqa: N818 - a signal within the repair, never raised to callers
    """The schema branches too much to repair this call."""


@dataclass(slots=True)
class Scope:
    """The parts of a value that the validator refuses; everything else stays unchanged."""

    full: bool = False
    names: bool = False
    unknown: set[str] = field(default_factory=set)
    below: dict[str | int, Scope] = field(default_factory=dict)

    @property
    def indices(self) -> list[int]:
        """The indices of refused items, in order."""
        return sorted(key for key in self.below if isinstance(key, int))


UNTOUCHED = Scope()


def _scope_below(scope: Scope | None, key: str | int) -> Scope | None:
    """Return the scope of the value under a key."""
    if scope is None:
        return None
    own = scope.below.get(key)
    return own if own is not None or scope.full else UNTOUCHED


def _scope_of(issues: Iterable[ValidationIssue]) -> Scope:
    """Return the scope of issues: the whole of a wrong value, the names of an object with a name issue."""
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
    """The declared name that replaces a sent key."""

    name: str
    rule: Rule


_EMPTY: Final[Mapping[str, Any]] = MappingProxyType({})


class KeyChanges(NamedTuple):
    """The renamed and dropped keys of one object."""

    renamed: Mapping[str, Rename] = _EMPTY
    dropped: Mapping[str, Rule] = _EMPTY

    def records(self, value: Mapping[str, Any], path: Path) -> tuple[int, tuple[Repair, ...]]:
        """Return the cost and the repairs of the dropped keys."""
        repairs = tuple(
            Repair(rule.name, pointer((*path, key)), json_type(value[key]), "absent")
            for key, rule in self.dropped.items()
        )
        return sum(rule.cost for rule in self.dropped.values()), repairs


_NAMES_PER_STEP: Final = 8
_CASE_RULE = "rename_case"
_PLURAL_RULE = "rename_plural"
NO_KEY_CHANGES = KeyChanges()


def key_changes(
    node: SchemaNode, value: Mapping[str, Any], session: RepairSession, scope: Scope | None
) -> KeyChanges:
    """Find the declared name for each undeclared key of an object whose names are refused; no name gets two keys.

    If the validator reports unknown keys, all others are skipped, since it may know names that the schema does not.
    """
    if scope is not None and not (scope.full or scope.names):
        return NO_KEY_CHANGES
    unknown = _undeclared(node, value)
    if scope is not None and scope.unknown:
        unknown = [key for key in unknown if key in scope.unknown]
    if not unknown:
        return NO_KEY_CHANGES
    dropped = _drops(session.plan, node, unknown)
    return KeyChanges(_renamed(node, value, [key for key in unknown if key not in dropped], session), dropped)


def _undeclared(node: SchemaNode, value: Mapping[str, Any]) -> list[str]:
    """Return the keys that match neither a property nor a pattern of the schema."""
    declared = node.properties
    if value.keys() <= declared.keys():
        return []
    return [
        key for key in value if key not in declared and isinstance(key, str) and not node.has_pattern_for(key)
    ]


def _drops(plan: Plan, node: SchemaNode, unknown: list[str]) -> dict[str, Rule]:
    found = plan.at(node).drops if unknown else ()
    rules = {key: rule for rule, apply in reversed(found) for key in apply(unknown)}
    return {key: rules[key] for key in unknown if key in rules}


def _without_injected(plan: Plan, value: dict[str, Any]) -> tuple[dict[str, Any], int, tuple[Repair, ...]]:
    """Return the arguments without client-injected keys, the cost, and the repairs."""
    dropped = _drops(plan, plan.top, _undeclared(plan.top, value))
    if not dropped:
        return value, 0, ()
    rest = {key: sent for key, sent in value.items() if key not in dropped}
    return rest, *KeyChanges(dropped=dropped).records(value, ())


def _renamed(
    node: SchemaNode, value: Mapping[str, Any], unknown: list[str], session: RepairSession
) -> dict[str, Rename]:
    shape = node.shape
    absent = frozenset(name for name in shape.properties if name not in value)
    targets = absent if shape.closed else absent & shape.required
    if not targets:
        return {}
    session.steps -= len(unknown) // _NAMES_PER_STEP
    found: dict[str, Rename] = {}
    for key in unknown:
        rename = _rename(node, key, value[key], targets, session)
        if rename is not None:
            found[key] = rename
    styled = [key for key, rename in found.items() if rename.rule.name == _CASE_RULE]
    if styled and shape.extra in (None, True, {}):
        # A client that changes the case style of one name changes it for the other names of the object too.
        for key in (key for key in unknown if key not in found and share_style((*styled, key))):
            rename = _rename(node, key, value[key], absent, session)
            if rename is not None and rename.rule.name == _CASE_RULE:
                found[key] = rename
    uses = Counter(rename.name for rename in found.values())
    return {key: rename for key, rename in found.items() if uses[rename.name] == 1}


def _rename(
    node: SchemaNode, key: str, value: Any, targets: Collection[str], session: RepairSession
) -> Rename | None:
    """Return the declared name for a key, from the first rule that finds one."""
    for rule, apply in session.plan.at(node).renames:
        name = apply(key, targets, value)
        if name is not None:
            fits = rule.name != _PLURAL_RULE or _accepts_items(node.property_nodes[name], value, session)
            return Rename(name, rule) if fits else None
    return None


def _accepts_items(node: SchemaNode, value: Any, session: RepairSession) -> bool:
    """Return whether a list accepts a value, sent under its singular, unchanged or as its only item."""
    found = candidates(node, value, (), session, None)
    return len(found) == 1 and all(each.rule == "scalar_to_array" for each in found[0].repairs)


def _names_are_valid(node: SchemaNode, value: Mapping[str, Any], names: KeyChanges) -> bool:
    """Return whether the changed object has all required names and no forbidden one."""
    shape = node.shape
    if names is NO_KEY_CHANGES:
        return shape.required <= value.keys()
    present = {
        names.renamed[key].name if key in names.renamed else key for key in value if key not in names.dropped
    }
    if shape.closed and any(node.property(name) is None for name in present):
        return False
    return shape.required <= present


_MAX_CLOSE_TIER: Final = 2
_MAX_COMPARED: Final = 16
_SHALLOW_WRAPS: Final = frozenset({"scalar_to_array", "object_to_array"})


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
    """Return the cheapest candidates for a value: none, one, or several that tie.

    ``scope`` has the parts that the validator refuses; None means all of it. ``wrong``: the value is known to be
    refused. ``optional``: it may be omitted, as ``ABSENT``. At most ``again`` rules are applied in a row.
    """
    found = None if wrong else _unchanged(node, value, path, session, scope)
    if found is None:
        found = structure(node, value, path, session, scope) if scope is None or scope.full else []
        found = _by_rules(node, value, path, session, again, found)
    if optional:
        for rule, apply in session.plan.at(node).absence.get(type(value), ()):
            if apply(value):
                record = Repair(rule.name, pointer(path), json_type(value), "absent")
                found = cheapest([*found, Candidate(ABSENT, rule.cost, (record,))])
    return found


def _unchanged(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, scope: Scope | None
) -> list[Candidate] | None:
    """Return the candidates that need no rule on the value itself, or None."""
    session.steps -= 1
    # mutant: a bound
    if session.steps < 0:
        raise OutOfSteps
    found = [] if scope is None or scope.full else structure(node, value, path, session, scope)
    if found:
        return found
    return [Candidate(value, 0)] if takes(node, value, session) else None


def _by_rules(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, again: int, found: list[Candidate]
) -> list[Candidate]:
    """Return the cheapest of the candidates found and those made by rules, tier by tier."""
    for rule, apply in session.plan.at(node).values.get(plain_type(value), ()):
        if found and worst_tier(found[0].cost) < rule.tier:
            break
        values = apply(value, session.texts) if rule.reads_text else apply(value)
        if session.undone and values and (rule.name, pointer(path)) in session.undone:
            return [Candidate(value, 0)]
        for new in values:
            record = Repair(rule.name, pointer(path), json_type(value), json_type(new))
            for inner in _after(node, new, path, session, again - 1 if rule.again else 0):
                # `123` for a list of strings: an item that must be changed as well may not be one.
                if rule.name not in _SHALLOW_WRAPS or worst_tier(inner.cost) < 2:
                    found.append(Candidate(inner.value, rule.cost + inner.cost, (record, *inner.repairs)))  # noqa: PERF401
        if values:
            found = cheapest(found)
    return found


def _after(node: SchemaNode, value: Any, path: Path, session: RepairSession, again: int) -> list[Candidate]:
    """Return the candidates for a value that a rule made."""
    if again > 0:
        return candidates(node, value, path, session, None, again=again)
    if takes(node, value, session):
        return [Candidate(value, 0)]
    return structure(node, value, path, session, None)


def structure(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, scope: Scope | None
) -> list[Candidate]:
    """Return the candidates for a value of the right JSON type, built from those of its parts."""
    if node.is_union:
        return _of_union(node, value, path, session, scope)
    if node.is_object and isinstance(value, dict):
        return _of_object(node, value, path, session, scope)
    if node.is_array and isinstance(value, list):
        found = walk_array(candidates, node, value, path, session, scope)
        return _accepted(node, found, session) if scope is None or scope.full else found
    return []


def _of_union(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, scope: Scope | None
) -> list[Candidate]:
    tagged = _of_discriminated(node, value, path, session, scope) if isinstance(value, dict) else None
    if tagged is not None:
        return tagged
    branches: Sequence[SchemaNode] = node.branches
    below = None
    if scope is not None and not scope.full:
        fitting = node.union.fitting(value, exact_integers=session.exact)
        if fitting:
            branches, below = fitting, scope
    found = [each for branch in branches for each in candidates(branch, value, path, session, below)]
    if node.has_lists_beside_objects and isinstance(value, (dict, list)):
        # {"item": ["1"]} may be the object or a wrapped list: only candidates with few changes decide that.
        found = [each for each in found if worst_tier(each.cost) <= _MAX_CLOSE_TIER]
    return cheapest(_without_ignored_names(node, found) if isinstance(value, dict) else found)


def _without_ignored_names(node: SchemaNode, found: list[Candidate]) -> list[Candidate]:
    """Return the candidates without misspelled names, or all of them if each has one."""
    if len(found) < 2:
        return found
    found = distinct(sorted(found, key=lambda each: each.cost))
    # mutant: a bound; more candidates are not compared
    if len(found) > _MAX_COMPARED:
        return found
    search = _NameSearch(node.tree, open_branches_know_all=True)
    return [each for each in found if not search.ignored(node, plain(each.value))] or found


def _of_discriminated(
    node: SchemaNode, value: dict[str, Any], path: Path, session: RepairSession, scope: Scope | None
) -> list[Candidate] | None:
    """Return the candidates of the branch that the discriminator selects; None if it selects none."""
    if node.tag is None or node.union.discriminator is None:
        return None
    name, tag = node.tag
    key = name if name in value else _renamed_tag(name, value)
    if key is None:
        return None
    found = candidates(tag, value[key], (*path, key), session, None)
    if len(found) != 1:
        return None
    repaired_tag = found[0]
    branch = node.union.discriminator.owner(repaired_tag.value)
    if branch is None:  # the repair of the tag is tried without
        return []
    # The key itself is renamed within the branch. Without the tag as declared, the validator did not look into it.
    below = None if repaired_tag.cost or key != name else scope
    tagged = {**value, key: repaired_tag.value} if repaired_tag.cost else value
    return [
        Candidate(inner.value, repaired_tag.cost + inner.cost, (*repaired_tag.repairs, *inner.repairs))
        for inner in candidates(branch, tagged, path, session, below)
    ]


def _renamed_tag(name: str, value: Mapping[str, Any]) -> str | None:
    """Return the only key that is the discriminator in another case style."""
    folded = fold_name(name)
    keys = [key for key in value if isinstance(key, str) and fold_name(key) == folded]
    return keys[0] if len(keys) == 1 else None


def _of_object(
    node: SchemaNode, value: dict[str, Any], path: Path, session: RepairSession, scope: Scope | None
) -> list[Candidate]:
    by_schema = scope is None or scope.full
    if by_schema and len(value) > len(node.properties) and _has_fixed_names(node, session):
        return []
    names = key_changes(node, value, session, scope)
    if (scope is None or scope.full or scope.names) and not _names_are_valid(node, value, names):
        return []
    found = walk_object(candidates, node, value, path, session, scope, names)
    return found if node is session.plan.top or not by_schema else _accepted(node, found, session)


def _has_fixed_names(node: SchemaNode, session: RepairSession) -> bool:
    """Return whether an object has at most its declared names; only the arguments' own names may be dropped."""
    return node.shape.closed and not node.shape.patterns and node is not session.plan.top


def _accepted(node: SchemaNode, found: list[Candidate], session: RepairSession) -> list[Candidate]:
    """Return the candidates of a container that the schema accepts as a whole."""
    # JSON Schema accepts 7.0 as an integer; if the tool does not, only its validator can check a repaired container.
    if session.undone:
        return found
    return [each for each in found if (session.exact and each.repairs) or node.takes(plain(each.value))]


Key = TypeVar("Key", str, int)
Visit = Callable[..., list[Candidate]]
"""Returns the candidates for a visited value: ``(node, value, path, session, scope, *, wrong, optional)``.

``wrong``: the value is already known to be refused. ``optional``: it may be omitted, as ``ABSENT``.
"""


def walk_object(
    visit: Visit,
    node: SchemaNode,
    value: Mapping[str, Any],
    path: Path,
    session: RepairSession,
    scope: Scope | None,
    names: KeyChanges,
) -> list[Candidate]:
    """Return an object's candidates, built from those of its properties; none if a property has none."""
    cost, repairs = (0, ()) if names is NO_KEY_CHANGES else names.records(value, path)
    declared = node.property_nodes if scope is None and value else {}
    kept: dict[str, Any] = {}
    visited: Iterable[tuple[str, Any]] = value.items()
    if scope is not None and not scope.full and names is NO_KEY_CHANGES:
        kept, visited = dict(value), [(key, value[key]) for key in value if key in scope.below]
    changed: list[tuple[str, list[Candidate]]] = []
    for key, sent in visited:
        child, rename = declared.get(key), names.renamed.get(key)
        wrong = child is not None
        if child is not None and takes(child, sent, session):
            kept[key] = sent
            continue
        if key in names.dropped:
            continue
        if not wrong:
            session.steps -= 1  # undeclared keys cost time as well
        name = key if rename is None else rename.name
        below = _scope_below(scope, key) if rename is None else None
        child = child or (
            None if below is UNTOUCHED else node.property(name) or _respelled(node, name, value, scope)
        )
        if child is None:
            found = [Candidate(sent, 0)]
        else:
            declared_name = child.name or name
            optional = declared_name in node.properties and declared_name not in node.required
            found = visit(child, sent, (*path, key), session, below, wrong=wrong, optional=optional)
        if rename is not None:
            record = Repair(rename.rule.name, pointer((*path, key)), json_type(sent), json_type(sent))
            found = [Candidate(v, c + rename.rule.cost, (record, *made)) for v, c, made in found]
        if not found:
            session.give_up(child, sent, below, wrong=wrong, optional=optional)
            return []
        kept[name] = found[0].value
        if found[0].repairs:
            changed.append((name, found))
    ways = combinations(changed, session.plan.policy.limits.readings)
    return [build_object(kept, chosen, cost, repairs) for chosen in ways]


def _respelled(
    node: SchemaNode, key: str, value: Mapping[str, Any], scope: Scope | None
) -> SchemaNode | None:
    """Return the node of the declared name in another spelling that the validator reads, as with ``populate_by_name``."""
    return node.respelled(key, value) if scope is not None and key in scope.below else None


def walk_array(
    visit: Visit,
    node: SchemaNode,
    value: list[Any],
    path: Path,
    session: RepairSession,
    scope: Scope | None,
) -> list[Candidate]:
    """Return a list's candidates, built from those of its items; none if an item has none."""
    indices: Sequence[int] = range(len(value)) if scope is None or scope.full else scope.indices
    item_at = node.item_nodes(mixed=_is_mixed(value))
    changed: list[tuple[int, list[Candidate]]] = []
    for index in indices:
        below = _scope_below(scope, index)
        item, entry = item_at(index), value[index]
        if below is None and takes(item, entry, session):
            continue
        found = visit(item, entry, (*path, index), session, below, wrong=below is None)
        if not found:
            return []
        changed.append((index, found))
    return [
        replace_items(value, chosen) for chosen in combinations(changed, session.plan.policy.limits.readings)
    ]


def _is_mixed(items: list[Any]) -> bool:
    """Return whether a list contains anything but numbers, so that none of them may become text."""
    return not all(isinstance(entry, (int, float)) and not isinstance(entry, bool) for entry in items)


def takes(node: SchemaNode, value: Any, session: RepairSession) -> bool:
    """Return whether the schema accepts a value unchanged, with the validator's strictness about integers."""
    if type(value) in SPELLED:
        if node.shape.is_only("number") and rounds(value):
            return False
        value = plain(value)
    # Pydantic's strict mode refuses 7.0 for an integer; JSON Schema accepts it.
    if session.exact and (node.looks_within or node.shape.is_only("integer")) and has_whole_float(value):
        return False
    return node.takes(value)


def combinations(
    columns: list[tuple[Key, list[Candidate]]], most: int
) -> Iterable[Iterable[tuple[Key, Candidate]]]:
    """Return every choice of one candidate per key; none if there are more than ``most``."""
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
    """Return the candidates with the lowest cost, each value once."""
    if len(candidates) < 2:
        return candidates
    lowest = min(each.cost for each in candidates)
    return distinct([each for each in candidates if each.cost == lowest])


def distinct(candidates: list[Candidate]) -> list[Candidate]:
    """Return the first candidate of each JSON value."""
    if len(candidates) < 2:
        return candidates
    found: list[Candidate] = []
    for candidate in candidates:
        if not any(same_json(candidate.value, other.value) for other in found):
            found.append(candidate)
    return found


def build_object(
    kept: Mapping[str, Any], changed: Iterable[tuple[str, Candidate]], cost: int, repairs: tuple[Repair, ...]
) -> Candidate:
    """Return an object with some properties replaced by candidates; ``ABSENT`` ones are left out."""
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


def replace_items(sent: list[Any], changed: Iterable[tuple[int, Candidate]]) -> Candidate:
    """Return a list with some items replaced by candidates."""
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
    """Apply the relocations that fix the issues in scope; without any, the candidate has no repairs."""
    if scope is None or scope is UNTOUCHED:
        return Candidate(value, 0)
    if node.is_union:
        branches = node.union.certain(value, exact_integers=session.exact)
        if len(branches) == 1:
            return relocate(branches[0], value, path, session, scope)
    elif isinstance(value, dict):
        names = key_changes(node, value, session, scope) if scope.names else NO_KEY_CHANGES
        other = None
        if not path and scope.names and not _names_are_valid(node, value, names):
            other = _rewrap_arguments(value, session.plan)
        return other or walk_object(_relocate_value, node, value, path, session, scope, names)[0]
    elif isinstance(value, list):
        return walk_array(_relocate_value, node, value, path, session, scope)[0]
    return _parse_text(node, value, path, session) if isinstance(value, str) else Candidate(value, 0)


def _rewrap_arguments(arguments: dict[str, Any], plan: Plan) -> Candidate | None:
    """Unwrap or wrap the arguments if there is only one way to; drop injected keys first."""
    rest, _, dropped = _without_injected(plan, arguments)
    found = [
        Candidate(content, 0, (*dropped, Repair(rule.name, "", "object", "object")))
        for rule, apply in plan.at(plan.top).values.get(dict, ())
        for content in apply(rest)
    ]
    return found[0] if len(distinct(found)) == 1 else None


def _parse_text(node: SchemaNode, text: str, path: Path, session: RepairSession) -> Candidate:
    found = [
        Candidate(new, 0, (Repair(rule.name, pointer(path), "string", json_type(new)),))
        for rule, apply in session.plan.at(node).parsers
        for new in apply(text, session.texts)
    ]
    return found[0] if len(distinct(found)) == 1 else Candidate(text, 0)


def _relocate_value(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, scope: Scope | None, **_known: bool
) -> list[Candidate]:
    return [relocate(node, value, path, session, scope)]


_NUMBER_RULES: Final = frozenset({"text_to_integer", "text_to_number"})


def _repair_value(
    node: SchemaNode,
    value: Any,
    path: Path,
    session: RepairSession,
    scope: Scope | None,
    **known: bool,
) -> list[Candidate]:
    """Return the only candidate; on a tie, record it and keep the value unchanged."""
    if scope is UNTOUCHED:
        return [Candidate(value, 0)]
    gave_up = session.gave_up(node, value, scope, **known)
    found = [] if gave_up else candidates(node, value, path, session, scope, **known)
    if len(found) > 1:
        session.ties.append(Tie(path, tuple(found)))
        return [Candidate(value, 0)]
    return found or [_repair_below(node, value, path, session, scope)]


def _repair_below(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, scope: Scope | None
) -> Candidate:
    """Return a value that has no candidate, with its parts repaired."""
    if node.is_union:
        branches = node.union.meant(value, exact_integers=session.exact)
        if len(branches) == 1:
            within = _repair_value(branches[0], value, path, session, scope)[0] if path else None
            return within or _repair_below(branches[0], value, path, session, scope)
    elif node.is_object and isinstance(value, dict):
        names = key_changes(node, value, session, scope)
        return walk_object(_repair_value, node, value, path, session, scope, names)[0]
    elif node.is_array and isinstance(value, list):
        return walk_array(_repair_value, node, value, path, session, scope)[0]
    return _repair_text(node, value, path, session) if isinstance(value, str) else Candidate(value, 0)


def _repair_text(node: SchemaNode, value: str, path: Path, session: RepairSession) -> Candidate:
    """Parse a text into a number that the schema refuses, or into a container that is only partly valid."""
    for each in node.branches or (node,):
        rules = session.plan.at(each).values.get(str, ())
        spelled = ((rule, new) for rule, apply in rules if rule.name in _NUMBER_RULES for new in apply(value))
        parsed = (
            (rule, new) for rule, apply in rules if rule.reads_text for new in apply(value, session.texts)
        )
        for rule, new in chain(spelled, parsed):
            record = Repair(rule.name, pointer(path), "string", json_type(new))
            inner = _repair_below(each, new, path, session, None) if rule.reads_text else Candidate(new, 0)
            return Candidate(inner.value, 0, (record, *inner.repairs))
    return Candidate(value, 0)


_MAX_GROUPS: Final = 16
"""Groups of paths that are probed per call; more are skipped as unlikely."""
_VISITS_PER_PATH: Final = 64
_MIN_VISITS: Final = 1_000
"""Bound on visits: a container is visited once per union branch."""
_PROBE: Final = {"\x00": [None]}
"""A value that almost no type accepts and that is never a default: if it makes no difference, nothing reads it."""
_REMOVED: Final = object()
_Names = frozenset[Path]


def ignored_names(
    top: SchemaNode, arguments: Mapping[str, Any], validator: Validator, repairs: Iterable[Repair] = ()
) -> tuple[ValidationIssue, ...]:
    """Return the issues of keys that the tool ignores: misspelled names, and names of a union branch it did not take.

    Args:
        top: The node of the arguments.
        arguments: Arguments that the validator accepts.
        validator: The tool's validator. A name that it reads, such as a Pydantic alias, is not ignored; one that
            it only keeps (``extra="allow"``) is.
        repairs: The changes made to the arguments: before it was repaired to fit ``additionalProperties``, a
            value might have fitted the declared name.

    Raises:
        OutOfSteps: When nested unions need too many visits.
    """
    tree = top.tree
    if not (tree.has_open_objects if validator.by_schema else tree.has_objects_within):
        return ()
    changed = frozenset(repair.pointer for repair in repairs)
    search = _NameSearch(tree, open_branches_know_all=validator.by_schema, changed=changed)
    found = sorted(search.ignored(top, arguments), key=str)
    # What keeps every name would read this one too, and still not as the one that may be meant.
    kept = [path for path in found if path in search.kept]
    unread = unread_paths([path for path in found if path not in search.kept], arguments, validator)
    return tuple(
        ValidationIssue(path, "value" if path in search.lost else "overlooked") for path in (*kept, *unread)
    )


def unread_paths(found: list[Path], arguments: Mapping[str, Any], validator: Validator) -> tuple[Path, ...]:
    """Return the paths whose values the tool does not read."""
    groups: dict[tuple[str | None, ...], list[Path]] = {}
    for path in found:
        groups.setdefault(tuple(part if isinstance(part, str) else None for part in path), []).append(path)
    asked = list(groups.values())[:_MAX_GROUPS]
    if found and len(groups) <= _MAX_GROUPS and _are_read(arguments, found, validator):
        asked = [paths for paths in asked if not _are_read(arguments, paths, validator)]
    return tuple(path for paths in asked for path in paths)


def _are_read(arguments: Mapping[str, Any], paths: list[Path], validator: Validator) -> bool:
    tree: dict[Any, Any] = {}
    for path in sorted(paths, key=len):
        below: Any = tree
        for part in path[:-1]:
            below = below.setdefault(part, {})
            if below is None:  # a parent path covers it
                break
        else:
            below[path[-1]] = None
    without = _with(arguments, tree, _REMOVED)
    return validator.tells_apart(without, _with(arguments, tree, _PROBE)) or validator.tells_apart(
        without, arguments
    )


def _with(container: Any, tree: Mapping[Any, Any], value: Any) -> Any:
    """Return the arguments with a value set at the leaves of a tree of paths, or with the leaves removed."""
    changed: Any = dict(container) if isinstance(container, Mapping) else list(container)
    for part, below in tree.items():
        if below is not None:
            changed[part] = _with(container[part], below, value)
        elif value is _REMOVED:
            del changed[part]
        else:
            changed[part] = value
    return changed


def _may_hold_names(value: Any) -> bool:
    """Return whether a value is an object, or a list with anything but scalars."""
    if isinstance(value, list):
        return any(isinstance(entry, (dict, list)) for entry in value)
    return isinstance(value, dict)


@dataclass(slots=True)
class _NameSearch:
    """A search for misspelled names.

    Attributes:
        tree: The schema.
        open_branches_know_all: Whether a branch without properties counts as declaring every name, since by the
            schema alone it may be the intended one.
        changed: The JSON Pointers of repaired values.
        kept: The paths of names that their object keeps (``additionalProperties: true``).
        lost: The paths of names that a union declares and the branch that the tool takes may not.
    """

    tree: SchemaTree
    open_branches_know_all: bool
    changed: frozenset[str] = frozenset()
    kept: set[Path] = field(default_factory=set)
    lost: set[Path] = field(default_factory=set)
    _seen: dict[tuple[int, Path], tuple[_Names, _Names]] = field(default_factory=dict)
    _paths: set[Path] = field(default_factory=set)

    def ignored(self, node: SchemaNode, value: Any) -> _Names:
        """Return the paths of misspelled names."""
        self._seen.clear()
        self._paths.clear()
        return self._names(node, value, (), in_union=False)[0]

    def _names(self, node: SchemaNode, value: Any, path: Path, *, in_union: bool) -> tuple[_Names, _Names]:
        """Return the names that branches declare only in another spelling, and the names that a branch declares."""
        at = (id(node.schema), path)
        if at not in self._seen:
            self._paths.add(path)
            if len(self._seen) > _MIN_VISITS + _VISITS_PER_PATH * len(self._paths):
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
        branches = node.possible(value)
        results = [self._names(branch, value, path, in_union=True) for branch in branches]
        lost = _lost_names(branches, value, path, open_know_all=self.open_branches_know_all)
        self.lost |= lost
        known = frozenset[Path]().union(*(read for _, read in results)) - lost
        return frozenset[Path](lost).union(*(ignored for ignored, _ in results)) - known, known

    def _below(
        self, node: SchemaNode, value: Any, path: Path, *, in_union: bool
    ) -> Iterator[tuple[Iterable[Path], Iterable[Path]]]:
        shape = node.shape
        if isinstance(value, list):
            item_at = node.item_nodes(mixed=False)
            for index, entry in enumerate(value):
                if _may_hold_names(entry):
                    yield self._names(item_at(index), entry, (*path, index), in_union=in_union)
        elif isinstance(value, Mapping):
            free = not shape.properties and not shape.closed and self.open_branches_know_all
            if in_union:
                yield (), ((*path, key) for key in value if free or key in shape.properties)
            if shape.properties:
                unknown = _undeclared(node, value)
                yield ((*path, key) for key in unknown if self._is_spelling(node, value, path, key)), ()
            for key, entry in value.items():
                child = node.property(key) if _may_hold_names(entry) else None
                if child is not None:
                    yield self._names(child, entry, (*path, key), in_union=in_union)

    def _is_spelling(self, node: SchemaNode, value: Mapping[str, Any], path: Path, key: str) -> bool:
        """Return whether a key may misspell a declared name that is absent or holds another value."""
        same = node.spellings.get(squashed(key), ())
        targets = [name for name in same if name not in value or not same_json(value[name], value[key])]
        if not same:
            targets = [name for near in node.slips(key) for name in near if name not in value]
            # `todos[0].title` may be meant as a part of `todos`.
            root = key.partition("[")[0].partition(".")[0]
            targets += [root] if root != key and root in node.properties and root not in value else []
        if not targets:
            return False
        if node.shape.extra in (True, {}):
            self.kept.add((*path, key))
        elif isinstance(node.shape.extra, Mapping) and pointer((*path, key)) not in self.changed:
            # The object expects other names, with values of their own type.
            return any(node.property_nodes[name].takes(value[key]) for name in targets)
        return True


def _lost_names(
    branches: Sequence[SchemaNode], value: Any, path: Path, *, open_know_all: bool
) -> frozenset[Path]:
    """Return the paths of keys that are declared in a union, but not held by every branch that accepts the value.

    None is lost if one of these branches holds them all.
    """
    if isinstance(value, list):
        lists = [branch for branch in branches if branch.is_array and not branch.is_union]
        return frozenset[Path]().union(
            *(
                _lost_names(
                    [each.item(at, mixed=False) for each in lists],
                    entry,
                    (*path, at),
                    open_know_all=open_know_all,
                )
                for at, entry in enumerate(value)
                if isinstance(entry, Mapping)
            )
        )
    if not isinstance(value, Mapping):
        return frozenset()
    declared = {name for branch in branches for name in branch.properties}
    named = {key for key in value if key in declared}
    accepting = [branch for branch in branches if branch.takes(value)]
    held = [
        {key for key in named if _holds_name(branch, key, open_know_all=open_know_all)}
        for branch in accepting or branches
    ]
    if not held or (accepting and named in held):
        return frozenset()
    return frozenset((*path, key) for key in named.difference(set.intersection(*held)))


def _holds_name(node: SchemaNode, key: str, *, open_know_all: bool) -> bool:
    """Return whether an object declares a name, or keeps every other one."""
    declared = node.properties
    keeps_all = (open_know_all and not declared) or node.is_union
    return keeps_all or key in declared or node.shape.extra is not None or node.has_pattern_for(key)


_STEPS = 3_000
_PARTIAL_STEPS = 5_000
"""Values visited before the repair is given up; grows with the arguments, so that only a schema that branches
endlessly can use it up."""


def repair(plan: Plan, arguments: Mapping[str, Any], validator: Validator) -> Outcome:
    """Repair arguments that can be read only one way.

    The outcome has the same arguments if they are accepted, and the issues if no repair is certain. Numbers that were
    parsed from text may keep their source spelling in ``arguments``; in the outcome they are plain.
    """
    sent = plain(arguments)
    if validator.accepts(sent):
        return Outcome("accepted", sent)
    return repair_rejected(plan, arguments, validator)


def repair_rejected(plan: Plan, arguments: Mapping[str, Any], validator: Validator) -> Outcome:
    """Repair arguments that the validator has already refused."""
    outcome = _outcome(plan, arguments, validator)
    if outcome.status != "repaired":
        return outcome
    try:
        unread = ignored_names(plan.top, outcome.arguments, validator, outcome.repairs)
    except OutOfSteps:
        sent = plain(dict(arguments))
        return Outcome("refused", sent, issues=validator.issues(sent))
    return Outcome("refused", outcome.arguments, outcome.repairs, unread) if unread else outcome


def _outcome(plan: Plan, arguments: Mapping[str, Any], validator: Validator) -> Outcome:
    size = measured(arguments, plan.policy.limits)
    if size.beyond is not None:
        return Outcome("refused", arguments, issues=(ValidationIssue((), "size", size.beyond),))
    steps = _STEPS + 2 * size.bytes + 10 * size.items
    texts = TextParseCache(plan.policy.limits)
    session = RepairSession(plan, validator.exact_integers, steps, texts)
    if validator.by_schema:
        return _repair_by_schema(arguments, validator, session, None, ())
    base, settled, relocations, issues = _relocate_all(dict(arguments), validator, session)
    if relocations and not issues:
        if settled is base or not rounds(base):
            return Outcome("repaired", settled, relocations)
        # The tool accepts a number here, but would round it.
        return _repair_by_schema(base, validator, session, None, relocations)
    return _repair_by_schema(base, validator, session, issues, relocations)


# mutant: a bound; one more changes no answer
_MAX_RELOCATIONS = 4
"""Relocations applied in a row: unwrap the arguments, parse their text, rename their keys."""


def _relocate_all(
    sent: dict[str, Any], validator: Validator, session: RepairSession
) -> tuple[dict[str, Any], dict[str, Any], tuple[Repair, ...], tuple[ValidationIssue, ...]]:
    """Apply relocations until none remain; return the arguments, also as plain values, the repairs and the leftover issues."""
    base, settled = sent, plain(sent)
    relocations: tuple[Repair, ...] = ()
    issues = validator.issues(settled)
    for _ in range(_MAX_RELOCATIONS):
        step = relocate(session.plan.top, base, (), session, _scope_of(issues)) if issues else None
        if step is None or not step.repairs:
            break
        base, relocations = step.value, (*relocations, *step.repairs)
        settled = plain(base)
        issues = validator.issues(settled)
    return base, settled, relocations, issues


def _repair_by_schema(
    arguments: Mapping[str, Any],
    validator: Validator,
    session: RepairSession,
    issues: tuple[ValidationIssue, ...] | None,
    relocations: tuple[Repair, ...],
) -> Outcome:
    """Repair the refused parts by the schema; with ``issues=None``, all of the arguments."""
    plan = session.plan
    spelled = dict(arguments)
    sent = plain(spelled)
    scope = None if issues is None else _scope_of(issues)
    reported = issues or ()
    checked = _checked_as_wholes(reported)
    try:
        candidates = [
            candidate
            for candidate in _candidates_of_arguments(spelled, session, scope)
            if validator.accepts(candidate.value)
        ]
        candidates = distinct(candidates)
        if len(candidates) == 1:
            needed = _needed(candidates[0], spelled, validator, session, scope, reported)
            candidates = [] if needed is None else [needed]
        if any(_converts_below(candidate, checked, plan) for candidate in candidates):
            candidates = []
        if len(candidates) == 1:
            return Outcome("repaired", candidates[0].value, (*relocations, *candidates[0].repairs))
        if candidates:
            return _refuse_tie(sent, candidates, validator, relocations)
        steps = min(session.steps, _PARTIAL_STEPS)
        session = RepairSession(plan, session.exact, steps, session.texts, hopeless=session.hopeless)
        partial = _repair_below(plan.top, spelled, (), session, scope)
    except OutOfSteps:
        return Outcome("refused", sent, relocations, validator.issues(sent))
    value = plain(partial.value)
    remaining = validator.issues(value) if partial.repairs or not issues else issues
    if not remaining:
        # The tool would accept the partial repairs, but a guard forbids using them: report the issues of the sent
        # arguments.
        return Outcome("refused", sent, relocations, validator.issues(sent), tuple(session.ties))
    return Outcome("refused", value, (*relocations, *partial.repairs), remaining, tuple(session.ties))


def _checked_as_wholes(issues: Iterable[ValidationIssue]) -> tuple[str, ...]:
    """Return the JSON Pointers of values that only a check of the author's refuses, each with a final slash."""
    return tuple(f"{pointer(issue.path)}/" for issue in issues if _is_by_author(issue))


def _is_by_author(issue: ValidationIssue | None) -> bool:
    """Return whether a check of the author's refuses a value, and not its type."""
    return issue is not None and issue.kind == "value" and issue.detail is not None


def _converts_below(candidate: Candidate, checked: tuple[str, ...], plan: Plan) -> bool:
    """Return whether a value is converted inside one that only a check of the author's refuses.

    The tool may have accepted what is inside, and read it in another way.
    """
    if not checked:
        return False
    names = {rule.name for rule in plan.rules if rule.kind == "name"}
    return any(each.pointer.startswith(checked) and each.rule not in names for each in candidate.repairs)


_SCALARS: Final = frozenset({"string", "number", "integer", "boolean"})


def _needed(
    found: Candidate,
    arguments: dict[str, Any],
    validator: Validator,
    session: RepairSession,
    scope: Scope | None,
    issues: Iterable[ValidationIssue],
) -> Candidate | None:
    """Return a candidate with only those conversions of scalars that the tool's own validator needs.

    Where a container was changed, the schema decided about everything in it, and the tool may read a text of its own there.
    None if a value was converted that only a check of the author's refuses.
    """
    if validator.by_schema:
        return found
    refused = {pointer(issue.path): issue for issue in issues if issue.kind in ("type", "value")}
    converted = [each for each in found.repairs if each.before in _SCALARS and each.after in _SCALARS]
    changed = {each.pointer for each in found.repairs if not {each.before, each.after} <= _SCALARS}
    unsure = [
        each for each in converted if each.pointer not in refused or _is_at_or_below(each.pointer, changed)
    ]
    certain = set(converted).difference(unsure)
    if any(_is_by_author(refused[each.pointer]) for each in certain):
        return None
    if not unsure:
        return found
    undone = frozenset((each.rule, each.pointer) for each in unsure)
    without = _only(arguments, replace(session, undone=undone), scope)
    left = () if without is None else validator.issues(without.value)
    if without is None or not left:
        return without or found
    reasons = _reasons(_differences(without.value, found.value), left)
    if any(map(_is_by_author, reasons.values())):
        return None
    spared = frozenset(path for path, reason in reasons.items() if reason is None)
    if not spared:
        return found
    value = _mixed(found.value, without.value, spared)
    repairs = _repairs_but(found.repairs, unsure, reasons)
    return Candidate(value, found.cost, repairs) if repairs and validator.accepts(value) else None


def _repairs_but(
    repairs: Sequence[Repair], unsure: Iterable[Repair], reasons: Mapping[Path, ValidationIssue | None]
) -> tuple[Repair, ...]:
    """Return the repairs without the conversions at paths that have no reason; () if one cannot be told from others."""
    waiting: dict[str, deque[Repair]] = {}
    for each in unsure:
        waiting.setdefault(each.pointer.rpartition("/")[2], deque()).append(each)
    spared: set[Repair] = set()
    for path, reason in reasons.items():
        records = waiting.get(pointer(path[-1:])[1:])
        if not records:
            return ()
        record = records.popleft()
        if reason is None:
            spared.add(record)
    return tuple(each for each in repairs if each not in spared)


def _only(arguments: dict[str, Any], session: RepairSession, scope: Scope | None) -> Candidate | None:
    """Return the only candidate; None for several, none or too long a search."""
    with suppress(OutOfSteps):
        found = distinct(_candidates_of_arguments(arguments, session, scope))
        return found[0] if len(found) == 1 else None
    return None


def _reasons(paths: Iterable[Path], issues: Sequence[ValidationIssue]) -> dict[Path, ValidationIssue | None]:
    """Return for each path the issue at it or above it; None if there is none."""
    at = {issue.path: issue for issue in reversed(issues)}
    above = ((path, (path[:length] for length in range(len(path), -1, -1))) for path in paths)
    return {path: next((at[each] for each in places if each in at), None) for path, places in above}


def _differences(one: Any, other: Any, path: Path = ()) -> list[Path]:
    """Return the paths at which two values of one structure have different scalars."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for key in one for found in _differences(one[key], other[key], (*path, key))]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for at, (left, right) in pairs for found in _differences(left, right, (*path, at))]
    return [] if type(one) is type(other) and one == other else [path]


def _mixed(value: Any, other: Any, paths: Collection[Path], path: Path = ()) -> Any:
    """Return a value with the parts of another one at some paths."""
    if path in paths:
        return other
    if isinstance(value, dict) and isinstance(other, dict):
        return {key: _mixed(each, other.get(key), paths, (*path, key)) for key, each in value.items()}
    if isinstance(value, list) and isinstance(other, list):
        pairs = enumerate(zip(value, other, strict=True))
        return [_mixed(each, its, paths, (*path, at)) for at, (each, its) in pairs]
    return value


def _is_at_or_below(text: str, pointers: Collection[str]) -> bool:
    """Return whether a JSON Pointer is one of these, or below one."""
    while text not in pointers:
        if not text:
            return False
        text = text.rpartition("/")[0]
    return True


def _candidates_of_arguments(
    arguments: dict[str, Any], session: RepairSession, scope: Scope | None, again: int = _MAX_RELOCATIONS
) -> list[Candidate]:
    """Return the cheapest candidates for the arguments: repaired in place, unwrapped or wrapped."""
    top = session.plan.top
    found = structure(top, arguments, (), session, scope)
    for rule, apply in session.plan.at(top).values.get(dict, ()) if again else ():
        if found and worst_tier(found[0].cost) < rule.tier:
            break
        found += _content_candidates(rule, apply, arguments, session, again - 1)
    return [Candidate(plain(each.value), each.cost, each.repairs) for each in cheapest(found)]


def _content_candidates(
    rule: Rule, apply: Apply, arguments: dict[str, Any], session: RepairSession, again: int
) -> Iterator[Candidate]:
    """Yield the candidates for unwrapped or wrapped arguments, after dropping injected keys."""
    rest, dropped_cost, dropped = _without_injected(session.plan, arguments)
    for content in apply(rest):
        record = Repair(rule.name, "", "object", "object")
        for inner in _candidates_of_arguments(content, session, None, again):
            cost = dropped_cost + rule.cost + inner.cost
            yield Candidate(inner.value, cost, (*dropped, record, *inner.repairs))


def _refuse_tie(
    sent: dict[str, Any], candidates: list[Candidate], validator: Validator, relocations: tuple[Repair, ...]
) -> Outcome:
    """Refuse the parameters on which the candidates differ; repair those on which they agree."""
    ties = _ties(candidates)
    open_names = {tie.path[0] for tie in ties}
    first = candidates[0]
    agreed = {name: value for name, value in first.value.items() if name not in open_names}
    disputed = {name: value for name, value in sent.items() if name in open_names}
    pointers = tuple(pointer((name,)) for name in open_names)
    repairs = tuple(
        each
        for each in first.repairs
        if not any(f"{each.pointer}/".startswith(f"{own}/") for own in pointers)
    )
    arguments = {**agreed, **disputed}
    return Outcome("refused", arguments, (*relocations, *repairs), validator.issues(arguments), ties)


def _ties(candidates: list[Candidate]) -> tuple[Tie, ...]:
    """Return the parameters on which the candidates differ, each with its values."""
    ties = []
    for name in dict.fromkeys(name for candidate in candidates for name in candidate.value):
        own = distinct(
            [
                Candidate(candidate.value[name], candidate.cost, candidate.repairs)
                for candidate in candidates
                if name in candidate.value
            ]
        )
        if len(own) > 1 or any(name not in candidate.value for candidate in candidates):
            ties.append(Tie((name,), tuple(own)))
    return tuple(ties)
