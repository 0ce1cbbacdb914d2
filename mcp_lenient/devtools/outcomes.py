"""Judge recorded calls, and compare their outcomes under two versions or policies."""

from __future__ import annotations

import hashlib
import json
import signal
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ValidationError

from mcp_lenient.adapters.gate import Gate, HostCall
from mcp_lenient.declare.definitions import Definitions, load_definitions
from mcp_lenient.engine.contract import Contract
from mcp_lenient.engine.tool import HostTool
from mcp_lenient.errors import LenientError
from mcp_lenient.telemetry.recording import masked
from mcp_lenient.telemetry.sinks import silenced

Change = Literal["newly repaired", "newly refused", "another value", "another reason"]
CHANGES: Final[tuple[Change, ...]] = ("newly refused", "another value", "newly repaired", "another reason")
"""What may change about a call, the worst first."""
WORSE: Final = frozenset(CHANGES[:2])
"""The changes to look at before an upgrade."""
_TOLD: Final = ("pointer", "code", "fixes")
_PART: Final = 1000
"""The calls that a process judges at a time; a tool is compiled for each part."""


class OutcomesError(LenientError):
    """A file that has no calls or no outcomes; the message is one line."""


class RecordedRow(NamedTuple):
    """A recorded call."""

    name: str
    tool: HostTool
    sent: Any


class CallOutcome(BaseModel):
    """The outcome of a call; secrets are replaced by values of the same form."""

    call: str
    """A fingerprint of tool, schema and arguments, with a number for calls that differ in secrets alone."""
    name: str
    tool: str
    sent: Any
    ran: bool
    value: Any = None
    """The arguments that the tool gets."""
    why: tuple[str, ...] = ()
    """The rules that repaired it, or the code of the refusal."""
    violations: tuple[Any, ...] = ()
    """The place, code and fixes of each violation of a refused call."""


def read_calls(file: Path) -> list[RecordedRow]:
    """Read calls, tool by tool: JSON lines, a list, or an object with ``cases``.

    Each has ``schema`` (or ``param_schema``) and ``sent`` (or ``arguments``), and may have ``tool``, ``id`` and
    ``destructive``; a call without a schema is one of the tool that was named before.

    Raises:
        OutcomesError: When there are none.
    """
    rows, tools, same_tools = [], dict[str, HostTool](), dict[str, HostTool]()
    for number, row in enumerate(_rows(file), 1):
        name, schema = str(row.get("tool", "tool")), row.get("schema", row.get("param_schema"))
        if isinstance(schema, Mapping):
            destructive = row.get("destructive") is True
            key = digest([name, schema, destructive])
            tools[name] = same_tools.setdefault(
                key, HostTool(name, schema, {"destructiveHint": destructive}, key=key)
            )
        sent = row.get("sent", row.get("arguments"))
        if name not in tools:
            msg = f"{file}: call {number} has no schema, nor has one before it of the same tool"
            raise OutcomesError(msg)
        rows.append(RecordedRow(str(row.get("id", number)), tools[name], sent))
    if not rows:
        msg = f"{file}: there is no call in it"
        raise OutcomesError(msg)
    order = {key: index for index, key in enumerate(same_tools)}
    return sorted(rows, key=lambda row: order[str(row.tool.key)])


def judge_all(
    rows: Sequence[RecordedRow], config: Path | None = None, *, jobs: int = 1
) -> Iterator[CallOutcome]:
    """Yield what becomes of each call by the policy of a definitions file, judged by several processes.

    Raises:
        DefinitionsError: When the file cannot be read.
    """
    definitions = None if config is None else load_definitions(config)
    parts = [rows[index : index + _PART] for index in range(0, len(rows), _PART)]
    times: Counter[str] = Counter()
    for outcome in _judged(parts, definitions, config, min(jobs, len(parts))):
        times[outcome.call] += 1
        yield outcome.model_copy(update={"call": f"{outcome.call}-{times[outcome.call]}"})


def _judged(
    parts: list[Sequence[RecordedRow]], definitions: Definitions | None, config: Path | None, jobs: int
) -> Iterator[CallOutcome]:
    if jobs <= 1:
        for part in parts:
            yield from judge(part, definitions)
        return
    # Forked processes would have the locks of the progress bar's thread.
    with ProcessPoolExecutor(jobs, get_context("spawn"), _leave_interrupts) as pool:
        for part_outcomes in pool.map(partial(_part, config), parts):
            yield from part_outcomes


def _leave_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that waits for this one handles them


def _part(config: Path | None, rows: Sequence[RecordedRow]) -> list[CallOutcome]:
    return list(judge(rows, None if config is None else load_definitions(config)))


def judge(rows: Iterable[RecordedRow], definitions: Definitions | None = None) -> Iterator[CallOutcome]:
    """Yield the outcome of each call, by its schema and the policy of the definitions."""
    gate = Gate(definitions=definitions, unrepairable="refuse")
    contracts: dict[Any, Contract] = {}
    with silenced():
        for row in rows:
            yield _outcome(gate, contracts, row)


def _outcome(gate: Gate, contracts: dict[Any, Contract], row: RecordedRow) -> CallOutcome:
    decision = gate.decide_at_once(HostCall(row.tool.name, row.sent, 0, dict), row.tool, contracts)
    contract = decision.contract
    top, secret = (None, ()) if contract is None else (contract.top, contract.policy.secret)
    sent = masked(row.sent, top, secret)
    call = CallOutcome(
        call=digest([row.tool.key, sent]),
        name=row.name,
        tool=row.tool.name,
        sent=sent,
        ran=True,
        value=masked(decision.arguments, top, secret) if decision.replaces else sent,
        why=tuple(dict.fromkeys(repair.rule for repair in decision.applied_repairs)),
    )
    return call if decision.refusal is None else refused(call, next(iter(decision.refusal["_meta"].values())))


def refused(call: CallOutcome, envelope: Mapping[str, Any]) -> CallOutcome:
    """Return the outcome of a call that got an envelope instead."""
    entries = envelope.get("details", {}).get("violations", ())
    violations = tuple({key: entry[key] for key in _TOLD if key in entry} for entry in entries)
    changes = {"ran": False, "value": None, "why": (envelope["error_code"],), "violations": violations}
    return call.model_copy(update=changes)


def changed(before: CallOutcome, after: CallOutcome) -> Change | None:
    """Return what has changed about a call; None if nothing."""
    if before.ran != after.ran:
        return "newly repaired" if after.ran else "newly refused"
    # As JSON text, 1, 1.0 and true differ.
    if json.dumps(before.value) != json.dumps(after.value):
        return "another value"
    return None if (before.why, before.violations) == (after.why, after.violations) else "another reason"


def save(file: Path, outcomes: Iterable[CallOutcome]) -> None:
    """Write outcomes as lines of JSON, readable by the owner alone."""
    file.touch(mode=0o600)
    file.chmod(0o600)
    file.write_text("".join(f"{outcome.model_dump_json()}\n" for outcome in outcomes), encoding="utf-8")


def read_outcomes(file: Path) -> dict[str, CallOutcome]:
    """Read saved outcomes, by the fingerprint of the call.

    Raises:
        OutcomesError: When the file has none.
    """
    try:
        with file.open(encoding="utf-8") as lines:
            return {outcome.call: outcome for outcome in map(CallOutcome.model_validate_json, lines)}
    except OSError as error:
        msg = f"{file}: {error.strerror}"
    except (ValidationError, ValueError):
        msg = f"{file}: it was not written by --save"
    raise OutcomesError(msg)


def are_saved(file: Path) -> bool:
    """Return whether a file has outcomes instead of calls."""
    try:
        with file.open(encoding="utf-8") as lines:
            return CallOutcome.model_validate_json(lines.readline()) is not None
    except (OSError, ValueError):  # a ValidationError is one
        return False


def _rows(file: Path) -> list[dict[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        msg = f"{file}: {error.strerror if isinstance(error, OSError) else 'it is not UTF-8'}"
        raise OutcomesError(msg) from None
    try:
        whole = json.loads(text)
        cases = whole.get("cases", [whole]) if isinstance(whole, dict) else whole
    except ValueError:
        cases = [
            _parsed(file, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()
        ]
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        msg = f"{file}: each call must be an object"
        raise OutcomesError(msg)
    return cases


def _parsed(file: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        msg = f"{file}: line {number} is not JSON"
        raise OutcomesError(msg) from None


def digest(value: Any) -> str:
    """Return a fingerprint of a JSON value, in which ``1`` and ``1.0`` differ."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:24]
