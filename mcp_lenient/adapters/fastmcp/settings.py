"""What the environment says, as FastMCP's users expect it: ``MCP_LENIENT_MODE`` and ``MCP_LENIENT_CONFIG``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from mcp_lenient.errors import PolicyError
from mcp_lenient.rules.policy import Mode, Policy

_PREFIX: Final = "MCP_LENIENT_"
_LEAST_FIRST: Final[tuple[Mode, ...]] = ("off", "observe", "repair")


class Settings(BaseSettings):
    """Read from the environment when a middleware is made, or a function is decorated.

    Attributes:
        mode: The most that may be done: a policy that does less stays as it is.
        config: A file of definitions, where the program names none.
    """

    model_config = SettingsConfigDict(env_prefix=_PREFIX, env_ignore_empty=True, extra="ignore")

    mode: Mode = "repair"
    config: Path | None = None

    def bounded(self, policy: Policy) -> Policy:
        """Return a policy that does no more than the environment allows."""
        mode = min(policy.mode, self.mode, key=_LEAST_FIRST.index)
        return policy if mode == policy.mode else policy.changed(mode=mode)


def settings() -> Settings:
    """Return what the environment says now.

    Raises:
        PolicyError: When a variable has a value that is not allowed.
    """
    try:
        return Settings()
    except ValidationError as error:
        issue = error.errors()[0]
        msg = f"{_PREFIX}{issue['loc'][0]}".upper() + f": {issue['msg']}, got {issue['input']!r}."
        raise PolicyError(msg) from None
