"""A tool as its host knows it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_lenient.declare.declarations import Declared
from mcp_lenient.rules.policy import Face, Policy
from mcp_lenient.types import Validator

Annotations = Mapping[str, Any] | Iterable[tuple[str, Any]] | None
"""A tool's annotations: as listed, or an object of the official SDK, which yields its fields and unknown keys."""

_HEADER_KEYWORD: Final = "x-mcp-header"


@dataclass(frozen=True, slots=True)
class HostTool:
    """A tool of a host.

    Attributes:
        name: The name used by policies and definitions.
        schema: The published input schema.
        annotations: Its annotations.
        has_output_schema: Whether clients validate results against a schema.
        validator: The tool's own validator; None if only the published schema is known.
        declared: The author's declarations.
        policy: The policy set by ``@lenient``.
        in_thread: Whether validation runs Python code of the author that must not block the event loop.
        drops_names: Whether the host drops arguments that the schema does not declare.
        key: The key of its contract among those of its host; None for its name.
        form: The form of its schema that the client asked for.
        record: The host's own object for it, which may differ between tools that are alike.
        function: The function below all mounts and transforms, where it is known.
        route: The mounted servers that a call is handed down through, with the name it has there.
        runs_code: Whether its function runs code that a model wrote, which calls other tools.
    """

    name: str
    schema: Mapping[str, Any]
    annotations: Annotations = None
    has_output_schema: bool = False
    validator: Validator | None = None
    declared: Declared = field(default_factory=Declared)
    policy: Policy | None = None
    in_thread: bool = False
    drops_names: bool = False
    key: Any = None
    form: Face | None = None
    record: Any = field(default=None, compare=False)
    function: Callable[..., Any] | None = None
    route: tuple[tuple[Any, str], ...] = ()
    runs_code: bool = False

    @property
    def mounted(self) -> tuple[str, ...]:
        """The names of the mounted servers down to the tool's own."""
        return tuple(server.name for server, _ in self.route)

    @classmethod
    def listed(
        cls, tool: Mapping[str, Any], validator: Validator | None = None, record: Any = None
    ) -> HostTool:
        """Return a tool from an entry of ``tools/list``."""
        return cls(
            tool["name"],
            tool["inputSchema"],
            tool.get("annotations"),
            has_output_schema=tool.get("outputSchema") is not None,
            validator=validator,
            record=record,
        )


def is_in_header(schema: Mapping[str, Any]) -> bool:
    """Return whether a header of the request repeats a value of this schema (SEP-2243)."""
    return _HEADER_KEYWORD in json.dumps(schema, default=str)


def is_destructive(annotations: Annotations) -> bool:
    """Return whether a tool's annotations say that it is destructive."""
    return True in _hints(annotations, "destructiveHint", "destructive_hint")


def is_read_only(annotations: Annotations) -> bool:
    """Return whether a tool's annotations say that it only reads."""
    return _hints(annotations, "readOnlyHint", "read_only_hint") == {True}


def says_effect(annotations: Annotations) -> bool:
    """Return whether a tool's annotations say that it is destructive or is not, or that it only reads."""
    return is_read_only(annotations) or bool(_hints(annotations, "destructiveHint", "destructive_hint"))


def _hints(annotations: Annotations, *spellings: str) -> set[bool]:
    """Return what annotations say of a hint, in MCP's spelling and in that of SDK 2.

    SDK 1 keeps the spelling of SDK 2 as an unknown key, beside its own field.
    """
    fields = dict(annotations or ())
    return {fields[name] for name in spellings if isinstance(fields.get(name), bool)}
