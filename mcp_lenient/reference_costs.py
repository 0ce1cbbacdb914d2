"""What references expand to: the places of a schema at which judging one value would take too long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_lenient.drafts import DEFINITIONS, NAMED, ONE, SEVERAL, subschemas

MOST_EXPANDED: Final = 2_000
"""Schemas that one value, and one value within it on each level, may have to be compared with."""
MOST_IN_A_ROW: Final = 200
"""Schemas in one another for the same value."""
_IN_PLACE: Final = frozenset("$ref allOf anyOf oneOf not if then else dependentSchemas".split())
_ANY_KEY: Final = "*"

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Cost:
    """How many schemas a value is compared with.

    Attributes:
        here: Schemas that the value itself is compared with.
        inside: Schemas that what is inside it is compared with, by key; a value has one key on each level.
        in_a_row: The longest way from one schema into the next for the same value.
    """

    here: int = 1
    inside: Mapping[str, int] = field(default_factory=dict)
    in_a_row: int = 1

    @property
    def total(self) -> int:
        most = max((count for key, count in self.inside.items() if key != _ANY_KEY), default=0)
        return self.here + self.inside.get(_ANY_KEY, 0) + most


_ITSELF: Final = _Cost()


def too_costly(schemas: list[Schema], targets: Mapping[int, Schema]) -> Iterator[tuple[Schema, str, bool]]:
    """Yield each schema whose references expand beyond the bound, innermost first.

    Each comes with the reason, and with whether what it says about the inside of a value is too costly as well.
    The caller takes it out before it asks for the next.

    Args:
        schemas: Every schema of the whole, which comes first, in the words of 2020-12.
        targets: What each ``$ref`` refers to, by the id of the schema that holds it.
    """
    if not targets:
        return
    for schema in _closing_in_place(schemas, targets):
        yield schema, "refers to itself for the same value", False
    most = max(MOST_EXPANDED, len(schemas))
    reason = f"its references expand to more than {most} schemas, or {MOST_IN_A_ROW} in a row"
    costs: dict[int, _Cost] = {}
    for schema in _inner_first(schemas, _neighbors(targets)):
        for inside_too in (False, True):
            cost = costs[id(schema)] = _cost(schema, targets, costs)
            if cost.total <= most and cost.in_a_row <= MOST_IN_A_ROW:
                break
            yield schema, reason, inside_too
        else:
            costs[id(schema)] = _ITSELF


def _edges(schema: Schema, targets: Mapping[int, Schema]) -> Iterator[tuple[str, str, Any]]:
    """The schemas that one leads to, each with its keyword and the key inside the value that it is about."""
    for way, sub in subschemas(schema):
        keyword = way[0]
        if keyword in DEFINITIONS or not isinstance(sub, dict):
            continue
        if keyword in _IN_PLACE:
            yield keyword, "", sub
        elif keyword in ("properties", "prefixItems"):
            yield keyword, "/".join(way), sub
        elif keyword in NAMED or keyword in SEVERAL or keyword in ONE:
            yield keyword, _KEYS.get(keyword, _ANY_KEY), sub
    if id(schema) in targets:
        yield "$ref", "", targets[id(schema)]


_KEYS: Final = {"items": "items", "additionalProperties": "additionalProperties"}


def _cost(schema: Schema, targets: Mapping[int, Schema], costs: Mapping[int, _Cost]) -> _Cost:
    here = in_a_row = 1
    inside: dict[str, int] = {}
    for _, key, sub in _edges(schema, targets):
        # Of a schema that this one is within, a value may be followed one level more for each level it has.
        below = costs.get(id(sub), _ITSELF)
        if key:
            inside[key] = inside.get(key, 0) + below.total
        else:
            here += below.here
            in_a_row = max(in_a_row, 1 + below.in_a_row)
            for name, count in below.inside.items():
                inside[name] = inside.get(name, 0) + count
    return _Cost(here, inside, in_a_row)


def _neighbors(targets: Mapping[int, Schema]) -> Callable[[Schema], list[Schema]]:
    return lambda schema: [sub for _, _, sub in _edges(schema, targets)]


def _inner_first(starts: list[Schema], neighbors: Callable[[Schema], list[Schema]]) -> Iterator[Schema]:
    """Each schema after those that it leads to, but for those that lead back to it."""
    seen: set[int] = set()
    for start in starts:
        if id(start) in seen:
            continue
        seen.add(id(start))
        way = [(start, iter(neighbors(start)))]
        while way:
            schema, rest = way[-1]
            following = next((each for each in rest if id(each) not in seen), None)
            if following is None:
                way.pop()
                yield schema
            else:
                seen.add(id(following))
                way.append((following, iter(neighbors(following))))


def _closing_in_place(schemas: list[Schema], targets: Mapping[int, Schema]) -> Iterator[Schema]:
    """The schemas that lead back to one they are part of without looking inside the value."""
    done: set[int] = set()
    on_the_way: set[int] = set()
    for start in schemas:
        if id(start) in done:
            continue
        way = [(start, iter(list(_edges(start, targets))))]
        on_the_way.add(id(start))
        while way:
            schema, rest = way[-1]
            following = next((edge for edge in rest if not edge[1] and id(edge[2]) not in done), None)
            if following is None or id(following[2]) in on_the_way:
                if following is not None:
                    yield schema
                way.pop()
                on_the_way.discard(id(schema))
                done.add(id(schema))
            else:
                way.append((following[2], iter(list(_edges(following[2], targets)))))
                on_the_way.add(id(following[2]))
