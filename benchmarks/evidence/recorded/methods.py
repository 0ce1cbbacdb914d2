"""The ways to repair arguments that are compared on recorded answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Final

from benchmarks.conformance import Reply, Subject
from benchmarks.conformance import pydantic_lax as lax
from benchmarks.environments import ROOT, interpreter
from mcp_lenient import normalize
from mcp_lenient.types import Normalized
from mcp_lenient.values.patches import applied

OURS: Final = "mcp-lenient"
JSON_REPAIR: Final = {"json_repair": "0.64.5", "jsonschema": "4.26.0"}
"""The packages of json_repair's environment."""
_CALL: Final[Mapping[str, Any]] = {"id": "call", "destructive": False, "declared": {}}


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


def first_fixes() -> Method:
    """Return what a caller sends after a refusal if it applies the first fix of each violation; only calls that are then accepted."""

    def repair(schema: Mapping[str, Any], arguments: Any) -> Outcome:
        refusal = normalize(schema, arguments)
        fixed = with_first_fixes(arguments, refusal) if refusal.violations else arguments
        again = normalize(schema, fixed)
        return (
            Outcome(None, refused=True)
            if again.violations or fixed is arguments
            else Outcome(again.arguments)
        )

    return Method(f"{OURS}, first fixes", repair)


def with_first_fixes(arguments: Any, refusal: Normalized) -> Any:
    """Return refused arguments with the first fix of each violation; two violations may have the same one."""
    patches = [
        json.dumps([*map(dict, violation.fixes[0])]) for violation in refusal.violations if violation.fixes
    ]
    for patch in dict.fromkeys(patches):
        with suppress(LookupError):  # another one has changed the place
            arguments = applied(arguments, json.loads(patch))
    return arguments


def json_repair() -> Method:
    """Return ``json_repair`` with the schema, in an environment of its own.

    Raises:
        NotInstalledError: If it cannot be installed.
    """
    command = [json_repair_python(), "-m", "benchmarks.conformance.json_repair_schema"]
    stack = ExitStack()
    subject = stack.enter_context(Subject(command, patience=600, folder=ROOT))

    def repair(schema: Mapping[str, Any], arguments: Any) -> Outcome:
        return _outcome(subject.call({**_CALL, "schema": schema, "arguments": arguments}))

    return Method("json_repair with schema", repair, stack.close, JSON_REPAIR)


def json_repair_python() -> str:
    """Return the Python of the environment with json_repair.

    Raises:
        NotInstalledError: If it cannot be installed.
    """
    return interpreter(tuple(f"{name.replace('_', '-')}=={number}" for name, number in JSON_REPAIR.items()))


def pydantic_lax() -> Method:
    """Return Pydantic in lax mode on a model from the schema, after the pre-parse of the official SDK."""

    def repair(schema: Mapping[str, Any], arguments: Any) -> Outcome:
        return _outcome(lax.call({**_CALL, "schema": schema, "arguments": _pre_parsed(schema, arguments)}))

    return Method("Pydantic lax, JSON pre-parse", repair, versions={"pydantic": version("pydantic")})


def _outcome(reply: Reply) -> Outcome:
    return Outcome(reply.arguments, refused=reply.outcome == "refused")


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
