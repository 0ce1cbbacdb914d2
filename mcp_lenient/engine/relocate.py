"""Relocations: what was sent comes to its place as it is, before any value of it is looked at.

A key under its declared name, a container out of its text, arguments out of their wrapper: what is in them may
be just what the tool's own validator takes, in a spelling that only this validator knows. So it is asked again
after each round of relocations, and only what it then holds something against is read by the schema.
"""

from __future__ import annotations

from typing import Any

from mcp_lenient.engine.candidates import names_in
from mcp_lenient.engine.names import AS_SENT, names_right, without_injected
from mcp_lenient.engine.plan import Plan
from mcp_lenient.engine.session import UNTOUCHED, RepairSession, Scope
from mcp_lenient.engine.walk import distinct, walk_array, walk_object
from mcp_lenient.schema.node import SchemaNode
from mcp_lenient.types import Candidate, Path, Repair
from mcp_lenient.values.json_values import json_type
from mcp_lenient.values.pointers import pointer


def relocate(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, scope: Scope | None
) -> Candidate:
    """Return the value with every relocation that its issues ask for; without repairs where there is none."""
    if scope is None or scope is UNTOUCHED:
        return Candidate(value, 0)
    if node.is_union:
        branches = node.union.told(value, exact_integers=session.exact)
        if len(branches) == 1:
            return relocate(branches[0], value, path, session, scope)
    elif isinstance(value, dict):
        names = names_in(node, value, session, scope) if scope.names else AS_SENT
        other = None
        if not path and scope.names and not names_right(node, value, names):
            other = _other_arguments(value, session.plan)
        return other or walk_object(_relocated, node, value, path, session, scope, names)[0]
    elif isinstance(value, list):
        return walk_array(_relocated, node, value, path, session, scope)[0]
    return _out_of_text(node, value, path, session) if isinstance(value, str) else Candidate(value, 0)


def _other_arguments(arguments: dict[str, Any], plan: Plan) -> Candidate | None:
    """Return other arguments in place of these, where there is one way to; injected keys are left out first."""
    rest, _, dropped = without_injected(plan, arguments)
    found = [
        Candidate(content, 0, (*dropped, Repair(rule.name, "", "object", "object")))
        for rule, _, apply in plan.at(plan.top).values.get(dict, ())
        for content in apply(rest)
    ]
    return found[0] if len(distinct(found)) == 1 else None


def _out_of_text(node: SchemaNode, text: str, path: Path, session: RepairSession) -> Candidate:
    found = [
        Candidate(new, 0, (Repair(rule.name, pointer(path), "string", json_type(new)),))
        for each in node.branches or (node,)
        for rule, _, apply in session.plan.at(each).values.get(str, ())
        if rule.reads_text
        for new in apply(text, session.texts)
    ]
    return found[0] if len(distinct(found)) == 1 else Candidate(text, 0)


def _relocated(
    node: SchemaNode, value: Any, path: Path, session: RepairSession, scope: Scope | None, **_known: bool
) -> list[Candidate]:
    return [relocate(node, value, path, session, scope)]
