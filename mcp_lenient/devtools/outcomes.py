"""Judge recorded calls, and compare what becomes of them under two versions or policies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ValidationError

from mcp_lenient.adapters.gate import CompiledTool, Gate, HostCall, HostTool
from mcp_lenient.declare.definitions import Definitions
from mcp_lenient.errors import LenientError
from mcp_lenient.telemetry.recording import masked
from mcp_lenient.telemetry.sinks import silenced

Change = Literal["newly repaired", "newly refused", "another value"]
CHANGES: Final[tuple[Change, ...]] = ("newly refused", "another value", "newly repaired")
"""What may change about a call, the worst first."""
WORSE: Final = frozenset(CHANGES[:2])
"""The changes to look at before an upgrade."""


class OutcomesError(LenientError):
    """A file that has no calls or no outcomes; the message is one line."""


class RecordedRow(NamedTuple):
    """A recorded call."""

    name: str
    tool: HostTool
    sent: Any


class CallOutcome(BaseModel):
    """What becomes of a call; values of secrets are others of the same form."""

    call: str
    """A fingerprint of tool, schema and arguments."""
    name: str
    tool: str
    ran: bool
    value: Any = None
    """The arguments that the tool gets."""
    digest: str = ""
    """Tells values apart, those of secrets too."""
    why: tuple[str, ...] = ()
    """The rules that repaired it, or the code of the refusal."""


def read_calls(file: Path) -> list[RecordedRow]:
    """Read calls: JSON lines, a list, or an object with ``cases``.

    Each has ``schema`` (or ``param_schema``) and ``sent`` (or ``arguments``), and may have ``tool``, ``id`` and
    ``destructive``; a call without a schema is one of the tool that was named before.

    Raises:
        OutcomesError: When there are none.
    """
    rows, tools, known = [], dict[str, HostTool](), dict[str, HostTool]()
    for number, row in enumerate(_rows(file), 1):
        name, schema = str(row.get("tool", "tool")), row.get("schema", row.get("param_schema"))
        if isinstance(schema, Mapping):
            destructive = row.get("destructive") is True
            key = _digest([name, schema, destructive])
            tools[name] = known.setdefault(key, HostTool(name, schema, destructive=destructive, key=key))
        sent = row.get("sent", row.get("arguments"))
        if name not in tools:
            msg = f"{file}: call {number} has no schema, nor has one before it of the same tool"
            raise OutcomesError(msg)
        rows.append(RecordedRow(str(row.get("id", number)), tools[name], sent))
    if not rows:
        msg = f"{file}: there is no call in it"
        raise OutcomesError(msg)
    return rows


def judge(rows: Iterable[RecordedRow], definitions: Definitions | None = None) -> Iterator[CallOutcome]:
    """Yield what becomes of each call, by its schema and the policy of the definitions."""
    gate = Gate(definitions=definitions, unrepairable="refuse")
    kept: dict[Any, CompiledTool] = {}
    with silenced():
        for row in rows:
            yield _outcome(gate, kept, row)


def _outcome(gate: Gate, kept: dict[Any, CompiledTool], row: RecordedRow) -> CallOutcome:
    verdict = gate.verdict_at_once(HostCall(row.tool.name, row.sent, 0, dict), row.tool, kept)
    known = {"call": _digest([row.tool.key, row.sent]), "name": row.name, "tool": row.tool.name}
    if verdict.refusal is not None:
        answer = next(iter(verdict.refusal["_meta"].values()))
        return CallOutcome(**known, ran=False, why=(answer["error_code"],))
    value = row.sent if verdict.arguments is None else verdict.arguments
    tool = verdict.tool
    shown = masked(value, None) if tool is None else masked(value, tool.plan.top, tool.policy.secret)
    why = tuple(dict.fromkeys(repair.rule for repair in verdict.repairs))
    return CallOutcome(**known, ran=True, value=shown, digest=_digest(value), why=why)


def changed(before: CallOutcome, after: CallOutcome) -> Change | None:
    """Return what has changed about a call; None if nothing."""
    if before.ran != after.ran:
        return "newly repaired" if after.ran else "newly refused"
    return "another value" if before.digest != after.digest else None


def save(file: Path, outcomes: Iterable[CallOutcome]) -> None:
    """Write outcomes as lines of JSON, readable by the owner alone."""
    file.touch(mode=0o600)
    file.chmod(0o600)
    file.write_text("".join(f"{each.model_dump_json()}\n" for each in outcomes), encoding="utf-8")


def read_outcomes(file: Path) -> dict[str, CallOutcome]:
    """Read saved outcomes, by the fingerprint of the call.

    Raises:
        OutcomesError: When the file has none.
    """
    try:
        with file.open(encoding="utf-8") as lines:
            return {each.call: each for each in map(CallOutcome.model_validate_json, lines)}
    except OSError as error:
        msg = f"{file}: {error.strerror}"
    except (ValidationError, ValueError):
        msg = f"{file}: it was not written by --save"
    raise OutcomesError(msg)


def _rows(file: Path) -> list[dict[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        msg = f"{file}: {error.strerror if isinstance(error, OSError) else 'it is not UTF-8'}"
        raise OutcomesError(msg) from None
    try:
        whole = json.loads(text)
        found = whole.get("cases", [whole]) if isinstance(whole, dict) else whole
    except ValueError:
        found = [
            _parsed(file, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()
        ]
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        msg = f"{file}: each call must be an object"
        raise OutcomesError(msg)
    return found


def _parsed(file: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        msg = f"{file}: line {number} is not JSON"
        raise OutcomesError(msg) from None


def _digest(value: Any) -> str:
    # As JSON text, 1, 1.0 and true differ.
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:24]
