"""Record calls for ``mcp-lenient outcomes``: what was sent, with values of the same form in place of secrets."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

from mcp_lenient.engine.reader import Plan
from mcp_lenient.errors import LoggingError
from mcp_lenient.schema.node import Node, below
from mcp_lenient.values.display import has_credential, is_name, is_secret_name, keys_naming_secret, name_words
from mcp_lenient.values.json_values import looks_like_json

LARGEST: Final = 50_000_000
"""The bytes after which a recording ends."""
_DEEPEST: Final = 100
"""More levels than any limit of a policy by default; what is deeper becomes null."""
_LABELED: Final = re.compile(r"""(?<![\w.$-])(--?)?([\w.$-]{1,64})["'\\]{0,4}(?(1)[=:\s]|\s?[=:])""")
"""A name in a text, and what shows that its value follows: ``password=``, ``"password":``, ``--password ``."""
_DIGIT: Final = re.compile(r"\d")
_FORMS: Final = ((_DIGIT, "1"), (re.compile("[A-Z]"), "A"), (re.compile(r"[^\W\dA-Z_]"), "a"))

_unrecorded: Final = ContextVar("mcp_lenient_unrecorded", default=False)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Record no calls made in this context and in tasks started from it."""
    token = _unrecorded.set(True)
    try:
        yield
    finally:
        _unrecorded.reset(token)


class Recording:
    """A file of calls, as lines of JSON: a tool's schema when it is first called, and each call's arguments.

    The file is readable by its owner alone, and ends at 50 MB. A call that cannot be recorded runs all the same.

    Raises:
        LoggingError: When the file cannot be written to.
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        try:
            self._descriptor = os.open(Path(file), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            Path(file).chmod(0o600)
        except (OSError, TypeError) as error:
            msg = f"record must be a file that can be written to, got {file!r}"
            raise LoggingError(msg) from error
        self._bytes_left = LARGEST - os.fstat(self._descriptor).st_size
        self._written_schemas: dict[str | None, object] = {}
        self._lock = threading.Lock()

    def write(self, plan: Plan, schema: Mapping[str, Any], arguments: Any) -> None:
        """Record one call of a tool, except inside :func:`unrecorded`."""
        if _unrecorded.get():
            return
        try:
            row = {"tool": plan.tool, "sent": masked(arguments, plan.top, plan.policy.secret)}
            if self._written_schemas.get(plan.tool) is not schema:
                row |= {"schema": schema, "destructive": plan.destructive}
            line = f"{json.dumps(row)}\n".encode()
            with self._lock:
                if len(line) <= self._bytes_left:
                    os.write(self._descriptor, line)
                    self._bytes_left -= len(line)
                    self._written_schemas[plan.tool] = schema
        except (OSError, ValueError, TypeError, RecursionError):
            pass

    def __del__(self) -> None:
        if hasattr(self, "_lock"):
            os.close(self._descriptor)


_SHOWN, _UNDECLARED, _SECRET = range(3)


def masked(
    value: Any, node: Node | None, secret: Collection[str] = (), hides: int = _SHOWN, depth: int = 0
) -> Any:
    """Return a value with another of the same form in place of each secret.

    Secret is what is below a secret's name or beside it as a text, a text that has such a name and a value, a URI with
    a password, what the schema marks, a text in place of an object, and what is below a name that the schema does not
    know, unless it is a declared one in another case.

    >>> from mcp_lenient.schema.node import Tree
    >>> masked({"id": 7, "apiKey": "sk-Ab3", "x": 25}, Tree({"properties": {"id": {}}}).top)
    {'id': 7, 'apiKey': 'aa-Aa1', 'x': 11}
    """
    if depth > _DEEPEST:
        return None
    if node is not None and node.secret:
        hides = _SECRET
    if isinstance(value, Mapping):
        named = keys_naming_secret(value, secret)
        entries = {}
        for name, entry in value.items():
            child, hidden = _below(node, name, entry, secret, hides if named <= {name} else _SECRET)
            shown = name if hides < _SECRET and is_name(name) else _form(str(name))
            entries[shown] = masked(entry, child, secret, hidden, depth + 1)
        return entries
    if isinstance(value, list):
        options = {index: item.lstrip("-") for index, item in enumerate(value) if isinstance(item, str)}
        named = keys_naming_secret(options, secret)
        return [
            masked(item, below(node, index), secret, hides if named <= {index} else _SECRET, depth + 1)
            for index, item in enumerate(value)
        ]
    if isinstance(value, str):
        return _text(value, node, secret, hides, depth)
    if hides and isinstance(value, (int, float)) and not isinstance(value, bool):
        return json.loads(_DIGIT.sub("1", json.dumps(value)))
    return value


def _below(
    node: Node | None, name: Any, value: Any, secret: Collection[str], hides: int
) -> tuple[Node | None, int]:
    """Return the schema of an entry, and whether its value is hidden."""
    properties = {} if node is None else node.properties
    child = below(node, name)
    if child is None:
        alike = next((other for other in properties if name_words(other) == name_words(str(name))), None)
        child = None if alike is None else below(node, alike)
    if child is None and isinstance(value, Mapping) and value.keys() & properties:  # it wraps the arguments
        child = node
    if is_secret_name(name, secret):
        hides = _SECRET
    return child, max(hides, _SHOWN if child is not None else _UNDECLARED)


def _text(text: str, node: Node | None, secret: Collection[str], hides: int, depth: int) -> str:
    if hides < _SECRET and looks_like_json(text):
        try:
            return json.dumps(masked(json.loads(text), node, secret, hides, depth + 1), ensure_ascii=False)
        except (ValueError, RecursionError):
            return _form(text)
    is_secret = hides or has_credential(text) or _has_label(text, secret) or _takes_objects(node)
    return _form(text) if is_secret else text


def _has_label(text: str, secret: Collection[str]) -> bool:
    return any(is_secret_name(match[2], secret) for match in _LABELED.finditer(text))


def _takes_objects(node: Node | None) -> bool:
    """Return whether a value here is an object, or a list of them, and no text."""
    taken = frozenset() if node is None else node.accepted_types
    return "string" not in taken and (
        "object" in taken or ("array" in taken and _takes_objects(below(node, 0)))
    )


def _form(text: str) -> str:
    for characters, one in _FORMS:
        text = characters.sub(one, text)
    return text
