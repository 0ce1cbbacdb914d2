"""Locations in a refused call: what the schema says there, what was sent, and what must not be repeated."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcp_lenient.refusal.sentences import SAMPLES
from mcp_lenient.rules.rules import CallScope, Place
from mcp_lenient.schema.checks import has_format
from mcp_lenient.schema.node import Node, below, child_in
from mcp_lenient.types import Path
from mcp_lenient.values.display import (
    HIDDEN,
    MAX_SCALAR,
    fits_json,
    has_credential,
    is_name,
    is_secret_name,
    keys_naming_secret,
    one_line,
    path_text,
    short_scalar,
    shown,
)
from mcp_lenient.values.json_values import looks_like_json
from mcp_lenient.values.language import load_language
from mcp_lenient.values.patches import REMOVED, entries, value_at

if TYPE_CHECKING:
    from mcp_lenient.rules.policy import Policy

MAX_SUGGESTION: Final = 200
"""Bytes of the JSON of a value that is suggested."""
_MAX_ARGUMENT: Final = 100
_MAX_PARTS: Final = 2_000
_MIN_SUBSTRING: Final = 4
"""Characters of the shortest text that is looked for within words."""
_MAX_INTEGER_BITS: Final = 4_000
_UNSEARCHED: Final = object()
_MAX_TEXTS: Final = 100


class Location(NamedTuple):
    """A place in the arguments, and its value.

    Attributes:
        path: Its path.
        shown: The path as it may be shown: long or secret names are shortened or masked.
        node: Its schema; None if the schema does not declare it.
        branches: The union branches of the node.
        value: The value there; None if there is none.
        naming: The keys of the value that name the secret beside them.
        present: Whether there is a value.
        declared: Whether every name in the path is in the schema's ``properties``.
        secret: Whether the value is a secret, or is in one.
        may_show: Whether the value may be repeated to the caller.
        optional: Whether it may be left out.
    """

    path: Path
    shown: Path
    node: Node | None
    branches: tuple[Node, ...]
    value: Any
    naming: frozenset[str]
    present: bool = True
    declared: bool = True
    secret: bool = False
    may_show: bool = False
    optional: bool = False

    def as_place(self, call: CallScope) -> Place | None:
        """Return it as the rules see it; None if the schema does not declare it."""
        if self.node is None:
            return None
        key = self.path[-1] if self.path else None
        name = key if isinstance(key, str) else None
        declared = name if self.declared else None
        return Place(self.node, call, self.path, self.path, declared, self.optional, is_item=name is None)


@dataclass
class RefusedCall:
    """A refused call: its schema, its arguments, and what applies to them.

    Attributes:
        top: The schema.
        arguments: The arguments, as far as they could be repaired.
        policy: The policy of the tool.
        exact_integers: Whether ``7.0`` is refused for an integer.
        destructive: Whether the tool may destroy something.
        as_texts: Whether a client can send nothing but strings, as to a prompt.
    """

    top: Node
    arguments: Any
    policy: Policy
    exact_integers: bool = False
    destructive: bool = False
    as_texts: bool = False

    def __post_init__(self) -> None:
        self.say = load_language(self.policy.language)
        naming, may_show = keys_naming_secret(self.arguments, self.policy.secret), self.policy.echo_values
        top = Location((), (), self.top, self.top.branches, self.arguments, naming, may_show=may_show)
        self._locations: dict[Path, Location] = {(): top}

    def location(self, path: Path) -> Location:
        """Return the location of a path in the arguments."""
        if path in self._locations:
            return self._locations[path]
        parent, key, secret_names = self.location(path[:-1]), path[-1], self.policy.secret
        branches = self.likely_branches(parent)
        node, value = child_in(branches, key), value_at(parent.value, (key,))
        key_declared = isinstance(key, int) or any(key in branch.properties for branch in branches)
        # An undeclared key may be a secret itself: below a secret, or without the form of a name.
        is_masked = not key_declared and (parent.secret or not is_name(str(key)))
        secret = is_masked or parent.secret or _is_secret(key, value, node, parent.naming, secret_names)
        declared = key_declared and parent.declared
        needed = any(_is_needed(branch, parent.value, key) for branch in parent.branches)
        self._locations[path] = Location(
            path,
            (*parent.shown, HIDDEN if is_masked else shown(key) if isinstance(key, str) else key),
            node,
            node.branches if node else (),
            None if value is REMOVED else value,
            keys_naming_secret(value, secret_names),
            present=value is not REMOVED,
            declared=declared,
            secret=secret,
            may_show=declared and not secret and self.policy.echo_values,
            optional=declared and isinstance(key, str) and not needed,
        )
        return self._locations[path]

    def shown_path(self, path: Path) -> str:
        """Return the name of a place for a message: its path in quotes, as it may be shown."""
        shown = path_text(self.location(path).shown, quoted=True)
        return f"'{shown}'" if path else self.say("the arguments")

    def likely_branches(self, location: Location) -> tuple[Node, ...]:
        """Return the union branches that the value most likely targets; all if there is no value, or if none fits."""
        if location.node is None or len(location.branches) < 2 or not location.present:
            return location.branches
        likely = location.node.likely_branches(location.value, exact_integers=self.exact_integers)
        return likely or location.branches

    def may_echo(self, location: Location) -> bool:
        """Return whether the value is a short scalar that may be repeated, and no text in place of a list or object."""
        if not location.present or not location.may_show or not short_scalar(location.value):
            return False
        if not isinstance(location.value, str):
            return True
        types = frozenset() if location.node is None else location.node.accepted_types
        is_container = bool(types & {"array", "object"}) or looks_like_json(location.value)
        return not is_container and location.value not in self.private_texts

    def may_suggest(self, location: Location, value: Any) -> bool:
        """Return whether a value that was not sent may be shown at a location: it is short, and no secret is in it."""
        is_short = location.may_show and fits_json(value, MAX_SUGGESTION)
        return is_short and not private(location.node, value, self.policy.secret)

    @cached_property
    def private_texts(self) -> frozenset[str | None]:
        """Texts that no message may repeat: long ones, and those under secret or undeclared names; None stands for unsearched ones."""
        texts: set[str | None] = set()
        for part in _parts(self.top, self.arguments, self.policy.secret):
            value, is_private = part.value, part.secret or part.undeclared
            texts.add(part.private_key or "")
            if value is _UNSEARCHED:
                texts.add(None)
            elif isinstance(value, str) and (is_private or len(value) > MAX_SCALAR):
                texts.add(value)
            elif isinstance(value, (int, float)) and not isinstance(value, bool) and is_private:
                # Python refuses to write an integer of thousands of digits; no sentence contains one.
                is_long = isinstance(value, int) and value.bit_length() > _MAX_INTEGER_BITS
                texts.add("" if is_long else repr(value))
        return frozenset(texts - {""})

    def safe_sentence(self, locations: Sequence[Location], detail: str, limit: int) -> str:
        """Return an author's sentence in one line; empty if it may be about a secret, or repeats a private text."""
        if not all(location.may_show for location in locations):
            return ""
        inside = (location for location in locations if location.path)
        values = (_parts(location.node, location.value, self.policy.secret) for location in inside)
        if any(part.secret for parts in values for part in parts):
            return ""
        if any(text is None or _repeats(detail, text) for text in self.private_texts):
            return ""
        return one_line(self.say.of(detail), limit)


def _is_needed(branch: Node, value: object, key: str | int) -> bool:
    """Return whether a name cannot be left out: it is required, or the object would have too few."""
    least = branch.values_of("minProperties")
    return key in branch.required or (bool(least) and len([*entries(value)]) <= max(least))


def may_show_argument(name: str, value: object, node: Node, policy: Policy) -> bool:
    """Return whether an argument is short, and no secret is in it."""
    is_secret = is_secret_name(name, policy.secret) or private(node, value, policy.secret)
    return not is_secret and fits_json(value, _MAX_ARGUMENT)


def private(node: Node | None, value: object, secrets: Collection[str] = ()) -> bool:
    """Return whether a value has a secret in it, or anything under an undeclared name."""
    return any(part.secret or part.undeclared for part in _parts(node, value, secrets))


def without_format(node: Node | None, value: object, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of accepted texts that lack the format that the schema names, which the tool may need."""
    queue: list[tuple[Node | None, Any, Path]] = [(node, value, path)]
    for part_node, part, part_path in islice(queue, _MAX_TEXTS):
        branches = part_node.branches if part_node and isinstance(part, str) else ()
        formats = [branch.format for branch in branches if branch.accepts(part)]
        if formats and not any(form not in SAMPLES or has_format(form, part) for form in formats):
            yield part_path
        children = islice(entries(part), _MAX_TEXTS) if part_node else ()
        queue += [(below(part_node, key), child, (*part_path, key)) for key, child in children]


def _is_secret(
    key: object, value: object, node: Node | None, naming: frozenset[str], secrets: Collection[str]
) -> bool:
    """Return whether a value is a secret by its name, by a key beside it, by its schema or by its form."""
    is_named_secret = is_secret_name(key, secrets) or not naming <= {key}
    return is_named_secret or (node is not None and node.secret) or has_credential(value)


class _InnerValue(NamedTuple):
    """A value within another.

    Attributes:
        value: The value.
        private_key: Its key, if that may be a secret.
        secret: Whether it is a secret, or is in one.
        undeclared: Whether it is under an undeclared name.
    """

    value: Any
    private_key: str | None
    secret: bool
    undeclared: bool = False


def _parts(node: Node | None, value: Any, secrets: Collection[str]) -> Iterator[_InnerValue]:
    """Yield a value and its parts, breadth first; one secret stands for those beyond the limit."""
    queue = [(node, _InnerValue(value, None, _is_secret(None, value, node, frozenset(), secrets)))]
    for part_node, part in islice(queue, _MAX_PARTS):
        yield part
        branches, names = (part_node.branches, part_node.names) if part_node else ((), ())
        naming = keys_naming_secret(part.value, secrets)
        for key, entry in islice(entries(part.value), _MAX_PARTS + 1):
            child = child_in(branches, key)
            undeclared = isinstance(key, str) and key not in names
            private_key = key if undeclared and (part.secret or part.undeclared) else None
            secret = part.secret or _is_secret(key, entry, child, naming, secrets)
            queue.append((child, _InnerValue(entry, private_key, secret, part.undeclared or undeclared)))
    if len(queue) > _MAX_PARTS:
        yield _InnerValue(_UNSEARCHED, None, secret=True)


def _repeats(detail: str, text: str) -> bool:
    if len(text) >= _MIN_SUBSTRING:
        return text in detail or repr(text)[1:-1] in detail
    return bool(text) and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", detail) is not None
