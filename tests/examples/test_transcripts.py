"""Each example has a transcript that shows what it claims, and is a server that other commands find."""

from __future__ import annotations

import json
import re

import pytest
from example_runs import ROOT, answers, run
from fastmcp import Client, FastMCP
from fastmcp.client.transports import PythonStdioTransport

from mcp_lenient import LenientMiddleware
from mcp_lenient.telemetry.setup import reset_logging
from transcripts import play
from transcripts.play import Call, Scene, Transcript

SERVERS = {
    "smart_home": "examples/smart_home.py",
    "context_store": "examples/context_store.py",
    "agent_platform": "examples/agent_platform/server.py",
    "langchain_agent": "examples/langchain_agent/agent.py",
    "type_conversion": "examples/type_conversion.py",
}
SHOWN = dict(
    re.findall(
        r"^```console\n\$ python examples/transcripts/play.py (\S+)\n(.*?)^```",
        (ROOT / "examples/README.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
)


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    """What examples write goes to a folder of the test."""
    monkeypatch.setenv("EXAMPLES_DATA", str(tmp_path))
    monkeypatch.setattr(play, "DATA", tmp_path)
    yield tmp_path
    reset_logging()


def test_the_smart_home_does_what_its_script_says(data_folder, capsys):
    """Each call is repaired or refused as its script says, and the events are in the data folder."""
    code = play.transcript("smart_home").play()
    check(code, capsys.readouterr().out, "smart_home", data_folder)


@pytest.mark.slow
@pytest.mark.parametrize("example", SERVERS)
def test_an_example_does_what_its_script_says(example, data_folder):
    """The same holds of each example where it is run as a person does."""
    done = run("examples/transcripts/play.py", example, EXAMPLES_DATA=str(data_folder))
    check(done.returncode, done.stdout, example, data_folder)


def check(code, shown, example, folder):
    """A transcript has all that the README shows of it, and an event of a repair."""
    assert code == 0, shown
    for who in ("user", "model", "repair", "tool", "error", "answer"):
        assert re.search(rf"^{who} ", shown, re.MULTILINE), who
    assert not re.search(r"^OFF |\x1b", shown, re.MULTILINE)
    assert next(folder.glob("*.jsonl")).read_text(encoding="utf-8").count("call_repaired")

    left = iter(shown.splitlines())
    for line in SHOWN[example].splitlines():
        assert line == "..." or any(line == printed for printed in left), line


def test_the_readme_lists_each_file():
    """Each Python, YAML and JSON file of the examples is named in the README."""
    readme = (ROOT / "examples/README.md").read_text(encoding="utf-8")
    files = [
        path
        for kind in ("py", "yaml", "json", "tsv", "md")
        for path in (ROOT / "examples").rglob(f"*.{kind}")
    ]
    assert [
        path
        for path in files
        if path.name not in {"__init__.py", "README.md"} and f"`{path.name}`" not in readme
    ] == []


def test_each_example_is_in_the_readme():
    """The README shows each example with its command and its output."""
    assert sorted(SHOWN) == sorted(SERVERS) == sorted(play.NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("example", SERVERS)
def test_without_the_library_an_example_fails(example, data_folder):
    """The same script without mcp-lenient shows calls that fail."""
    shown = run("examples/transcripts/play.py", example, "--bare", EXAMPLES_DATA=str(data_folder))
    assert shown.returncode == 1
    assert "without mcp-lenient" in shown.stdout
    assert re.search(r"^OFF +expected \w+.*, got an error$", shown.stdout, re.MULTILINE)
    assert set(answers(shown)) == {"An earlier call was refused, so I cannot go on."}


@pytest.mark.slow
@pytest.mark.parametrize("example", SERVERS)
async def test_an_example_is_served_over_stdio(example, data_folder):
    """With ``--serve`` an example is a server over stdio."""
    environment = {"PYTHONPATH": str(ROOT), "EXAMPLES_DATA": str(data_folder)}
    served = PythonStdioTransport(
        ROOT / SERVERS[example], args=["--serve"], env=environment, log_file=data_folder / "stderr.log"
    )
    async with Client(served) as client:
        assert await client.list_tools()


@pytest.mark.slow
@pytest.mark.parametrize(("options", "refused"), [([], False), (["--bare"], True)], ids=["lenient", "bare"])
async def test_the_context_store_is_served_with_a_file(tmp_path, options, refused):
    """With a file the context store is a server over stdio; ``--bare`` leaves mcp-lenient out."""
    served = PythonStdioTransport(
        ROOT / "examples/context_store.py",
        args=[str(tmp_path / "notes.db"), *options],
        env={"PYTHONPATH": str(ROOT)},
        log_file=tmp_path / "stderr.log",
    )
    async with Client(served) as client:
        result = await client.call_tool_mcp("store_context", {"content": "a", "tags": "x"})
    assert result.is_error is refused
    assert (tmp_path / "notes.db").exists() is not refused


@pytest.mark.slow
@pytest.mark.parametrize("example", SERVERS)
@pytest.mark.parametrize("command", ["check", "stress"])
def test_a_command_finds_the_server(example, command, data_folder):
    """``mcp-lenient check`` finds nothing to warn of, and ``stress`` no damage done."""
    main = "from mcp_lenient.cli import main; main()"
    done = run("-c", main, command, SERVERS[example], EXAMPLES_DATA=str(data_folder))
    assert done.returncode == 0, done.stdout + done.stderr


def build(_folder, lenient):
    """A server with one tool."""
    mcp = FastMCP("double")
    if lenient:
        mcp.add_middleware(LenientMiddleware())

    @mcp.tool
    def double(numbers: list[int]) -> list[int]:
        """Double numbers."""
        return [number * 2 for number in numbers]

    return mcp


def double(scene):
    """Play one scene with this server."""
    return Transcript("Double", "It doubles.", build, [scene]).play()


RIGHT = Call("double", {"numbers": "[1, 2]"}, "json_text_to_array", gives="[2, 4]")


@pytest.mark.parametrize(
    ("call", "reported"),
    [
        pytest.param(Call("double", {"numbers": "[1"}, "CUT_OFF"), None, id="refused"),
        pytest.param(Call("double", {"numbers": [1]}, "INVALID_NUMBERS_TYPE"), "expected INVALID_NUMBERS_TYPE, got no repair", id="run"),
        pytest.param(Call("double", {"numbers": "x"}), "expected no repair, got INVALID_NUMBERS_TYPE", id="not-run"),
        pytest.param(Call("double", {"numbers": [1]}, gives="[3]"), r"expected \[3\] in the answer", id="value"),
        pytest.param(Call("nothing", {}), "expected no repair, got UNKNOWN_TOOL", id="tool"),
        pytest.param(Call("double", lambda found: found[5]), "expected 1 more calls", id="counts-on-nothing"),
    ],
)  # fmt: skip
def test_disabled_features_are_reported(capsys, call, reported):
    """Where a call does not do what its script says, the transcript says so and the exit code is 1."""
    code = double(Scene("Double them", call, answer="Done."))
    lines = re.findall(r"^OFF +(.*)$", capsys.readouterr().out, re.MULTILINE)
    assert (code, len(lines)) == (0, 0) if reported is None else (1, 1)
    assert all(re.search(reported, line) for line in lines)


@pytest.mark.parametrize(
    ("calls", "answer"),
    [
        pytest.param([RIGHT], "Done.", id="ran"),
        pytest.param([Call("double", {"numbers": "[1"}, "INVALID_NUMBERS_TYPE"), RIGHT], "Done.", id="refused as meant"),
        pytest.param([Call("double", {"numbers": "x"}, "tags"), RIGHT], "An earlier call was refused, so I cannot go on.", id="refused"),
    ],
)  # fmt: skip
def test_the_scripted_model_claims_nothing_that_did_not_happen(capsys, calls, answer):
    """After a call that should have run and was refused, the model does not give the answer of the script."""
    double(Scene("Double them", *calls, answer="Done."))
    assert re.findall(r"^answer +(.*)$", capsys.readouterr().out, re.MULTILINE) == [answer]


def test_a_call_may_use_what_an_earlier_one_gave(capsys):
    """A script may make arguments from the answers so far, and make several calls in one turn."""
    later = Call(
        "double", lambda found: {"numbers": json.loads(found[0]) + json.loads(found[1])}, gives="[4, 8, 4]"
    )
    scene = Scene("Twice", [RIGHT, Call("double", {"numbers": [1]}, gives="[2]")], later, answer="Done.")
    assert double(scene) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 calls: 2 ran as sent, 1 repaired, 0 refused."


def test_arguments_that_are_one_text_are_shown_as_text(capsys):
    """A repair of the whole call is shown next to the text that the model sent."""
    call = Call("double", '{"numbers": [1]}', "json_text_to_object", gives="[2]")
    assert double(Scene("Double 1", call, answer="2.")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert r'model   double("{\"numbers\": [1]}")' in lines
    assert "repair  whole call: json_text_to_object (string -> object)" in lines
