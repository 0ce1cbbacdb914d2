"""What the environment says: ``MCP_LENIENT_MODE`` and ``MCP_LENIENT_CONFIG``."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from mcp_lenient.errors import PolicyError
from mcp_lenient.rules.policy import Mode, Policy

_LEAST_FIRST: Final[tuple[Mode, ...]] = ("off", "observe", "repair")


class Settings(BaseSettings):
    """Read when a middleware is made, or a function is decorated.

    Attributes:
        mode: The most that may be done: a policy that does less stays as it is.
        config: A file of definitions, for a program that names none.
    """

    model_config = SettingsConfigDict(env_prefix="MCP_LENIENT_", env_ignore_empty=True, frozen=True)

    mode: Mode = "repair"
    config: str | None = None

    def bounded(self, policy: Policy) -> Policy:
        """Return a policy that does no more than the environment allows."""
        mode = min(policy.mode, self.mode, key=_LEAST_FIRST.index)
        return policy if mode == policy.mode else policy.changed(mode=mode)


def settings() -> Settings:
    """Return what the environment says now.

    Raises:
        PolicyError: When it names a mode that does not exist.
    """
    try:
        return Settings()
    except ValidationError as error:
        allowed, sent = ", ".join(map(repr, _LEAST_FIRST)), error.errors()[0]["input"]
        msg = f"MCP_LENIENT_MODE must be one of {allowed}, got {sent!r}."
        raise PolicyError(msg) from None
