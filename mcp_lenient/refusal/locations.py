"""What a schema says of one place in the arguments, and which of its keywords a value breaks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_lenient.schema.shape import resolve
from mcp_lenient.types import Path
from mcp_lenient.values.display import secret_name
from mcp_lenient.values.json_values import json_type

if TYPE_CHECKING:
    import jsonschema_rs


def holds(keyword: str, bound: object, value: object) -> bool:
    """Whether a value keeps this keyword with this bound.

    >>> holds("maximum", 10, 11)
    False
    """
    if isinstance(bound, (str, int, float)):
        # 1, 1.0 and true are one key of a cache, and three bounds.
        validator = _of_scalar(keyword, bound, type(bound).__name__)
    else:
        validator = _validator({keyword: bound})
    if validator is None:
        return True
    try:
        return validator.is_valid(value)
    except ValueError:
        return True


@lru_cache(maxsize=1024)
def _of_scalar(keyword: str, bound: object, _kind: str) -> jsonschema_rs.Draft202012Validator | None:
    return _validator({keyword: bound})


def _validator(schema: dict[str, Any]) -> jsonschema_rs.Draft202012Validator | None:
    """A lookahead in a pattern is beyond the linear engine, so that a bounded one comes second."""
    import jsonschema_rs

    linear = jsonschema_rs.RegexOptions()
    bounded = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)
    for options in (linear, bounded):
        try:
            return jsonschema_rs.Draft202012Validator(
                schema, retriever=_refuse, pattern_options=options, validate_formats=True
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
            continue
    return None


def _refuse(uri: str) -> Any:
    msg = f"Remote schemas are not fetched: {uri}"
    raise ValueError(msg)


Schema = Mapping[str, Any]
Form = tuple[Schema, ...]
"""Schemas that hold together for one value: a schema, what it refers to, its ``allOf``, one branch of its union."""
Forms = tuple[Form, ...]
"""The forms a value may have; any one will do."""
MAX_FORMS = 64
MAX_PARTS = 32
KEYS = "propertyNames"


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the arguments, and what stands there.

    ``declared`` says whether every name on the way is one of the schema's ``properties``; ``secret``
    whether any of them names or is marked as something that must not be repeated.
    """

    path: Path
    forms: Forms
    value: Any
    present: bool
    declared: bool
    secret: bool


def forms(root: Schema, schema: object) -> Forms:
    """The forms a schema allows, at most 64; recursion is cut where it closes."""
    return _forms(root, schema, set())[:MAX_FORMS]


def _forms(root: Schema, schema: object, seen: set[int]) -> Forms:
    own = _together(root, schema)
    if len(own) == 1 and "anyOf" not in own[0] and "oneOf" not in own[0]:
        return (own,)
    found: list[Form] = []
    for branch in next(filter(None, map(_union, own)), ()):
        # Each branch is opened once: unions that refer to each other would otherwise multiply.
        if id(branch) not in seen and len(found) < MAX_FORMS:
            seen.add(id(branch))
            found.extend((*own, *form) for form in _forms(root, branch, seen))
    return tuple(found) or (own,)


def _target(root: Schema, reference: object) -> object:
    return resolve(root, reference) if isinstance(reference, str) else None


def _union(schema: Schema) -> Sequence[Any]:
    return _list(schema.get("anyOf")) or _list(schema.get("oneOf"))


def _together(root: Schema, schema: object) -> Form:
    if type(schema) is dict and "$ref" not in schema and "allOf" not in schema:
        return (schema,)
    found: list[Schema] = []
    waiting = [schema]
    while waiting and len(found) < MAX_PARTS:
        current = waiting.pop(0)
        if isinstance(current, Mapping) and not any(current is known for known in found):
            found.append(current)
            waiting.append(_target(root, current.get("$ref")))
            waiting.extend(_list(current.get("allOf"))[:MAX_PARTS])
    return tuple(found)


def properties(form: Form) -> Mapping[str, Any]:
    """The properties a form declares, by name."""
    if len(form) == 1 and type(alone := form[0].get("properties")) is dict:
        return alone
    declared = [each for schema in form if isinstance(each := schema.get("properties"), Mapping)]
    return {name: entry for each in reversed(declared) for name, entry in each.items()}


def required(form: Form) -> tuple[str, ...]:
    """The names a form requires, each once."""
    names = (name for schema in form for name in _list(schema.get("required")) if isinstance(name, str))
    return tuple(dict.fromkeys(names))


def closed(form: Form) -> bool:
    """Whether a form forbids names it does not declare."""
    keywords = ("additionalProperties", "unevaluatedProperties")
    return any(schema.get(keyword) is False for schema in form for keyword in keywords)


def child(root: Schema, form: Form, key: object) -> Forms:
    """The forms of what stands below a name or index; empty where nothing is said of it."""
    found = next(_below(form, key), None)
    return () if found is None else forms(root, found)


def _below(form: Form, key: object) -> Iterator[object]:
    if isinstance(key, str):
        declared = properties(form)
        if key in declared:
            yield declared[key]
        yield from _by_pattern(form, key)
        yield from (schema["additionalProperties"] for schema in form if _is_map(schema))
    elif isinstance(key, int):
        yield from (found for schema in form if (found := _item(schema, key)) is not None)


def key_forms(root: Schema, choices: Forms) -> Forms:
    """The forms that the keys of an object may have; empty where the schema says nothing of them."""
    found = (form for own in choices for part in own if KEYS in part for form in forms(root, part[KEYS]))
    return tuple(islice(found, MAX_FORMS))


def _is_map(schema: Schema) -> bool:
    return isinstance(schema.get("additionalProperties"), Mapping)


def _by_pattern(form: Form, key: str) -> Iterator[object]:
    for schema in form:
        patterns = schema.get("patternProperties")
        if isinstance(patterns, Mapping):
            yield from (entry for pattern, entry in patterns.items() if holds("pattern", pattern, key))


def _item(schema: Schema, index: int) -> object:
    items = schema.get("items")
    leading = _list(schema.get("prefixItems")) or _list(items)
    if 0 <= index < len(leading):
        return leading[index]
    following = items if isinstance(items, Mapping) else schema.get("additionalItems")
    return following if isinstance(following, Mapping) else None


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def kinds(form: Form) -> tuple[str, ...] | None:
    """The JSON types a form admits; ``None`` when it names none."""
    if len(form) == 1 and "nullable" not in form[0] and type(alone := form[0].get("type")) is str:
        return (alone,)
    found: tuple[str, ...] | None = None
    nullable = False
    for schema in form:
        named = schema.get("type")
        nullable = nullable or schema.get("nullable") is True
        names = (named,) if isinstance(named, str) else tuple(n for n in _list(named) if isinstance(n, str))
        if names:
            found = names if found is None else tuple(n for n in found if n in names) or found
    return (*found, "null") if found and nullable and "null" not in found else found


def options(form: Form) -> tuple[Any, ...] | None:
    """The values a form lists by ``enum`` or ``const``; ``None`` when it lists none."""
    for schema in form:
        if "const" in schema:
            return (schema["const"],)
        if isinstance(schema.get("enum"), (list, tuple)):
            return tuple(schema["enum"])
    return None


def same(left: object, right: object) -> bool:
    """Whether two scalars are one JSON value; ``true`` is not ``1``."""
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def fits(form: Form, value: object, *, exact_integers: bool) -> bool:
    """Whether a value has a JSON type that a form admits."""
    admitted = kinds(form)
    kind = json_type(value)
    if admitted is None or kind in admitted or (kind == "integer" and "number" in admitted):
        return True
    return isinstance(value, float) and value.is_integer() and "integer" in admitted and not exact_integers


def discriminator(choices: Forms) -> tuple[str, tuple[Any, ...]] | None:
    """The property that tells the object forms of a union apart, and its values in order."""
    if len(choices) < 2:
        return None
    objects = [form for form in choices if properties(form)]
    if len(objects) < 2:
        return None
    for name in properties(objects[0]):
        listed = [_tag(form, name) for form in objects]
        values = [value for tags in listed if tags for value in tags]
        if all(listed) and len(values) == len({(type(value), value) for value in values}):
            return name, tuple(values)
    return None


def _tag(form: Form, name: str) -> tuple[Any, ...] | None:
    declared = properties(form).get(name)
    listed = options((declared,)) if isinstance(declared, Mapping) else None
    return listed if listed and all(isinstance(value, (str, int)) for value in listed) else None


def chosen(choices: Forms, value: object, *, exact_integers: bool) -> Forms:
    """The forms that a value seems to be meant for: by its JSON type, then by its discriminator."""
    fitting = tuple(form for form in choices if fits(form, value, exact_integers=exact_integers))
    told = discriminator(fitting) if isinstance(value, Mapping) else None
    if told is None or not isinstance(value, Mapping) or told[0] not in value:
        return fitting
    tagged = tuple(form for form in fitting if _has_tag(form, told[0], value[told[0]]))
    return tagged or fitting


def meant(place: Location) -> Forms:
    """The forms that what stands at a place seems to be meant for; all where nothing stands there, or none fits."""
    if not place.present:
        return place.forms
    return chosen(place.forms, place.value, exact_integers=False) or place.forms


def _has_tag(form: Form, name: str, value: object) -> bool:
    return any(same(tag, value) for tag in _tag(form, name) or ())


def top(root: Schema, arguments: Mapping[str, Any]) -> Location:
    """The place of the arguments themselves."""
    return Location((), forms(root, root), arguments, present=True, declared=True, secret=False)


class Below(NamedTuple):
    """What a schema says of what is below a name or index, whatever is sent there."""

    forms: Forms
    declared: bool
    secret: bool


def below(root: Schema, narrowed: Forms, key: str | int, secrets: Collection[str]) -> Below:
    """What forms say of a name or index below them."""
    declared = isinstance(key, int) or any(key in properties(form) for form in narrowed)
    here = tuple(each for form in narrowed for each in child(root, form, key))[:MAX_FORMS]
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
    return any(
        schema.get("writeOnly") is True or schema.get("format") == "password"
        for form in choices
        for schema in form
    )


def private(root: Schema, choices: Forms, value: object, secrets: Collection[str] = ()) -> bool:
    """Whether a value holds a secret, or anything under a name that the schema does not declare."""
    if marked_secret(choices):
        return True
    if isinstance(value, Mapping):
        names = {name for form in choices for name in properties(form)}
        if any(name not in names or secret_name(name, secrets) for name in value):
            return True
    inside = (
        value.items() if isinstance(value, Mapping) else enumerate(value if isinstance(value, list) else ())
    )
    return any(
        private(root, tuple(sub for form in choices for sub in child(root, form, key)), entry, secrets)
        for key, entry in inside
    )


MAX_VISITS = 400
MAX_DEPTH = 64
_SHARED = ("not",)
_BY_TYPE: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("minItems", "maxItems", "uniqueItems"),
    "object": ("minProperties", "maxProperties"),
}


@dataclass(frozen=True, slots=True)
class KeywordViolation:
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
    root: Schema
    exact_integers: bool
    visits: Iterator[int]


def findings(
    root: Schema, choices: Forms, value: Any, path: Path, *, exact_integers: bool
) -> tuple[KeywordViolation, ...]:
    """What a value breaks, at its place or below it; empty when the schema has nothing against it.

    Looks at a bounded number of values, so that a hostile schema or a large value costs little.
    """
    search = _Search(root, exact_integers, iter(range(MAX_VISITS)))
    return tuple(_findings(search, choices, value, path))


def _findings(search: _Search, choices: Forms, value: Any, path: Path) -> list[KeywordViolation]:
    if not choices or len(path) > MAX_DEPTH or next(search.visits, None) is None:
        return []
    meant = chosen(choices, value, exact_integers=search.exact_integers)
    if not meant:
        return [KeywordViolation(path, "type", choices)]
    if not any(_listed(form, value) for form in meant):
        return [KeywordViolation(path, "enum", choices)]
    told = discriminator(meant) if isinstance(value, Mapping) else None
    if told is not None and isinstance(value, Mapping):
        keyword = "enum" if told[0] in value else "required"
        return [KeywordViolation((*path, told[0]), keyword, (({"enum": list(told[1])},),))]
    found = [_in_form(search, form, value, path) for form in meant if _listed(form, value)]
    return min(found, key=len)


def _listed(form: Form, value: Any) -> bool:
    listed = options(form)
    if listed is None or (type(value) is str and value in listed):
        return True
    return type(value) is not str and any(same(option, value) for option in listed)


def _in_form(search: _Search, form: Form, value: Any, path: Path) -> list[KeywordViolation]:
    found = [KeywordViolation(path, keyword, (form,), bound) for keyword, bound in _broken(form, value)]
    if isinstance(value, Mapping):
        found += _names(search, form, value, path)
    below = (
        value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, entry in islice(below, MAX_VISITS):
        found += _findings(search, child(search.root, form, key), entry, (*path, key))
    return found


def _broken(form: Form, value: Any) -> Iterator[tuple[str, Any]]:
    for keyword in (*_BY_TYPE.get(json_type(value), ()), *_SHARED):
        for schema in form:
            if keyword in schema and not holds(keyword, schema[keyword], value):
                yield keyword, schema[keyword]
                break


def _names(search: _Search, form: Form, value: Mapping[Any, Any], path: Path) -> Iterator[KeywordViolation]:
    for name in required(form):
        if name not in value:
            yield KeywordViolation((*path, name), "required", child(search.root, form, name))
    if closed(form):
        for name in value:
            if name not in properties(form) and not child(search.root, form, name):
                yield KeywordViolation((*path, name), "additionalProperties", ())
    keys = key_forms(search.root, (form,))
    for name in islice(value, MAX_VISITS if keys else 0):
        if _findings(search, keys, name, ()):
            yield KeywordViolation((*path, name), KEYS, keys)
