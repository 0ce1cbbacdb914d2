"""Calls that a model's code makes through the ``execute`` of FastMCP's Code Mode, which passes on only the text of an envelope."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from fastmcp.exceptions import ToolError
from fastmcp.tools import ToolResult
from mcp.types import TextContent

from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.engine.contract import Decision
from mcp_lenient.refusal.envelope import META_KEY
from mcp_lenient.refusal.repair_record import repair_record
from mcp_lenient.refusal.text_block import compact_json
from mcp_lenient.types import Repair
from mcp_lenient.values.display import shown_name
from mcp_lenient.values.language import load_language, marked

ResultT = TypeVar("ResultT")
_FIX: Final = marked("As a JSON Patch of its params: {patch}.")
_RAN: Final = marked("These calls of the code have run before, do not repeat them: {names}.")
_MOST: Final = 50


@dataclass(slots=True)
class CodeRun:
    """The calls that one piece of code has made.

    Attributes:
        tool: The tool that runs it.
        ran: The tools that have run without an error, in order.
        repaired: Those whose calls were repaired, with the repairs.
        failures: The texts of calls that were refused or have failed, which are recorded.
    """

    tool: str
    ran: list[str] = field(default_factory=list)
    repaired: list[tuple[str, tuple[Repair, ...]]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def noted(self, name: str, decision: Decision, result: ToolResult, *, is_refused: bool) -> ToolResult:
        """Record a call and return its result; the text of a refused one becomes that of the code's exception.

        Raises:
            ToolError: For a refused call, where Code Mode would return the text to the code as a value.
        """
        if not is_refused:
            if not result.is_error:  # a guard may have denied it
                self.ran.append(name)
            if decision.applied_repairs:
                self.repaired.append((name, decision.applied_repairs))
            return result
        answer = (result.meta or {})[META_KEY]
        say = load_language("en" if decision.contract is None else decision.contract.policy.language)
        fixes = [
            violation["fixes"]
            for violation in answer["details"].get("violations", ())
            if "fixes" in violation
        ]
        parts = [answer["message"]]
        if fixes and "repeated" not in answer["details"]:
            parts.append(say(_FIX, patch=compact_json(fixes[0][0])))
        if self.ran:
            parts.append(say(_RAN, names=say.all_of([f"'{shown_name(tool)}'" for tool in self.ran[-_MOST:]])))
        text = say.sentences(*parts)
        self.failures.append(text)
        if not host.CODE_MODE_RAISES_ERRORS:
            raise ToolError(text)
        return ToolResult(content=[TextContent(type="text", text=text)], meta=result.meta, is_error=True)

    def explains(self, error: BaseException) -> bool:
        """Return whether the code failed because of a call that is recorded."""
        return any(failure in text for text in _texts(error) for failure in self.failures)

    def with_repairs_of_calls(self, result: ResultT) -> ResultT:
        """Return the result of the code with the repairs of its calls."""
        if not self.repaired or not isinstance(result, ToolResult) or not host.takes_metadata(result):
            return result
        calls = [
            {"tool": shown_name(name), **repair_record(repairs)} for name, repairs in self.repaired[:_MOST]
        ]
        meta: dict[str, Any] = dict(result.meta or {})
        meta[META_KEY] = {"repairs": [], **meta.get(META_KEY, {}), "calls": calls}
        return result.model_copy(update={"meta": meta})


def _texts(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield str(error)
        error = error.__cause__
