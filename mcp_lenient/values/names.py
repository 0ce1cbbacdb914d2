"""Compare names: case style, plurals, spellings, one-letter slips, similarity."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from mcp_lenient.values.display import name_words

LONGEST_NAME = 100
"""Characters of the longest sent name that is compared by more than case style."""
_MIN_SINGULAR = 2
_WORD = re.compile(r"\d+|[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|[^\w\s-]+")
_SYMBOL = 2
"""Letters of a symbol that case tells from another, such as ``pH``."""
_GAP_BETWEEN_DIGITS = re.compile(r"(?<=\d)[-_ ]+(?=\d)")
# mutant: any character that does not occur in names
_KEPT_GAP = "\x1f"


def fold_case(text: str) -> str:
    """Fold the case of a text, keeping its length: ``ß`` and ``ss`` stay different."""
    folded = text.casefold()
    return folded if len(folded) == len(text) else text.lower()


def fold_name(name: str) -> str:
    """Fold the case style of a name.

    A separator counts only between two digits, where it changes the number.

    >>> {fold_name(name) for name in ("maxResults", "max_results", "Max-Results", "MAX RESULTS")}
    {'maxresults'}
    >>> fold_name("page_2") == fold_name("page2"), fold_name("v1_2") == fold_name("v12")
    (True, False)
    """
    if "_" not in name and "-" not in name and " " not in name:
        return fold_case(name)
    kept = _GAP_BETWEEN_DIGITS.sub(_KEPT_GAP, name)
    return fold_case(kept.replace("_", "").replace("-", "").replace(" ", "")) or name


def words_in(name: str) -> list[str]:
    """Return the words of a name as written.

    >>> words_in("maxHTTPDepth"), words_in("max_http-depth")
    (['max', 'HTTP', 'Depth'], ['max', 'http', 'depth'])
    """
    return _WORD.findall(name)


def words_of(name: str) -> list[str]:
    """Return the words of a name, case-folded.

    >>> words_of("maxHTTPDepth") == words_of("MAX_HTTP_DEPTH"), words_of("for_ce") == words_of("force")
    (True, False)
    """
    return [fold_case(word) for word in words_in(name)]


def share_style(names: Iterable[str]) -> bool:
    """Return whether one convention writes all these names: the same separator, and capitals in the same places.

    >>> share_style(["userId", "dryRun", "limit"]), share_style(["userId", "Limit"]), share_style(["userId", "dry_run"])
    (True, False, False)
    >>> share_style(["USER_ID", "LIMIT"]), share_style(["USER_ID", "Limit"])
    (True, False)
    """
    separators: set[str] = set()
    first, others = set(_CASES), set(_CASES)
    for name in names:
        begin, *rest = words_in(name) or [name]
        first &= _cases(begin) if begin.capitalize() == begin or not begin.isupper() else {"upper"}
        for word in rest:
            others &= _cases(word)
        if rest:
            separators.add("".join(sorted({letter for letter in name.strip("_-") if letter in "_- "})))
    return bool(first and others) and len(separators) < 2


_CASES = frozenset({"lower", "title", "upper"})


def _cases(word: str) -> frozenset[str]:
    """Return the cases that a word of a name may be in: ``ID`` has the capital of a word and is an acronym."""
    if word.lower() == word.upper():
        return _CASES
    found = {"lower": word == word.lower(), "title": word[0].isupper(), "upper": word == word.upper()}
    return frozenset(case for case, fits in found.items() if fits)


def folded_names(declared: Iterable[str]) -> dict[str, str | None]:
    """Map folded names to declared names; None if two fold alike. Built once per schema."""
    folded: dict[str, str | None] = {}
    for name in declared:
        key = fold_name(name)
        folded[key] = None if key in folded else name
    return folded


def case_target(sent: str, declared: Mapping[str, str | None]) -> str | None:
    """Return the only declared name that differs from the sent one in case style alone.

    A leading underscore or hyphen marks a key that is not the caller's own (``_meta``) or has a meaning (``-date``),
    so it is never removed; for a declared ``_from`` one is added. Case has a meaning in a name of two letters if both
    spellings mix cases (``pH`` and ``Ph``).
    """
    target = declared.get(fold_name(sent))
    if target is None or target == sent or _lead(sent) not in ("", _lead(target)):
        return None
    return None if _is_other_symbol("".join(words_in(sent)), "".join(words_in(target))) else target


def _is_other_symbol(one: str, other: str) -> bool:
    return one != other and len(one) == _SYMBOL and not (_has_one_case(one) or _has_one_case(other))


def _has_one_case(text: str) -> bool:
    return text in (text.lower(), text.upper())


def _lead(name: str) -> str:
    return name[: len(name) - len(name.lstrip("_-"))]


_PREFIX = "mcp__"
_LONGEST_TOOL = 200
"""Characters of the longest sent tool name that is compared with others; names have 128 at most, and a prefix."""


class ToolName(NamedTuple):
    """A listed tool that a name may mean.

    Attributes:
        name: Its name.
        upstream: The server behind this one that it must belong to; None where any will do.
    """

    name: str
    upstream: str | None = None


def tool_target(sent: str, listed: Collection[str], servers: Collection[str]) -> ToolName | None:
    """Return the one listed tool whose name differs from the sent one by case, separators or prefix alone.

    >>> tool_target("Store-Context", ["store_context", "search"], []).name
    'store_context'
    >>> tool_target("mcp__notes__search", ["search"], ["notes"]), tool_target("mcp__mail__search", ["search"], ["notes"])
    (ToolName(name='search', upstream=None), None)
    >>> tool_target("mcp__files__read", ["files_read", "docs_read"], ["all"])
    ToolName(name='files_read', upstream='files')

    Args:
        sent: The name that came; the separators are ``-``, ``_`` and ``.``, the prefix is ``mcp__server__``.
        listed: The names that there are.
        servers: The names of this server.
    """
    if " " in sent or len(sent) > _LONGEST_TOOL:
        return None
    folded: dict[str, list[str]] = {}
    for name in listed:
        folded.setdefault(_fold_tool(name), []).append(name)
    found = [ToolName(name) for name in folded.get(_fold_tool(sent), ())]
    parts = sent.split("__") if sent.startswith(_PREFIX) else []
    for at in range(2, len(parts)):
        server, tool = "__".join(parts[1:at]), "__".join(parts[at:])
        if not server or not tool:
            continue
        if any(same_tool_name(server, own) for own in servers):
            found += [ToolName(name) for name in folded.get(_fold_tool(tool), ())]
        found += [ToolName(name, server) for name in folded.get(_fold_tool(f"{server}_{tool}"), ())]
    return found[0] if len({meant.name for meant in found}) == 1 else None


def same_tool_name(one: str, other: str) -> bool:
    """Return whether two names differ by case and by ``-``, ``_`` and ``.`` in it alone."""
    return _fold_tool(one) == _fold_tool(other)


def _fold_tool(name: str) -> str:
    # An underscore in front says that a tool is not for everybody.
    return _lead(name) + fold_name(name.replace(".", "_"))


def by_singular(plurals: Iterable[str], declared: Iterable[str] = ()) -> dict[str, str | None]:
    """Map folded singulars, with leading underscores, to plurals; None if two share one. Built once per schema.

    >>> by_singular(["tags", "keys"], ["key"])
    {'tag': 'tags'}

    Args:
        plurals: The declared names that may replace a singular.
        declared: All declared names; a singular among them is never replaced.
    """
    own = frozenset(map(fold_name, declared))
    found: dict[str, str | None] = {}
    for name in plurals:
        for singular in _singulars(fold_name(name)):
            key = _lead(name) + singular
            if singular not in own:
                found[key] = None if key in found else name
    return found


def plural_target(sent: str, plurals: Mapping[str, str | None]) -> str | None:
    """Return the only declared name that is the plural of the sent one."""
    return plurals.get(_lead(sent) + fold_name(sent)) if len(sent) <= LONGEST_NAME else None


def _singulars(plural: str) -> Iterator[str]:
    """Yield the singulars of a folded name, by the English endings ``ies``, ``es`` and ``s``."""
    candidates = (plural[:-3] + "y", plural[:-2], plural[:-1])
    for ending, singular in zip(("ies", "es", "s"), candidates, strict=True):
        if plural.endswith(ending) and len(singular) >= _MIN_SINGULAR and ending in _plurals(singular):
            yield singular


def _plurals(singular: str) -> tuple[str, ...]:
    """Return the plural endings of a folded name; none if it does not end in a letter a to z."""
    last, before = singular[-1], singular[-2]
    if not "a" <= last <= "z":
        return ()
    if last == "y" and before not in "aeiou":
        return ("ies",)
    if last == "o":
        return ("es", "s")
    return ("es",) if singular.endswith(("s", "x", "z", "ch", "sh")) else ("s",)


def squashed(name: str) -> str:
    """Return the case-folded letters and digits of a name: ``$dry-run`` and ``dryRun`` are equal."""
    return "".join(filter(str.isalnum, fold_case(name))) or name


_MIN_SQUASHED = 3
_MIN_REPLACED = 4
# mutant: a bound; one more changes no answer
_MAX_SHORTENED = 2_000
"""Declared names of one object that are compared for slips."""
Spelt = Mapping[str, tuple[str, ...]]
"""Declared names by their folded letters."""


def by_letters(declared: Iterable[str]) -> Spelt:
    """Map squashed names to declared names."""
    found: dict[str, tuple[str, ...]] = {}
    for name in declared:
        letters = squashed(name)
        found[letters] = (*found.get(letters, ()), name)
    return found


def by_letters_but_one(spelt: Spelt) -> Spelt:
    """Map squashed names without any one letter to declared names."""
    found: dict[str, tuple[str, ...]] = {}
    for letters in islice(spelt, _MAX_SHORTENED):
        if len(letters) <= LONGEST_NAME:
            for rest in _but_one(letters):
                found[rest] = (*found.get(rest, ()), *spelt[letters])
    return found


def one_slip_away(sent: str, spelt: Spelt, shortened: Spelt) -> Iterator[tuple[str, ...]]:
    """Yield the declared names that differ by an extra letter, a missing one or two swapped ones."""
    letters = squashed(sent)
    if not _MIN_SQUASHED <= len(letters) <= LONGEST_NAME:
        return
    for other in (*_but_one(letters), *_swaps(letters)):
        if other in spelt and len(other) >= _MIN_SQUASHED:
            yield spelt[other]
    if letters in shortened:
        yield shortened[letters]


def is_slip(sent: str, name: str) -> bool:
    """Return whether two names differ by one extra letter or two swapped letters.

    >>> is_slip("tgas", "tags"), is_slip("max_result", "max_results"), is_slip("gte", "lte")
    (True, True, False)
    """
    short, long = sorted((squashed(sent), squashed(name)), key=len)
    if short == long or len(long) - len(short) > 1 or len(short) < _MIN_SQUASHED:
        return False
    at = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    if len(short) < len(long):
        return long[at].isalpha() and short[at:] == long[at + 1 :]
    pair = short[at : at + 2]
    return pair.isalpha() and pair == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]


def is_replaced(sent: str, name: str) -> bool:
    """Return whether two names differ in one replaced letter.

    >>> is_replaced("insure", "ensure"), is_replaced("gte", "lte")
    (True, False)
    """
    one, other = squashed(sent), squashed(name)
    if len(one) != len(other) or len(one) < _MIN_REPLACED:
        return False
    pairs = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return len(pairs) == 1 and pairs[0][0].isalpha() and pairs[0][1].isalpha()


def _but_one(letters: str) -> set[str]:
    return {letters[:at] + letters[at + 1 :] for at, letter in enumerate(letters) if letter.isalpha()}


def _swaps(letters: str) -> Iterator[str]:
    for at in range(len(letters) - 1):
        pair = letters[at : at + 2]
        if pair[0] != pair[1] and pair.isalpha():
            yield f"{letters[:at]}{pair[::-1]}{letters[at + 2 :]}"


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word


_SAME_WORDS = 1.0
_ONE_SLIP = 0.95
_CONTAINED = 0.9
_SAME_END = 0.8
_SHARED = 0.5
_MIN_START = 3
_MIN_SLIP = 3
_MIN_SWAPPED = 4
_MIN_SLIP_AMONG_WORDS = 5
_MIN_RESPELLED = 5
_MIN_VOWEL = 6
_MAX_COMPARED = 128
_VOWELS = frozenset("aeiou")
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
"""The letter rows of a QWERTY keyboard (ISO/IEC 9995)."""


@lru_cache(maxsize=8192)
def likeness(sent: str, name: str) -> float:
    """Return the similarity of two names: 1 for the same words, 0 for none in common.

    It is above 0.5 only if one may be a spelling of the other, an abbreviation, or the other with words added. Names of
    as many words that differ in one of them, like ``start_date`` and ``end_date``, are two names.

    >>> likeness("user_name", "name") > likeness("user_name", "file_name") > likeness("user_name", "city")
    True
    >>> likeness("startDate", "end_date") < 0.5
    True
    """
    left, right = _singular_words(sent), _singular_words(name)
    if not left or not right:
        return 0.0
    one, other = frozenset(left), frozenset(right)
    if one == other:
        return _SAME_WORDS
    shared = one & other
    differing = [at for at, (own, word) in enumerate(zip(left, right, strict=False)) if own != word]
    if len(left) == len(right) and len(differing) == 1:
        own, word = name_words(sent)[differing[0]], name_words(name)[differing[0]]
        is_last = differing[0] == len(left) - 1
        return _as_words(own, word, alone=len(left) == 1, is_last=is_last) or _common(one, other)
    if shared in (one, other):
        return _CONTAINED - 0.02 * (len(one | other) - len(shared))
    if is_slip(sent[:LONGEST_NAME], name[:LONGEST_NAME]):
        return _ONE_SLIP
    return _begins_alike("".join(name_words(sent)), "".join(name_words(name))) or _common(one, other)


def _singular_words(name: str) -> list[str]:
    return [_singular(word) for word in name_words(name)]


def _common(one: frozenset[str], other: frozenset[str]) -> float:
    return _SHARED * len(one & other) / len(one | other)


def _as_words(one: str, other: str, *, alone: bool, is_last: bool) -> float:
    """Return the similarity of two words that differ; 0 if they are two words.

    Among other words a word is often a unit, of which one letter makes another: ``kbit``, ``kibit``.
    """
    if max(len(one), len(other)) > LONGEST_NAME:
        return 0.0
    if is_slip(one, other):
        is_swapped = len(one) == len(other)
        least = _MIN_SWAPPED if is_swapped else _MIN_SLIP if alone else _MIN_SLIP_AMONG_WORDS
        # A letter in front makes another word: `async`, `order` and `border`.
        if min(len(one), len(other)) >= least and (is_swapped or one[0] == other[0]):
            return _ONE_SLIP
    if is_respelled(one, other):
        return _SAME_END
    # In front, a longer word may say the contrary: `with_history`, `without_history`.
    return _begins_alike(one, other) if is_last else 0.0


def is_respelled(one: str, other: str) -> bool:
    """Return whether two words differ in one letter that is easily mistaken: two vowels, or two neighbors on a keyboard.

    The last letter often is an ending with a meaning of its own (``payer``, ``payee``), and a vowel is in a short word
    (``micro``, ``macro``).

    >>> is_respelled("ensure", "insure"), is_respelled("query", "wuery"), is_respelled("height", "weight")
    (True, True, False)
    """
    if not is_replaced(one, other) or one[-1] != other[-1]:
        return False
    pair = next(pair for pair in zip(one, other, strict=True) if pair[0] != pair[1])
    if _VOWELS.issuperset(pair):
        return len(one) >= _MIN_VOWEL
    rows = [row for row in _KEYBOARD if pair[0] in row and pair[1] in row]
    beside = any(abs(row.index(pair[0]) - row.index(pair[1])) == 1 for row in rows)
    return beside and len(one) >= _MIN_RESPELLED


_PARTICIPLE = "ed"
_MIN_VERB = 4
_SIBILANTS = frozenset("csz")


def is_same_word(one: str, other: str) -> bool:
    """Return whether two folded texts are one word, with a slip or another ending of English.

    The endings are those of the plural and of ``ed``. In a short word, another letter more often makes another word
    (``usdt`` and ``usd``, ``form`` and ``from``) than a slip.

    >>> is_same_word("opened", "open"), is_same_word("day", "days"), is_same_word("organisation", "organization")
    (True, True, True)
    >>> is_same_word("usdt", "usd"), is_same_word("white", "write"), is_same_word("offline", "off"), is_same_word("", "a")
    (False, False, False, False)
    """
    short, long = sorted((one, other), key=len)
    if not short or short[0] != long[0] or len(long) > LONGEST_NAME:
        return False
    if len(short) >= _MIN_SQUASHED and short in _singulars(long):
        return True
    if len(short) >= _MIN_VERB and long == f"{short.removesuffix('e')}{_PARTICIPLE}":
        return True
    if is_slip(short, long):
        return len(short) >= _MIN_SLIP_AMONG_WORDS
    return is_respelled(short, long) or _sound_alike(short, long)


def _sound_alike(one: str, other: str) -> bool:
    """Return whether two words differ in ``c``, ``s`` and ``z`` alone: ``summarise``, ``licence``."""
    if len(one) != len(other) or len(one) < _MIN_VOWEL:
        return False
    pairs = zip(one, other, strict=True)
    return all(own == letter or _SIBILANTS.issuperset((own, letter)) for own, letter in pairs)


class Added(NamedTuple):
    """The words that one of two names has in addition, and whether they all follow the other's words."""

    words: frozenset[str]
    behind: bool


@lru_cache(maxsize=8192)
def added_words(short: str, long: str) -> Added | None:
    """Return the words that a name has in addition to all words of another; None if it does not have them all.

    >>> added_words("timeout", "timeout_ms"), added_words("timeout_ms", "timeout")
    (Added(words=frozenset({'ms'}), behind=True), None)
    """
    few, many = _singular_words(short), _singular_words(long)
    words = frozenset(many).difference(few)
    if not words or not few or not frozenset(few).issubset(many):
        return None
    return Added(words, behind=many[: len(few)] == few)


def _nearness(sent: str, name: str) -> float:
    # Other than a value under a name, a tool's name may be suggested for any slip: nothing is moved.
    is_near = is_slip(sent[:LONGEST_NAME], name[:LONGEST_NAME]) or is_replaced(
        sent[:LONGEST_NAME], name[:LONGEST_NAME]
    )
    return max(likeness(sent, name), _SAME_END if is_near else 0.0)


def near(sent: str, names: Iterable[str]) -> list[str]:
    """Return the names similar to the sent one, likeliest first.

    >>> near("store_contxt", ["search_mail", "store_context"])
    ['store_context']
    """
    likely = {name: _nearness(sent[:_MAX_COMPARED], name) for name in names}
    return sorted(
        (name for name, how in likely.items() if how > _SHARED), key=lambda name: (-likely[name], name)
    )


def _begins_alike(one: str, other: str) -> float:
    short, long = sorted((one, other), key=len)
    # What is put in front of a word often says the contrary: `unread`, `inactive`.
    return _SAME_END if len(short) >= _MIN_START and long.startswith(short) else 0.0
