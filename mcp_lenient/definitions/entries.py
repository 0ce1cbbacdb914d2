"""What a definitions file may hold, as Pydantic checks it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mcp_lenient.definitions.names import did_you_mean
from mcp_lenient.policy import Limits, Mode, Unrepairable
from mcp_lenient.rules import DEFAULT_RULES

Name = Annotated[str, Field(min_length=1)]
Bound = Annotated[int, Field(ge=1)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def given(self) -> dict[str, Any]:
        """The fields that the file has, whatever their value."""
        return {
            name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set
        }


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = "must be a number."
        raise ValueError(msg)
    return value


def _bounds(value: list[Any]) -> list[Any]:
    if len(value) != 2 or value[0] > value[1]:
        msg = "must be two numbers, the lower one first."
        raise ValueError(msg)
    return value


def _separator(value: Any) -> Any:
    if not isinstance(value, bool) and (not isinstance(value, str) or not value):
        msg = "must be the text between the parts, or true for a comma."
        raise ValueError(msg)
    return value


def _rule(name: str) -> str:
    known = [rule.name for rule in DEFAULT_RULES]
    if name not in known:
        msg = f"is no rule{did_you_mean(name, known)}"
        raise ValueError(msg)
    return name


class LimitsEntry(_Entry):
    """Bounds on what is looked at; those of :class:`mcp_lenient.Limits`."""

    bytes: Bound = 1
    depth: Bound = 1
    items: Bound = 1
    text: Bound = 1
    relaxed_text: Bound = 1
    readings: Bound = 1


class PolicyEntry(_Entry):
    """The fields of :class:`mcp_lenient.Policy` that a tool may have otherwise."""

    mode: Mode = "repair"
    unrepairable: Unrepairable = "forward"
    disable: list[Annotated[str, AfterValidator(_rule)]] = []
    drop_unknown: list[Name] = []
    secret: list[Name] = []
    echo_values: bool = True
    limits: LimitsEntry = LimitsEntry()

    def changes(self, around: Limits) -> dict[str, Any]:
        """The fields as :class:`mcp_lenient.Policy` has them; bounds that are not given are those around."""
        changes = self.given()
        if "drop_unknown" in changes:
            changes["drop"] = changes.pop("drop_unknown")
        if "limits" in changes:
            changes["limits"] = self.bounds(around)
        return {
            name: frozenset(value) if isinstance(value, list) else value for name, value in changes.items()
        }

    def bounds(self, around: Limits) -> Limits:
        """The bounds given, and those around for the rest."""
        return Limits(**{**asdict(around), **self.limits.given()})


class ServerPolicyEntry(PolicyEntry):
    """The policy of the whole server, which may also have other names of parameters for all tools."""

    aliases: dict[Name, list[Name]] = {}

    def changes(self, around: Limits) -> dict[str, Any]:
        """The fields as :class:`mcp_lenient.Policy` has them; bounds that are not given are those around."""
        changes = super().changes(around)
        if "aliases" in changes:
            changes["aliases"] = {name: tuple(others) for name, others in self.aliases.items()}
        return changes
