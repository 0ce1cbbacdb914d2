"""The operator's settings of a host: arguments, a definitions file, and environment variables."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial, wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, Final, TypedDict, TypeVar, cast, get_args

import anyio.to_thread
from pydantic import BeforeValidator, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from mcp_lenient.adapters.repeats import repeats_in
from mcp_lenient.declare.policies import Policies
from mcp_lenient.errors import DefinitionError, PolicyError
from mcp_lenient.rules.policy import Mode, Policy, Unsaid, face_named
from mcp_lenient.telemetry.log import CallTelemetry, DecisionHook

if TYPE_CHECKING:
    from os import PathLike

    from key_value.aio.protocols import AsyncKeyValue

    from mcp_lenient.declare.definitions import Definitions, WatchedDefinitions
    from mcp_lenient.engine.contract import Decision
    from mcp_lenient.rules.policy import Unrepairable
    from mcp_lenient.telemetry.recording import Recording

    Check = Callable[[Policies], Awaitable[None]]

_LEAST_FIRST: Final[tuple[Mode, ...]] = ("off", "observe", "repair")
_PREFIX: Final = "MCP_LENIENT_"
_NOT_STARTED: Final = (
    "The server cannot start: its definitions file contradicts a tool. Its log has the line."
)
_NOT_PUBLISHED: Final = "The file describes tools, but clients are not listed its descriptions: policy: {publish_statements: true} lists them."
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
T = TypeVar("T")


def _folded(text: object) -> object:
    return text.strip().lower() if isinstance(text, str) else text


_Word = Annotated[T, BeforeValidator(_folded)]
"""One of several words, in any case."""


class Settings(BaseSettings):
    """Environment settings, read when a middleware is created or a function is decorated.

    Attributes:
        mode: The upper limit for the mode; a policy that does less is unchanged.
        destructive: Which tools are destructive, for policies that leave this at its default.
        config: A definitions file, for programs that name none.
        publish: The form in which schemas are published, for policies that say none.
        repeats: Whether refused calls are counted, in policies that say so.
        repeats_key: The key of the hashes in a store of refused calls, for hosts that are given none.
    """

    model_config = SettingsConfigDict(env_prefix=_PREFIX, env_ignore_empty=True, frozen=True)

    mode: _Word[Mode] = "repair"
    destructive: _Word[Unsaid] = "if_marked"
    config: str | None = None
    publish: str | None = None
    repeats: _Word[bool] = True
    repeats_key: SecretStr | None = None

    def bounded(self, policy: Policy) -> Policy:
        """Return the policy with the settings of the environment."""
        mode = min(policy.mode, self.mode, key=_LEAST_FIRST.index)
        destructive = self.destructive if policy.destructive == "if_marked" else policy.destructive
        publish = self.publish if policy.publish is None else policy.publish
        fields = {"mode": mode, "destructive": destructive, "publish": publish}
        fields["repeats"] = policy.repeats and self.repeats
        changes = {name: value for name, value in fields.items() if value != getattr(policy, name)}
        return policy.changed(**changes) if changes else policy


def settings() -> Settings:
    """Return the current environment settings.

    Raises:
        PolicyError: When a setting has an unknown value.
    """
    try:
        env = Settings()
    except ValidationError as error:
        fault = error.errors()[0]
        name = str(fault["loc"][0])
        words = {"mode": _LEAST_FIRST, "destructive": get_args(Unsaid), "repeats": ("true", "false")}
        allowed = ", ".join(map(repr, words[name]))
        msg = f"{_PREFIX}{name.upper()} must be one of {allowed}, got {fault['input']!r}."
        raise PolicyError(msg) from None
    if env.publish is not None:
        face_named(env.publish)
    return env


class HostSettings(TypedDict, total=False):
    """The keyword settings of every host besides ``policy``; all are optional."""

    tools: Mapping[str, Policy] | None
    """Policies for tool names that match a pattern (``*``, ``?``, ``[..]``; the first match wins). Patterns match the
    published name; on LiteLLM's gateway it is ``server/tool``. What such a policy states overrides the policy set by
    ``@lenient``, and what that states overrides ``policy``."""
    definitions: Definitions | str | PathLike[str] | None
    """A YAML or TOML file with aliases, normalizers and policies by tool; by default the file
    in ``MCP_LENIENT_CONFIG``, and with ``""`` none. ``policy`` and ``tools`` override it. An invalid file raises a :class:`DefinitionError`
    with file, line or path, and field."""
    reload: bool
    """Whether to reload a changed file. Each call checks it, at most once a second. An invalid file changes nothing; a
    ``definitions_kept`` log line gives the reason."""
    clients: Collection[str]
    """Names of clients that metrics distinguish besides the well-known ones."""
    mode: Mode | None
    """The mode of the server-wide policy; overrides ``policy`` and the file."""
    on_decision: Callable[[Decision], object] | None
    """Called once with the :class:`Decision` about each call, before its tool runs, including accepted calls. It must not
    block. Its exceptions fail no call."""
    decision_values: bool
    """Whether these decisions contain values: arguments, messages, received values and fixes."""
    repeats: AsyncKeyValue | None
    """Where refused calls are remembered, to answer the same call differently when it is sent again: a key-value store of
    FastMCP (``AsyncKeyValue``), such as Redis for replicas of a server; by default this process's memory. No call waits
    longer than half a second for an answer of it, and what it raises fails no call."""
    repeats_key: str | bytes | None
    """The key of the hashes in that store, at least 16 characters; by default that in ``MCP_LENIENT_REPEATS_KEY``. A store
    that is not in memory needs one."""
    record: str | PathLike[str] | None
    """A file to append calls to, for ``mcp-lenient outcomes``: what was sent, with values of the same form in place of
    secrets. Only its owner can read it, and it ends at 50 MB."""


def _recording(file: str | PathLike[str]) -> Recording:
    from mcp_lenient.telemetry.recording import Recording

    return Recording(file)


class Operator:
    """The current operator settings of a host, and its telemetry.

    Args:
        policy: What may be repaired.
        tools: See :class:`HostSettings`, as for all that follow.
        definitions: A file, or loaded definitions.
        reload: Whether to reload a changed file.
        clients: Names for metrics.
        mode: The mode of the server-wide policy.
        on_decision: Called with each decision.
        decision_values: Whether decisions contain values.
        repeats: Where refused calls are remembered.
        repeats_key: The key of their hashes.
        record: A file to append calls to.
        unrepairable: The host's default for calls that cannot be repaired.
        own_spans: Whether a call gets its own span if none is recorded yet.

    Attributes:
        policies: The policies with their definitions.
        recording: The file that calls are appended to.
        keeps_values: Whether arguments are passed to the application, or recorded.
        telemetry: Records outcomes.
        repeats: Remembers refused calls.
        reloads: Whether there is a file to watch.

    Raises:
        DefinitionError: When the file is invalid; has file, line or path, and field.
        OSError: When the file cannot be read.
        PolicyError: When ``MCP_LENIENT_MODE`` is not a mode, or the store of refused calls lacks a key.
        TypeError: When ``on_decision`` is not a function, or is a coroutine or generator function.
        LoggingError: When ``record`` cannot be written to.
    """

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
        repeats: AsyncKeyValue | None = None,
        repeats_key: str | bytes | None = None,
        record: str | PathLike[str] | None = None,
        unrepairable: Unrepairable = "forward",
        own_spans: bool = False,
    ) -> None:
        env = settings()
        hook = None if on_decision is None else DecisionHook(on_decision, values=decision_values)
        self.telemetry = CallTelemetry(clients, own_spans=own_spans, hook=hook)
        if repeats_key is None and env.repeats_key is not None:
            repeats_key = env.repeats_key.get_secret_value()
        self.repeats = repeats_in(repeats, repeats_key, self._warn_of_store)
        self.recording = None if record is None else _recording(record)
        self.keeps_values = record is not None or (hook is not None and decision_values)
        self._policies_with = partial(
            Policies, policy, tools or {}, unrepairable=unrepairable, bounded=env.bounded, mode=mode
        )
        declared, self._watched = _loaded(env.config if definitions is None else definitions, reload=reload)
        self.policies = self._policies_with(definitions=declared)
        self.reloads = self._watched is not None

    def _warn_of_store(self, error: str) -> None:
        reason = f"the store of refused calls raised {error}"
        self.telemetry.log.warn_once("repeats_unavailable", "repeats", reason)

    async def reload(self, check: Check) -> bool:
        """Reload the file if it has changed; return whether the new definitions apply.

        Args:
            check: Raises a DefinitionError if these policies contradict a tool.
        """
        before = self.policies
        with self._changed() as changed:
            if changed is not None:
                policies = self._policies_with(definitions=await anyio.to_thread.run_sync(changed.load))
                await check(policies)
                self.policies = policies
        return self.policies is not before

    def reload_at_once(self) -> None:
        """Reload in this thread, without a check."""
        with self._changed() as changed:
            if changed is not None:
                self.policies = self._policies_with(definitions=changed.load())

    @contextmanager
    def _changed(self) -> Iterator[WatchedDefinitions | None]:
        """Yield the file if it has changed; if loading fails, log the reason and keep the current definitions."""
        if self._watched is None:
            yield None
            return
        with self._watched.claimed() as is_changed:
            try:
                yield self._watched if is_changed else None
            except (DefinitionError, OSError) as error:
                self.telemetry.log.warn_each_time("definitions_kept", self._watched.name, str(error))

    @contextmanager
    def starting(self, refusal: Callable[[str], Exception]) -> Iterator[None]:
        """Refuse the messages of a server that starts with a file that contradicts a tool, and log the place once.

        Args:
            refusal: Makes the error that the client gets; it has no line of the file.
        """
        try:
            yield
        except DefinitionError as error:
            self.telemetry.log.warn_once("definitions_refused", str(error), str(error))
            raise refusal(_NOT_STARTED) from None

    def warn_of_unused(self, schemas: Mapping[str, Mapping[str, Any]]) -> None:
        """Log each pattern of ``tools``, and each name in the file, that matches no tool or parameter, once.

        Args:
            schemas: The input schemas of all tools, by name.
        """
        for sentence in self.policies.unmatched(schemas):
            self.telemetry.log.warn_once("definition_unused", sentence, sentence)
        if self.policies.definitions is None:
            return
        from mcp_lenient.declare.definitions import unknown_names

        texts = [name for name in schemas if self.policies.declared(name).description is not None]
        if any(not self.policies.named(name).publish_statements for name in texts):
            self.telemetry.log.warn_once("definition_unused", _NOT_PUBLISHED, _NOT_PUBLISHED)
        properties = {name: schema.get("properties") for name, schema in schemas.items()}
        published = {name: names if isinstance(names, Mapping) else () for name, names in properties.items()}
        for sentence in unknown_names(self.policies.definitions, published):
            self.telemetry.log.warn_once("definition_unused", sentence, sentence)


def _loaded(
    definitions: Definitions | str | PathLike[str] | None, *, reload: bool
) -> tuple[Definitions | None, WatchedDefinitions | None]:
    if not definitions:
        return None, None
    # Deferred: hosts without a file need no YAML parser.
    from mcp_lenient.declare.definitions import Definitions, WatchedDefinitions, load_definitions

    if isinstance(definitions, Definitions):
        return definitions, None
    watched = WatchedDefinitions(definitions) if reload else None
    try:
        return load_definitions(definitions), watched
    except FileNotFoundError as error:
        raise FileNotFoundError(
            error.errno, "The definitions file does not exist", str(definitions)
        ) from None


def takes_settings(function: FunctionT) -> FunctionT:
    """Add the names and defaults of :class:`HostSettings` to the signature of a function that takes them as ``**``.

    If it takes others as well, these are annotated as ``Any``.
    """
    author = signature(function)
    settings = signature(Operator).parameters
    parameters = author.parameters.values()
    named = [entry for entry in parameters if entry.kind is not Parameter.VAR_KEYWORD]
    others = [entry for entry in parameters if entry not in named and entry.annotation == "Any"]
    added = [settings[name] for name in HostSettings.__annotations__]
    shown = author.replace(parameters=[*named, *added, *others])
    owner = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        for name in options:
            if not others and name not in shown.parameters:
                near = get_close_matches(name, shown.parameters, n=1)
                hint = f"Did you mean {near[0]!r}?" if near else f"It takes {', '.join(shown.parameters)}."
                msg = f"{owner}() got an unexpected keyword argument {name!r}. {hint}"
                raise TypeError(msg)
        return function(*args, **options)

    checked.__signature__ = shown  # type: ignore[attr-defined]
    return cast("FunctionT", checked)
