"""What may be said of a value or a name that came from a client, and in which form."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from mcp_lenient.pointers import text_of
from mcp_lenient.types import Path

MAX_NAME = 64
MAX_SCALAR = 64
MAX_INTEGER_BITS = 200
MAX_DEPTH = 64

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN_NAME = re.compile(r"[^\W\d][\w$-]*")

_LABEL = re.compile(r"[\w .,/@()+-]{1,128}")

_SECRET_WORDS = frozenset(
    "bearer cookie cookies cvc cvv jwt mnemonic otp passcode pin ssn token tokens password passwords passwd passphrase pwd secret secrets apikey apikeys authorization "
    "credential credentials".split()
)
_SECRET_NAMES = ("apikey", "privatekey", "accesskey", "secretkey", "authkey", "signingkey", "encryptionkey")


def name_words(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case.

    >>> name_words("maxHTTPResults_2")
    ('max', 'http', 'results', '2')
    """
    return tuple(word.lower() for word in _WORD.findall(name))


def secret_name(name: object, more: Collection[str] = ()) -> bool:
    """Whether a parameter of this name holds what must not be repeated.

    >>> [secret_name(name) for name in ("api_key", "authToken", "tokenizer")]
    [True, True, False]
    """
    if not isinstance(name, str):
        return False
    words = name_words(name)
    squashed = "".join(words)
    return (
        name in more
        or not _SECRET_WORDS.isdisjoint(words)
        or any(part in squashed for part in _SECRET_NAMES)
        or any("".join(name_words(other)) == squashed for other in more)
    )


def shown(text: object, limit: int = MAX_NAME) -> str:
    r"""A client's name in a form that can be printed anywhere: escaped and cut.

    >>> print(shown("a\nb"))
    a\nb
    """
    raw = text if isinstance(text, str) else text_of(text)
    return cut("".join(map(_printable, raw[: limit + 1])), limit)


def is_label(text: object) -> bool:
    """Say whether a program's own name or version is one by its form.

    >>> [is_label(text) for text in ("claude-ai (via mcp-remote 0.1.37)", "a: b", "{}")]
    [True, False, False]
    """
    return isinstance(text, str) and _LABEL.fullmatch(text) is not None


def cut(text: str, limit: int) -> str:
    """The text, at most ``limit`` characters of it."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _printable(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]


def place(path: Path) -> str:
    """Where a value stands, as a model writes it.

    >>> place(("rows", 0, "age"))
    'rows[0].age'
    """
    if len(path) > 8:
        return cut(f"{place(path[:4])} … {place(path[-2:])}", 4 * MAX_NAME)
    text = "".join(_step(part) for part in path)
    return cut(text.removeprefix("."), 4 * MAX_NAME)


def _step(part: str | int) -> str:
    if not isinstance(part, str):
        return f"[{shown(part)}]"
    return f".{shown(part)}" if _PLAIN_NAME.fullmatch(part) else f'["{shown(part)}"]'


def short_scalar(value: object) -> bool:
    """Whether this is a scalar that is short enough to be repeated, and that JSON can write."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return value.bit_length() <= MAX_INTEGER_BITS
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str) and len(value) <= MAX_SCALAR and not _SURROGATE.search(value)


def in_json(value: object) -> str:
    """A value as JSON in one printable line."""
    written = json.dumps(value, ensure_ascii=False)
    return written if written.isprintable() else "".join(map(_printable, written))


def fits_json(value: object, limit: int) -> bool:
    """Whether a value can be written in JSON, within this many characters."""
    if not _shallow(value, limit):
        return False
    try:
        return len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode()) <= limit
    except (TypeError, ValueError):
        return False


def _shallow(value: object, limit: int) -> bool:
    """Whether a value has so few parts and levels that writing it is cheap."""
    waiting: list[tuple[object, int]] = [(value, 0)]
    seen = 0
    while waiting:
        current, depth = waiting.pop()
        seen += len(current) if isinstance(current, (str, list, tuple, Mapping)) else 1
        if (
            seen + len(waiting) > limit
            or depth > MAX_DEPTH
            or (isinstance(current, int) and current.bit_length() > 4 * limit)
        ):
            return False
        below = (*current, *current.values()) if isinstance(current, Mapping) else current
        if isinstance(below, (list, tuple)):
            waiting.extend((entry, depth + 1) for entry in below)
    return True


def sentence(text: object, limit: int) -> str:
    """An author's text in one printable line without addresses, cut; empty when it is no text."""
    if not isinstance(text, str):
        return ""
    words = _URL.sub("", text[: 4 * limit]).split()
    return shown(" ".join(words), limit)


def first_sentence(text: object, limit: int) -> str:
    """The first sentence of an author's text, in the form of :func:`sentence`.

    >>> first_sentence("The city. Upper case.", 80)
    'The city.'
    """
    line = sentence(text, 4 * limit)
    end = re.search(r"(?<=[^.\s]{2}[.!?])\s", line)
    return cut(line[: end.start()] if end else line, limit)


def encodable(value: Any) -> Any:
    """The same JSON value with lone surrogates written out, so that it can be sent as UTF-8."""
    if isinstance(value, str):
        return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", value)
    if isinstance(value, Mapping):
        return {encodable(key): encodable(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [encodable(entry) for entry in value]
    return value


def exact(name: object) -> bool:
    """Whether a name can stand in a message or patch as it is."""
    return isinstance(name, str) and len(name) <= MAX_NAME and not _SURROGATE.search(name)
