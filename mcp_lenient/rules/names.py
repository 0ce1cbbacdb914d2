"""Whether two names are one: by case style, by a slip of the keyboard, by number, or by a shared word."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

LONGEST_NAME = 100
"""Characters of the longest sent name that is compared by more than its case style."""

_SHORTEST_SWAPPED_WORD = 4
_SHORTEST_SLIPPED_WORD = 5
_SHORTEST_PLURAL = 3
_SHORTEST_IES_PLURAL = 5

_WORD = re.compile(r"\d+|[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|[^\w\s-]+")
_GAP_BETWEEN_DIGITS = re.compile(r"(?<=\d)[-_ ]+(?=\d)")
_KEPT_GAP = "\x1f"
_SEPARATORS = ("_", "-", " ")

# A sent word that is spelt right is no slip, even where a declared word is one letter away: whoever sends
# `path` does not mean `patch`. Each of these has such a neighbor by the measure of `near_target`.
_REAL_WORDS = frozenset(
    """
    action angel angels angle angles assert asserts asset assets auction back band batch bath best bets
    black bond bound brand calm cart carts case cases cash cast casual cats causal cause causes chars
    chart charts chat chats clam clause coast compete competing complete completing contact contacts
    contract contracts convert cores cors cost costs cots country county covert crash crate create dairy
    derive diary diver divers does dose drive driver drivers drives failed fame feet fiend fight filed
    files filled flat fleet flies flight float font fonts form forms forum forums found frame friend from
    front fronts fund gain garage garbage gene genes genre genres gird grain grid grind heart heat
    identifiers identifies insert inset into intro last later latter launch lawyer layer least lion lips
    lisp list lits loin loose lose lost lots lunch maker makers makes marital marker markers martial match
    matchers matches math models modes month moth mouse move moves movie movies muse naive native pace
    paces pairs paris parity party past patch patent path paths patient pats payer payers peace phase
    phases phrase phrases pint place places plain plan player players point portion posed post posted
    posts potion pots present presents preset presets price prince print providers provides quiet quite
    raise react rect redact relay rely replay reply reset resets resolvers resolves rest rests rise rogue
    rote rouge route sacred sale sales scale scales scared seed sell send sent server sever shell shift
    short shot side sides sift sign silver sing singe single site sites slide slides sliver sold solid
    sender counties stores votes unblock reuse plants patents trails charges liked stale util exit exits exist exists
    tracker tracer caching catching parens parents slice splice codes codecs though through
    behavior behaviour uint unit stable until
    sort sorts specifiers specifies speed spend spent spilt spit split sport sports spot spots staring
    stars start starting starts stat state states stats statue status statute steam sting stream string
    suite suites table tail tale tend tends there thick thorough thread threat three through tick tied
    tier tiers ties tile tiles timer times tired title titles trail tread treat tree trend trends trial
    tried unite united untie untied users uses were where width with word words world worlds
    """.split()
)

# Words that end in s and are no plural of what stands before it, though that is a word or short form too.
_NO_PLURALS = frozenset(
    """
    alias analysis arms as atlas aws axis basis bias bonus bus campus canvas census corpus css customs cvs dns
    does dos focus gas goods gps has ios is its lens less means minus news os plus pos radius rss sas sms sns
    sqs status this tls us virus was yes
    """.split()
)


def fold_case(text: str) -> str:
    """The text without its letter case, of the same length: ``ß`` and ``ss`` stay two spellings."""
    folded = text.casefold()
    return folded if len(folded) == len(text) else text.lower()


def fold_name(name: str) -> str:
    """The name without its case style; names that fold alike differ by nothing else.

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


def folded_names(declared: Iterable[str]) -> dict[str, str | None]:
    """The declared names by their fold; None where two fold alike. Built once per schema."""
    folded: dict[str, str | None] = {}
    for name in declared:
        key = fold_name(name)
        folded[key] = None if key in folded else name
    return folded


def case_target(sent: str, declared: Mapping[str, str | None]) -> str | None:
    """The one declared name that differs from the sent one by case style alone.

    An underscore or hyphen in front says that a key is not the caller's own (``_meta``) or means something
    (``-date``), so it is never taken away; toward a declared ``_from`` one is added.

    Args:
        sent: The name that came.
        declared: What :func:`folded_names` made of the declared names.
    """
    target = declared.get(fold_name(sent))
    if target is None or target == sent or _lead(sent) not in ("", _lead(target)):
        return None
    return target


def _lead(name: str) -> str:
    return name[: len(name) - len(name.lstrip("_-"))]


def near_target(sent: str, declared: Collection[str]) -> str | None:
    """The one declared name that is a slip of the keyboard away.

    A slip is made inside one word, whose first letter stands: two adjacent letters swapped (in words of
    four letters and more; of three, most are acronyms: ``dns``, ``dsn``), or, in a declared word of five
    letters and more, one letter missing or extra that is not the last. A letter is never replaced by another,
    a digit never touched, and a sent word that is spelt right is no slip.
    """
    near = _near_targets(sent, declared)
    return near[0] if len(near) == 1 else None


def _near_targets(sent: str, declared: Collection[str]) -> list[str]:
    if len(sent) > LONGEST_NAME:
        return []
    folded = fold_name(sent)
    words = _words(sent)
    near = []
    for name, other in _alike_in_front(folded, declared):
        if other == folded:
            return []
        if (
            abs(len(other) - len(folded)) <= 1
            and _lead(name) == _lead(sent)
            and _is_slip(words, _words(name))
        ):
            near.append(name)
    return near


def _alike_in_front(folded: str, declared: Collection[str]) -> Iterator[tuple[str, str]]:
    """The declared names that begin with the letter of the folded one, and their folds."""
    front = {folded[:1], folded[:1].upper(), *_SEPARATORS}
    return ((name, fold_name(name)) for name in declared if name[:1] in front)


def _words(name: str) -> list[str]:
    return [fold_case(word) for word in _WORD.findall(name)]


def _is_slip(sent: list[str], declared: list[str]) -> bool:
    """Whether just one word differs, and only by a slip."""
    if len(sent) != len(declared):
        return False
    changed = [(ours, theirs) for ours, theirs in zip(sent, declared, strict=True) if ours != theirs]
    return len(changed) == 1 and _is_word_slip(*changed[0])


def _is_word_slip(sent: str, declared: str) -> bool:
    if sent in _REAL_WORDS or _singular(sent) in _REAL_WORDS or not (sent.isalpha() and declared.isalpha()):
        return False
    short, long = sorted((sent, declared), key=len)
    if short.endswith("es") and long == f"{short[:-1]}rs":
        return False  # handles and handlers: two words of one stem, not a slip
    if len(sent) == len(declared):
        return _swapped(sent, declared)
    if len(declared) < _SHORTEST_SLIPPED_WORD:
        return False
    return _lacks_one(sent, declared) or _lacks_one(declared, sent)


def _first_difference(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _swapped(one: str, other: str) -> bool:
    at = _first_difference(one, other)
    return (
        len(one) >= _SHORTEST_SWAPPED_WORD
        and at >= 1
        and one[at : at + 2] == other[at : at + 2][::-1]
        and one[at + 2 :] == other[at + 2 :]
    )


def _lacks_one(short: str, long: str) -> bool:
    """Whether a letter of the long word, neither its first nor its last, is all that the short one lacks."""
    if short in (long[1:], long[:-1]):
        return False
    at = _first_difference(short, long)
    return short[at:] == long[at + 1 :]


def plural_target(sent: str, declared: Collection[str]) -> tuple[str, bool] | None:
    """The one declared name that is the plural or singular of the sent one; for list parameters only.

    Returns:
        The declared name, and whether it is the plural (``tag`` was sent for ``tags``).
    """
    if len(sent) > LONGEST_NAME:
        return None
    folded = fold_name(sent)
    found = []
    for name, other in _alike_in_front(folded, declared):
        if other == folded:
            return None
        if _lead(name) != _lead(sent):
            continue
        if _is_plural(name, other, folded):
            found.append((name, True))
        elif _is_plural(sent, folded, other):
            found.append((name, False))
    return found[0] if len(found) == 1 else None


def _is_plural(name: str, plural: str, singular: str) -> bool:
    """Whether one fold is the plural of another; ``name`` is the plural as it is written."""
    return len(singular) > 1 and plural in _plurals(singular) and _words(name)[-1] not in _NO_PLURALS


def _plurals(singular: str) -> tuple[str, ...]:
    last = singular[-1]
    if not "a" <= last <= "z":
        return ()
    if singular.endswith(("s", "x", "z", "ch", "sh")):
        return (f"{singular}es",)
    if last == "o":
        return (f"{singular}s", f"{singular}es")
    if last == "y" and singular[-2] not in "aeiou":
        return (f"{singular[:-1]}ies",)
    return (f"{singular}s",)


def singular_words(name: str) -> list[str]:
    """The words of a name, folded, each in the singular as far as its spelling tells."""
    return [_singular(word) for word in _words(name)]


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) >= _SHORTEST_IES_PLURAL:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) >= _SHORTEST_PLURAL:
        return word[:-1]
    return word
