"""Write an envelope into the text of a result, without what its message already says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

compact_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Write a value as JSON without spaces."""


def text_block(answer: Mapping[str, Any]) -> str:
    """Write an envelope as JSON that repeats nothing."""
    details = answer["details"]
    if "repeated" in details:
        details = {"repeated": details["repeated"]}
    elif details.get("violations"):
        details = _without_repetition(details, answer["message"])
    elif answer["error_code"] == "UNKNOWN_TOOL":
        details = {name: value for name, value in details.items() if name != "tools"}
    # The message of a call that may be corrected says so.
    implied = ("recovery", "retryable") if answer.get("recovery") == "correctable" else ()
    return compact_json({key: answer[key] for key in answer if key not in implied} | {"details": details})


def _without_repetition(details: Mapping[str, Any], message: str) -> dict[str, Any]:
    shorter = {**details}
    if f"'{details.get('tool')}'" in message:
        del shorter["tool"]
    if not details["repairs"]:
        del shorter["repairs"]
    names = (*details["parameters"]["required"], *details["parameters"]["optional"])
    is_about_names = any(entry["code"] in ("missing", "unknown") for entry in details["violations"])
    if not is_about_names or all(f"'{name}'" in message for name in names):
        del shorter["parameters"]
    fixes_above: list[Any] = []
    entries = [_shorter_entry(entry, message, details, fixes_above) for entry in details["violations"]]
    for holder in (shorter, *entries):
        if "received_value" in holder and json.dumps(holder["received_value"], ensure_ascii=False) in message:
            del holder["received_value"]
    return {**shorter, "violations": entries}


def _shorter_entry(
    violation: Mapping[str, Any], message: str, details: Mapping[str, Any], fixes_above: list[Any]
) -> dict[str, Any]:
    """Return a violation without what the message, the details or its pointer say, and without fixes of one above it."""
    redundant = {key for key in violation if key in details}
    # The violation of the name that was sent says that it is this missing one.
    if violation["message"] in message or (violation["code"] == "missing" and "fixes" in violation):
        redundant.add("message")
    if violation["pointer"] == f"/{violation['parameter']}":
        redundant.add("pointer" if "parameter" in details else "parameter")
    if violation.get("fixes", ...) in fixes_above:
        redundant.add("fixes")
    fixes_above.append(violation.get("fixes"))
    return {key: value for key, value in violation.items() if key not in redundant}
