"""Offer likely corrections of a refused call: uncertain rules, tried like any other, as JSON Patches (RFC 6902)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.engine.ignored import OutOfSteps
from mcp_lenient.engine.reader import Reader
from mcp_lenient.refusal.locations import Refused, private
from mcp_lenient.rules.likely import LIKELY_RULES, near_values
from mcp_lenient.rules.rules import ABSENT, Place
from mcp_lenient.types import Fault, Path, Validator
from mcp_lenient.values.display import exact, fits_json, is_name
from mcp_lenient.values.json_values import json_type, plain, pointer, same_json, tokens_of
from mcp_lenient.values.patches import REMOVED, Patch, difference, value_at, with_value

if TYPE_CHECKING:
    from mcp_lenient.refusal.violations import FaultGroup

MAX_OFFERS: Final = 3
_MAX_TRIED: Final = 6
_MAX_GROUPS: Final = 8
_MAX_VALUE: Final = 200
_MAX_ARGUMENTS: Final = 100_000
Change = Mapping[Path, Any]
"""New values by their paths."""


@dataclass(frozen=True, slots=True)
class Offers:
    """The search for corrections of one refused call.

    Attributes:
        sent: The arguments as they were sent.
        refused: The refused call.
        faults: What the validator refuses in its arguments.
        validator: The tool's validator.
        reader: The reader of the call.
    """

    sent: Any
    refused: Refused
    faults: Sequence[Fault]
    validator: Validator
    reader: Reader
    _objects: dict[Path, Sequence[Any]] = field(default_factory=dict)

    def of(self, groups: Sequence[FaultGroup]) -> list[tuple[Patch, ...]]:
        """Return the patches for each group of faults, likeliest first; none for a destructive tool.

        With each, the validator accepts the call or, if the call has other faults, this one is gone and no other has
        appeared.
        """
        if self.refused.destructive or not fits_json(self.refused.arguments, _MAX_ARGUMENTS):
            return [()] * len(groups)
        # With so many violations a second fix for each is not worth its size and time.
        most = MAX_OFFERS if len(groups) <= _MAX_GROUPS else 1
        return [self._of_group(group, most) if at < _MAX_GROUPS else () for at, group in enumerate(groups)]

    def _of_group(self, group: FaultGroup, most: int) -> tuple[Patch, ...]:
        if group.count > len(group.places):
            return ()
        found: list[Patch] = []
        paths = [place.path for place in group.places]
        for change in islice(self._changes(group), _MAX_TRIED):
            new = self._changed(change)
            patch = difference(self.refused.arguments, new)
            if (
                not any(same_json([*patch], [*each]) for each in found)  # 1 is not true
                and self._may_be_said(patch, group)
                and self._helps(new, change, patch, paths)
            ):
                found.append(patch)
        if group.rivals:  # one reading alone would decide what is not known
            return tuple(found) if len(found) == len(group.rivals) <= MAX_OFFERS else ()
        return tuple(found[:most])

    def _changed(self, change: Change) -> Any:
        arguments = self.refused.arguments
        for path, new in change.items():
            arguments = with_value(arguments, path, REMOVED if new is ABSENT else plain(new))
        return arguments

    # What may be changed

    def _changes(self, group: FaultGroup) -> Iterator[Change]:
        first = group.places[0]
        if group.rivals:
            yield from ({first.path: value} for value in group.rivals)
        elif group.keyword == "propertyNames":
            yield from self._of_key(group)
        elif group.code in ("missing", "unknown"):
            for length in range(len(first.path) - 1, max(len(first.path) - 3, -1), -1):
                yield from self._of_name(group, first.path[:length]) if len(group.places) == 1 else ()
        else:
            above = (first.path[:length] for length in range(1, len(first.path)))
            yield from ({path: new} for path in above for new in self._read(path, ("out_of_list",)))
            ideas = [islice(self._read(place.path), _MAX_TRIED) for place in group.places]
            paths = [place.path for place in group.places]
            yield from (dict(zip(paths, each, strict=True)) for each in zip(*ideas, strict=False))

    def _read(self, path: Path, only: Sequence[str] = ()) -> Iterator[Any]:
        """Yield the values that the uncertain rules make of a value."""
        place = self.refused.look(path)
        if place.node is None or not place.present or place.secret:
            return
        name = next((part for part in reversed(path[-1:]) if isinstance(part, str)), None)
        optional = self.refused.may_leave_out(place)
        here = self.reader.top._replace(
            node=place.node,
            path=path,
            to=path,
            name=name if place.declared else None,
            optional=optional,
            item=name is None,
        )
        kind = json_type(place.value)
        for rule in LIKELY_RULES:
            is_asked = (
                rule.name in only if only else rule.part == "value" or (rule.part == "absence" and optional)
            )
            if is_asked and kind in rule.takes:
                yield from rule.read(here, place.value)

    def _of_name(self, group: FaultGroup, path: Path) -> Iterator[Change]:
        """Yield the objects in which a missing name is there, or an unknown one is not."""
        wanted = group.places[0].path[len(path) :]
        for new in self._named(path):
            if (value_at(new, wanted) is not REMOVED) is (group.code == "missing"):
                yield {path: new}

    def _named(self, path: Path) -> Sequence[Any]:
        """Return an object with other names, as the uncertain rules make it."""
        owner = self.refused.look(path)
        if path not in self._objects and isinstance(owner.value, dict) and not owner.secret:
            places = [
                self.reader.top._replace(node=way, path=path, to=path, name=None)
                for way in self.refused.meant(owner)[:MAX_OFFERS]
            ]
            rules = [rule for rule in LIKELY_RULES if rule.part == "names"]
            self._objects[path] = [
                new for place in places for rule in rules for new in rule.read(place, owner.value)
            ]
        return self._objects.get(path, ())

    def _of_key(self, group: FaultGroup) -> Iterator[Change]:
        """Yield the map with a wrong key replaced by the one that was likely meant; no entry is overwritten."""
        place, node = group.places[0], group.node
        owner, key = self.refused.look(place.path[:-1]), str(place.path[-1])
        if len(group.places) > 1 or node is None or not isinstance(owner.value, dict):
            return
        near = [name for name in near_values(node, key) if name not in owner.value]
        wrong = (str(each.path[-1]) for each in self.faults if each.kind == "key" and each.path != place.path)
        if len(near) == 1 and not any(
            near_values(node, other) == near for other in islice(wrong, _MAX_GROUPS)
        ):
            yield {owner.path: {near[0] if each == key else each: own for each, own in owner.value.items()}}

    # Whether it helps

    def _helps(self, new: Any, change: Change, patch: Patch, paths: Sequence[Path]) -> bool:
        """Return whether changed arguments are accepted, or these faults are gone and no other has appeared.

        What is moved may need a repair as well.
        """
        if self._has_only_others(new, paths):
            return True
        if all(operation["op"] != "move" for operation in patch):
            return False
        for path in change:
            place = self.refused.look(path)
            if place.node is not None:
                here = Place(place.node, self.reader.top.call, path, path)
                try:
                    read = self.reader.read(here, value_at(new, path), partly=True)
                except OutOfSteps:
                    return False
                new = with_value(new, path, plain(read.value))
        return self._has_only_others(new, paths)

    def _has_only_others(self, arguments: Any, paths: Sequence[Path]) -> bool:
        before = {(fault.path, fault.kind) for fault in self.faults}
        return all(
            (fault.path, fault.kind) in before and not any(_related(fault.path, path) for path in paths)
            for fault in self.validator.issues(arguments)
        )

    # What may be said

    def _may_be_said(self, patch: Patch, group: FaultGroup) -> bool:
        """Return whether a patch also applies to what was sent, and says nothing that must not be said."""
        return bool(patch) and all(
            self._is_as_sent(each) and self._may_name(each) and self._may_show(each, group) for each in patch
        )

    def _is_as_sent(self, operation: Mapping[str, Any]) -> bool:
        """Return whether what an operation changes was sent as it is now, before certain repairs."""
        if operation["op"] == "add":
            return True
        now = self.refused.arguments
        path = _path(now, operation.get("from", operation["path"]))
        if path is None:  # an item that a move has shifted, whose content is compared by the move
            return bool(operation["op"] == "remove")
        return same_json(value_at(self.sent, path), value_at(now, path))

    def _may_name(self, operation: Mapping[str, Any]) -> bool:
        """Return whether an operation contains no key chosen by the caller that may be a value."""
        ends = [tokens_of(operation[end]) for end in ("path", "from") if end in operation]
        return all(
            all(map(exact, tokens))
            and (not tokens or self.refused.look((tokens[0],)).declared or is_name(tokens[0]))
            for tokens in ends
        )

    def _may_show(self, operation: Mapping[str, Any], group: FaultGroup) -> bool:
        """Return whether a value is short, and contains nothing secret or undeclared."""
        if "value" not in operation or operation["value"] in ({}, []):
            return True
        value = operation["value"]
        place = next(
            (each for each in group.places if pointer(each.path) == operation["path"]), group.places[0]
        )
        if place.secret or not fits_json(value, _MAX_VALUE):
            return False
        is_listed = any(value in (way.enum or ()) for way in place.ways)
        return is_listed or (
            self.refused.may_show(place) and not private(place.node, value, self.refused.policy.secret)
        )


def _path(arguments: Any, text: str) -> Path | None:
    """Return the path in arguments that a JSON Pointer names; None if it leads to nothing."""
    path: Path = ()
    for token in tokens_of(text):
        here = value_at(arguments, path)
        path = (*path, int(token) if isinstance(here, list) and token.isdecimal() else token)
    return None if value_at(arguments, path) is REMOVED else path


def _related(one: Path, other: Path) -> bool:
    return one[: len(other)] == other or other[: len(one)] == one


def offers(
    groups: Sequence[FaultGroup],
    refused: Refused,
    faults: Iterable[Fault],
    validator: Validator,
    reader: Reader,
    sent: Any,
) -> list[tuple[Patch, ...]]:
    """Return the patches for each group of faults; see :class:`Offers`."""
    return Offers(sent, refused, tuple(faults), validator, reader).of(groups)
