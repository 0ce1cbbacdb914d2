"""Moves: what was sent comes to its place as it is, before any value of it is looked at.

A key under its declared name, a container out of its text, arguments out of their wrapper: what is in them may
be just what the tool's own validator takes, in a spelling that only this validator knows. So it is asked again
after each round of moves, and only what it then holds something against is read by the schema.
"""

from __future__ import annotations

from typing import Any

from mcp_lenient.engine.candidates import Change, distinct, names_in
from mcp_lenient.engine.names import AS_SENT, names_right, without_injected
from mcp_lenient.engine.plan import Plan
from mcp_lenient.engine.session import UNTOUCHED, RepairSession, Scope, scope_below
from mcp_lenient.schema.node import SchemaNode
from mcp_lenient.types import Path, Repair
from mcp_lenient.values.json_values import json_type
from mcp_lenient.values.pointers import pointer


def moved(node: SchemaNode, value: Any, path: Path, run: RepairSession, scope: Scope) -> Change:
    """The value with every move that its faults ask for; its repairs are empty where there is none."""
    if scope is UNTOUCHED:
        return Change(value)
    if node.is_union:
        branches = node.union.told(value, exact_integers=run.exact)
        if len(branches) == 1:
            return moved(branches[0], value, path, run, scope)
    elif isinstance(value, dict):
        return _moved_object(node, value, path, run, scope)
    elif isinstance(value, list):
        return _moved_items(node, value, path, run, scope)
    return _out_of_text(node, value, path, run) if isinstance(value, str) else Change(value)


def _moved_object(
    node: SchemaNode, value: dict[str, Any], path: Path, run: RepairSession, scope: Scope
) -> Change:
    names = names_in(node, value, run, scope) if scope.names else AS_SENT
    if not path and scope.names and not names_right(node, value, names):
        content = _content(value, run.plan)
        if content is not None:
            return content
    _, repairs = names.records(value, path)
    changed: dict[str, Any] = {}
    for key, sent in value.items():
        if key in names.dropped:
            continue
        rename = names.renamed.get(key)
        if rename is not None:
            repairs += (Repair(rename.rule, pointer((*path, key)), json_type(sent), json_type(sent)),)
            changed[rename.name] = sent
            continue
        child, below = node.property(key), scope_below(scope, key)
        inner = (
            Change(sent) if child is None or below is None else moved(child, sent, (*path, key), run, below)
        )
        repairs += inner.repairs
        changed[key] = inner.value
    return Change(changed, repairs)


def _content(arguments: dict[str, Any], plan: Plan) -> Change | None:
    """Other arguments in place of these, where there is one such reading; injected keys are left out first."""
    rest, _, dropped = without_injected(plan, arguments)
    found = [
        Change(content, (*dropped, Repair(rule.name, "", "object", "object")))
        for rule, _, apply in plan.at(plan.top).values.get(dict, ())
        for content in apply(rest)
    ]
    return found[0] if len(distinct(found)) == 1 else None


def _moved_items(node: SchemaNode, value: list[Any], path: Path, run: RepairSession, scope: Scope) -> Change:
    repairs: tuple[Repair, ...] = ()
    values = list(value)
    for index in scope.indices:
        inner = moved(node.item(index, mixed=False), value[index], (*path, index), run, scope.below[index])
        values[index] = inner.value
        repairs += inner.repairs
    return Change(values, repairs)


def _out_of_text(node: SchemaNode, text: str, path: Path, run: RepairSession) -> Change:
    found = [
        Change(new, (Repair(rule.name, pointer(path), "string", json_type(new)),))
        for each in node.branches or (node,)
        for rule, _, apply in run.plan.at(each).values.get(str, ())
        if rule.reads_text
        for new in apply(text, run.texts)
    ]
    return found[0] if len(distinct(found)) == 1 else Change(text)
