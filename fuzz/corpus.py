"""``python -m fuzz.corpus normalize [FOUND]``: keep the inputs that reach lines which no smaller input reaches."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
_ATTACKED = str(Path(__file__).parents[1] / "mcp_lenient")

Step = tuple[str, int, int]
"""A step from one line of a file to another."""


def main() -> None:
    """Rebuild a target's corpus from its current inputs and new ones, smallest first."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.corpus", description=main.__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("found", type=Path, nargs="*", help="folders of inputs, as written by --found")
    chosen = parser.parse_args()
    corpus = CORPUS / chosen.target
    inputs = [path for folder in (corpus, *chosen.found) for path in folder.iterdir()]
    # An input with a readable name stands for a bug that was found; a fuzzer's names have 40 digits.
    inputs.sort(key=lambda path: (len(path.name) == 40, path.stat().st_size))
    reached: set[Step] = set()
    kept: dict[str, bytes] = {}
    for path in inputs:
        data = path.read_bytes()
        new = _steps(chosen.target, data) - reached
        if new:
            reached |= new
            kept[path.name] = data
    for path in corpus.iterdir():
        path.unlink()
    for name, data in kept.items():
        (corpus / name).write_bytes(data)
    print(f"{len(kept)} of {len(inputs)} inputs kept, {sum(map(len, kept.values())):,} bytes")


def _steps(target: str, data: bytes) -> set[Step]:
    """Return the steps from line to line that an input takes through the library."""
    found: set[Step] = set()
    before: dict[FrameType, int] = {}

    def line(frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            found.add((frame.f_code.co_filename, before.get(frame, 0), frame.f_lineno))
            before[frame] = frame.f_lineno
        elif event == "return":
            before.pop(frame, None)
        return line

    def called(frame: FrameType, _event: str, _argument: Any) -> Any:
        return line if frame.f_code.co_filename.startswith(_ATTACKED) else None

    sys.settrace(called)
    try:
        TARGETS[target](data)
    except AssertionError as error:
        # A tracer slows everything down, so time limits do not count here.
        if "took too long" not in str(error):
            raise
    finally:
        sys.settrace(None)
    return found


if __name__ == "__main__":
    main()
