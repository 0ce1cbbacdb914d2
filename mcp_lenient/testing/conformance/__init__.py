"""The cases as a conformance suite for any implementation, in any language.

``python -m mcp_lenient.testing.conformance tests/cases -- COMMAND`` starts the command, writes it one call
a line and reads one answer a line, and prints which answers are right.
"""

from mcp_lenient.testing.conformance.suite import (
    Adapted,
    Case,
    CasesError,
    Expected,
    Reply,
    Subject,
    SubjectError,
    Verdict,
    load_cases,
    serve,
    verdict,
)

__all__ = [
    "Adapted",
    "Case",
    "CasesError",
    "Expected",
    "Reply",
    "Subject",
    "SubjectError",
    "Verdict",
    "load_cases",
    "serve",
    "verdict",
]
