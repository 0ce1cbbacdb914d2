"""The cases as a conformance suite for any implementation, in any language.

``python -m benchmarks.conformance tests/cases -- COMMAND`` starts the command, writes one call per line to it,
reads one answer per line, and prints which answers are right.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mcp_lenient.errors import LenientError
from mcp_lenient.values.json_values import same_json

if TYPE_CHECKING:
    from typing_extensions import Self


Verdict = Literal["right", "corrupted", "refused", "miscoded", "unsupported"]
"""The verdict on an answer.

``right``: as expected. ``corrupted``: the tool ran with other arguments, or ran where it must not.
``refused``: refused although the call can be read only one way. ``miscoded``: correctly refused, but with a code
that is not acceptable. ``unsupported``: the implementation cannot express the schema or the declarations.
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """An implementation's answer to a call; ``codes`` is empty if it has none."""

    outcome: Literal["ran", "refused", "unsupported"]
    arguments: Any = None
    codes: frozenset[str] | None = None
    reason: str = ""


def verdict(case: Case, reply: Reply) -> Verdict:
    """Return the verdict on a reply.

    Args:
        case: The case.
        reply: The reply. Its arguments may include defaults of the schema's top-level properties or not.
    """
    if reply.outcome == "unsupported":
        return "unsupported"
    if case.expected.outcome == "refused":
        if reply.outcome == "ran":
            return "corrupted"
        return "right" if reply.codes is None or reply.codes <= case.expected.codes else "miscoded"
    if reply.outcome == "refused":
        return "refused"
    wanted, came = (_with_defaults(case.schema, each) for each in (case.expected.arguments, reply.arguments))
    return "right" if same_json(came, wanted) else "corrupted"


def _with_defaults(schema: Mapping[str, Any], arguments: Any) -> Any:
    if not isinstance(arguments, Mapping):
        return arguments
    declared = schema["properties"].items()
    return {**{name: node["default"] for name, node in declared if "default" in node}, **arguments}


_SCHEMA: Final = "schema.json"


class CasesError(LenientError):
    """A folder without cases, or a file of cases that cannot be read."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected outcome of a call.

    ``arguments`` are those that the tool gets: the repaired ones, or the sent ones if nothing may change. ``codes``
    are the violation codes that a refusal may have.
    """

    outcome: Literal["repaired", "unchanged", "refused"]
    arguments: Any = None
    codes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Case:
    """One call.

    Attributes:
        id: The name of the file and of the case.
        schema: The input schema of the tool.
        arguments: The arguments as sent.
        expected: The expected outcome.
        why: The reason, in one sentence.
        rule: The rule that applies or must not apply.
        destructive: Whether the tool is marked as destructive.
        declared: The ``aliases`` and the names to ``drop`` that the author or operator declared.
    """

    id: str
    schema: Mapping[str, Any]
    arguments: Any
    expected: Expected
    why: str
    rule: str | None = None
    destructive: bool = False
    declared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_trap(self) -> bool:
        """Return whether the call must be refused or stay unchanged."""
        return self.expected.outcome != "repaired"

    def request(self) -> dict[str, Any]:
        """Return the request for an adapter: everything but the expected outcome."""
        return {
            name: getattr(self, name) for name in ("id", "schema", "arguments", "destructive", "declared")
        }


def load_cases(folder: str | Path) -> tuple[Case, ...]:
    """Load all cases of a folder, file by file in the order of their names.

    Args:
        folder: The folder with the ``*.json`` files; ``schema.json`` is not read.

    Raises:
        CasesError: If there are none, or a file is invalid; names the file.
    """
    files = sorted(file for file in Path(folder).glob("*.json") if file.name != _SCHEMA)
    if not files:
        raise CasesError(f"no cases in {folder}: no *.json file is there")
    return tuple(case for file in files for case in _cases(file))


def _cases(file: Path) -> list[Case]:
    try:
        return [_case(row) for row in json.loads(file.read_text(encoding="utf-8"))["cases"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CasesError(f"{file} is no file of cases: {type(error).__name__}: {error}") from error


def _case(row: Mapping[str, Any]) -> Case:
    expected = {"arguments": row["arguments"], **row["expected"]}
    expected["codes"] = frozenset(expected.get("codes", ()))
    return Case(**{**row, "expected": Expected(**expected)})


_PATIENCE: Final = 30.0


class SubjectError(LenientError):
    """A program ended, was silent for too long, or wrote an invalid answer."""


class Subject:
    """A program that answers calls; a context manager that starts and ends it.

    Args:
        command: The program and its arguments.
        patience: The time limit for one answer, in seconds.
        folder: The folder that it runs in; by default the current one.
    """

    def __init__(
        self, command: Sequence[str], *, patience: float = _PATIENCE, folder: Path | None = None
    ) -> None:
        self._command = list(command)
        self._patience = patience
        self._folder = folder
        self._lines: queue.Queue[str | None] = queue.Queue()

    def __enter__(self) -> Self:
        """Start the program.

        Raises:
            SubjectError: If it cannot be started.
        """
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the caller's own command
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                cwd=self._folder,
            )
        except OSError as error:
            raise SubjectError(f"cannot start {self._command[0]}: {error.strerror or error}") from error
        # A pipe cannot be read with a time limit on every platform; a queue can.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        with suppress(OSError):  # unread input cannot be flushed
            self._stdin.close()

    @property
    def _stdin(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(None)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Write one line to the program, and return its answer.

        Raises:
            SubjectError: If there is no answer, or none to this request.
        """
        try:
            self._stdin.write(json.dumps(request) + "\n")
            self._stdin.flush()
            line = self._lines.get(timeout=self._patience)
        except queue.Empty:
            raise SubjectError(f"{request['id']}: no answer within {self._patience:g} s") from None
        except OSError:
            line = None
        if line is None:
            raise SubjectError(f"{request['id']}: the program ended")
        return _answer(line, request)

    def call(self, request: dict[str, Any]) -> Reply:
        """Return the program's reply to the request of a case.

        Raises:
            SubjectError: If there is no answer, or it does not follow the protocol.
        """
        answer = self.ask(request)
        outcome = answer.get("outcome")
        if outcome == "ran" and "arguments" in answer:
            return Reply("ran", answer["arguments"])
        if outcome == "refused":
            codes = answer.get("codes")
            return Reply("refused", codes=None if codes is None else frozenset(codes))
        if outcome == "unsupported":
            return Reply("unsupported", reason=str(answer.get("reason", "")))
        raise SubjectError(
            f"{request['id']}: the answer's outcome is none of ran (with arguments), refused, unsupported"
        )


def _answer(line: str, request: dict[str, Any]) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or answer.get("id") != request["id"]:
        raise SubjectError(
            f"{request['id']}: the program wrote what is no answer to this call: {line[:80]!r}"
        )
    return answer


Adapted: TypeAlias = Callable[[Mapping[str, Any]], Reply]
"""An implementation: it gets a request with ``schema``, ``arguments``, ``destructive`` and ``declared``."""


def serve(call: Adapted, requests: IO[str] = sys.stdin, answers: IO[str] = sys.stdout) -> None:
    """Answer one call per line until the requests end.

    Args:
        call: The implementation.
        requests: The input with the calls.
        answers: The output for the answers; nothing else may be printed there.
    """
    for line in requests:
        request = json.loads(line)
        answers.write(json.dumps({"id": request["id"], **_as_json(call(request))}) + "\n")
        answers.flush()


def _as_json(reply: Reply) -> dict[str, Any]:
    if reply.outcome == "ran":
        return {"outcome": "ran", "arguments": reply.arguments}
    if reply.outcome == "unsupported":
        return {"outcome": "unsupported", "reason": reply.reason}
    return {"outcome": "refused"} | ({} if reply.codes is None else {"codes": sorted(reply.codes)})
