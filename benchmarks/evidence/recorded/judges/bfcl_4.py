"""The checker of BFCL v4, from the package ``bfcl-eval``, for models that were asked through a vendor's tool calls."""

import importlib.util
import json
import sys
from collections import defaultdict
from functools import cache, partial
from pathlib import Path
from types import ModuleType, SimpleNamespace

from loop import Answer, lines, serve


@cache
def _loaded():
    """Return the checker, the name of its language, and the folder with the data."""
    # The package's list of models imports the clients of all vendors. The checker only asks it whether a model's
    # functions were named with an underscore for a dot, as they are in tool calls of OpenAI's API.
    models = ModuleType("bfcl_eval.constants.model_config")
    models.MODEL_CONFIG_MAPPING = defaultdict(lambda: SimpleNamespace(underscore_to_dot=True))
    sys.modules[models.__name__] = models
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    return ast_checker, Language.PYTHON, Path(importlib.util.find_spec("bfcl_eval").origin).parent / "data"


def read(request):
    """Return the answers of one file."""
    ast_checker, language, data = _loaded()
    model, category = request["model"], request["category"]
    files = data / f"BFCL_v4_{category}.json", data / "possible_answer" / f"BFCL_v4_{category}.json"
    questions, truths = ({row["id"]: row for row in lines(file)} for file in files)
    for recorded in lines(request["file"]):
        name = recorded["id"]
        functions = questions[name]["function"]

        def check(calls, functions=functions, right=truths[name]["ground_truth"]):
            return ast_checker(functions, calls, right, language, category, model)["valid"]

        yield Answer(name, functions, partial(_decoded, recorded["result"]), check, recorded["result"])


def _decoded(result):
    """Decode as the package's handler of OpenAI's tool calls does."""
    first = [next(iter(call.items())) for call in result]
    return [{name: json.loads(arguments)} for name, arguments in first]


if __name__ == "__main__":
    serve(read)
