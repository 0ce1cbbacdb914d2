"""Test that the message catalogs are complete and compiled."""

from __future__ import annotations

import re
import warnings
from gettext import GNUTranslations
from io import BytesIO

import pytest

pytest.importorskip("babel", reason="catalogs are read by babel, of the development dependencies")

from refusal import catalogs


@pytest.fixture(params=catalogs.names())
def name(request):
    """Return each language with a catalog."""
    return request.param


def test_a_catalog_has_the_texts_of_the_code(name):
    """A catalog has exactly the texts of the code."""
    wanted = {message.id for message in catalogs.texts() if message.id}
    catalog = catalogs.catalog_of(name)
    found = [message for message in catalog if message.id]
    assert {message.id for message in found} == wanted, "run make catalogs, and translate what is new"
    assert not catalog.obsolete


@pytest.mark.filterwarnings("default:not translated")
def test_each_text_is_translated(name):
    """Each text is translated in all plural forms: an error in a release, and a warning before."""
    missing = catalogs.untranslated(name)
    if missing and not catalogs.IS_RELEASE:
        warnings.warn(f"not translated, {name}: {missing}", stacklevel=1)
        return
    assert missing == []


def test_placeholders_are_those_of_the_text(name):
    """A translation has the placeholders of the text. A plural form may omit the number."""
    for message in catalogs.catalog_of(name):
        if not message.id:
            continue
        wanted = set.union(*map(catalogs.placeholders, catalogs.forms(message.id)))
        for form in filter(None, catalogs.forms(message.string)):
            assert catalogs.placeholders(form) == wanted, message.id


def test_translated_separators_are_between_their_parts(name):
    """A translated separator starts with the first part and ends with the second."""
    joints = [each for each in catalogs.catalog_of(name) if str(each.id).startswith("{first}")]
    assert len(joints) == 4
    for joint in joints:
        assert re.fullmatch(r"\{first\}[^{}]*\{second\}", joint.string)


def test_compiled_catalogs_match_their_sources(name):
    """The compiled file matches its source."""
    wanted = GNUTranslations(BytesIO(catalogs.compiled(catalogs.catalog_of(name))))
    with catalogs.source(name).with_suffix(".mo").open("rb") as file:
        found = GNUTranslations(file)
    for message in catalogs.catalog_of(name):
        if not message.id:
            continue  # the header names the version of Babel that wrote it
        if isinstance(message.id, str):
            assert found.gettext(message.id) == wanted.gettext(message.id), "run `make catalogs`"
        else:
            assert [found.ngettext(*message.id, count) for count in range(30)] == [
                wanted.ngettext(*message.id, count) for count in range(30)
            ]
