"""Assertions about one call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import ndiff
from typing import Any, Final

from pydantic import BaseModel

from mcp_lenient.rules.policy import Policy
from mcp_lenient.testing.trial import Attempt, Connection, Sent, ServerOrTool, in_new_loop
from mcp_lenient.types import Repair

_WIDTH: Final = 100


def assert_repairs(
    tool_or_server: ServerOrTool,
    sent: Sent,
    wanted: Mapping[str, Any],
    *,
    tool: str | None = None,
    policy: Policy | None = None,
) -> tuple[Repair, ...]:
    """Assert that a nearly right call reaches a tool exactly as the right call does.

    Both calls are sent to a real server and stopped before the tool's body. The right one must pass unchanged, and
    both must reach the function with equal values of the same types.

    >>> def store(content: str, tags: list[str] | None = None) -> None: ...
    >>> assert_repairs(store, {"content": "a", "tags": '["b"]'}, {"content": "a", "tags": ["b"]})
    (Repair(rule='json_text_to_array', pointer='/tags', before='string', after='array'),)

    Args:
        tool_or_server: A server, which is tested as it is; or a tool or function, decorated or not, which
            is tested on a server of its own with :class:`mcp_lenient.LenientMiddleware`.
        sent: The arguments as a caller sends them; a string if they are sent as one text.
        wanted: The right arguments, under the names that the tool publishes.
        tool: The tool's name, if the server has several.
        policy: The policy of a middleware to add in front of the server.

    Returns:
        The repairs; empty if the tool accepts the call as sent.

    Raises:
        AssertionError: When the call is refused or arrives differently; shows both calls and the difference.
        ValueError: When there is no such tool.
    """
    __tracebackhide__ = True
    name, (right, got) = _attempts(tool_or_server, (wanted, sent), tool, policy)
    if right.reached is None or right.repairs:
        sentence = f"The wanted call of {name} is itself wrong: {_fate(right)}"
        raise _failure(sentence, sent=sent, wanted=wanted)
    if got.reached is None:
        sentence = f"{name} did not receive the wanted arguments: {_fate(got)}"
        raise _failure(sentence, sent=sent, wanted=wanted, envelope=got.envelope)
    if got.reached.is_same(right.reached):
        return got.repairs
    sentence = f"{name} received something other than the wanted arguments: {_fate(got)}"
    raise _failure(sentence, sent=sent, wanted=right.reached.shown, got=got.reached.shown)


def assert_refuses(
    tool_or_server: ServerOrTool,
    sent: Sent,
    *,
    code: str | None = None,
    parameter: str | None = None,
    tool: str | None = None,
    policy: Policy | None = None,
) -> Mapping[str, Any]:
    """Assert that a call is refused with the envelope and the tool is not run.

    >>> def store(content: str, tags: list[str] | None = None) -> None: ...
    >>> assert_refuses(store, {"content": "a", "tags": 5}, code="INVALID_TAGS_TYPE")["status"]
    'error'

    Args:
        tool_or_server: As for :func:`assert_repairs`.
        sent: As for :func:`assert_repairs`.
        code: The ``error_code`` of the envelope.
        parameter: A parameter that one of its violations must name.
        tool: As for :func:`assert_repairs`.
        policy: As for :func:`assert_repairs`.

    Returns:
        The envelope.

    Raises:
        AssertionError: When the call reaches the tool or is refused differently; shows the result.
        ValueError: When there is no such tool.
    """
    __tracebackhide__ = True
    name, (got,) = _attempts(tool_or_server, (sent,), tool, policy)
    if got.envelope is None:
        reached = None if got.reached is None else got.reached.shown
        sentence = f"{name} did not refuse the call: {_fate(got)}"
        raise _failure(sentence, sent=sent, got=reached)
    envelope = got.envelope
    if code is not None and envelope["error_code"] != code:
        sentence = f"{name} refused the call with {envelope['error_code']} instead of {code}"
        raise _failure(sentence, sent=sent, envelope=envelope)
    named = [violation.get("parameter") for violation in envelope["details"].get("violations", ())]
    if parameter is not None and parameter not in named:
        sentence = f"{name} refused the call for {', '.join(map(str, named)) or 'no parameter'} instead of {parameter}"
        raise _failure(sentence, sent=sent, envelope=envelope)
    return envelope


def _attempts(
    subject: ServerOrTool, calls: tuple[Sent, ...], tool: str | None, policy: Policy | None
) -> tuple[str, list[Attempt]]:
    async def work() -> tuple[str, list[Attempt]]:
        async with Connection(subject, policy) as connection:
            name = tool if tool is not None else _only(await connection.tool_names())
            async with connection.trial(name) as trial:
                return name, [await trial.attempt(sent) for sent in calls]

    return in_new_loop(work)


def _only(names: list[str]) -> str:
    if len(names) != 1:
        msg = f"Name the tool with tool=...; the server has {', '.join(names) or 'none'}."
        raise ValueError(msg)
    return names[0]


def _fate(attempt: Attempt) -> str:
    if attempt.envelope is not None:
        return f"it was refused with {attempt.envelope['error_code']}."
    if attempt.reached is None:
        return f"it was answered without the envelope: {attempt.answer}"
    if not attempt.repairs:
        return "it went through as it was sent."
    repairs = ", ".join(
        f"{repair.rule} at {repair.pointer or 'the top'} ({repair.before} to {repair.after})"
        for repair in attempt.repairs
    )
    return f"it was repaired by {repairs}."


def _failure(sentence: str, **calls: Any) -> AssertionError:
    shown = {name: value for name, value in calls.items() if value is not None}
    parts = [sentence, *(f"{name}: {_on_one_line(value)}" for name, value in shown.items())]
    if "wanted" in shown and "got" in shown:
        lines = ndiff(_written(shown["wanted"]).splitlines(), _written(shown["got"]).splitlines())
        parts += ["difference (- wanted, + got):", *(line.rstrip() for line in lines)]
    return AssertionError("\n".join(parts))


def _on_one_line(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False, default=_plain)
    return written if len(written) <= _WIDTH else _written(value)


def _written(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, BaseModel) else repr(value)
