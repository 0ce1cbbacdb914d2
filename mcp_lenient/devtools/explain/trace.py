"""Record what the rules propose and the validator says while the engine decides."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from mcp_lenient.rules import ABSENT, Rule, Site
from mcp_lenient.rules.rules import Kind
from mcp_lenient.types import Outcome, Path, ValidationIssue
from mcp_lenient.values.json_values import plain, pointer

_MOST: Final = 200
_MOST_LOOKS: Final = 2_000
"""How many applications of rules are noted; of a larger call the first part is explained."""
_ITEM: Final = 0


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one rule proposes for one value or name, where (if known), and whether the schema accepts it."""

    rule: str
    tier: int
    kind: Kind
    pointer: str
    after: Any
    fits: bool


class ValidatorAnswer(NamedTuple):
    """What the validator said about complete arguments."""

    arguments: Mapping[str, Any]
    issues: tuple[ValidationIssue, ...]
    accepted: bool


@dataclass(slots=True)
class Trace:
    """The record of one decision: an :class:`mcp_lenient.engine.observer.Observer`.

    ``answers`` has what the validator said about complete arguments, starting with those sent; ``kept_out`` has, by
    pointer, the rules that were tried on a value and did not apply.
    """

    sent: Mapping[str, Any]
    proposals: list[Proposal] = field(default_factory=list)
    answers: list[ValidatorAnswer] = field(default_factory=list)
    outcome: Outcome = field(init=False)
    kept_out: dict[str, list[str]] = field(default_factory=dict)
    _made: list[Any] = field(default_factory=list)
    _by_value: dict[tuple[str | int | None, int], Path] = field(default_factory=dict)
    _by_name: dict[str, Path] = field(default_factory=dict)
    _noted: set[str] = field(default_factory=set)
    _looks: int = 0

    def __post_init__(self) -> None:
        self._index(self.sent, ())

    def applied(self, rule: Rule, site: Site, value: Any, made: Any) -> None:
        """Record what a rule made of a value, or that it did not apply."""
        self._looks += 1
        if self._looks > _MOST_LOOKS:
            return
        if made:
            self._note(rule, site, value, made)
        elif rule.kind in ("value", "property", "name"):
            self._note_kept_out(rule, site, value)

    def judged(
        self, arguments: Mapping[str, Any], issues: tuple[ValidationIssue, ...], *, accepted: bool
    ) -> None:
        """Record what the validator said."""
        self.answers.append(ValidatorAnswer(arguments, issues, accepted))

    def decided(self, outcome: Outcome) -> None:
        """Record the outcome."""
        self.outcome = outcome

    def _note(self, rule: Rule, site: Site, value: Any, made: Any) -> None:
        for looked_at, raw in _made_of(rule.kind, value, made):
            before, after = plain(looked_at), plain(raw)
            name = before if rule.kind in ("name", "drop") else site.name
            key = json.dumps([rule.name, site.name, before, after], default=repr)
            if key in self._noted or len(self.proposals) >= _MOST:
                continue
            self._noted.add(key)
            path = self._place_of(name, looked_at, rule.kind)
            fits = rule.kind != "value" or site.takes(after)
            self.proposals.append(Proposal(rule.name, rule.tier, rule.kind, pointer(path), after, fits))
            if rule.kind in ("value", "arguments"):
                self._index(raw, path)

    def _note_kept_out(self, rule: Rule, site: Site, looked_at: Any) -> None:
        name = looked_at if rule.kind == "name" else site.name
        where = pointer(self._place_of(name, looked_at, rule.kind))
        rules = self.kept_out.setdefault(where, [])
        if rule.name not in rules and len(self.kept_out) <= _MOST:
            rules.append(rule.name)

    def _index(self, value: Any, base: Path) -> None:
        """Record where everything in a value is; keep the value so that its id is not reused."""
        self._made.append(value)
        for path, found in _walk(value, base):
            last = path[-1] if path else None
            if isinstance(last, str):
                self._by_name.setdefault(last, path)
            self._by_value.setdefault((_ITEM if isinstance(last, int) else last, id(found)), path)

    def _place_of(self, name: str | None, value: Any, kind: Kind) -> Path:
        """Return where a value is, in the sent arguments or in a rule's result."""
        if kind == "arguments":
            return ()
        if kind in ("name", "drop"):
            return self._by_name.get(str(name), (str(name),))
        alone = () if name is None else (name,)
        return self._by_value.get((_ITEM if name is None else name, id(value)), alone)


def _made_of(kind: Kind, value: Any, made: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each value that a rule read, with its result."""
    if kind in ("value", "arguments"):
        for each in made:
            yield value, each
    elif kind == "property":
        yield value, ABSENT
    elif kind == "name":
        yield value, made
    else:
        for key in sorted(made):
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
