"""As much repaired as can be, for a call that is refused: the envelope speaks of what is left."""

from __future__ import annotations

from typing import Any

from mcp_lenient.engine.candidates import Change, is_mixed, names_in, read, read_property
from mcp_lenient.engine.names import Naming
from mcp_lenient.engine.session import UNTOUCHED, RepairSession, Scope, scope_below
from mcp_lenient.rules.rule import ABSENT
from mcp_lenient.schema.node import SchemaNode
from mcp_lenient.types import Candidate, Path, Repair, Tie
from mcp_lenient.values.json_values import json_type
from mcp_lenient.values.pointers import pointer


def mend(node: SchemaNode, value: Any, path: Path, run: RepairSession, scope: Scope | None) -> Change:
    """The value with every repair that is certain by itself; ties are left to the run."""
    if scope is UNTOUCHED:
        return Change(value)
    readings = read(node, value, path, run, scope) if path else []
    return _alone(readings, value, path, run) or _broken(node, value, path, run, scope)


def _alone(readings: list[Candidate], value: Any, path: Path, run: RepairSession) -> Change | None:
    """The one reading there is; of several that tie none, so that the value stays as it was sent."""
    if len(readings) > 1:
        run.ties.append(Tie(path, tuple(readings)))
        return Change(value)
    return Change(readings[0].value, readings[0].repairs) if readings else None


def _broken(node: SchemaNode, value: Any, path: Path, run: RepairSession, scope: Scope | None) -> Change:
    """A value without a reading: what is in it may still have one."""
    if node.is_union:
        branches = node.union.meant(value, exact_integers=run.exact)
        if len(branches) == 1:
            return mend(branches[0], value, path, run, scope)
    elif node.is_object and isinstance(value, dict):
        return _properties(node, value, path, run, scope)
    elif node.is_array and isinstance(value, list):
        return _items(node, value, path, run, scope)
    return _text(node, value, path, run)


_SPELLINGS = frozenset({"text_to_integer", "text_to_number"})


def _number(node: SchemaNode, value: str, path: Path, run: RepairSession) -> Change | None:
    """A text that is a number, though not one that the schema allows: the number is what is wrong then."""
    for rule, _, apply in run.plan.at(node).values.get(str, ()):
        for new in apply(value) if rule.name in _SPELLINGS else ():
            return Change(new, (Repair(rule.name, pointer(path), "string", json_type(new)),))
    return None


def _text(node: SchemaNode, value: Any, path: Path, run: RepairSession) -> Change:
    """A text that is a container of the right kind, though not all in it is right."""
    if not isinstance(value, str):
        return Change(value)
    for each in node.branches or (node,):
        number = _number(each, value, path, run)
        if number is not None:
            return number
        for rule, _, apply in run.plan.at(each).values.get(str, ()):
            for new in apply(value, run.texts) if rule.reads_text else ():
                record = Repair(rule.name, pointer(path), "string", json_type(new))
                inner = _inside(each, new, path, run)
                return Change(inner.value, (record, *inner.repairs))
    return Change(value)


def _inside(node: SchemaNode, value: Any, path: Path, run: RepairSession) -> Change:
    if isinstance(value, dict):
        return _properties(node, value, path, run, None)
    return _items(node, value, path, run, None)


def _properties(
    node: SchemaNode, value: dict[str, Any], path: Path, run: RepairSession, scope: Scope | None
) -> Change:
    names = names_in(node, value, run, scope)
    mended: dict[str, Any] = {}
    repairs = list(names.records(value, path)[1])
    for key, sent in value.items():
        if key not in names.dropped:
            name, inner = _key(node, key, sent, path, run, names, scope)
            repairs += inner.repairs
            if inner.value is not ABSENT:
                mended[name] = inner.value
    return Change(mended, tuple(repairs))


def _key(
    node: SchemaNode, key: str, sent: Any, path: Path, run: RepairSession, names: Naming, scope: Scope | None
) -> tuple[str, Change]:
    below = (*path, key)
    rename = names.renamed.get(key)
    if rename is None:
        return key, _property(node, key, sent, below, run, scope_below(scope, key))
    inner = _property(node, rename.name, sent, below, run, None)
    record = Repair(rename.rule, pointer(below), json_type(sent), json_type(sent))
    return rename.name, Change(inner.value, (record, *inner.repairs))


def _property(
    node: SchemaNode, name: str, value: Any, path: Path, run: RepairSession, scope: Scope | None
) -> Change:
    alone = _alone(read_property(node, name, value, path, run, scope), value, path, run)
    if alone is not None:
        return alone
    child = node.property(name)
    assert child is not None  # noqa: S101 - what no schema speaks of has a reading
    return _broken(child, value, path, run, scope)


def _items(node: SchemaNode, value: list[Any], path: Path, run: RepairSession, scope: Scope | None) -> Change:
    item_at = node.item_nodes(mixed=is_mixed(value))
    entries = [
        mend(item_at(index), entry, (*path, index), run, scope_below(scope, index))
        for index, entry in enumerate(value)
    ]
    return Change(
        [each.value for each in entries], tuple(repair for each in entries for repair in each.repairs)
    )
