"""``python -m benchmarks evidence`` on small sets of the same form, with a checker of their own."""

from __future__ import annotations

import csv
import json
import re
import sys
from dataclasses import replace

import pytest

from benchmarks.environments import NotInstalledError
from benchmarks.evidence import evidence
from benchmarks.evidence.recorded import runs
from benchmarks.evidence.recorded.answers import BFCL_4, BFCL_2024, BFCL_SUBSET
from benchmarks.evidence.recorded.methods import ours, pydantic_lax

BOOK = {
    "name": "shop.book",
    "description": "Book seats.",
    "parameters": {
        "type": "dict",
        "properties": {
            "seats": {"type": "integer"},
            "price": {"type": "float"},
            "meal": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "any"},
        },
        "required": ["seats"],
    },
}
CHECKER = """
def ast_checker(functions, calls, right, language, category, model):
    wanted = [(name.replace(".", "_"), values) for row in right for name, values in row.items()]
    made = [(name, values) for call in calls for name, values in call.items()]
    same = [name for name, _ in wanted] == [name for name, _ in made] and all(
        values.keys() == sent.keys() and all(_among(sent[key], values[key]) for key in values)
        for (_, values), (_, sent) in zip(wanted, made)
    )
    return {"valid": same}


def _among(value, values):
    return any(type(value) is type(each) and value == each for each in values)
"""
HANDLERS = """
import ast


class Handler:
    def __init__(self, model):
        self.model = model

    def decode_ast(self, result, language):
        return ast.literal_eval(result)


handler_map = {"tiny/model": Handler}
"""
TINY_2024, TINY_4 = (replace(benchmark, requirements=()) for benchmark in (BFCL_2024, BFCL_4))
"""The benchmarks, run in the environment of the tests."""
ROWS = [
    # what the model sent, what is right, whether it is right as recorded
    ({"seats": 2, "price": 3, "note": 5}, {"seats": [2], "price": [3], "note": [5]}, True),
    ({"seats": "4"}, {"seats": [4]}, False),
    ({"seats": "5"}, {"seats": ["5"]}, True),
    ({"seats": "7"}, {"seats": [8]}, False),
    ({"seats": "two"}, {"seats": ["two"]}, True),
    ({"seats": 1, "tags": '["a", "b"]'}, {"seats": [1], "tags": [["a", "b"]]}, False),
    ({"seats": 3, "Meal": "tea"}, {"seats": [3], "meal": ["tea"]}, False),
    # a tuple cannot be sent as JSON
    ({"seats": "9", "tags": ("a",)}, {"seats": [9], "tags": [["a"]]}, False),
]
LOST, REFUSED = 3, 5


def _write(file, rows):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _score(right, total, wrong):
    return [{"correct_count": right, "total_count": total}, *({"id": each} for each in wrong)]


@pytest.fixture(autouse=True)
def own_search_path(monkeypatch):
    """Forget the search path that is set for the programs of the methods."""
    monkeypatch.setenv("PYTHONPATH", "")


@pytest.fixture
def checkout(tmp_path):
    """A checkout of a benchmark with a small checker, and a folder of answers with three sets."""
    code = tmp_path / "code" / "berkeley-function-call-leaderboard"
    for name, text in (("eval_checker/checker.py", CHECKER), ("model_handler/handler_map.py", HANDLERS)):
        (code / name).parent.mkdir(parents=True)
        (code / name).write_text(text, encoding="utf-8")
    recorded = [repr([{"shop_book": sent}]) for sent, *_ in ROWS] + ["no call"]
    truths = [[{"shop.book": right}] for _, right, _ in ROWS] + [[{"shop.book": {"seats": [1]}}]]
    wrong = [at for at, (*_, right) in enumerate(ROWS, 1) if not right] + [len(ROWS) + 1]
    scores = {
        "simple": _score(len(recorded) - len(wrong), len(recorded), wrong),
        "multiple_function": _score(len(recorded), len(recorded), []),
        "parallel_function": _score(len(recorded) - len(wrong), len(recorded), [each + 1 for each in wrong]),
    }
    for category, score in scores.items():
        name = f"gorilla_openfunctions_v1_test_{category}"
        _write(code / "data" / f"{name}.json", [{"function": BOOK}] * len(recorded))
        _write(code / "data" / "possible_answer" / f"{name}.json", [{"ground_truth": row} for row in truths])
        run = tmp_path / "answers" / "2024"
        _write(run / "result" / "tiny_model" / f"{name}_result.json", [{"result": row} for row in recorded])
        _write(run / "score" / "tiny_model" / f"{category}_score.json", score)
    return tmp_path


def _printed(capsys, folders, *, benchmark=TINY_2024, makers=(ours, pydantic_lax)):
    code = evidence.show(folders, (benchmark,), makers)
    return code, capsys.readouterr().out


def _row(printed, name):
    """Return the cells of the first row that starts with this name."""
    row = next(line for line in printed.splitlines() if line.startswith(f" {name}  "))
    return re.split(r"\s{2,}", row.strip())[1:]


def test_answers_are_counted_by_the_benchmarks_own_checker(checkout, capsys):
    """Gained, lost and unchanged answers are counted after the published score came out; lost and wrong ones are printed."""
    code, printed = _printed(capsys, [checkout])
    assert code == 0
    assert "the published score came out for 1 of 3 sets" in printed
    assert "9 answers, 3 right as recorded" in printed
    # gained, questions, lost, still wrong, still right, right but refused, accepted calls changed
    assert _row(printed, "mcp-lenient") == ["3", "3", "1", "1", "0", "1", "1"]
    assert _row(printed, "Pydantic lax, JSON pre-parse") == ["2", "2", "1", "1", "0", "1", "0"]
    assert _row(printed, "tiny_model") == ["3", "3, 1", "2, 1"]
    assert _row(printed, "JSON in text") == ["3", "1", "1", "0"]
    assert "mcp-lenient gained answers of 3 of 9 questions: 95 % interval 12.1% to 64.6%" in printed
    assert "mcp-lenient lost answers of 1 of 9 questions: 95 % interval 2.0% to 43.5%" in printed
    assert _row(printed, "text_to_integer") == ["1", "1", "1", "0"]
    assert f'mcp-lenient: simple {LOST} by text_to_integer: seats "5" -> 5' in printed
    assert f'Pydantic lax, JSON pre-parse: simple {LOST}: seats "5" -> 5' in printed
    assert 'mcp-lenient: simple 4 by text_to_integer: seats "7" -> 7' in printed
    assert 'by rename_case: Meal "tea" -> absent, meal absent -> "tea"' in printed
    assert f"simple {REFUSED}" not in printed


def test_a_set_whose_published_score_does_not_come_out_is_skipped(checkout, capsys):
    """Other counts or other wrong answers than published leave a set out, with the reason."""
    _, printed = _printed(capsys, [checkout], makers=(ours,))
    counts = "tiny_model multiple_function: 3 of 9 are right, published were 9 of 9"
    assert f"skipped: answers/2024 {counts}" in printed.replace("\\", "/")
    assert "parallel_function: other answers are wrong than was published" in printed


def test_answers_without_the_benchmarks_code_are_skipped(checkout, capsys):
    """Without a checkout of the benchmark's code no set is replayed, and that is said."""
    code, printed = _printed(capsys, [checkout / "answers"], makers=(ours,))
    assert code == 0
    assert "came out for 0 of 3 sets" in printed
    assert "none of the folders has the benchmark's code" in printed


def test_folders_without_recordings_are_told(tmp_path, capsys):
    """Folders with nothing to replay end with exit code 2."""
    code, printed = _printed(capsys, [tmp_path], makers=(ours,))
    assert code == 2
    assert "Nothing to replay" in printed


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The package of the newer benchmark, with a small checker that knows how functions with a dot are named."""
    package = tmp_path / "package" / "bfcl_eval"
    files = {
        "constants/enums.py": "class Language:\n    PYTHON = 'python'\n",
        "eval_checker/ast_eval/ast_checker.py": "from bfcl_eval.constants.model_config import MODEL_CONFIG_MAPPING\n"
        + CHECKER.replace('name.replace(".", "_")', "_sent(name)")
        + "\n\ndef _sent(name):\n"
        "    return name.replace('.', '_') if MODEL_CONFIG_MAPPING['any'].underscore_to_dot else name\n",
    }
    for name, text in files.items():
        for folder in [package, *(package / name).relative_to(package).parents]:
            (package / folder).mkdir(parents=True, exist_ok=True)
            (package / folder / "__init__.py").touch()
        (package / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    return package


def test_the_newer_benchmark_is_read_from_its_package(tmp_path, capsys, package):
    """Answers of BFCL v4 are paired with questions by id, and checked by the checker of its package."""
    _write(package / "data" / "BFCL_v4_multiple.json", [{"id": name, "function": [BOOK]} for name in "ab"])
    truths = [{"id": name, "ground_truth": [{"shop.book": {"seats": [at]}}]} for at, name in enumerate("ab")]
    _write(package / "data" / "possible_answer" / "BFCL_v4_multiple.json", truths)
    answers = [
        {"id": "b", "result": [{"shop_book": '{"seats": "1"}'}]},
        {"id": "a", "result": [{"shop_book": '{"seats": 0}'}]},
    ]
    run = tmp_path / "answers"
    _write(run / "result" / "some" / "non_live" / "BFCL_v4_multiple_result.json", answers)
    _write(run / "score" / "some" / "non_live" / "BFCL_v4_multiple_score.json", _score(1, 2, ["b"]))
    _, printed = _printed(capsys, [tmp_path], benchmark=TINY_4, makers=(ours,))
    assert "the published score came out for 1 of 1 sets" in printed
    assert _row(printed, "mcp-lenient") == ["1", "1", "0", "0", "0", "0", "0"]
    assert _row(printed, "tool calls") == ["1", "0", "0", "0"]


def test_a_table_of_answers_without_a_published_score_is_read(tmp_path, capsys, package):
    """Answers in a table have the calls that their author read in them, and the names that version 3 gave the questions."""
    data = {
        "BFCL_v4_simple_python.json": [{"id": "simple_python_7", "function": [BOOK]}],
        "possible_answer/BFCL_v4_simple_python.json": [
            {"id": "simple_python_7", "ground_truth": [{"shop.book": {"seats": [2]}}]}
        ],
    }
    for name, rows in data.items():
        _write(package / "data" / name, rows)
    calls = [json.dumps([{"name": "shop.book", "arguments": {"seats": seats}}]) for seats in ("2", 2, "3")]
    with (tmp_path / "Host_scored.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, ("task_id", "category", "raw_output", "parsed_calls"))
        table.writeheader()
        table.writerows(
            {
                "task_id": "simple_7",
                "category": "simple",
                "raw_output": f"<tool_call>{text}",
                "parsed_calls": text,
            }
            for text in (*calls, "null")
        )
    _, printed = _printed(capsys, [tmp_path], benchmark=replace(BFCL_SUBSET, requirements=()), makers=(ours,))
    assert "no score was published; read are 1 of 1 sets" in printed
    assert "4 answers, 1 right as recorded" in printed
    # gained, questions, lost, still wrong
    assert _row(printed, "mcp-lenient")[:4] == ["1", "1", "0", "1"]
    assert _row(printed, "Host") == ["1", "1, 0"]
    assert _row(printed, "JSON in text") == ["1", "0", "1", "0"]


# --- runs ---------------------------------------------------------------------------------------------

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
SENT = [
    {"city": "Oslo"},
    {"city": "Oslo", "days": "3"},
    {"citty": "Oslo"},
    {"city": "Oslo"},
    {"citty": "Rome"},
    {"city": "Paris"},
]


def test_recorded_runs_are_replayed(tmp_path, capsys):
    """Accepted calls, repairs, refusals and followed fixes of agent runs are counted by the recorded schemas."""
    live = tmp_path / "live"
    tools = [{"tools": {"sky": {"tools": [{"name": "weather", "inputSchema": WEATHER}]}}}]
    _write(live / "tools" / "LiveMCPTool" / "tools.json", [tools])
    calls = [{"server_name": "sky", "tool_name": "weather", "params": sent} for sent in SENT]
    messages = [
        {"role": "assistant", "tool_calls": [{"function": {"name": name, "arguments": json.dumps(sent)}}]}
        for name, sent in [("route", {"query": "weather"}), *(("execute-tool", each) for each in calls)]
    ]
    _write(live / "baseline" / "output" / "model.json", [[{"messages": messages}]])
    code, printed = _printed(capsys, [live], makers=(ours,))
    assert code == 0
    # runs, calls, with a schema, accepted, changed, repaired, refused, made again after a fix, as the first fix
    assert _row(printed, "LiveMCPBench") == ["1", "6", "6", "3", "0", "1", "2", "2", "1"]
    fix = 'fix: weather: citty "Rome" -> absent, city absent -> "Rome"'
    assert f'{fix}; the model: citty "Rome" -> absent, city absent -> "Paris"' in printed


def test_changed_accepted_calls_of_runs_are_printed(tmp_path, capsys):
    """An open schema accepts a name that the server ignores; its call is changed, counted and printed."""
    snap = {"name": "list", "inputSchema": {"type": "object", "properties": {"perPage": {"type": "integer"}}}}
    _write(tmp_path / "server" / "__toolsnaps__" / "list.snap", [snap])
    messages = [
        {"role": "user", "content": "list"},
        {"type": "function_call", "name": "list", "arguments": '{"per_page": 10}'},
        {"type": "function_call", "name": "unknown", "arguments": "{}"},
        {"type": "function_call", "name": "list", "arguments": '{"perPage": '},
    ]
    _write(tmp_path / "mcp_servers" / "github" / "official" / "run-1" / "task" / "messages.json", [messages])
    other = tmp_path / "mcp_servers" / "sky" / "own" / "run-2" / "task"
    _write(
        other / "messages.json",
        [[{"type": "function_call", "name": "weather", "arguments": '{"city": "Oslo"}'}]],
    )
    _write(tmp_path / "sky-own.tools.json", [{"tools": [{"name": "weather", "inputSchema": WEATHER}]}])
    _, printed = _printed(capsys, [tmp_path], makers=(ours,))
    assert _row(printed, "MCPMark, community experiments") == ["2", "4", "3", "2", "1", "1", "1", "0", "0"]
    assert "changed although accepted: list: per_page 10 -> absent, perPage absent -> 10" in printed


def test_closed_schemas_are_replayed_too(tmp_path, capsys):
    """A name that an open schema allows is refused, or repaired, by the same schema without other names."""
    snap = {"name": "list", "inputSchema": {"type": "object", "properties": {"perPage": {"type": "integer"}}}}
    _write(tmp_path / "server" / "__toolsnaps__" / "list.snap", [snap])
    sent = ['{"per_page": 10}', '{"color": "red"}', '{"perPage": 2}']
    calls = [{"type": "function_call", "name": "list", "arguments": each} for each in sent]
    _write(tmp_path / "mcp_servers" / "github" / "official" / "run-1" / "task" / "messages.json", [calls])
    _, printed = _printed(capsys, [tmp_path], makers=(ours,))
    # runs, calls, with a schema, accepted, changed, repaired, refused
    assert _row(printed, "MCPMark, community experiments")[:7] == ["1", "3", "3", "3", "1", "1", "0"]
    assert _row(printed, "MCPMark, community experiments, closed")[:7] == ["1", "3", "3", "1", "0", "1", "1"]


TAU_TOOL = """
class Weather(Tool):
    @staticmethod
    def get_info():
        return {"type": "function", "function": {"name": "weather", "parameters": %s}}
"""
CHAT = [
    {"role": "assistant", "tool_calls": [{"id": name, "function": {"name": "weather", "arguments": sent}}]}
    for name, sent in (
        ("a", '{"city": "Oslo", "days": "3"}'),
        ("b", '{"days": 3}'),
        ("c", '{"city": "Rome"}'),
    )
]
ANSWERS = [
    {"role": "tool", "tool_call_id": name, "content": text}
    for name, text in (("a", "sun"), ("b", "Error: no city"))
]


def test_runs_of_tau_bench_are_replayed_with_what_came_back(tmp_path, capsys):
    """The tools are those of the domain, and each call that is not accepted is printed with its answer and the next call."""
    schema = {**WEATHER, "additionalProperties": True}
    tool = tmp_path / "tau_bench" / "envs" / "sky" / "tools" / "weather.py"
    tool.parent.mkdir(parents=True)
    tool.write_text(TAU_TOOL % schema, encoding="utf-8")
    _write(tmp_path / "historical_trajectories" / "model-sky.json", [[{"traj": [*CHAT, *ANSWERS]}]])
    _, printed = _printed(capsys, [tmp_path], makers=(ours,))
    assert _row(printed, "tau-bench") == ["1", "3", "3", "1", "0", "1", "1", "0", "0"]
    assert 'weather: repaired, days "3" -> 3; answered: "sun"; then: {"days": 3}' in printed
    assert 'weather: refused, missing /city; answered: "Error: no city"; then: {"city": "Rome"}' in printed


def test_runs_of_toolathlon_are_replayed_by_listed_and_written_tools(tmp_path, capsys):
    """A call names the server, whose tools are listed in a file, or a tool of the benchmark's own code."""
    _write(
        tmp_path / "toolathlon-sky-maps.tools.json",
        [{"tools": [{"name": "weather", "inputSchema": WEATHER}]}],
    )
    aid = tmp_path / "utils" / "aux_tools" / "sleep.py"
    aid.parent.mkdir(parents=True)
    aid.write_text(
        f"tool = FunctionTool(name='local-sleep', params_json_schema={WEATHER}, run=run)\n", encoding="utf-8"
    )
    messages = json.loads(
        json.dumps(CHAT)
        .replace('"weather"', '"sky-maps-weather"', 1)
        .replace('"weather"', '"local-sleep"', 1)
    )
    _write(tmp_path / "trajs" / "model_task.json", [{"pass": True, "messages": [*messages, *ANSWERS]}])
    _, printed = _printed(capsys, [tmp_path], makers=(ours,))
    # the third tool is unknown
    assert _row(printed, "Toolathlon") == ["1", "3", "2", "0", "0", "1", "1", "0", "0"]


TAU2_KIT = """
class ToolKitBase:
    def __init__(self, db):
        pass
"""
TAU2_TOOLS = """
from types import SimpleNamespace

from tau2.environment.toolkit import ToolKitBase


class Kit(ToolKitBase):
    def get_tools(self):
        return {"weather": SimpleNamespace(openai_schema={"function": {"parameters": %s}})}
"""


def test_runs_of_tau2_bench_are_replayed_by_the_schemas_of_its_code(tmp_path, capsys, monkeypatch):
    """The benchmark's code makes the schemas; a domain that cannot be imported is left out, and a file of two branches counts once."""
    monkeypatch.setattr(runs, "_TAU2_PACKAGES", ())
    for branch in ("one", "two"):
        files = {
            "environment/toolkit.py": TAU2_KIT,
            "domains/airline/tools.py": TAU2_TOOLS % WEATHER,
            "domains/banking/tools.py": "import tau2.missing",
        }
        for name, text in files.items():
            file = tmp_path / branch / "src" / "tau2" / name
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
        messages = [
            {
                "role": "assistant",
                "tool_calls": [{"id": "a", "name": "weather", "arguments": {"city": "Oslo", "days": "3"}}],
            },
            {"role": "tool", "id": "a", "content": "sun"},
            {"role": "user", "tool_calls": [{"id": "b", "name": "weather", "arguments": {}}]},
        ]
        simulations = {
            "info": {"environment_info": {"domain_name": "airline"}},
            "simulations": [{"messages": messages}],
        }
        _write(tmp_path / branch / "model" / "trajectories" / "airline.json", [simulations])
        _write(tmp_path / branch / "results" / "summary.json", [{"reward": 1}])
    _, printed = _printed(capsys, [tmp_path], makers=(ours,))
    assert _row(printed, "tau2-bench") == ["1", "1", "1", "0", "0", "1", "0", "0", "0"]


@pytest.mark.parametrize("failing", [True, False])
def test_tau2_bench_without_its_packages_is_left_out_with_the_reason(tmp_path, capsys, monkeypatch, failing):
    """A collection whose packages cannot be installed, or that needs others, is named with the reason."""

    def interpreter(_):
        if failing:
            reason = "No module named 'tau2.environment'"
            raise NotInstalledError(reason)
        return sys.executable

    monkeypatch.setattr(runs, "interpreter", interpreter)
    for name in ("src/tau2/domains/airline/tools.py", "trajectories/airline.json"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    code, printed = _printed(capsys, [tmp_path], makers=(ours,))
    assert code == 0
    assert re.search("tau2-bench is left out: .*No module named 'tau2.environment'", printed)
