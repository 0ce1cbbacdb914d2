"""A schema in words: types, allowed values, limits, the shape of an object, a sample value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mcp_lenient.schema.forms import Form, Forms
from mcp_lenient.schema.shape import holds
from mcp_lenient.schema.unions import Disambiguator
from mcp_lenient.values.display import cut, exact, first_sentence, fits_json, in_json, short_scalar
from mcp_lenient.values.json_values import json_type

MAX_TYPES = 8
MAX_VALUES = 50
MAX_VALUES_IN_TEXT = 20
MAX_VALUES_TEXT = 300
MAX_DESCRIPTION = 120
MAX_DEPTH = 3
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
    if depth >= MAX_DEPTH or form.prefix:
        return "array"
    below = [word for item in form.child(0) for word in _form_words(item, depth + 1)]
    names = tuple(dict.fromkeys(map(_plural, below)))
    return f"array of {' or '.join(names)}" if 0 < len(names) <= MAX_DEPTH else "array"


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
        found = {format_of(form) for form in free if "string" in likely_kinds(form)}
        known = FORMATS.get(found.pop() or "") if len(found) == 1 else None
        if known is not None:
            return f"{known.partition(' such as')[0]} as a string" if brief else f"a string ({known})"
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
        if 0 < len(values) <= MAX_DEPTH
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
        return f"be {FORMATS.get(str(bound)) or f'in the format {in_json(cut(str(bound), 40))}'}"
    template = LIMITS.get(keyword)
    if template is None:
        return None
    text = cut(in_json(bound), 200) if isinstance(bound, (int, float, str)) else ""
    words = template.format(text)
    return words.removesuffix("s") if text == "1" and words.endswith("items") else words


def description(choices: Forms) -> str:
    """The first sentence of the author's description."""
    said = (text for form in choices for text in form.says("description"))
    return next(filter(None, (first_sentence(text, MAX_DESCRIPTION) for text in said)), "")


MAX_NAMES = 12
MAX_TEXT = 400
MAX_BRANCHES = 4


def shape(choices: Forms) -> str:
    """The properties of the one object, or of the items of the one list, that is expected; or nothing.

    >>> point = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    >>> from mcp_lenient.schema.forms import FormReader
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
        told.append(listed(list(_within(form, needed, MAX_NAMES // len(branches)))))
    return f" {opening} either {', or '.join(told)}."


def _told(form: Form, opening: str) -> str:
    names = [name for name in form.properties if exact(name)]
    needed = [name for name in form.required if name in names]
    others = [name for name in names if name not in set(needed)]
    told_needed = list(_within(form, needed))
    told_others = list(_within(form, others, MAX_NAMES - len(told_needed)))
    may_have = opening.replace("has", "may have")
    parts = [f"{opening} {listed(told_needed)}"] if told_needed else []
    if told_others:
        parts.append(f"may have {listed(told_others)}" if parts else f"{may_have} {listed(told_others)}")
    return f" {', and '.join(parts)}." if parts else ""


def _within(form: Form, names: list[str], most: int = MAX_NAMES) -> Iterator[str]:
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
    if depth < MAX_DEPTH and kind == "array":
        return _list_example(form, depth)
    if depth < MAX_DEPTH and kind == "object":
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
