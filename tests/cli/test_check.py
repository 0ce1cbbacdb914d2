"""Test the exit codes, formats and one-line errors of ``mcp-lenient check``."""

from __future__ import annotations

import json
import sys

import pytest
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

from mcp_lenient.cli import run

SERVER = '''
from typing import Any
from fastmcp import FastMCP

mcp = FastMCP("notes")


@mcp.tool
def store(content: {annotation}) -> int:
    """Store a note."""


if __name__ == "__main__":
    mcp.run(show_banner=False, log_level="ERROR")
'''


def server_file(folder, annotation):
    file = folder / "server.py"
    file.write_text(SERVER.format(annotation=annotation), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("annotation", "options", "code"),
    [
        pytest.param("str", [], 0, id="nothing found"),
        pytest.param("Any", [], 1, id="a warning"),
        pytest.param("Any", ["--level", "error"], 0, id="below the level"),
        pytest.param("list", [], 0, id="a note"),
        pytest.param("list", ["--level", "note"], 1, id="a note at the level"),
        pytest.param("Any", ["--ignore", "untyped_parameter"], 0, id="ignored"),
        pytest.param("Any", ["--select", "json_*", "--select", "default_*"], 0, id="not selected"),
    ],
)
def test_the_exit_code_depends_on_the_findings(tmp_path, annotation, options, code):
    """The exit code is 1 if a finding is at or above the level, else 0."""
    assert run(["check", server_file(tmp_path, annotation), *options]) == code


def test_a_finding_is_shown_completely(tmp_path, capsys):
    """The text has the tool, file, line, place, code, reason and fix."""
    file = server_file(tmp_path, "Any")
    run(["check", file])
    text = capsys.readouterr().out
    # The path of a temporary folder may be longer than a line.
    assert f"store{file}:8" in "".join(text.split()[:4])
    assert "\n  warning  content  untyped_parameter\n" in text
    assert "Fix: " in text
    assert text.endswith("1 warning in 1 tool\n")


def test_a_server_over_stdio_is_checked(tmp_path, capfd):
    """A server over stdio is started, checked and stopped. Its findings name no file."""
    assert run(["check", "--format", "json", "--", sys.executable, server_file(tmp_path, "Any")]) == 1
    written = json.loads(capfd.readouterr().out)
    assert [(each["code"], each["place"], each["file"]) for each in written["findings"]] == [
        ("untyped_parameter", "content", None)
    ]
    assert written["counts"] == {"note": 0, "warning": 1, "error": 0}


def test_sarif_and_github_output_is_complete(tmp_path, capsys):
    """Stdout has the requested format and nothing else."""
    file = server_file(tmp_path, "Any")
    assert run(["check", file, "--format", "sarif"]) == 1
    Sarif.model_validate_json(capsys.readouterr().out)
    assert run(["check", file, "--format", "github"]) == 1
    assert capsys.readouterr().out.startswith("::warning file=")
    (
        tmp_path / "right"
    ).mkdir()  # Python reuses cached bytecode if a file is rewritten within a second at the same size
    assert run(["check", server_file(tmp_path / "right", "str"), "--format", "github"]) == 0
    assert not capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(["--", sys.executable, "-c", ""], "the server cannot be used", id="ends at once"),
        pytest.param(["http://127.0.0.1:9/mcp"], "the server cannot be used", id="nobody listens"),
        pytest.param(["--ignore", "untypd", __file__], "'untypd' matches no rule", id="a misspelt code"),
        pytest.param([], "no server given", id="no target"),
    ],
)
def test_errors_are_one_line(capfd, words, says):
    """The exit code is 2, and one line on stderr names the error, without a traceback."""
    assert run(["check", *words]) == 2
    out, err = capfd.readouterr()
    assert not out
    assert [line for line in err.splitlines() if says in line and line.startswith("error: ")]
    assert "Traceback" not in err


MAP = "dict[str, int]"


@pytest.mark.parametrize(
    ("of", "code", "said"),
    [
        pytest.param("anthropic", 0, "anthropic: rejects none of 1 tool\n", id="taken"),
        pytest.param("gemini", 1, "store /properties/content/additionalProperties", id="rejected"),
        pytest.param("anthropic,ollama", 0, "rejects none of 1 tool, and ignores parts", id="ignored"),
        pytest.param("all", 1, 'publish="portable"', id="all"),
        pytest.param("gemini --format json", 1, '"gemini": "rejects 1 of 1 tool"', id="as JSON"),
    ],
)
def test_for_a_provider_the_exit_code_says_whether_a_tool_is_rejected(tmp_path, capsys, of, code, said):
    """With ``--for``, the exit code is 1 if a request, a tool or a call would fail."""
    assert run(["check", "--for", *of.split(), server_file(tmp_path, MAP)]) == code
    assert said in capsys.readouterr().out


def test_an_unknown_provider_is_an_error(tmp_path, capsys):
    """A provider without limits in the table is named, with those that have some."""
    assert run(["check", "--for", "gemeni", server_file(tmp_path, "str")]) == 2
    assert "--for gemeni: must be all, or some of anthropic, anthropic-strict" in capsys.readouterr().err
