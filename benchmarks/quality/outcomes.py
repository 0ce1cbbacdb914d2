"""Write the outcome of each call as a line of JSON, to compare two commits."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from benchmarks.servers import Reply

Row = dict[str, Any]
Key = tuple[str, str, str]

COMPARED = ("status", "arguments", "repairs")
"""The fields that count as a difference; the envelope only on request."""
ENVELOPE = ("code", "violations", "fixes")


def outcome(cases: str, kind: str, name: str, sent: Any, reply: Reply) -> Row:
    """Return one row: the call and its outcome."""
    details = reply.envelope.get("details", {})
    violations = details.get("violations", [])
    return {
        "set": cases,
        "kind": kind,
        "row": f"{name} {_fingerprint(sent)}",
        "sent": sent,
        "status": "ran" if reply.ran else "refused",
        "arguments": reply.arguments,
        "repairs": [dict(record) for record in reply.records],
        "code": "" if reply.ran else reply.outcome,
        "violations": [[each.get("pointer"), each.get("code")] for each in violations],
        "fixes": [each.get("fixes", []) for each in violations],
    }


def _fingerprint(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:8]


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write one outcome per line."""
    with path.open("w", encoding="utf-8") as lines:
        lines.writelines(f"{json.dumps(row)}\n" for row in rows)


def read(path: Path) -> dict[Key, Row]:
    """Read outcomes, by set, kind of tool and row.

    Raises:
        ValueError: If a line is not an outcome.
    """
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    try:
        return {(row["set"], row["kind"], row["row"]): row for row in rows}
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} holds lines that are not outcomes of 'cases --json'") from error


def differences(
    before: Mapping[Key, Row], after: Mapping[Key, Row], parts: tuple[str, ...] = COMPARED
) -> Iterator[tuple[Key, tuple[str, ...]]]:
    """Yield each call of both files whose outcome differs, with the differing parts."""
    for key in before.keys() & after.keys():
        differing = tuple(part for part in parts if not _same(before[key].get(part), after[key].get(part)))
        if differing:
            yield key, differing


def _same(left: Any, right: Any) -> bool:
    # As JSON text, 1, 1.0 and true differ, and NaN equals itself.
    return json.dumps(left) == json.dumps(right)
