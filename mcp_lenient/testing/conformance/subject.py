"""The suite's side: another program, one call and one answer a line."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Final

from mcp_lenient.errors import LenientError
from mcp_lenient.testing.conformance.cases import Case
from mcp_lenient.testing.conformance.verdict import Reply

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Subject", "SubjectError"]

_PATIENCE: Final = 30.0


class SubjectError(LenientError):
    """The program ended, was silent for too long, or wrote what is no answer."""


class Subject:
    """A program that answers calls; started when entered, ended when left.

    Args:
        command: The program and its arguments.
        patience: Seconds that one answer may take.
    """

    def __init__(self, command: Sequence[str], *, patience: float = _PATIENCE) -> None:
        self._command = list(command)
        self._patience = patience
        self._lines: queue.Queue[str | None] = queue.Queue()

    def __enter__(self) -> Self:
        """Start the program.

        Raises:
            SubjectError: When it cannot be started.
        """
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the caller's own command
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        except OSError as error:
            msg = f"cannot start {self._command[0]}: {error.strerror or error}"
            raise SubjectError(msg) from error
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
        with suppress(OSError):  # what was not taken any more cannot be flushed
            self._stdin.close()

    @property
    def _stdin(self) -> IO[str]:
        assert self._process.stdin is not None  # noqa: S101 - it was opened as a pipe
        return self._process.stdin

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it was opened as a pipe
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(None)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """One line to the program, and the line it answers.

        Raises:
            SubjectError: When no answer comes, or none to this request.
        """
        try:
            self._stdin.write(json.dumps(request) + "\n")
            self._stdin.flush()
            line = self._lines.get(timeout=self._patience)
        except queue.Empty:
            msg = f"{request['id']}: no answer within {self._patience:g} s"
            raise SubjectError(msg) from None
        except OSError:
            line = None
        if line is None:
            msg = f"{request['id']}: the program ended"
            raise SubjectError(msg)
        return _answer(line, request)

    def call(self, case: Case) -> Reply:
        """What the program makes of a case.

        Raises:
            SubjectError: When no answer comes, or none that follows the protocol.
        """
        answer = self.ask(case.request())
        outcome = answer.get("outcome")
        if outcome == "ran" and "arguments" in answer:
            return Reply("ran", answer["arguments"])
        if outcome == "refused":
            codes = answer.get("codes")
            return Reply("refused", codes=None if codes is None else frozenset(codes))
        if outcome == "unsupported":
            return Reply("unsupported", reason=str(answer.get("reason", "")))
        msg = f"{case.id}: the answer's outcome is none of ran (with arguments), refused, unsupported"
        raise SubjectError(msg)


def _answer(line: str, request: dict[str, Any]) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or answer.get("id") != request["id"]:
        msg = f"{request['id']}: the program wrote what is no answer to this call: {line[:80]!r}"
        raise SubjectError(msg)
    return answer
