"""What the dialects of model families share: parsing functions, and the markers of reasoning and around calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.errors import ToolCallError
from mcp_lenient.text_calls.call import ToolCall
from mcp_lenient.text_calls.source import container
from mcp_lenient.text_calls.tools import PYTHON_NAMES
from mcp_lenient.values.display import shown

if TYPE_CHECKING:
    from mcp_lenient.text_calls.source import Source
    from mcp_lenient.text_calls.tools import KnownTools

NAME: Final = r"[\w][\w.:/-]{0,127}"
CONTAINERS: Final = frozenset(
    "tool_call tool_calls function_call function_calls tool_use minimax:tool_call".split()
)
"""Elements around calls that name neither a server nor a tool.

``tool_call``: Hermes, Qwen, GLM; ``tool_calls``: DeepSeek, MiniMax-M1; ``function_calls``: Anthropic's older form;
``minimax:tool_call``: MiniMax-M2; ``function_call`` and ``tool_use``: keys of OpenAI's and Anthropic's APIs.
"""
_TURN: Final = "(?:start|beginning|end)_of_(?:turn|sentence)"
"""Tokens of Gemma and MiniMax, which look like tags."""
TAG_NAME: Final = rf"(?!{_TURN}\b)\w[\w.:-]{{0,127}}(?:/[\w.:-]{{1,127}}){{0,4}}"
REASONING: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>thought", "<channel|>"),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
)
"""Opening and closing markers of reasoning: Qwen, GLM and DeepSeek; Mistral; Kimi 1.5; Gemma 4; Kimi K3; Sky-T1; Command."""
CLOSING: Final = {
    **dict(REASONING),
    **{f"<{name}>": f"</{name}>" for name in ("thought", "thoughts", "reasoning")},
}
"""The closing marker of each opening one; also of those that prompts ask for, which no template opens."""
OPENED: Final = re.compile("|".join(map(re.escape, CLOSING)))
CLOSED: Final = re.compile("|".join(re.escape(closing) for _, closing in REASONING))


@dataclass(frozen=True, slots=True)
class TextReader:
    """The parsing functions that dialects share; what cannot be parsed raises an error with its position."""

    source: Source
    tools: KnownTools

    @property
    def text(self) -> str:
        """The whole text."""
        return self.source.text

    def expect(self, pattern: re.Pattern[str], at: int, what: str) -> re.Match[str]:
        """Match a pattern at a position."""
        match = pattern.match(self.text, at)
        if match is None:
            cut = " (the text ends; it may be cut off)" if at >= len(self.text.rstrip()) else ""
            raise self.source.error(at, f"expected {what}{cut}")
        return match

    def json_object(self, at: int) -> tuple[dict[str, Any], int]:
        """Parse the JSON object that begins at a position; return it and its end."""
        value, end = self.json(at)
        if not isinstance(value, dict):
            raise self.source.error(at, "the arguments are an array, but must be an object")
        return value, end

    def json(self, at: int) -> tuple[Any, int]:
        """Parse the JSON array or object that begins at a position; return it and its end."""
        if self.text[at : at + 1] not in ("{", "["):
            raise self.source.error(at, "expected JSON")
        end = self.source.end(at)[0]
        value = self.source.read(at, end)
        if value is None:
            raise self.source.error(at, self.source.unreadable(at, end))
        return value, end

    def scalar(self, raw: str, at: int) -> Any:
        """Parse a JSON value of any type."""
        value = container(f"[{raw}]", self.source.limits, frozenset({"json"}))
        if not isinstance(value, list) or len(value) != 1:
            raise self.source.error(at, "a value cannot be parsed as JSON, or would lose digits")
        return value[0]

    def typed(self, tool: str, parameter: str, raw: str, at: int) -> Any:
        """Parse a value that is written without a type; see :meth:`KnownTools.is_text`."""
        try:
            is_text = self.tools.is_text(tool, parameter, raw)
        except ToolCallError as error:
            raise self.source.error(at, str(error)) from None
        return raw if is_text else self.scalar(PYTHON_NAMES.get(raw, raw), at)

    def parameters(
        self,
        at: int,
        key: re.Pattern[str],
        value_end: re.Pattern[str],
        value_of: Callable[[re.Match[str], str], tuple[str, Any]],
    ) -> tuple[dict[str, Any], int]:
        """Parse consecutive parameters; return them and their end.

        ``key`` matches a parameter up to its value, ``value_end`` what follows the value; ``value_of`` returns the
        name and value from the match of ``key`` and the raw value.
        """
        arguments: dict[str, Any] = {}
        while (begun := key.match(self.text, at)) is not None:
            end = value_end.search(self.text, begun.end())
            if end is None:
                raise self.source.error(begun.start(), "a value is not closed; the text may be cut off")
            name, value = value_of(begun, self.text[begun.end() : end.start()])
            self.put(arguments, name, value, begun.start())
            at = end.end()
        return arguments, at

    def enclosed(self, opening: re.Match[str], name: str) -> tuple[str, int]:
        """Return the text between an opening tag and its closing tag, and the end of the latter."""
        closing = f"</{name}>"
        end = self.text.find(closing, opening.end())
        if end < 0:
            at = self.source.past_space(opening.start())
            raise self.source.error(at, f"{shown(closing)} is missing; the text may be cut off")
        return self.text[opening.end() : end], end + len(closing)

    def in_value(self, tool: str, parameter: re.Match[str], tag: re.Match[str]) -> ToolCallError:
        """Return the error for a tag in a value that may be a part of the call."""
        named = f"'{shown(parameter['key'])}' of '{shown(tool)}'"
        what = f"the value of {named} contains {shown(tag[0])}, which may be a part of the call"
        form = f'<{shown(tool)}>{{"{shown(parameter["key"])}": "..."}}</{shown(tool)}>'
        return self.source.error(
            self.source.past_space(parameter.start()), f"{what}; write the call as {form}"
        )

    def put(self, arguments: dict[str, Any], name: str, value: Any, at: int) -> None:
        """Add an argument."""
        if name in arguments:
            raise self.source.error(at, f"the call has the argument '{shown(name)}' twice")
        arguments[name] = value


@dataclass(frozen=True, slots=True)
class Dialect:
    """The call format of a model family.

    Attributes:
        name: The name for ``dialect=``.
        opener: The pattern that begins a call or a group of calls.
        read: Parses from a match of ``opener``; returns the calls and their end.
        is_markup: Whether its tags are ordinary markup, which may be beside JSON and is answered in tags.
        is_call: Whether a match of ``opener`` is a call, given the known tools.
    """

    name: str
    opener: re.Pattern[str]
    read: Callable[[TextReader, re.Match[str]], tuple[list[ToolCall], int]]
    is_markup: bool = False
    is_call: Callable[[KnownTools, re.Match[str]], bool] = lambda _tools, _opener: True
