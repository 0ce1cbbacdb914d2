"""As much repaired as can be, for a call that is refused: the envelope speaks of what is left."""

from __future__ import annotations

from itertools import chain
from typing import Any, Final

from mcp_lenient.engine.candidates import candidates, names_in
from mcp_lenient.engine.session import UNTOUCHED, RepairSession, Scope
from mcp_lenient.engine.walk import walk_array, walk_object
from mcp_lenient.schema.node import SchemaNode
from mcp_lenient.types import Candidate, Path, Repair, Tie
from mcp_lenient.values.json_values import json_type
from mcp_lenient.values.pointers import pointer

_SPELLINGS: Final = frozenset({"text_to_integer", "text_to_number"})


def repair_partially(value: dict[str, Any], session: RepairSession, scope: Scope | None) -> Candidate:
    """Return arguments with every repair that is certain by itself; ties are left to the session."""
    return _broken(session.plan.top, value, (), session, scope)


def _repaired(
    node: SchemaNode,
    value: Any,
    path: Path,
    session: RepairSession,
    scope: Scope | None,
    **known: bool,
) -> list[Candidate]:
    """Return the one candidate there is; of several that tie none, so that the value stays as it was sent."""
    if scope is UNTOUCHED:
        return [Candidate(value, 0)]
    found = candidates(node, value, path, session, scope, **known)
    if len(found) > 1:
        session.ties.append(Tie(path, tuple(found)))
        return [Candidate(value, 0)]
    return found or [_broken(node, value, path, session, scope)]


def _broken(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, scope: Scope | None
) -> Candidate:
    """Return a value that has no candidate, with what is in it repaired."""
    if node.is_union:
        branches = node.union.meant(value, exact_integers=session.exact)
        if len(branches) == 1:
            within = _repaired(branches[0], value, path, session, scope)[0] if path else None
            return within or _broken(branches[0], value, path, session, scope)
    elif node.is_object and isinstance(value, dict):
        names = names_in(node, value, session, scope)
        return walk_object(_repaired, node, value, path, session, scope, names)[0]
    elif node.is_array and isinstance(value, list):
        return walk_array(_repaired, node, value, path, session, scope)[0]
    return _text(node, value, path, session) if isinstance(value, str) else Candidate(value, 0)


def _text(node: SchemaNode, value: str, path: Path, session: RepairSession) -> Candidate:
    """Return what a text spells: a number that the schema does not allow, or a container not all of which is right."""
    for each in node.branches or (node,):
        rules = session.plan.at(each).values.get(str, ())
        spelled = ((rule, new) for rule, _, apply in rules if rule.name in _SPELLINGS for new in apply(value))
        held = (
            (rule, new) for rule, _, apply in rules if rule.reads_text for new in apply(value, session.texts)
        )
        for rule, new in chain(spelled, held):
            record = Repair(rule.name, pointer(path), "string", json_type(new))
            inner = _broken(each, new, path, session, None) if rule.reads_text else Candidate(new, 0)
            return Candidate(inner.value, 0, (record, *inner.repairs))
    return Candidate(value, 0)
