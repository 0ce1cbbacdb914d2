"""Normalizers as type annotations: how they are declared, how Pydantic runs them, and how they refuse."""

from __future__ import annotations

import inspect
import typing
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType, UnionType
from typing import Annotated, Any, ClassVar, Final, NoReturn, Union, get_args, get_origin
from uuid import uuid4

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import (
    CoreSchema,
    PydanticCustomError,
    PydanticUseDefault,
    ValidationError,
    core_schema,
    to_json,
)

from mcp_lenient.declare.declared import Normalize
from mcp_lenient.errors import NormalizationError, SchemaError

ERROR_TYPE: Final = "mcp_lenient_normalization"
"""The type of the Pydantic error that a refusal becomes; its ``ctx`` holds ``code`` and ``message``."""


class ValueNormalizer(ABC):
    """A callable that takes a value as sent and returns the value that is meant.

    It also works as a type annotation, ``Annotated[list[str] | None, tags()]``, for parameters and for
    fields of models, with and without a middleware; the schema stays as it is. Several side by side run
    from left to right. Where Pydantic runs them, a refusal is an error of the type
    ``mcp_lenient_normalization``.

    Where a parameter itself is a discriminated union, ``Annotated[Cat | Dog, Discriminator("kind"),
    parse_json()]`` says so: Pydantic applies ``Field(discriminator=...)`` on a parameter last of all.
    """

    __slots__ = ()

    null_is_absent: ClassVar[bool] = False
    """Whether a null that is left in the end means that the default is to be used."""

    @abstractmethod
    def __call__(self, value: Any) -> Any:
        """Return the value that is meant; an equal one for a value that is already right.

        Raises:
            NormalizationError: When the value is refused.
        """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of the annotated type, with this normalizer in front."""
        inner = handler(source)
        before = _chain(inner)
        if before is not None:
            function = {**inner["function"], "function": Chain((*before.normalizers, self))}
            return typing.cast("CoreSchema", {**inner, "function": function})
        return core_schema.with_info_wrap_validator_function(
            Chain((self,)), _from_either(inner, handler), json_schema_input_schema=inner
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the JSON schema of the annotated type.

        Raises:
            SchemaError: When a constraint is behind the normalizer that Pydantic can apply rightly only
                in front of it.
        """
        return _with_constraints(handler(schema), schema, self)


@dataclass(frozen=True, slots=True)
class Chain:
    """Several normalizers as one function that Pydantic runs."""

    normalizers: tuple[ValueNormalizer, ...]

    def __call__(
        self,
        value: Any,
        handler: core_schema.ValidatorFunctionWrapHandler,
        info: core_schema.ValidationInfo[Any],
    ) -> Any:
        """Validate the normalized value; where only the value as sent is valid, take that one."""
        normalized = self._normalized(value)
        try:
            return handler(_handed_on(normalized, info))
        except ValidationError:
            if normalized is value:
                raise
            try:
                return handler(_handed_on(value, info))
            except ValidationError:
                pass  # what the normalizers gave is what the error should speak of
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


def _handed_on(value: Any, info: core_schema.ValidationInfo[Any]) -> Any:
    return to_json(value) if info.mode == "json" else value


def _from_either(inner: CoreSchema, handler: GetCoreSchemaHandler) -> CoreSchema:
    """Make a schema that takes JSON text where JSON is validated, and values elsewhere."""
    # In a round trip, Pydantic would write a `json` schema as JSON text: its own serialization is the type's,
    # under a cover, since the name of a function's schema means something else there.
    written = typing.cast("Any", core_schema.definitions_schema(inner, []))
    as_json = core_schema.json_schema(inner, serialization=written)
    either = core_schema.json_or_python_schema(json_schema=as_json, python_schema=inner)
    if not _has_own_title(inner):
        return either
    # Pydantic gives a field a title, unless it sees a reference there: so this becomes one.
    either["ref"] = f"mcp_lenient:{uuid4().hex}"
    prepared = type("Prepared", (), {"__get_pydantic_core_schema__": lambda _source, _handler: either})
    return handler.generate_schema(Annotated[prepared, _PublishedAs(inner)])


_TRANSPARENT: Final = frozenset(
    {
        "default",
        "nullable",
        "definitions",
        "missing-sentinel",
        "function-after",
        "function-before",
        "function-wrap",
    }
)


def _has_own_title(schema: Mapping[str, Any]) -> bool:
    """Return whether Pydantic publishes fields of this schema without a title, as it does for references."""
    while not schema.get("ref") and schema["type"] in _TRANSPARENT and "schema" in schema:
        schema = schema["schema"]
    return schema["type"] == "definition-ref" or bool(schema.get("ref"))


@dataclass(frozen=True, slots=True, eq=False)
class _PublishedAs:
    """Marks a schema that is published as another one."""

    schema: CoreSchema

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the JSON schema of the other one, with its notes."""
        return handler(core_schema.definitions_schema(self.schema, []))


def annotated_normalizers(annotation: Any) -> tuple[ValueNormalizer, ...]:
    """Return the normalizers on a whole parameter, in the order in which they run.

    Those on its items, fields or on one arm of a union are not among them: Pydantic runs those.

    >>> from mcp_lenient.declare.normalizers import lower, strip
    >>> annotated_normalizers(Annotated[str, strip(), lower()])
    (Strip(), Lower())
    >>> annotated_normalizers(list[Annotated[str, strip()]])
    ()

    Args:
        annotation: A parameter's type, its forward references resolved.
    """
    return tuple(entry for entry in whole_metadata(annotation) if isinstance(entry, ValueNormalizer))


def whole_metadata(annotation: Any) -> tuple[Any, ...]:
    """Return the ``Annotated`` metadata on a whole type."""
    while isinstance(annotation, _ALIASES):
        annotation = annotation.__value__
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        return (*whole_metadata(inner), *metadata)
    # Python 3.10 wraps a parameter's Annotated[X | None, ...] that defaults to None in one more Optional.
    arms = [arm for arm in _arms(annotation) if arm is not type(None)]
    if len(arms) == 1 and get_origin(arms[0]) is Annotated and type(None) in _arms(get_args(arms[0])[0]):
        return whole_metadata(arms[0])
    return ()


_ALIASES: Final = tuple(filter(None, [getattr(typing, "TypeAliasType", None)]))


def _arms(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in {Union, UnionType} else ()


def _chain(schema: Mapping[str, Any]) -> Chain | None:
    function = schema.get("function")
    found = function.get("function") if isinstance(function, Mapping) else None
    return found if isinstance(found, Chain) else None


def _as_pydantic_error(error: NormalizationError) -> PydanticCustomError:
    # Pydantic cannot take text that no UTF-8 can be made of.
    message = error.message.encode("utf-8", "backslashreplace").decode()
    told = {"code": error.code, "message": message, "expected_types": error.expected_types}
    return PydanticCustomError(ERROR_TYPE, "{message}", told)


_NUMBER_KEYWORDS: Final = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_ARRAY_KEYWORDS: Final = {"minLength": "minItems", "maxLength": "maxItems"}
_KEYWORDS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "str": {"minLength": "minLength", "maxLength": "maxLength"},
        "int": _NUMBER_KEYWORDS,
        "float": _NUMBER_KEYWORDS,
        "list": _ARRAY_KEYWORDS,
        "set": _ARRAY_KEYWORDS,
        "frozenset": _ARRAY_KEYWORDS,
        "dict": {"minLength": "minProperties", "maxLength": "maxProperties"},
    }
)
"""What Pydantic calls a constraint on a function around a type, and what it calls it on the type itself."""
_CONSTRAINTS: Final = frozenset({*_NUMBER_KEYWORDS, *_ARRAY_KEYWORDS, "minItems", "maxItems"})
_AROUND: Final = frozenset({"function-after", "function-before", "function-wrap"})


def _with_constraints(
    json_schema: JsonSchemaValue, schema: CoreSchema, normalizer: ValueNormalizer
) -> JsonSchemaValue:
    """Return the JSON schema with the constraints behind a normalizer named as on the type itself.

    Pydantic checks them by functions around the normalizer and writes their own names (``ge``) into the
    schema. Around a nullable type these functions fail on null, and a pattern is not written at all.
    """
    inner, found = _behind(schema)
    if not found or inner == "union":  # on a union, Pydantic writes them like this without a normalizer, too
        return json_schema
    keywords = _KEYWORDS.get(inner, {})
    if not found <= keywords.keys():
        msg = (
            f"The constraints behind {normalizer!r} belong in front of it: write Annotated[..., Field(...), "
            "normalizer]. Pydantic would check them on null as well, or leave them out of the schema."
        )
        raise SchemaError(msg)
    return {keywords.get(name, name) if name in found else name: entry for name, entry in json_schema.items()}


def _behind(schema: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    """Return the core type under the normalizers, and the constraints behind them."""
    found: set[str] = set()
    while _chain(schema) is None:
        if schema["type"] == "chain":
            found.add("pattern")
            schema = schema["steps"][0]
        elif schema["type"] in _AROUND:
            found |= _CONSTRAINTS & (schema.get("metadata") or {}).get("pydantic_js_updates", {}).keys()
            schema = schema["schema"]
        else:
            return schema["type"], frozenset()
    return schema["json_schema_input_schema"]["type"], frozenset(found)


INVALID_TYPE: Final = "INVALID_{PARAMETER}_TYPE"
"""The code for a value of a wrong type; in the envelope the parameter's own name stands for ``{PARAMETER}``."""
INVALID_VALUE: Final = "INVALID_{PARAMETER}_VALUE"
"""The code for a value of the right type that is not allowed; ``{PARAMETER}`` as in :data:`INVALID_TYPE`."""


def refuse_argument(where: str, allowed: str, got: object) -> NoReturn:
    """Refuse an argument that an author gives to a normalizer.

    Raises:
        ValueError: Always; it names the argument, what is allowed, and what came.
    """
    msg = f"{where} must be {allowed}, got {got!r}."
    raise ValueError(msg)


def check_flag(where: str, value: object) -> None:
    """Raise where the value is not a boolean.

    Raises:
        ValueError: When it is anything else.
    """
    if not isinstance(value, bool):
        refuse_argument(where, "true or false", value)


@dataclass(frozen=True, slots=True)
class Custom(ValueNormalizer):
    """The normalizer that :func:`normalizer` makes."""

    function: Normalize

    def __post_init__(self) -> None:
        if not callable(self.function) or inspect.iscoroutinefunction(self.function):
            refuse_argument("normalizer(function)", "a callable that is not async", self.function)

    @property
    def __name__(self) -> str:
        name = getattr(self.function, "__name__", None)
        return name if isinstance(name, str) else type(self.function).__name__

    def __call__(self, value: Any) -> Any:
        """Return the result of the function; let its exceptions through."""
        return self.function(value)


def normalizer(function: Normalize) -> ValueNormalizer:
    """Make a normalizer for annotations from any callable.

    >>> from typing import Annotated
    >>> from pydantic import TypeAdapter
    >>> def without_hash(value):
    ...     return value.removeprefix("#") if isinstance(value, str) else value
    >>> TypeAdapter(Annotated[str, normalizer(without_hash)]).validate_python("#ffcc00")
    'ffcc00'

    To refuse a value it raises :class:`mcp_lenient.errors.NormalizationError`; its code may hold
    ``{PARAMETER}`` for the name of the parameter, and its message should not hold the value. Any other
    exception goes on as it is: behind an annotation, Pydantic makes a validation error of a ``ValueError``
    or ``AssertionError`` and hands on the rest. It should be pure, give what it gets back when that is
    right, and be idempotent: it may run more than once on a call.

    Args:
        function: The callable; a normalizer is returned as it is.

    Raises:
        ValueError: When it is no callable, or an async one.
    """
    return function if isinstance(function, ValueNormalizer) else Custom(function)


@dataclass(frozen=True, slots=True)
class Aliases:
    """Other names of a parameter; never changes its value.

    Attributes:
        names: The names, as they were given.
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.names:
            refuse_argument("aliases(*names)", "one name or more", self.names)
        for name in self.names:
            if not isinstance(name, str) or not name.strip():
                refuse_argument("Each name of aliases(*names)", "a text that is not empty", name)
        if len(set(self.names)) != len(self.names):
            refuse_argument("aliases(*names)", "different names", self.names)


def aliases(*names: str) -> Aliases:
    """Declare other names of a parameter.

    >>> aliases("query", "q").names
    ('query', 'q')

    Args:
        names: The other names, exactly as callers write them.

    Raises:
        ValueError: When there is none, one is empty or no text, or one is there twice.
    """
    return Aliases(names)


def annotated_aliases(annotation: Any) -> tuple[str, ...]:
    """Return the other names on a whole parameter.

    >>> from typing import Annotated
    >>> annotated_aliases(Annotated[str, aliases("query", "q")])
    ('query', 'q')

    Args:
        annotation: A parameter's type, its forward references resolved.
    """
    declared = (entry for entry in whole_metadata(annotation) if isinstance(entry, Aliases))
    return tuple(dict.fromkeys(name for entry in declared for name in entry.names))
