"""What the dialects of model families share: their description, and the markers of reasoning and around calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mcp_lenient.text_calls.call import Calls
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
    read: Callable[[Source, re.Match[str]], Calls]
    is_markup: bool = False
    is_call: Callable[[KnownTools, re.Match[str]], bool] = lambda _tools, _opener: True
