"""A refused call while it is put into words: its places, its problems, and what must not be repeated of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mcp_lenient.refusal.describe import listed
from mcp_lenient.schema.forms import KEYS, MAX_FORMS, Form, FormReader, Forms, children, declares, names_of
from mcp_lenient.schema.shape import holds
from mcp_lenient.types import Outcome, Path, ValidationIssue, Validator, ViolationCode
from mcp_lenient.values.display import MAX_SCALAR, exact, is_name, place, secret_name, sentence, shown
from mcp_lenient.values.json_values import json_type, same_json
from mcp_lenient.values.names import likeness

if TYPE_CHECKING:
    from mcp_lenient.rules.policy import Policy


class Location(NamedTuple):
    """A place in the arguments, and the value there.

    ``declared`` says whether every name on the way is one of the schema's ``properties``; ``secret``
    whether any of them names or is marked as something that must not be repeated.
    """

    path: Path
    forms: Forms
    value: Any
    present: bool
    declared: bool
    secret: bool


def meant(reader: FormReader, place: Location) -> Forms:
    """Return the union branches that the value most likely targets; all where there is no value, or none fits."""
    if not place.present:
        return place.forms
    return reader.union(place.forms).meant(place.value) or place.forms


def top(reader: FormReader, arguments: Mapping[str, Any]) -> Location:
    """The place of the arguments themselves."""
    return Location((), reader.top, arguments, present=True, declared=True, secret=False)


class Below(NamedTuple):
    """What a schema says of what is below a name or index, whatever is sent there."""

    forms: Forms
    declared: bool
    secret: bool


def below(narrowed: Forms, key: str | int, secrets: Collection[str]) -> Below:
    """What forms say of a name or index below them."""
    declared = isinstance(key, int) or declares(narrowed, key)
    here = children(narrowed, key)[:MAX_FORMS]
    return Below(here, declared, secret_name(key, secrets) or marked_secret(here))


def step_below(above: Location, key: str | int, said: Below) -> Location:
    """The place below another one."""
    present, value = _step(above.value, key) if above.present else (False, None)
    return Location(
        (*above.path, key),
        said.forms,
        value,
        present,
        above.declared and said.declared,
        above.secret or said.secret,
    )


def _step(value: Any, key: str | int) -> tuple[bool, Any]:
    if isinstance(value, Mapping):
        return (True, value[key]) if key in value else (False, None)
    if isinstance(value, (list, tuple)) and isinstance(key, int) and 0 <= key < len(value):
        return True, value[key]
    return False, None


def marked_secret(choices: Forms) -> bool:
    """Whether a schema marks this place as one whose value must not be repeated."""
    return any(form.secret for form in choices)


def private(choices: Forms, value: object, secrets: Collection[str] = ()) -> bool:
    """Whether a value holds a secret, or anything under a name that the schema does not declare."""
    if marked_secret(choices):
        return True
    if not isinstance(value, (Mapping, list)):
        return False
    if isinstance(value, Mapping):
        names = names_of(choices)
        if any(name not in names or secret_name(name, secrets) for name in value):
            return True
    return any(private(children(choices, key), entry, secrets) for key, entry in entries(value))


def entries(value: object) -> Iterable[tuple[Any, Any]]:
    """Return what is in a container, by name or index."""
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(value if isinstance(value, list) else ())


MAX_VISITS = 400
MAX_DEPTH = 64


class KeywordViolation(NamedTuple):
    """A keyword that a value breaks, with what the keyword asks for.

    For ``required`` and ``additionalProperties`` the path ends in the name; ``forms`` are those of the
    value, or of what is missing.
    """

    path: Path
    keyword: str
    forms: Forms
    bound: Any = None


@dataclass(frozen=True, slots=True)
class _Search:
    reader: FormReader
    exact_integers: bool
    visits: Iterator[int]


def findings(
    reader: FormReader, choices: Forms, value: Any, path: Path, *, exact_integers: bool
) -> tuple[KeywordViolation, ...]:
    """What a value breaks, at its place or below it; empty when the schema has nothing against it.

    Looks at a bounded number of values, so that a hostile schema or a large value costs little.
    """
    search = _Search(reader, exact_integers, iter(range(MAX_VISITS)))
    return tuple(_findings(search, choices, value, path))


def _findings(search: _Search, choices: Forms, value: Any, path: Path) -> list[KeywordViolation]:
    if not choices or len(path) > MAX_DEPTH or next(search.visits, None) is None:
        return []
    union = search.reader.union(choices)
    meant = union.meant(value, exact_integers=search.exact_integers)
    if not meant:
        return [KeywordViolation(path, "type", choices)]
    listed = [form for form in meant if _listed(form, value)]
    if not listed:
        return [KeywordViolation(path, "enum", choices)]
    told = search.reader.union(meant).discriminator if isinstance(value, Mapping) else None
    if told is not None:
        tags = search.reader.forms({"enum": list(told.tags)})
        return [KeywordViolation((*path, told.name), "enum" if told.name in value else "required", tags)]
    return min([_in_form(search, form, value, path) for form in listed], key=len)


def _listed(form: Form, value: Any) -> bool:
    listed = form.enum
    if listed is None or (type(value) is str and value in listed):
        return True
    return type(value) is not str and any(same_json(option, value) for option in listed)


def _in_form(search: _Search, form: Form, value: Any, path: Path) -> list[KeywordViolation]:
    found = [KeywordViolation(path, keyword, (form,), bound) for keyword, bound in _broken(form, value)]
    if isinstance(value, Mapping):
        found += _names(search, form, value, path)
    if isinstance(value, (Mapping, list)):
        for key, entry in islice(entries(value), MAX_VISITS):
            found += _findings(search, form.child(key), entry, (*path, key))
    return found


def _broken(form: Form, value: Any) -> Iterator[tuple[str, Any]]:
    for keyword, bounds in form.assertions(json_type(value)):
        for bound in bounds:
            if not holds(keyword, bound, value):
                yield keyword, bound
                break


def _names(search: _Search, form: Form, value: Mapping[Any, Any], path: Path) -> Iterator[KeywordViolation]:
    for name in form.required:
        if name not in value:
            yield KeywordViolation((*path, name), "required", form.child(name))
    if form.closed:
        for name in value:
            if name not in form.properties and not form.child(name):
                yield KeywordViolation((*path, name), "additionalProperties", ())
    keys = search.reader.keys((form,))
    for name in islice(value, MAX_VISITS if keys else 0):
        if _findings(search, keys, name, ()):
            yield KeywordViolation((*path, name), KEYS, keys)


MAX_NAMES = 300
MAX_EXTRA = 20
MAX_INDEX = 32
MAX_COMPARED = 8
MIN_LIKENESS = 0.25
LAST_RESORT = 0.3
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused call: what the tool publishes, what is left of the arguments, and who judges them.

    ``reader`` may be shared by all refusals under one schema. ``again`` says what is still wrong with
    arguments once they are repaired.
    """

    reader: FormReader
    outcome: Outcome
    validator: Validator
    policy: Policy
    destructive: bool = False
    again: Callable[[Mapping[str, Any]], Sequence[ValidationIssue]] | None = field(
        default=None, compare=False
    )
    places: dict[Path, Location] = field(default_factory=dict, compare=False)
    _comparisons: Iterator[int] = field(default_factory=lambda: iter(range(MAX_COMPARED)), compare=False)
    _found: dict[Any, Any] = field(default_factory=dict, compare=False)

    def say(self, words: Callable[[Forms], T], choices: Forms) -> T:
        """Return ``words(choices)``, computed once for each part of the schema."""
        return self.reader.once(words, choices)

    def once(self, function: Callable[[Refusal, Location], T], place: Location) -> T:
        """Return ``function(self, place)``, computed once for each place of this call."""
        key = (function, place.path)
        if key not in self._found:
            self._found[key] = function(self, place)
        found: T = self._found[key]
        return found

    def may_compare(self) -> bool:
        """Return whether one more text may be compared with allowed values letter by letter, which takes long."""
        return next(self._comparisons, None) is not None

    def look(self, path: Path) -> Location:
        """Return what the schema says of a place in the arguments, and the value there."""
        known = self.places.get(path)
        if known is None:
            known = self._step(path) if path else top(self.reader, self.outcome.arguments)
            self.places[path] = known
        return known

    def _step(self, path: Path) -> Location:
        above, key = self.look(path[:-1]), path[-1]
        narrowed = self.meant(above)

        # A client may choose any number of names; the schema's own are few.
        own = key < MAX_INDEX if isinstance(key, int) else declares(narrowed, key)
        secrets = self.policy.secret
        return step_below(
            above,
            key,
            self.reader.once(below, narrowed, key, secrets) if own else below(narrowed, key, secrets),
        )

    def meant(self, place: Location) -> Forms:
        """Return the forms that what stands at a place seems to be meant for."""
        return self.once(_meant, place)

    def names_at(self, parent: Location) -> Names:
        """Return the names at an object, as far as they can be written; bounded."""
        return self.once(_names_at, parent)

    def may_show(self, place: Location) -> bool:
        """Whether the value at a place may be repeated at all."""
        return self.policy.echo_values and place.declared and not place.secret

    def may_leave_out(self, place: Location) -> bool:
        """Whether a property is declared here that need not be sent."""
        if not place.path or not isinstance(place.path[-1], str) or not place.declared:
            return False
        parent = self.look(place.path[:-1])
        return not any(place.path[-1] in form.required for form in parent.forms)


@dataclass(frozen=True, slots=True)
class Names:
    """The names at an object: declared ones it was not sent, required first, and sent ones not declared."""

    absent: tuple[str, ...]
    lacking: tuple[str, ...]
    extra: tuple[str, ...]


def _meant(refusal: Refusal, place: Location) -> Forms:
    return meant(refusal.reader, place)


def _names_at(refusal: Refusal, parent: Location) -> Names:
    sent = parent.value if isinstance(parent.value, Mapping) else {}
    choices = refusal.meant(parent)
    declared = names_of(choices)
    needed = {name for form in choices for name in form.required}
    absent = [name for name in islice(declared, MAX_NAMES) if exact(name) and name not in sent]
    lacking = tuple(name for name in absent if name in needed)
    # A name of another branch is no misspelling of one of this branch.
    known = names_of(parent.forms)
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


MAX_PLACES_TOLD = 3
MAX_DETAIL = 300
MAX_COUNTED = 300
"""Judges and searches stop at some number of issues, so that larger counts would not be true."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, at one place or at several items of a list; ``count`` counts them all.

    ``broken`` are the keywords of the published schema with what they ask for; empty where only the tool
    itself is against the value. ``detail`` is the author's sentence, ``reason`` ours, which holds no value.
    """

    code: ViolationCode
    broken: tuple[tuple[str, Any], ...]
    detail: str | None
    places: tuple[Location, ...]
    forms: Forms
    count: int
    reason: str | None = None


def more_places(problem: Problem) -> str:
    """How many places more a line about one name speaks of."""
    return f" (and so at {problem.count - 1} more places)" if problem.count > 1 else ""


def parameter(path: Path) -> str | None:
    """The top-level name of a path, as it is shown."""
    return shown(path[0]) if path else None


def where(path: Path) -> str:
    """A place in quotes, or the arguments as a whole."""
    return f"'{place(path)}'" if path else "the arguments"


def quoted(name: object) -> str:
    """A name in quotes, as it is shown."""
    return f"'{shown(name)}'"


def is_or_are(problem: Problem) -> str:
    """The verb that goes with :func:`named`."""
    return "are" if problem.count > 1 or not problem.places[0].path else "is"


def named(problem: Problem) -> str:
    """The places of a problem: the first ones, and how many more there are."""
    told = [where(spot.path) for spot in problem.places[:MAX_PLACES_TOLD]]
    rest = problem.count - len(told)
    if rest > 0:
        return f"{', '.join(told)} and {f'{rest} more' if rest <= MAX_COUNTED else f'more than {MAX_COUNTED} others'}"
    return listed(told)


MAX_LOOKED_AT = 2_000
MIN_SUBSTRING = 4


def told_safely(refusal: Refusal, places: Sequence[Location], detail: str | None, limit: int) -> str:
    """The author's sentence in one line; empty where it is about a secret, or repeats one from the call.

    A call too large to be searched for secrets gets no such sentence either.
    """
    if not detail or not all(map(refusal.may_show, places)):
        return ""
    if any(place.path and _holds_secrets(refusal, place) for place in places):
        return ""
    for text in _private_texts(refusal.reader, refusal.outcome.arguments, refusal.policy.secret):
        if text is None or _repeated(text, detail):
            return ""
    return sentence(detail, limit)


def _holds_secrets(refusal: Refusal, place: Location) -> bool:
    """Return whether a sentence about a container may be about a secret in it, of which it may say a part."""
    waiting: list[Any] = [place.value]
    for value in islice(waiting, MAX_LOOKED_AT):
        if isinstance(value, Mapping):
            if any(secret_name(key, refusal.policy.secret) for key in value):
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return len(waiting) > MAX_LOOKED_AT


def above_private_key(refusal: Refusal, path: Path) -> Path | None:
    """Return the place below which a key of a secret map stands in this path; None if there is none.

    The keys that a schema declares are published; any other key below a secret name may be a secret itself.
    """
    for length in range(1, len(path)):
        above, key = refusal.look(path[:length]), path[length]
        hides = isinstance(key, str) and (above.secret or not is_name(key))
        if hides and not declares(above.forms, key):
            return path[:length]
    return None


def _repeated(text: str, detail: str) -> bool:
    if len(text) >= MIN_SUBSTRING:
        return text in detail or repr(text)[1:-1] in detail
    return bool(text) and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", detail) is not None


def _private_texts(
    reader: FormReader, arguments: Mapping[str, Any], secrets: frozenset[str]
) -> Iterator[str | None]:
    """Texts and numbers under secret or undeclared names, and long texts; ``None`` when there is too much."""
    waiting: list[tuple[Forms, Any, bool]] = [(reader.top, arguments, False)]
    looked_at = 0
    while waiting:
        choices, value, private = waiting.pop()
        looked_at += 1
        if looked_at > MAX_LOOKED_AT:
            yield None
            return
        if isinstance(value, (Mapping, list)):
            waiting.extend(_inside(choices, value, secrets, private=private or marked_secret(choices)))
        elif isinstance(value, str) and (private or marked_secret(choices) or len(value) > MAX_SCALAR):
            yield value
        elif isinstance(value, (int, float)) and (private or marked_secret(choices)):
            yield _digits(value)


def _digits(value: float) -> str:
    # Python refuses to write an integer of thousands of digits; no sentence holds one either.
    too_long = isinstance(value, int) and value.bit_length() > 4_000
    return "" if isinstance(value, bool) or too_long else repr(value)


def _inside(
    choices: Forms,
    value: Mapping[str, Any] | list[Any],
    secrets: frozenset[str],
    *,
    private: bool,
) -> Iterator[tuple[Forms, Any, bool]]:
    declared = names_of(choices)
    named = isinstance(value, Mapping)
    for key, entry in entries(value):
        if private and named and isinstance(key, str) and key not in declared:
            yield (), key, True
        yield (
            children(choices, key),
            entry,
            private or (named and (key not in declared or secret_name(key, secrets))),
        )
