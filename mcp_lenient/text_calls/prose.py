"""Say which text may be around calls: plain sentences and lists, and the tokens of the model's own turn.

Nothing else may be, since no list of what quotes a call or begins the text of another author is ever complete.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_OWN_TOKENS: Final = (
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
OWN: Final = re.compile(
    r"<\|(?:im_start|start|start_header_id|header_start|start_of_role)\|>\s{0,9}assistant(?=\s|<|\Z)"
    r"|(?:<start_of_turn>|<\|turn>)model(?=\s|<|\Z)|<\|START_OF_TURN_TOKEN\|>(?=<\|CHATBOT_TOKEN\|>)|\]~b\]ai(?=\s|\Z)"
    r"|<\|open\|>response<\|sep\|>|<\|close\|>(?:response|message|tools)<\|sep\|>|</s>(?=\s*\Z)|"
    + "|".join(map(re.escape, _OWN_TOKENS))
)
"""A token of the model's own text, or the header of its turn: ChatML, gpt-oss, Llama, Granite, Gemma, Command, MiniMax;
a response of Kimi K3; the end of the sequence of Llama 2 and Mistral, which is also a tag."""

ITEM: Final = re.compile(r"(?:[-*+\u2022]|\d{1,3}[.)]) +(?=\S)")
"""The marker of a list item."""
_SPAN: Final = re.compile(
    r"""`[^`]+`|"[^"`]*"|\u201c[^\u201c\u201d`]*\u201d|\([^()`"]*\)|\*\*[^*`]+\*\*|(?<=\d):(?=\d)"""
)
"""What opens and closes on one line: code, a quotation, parentheses, emphasis; also the colon of a time."""
_SIGNS: Final = frozenset(
    " ,.;:!?'\u2019\u2026\u2013\u2014-_%&/+=@\u3001\u3002\uff0c\uff01\uff1f\uff1b\uff1a\u00bf\u00a1"
)
_KINDS: Final = frozenset("LMN")
_BEGINNING: Final = re.compile(r"""[^\W_]|["`(\u00bf\u00a1\u201c]|\*\*|[^\x00-\u203f]""")
"""What begins a plain line: a letter or digit, what opens a quotation or emphasis, or a symbol such as an emoji."""
_STOP: Final = r"[.!?\u2026\u3002\uff01\uff1f]"
_END: Final = re.compile(rf"""(?:\w\w|\W){_STOP}["'\u2019\u201d)*]{{0,4}}(?:\s?[^\x00-\u203f\w]{{1,4}})?\Z""")
_LABEL: Final = re.compile(r"(?:[ivxlcdm]{1,6}|\w)[.)]\s*\Z", re.IGNORECASE)
"""What may number or letter an item."""
_WORD: Final = re.compile(r"[\u3040-\u9fff]|[^\W\u3040-\u9fff]+")
_LEAST_WORDS: Final = 3
"""Words between the last sentence and the colon that ends a line; ``User:`` and ``Tool output:`` may begin the text of another author."""
COLONS: Final = (":", "\uff1a")
ONLY_WORDS: Final = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)*")
"""Words without any sign, which the marker of a native form may follow directly."""
_ANSWERS: Final = frozenset(
    "yes|ok|okay|sure|alright|understood|done|好|好的|好吧|是的|可以|没问题|明白|明白了|收到|完成|完成了".split(
        "|"
    )
)
"""Lines of one word by which a model answers the user, often without a stop; none of them names what follows."""
TEXT_LINE: Final = re.compile(r"(?:#{1,6} +|[*_(]{1,3})?[^\W_]")
"""The beginning of a line of text, plain or not; any other line may begin code, markup or a quotation."""


def _is_words(text: str) -> bool:
    """Return whether a part of a line is made of words, spaces and signs of prose, none of them a colon."""
    rest = _SPAN.sub("", text)
    return not any(colon in rest for colon in COLONS) and all(map(_is_plain, set(rest)))


def is_sentence(text: str) -> bool:
    """Return whether a part of a line is made of such words, and ends like a sentence."""
    return _is_words(text) and _END.search(text.rstrip()) is not None and _LABEL.match(text) is None


def is_line(line: str) -> bool:
    """Return whether a line is plain: a list item, a one-word answer, or text that ends like a sentence, without a label before it."""
    line = line.rstrip()
    if line.casefold() in _ANSWERS:
        return True
    if not (ITEM.match(line) or _BEGINNING.match(line)):
        return False
    if ITEM.match(line):
        return _is_words(ITEM.sub("", line, count=1))
    if line.endswith(COLONS):
        clause = re.split(_STOP, _SPAN.sub("", line))[-1]
        return _is_words(line[:-1]) and len(_WORD.findall(clause)) >= _LEAST_WORDS
    return is_sentence(line)


def _is_plain(sign: str) -> bool:
    kind = unicodedata.category(sign)
    return sign in _SIGNS or kind[0] in _KINDS or kind == "So"
