"""Text that a client chose, as a log may show it: on one line, printable, bounded."""

from __future__ import annotations

import re
from typing import Final

from mcp_lenient.redaction import shown

LONGEST_TEXT: Final = 128
LONGEST_PART: Final = 64
_MOST_PARTS: Final = 16
LONGEST_POINTER: Final = _MOST_PARTS * (LONGEST_PART + 1) + 1
_HOLDS_VALUES: Final = re.compile(r"""^\s*[(`]|[{}\[\]"'=]|:\s""")
_PLAIN_POINTER: Final = re.compile(r"[\w/~.$ -]{0,64}")


def escaped(text: str, *, limit: int = LONGEST_TEXT) -> str:
    r"""Text that a client chose, as a log may show it: on one line, printable, at most ``limit`` characters.

    Escaping twice changes nothing. The form is for reading: a backslash of the text stays as it is.

    >>> escaped("a\nb\x1b[31m")
    'a\\nb\\u001b[31m'
    """
    if len(text) <= limit and text.isprintable():
        return text
    return shown(text, limit)


def escaped_pointer(pointer: str) -> str:
    """A JSON Pointer as a log may show it: each part escaped and cut, at most 15 parts.

    A part that holds quotes, brackets or ``=`` (arguments that came as the name of a parameter) would show
    values, so nothing of it is shown.

    >>> escaped_pointer('/rows/0/{"password": "x"}')
    '/rows/0/{…}'
    """
    if _PLAIN_POINTER.fullmatch(pointer):
        return pointer
    parts = pointer.split("/", _MOST_PARTS)
    kept = "/".join(map(_part, parts[:_MOST_PARTS]))
    return f"{kept}/…" if len(parts) > _MOST_PARTS else kept


def _part(part: str) -> str:
    return "{…}" if _HOLDS_VALUES.search(part) else escaped(part, limit=LONGEST_PART)
