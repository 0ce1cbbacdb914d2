"""Parse a definitions file into JSON values, with line numbers for YAML."""

from __future__ import annotations

import importlib
import json
import math
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, NamedTuple, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.composer import MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode
from ruamel.yaml.resolver import VersionedResolver

from mcp_lenient.errors import DefinitionError
from mcp_lenient.types import Path
from mcp_lenient.values.display import shown

MAX_DEPTH = 32
"""Levels of a definitions file; the deepest valid field is far above this."""


class DefinitionFault(NamedTuple):
    """One error at one place of the file.

    Attributes:
        path: The place.
        words: The message, printed after the place and a colon.
        read: Whether the value at this place could be parsed.
    """

    path: Path
    words: str
    read: bool = False


MAX_NODES = 250_000
"""Values of one document, with each use of an anchor counted."""
_TAG = "tag:yaml.org,2002:"
_YAML_1_1 = VersionedResolver((1, 1))
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,39})(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(slots=True)
class Document:
    """The content of a file.

    Attributes:
        file: The file.
        value: The content; None for an empty file.
        lines: The line of each place, from 1; empty for TOML, whose parser gives none.
        faults: Values that JSON does not have, and duplicate names; ``value`` has a substitute for each.
        nodes: The number of values read so far.
    """

    file: FilePath
    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    faults: list[DefinitionFault] = field(default_factory=list)
    nodes: int = 0

    def line(self, path: Path) -> int | None:
        """Return the line of a place or of its nearest parent."""
        ends = range(len(path), -1, -1)
        return next((self.lines[path[:end]] for end in ends if path[:end] in self.lines), None)

    def where(self, path: Path) -> str:
        """Return the file, with the line of a place if it is known."""
        return _at(self.file, self.line(path))


def _at(file: FilePath, line: int | None) -> str:
    return str(file) if line is None else f"{file}:{line}"


def _yaml(file: FilePath, text: str) -> Document:
    """Parse one YAML 1.2 document; tags are never executed."""
    document = Document(file)
    reader = YAML(pure=True)
    reader.max_depth = MAX_DEPTH + 1
    reader.composer.warn_double_anchors = False
    try:
        root = reader.compose(text)
    except MaxDepthExceededError as error:
        _refuse(file, error.problem_mark, "it is nested too deeply.")
    except MarkedYAMLError as error:
        _refuse(file, error.problem_mark or error.context_mark, f"{error.problem or error.context}.")
    except (YAMLError, AssertionError) as error:  # the second for an unknown version of YAML
        _refuse(file, None, f"{' '.join(str(error).split())}.")
    if root is not None:
        document.value = _value(document, root, ())
    return document


def _line(mark: Any) -> int:
    line: int = mark.line + 1
    return line


def _refuse(file: FilePath, mark: Any, reason: str) -> NoReturn:
    where = _at(file, _line(mark) if mark else None)
    msg = f"{where}: this cannot be read as YAML: {reason}"
    raise DefinitionError(msg) from None


def _kind(node: Node) -> str:
    """Return the tag of a node; for unquoted text its tag in YAML 1.1, which other parsers may use.

    A single letter is always a string: ``y`` and ``n`` are names, and few YAML 1.1 parsers read them as booleans.
    """
    is_plain = isinstance(node, ScalarNode) and node.style is None and len(node.value) > 1
    if is_plain and node.tag == f"{_TAG}str":
        return str(_YAML_1_1.resolve(ScalarNode, node.value, (True, False)))
    return str(node.tag)


def _value(document: Document, node: Node, path: Path) -> Any:
    document.nodes += 1
    if document.nodes > MAX_NODES:
        reason = f"it has more than {MAX_NODES} values, including those repeated by anchors."
        _refuse(document.file, node.start_mark, reason)
    if len(path) > MAX_DEPTH:
        _refuse(document.file, node.start_mark, "its anchors nest it too deeply.")
    document.lines.setdefault(path, _line(node.start_mark))
    if isinstance(node, ScalarNode):
        return _scalar(document, node, path)
    if node.tag != _TAG + ("map" if isinstance(node, MappingNode) else "seq"):
        words = f"this has the tag '{shown(node.tag)}'; tags are not allowed."
        document.faults.append(DefinitionFault(path, words))
    if isinstance(node, MappingNode):
        return _mapping(document, node, path)
    return [_value(document, entry, (*path, at)) for at, entry in enumerate(node.value)]


def _mapping(document: Document, node: MappingNode, path: Path) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for key, entry in node.value:
        name = _name(document, key, path)
        below = (*path, name)
        if name in entries:
            again = f"this name is used twice, again in line {_line(key.start_mark)}."
            document.faults.append(DefinitionFault(below, again, read=True))
            continue
        document.lines[below] = _line(key.start_mark)
        entries[name] = _value(document, entry, below)
    return entries


def _name(document: Document, key: Node, path: Path) -> str:
    """Return the name before a colon, in its source spelling if YAML does not read it as a string."""
    spelt = key.value if isinstance(key, ScalarNode) else f"line {_line(key.start_mark)}"
    if _kind(key) != f"{_TAG}str":
        document.lines.setdefault((*path, spelt), _line(key.start_mark))
        document.faults.append(
            DefinitionFault((*path, spelt), "YAML does not read this name as a string; put it in quotes.")
        )
    return str(spelt)


def _scalar(document: Document, node: Node, path: Path) -> Any:
    kind = _kind(node).removeprefix(_TAG)
    if kind == "str":
        return node.value
    if kind == "null":
        return None
    if kind == "bool" and node.value.lower() in _BOOLEANS:
        return _BOOLEANS[node.value.lower()]
    if kind in ("int", "float") and _JSON_NUMBER.fullmatch(node.value):
        number = json.loads(node.value)
        if math.isfinite(number):
            return number
    words = _NOT_JSON.get(kind, "this has a tag, or a type that JSON does not have.")
    document.faults.append(DefinitionFault(path, f"{words} Put it in quotes to make it a string."))
    return node.value


_BOOLEANS = {"true": True, "false": False}
_NUMBER = "YAML reads this as a number, but it is not spelled as in JSON."
_NOT_JSON: Mapping[str, str] = {
    "int": _NUMBER,
    "float": _NUMBER,
    "bool": "YAML reads this as true or false; write that instead.",
    "timestamp": "YAML reads this as a date, which JSON does not have.",
    "merge": "this is '<<', which is not supported.",
}

MAX_BYTES = 2**20
"""The largest file that is read."""
_TOML_MODULE = "tomllib" if sys.version_info >= (3, 11) else "tomli"


def read_document(file: FilePath) -> Document:
    """Parse a YAML or TOML file, by its suffix.

    Raises:
        DefinitionError: When it has another suffix, is too large, or is invalid.
        OSError: When the file cannot be read.
    """
    parse = {".yaml": _yaml, ".yml": _yaml, ".toml": _toml}.get(file.suffix.lower())
    if parse is None:
        msg = f"{file}: the file name must end in .yaml, .yml or .toml."
        raise DefinitionError(msg)
    return parse(file, _text(file))


def _text(file: FilePath) -> str:
    with file.open("rb") as opened:
        content = opened.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        msg = f"{file}: the file is larger than {MAX_BYTES} bytes."
        raise DefinitionError(msg)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        msg = f"{file}:{line}: the file must be UTF-8 text."
        raise DefinitionError(msg) from None


def _toml(file: FilePath, text: str) -> Document:
    toml = importlib.import_module(_TOML_MODULE)
    try:
        value = toml.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError also for an integer with too many digits
        reason = "it is nested too deeply." if isinstance(error, RecursionError) else f"{error}."
        msg = f"{file}: this cannot be read as TOML: {reason}"
        raise DefinitionError(msg) from None
    return Document(file, value, faults=list(_not_json(value, ())))


def _not_json(value: Any, path: Path) -> Iterable[DefinitionFault]:
    """Yield the values of a TOML document that JSON does not have."""
    if len(path) > MAX_DEPTH:
        yield DefinitionFault(path, "this is nested too deeply.")
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield from _not_json(entry, (*path, name))
    elif isinstance(value, list):
        for at, entry in enumerate(value):
            yield from _not_json(entry, (*path, at))
    elif isinstance(value, float) and not math.isfinite(value):
        yield DefinitionFault(path, "must be a finite number.")
    elif not isinstance(value, (str, int, float)):
        yield DefinitionFault(path, "JSON does not have dates and times; put this in quotes.")
