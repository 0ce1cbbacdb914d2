"""What the environment says: ``MCP_LENIENT_MODE`` and ``MCP_LENIENT_CONFIG``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from mcp_lenient.errors import PolicyError
from mcp_lenient.rules.policy import Mode, Policy

_MODE: Final = "MCP_LENIENT_MODE"
_CONFIG: Final = "MCP_LENIENT_CONFIG"
_LEAST_FIRST: Final[tuple[Mode, ...]] = ("off", "observe", "repair")


@dataclass(frozen=True, slots=True)
class Settings:
    """Read when a middleware is made, or a function is decorated.

    Attributes:
        mode: The most that may be done: a policy that does less stays as it is.
        config: A file of definitions, for a program that names none.
    """

    mode: Mode = "repair"
    config: str | None = None

    def bounded(self, policy: Policy) -> Policy:
        """Return a policy that does no more than the environment allows."""
        mode = min(policy.mode, self.mode, key=_LEAST_FIRST.index)
        return policy if mode == policy.mode else policy.changed(mode=mode)


def settings() -> Settings:
    """Return what the environment says now.

    Raises:
        PolicyError: When it names a mode that there is not.
    """
    mode = os.environ.get(_MODE) or "repair"
    if mode not in _LEAST_FIRST:
        msg = f"{_MODE} must be one of {', '.join(map(repr, _LEAST_FIRST))}, got {mode!r}."
        raise PolicyError(msg)
    return Settings(mode, os.environ.get(_CONFIG) or None)
