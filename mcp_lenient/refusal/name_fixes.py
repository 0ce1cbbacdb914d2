"""Mends for names: one that lacks, and one that nobody declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mcp_lenient.pointers import pointer
from mcp_lenient.redaction import exact, name_words, secret_name
from mcp_lenient.refusal.describe import allowed_values
from mcp_lenient.refusal.levels import another_spelling, gathering, home, unwrapping, wrapped
from mcp_lenient.refusal.patches import Operation, Patch
from mcp_lenient.refusal.places import Place, fits, properties
from mcp_lenient.refusal.refused import Refusal, likely_name
from mcp_lenient.types import Path, ViolationCode
from mcp_lenient.values import same_json

_IDENTIFIERS = frozenset(
    {"id", "ids", "identifier", "identifiers", "uuid", "uuids", "guid", "guids", "uid", "uids"}
)
"""Last words of names whose value identifies one thing: under another name it would identify another."""


def name_fixes(refusal: Refusal, code: ViolationCode, path: Path) -> Iterator[Patch]:
    """Patches that may mend a missing or an unknown name, likeliest first; none of them was tried yet."""
    parent, name = refusal.look(path[:-1]), path[-1]
    if not isinstance(parent.value, Mapping) or not isinstance(name, str):
        return
    found = wrapped(refusal) if not parent.path else None
    if found is not None and name in (found.path[0], *found.names, *found.beside):
        yield from unwrapping(found)
    elif code == "missing":
        yield from gathering(refusal, refusal.look(path))
        yield from _moves_to(refusal, parent, name)
        yield from _only_value(refusal, path)
    elif exact(name):
        yield from _moves_from(refusal, parent, name)


def _moves_to(refusal: Refusal, parent: Place, name: str) -> Iterator[Patch]:
    names = refusal.names_at(parent)
    likely = _ranked((likely_name(names, other, name), other) for other in names.extra)
    for sent in (other for other in likely if may_move(other, name, _ending_alike(parent, other))):
        yield (_move((*parent.path, sent), (*parent.path, name)),)
    if parent.path and name in refusal.names_at(refusal.look(())).extra:
        yield (_move((name,), (*parent.path, name)),)


def _moves_from(refusal: Refusal, parent: Place, sent: str) -> Iterator[Patch]:
    names = refusal.names_at(parent)
    if sent not in names.extra or not isinstance(parent.value, Mapping):
        return
    value = parent.value[sent]
    twin = another_spelling(refusal, parent, sent)
    if twin is not None:
        if same_json(parent.value[twin], value):
            yield (_remove((*parent.path, sent)),)
        return
    likely = _ranked((likely_name(names, sent, name), name) for name in names.absent)
    moves: list[Patch] = [
        (_move((*parent.path, sent), (*parent.path, name)),)
        for name in likely
        if may_move(sent, name, _ending_alike(parent, sent))
    ]
    belongs = home(refusal, parent, sent)
    if belongs is not None:
        inside = list(gathering(refusal, refusal.look(belongs[:-1])))
        moves = [*inside, *moves] if belongs[-2] in names.lacking or not moves else [*moves, *inside]
    yield from moves
    missing = [fault.path for fault in refusal.outcome.faults if fault.kind == "missing"]
    yield from (
        (_move((*parent.path, sent), path),)
        for path in missing
        if path[:-1] != parent.path and path[-1] == sent
    )
    meant = (
        missing or likely or any(_would_take(refusal, (*parent.path, name), value) for name in names.absent)
    )
    if not moves and not meant:
        yield (_remove((*parent.path, sent)),)


def _would_take(refusal: Refusal, path: Path, value: object) -> bool:
    """Whether a value may have been meant for this name: its JSON type fits, and it says something."""
    if value in (None, "", [], {}):
        return False
    return any(fits(form, value, exact_integers=False) for form in refusal.look(path).forms)


def _ending_alike(parent: Place, sent: str) -> int:
    """Return how many declared names end in the sent one."""
    own = "".join(name_words(sent))
    names = {name for form in parent.forms for name in properties(form)}
    return sum("".join(name_words(name)).endswith(own) for name in names) if own else 0


def may_move(sent: str, name: str, ending_alike: int = 1) -> bool:
    """Return whether a fix may move a value to another name.

    An identifier goes under the same words only. A bare ``id`` does not say of what: it may be that of the one
    name which ends in it. A secret goes under no name of what may be shown.

    >>> may_move("userId", "user_id"), may_move("id", "user_id"), may_move("id", "user_id", 2)
    (True, True, False)
    >>> may_move("user_id", "customer_id"), may_move("sessionid", "session"), may_move("password", "query")
    (False, False, False)

    Args:
        sent: The name that came.
        name: The declared name.
        ending_alike: How many declared names end in the sent one.
    """
    words, declared = name_words(sent), name_words(name)
    squashed = "".join(declared)
    if not words or "".join(words) == squashed:
        return True
    if secret_name(sent) and not secret_name(name):
        return False
    if len(words) == 1 and squashed.endswith(words[0]):
        return ending_alike == 1 or words[0] not in _IDENTIFIERS
    last = words[-1]
    run_together = last.endswith("id") and last.removesuffix("id") in declared
    return last not in _IDENTIFIERS and not run_together


def _move(source: Path, target: Path) -> Operation:
    return {"op": "move", "from": pointer(source), "path": pointer(target)}


def _remove(path: Path) -> Operation:
    return {"op": "remove", "path": pointer(path)}


def _ranked(scored: Iterable[tuple[float, str]]) -> list[str]:
    """The names with a score, best first; the order of the schema or call decides between equals."""
    found = [(score, name) for score, name in scored if score > 0]
    return [name for _, name in sorted(found, key=lambda entry: -entry[0])]


def _only_value(refusal: Refusal, path: Path) -> Iterator[Patch]:
    values = allowed_values(refusal.look(path).forms)
    if len(values) == 1:
        yield ({"op": "add", "path": pointer(path), "value": values[0]},)
