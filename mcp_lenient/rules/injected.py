"""Which keys a client put beside the caller's own."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mcp_lenient.rules.names import LONGEST_NAME, fold_name, near_target, singular_words

_CALL_ID = "toolCallId"
_ALONE = frozenset({_CALL_ID, "wait_for_previous", "task_progress"})
_BESIDE_CALL_ID = frozenset({"action", "sessionId", "chatInput"})
_MOST_PRIVATE = 16

# What follows the underscore here asks for something (Mongo's `_id`, json-server's `_limit`, FHIR's `_count`)
# or restrains the call: to leave it out would run another call than the one that was sent.
_ASKING = frozenset(
    """
    id limit filter query sort
    count cursor element embed end exclude expand field include offset order page search select since skip
    source start summary top where
    confirm dryrun force
    """.split()
)
# And whatever else holds one of these words: it restrains or directs the call.
_RESTRAINING = frozenset(
    """
    abort cancel check commit confirm draft dry env environment etag force if match mode noop only preview
    region rev revision rollback run safe sandbox schedule simulate skip stage tenant test transaction undo
    unless validate version when
    """.split()
)


def injected_keys(
    unknown: Collection[Any],
    declared: Collection[str],
    also: Collection[str] = (),
    *,
    destructive: bool = False,
) -> frozenset[str]:
    """The undeclared keys that a known client adds to the arguments of a call.

    Args:
        unknown: All keys that came and are not declared.
        declared: The declared names.
        also: Further keys that the operator lists.
        destructive: Whether the tool destroys; then only ``toolCallId`` and what comes with it.
    """
    comes_with = _BESIDE_CALL_ID if _CALL_ID in unknown else frozenset[str]()
    if destructive:
        return frozenset(key for key in unknown if key == _CALL_ID or key in comes_with)
    named: list[Any] = []
    private: list[str] = []
    for key in unknown:
        if key in _ALONE or key in comes_with or key in also:
            named.append(key)
        elif isinstance(key, str) and key.startswith("_"):
            private.append(key)
    if len(private) <= _MOST_PRIVATE:
        named += [key for key in private if _is_private(key, declared)]
    return frozenset(named)


def _is_private(key: str, declared: Collection[str]) -> bool:
    """Whether an underscore marks the key as the client's own, and nothing declared may be meant by it."""
    name = key.lstrip("_")
    if len(name) > LONGEST_NAME or not name[:1].isalpha():
        return False
    words = singular_words(name)
    if (
        "".join(words) in _ASKING
        or not _RESTRAINING.isdisjoint(words)
        or near_target(name, declared) is not None
    ):
        return False
    return not any(_overlap(name, words, other) for other in declared)


def _overlap(name: str, words: list[str], declared: str) -> bool:
    """Whether two names are one, or all words of one stand side by side in the other."""
    folded = fold_name(declared)
    if folded == fold_name(name):
        return True
    if not any(word[:2] in folded for word in words):  # a shared word begins alike in singular and plural
        return False
    short, long = sorted((words, singular_words(declared)), key=len)
    return any(long[at : at + len(short)] == short for at in range(len(long)))
