"""A definitions file as JSON values, with the line of each where the format tells it."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from mcp_lenient.definitions.fault import MAX_DEPTH, Fault
from mcp_lenient.definitions.yaml_text import YamlTextError, read_yaml
from mcp_lenient.errors import DefinitionError
from mcp_lenient.types import Path

MAX_BYTES = 2**20
"""The largest file that is read."""

_TOML_MODULE = "tomllib" if sys.version_info >= (3, 11) else "tomli"
_YAML_SUFFIXES = (".yaml", ".yml")
_TOML_SUFFIX = ".toml"


@dataclass(frozen=True, slots=True)
class Document:
    """What a file holds.

    Attributes:
        value: The whole of it; None for an empty file.
        lines: The line of each place, from 1; empty for TOML, whose reader tells none.
        faults: What is no JSON value, or stands there twice. ``value`` has something else in its place.
    """

    value: Any
    lines: Mapping[Path, int] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()

    def line(self, path: Path) -> int | None:
        """The line of a place, or of the nearest one around it."""
        ends = range(len(path), -1, -1)
        return next((self.lines[path[:end]] for end in ends if path[:end] in self.lines), None)


def read_document(file: FilePath) -> Document:
    """Read a YAML or TOML file, by its suffix.

    Raises:
        DefinitionError: When it is neither, too large, or not to be read as what its suffix says.
        OSError: When there is no such file.
    """
    suffix = file.suffix.lower()
    if suffix not in (*_YAML_SUFFIXES, _TOML_SUFFIX):
        msg = f"{file}: the name must end in .yaml, .yml or .toml, which says how the file is written."
        raise DefinitionError(msg)
    text = _text(file)
    return _toml(file, text) if suffix == _TOML_SUFFIX else _yaml(file, text)


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


def _yaml(file: FilePath, text: str) -> Document:
    try:
        read = read_yaml(text)
    except YamlTextError as error:
        where = file if error.line is None else f"{file}:{error.line}"
        msg = f"{where}: this cannot be read as YAML: {error.reason}"
        raise DefinitionError(msg) from None
    return Document(read.value, read.lines, tuple(read.faults))


def _toml(file: FilePath, text: str) -> Document:
    toml = importlib.import_module(_TOML_MODULE)
    try:
        value = toml.loads(text)
    except (ValueError, RecursionError) as error:  # the first also for an integer of too many digits
        reason = "it is nested too deeply." if isinstance(error, RecursionError) else f"{error}."
        msg = f"{file}: this cannot be read as TOML: {reason}"
        raise DefinitionError(msg) from None
    return Document(value, faults=tuple(_not_json(value, ())))


def _not_json(value: Any, path: Path) -> Iterable[Fault]:
    """The values of a TOML document that JSON does not have."""
    if len(path) > MAX_DEPTH:
        yield Fault(path, "this is nested too deeply.")
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield from _not_json(entry, (*path, name))
    elif isinstance(value, list):
        for at, entry in enumerate(value):
            yield from _not_json(entry, (*path, at))
    elif isinstance(value, float) and not math.isfinite(value):
        yield Fault(path, "must be a finite number.")
    elif not isinstance(value, (str, int, float)):
        yield Fault(path, "this is a date or time, which JSON has not; put it in quotes.")
