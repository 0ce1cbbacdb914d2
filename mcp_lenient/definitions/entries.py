"""What a definitions file may hold, as Pydantic checks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    model_validator,
)

from mcp_lenient import normalizers
from mcp_lenient.declared import Declared, Normalize
from mcp_lenient.definitions.names import did_you_mean
from mcp_lenient.limits import Limits
from mcp_lenient.policy import Mode, Policy, Unrepairable
from mcp_lenient.rules import DEFAULT_RULES

Name = Annotated[str, Field(min_length=1)]
Bound = Annotated[int, Field(ge=1)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def given(self) -> dict[str, Any]:
        """The fields that stand in the file."""
        return {
            name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set
        }


# --- policy ---------------------------------------------------------------------------------------------


def _rule(name: str) -> str:
    known = [rule.name for rule in DEFAULT_RULES]
    if name not in known:
        msg = f"there is no such rule{did_you_mean(name, known)}"
        raise ValueError(msg)
    return name


class LimitsEntry(_Entry):
    """Bounds on what is looked at: the fields of :class:`mcp_lenient.Limits`."""

    bytes: Bound = 1
    depth: Bound = 1
    items: Bound = 1
    text: Bound = 1
    relaxed_text: Bound = 1
    readings: Bound = 1


class PolicyEntry(_Entry):
    """The fields of :class:`mcp_lenient.Policy` that may be other for one tool."""

    mode: Mode = "repair"
    unrepairable: Unrepairable = "forward"
    disable: list[Annotated[str, AfterValidator(_rule)]] = []
    drop_unknown: list[Name] = []
    secret: list[Name] = []
    echo_values: bool = True
    destructive: bool | None = None
    limits: LimitsEntry = Field(default_factory=LimitsEntry)

    def changes(self, around: Limits) -> dict[str, Any]:
        """The fields in the file, as :class:`mcp_lenient.Policy` has them.

        Args:
            around: The limits in force for what the file does not bound.
        """
        changes = self.given()
        if "drop_unknown" in changes:
            changes["drop"] = changes.pop("drop_unknown")
        if "limits" in changes:
            changes["limits"] = self.bounds(around)
        return {
            name: frozenset(value) if isinstance(value, list) else value for name, value in changes.items()
        }

    def bounds(self, around: Limits) -> Limits:
        """The limits in the file, and those around for the rest."""
        return Limits(**{**asdict(around), **self.limits.given()})


class ServerPolicyEntry(PolicyEntry):
    """The fields of :class:`mcp_lenient.Policy` for the whole server."""

    aliases: dict[Name, list[Name]] = {}

    @model_validator(mode="after")
    def _one_owner(self) -> ServerPolicyEntry:
        Policy(aliases=self._others())
        return self

    def _others(self) -> dict[str, tuple[str, ...]]:
        return {name: tuple(others) for name, others in self.aliases.items()}

    def changes(self, around: Limits) -> dict[str, Any]:
        """The fields in the file, as for one tool."""
        changes = super().changes(around)
        if "aliases" in changes:
            changes["aliases"] = self._others()
        return changes


# --- parameters -----------------------------------------------------------------------------------------


def _switch(make: Callable[[], Normalize]) -> PlainValidator:
    """A field that is true where a normalizer is wanted."""

    def read(value: Any) -> Normalize | None:
        if not isinstance(value, bool):
            msg = "must be true or false."
            raise ValueError(msg)  # noqa: TRY004 - Pydantic takes a ValueError for a fault of the file
        return make() if value else None

    return PlainValidator(read)


def _choice(make: Callable[..., Normalize], what: str) -> PlainValidator:
    """A field that is true where a normalizer is wanted, or the text that is its one argument."""

    def read(value: Any) -> Normalize | None:
        if not isinstance(value, (bool, str)):
            msg = f"must be true, or {what}."
            raise ValueError(msg)  # noqa: TRY004 - as above
        if isinstance(value, str):
            return make(value)
        return make() if value else None

    return PlainValidator(read)


def _clamp(value: Any) -> Normalize:
    if not isinstance(value, list) or len(value) != 2:
        msg = "must be a list of two: the lowest and the highest number, null for no such bound."
        raise ValueError(msg)
    return normalizers.clamp(*value)


def _aliases(names: list[str]) -> list[str]:
    return list(normalizers.aliases(*names).names)


def _tags_options(value: Any) -> Any:
    if not isinstance(value, (bool, dict)):
        msg = "must be true, or a mapping of its options."
        raise ValueError(msg)  # noqa: TRY004 - as above
    if isinstance(value, dict):
        return value
    return {} if value else None


class TagsEntry(_Entry):
    """The options of :func:`mcp_lenient.tags`."""

    separator: str = ","
    trim: bool = False
    lower: bool = False
    unique: bool = False
    max_count: Bound = 1
    max_length: Bound = 1

    @model_validator(mode="after")
    def _allowed(self) -> TagsEntry:
        self.made()
        return self

    def made(self) -> Normalize:
        """The normalizer."""
        return normalizers.tags(**self.given())


class ParameterEntry(_Entry):
    """What a parameter is also called, and what is done with its value before anything judges it."""

    aliases: Annotated[list[Name], AfterValidator(_aliases)] = []
    strip: Annotated[Normalize | None, _switch(normalizers.strip)] = None
    parse_json: Annotated[Normalize | None, _choice(normalizers.parse_json, "'array' or 'object'")] = None
    split: Annotated[Normalize | None, _choice(normalizers.split, "the text between the parts")] = None
    tags: Annotated[TagsEntry | None, BeforeValidator(_tags_options)] = None
    lower: Annotated[Normalize | None, _switch(normalizers.lower)] = None
    upper: Annotated[Normalize | None, _switch(normalizers.upper)] = None
    synonyms: Annotated[Normalize | None, PlainValidator(normalizers.synonyms)] = None
    iso_date: Annotated[Normalize | None, _choice(normalizers.iso_date, "'dmy' or 'mdy'")] = None
    clamp: Annotated[Normalize | None, PlainValidator(_clamp)] = None
    null_as: Annotated[Normalize | None, PlainValidator(normalizers.null_as)] = None
    default_on_null: Annotated[Normalize | None, _switch(normalizers.default_on_null)] = None

    @model_validator(mode="after")
    def _compatible(self) -> ParameterEntry:
        for one, other in (("lower", "upper"), ("split", "tags"), ("null_as", "default_on_null")):
            if getattr(self, one) is not None and getattr(self, other) is not None:
                msg = f"'{one}' and '{other}' exclude each other."
                raise ValueError(msg)
        return self

    def made(self) -> tuple[Normalize, ...]:
        """What is to run, in the order of the fields above, whatever their order in the file."""
        made = (getattr(self, name) for name in type(self).model_fields if name != "aliases")
        return tuple(one.made() if isinstance(one, TagsEntry) else one for one in made if one is not None)


# --- the whole ------------------------------------------------------------------------------------------


def _check_owners(others: Mapping[str, list[str]]) -> None:
    """Raise where one name stands for two parameters.

    Raises:
        ValueError: When it does; names the three.
    """
    owners = {name: name for name in others}
    for name, also in others.items():
        for other in also:
            owner = owners.setdefault(other, name)
            if owner != name or other == name:
                taken = "a parameter itself" if other in others else f"also a name of '{owner}'"
                msg = f"'{other}' cannot be another name of '{name}': it is {taken}."
                raise ValueError(msg)


class ToolEntry(_Entry):
    """What is declared of one tool."""

    parameters: dict[Name, ParameterEntry] = {}
    policy: PolicyEntry = Field(default_factory=PolicyEntry)

    @model_validator(mode="after")
    def _one_owner(self) -> ToolEntry:
        _check_owners({name: entry.aliases for name, entry in self.parameters.items()})
        return self

    def declared(self, around: Limits) -> Declared:
        """The same in the terms of the middleware; ``around`` as for :meth:`PolicyEntry.changes`."""
        entries = self.parameters.items()
        made = {name: entry.made() for name, entry in entries}
        return Declared(
            normalizers=MappingProxyType({name: run for name, run in made.items() if run}),
            aliases=MappingProxyType(
                {name: tuple(entry.aliases) for name, entry in entries if entry.aliases}
            ),
            policy=MappingProxyType(self.policy.changes(around)),
        )


class FileEntry(_Entry):
    """A whole file."""

    policy: ServerPolicyEntry = Field(default_factory=ServerPolicyEntry)
    tools: dict[Name, ToolEntry] = {}
