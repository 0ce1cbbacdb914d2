"""Detect the dialect of a text: the one whose calls begin first, outside of reasoning."""

from __future__ import annotations

import re
from typing import Final

from mcp_lenient.text_calls.dialects import deepseek, gemma, glm, harmony, kimi, llama, mistral, qwen_xml
from mcp_lenient.text_calls.native import NAME, OPENED, REASONING, Dialect

JSON: Final = "json"
"""JSON, also in tags, fences and lists: Hermes, Qwen 2.5 and 3, Llama 3, OpenAI, Anthropic."""
DIALECTS: Final[dict[str, Dialect]] = {
    each.DIALECT.name: each.DIALECT
    for each in (qwen_xml, glm, deepseek, kimi, mistral, harmony, llama, gemma)
}
_JSON: Final = re.compile(
    rf"""\A\s*(?:```[\w+-]*\s*)?(?:\{{|\[\s*\{{)|<{NAME}>\s*(?:<{NAME}>\s*)?(?=\{{|\[\s*\{{|```|"\s*\{{)""",
    re.ASCII,
)


def dialect_of(text: str) -> Dialect | None:
    """Return the native dialect of a text; None if its calls are JSON or it has none."""
    start = _past_reasoning(text)
    json_at = _JSON.search(text, start)
    found = [
        (match.start(), dialect)
        for dialect in DIALECTS.values()
        if (match := dialect.opener.search(text, start)) is not None
    ]
    first = min(found, key=lambda each: each[0], default=None)
    if first is None or (json_at is not None and json_at.start() < first[0]):
        return None
    return first[1]


def _past_reasoning(text: str) -> int:
    """Return the end of the reasoning at the beginning of a text; 0 if there is none."""
    opened = OPENED.match(text, len(text) - len(text.lstrip()))
    for opening, closing in REASONING:
        end = text.find(closing)
        if end >= 0 and (opening == opened[0] if opened else text.find(opening, 0, end) < 0):
            rest = end + len(closing)
            if opened or any(each.opener.search(text, rest) for each in DIALECTS.values()):
                return rest
    return 0
