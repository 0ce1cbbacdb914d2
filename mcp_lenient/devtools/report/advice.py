"""Derive advice from the log, each with the number of calls behind it."""

from __future__ import annotations

import json
import keyword
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from mcp_lenient.devtools.printing import count
from mcp_lenient.devtools.report.database import Database
from mcp_lenient.devtools.report.model import Advice, AdviceKind
from mcp_lenient.devtools.report.wording import client as shown_client
from mcp_lenient.rules.rules import WRAPPERS
from mcp_lenient.types import ViolationCode
from mcp_lenient.values.language import Language

_FEWEST: Final = 3
"""How many calls an advice needs."""
_FREQUENT: Final = 5
"""How many calls make a mistake frequent."""
_MOST_OF_A_KIND: Final = 3
_MOST_NAMED: Final = 3
_MOST_NAMES: Final = 5
_BETWEEN: Final = "\x1f"
_TOOLS: Final = 3
_SAY: Final = "Let its description say what it takes, with an example."
WORDS: Final[Mapping[ViolationCode, tuple[AdviceKind, str, str]]] = {
    "type": ("refused_most", "the wrong JSON type", _SAY),
    "enum": ("describe_format", "none of the allowed values", _SAY),
    "value": ("refused_most", "a value that the tool's own check refuses", _SAY),
    "range": ("describe_format", "a number out of bounds", _SAY),
    "length": ("describe_format", "the wrong length", _SAY),
    "pattern": ("describe_format", "the wrong form", _SAY),
    "format": ("describe_format", "the wrong format", _SAY),
    "missing": (
        "required_parameter",
        "nothing there",
        "Give it a default, or have its description say where the value comes from.",
    ),
    "unknown": (
        "refused_most",
        "a name that is not known there",
        "See which name is meant, and declare it with aliases() or say it in the description.",
    ),
    "ambiguous": (
        "two_readings",
        "two ways to read it",
        "Declare which is meant, with split() or a normalizer of your own.",
    ),
    "size": ("too_large", "too much to be looked at", "Raise Policy(limits=...), or take files."),
}
"""The kind of advice for each kind of mistake, what is wrong, and what to do about it."""
_NULL: Final[tuple[AdviceKind, str, str]] = (
    "nullable_parameter",
    "null",
    "Let the type take null, or say what null means with null_as().",
)
_OF_SEVERAL: Final = frozenset({"describe_format", "required_parameter"})
"""The kinds that need the same mistake of several clients."""
_PAIRED: Final = """
    SELECT list, any_value(place) FILTER (code = 'missing') AS missing,
        any_value(place) FILTER (code = 'unknown') AS other
    FROM violations WHERE code IN ('missing', 'unknown')
    GROUP BY list
    HAVING count(*) FILTER (code = 'missing') = 1 AND count(*) FILTER (code = 'unknown') = 1 AND sum(times) = 2
"""
# A call with one parameter missing and one unknown name: the name likely means the parameter, unless it wraps
# the whole arguments.
_ALIASES: Final = f"""
    WITH paired AS ({_PAIRED}),
    named AS (
        SELECT tool, substr(missing, 2) AS parameter, substr(other, 2) AS name, sum(times) AS calls
        FROM shapes JOIN paired ON shapes.violations = paired.list
        WHERE failed AND regexp_full_match(missing, '/[^/]+') AND regexp_full_match(other, '/[^/]+')
            AND other NOT IN ({", ".join(f"'/{name}'" for name in sorted(WRAPPERS))})
        GROUP BY ALL HAVING calls >= {_FEWEST}
    )
    SELECT tool, parameter, list(name ORDER BY calls DESC, name), CAST(sum(calls) AS BIGINT) AS calls
    FROM named GROUP BY tool, parameter ORDER BY calls DESC, tool, parameter
"""
_UNPARSED_TEXTS: Final = f"""
    SELECT tool, place, CAST(sum(shapes.times) AS BIGINT) AS calls
    FROM shapes JOIN hints ON shapes.hints = hints.list WHERE hints.code = 'json_text_kept'
    GROUP BY tool, place HAVING calls >= {_FEWEST} ORDER BY calls DESC, tool, place
"""
_JSON_AS_TEXT: Final = f"""
    SELECT client_name, client_version, CAST(sum(calls) AS BIGINT) AS calls, count(DISTINCT tool) AS tools,
        CAST(coalesce(sum(calls) FILTER (place = ''), 0) AS BIGINT) AS whole,
        (SELECT CAST(sum(times) AS BIGINT) FROM shapes WHERE shapes.who = found.who) AS of
    FROM (
        SELECT DISTINCT * EXCLUDE (rule, after, uses) FROM repaired
        WHERE before = 'string' AND after IN ('array', 'object')
            AND regexp_matches(rule, '^(json|json5|python)_text_to_')
    ) AS found
    GROUP BY who, client_name, client_version HAVING calls >= {_FEWEST}
    ORDER BY calls DESC, client_name, client_version
"""
# A call counts once for a place, however many items of a list are wrong there.
_MISTAKES: Final = f"""
    SELECT tool, place, code, CAST(sum(times) AS BIGINT) AS calls, list(DISTINCT who ORDER BY who),
        list_sort(list_distinct(flatten(list(came))))
    FROM (
        SELECT * EXCLUDE (received), coalesce(list(DISTINCT received) FILTER (received IS NOT NULL), []) AS came
        FROM faults WHERE code IS NOT NULL
            AND NOT (code = 'missing' AND violations IN (SELECT list FROM ({_PAIRED})))
        GROUP BY ALL
    )
    GROUP BY tool, place, code HAVING calls >= {_FEWEST} ORDER BY calls DESC, tool, code, place
"""
_INJECTED: Final = f"""
    SELECT client_name, substr(place, 2) AS name, CAST(sum(times) AS BIGINT) AS calls, count(DISTINCT tool) AS tools
    FROM faults AS one
    WHERE code = 'unknown' AND regexp_full_match(place, '/[^/]+') AND client_name IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM violations WHERE list = one.violations AND code = 'missing')
    GROUP BY client_name, place HAVING calls >= {_FEWEST} AND tools >= {_TOOLS}
    ORDER BY calls DESC, client_name, place
"""
_UNKNOWN_TOOLS: Final = f"""
    SELECT tool, CAST(sum(times) AS BIGINT) AS calls, count(DISTINCT who) FROM shapes
    WHERE failed AND error_code = 'UNKNOWN_TOOL' GROUP BY tool HAVING calls >= {_FEWEST} ORDER BY calls DESC, tool
"""
_REPEATERS: Final = f"""
    SELECT client_name, client_version, CAST(sum(times) AS BIGINT) AS calls, count(*) AS callers, max(times) AS most
    FROM counted_mistakes WHERE subject IS NOT NULL AND times >= {2 * _FEWEST}
    GROUP BY ALL ORDER BY calls DESC, client_name, client_version
"""


def advice(database: Database, most: int) -> tuple[Advice, ...]:
    """Return the advice, most frequent first."""
    pieces = (advise(*row) for sql, advise in _ADVISED for row in database.run(sql))
    advice = [piece for piece in pieces if piece is not None]
    advice += _mistakes(database, advice)
    # One frequent kind must not hide the others.
    of_kind: Counter[str] = Counter()
    first: list[Advice] = []
    for piece in sorted(advice, key=lambda piece: -piece.calls):
        of_kind[piece.kind] += 1
        if of_kind[piece.kind] <= _MOST_OF_A_KIND:
            first.append(piece)
    return tuple(first[:most])


def _exact(name: str) -> bool:
    """Return whether a name in the log is exactly the one sent, neither escaped nor cut."""
    return bool(name) and not set("\\…~*") & set(name)


def _quoted(name: str) -> str:
    """Quote a name so that Python, YAML and TOML all read it."""
    return json.dumps(name, ensure_ascii=False)


def _lenient(parameter: str, declared: str) -> str:
    if parameter.isidentifier() and not keyword.iskeyword(parameter):
        return f"@lenient({parameter}={declared})"
    return f"@lenient(**{{{_quoted(parameter)}: {declared}}})"


def _definition(tool: str, parameter: str, entry: str) -> str | None:
    if not _exact(tool):
        return None
    return f"{_quoted(tool)}: {{parameters: {{{_quoted(parameter)}: {{{entry}}}}}}}"


def _named(clients: Sequence[str]) -> str:
    named = [_client(*who.split(_BETWEEN)) for who in clients[:_MOST_NAMED]]
    rest = len(clients) - len(named)
    return Language().all_of([*named, count(rest, "other client")] if rest else named)


def _client(name: str | None, version: str | None = None) -> str:
    return shown_client(name or "an unnamed client", version)


def _alias(tool: str, parameter: str, others: Sequence[str], calls: int) -> Advice | None:
    names = [name for name in others if _exact(name)][:_MOST_NAMES]
    if not names or not _exact(parameter):
        return None
    listed = ", ".join(map(_quoted, names))
    return Advice(
        kind="declare_alias",
        calls=calls,
        text=f"{count(calls, 'call')} of {tool} had no {parameter} but had {' or '.join(names)}. "
        "If it means the same, declare it as an alias.",
        tool=tool,
        parameter=parameter,
        python=_lenient(parameter, f"aliases({listed})"),
        definition=_definition(tool, parameter, f"aliases: [{listed}]"),
    )


def _unparsed_text(tool: str, place: str, calls: int) -> Advice:
    parameter = place[1:]
    plain = "/" not in parameter and _exact(parameter)
    return Advice(
        kind="parse_json",
        calls=calls,
        text=f"{count(calls, 'call')} of {tool} sent JSON text for {place}, which also takes text, so it "
        "stayed text. If a list or object was meant, mark it with parse_json().",
        tool=tool,
        parameter=place,
        python=_lenient(parameter, "parse_json()") if plain else None,
        definition=_definition(tool, parameter, "parse_json: true") if plain else None,
    )


def _json_as_text(
    name: str | None, version: str | None, calls: int, tools: int, whole: int, of: int
) -> Advice:
    client, all_of_it = (
        _client(name, version),
        f", {whole:,} times all arguments in one text" if whole else "",
    )
    text = (
        f"{client} sent lists or objects as text that holds JSON {count(calls, 'time')} in its "
        f"{count(of, 'logged call')}, to {count(tools, 'tool')}{all_of_it}. Each was read as JSON. Consider reporting this "
        "to the client's vendor."
    )
    return Advice(kind="json_as_text", calls=calls, text=text, client=client)


def _injected(client: str, name: str, calls: int, tools: int) -> Advice | None:
    text = (
        f"{client} adds {name} to the arguments of {count(tools, 'tool')} that have no such "
        f"parameter, in {count(calls, 'call')}. If they do not need it, drop it: "
        f"Policy(drop=[{_quoted(name)}]), or drop_unknown: [{_quoted(name)}] in a file."
    )
    advised = Advice(kind="drop_unknown", calls=calls, text=text, client=client, parameter=name)
    return advised if _exact(name) else None


def _unknown_tool(tool: str, calls: int, clients: int) -> Advice:
    text = f"{count(clients, 'client')} called {tool}, which does not exist, {count(calls, 'time')}. Look for an old name in prompts and agents."
    return Advice(kind="unknown_tool", calls=calls, text=text, tool=tool)


def _repeater(name: str | None, version: str | None, calls: int, callers: int, most: int) -> Advice:
    client = _client(name, version)
    text = (
        f"Users of {client} repeat refused calls unchanged: {count(callers, 'case')}, "
        f"one of them {most:,} times. Check whether the client shows the error text to its model."
    )
    return Advice(kind="repeated_mistake", calls=calls, text=text, client=client)


_ADVISED: Final[Sequence[tuple[str, Callable[..., Advice | None]]]] = (
    (_ALIASES, _alias),
    (_UNPARSED_TEXTS, _unparsed_text),
    (_JSON_AS_TEXT, _json_as_text),
    (_INJECTED, _injected),
    (_UNKNOWN_TOOLS, _unknown_tool),
    (_REPEATERS, _repeater),
)
"""The statements that find what to advise, and what is advised for each of their rows."""


def _mistakes(database: Database, others: Sequence[Advice]) -> Iterator[Advice]:
    """Yield mistakes that no other advice covers, those without a kind of their own if they are among the most frequent."""
    tools: set[str] = set()
    for number, (tool, place, code, calls, clients, came) in enumerate(database.run(_MISTAKES)):
        if any(_is_about(other, tool, place, code) for other in others):
            continue
        kind, wrong, remedy = _NULL if code == "type" and came == ["null"] else WORDS[code]
        if kind in _OF_SEVERAL and len(clients) == 1:
            kind = "refused_most"
        if kind == "refused_most":
            if tool in tools or calls < _FREQUENT or number >= _MOST_OF_A_KIND:
                continue
            tools.add(tool)
            wrong += f" (came: {', '.join(came)})" if came and code == "type" else ""
            wrong += ", one of the most frequent mistakes in this log"
            remedy += " Run mcp-lenient explain SERVER --event LINE to see what was likely sent."
        yield Advice(
            kind=kind,
            calls=calls,
            text=f"{count(calls, 'call')} of {tool} by {_named(clients)} failed at "
            f"{place or 'the arguments as a whole'}, with {wrong}. {remedy}",
            tool=tool,
            parameter=place,
            client=_named(clients) if len(clients) == 1 else None,
        )


def _is_about(advice: Advice, tool: str, place: str, code: ViolationCode) -> bool:
    if advice.kind == "drop_unknown":
        return code == "unknown" and place == f"/{advice.parameter}"
    if advice.tool != tool:
        return False
    is_name = advice.kind == "declare_alias" and code == "unknown" and place.count("/") == 1
    return is_name or place in (advice.parameter, f"/{advice.parameter}")
