"""``python -m fuzz.corpus normalize [FOUND]``: keep the inputs that reach something no smaller one does."""

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
"""From one line of a file to another."""


def main() -> None:
    """Make a target's corpus anew from itself and the inputs found, smallest first."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.corpus", description=main.__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("found", type=Path, nargs="*", help="directories of inputs, as --found has made them")
    chosen = parser.parse_args()
    corpus = CORPUS / chosen.target
    inputs = [path for folder in (corpus, *chosen.found) for path in folder.iterdir()]
    # What has a name of its own stands for a fault that was found; a fuzzer names by 40 digits.
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
    """The steps from line to line that an input takes through the library."""
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
        # A tracer slows everything down: time is not what is looked at here.
        if "took too long" not in str(error):
            raise
    finally:
        sys.settrace(None)
    return found


if __name__ == "__main__":
    main()
