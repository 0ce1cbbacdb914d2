"""Look at the places of a refused call: what the schema says there, what was sent, and what must not be repeated."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcp_lenient.refusal.sentences import SAMPLES
from mcp_lenient.schema.checks import has_format
from mcp_lenient.schema.node import Node
from mcp_lenient.types import Path
from mcp_lenient.values.display import (
    HIDDEN,
    MAX_SCALAR,
    fits_json,
    has_credential,
    is_name,
    keys_naming_secret,
    secret_name,
    sentence,
    short_scalar,
    shown,
)
from mcp_lenient.values.display import place as in_words
from mcp_lenient.values.json_values import looks_like_json
from mcp_lenient.values.language import language
from mcp_lenient.values.patches import REMOVED, entries, value_at

if TYPE_CHECKING:
    from mcp_lenient.rules.policy import Policy

MAX_TOLD: Final = 200
_MAX_CORRECTED: Final = 100
_LOOKED_AT: Final = 2_000
_SUBSTRING: Final = 4
_MAX_BITS: Final = 4_000
_TOO_MUCH: Final = object()
_MAX_TEXTS: Final = 100


class Location(NamedTuple):
    """A place in the arguments, and its value.

    ``shown``: its path as it may be said; ``ways``: the branches of the node; ``declared``: every name in the path is in the
    schema's ``properties``; ``secret``: one of them is a secret's; ``may_show``: the value may be repeated; ``naming``: keys
    in it that name the secret beside them; ``optional``: it may be left out.
    """

    path: Path
    shown: Path
    node: Node | None
    ways: tuple[Node, ...]
    value: Any
    naming: frozenset[str]
    present: bool = True
    declared: bool = True
    secret: bool = False
    may_show: bool = False
    optional: bool = False


@dataclass
class Refused:
    """A refused call: its schema, its arguments as far as they could be repaired, and what applies to them.

    ``exact``: ``7.0`` is refused for an integer; ``as_texts``: a client can send nothing but strings.
    """

    top: Node
    arguments: Any
    policy: Policy
    exact: bool = False
    destructive: bool = False
    as_texts: bool = False

    def __post_init__(self) -> None:
        self.words = language(self.policy.language)
        naming, may_show = keys_naming_secret(self.arguments, self.policy.secret), self.policy.echo_values
        top = Location((), (), self.top, self.top.ways, self.arguments, naming, may_show=may_show)
        self._places: dict[Path, Location] = {(): top}

    def look(self, path: Path) -> Location:
        """Return the location of a path in the arguments."""
        if path in self._places:
            return self._places[path]
        above, key, secrets = self.look(path[:-1]), path[-1], self.policy.secret
        ways = self.meant(above)
        node, value = _of_all(ways, key), value_at(above.value, (key,))
        is_own = isinstance(key, int) or any(key in way.properties for way in ways)
        # An undeclared key may be a secret itself: below a secret, or without the form of a name.
        hidden = not is_own and (above.secret or not is_name(str(key)))
        secret = hidden or above.secret or _is_secret(key, value, node, above.naming, secrets)
        declared = is_own and above.declared
        needed = any(_needs(way, above.value, key) for way in above.ways)
        self._places[path] = Location(
            path,
            (*above.shown, HIDDEN if hidden else shown(key) if isinstance(key, str) else key),
            node,
            node.ways if node else (),
            None if value is REMOVED else value,
            keys_naming_secret(value, secrets),
            present=value is not REMOVED,
            declared=declared,
            secret=secret,
            may_show=declared and not secret and self.policy.echo_values,
            optional=declared and isinstance(key, str) and not needed,
        )
        return self._places[path]

    def named(self, path: Path) -> str:
        """Return a place in words: its path in quotes, as it may be said."""
        return f"'{in_words(self.look(path).shown, quoted=True)}'" if path else self.words("the arguments")

    def meant(self, place: Location) -> tuple[Node, ...]:
        """Return the branches that the value most likely targets; all where there is no value, or none fits."""
        if place.node is None or len(place.ways) < 2 or not place.present:
            return place.ways
        return place.node.meant(place.value, exact_integers=self.exact) or place.ways

    def may_echo(self, place: Location) -> bool:
        """Return whether a value is a short scalar that may be repeated, and no text in place of a list or object."""
        if not place.present or not place.may_show or not short_scalar(place.value):
            return False
        if not isinstance(place.value, str):
            return True
        types = frozenset() if place.node is None else place.node.accepted_types
        is_container = bool(types & {"array", "object"}) or looks_like_json(place.value)
        return not is_container and place.value not in self.private_texts

    def may_tell(self, place: Location, value: Any) -> bool:
        """Return whether a value that was not sent may be said at a location: it is short, and no secret is in it."""
        is_short = place.may_show and fits_json(value, MAX_TOLD)
        return is_short and not private(place.node, value, self.policy.secret)

    @cached_property
    def private_texts(self) -> frozenset[str | None]:
        """Long strings, and texts under secret or undeclared names, to repeat nowhere; None among them if there are too many."""
        texts: set[str | None] = set()
        for part in _parts(self.top, self.arguments, self.policy.secret):
            value, is_private = part.value, part.secret or part.open
            texts.add(part.key or "")
            if value is _TOO_MUCH:
                texts.add(None)
            elif isinstance(value, str) and (is_private or len(value) > MAX_SCALAR):
                texts.add(value)
            elif isinstance(value, (int, float)) and not isinstance(value, bool) and is_private:
                # Python refuses to write an integer of thousands of digits; no sentence contains one.
                is_long = isinstance(value, int) and value.bit_length() > _MAX_BITS
                texts.add("" if is_long else repr(value))
        return frozenset(texts - {""})

    def safe_sentence(self, places: Sequence[Location], detail: str, limit: int) -> str:
        """Return the author's sentence in one line; empty if it may be about a secret, or repeat one from the call."""
        if not all(place.may_show for place in places):
            return ""
        inside = (_parts(place.node, place.value, self.policy.secret) for place in places if place.path)
        if any(part.secret for parts in inside for part in parts):
            return ""
        if any(text is None or _repeats(detail, text) for text in self.private_texts):
            return ""
        return sentence(self.words.of(detail), limit)


def _needs(way: Node, value: object, key: str | int) -> bool:
    """Return whether a name cannot be left out: it is required, or the object would have too few."""
    return key in way.required or any(len([*entries(value)]) <= least for least in way.says("minProperties"))


def may_be_told(name: str, value: object, node: Node, policy: Policy) -> bool:
    """Return whether a value is short, and no secret is in it."""
    is_secret = secret_name(name, policy.secret) or private(node, value, policy.secret)
    return not is_secret and fits_json(value, _MAX_CORRECTED)


def private(node: Node | None, value: object, secrets: Collection[str] = ()) -> bool:
    """Return whether a value contains a secret, or anything under an undeclared name."""
    return any(part.secret or part.open for part in _parts(node, value, secrets))


def without_format(node: Node | None, value: object, path: Path = ()) -> Iterator[Path]:
    """Yield the places of accepted texts that have no format that the schema names there, which the tool may need."""
    waiting: list[tuple[Node | None, Any, Path]] = [(node, value, path)]
    for at, part, here in islice(waiting, _MAX_TEXTS):
        formats = [way.format for way in at.ways if way.takes(part)] if at and isinstance(part, str) else []
        if formats and not any(form not in SAMPLES or has_format(form, part) for form in formats):
            yield here
        inside = islice(entries(part), _MAX_TEXTS) if at else ()
        waiting += [(below(at, key), entry, (*here, key)) for key, entry in inside]


def below(node: Node | None, key: object) -> Node | None:
    """Return the node of a property or item, of all branches."""
    return _of_all(node.ways if node else (), key)


def _of_all(ways: Iterable[Node], key: object) -> Node | None:
    found = [child for way in ways if (child := way.child(key)) is not None]
    return found[0].tree.any_of(found) if found else None


def _is_secret(
    key: object, value: object, node: Node | None, naming: frozenset[str], secrets: Collection[str]
) -> bool:
    """Return whether a value is a secret: by its name, by keys beside it that name one, by its schema or by its form."""
    is_of_name = secret_name(key, secrets) or not naming <= {key}
    return is_of_name or (node is not None and node.secret) or has_credential(value)


class _Within(NamedTuple):
    """A value within another: its key if that may be a secret, whether it or what it is in is one, or has no declared name."""

    value: Any
    key: str | None
    secret: bool
    open: bool = False


def _parts(node: Node | None, value: Any, secrets: Collection[str]) -> Iterator[_Within]:
    """Yield a value and what is in it, from the outside in; one secret in place of what is too much to look at."""
    waiting = [(node, _Within(value, None, _is_secret(None, value, node, frozenset(), secrets)))]
    for at, part in islice(waiting, _LOOKED_AT):
        yield part
        ways, names = (at.ways, at.names) if at else ((), ())
        named = keys_naming_secret(part.value, secrets)
        for key, entry in islice(entries(part.value), _LOOKED_AT + 1):
            child = _of_all(ways, key)
            is_open = isinstance(key, str) and key not in names
            hidden = key if is_open and (part.secret or part.open) else None
            is_secret = part.secret or _is_secret(key, entry, child, named, secrets)
            waiting.append((child, _Within(entry, hidden, is_secret, part.open or is_open)))
    if len(waiting) > _LOOKED_AT:
        yield _Within(_TOO_MUCH, None, secret=True)


def _repeats(detail: str, text: str) -> bool:
    if len(text) >= _SUBSTRING:
        return text in detail or repr(text)[1:-1] in detail
    return bool(text) and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", detail) is not None
