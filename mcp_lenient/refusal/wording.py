"""A refused call while it is put into words: what the schema asks for, what was sent, and what must not be repeated."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mcp_lenient.schema.node import KEYS, MAX_FORMS, Form, FormReader, Forms, children, declares, names_of
from mcp_lenient.schema.shape import holds
from mcp_lenient.schema.unions import Disambiguator
from mcp_lenient.types import Outcome, Path, ValidationIssue, Validator, ViolationCode
from mcp_lenient.values.display import (
    MAX_SCALAR,
    cut,
    exact,
    first_sentence,
    fits_json,
    in_json,
    is_name,
    place,
    secret_name,
    sentence,
    short_scalar,
    shown,
)
from mcp_lenient.values.json_values import json_type, same_json
from mcp_lenient.values.names import likeness

if TYPE_CHECKING:
    from mcp_lenient.rules.policy import Policy


MAX_TYPES = 8
MAX_VALUES = 50
MAX_VALUES_IN_TEXT = 20
MAX_VALUES_TEXT = 300
MAX_DESCRIPTION = 120
MAX_WORDED_DEPTH = 3
ANY_NAME = "key"
_PLURALS = {
    "string": "strings",
    "integer": "integers",
    "number": "numbers",
    "boolean": "booleans",
    "array": "arrays",
    "object": "objects",
    "null": "null",
}
_AN = ("array", "integer", "object")
FORMATS = {
    "date-time": 'a date and time such as "2026-01-31T09:30:00Z"',
    "date": 'a date such as "2026-01-31"',
    "time": 'a time such as "09:30:00Z"',
    "duration": 'a duration such as "PT1H30M"',
    "email": 'an email address such as "name@example.com"',
    "uuid": 'a UUID such as "123e4567-e89b-12d3-a456-426614174000"',
    "uri": 'a URI such as "https://example.com/a"',
    "ipv4": 'an IPv4 address such as "192.0.2.1"',
    "ipv6": 'an IPv6 address such as "2001:db8::1"',
    "json-string": 'JSON in a text such as "[1, 2]"',
}
LIMITS = {
    "minimum": "be at least {}",
    "maximum": "be at most {}",
    "exclusiveMinimum": "be greater than {}",
    "exclusiveMaximum": "be less than {}",
    "multipleOf": "be a multiple of {}",
    "minLength": "be at least {} characters long",
    "maxLength": "be at most {} characters long",
    "pattern": "match the pattern {}",
    "minItems": "hold at least {} items",
    "maxItems": "hold at most {} items",
    "uniqueItems": "hold no item twice",
    "contains": "hold at least one item of the kind the schema asks for",
    "minProperties": "hold at least {} properties",
    "maxProperties": "hold at most {} properties",
}


_SINGULAR = {"items": "item", "characters": "character", "properties": "property"}
_ONE = re.compile("|".join(_SINGULAR))


def type_words(choices: Forms) -> tuple[str, ...]:
    """The types that are expected, such as ``array of strings``; ``null`` comes last."""
    words = [word for form in choices for word in _form_words(form, 0)]
    return tuple(sorted(dict.fromkeys(words), key=lambda word: word == "null"))[:MAX_TYPES]


def _form_words(form: Form, depth: int) -> Iterable[str]:
    return [_list_words(form, depth) if kind == "array" else kind for kind in likely_kinds(form)]


def likely_kinds(form: Form) -> tuple[str, ...]:
    """The JSON types a form names, or else those of the values it lists or the keywords it uses."""
    named = form.types
    if named is not None:
        known = len(named) == 1 and named[0] in _PLURALS
        return named if known else tuple(kind for kind in named if kind in _PLURALS)
    listed = form.enum
    if listed is not None:
        return tuple(dict.fromkeys(json_type(value) for value in listed[:MAX_VALUES]))
    return ("object",) if form.properties else ()


def _list_words(form: Form, depth: int) -> str:
    if depth >= MAX_WORDED_DEPTH or form.prefix:
        return "array"
    below = [word for item in form.child(0) for word in _form_words(item, depth + 1)]
    names = tuple(dict.fromkeys(map(_plural, below)))
    return f"array of {' or '.join(names)}" if 0 < len(names) <= MAX_WORDED_DEPTH else "array"


def _plural(word: str) -> str:
    kind, _, rest = word.partition(" ")
    return " ".join(filter(None, (_PLURALS[kind], rest)))


def with_article(word: str) -> str:
    """A type word as it stands in a sentence: ``an array of strings``, ``null``."""
    kind = word.partition(" ")[0]
    if kind == "null":
        return word
    return f"{'an' if kind in _AN else 'a'} {word}"


def expected(choices: Forms, *, brief: bool = False) -> str:
    """What is expected, in one phrase: ``an array of strings or null``; empty when anything is.

    What the next word could be read as part of comes last.

    Args:
        choices: The forms that the value may have.
        brief: Without a sample of the format that a string has.
    """
    free = tuple(form for form in choices if form.enum is None)
    words = list(type_words(free))
    values = [
        value for value in allowed_values(choices, partly=True) if value is not None or "null" not in words
    ]
    told = Disambiguator(free).discriminator
    if told is not None and "object" in words:
        words[words.index("object")] = f"object whose {in_json(told.name)} is {one_of(told.tags)}"
    nullable = "null" in words
    phrases = [_phrase(free, word, brief=brief) for word in words if word != "null"]
    phrases += [one_of(values)] if values else []
    return _alternatives([*phrases, "null"] if nullable else phrases)


def _alternatives(phrases: list[str]) -> str:
    """The choices in words, last those that the word behind them could be read as part of."""
    if len(phrases) < 2:
        return "".join(phrases)
    behind = [phrase for phrase in phrases if _is_open_ended(phrase)]
    first = either([phrase for phrase in phrases if phrase not in behind])
    return ", or ".join(filter(None, (first, *behind)))


def _is_open_ended(phrase: str) -> bool:
    """Whether a word behind a phrase could be read as part of it: ``an object whose values are integers``."""
    nested = phrase.count(" of ") > 1 or (" of " in phrase and " or " in phrase)
    return " whose " in phrase or (phrase.startswith("an array of ") and (nested or ": " in phrase))


def _phrase(free: Forms, word: str, *, brief: bool) -> str:
    """A type in a sentence, with the format of a string and the positions of an array that has them."""
    if word == "string":
        found = dict.fromkeys(format_of(form) for form in free if "string" in likely_kinds(form))
        known = [FORMATS.get(each or "", "") for each in found]
        if all(known):
            brief_words = [each.partition(" such as")[0] for each in known]
            return f"{either(brief_words)} as a string" if brief else f"a string ({either(known)})"
    if word == "array" and not brief:
        return _positions(free) or with_article(word)
    if word == "object" and not brief:
        return _map_words(free) or with_article(word)
    return with_article(word)


def _map_words(free: Forms) -> str:
    """An object of any names: ``an object whose values are integers``."""
    objects = [form for form in free if "object" in likely_kinds(form)]
    if len(objects) != 1 or objects[0].properties:
        return ""
    values = type_words(objects[0].child(ANY_NAME))
    return (
        f"an object whose values are {' or '.join(map(_plural, values))}"
        if 0 < len(values) <= MAX_WORDED_DEPTH
        else ""
    )


def format_of(form: Form) -> str | None:
    """The format that a form names for a string; ``json-string`` where it is to hold JSON."""
    if "application/json" in form.says("contentMediaType"):
        return "json-string"
    return next((each for each in form.says("format") if isinstance(each, str)), None)


def _positions(free: Forms) -> str:
    """An array whose items have a schema each: ``an array of 2 items: an integer and a string``."""
    leading = [form for form in free if form.prefix]
    if len(leading) != 1 or len(leading[0].prefix) > MAX_TYPES:
        return ""
    form = leading[0]
    items = [expected(form.child(at), brief=True) or "anything" for at in range(len(form.prefix))]
    closed = any(items is False for items in form.says("items")) or len(items) in form.says("maxItems")
    count = f"{len(items)} item{'s' if len(items) > 1 else ''}" if closed else "items in this order"
    return f"an array of {count}: {listed(items)}"


def either(phrases: list[str]) -> str:
    """A list of choices in words.

    >>> either(["a", "b", "c"])
    'a, b or c'
    """
    if len(phrases) < 2:
        return "".join(phrases)
    return f"{', '.join(phrases[:-1])} or {phrases[-1]}"


def listed(phrases: list[str]) -> str:
    """All of some things in words.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    if len(phrases) < 2:
        return "".join(phrases)
    return f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def allowed_values(choices: Forms, *, partly: bool = False) -> tuple[Any, ...]:
    """The values a place is limited to, short scalars only; empty unless every form but null lists some."""
    found: list[Any] = []
    for form in choices:
        listed = form.enum
        if listed is None and not partly and likely_kinds(form) != ("null",):
            return ()
        found.extend(listed or ())
    scalars = {(type(value), value): value for value in found if short_scalar(value)}
    return tuple(scalars.values())


def allowed(choices: Forms) -> tuple[Any, ...]:
    """Return the values a place is limited to, as many as are told."""
    return allowed_values(choices)[:MAX_VALUES]


def one_of(values: Iterable[Any]) -> str:
    """Values in JSON, as many as a line holds; the rest is counted."""
    scalars = [value for value in values if short_scalar(value)]
    if len(scalars) == 1:
        return in_json(scalars[0])
    kept: list[str] = []
    for text in map(in_json, scalars[:MAX_VALUES_IN_TEXT]):
        if sum(map(len, kept)) + len(text) > MAX_VALUES_TEXT:
            break
        kept.append(text)
    rest = len(scalars) - len(kept)
    return f"one of {', '.join(kept)}{f' and {rest} more' if rest else ''}"


def limit_words(keyword: str, bound: object) -> str | None:
    """What a keyword with this bound asks for, after "must"."""
    if keyword == "format":
        several = bound if isinstance(bound, tuple) else (bound,)
        return either(
            [
                f"be {FORMATS.get(str(each)) or f'in the format {in_json(cut(str(each), 40))}'}"
                for each in several
            ]
        ).replace(" or be ", " or ")
    template = LIMITS.get(keyword)
    if template is None:
        return None
    text = cut(in_json(bound), 200) if isinstance(bound, (int, float, str)) else ""
    words = template.format(text)
    return _ONE.sub(lambda found: _SINGULAR[found[0]], words) if text == "1" else words


def description(choices: Forms) -> str:
    """The first sentence of the author's description."""
    said = (text for form in choices for text in form.says("description"))
    return next(filter(None, (first_sentence(text, MAX_DESCRIPTION) for text in said)), "")


MAX_WORDED_NAMES = 12
MAX_TEXT = 400
MAX_BRANCHES = 4


def shape(choices: Forms) -> str:
    """The properties of the one object, or of the items of the one list, that is expected; or nothing.

    >>> point = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    >>> from mcp_lenient.schema.node import FormReader
    >>> shape(FormReader(point).top)
    " It has 'x' (an integer)."
    """
    free = [form for form in choices if likely_kinds(form) != ("null",)]
    if 1 < len(free) <= MAX_BRANCHES and all(form.properties for form in free):
        return _branches(free)
    if len(free) != 1:
        return ""
    if free[0].properties:
        return _told(free[0], "It has")
    items = free[0].child(0) if likely_kinds(free[0]) == ("array",) else ()
    if len(items) == 1 and items[0].properties:
        return _told(items[0], "Each item has")
    return (
        _branches(items, "Each item has")
        if 1 < len(items) <= MAX_BRANCHES and all(form.properties for form in items)
        else ""
    )


def _branches(branches: Sequence[Form], opening: str = "It has") -> str:
    """What each object of a union requires: their other properties would make it long."""
    told: list[str] = []
    for form in branches:
        needed = [name for name in form.required if exact(name) and name in form.properties]
        if not needed:
            return ""
        told.append(listed(list(_within(form, needed, MAX_WORDED_NAMES // len(branches)))))
    return f" {opening} either {', or '.join(told)}."


def _told(form: Form, opening: str) -> str:
    names = [name for name in form.properties if exact(name)]
    needed = [name for name in form.required if name in names]
    others = [name for name in names if name not in set(needed)]
    told_needed = list(_within(form, needed))
    told_others = list(_within(form, others, MAX_WORDED_NAMES - len(told_needed)))
    may_have = opening.replace("has", "may have")
    parts = [f"{opening} {listed(told_needed)}"] if told_needed else []
    if told_others:
        parts.append(f"may have {listed(told_others)}" if parts else f"{may_have} {listed(told_others)}")
    return f" {', and '.join(parts)}." if parts else ""


def _within(form: Form, names: list[str], most: int = MAX_WORDED_NAMES) -> Iterator[str]:
    used = 0
    for at, name in enumerate(names):
        kind = expected(form.child(name), brief=True)
        text = f"'{name}'{f' ({kind})' if kind else ''}"
        used += len(text)
        if at >= most or used > MAX_TEXT:
            yield f"{len(names) - at} more"
            return
        yield text


MAX_EXAMPLE = 160
MAX_OPTIONAL = 2
_SCALAR_EXAMPLES: Mapping[str, tuple[Any, ...]] = {
    "string": ("a", "b"),
    "integer": (1, 2),
    "number": (1.5, 2),
    "boolean": (True,),
}


def example(choices: Forms) -> str | None:
    """A tiny value of the expected shape in JSON; ``None`` when none is small or certain enough."""
    for form in choices:
        found = _examples(form, 0)
        if found and likely_kinds(form)[:1] != ("null",) and fits_json(found[0], MAX_EXAMPLE):
            return in_json(found[0])
    return None


def _examples(form: Form, depth: int) -> tuple[Any, ...]:
    values = form.enum
    if values is not None:
        return tuple(values[:2])
    kind = next((kind for kind in likely_kinds(form) if kind != "null"), "")
    if depth < MAX_WORDED_DEPTH and kind == "array":
        return _list_example(form, depth)
    if depth < MAX_WORDED_DEPTH and kind == "object":
        return _object_example(form, depth)
    return tuple(value for value in _samples(form, kind) if _keeps(form, value))


def _samples(form: Form, kind: str) -> tuple[Any, ...]:
    """Values to try: of a format its own, of a number also its limits."""
    known = format_of(form)
    if kind == "string" and known is not None:
        words = FORMATS.get(known, "").partition(" such as ")[2]
        return (words.strip('"'),) if words and known != "json-string" else ()
    if kind in ("integer", "number"):
        limits = (*form.says("minimum"), *form.says("maximum"))
        return (*_SCALAR_EXAMPLES[kind], *(limit for limit in limits if json_type(limit) == kind))
    return _SCALAR_EXAMPLES.get(kind, ())


def _keeps(form: Form, value: object) -> bool:
    return all(holds(keyword, bound, value) for keyword in LIMITS for bound in form.says(keyword))


def _list_example(form: Form, depth: int) -> tuple[Any, ...]:
    if form.prefix:
        return _positions_example(form, depth)
    for item in form.child(0):
        found = _examples(item, depth + 1)
        if found:
            built = list(found[: 1 if isinstance(found[0], (list, dict)) else 2])
            return tuple(value for value in (built, built[:1]) if _keeps(form, value))[:1]
    return ()


def _positions_example(form: Form, depth: int) -> tuple[Any, ...]:
    count = len(form.prefix)
    if count > MAX_TYPES:
        return ()
    found = [
        next(filter(None, (_examples(item, depth + 1) for item in form.child(at))), ()) for at in range(count)
    ]
    return ([values[0] for values in found],) if all(found) else ()


def _object_example(form: Form, depth: int) -> tuple[Any, ...]:
    declared = form.properties
    needed = [name for name in form.required if exact(name)]
    names = needed or [name for name in declared if exact(name)][:MAX_OPTIONAL] or [ANY_NAME]
    built: dict[str, Any] = {}
    for name in names:
        found = next(filter(None, (_examples(sub, depth + 1) for sub in form.child(name))), ())
        if found:
            built[name] = found[0]
        elif needed:
            return ()
    return (built,) if built else ()


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
    found = [_in_form(search, form, value, path) for form in listed]
    if len(found) > 1 and all(_is_format_alone(each, path) for each in found):
        # A text that has none of several formats: all of them are told.
        return [KeywordViolation(path, "format", tuple(listed), tuple(each[0].bound for each in found))]
    return min(found, key=len)


def _is_format_alone(found: list[KeywordViolation], path: Path) -> bool:
    return len(found) == 1 and found[0].keyword == "format" and found[0].path == path


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
    tool: str | None = None
    places: dict[Path, Location] = field(default_factory=dict, compare=False)
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
    ``expected_types`` are those that the author says; empty where the schema's count.
    """

    code: ViolationCode
    broken: tuple[tuple[str, Any], ...]
    detail: str | None
    places: tuple[Location, ...]
    forms: Forms
    count: int
    reason: str | None = None
    expected_types: tuple[str, ...] = ()


def more_places(problem: Problem) -> str:
    """How many places more a line about one name speaks of."""
    more = problem.count - 1
    return f" (and at {more} other {'place' if more == 1 else 'places'})" if more else ""


def parameter(path: Path) -> str | None:
    """The top-level name of a path, as it is shown."""
    return shown(path[0]) if path else None


def where(path: Path) -> str:
    """A place in quotes, or the arguments as a whole."""
    return f"'{place(path, quoted=True)}'" if path else "the arguments"


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
