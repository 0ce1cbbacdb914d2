"""The ways to repair arguments that are compared on recorded answers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.environments import ROOT
from benchmarks.evidence.side_by_side.contenders import CONTENDERS
from benchmarks.evidence.side_by_side.measuring import Running
from mcp_lenient import normalize

OURS = "mcp-lenient"
_CALL = {"id": "call", "op": "call", "destructive": False, "declared": {}}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a method makes of arguments; it has none if it refuses them or cannot express the schema."""

    arguments: Any
    rules: tuple[str, ...] = ()
    refused: bool = False


@dataclass(slots=True)
class Method:
    """A way to repair arguments. Equal calls are repaired once, since many models make them.

    Attributes:
        name: Its name in the tables.
        repair: A function from schema and arguments to the outcome.
        close: Ends its program, if it has one.
        versions: The packages that it uses.
    """

    name: str
    repair: Callable[[Mapping[str, Any], Any], Outcome]
    close: Callable[[], None] = lambda: None
    versions: Mapping[str, str] = field(default_factory=dict)
    _known: dict[str, Outcome] = field(default_factory=dict)

    def __call__(self, schema: Mapping[str, Any], arguments: Any) -> Outcome:
        """Return the outcome."""
        key = json.dumps((schema, arguments))
        if key not in self._known:
            self._known[key] = self.repair(schema, arguments)
        return self._known[key]


def ours() -> Method:
    """Return this project's ``normalize``."""

    def repair(schema: Mapping[str, Any], arguments: Any) -> Outcome:
        found = normalize(schema, arguments)
        if found.violations:
            return Outcome(None, refused=True)
        return Outcome(found.arguments, tuple(each.rule for each in found.repairs))

    return Method(OURS, repair)


def json_repair() -> Method:
    """Return ``json_repair`` with the schema, in an environment of its own.

    Raises:
        NotInstalledError: If it cannot be installed.
    """
    return _contender("json_repair with schema", lambda _, arguments: arguments)


def pydantic_lax() -> Method:
    """Return Pydantic in lax mode on a model from the schema, after the pre-parse of the official SDK."""
    return _contender("pydantic lax", _pre_parsed, "Pydantic lax, JSON pre-parse")


def _contender(name: str, prepared: Callable[[Mapping[str, Any], Any], Any], title: str = "") -> Method:
    os.environ["PYTHONPATH"] = str(ROOT)  # its program imports the project's own modules
    running = Running(next(each for each in CONTENDERS if each.name == name))

    def repair(schema: Mapping[str, Any], arguments: Any) -> Outcome:
        answer = running.ask({**_CALL, "schema": schema, "arguments": prepared(schema, arguments)})
        if answer["outcome"] == "ran":
            return Outcome(answer["arguments"])
        return Outcome(None, refused=answer["outcome"] == "refused")

    running.describe()
    return Method(title or name, repair, running.close, running.figures.versions)


def _pre_parsed(schema: Mapping[str, Any], arguments: Any) -> Any:
    """Return the arguments with a text decoded where the parameter is no string and the text a JSON list, object or null."""
    declared = schema.get("properties", {})
    return {
        name: _decoded(value) if declared.get(name, {}).get("type") != "string" else value
        for name, value in arguments.items()
    }


def _decoded(value: Any) -> Any:
    try:
        decoded = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value
    return value if isinstance(decoded, (str, int, float)) else decoded
