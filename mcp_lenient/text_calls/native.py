"""What the dialects of model families share: the names of tools, and the markers of reasoning and around calls."""

from __future__ import annotations

import re
from typing import Final

NAME: Final = r"[\w][\w.:/-]{0,127}"
CONTAINERS: Final = frozenset(
    "tool_call tool_calls function_call function_calls tool_use minimax:tool_call longcat_tool_call".split()
)
"""Elements around calls that name neither a server nor a tool.

``tool_call``: Hermes, Qwen, GLM; ``tool_calls``: DeepSeek, MiniMax-M1; ``function_calls``: Anthropic's older form;
``minimax:tool_call``: MiniMax-M2; ``longcat_tool_call``: LongCat-Flash; ``function_call`` and ``tool_use``: keys of OpenAI's and Anthropic's APIs.
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
