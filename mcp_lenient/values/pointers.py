"""JSON Pointers (RFC 6901) for paths into the arguments."""

from __future__ import annotations

from mcp_lenient.types import Path


def pointer(path: Path) -> str:
    """The JSON Pointer for a path.

    >>> pointer(("rows", 0, "a/b"))
    '/rows/0/a~1b'
    """
    text = ""
    for part in path:
        text += f"/{_token(part)}"
    return text


def text_of(part: object) -> str:
    """What is no text as text: an index, or a key that JSON cannot have; an integer too long for that by its type.

    >>> text_of(3), text_of(None), text_of(10**5000)
    ('3', 'None', '<int>')
    """
    try:
        return str(part)
    except ValueError:
        return f"<{type(part).__name__}>"


def tokens_of(text: str) -> list[str]:
    """The parts of a JSON Pointer, as text: whether one is an index depends on what it is applied to.

    >>> tokens_of("/rows/0/a~1b")
    ['rows', '0', 'a/b']
    """
    return [token.replace("~1", "/").replace("~0", "~") for token in text.split("/")[1:]]


def _token(part: str | int) -> str:
    if not isinstance(part, str):
        return text_of(part)
    if "~" in part or "/" in part:
        return part.replace("~", "~0").replace("/", "~1")
    return part
