"""The checker of BFCL as of August 2024, and the benchmark's own decoder of each model."""

import os
import sys
from functools import cache, partial
from pathlib import Path

from loop import Answer, lines, serve

_FILE = "gorilla_openfunctions_v1_test_{}.json"
_CLIENTS = ("ANTHROPIC", "COHERE", "FIRE_WORKS", "MISTRAL", "NVIDIA", "OPENAI", "YI")


@cache
def _loaded(code):
    """Return the checker and the handlers of a checkout, and the folder with its data."""
    folder = Path(code, "berkeley-function-call-leaderboard").resolve()
    sys.path[:0] = [str(folder), str(folder / "eval_checker")]
    os.chdir(folder / "eval_checker")  # the checker opens a file of this folder
    for client in _CLIENTS:  # the handlers also make the vendors' clients, which nothing uses here
        os.environ.setdefault(f"{client}_API_KEY", "unused")
    from checker import ast_checker
    from model_handler.handler_map import handler_map

    return ast_checker, handler_map, folder / "data"


def read(request):
    """Return the answers of one file."""
    ast_checker, handlers, data = _loaded(request["code"])
    model, category = request["model"].replace("_", "/"), request["category"]
    decode = handlers[model](model).decode_ast
    files = request["file"], data / _FILE.format(category), data / "possible_answer" / _FILE.format(category)
    for at, (recorded, question, truth) in enumerate(zip(*map(lines, files), strict=True), 1):
        functions = question["function"]

        def check(calls, functions=functions, right=truth["ground_truth"]):
            return ast_checker(functions, calls, right, "Python", category, request["model"])["valid"]

        known = functions if isinstance(functions, list) else [functions]
        yield Answer(at, known, partial(decode, recorded["result"], "Python"), check, recorded["result"])


if __name__ == "__main__":
    serve(read)
