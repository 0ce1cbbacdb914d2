"""Read a JSON Schema 2020-12: resolve references, merge ``allOf``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from mcp_lenient.schema.drafts import ANNOTATIONS, UNREAD
from mcp_lenient.schema.references import Parts, parts_of

_STRUCTURE = frozenset(
    "type properties required additionalProperties patternProperties items prefixItems $ref allOf anyOf oneOf "
    "enum const $defs definitions".split()
)
_TYPE_KEYWORDS = frozenset("type properties items prefixItems $ref allOf anyOf oneOf enum const".split())
"""Keywords that give the kind of value a union branch accepts; ``required`` alone does not."""
_FOLLOWED = frozenset("$ref allOf $defs definitions".split())
# OpenAPI's discriminator decides nothing in JSON Schema, and its mapping is as long as the union.
_NOT_OWN = ANNOTATIONS | _FOLLOWED | {"discriminator"}


@dataclass(frozen=True, slots=True)
class Shape:
    """The structure that one schema describes, with ``$ref`` and ``allOf`` followed.

    ``types`` is None if every JSON type is allowed. ``branches`` are the sub-schemas of ``anyOf``, ``oneOf`` or a
    list of types, each merged with the keywords beside the union.
    """

    types: frozenset[str] | None = None
    enum: tuple[Any, ...] | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    closed: bool = False
    extra: Any = None
    patterns: Mapping[str, Any] = field(default_factory=dict)
    items: Any = None
    prefix: tuple[Any, ...] = ()
    branches: tuple[Any, ...] = ()
    format: str | None = None
    has_min_length: bool = False
    default: tuple[Any, ...] = ()
    examples: tuple[Any, ...] = ()
    plain: bool = False
    """Whether the schema has structural keywords only (types, properties, items)."""
    unread: bool = False
    """Whether part of the schema cannot be read, so that no rule may change the value itself."""

    def is_only(self, json_type: str) -> bool:
        """Return whether this is the only allowed JSON type."""
        return self.types is not None and len(self.types) == 1 and json_type in self.types


def shape_of(root: Mapping[str, Any], schema: Any) -> Shape:
    """Read one schema; a boolean or a dangling reference has the empty shape."""
    if not isinstance(schema, Mapping):
        return Shape()
    parts = tuple(parts_of(root, schema))
    return shape_of_parts(parts, _branches(root, parts))


def shape_of_parts(parts: Parts, branches: tuple[Any, ...] = ()) -> Shape:
    """Merge schemas that apply together into one shape with the given union branches."""
    return Shape(
        types=None if (types := json_types(parts)) is None else _shared_set(types),
        enum=constants(parts),
        properties=declared(parts),
        required=frozenset(required_names(parts)),
        closed=is_closed(parts),
        extra=_last(parts, "additionalProperties"),
        patterns={
            name: sub for part in parts for name, sub in _mapping(part.get("patternProperties")).items()
        },
        items=_last(parts, "items"),
        prefix=tuple(_last(parts, "prefixItems") or ()),
        branches=branches,
        format=_last(parts, "format") or ("json" if _last(parts, "contentMediaType") else None),
        has_min_length=any("minLength" in part for part in parts),
        default=tuple(part["default"] for part in parts if "default" in part)[:1],
        examples=tuple(value for part in parts for value in _examples(part)),
        plain=all(keyword in _STRUCTURE or keyword in ANNOTATIONS for part in parts for keyword in part),
        unread=any(UNREAD in part for part in parts),
    )


@lru_cache(maxsize=256)
def _shared_set(names: tuple[str, ...]) -> frozenset[str]:
    """Return the names as a set that all shapes share: most shapes have one of a few JSON types."""
    return frozenset(names)


def declared(parts: Parts) -> Mapping[str, Any]:
    """Return the properties by name; a property of several parts gets an ``allOf`` of theirs."""
    if len(parts) == 1:
        return _mapping(parts[0].get("properties"))
    found: dict[str, list[Any]] = {}
    for part in parts:
        for name, sub in _mapping(part.get("properties")).items():
            found.setdefault(name, []).append(sub)
    return {name: subs[0] if len(subs) == 1 else {"allOf": subs} for name, subs in found.items()}


_CONDITIONALS = frozenset("if then else dependentSchemas".split())
"""Keywords that may declare properties and that a shape does not read."""


def is_closed(parts: Parts) -> bool:
    """Return whether undeclared names are forbidden."""
    if any(part.get("additionalProperties") is False for part in parts):
        return True
    unseen = any(_CONDITIONALS & part.keys() for part in parts)
    return not unseen and any(part.get("unevaluatedProperties") is False for part in parts)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _last(parts: Parts, keyword: str) -> Any:
    return next((part[keyword] for part in parts if keyword in part), None)


def _examples(part: Mapping[str, Any]) -> list[Any]:
    examples = part.get("examples")
    single = [part["example"]] if "example" in part else []  # OpenAPI 3.0
    return [*examples, *single] if isinstance(examples, list) else single


def json_types(parts: Parts) -> tuple[str, ...] | None:
    """Return the JSON types that all parts accept, in the order of the first; None if no part has a type."""
    types: tuple[str, ...] | None = None
    for part in parts:
        if "type" in part:
            named = part["type"]
            these = (named,) if isinstance(named, str) else tuple(named)
            types = these if types is None else tuple(name for name in types if name in these)
    return types


def required_names(parts: Parts) -> Iterator[str]:
    """Yield the required names."""
    listed = (names for part in parts if isinstance(names := part.get("required"), (list, tuple)))
    return (name for names in listed for name in names)


def constants(parts: Parts) -> tuple[Any, ...] | None:
    """Return the values of an ``enum`` or ``const``; None if there is neither."""
    for part in parts:
        if "const" in part:
            return (part["const"],)
        if isinstance(part.get("enum"), list):
            return tuple(part["enum"])
    return None


def _branches(root: Mapping[str, Any], parts: Parts) -> tuple[Any, ...]:
    for index, part in enumerate(parts):
        for keyword in ("anyOf", "oneOf"):
            union = part.get(keyword)
            if isinstance(union, list) and any(
                _TYPE_KEYWORDS.intersection(_mapping(branch)) for branch in union
            ):
                union = [branch for branch in union if not _is_recursive(root, branch, parts)]
                beside = [_own_keywords(other) for other in (*parts[:index], *parts[index + 1 :])]
                beside.append({name: value for name, value in _own_keywords(part).items() if name != keyword})
                # Each once, or they would pile up in nested unions.
                once = [other for at, other in enumerate(beside) if other and other not in beside[:at]]
                return tuple(_merged(once, branch) for branch in union)
    types = json_types(parts)
    if types is not None and len(types) > 1:
        return tuple(
            {"allOf": [_own_keywords(part) for part in parts], "type": name} for name in sorted(types)
        )
    return ()


def _is_recursive(root: Mapping[str, Any], branch: Any, parts: Parts) -> bool:
    """Return whether a branch is the schema with the union itself, so that it adds nothing to the other branches."""
    within = parts_of(root, branch)
    return any(each is part for each in within for part in parts)


def _own_keywords(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of a part, without annotations and without those already followed."""
    return {name: value for name, value in part.items() if name not in _NOT_OWN}


def _merged(beside: list[dict[str, Any]], branch: Any) -> Any:
    return {"allOf": [*beside, branch]} if beside else branch
