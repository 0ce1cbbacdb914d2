"""Fast checks of plain types that accept arguments without Pydantic building objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, Final

from mcp_lenient.schema.checks import has_jsonschema_rs
from mcp_lenient.schema.compile import readable
from mcp_lenient.values.json_values import nests_less

_TYPES: Final = frozenset({str, int, float, bool, type(None), list, dict})
"""The types that a JSON parser returns; FastMCP may validate others as Python objects."""
_CONTAINERS: Final = frozenset({list, dict})
_TEXT: Final = frozenset({str})
WRITABLE: Final[Mapping[str, Any]] = {"not": {"enum": ["\x00"]}}
"""Forces the validator to read a text, so that it raises on a lone surrogate."""
_SCALAR: Final[Mapping[str, Any]] = {
    "anyOf": [{"type": "string", **WRITABLE}, {"type": "boolean"}, {"type": "null"}]
}
"""Values allowed for undeclared names, so that none is too deep to be written."""


class _NotPlain(Exception):  # noqa: N818 - a signal within this module
    """A signal for a type that is open or that JSON Schema cannot fully express."""


def strict_check(schema: Mapping[str, Any]) -> Callable[[Any], bool] | None:
    """Return a check whose True means that Pydantic accepts arguments as strict JSON; None for other types.

    The schema is the one that :class:`PlainTypes` built.
    """
    import jsonschema_rs

    if _may_recur(schema):
        return None
    try:
        # Only in this draft 7.0 is not an integer.
        is_valid = jsonschema_rs.Draft4Validator(_strict(schema)).is_valid
    except _NotPlain:
        return None

    def check(arguments: Any) -> bool:
        try:
            # A valid value nests no deeper than its types, so only valid values are walked.
            return type(arguments) is dict and is_valid(arguments) and _is_json(arguments)
        except ValueError:  # a lone surrogate
            return False

    return check


def _may_recur(schema: Mapping[str, Any]) -> bool:
    return bool(schema["$defs"]) and readable(schema).recursive


def _strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with the rules of strict JSON."""
    if not schema or "exclusiveMinimum" in schema or "exclusiveMaximum" in schema:
        raise _NotPlain
    made = {keyword: part for keyword, part in schema.items() if part != []}  # draft 4 forbids empty lists
    if made.get("type") == "string":
        made.update(WRITABLE)
    if made.get("type") == "object":
        made.setdefault("additionalProperties", _SCALAR)
    for keyword in ("items", "additionalProperties"):
        if isinstance(part := schema.get(keyword), Mapping):
            made[keyword] = _strict(part)
    for keyword in ("properties", "$defs"):
        if keyword in schema:
            made[keyword] = {name: _strict(part) for name, part in schema[keyword].items()}
    if "anyOf" in schema:
        made["anyOf"] = [_strict(part) for part in schema["anyOf"]]
    return made


def _is_json(arguments: dict[str, Any]) -> bool:
    """Return whether all values have types that a JSON parser returns; level by level, so that the loops run in C."""
    level: list[Any] = [arguments]
    while level:
        objects = [each for each in level if type(each) is dict]
        arrays = [each for each in level if type(each) is list]
        entries = [*map(dict.values, objects), *arrays]
        kinds = set(map(type, chain.from_iterable(entries)))
        if not (kinds <= _TYPES and _TEXT.issuperset(map(type, chain.from_iterable(objects)))):
            return False
        if _CONTAINERS.isdisjoint(kinds):
            return True
        level = [each for each in chain.from_iterable(entries) if type(each) in _CONTAINERS]
    return True


_LEAST: Final = -(2**62)
_MOST: Final = 2**62
"""Numbers well inside the range that Pydantic accepts in any spelling; others are left to Pydantic."""
_MAX_DEPTH: Final = 200
"""Levels of a value; Pydantic's limit for recursive types is 255."""
_EXACT: Final = 2**53
"""Floats up to this bound represent every integer."""
_BOUNDS: Final = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}
_IGNORED_KEYS: Final = frozenset({"type", "metadata", "ref", "serialization"})
_MODEL_CONFIG: Final = frozenset({"title", "extra_fields_behavior"})
Core = Mapping[str, Any]
Schema = dict[str, Any]
Check = Callable[[Any], bool]


class PlainTypes:
    """Fast checks of a function's arguments, built on first use."""

    def __init__(self, core: Core) -> None:
        self._core = core

    @cached_property
    def lax(self) -> Check | None:
        """A check whose True means that Pydantic accepts arguments in lax mode; None if types are not plain."""
        return self._build(_lax_check)

    @cached_property
    def strict(self) -> Check | None:
        """A check whose True means that Pydantic accepts arguments as strict JSON; None if types are not plain."""
        return self._build(strict_check)

    def _build(self, make: Callable[[Schema], Check | None]) -> Check | None:
        if not has_jsonschema_rs():
            return None
        import jsonschema_rs

        definitions: dict[str, Schema] = {}
        try:
            return make({**_schema(self._core, definitions), "$defs": definitions})
        except (_NotPlain, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
            return None


def _lax_check(schema: Schema) -> Check:
    import jsonschema_rs

    is_valid = jsonschema_rs.validator_for(schema).is_valid
    may_recur = _may_recur(schema)

    def check(arguments: Any) -> bool:
        try:
            return (not may_recur or nests_less(arguments, _MAX_DEPTH)) and is_valid(arguments)
        except (ValueError, RecursionError):
            return False

    return check


def _schema(core: Core, definitions: dict[str, Schema]) -> Schema:
    build = _BUILDERS.get(core["type"])
    if build is None:
        raise _NotPlain
    schema = build(core, definitions)
    if "ref" in core:
        definitions[core["ref"]] = schema
    return schema


def _only(core: Core, *keys: str) -> None:
    """Raise if a core schema has other keys, unless they are False or None."""
    if any(
        core[key] is not None and core[key] is not False for key in core.keys() - _IGNORED_KEYS - set(keys)
    ):
        raise _NotPlain


def _bare(schema: Schema) -> Callable[[Core, dict[str, Schema]], Schema]:
    """Return the builder of a type that has no options."""

    def build(core: Core, _definitions: dict[str, Schema]) -> Schema:
        _only(core)
        return dict(schema)

    return build


def _integer(core: Core, _definitions: dict[str, Schema]) -> Schema:
    _only(core, *_BOUNDS)
    return {"type": "integer", **_bounds(core)}


def _number(core: Core, _definitions: dict[str, Schema]) -> Schema:
    _only(core, *_BOUNDS)
    if any(abs(core.get(bound) or 0) > _EXACT for bound in _BOUNDS):
        raise _NotPlain  # Pydantic rounds such a bound
    return {"type": "number", **_bounds(core)}


def _bounds(core: Core) -> Schema:
    own = {keyword: core[bound] for bound, keyword in _BOUNDS.items() if core.get(bound) is not None}
    least, most = max(_LEAST, own.pop("minimum", _LEAST)), min(_MOST, own.pop("maximum", _MOST))
    return {"minimum": least, "maximum": most, **own}


def _string(core: Core, _definitions: dict[str, Schema]) -> Schema:
    _only(core, "min_length", "max_length")
    lengths = _lengths(core, "minLength", "maxLength")
    # Pydantic reads a text only to count its characters; only then a lone surrogate is an error.
    return {"type": "string", **lengths, **(WRITABLE if lengths else {})}


def _lengths(core: Core, least: str, most: str) -> Schema:
    found = ((least, core.get("min_length")), (most, core.get("max_length")))
    return {keyword: length for keyword, length in found if length is not None}


def _literal(core: Core, _definitions: dict[str, Schema]) -> Schema:
    _only(core, "expected")
    if not all(type(value) is str for value in core["expected"]):
        raise _NotPlain
    return {"enum": list(core["expected"])}


def _list(core: Core, definitions: dict[str, Schema]) -> Schema:
    _only(core, "items_schema", "min_length", "max_length")
    items = _schema(core["items_schema"], definitions) if "items_schema" in core else {}
    return {"type": "array", "items": items, **_lengths(core, "minItems", "maxItems")}


def _dict(core: Core, definitions: dict[str, Schema]) -> Schema:
    _only(core, "keys_schema", "values_schema")
    if "keys_schema" in core and _schema(core["keys_schema"], definitions) not in ({}, {"type": "string"}):
        raise _NotPlain
    values = _schema(core["values_schema"], definitions) if "values_schema" in core else {}
    return {"type": "object", "additionalProperties": values}


def _nullable(core: Core, definitions: dict[str, Schema]) -> Schema:
    _only(core, "schema")
    return {"anyOf": [_schema(core["schema"], definitions), {"type": "null"}]}


def _default(core: Core, definitions: dict[str, Schema]) -> Schema:
    if "default" not in core or core.get("validate_default"):
        raise _NotPlain
    return _schema(core["schema"], definitions)


def _union(core: Core, definitions: dict[str, Schema]) -> Schema:
    _only(core, "choices", "mode")
    if not all(isinstance(choice, Mapping) for choice in core["choices"]):
        raise _NotPlain
    return {"anyOf": [_schema(choice, definitions) for choice in core["choices"]]}


def _model(core: Core, definitions: dict[str, Schema]) -> Schema:
    _only(core, "cls", "schema", "config", "generic_origin")
    config = core.get("config") or {}
    if not _MODEL_CONFIG.issuperset(config):
        raise _NotPlain
    schema = _schema(core["schema"], definitions)
    if config.get("extra_fields_behavior") == "forbid":
        schema["additionalProperties"] = False
    return schema


def _model_fields(core: Core, definitions: dict[str, Schema]) -> Schema:
    _only(core, "fields", "model_name", "computed_fields", "extra_behavior")
    return _object(core["fields"], definitions, closed=core.get("extra_behavior") == "forbid")


def _object(fields: Mapping[str, Core], definitions: dict[str, Schema], *, closed: bool) -> Schema:
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for name, field in fields.items():
        published = field.get("validation_alias", name)
        if not isinstance(published, str) or published in properties:
            raise _NotPlain
        properties[published] = _schema(field["schema"], definitions)
        if field["schema"]["type"] != "default":
            required.append(published)
    closing = {"additionalProperties": False} if closed else {}
    return {"type": "object", "properties": properties, "required": required, **closing}


def _arguments(core: Core, definitions: dict[str, Schema]) -> Schema:
    _only(core, "arguments_schema", "validate_by_name", "validate_by_alias")
    fields: dict[str, Core] = {}
    for parameter in core["arguments_schema"]:
        if parameter.get("mode", "positional_or_keyword") not in ("positional_or_keyword", "keyword_only"):
            raise _NotPlain
        published = parameter.get("alias", parameter["name"])
        if not isinstance(published, str) or published in fields:
            raise _NotPlain
        fields[published] = parameter
    return _object(fields, definitions, closed=True)


def _definitions(core: Core, definitions: dict[str, Schema]) -> Schema:
    _only(core, "schema", "definitions")
    for definition in core["definitions"]:
        _schema(definition, definitions)
    return _schema(core["schema"], definitions)


def _reference(core: Core, _definitions: dict[str, Schema]) -> Schema:
    name = core["schema_ref"].replace("~", "~0").replace("/", "~1").replace("%", "%25")
    return {"$ref": f"#/$defs/{name}"}


_BUILDERS: Final[Mapping[str, Callable[[Core, dict[str, Schema]], Schema]]] = {
    "any": _bare({}),
    "none": _bare({"type": "null"}),
    "bool": _bare({"type": "boolean"}),
    "int": _integer,
    "float": _number,
    "str": _string,
    "literal": _literal,
    "list": _list,
    "dict": _dict,
    "nullable": _nullable,
    "default": _default,
    "union": _union,
    "model": _model,
    "model-fields": _model_fields,
    "arguments": _arguments,
    "definitions": _definitions,
    "definition-ref": _reference,
}
