"""A refused call as it is looked at while it is put into words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from mcp_lenient.redaction import exact
from mcp_lenient.refusal.likeness import likeness
from mcp_lenient.refusal.places import Place, Schema, look_below, meant, properties, required
from mcp_lenient.types import Judge, Outcome, Path

if TYPE_CHECKING:
    from mcp_lenient.policy import Policy

MAX_NAMES = 300
MAX_EXTRA = 20
MIN_LIKENESS = 0.25
LAST_RESORT = 0.3


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused call: what the tool publishes, what is left of the arguments, and who judges them."""

    schema: Schema
    outcome: Outcome
    judge: Judge
    policy: Policy
    places: dict[Path, Place] = field(default_factory=dict, compare=False)
    homes: dict[Path, dict[str, list[Path]]] = field(default_factory=dict, compare=False)

    def look(self, path: Path) -> Place:
        """What the schema says of a place in the arguments, and what stands there."""
        known = self.places.get(path)
        if known is None:
            above = self.look(path[:-1]) if path else None
            known = self.places[path] = look_below(
                self.schema, self.outcome.arguments, above, path, self.policy.secret
            )
        return known

    def may_show(self, place: Place) -> bool:
        """Whether the value at a place may be repeated at all."""
        return self.policy.echo_values and place.declared and not place.secret

    def may_leave_out(self, place: Place) -> bool:
        """Whether a property is declared here that need not be sent."""
        if not place.path or not isinstance(place.path[-1], str) or not place.declared:
            return False
        parent = self.look(place.path[:-1])
        return not any(place.path[-1] in required(form) for form in parent.forms)


@dataclass(frozen=True, slots=True)
class Names:
    """The names at an object: declared ones it was not sent, required first, and sent ones not declared."""

    absent: tuple[str, ...]
    lacking: tuple[str, ...]
    extra: tuple[str, ...]


def names_at(parent: Place) -> Names:
    """The names at an object, as far as they can be written; bounded."""
    sent = parent.value if isinstance(parent.value, Mapping) else {}
    choices = meant(parent)
    declared = dict.fromkeys(name for form in choices for name in properties(form))
    needed = {name for form in choices for name in required(form)}
    absent = [name for name in islice(declared, MAX_NAMES) if exact(name) and name not in sent]
    lacking = tuple(name for name in absent if name in needed)
    # A name of another branch is no misspelling of one of this branch.
    known = {name for form in parent.forms for name in properties(form)}
    extra = tuple(islice((name for name in sent if exact(name) and name not in known), MAX_EXTRA))
    return Names((*lacking, *(name for name in absent if name not in needed)), lacking, extra)


def likely_name(names: Names, sent: str, name: str) -> float:
    """How likely a name that was sent stands for a declared one that was not.

    Names that have nothing in common may be one thing only where both are alone: one name too many,
    and one required name missing.
    """
    alike = likeness(sent, name)
    if alike >= MIN_LIKENESS:
        return alike
    return LAST_RESORT if alike >= 0 and names.lacking == (name,) and names.extra == (sent,) else 0.0
