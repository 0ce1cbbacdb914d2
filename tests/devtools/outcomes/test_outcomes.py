"""Test what ``mcp-lenient outcomes`` says of recorded calls, and what a recording and its outcomes hold."""

from __future__ import annotations

import asyncio
import json
import signal
import stat
import sys
from typing import Annotated

import pytest
from decisions import contract
from fastmcp import Client, FastMCP
from pydantic import Field, SecretStr
from refused import refused
from tables import INTEGER, STRING, array, closed, opened

from mcp_lenient import LenientMiddleware
from mcp_lenient.cli import run
from mcp_lenient.devtools.outcomes import judge, read_calls
from mcp_lenient.errors import LoggingError
from mcp_lenient.telemetry import recording
from mcp_lenient.telemetry.recording import masked
from mcp_lenient.testing import stress

_SCHEMA = closed(tags=array(STRING), limit=INTEGER)
_SECRETS = ("hunter2x", "Tr0ub4dor", "sesame99", "73318", "open-Says-me", "kYe77abc")


def calls(folder, *sent, **known):
    """Write calls of one tool."""
    file = folder / "calls.jsonl"
    rows = [{"tool": "search", "schema": _SCHEMA, "sent": each, **known} for each in sent]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return file


def test_an_unchanged_version_changes_nothing(tmp_path, capsys):
    file = calls(tmp_path, {"limit": 1}, {"tags": '["a"]'}, {"tags": 5}, "no arguments", '{"limit": "2"}')
    saved = tmp_path / "a.json"
    assert run(["outcomes", str(file), "--save", str(saved)]) == 0
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600 or sys.platform == "win32"
    assert run(["outcomes", str(file), "--against", str(saved)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "5 calls: 3 run, 2 of them repaired, 2 refused"


@pytest.mark.parametrize(
    ("first", "second", "sent", "said"),
    [
        ("repair", "off", {"tags": '["a"]'}, "newly refused: 1"),
        ("off", "repair", {"tags": '["a"]'}, "newly repaired: 1"),
    ],
)
def test_it_says_what_another_policy_changes(tmp_path, capsys, first, second, sent, said):
    file, saved, policy = calls(tmp_path, sent, {"limit": 1}), tmp_path / "a.json", tmp_path / "tools.yaml"
    allowed = {"repair": [], "off": ["json_text_to_array"]}
    policy.write_text(f"policy: {{disable: {allowed[first]}}}\n", encoding="utf-8")
    run(["outcomes", str(file), "--save", str(saved), "--config", str(policy)])
    policy.write_text(f"policy: {{disable: {allowed[second]}}}\n", encoding="utf-8")
    code = run(["outcomes", str(file), "--against", str(saved), "--config", str(policy)])
    assert code == ("newly refused" in said)
    assert said in capsys.readouterr().out


def test_a_folder_that_is_not_there_is_named_before_any_call_is_judged(tmp_path, capsys):
    file = calls(tmp_path, {"limit": 1})
    told = refused(["outcomes", str(file), "--save", str(tmp_path / "no" / "a.json")], capsys)
    assert f"the folder does not exist: {tmp_path / 'no'}" in told


def test_another_value_is_found_by_its_type_too(tmp_path, capsys):
    file, saved = calls(tmp_path, {"limit": 1}), tmp_path / "a.json"
    run(["outcomes", str(file), "--save", str(saved)])
    row = json.loads(saved.read_text("utf-8"))
    saved.write_text(json.dumps({**row, "value": {"limit": 1.0}}), encoding="utf-8")
    assert run(["outcomes", str(file), "--against", str(saved)]) == 1
    shown = capsys.readouterr().out
    assert "another value: 1\n  search (call 1)\n" in shown
    assert 'before  runs with {"limit": 1.0}\n    now     runs with {"limit": 1}' in shown


def test_another_reason_is_no_harm_and_two_saved_files_are_compared(tmp_path, capsys):
    file, policy = calls(tmp_path, {"limt": 1}, {"tags": '["a"]'}), tmp_path / "tools.yaml"
    policy.write_text("policy: {language: zh}\n", encoding="utf-8")
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    run(["outcomes", str(file), "--save", str(first)])
    run(["outcomes", str(file), "--save", str(second), "--config", str(policy)])
    assert run(["outcomes", str(second), "--against", str(first)]) == 0
    assert "another reason: 0" in capsys.readouterr().out
    second.write_text(
        second.read_text("utf-8").replace("rename", "other").replace("json_text", "x"), encoding="utf-8"
    )
    assert run(["outcomes", str(second), "--against", str(first)]) == 0
    assert "another reason: 1" in capsys.readouterr().out


def test_several_processes_judge_as_one_does(tmp_path, monkeypatch):
    monkeypatch.setattr("mcp_lenient.devtools.outcomes._PART", 2)
    schemas = [{**_SCHEMA, "title": f"{at}"} for at in range(3)]
    rows = [{"tool": f"t{at % 3}", "schema": schemas[at % 3], "sent": {"limit": f"{at}"}} for at in range(9)]
    file, saved = tmp_path / "calls.json", [tmp_path / f"{jobs}.json" for jobs in (1, 2)]
    file.write_text(json.dumps(rows), encoding="utf-8")
    for jobs, each in zip((1, 2), saved, strict=True):
        assert run(["outcomes", str(file), "--save", str(each), "--jobs", str(jobs)]) == 0
    assert saved[0].read_bytes() == saved[1].read_bytes()
    assert [json.loads(line)["name"] for line in saved[0].read_text("utf-8").splitlines()] == [*"147258369"]


def test_calls_that_differ_in_secrets_alone_are_told_apart(tmp_path, capsys):
    schema = {"properties": {"password": {"type": "string", "pattern": "^ab"}}}
    rows = [{"schema": schema, "sent": {"password": each}} for each in ("abc", "xyz")]
    file, saved = tmp_path / "calls.json", tmp_path / "a.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    run(["outcomes", str(file), "--save", str(saved)])
    assert run(["outcomes", str(file), "--against", str(saved)]) == 0
    assert capsys.readouterr().out.count("2 calls: 1 run") == 2


def test_a_deep_value_is_judged(tmp_path):
    deep = "[" * 900 + "]" * 900
    file = tmp_path / "calls.json"
    file.write_text(f'{{"schema": {{}}, "sent": {{"a": {deep}}}}}', encoding="utf-8")
    assert run(["outcomes", str(file), "--save", str(tmp_path / "a.json")]) == 0


def test_the_forms_of_case_tables_are_read(tmp_path):
    rows = [
        {"id": "x", "schema": _SCHEMA, "arguments": {}},
        {"param_schema": _SCHEMA, "sent": {"limit": "1"}},
    ]
    forms = ({"about": "", "cases": rows}, rows)
    for at, form in enumerate(forms):
        file = tmp_path / f"{at}.json"
        file.write_text(json.dumps(form), encoding="utf-8")
        found = list(judge(read_calls(file)))
        assert [(each.name, each.ran, each.value) for each in found] == [
            ("x", True, {}),
            ("2", True, {"limit": 1}),
        ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "no such file"),
        ("", "there is no call"),
        ("[1]", "must be an object"),
        ('{"sent": {}}\n{"sent"', "line 2 is not JSON"),
        ('{"sent": {}}', "has no schema"),
    ],
)
def test_a_file_without_calls_is_an_error(tmp_path, capsys, text, reason):
    file = tmp_path / "calls.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    assert reason in refused(["outcomes", str(file)], capsys)


def test_another_file_is_not_taken_for_outcomes(tmp_path, capsys):
    file = calls(tmp_path, {})
    assert "was not written by --save" in refused(["outcomes", str(file), "--against", str(file)], capsys)


def server(**settings):
    """Return a server with secrets of several kinds."""
    mcp = FastMCP("notes", middleware=[LenientMiddleware(**settings)])

    @mcp.tool
    def login(
        tags: list[str],
        password: str = "",
        key: SecretStr | None = None,
        pin: Annotated[int, Field(json_schema_extra={"writeOnly": True})] = 0,
        own: str = "",
        settings: dict[str, str] | None = None,
    ) -> str:
        del tags, password, key, pin, own, settings
        return "in"

    return mcp


SENT = (
    {"tags": ["a"], "password": _SECRETS[0], "key": _SECRETS[1]},
    {"tags": '["a"]', "settings": json.dumps({"api_key": _SECRETS[2]}), "pin": "73318"},
    {"tags": 5, "own": _SECRETS[4], "pin": 73318},
    {"tags": ["a"], "api_kye": _SECRETS[5]},
    {"tags": ["a"], "settings": {"token": f"['{_SECRETS[2]}'"}},
)


async def test_a_recording_is_judged_as_the_calls_were(tmp_path):
    file = tmp_path / "calls.jsonl"
    async with Client(server(record=file)) as client:
        ran = [not (await client.call_tool("login", each, raise_on_error=False)).is_error for each in SENT]
    assert [each.ran for each in judge(read_calls(file))] == ran
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert ["schema" in row for row in rows] == [True, False, False, False, False]
    assert rows[0]["sent"] == {"tags": ["a"], "password": "aaaaaa1a", "key": "Aa1aa1aaa"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
async def test_only_its_owner_reads_a_recording_and_it_is_bounded(tmp_path, monkeypatch):
    file = tmp_path / "calls.jsonl"
    file.touch(mode=0o644)
    monkeypatch.setattr(recording, "LARGEST", 2000)
    async with Client(server(record=file)) as client:
        for _ in range(40):
            assert (await client.call_tool("login", {"tags": ["a"]})).data == "in"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert 1900 < file.stat().st_size <= 2000


async def test_invented_calls_are_not_recorded(tmp_path):
    """The calls of a stress run are not recorded; those before and after it are."""
    file = tmp_path / "calls.jsonl"
    tried = server(record=file)
    async with Client(tried) as client:
        await client.call_tool("login", {"tags": ["a"]})
        assert (await asyncio.to_thread(stress, tried)).calls
        await client.call_tool("login", {"tags": ["b"]})
    assert [each.sent["tags"] for each in read_calls(file)] == [["a"], ["b"]]


@pytest.mark.parametrize(
    "command", [["outcomes", "{calls}"], ["definitions", "server.py", "--prompt"]], ids=lambda words: words[0]
)
def test_a_missing_definitions_file_is_named(command, tmp_path, capsys):
    calls = tmp_path / "calls.json"
    calls.touch()
    words = [word.format(calls=calls) for word in command]
    for missing, said in (
        (tmp_path / "no.yaml", "no such file"),
        (tmp_path, "it cannot be read: Is a directory"),
    ):
        assert refused([*words, "--config", str(missing)], capsys) == f"error: {missing}: {said}\n"


def test_a_recording_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(LoggingError, match="must be a file"):
        LenientMiddleware(record=tmp_path)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"maxResults": "10"}, {"maxResults": "10"}),
        ({"arguments": {"max_results": 5}}, {"arguments": {"max_results": 5}}),
        ({"x y=Secret1": 1}, {"a a=Aaaaaa1": 1}),
        ({"auth": {"Bob7": -12.5, "ok": True}}, {"auth": {"Aaa1": -11.1, "aa": True}}),
        ({"other": '{"max_results": "Ab"}'}, {"other": '{"max_results": "Aa"}'}),
        ({"other": [1e22, 2.5e-7, float("inf"), 7]}, {"other": [1e11, 1.1e-11, float("inf"), 1]}),
    ],
)
def test_values_keep_their_form(sent, expected):
    assert masked(sent, contract(closed(max_results={})).plan.top) == expected


def test_what_an_answer_hides_is_in_no_recording():
    """A value beside the name of a secret, and a URI with a password, are masked where their names are declared."""
    top = contract(closed(headers=array(opened(name={}, value={})), url={})).plan.top
    sent = {
        "headers": [{"name": "Authorization", "value": "Sekrit1"}, {"name": "Accept", "value": "json"}],
        "url": "https://bob:Sekrit2@host/x",
    }
    assert masked(sent, top) == {
        "headers": [{"name": "Authorization", "value": "Aaaaaa1"}, {"name": "Accept", "value": "json"}],
        "url": "aaaaa://aaa:Aaaaaa1@aaaa/a",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_its_owner_reads_saved_outcomes_in_a_file_that_was_there(tmp_path):
    calls, saved = tmp_path / "calls.json", tmp_path / "a.json"
    calls.write_text('{"schema": {}, "sent": {}}', encoding="utf-8")
    saved.touch(mode=0o644)
    assert run(["outcomes", str(calls), "--save", str(saved)]) == 0
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_it_with_what_was_judged(tmp_path, capsys):
    """The totals so far are shown, nothing is saved, and the exit code is 130."""
    judged = []

    def interrupt(frame, event, _):
        if event == "return" and frame.f_code.co_name == "judge":
            judged.append(1)
            if len(judged) == 3:
                signal.raise_signal(signal.SIGINT)

    file, saved = calls(tmp_path, *({"limit": at} for at in range(9))), tmp_path / "a.json"
    sys.setprofile(interrupt)
    try:
        assert run(["outcomes", str(file), "--save", str(saved)]) == 130
    finally:
        sys.setprofile(None)
    out, err = capsys.readouterr()
    assert out.startswith(("2 calls: 2 run", "3 calls: 3 run"))
    assert err.endswith(" of 9 calls were judged, nothing was saved\n")
    assert not saved.exists()
