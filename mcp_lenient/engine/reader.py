"""Read arguments that a tool refuses: the rules propose readings of each refused place, and the best one alone wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, InitVar, dataclass, field
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from mcp_lenient.engine.ignored import (
    OutOfSteps,
    has_open_objects,
    ignores_names,
    misplaced_body,
    names_in_wrong_case,
    spellings,
)
from mcp_lenient.rules.rules import (
    ABSENT,
    DEFAULT_RULES,
    CallRule,
    CallScope,
    Guard,
    NameRule,
    Obstacle,
    Place,
    Rule,
    ValueRule,
    allows_one_value,
    spelled_constants,
    worst_tier,
)
from mcp_lenient.schema.checks import ANNOTATED, EXPECTED
from mcp_lenient.schema.node import Node, Tree
from mcp_lenient.types import Fault, Path, Repair
from mcp_lenient.values.json_values import (
    JSON_TYPES,
    PARSED_TYPES,
    json_type,
    plain,
    pointer,
    rounds_as_double,
    same_json,
)
from mcp_lenient.values.names import fold_name, squashed

if TYPE_CHECKING:
    from mcp_lenient.engine.observer import Observer
    from mcp_lenient.rules.policy import Policy
    from mcp_lenient.schema.compile import ReadableSchema

_DESTRUCTIVE_TIERS: Final = frozenset({1, 2})
_CLOSE_TIER: Final = 2
"""The worst tier of a repair that may decide between a list and an object."""
_CHAIN: Final = 2
"""Rules applied in a row to one value."""
CHAIN_AT_TOP: Final = 4
"""Rules applied in a row to the arguments: unwrap them, read their text, rename their keys."""
_NAMES_PER_STEP: Final = 8
_KINDS: Final[Mapping[type, str]] = {
    kind: JSON_TYPES[PARSED_TYPES.get(kind, kind)] for kind in (*JSON_TYPES.keys() - {tuple}, *PARSED_TYPES)
}
"""The JSON types of values as a parser makes them; no rule reads any other."""
_COST: Final = attrgetter("cost")
R = TypeVar("R", bound=Rule)
_COMPARED: Final = 16
"""Readings of a union of which those that ignore a name are left out."""


@dataclass(eq=False, repr=False)
class Plan:
    """A tool's input schema under a policy, and the policy's rules for each place of it.

    In a ``destructive`` tool only rules that keep every value may act: those of tiers 1 and 2, and the unwrapping of the
    whole call, which checks that it does. ``by_schema``: whether nothing but the schema says what the tool takes.
    """

    schema: InitVar[Mapping[str, Any] | ReadableSchema]
    policy: Policy
    _: KW_ONLY
    destructive: bool = False
    read_only: bool = False
    tool: str | None = None
    by_schema: bool = False

    def __post_init__(self, schema: Mapping[str, Any] | ReadableSchema) -> None:
        self.tree = Tree(schema, formats=ANNOTATED if self.by_schema else EXPECTED)
        self.top = self.tree.top
        self._select_rules()

    def under(self, policy: Policy) -> Plan:
        """Return the same schema under another policy."""
        plan = copy(self)
        plan.policy = policy
        plan._select_rules()  # noqa: SLF001 - of its own class
        return plan

    def _select_rules(self) -> None:
        allows = self.policy.allows("rename_case")
        self.corrects_names = self.by_schema and allows and has_open_objects(self.tree)
        """Whether names that nothing would read are renamed, though the schema accepts them."""
        allowed = [rule for rule in self.policy.rules if rule.name not in self.policy.disable]
        self.uncertain_rules = [rule for rule in allowed if not rule.certain]
        """The policy's rules whose results are only offered."""
        self._rules = [rule for rule in allowed if self._obstacle(rule) is None]
        name_rules = (rule for rule in self._rules if isinstance(rule, NameRule))
        self.renames_by_keys = all(rule in DEFAULT_RULES for rule in name_rules)
        """Whether no rule of the author's own renames keys by their values."""
        self._rules_at: dict[tuple[type[Any], Node, str, bool, bool], Any] = {}

    def rules_for(self, rule_type: type[R], place: Place, kind: str) -> tuple[R, ...]:
        """Return the rules that read values of a JSON type at a place, cheapest first."""
        key = (rule_type, place.node, kind, place.in_mixed_union, place.optional)
        rules: tuple[R, ...] | None = self._rules_at.get(key)
        if rules is None:
            of_type = (rule for rule in self._rules if isinstance(rule, rule_type))
            selected = [rule for rule in of_type if self.obstacle(rule, place, kind) is None]
            if rule_type is not NameRule:  # of these, the first that finds a name wins
                selected.sort(key=_COST)
            rules = self._rules_at[key] = tuple(selected)
        return rules

    def obstacle(self, rule: Rule, place: Place, kind: str) -> Obstacle | None:
        """Return why a rule is not applied to a value of a JSON type at a place; None if it is.

        In a branch of a union of several types, only literal rules read a value of another type.
        """
        node = place.node
        if kind not in rule.takes:
            return Obstacle.TAKES
        if node.unread:
            return Obstacle.UNREAD
        if isinstance(rule, ValueRule):
            if rule.leaves_out and not place.optional:
                return Obstacle.REQUIRED
            if (obstacle := rule.obstacle(node)) is not None:
                return obstacle
            if place.in_mixed_union and not (rule.literal or rule.leaves_out or kind in node.accepted_types):
                return Obstacle.UNION
        return self._obstacle(rule)

    def _obstacle(self, rule: Rule) -> Obstacle | None:
        """Return why a rule is applied nowhere in this tool."""
        if rule.name in self.policy.disable:
            return Obstacle.DISABLED
        if not rule.certain:
            return Obstacle.UNCERTAIN
        may_act = isinstance(rule.keeps, Guard) or (rule.keeps and rule.tier in _DESTRUCTIVE_TIERS)
        return Obstacle.DESTRUCTIVE if self.destructive and not may_act else None


class ReadingStep(NamedTuple):
    """One rule applied to one value: ``path`` is where the value was sent, ``result_path`` where the result is."""

    rule: str
    path: Path
    result_path: Path
    sent: Any
    value: Any

    @property
    def changes_value(self) -> bool:
        """Whether the value became another, and not only its name."""
        return self.value is not ABSENT and self.value is not self.sent

    @property
    def repair(self) -> Repair:
        """The record of this step."""
        after = "absent" if self.value is ABSENT else json_type(self.value)
        return Repair(self.rule, pointer(self.path), json_type(self.sent), after)


class Reading(NamedTuple):
    """What a value is read as: ``ABSENT`` to leave it out, or another value, by the steps of rules with this cost.

    It is ``complete`` if the schema accepts it, and only partly repaired otherwise. The ``ties`` are faults of values whose
    cheapest readings cost the same, so that none is used.
    """

    value: Any
    cost: int = 0
    steps: tuple[ReadingStep, ...] = ()
    complete: bool = True
    ties: tuple[Fault, ...] = ()


_NO_READING: Final = Reading(None, complete=False)


@dataclass(slots=True)
class Scope:
    """The parts of a value that the validator refuses; everything else stays unchanged.

    ``refused``: the value itself is refused; ``names``: names in it are missing or ``unknown``; ``below``: the values in it.
    """

    refused: bool = False
    names: bool = False
    unknown: set[str] = field(default_factory=set)
    below: dict[str | int, Scope] = field(default_factory=dict)

    @staticmethod
    def of(faults: Iterable[Fault]) -> Scope:
        """Return the scope of faults: the whole of a wrong value, the names of an object with a wrong name."""
        top = Scope()
        for fault in faults:
            scope = top
            for part in fault.place:
                scope = scope.below.setdefault(part, Scope())
            scope.names = scope.names or fault.of_name
            scope.refused = scope.refused or not fault.of_name
            if fault.kind == "unknown" and isinstance(fault.path[-1], str):
                scope.unknown.add(fault.path[-1])
        return top


UNTOUCHED: Final = Scope()
"""The scope of a value that the validator does not refuse."""
REFUSED: Final = Scope(refused=True)
"""The scope of a value about which the schema decides."""


class Reader:
    """Reads the arguments of one call; ``steps`` is the number of values that may be visited."""

    def __init__(
        self, plan: Plan, *, exact_integers: bool, steps: int, observer: Observer | None = None
    ) -> None:
        self.plan = plan
        self._exact_integers = exact_integers
        self._steps_left = steps
        self._failing_shapes: set[tuple[Node, frozenset[str]] | None] = set()
        """Branches that names of a value do not fit, whatever the values are."""
        self._observer = observer
        observe = None if observer is None else observer.applied
        call = CallScope(plan.policy, plan.destructive, plan.tool, plan.by_schema, plan.read_only, observe)
        self.top = Place(plan.top, call)

    def withhold(self, obstacle: Obstacle, *paths: Path) -> None:
        """Tell the observer why no reading of what was sent at these paths is used."""
        for path in paths if self._observer is not None else ():
            self._observer.withheld(path, obstacle)  # type: ignore[union-attr]

    def _spend(self, steps: int = 1) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            raise OutOfSteps

    def accepts(self, node: Node, value: Any) -> bool:
        """Return whether the schema accepts a value unchanged, with the validator's strictness about integers."""
        if type(value) in PARSED_TYPES:
            if node.is_only("number") and rounds_as_double(value):
                return False
            value = plain(value)
        # Pydantic's strict mode refuses 7.0 for an integer; JSON Schema accepts it.
        is_accepted = node.accepts(value, exact_integers=self._exact_integers)
        return is_accepted and not (self.plan.corrects_names and any(names_in_wrong_case(node, value)))

    # A value

    def read(
        self, place: Place, value: Any, scope: Scope = REFUSED, *, chain: int = _CHAIN, partly: bool = False
    ) -> Reading:
        """Return the best reading of a value, by at most ``chain`` rules in a row, else it ``partly`` repaired or unchanged."""
        if place.path and scope.refused and self.accepts(place.node, value):
            return Reading(value)
        return self._read_refused(place, value, scope, chain=chain, partly=partly)

    def _read_refused(
        self, place: Place, value: Any, scope: Scope = REFUSED, *, chain: int = _CHAIN, partly: bool = False
    ) -> Reading:
        """Return the best reading of a value that is not known to be accepted.

        What is in it is read first. The rules are applied to the value itself where it is refused, or to the arguments, or
        where no complete reading came of what is in it; a value that the schema then accepts stays as it was sent.
        """
        self._spend()
        readings = self._read_inside(place, value, scope, partly=partly)
        if chain and (scope.refused or not place.path or not (readings and readings[0].complete)):
            if place.path and not scope.refused and self.accepts(place.node, value):
                return Reading(value)
            self._add_by_rules(place, value, readings, chain=chain, partly=partly)
        if readings and place.path and not place.in_union and place.node.has_enum:
            used = _without_only_values(place, value, readings)
            if len(used) < len(readings):
                self.withhold(Obstacle.ONE_VALUE, place.path)
            readings = used
        return _best(place, value, readings)

    def _add_by_rules(
        self, place: Place, value: Any, readings: list[Reading], *, chain: int, partly: bool
    ) -> None:
        """Add the readings by the rules, cheapest first, while a further rule may lead to a better one."""
        rule_type: type[ValueRule | CallRule] = ValueRule if place.path else CallRule
        kind = _KINDS.get(type(value), "")
        rules = self.plan.rules_for(rule_type, place, kind)
        best: float = readings[0].cost if readings and readings[0].complete else inf
        if not rules or best < rules[0].cost:
            return
        dropped: Sequence[Reading] = ()
        if not place.path and (unknown := place.node.undeclared(value)):
            value, dropped = self._without_injected(place, value, unknown)
        for rule in rules:
            if best < rule.cost:  # by rules of better tiers alone
                break
            # The faults of what a refused text holds explain it, so that is read partly.
            goes_on = partly and isinstance(value, str) and (rule.literal or rule.chains)
            for new in rule.apply(place, value):
                reading = self._read_by_rule(rule, place, value, new, chain=chain - 1, partly=goes_on)
                if dropped:
                    reading = _together(reading.value, [*dropped, reading])
                if reading.complete:
                    best = min(best, reading.cost)
                if reading.complete or goes_on:
                    readings.append(reading)

    def _read_by_rule(
        self, rule: ValueRule | CallRule, place: Place, sent: Any, new: Any, *, chain: int, partly: bool
    ) -> Reading:
        """Return the reading of a value by what a rule made of it."""
        step = ReadingStep(rule.name, place.path, place.result_path, sent, new)
        if isinstance(new, str) and not place.node.fits_format(new):
            return Reading(new, complete=False)
        if new is ABSENT or (place.path and self.accepts(place.node, new)):
            return Reading(new, rule.cost, (step,))
        chain_left = chain if rule.chains else 0
        rest = self._read_refused(place, new, chain=chain_left, partly=partly and rule.chains)
        # `123` for a list of strings: an item that must be changed as well may not be one.
        if not rule.chains and worst_tier(rest.cost) >= _CLOSE_TIER:
            rest = Reading(new, complete=False)
            self.withhold(Obstacle.WRONG_INSIDE, place.path)
        return Reading(rest.value, rule.cost + rest.cost, (step, *rest.steps), rest.complete, rest.ties)

    def _read_inside(self, place: Place, value: Any, scope: Scope, *, partly: bool) -> list[Reading]:
        """Return the readings that change only what is in a value, or those by the branches of a union.

        The complete ones, cheapest first; if there are none, one that is not, if it is wanted.
        """
        node = place.node
        if node.is_union:
            return self._read_union(place, value, scope, partly=partly)
        if isinstance(value, dict) and node.may_be("object"):
            reading = self._read_object(place, value, scope, partly=partly)
            if not place.path and self.plan.corrects_names and any(misplaced_body(node, reading.value or {})):
                reading = reading._replace(complete=False)
        elif isinstance(value, list) and node.may_be("array"):
            reading = self._read_array(place, value, scope, partly=partly)
        else:
            return []
        # JSON Schema accepts 7.0 as an integer; if the tool does not, only its validator can check a container.
        is_checked_later = node.valid_if_parts_are or (self._exact_integers and reading.steps)
        needs_check = place.path and scope.refused and not is_checked_later
        if reading.complete and needs_check and not node.accepts(plain(reading.value)):
            reading = reading._replace(complete=False)
        return [reading] if reading.complete or partly else []

    # Unions

    def _read_union(self, place: Place, value: Any, scope: Scope, *, partly: bool) -> list[Reading]:
        node = place.node
        tagged = self._read_tagged(place, value, scope, partly=partly) if isinstance(value, dict) else None
        if tagged is not None:
            return tagged
        fitting = () if scope.refused else node.branches_of_type(value, exact_integers=self._exact_integers)
        branches, branch_scope = (fitting, scope) if fitting else (node.branches, REFUSED)
        readings = [self.read(place.as_branch(branch), value, branch_scope) for branch in branches]
        completed = [reading for reading in readings if reading.complete]
        if isinstance(value, (dict, list)) and {"array", "object"} <= node.accepted_types:
            # {"item": ["1"]} may be the object or a wrapped list: only readings with few changes decide that.
            completed = [reading for reading in completed if worst_tier(reading.cost) <= _CLOSE_TIER]
        if isinstance(value, dict) and 1 < len(completed) <= _COMPARED:
            completed = [
                reading for reading in completed if not ignores_names(node, plain(reading.value))
            ] or completed
        if completed:
            completed.sort(key=_COST)
            best = [reading for reading in completed if reading.cost == completed[0].cost]
            return [] if any(_renames_declared(place, reading) for reading in best) else completed
        if not partly:
            return []
        # Only then, since a branch that is read partly is read to its end: the one that is meant, of a text any.
        if not isinstance(value, str):
            targets = node.likely_branches(value, exact_integers=self._exact_integers)
            branches = targets if len(targets) == 1 else ()
        partial_readings = (
            self.read(place.as_branch(branch), value, scope, partly=True) for branch in branches
        )
        return [reading for reading in partial_readings if reading.steps or reading.ties][:1]

    def _read_tagged(
        self, place: Place, value: dict[str, Any], scope: Scope, *, partly: bool
    ) -> list[Reading] | None:
        """Return the reading by the branch that the discriminator selects; None if it selects none."""
        discriminator = place.node.discriminator
        if discriminator is None:
            return None
        folded = fold_name(discriminator.name)
        alike = [key for key in value if isinstance(key, str) and fold_name(key) == folded]
        keys = [discriminator.name] if discriminator.name in value else alike
        if len(keys) != 1:
            return None
        key, name = keys[0], discriminator.name
        tag = self.read(place.inside(discriminator.tags, key, name, name=name), value[key])
        if not tag.complete:
            return None
        branch = discriminator.owner(tag.value)
        if branch is None:  # the repair of the tag is tried without
            return []
        # The key itself is renamed within the branch. Without the tag as declared, the validator did not look into it.
        below = REFUSED if tag.cost or key != name else scope
        retagged = {**value, key: tag.value} if tag.cost else value
        inner = self.read(place.as_branch(branch), retagged, below, partly=partly)
        return [_together(inner.value, [tag, inner])] if inner.complete or partly else []

    # Objects and lists

    def _read_object(self, place: Place, value: dict[str, Any], scope: Scope, *, partly: bool) -> Reading:
        node, checks_names = place.node, scope.refused or scope.names
        has_too_many_keys = (
            node.closed and not node.patterns and place.path and len(value) > len(node.properties)
        )
        if has_too_many_keys and checks_names and not partly:
            return _NO_READING  # which rules out most branches of a large union at once
        # Below the top, and by our rules, the keys alone decide if a branch may be meant.
        is_inner_branch = place.in_union and place.path and scope.refused
        is_by_keys = is_inner_branch and not partly and self.plan.renames_by_keys
        shape = (node, frozenset(value)) if is_by_keys else None
        if shape in self._failing_shapes:
            return _NO_READING
        unknown = node.undeclared(value) if checks_names else []
        # A validator that reports unknown keys may know the others, which the schema does not.
        reported = [key for key in unknown if key in scope.unknown] if scope.unknown else unknown
        name_readings = self._renames(place, value, reported) if reported else {}
        names_after = {name_readings[key].value if key in name_readings else key for key in value}
        are_all_named = not node.closed or len(name_readings) == len(unknown)
        names_fit = not checks_names or (are_all_named and node.required <= names_after)
        if names_fit or partly:
            reading = self._read_properties(place, value, scope, name_readings, partly=partly)
            return reading if names_fit else reading._replace(complete=False)
        if shape is not None:
            self._failing_shapes.add(shape)
        return _NO_READING

    def _read_properties(
        self,
        place: Place,
        value: dict[str, Any],
        scope: Scope,
        name_readings: dict[str, Reading],
        *,
        partly: bool,
    ) -> Reading:
        node, other_scope = place.node, REFUSED if scope.refused else UNTOUCHED
        out: dict[str, Any] = {}
        declared: str | None
        readings = [rename for rename in name_readings.values() if rename.value is ABSENT]
        for key, sent in value.items():
            name, below = key, scope.below.get(key, other_scope)
            if key in name_readings:
                name, below = name_readings[key].value, REFUSED
                if name is ABSENT:
                    continue
                readings.append(name_readings[key])
            declared, child = name, node.property_nodes.get(name)
            if child is None and below is not UNTOUCHED:
                declared, child = self._undeclared(node, name, value, scope)
            if child is None or below is UNTOUCHED or (below.refused and self.accepts(child, sent)):
                out[name] = sent
                continue
            optional = declared is not None and declared not in node.required and not node.unread
            inner = place.inside(child, key, name, name=declared, optional=optional)
            reading = self._read_refused(inner, sent, below, partly=partly)
            if not reading.complete and not partly:
                return _NO_READING
            if reading.value is not ABSENT:
                out[name] = reading.value
            readings.append(reading)
        if value and not out and place.path and not _are_null_defaults(node, value):
            return Reading(value, complete=False)  # `{"deleted_at": null}` is a filter
        return _together(out, readings)

    def _undeclared(
        self, node: Node, name: Any, value: Mapping[str, Any], scope: Scope
    ) -> tuple[str | None, Node | None]:
        """Return the declared name as which a validator may read a key, as with ``populate_by_name``, and its node."""
        if not isinstance(name, str):
            return None, None
        self._spend()  # undeclared keys cost time as well
        child = node.child(name)
        if child is None and name in scope.below:
            alike = [other for other in node.cached(spellings).get(squashed(name), ()) if other not in value]
            return (alike[0], node.property_nodes[alike[0]]) if len(alike) == 1 else (None, None)
        return None, child

    def _renames(self, place: Place, value: Mapping[str, Any], unknown: Sequence[str]) -> dict[str, Reading]:
        """Return the readings of undeclared keys as a declared name, or as one to leave out; no name gets two keys."""
        name_readings: dict[str, Reading] = {}
        self._spend(len(unknown) // _NAMES_PER_STEP)
        for rule in self.plan.rules_for(NameRule, place, "object"):
            remaining = place._replace(unknown=[key for key in unknown if key not in name_readings])
            for key, name in rule.apply(remaining, value):
                sent, added = value[key], () if name is ABSENT else (name,)
                new, result_path = sent if added else ABSENT, (*place.result_path, *added)
                step = ReadingStep(rule.name, (*place.path, key), result_path, sent, new)
                name_readings[key] = Reading(name, rule.cost, (step,))
        uses = Counter(rename.value for rename in name_readings.values() if rename.value is not ABSENT)
        clashing = [key for key, rename in name_readings.items() if uses[rename.value] > 1]
        self.withhold(Obstacle.SAME_NAME, *[(*place.path, key) for key in clashing])
        return {key: rename for key, rename in name_readings.items() if uses[rename.value] < 2}

    def _read_array(self, place: Place, value: list[Any], scope: Scope, *, partly: bool) -> Reading:
        out = list(value)
        readings: list[Reading] = []
        mixed = not all(isinstance(entry, (int, float)) and not isinstance(entry, bool) for entry in value)
        refused = sorted(key for key in scope.below if isinstance(key, int))
        for index in range(len(value)) if scope.refused else refused:
            below, item = scope.below.get(index, REFUSED), place.node.item(index)
            if below.refused and self.accepts(item, value[index]):
                continue
            inner = place.inside(item, index, index, in_mixed_list=mixed)
            reading = self._read_refused(inner, value[index], below, partly=partly)
            if not reading.complete and not partly:
                return _NO_READING
            out[index] = reading.value
            readings.append(reading)
        return _together(out, readings)

    def _without_injected(
        self, place: Place, value: dict[str, Any], unknown: Sequence[str]
    ) -> tuple[dict[str, Any], Sequence[Reading]]:
        """Return the arguments without the keys that clients add, and the records of these."""
        name_readings = self._renames(place, value, unknown)
        dropped = {key: rename for key, rename in name_readings.items() if rename.value is ABSENT}
        return {key: entry for key, entry in value.items() if key not in dropped}, [*dropped.values()]


def _are_null_defaults(node: Node, value: Mapping[str, Any]) -> bool:
    """Return whether an object holds nothing but nulls that are the defaults of its properties."""
    children = [node.property_nodes.get(key) for key in value]
    is_default = all(child is not None and None in child.default for child in children)
    return is_default and all(entry is None for entry in value.values())


def _without_only_values(place: Place, value: Any, readings: list[Reading]) -> list[Reading]:
    """Leave out the readings as the only value that a place or a branch allows, which no repair chooses."""
    if place.node.cached(allows_one_value):
        return [reading for reading in readings if not reading.steps or reading.value is ABSENT]
    for rival in spelled_constants(place, value):
        readings = [reading for reading in readings if not reading.steps or same_json(reading.value, rival)]
    return readings


def _together(value: Any, readings: Iterable[Reading]) -> Reading:
    """Return a value with what was read of its parts."""
    cost, complete = 0, True
    steps: list[ReadingStep] = []
    ties: list[Fault] = []
    for reading in readings:
        cost += reading.cost
        steps += reading.steps
        ties += reading.ties
        complete = complete and reading.complete
    return Reading(value, cost, tuple(steps), complete, tuple(ties))


def _renames_declared(place: Place, reading: Reading) -> bool:
    """Return whether a name is changed that another branch of the union declares."""
    above = len(place.path)
    return any(
        step.path[above] in place.node.names
        for step in reading.steps
        if step.value is not ABSENT and len(step.path) > above and step.path[above] != step.result_path[above]
    )


def _best(place: Place, value: Any, readings: Sequence[Reading]) -> Reading:
    """Return the cheapest complete reading, or else one that is not; with a tie, the value as it is."""
    if not readings:
        return Reading(value, complete=False)
    completed = [reading for reading in readings if reading.complete] if len(readings) > 1 else readings
    if len(completed) < 2:
        return (completed or readings)[0]
    least = min(reading.cost for reading in completed)
    cheapest = [reading for reading in completed if reading.cost == least]
    values = _distinct(reading.value for reading in cheapest)
    if len(values) == 1:
        return cheapest[0]
    if place.path or not isinstance(value, dict):
        return Reading(value, complete=False, ties=(_tie(place.result_path, values),))
    return _tied(value, cheapest)


def _tied(sent: dict[str, Any], readings: Sequence[Reading]) -> Reading:
    """Return the arguments with the parameters on which all readings agree, and the others as they were sent."""
    ties: dict[str, Fault] = {}
    for name in dict.fromkeys(name for reading in readings for name in reading.value):
        values = _distinct(reading.value[name] for reading in readings if name in reading.value)
        if len(values) > 1 or any(name not in reading.value for reading in readings):
            ties[name] = _tie((name,), values)
    first = readings[0]
    agreed = {name: value for name, value in first.value.items() if name not in ties}
    steps = tuple(step for step in first.steps if not step.path or step.path[0] not in ties)
    value = {**agreed, **{name: sent[name] for name in ties if name in sent}}
    return Reading(value, 0, steps, complete=False, ties=tuple(ties.values()))


def _tie(path: Path, values: Sequence[Any]) -> Fault:
    return Fault(path, "ambiguous", readings=tuple(values))


def _distinct(values: Iterable[Any]) -> list[Any]:
    distinct: list[Any] = []
    for value in values:
        if not any(same_json(value, other) for other in distinct):
            distinct.append(value)
    return distinct
