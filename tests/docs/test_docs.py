"""Test the documents: code blocks run, tables match the code, links lead to files."""

from __future__ import annotations

import doctest
import importlib
import json
import re
from pathlib import Path
from typing import Literal

import pytest
import structlog
from cogapp import Cog
from fastmcp import Client, FastMCP
from fastmcp_versions import NOT_THERE, PROXY, STRICT, not_on_3, skip_on_3
from pydantic import BaseModel
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

import mcp_lenient
import mcp_lenient.adapters.litellm
import mcp_lenient.adapters.mcp_sdk
import mcp_lenient.errors
import mcp_lenient.normalizers
import mcp_lenient.results
import mcp_lenient.testing
from context_store import build_server
from mcp_lenient import LenientMiddleware
from mcp_lenient.devtools.rule_catalogue import CATALOGUE
from mcp_lenient.telemetry.setup import reset_logging

ROOT = Path(__file__).parents[2]
SHOWN = re.compile(r"^<!-- (\w+): (\w+) ([^\n]+) -->\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "tests" / "cases" / "README.md",
]
MODULES = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for file in (ROOT / "mcp_lenient").rglob("*.py")
    if re.search(r"^ *>>> ", file.read_text(encoding="utf-8"), re.MULTILINE)
)
"""Modules with an example in a docstring."""
NOT_ON_3 = {
    "proxy.md": PROXY,
    "sdk-2.md": NOT_THERE,
    "mcp_lenient.adapters.fastmcp.proxy.server": PROXY,
    "mcp_lenient.adapters.mcp_sdk.middleware": NOT_THERE,
}
"""Why the code of a page or module does not run on FastMCP 3."""

ANSWERS = [
    pytest.param(*found, id=f"{file.name}-{found[0]}")
    for file in DOCUMENTS
    for found in SHOWN.findall(file.read_text(encoding="utf-8"))
]
VARYING = "timestamp duration_us client_name client_version session_id request_id transport".split()
"""What differs from call to call or between versions of FastMCP."""


@pytest.fixture(autouse=True)
def unconfigured_structlog():
    """Reset logging, which a document may configure."""
    yield
    reset_logging()
    structlog.reset_defaults()


class Point(BaseModel):
    """A single object parameter."""

    x: int


REPAIRED = {
    """`'["a", "b"]'`, `"{'a': 1,}"` for a list or object""": [
        (list[str], {"value": '["a", "b"]'}),
        (dict, {"value": "{'a': 1,}"}),
    ],
    '`"42"`, `"5.0"`, `7.0`, `"yes"`': [
        (int, {"value": "42"}),
        (int, {"value": "5.0"}),
        (int, {"value": 7.0}),
        (bool, {"value": "yes"}),
    ],
    '`"OPEN"` for one of `open`, `closed`': [(Literal["open", "closed"], {"value": "OPEN"})],
    '`null` or `""` for an optional argument': [(int, {"value": 1, "optional": sent}) for sent in (None, "")],
    "`maxResults`, an alias you declared": [(int, {"value": 1, "maxResults": 5})],
    "`toolCallId` and other keys that clients add": [(int, {"value": 1, "toolCallId": "x"})],
    '`"a"`, `{"item": ["a"]}`, `"1, 2"` for a list; `[5]` for a number': [
        (list[str], {"value": "a"}),
        (list[str], {"value": {"item": ["a"]}}),
        (list[int], {"value": "1, 2"}),
        (int, {"value": [5]}),
    ],
    '`{"args": {...}}`, `todos[0].title`, flat fields of a single object parameter, all arguments as JSON text': [
        (int, {"args": {"value": 1}}),
        (list[Point], {"value[0].x": 1}),
        (Point, {"x": 1}),
    ],
}
"""The rows of the table of repairs in the README, each with the type of a parameter and its calls."""


KINDS = [*dict.fromkeys(kind for calls in REPAIRED.values() for kind, _ in calls)]


def _takes(*middleware, strict):
    """A client of a server with two tools for each type, of which one takes nothing else."""
    server = FastMCP("table", strict_input_validation=strict, middleware=middleware)
    for at, kind in enumerate(KINDS):

        def take(value, optional: int = 3, max_results: int = 1, tags: list[str] | None = None) -> None: ...

        def take_one(value) -> None: ...

        for tool in (take, take_one):
            tool.__annotations__["value"] = kind
            server.tool(tool, name=f"{tool.__name__}_{at}")
    return Client(server)


async def _is_taken(client, kind, sent):
    tool = "take_one" if "x" in sent else "take"
    return not (await client.call_tool_mcp(f"{tool}_{KINDS.index(kind)}", sent)).is_error


@not_on_3(STRICT)
@pytest.mark.parametrize("strict", [False, True])
async def test_the_readme_says_what_fastmcp_repairs_itself(strict):
    """Every call of the table of repairs is repaired, and FastMCP alone only accepts the second row, if it is not strict."""
    table = (ROOT / "README.md").read_text("utf-8").partition("## What is repaired")[2]
    assert re.findall(r"^\| (`.*?) \| ", table, re.MULTILINE)[: len(REPAIRED)] == list(REPAIRED)
    async with _takes(LenientMiddleware(), strict=strict) as lenient, _takes(strict=strict) as alone:
        for at, calls in enumerate(REPAIRED.values()):
            for kind, sent in calls:
                assert await _is_taken(lenient, kind, sent), sent
                assert await _is_taken(alone, kind, sent) is (at == 1 and not strict), sent


@pytest.mark.parametrize(
    "file",
    DOCUMENTS,
    ids=lambda file: str(file.relative_to(ROOT)),
)
def test_python_blocks_run(file, tmp_path, monkeypatch):
    """Each Python block of a document runs, in order and in one namespace."""
    if reason := NOT_ON_3.get(file.name):
        skip_on_3(reason)
    monkeypatch.chdir(tmp_path)
    document = Sybil(parsers=[PythonCodeBlockParser()]).parse(file)
    document.namespace["__name__"] = "__main__"
    for example in document.examples():
        example.evaluate()


def _found(pattern):
    return [
        (file, found)
        for file in DOCUMENTS
        for found in re.findall(pattern, file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    ]


def _is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_json_blocks_are_json():
    """Each JSON block of a document can be parsed."""
    blocks = _found(r"^```json\n(.*?)^```")
    assert blocks
    assert [(file.name, block) for file, block in blocks if not _is_json(block)] == []


def test_links_lead_to_files():
    """Each relative link of a document leads to a file of the project."""
    links = _found(r"\]\((?!https?:)([^)#*]+)")
    assert links
    assert [(file.name, to) for file, to in links if not (file.parent / to).exists()] == []


def _without_links(text):
    return [line for line in text.splitlines() if "://" not in line]


@pytest.mark.parametrize(("kind", "tool", "arguments", "reported"), ANSWERS)
async def test_shown_answers_are_real(kind, tool, arguments, reported, tmp_path, capsys):
    """The answers and events that a document shows are those of the example server."""
    server = build_server(tmp_path / "contexts.db", lenient=kind != "alone")
    async with Client(server) as client:
        result = await client.call_tool_mcp(tool, json.loads(arguments))
    text = "".join(block.text for block in result.content)
    if kind == "alone":
        assert _without_links(text) == _without_links(reported)
    elif kind == "envelope":
        assert result.meta["mcp_lenient"] == json.loads(reported)
    elif kind == "repairs":
        assert result.meta["mcp_lenient"]["repairs"] == json.loads(reported)
    else:
        assert kind == "event"
        event, shown = json.loads(capsys.readouterr().err.splitlines()[-1]), json.loads(reported)
        assert [name for name in shown if shown[name] != event.get(name) and name not in VARYING] == []


@pytest.mark.parametrize("module", MODULES)
def test_docstrings_are_true(module):
    """Each docstring example prints what it shows."""
    if reason := NOT_ON_3.get(module):
        skip_on_3(reason)
    done = doctest.testmod(importlib.import_module(module))
    assert done.attempted
    assert done.failed == 0


RULE_PAGES = sorted(f"rules/{page.name}" for page in (ROOT / "docs" / "rules").glob("*.md"))


GENERATED = [file for file in DOCUMENTS if "[[[cog" in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", GENERATED, ids=lambda page: page.name)
def test_generated_tables_are_those_of_the_code(page, monkeypatch):
    """A generated table on a page equals the one that the code generates now."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    text = page.read_text(encoding="utf-8")
    cog = Cog()
    cog.options.verbosity = 0
    assert cog.process_string(text) == text, "Bring the table up to the code: make format"


def test_each_family_of_rules_has_a_page():
    """The table of rules links to a page for each family, named after its first rule."""
    pages = sorted(f"rules/{next(iter(family.rules))}.md" for family in CATALOGUE)
    assert pages == RULE_PAGES, f"docs/ lacks {sorted({*pages} - {*RULE_PAGES})}: copy another rule's page"


def test_reference_has_every_public_name():
    """The reference lists each public name of the package, its testing module and its adapters."""
    from mcp_lenient.adapters import langchain

    reported = set()
    for page in (ROOT / "docs" / "reference").glob("*.md"):
        reported |= set(re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE))
    public = {
        f"{module.__name__}.{name}"
        for module in (
            mcp_lenient,
            mcp_lenient.normalizers,
            mcp_lenient.results,
            mcp_lenient.errors,
            mcp_lenient.testing,
            mcp_lenient.adapters.litellm,
            mcp_lenient.adapters.mcp_sdk,
            langchain,
        )
        for name in module.__all__
    }
    assert {name.replace("lenient.errors.", "lenient.") for name in reported} == {
        name.replace("lenient.errors.", "lenient.") for name in public
    }


def test_navigation_names_every_page():
    """The navigation reaches each page of the site."""
    reported = re.findall(r"([\w/*-]+\.md)", (ROOT / "docs" / "NAVIGATION.md").read_text(encoding="utf-8"))
    found = {page for entry in reported for page in (ROOT / "docs").glob(entry)}
    assert found == set((ROOT / "docs").rglob("*.md")) - {ROOT / "docs" / "NAVIGATION.md"}


def test_contributing_names_files_that_exist():
    """Each module on the contributors' map exists, except the site, which is built later."""
    reported = set(re.findall(r"`([\w/]+\.py|\w+/)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    reported -= {"site/"}
    assert reported
    folders = (ROOT / "mcp_lenient", ROOT)
    assert [name for name in reported if not any((folder / name).exists() for folder in folders)] == []


def test_the_systems_page_names_tests_that_exist():
    """Each file that the page of the five systems gives to pytest exists, and has a test for each word after ``-k``."""
    page = (ROOT / "docs/systems.md").read_text(encoding="utf-8")
    missing = []
    for files, words in re.findall(
        r"`pytest ((?:tests/[^\s`]+ ?)+?)(?: -m \"\")?(?: -k (\"[^\"]+\"|\w+))?`", page
    ):
        paths = [ROOT / file for file in files.split()]
        missing += [path for path in paths if not path.exists()]
        read = "".join(
            each.read_text("utf-8")
            for path in paths
            for each in ([path] if path.is_file() else path.glob("*.py"))
        )
        missing += [
            word
            for word in re.findall(r"\w+", words)
            if word != "or"
            and not re.search(rf"def test_\w*{word}", read, re.IGNORECASE)
            and f'"{word}' not in read
        ]
    assert missing == []


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CHANGELOG.md", r"^## \[(\d.+?)\]"),
        ("mkdocs.yml", r"^copyright: mcp-lenient (\S+),"),
        ("docs/index.md", r"^This is version (\S+):"),
    ],
)
def test_the_version_is_this_one(file, pattern):
    """The newest version in the changelog, and the one that the site shows, is the version that is built."""
    built = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    shown = re.search(pattern, (ROOT / file).read_text("utf-8"), re.MULTILINE)
    assert built
    assert shown
    assert shown[1] == built[1]
