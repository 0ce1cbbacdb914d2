"""YAML read as JSON values with their lines; what JSON has not, or what may surprise, is a fault."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from mcp_lenient.definitions.fault import MAX_DEPTH, Fault
from mcp_lenient.redaction import shown
from mcp_lenient.types import Path

MAX_NODES = 250_000
"""Values of one document, each use of an anchor counted anew."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,39})(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?", re.ASCII)


class YamlTextError(ValueError):
    """A text that is no YAML document, or one without end."""

    def __init__(self, line: int | None, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


@dataclass(slots=True)
class YamlText:
    """A document as it is being read."""

    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    nodes: int = 0


def read_yaml(text: str) -> YamlText:
    """Read one YAML document; nothing in it is executed, and no tag is followed.

    Raises:
        YamlTextError: When it is none, is nested too deeply, or grows too large by its anchors.
    """
    document = YamlText()
    try:
        _check_depth(text)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlTextError(_line(mark) if mark else None, f"{error.problem or error.context}.") from None
    except yaml.YAMLError as error:
        raise YamlTextError(None, f"{' '.join(str(error).split())}.") from None
    if root is not None:
        document.value = _value(document, root, ())
    return document


def _check_depth(text: str) -> None:
    """Composing recurses, which a text of brackets alone could make it do without end."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise YamlTextError(_line(event.start_mark), "it is nested too deeply.")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _line(mark: Any) -> int:
    line: int = mark.line + 1  # the marks of the two loaders have no type in common
    return line


def _value(document: YamlText, node: yaml.Node, path: Path) -> Any:
    document.nodes += 1
    if document.nodes > MAX_NODES:
        reason = f"it has more than {MAX_NODES} values, with what its anchors repeat."
        raise YamlTextError(_line(node.start_mark), reason)
    if len(path) > MAX_DEPTH:
        raise YamlTextError(_line(node.start_mark), "its anchors nest it too deeply.")
    document.lines.setdefault(path, _line(node.start_mark))
    if isinstance(node, yaml.MappingNode):
        _check_tag(document, node, "map", path)
        return _mapping(document, node, path)
    if isinstance(node, yaml.SequenceNode):
        _check_tag(document, node, "seq", path)
        return [_value(document, entry, (*path, at)) for at, entry in enumerate(node.value)]
    return _scalar(document, node, path)


def _check_tag(document: YamlText, node: yaml.Node, plain: str, path: Path) -> None:
    if node.tag != _TAG + plain:
        document.faults.append(Fault(path, f"this has the tag '{shown(node.tag)}'; tags are not allowed."))


def _mapping(document: YamlText, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for key, entry in node.value:
        name = _name(document, key, path)
        below = (*path, name)
        if name in entries:
            again = f"this stands here twice, the second time in line {_line(key.start_mark)}."
            document.faults.append(Fault(below, again, read=True))
            continue
        document.lines[below] = _line(key.start_mark)
        entries[name] = _value(document, entry, below)
    return entries


def _name(document: YamlText, key: yaml.Node, path: Path) -> str:
    """The name before a colon; what YAML takes for something else than a text is used as it is spelt."""
    spelt = key.value if isinstance(key, yaml.ScalarNode) else f"line {_line(key.start_mark)}"
    if key.tag != f"{_TAG}str":
        document.lines.setdefault((*path, spelt), _line(key.start_mark))
        document.faults.append(
            Fault((*path, spelt), "this is a name that YAML does not read as text; put it in quotes.")
        )
    return str(spelt)


def _scalar(document: YamlText, node: yaml.Node, path: Path) -> Any:
    kind = node.tag.removeprefix(_TAG)
    if kind not in _SCALARS:
        document.faults.append(Fault(path, f"{_WORDS.get(kind, _OTHER)} {_QUOTE}"))
        return node.value
    value, words = _SCALARS[kind](node.value)
    if words:
        document.faults.append(Fault(path, words))
    return value


_QUOTE = "Put it in quotes if a text is meant."
_OTHER = "this has a tag, or is of a kind that JSON has not."
_WORDS: Mapping[str, str] = {
    "timestamp": "this is a date to YAML, which JSON has not.",
    "merge": "this is '<<', which is not supported.",
}
_BOOLEANS = {"true": True, "false": False}


def _number(spelt: str) -> tuple[Any, str]:
    if not _JSON_NUMBER.fullmatch(spelt) or not math.isfinite(number := json.loads(spelt)):
        return spelt, f"this is a number to YAML, but not spelt as JSON spells one. {_QUOTE}"
    return number, ""


def _boolean(spelt: str) -> tuple[Any, str]:
    if spelt.lower() not in _BOOLEANS:
        return spelt, f"this is true or false to YAML; spell it so. {_QUOTE}"
    return _BOOLEANS[spelt.lower()], ""


_SCALARS: Mapping[str, Callable[[str], tuple[Any, str]]] = {
    "str": lambda spelt: (spelt, ""),
    "null": lambda _: (None, ""),
    "bool": _boolean,
    "int": _number,
    "float": _number,
}
