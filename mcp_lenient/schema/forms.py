"""The forms that a value may have: what a schema says, in its author's order, for who puts it into words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Final, TypeVar

from mcp_lenient.schema.shape import (
    Schema,
    Shape,
    holds,
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
T = TypeVar("T")


class Form:
    """Schemas that hold together for one value: a schema, what it refers to, its ``allOf``, one branch of its union.

    Attributes:
        parts: The schemas.
    """

    def __init__(self, reader: FormReader, parts: tuple[Schema, ...]) -> None:
        self._reader = reader
        self.parts = parts

    @cached_property
    def shape(self) -> Shape:
        """What the schemas say together; of a union, what this branch says."""
        return shape_of_parts(self.parts)

    @property
    def properties(self) -> Mapping[str, Any]:
        """The declared properties, by name."""
        return self.shape.properties

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
        return (*types, "null") if types and self.shape.nullable and "null" not in types else types

    def says(self, keyword: str) -> Iterator[Any]:
        """Yield what each of the schemas says under a keyword."""
        return (part[keyword] for part in self.parts if keyword in part)

    def fits(self, value: Any, *, exact_integers: bool = False) -> bool:
        """Whether a value has a JSON type that the form admits."""
        return fits(self.types, value, exact_integers=exact_integers)

    def constants(self, name: str) -> tuple[Any, ...] | None:
        """Return the values that a declared property is limited to; None where there is no such limit."""
        declared = self.properties.get(name)
        return self._reader.shape(declared).enum if isinstance(declared, Mapping) else None

    def child(self, key: object) -> Forms:
        """Return the forms of what stands below a name or index; empty where nothing is said of it."""
        shape = self.shape
        if isinstance(key, str):
            if key in shape.properties:
                return self._reader.forms(shape.properties[key])
            for pattern, schema in shape.patterns.items():
                if holds("pattern", pattern, key):
                    return self._reader.forms(schema)
            found = shape.extra
        elif isinstance(key, int):
            found = shape.prefix[key] if 0 <= key < len(shape.prefix) else shape.items
        else:
            return ()
        return self._reader.forms(found) if isinstance(found, Mapping) else ()


Forms = tuple[Form, ...]
"""The forms a value may have; any one will do."""


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

    def shape(self, schema: object) -> Shape:
        """Return what a schema says, its union left aside."""
        return self.once(self._shape, schema)

    def _shape(self, schema: object) -> Shape:
        return shape_of_parts(tuple(islice(parts_of(self.root, schema), MAX_PARTS)))

    def union(self, forms: Forms) -> Disambiguator[Form]:
        """Return what tells forms apart."""
        return self.once(Disambiguator, forms)

    def keys(self, forms: Forms) -> Forms:
        """Return the forms that the keys of an object may have; empty where the schema says nothing of them."""
        found = (form for own in forms for names in own.says(KEYS) for form in self.forms(names))
        return tuple(islice(found, MAX_FORMS))


def _opened(root: Schema, schema: object, seen: set[int]) -> Sequence[tuple[Schema, ...]]:
    """The schemas that hold together with each branch of the union that a schema is, or within its branches."""
    own = tuple(islice(parts_of(root, schema), MAX_PARTS))
    found: list[tuple[Schema, ...]] = []
    for branch in next(filter(None, (part.get("anyOf") or part.get("oneOf") for part in own)), ()):
        # Each branch is opened once: unions that refer to each other would otherwise multiply.
        if id(branch) not in seen and len(found) < MAX_FORMS:
            seen.add(id(branch))
            found.extend((*own, *parts) for parts in _opened(root, branch, seen))
    return found or [own]
