"""Send the values of the JSON Schema suite to a tool whose parameter has the schema of the test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator, Draft202012Validator
from jsonschema.protocols import Validator
from jsonschema_specifications import REGISTRY
from referencing import Registry
from referencing.jsonschema import DRAFT7, DRAFT202012

from benchmarks.suites.comparison import Outcomes
from benchmarks.suites.fetched import source
from mcp_lenient import normalize
from mcp_lenient.errors import SchemaError
from mcp_lenient.schema.compile import readable

_DRAFTS = {"draft7": (DRAFT7, Draft7Validator), "draft2020-12": (DRAFT202012, Draft202012Validator)}
_PLACE = "#/properties/value"
_VALUES = frozenset({"const", "default", "enum", "examples"})
_REMOTE = "http://localhost:1234/"


@dataclass(frozen=True, slots=True)
class SchemaTest:
    """A value of the suite, the schema of a tool that takes it as ``value``, and whether it is valid."""

    name: str
    tool: Mapping[str, Any]
    value: Any
    is_valid: bool
    validator: Validator

    @property
    def expected(self) -> str:
        """What should become of the call; an invalid value may also become a valid one."""
        return "accepted" if self.is_valid else "refused"

    @property
    def is_read(self) -> bool:
        """Whether all of the schema is read; the log says what is not."""
        return not readable(self.tool).unread

    @property
    def outcome(self) -> str:
        """What becomes of the call: accepted, refused, repaired, or repaired though valid or still invalid."""
        try:
            normalized = normalize(self.tool, {"value": self.value})
        except SchemaError as error:
            return f"no schema: {error}"
        if normalized.violations:
            return "refused"
        if not normalized.repairs:
            return "accepted"
        if self.is_valid:
            return "changed"
        is_valid = "value" in normalized.arguments and self.validator.is_valid(normalized.arguments["value"])
        return "repaired" if is_valid else "changed into another invalid value"


def schema_tests() -> tuple[SchemaTest, ...]:
    """Return the tests of draft 7 and 2020-12, without the optional ones.

    Raises:
        NotInstalledError: If jsonschema's source, which has the suite, cannot be downloaded.
    """
    suite = source("jsonschema") / "json"
    remotes = {
        _REMOTE + file.relative_to(suite / "remotes").as_posix(): json.loads(file.read_text("utf-8"))
        for file in sorted((suite / "remotes").rglob("*.json"))
    }
    return tuple(test for draft in _DRAFTS for test in _of_draft(draft, suite / "tests" / draft, remotes))


def schema_outcomes(tests: tuple[SchemaTest, ...]) -> tuple[Outcomes, Outcomes]:
    """Return what should become of each value, and what does; an invalid value may be repaired into a valid one."""
    does = {test.name: test.outcome for test in tests}
    should = {test.name: test.expected for test in tests}
    repaired = {
        test.name: "repaired" for test in tests if not test.is_valid and does[test.name] == "repaired"
    }
    return should | repaired, does


def _of_draft(draft: str, folder: Path, remotes: Mapping[str, Any]) -> Iterator[SchemaTest]:
    specification, validator = _DRAFTS[draft]
    there = [(uri, specification.create_resource(schema)) for uri, schema in remotes.items()]
    registry: Registry[Any] = REGISTRY.with_resources(there)
    for file in sorted(folder.glob("*.json")):
        for group in json.loads(file.read_text("utf-8")):
            schema = group["schema"]
            tool = {"$schema": validator.META_SCHEMA["$id"], "type": "object", "required": ["value"]}
            for test in group["tests"]:
                yield SchemaTest(
                    f"{draft}/{file.stem}: {group['description']}: {test['description']}",
                    {**tool, "properties": {"value": _below(schema)}},
                    test["data"],
                    test["valid"],
                    validator(schema, registry=registry),
                )


def _below(schema: Any) -> Any:
    """Return a schema as it reads at the parameter's place: what refers to its root refers to that place."""
    if isinstance(schema, list):
        return [_below(part) for part in schema]
    if not isinstance(schema, dict) or not str(schema.get("$id", "#")).startswith("#"):
        return schema  # what is in a schema with an address refers to that
    moved = {keyword: value if keyword in _VALUES else _below(value) for keyword, value in schema.items()}
    for keyword in ("$ref", "$dynamicRef"):
        reference = schema.get(keyword)
        if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
            moved[keyword] = _PLACE + reference.removeprefix("#")
    return moved
