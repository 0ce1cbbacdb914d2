"""Validate arguments of function tools on the official SDK 1 and 2 by the SDK's own arguments model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import ValidationError

from mcp_lenient.adapters.pydantic.core_schemas import runs_authors_code, schemas_in
from mcp_lenient.adapters.pydantic.validator import PydanticValidator
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.types import Fault
from mcp_lenient.values.language import Text

if TYPE_CHECKING:
    from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata

_TEXT_IS_READ = Text("this server parses a text that is JSON; send a text that is not JSON")


class ArgumentsValidator(PydanticValidator):
    """Validate arguments as the SDK does before it calls the function.

    Args:
        metadata: The SDK's metadata of the function.
    """

    def __init__(self, metadata: FuncMetadata) -> None:
        schema = metadata.arg_model.__pydantic_core_schema__
        runs_code = any(map(runs_authors_code, schemas_in(schema)))
        super().__init__(self._called_with, core_schema=schema, runs_code=runs_code)
        self._metadata = metadata

    def __eq__(self, other: object) -> bool:
        """Return whether both validate the same function."""
        return isinstance(other, ArgumentsValidator) and self._metadata is other._metadata

    def __hash__(self) -> int:
        """Hash the function."""
        return id(self._metadata)

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Return all faults, in the order of the arguments, then missing parameters."""
        faults = super().faults(arguments)
        return tuple(dict.fromkeys(self._at_its_text(fault, arguments) for fault in faults))

    def _called_with(self, arguments: dict[str, Any]) -> dict[str, Any]:
        read = self._metadata.arg_model.model_validate(self._metadata.pre_parse_json(arguments))
        return read.model_dump_one_level()

    def _at_its_text(self, fault: Fault, arguments: Mapping[str, Any]) -> Fault:
        """Move a fault inside a string that the SDK parsed as JSON to the string itself, as it was sent."""
        if not fault.path or not isinstance(arguments.get(str(fault.path[0])), str):
            return fault
        name = str(fault.path[0])
        if len(fault.path) > 1:
            return Fault((name,), "type")
        read = self._metadata.pre_parse_json({name: arguments[name]})[name]
        if not isinstance(read, str) and self._takes_text(name, arguments):
            return Fault((name,), "value", reason=_TEXT_IS_READ)
        return fault

    def _takes_text(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the parameter accepts the string without parsing it as JSON."""
        try:
            self._metadata.arg_model.model_validate({name: arguments[name]})
        except ValidationError as error:
            return all(detail["loc"][:1] != (name,) for detail in error.errors(include_url=False))
        except (ValueError, RecursionError):
            return False
        return True


class InputValidator(PublishedSchemaValidator):
    """Validate like the low-level server of SDK 1, by the published schema.

    Args:
        schema: The input schema of a tool.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        super().__init__(schema)
        from jsonschema.validators import validator_for
        from referencing import Registry

        self.schema = schema
        self._sdk_validator = validator_for(schema)(schema, registry=Registry())  # empty: nothing is fetched

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same schema."""
        return isinstance(other, InputValidator) and self.schema == other.schema

    __hash__ = None  # type: ignore[assignment]

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the SDK accepts these arguments; the SDK reports an unusable schema itself."""
        try:
            is_valid = bool(self._sdk_validator.is_valid(dict(arguments)))
        except Exception:  # noqa: BLE001 - a broken pattern or reference raises what the library likes
            return True
        return is_valid and next(self._unread(arguments), None) is None

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Return the faults of these arguments."""
        if self.accepts(arguments):
            return ()
        return super().faults(arguments) or (Fault((), "value"),)
