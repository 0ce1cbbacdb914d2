"""Say the library's texts in another language, from gettext catalogs.

The code contains English; ``locale/`` has one catalog per other language, which is loaded when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from typing_extensions import Self

ENGLISH: Final = "en"
_DOMAIN: Final = "LC_MESSAGES/mcp_lenient.mo"


class Text(str):
    """An English text that can be said in other languages, for code that does not know the language.

    >>> Text("send {count} items at most", count=3)
    'send 3 items at most'
    """

    __slots__ = ("template", "values")
    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, **values: Any) -> Self:
        """Return the text in English."""
        text = super().__new__(cls, template.format(**values) if values else template)
        text.template, text.values = template, values
        return text


def marked(text: str) -> str:
    """Return a text unchanged; marks it for the catalogs where it is said by a variable."""
    return text


ONE_OF_A_TYPE: Final = {
    "string": marked("a string"),
    "integer": marked("an integer"),
    "number": marked("a number"),
    "boolean": marked("a boolean"),
    "array": marked("an array"),
    "object": marked("an object"),
    "null": marked("null"),
}
"""A value of a JSON type in a sentence."""
JOINTS: Final = (
    # Two sentences.
    marked("{first} {second}"),
    # The items of a list.
    marked("{first}, {second}"),
    # The last items of a list.
    marked("{first} and {second}"),
    # Two requirements.
    marked("{first} and {another}"),
    # The last choices of a list.
    marked("{first} or {second}"),
    # Two ways to read a value, after "can be read as".
    marked("{first} or as {second}"),
    # Two choices of several words each.
    marked("{first}, or {second}"),
)
"""What joins two parts of a text: it begins with the one and ends with the other, in every language."""


class Language:
    """The texts of one language: call it with the English text and the values of its placeholders.

    >>> Language()("{place} is missing.", place="'a'")
    "'a' is missing."
    """

    __slots__ = ("_joints", "_translate", "_translate_plural")

    def __init__(
        self,
        translate: Callable[[str], str] | None = None,
        translate_plural: Callable[[str, str, int], str] | None = None,
    ) -> None:
        self._translate = translate
        self._translate_plural = translate_plural
        self._joints = {joint: _between(self(joint)) for joint in JOINTS}

    def __call__(self, text: str, **values: Any) -> str:
        """Return a text in this language."""
        if self._translate is not None:
            text = self._translate(text)
        return text.format(**values) if values else text

    def plural(self, one: str, many: str, count: int, **values: Any) -> str:
        """Return a text in this language, in its form for a number; ``{count}`` is that number."""
        if self._translate_plural is None:
            text = one if count == 1 else many
        else:
            text = self._translate_plural(one, many, count)
        return text.format(count=count, **values)

    def of(self, text: str) -> str:
        """Return a :class:`Text` in this language; any other string is an author's, and unchanged."""
        return self(text.template, **text.values) if isinstance(text, Text) else text

    def sentences(self, *parts: str) -> str:
        """Return sentences as one text, without the empty ones."""
        return self._joints["{first} {second}"].join(filter(None, parts))

    def comma(self, phrases: Sequence[str]) -> str:
        """Return the parts of an open list in a sentence."""
        return self._joints["{first}, {second}"].join(phrases)

    def all_of(self, phrases: Sequence[str]) -> str:
        """Return all of some things in a sentence.

        >>> Language().all_of(["a", "b", "c"])
        'a, b and c'
        """
        return self._list(phrases, "{first} and {second}")

    def either(self, phrases: Sequence[str]) -> str:
        """Return a list of choices in a sentence.

        >>> Language().either(["a", "b", "c"])
        'a, b or c'
        """
        return self._list(phrases, "{first} or {second}")

    def any_of(self, phrases: Sequence[str]) -> str:
        """Return choices that are part of one phrase: ``strings or integers or null``."""
        return self._joints["{first} or {second}"].join(phrases)

    def apart(self, phrases: Sequence[str]) -> str:
        """Return choices of several words each, the last of which would be read as part of the one before."""
        return self._joints["{first}, or {second}"].join(phrases)

    def or_as(self, phrases: Sequence[str]) -> str:
        """Return the ways to read a value, to follow "can be read as"."""
        return self._joints["{first} or as {second}"].join(phrases)

    def both(self, phrases: Sequence[str]) -> str:
        """Return several requirements in a sentence."""
        return self._joints["{first} and {another}"].join(phrases)

    def _list(self, phrases: Sequence[str], last: str) -> str:
        if len(phrases) < 2:
            return "".join(phrases)
        return f"{self.comma(phrases[:-1])}{self._joints[last]}{phrases[-1]}"


def _between(joint: str) -> str:
    return joint[joint.index("}") + 1 : joint.rindex("{")]


@cache
def language(name: str) -> Language:
    """Return a known language by its name, loaded once."""
    if name == ENGLISH:
        return Language()
    from gettext import GNUTranslations

    with (_locale() / name / _DOMAIN).open("rb") as file:
        catalog = GNUTranslations(file)
    return Language(catalog.gettext, catalog.ngettext)


@cache
def languages() -> tuple[str, ...]:
    """Return the names of the known languages."""
    catalogs = (each.name for each in _locale().iterdir() if (each / _DOMAIN).is_file())
    return tuple(sorted((ENGLISH, *catalogs)))


def resolved(tag: str) -> str | None:
    """Return the known language for a tag, or None.

    >>> resolved("en"), resolved("zh-CN"), resolved("ZH_hans_cn"), resolved("xx")
    ('en', 'zh', 'zh', None)
    """
    names = {name.casefold(): name for name in languages()}
    parts = tag.casefold().replace("-", "_").split("_")
    tries = ("_".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((names[each] for each in tries if each in names), None)


def _locale() -> Any:
    from importlib.resources import files

    return files("mcp_lenient") / "locale"
