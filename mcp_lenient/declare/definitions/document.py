"""Read a definitions file into JSON values, with line numbers for YAML."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from mcp_lenient.errors import DefinitionError
from mcp_lenient.types import Path
from mcp_lenient.values.display import LONGEST_TEXT, path_text, shown

TooDeepError: type[Exception]
try:
    from ruamel.yaml.composer import MaxDepthExceededError as TooDeepError
except ImportError:  # before ruamel.yaml 0.19, which goes as deep as Python
    TooDeepError = RecursionError

MAX_BYTES = 2**20
"""The largest file that is read."""
MAX_DEPTH = 32
"""Levels of a definitions file; the deepest valid field is far above this."""
MAX_NODES = 250_000
"""Values of one document, with each use of an anchor counted."""
MAX_FAULTS = 20
_TOML_MODULE = "tomllib" if sys.version_info >= (3, 11) else "tomli"


class DefinitionFault(NamedTuple):
    """One error at one place of the file; the message is printed after the place and a colon."""

    path: Path
    words: str


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a file.

    Attributes:
        file: The file.
        value: The content; None for an empty file.
        lines: The line of each place, from 1; empty for TOML, whose parser gives none.
    """

    file: FilePath
    value: Any
    lines: Mapping[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int:
        """Return the line of a place or of its nearest parent; 0 if none is known."""
        ends = range(len(path), -1, -1)
        return next((self.lines[path[:end]] for end in ends if path[:end] in self.lines), 0)

    def where(self, path: Path) -> str:
        """Return the file, with the line of a place if it is known."""
        return _at(self.file, self.line(path))

    def refusal(self, faults: Collection[DefinitionFault]) -> DefinitionError:
        """Return an error with the first faults in the order of their lines."""
        ordered = sorted(faults, key=lambda fault: (self.line(fault.path), path_text(fault.path)))
        sentences = [
            f"{self.where(path)}: {path_text(path) or 'the whole file'}: {words}"
            for path, words in ordered[:MAX_FAULTS]
        ]
        if len(faults) > MAX_FAULTS:
            sentences.append(f"… and {len(faults) - MAX_FAULTS} more.")
        return DefinitionError("\n".join(sentences))


def _at(file: FilePath, line: int) -> str:
    return f"{file}:{line}" if line else str(file)


def _error(file: FilePath, what: str, line: int = 0) -> DefinitionError:
    return DefinitionError(f"{_at(file, line)}: {what}.")


def read_document(file: FilePath) -> Document:
    """Read a YAML or TOML file, by its suffix.

    Raises:
        DefinitionError: When it has another suffix, is too large, is invalid, or has values that JSON does not have.
        OSError: When the file cannot be read.
    """
    read = {".yaml": _yaml, ".yml": _yaml, ".toml": _toml}.get(file.suffix.lower())
    if read is None:
        raise _error(file, "the file name must end in .yaml, .yml or .toml")
    document = read(file, _text(file))
    if faults := list(_not_json(document.value, ())):
        raise document.refusal(faults)
    return document


def _text(file: FilePath) -> str:
    with file.open("rb") as opened:
        content = opened.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise _error(file, f"the file is larger than {MAX_BYTES} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _error(file, "the file must be UTF-8 text", line) from None


def _toml(file: FilePath, text: str) -> Document:
    toml = importlib.import_module(_TOML_MODULE)
    try:
        return Document(file, toml.loads(text))
    except (ValueError, RecursionError) as error:  # ValueError also for an integer with too many digits
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise _error(file, f"this cannot be read as TOML: {reason}") from None


def _yaml(file: FilePath, text: str) -> Document:
    """Read one YAML 1.2 document; no tag is executed."""
    reader = YAML(typ="safe", pure=True)
    reader.max_depth = MAX_DEPTH + 1
    reader.composer.warn_double_anchors = False
    line, reason = 0, "it is nested too deeply"
    try:
        root = reader.compose(text)
        lines = [] if root is None else list(islice(_lines(root, ()), MAX_NODES + 1))
        if len(lines) <= MAX_NODES:  # anchors may repeat a value endlessly
            value = None if root is None else reader.constructor.construct_document(root)
            return Document(file, value, dict(lines))
        reason = f"it has more than {MAX_NODES} values, including those repeated by anchors"
    except TooDeepError:
        pass
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, reason = mark.line + 1 if mark else 0, error.problem or error.context
    # The others are of values with a tag, and of dates.
    except (YAMLError, AssertionError, LookupError, ValueError) as error:
        reason = str(error)
    raise _error(file, f"this cannot be read as YAML: {shown(' '.join(reason.split()), LONGEST_TEXT)}", line)


def _lines(node: Node, path: Path) -> Iterator[tuple[Path, int]]:
    """Yield the line of each place; that of an entry is the line of its name."""
    yield path, node.start_mark.line + 1
    entries: list[tuple[str | int, int, Node]] = []
    if isinstance(node, MappingNode):
        entries = [(str(key.value), key.start_mark.line + 1, entry) for key, entry in node.value]
    elif isinstance(node, SequenceNode):
        entries = [(index, entry.start_mark.line + 1, entry) for index, entry in enumerate(node.value)]
    for name, line, entry in entries if len(path) < MAX_DEPTH else ():
        yield from _lines(entry, (*path, name))
        yield (*path, name), line


def _not_json(value: Any, path: Path) -> Iterator[DefinitionFault]:
    """Yield what JSON does not have."""
    if len(path) > MAX_DEPTH:
        yield DefinitionFault(path, "this is nested too deeply.")
    elif isinstance(value, dict):
        for name, entry in value.items():
            if not isinstance(name, str):
                yield DefinitionFault((*path, str(name)), "this name is not a string; put it in quotes.")
            yield from _not_json(entry, (*path, name))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _not_json(entry, (*path, index))
    elif isinstance(value, float) and not math.isfinite(value):
        yield DefinitionFault(path, "must be a finite number.")
    elif not isinstance(value, (str, int, float, type(None))):
        words = "which JSON does not have; put it in quotes to make it a string."
        yield DefinitionFault(path, f"this has the type {type(value).__name__}, {words}")
