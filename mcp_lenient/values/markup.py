"""Find the markup of a call in its texts, left there by a client that missed the end of a parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_NAMESPACE: Final = r"[^<>\s/\"'=]{0,32}?"
_OPENING: Final = (
    rf"<{_NAMESPACE}parameter(?:\s+name\s*=\s*[\"']|=)(?P<name>[^\"'<>\n]{{1,64}})[\"']?[^<>]{{0,64}}>"
)
_CLOSING: Final = rf"</{_NAMESPACE}(?:parameter|invoke|function_calls|function|tool_call)\s*>"
_NEXT: Final = re.compile(rf"</[^<>]{{1,100}}>\s*{_OPENING}")
_SHORTEST: Final = 10  # two tags: `</a></tool>`
_LONGEST_NAME: Final = 64
_LONGEST_REST: Final = 2**15
"""Characters at the end of a text that are searched: its other parameters are there."""


def leaked_markup(arguments: object) -> list[str]:
    """Return the parameters whose text goes on with the markup of their call; each accepted call is searched.

    There it is closed by a tag of its own name, which nothing in it has opened:
    github.com/anthropics/claude-code, issues 44826, 48679, 83088 and 84362.
    """
    if not isinstance(arguments, Mapping):  # a schema may take a text alone
        return []
    keys = []
    for key, text in arguments.items():
        may_hold = type(text) is str and len(text) > _SHORTEST and text.find("<", -_LONGEST_REST) >= 0
        if may_hold and _is_cut_at(key, text):
            keys.append(key)
    return keys


def _is_cut_at(key: object, text: str) -> bool:
    rest = text[-_LONGEST_REST:]
    if not isinstance(key, str) or len(key) > _LONGEST_NAME or f"</{key}" not in rest:
        return False
    pattern = re.escape(key)
    if re.search(rf"</{pattern}\s*>\s*(?:{_CLOSING}|{_OPENING})", rest) is None:
        return False
    return len(re.findall(rf"<{pattern}[\s>]", text)) < text.count(f"</{key}")


def names_in_markup(text: object) -> Iterator[str]:
    """Yield the names of parameters that begin in a text, each after a tag that closes something."""
    if isinstance(text, str) and "parameter" in text:
        yield from (match["name"] for match in _NEXT.finditer(text))
