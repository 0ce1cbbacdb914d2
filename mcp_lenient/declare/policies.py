"""The policy in force for each tool: from the operator, the author and a definitions file."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from mcp_lenient.declare.declarations import Declared
from mcp_lenient.errors import PolicyError
from mcp_lenient.rules.dispatchers import Dispatcher
from mcp_lenient.rules.policy import Mode, Policy, Unrepairable, added_aliases
from mcp_lenient.values.display import shown
from mcp_lenient.values.names import near

if TYPE_CHECKING:
    from mcp_lenient.declare.definitions import Definitions


class Policies:
    """Policies by tool name.

    Args:
        policy: The server's; the defaults when None.
        patterns: Policies for tool names that match a pattern; the first match refines the server's.
        definitions: What a file declares.
        unrepairable: What happens to a call that cannot be repaired where no policy says so.
        bounded: What has the last word on every policy.
        mode: The mode of the server's policy, whatever that policy and the file say.

    Attributes:
        definitions: What the file declares.

    Raises:
        PolicyError: When the server's policy says that every tool calls others.
        TypeError: When a policy is not a :class:`mcp_lenient.Policy`.
    """

    def __init__(
        self,
        policy: Policy | None,
        patterns: Mapping[str, Policy],
        definitions: Definitions | None,
        unrepairable: Unrepairable = "forward",
        bounded: Callable[[Policy], Policy] = lambda policy: policy,
        mode: Mode | None = None,
    ) -> None:
        self._unrepairable = unrepairable
        self._bounded = bounded
        self.definitions = definitions
        self._tools = definitions.tools if definitions is not None else {}
        server = _checked("policy", policy if policy is not None else Policy())
        if server.dispatches is not None:
            msg = "Policy.dispatches is for single tools, by their names or @lenient(dispatches=...), not for a whole server."
            raise PolicyError(msg)
        if definitions is not None and definitions.policy:
            server = Policy().changed(**definitions.policy).under(server)
        self._server = server if mode is None else server.changed(mode=mode)
        if not isinstance(patterns, Mapping) or not all(isinstance(name, str) and name for name in patterns):
            msg = f"tools must map name patterns to policies, got {patterns!r}."
            raise TypeError(msg)
        self._patterns = tuple(
            (pattern, _checked(f"tools[{pattern!r}]", policy)) for pattern, policy in patterns.items()
        )

    def named(self, tool: str) -> Policy:
        """Return the operator's policy for a tool name, without what the tool's author says."""
        return self._merged(tool, None, self.declared(tool))

    def of(self, tool: str, authors: Policy | None, declared: Declared) -> Policy:
        """Return the policy in force.

        What a pattern of the constructor states counts before what the file declares of the tool, that before what the
        author's policy states, and that before the server's. What one of them hides stays hidden.
        """
        policy = self._merged(tool, authors, declared)
        if policy.unrepairable is not None:
            return policy
        return policy.changed(unrepairable=self._server.unrepairable or self._unrepairable)

    def _merged(self, tool: str, authors: Policy | None, declared: Declared) -> Policy:
        pattern = next((policy for glob, policy in self._patterns if fnmatchcase(tool, glob)), None)
        policy = self._server if authors is None else self._server.under(authors)
        policy = _changed(policy, declared)
        if pattern is not None:
            policy = policy.under(pattern)
        for hiding in (self._server, authors):
            policy = _hiding(policy, hiding) if hiding is not None else policy
        return self._bounded(policy)

    def declared(self, tool: str) -> Declared:
        """Return the declarations of the operator's file for a tool name."""
        return self._tools.get(tool) or Declared()

    @property
    def finders(self) -> Mapping[str, Dispatcher]:
        """How tools are called that the results of other tools describe, by the names of these."""
        forms = [policy.dispatches for _, policy in self._patterns]
        forms += [declared.policy.get("dispatches") for declared in self._tools.values()]
        return {name: form for form in forms if form is not None for name in form.found_by}

    @property
    def names_tools(self) -> bool:
        """Whether the operator says something of some tools by their names."""
        return bool(self._patterns) or self.definitions is not None

    def unmatched(self, tools: Collection[str]) -> list[str]:
        """Return a sentence for each pattern that matches none of these tools."""
        names = sorted(tools)
        return [
            f"The pattern '{shown(pattern)}' of `tools` matches no tool{_similar(pattern, names)}"
            for pattern, _ in self._patterns
            if not any(fnmatchcase(name, pattern) for name in names)
        ]

    @property
    def stated(self) -> list[str]:
        """The tools of whose parameters the operator's file says what they are."""
        return [name for name, declared in self._tools.items() if declared.stated]


def _checked(name: str, policy: object) -> Policy:
    if not isinstance(policy, Policy):
        msg = f"{name} must be a Policy, got {policy!r}."
        raise TypeError(msg)
    return policy


def _similar(pattern: str, names: Sequence[str]) -> str:
    """Return the end of a sentence about a pattern, with a tool that its beginning is similar to."""
    beginning = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    by_beginning = {name[: len(beginning)] if beginning != pattern else name: name for name in names}
    similar = near(beginning, by_beginning) if beginning else []
    return f"; did you mean '{shown(by_beginning[similar[0]])}'?" if similar else "."


def _hiding(policy: Policy, other: Policy) -> Policy:
    if other.secret <= policy.secret and (other.echo_values or not policy.echo_values):
        return policy
    echo_values = policy.echo_values and other.echo_values
    return policy.changed(secret=policy.secret | other.secret, echo_values=echo_values)


def _changed(policy: Policy, declared: Declared) -> Policy:
    if not declared.policy and not declared.aliases:
        return policy
    return policy.changed(**declared.policy, aliases=added_aliases(policy.aliases, declared.aliases))
