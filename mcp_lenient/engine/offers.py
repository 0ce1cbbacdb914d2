"""Say what is wrong with a refused call, with likely corrections: uncertain rules, tried like any other, as JSON Patches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, Final

from mcp_lenient.engine.faults import explain_faults
from mcp_lenient.engine.ignored import OutOfSteps
from mcp_lenient.engine.reader import Plan, Reader
from mcp_lenient.refusal.groups import FaultGroup, Offer, group_faults
from mcp_lenient.refusal.locations import MAX_SUGGESTION, Location, RefusedCall, without_format
from mcp_lenient.refusal.violations import violations
from mcp_lenient.rules.likely import LIKELY_RULES, may_hold_several
from mcp_lenient.rules.rules import ABSENT, CallRule, Place, ValueRule
from mcp_lenient.types import Fault, Outcome, Path, Validator, Violation, ViolationCode
from mcp_lenient.values.display import fits_json, is_name, is_quotable
from mcp_lenient.values.json_values import json_type, plain, pointer, same_json
from mcp_lenient.values.patches import REMOVED, Patch, difference, path_at, value_at, with_value

MAX_OFFERS: Final = 3
_MAX_TRIED: Final = 6
_MAX_GROUPS: Final = 8
_MAX_ARGUMENTS: Final = 100_000
_STEPS: Final = 5_000
"""Values visited while corrections are tried."""
_MAX_VALIDATED: Final = 1_500
"""Faults found again while corrections are tried, as the validator looks at the whole call for each."""
Change = Mapping[Path, Any]
"""New values by their paths."""


def violations_of(
    plan: Plan, spelled: Mapping[str, Any], outcome: Outcome, validator: Validator, *, as_texts: bool = False
) -> tuple[Violation, ...]:
    """Return the violations of a refused call: its faults by kind, each with likely corrections.

    ``spelled`` are the arguments with the source spelling of numbers. For a destructive tool nothing is corrected.
    """
    exact_integers, faults = validator.exact_integers, outcome.faults
    call = RefusedCall(plan.top, outcome.arguments, plan.policy, exact_integers, plan.destructive, as_texts)
    groups, omitted_count = group_faults(call, explain_faults(call, faults))
    reader = Reader(plan, exact_integers=exact_integers, steps=_STEPS)
    search = OfferSearch(call, spelled, faults, validator, reader)
    offers_nothing = plan.destructive or any(fault.kind == "size" for fault in faults)
    # With so many violations a second fix for each is not worth its size and time.
    max_fixes = MAX_OFFERS if len(groups) <= _MAX_GROUPS else 1
    tried = groups[: 0 if offers_nothing else _MAX_GROUPS]
    with_offers = [replace(group, offer=search.for_group(group, max_fixes)) for group in tried]
    return violations(call, [*with_offers, *groups[len(tried) :]], omitted_count)


class OfferSearch:
    """The search for corrections of one refused call."""

    def __init__(
        self, call: RefusedCall, spelled: Any, faults: Sequence[Fault], validator: Validator, reader: Reader
    ) -> None:
        self._call, self._spelled_arguments, self._faults = call, spelled, faults
        self._validator, self._reader = validator, reader
        self._rules = (*reader.plan.uncertain_rules, *LIKELY_RULES)
        self._renamed_objects: dict[Path, Sequence[Any]] = {}
        self._faults_left = _MAX_VALIDATED

    def for_group(self, group: FaultGroup, max_fixes: int) -> Offer:
        """Return the patches for a group of faults, likeliest first."""
        fixes: list[Patch] = []
        likely_patches: list[Patch] = []
        lists_all_locations = group.location_count == len(group.locations)
        for change in islice(self._changes(group), _MAX_TRIED) if lists_all_locations else ():
            new = self._call.arguments
            for path, value in change.items():
                new = with_value(new, path, REMOVED if value is ABSENT else plain(value))
            patch = difference(self._call.arguments, new)
            is_new = not any(same_json([*patch], [*other]) for other in likely_patches)  # 1 is not true
            if is_new and self._may_show_patch(patch, group):
                moves_ambiguous = any(map(self._may_mean_several, self._operation_paths(patch, "from")))
                is_correction = not moves_ambiguous and self._is_correction(new, change, patch, group)
                fix = self._patch_for_sent(patch, new, group) if is_correction else ()
                fixes += [fix] if fix else []
                is_worth_telling = group.code == "unknown" or (
                    group.code == "missing" and not moves_ambiguous
                )
                likely_patches += [patch] * (is_correction or is_worth_telling)
        if group.readings:  # one reading alone would decide what is not known
            fixes = fixes if len(fixes) == len(group.readings) <= MAX_OFFERS else []
        may_mean_several = group.code == "unknown" and self._may_mean_several(group.location.path)
        return Offer(tuple(fixes[:max_fixes]), tuple(likely_patches), may_mean_several)

    # What may be changed

    def _changes(self, group: FaultGroup) -> Iterator[Change]:
        paths, path = group.paths, group.location.path
        if group.readings:
            yield from ({path: value} for value in group.readings)
        elif group.code in ("missing", "unknown"):
            for length in range(len(path) - 1, max(len(path) - 3, -1), -1):
                objects = [self._objects_by_name(path, length, group.code) for path in paths]
                for values in zip(*objects, strict=False):
                    yield dict(zip([path[:length] for path in paths], values, strict=True))
        else:
            for above in (path[:length] for length in range(1, len(path))):
                yield from ({above: new} for new in self._read_otherwise(above, only="out_of_list"))
            for values in zip(*map(self._read_otherwise, paths), strict=False):
                yield dict(zip(paths, values, strict=True))

    def _read_otherwise(self, path: Path, *, only: str = "") -> Iterator[Any]:
        """Yield the values that the uncertain rules make of a value."""
        location = self._call.location(path)
        kind, place = json_type(location.value), location.as_place(self._reader.top.call)
        if place is None or not location.present or location.secret:
            return
        for rule in self._rules:
            if isinstance(rule, ValueRule) and kind in rule.takes and only in ("", rule.name):
                is_tried = place.optional or not rule.leaves_out
                obstacles = [rule.obstacle(branch) for branch in location.branches] if rule.gives else [None]
                yield from rule.apply(place, location.value) if is_tried and None in obstacles else ()

    def _objects_by_name(self, path: Path, length: int, code: ViolationCode) -> Iterator[Any]:
        """Yield the objects in which a missing name is there, or an unknown one is not."""
        parent_path = path[:length]
        if parent_path not in self._renamed_objects:
            self._renamed_objects[parent_path] = [*self._with_other_names(parent_path)]
        for new in self._renamed_objects[parent_path]:
            if (value_at(new, path[length:]) is not REMOVED) is (code == "missing"):
                yield new

    def _with_other_names(self, path: Path) -> Iterator[Any]:
        """Yield an object with other names, as the uncertain rules make it."""
        parent = self._call.location(path)
        for place in self._places(parent)[:MAX_OFFERS]:
            for rule in self._rules:
                yield from rule.apply(place, parent.value) if isinstance(rule, CallRule) else ()

    def _may_mean_several(self, path: Path) -> bool:
        parent, key = self._call.location(path[:-1]), path[-1]
        places = self._places(parent)[:1] if isinstance(key, str) else ()
        return any(may_hold_several(place, parent.value, str(key)) for place in places)

    def _places(self, parent: Location) -> Sequence[Place]:
        """Return an object as each branch describes that its caller likely meant; none of what is secret."""
        if not isinstance(parent.value, dict) or parent.secret:
            return ()
        at_parent = self._reader.top.call, parent.path, parent.path
        return [Place(branch, *at_parent) for branch in self._call.likely_branches(parent)]

    # Whether it corrects the call

    def _is_correction(self, new: Any, change: Change, patch: Patch, group: FaultGroup) -> bool:
        """Return whether changed arguments are accepted, or these faults are gone and no other has appeared.

        What is moved may need a repair as well.
        """
        for path in self._operation_paths(patch, "path"):
            if any(without_format(self._call.location(path).node, value_at(new, path), path)):
                return False
        if self._has_only_others(new, group):
            return True
        if all(operation["op"] != "move" for operation in patch):
            return False
        for path in change:
            node = self._call.location(path).node
            if node is not None:
                place = Place(node, self._reader.top.call, path, path)
                try:
                    reading = self._reader.read(place, value_at(new, path), partly=True)
                except OutOfSteps:
                    return False
                new = with_value(new, path, plain(reading.value))
        return self._has_only_others(new, group)

    def _has_only_others(self, arguments: Any, group: FaultGroup) -> bool:
        self._faults_left -= len(self._faults)
        if self._faults_left < 0:
            return False
        kinds = {"ambiguous": "value"}
        before = {(fault.path, kinds.get(fault.kind, fault.kind)) for fault in self._faults}
        # A fault above or below a place of the group is one of its own.
        return all(
            (fault.path, fault.kind) in before
            and all(fault.path[: len(path)] != path[: len(fault.path)] for path in group.paths)
            for fault in self._validator.faults(arguments)
        )

    # What may be said

    def _may_show_patch(self, patch: Patch, group: FaultGroup) -> bool:
        if not patch or not self._is_small or not all(map(self._may_name, self._operation_paths(patch))):
            return False
        return all(self._may_show(operation, group) for operation in patch)

    def _operation_paths(self, patch: Patch, *ends: str) -> Iterator[Path]:
        keys = ends or ("from", "path")
        texts = (operation[key] for operation in patch for key in keys if key in operation)
        return (path_at(self._call.arguments, text) for text in texts)

    def _patch_for_sent(self, patch: Patch, new: Any, group: FaultGroup) -> Patch:
        """Return a patch as it applies to what was sent: a parameter that came as text is replaced as a whole; () if none does."""
        paths = list(self._operation_paths(patch))
        if all(map(self._is_as_sent, paths)):
            return patch
        path = group.location.path[:1]
        value, location = value_at(new, path), self._call.location(path)
        is_text = isinstance(value_at(self._sent, path), str) and isinstance(value, (dict, list))
        is_outside = any(operation_path[:1] != path for operation_path in paths)
        if not is_text or is_outside or not self._call.may_suggest(location, value):
            return ()
        return ({"op": "replace", "path": pointer(path), "value": value},)

    @cached_property
    def _sent(self) -> Any:
        return plain(self._spelled_arguments)

    @cached_property
    def _is_small(self) -> bool:
        return fits_json(self._call.arguments, _MAX_ARGUMENTS)

    def _is_as_sent(self, path: Path) -> bool:
        """Return whether a place was sent as it is now, before certain repairs, so that a patch applies to it."""
        sent, now = self._sent, self._call.arguments
        is_sent = same_json(value_at(sent, path), value_at(now, path))
        return is_sent and type(value_at(sent, path[:-1])) is type(value_at(now, path[:-1]))

    def _may_name(self, path: Path) -> bool:
        """Return whether no key of a path was chosen by the caller and may be a value."""
        keys = [part for part in path if isinstance(part, str)]
        is_visible = not path or self._call.location(path[:1]).declared or is_name(keys[0])
        return is_visible and all(map(is_quotable, keys))

    def _may_show(self, operation: Mapping[str, Any], group: FaultGroup) -> bool:
        """Return whether a value is short, and contains nothing secret or undeclared."""
        value = operation.get("value", {})
        if value in ({}, []):
            return True
        matching = (location for location in group.locations if pointer(location.path) == operation["path"])
        location = next(matching, group.locations[0])
        if location.node is not None and value in location.node.members:
            return not location.secret and fits_json(value, MAX_SUGGESTION)
        return self._call.may_suggest(location, value)
