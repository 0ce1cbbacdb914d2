"""Recognize tool calls in JSON values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from mcp_lenient.errors import ToolCallError
from mcp_lenient.text_calls.source import Source
from mcp_lenient.values.display import shown
from mcp_lenient.values.json_values import container, json_type

MAX_CALLS: Final = 1_000
_MAX_NAME: Final = 256
_NAME_KEYS: Final = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS: Final = ("arguments", "args", "input", "parameters", "params")
_SERVER_KEYS: Final = ("server", "server_name")
_OTHER_KEYS: Final = frozenset(
    "id call_id tool_call_id index type status caller thought thoughts reasoning reason explanation".split()
)
PART_NAMES: Final = frozenset({*_NAME_KEYS, *_ARGUMENT_KEYS, *_SERVER_KEYS})
"""Names of the parts of a call, which in tags name neither a tool nor a server."""
_TYPES: Final = frozenset("function tool_use function_call custom_tool_call tool_call".split())
"""Types of a call that the client is to run.

OpenAI's Chat Completions (``function``) and Responses (``function_call``, ``custom_tool_call``), Anthropic's Messages
(``tool_use``), LangChain (``tool_call``). Anthropic runs ``server_tool_use`` and ``mcp_tool_use`` itself, and OpenAI
``mcp_call``.
"""
_ITEM_TYPES: Final = frozenset({"function_call", "custom_tool_call"})
_WRITTEN: Final = "completed"
"""The status of an output item of the Responses API that is written to its end.

``in_progress`` and ``incomplete`` items may be cut off. Without the item's type it may be the status of a run.
"""
_NESTED_KEYS: Final = ("function", "function_call", "tool_call", "params")
"""Keys whose value may be a whole call; ``params`` is the key of JSON-RPC requests."""
_LIST_KEY: Final = "tool_calls"
_AUTHORS: Final = frozenset({"assistant", "model", "ai"})
"""The role of a message with calls: OpenAI, Anthropic and Ollama; Gemini; LangChain."""
_MESSAGE_KEYS: Final = frozenset(
    "role content refusal annotations audio function_call name reasoning_content reasoning_details thinking prefix"
    " additional_kwargs response_metadata usage_metadata invalid_tool_calls example thought_signature".split()
)
"""Keys of messages with calls: of OpenAI, DeepSeek, OpenRouter, Ollama, LangChain and Gemini."""
_KEYS_BESIDE: Final[Mapping[str, frozenset[str]]] = {
    "function": frozenset(),
    "params": frozenset({"jsonrpc", "method"}),
}
"""Keys that an object may have beside the key of its calls, where it is no message."""
_CALL_METHOD: Final = "tools/call"
"""The JSON-RPC method of a call."""

_CALL_KEY_PATTERNS: Final = tuple(
    re.compile(rf"""[{{,\s"'](?:{"|".join(keys)})["']?\s*:""") for keys in (_NAME_KEYS, _ARGUMENT_KEYS)
)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call: the server if the text names one, the tool and the arguments.

    Numbers in ``arguments`` are plain, ``3.140`` is 3.14; :func:`mcp_lenient.normalize` keeps the spelling of
    arguments that it is given as JSON text.
    """

    server: str | None
    tool: str
    arguments: dict[str, Any]


Calls = tuple[list[ToolCall], int]
"""Calls, and where they end."""


class RecordError(ToolCallError):
    """A call beside keys that say that it is not to be run."""


class CallAt(NamedTuple):
    """A call, the position where it begins, and its dialect."""

    call: ToolCall
    at: int
    dialect: str


def looks_like_call(text: str) -> bool:
    """Return whether unparsable JSON has the keys of a call."""
    return all(claim.search(text) for claim in _CALL_KEY_PATTERNS)


def may_name_tool(arguments: Mapping[str, Any]) -> bool:
    """Return whether arguments may be a call in an unknown form: under the key of a name, or with an object inside."""
    return not arguments.keys().isdisjoint(_NAME_KEYS) or any(map(_nests_object, arguments.values()))


def _nests_object(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_nests_object, value))
    return isinstance(value, dict) or (isinstance(value, str) and value.lstrip().startswith("{"))


@dataclass(frozen=True, slots=True)
class JsonCalls:
    """The reader of the calls in a JSON value that begins at a position of a text."""

    source: Source
    at: int

    def read(self, value: Any) -> list[ToolCall] | None:
        """Return the calls in a value, which may be one call or a list of them; None if it is data."""
        if isinstance(value, list):
            return self._listed(value)
        if not isinstance(value, dict) or value.get("method", _CALL_METHOD) != _CALL_METHOD:
            return None
        if _is_call(value):
            return [self._call(value)]
        if isinstance(value.get(_LIST_KEY), list):
            listed = self._listed(value[_LIST_KEY])
            return listed and self._written_by_model(value, _LIST_KEY, listed)
        nested = [key for key in _NESTED_KEYS if _is_call(value.get(key))]
        if len(nested) > 1:
            raise self.source.error(self.at, "an object contains two tool calls under different keys")
        if not nested:
            return None
        servers = {key: value[key] for key in _SERVER_KEYS if key in value}
        call = self._call({**servers, **value[nested[0]]})
        return self._written_by_model(value, nested[0], [call])

    def _written_by_model(self, value: Mapping[str, Any], key: str, calls: list[ToolCall]) -> list[ToolCall]:
        """Return the calls under a key of an object; other keys than those of a message are an error."""
        allowed = {*_SERVER_KEYS, *_OTHER_KEYS, *_KEYS_BESIDE.get(key, _MESSAGE_KEYS), key}
        other = next((key for key in value if key not in allowed), None)
        if other is not None:
            what = f"an object with '{key}' also has the key '{shown(other)}', which the message of a call does not have"
            raise self.source.error(self.at, what, RecordError)
        role = value.get("role")
        if role not in (None, *_AUTHORS):
            what = f"a message with a tool call has the role '{shown(role)}', but only a model calls tools"
            raise self.source.error(self.at, what, RecordError)
        self._require_request(value, frozenset() if key == "function" else _AUTHORS)
        return calls

    def _require_request(self, value: Mapping[str, Any], others: frozenset[str] = frozenset()) -> None:
        """Require that the type and status of an object, if any, are those of a call that is still to be run."""
        kind, status = value.get("type"), value.get("status")
        if kind is not None and kind not in (*_TYPES, *others):
            what = f"an object with a tool call is of the type '{shown(kind)}', which is not a call to be run"
            raise self.source.error(self.at, what, RecordError)
        if status is not None and (status != _WRITTEN or kind not in _ITEM_TYPES):
            what = f"a call has the status '{shown(status)}', so it may be the record of a call"
            raise self.source.error(self.at, what, RecordError)

    def _listed(self, values: list[Any]) -> list[ToolCall] | None:
        calls: list[ToolCall] = []
        others = 0
        for value in values:
            inner_call = self.read(value) if isinstance(value, dict) else None
            calls += inner_call or ()
            others += inner_call is None
            if len(calls) > MAX_CALLS:
                raise self.source.error(self.at, f"a list contains more than {MAX_CALLS:,} tool calls")
        if calls and others:
            raise self.source.error(self.at, "a list mixes tool calls with other values")
        return calls or None

    def _call(self, value: Mapping[str, Any]) -> ToolCall:
        tool = self._name(value, _NAME_KEYS, "tool")
        server = self._name(value, _SERVER_KEYS, "server") if any(map(value.get, _SERVER_KEYS)) else None
        keys = [key for key in _ARGUMENT_KEYS if key in value]
        if len(keys) > 1:
            what = f"a call of '{shown(tool)}' has arguments in both '{keys[0]}' and '{keys[1]}'"
            raise self.source.error(self.at, what)
        allowed = {*_NAME_KEYS, *_SERVER_KEYS, *_OTHER_KEYS, keys[0]}
        other = next((key for key in value if key not in allowed), None)
        if other is not None:
            what = f"an object with a name and '{keys[0]}' also has the key '{shown(other)}', which a tool call does not have"
            raise self.source.error(self.at, what)
        self._require_request(value)
        arguments = self._arguments(tool, value[keys[0]])
        if keys[0] == "parameters" and arguments.get("type") == "object" and "properties" in arguments:
            what = f"'{shown(tool)}' may be a definition instead of a call: its parameters are a JSON Schema"
            raise self.source.error(self.at, what)
        return ToolCall(server, tool, arguments)

    def _name(self, value: Mapping[str, Any], keys: tuple[str, ...], what: str) -> str:
        names = [value[key] for key in keys if value.get(key) is not None]
        for name in names:
            if not isinstance(name, str) or not name.strip() or len(name) > _MAX_NAME:
                raise self.source.error(self.at, f"a call has a {what} name that is not a short string")
        if not names:
            raise self.source.error(self.at, f"a call has no {what} name")
        if len(set(names)) > 1:
            several = " and ".join(f"'{shown(name)}'" for name in names[:2])
            raise self.source.error(self.at, f"a call has two {what} names, {several}")
        return str(names[0])

    def _arguments(self, tool: str, sent: Any) -> dict[str, Any]:
        """Return the arguments, sent as an object or its text; empty for null or an empty text."""
        if sent is None or sent == "":
            return {}
        arguments, what = sent, f"of type {json_type(sent)}, but must be an object"
        if isinstance(sent, str):
            arguments, what = container(sent, self.source.limits), "text that is not a JSON object"
        if isinstance(arguments, dict):
            return arguments
        raise self.source.error(self.at, f"the arguments of '{shown(tool)}' are {what}")


def _is_call(value: Any) -> bool:
    """Return whether a value is an object with a name and arguments, valid or not."""
    if not isinstance(value, dict) or value.keys().isdisjoint(_ARGUMENT_KEYS):
        return False
    return any(key in value and not isinstance(value[key], dict) for key in _NAME_KEYS)
