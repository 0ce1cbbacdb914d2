"""Find the markup of a call in its texts, left there by a client that missed the end of a parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_NEXT: Final = re.compile(
    r'</([^<>\s]{1,64})>\s*<((?:[\w-]{1,32}:)?parameter)(?: name="|=)([^"<>\n]{1,64})"?>'
)
"""A tag that does not close a parameter, and the next one: github.com/anthropics/claude-code, issues 44826 and 84362."""
_END: Final = re.compile(r"</([^<>\s]{1,64})>\s*</((?:[\w-]{1,32}:)?)invoke>\s*\Z")
"""The end of a call: github.com/anthropics/claude-code, issue 48679."""
_LONGEST_END: Final = 400


def leaked_markup(arguments: Mapping[Any, Any]) -> Iterator[tuple[str, str | None]]:
    r"""Yield each parameter whose text holds the markup of its call, with the absent parameter that is in there, if any.

    A text that quotes calls closes each parameter by the tag that opened it, and holds none of the markup of its own.

    >>> [*leaked_markup({"text": 'tea</text>\n<parameter name="tags">["a"]'})]
    [('text', 'tags')]
    >>> [*leaked_markup({"text": "tea</text>\n</invoke>"}), *leaked_markup({"text": "<b>tea</b>"})]
    [('text', None)]
    """
    for key, text in arguments.items():
        if not isinstance(text, str) or not isinstance(key, str) or "</" not in text:
            continue
        found = _NEXT.finditer(text) if "parameter" in text else ()
        swallowed = (each[3] for each in found if each[1] != each[2] and each[3] not in arguments)
        name = next(swallowed, None)
        if name is not None or _ends_call(text):
            yield key, name


def _ends_call(text: str) -> bool:
    found = _END.search(text[-_LONGEST_END:])
    return found is not None and found[1] != f"{found[2]}parameter" and f"<{found[2]}invoke" not in text
