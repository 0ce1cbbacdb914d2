"""The Pydantic models of a definitions file, and their error messages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from mcp_lenient.declare.declarations import Declared, Normalize, Stated
from mcp_lenient.declare.definitions.document import DefinitionFault, Document
from mcp_lenient.declare.normalizers import annotation, inference, lists, scalars
from mcp_lenient.rules.dispatchers import Dispatcher, dispatcher
from mcp_lenient.rules.policy import (
    BodyErrors,
    Destructive,
    LeakedMarkup,
    LogValues,
    Mode,
    Policy,
    Unrepairable,
)
from mcp_lenient.types import JsonType, Path
from mcp_lenient.values.display import cut, in_json, short_scalar, shown
from mcp_lenient.values.json_values import json_type
from mcp_lenient.values.limits import Limits
from mcp_lenient.values.names import near


@dataclass(frozen=True, slots=True)
class Definitions:
    """The declarations of a file.

    Attributes:
        policy: Fields of :class:`mcp_lenient.Policy` that the file sets for the whole server.
        tools: The declarations of each tool, by its published name.
        names: The parameter names in the file, by tool.
    """

    policy: Mapping[str, Any] = field(default_factory=dict)
    tools: Mapping[str, Declared] = field(default_factory=dict)
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)


MAX_SENTENCES = 20
_MAX_COMPARED = 1_000


def unknown_names(definitions: Definitions, published: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Return a sentence for each unknown tool or parameter in a definitions file, 20 at most.

    >>> from mcp_lenient.declare.definitions import Definitions
    >>> definitions = Definitions({}, {}, {"find": frozenset({"querry"}), "serch": frozenset()})
    >>> for sentence in unknown_names(definitions, {"find": ["query"], "search": []}): print(sentence)
    Tool 'find' has no parameter 'querry'; did you mean 'query'?
    There is no tool 'serch'; did you mean 'search'?

    Args:
        definitions: The file.
        published: The parameter names of each existing tool, by its name.
    """
    return tuple(islice(_sentences(definitions, published), MAX_SENTENCES))


def _sentences(definitions: Definitions, published: Mapping[str, Collection[str]]) -> Iterator[str]:
    for tool, parameters in definitions.names.items():
        if tool not in published:
            yield f"There is no tool '{shown(tool)}'{did_you_mean(tool, published)}"
            continue
        for name in sorted(parameters.difference(published[tool])):
            hint = did_you_mean(name, published[tool])
            yield f"Tool '{shown(tool)}' has no parameter '{shown(name)}'{hint}"


def did_you_mean(name: str, names: Collection[str]) -> str:
    """Return the end of a sentence about an unknown name, with the most similar known name."""
    nearest = near(name, islice(names, _MAX_COMPARED))
    return f"; did you mean '{shown(nearest[0])}'?" if nearest else "."


Name = Annotated[str, Field(min_length=1)]
Bound = Annotated[int, Field(ge=1)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _checked_by_policy(field: str) -> AfterValidator:
    """Return a validator that has :class:`mcp_lenient.Policy` check one of its fields."""

    def check(value: Any) -> Any:
        Policy(**{field: value})
        return value

    return AfterValidator(check)


LimitName = Literal["bytes", "depth", "items", "text", "relaxed_text"]


class PolicyEntry(_Entry):
    """The fields of :class:`mcp_lenient.Policy` that one tool may override."""

    mode: Mode = "repair"
    unrepairable: Unrepairable = "forward"
    disable: Annotated[list[Name], _checked_by_policy("disable")] = []
    drop_unknown: list[Name] = []
    secret: list[Name] = []
    echo_values: bool = True
    destructive: Destructive = "if_marked"
    tell_model: bool = False
    language: Annotated[str, _checked_by_policy("language")] = ""
    closed: bool = False
    publish_statements: bool = False
    infer_untyped: bool = False
    publish: Annotated[str, _checked_by_policy("publish")] = ""
    log_values: LogValues = "none"
    body_errors: BodyErrors = "raise"
    leaked_markup: LeakedMarkup = "warn"
    repeats: bool = True
    limits: dict[LimitName, Bound] = {}

    def changes(self, around: Limits) -> dict[str, Any]:
        """Return the fields that the file sets, as arguments of :class:`mcp_lenient.Policy`.

        Bounds that the file does not set are those of ``around``.
        """
        changes = {name: value for name, value in self if name in self.model_fields_set}
        if "drop_unknown" in changes:
            changes["drop"] = changes.pop("drop_unknown")
        if "limits" in changes:
            changes["limits"] = self.bounds(around)
        return changes

    def bounds(self, around: Limits) -> Limits:
        """Return the limits of the file, completed by ``around``."""
        return replace(around, **self.limits)


class ServerPolicyEntry(PolicyEntry):
    """The fields of :class:`mcp_lenient.Policy` for the whole server."""

    aliases: Annotated[dict[Name, list[Name]], _checked_by_policy("aliases")] = {}


def _require(is_right: object, otherwise: str) -> None:
    """Raise what Pydantic reports as an error of the file."""
    if not is_right:
        raise ValueError(otherwise)


def _switch(make: Callable[..., Normalize], argument: str | None = None) -> PlainValidator:
    """Return a validator for a field that enables a normalizer with ``true``, or with its argument if it has one."""

    def read(value: Any) -> Normalize | None:
        if isinstance(value, str) and argument is not None:
            return make(value)
        otherwise = "must be true or false." if argument is None else f"must be true, or {argument}."
        _require(isinstance(value, bool), otherwise)
        return make() if value else None

    return PlainValidator(read)


def _clamp(value: Any) -> Normalize:
    is_pair = isinstance(value, list) and len(value) == 2
    _require(is_pair, "must be a list of two: the minimum and the maximum, null for no bound.")
    return scalars.clamp(*value)


def _tags(value: Any) -> Normalize | None:
    if isinstance(value, bool):
        return lists.tags() if value else None
    _require(isinstance(value, dict), "must be true, or a mapping of its options.")
    options = signature(lists.tags).parameters
    for name in value:
        otherwise = f"there is no such option as {name!r}{did_you_mean(name, options)}"
        _require(name in options, otherwise)
    return lists.tags(**value)


def _one_or_more(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


_STATED = ("type", "required", "default", "description")


class ParameterEntry(_Entry):
    """What a parameter is, its other names, and its normalizers."""

    type: Annotated[list[JsonType], Field(min_length=1), BeforeValidator(_one_or_more)] = []
    required: bool | None = None
    default: Any = None
    description: str | None = None
    aliases: Annotated[list[Name], AfterValidator(lambda names: [*annotation.aliases(*names).names])] = []
    strip: Annotated[Normalize | None, _switch(scalars.strip)] = None
    infer: Annotated[Normalize | None, _switch(inference.infer)] = None
    parse_json: Annotated[Normalize | None, _switch(lists.parse_json, "'array' or 'object'")] = None
    split: Annotated[Normalize | None, _switch(lists.split, "the text between the parts")] = None
    tags: Annotated[Normalize | None, PlainValidator(_tags)] = None
    lower: Annotated[Normalize | None, _switch(scalars.lower)] = None
    upper: Annotated[Normalize | None, _switch(scalars.upper)] = None
    synonyms: Annotated[Normalize | None, PlainValidator(scalars.synonyms)] = None
    iso_date: Annotated[Normalize | None, _switch(scalars.iso_date, "'dmy' or 'mdy'")] = None
    clamp: Annotated[Normalize | None, PlainValidator(_clamp)] = None
    null_as: Annotated[Normalize | None, PlainValidator(scalars.null_as)] = None
    default_on_null: Annotated[Normalize | None, _switch(scalars.default_on_null)] = None

    @model_validator(mode="after")
    def _compatible(self) -> ParameterEntry:
        for one, other in (("lower", "upper"), ("split", "tags"), ("null_as", "default_on_null")):
            is_one = getattr(self, one) is None or getattr(self, other) is None
            _require(is_one, f"'{one}' and '{other}' exclude each other.")
        if self.default is not None:
            _require(not self.required, "'default' and 'required: true' exclude each other.")
            kind = json_type(self.default)
            fits = not self.type or kind in self.type or (kind == "integer" and "number" in self.type)
            _require(fits, f"'default' is of type {kind}, and 'type' is {' or '.join(self.type)}.")
        return self

    def stated(self, document: Document, path: Path) -> Stated:
        """Return what the file says of the parameter itself, at a path."""
        where = {field: document.where((*path, field)) for field in _STATED}
        default = () if self.default is None else (self.default,)
        return Stated(tuple(self.type), self.required, default, self.description, where)

    def build(self) -> tuple[Normalize, ...]:
        """Return the normalizers, in the order of the fields above, whatever their order in the file."""
        fields = (
            getattr(self, name) for name in type(self).model_fields if name not in ("aliases", *_STATED)
        )
        return tuple(normalizer for normalizer in fields if normalizer is not None)


class DispatcherEntry(_Entry):
    """How a tool calls the tool that its arguments name: :func:`mcp_lenient.dispatcher`."""

    tool: Name = "name"
    arguments: Name | None = "arguments"
    server: Name | None = None
    found_by: Annotated[list[Name], BeforeValidator(_one_or_more)] = []
    tools: Literal["server"] | None = None

    @model_validator(mode="after")
    def _is_one(self) -> DispatcherEntry:
        self.form()  # its error is a ValueError
        return self

    def form(self) -> Dispatcher:
        """Return the same for the middleware."""
        return dispatcher(
            self.tool, self.arguments, server=self.server, found_by=self.found_by, tools=self.tools
        )


class ToolEntry(_Entry):
    """The declarations of one tool."""

    description: str | None = None
    dispatcher: DispatcherEntry | None = None
    parameters: dict[Name, ParameterEntry] = {}
    policy: PolicyEntry = Field(default_factory=PolicyEntry)

    @model_validator(mode="after")
    def _one_owner(self) -> ToolEntry:
        owners = {name: name for name in self.parameters}
        for name, entry in self.parameters.items():
            for other in entry.aliases:
                owner = owners.setdefault(other, name)
                taken = "a parameter itself" if other in self.parameters else f"also a name of '{owner}'"
                is_free = owner == name != other
                _require(is_free, f"'{other}' cannot be another name of '{name}': it is {taken}.")
        return self

    def declared(self, around: Limits, document: Document, path: Path) -> Declared:
        """Return the same for the middleware; the tool is at a path of the file."""
        entries = self.parameters.items()
        dispatches = {} if self.dispatcher is None else {"dispatches": self.dispatcher.form()}
        says = {name: entry for name, entry in entries if not entry.model_fields_set.isdisjoint(_STATED)}
        return Declared(
            normalizers={name: run for name, entry in entries if (run := entry.build())},
            aliases={name: tuple(entry.aliases) for name, entry in entries if entry.aliases},
            policy=self.policy.changes(around) | dispatches,
            stated={
                name: entry.stated(document, (*path, "parameters", name)) for name, entry in says.items()
            },
            description=self.description,
        )


def _tool(value: Any) -> Any:
    if isinstance(value, dict) and not value.keys().isdisjoint(("parameters", "description", "dispatcher")):
        return value
    raise PydanticCustomError(_NO_FIELD, "there is no such field")


class FileEntry(_Entry):
    """A whole file: tools under ``tools``, or by their names at the top."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Annotated[ToolEntry, BeforeValidator(_tool)]]

    policy: ServerPolicyEntry = Field(default_factory=ServerPolicyEntry)
    tools: dict[Name, ToolEntry] = {}

    @model_validator(mode="after")
    def _once(self) -> FileEntry:
        for name in self.tools.keys() & self.__pydantic_extra__.keys():
            msg = f"'{shown(name)}' is declared both at the top and under 'tools'."
            raise ValueError(msg)
        return self

    def by_path(self) -> dict[Path, ToolEntry]:
        """Return each tool by its place in the file."""
        tools: dict[Path, ToolEntry] = {(name,): tool for name, tool in self.__pydantic_extra__.items()}
        return tools | {("tools", name): tool for name, tool in self.tools.items()}


MAX_WORDS = 300
_NO_FIELD = "extra_forbidden"
_EXPECTED: Mapping[str, str] = {
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "dict_type": "must be a mapping of names",
    "model_type": "must be a mapping of names",
}
_QUOTABLE = (bool, int, float)


def fault_of(details: ErrorDetails) -> DefinitionFault:
    """Return a Pydantic error as a fault."""
    path = tuple(part for part in details["loc"] if part != "[key]")
    return DefinitionFault(path, _words(details, path))


def _words(details: ErrorDetails, path: Path) -> str:
    if details["type"] == _NO_FIELD:
        names = _fields_at(path[:-1])
        listed = ", ".join(map(repr, names))
        return f"there is no such field{did_you_mean(str(path[-1]), names)} Allowed are {listed}."
    if details["type"] == "string_too_short":
        return "must not be empty."
    if details["type"] == "value_error":
        return cut(details["msg"].removeprefix("Value error, "), MAX_WORDS)
    expected = _EXPECTED.get(details["type"]) or details["msg"].replace("Input should be", "must be")
    sent = details["input"]
    got = in_json(sent) if short_scalar(sent) else f"of type {json_type(sent)}"
    quote = " Put it in quotes." if details["type"] == "string_type" and isinstance(sent, _QUOTABLE) else ""
    return f"{expected}, not {got}.{quote}"


def _fields_at(path: Path) -> list[str]:
    """Return the names of the fields that an entry may have."""
    if path == ("policy",):
        return list(ServerPolicyEntry.model_fields)
    if path[-1:] == ("dispatcher",):
        return list(DispatcherEntry.model_fields)
    depth = len(path) - (path[:1] == ("tools",))
    return list((FileEntry, ToolEntry, PolicyEntry, ParameterEntry)[depth].model_fields)
