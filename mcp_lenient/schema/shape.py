"""Read a JSON Schema 2020-12: resolve references, merge ``allOf``, build validators."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import unquote

from mcp_lenient.errors import SchemaError
from mcp_lenient.schema.drafts import ANNOTATIONS, UNREAD
from mcp_lenient.values.json_values import tokens_of

if TYPE_CHECKING:
    import jsonschema_rs


Schema = Mapping[str, Any]
Parts = tuple[Schema, ...]
"""Schemas that apply to one value together: a schema, its ``$ref`` targets and its ``allOf``."""
ROOT_URI = "urn:mcp-lenient:root"
_BACKTRACKS = 10_000
_STRUCTURE = frozenset(
    "type properties required additionalProperties patternProperties items prefixItems $ref allOf anyOf oneOf "
    "enum const $defs definitions".split()
)
_TYPE_KEYWORDS = frozenset("type properties items prefixItems $ref allOf anyOf oneOf enum const".split())
"""Keywords that give the kind of value a union branch accepts; ``required`` alone does not."""
_BY_NAME = frozenset("properties patternProperties dependentSchemas $defs definitions".split())
"""Keywords whose values map author-chosen names, which may look like keywords, to schemas."""
_VALUES = frozenset("enum const default examples".split())
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


def resolve(root: Schema, reference: str) -> Any:
    """Return the target of a local ``$ref``, or None; nothing is fetched."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    return pointed_at(root, unquote(reference[1:]))


def pointed_at(target: Any, fragment: str) -> Any:
    """Return the target of a JSON Pointer, or None."""
    for name in tokens_of(fragment):
        if isinstance(target, Mapping) and name in target:
            target = target[name]
        elif isinstance(target, (list, tuple)) and name.isdecimal() and int(name) < len(target):
            target = target[int(name)]
        else:
            return None
    return target


def shape_of(root: Schema, schema: Any) -> Shape:
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


def parts_of(root: Mapping[str, Any], schema: Any) -> Iterator[Schema]:
    """Yield the schema, its ``$ref`` targets and its ``allOf``, each once."""
    seen: set[int] = set()
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Mapping) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        waiting.extend(reversed(part.get("allOf", ())))
        if isinstance(part.get("$ref"), str):
            waiting.append(resolve(root, part["$ref"]))


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


def _no_fetch(uri: str) -> NoReturn:
    msg = f"the schema refers to {uri}, and remote schemas are never fetched"
    raise LookupError(msg)


def registry_of(root: Mapping[str, Any]) -> jsonschema_rs.Registry:
    """Return a registry of ``root`` for validators of its parts.

    Build it once: that takes time proportional to the size of ``root``.
    """
    import jsonschema_rs

    try:
        return jsonschema_rs.Registry([(ROOT_URI, dict(root))], retriever=_no_fetch)
    except (jsonschema_rs.ReferencingError, ValueError, RecursionError) as error:
        raise _schema_error(error) from error


def _absolute(schema: Any) -> Any:
    """Return a schema whose local references point to the root, so that it compiles outside of it."""
    if isinstance(schema, list):
        return [_absolute(entry) for entry in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {keyword: _absolute_entry(keyword, value) for keyword, value in schema.items()}


def _absolute_entry(keyword: str, value: Any) -> Any:
    if keyword in _VALUES:
        return value
    if keyword in _BY_NAME and isinstance(value, Mapping):
        return {name: _absolute(sub) for name, sub in value.items()}
    if keyword == "$ref" and isinstance(value, str) and value.startswith("#"):
        return ROOT_URI + value
    return _absolute(value)


def _schema_error(failure: Exception | None) -> SchemaError:
    return SchemaError(f"the schema cannot be compiled: {str(failure).splitlines()[0][:300]}")


def validator_for(
    root: Mapping[str, Any], schema: Any, registry: jsonschema_rs.Registry | None = None
) -> jsonschema_rs.Draft202012Validator:
    """Return a validator for a part of ``root``; offline, with linear or bounded pattern matching.

    The result of :func:`registry_of` for ``root`` can be shared between parts.
    """
    if schema is root:
        return compiled(schema)
    return compiled(_absolute(schema), registry_of(root) if registry is None else registry)


def _accept_any(_text: str) -> bool:
    return True


# RFC 3339, RFC 3986, RFC 4122, RFC 4291 and RFC 5321: no single word is a text of these formats.
_FORMATS_WITHOUT_WORDS = "duration email idn-email ipv4 ipv6 iri uri uuid".split()
_NULL_WORDS = frozenset({"null", "None", "none"})


def _is_no_null(text: str) -> bool:
    return text not in _NULL_WORDS


def _matches(form: re.Pattern[str], text: str) -> bool:
    return form.fullmatch(text) is not None


_FULL_DATE = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:\.[0-9]+)?)?(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?"
_TIME_PATTERNS = {
    "date": re.compile(_FULL_DATE),
    "date-time": re.compile(f"{_FULL_DATE}[Tt ]{_CLOCK}"),
    "time": re.compile(_CLOCK),
}
"""RFC 3339, section 5.6, with optional zone and seconds, as ISO 8601 and most servers allow."""
_OTHER_FORMATS = (
    "hostname idn-hostname iri-reference json-pointer regex relative-json-pointer uri-reference uri-template"
).split()
FORMATS: Mapping[str, Callable[[str], bool]] = {
    **dict.fromkeys(_OTHER_FORMATS, _accept_any),
    **dict.fromkeys(_FORMATS_WITHOUT_WORDS, _is_no_null),
    **{name: partial(_matches, form) for name, form in _TIME_PATTERNS.items()},
}
"""The formats that are checked. A format is an annotation in JSON Schema, but a text such as ``14/02/2026`` is refused
for a date, since a server that accepts it may read another day, and a word for null where no word can be meant."""


def refuses_null_words(form: str | None) -> bool:
    """Return whether texts of a format are checked, and never a word for null.

    >>> refuses_null_words("date"), refuses_null_words("hostname"), refuses_null_words(None)
    (True, False, False)
    """
    return form in _TIME_PATTERNS or form in _FORMATS_WITHOUT_WORDS


def compiled(
    schema: Any,
    registry: jsonschema_rs.Registry | None = None,
    formats: Mapping[str, Callable[[str], bool]] = FORMATS,
) -> jsonschema_rs.Draft202012Validator:
    """Return a 2020-12 validator; offline, with linear or bounded pattern matching."""
    import jsonschema_rs

    linear = jsonschema_rs.RegexOptions()
    bounded = jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS)
    failure: Exception | None = None
    for patterns in (linear, bounded):
        try:
            return jsonschema_rs.Draft202012Validator(
                schema,
                retriever=_no_fetch,
                registry=registry,
                pattern_options=patterns,
                validate_formats=True,
                formats=dict(formats),
            )
        except (jsonschema_rs.ReferencingError, ValueError, RecursionError) as error:
            failure = error
    raise _schema_error(failure) from failure


def holds(keyword: str, bound: object, value: object) -> bool:
    """Return whether a value satisfies a keyword with this bound; every format is checked.

    >>> holds("maximum", 10, 11)
    False
    """
    scalar = isinstance(bound, (str, int, float))
    # 1, 1.0 and true are equal as cache keys, but different bounds.
    check = _of_scalar(keyword, bound, type(bound).__name__) if scalar else _of_keyword(keyword, bound)
    try:
        return check is None or check.is_valid(value)
    except ValueError:
        return True


@lru_cache(maxsize=1024)
def _of_scalar(keyword: str, bound: object, _type: str) -> jsonschema_rs.Draft202012Validator | None:
    return _of_keyword(keyword, bound)


def _of_keyword(keyword: str, bound: object) -> jsonschema_rs.Draft202012Validator | None:
    try:
        return compiled({keyword: bound}, formats={})
    except SchemaError:
        return None
