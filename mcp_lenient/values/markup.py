"""Find the markup of a call in its texts, left there by a client that missed the end of a parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_NAMESPACE: Final = r"[^<>\s/\"'=]{0,32}?"
_OPENING: Final = (
    rf"<{_NAMESPACE}parameter(?:\s+name\s*=\s*[\"']|=)(?P<name>[^\"'<>\n]{{1,64}})[\"']?[^<>]{{0,64}}>"
)
_CLOSING: Final = rf"</{_NAMESPACE}(?:parameter|invoke|function_calls|function|tool_call)\s*>"
_NEXT: Final = re.compile(rf"</[^<>]{{1,100}}>\s*{_OPENING}")
_LONGEST_NAME: Final = 64


def leaked_markup(arguments: Mapping[Any, Any]) -> Iterator[str]:
    r"""Yield each parameter whose text goes on with the markup of its call.

    There it is closed by a tag of its own name, which nothing in it has opened:
    github.com/anthropics/claude-code, issues 44826, 48679, 83088 and 84362.

    >>> [*leaked_markup({"text": 'tea</text>\n<parameter name="tags">["a"]'}), *leaked_markup({"text": "<text>tea</text>"})]
    ['text']
    """
    for key, text in arguments.items():
        if isinstance(text, str) and isinstance(key, str) and f"</{key}" in text and _is_cut_at(key, text):
            yield key


def _is_cut_at(key: str, text: str) -> bool:
    own = re.escape(key)
    goes_on = re.compile(rf"</{own}\s*>\s*(?:{_CLOSING}|{_OPENING})")
    if len(key) > _LONGEST_NAME or goes_on.search(text) is None:
        return False
    return len(re.findall(rf"<{own}[\s>]", text)) < text.count(f"</{key}")


def names_in_markup(text: object) -> Iterator[str]:
    """Yield the names of parameters that begin in a text, each after a tag that closes something."""
    if isinstance(text, str) and "parameter" in text:
        yield from (each["name"] for each in _NEXT.finditer(text))
