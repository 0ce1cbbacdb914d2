"""Which branch of a union a value is meant for: decided here, and nowhere else.

By JSON type, then by the discriminator; where there is none, by a required name that only one branch knows. A step
that would rule out every branch decides nothing. A discriminator in another spelling is a repair: ``engine.repair``
reads it first, and then asks here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, Protocol, TypeVar

from mcp_lenient.schema.shape import Shape
from mcp_lenient.values.json_values import json_type, same_json

_UNIONS_OPENED: Final = 16
"""Unions within a union of which the JSON types are looked at: ``allOf`` and ``$ref`` can multiply them without end."""


class Branch(Protocol):
    """What is asked of a branch."""

    @property
    def types(self) -> Collection[str] | None:
        """The JSON types that it admits; None where it admits all."""
        ...

    @property
    def properties(self) -> Mapping[str, Any]:
        """The properties that it declares."""
        ...

    @property
    def required(self) -> Collection[str]:
        """The names that must be sent."""
        ...

    def constants(self, name: str) -> tuple[Any, ...] | None:
        """Return the values that a declared property is limited to; None where there is no such limit."""
        ...


BranchT = TypeVar("BranchT", bound=Branch)


def fits(types: Collection[str] | None, value: Any, *, exact_integers: bool = False) -> bool:
    """Whether JSON types admit a value: an integer is a number, and ``7.0`` an integer unless those are exact.

    >>> fits({"number"}, 7), fits({"integer"}, 7.0), fits({"integer"}, 7.0, exact_integers=True)
    (True, True, False)
    """
    kind = json_type(value)
    if types is None or kind in types or (kind == "integer" and "number" in types):
        return True
    return kind == "number" and "integer" in types and not exact_integers and value.is_integer()


def families(branches: Iterable[Shape], shape_at: Callable[[Any], Shape]) -> frozenset[str]:
    """The JSON types of branches, integers and numbers as one, null as none; unions in them are looked into."""
    found: set[str] = set()
    waiting = list(branches)
    for at, shape in enumerate(waiting):
        if shape.branches and at < _UNIONS_OPENED:
            waiting += map(shape_at, shape.branches)
        found.update(shape.types or map(json_type, shape.enum or ()))
    return frozenset("number" if name == "integer" else name for name in found) - {"null"}


@dataclass(frozen=True, slots=True)
class Discriminator(Generic[BranchT]):
    """A property whose constants tell branches apart.

    Attributes:
        name: The property.
        tags: Its constants, in the order of the schema.
        owners: The branch of each tag, by whether the tag is a boolean and its value.
    """

    name: str
    tags: tuple[Any, ...]
    owners: Mapping[tuple[bool, Any], BranchT]

    def owner(self, tag: Any) -> BranchT | None:
        """Return the branch of a tag, or None."""
        return self.owners.get(_tag_key(tag)) if isinstance(tag, (str, int, float)) else None


def _tag_key(tag: Any) -> tuple[bool, Any]:
    return isinstance(tag, bool), tag


class Disambiguator(Generic[BranchT]):
    """What tells the branches of a union apart.

    Args:
        branches: The branches, in the order of the schema.
    """

    def __init__(self, branches: Sequence[BranchT]) -> None:
        self.branches = tuple(branches)

    @cached_property
    def discriminator(self) -> Discriminator[BranchT] | None:
        """The first property whose constants are texts, integers or booleans and differ between the objects."""
        objects = [branch for branch in self.branches if branch.properties]
        if len(objects) < 2:
            return None
        shared = set.intersection(*(set(branch.properties) for branch in objects))
        for name in (name for name in objects[0].properties if name in shared):
            found = _tagged_by(name, objects)
            if found is not None:
                return found
        return None

    @cached_property
    def _own_names(self) -> Mapping[str, BranchT]:
        """The required names that no other branch declares, each with its branch."""
        declared = Counter(name for branch in self.branches for name in branch.properties)
        return {
            name: branch
            for branch in self.branches
            for name in branch.required
            if declared[name] == 1 and name in branch.properties
        }

    def fitting(self, value: Any, *, exact_integers: bool = False) -> tuple[BranchT, ...]:
        """Return the branches that admit the JSON type of a value."""
        return tuple(
            [branch for branch in self.branches if fits(branch.types, value, exact_integers=exact_integers)]
        )

    def told(self, value: Any, *, exact_integers: bool = False) -> tuple[BranchT, ...]:
        """Return the branches that the JSON type and the discriminator of a value leave.

        A repair may follow these: no other branch takes the value. Where no branch admits the type there is none.
        """
        fitting = self.fitting(value, exact_integers=exact_integers)
        if len(fitting) < 2 or not isinstance(value, Mapping) or self.discriminator is None:
            return fitting
        owner = self.discriminator.owner(value.get(self.discriminator.name))
        return fitting if owner is None else (owner,)

    def meant(self, value: Any, *, exact_integers: bool = False) -> tuple[BranchT, ...]:
        """Return the branches that a refused value was most likely meant for.

        As :meth:`told`; where the branches have no discriminator, then by their required names.
        """
        told = self.told(value, exact_integers=exact_integers)
        if len(told) < 2 or not isinstance(value, Mapping) or self.discriminator is not None:
            return told
        owners = {id(owner): owner for name in value if (owner := self._own_names.get(name)) is not None}
        return tuple(owners.values()) if len(owners) == 1 else told

    def possible(self, value: Any) -> tuple[BranchT, ...]:
        """Return the branches that no constant in an accepted value speaks against."""
        fitting = self.fitting(value)
        if not isinstance(value, Mapping):
            return fitting
        return tuple(branch for branch in fitting if not _contradicts(branch, value))


def _tagged_by(name: str, objects: Sequence[BranchT]) -> Discriminator[BranchT] | None:
    owners: dict[tuple[bool, Any], BranchT] = {}
    for branch in objects:
        tags = branch.constants(name)
        if not tags or not all(isinstance(tag, (str, int)) for tag in tags):
            return None
        if any(owners.setdefault(_tag_key(tag), branch) is not branch for tag in tags):
            return None
    return Discriminator(name, tuple(tag for _, tag in owners), owners)


def _contradicts(branch: Branch, value: Mapping[Any, Any]) -> bool:
    declared = branch.properties
    constants = ((sent, branch.constants(name)) for name, sent in value.items() if name in declared)
    return any(
        listed is not None and not any(same_json(sent, each) for each in listed) for sent, listed in constants
    )
