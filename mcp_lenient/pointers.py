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


def tokens_of(text: str) -> list[str]:
    """The parts of a JSON Pointer, as text: whether one is an index depends on what it is applied to.

    >>> tokens_of("/rows/0/a~1b")
    ['rows', '0', 'a/b']
    """
    return [token.replace("~1", "/").replace("~0", "~") for token in text.split("/")[1:]]


def _token(part: str | int) -> str:
    if isinstance(part, int):
        return str(part)
    if "~" in part or "/" in part:
        return part.replace("~", "~0").replace("/", "~1")
    return part
