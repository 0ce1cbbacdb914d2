"""Format findings for people, programs and code hosts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import groupby
from typing import Any, Final
from urllib.parse import quote

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from mcp_lenient.devtools.check.catalogue import CHECKS, LEVELS, Finding
from mcp_lenient.devtools.printing import count
from mcp_lenient.values.display import shown

_STYLES: Final = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}
_LONGEST: Final = 2_000
_INDENT: Final = (0, 0, 0, 11)
_SARIF: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def as_text(findings: Sequence[Finding], tools: int) -> RenderableType:
    """Format the findings for a terminal, tool by tool. A sentence that differs by its place only is not repeated."""
    parts: list[RenderableType] = []
    printed: set[str] = set()
    for (tool, file, line), group in groupby(findings, key=lambda hit: (hit.tool, hit.file, hit.line)):
        where = f"  {shown(file, _LONGEST)}:{line}" if file is not None else ""
        parts.append(Text.assemble((shown(tool, _LONGEST), "bold"), (where, "dim")))
        for finding in group:
            parts.append(_head(finding))
            sentences = [finding.reason, f"Fix: {finding.mend}"]
            new = [text for text in sentences if _without_place(text, finding) not in printed]
            parts += [Padding(Text(shown(text, _LONGEST)), _INDENT, expand=False) for text in new]
            printed.update(_without_place(text, finding) for text in sentences)
        parts.append(Text())
    parts.append(Text(_sum(findings, tools)))
    return Group(*parts)


def _without_place(text: str, finding: Finding) -> str:
    """Return a sentence without the place, which its finding's first line has."""
    return text.replace(f"'{finding.place}'", "''") if finding.place else text


def _head(finding: Finding) -> Text:
    place = f"{shown(finding.place, _LONGEST)}  " if finding.place else ""
    return Text.assemble(
        "  ",
        (finding.level, _STYLES[finding.level]),
        " " * (9 - len(finding.level)),
        place,
        (finding.code, "dim"),
    )


def _sum(findings: Sequence[Finding], tools: int) -> str:
    counts = Counter(finding.level for finding in findings)
    listed = [count(counts[level], level) for level in reversed(LEVELS) if counts[level]]
    return f"{', '.join(listed) or 'nothing found'} in {count(tools, 'tool')}"


def as_json(findings: Sequence[Finding], server: str, tools: int) -> str:
    """Return the findings as one JSON object."""
    counts = Counter(finding.level for finding in findings)
    return json.dumps(
        {
            "server": server,
            "tools": tools,
            "counts": {level: counts[level] for level in LEVELS},
            "findings": [asdict(finding) for finding in findings],
        },
        indent=2,
    )


def as_github(finding: Finding) -> str:
    """Return a finding as a one-line workflow command, which GitHub shows next to the code."""
    where = shown(f"{finding.tool}.{finding.place}" if finding.place else finding.tool, _LONGEST)
    properties = {"title": f"{finding.code}: {where}"}
    if finding.file is not None:
        properties = {"file": finding.file, "line": str(finding.line), **properties}
    text = shown(f"{finding.reason} {finding.mend}", _LONGEST)
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.level]} {listed}::{_data(f'{where}: {text}')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_sarif(findings: Sequence[Finding], server: str) -> str:
    """Return the findings as SARIF 2.1.0, for code scanning."""
    numbers = {check.code: index for index, check in enumerate(CHECKS)}
    driver = {
        "name": "mcp-lenient",
        "version": version("mcp-lenient"),
        "rules": [
            {
                "id": check.code,
                "name": "".join(word.capitalize() for word in check.code.split("_")),
                "shortDescription": {"text": check.summary},
                "fullDescription": {"text": check.why},
                "help": {"text": f"{check.summary} {check.why}"},
                "defaultConfiguration": {"level": check.level},
            }
            for check in CHECKS
        ],
    }
    results = [_result(finding, numbers[finding.code], server) for finding in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(finding: Finding, number: int, server: str) -> dict[str, Any]:
    names = [server, finding.tool, finding.place] if finding.place else [server, finding.tool]
    location: dict[str, Any] = {
        "logicalLocations": [
            {
                "name": finding.place or finding.tool,
                "fullyQualifiedName": "/".join(names),
                "kind": "parameter" if finding.place else "function",
            }
        ]
    }
    if finding.file is not None:
        artifact = {"uri": quote(finding.file)}
        location["physicalLocation"] = {
            "artifactLocation": artifact,
            "region": {"startLine": finding.line or 1},
        }
    return {
        "ruleId": finding.code,
        "ruleIndex": number,
        "level": finding.level,
        "message": {"text": f"{finding.reason} {finding.mend}"},
        "locations": [location],
        "partialFingerprints": {"place/v1": f"{finding.code}:{'/'.join(names[1:])}"},
    }
