"""Select the branch of a union that a value targets.

By JSON type, then by the discriminator; without one, by a required name that only one branch declares. A step that
would rule out every branch is skipped. ``engine.repair`` repairs a misspelled discriminator before it asks here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, Protocol, TypeVar

from mcp_lenient.schema.shape import Shape
from mcp_lenient.values.json_values import json_type, same_json

_MAX_NESTED_UNIONS: Final = 16
"""Nested unions whose JSON types are collected: ``allOf`` and ``$ref`` can multiply them endlessly."""


class Branch(Protocol):
    """The interface of a union branch."""

    @property
    def types(self) -> Collection[str] | None:
        """The accepted JSON types; None for all."""
        ...

    @property
    def properties(self) -> Mapping[str, Any]:
        """The declared properties."""
        ...

    @property
    def required(self) -> Collection[str]:
        """The required names."""
        ...

    def constants(self, name: str) -> tuple[Any, ...] | None:
        """Return the values allowed for a declared property; None if it is not limited to any."""
        ...


BranchT = TypeVar("BranchT", bound=Branch)


def fits(types: Collection[str] | None, value: Any, *, exact_integers: bool = False) -> bool:
    """Return whether a value is of one of the JSON types.

    An integer is also a number; ``7.0`` is an integer unless ``exact_integers`` is set.

    >>> fits({"number"}, 7), fits({"integer"}, 7.0), fits({"integer"}, 7.0, exact_integers=True)
    (True, True, False)
    """
    return _fits_as(json_type(value), types, value, exact_integers=exact_integers)


def _fits_as(kind: str, types: Collection[str] | None, value: Any, *, exact_integers: bool) -> bool:
    """Return whether a value of a known JSON type is of one of the types."""
    if types is None or kind in types or (kind == "integer" and "number" in types):
        return True
    return kind == "number" and "integer" in types and not exact_integers and value.is_integer()


def families(branches: Iterable[Shape], shape_at: Callable[[Any], Shape]) -> frozenset[str]:
    """Return the JSON types of branches and their nested unions; integers count as numbers, null is left out."""
    found: set[str] = set()
    waiting = list(branches)
    for at, shape in enumerate(waiting):
        if shape.branches and at < _MAX_NESTED_UNIONS:
            waiting += map(shape_at, shape.branches)
        found.update(shape.types or map(json_type, shape.enum or ()))
    return frozenset("number" if name == "integer" else name for name in found) - {"null"}


@dataclass(frozen=True, slots=True)
class Discriminator(Generic[BranchT]):
    """A property whose constants identify the branches of a union.

    Attributes:
        name: The property.
        tags: Its constants, in the order of the schema.
        owners: The branch of each tag; the key is whether the tag is a boolean, and the tag.
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
    """The branches of a union, and the ways to select one for a value."""

    def __init__(self, branches: Sequence[BranchT]) -> None:
        self.branches = tuple(branches)

    @cached_property
    def discriminator(self) -> Discriminator[BranchT] | None:
        """The first property with distinct constants (strings, integers or booleans) in all object branches."""
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
        """The branch of each required name that no other branch declares."""
        declared = Counter(name for branch in self.branches for name in branch.properties)
        return {
            name: branch
            for branch in self.branches
            for name in branch.required
            if declared[name] == 1 and name in branch.properties
        }

    def fitting(self, value: Any, *, exact_integers: bool = False) -> tuple[BranchT, ...]:
        """Return the branches that accept the JSON type of a value."""
        kind = json_type(value)
        return tuple(
            [
                branch
                for branch in self.branches
                if _fits_as(kind, branch.types, value, exact_integers=exact_integers)
            ]
        )

    def certain(self, value: Any, *, exact_integers: bool = False) -> tuple[BranchT, ...]:
        """Return the branches selected by the JSON type and the discriminator of a value.

        No other branch can accept the value, so a repair may rely on them. Empty if no branch accepts the type.
        """
        fitting = self.fitting(value, exact_integers=exact_integers)
        if len(fitting) < 2 or not isinstance(value, Mapping) or self.discriminator is None:
            return fitting
        owner = self.discriminator.owner(value.get(self.discriminator.name))
        return fitting if owner is None else (owner,)

    def meant(self, value: Any, *, exact_integers: bool = False) -> tuple[BranchT, ...]:
        """Return the branches that a refused value most likely targets.

        Starts from :meth:`certain`; without a discriminator, the branches' required names decide.
        """
        certain = self.certain(value, exact_integers=exact_integers)
        if len(certain) < 2 or not isinstance(value, Mapping) or self.discriminator is not None:
            return certain
        owners = {id(owner): owner for name in value if (owner := self._own_names.get(name)) is not None}
        return tuple(owners.values()) if len(owners) == 1 else certain

    def possible(self, value: Any) -> tuple[BranchT, ...]:
        """Return the branches whose constants match an accepted value."""
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
