"""Names in a definitions file that no tool or parameter has, and the names that may be meant."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from heapq import nlargest
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from mcp_lenient.likeness import likeness
from mcp_lenient.redaction import shown

if TYPE_CHECKING:
    from mcp_lenient.definitions.declarations import Definitions

MAX_SENTENCES = 20
_ALIKE = 0.6
_MOST_COMPARED = 20
_LONGEST = 100


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
    likely = nlargest(_MOST_COMPARED, names, key=partial(_shared_pairs, _pairs(name)))
    near = max(likely, key=lambda known: likeness(name[:_LONGEST], known[:_LONGEST]), default=None)
    if near is None or likeness(name[:_LONGEST], near[:_LONGEST]) < _ALIKE:
        return "."
    return f"; did you mean '{shown(near)}'?"


def _shared_pairs(pairs: frozenset[str], name: str) -> float:
    """How many pairs of letters two names share: a cheap first look, as there may be thousands of names."""
    others = _pairs(name)
    return 2 * len(pairs & others) / (len(pairs) + len(others))


def _pairs(name: str) -> frozenset[str]:
    folded = name[:_LONGEST].casefold()
    return frozenset((folded, *map("".join, pairwise(folded))))
