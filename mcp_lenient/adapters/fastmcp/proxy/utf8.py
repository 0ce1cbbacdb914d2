"""Decode the messages of a server over stdio: a line that is not UTF-8 becomes an error, never other text."""

from __future__ import annotations

import codecs
import json
import logging
from typing import Any, Final

from mcp_types import PARSE_ERROR

CODEC: Final = "mcp_lenient_utf_8"
"""The name of the encoding."""
NOT_UTF_8: Final = "The server's answer is not UTF-8."
_MARK: Final = "mcp_lenient: not UTF-8"
_LOGGER: Final = logging.getLogger("mcp_lenient")


def is_not_utf_8(error: Any) -> bool:
    """Return whether the data of a JSON-RPC error says that the answer was not UTF-8."""
    return bool(error.code == PARSE_ERROR and error.data == _MARK)


class _Decoder(codecs.IncrementalDecoder):
    """Decodes whole lines. One that is not UTF-8 becomes the error of the request that it answers, or is dropped.

    The SDK's own choices are to wait forever ("strict"), or to change the text ("replace", "ignore").
    """

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._begun = bytearray()

    def decode(self, data: bytes, final: bool = False) -> str:  # type: ignore[override]  # noqa: FBT001, FBT002 - as its base
        """Return the lines that end in these bytes."""
        searched = len(self._begun)  # where no line ends
        self._begun += data
        end = len(self._begun) if final else self._begun.rfind(b"\n", searched) + 1
        lines = bytes(self._begun[:end])
        del self._begun[:end]
        return "".join(map(_line, lines.splitlines(keepends=True)))


def _line(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        answered = _request_answered(line)
    if answered is None:
        _LOGGER.warning("A server over stdio wrote a line that is not UTF-8. It was dropped.")
        return ""
    error = {"code": PARSE_ERROR, "message": NOT_UTF_8, "data": _MARK}
    return json.dumps({"jsonrpc": "2.0", "id": answered, "error": error}) + "\n"


def _request_answered(line: bytes) -> int | str | None:
    """Return the id of the request that a line answers; None if it is not an answer."""
    try:
        message = json.loads(line.decode(errors="replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not message.keys() & {"result", "error"}:
        return None
    request_id = message.get("id")
    return request_id if isinstance(request_id, (int, str)) else None


def _search(name: str) -> codecs.CodecInfo | None:
    if name != CODEC:
        return None
    utf_8 = codecs.lookup("utf-8")
    return codecs.CodecInfo(utf_8.encode, utf_8.decode, incrementaldecoder=_Decoder, name=CODEC)


codecs.register(_search)
