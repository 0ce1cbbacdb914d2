"""The forms that a value may have: what a schema says, in its author's order, for who puts it into words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Final, TypeVar

from mcp_lenient.schema.shape import (
    Parts,
    Schema,
    Shape,
    constants,
    declared,
    holds,
    is_closed,
    json_types,
    parts_of,
    required_names,
    shape_of_parts,
)
from mcp_lenient.schema.unions import Disambiguator, fits

MAX_FORMS: Final = 64
MAX_PARTS: Final = 32
KEYS: Final = "propertyNames"
_MOST_KEPT: Final = 2_000
_ASSERTED: Final[Mapping[str, tuple[str, ...]]] = {
    "string": ("minLength", "maxLength", "pattern", "format", "not"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "not"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "not"),
    "array": ("minItems", "maxItems", "uniqueItems", "not"),
    "object": ("minProperties", "maxProperties", "not"),
}
T = TypeVar("T")


class Form:
    """Schemas that hold together for one value: a schema, what it refers to, its ``allOf``, one branch of its union.

    Attributes:
        parts: The schemas.
    """

    def __init__(self, reader: FormReader, parts: Parts) -> None:
        self._reader = reader
        self.parts = parts
        self._asserted: dict[str, tuple[tuple[str, tuple[Any, ...]], ...]] = {}

    @cached_property
    def _shape(self) -> Shape:
        return shape_of_parts(self.parts)

    @cached_property
    def properties(self) -> Mapping[str, Any]:
        """The declared properties, by name."""
        return declared(self.parts)

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The required names, each once, in the order of the schema."""
        return tuple(dict.fromkeys(required_names(self.parts)))

    @cached_property
    def types(self) -> tuple[str, ...] | None:
        """The JSON types in the order of the schema; None where it names none."""
        types = json_types(self.parts)
        if types == ():  # no value is taken: what is named first is what is told
            types = next(filter(None, (json_types((part,)) for part in self.parts)), ())
        return types

    @cached_property
    def enum(self) -> tuple[Any, ...] | None:
        """The values that it lists; None where it lists none."""
        return constants(self.parts)

    @cached_property
    def closed(self) -> bool:
        """Whether names that are not declared are forbidden."""
        return is_closed(self.parts)

    @property
    def prefix(self) -> tuple[Any, ...]:
        """The schemas of the first items of a list, where each has its own."""
        return self._shape.prefix

    def says(self, keyword: str) -> Iterator[Any]:
        """Yield what each of the schemas says under a keyword."""
        return (part[keyword] for part in self.parts if keyword in part)

    @cached_property
    def secret(self) -> bool:
        """Whether the schema marks the value as one that must not be repeated."""
        return any(each is True for each in self.says("writeOnly")) or "password" in self.says("format")

    def assertions(self, json_type: str) -> tuple[tuple[str, tuple[Any, ...]], ...]:
        """Return the keywords that limit values of a JSON type, each with its bounds."""
        known = self._asserted.get(json_type)
        if known is None:
            said = ((keyword, tuple(self.says(keyword))) for keyword in _ASSERTED.get(json_type, ("not",)))
            known = self._asserted[json_type] = tuple((keyword, bounds) for keyword, bounds in said if bounds)
        return known

    def constants(self, name: str) -> tuple[Any, ...] | None:
        """Return the values that a declared property is limited to; None where there is no such limit."""
        schema = self.properties.get(name)
        return self._reader.constants(schema) if isinstance(schema, Mapping) else None

    def child(self, key: object) -> Forms:
        """Return the forms of what stands below a name or index; empty where nothing is said of it."""
        if isinstance(key, str):
            if key in self.properties:
                return self._reader.forms(self.properties[key])
            shape = self._shape
            for pattern, schema in shape.patterns.items():
                if holds("pattern", pattern, key):
                    return self._reader.forms(schema)
            found = shape.extra
        elif isinstance(key, int):
            shape = self._shape
            found = shape.prefix[key] if 0 <= key < len(shape.prefix) else shape.items
        else:
            return ()
        return self._reader.forms(found) if isinstance(found, Mapping) else ()


Forms = tuple[Form, ...]
"""The forms a value may have; any one will do."""


def names_of(forms: Iterable[Form]) -> dict[str, None]:
    """Return the properties that any of the forms declares, each once, in order."""
    return dict.fromkeys(name for form in forms for name in form.properties)


def children(forms: Iterable[Form], key: object) -> Forms:
    """Return the forms of what stands below a name or index of any of the forms."""
    return tuple(below for form in forms for below in form.child(key))


def declares(forms: Iterable[Form], name: object) -> bool:
    """Whether any of the forms declares a property of this name."""
    return any(name in form.properties for form in forms)


def any_fits(forms: Iterable[Form], value: Any, *, exact_integers: bool = False) -> bool:
    """Whether any of the forms admits the JSON type of a value."""
    return any(fits(form.types, value, exact_integers=exact_integers) for form in forms)


class FormReader:
    """Reads a schema into forms, and keeps what was read of it lately.

    Args:
        root: The whole schema, in the words of 2020-12.
    """

    def __init__(self, root: Schema) -> None:
        self.root = root
        self._kept: dict[Any, tuple[object, Any]] = {}

    def once(self, function: Callable[..., T], subject: Any, *more: Any) -> T:
        """Return ``function(subject, *more)``, computed once for each schema or tuple of forms."""
        key = (function, subject if isinstance(subject, tuple) else id(subject), *more)
        known = self._kept.get(key)
        if known is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            # Kept with its subject, so that an id cannot come to mean another one.
            known = self._kept[key] = subject, function(subject, *more)
        found: T = known[1]
        return found

    @property
    def top(self) -> Forms:
        """The forms of the arguments themselves."""
        return self.forms(self.root)

    def forms(self, schema: object) -> Forms:
        """Return the forms that a schema allows, at most 64; recursion is cut where it closes."""
        return self.once(self._forms, schema)

    def _forms(self, schema: object) -> Forms:
        return tuple(Form(self, parts) for parts in islice(_opened(self.root, schema, set()), MAX_FORMS))

    def constants(self, schema: object) -> tuple[Any, ...] | None:
        """Return the values that a schema lists; None where it lists none."""
        return constants(_together(self.root, schema))

    def union(self, forms: Forms) -> Disambiguator[Form]:
        """Return what tells forms apart."""
        return self.once(Disambiguator, forms)

    def keys(self, forms: Forms) -> Forms:
        """Return the forms that the keys of an object may have; empty where the schema says nothing of them."""
        found = (form for own in forms for names in own.says(KEYS) for form in self.forms(names))
        return tuple(islice(found, MAX_FORMS))


def _together(root: Schema, schema: object) -> Parts:
    if type(schema) is dict and "$ref" not in schema and "allOf" not in schema:
        return (schema,)
    return tuple(islice(parts_of(root, schema), MAX_PARTS))


def _opened(root: Schema, schema: object, seen: set[int]) -> Sequence[Parts]:
    """The schemas that hold together with each branch of the union that a schema is, or within its branches."""
    own = _together(root, schema)
    found: list[Parts] = []
    for branch in next(filter(None, (part.get("anyOf") or part.get("oneOf") for part in own)), ()):
        # Each branch is opened once: unions that refer to each other would otherwise multiply.
        if id(branch) not in seen and len(found) < MAX_FORMS:
            seen.add(id(branch))
            found.extend((*own, *parts) for parts in _opened(root, branch, seen))
    return found or [own]
