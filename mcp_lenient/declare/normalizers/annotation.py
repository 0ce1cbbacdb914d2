"""Normalizers as type annotations, and how Pydantic runs them."""

from __future__ import annotations

import inspect
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, ClassVar, Final, Union, get_args, get_origin
from uuid import uuid4

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo, ValidatorFunctionWrapHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import (
    CoreSchema,
    PydanticCustomError,
    PydanticUseDefault,
    ValidationError,
    core_schema,
    to_json,
)

from mcp_lenient.declare.declarations import Normalize
from mcp_lenient.errors import NormalizationError, SchemaError
from mcp_lenient.values.language import Text

ERROR_TYPE: Final = "mcp_lenient_normalization"
"""The Pydantic error type of a refusal; its ``ctx`` has ``code`` and ``message``."""


class WrongItemsError(NormalizationError):
    """Refuses a list because of some of its items; the envelope says of each what its type asks for.

    Args:
        items: Their positions.
    """

    def __init__(
        self, code: str, message: str, expected_types: Iterable[str], *, items: Iterable[int]
    ) -> None:
        super().__init__(code, message, expected_types)
        self.items = tuple(items)


class ValueNormalizer(ABC):
    """A callable that takes the sent value and returns the normalized one.

    It also works as a type annotation, ``Annotated[list[str] | None, tags()]``, for parameters and fields of models,
    with and without the middleware; the schema stays the same. Several run from left to right. When run by Pydantic,
    a refusal is an error of type ``mcp_lenient_normalization``.

    For a parameter that is a discriminated union, write ``Annotated[Cat | Dog, Discriminator("kind"),
    parse_json()]``: Pydantic applies ``Field(discriminator=...)`` on a parameter after all other annotations.
    """

    __slots__ = ()

    null_is_absent: ClassVar[bool] = False
    """Whether a null result means that the default is used."""

    @abstractmethod
    def __call__(self, value: Any) -> Any:
        """Return the normalized value; an equal one for a value that is already right.

        Raises:
            NormalizationError: When the value is refused.
        """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the core schema of the annotated type, with this normalizer in front."""
        inner = handler(source)
        before = _chain(inner)
        if before is not None:
            function = {**inner["function"], "function": Chain((*before.normalizers, self))}
            return typing.cast("CoreSchema", {**inner, "function": function})
        return core_schema.with_info_wrap_validator_function(
            Chain((self,)), _json_or_python(inner, handler), json_schema_input_schema=inner
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the JSON schema of the annotated type.

        Raises:
            SchemaError: When a constraint is written after the normalizer, but Pydantic can only apply it before.
        """
        return _with_constraints(handler(schema), schema, self)


@dataclass(frozen=True, slots=True)
class Chain:
    """Several normalizers as one Pydantic validator function."""

    normalizers: tuple[ValueNormalizer, ...]

    def __call__(self, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo[Any]) -> Any:
        """Validate the normalized value; if it is invalid, try the sent value."""
        normalized = self._normalized(value)
        try:
            return handler(_for_mode(normalized, info))
        except ValidationError:
            if normalized is not value:
                with suppress(ValidationError):  # report the error of the normalized value
                    return handler(_for_mode(value, info))
            raise

    def _normalized(self, value: Any) -> Any:
        for normalizer in self.normalizers:
            try:
                value = normalizer(value)
            except NormalizationError as error:
                raise _as_pydantic_error(error) from error
            if value is None and normalizer.null_is_absent:
                raise PydanticUseDefault
        return value


def _for_mode(value: Any, info: ValidationInfo[Any]) -> Any:
    return to_json(value) if info.mode == "json" else value


def _json_or_python(inner: CoreSchema, handler: GetCoreSchemaHandler) -> CoreSchema:
    """Return a schema that parses JSON text in JSON mode and takes values in Python mode."""
    # A `json` schema serializes to JSON text in a round trip, so it gets the type's own serialization, wrapped since
    # the type name of a function schema has another meaning there.
    written = typing.cast("Any", core_schema.definitions_schema(inner, []))
    as_json = core_schema.json_schema(inner, serialization=written)
    either = core_schema.json_or_python_schema(json_schema=as_json, python_schema=inner)
    if not _has_own_title(inner):
        return either
    # Pydantic adds a title to a field unless it is a reference: make this one.
    either["ref"] = f"mcp_lenient:{uuid4().hex}"
    prepared = type("Prepared", (), {"__get_pydantic_core_schema__": lambda _source, _handler: either})
    return handler.generate_schema(Annotated[prepared, _PublishedAs(inner)])


_FUNCTION_SCHEMAS: Final = frozenset({"function-after", "function-before", "function-wrap"})
_TRANSPARENT: Final = _FUNCTION_SCHEMAS | {"default", "nullable", "definitions", "missing-sentinel"}


def _has_own_title(schema: Mapping[str, Any]) -> bool:
    """Return whether Pydantic publishes fields of this schema without a title, as it does for references."""
    while not schema.get("ref") and schema["type"] in _TRANSPARENT and "schema" in schema:
        schema = schema["schema"]
    return schema["type"] == "definition-ref" or bool(schema.get("ref"))


@dataclass(frozen=True, slots=True, eq=False)
class _PublishedAs:
    schema: CoreSchema

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(core_schema.definitions_schema(self.schema, []))


def annotated_normalizers(annotation: Any) -> tuple[ValueNormalizer, ...]:
    """Return the normalizers of a whole parameter, in the order in which they run; Pydantic runs those inside it.

    >>> from mcp_lenient.normalizers import strip
    >>> annotated_normalizers(Annotated[str, strip()]) == (strip(),), annotated_normalizers(list[Annotated[str, strip()]])
    (True, ())
    """
    return tuple(entry for entry in whole_metadata(annotation) if isinstance(entry, ValueNormalizer))


def whole_metadata(annotation: Any) -> tuple[Any, ...]:
    """Return the ``Annotated`` metadata on a whole type."""
    while isinstance(annotation, _ALIASES):
        annotation = annotation.__value__
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        return (*whole_metadata(inner), *metadata)
    # Python 3.10 wraps Annotated[X | None, ...] and Annotated[Any, ...] of a parameter with default None in an Optional.
    members = [arm for arm in _union_members(annotation) if arm is not type(None)]
    if len(members) == 1 and get_origin(members[0]) is Annotated:
        inner = get_args(members[0])[0]
        return whole_metadata(members[0]) if inner is Any or type(None) in _union_members(inner) else ()
    return ()


_ALIASES: Final = tuple(filter(None, [getattr(typing, "TypeAliasType", None)]))


def _union_members(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in {Union, UnionType} else ()


def _chain(schema: Mapping[str, Any]) -> Chain | None:
    function = schema.get("function")
    chain = function.get("function") if isinstance(function, Mapping) else None
    return chain if isinstance(chain, Chain) else None


def _as_pydantic_error(error: NormalizationError) -> PydanticCustomError:
    # Pydantic does not accept text that cannot be encoded as UTF-8.
    message: str = error.message
    if not isinstance(message, Text):
        message = message.encode("utf-8", "backslashreplace").decode()
    context = {"code": error.code, "message": message, "expected_types": error.expected_types}
    return PydanticCustomError(ERROR_TYPE, "{message}", context)


_NUMBER_KEYWORDS: Final = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_ARRAY_KEYWORDS: Final = {"minLength": "minItems", "maxLength": "maxItems"}
_KEYWORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "str": {"minLength": "minLength", "maxLength": "maxLength"},
    **dict.fromkeys(("int", "float"), _NUMBER_KEYWORDS),
    **dict.fromkeys(("list", "set", "frozenset"), _ARRAY_KEYWORDS),
    "dict": {"minLength": "minProperties", "maxLength": "maxProperties"},
}
"""Pydantic's name of a constraint on a function schema, and its name on the type itself."""
_CONSTRAINTS: Final = frozenset({*_NUMBER_KEYWORDS, *_ARRAY_KEYWORDS, "minItems", "maxItems"})


def _with_constraints(
    json_schema: JsonSchemaValue, schema: CoreSchema, normalizer: ValueNormalizer
) -> JsonSchemaValue:
    """Return the JSON schema with the constraints after a normalizer named as on the type itself.

    Pydantic checks them by functions around the normalizer and writes their own names (``ge``) into the schema. For
    a nullable type these functions fail on null, and a pattern is not written at all.
    """
    inner, constraints = _constraints_behind(schema)
    # On a union, Pydantic writes these names without a normalizer too.
    if not constraints or inner == "union":
        return json_schema
    keywords = _KEYWORDS.get(inner, {})
    if not constraints <= keywords.keys():
        msg = (
            f"The constraints after {normalizer!r} belong before it: write Annotated[..., Field(...), "
            "normalizer]. Pydantic would check them on null as well, or leave them out of the schema."
        )
        raise SchemaError(msg)
    return {
        keywords.get(name, name) if name in constraints else name: entry
        for name, entry in json_schema.items()
    }


def _constraints_behind(schema: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    """Return the core type under the normalizers, and the constraints after them."""
    constraints: set[str] = set()
    while _chain(schema) is None:
        if schema["type"] == "chain":
            constraints.add("pattern")
            schema = schema["steps"][0]
        elif schema["type"] in _FUNCTION_SCHEMAS:
            constraints |= _CONSTRAINTS & (schema.get("metadata") or {}).get("pydantic_js_updates", {}).keys()
            schema = schema["schema"]
        else:
            return schema["type"], frozenset()
    return schema["json_schema_input_schema"]["type"], frozenset(constraints)


INVALID_TYPE: Final = "INVALID_{PARAMETER}_TYPE"
"""The code for a value of a wrong type; the envelope replaces ``{PARAMETER}`` by the parameter's name."""
INVALID_VALUE: Final = "INVALID_{PARAMETER}_VALUE"
"""The code for a value of the right type that is not allowed; ``{PARAMETER}`` as in :data:`INVALID_TYPE`."""


def require(is_right: object, where: str, allowed: str, got: object) -> None:
    """Raise a ValueError that names an argument of a factory, the allowed values and the given one, if that is wrong."""
    if not is_right:
        msg = f"{where} must be {allowed}, got {got!r}."
        raise ValueError(msg)


@dataclass(frozen=True, slots=True, repr=False)
class ReadyMade(ValueNormalizer):
    """A normalizer of this package: a function, and what it takes beside the value."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = field(default=(), hash=False)

    @property
    def __name__(self) -> str:
        return self.function.__name__.strip("_")

    def __repr__(self) -> str:
        return f"{self.__name__}({', '.join(map(repr, self.arguments))})"

    def __call__(self, value: Any) -> Any:
        """Return the result of the function."""
        return self.function(value, *self.arguments)


@dataclass(frozen=True, slots=True)
class Custom(ReadyMade):
    """The normalizer of :func:`normalizer`."""

    def __post_init__(self) -> None:
        normalizer = self.function
        is_right = callable(normalizer) and not inspect.iscoroutinefunction(normalizer)
        require(is_right, "from_function(function)", "a callable that is not async", normalizer)

    @property
    def __name__(self) -> str:
        name = getattr(self.function, "__name__", None)
        return name if isinstance(name, str) else type(self.function).__name__


def from_function(function: Normalize) -> ValueNormalizer:
    """Return a normalizer for annotations from any callable.

    >>> from typing import Annotated
    >>> from pydantic import TypeAdapter
    >>> def without_hash(value):
    ...     return value.removeprefix("#") if isinstance(value, str) else value
    >>> TypeAdapter(Annotated[str, from_function(without_hash)]).validate_python("#ffcc00")
    'ffcc00'

    To refuse a value, the callable raises :class:`mcp_lenient.errors.NormalizationError`, whose code may contain
    ``{PARAMETER}`` for the name of the parameter; the message should not contain the value. In annotations, Pydantic
    turns a ``ValueError`` or ``AssertionError`` into a validation error; other exceptions propagate. The callable
    should be pure, return a valid value unchanged, and be idempotent: it may run more than once per call.

    Args:
        function: The callable; a normalizer is returned unchanged.

    Raises:
        ValueError: When it is not callable, or is async.
    """
    return function if isinstance(function, ValueNormalizer) else Custom(function)


@dataclass(frozen=True, slots=True)
class Aliases:
    """The other names of a parameter, as given."""

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        require(self.names, "aliases(*names)", "one or more names", self.names)
        for name in self.names:
            is_name = isinstance(name, str) and name.strip()
            require(is_name, "Each name of aliases(*names)", "a non-empty string", name)
        require(len(set(self.names)) == len(self.names), "aliases(*names)", "different names", self.names)


def aliases(*names: str) -> Aliases:
    """Declare other names of a parameter.

    >>> aliases("query", "q").names
    ('query', 'q')

    Args:
        names: The other names, exactly as callers send them.

    Raises:
        ValueError: When there are none, or one is empty, not a string or a duplicate.
    """
    return Aliases(names)


def annotated_aliases(annotation: Any) -> tuple[str, ...]:
    """Return the other names of a whole parameter.

    >>> annotated_aliases(Annotated[str, aliases("query", "q")])
    ('query', 'q')
    """
    declared = (entry for entry in whole_metadata(annotation) if isinstance(entry, Aliases))
    return tuple(dict.fromkeys(name for entry in declared for name in entry.names))
