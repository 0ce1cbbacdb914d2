"""Run Python code that arrives as lines of JSON, in one namespace: the process inside a sandbox.

Arguments: most bytes of memory, most bytes of a file, most open files, then the folders of packages. An answer has the id
of its request; a process that the code forks neither reads requests nor answers them.
"""

from __future__ import annotations

import ast
import functools
import importlib
import json
import os
import resource
import sys
import tempfile
import time
import traceback
from typing import Any

LONGEST = 20_000


def main() -> None:
    """Answer each request until the input ends."""
    kinds = (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)
    for kind, limit in zip(kinds, map(int, sys.argv[1:4]), strict=True):
        resource.setrlimit(kind, (limit, limit))
    sys.path[:0] = ["", *sys.argv[4:]]
    requests, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for each in (requests, answers):
        os.register_at_fork(after_in_child=functools.partial(os.close, each.fileno()))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    own = os.getpid()
    for line in requests:
        asked = json.loads(line)
        done = answer(asked["code"], namespace)
        if os.getpid() != own:
            os._exit(0)
        print(json.dumps({"id": asked["id"], **done}), file=answers, flush=True)


def answer(code: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """Run code and return what it printed, the value of its last expression, and its error."""
    started = time.perf_counter()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        importlib.invalidate_caches()
        result, error = run(code, namespace)
        sys.stdout.flush()
        sys.stderr.flush()
        return {
            "success": error is None,
            "stdout": text(out),
            "stderr": text(err),
            "result": result and escaped(result),
            "error": error and escaped(error),
            "seconds": round(time.perf_counter() - started, 4),
            "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }


def run(code: str, namespace: dict[str, Any]) -> tuple[str | None, str | None]:
    """Run code; return its last expression's value and its traceback, None where there is none."""
    try:
        tree = ast.parse(code, "<code>")
        last: Any = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<code>", "exec"), namespace)  # noqa: S102 - this is what the sandbox is for
        result = eval(compile(ast.Expression(last.value), "<code>", "eval"), namespace) if last else None  # noqa: S307 - as above
        return (None if result is None else repr(result)[:LONGEST]), None
    except BaseException as error:  # noqa: BLE001 - whatever the code raises is its answer, SystemExit included
        told = traceback.TracebackException.from_exception(error)
        told.stack[:] = [frame for frame in told.stack if frame.filename not in {__file__, ast.__file__}]
        return None, "".join(told.format())[-LONGEST:]


def escaped(told: str) -> str:
    """Write what UTF-8 cannot hold, half of a character, as Python does."""
    return told.encode("utf-8", "backslashreplace").decode("utf-8")


def text(file: Any) -> str:
    """Return what was written, cut where it is too long."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    kept: str = file.read(LONGEST).decode("utf-8", "replace")
    return kept if size <= LONGEST else f"{kept}\n[{size - LONGEST} more bytes were cut]"


if __name__ == "__main__":
    main()
