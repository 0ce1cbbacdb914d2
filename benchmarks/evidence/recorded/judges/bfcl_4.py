"""The checker of BFCL v4, from the package ``bfcl-eval``, for models that were asked through a vendor's tool calls, or in a prompt."""

import csv
import importlib.util
import json
import sys
from collections import defaultdict
from functools import cache, partial
from pathlib import Path
from types import ModuleType, SimpleNamespace

from loop import Answer, lines, serve


@cache
def _loaded(underscore_to_dot):
    """Return the checker, the name of its language, and the folder with the data."""
    # The package's list of models imports the clients of all vendors. The checker only asks it whether a model's
    # functions were named with an underscore for a dot, as they are in tool calls of OpenAI's API.
    models = ModuleType("bfcl_eval.constants.model_config")
    models.MODEL_CONFIG_MAPPING = defaultdict(lambda: SimpleNamespace(underscore_to_dot=underscore_to_dot))
    sys.modules[models.__name__] = models
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    return ast_checker, Language.PYTHON, Path(importlib.util.find_spec("bfcl_eval").origin).parent / "data"


def read(request):
    """Return the answers of one file: of one category as the benchmark writes them, or a table of some of all."""
    file, category = request["file"], request["category"]
    answers = _in_prompts(file) if file.endswith(".csv") else _by_tools(file, category)
    ast_checker, language, data = _loaded(not file.endswith(".csv"))
    for category, name, result, decode in answers:
        question, truth = (
            _rows(folder / f"BFCL_v4_{category}.json")[name] for folder in (data, data / "possible_answer")
        )

        def check(calls, functions=question["function"], right=truth["ground_truth"], category=category):
            return ast_checker(functions, calls, right, language, category, request["model"])["valid"]

        yield Answer(name, question["function"], decode, check, result)


@cache
def _rows(file):
    return {row["id"]: row for row in lines(file)}


def _by_tools(file, category):
    for recorded in lines(file):
        yield category, recorded["id"], recorded["result"], partial(_decoded, recorded["result"])


def _decoded(result):
    """Decode as the package's handler of OpenAI's tool calls does."""
    first = [next(iter(call.items())) for call in result]
    return [{name: json.loads(arguments)} for name, arguments in first]


def _in_prompts(file):
    """Return the answers with the calls that their author read in them; he named the questions as version 3 did."""
    with Path(file).open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            category, name = (row[key].replace("simple", "simple_python") for key in ("category", "task_id"))
            yield category, name, row["raw_output"], partial(_parsed, row["parsed_calls"])


def _parsed(calls):
    return [{call["name"]: call["arguments"]} for call in json.loads(calls)]


if __name__ == "__main__":
    serve(read)
