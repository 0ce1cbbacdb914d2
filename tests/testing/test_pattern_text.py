"""Test text generated for a pattern."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from mcp_lenient.testing.example_arguments import pattern_text

SUPPORTED = [
    r"^[A-Z]{2}-\d{4}$",
    r"^(foo|bar)+_[a-z0-9]{3,8}$",
    r"^#(?:[0-9a-fA-F]{3}){1,2}$",
    r"^(?P<name>x)y??z*$",
    r"^a{0}b?$",
    r"^\S+\s\bx$",
    r"^[]a]+\x41\u0042\t\.$",
    r"^.{5,9}$",
    r"^[0-9a-f]{128}$",
    r"^(\d{3})-\1$",
    "(?i)abc",
]


@each_row("pattern", SUPPORTED)
def test_generated_text_matches_its_pattern(pattern):
    """For a supported pattern, the text generated with any seed matches it."""
    for seed in range(50):
        text = pattern_text(pattern, Random(seed))  # noqa: S311 - nothing is secret
        assert text is not None
        assert re.search(pattern, text), text


@each_row(
    "pattern",
    [
        pytest.param(r"^\p{L}+$", id="class of Unicode"),
        pytest.param("a++b", id="possessive repetition"),
        pytest.param("[a", id="unclosed bracket"),
        pytest.param("*a", id="repetition of nothing"),
        pytest.param(r"[^\x20-\x7e]", id="nothing printable"),
        pytest.param("(?:(?:a{9999}){9999}){9999}", id="too long to generate"),
        pytest.param("a{99999999999}", id="a long one"),
        pytest.param("(" * 5000, id="deep"),
    ],
)
def test_unsupported_patterns_have_no_text(pattern):
    """An unsupported pattern quickly gives no text."""
    assert pattern_text(pattern, Random(0)) is None  # noqa: S311 - nothing is secret


@given(st.text(alphabet=r"ab01[](){}?*+|^$\.-,:=!<>Pdwsx"), st.integers(0, 9))
def test_any_text_is_tolerated_as_a_pattern(pattern, seed):
    """Any pattern gives text or None, and the same for the same seed."""
    first, second = (pattern_text(pattern, Random(seed)) for _ in range(2))  # noqa: S311 - nothing is secret
    assert first == second


def test_named_groups_of_ecma_262_are_supported():
    """ECMA-262 writes a named group without ``P``. A lookbehind does not count as one."""
    random = Random(0)  # noqa: S311 - nothing is secret
    assert re.fullmatch(r"\d{4}", pattern_text(r"^(?<year>\d{4})$", random))
    assert pattern_text("(?<=a)b(?<!c)", random) == "b"


def test_texts_are_visible_and_short():
    """Generated text has no control characters and is not much longer than necessary."""
    for seed in range(50):
        text = pattern_text(r"^.+[^/\s]*\W[\s\S]$", Random(seed))  # noqa: S311 - nothing is secret
        assert text.isprintable()
        assert len(text) <= 10


def test_a_text_is_the_same_in_every_process():
    """A seed gives the same text in every process, with any hash seed."""
    code = (
        "from random import Random\n"
        "from mcp_lenient.testing.example_arguments import pattern_text\n"
        "print(pattern_text(r'^[^/a-c]{20}$', Random(1)))"
    )
    hashing = os.environ | {"PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"}
    command = [sys.executable, "-c", code]
    other = subprocess.check_output(command, env=hashing, text=True)  # noqa: S603 - our own interpreter
    assert other == f"{pattern_text(r'^[^/a-c]{20}$', Random(1))}\n"  # noqa: S311 - nothing is secret
