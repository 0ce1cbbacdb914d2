"""Text that a client chose, as a log may show it: on one line, printable, bounded."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from mcp_lenient.redaction import HIDDEN, secret_name, shown, shown_key

LONGEST_TEXT: Final = 128
LONGEST_PART: Final = 64
_MOST_PARTS: Final = 16
LONGEST_POINTER: Final = _MOST_PARTS * (LONGEST_PART + 1) + 1
_LONGEST_REMEMBERED: Final = 128
_HERE: Final = ""
_MORE: Final = "…"


def escaped(text: str, *, limit: int = LONGEST_TEXT) -> str:
    r"""Text that a client chose, as a log may show it: on one line, printable, at most ``limit`` characters.

    Escaping twice changes nothing. The form is for reading: a backslash of the text stays as it is.

    >>> escaped("a\nb\x1b[31m")
    'a\\nb\\u001b[31m'
    """
    if len(text) <= limit and text.isprintable():
        return text
    return shown(text, limit)


def escaped_pointer(pointer: str, secret: frozenset[str] = frozenset()) -> str:
    """Return a JSON Pointer as a log may show it: at most 15 parts, and of each only what has a name's form.

    Keys below a secret name are secret too; ``secret`` are names that a policy adds.

    >>> escaped_pointer('/rows/0/password:hunter2')
    '/rows/0/{…}'
    >>> escaped_pointer("/credentials/hunter")
    '/credentials/{…}'
    """
    return (_remembered if len(pointer) <= _LONGEST_REMEMBERED else _masked)(pointer, secret)


def _masked(pointer: str, names: frozenset[str]) -> str:
    parts = pointer.split("/", _MOST_PARTS)
    kept: list[str] = []
    secret = False
    for part in parts[:_MOST_PARTS]:
        kept.append(_HERE if not part and not kept else HIDDEN if secret else _part(part))
        secret = secret or secret_name(part, names)
    more = len(parts) > _MOST_PARTS
    return f"{'/'.join(kept)}/{_MORE}" if more else "/".join(kept)


_remembered = lru_cache(maxsize=1024)(_masked)


def _part(part: str) -> str:
    return part if part == _MORE else shown_key(part)
