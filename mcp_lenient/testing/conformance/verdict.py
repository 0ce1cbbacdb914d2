"""Whether an answer is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mcp_lenient.testing.conformance.cases import Case
from mcp_lenient.values import same_json

__all__ = ["Reply", "Verdict", "verdict"]

Verdict = Literal["right", "corrupted", "refused", "miscoded", "unsupported"]
"""What an answer is worth.

``right``: as expected. ``corrupted``: the tool ran with other arguments, or ran where it must not.
``refused``: refused though there is one reading. ``miscoded``: rightly refused, with a code that is not
among the acceptable. ``unsupported``: the implementation cannot express the schema or what is declared.
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """What an implementation made of a call: ``codes`` only where it names any."""

    outcome: Literal["ran", "refused", "unsupported"]
    arguments: Any = None
    codes: frozenset[str] | None = None
    reason: str = ""


def verdict(case: Case, reply: Reply) -> Verdict:
    """What the reply is worth.

    >>> from mcp_lenient.testing.conformance import Case, Expected, Reply, verdict
    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    >>> case = Case("numbers/text", schema, {"n": "5"}, Expected("repaired", {"n": 5}), "One reading.")
    >>> verdict(case, Reply("ran", {"n": 5})), verdict(case, Reply("ran", {"n": True}))
    ('right', 'corrupted')

    Args:
        case: What was asked.
        reply: What came back. A default that the schema declares for a name at the top may stand in its
            arguments or not.
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
