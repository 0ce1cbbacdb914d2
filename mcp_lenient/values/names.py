"""Compare names: case style, plurals, one-letter slips, likeness."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from heapq import nsmallest
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from mcp_lenient.values.display import name_words

T = TypeVar("T")
_LONGEST_COMPARED = 100
_LONGEST_FOLDED = 1_000
"""Characters of the longest name that may have another case style; folding a longer one costs too much."""
_GAP_BETWEEN_DIGITS = re.compile(r"(?<=\d)[-_ ]+(?=\d)")
_KEPT_GAP = "\x1f"


def fold_case(text: str) -> str:
    """Fold the case of a text, keeping its length: ``ß`` and ``ss`` stay different."""
    folded = text.casefold()
    return folded if len(folded) == len(text) else text.lower()


def fold_name(name: str) -> str:
    """Fold the case style of a name; a separator counts only between two digits, where it changes the number."""
    if len(name) > _LONGEST_FOLDED:
        return name
    if "_" not in name and "-" not in name and " " not in name:
        return fold_case(name)
    separated = _GAP_BETWEEN_DIGITS.sub(_KEPT_GAP, name)
    return fold_case(separated.replace("_", "").replace("-", "").replace(" ", "")) or name


_CONVENTIONS = ("[^A-Z_ -][^_ -]*", "[A-Z][^_ -]*", "[^A-Z -]+", "[^A-Z_ ]+", "[^A-Z_-]+", "[^a-z -]+")


def style_of(names: Collection[str]) -> Callable[[str], bool]:
    """Return a test of whether a name is of one style with these: camel, Pascal, snake, kebab, words or constants."""
    bare = [name.strip("_-") for name in names]
    styles = [style for style in _CONVENTIONS if all(re.fullmatch(style, name) for name in bare)]
    return lambda name: any(re.fullmatch(style, name.strip("_-")) for style in styles)


def by_key(pairs: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    """Return the values of each key, in order."""
    groups: dict[str, list[T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def case_target(sent: str, folded: Mapping[str, Sequence[str]]) -> str | None:
    """Return the only name among the folded ones that differs from the sent one in case style alone.

    A leading underscore or hyphen marks a key that is not the caller's own (``_meta``) or has a meaning (``-date``, ``date-``),
    so it is never removed; for a declared ``_from`` one is added.
    """
    names = folded.get(fold_name(sent), ())
    if len(names) != 1 or names[0] == sent:
        return None
    marks = zip(_marks(sent), _marks(names[0]), strict=True)
    return names[0] if all(mark in ("", name_mark) for mark, name_mark in marks) else None


def _marks(name: str) -> tuple[str, str]:
    """Return the marks before a name, and those after it (`labels-`)."""
    return name[: len(name) - len(name.lstrip("_-"))], name[len(name.rstrip("-")) :]


# --- names of tools ---------------------------------------------------------------------------------------

_PREFIX = "mcp__"
_LONGEST_TOOL = 200  # a name has 128 characters at most, and a prefix


class ToolName(NamedTuple):
    """A listed tool that a name may mean, and the server behind this one that it must belong to; None for any."""

    name: str
    upstream: str | None = None


def tool_target(sent: str, listed: Collection[str], servers: Collection[str]) -> ToolName | None:
    """Return the one listed tool whose name differs from the sent one by case, separators or prefix alone.

    The prefix, ``mcp__server__``, must name this server (``servers``) or the one behind it that has the tool.
    """
    sent, leaked = _without_leaks(sent[: 2 * _LONGEST_TOOL])
    if " " in sent or len(sent) > _LONGEST_TOOL or not {*_LEAKED_WORD.findall(leaked)}.isdisjoint(listed):
        return None
    folded = by_key((_fold_tool(name), name) for name in listed)
    candidates = [ToolName(name) for name in folded.get(_fold_tool(sent), ())]
    parts = sent.split("__") if sent.startswith(_PREFIX) else []
    for at in range(2, len(parts)):
        server, tool = "__".join(parts[1:at]), "__".join(parts[at:])
        if server and tool:
            if any(same_tool_name(server, server_name) for server_name in servers):
                candidates += [ToolName(name) for name in folded.get(_fold_tool(tool), ())]
            candidates += [ToolName(name, server) for name in folded.get(_fold_tool(f"{server}_{tool}"), ())]
    return candidates[0] if len({candidate.name for candidate in candidates}) == 1 else None


# What a model's own format of calls leaves in a name: control tokens and namespaces of OpenAI's Harmony
# (github.com/openai/harmony, docs/format.md), and the namespace of Gemini's Python calls. `to=` names another recipient.
_LEAKS: Final = re.compile(
    r"(?:functions\.|default_api[.:])?(?P<name>[^<>|\s]+)\s*(?:<\|(?!.*\bto=).*)?", re.DOTALL
)
_LEAKED_WORD: Final = re.compile(r"[\w.-]+")


def _without_leaks(sent: str) -> tuple[str, str]:
    match = _LEAKS.fullmatch(sent)
    return (match["name"], sent[match.end("name") :]) if match else (sent, "")


def same_tool_name(one: str, other: str) -> bool:
    """Return whether two names differ by case and by ``-``, ``_`` and ``.`` in it alone."""
    return _fold_tool(one) == _fold_tool(other)


def _fold_tool(name: str) -> str:
    # An underscore in front says that a tool is not for everybody.
    return _marks(name)[0] + fold_name(name.replace(".", "_"))


# --- slips and plurals ------------------------------------------------------------------------------------

_MIN_LETTERS = 3
_MAX_SHORTENED = 2_000
"""Declared names of one object that are compared for slips."""


def singular(name: str) -> str:
    """Return a folded name in the singular, by the English endings ``ies``, ``es`` and ``s``."""
    folded = fold_name(name)
    if folded.endswith("ies") and len(folded) > 4:
        return f"{folded[:-3]}y"
    if folded.endswith(("sses", "xes", "ches", "shes", "oes")):
        return folded[:-2]
    is_plural = folded.endswith("s") and not folded.endswith("ss") and len(folded) >= _MIN_LETTERS
    return folded[:-1] if is_plural else folded


def squashed(name: str) -> str:
    """Return the case-folded letters and digits of a name: ``$dry-run`` and ``dryRun`` are equal."""
    return "".join(filter(str.isalnum, fold_case(name))) or name


def shortened_names(declared: Iterable[str]) -> dict[str, list[str]]:
    """Map squashed names, whole and without any one letter, to declared names."""
    names = islice(declared, _MAX_SHORTENED)
    return by_key((key, name) for name in names for key in _with_one_less(squashed(name)))


def one_slip_away(sent: str, shortened: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the :func:`shortened_names` that differ by an extra letter, a missing one or two swapped ones."""
    near = (name for rest in _with_one_less(squashed(sent)) for name in shortened.get(rest, ()))
    return [name for name in dict.fromkeys(near) if is_slip(sent, name)]


def _with_one_less(letters: str) -> set[str]:
    if len(letters) > _LONGEST_COMPARED:
        return set()
    return {letters, *(letters[:at] + letters[at + 1 :] for at in range(len(letters)))}


def is_slip(sent: str, name: str) -> bool:
    """Return whether two names differ by one extra letter or two swapped ones."""
    short, long = sorted((squashed(sent), squashed(name)), key=len)
    if short == long or len(long) - len(short) > 1 or len(short) < _MIN_LETTERS:
        return False
    at = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    if len(short) < len(long):
        return long[at].isalpha() and short[at:] == long[at + 1 :]
    pair = short[at : at + 2]
    return pair.isalpha() and pair == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]


# --- likeness ---------------------------------------------------------------------------------------------

SPELLING: Final = 0.95
"""The lowest likeness of two spellings of one name."""
_CONTAINED = 0.9
"""The highest likeness of two names when one has words that the other lacks."""
_BEGINS = 0.8
"""The likeness of a name and its beginning; that of other names is less."""
_MIN_AMONG_WORDS = 5
_MIN_REPLACED = 7
_CLOSE = 0.85


def likeness(sent: str, name: str) -> float:
    """Return how likely two names are one: 1 for the same words, less for words more, 0 for ``start_date`` and ``end_date``."""
    if max(len(sent), len(name)) > _LONGEST_COMPARED:
        return 0.0
    sent_words, words_of_name = _singular_words(sent), _singular_words(name)
    sent_letters, name_letters = "".join(sent_words), "".join(words_of_name)
    if not sent_letters or not name_letters:
        return 0.0
    if sent_letters == name_letters or sorted(sent_words) == sorted(words_of_name):
        return 1.0
    if set(sent_words) <= set(words_of_name) or set(words_of_name) <= set(sent_words):
        return _CONTAINED - 0.02 * abs(len(sent_words) - len(words_of_name))
    if len(sent_words) != len(words_of_name):
        is_other_spelling = is_slip(sent_letters, name_letters) and sent_letters[0] == name_letters[0]
        return SPELLING if is_other_spelling else _prefix_likeness(sent_letters, name_letters)
    differing = [pair for pair in zip(sent_words, words_of_name, strict=True) if pair[0] != pair[1]]
    if len(differing) > 1:
        return 0.0
    # Among other words a word may be a unit, of which one letter makes another: `kbit`, `kibit`.
    if same_word(*differing[0], least=_MIN_AMONG_WORDS if len(sent_words) > 1 else _MIN_LETTERS):
        return SPELLING
    # Among other words only an abbreviation of three letters: `max_size` and `maximum_size`, not `with_x` and `without_x`.
    is_last = differing[0] == (sent_words[-1], words_of_name[-1])
    return _prefix_likeness(*differing[0]) if is_last or min(map(len, differing[0])) == _MIN_LETTERS else 0.0


@lru_cache(maxsize=2048)
def _singular_words(name: str) -> tuple[str, ...]:
    return tuple(map(singular, name_words(name)))


def same_word(one: str, other: str, least: int = _MIN_AMONG_WORDS) -> bool:
    """Return whether two folded words are one with a slip; another first or last letter often makes another word."""
    if one[:1] != other[:1]:
        return False
    if is_slip(one, other):
        return len(one) == len(other) > _MIN_LETTERS or min(len(one), len(other)) >= least
    replaced = sum(letter != expected for letter, expected in zip(one, other, strict=False))
    return replaced == 1 and len(one) == len(other) >= _MIN_REPLACED and one[-1] == other[-1]


def _prefix_likeness(one: str, other: str) -> float:
    short, long = sorted((one, other), key=len)
    return _BEGINS if len(short) >= _MIN_LETTERS and long.startswith(short) else 0.0


def near(sent: str, names: Iterable[str]) -> list[str]:
    """Return the names similar to the sent one, likeliest first."""
    candidates = sorted(names)
    likely = sorted((-score, name) for name in candidates if (score := likeness(sent, name)))
    # Other than a value under a name, a tool's name may be suggested for any slip: nothing is moved.
    close = get_close_matches(sent[:_LONGEST_TOOL], candidates, cutoff=_CLOSE)
    return list(dict.fromkeys([*(name for _, name in likely), *close]))


def nearest(sent: str, names: Collection[str], most: int) -> list[str]:
    """Return the names that share most words and letters with the sent one, nearest first."""
    compared = sent[:_LONGEST_TOOL]
    words, letters = set(name_words(compared)), SequenceMatcher(b=compared)

    def distance(name: str) -> tuple[int, float, str]:
        letters.set_seq1(name[:_LONGEST_TOOL])
        return -len(words.intersection(name_words(name))), -letters.quick_ratio(), name

    return nsmallest(most, names, key=distance)
