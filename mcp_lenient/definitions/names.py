"""Names in a definitions file that no tool or parameter has, and the names that may be meant."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from mcp_lenient.redaction import shown
from mcp_lenient.refusal.likeness import likeness

if TYPE_CHECKING:
    from mcp_lenient.definitions.loading import Definitions

MAX_SENTENCES = 20
_ALIKE = 0.6


def unknown_names(definitions: Definitions, published: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """What of a definitions file no tool answers to, one sentence each, 20 at most.

    >>> from mcp_lenient.definitions import Definitions
    >>> definitions = Definitions({}, {}, {"find": frozenset({"querry"}), "serch": frozenset()})
    >>> for sentence in unknown_names(definitions, {"find": ["query"], "search": []}): print(sentence)
    Tool 'find' has no parameter 'querry'; did you mean 'query'?
    There is no tool 'serch'; did you mean 'search'?

    Args:
        definitions: The file.
        published: The parameter names of each tool that there is, by its name.
    """
    return tuple(islice(_sentences(definitions, published), MAX_SENTENCES))


def _sentences(definitions: Definitions, published: Mapping[str, Collection[str]]) -> Iterator[str]:
    for tool, parameters in definitions.names.items():
        if tool not in published:
            yield f"There is no tool '{shown(tool)}'{did_you_mean(tool, published)}"
            continue
        for name in sorted(parameters.difference(published[tool])):
            meant = did_you_mean(name, published[tool])
            yield f"Tool '{shown(tool)}' has no parameter '{shown(name)}'{meant}"


def did_you_mean(name: str, names: Collection[str]) -> str:
    """The end of a sentence about a name that is not there, with the one that is most like it."""
    near = max(names, key=lambda known: likeness(name, known), default=None)
    if near is None or likeness(name, near) < _ALIKE:
        return "."
    return f"; did you mean '{shown(near)}'?"
