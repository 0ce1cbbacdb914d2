"""Say the library's texts in another language, from gettext catalogs in ``locale/``; the code contains English."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from gettext import GNUTranslations, NullTranslations
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from typing_extensions import Self

ENGLISH: Final = "en"
_CATALOG: Final = "LC_MESSAGES/mcp_lenient.mo"


class Text(str):
    """An English text that can be said in other languages, for code that does not know the language."""

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


def marked_plural(one: str, many: str) -> tuple[str, str]:
    """Return both forms of a text unchanged; marks them for the catalogs."""
    return one, many


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
    marked("{first} {second}"),
    marked("{first}, {second}"),
    marked("{first} and {second}"),
    marked("{first} or {second}"),
)
"""What joins sentences, items, the last items and the last choices: between its two parts, in every language."""


class Language:
    """The texts of one language: call it with the English text and the values of its placeholders."""

    __slots__ = ("_joints", "_translate", "_translate_plural")

    def __init__(self, catalog: NullTranslations | None = None) -> None:
        catalog = catalog or NullTranslations()
        self._translate, self._translate_plural = catalog.gettext, catalog.ngettext
        self._joints = [catalog.gettext(joint)[len("{first}") : -len("{second}")] for joint in JOINTS]

    def __call__(self, text: str, **values: Any) -> str:
        """Return a text in this language."""
        return self._translate(text).format(**values) if values else self._translate(text)

    def plural(self, one: str, many: str, count: int, **values: Any) -> str:
        """Return a text in this language, in its form for a number; ``{count}`` is that number."""
        return self._translate_plural(one, many, count).format(count=count, **values)

    def of(self, text: Any) -> Any:
        """Return a :class:`Text`, and each in it, in this language; any other string is an author's, and unchanged."""
        if not isinstance(text, Text):
            return text
        return self(text.template, **{name: self.of(value) for name, value in text.values.items()})

    def sentences(self, *parts: str) -> str:
        """Return sentences as one text, without the empty ones."""
        return self._joints[0].join(filter(None, parts))

    def comma(self, phrases: Sequence[str]) -> str:
        """Return parts of a list in a sentence."""
        return self._joints[1].join(phrases)

    def all_of(self, phrases: Sequence[str]) -> str:
        """Return all of some things in a sentence: ``a, b and c``."""
        return self._joints[2].join(filter(None, (self._joints[1].join(phrases[:-1]), *phrases[-1:])))

    def either(self, phrases: Sequence[str]) -> str:
        """Return a list of choices in a sentence: ``a, b or c``."""
        return self._joints[3].join(filter(None, (self._joints[1].join(phrases[:-1]), *phrases[-1:])))


@cache
def load_language(name: str) -> Language:
    """Return a known language by its name, loaded once."""
    if name == ENGLISH:
        return Language()
    with (_locale() / name / _CATALOG).open("rb") as file:
        return Language(GNUTranslations(file))


@cache
def languages() -> tuple[str, ...]:
    """Return the names of the known languages."""
    catalogs = (folder.name for folder in _locale().iterdir() if (folder / _CATALOG).is_file())
    return tuple(sorted((ENGLISH, *catalogs)))


def resolved(tag: str) -> str | None:
    """Return the known language for a tag, such as ``zh`` for ``zh-CN`` and ``ZH_hans_cn``, or None."""
    names = {name.casefold(): name for name in languages()}
    parts = tag.casefold().replace("-", "_").split("_")
    tries = ("_".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((names[tag] for tag in tries if tag in names), None)


def _locale() -> Any:
    from importlib.resources import files

    return files("mcp_lenient") / "locale"
