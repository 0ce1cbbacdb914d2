"""Messages about missing and unknown names: where they were sent, or where they belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mcp_lenient.refusal.groups import MAX_NEAR, FaultGroup
from mcp_lenient.refusal.locations import Location, without_format
from mcp_lenient.refusal.phrases import about, did_you_mean, expected, must_be, one_of_several, schema_echo
from mcp_lenient.refusal.sentences import NAMES_TEXT, broken_json, description, first_of, quoted, wanted
from mcp_lenient.rules.rules import WRAPPERS, is_free_object
from mcp_lenient.rules.words import is_identifier
from mcp_lenient.schema.node import Node
from mcp_lenient.types import Path
from mcp_lenient.values.display import HIDDEN, in_json, name_words
from mcp_lenient.values.json_values import break_of, json_type
from mcp_lenient.values.language import marked, marked_plural
from mcp_lenient.values.markup import names_in_markup
from mcp_lenient.values.names import fold_name
from mcp_lenient.values.patches import entries

_IS_MISSING: Final = marked_plural(
    "{places} is required but was not sent.", "{places} are required but were not sent."
)
_IS_UNKNOWN: Final = marked_plural("unknown parameter {names}.", "unknown parameters {names}.")


def missing(group: FaultGroup, names: str) -> str:
    """Say that names are missing, what they must be, and where they were sent."""
    refused, words, choices = group.refused, group.refused.words, group.faults[0].bound
    if choices:
        either = words.either([words.all_of(list(map(quoted, choice))) for choice in choices])
        owner = refused.named(group.first.path[:-1])
        return words("either {names} must be sent in {place}.", place=owner, names=either)
    opening, phrase = words.plural(*_IS_MISSING, group.total, places=names), expected(group)
    if group.is_first and not refused.arguments:
        opening = words("the arguments arrived empty. {rest}", rest=opening)
    return words.sentences(
        opening,
        must_be(group),
        group.wanted.shape if phrase else "",
        about(group.wanted, words),
        _sent_elsewhere(group),
    )


def _sent_elsewhere(group: FaultGroup) -> str:
    refused, words, (*above, name) = group.refused, group.refused.words, group.first.path
    owner, sent = refused.look((*above,)), group.moved("path", "from")
    if echo := schema_echo(group, owner):
        return echo if group.is_first else ""
    if (inside := sent[0][:-1] if sent else ()) and not above:
        return words("It was sent inside {place}: send it at the top.", place=refused.named(inside))
    if elsewhere := _inside_another(group, owner, name):
        return elsewhere
    siblings = dict.fromkeys(path for path in sent if path[:-1] == (*above,) and _may_take(group, path))
    names = words.either([refused.named(path) for path in siblings][:MAX_NEAR])
    if names:
        advice = words("If {names} is meant, send it under this name.", names=names)
        only = refused.look(next(iter(siblings))).value if len(siblings) == 1 else None
        return words.sentences(advice, one_of_several(group, only))
    return undeclared([group], owner) if group.is_first and above else ""


def _inside_another(group: FaultGroup, owner: Location, name: object) -> str:
    """Say that a missing name was sent inside another value, as markup or as its property."""
    refused, words = group.refused, group.refused.words
    for key, content in entries(owner.value):
        path = (*owner.path, key)
        if isinstance(name, str) and fold_name(name) in map(fold_name, names_in_markup(content)):
            advice = marked("It came as markup inside {place}: send each as a parameter of its own.")
            return words(advice, place=refused.named(path))
        holder = refused.look(path)
        is_other = not any(name in way.properties for way in holder.ways)
        broken = break_of(content) if isinstance(content, str) and in_json(name) in content else None
        if is_other and (broken or (isinstance(content, Mapping) and name in content)):
            advice = marked("It was sent inside {place}: if that is the one, send it beside {place}.")
            where = words.of(broken_json(broken)) if broken and group.is_first else ""
            return words.sentences(words(advice, place=refused.named(path)), where)
    return ""


def _may_take(group: FaultGroup, path: Path) -> bool:
    """Return whether the value at a path may belong here: it is accepted, or its type is wrong, which may be repaired."""
    value = group.refused.look(path).value
    is_taken = group.node.takes(value) and not any(without_format(group.node, value, path))
    return is_taken or json_type(value) not in group.types


def undeclared(groups: Sequence[FaultGroup], owner: Location) -> str:
    """Name the undeclared names that were sent where the schema allows them, so that they are no violation."""
    refused, words, depth = groups[0].refused, groups[0].refused.words, len(owner.path)
    ways = refused.likely_ways(owner)
    if not isinstance(owner.value, Mapping) or any(way.closed for way in ways):
        return ""
    ends = [(group, path) for group in groups for path in group.moved("path", "from") if path[depth:]]
    moved = {path[depth] for group, path in ends if path[depth + 1 :] or _may_take(group, path)}
    keys = (key for key in owner.value if isinstance(key, str) and key not in moved)
    sent = [key for key in keys if not any(way.declares(key) for way in ways)]
    places = [refused.look((*owner.path, key)) for key in sent[:MAX_NEAR]]
    names = [refused.named(place.path) for place in places if HIDDEN not in place.shown]
    text = marked("The tool may ignore {names}; the content may belong under declared names.")
    return words(text, names=words.all_of(names)) if names else ""


def unknown(group: FaultGroup, names: str) -> str:
    """Say that names are unknown, which names are likely intended, where they belong, and which are accepted."""
    refused, words = group.refused, group.refused.words
    owner = refused.look(group.first.path[:-1])
    if not group.near and (others := _excluded_names(group, owner)):
        form = marked("{name} is not accepted beside this {others}: send only the alternative that is meant.")
        return words(form, name=names, others=words.all_of(others))
    ways, advice = refused.likely_ways(owner), did_you_mean(group)
    if echo := schema_echo(group, owner):
        advice = echo if group.is_first else ""
    elif not advice:
        advice = _belongs_inside(group, owner, ways)
    if len(group.near) == 1 and is_identifier(group.near[0]) and not is_identifier(group.name):
        near = ways[0].child(group.near[0])  # `list` may be no ID
        advice = words.sentences(advice, about((near or group.node).once(wanted, words), words))
    if group.offered.may_be_several:
        rest = words("If it holds several, send each under its own name.")
    else:
        is_lost = not advice and group.is_first and not group.changes
        rest = words("If one of them fits, use it.") if is_lost else ""
    accepted = _accepted(group, ways) if group.is_first else ""
    return words.sentences(words.plural(*_IS_UNKNOWN, group.total, names=names), advice, accepted, rest)


def _excluded_names(group: FaultGroup, owner: Location) -> list[str]:
    """Return the sent names that exclude this one, which another branch than the meant one declares."""
    ways = [way for way in owner.ways if group.first.path[-1] in way.properties]
    siblings = [group.refused.look((*owner.path, key)) for key, _ in entries(owner.value)] if ways else []
    nodes = [(place, way.child(place.path[-1])) for place in siblings for way in ways]
    accepted = {place.path for place, node in nodes if node and node.takes(place.value)} | {group.first.path}
    excluded = [place.path for place in siblings if place.declared and place.path not in accepted]
    return [group.refused.named(path) for path in excluded[:MAX_NEAR]]


def _belongs_inside(group: FaultGroup, owner: Location, ways: Sequence[Node]) -> str:
    refused, words, name = group.refused, group.refused.words, group.first.path[-1]
    depth = len(group.first.path)
    inside = [path[:depth] for path in group.moved("from", "path") if len(path) > depth]
    if inside and inside[0][:-1] == owner.path:
        node = refused.look((*inside[0], name)).node
        is_of_type = node is None or node.accepted_types.issuperset(group.sent_types)
        phrase = "" if node is None or is_of_type else node.once(wanted, words).expected
        must = words("It must be {expected}.", expected=phrase) if phrase else ""
        return words.sentences(words("It belongs inside {place}.", place=refused.named(inside[0])), must)
    holder = _open_holder(ways, name)
    return (
        words("It may belong inside {place}.", place=refused.named((*owner.path, holder))) if holder else ""
    )


def _accepted(group: FaultGroup, ways: Sequence[Node]) -> str:
    """Name the parameters of the likely branches, without those that declare this name."""
    words, sent = group.refused.words, group.first.path[-1]
    others = [way for way in ways if sent not in way.properties]
    names = list(dict.fromkeys(name for way in others for name in way.properties))
    if not names:
        return words("No parameters are accepted here.")
    some = first_of(list(map(quoted, names)), NAMES_TEXT, words)
    return words.plural("Accepted is {names}.", "Accepted are {names}.", len(names), names=some)


def _open_holder(ways: Sequence[Node], sent: object) -> str:
    """Return the only parameter that holds any names, or the names in its description; empty if there is none."""
    nodes = ways[0].property_nodes if ways else {}
    free = {name: node for name, node in nodes.items() if is_free_object(node)}
    wrappers = [name for name in free if name in WRAPPERS]
    described = [name for name, node in free.items() if sent in name_words(description(node))]
    holders = wrappers or described
    return holders[0] if len(holders) == 1 else ""
