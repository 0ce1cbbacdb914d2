"""Track the elements and sections that are open in prose, since a call inside one of them may only be quoted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from mcp_lenient.values.display import shown

if TYPE_CHECKING:
    from mcp_lenient.text_calls.call import Found, ToolCall
    from mcp_lenient.text_calls.source import Source

CONTAINERS: Final = frozenset(
    "tool_call tool_calls function_call function_calls tool_use minimax:tool_call".split()
)
"""Elements around calls that name neither a server nor a tool; no other element may be around a call.

``tool_call``: Hermes, Qwen, GLM; ``tool_calls``: DeepSeek, MiniMax-M1; ``function_calls``: Anthropic's older form;
``minimax:tool_call``: MiniMax-M2; ``function_call`` and ``tool_use``: keys of OpenAI's and Anthropic's APIs.
"""
VOID: Final = frozenset("area base br col embed hr img input link meta source track wbr".split())
"""HTML's void elements (HTML Living Standard, 13.1.2), which have no closing tag."""
_TURN: Final = "(?:start|beginning|end)_of_(?:turn|sentence)"
"""Tokens of Gemma and MiniMax, which look like tags."""
TAG_NAME: Final = rf"(?!{_TURN}\b)\w[\w.:-]{{0,127}}(?:/[\w.:-]{{1,127}}){{0,4}}"
_TAG: Final = re.compile(rf"<(?P<slash>/?)(?P<name>{TAG_NAME})(?:\s[^<>]*)?(?<!/)>")
_MISTRAL: Final = "(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CONTENT|MODEL_SETTINGS)"
"""Names of Mistral's tokens that are not the model's own text (mistral-common, SpecialTokens)."""
_TOKEN: Final = re.compile(
    rf"""(?<!`)`(?!`)[^`\n]+`(?!`)
      | (?P<token><\|[^<>|\s]{{1,64}}\|?>|<[^<>|\s]{{1,64}}\|>|<｜[^<>｜\n]{{1,64}}｜>|\[\|[^\[\]|\s]{{1,64}}\|\]
          |<{_TURN}>|\]~b\]|\[{_MISTRAL}\]|(?P<closing>\[/{_MISTRAL}\]))""",
    re.VERBOSE,
)
"""Inline code, or a special token of a model family: in ``<|...|>`` and similar signs, or one of Mistral's."""
_OWN_TOKENS: Final = frozenset(
    "<|begin_of_text|> <|end_of_text|> <|eot_id|> <|eom_id|> <|eot|> <|eom|> <|end_header_id|> <|header_end|>"
    " <|python_tag|> <|python_start|> <|python_end|>"  # Llama
    " <|endoftext|> <|im_end|> <|im_middle|> <|im_assistant|>"  # ChatML, Qwen, Kimi
    " <|end|> <|return|> <|call|> <|assistant|> <|tool_call|> <|/tool_call|>"  # gpt-oss, GLM, Phi-4
    " <｜begin▁of▁sentence｜> <｜end▁of▁sentence｜> <｜Assistant｜>"  # DeepSeek
    " <end_of_turn> <end_of_sentence> <turn|> <|end_of_role|>"  # Gemma, Granite
    " <|CHATBOT_TOKEN|> <|END_OF_TURN_TOKEN|> <|START_RESPONSE|> <|END_RESPONSE|> <|START_ACTION|> <|END_ACTION|>"  # Command
    " <|action_start|> <|plugin|> <|action_end|> [|assistant|] [|endofturn|]"  # InternLM, EXAONE
    " <|begin_of_solution|> <|end_of_solution|>".split()  # Sky-T1
)
"""Tokens of the model's own text: the beginning or end of a sequence or turn, the role of the model, marks of calls."""
_OWN_HEADER: Final = re.compile(
    r"<\|(?:im_start|start|start_header_id|header_start|start_of_role)\|>\s{0,9}assistant(?=\s|<|\Z)"
    r"|(?:<start_of_turn>|<\|turn>)model(?=\s|<|\Z)|<\|START_OF_TURN_TOKEN\|>(?=<\|CHATBOT_TOKEN\|>)|\]~b\]ai(?=\s|\Z)"
    r"|<\|open\|>response<\|sep\|>|<\|close\|>(?:response|message|tools)<\|sep\|>"
)
"""The header of the model's turn: ChatML, gpt-oss, Llama, Granite, Gemma, Command, MiniMax; a response of Kimi K3."""
_END_OF_TURN: Final = re.compile(r"</s>\s*\Z")
"""The end-of-sequence token of Llama 2 and Mistral."""


@dataclass(slots=True)
class Elements:
    """The open elements of a text, each with the number of calls before it.

    An element counts once it is closed, so neither a tag in a sentence nor ``for x <y>`` affects the calls after it.
    """

    source: Source
    found: list[Found]
    section: str | None = None
    """The first special token that is not of the model's own text; what comes after it may be of another author."""
    _opened: dict[str, list[int]] = field(default_factory=dict)

    def open(self, name: str, at: int) -> None:
        """Note an opening tag."""
        if not self._is_ignored(name, at):
            self._opened.setdefault(name.lower(), []).append(len(self.found))

    def close(self, name: str, at: int) -> None:
        """Note a closing tag; an error if its element, whose opening tag may be missing, contains calls."""
        if self._is_ignored(name, at):
            return
        before = self._opened.get(name.lower())
        if before:
            calls = self.found[before.pop() :]
            if calls:
                what = f"the call of '{shown(calls[0].call.tool)}' is inside <{shown(name)}>, which may only quote it"
                raise self.source.error(calls[0].at, f"{what}; write a call outside of other elements")
        elif self.found and not _END_OF_TURN.match(self.source.text, at):
            what = f"</{shown(name)}> has no opening tag, so the call before it may be inside of its element"
            raise self.source.error(at, f"{what}; write a call outside of other elements")

    def foreign_token(self, start: int, end: int) -> str | None:
        """Return the first special token in a part of the text that is not of the model's own text."""
        at = start
        while (token := _TOKEN.search(self.source.text, at, end)) is not None:
            at = token.end()
            named = token["token"]
            own = named and _OWN_HEADER.match(self.source.text, token.start())
            if own:
                at = own.end()
            elif named and named not in _OWN_TOKENS:
                if token["closing"] and self.found:
                    what = f"{shown(named)} has no opening marker, so the call before it may be inside of its section"
                    raise self.source.error(token.start(), what)
                return named
        return None

    def note_tokens(self, start: int, end: int) -> None:
        """Note the special tokens in a part of the text."""
        self.section = self.section or self.foreign_token(start, end)

    def require_own(self, call: ToolCall, at: int) -> None:
        """Require that a call is not after the beginning of a section that is not the model's."""
        if self.section is not None:
            what = f"the call of '{shown(call.tool)}' is after {shown(self.section)}, which does not begin the model's own text"
            raise self.source.error(at, f"{what}; give only what the model wrote in its turn")

    def _is_ignored(self, name: str, at: int) -> bool:
        is_code = at > 0 and self.source.text[at - 1] == "`"
        return is_code or name.lower() in VOID or name in CONTAINERS

    def note_prose(self, start: int, end: int) -> None:
        """Note the tags in a part of the text."""
        for tag in _TAG.finditer(self.source.text, start, end):
            note = self.close if tag["slash"] else self.open
            note(tag["name"], tag.start())
