"""Explain a logged call: the log holds no values, but places, rules and codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fastmcp import Context, FastMCP

from mcp_lenient.devtools.explain.steps import Explanation, step, tool_name, where
from mcp_lenient.refusal.wording import description, either, expected
from mcp_lenient.rules import DEFAULT_RULES
from mcp_lenient.rules.catalogue import FAMILY_OF
from mcp_lenient.schema.node import FormReader, Forms, SchemaTree
from mcp_lenient.telemetry.events import CallEvent
from mcp_lenient.values.json_values import tokens_of
from mcp_lenient.values.names import near

_TIERS: Final = {rule.name: rule.tier for rule in DEFAULT_RULES}

_EVENTS: Final = {
    "call_repaired": "The call was repaired, and the tool was run.",
    "call_rejected": "The call was refused with the envelope; the tool was not run.",
    "call_accepted": "The tool took the call as it was sent.",
    "call_observed": "The call went on as it was sent; this is what repair mode would have done.",
    "call_forwarded": "The call could not be repaired, and went on as it was sent.",
    "call_refused_upstream": "The call went on to the server behind the proxy, which refused its arguments.",
    "call_unanswered": "The call went on to the server behind the proxy, which did not answer.",
}

_CODES: Final = {
    "type": "a value of another JSON type, in a form that has no single reading",
    "enum": "a value that is none of the allowed ones, nor one of them in another spelling",
    "value": "a value of the right type that the tool's own check refuses",
    "range": "a number outside the allowed range; numbers are never moved into it",
    "length": "too much or too little of it; nothing is cut off or filled up",
    "pattern": "a text that does not have the required form",
    "format": "a text that is not in the required format",
    "missing": "nothing: the name was left out, and no other name stood for it with certainty",
    "unknown": "a name that the tool does not have, and that is nobody's certain slip",
    "ambiguous": "a value that can be read in two ways, equally well",
    "size": "more than the limits allow, so that nothing of it was looked at",
}


async def explain_event(server: FastMCP, event: CallEvent) -> Explanation:
    """Explain a line of the log: where, by which rule, and what was likely sent.

    Args:
        server: The server with the tool, within whose context (a connected client) this is called.
        event: The event, as :func:`mcp_lenient.telemetry.events.read_event` gives it.
    """
    async with Context(fastmcp=server):
        tool = await server.get_tool(event.tool)
    steps = [step("What was logged", *_facts(event))]
    if tool is None:
        steps.append(step("The tool", f"The server has no tool {tool_name(event.tool)} (any more)."))
    reader = SchemaTree({} if tool is None else tool.parameters).reader
    steps += [
        step(
            f"Repaired at {where(each.pointer)}",
            *_repaired(reader, each.rule, each.pointer, f"{each.before} to {each.after}"),
        )
        for each in event.repairs
    ]
    steps += [
        step(f"Wrong at {where(each.pointer)}", *_wrong(reader, each.code, each.pointer))
        for each in event.violations
    ]
    return Explanation(event.tool, "logged", tuple(steps))


def _facts(event: CallEvent) -> Iterator[str]:
    yield f"{event.event} of {tool_name(event.tool)}" + (
        f", at {event.timestamp.isoformat()}" if event.timestamp else ""
    )
    yield _EVENTS[event.event]
    if event.client_name is not None:
        yield f"The client: {event.client_name} {event.client_version or ''}".rstrip() + "."
    if event.error_code is not None:
        yield f"The envelope's code: {event.error_code}."
    for name, total, listed in (
        ("repairs", event.repair_count, len(event.repairs)),
        ("violations", event.violation_count, len(event.violations)),
    ):
        if total > listed:
            yield f"Of {total} {name} the log lists {listed}."


def _repaired(reader: FormReader, rule: str, pointer: str, change: str) -> Iterator[str]:
    family = FAMILY_OF.get(rule)
    if family is None:
        yield f"{rule}: {change}; declared by the author or operator."
    else:
        yield f"{rule} (tier {_TIERS[rule]}): {change}."
        yield f"Likely sent: {family.rules[rule]}."
        yield f"Its guards: {family.unless}."
    yield from _place_words(reader, pointer)


def _wrong(reader: FormReader, code: str, pointer: str) -> Iterator[str]:
    yield f"{code}. Likely sent: {_CODES[code]}."
    yield from _place_words(reader, pointer)


def _place_words(reader: FormReader, pointer: str) -> Iterator[str]:
    """Describe a place by today's schema, which may differ from the schema at the time of the call."""
    tokens = tokens_of(pointer)
    here = _forms_at(reader, tokens)
    if here:
        words = expected(here)
        yield f"The schema expects {words} there." if words else "The schema takes anything there."
        said = description(here)
        if said:
            yield f"Its description: {said}"
    elif tokens:
        names = list(properties_of(reader, tokens[:-1]))
        likely = near(tokens[-1], names)
        meant = f"; the nearest is {either(likely[:3])}" if likely else ""
        yield (
            f"The schema declares no such name{meant}." if names else "The schema says nothing of this place."
        )


def properties_of(reader: FormReader, tokens: list[str]) -> dict[str, object]:
    """Return the properties declared at a place, in any of its forms."""
    return {name: sub for form in _forms_at(reader, tokens) for name, sub in form.properties.items()}


def _forms_at(reader: FormReader, tokens: list[str]) -> Forms:
    here = reader.top
    for token in tokens:
        below = tuple(found for form in here for found in form.child(token))
        if not below and token.isdecimal():
            below = tuple(found for form in here for found in form.child(int(token)))
        here = below
    return here
