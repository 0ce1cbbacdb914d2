"""Messages about missing and unknown names: where they were sent, or where they belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mcp_lenient.refusal.groups import MAX_NEAR, FaultGroup
from mcp_lenient.refusal.locations import Location, without_format
from mcp_lenient.refusal.phrases import advice_on_several, did_you_mean, expected
from mcp_lenient.refusal.sentences import (
    NAMES_TEXT,
    broken_json,
    description,
    first_of,
    quoted,
    requirement,
    wanted_at,
)
from mcp_lenient.rules.likely import is_echo
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


def missing_message(group: FaultGroup, names: str) -> str:
    """Say that names are missing, what they must be, and where they were sent."""
    call, say, alternatives = group.call, group.call.say, group.faults[0].alternatives
    if alternatives:
        choices = [say.all_of([quoted(fault.path[-1]) for fault in faults]) for faults in alternatives]
        parent_text = call.shown_path(group.location.path[:-1])
        return say("either {names} must be sent in {place}.", place=parent_text, names=say.either(choices))
    opening = say.plural(*_IS_MISSING, group.location_count, places=names)
    if group.is_first_in_parent and not call.arguments:
        opening = say("the arguments arrived empty. {rest}", rest=opening)
    return say.sentences(
        opening,
        _must_be(group),
        group.wanted.contents if group.wanted.expected else "",
        group.wanted.meaning,
        _sent_elsewhere(group),
    )


def _must_be(group: FaultGroup) -> str:
    """Say what a missing value must be: what its pattern asks, or else its type."""
    say, phrase = group.call.say, expected(group)
    requirements = [requirement("pattern", pattern, say) for pattern in group.node.values_of("pattern")]
    text = say.all_of(requirements) or (say("be {thing}", thing=phrase) if phrase else "")
    return say("It must {requirement}.", requirement=text) if text else ""


def _sent_elsewhere(group: FaultGroup) -> str:
    """Say where a missing value was sent: inside or beside its place, or as a schema."""
    call, say, (*parent_path, name) = group.call, group.call.say, group.location.path
    parent, sources = call.location((*parent_path,)), group.move_sources
    if echo := _schema_echo(group, parent):
        return echo if group.is_first_in_parent else ""
    if (container_path := sources[0][:-1] if sources else ()) and not parent_path:
        return say("It was sent inside {place}: send it at the top.", place=call.shown_path(container_path))
    if elsewhere := _inside_another(group, parent, name):
        return elsewhere
    beside = (path for path in sources if path[:-1] == (*parent_path,))
    siblings = dict.fromkeys(path for path in beside if _may_take(group, path))
    names = say.either([call.shown_path(path) for path in siblings][:MAX_NEAR])
    if names:
        advice = say("If {names} is meant, send it under this name.", names=names)
        only_value = call.location(next(iter(siblings))).value if len(siblings) == 1 else None
        return say.sentences(advice, advice_on_several(group, only_value))
    return ignored_names_note([group], parent) if group.is_first_in_parent and parent_path else ""


def _schema_echo(group: FaultGroup, parent: Location) -> str:
    """Say that the schema of an object was sent in its place."""
    is_echoed = any(is_echo(branch, parent.value) for branch in parent.branches)
    advice = marked("What was sent is the schema: send the values that it describes.")
    return group.call.say(advice) if is_echoed else ""


def _inside_another(group: FaultGroup, parent: Location, name: object) -> str:
    """Say that a missing name was sent inside another value, as markup or as its property."""
    call, say = group.call, group.call.say
    for key, content in entries(parent.value):
        path = (*parent.path, key)
        if isinstance(name, str) and fold_name(name) in map(fold_name, names_in_markup(content)):
            advice = marked("It came as markup inside {place}: send each as a parameter of its own.")
            return say(advice, place=call.shown_path(path))
        holder = call.location(path)
        is_other = not any(name in branch.properties for branch in holder.branches)
        json_break = break_of(content) if isinstance(content, str) and in_json(name) in content else None
        if is_other and (json_break or (isinstance(content, Mapping) and name in content)):
            advice = marked("It was sent inside {place}: if that is the one, send it beside {place}.")
            where = say.of(broken_json(json_break)) if json_break and group.is_first_in_parent else ""
            return say.sentences(say(advice, place=call.shown_path(path)), where)
    return ""


def _may_take(group: FaultGroup, path: Path) -> bool:
    """Return whether the value at a path may belong here: it is accepted, or its type is wrong, which may be repaired."""
    value = group.call.location(path).value
    is_taken = group.node.accepts(value) and not any(without_format(group.node, value, path))
    return is_taken or json_type(value) not in group.types


def ignored_names_note(groups: Sequence[FaultGroup], parent: Location) -> str:
    """Name the undeclared names that were sent where the schema allows them."""
    call, say, depth = groups[0].call, groups[0].call.say, len(parent.path)
    branches = call.likely_branches(parent)
    if not isinstance(parent.value, Mapping) or any(branch.closed for branch in branches):
        return ""
    ends = [(group, path) for group in groups for path in group.move_sources if path[depth:]]
    moved = {path[depth] for group, path in ends if path[depth + 1 :] or _may_take(group, path)}
    keys = (key for key in parent.value if isinstance(key, str) and key not in moved)
    sent = [key for key in keys if not any(branch.declares(key) for branch in branches)]
    locations = [call.location((*parent.path, key)) for key in sent[:MAX_NEAR]]
    names = [call.shown_path(location.path) for location in locations if HIDDEN not in location.shown]
    text = marked("The tool may ignore {names}; the content may belong under declared names.")
    return say(text, names=say.all_of(names)) if names else ""


def unknown_message(group: FaultGroup, names: str) -> str:
    """Say that names are unknown, which names are likely intended, where they belong, and which are accepted."""
    call, say = group.call, group.call.say
    parent = call.location(group.location.path[:-1])
    if not group.intended and (others := _excluding_names(group, parent)):
        form = marked("{name} is not accepted beside this {others}: send only the alternative that is meant.")
        return say(form, name=names, others=say.all_of(others))
    branches, advice = call.likely_branches(parent), did_you_mean(group)
    if echo := _schema_echo(group, parent):
        advice = echo if group.is_first_in_parent else ""
    elif not advice:
        advice = _belongs_inside(group, parent, branches)
    if len(group.intended) == 1 and is_identifier(group.intended[0]) and not is_identifier(group.name):
        intended_node = branches[0].child(group.intended[0])  # `list` may be no ID
        advice = say.sentences(advice, (intended_node or group.node).cached(wanted_at, say).meaning)
    if group.offer.may_be_several:
        last_advice = say("If it holds several, send each under its own name.")
    else:
        has_no_advice = not advice and group.is_first_in_parent and not group.operations
        last_advice = say("If one of them fits, use it.") if has_no_advice else ""
    accepted = _accepted(group, branches) if group.is_first_in_parent else ""
    return say.sentences(
        say.plural(*_IS_UNKNOWN, group.location_count, names=names), advice, accepted, last_advice
    )


def _excluding_names(group: FaultGroup, parent: Location) -> list[str]:
    """Return the sent names that exclude this one, which another branch than the meant one declares."""
    branches = [branch for branch in parent.branches if group.location.path[-1] in branch.properties]
    paths = [(*parent.path, key) for key, _ in entries(parent.value)] if branches else []
    siblings = list(map(group.call.location, paths))
    nodes = [(location, branch.child(location.path[-1])) for location in siblings for branch in branches]
    accepted = {location.path for location, node in nodes if node and node.accepts(location.value)}
    declared = [location.path for location in siblings if location.declared]
    excluded = [path for path in declared if path not in accepted and path != group.location.path]
    return [group.call.shown_path(path) for path in excluded[:MAX_NEAR]]


def _belongs_inside(group: FaultGroup, parent: Location, branches: Sequence[Node]) -> str:
    call, say, name = group.call, group.call.say, group.location.path[-1]
    depth = len(group.location.path)
    inside = [path[:depth] for path in group.move_targets if len(path) > depth]
    if inside and inside[0][:-1] == parent.path:
        node = call.location((*inside[0], name)).node
        is_of_type = node is None or node.accepted_types.issuperset(group.sent_types)
        phrase = "" if node is None or is_of_type else node.cached(wanted_at, say).expected
        must = say("It must be {expected}.", expected=phrase) if phrase else ""
        return say.sentences(say("It belongs inside {place}.", place=call.shown_path(inside[0])), must)
    holder = _open_holder(branches, name)
    holder_path = call.shown_path((*parent.path, holder)) if holder else ""
    return say("It may belong inside {place}.", place=holder_path) if holder else ""


def _accepted(group: FaultGroup, branches: Sequence[Node]) -> str:
    """Name the parameters of the likely branches, without those that declare this name."""
    say, sent = group.call.say, group.location.path[-1]
    others = [branch for branch in branches if sent not in branch.properties]
    names = list(dict.fromkeys(name for branch in others for name in branch.properties))
    if not names:
        return say("No parameters are accepted here.")
    some = first_of(list(map(quoted, names)), NAMES_TEXT, say)
    return say.plural("Accepted is {names}.", "Accepted are {names}.", len(names), names=some)


def _open_holder(branches: Sequence[Node], sent: object) -> str:
    """Return the only parameter that holds any names, or the names in its description; empty if there is none."""
    nodes = branches[0].property_nodes if branches else {}
    free = {name: node for name, node in nodes.items() if is_free_object(node)}
    wrappers = [name for name in free if name in WRAPPERS]
    described = [name for name, node in free.items() if sent in name_words(description(node))]
    holders = wrappers or described
    return holders[0] if len(holders) == 1 else ""
