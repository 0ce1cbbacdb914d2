"""The loop of every judge: read the recorded answers of one file, and check them again with other arguments.

This file runs in the benchmark's environment, so it only needs the standard library. A request with ``op: read`` is
answered by ``answers``: of each its ``id``, whether it is ``valid``, how it was ``written``, and its ``calls`` with ``arguments`` and with the
``parameters`` of the function (null for a call that cannot be sent as JSON, or of an unknown function). A request
with ``op: check`` is answered by ``valid``: whether the answer at this position is right with other arguments.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Read = Callable[[Mapping[str, Any]], Iterator["Answer"]]
"""Takes a request with ``file``, ``model`` and ``category``."""


@dataclass
class Answer:
    """A recorded answer.

    Attributes:
        id: Its name in the benchmark's score file.
        functions: The functions that the model could call, as the benchmark describes them.
        decode: The benchmark's own decoder of this answer.
        check: The benchmark's own checker of decoded calls.
        result: What the model answered: a text, or the calls of an API for tool calls.
    """

    id: int | str
    functions: Sequence[Mapping[str, Any]]
    decode: Callable[[], Any]
    check: Callable[[Any], bool]
    result: Any
    decoded: Any = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Decode it; the benchmark counts what cannot be decoded as wrong."""
        try:
            decoded = self.decode()
        except Exception:  # noqa: BLE001 - as the benchmark does
            return
        if isinstance(decoded, list) and all(isinstance(call, dict) for call in decoded):
            self.decoded = decoded

    def valid(self, replaced: Sequence[Any] = ()) -> bool:
        """Return the benchmark's verdict; ``replaced`` has a call's new arguments, or null for those recorded."""
        if self.decoded is None:
            return False
        calls = [
            call if arguments is None else {next(iter(call)): arguments}
            for call, arguments in zip(self.decoded, replaced or [None] * len(self.decoded), strict=True)
        ]
        try:
            return bool(self.check(calls))
        except Exception:  # noqa: BLE001 - a value that the checker cannot compare is not the right one
            return False

    def told(self) -> dict[str, Any]:
        """Return the verdict and the calls of the answer."""
        calls = [self._call(call) for call in self.decoded or ()]
        return {"id": self.id, "valid": self.valid(), "written": self._written(), "calls": calls}

    def _written(self) -> str:
        """Return how the model wrote its calls: a text in Python has a bracket after the name of a function."""
        if not isinstance(self.result, str):
            return "tool calls"
        names = [name for call in self.decoded or () for name in _names(next(iter(call), ""))]
        text = self.result.replace("\\", "")  # some models escape underscores, as in Markdown
        return "Python in text" if any(f"{name}(" in text for name in names) else "JSON in text"

    def _call(self, call: Mapping[str, Any]) -> dict[str, Any] | None:
        name, arguments = next(iter(call.items()), ("", None))
        function = next((each for each in self.functions if name in _names(each["name"])), None)
        if function is None or not isinstance(arguments, dict) or not _is_json(arguments):
            return None
        return {"parameters": function["parameters"], "arguments": arguments}


def _names(name: str) -> tuple[str, str]:
    """Return a function's name, and how it is sent to APIs that allow no dot."""
    return name, name.replace(".", "_")


def _is_json(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError):
        return False


def lines(file: str | Path) -> list[dict[str, Any]]:
    """Return the objects of a file with one JSON object a line."""
    with Path(file).open(encoding="utf-8") as rows:
        return [json.loads(row) for row in rows]


def serve(read: Read) -> None:
    """Answer requests until they end."""
    output, sys.stdout = sys.stdout, sys.stderr  # what the benchmark prints is not an answer
    answers: list[Answer] = []
    reply: dict[str, Any]
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "read":
            answers, reply = [], {}
            with suppress(Exception):  # what the benchmark's code cannot read is no answer
                answers = list(read(request))
                reply = {"answers": [answer.told() for answer in answers]}
        else:
            reply = {"valid": answers[request["at"]].valid(request["calls"])}
        output.write(json.dumps({"id": request["id"], **reply}) + "\n")
        output.flush()
