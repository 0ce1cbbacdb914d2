"""What the rules propose and what the judge says, written down while a real repair runs.

The engine is left as it is: it gets the same rules, each of which also notes what it makes, and the same
judge, which also notes what it says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from mcp_lenient.rules import ABSENT, Rule, Site
from mcp_lenient.rules.policy import Policy
from mcp_lenient.rules.rule import Apply, Kind
from mcp_lenient.types import Path, ValidationIssue, Validator
from mcp_lenient.values.json_text import plain
from mcp_lenient.values.pointers import pointer

_MOST: Final = 200
_MOST_LOOKS: Final = 2_000
"""How often a rule is watched; of calls with more in them the first part is told."""
_ITEM: Final = 0


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one rule makes of one value.

    Attributes:
        rule: The rule's name.
        tier: Its tier.
        kind: What it speaks about.
        pointer: Where the value stands, as far as that can be told.
        before: The value, or the name that was sent.
        after: What the rule makes of it.
        fits: Whether the schema at that place takes it as it is.
    """

    rule: str
    tier: int
    kind: Kind
    pointer: str
    before: Any
    after: Any
    fits: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge said of whole arguments."""

    arguments: Mapping[str, Any]
    accepted: bool


@dataclass(slots=True)
class Trace:
    """One repair, as it was watched.

    Attributes:
        sent: The arguments.
        proposals: What the rules made, each once.
        verdicts: What the judge said of whole arguments.
        kept_out: By pointer the rules that were asked about a value and have no reading of it.
    """

    sent: Mapping[str, Any]
    proposals: list[Proposal] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    kept_out: dict[str, list[str]] = field(default_factory=dict)
    _made: list[Any] = field(default_factory=list)
    _by_value: dict[tuple[str | int | None, int], Path] = field(default_factory=dict)
    _by_name: dict[str, Path] = field(default_factory=dict)
    _noted: set[str] = field(default_factory=set)
    _looks: int = 0

    def __post_init__(self) -> None:
        self._index(self.sent, ())

    def policy(self, policy: Policy) -> Policy:
        """The policy with rules that are watched."""
        return policy.changed(rules=tuple(replace(rule, build=self._watched(rule)) for rule in policy.rules))

    def judge(self, judge: Validator) -> Validator:
        """The judge, watched."""
        return _WatchedJudge(judge, self)

    def _watched(self, rule: Rule) -> Any:
        def build(site: Site) -> Apply | None:
            apply = rule.build(site)
            if apply is None:
                return None

            def watched(*given: Any) -> Any:
                made = apply(*given)
                self._looks += 1
                if self._looks > _MOST_LOOKS:
                    return made
                if made:
                    self._note(rule, site, given, made)
                elif rule.kind in ("value", "property", "name"):
                    self._note_kept_out(rule, site, given[0])
                return made

            return watched

        return build

    def _note(self, rule: Rule, site: Site, given: tuple[Any, ...], made: Any) -> None:
        for looked_at, raw in _made_of(rule.kind, given, made):
            before, after = plain(looked_at), plain(raw)
            name = before if rule.kind in ("name", "drop") else site.name
            key = json.dumps([rule.name, site.name, before, after], default=repr)
            if key in self._noted or len(self.proposals) >= _MOST:
                continue
            self._noted.add(key)
            path = self._place_of(name, looked_at, rule.kind)
            fits = rule.kind != "value" or site.takes(after)
            self.proposals.append(
                Proposal(rule.name, rule.tier, rule.kind, pointer(path), before, after, fits)
            )
            if rule.kind in ("value", "arguments"):
                self._index(raw, path)

    def _note_kept_out(self, rule: Rule, site: Site, looked_at: Any) -> None:
        name = looked_at if rule.kind == "name" else site.name
        where = pointer(self._place_of(name, looked_at, rule.kind))
        rules = self.kept_out.setdefault(where, [])
        if rule.name not in rules and len(self.kept_out) <= _MOST:
            rules.append(rule.name)

    def _index(self, value: Any, base: Path) -> None:
        """Note where everything in a value stands; it is kept, so that an id stays one value's."""
        self._made.append(value)
        for path, found in _walk(value, base):
            last = path[-1] if path else None
            if isinstance(last, str):
                self._by_name.setdefault(last, path)
            self._by_value.setdefault((_ITEM if isinstance(last, int) else last, id(found)), path)

    def _place_of(self, name: str | None, value: Any, kind: Kind) -> Path:
        """Where a value stands, in what was sent or in what a rule has made of it."""
        if kind == "arguments":
            return ()
        if kind in ("name", "drop"):
            return self._by_name.get(str(name), (str(name),))
        alone = () if name is None else (name,)
        return self._by_value.get((_ITEM if name is None else name, id(value)), alone)


def _made_of(kind: Kind, given: tuple[Any, ...], made: Any) -> Iterator[tuple[Any, Any]]:
    """What was looked at, and what came of it, one by one."""
    if kind in ("value", "arguments"):
        for value in made:
            yield given[0], value
    elif kind == "property":
        if made:
            yield given[0], ABSENT
    elif kind == "name":
        if made is not None:
            yield given[0], made
    else:
        for key in made:
            yield key, ABSENT


def _walk(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    waiting = [(path, value)]
    while waiting:
        here, current = waiting.pop()
        yield here, current
        if isinstance(current, Mapping):
            waiting += [((*here, str(key)), below) for key, below in reversed(list(current.items()))]
        elif isinstance(current, (list, tuple)):
            waiting += [((*here, at), below) for at, below in reversed(list(enumerate(current)))]


@dataclass(frozen=True, slots=True)
class _WatchedJudge:
    inner: Validator
    trace: Trace

    @property
    def exact_integers(self) -> bool:
        return self.inner.exact_integers

    @property
    def by_schema(self) -> bool:
        return self.inner.by_schema

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        accepted = self.inner.accepts(arguments)
        self.trace.verdicts.append(Verdict(arguments, accepted))
        return accepted

    def faults(self, arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        return self.inner.faults(arguments)

    def tells_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        return self.inner.tells_apart(one, other)
