"""Compare a file's statements about parameters with the tool, and add them to its schema."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from mcp_lenient.declare.declarations import Declared, Default, Normalize, Stated
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
    branches = Tree(read).top.branches
    properties = {name: node for branch in branches for name, node in branch.property_nodes.items()}
    required = {name for branch in branches for name in branch.required}
    for name, statement in stated.items():
        if name not in properties:
            continue  # the log reports unknown names
        called = f"'{shown(name)}' of tool '{shown(tool)}'"
        node = properties[name]
        taken = frozenset(statement.types) if node.accepts_any_type else node.accepted_types
        fitting = {*taken, "integer"} if "number" in taken else taken
        wrong = [json_type for json_type in statement.types if json_type not in fitting]
        if wrong:
            yield f"{statement.where['type']}: {called} is not {_either(wrong)}: it takes {_either(sorted(taken))}."
        if statement.required and name not in required:
            yield f"{statement.where['required']}: {called} is not required: the tool may be called without it."
        if statement.required is False and name in required and not statement.default:
            yield f"{statement.where['required']}: {called} is required: give it a default here, or say so."
        if statement.default and not wrong and refuses(validator, name, statement.default[0]):
            yield f"{statement.where['default']}: {called} does not take its default."


def _either(types: Collection[str]) -> str:
    return " or ".join(ONE_OF_A_TYPE[json_type] for json_type in types)


def refuses(validator: Validator, name: str, value: Any) -> bool:
    """Return whether a tool does not take a value for one of its parameters."""
    faults = validator.faults({name: value})
    return any(fault.path[:1] == (name,) and fault.kind != "missing" for fault in faults)


def described(schema: Mapping[str, Any], stated: Mapping[str, Stated]) -> Mapping[str, Any]:
    """Return a schema with the file's descriptions and defaults, for envelopes and prompts; a copy where they differ."""
    properties = schema.get("properties")
    if not stated or not isinstance(properties, Mapping):
        return schema
    described = {
        name: _described(properties[name], statement)
        for name, statement in stated.items()
        if name in properties
    }
    return {**schema, "properties": {**properties, **described}}


def published(
    tool: str, schema: Mapping[str, Any], declared: Declared, validator: Validator
) -> Mapping[str, Any]:
    """Return a schema as a client is to read it: with the file's descriptions and defaults, unless it contradicts them."""
    if any(contradictions(tool, declared.stated, readable(schema), validator)):
        return schema
    optional = {name for name, statement in declared.stated.items() if statement.default}
    required = [name for name in schema.get("required", ()) if name not in optional]
    return {**described(schema, declared.stated), **({"required": required} if "required" in schema else {})}


def _described(schema: Any, statement: Stated) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    description = {} if statement.description is None else {"description": statement.description}
    return {**schema, **description, **({"default": statement.default[0]} if statement.default else {})}


def defaults(declared: Declared, schema: Mapping[str, Any]) -> dict[str, tuple[Normalize, ...]]:
    """Return normalizers that fill in the defaults of the file, by parameter, but for those that the schema has."""
    properties = schema.get("properties", {})
    return {
        name: (
            Default(statement.default[0], frozenset(map(fold_name, (name, *declared.aliases.get(name, ()))))),
        )
        for name, statement in declared.stated.items()
        if statement.default
        and name in properties
        and not _has_default(properties[name], statement.default[0])
    }


def _has_default(schema: Any, value: Any) -> bool:
    return isinstance(schema, Mapping) and "default" in schema and same_json(schema["default"], value)
