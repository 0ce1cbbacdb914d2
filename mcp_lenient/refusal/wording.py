"""Put a refused call into words: what the schema expects, what was sent, and what must not be repeated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mcp_lenient.rules.units import named_units_differ, units_differ
from mcp_lenient.schema.checks import holds
from mcp_lenient.schema.node import (
    KEYS,
    MAX_FORMS,
    Form,
    FormReader,
    Forms,
    any_fits,
    children,
    declares,
    names_of,
)
from mcp_lenient.schema.unions import Disambiguator
from mcp_lenient.types import Outcome, Path, ValidationIssue, Validator, ViolationCode
from mcp_lenient.values.display import (
    MAX_NAME,
    MAX_SCALAR,
    cut,
    exact,
    first_sentence,
    fits_json,
    in_json,
    is_name,
    name_words,
    place,
    secret_name,
    sentence,
    short_scalar,
    shown,
)
from mcp_lenient.values.json_values import json_type, same_json
from mcp_lenient.values.language import ONE_OF_A_TYPE, Language, language, marked
from mcp_lenient.values.limits import MOST_ISSUES
from mcp_lenient.values.names import added_words, fold_case, likeness

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
    "string": marked("strings"),
    "integer": marked("integers"),
    "number": marked("numbers"),
    "boolean": marked("booleans"),
    "array": marked("arrays"),
    "object": marked("objects"),
    "null": marked("null"),
}
FORMATS = {
    "date-time": (marked("a date and time"), '"2026-01-31T09:30:00Z"'),
    "date": (marked("a date"), '"2026-01-31"'),
    "time": (marked("a time"), '"09:30:00Z"'),
    "duration": (marked("a duration"), '"PT1H30M"'),
    "email": (marked("an email address"), '"name@example.com"'),
    "uuid": (marked("a UUID"), '"123e4567-e89b-12d3-a456-426614174000"'),
    "uri": (marked("a URI"), '"https://example.com/a"'),
    "ipv4": (marked("an IPv4 address"), '"192.0.2.1"'),
    "ipv6": (marked("an IPv6 address"), '"2001:db8::1"'),
    "json-string": (marked("JSON text"), '"[1, 2]"'),
}
"""The formats of strings in words, with a sample of each."""
LIMITS = {
    "minimum": marked("be at least {bound}"),
    "maximum": marked("be at most {bound}"),
    "exclusiveMinimum": marked("be greater than {bound}"),
    "exclusiveMaximum": marked("be less than {bound}"),
    "multipleOf": marked("be a multiple of {bound}"),
    "pattern": marked("match the pattern {bound}"),
    "uniqueItems": marked("contain no item twice"),
    "contains": marked("contain at least one item of the kind that the schema requires"),
}
"""What keywords require, to follow "must"."""


def marked_plural(one: str, many: str) -> tuple[str, str]:
    """Return both forms of a text unchanged; marks them for the catalogs."""
    return one, many


COUNTS = {
    "minLength": marked_plural("be at least {bound} character long", "be at least {bound} characters long"),
    "maxLength": marked_plural("be at most {bound} character long", "be at most {bound} characters long"),
    "minItems": marked_plural("have at least {bound} item", "have at least {bound} items"),
    "maxItems": marked_plural("have at most {bound} item", "have at most {bound} items"),
    "minProperties": marked_plural("have at least {bound} property", "have at least {bound} properties"),
    "maxProperties": marked_plural("have at most {bound} property", "have at most {bound} properties"),
}
"""What keywords that count require, to follow "must"."""
_BOUNDED = frozenset((*LIMITS, *COUNTS)) - {"contains"}
_Range = tuple[tuple[str, Any], ...]
"""Limits of one value, by keyword."""


class Kind(NamedTuple):
    """A JSON type; of an array also the types of its items, if they are few."""

    name: str
    items: tuple[Kind, ...] = ()

    @property
    def word(self) -> str:
        """The kind as ``expected_types`` has it: ``array of strings``."""
        return f"{self.name}{self._of_items}"

    @property
    def _of_items(self) -> str:
        items = " or ".join([f"{_PLURALS[item.name]}{item._of_items}" for item in self.items])  # noqa: SLF001 - its own class
        return f" of {items}" if items else ""


_NULL = Kind("null")


def type_words(choices: Forms) -> tuple[str, ...]:
    """Return the expected types, such as ``array of strings``; ``null`` comes last."""
    return tuple([kind.word for kind in _kinds(choices)])


def _kinds(choices: Forms) -> tuple[Kind, ...]:
    found = _each_once(kind for form in choices for kind in _form_kinds(form, 0))
    return tuple(sorted(found, key=lambda kind: kind == _NULL))[:MAX_TYPES]


def _each_once(kinds: Iterable[Kind]) -> Iterable[Kind]:
    found: dict[str, Kind] = {}
    for kind in kinds:
        found.setdefault(kind.word, kind)
    return found.values()


def _form_kinds(form: Form, depth: int) -> Iterable[Kind]:
    return [_list_kind(form, depth) if name == "array" else Kind(name) for name in likely_kinds(form)]


def likely_kinds(form: Form) -> tuple[str, ...]:
    """Return the JSON types of a form, or else of the values it lists or the keywords it uses."""
    named = form.types
    if named is not None:
        known = len(named) == 1 and named[0] in _PLURALS
        return named if known else tuple(kind for kind in named if kind in _PLURALS)
    listed = form.enum
    if listed is not None:
        return tuple(dict.fromkeys(json_type(value) for value in listed[:MAX_VALUES]))
    return ("object",) if form.properties else ()


def _list_kind(form: Form, depth: int) -> Kind:
    if depth >= MAX_WORDED_DEPTH or form.prefix:
        return Kind("array")
    items = tuple(_each_once(kind for item in form.child(0) for kind in _form_kinds(item, depth + 1)))
    return Kind("array", items if len(items) <= MAX_WORDED_DEPTH else ())


def with_article(kind: Kind, words: Language) -> str:
    """Return a type in a sentence: ``an array of strings``, ``null``."""
    if not kind.items:
        return words(ONE_OF_A_TYPE[kind.name])
    return words("an array of {items}", items=_several(kind.items, words))


def _several(kinds: Iterable[Kind], words: Language) -> str:
    return words.any_of(
        [
            words("arrays of {items}", items=_several(kind.items, words))
            if kind.items
            else words(_PLURALS[kind.name])
            for kind in kinds
        ]
    )


def types_in_words(names: Iterable[str], words: Language) -> str:
    """Return JSON types in a sentence: ``an array or an object``."""
    return words.either([words(ONE_OF_A_TYPE[name]) for name in names])


def named_type(word: str, words: Language) -> str:
    """Return a type that an author wrote for ``expected_types`` in a sentence; unchanged if it is not one of ours."""
    name, _, items = word.partition(" of ")
    singular = {plural: one for one, plural in _PLURALS.items()}
    parts = items.split(" or ") if items else []
    if name not in _PLURALS or any(part not in singular for part in parts):
        return word
    return with_article(Kind(name, tuple(Kind(singular[part]) for part in parts)), words)


def kinds_in_words(choices: Forms, words: Language) -> str:
    """Return the expected types in a sentence, without values and formats; empty if any is accepted."""
    return words.either([with_article(kind, words) for kind in _kinds(choices)])


class _Phrase(NamedTuple):
    """A type in a sentence; ``is_open`` if the next choice could be read as part of it."""

    text: str
    is_open: bool = False


def expected(choices: Forms, words: Language, *, brief: bool = False) -> str:
    """Return what is expected in one phrase: ``an array of strings or null``; empty if anything is accepted.

    ``brief`` leaves out samples of string formats.
    """
    free = tuple(form for form in choices if form.enum is None)
    found = _kinds(free)
    is_nullable = _NULL in found
    values = [value for value in allowed_values(choices, partly=True) if value is not None or not is_nullable]
    phrases = [_phrase(free, kind, words, brief=brief) for kind in found if kind != _NULL]
    phrases += [_Phrase(one_of(values, words))] if values else []
    phrases += [_Phrase(words("null"))] if is_nullable else []
    if len(phrases) < 2:
        return "".join(phrase.text for phrase in phrases)
    # A phrase that could absorb the next choice comes last.
    first = words.either([phrase.text for phrase in phrases if not phrase.is_open])
    return words.apart([text for text in (first, *(each.text for each in phrases if each.is_open)) if text])


def _phrase(free: Forms, kind: Kind, words: Language, *, brief: bool) -> _Phrase:
    """Return a type in a sentence, with the format of a string, and the items of an array with positions."""
    if kind.name == "object":
        return _object_phrase(free, words, brief=brief)
    if kind.name == "string":
        found = dict.fromkeys(format_of(form) for form in free if "string" in likely_kinds(form))
        known = [each for each in found if each in FORMATS]
        if len(known) == len(found):
            formats = words.either([format_words(each, words, brief=brief) for each in known])
            if brief:
                return _Phrase(words("{formats} as a string", formats=formats))
            return _Phrase(words("a string ({formats})", formats=formats))
    if kind.name == "array" and not brief:
        positions = _positions(free, words)
        if positions:
            return _Phrase(positions, is_open=True)
    nested = len(kind.items) > 1 or any(item.items for item in kind.items)
    return _Phrase(with_article(kind, words), is_open=nested)


def format_words(name: str, words: Language, *, brief: bool = False) -> str:
    """Return a format of strings in words, such as ``a date such as "2026-01-31"``; ``brief`` without the sample."""
    thing, sample = FORMATS[name]
    return words(thing) if brief else words("{thing} such as {sample}", thing=words(thing), sample=sample)


def _object_phrase(free: Forms, words: Language, *, brief: bool) -> _Phrase:
    """Return an object in a sentence: with its discriminator, or the types of its values if any name is accepted."""
    told = Disambiguator(free).discriminator
    if told is not None:
        values = one_of(told.tags, words)
        text = words("an object whose {name} is {values}", name=in_json(told.name), values=values)
        return _Phrase(text, is_open=True)
    objects = [] if brief else [form for form in free if "object" in likely_kinds(form)]
    if len(objects) == 1 and not objects[0].properties:
        kinds = _kinds(objects[0].child(ANY_NAME))
        if 0 < len(kinds) <= MAX_WORDED_DEPTH:
            items = _several(kinds, words)
            return _Phrase(words("an object whose values are {items}", items=items), is_open=True)
    return _Phrase(with_article(Kind("object"), words))


def format_of(form: Form) -> str | None:
    """Return the format of a string; ``json-string`` if it must contain JSON."""
    if "application/json" in form.says("contentMediaType"):
        return "json-string"
    return next((each for each in form.says("format") if isinstance(each, str)), None)


def _positions(free: Forms, words: Language) -> str:
    """Return an array with a schema for each item: ``an array of 2 items: an integer and a string``."""
    leading = [form for form in free if form.prefix]
    if len(leading) != 1 or len(leading[0].prefix) > MAX_TYPES:
        return ""
    form, count = leading[0], len(leading[0].prefix)
    items = words.all_of(
        [expected(form.child(at), words, brief=True) or words("anything") for at in range(count)]
    )
    if any(rest is False for rest in form.says("items")) or count in form.says("maxItems"):
        return words.plural(
            "an array of {count} item: {items}", "an array of {count} items: {items}", count, items=items
        )
    return words("an array of items in this order: {items}", items=items)


def allowed_values(choices: Forms, *, partly: bool = False) -> tuple[Any, ...]:
    """Return the allowed values, short scalars only; empty unless every form but null lists some."""
    found: list[Any] = []
    for form in choices:
        listed = form.enum
        if listed is None and not partly and likely_kinds(form) != ("null",):
            return ()
        found.extend(listed or ())
    scalars = {(type(value), value): value for value in found if short_scalar(value)}
    return tuple(scalars.values())


def allowed(choices: Forms) -> tuple[Any, ...]:
    """Return as many allowed values as a violation may list."""
    return allowed_values(choices)[:MAX_VALUES]


def one_of(values: Iterable[Any], words: Language) -> str:
    """Return values in JSON, as many as fit into a line, and the number of the others."""
    scalars = [value for value in values if short_scalar(value)]
    if len(scalars) == 1:
        return in_json(scalars[0])
    kept: list[str] = []
    for text in map(in_json, scalars[:MAX_VALUES_IN_TEXT]):
        if sum(map(len, kept)) + len(text) > MAX_VALUES_TEXT:
            break
        kept.append(text)
    return words("one of {values}", values=and_more(words.comma(kept), len(scalars) - len(kept), words))


def and_more(some: str, rest: int, words: Language) -> str:
    """Return the first items of a list and the number of the others, if there are any."""
    return words("{some} and {count} more", some=some, count=rest) if rest else some


def limit_words(keyword: str, bound: object, words: Language) -> str | None:
    """Return what a keyword with this bound requires, to follow "must"."""
    if keyword == "format":
        several = bound if isinstance(bound, tuple) else (bound,)
        return words("be {thing}", thing=words.either([_format_named(str(each), words) for each in several]))
    if keyword in _BOUNDED and isinstance(bound, tuple):
        return words.apart(
            [words.both([limit_words(name, each, words) or "" for name, each in limits]) for limits in bound]
        )
    if keyword == "oneOf":
        return words("have only one of {names}", names=words.all_of(_quoted_names(bound)))
    if keyword == "not":
        names = _quoted_names(bound.get("required") if isinstance(bound, Mapping) and len(bound) == 1 else ())
        return words("not have {names} together", names=words.all_of(names)) if len(names) > 1 else None
    text = cut(in_json(bound), 200) if isinstance(bound, (int, float, str)) else ""
    if keyword in COUNTS:
        number = bound if type(bound) is int else 2
        return words.plural(*COUNTS[keyword], number, bound=text)
    template = LIMITS.get(keyword)
    return None if template is None else words(template, bound=text)


def _quoted_names(names: Any) -> list[str]:
    shown_names = (quoted(name) for name in names or () if isinstance(name, str) and is_name(name))
    return list(islice(shown_names, MAX_WORDED_NAMES))


def _format_named(name: str, words: Language) -> str:
    if name in FORMATS:
        return format_words(name, words)
    return words("in the format {name}", name=in_json(cut(name, 40)))


def description(choices: Forms) -> str:
    """Return the first sentence of the author's description."""
    said = (text for form in choices for text in form.says("description"))
    return next(filter(None, (first_sentence(text, MAX_DESCRIPTION) for text in said)), "")


MAX_WORDED_NAMES = 12
MAX_TEXT = 400
MAX_BRANCHES = 4


class _Opening(NamedTuple):
    """How a sentence about an object begins: the object itself, or each item of a list."""

    required: str
    optional: str
    both: str
    branches: str


_IT = _Opening(
    marked("It has {required}."),
    marked("It may have {optional}."),
    marked("It has {required}, and may have {optional}."),
    marked("It has either {branches}."),
)
_EACH_ITEM = _Opening(
    marked("Each item has {required}."),
    marked("Each item may have {optional}."),
    marked("Each item has {required}, and may have {optional}."),
    marked("Each item has either {branches}."),
)


def shape(choices: Forms, words: Language) -> str:
    """Return a sentence about the properties of the expected object, or of the items of the expected list, or "".

    >>> point = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    >>> from mcp_lenient.schema.node import FormReader
    >>> shape(FormReader(point).top, Language())
    "It has 'x' (an integer)."
    """
    free = [form for form in choices if likely_kinds(form) != ("null",)]
    text = _properties(free, _IT, words)
    if text or len(free) != 1 or free[0].properties or likely_kinds(free[0]) != ("array",):
        return text
    return _properties(free[0].child(0), _EACH_ITEM, words)


def _properties(forms: Sequence[Form], opening: _Opening, words: Language) -> str:
    if not all(form.properties for form in forms):
        return ""
    if len(forms) == 1:
        return _declared(forms[0], opening, words)
    return _branches(forms, opening, words) if 1 < len(forms) <= MAX_BRANCHES else ""


def _branches(branches: Sequence[Form], opening: _Opening, words: Language) -> str:
    """Return what each object of a union requires, without the optional properties."""
    told: dict[str, None] = {}
    for form in branches:
        needed = [name for name in form.required if exact(name) and name in form.properties]
        if not needed:
            return ""
        told[words.all_of(list(_within(form, needed, words, MAX_WORDED_NAMES // len(branches))))] = None
    if len(told) == 1:
        return words(opening.required, required=next(iter(told)))
    return words(opening.branches, branches=words.apart(list(told)))


def _declared(form: Form, opening: _Opening, words: Language) -> str:
    names = [name for name in form.properties if exact(name)]
    needed = [name for name in form.required if name in names]
    others = [name for name in names if name not in set(needed)]
    told = list(_within(form, needed, words))
    required = words.all_of(told)
    optional = words.all_of(list(_within(form, others, words, MAX_WORDED_NAMES - len(told))))
    if required and optional:
        return words(opening.both, required=required, optional=optional)
    if optional:
        return words(opening.optional, optional=optional)
    return words(opening.required, required=required) if required else ""


def _within(form: Form, names: list[str], words: Language, most: int = MAX_WORDED_NAMES) -> Iterator[str]:
    used = 0
    for at, name in enumerate(names):
        kind = expected(form.child(name), words, brief=True)
        text = words("'{name}' ({kind})", name=name, kind=kind) if kind else f"'{name}'"
        used += len(text)
        if at >= most or used > MAX_TEXT:
            yield words("{count} more", count=len(names) - at)
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
    """Return a tiny value of the expected shape in JSON; None if none is small and certain enough."""
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
    """Return values to try: the sample of a format, or the limits of a number."""
    known = format_of(form)
    if kind == "string" and known is not None:
        sample = FORMATS[known][1] if known in FORMATS else ""
        return (sample.strip('"'),) if sample and known != "json-string" else ()
    if kind in ("integer", "number"):
        limits = (*form.says("minimum"), *form.says("maximum"))
        return (*_SCALAR_EXAMPLES[kind], *(limit for limit in limits if json_type(limit) == kind))
    return _SCALAR_EXAMPLES.get(kind, ())


def _keeps(form: Form, value: object) -> bool:
    return all(holds(keyword, bound, value) for keyword in (*LIMITS, *COUNTS) for bound in form.says(keyword))


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
        if not found and depth and not (declared or form.closed or form.child(name)):
            found = _SCALAR_EXAMPLES["string"]
        if found:
            built[name] = found[0]
        elif needed:
            return ()
    return (built,) if built else ()


class Location(NamedTuple):
    """A location in the arguments, and its value.

    ``declared`` says whether every name in the path is in the schema's ``properties``; ``secret`` whether any of
    them is the name of a secret, or marked as one.
    """

    path: Path
    forms: Forms
    value: Any
    present: bool
    declared: bool
    secret: bool


def _value_at(value: Any, key: str | int) -> tuple[bool, Any]:
    if isinstance(value, Mapping):
        return (True, value[key]) if key in value else (False, None)
    if isinstance(value, (list, tuple)) and isinstance(key, int) and 0 <= key < len(value):
        return True, value[key]
    return False, None


def marked_secret(choices: Forms) -> bool:
    """Return whether a schema marks a value as secret."""
    return any(form.secret for form in choices)


def private(choices: Forms, value: object, secrets: Collection[str] = ()) -> bool:
    """Return whether a value contains a secret, or anything under an undeclared name."""
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
    """Return the entries of a container by name or index."""
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(value if isinstance(value, list) else ())


MAX_VISITS = 400
MAX_DEPTH = 64


class KeywordViolation(NamedTuple):
    """A keyword that a value violates, and the keyword's value.

    For ``required`` and ``additionalProperties`` the path ends in the name; ``forms`` are those of the value, or of
    the missing one.
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
    """Return the keywords that a value violates, itself or below it; empty if the schema accepts it.

    Checks a bounded number of values, so that a hostile schema or a large value costs little.
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
        # A string in none of several formats: name all of them.
        return [KeywordViolation(path, "format", tuple(listed), tuple(each[0].bound for each in found))]
    if len(found) > 1 and all(_is_name_alone(each, path) for each in found):
        # One of several names is enough: name the others too.
        others = dict.fromkeys(each[0].path[-1] for each in found[1:] if each[0].path != found[0][0].path)
        return [found[0][0]._replace(bound=tuple(others))]
    taking = [form for form, each in zip(listed, found, strict=True) if not each]
    if len(taking) > 1 and not all(holds("oneOf", bound, value) for bound in taking[0].says("oneOf")):
        names = dict.fromkeys(name for form in taking for name in form.required)
        own = tuple(name for name in names if not all(name in form.required for form in taking))
        return [KeywordViolation(path, "oneOf", tuple(taking), own)] if own else []
    least = min(found, key=len)
    ranges = _ranges(listed, value) if all(_are_limits(each, path) for each in found) else ()
    return [least[0]._replace(forms=tuple(listed), bound=ranges)] if len(ranges) > 1 else least


def _is_format_alone(found: list[KeywordViolation], path: Path) -> bool:
    return len(found) == 1 and found[0].keyword == "format" and found[0].path == path


def _are_limits(found: list[KeywordViolation], path: Path) -> bool:
    return bool(found) and all(each.path == path and each.keyword in _BOUNDED for each in found)


def _ranges(forms: Sequence[Form], value: Any) -> tuple[_Range, ...]:
    """Return the different ranges that several forms limit values of a type to; empty if they are too many to name."""
    kind = json_type(value)
    limits = ([(name, each) for name, bounds in form.assertions(kind) for each in bounds] for form in forms)
    ranges = dict.fromkeys(tuple(each for each in own if each[0] in _BOUNDED) for own in limits)
    return tuple(ranges) if len(ranges) <= MAX_BRANCHES else ()


def _is_name_alone(found: list[KeywordViolation], path: Path) -> bool:
    return len(found) == 1 and found[0].keyword == "required" and found[0].path[:-1] == path


def _listed(form: Form, value: Any) -> bool:
    listed = form.enum
    if listed is None or (type(value) is str and value in listed):
        return True
    return type(value) is not str and any(same_json(option, value) for option in listed)


def _in_form(search: _Search, form: Form, value: Any, path: Path) -> list[KeywordViolation]:
    conditional = map(search.reader.forms, _conditional(form, value))
    # Which branch of a union a condition means is not known.
    own = (form, *(choices[0] for choices in conditional if len(choices) == 1))
    return [found for each in own for found in _by_itself(search, each, value, path)]


def _conditional(form: Form, value: Any) -> Iterator[object]:
    """Yield the schemas that a form's conditions apply to a value, without those of their own conditions."""
    for part in form.parts:
        if "if" in part:
            branch = "else" if holds("not", part["if"], value) else "then"
            yield part.get(branch)
        if isinstance(value, Mapping):
            for name, schema in part.get("dependentSchemas", {}).items():
                if name in value:
                    yield schema


def _by_itself(search: _Search, form: Form, value: Any, path: Path) -> list[KeywordViolation]:
    found = [KeywordViolation(path, keyword, (form,), bound) for keyword, bound in _broken(form, value)]
    if isinstance(value, Mapping):
        found += _names(search, form, value, path)
    elif isinstance(value, list) and _is_beyond_prefix(form, value):
        found.append(KeywordViolation(path, "maxItems", (form,), len(form.prefix)))
    if isinstance(value, (Mapping, list)):
        for key, entry in islice(entries(value), MAX_VISITS):
            found += _findings(search, form.child(key), entry, (*path, key))
    return found


def _is_beyond_prefix(form: Form, value: Sequence[Any]) -> bool:
    is_closed = any(rest is False for rest in form.says("items"))
    return is_closed and 0 < len(form.prefix) < len(value)


def _broken(form: Form, value: Any) -> Iterator[tuple[str, Any]]:
    for keyword, bounds in form.assertions(json_type(value)):
        for bound in bounds:
            if not holds(keyword, bound, value):
                yield keyword, bound
                break


def _names(search: _Search, form: Form, value: Mapping[Any, Any], path: Path) -> Iterator[KeywordViolation]:
    dependent = (
        name
        for needed in form.says("dependentRequired")
        for given, names in needed.items()
        if given in value
        for name in names
    )
    for name in dict.fromkeys((*form.required, *dependent)):
        if name not in value:
            yield KeywordViolation((*path, name), "required", form.child(name))
    if form.closed:
        for name in islice(value, MOST_ISSUES):
            if name not in form.properties and not form.child(name):
                yield KeywordViolation((*path, name), "additionalProperties", ())
    keys = search.reader.keys((form,))
    for name in islice(value, MAX_VISITS if keys else 0):
        if _findings(search, keys, name, ()):
            yield KeywordViolation((*path, name), KEYS, keys)


MAX_NAMES = 300
MAX_EXTRA = 20
MIN_LIKENESS = 0.5
MIN_SPELLING = 0.95
LAST_RESORT = 0.3
MAX_INITIALS = 2
_SAY_NOTHING = frozenset("is are was has have do does".split())
"""Auxiliary verbs of English, which do not change the sense of a boolean."""
IDENTIFIERS = frozenset(
    {"id", "ids", "identifier", "identifiers", "uuid", "uuids", "guid", "guids", "uid", "uids"}
)
"""Last words of names whose value is an identifier: under another name it would identify something else."""
WRAPPERS = frozenset("args arguments params parameters kwargs input inputs properties".split())
"""Names that clients put around the arguments, as one word."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused call: the tool's published schema, the partly repaired arguments, and the tool's validator.

    ``reader`` may be shared by all refusals under one schema. ``again`` returns the remaining issues of arguments
    after repair. ``as_texts`` says that a client can send nothing but strings. ``words`` is the language of the messages.
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
    as_texts: bool = False
    words: Language = field(init=False, compare=False)
    places: dict[Path, Location] = field(default_factory=dict, compare=False)
    _found: dict[Any, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", language(self.policy.language))

    def of_schema(self, function: Callable[[Forms], T], choices: Forms) -> T:
        """Return ``function(choices)``, computed once for each part of the schema."""
        return self.reader.once(function, choices)

    def say(self, function: Callable[[Forms, Language], str], choices: Forms) -> str:
        """Return ``function(choices, words)``, computed once for each part of the schema and language."""
        return self.reader.once(function, choices, self.words)

    def once(self, function: Callable[[Refusal, Location], T], place: Location) -> T:
        """Return ``function(self, place)``, computed once for each location of this call."""
        key = (function, place.path)
        if key not in self._found:
            self._found[key] = function(self, place)
        found: T = self._found[key]
        return found

    def look(self, path: Path) -> Location:
        """Return the location of a path in the arguments."""
        known = self.places.get(path)
        if known is None:
            known = self._step(path) if path else self._top()
            self.places[path] = known
        return known

    def _top(self) -> Location:
        return Location(
            (), self.reader.top, self.outcome.arguments, present=True, declared=True, secret=False
        )

    def _step(self, path: Path) -> Location:
        above, key = self.look(path[:-1]), path[-1]
        narrowed = self.meant(above)
        forms = children(narrowed, key)[:MAX_FORMS]
        present, value = _value_at(above.value, key) if above.present else (False, None)
        declared = above.declared and (isinstance(key, int) or declares(narrowed, key))
        secret = above.secret or secret_name(key, self.policy.secret) or marked_secret(forms)
        return Location(path, forms, value, present, declared, secret)

    def meant(self, place: Location) -> Forms:
        """Return the union branches that the value most likely targets; all where there is no value, or none fits."""
        return self.once(_meant, place)

    def names_at(self, parent: Location) -> Names:
        """Return the names of an object that can be repeated; bounded."""
        return self.once(_names_at, parent)

    def may_show(self, place: Location) -> bool:
        """Return whether the value at a location may be repeated."""
        return self.policy.echo_values and place.declared and not place.secret

    def may_leave_out(self, place: Location) -> bool:
        """Return whether a location is a declared, optional property."""
        if not place.path or not isinstance(place.path[-1], str) or not place.declared:
            return False
        parent = self.look(place.path[:-1])
        return not any(place.path[-1] in form.required for form in parent.forms)


@dataclass(frozen=True, slots=True)
class Names:
    """Names of an object: declared but not sent (required ones first), required but not sent, and undeclared."""

    absent: tuple[str, ...]
    lacking: tuple[str, ...]
    extra: tuple[str, ...]


def _meant(refusal: Refusal, place: Location) -> Forms:
    if not place.present:
        return place.forms
    return refusal.reader.union(place.forms).meant(place.value) or place.forms


def _names_at(refusal: Refusal, parent: Location) -> Names:
    sent = parent.value if isinstance(parent.value, Mapping) else {}
    choices = refusal.meant(parent)
    declared = names_of(choices)
    needed = {name for form in choices for name in form.required}
    absent = [name for name in islice(declared, MAX_NAMES) if exact(name) and name not in sent]
    lacking = tuple(name for name in absent if name in needed)
    # A name of another branch is not a misspelling of one of this branch.
    known = names_of(parent.forms)
    extra = tuple(
        islice((name for name in sent if exact(name) and _may_be_name(name) and name not in known), MAX_EXTRA)
    )
    return Names((*lacking, *(name for name in absent if name not in needed)), lacking, extra)


_NAME = re.compile(r"[\w .$@#/*?\[\]-]+")
"""The characters of names: a key with any others is likely a piece of text."""
_WRITTEN_PATH = re.compile(r"[\w$-]+(?:\.[\w$-]+|\[\d{1,3}\])+")
_STEP = re.compile(r"[\w$-]+")
MAX_STEPS = 16
"""Steps of the longest name that is read as a path."""


def _may_be_name(key: str) -> bool:
    return is_name(key) and _NAME.fullmatch(key) is not None


def path_in(refusal: Refusal, parent: Location, sent: str) -> Path:
    """Return the path into a declared list or object that a name is written as (``rows[0].name``), else ()."""
    steps = _STEP.findall(sent) if _WRITTEN_PATH.fullmatch(sent) else []
    if not 0 < len(steps) <= MAX_STEPS or not declares(refusal.meant(parent), steps[0]):
        return ()
    path: Path = (*parent.path, steps[0])
    for step in steps[1:]:
        kinds = _kinds_at(refusal, path)
        if len(path) == len(parent.path) + 1 and kinds.isdisjoint(("array", "object")):
            return ()
        path = (*path, int(step) if step.isdecimal() and (f"[{step}]" in sent or "array" in kinds) else step)
    return path


def likely_name(refusal: Refusal, parent: Location, sent: str, name: str) -> float:
    """Return how likely a sent name was meant as a declared one that was not sent; 0 if it is another name."""
    if len(sent) > MAX_NAME:
        return 0.0
    alike = likeness(sent, name)
    if alike <= MIN_LIKENESS:
        is_meant = _is_wrapper(refusal, parent, sent, name) or _is_said_otherwise(refusal, parent, sent, name)
        return LAST_RESORT if is_meant else 0.0
    if _case_tells_units(sent, name) or _is_of_another(refusal, parent, sent):
        return 0.0
    added = added_words(sent, name) or added_words(name, sent)
    # A word or an ending more may turn a boolean: `no_cache`, `stateless`.
    if _is_boolean(refusal, (*parent.path, name), parent.value.get(sent)):
        is_same = alike >= MIN_SPELLING if added is None else added.words <= _SAY_NOTHING
        return alike if is_same else 0.0
    # A word in front may turn a filter: `excluded_tags`.
    if added is not None and not added.behind:
        path = (*parent.path, name)
        is_wanted = name in refusal.names_at(parent).lacking or _declares_all(
            refusal, path, parent.value.get(sent)
        )
        return alike if is_wanted else 0.0
    return alike


_Likely = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Matches:
    """Undeclared names with the declared ones that each may be meant as, and the latter's likeness.

    ``contested`` are declared names that may be meant by several undeclared ones.
    """

    likely: _Likely
    contested: frozenset[str]

    def is_clear(self, sent: str) -> bool:
        """Return whether no other undeclared name may be meant as any of the declared names of this one."""
        return self.contested.isdisjoint(self.likely.get(sent, ()))

    def meant_by(self, sent: str) -> list[str]:
        """Return the declared names that an undeclared one may be meant as, likeliest first."""
        found = self.likely.get(sent, {})
        return sorted(found, key=lambda name: -found[name])

    def meaning(self, name: str) -> list[str]:
        """Return the undeclared names that may be meant as a declared one, likeliest first."""
        found = {sent: names[name] for sent, names in self.likely.items() if name in names}
        return sorted(found, key=lambda sent: -found[sent])


def matches(refusal: Refusal, parent: Location) -> Matches:
    """Return which undeclared names of an object may be meant as which declared ones.

    A spelling of a name comes before any other, and an undeclared name that can only be one declared name before one
    that can be several: with ``user`` and ``email`` for ``user_name`` and ``user_email``, ``user`` is ``user_name``.
    """
    return refusal.once(_matches, parent)


def _matches(refusal: Refusal, parent: Location) -> Matches:
    names = refusal.names_at(parent)
    likely: _Likely = {
        sent: {name: score for name in names.absent if (score := likely_name(refusal, parent, sent, name))}
        for sent in names.extra
    }
    spelled = {sent: _spellings(found) for sent, found in likely.items()}
    # A name that is written as a path means a part of a value.
    others = {
        sent: found
        for sent, found in likely.items()
        if "]." not in sent and not path_in(refusal, parent, sent)
    }
    likely = _without_taken({sent: spelled[sent] or others.get(sent, {}) for sent in likely}, spelled, names)
    while True:
        alone = {sent: found for sent, found in likely.items() if len(found) == 1}
        left = _without_taken(likely, alone, names)
        if left == likely:
            break
        likely = left
    counts = Counter(name for found in likely.values() for name in found)
    return Matches(likely, frozenset(name for name, count in counts.items() if count > 1))


def _spellings(found: Mapping[str, float]) -> dict[str, float]:
    return {name: score for name, score in found.items() if score >= MIN_SPELLING}


def _without_taken(likely: _Likely, takers: _Likely, names: Names) -> dict[str, Mapping[str, float]]:
    """Return the matches without those of other names to a declared one that some name takes.

    A name whose match is taken is only matched to missing ones from then on: it may as well be none of the tool's.
    """
    taken = {name for found in takers.values() for name in found}
    left: dict[str, Mapping[str, float]] = {}
    for sent, found in likely.items():
        own = takers.get(sent, {})
        lost = taken.intersection(found).difference(own)
        kept = {
            name for name in found if name not in lost and (not lost or name in own or name in names.lacking)
        }
        left[sent] = {name: score for name, score in found.items() if name in kept}
    return left


def may_hold_other_value(refusal: Refusal, parent: Location, sent: str, name: str) -> bool:
    """Return whether a name may be meant for another one that nevertheless takes another value.

    A number has another unit (``timeout`` and ``timeout_ms``), or the words another order (``lat_lon`` and ``lon_lat``).
    """
    words, declared = name_words(sent), name_words(name)
    if words != declared and sorted(words) == sorted(declared):
        return True
    added = added_words(sent, name) or added_words(name, sent)
    value = parent.value.get(sent) if isinstance(parent.value, Mapping) else None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    kinds = _kinds_at(refusal, (*parent.path, name))
    return added is not None and added.behind and (is_number or not kinds.isdisjoint(("integer", "number")))


def _is_boolean(refusal: Refusal, path: Path, value: object) -> bool:
    return isinstance(value, bool) or _kinds_at(refusal, path) - {"null"} == {"boolean"}


def _kinds_at(refusal: Refusal, path: Path) -> set[str]:
    return {kind for form in refusal.look(path).forms for kind in likely_kinds(form)}


def _declares_all(refusal: Refusal, path: Path, value: object) -> bool:
    """Return whether a value is an object of names that are declared at a path."""
    declared = names_of(refusal.look(path).forms)
    return isinstance(value, Mapping) and bool(value) and all(name in declared for name in value)


def _is_wrapper(refusal: Refusal, parent: Location, sent: str, name: str) -> bool:
    """Return whether a missing object and an undeclared one have names of a call's arguments: ``params``, ``arguments``."""
    if sent.lower() not in WRAPPERS or name.lower() not in WRAPPERS:
        return False
    is_object = parent.value[sent] is None or isinstance(parent.value[sent], Mapping)
    is_lacking = name in refusal.names_at(parent).lacking
    return is_object and is_lacking and "object" in _kinds_at(refusal, (*parent.path, name))


def _is_said_otherwise(refusal: Refusal, parent: Location, sent: str, name: str) -> bool:
    """Return whether the only undeclared name may stand for the only missing one, with which it shares no word.

    It is a bare ``id`` or the initials of the missing name, or the author describes the missing one by its words, and not
    by the name itself: ``action`` for ``type``, "The action to be performed".
    """
    names = refusal.names_at(parent)
    if names.lacking != (name,) or names.extra != (sent,):
        return False
    words, declared = frozenset(name_words(sent)), frozenset(name_words(name))
    if not words or words & declared:
        return False
    forms, value = refusal.look((*parent.path, name)).forms, parent.value.get(sent)
    exact_integers = refusal.validator.exact_integers
    if isinstance(value, bool) or not any_fits(forms, value, exact_integers=exact_integers):
        return False
    whole, *more = name_words(sent)
    letters = "".join(name_words(name))
    if not more and (
        (len(whole) <= MAX_INITIALS and letters.startswith(whole))
        or (whole in IDENTIFIERS and letters.endswith(whole))
    ):
        return True
    about = frozenset(name_words(description(forms)))
    return about >= words and not about & declared


def _is_of_another(refusal: Refusal, parent: Location, sent: str) -> bool:
    """Return whether a name is a spelling or the plural of a declared name that was sent as well."""
    declared = islice(names_of(refusal.meant(parent)), MAX_NAMES)
    present = (name for name in declared if name in parent.value and exact(name) and name != sent)
    return any(likeness(sent, name) >= MIN_SPELLING for name in present)


def _case_tells_units(sent: str, name: str) -> bool:
    """Return whether two names end in equal letters that are two units by their case: ``rate_MBps``, ``maxRateMbps``."""
    short, long = sorted((sent, name), key=lambda each: len(_letters(each)))
    letters = _letters(long)
    same = long[letters[-len(_letters(short))] :] if _letters(short) else long
    return named_units_differ(short, same) or _units_differ_as_written(short, same)


def _letters(name: str) -> list[int]:
    """Return where a name has no separator."""
    return [at for at, letter in enumerate(name) if letter not in " _-"]


def _units_differ_as_written(sent: str, name: str) -> bool:
    if sent == name or fold_case(sent) != fold_case(name):
        return False
    first = next(at for at in range(len(sent)) if sent[at] != name[at])
    starts = (at for at in range(first + 1) if not at or _begins_word(sent, at) or _begins_word(name, at))
    return any(units_differ(sent[at:], name[at:]) for at in starts)


def _begins_word(name: str, at: int) -> bool:
    return not name[at - 1].isalnum() or (name[at].isupper() and not name[at - 1].isupper())


MAX_PLACES_TOLD = 3
MAX_DETAIL = 300
MAX_COUNTED = 300
"""Validators stop at some number of issues, so larger counts would not be true."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One error, at one location or at several items of a list; ``count`` counts all of them.

    ``broken`` are the violated keywords of the published schema with their values; empty if only the tool's own
    validator refuses the value. ``detail`` is the author's sentence, ``reason`` is ours and contains no value.
    ``expected_types`` are the author's; empty if the schema's apply. ``items`` is the number of items of the list that a
    text may be read as, if it may be one item as well.
    """

    code: ViolationCode
    broken: tuple[tuple[str, Any], ...]
    detail: str | None
    places: tuple[Location, ...]
    forms: Forms
    count: int
    reason: str | None = None
    expected_types: tuple[str, ...] = ()
    items: int = 0


def more_places(problem: Problem, words: Language) -> str:
    """Return how many other locations a sentence about one name applies to, as an insertion, or ""."""
    more = problem.count - 1
    if not more:
        return ""
    return words.plural(" (and at {count} other place)", " (and at {count} other places)", more)


def parameter(path: Path) -> str | None:
    """Return the top-level name of a path, as it is shown."""
    return shown(path[0]) if path else None


def where(path: Path, words: Language) -> str:
    """Return a path in quotes, or the arguments as a whole."""
    return f"'{place(path, quoted=True)}'" if path else words("the arguments")


def quoted(name: object) -> str:
    """Return a name in quotes, as it is shown."""
    return f"'{shown(name)}'"


def without_period(text: str) -> str:
    """Return a sentence to stand inside another one."""
    return text.rstrip(".。")


def number_of(problem: Problem) -> int:
    """Return the number that a verb after :func:`named` agrees with; "the arguments" are several."""
    return problem.count if problem.places[0].path else 2


def named(problem: Problem, words: Language) -> str:
    """Return the first locations of a problem, and the number of the others."""
    told = [where(spot.path, words) for spot in problem.places[:MAX_PLACES_TOLD]]
    rest = problem.count - len(told)
    if rest > MAX_COUNTED:
        return words("{some} and more than {count} others", some=words.comma(told), count=MAX_COUNTED)
    return and_more(words.comma(told), rest, words) if rest > 0 else words.all_of(told)


MAX_LOOKED_AT = 2_000
MIN_SUBSTRING = 4


def told_safely(refusal: Refusal, places: Sequence[Location], detail: str | None, limit: int) -> str:
    """Return the author's sentence in one line; empty if it is about a secret, or repeats one from the call.

    It is also empty if the call is too large to be searched for secrets.
    """
    if not detail or not all(map(refusal.may_show, places)):
        return ""
    if any(place.path and _holds_secrets(refusal, place) for place in places):
        return ""
    for text in _private_texts(refusal.reader, refusal.outcome.arguments, refusal.policy.secret):
        if text is None or _repeated(text, detail):
            return ""
    return sentence(refusal.words.of(detail), limit)


def _holds_secrets(refusal: Refusal, place: Location) -> bool:
    """Return whether a sentence about a container may be about a secret in it."""
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
    """Return the part of a path above a key that may be secret; None if there is none.

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
    """Yield strings and numbers under secret or undeclared names, and long strings; None if there are too many."""
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
    # Python refuses to write an integer of thousands of digits; no sentence contains one.
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
