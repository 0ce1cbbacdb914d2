"""The declarations of one tool: normalizers, other names, a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Normalize = Callable[[Any], Any]
"""Takes a value as it was sent and gives the one that is meant; raises NormalizationError to refuse."""


@dataclass(frozen=True, slots=True)
class Declared:
    """The declarations of one tool, by the names of its parameters.

    Attributes:
        normalizers: What runs on a parameter's value before anything judges it, in this order.
        aliases: Other names that a parameter is known by.
        policy: Fields of :class:`mcp_lenient.Policy` that are other for this tool.
    """

    normalizers: Mapping[str, tuple[Normalize, ...]] = field(default_factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
