"""The policy in force for each tool: from the operator, the author and a definitions file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from mcp_lenient.declare.declared import Declared
from mcp_lenient.rules.policy import Policy, Unrepairable

if TYPE_CHECKING:
    from mcp_lenient.declare.definitions import Definitions


class Policies:
    """Policies by tool name.

    Args:
        policy: The server's; the defaults when None.
        patterns: Policies for tool names that match a pattern; the first match wins.
        definitions: What a file declares.
        unrepairable: What happens to a call that cannot be repaired where no policy says so.
        bounded: What has the last word on every policy.

    Raises:
        TypeError: When a policy is not a :class:`mcp_lenient.Policy`.
    """

    def __init__(
        self,
        policy: Policy | None,
        patterns: Mapping[str, Policy],
        definitions: Definitions | None,
        unrepairable: Unrepairable = "forward",
        bounded: Callable[[Policy], Policy] = lambda policy: policy,
    ) -> None:
        self._unrepairable = unrepairable
        self._bounded = bounded
        self._definitions = definitions
        server = _checked("policy", policy if policy is not None else Policy())
        self._server = server.changed(**definitions.policy) if definitions is not None else server
        if not isinstance(patterns, Mapping) or not all(isinstance(name, str) and name for name in patterns):
            msg = f"LenientMiddleware: tools must map name patterns to policies, got {patterns!r}."
            raise TypeError(msg)
        self._patterns = tuple(
            (pattern, _checked(f"tools[{pattern!r}]", own)) for pattern, own in patterns.items()
        )

    def named(self, tool: str) -> Policy:
        """Return the operator's policy for a tool name, without what the tool's author says."""
        return self._bounded(
            self._with_server_privacy(_changed(self._pattern(tool) or self._server, self.declared(tool)))
        )

    def of(self, tool: str, authors: Policy | None, declared: Declared) -> Policy:
        """Return the policy in force: the operator's pattern, else the author's or server's, then declarations."""
        chosen = self._pattern(tool) or authors or self._server
        policy = self._bounded(self._with_server_privacy(_changed(chosen, declared)))
        if policy.unrepairable is not None:
            return policy
        return policy.changed(unrepairable=self._server.unrepairable or self._unrepairable)

    def _with_server_privacy(self, policy: Policy) -> Policy:
        """Return the policy with everything hidden that the server's policy hides."""
        server = self._server
        if server.secret <= policy.secret and (server.echo_values or not policy.echo_values):
            return policy
        echo_values = policy.echo_values and server.echo_values
        return policy.changed(secret=policy.secret | server.secret, echo_values=echo_values)

    def declared(self, tool: str) -> Declared:
        """Return the declarations of the operator's file for a tool name."""
        own = self._definitions.declared(tool) if self._definitions is not None else None
        return own or _NO_DECLARATIONS

    def _pattern(self, tool: str) -> Policy | None:
        return next((policy for pattern, policy in self._patterns if fnmatchcase(tool, pattern)), None)


_NO_DECLARATIONS = Declared()


def _checked(name: str, policy: object) -> Policy:
    if not isinstance(policy, Policy):
        msg = f"LenientMiddleware: {name} must be a Policy, got {policy!r}."
        raise TypeError(msg)
    return policy


def _changed(policy: Policy, declared: Declared) -> Policy:
    if not declared.policy and not declared.aliases:
        return policy
    changes: dict[str, Any] = {**declared.policy}
    taken = {other for others in declared.aliases.values() for other in others}
    # An alias declared for the tool overrides the same alias in the server's policy.
    aliases = {
        name: tuple(other for other in others if other not in taken)
        for name, others in policy.aliases.items()
    }
    for name, others in declared.aliases.items():
        aliases[name] = (*aliases.get(name, ()), *dict.fromkeys(others))
    return policy.changed(**changes, aliases=aliases)
