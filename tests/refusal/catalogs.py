"""The message catalogs. Run ``python tests/refusal/catalogs.py`` to update and compile them."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from string import Formatter

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

PACKAGE = Path(__file__).parents[2] / "mcp_lenient"
LOCALE = PACKAGE / "locale"
_WITHOUT_MODELS = frozenset(("cli", "devtools", "testing"))
"""Folders whose messages only people read."""
IS_RELEASE = "RELEASE" in os.environ
"""Whether a missing translation is an error; otherwise it is a warning, since whoever adds a text may not know the language."""
_FORMS = {"say": 1, "marked": 1, "Text": 1, "plural": 2, "marked_plural": 2}
"""Functions whose first arguments are messages, and the number of those."""


def texts() -> Catalog:
    """Return the messages in the code. Babel's own extraction misses messages next to nested calls."""
    catalog = Catalog(project="mcp-lenient")
    for path in sorted(PACKAGE.rglob("*.py")):
        where = path.relative_to(PACKAGE)
        if where.parts[0] not in _WITHOUT_MODELS:
            for message in _texts_in(ast.parse(path.read_text("utf-8"))):
                catalog.add(message, locations=[(where.as_posix(), None)], flags=["python-brace-format"])
    return catalog


def _texts_in(tree: ast.AST) -> Iterator[str | tuple[str, ...]]:
    for node in ast.walk(tree):
        name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        if name not in _FORMS:
            continue
        reported = [each.value for each in node.args[: _FORMS[name]] if isinstance(each, ast.Constant)]
        if len(reported) == _FORMS[name]:
            yield reported[0] if len(reported) == 1 else tuple(reported)


def names() -> list[str]:
    """Return the languages that have a catalog."""
    return sorted(path.name for path in LOCALE.iterdir())


def source(name: str) -> Path:
    """Return the file that translators edit."""
    return LOCALE / name / "LC_MESSAGES" / "mcp_lenient.po"


def catalog_of(name: str) -> Catalog:
    """Return the translations of a language."""
    with source(name).open("rb") as file:
        return read_po(file, locale=name)


def untranslated(name: str) -> list[str]:
    """Return the texts of a catalog without a translation, or with one that is a guess."""
    return [
        str(message.id)
        for message in catalog_of(name)
        if message.id and (message.fuzzy or not all(forms(message.string)))
    ]


def compiled(catalog: Catalog) -> bytes:
    """Return what the library loads."""
    buffer = BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def forms(text: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the plural forms of a text. Without a translation, that is one empty form."""
    return (text or "",) if text is None or isinstance(text, str) else tuple(text)


def placeholders(text: str) -> set[str]:
    """Return the names of the placeholders in a text."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def _new(name: str) -> Catalog:
    return Catalog(
        locale=name,
        project="mcp-lenient",
        header_comment="# Messages of mcp-lenient; make catalogs updates and compiles them.",
        msgid_bugs_address="the project's issues",
        fuzzy=False,
    )


def main() -> None:
    """Update each catalog from the code, and compile it."""
    for name in names():
        catalog = catalog_of(name) if source(name).exists() else _new(name)
        catalog.update(texts(), no_fuzzy_matching=True, update_creation_date=False)
        catalog.obsolete.clear()
        with source(name).open("wb") as file:
            write_po(file, catalog, width=110)
        source(name).with_suffix(".mo").write_bytes(compiled(catalog))
        print(f"{name}: {len(catalog)} texts, {len(untranslated(name))} not translated")


if __name__ == "__main__":
    main()
