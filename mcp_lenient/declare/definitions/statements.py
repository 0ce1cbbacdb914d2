"""Compare a file's statements about parameters with the tool, and add them to its schema."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from mcp_lenient.declare.declared import Declared, Default, Normalize, Stated
from mcp_lenient.declare.decorator_metadata import combined
from mcp_lenient.errors import DefinitionError
from mcp_lenient.schema.compile import ReadableSchema, readable
from mcp_lenient.schema.node import Tree
from mcp_lenient.types import Validator
from mcp_lenient.values.display import shown
from mcp_lenient.values.json_values import same_json
from mcp_lenient.values.language import ONE_OF_A_TYPE
from mcp_lenient.values.names import fold_name


def with_statements(
    tool: str,
    declared: Declared,
    schema: Mapping[str, Any],
    validator: Validator,
    *,
    certain: bool,
    warn: Callable[[str], None],
) -> tuple[Declared, Mapping[str, Any]]:
    """Return the declarations with the defaults of a file, and the schema with its descriptions.

    ``certain`` says that the validator is a function's own. A schema from elsewhere may change, so where the file
    contradicts it, ``warn`` is called and the schema is used.

    Raises:
        DefinitionError: When the file contradicts a function of this process.
    """
    wrong = list(contradictions(tool, declared.stated, readable(schema), validator))
    if wrong and certain:
        raise DefinitionError("\n".join(wrong))
    if wrong:
        warn(wrong[0])
        return declared, schema
    filled = combined(declared, Declared(normalizers=defaults(declared, schema)))
    return filled, described(schema, declared.stated)


def contradictions(
    tool: str, stated: Mapping[str, Stated], read: ReadableSchema, validator: Validator
) -> Iterator[str]:
    """Yield a sentence, with its place in the file, for each statement that the tool contradicts."""
    ways = Tree(read).top.ways
    properties = {name: node for way in ways for name, node in way.property_nodes.items()}
    required = {name for way in ways for name in way.required}
    for name, own in stated.items():
        if name not in properties:
            continue  # the log reports unknown names
        called = f"'{shown(name)}' of tool '{shown(tool)}'"
        taken = properties[name].taken or frozenset(own.types)
        fitting = {*taken, "integer"} if "number" in taken else taken
        wrong = [each for each in own.types if each not in fitting]
        if wrong:
            yield f"{own.where['type']}: {called} is not {_either(wrong)}: it takes {_either(sorted(taken))}."
        if own.required and name not in required:
            yield f"{own.where['required']}: {called} is not required: the tool may be called without it."
        if own.required is False and name in required and not own.default:
            yield f"{own.where['required']}: {called} is required: give it a default here, or say so."
        if own.default and not wrong and refuses(validator, name, own.default[0]):
            yield f"{own.where['default']}: {called} does not take its default."


def _either(types: Collection[str]) -> str:
    return " or ".join(ONE_OF_A_TYPE[each] for each in types)


def refuses(validator: Validator, name: str, value: Any) -> bool:
    """Return whether a tool does not take a value for one of its parameters."""
    faults = validator.faults({name: value})
    return any(fault.path[:1] == (name,) and fault.kind != "missing" for fault in faults)


def described(schema: Mapping[str, Any], stated: Mapping[str, Stated]) -> Mapping[str, Any]:
    """Return a schema with the file's descriptions and defaults, for envelopes and prompts; a copy where they differ."""
    properties = schema.get("properties")
    if not stated or not isinstance(properties, Mapping):
        return schema
    told = {name: _described(properties[name], own) for name, own in stated.items() if name in properties}
    return {**schema, "properties": {**properties, **told}}


def published(
    tool: str, schema: Mapping[str, Any], declared: Declared, validator: Validator
) -> Mapping[str, Any]:
    """Return a schema as a client is to read it: with the file's descriptions and defaults, unless it contradicts them."""
    if any(contradictions(tool, declared.stated, readable(schema), validator)):
        return schema
    optional = {name for name, own in declared.stated.items() if own.default}
    required = [name for name in schema.get("required", ()) if name not in optional]
    return {**described(schema, declared.stated), **({"required": required} if "required" in schema else {})}


def _described(schema: Any, own: Stated) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    description = {} if own.description is None else {"description": own.description}
    return {**schema, **description, **({"default": own.default[0]} if own.default else {})}


def defaults(declared: Declared, schema: Mapping[str, Any]) -> dict[str, tuple[Normalize, ...]]:
    """Return normalizers that fill in the defaults of the file, by parameter, but for those that the schema has."""
    properties = schema.get("properties", {})
    return {
        name: (Default(own.default[0], frozenset(map(fold_name, (name, *declared.aliases.get(name, ()))))),)
        for name, own in declared.stated.items()
        if own.default and name in properties and not _has_default(properties[name], own.default[0])
    }


def _has_default(schema: Any, value: Any) -> bool:
    return isinstance(schema, Mapping) and "default" in schema and same_json(schema["default"], value)
