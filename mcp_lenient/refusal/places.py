"""What a schema says of one place in the arguments: references, unions and ``allOf`` resolved, nothing fetched."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from mcp_lenient.redaction import secret_name
from mcp_lenient.refusal.keywords import holds
from mcp_lenient.schema import resolve
from mcp_lenient.types import Path
from mcp_lenient.values import json_type

Schema = Mapping[str, Any]
Form = tuple[Schema, ...]
"""Schemas that hold together for one value: a schema, what it refers to, its ``allOf``, one branch of its union."""
Forms = tuple[Form, ...]
"""The forms a value may have; any one will do."""

MAX_FORMS = 64
MAX_PARTS = 32
KEYS = "propertyNames"


@dataclass(frozen=True, slots=True)
class Place:
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


def meant(place: Place) -> Forms:
    """The forms that what stands at a place seems to be meant for; all where nothing stands there, or none fits."""
    if not place.present:
        return place.forms
    return chosen(place.forms, place.value, exact_integers=False) or place.forms


def _has_tag(form: Form, name: str, value: object) -> bool:
    return any(same(tag, value) for tag in _tag(form, name) or ())


def top(root: Schema, arguments: Mapping[str, Any]) -> Place:
    """The place of the arguments themselves."""
    return Place((), forms(root, root), arguments, present=True, declared=True, secret=False)


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


def step_below(above: Place, key: str | int, said: Below) -> Place:
    """The place below another one."""
    present, value = _step(above.value, key) if above.present else (False, None)
    return Place(
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
