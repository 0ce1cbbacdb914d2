"""What the operator of a host says of its calls: by arguments, by a file of definitions, and by the environment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeVar

import anyio.to_thread
from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from mcp_lenient.declare.policies import Policies
from mcp_lenient.errors import DefinitionError, PolicyError
from mcp_lenient.rules.policy import Mode, Policy
from mcp_lenient.telemetry.log import CallTelemetry, DecisionHook

if TYPE_CHECKING:
    from os import PathLike

    from mcp_lenient.declare.definitions import Definitions, WatchedDefinitions
    from mcp_lenient.engine.contract import Decision
    from mcp_lenient.rules.policy import Unrepairable

    Check = Callable[[Policies], Awaitable[None]]

_LEAST_FIRST: Final[tuple[Mode, ...]] = ("off", "observe", "repair")
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


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


class HostSettings(TypedDict, total=False):
    """The settings that every host takes by name, besides its ``policy``; each may be left out."""

    tools: Mapping[str, Policy] | None
    """Policies for tool names that match a pattern (``*``, ``?``, ``[..]``; the first match wins). The name is the one
    that the host publishes, on LiteLLM's gateway ``server/tool``. They come before a policy that ``@lenient`` gives a
    tool, and that comes before ``policy``."""
    definitions: Definitions | str | PathLike[str] | None
    """A YAML or TOML file with aliases, normalizers and policies by tool; by default the one that
    ``MCP_LENIENT_CONFIG`` names. ``policy`` and ``tools`` override it. A wrong file is a :class:`DefinitionError`, which
    names file, line or path, and field."""
    reload: bool
    """Whether to load the file again when it has changed, at most once a second, when a call arrives. A wrong file
    changes nothing; a ``definitions_kept`` log line gives the reason."""
    clients: Collection[str]
    """Names of clients that metrics tell apart, besides the well-known ones."""
    mode: Mode | None
    """The mode of the server-wide policy, whatever ``policy`` and the file say."""
    on_decision: Callable[[Decision], object] | None
    """Called with the :class:`Decision` about each call, before its tool runs; accepted calls included. It must not
    block. Its exceptions fail no call."""
    decision_values: bool
    """Whether these decisions hold values: the arguments, messages, received values and fixes."""


class Operator:
    """What the operator of a host says, as it is in force now, and the telemetry of the host's calls.

    Args:
        policy: What may be repaired.
        tools: See :class:`HostSettings`, as for all that follow.
        definitions: A file, or what was loaded of one.
        reload: Whether a changed file is loaded again.
        clients: Names for metrics.
        mode: The mode of the server-wide policy.
        on_decision: Called with each decision.
        decision_values: Whether decisions hold values.
        unrepairable: What the host does with a call that cannot be repaired where no policy says so.
        own_spans: Whether a call gets a span of its own where none is recorded yet.

    Attributes:
        policies: The policies, with the definitions that they were made with.
        telemetry: Where outcomes are recorded.
        reloads: Whether a file may have to be loaded again.

    Raises:
        DefinitionError: When the file is wrong; names file, line or path, and field.
        OSError: When the file cannot be read.
        PolicyError: Where ``MCP_LENIENT_MODE`` is not a mode.
        TypeError: Where ``on_decision`` is not a function, or a coroutine or generator function.
    """

    __slots__ = ("_policies_with", "_watched", "policies", "reloads", "telemetry")

    def __init__(  # noqa: PLR0913 - those of HostSettings
        self,
        policy: Policy | None = None,
        *,
        tools: Mapping[str, Policy] | None = None,
        definitions: Definitions | str | PathLike[str] | None = None,
        reload: bool = False,
        clients: Collection[str] = (),
        mode: Mode | None = None,
        on_decision: Callable[[Decision], object] | None = None,
        decision_values: bool = False,
        unrepairable: Unrepairable = "forward",
        own_spans: bool = False,
    ) -> None:
        own = settings()
        hook = None if on_decision is None else DecisionHook(on_decision, values=decision_values)
        self.telemetry = CallTelemetry(clients, own_spans=own_spans, hook=hook)
        self._policies_with = partial(
            Policies, policy, tools or {}, unrepairable=unrepairable, bounded=own.bounded, mode=mode
        )
        declared, self._watched = _loaded(own.config if definitions is None else definitions, reload=reload)
        self.policies = self._policies_with(definitions=declared)
        self.reloads = self._watched is not None

    async def reload(self, check: Check) -> bool:
        """Load the file if it has changed, and return whether what it says now is in force.

        Args:
            check: Raises a DefinitionError where these policies contradict a tool.
        """
        before = self.policies
        with self._changed() as changed:
            if changed is not None:
                policies = self._policies_with(definitions=await anyio.to_thread.run_sync(changed.load))
                await check(policies)
                self.policies = policies
        return self.policies is not before

    def reload_at_once(self) -> None:
        """Do the same in this thread, with nothing to check."""
        with self._changed() as changed:
            if changed is not None:
                self.policies = self._policies_with(definitions=changed.load())

    @contextmanager
    def _changed(self) -> Iterator[WatchedDefinitions | None]:
        """Enter with a file that is to be loaded, if any; where that fails, log why and keep what was in force."""
        if self._watched is None or not self._watched.claim():
            yield None
            return
        handled = False
        try:
            yield self._watched
            handled = True
        except (DefinitionError, OSError) as error:
            self.telemetry.log.warn_each_time("definitions_kept", self._watched.name, str(error))
            handled = True
        finally:
            self._watched.release(handled=handled)

    def warn_of_unused(self, schemas: Mapping[str, Mapping[str, Any]]) -> None:
        """Log once each name in the file that no tool or parameter has.

        Args:
            schemas: The input schemas of all tools, by name.
        """
        if self.policies.definitions is None:
            return
        from mcp_lenient.declare.definitions import unknown_names

        own = {name: schema.get("properties") for name, schema in schemas.items()}
        published = {name: each if isinstance(each, Mapping) else () for name, each in own.items()}
        for sentence in unknown_names(self.policies.definitions, published):
            self.telemetry.log.warn_once("definition_unused", sentence, sentence)


def _loaded(
    definitions: Definitions | str | PathLike[str] | None, *, reload: bool
) -> tuple[Definitions | None, WatchedDefinitions | None]:
    if definitions is None:
        return None, None
    # A host without such a file does not pay for a YAML parser.
    from mcp_lenient.declare.definitions import Definitions, WatchedDefinitions, load_definitions

    if isinstance(definitions, Definitions):
        return definitions, None
    watched = WatchedDefinitions(definitions) if reload else None
    return load_definitions(definitions), watched


def takes_settings(function: FunctionT) -> FunctionT:
    """Show the names and defaults of :class:`HostSettings` in the signature of a function that takes them by ``**``."""
    own = signature(function)
    known = signature(Operator).parameters
    named = [each for each in own.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    shown = own.replace(parameters=[*named, *(known[name] for name in HostSettings.__annotations__)])
    function.__signature__ = shown  # type: ignore[attr-defined]
    return function
