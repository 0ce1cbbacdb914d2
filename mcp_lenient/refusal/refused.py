"""A refused call as it is looked at while it is put into words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from mcp_lenient.likeness import likeness
from mcp_lenient.redaction import exact, is_name
from mcp_lenient.refusal.places import (
    Below,
    Forms,
    Place,
    Schema,
    below,
    meant,
    properties,
    required,
    step_below,
    top,
)
from mcp_lenient.types import Fault, Judge, Outcome, Path

if TYPE_CHECKING:
    from mcp_lenient.policy import Policy

MAX_NAMES = 300
MAX_EXTRA = 20
MAX_WORDS = 2_000
MAX_INDEX = 32
MAX_COMPARED = 8
MIN_LIKENESS = 0.25
LAST_RESORT = 0.3

T = TypeVar("T")
Words = dict[Any, tuple[Forms, Any]]
"""What was said of parts of one schema: by function and parts, with the parts, so that no id is used again."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused call: what the tool publishes, what is left of the arguments, and who judges them.

    ``words`` may be shared by all refusals under one schema and policy. ``again`` says what is still wrong with
    arguments once they are repaired.
    """

    schema: Schema
    outcome: Outcome
    judge: Judge
    policy: Policy
    words: Words = field(default_factory=dict, compare=False)
    destructive: bool = False
    again: Callable[[Mapping[str, Any]], Sequence[Fault]] | None = field(default=None, compare=False)
    places: dict[Path, Place] = field(default_factory=dict, compare=False)
    _comparisons: Iterator[int] = field(default_factory=lambda: iter(range(MAX_COMPARED)), compare=False)
    _found: dict[Any, Any] = field(default_factory=dict, compare=False)

    def say(self, words: Callable[[Schema, Forms], T], choices: Forms) -> T:
        """Return ``words(schema, choices)``, computed once for each part of the schema."""
        return self._said(words, choices, lambda: words(self.schema, choices))

    def once(self, function: Callable[[Refusal, Place], T], place: Place) -> T:
        """Return ``function(self, place)``, computed once for each place of this call."""
        key = (function, place.path)
        if key not in self._found:
            self._found[key] = function(self, place)
        found: T = self._found[key]
        return found

    def may_compare(self) -> bool:
        """Return whether one more text may be compared with allowed values letter by letter, which takes long."""
        return next(self._comparisons, None) is not None

    def look(self, path: Path) -> Place:
        """What the schema says of a place in the arguments, and what stands there."""
        known = self.places.get(path)
        if known is None:
            known = self._step(path) if path else top(self.schema, self.outcome.arguments)
            self.places[path] = known
        return known

    def _step(self, path: Path) -> Place:
        above, key = self.look(path[:-1]), path[-1]
        narrowed = self.once(_meant, above)

        def found() -> Below:
            return below(self.schema, narrowed, key, self.policy.secret)

        # A client may choose any number of names; the schema's own are few.
        own = key < MAX_INDEX if isinstance(key, int) else any(key in properties(form) for form in narrowed)
        return step_below(above, key, self._said(key, narrowed, found) if own else found())

    def _said(self, what: object, choices: Forms, compute: Callable[[], T]) -> T:
        key = (what, *(tuple(map(id, form)) for form in choices))
        known = self.words.get(key)
        if known is None:
            if len(self.words) >= MAX_WORDS:
                self.words.clear()
            known = self.words[key] = choices, compute()
        said: T = known[1]
        return said

    def names_at(self, parent: Place) -> Names:
        """Return the names at an object, as far as they can be written; bounded."""
        return self.once(_names_at, parent)

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


def _meant(_refusal: Refusal, place: Place) -> Forms:
    return meant(place)


def _names_at(_refusal: Refusal, parent: Place) -> Names:
    sent = parent.value if isinstance(parent.value, Mapping) else {}
    choices = meant(parent)
    declared = dict.fromkeys(name for form in choices for name in properties(form))
    needed = {name for form in choices for name in required(form)}
    absent = [name for name in islice(declared, MAX_NAMES) if exact(name) and name not in sent]
    lacking = tuple(name for name in absent if name in needed)
    # A name of another branch is no misspelling of one of this branch.
    known = {name for form in parent.forms for name in properties(form)}
    extra = tuple(
        islice((name for name in sent if exact(name) and is_name(name) and name not in known), MAX_EXTRA)
    )
    return Names((*lacking, *(name for name in absent if name not in needed)), lacking, extra)


def likely_name(names: Names, sent: str, name: str) -> float:
    """How likely a name that was sent stands for a declared one that was not.

    Names that have nothing in common may be one thing only where both are alone: one name too many,
    and one required name missing.
    """
    alike = likeness(sent, name)
    if alike >= MIN_LIKENESS:
        return alike
    alone = alike >= 0 and names.lacking == (name,) and names.extra == (sent,)
    nearer = alone and any(likeness(sent, other) >= MIN_LIKENESS for other in names.absent)
    return LAST_RESORT if alone and not nearer else 0.0
