"""``python -m fuzz TARGET [--seconds 600]``: attack one target; ``--help`` lists them."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

try:
    import atheris
except ModuleNotFoundError:
    sys.exit(
        "The attacks need Atheris, on Linux with Python 3.11 or newer: .venv/bin/python -m pip install --group fuzz"
    )

with atheris.instrument_imports(include=["mcp_lenient"]):
    from fuzz.corpus import CORPUS
    from fuzz.targets import TARGETS

WORDS = Path(__file__).parent / "words.txt"
_OPTIONS = ("-max_len=2000", "-len_control=0", "-timeout=30", "-print_final_stats=1", f"-dict={WORDS}")


def main() -> None:
    """Attack until the time is up or a law is broken; keep the input that breaks a law as ``crash-*``."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=main.__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=600, help="how long; 600 when left out")
    parser.add_argument("--seed", type=int, default=0, help="of the fuzzer; 0 is another one each time")
    parser.add_argument("--found", type=Path, help="where new inputs are kept; forgotten when left out")
    chosen = parser.parse_args()
    corpus = CORPUS / chosen.target
    found = chosen.found or Path(tempfile.mkdtemp(prefix="fuzz-"))
    found.mkdir(parents=True, exist_ok=True)
    arguments = [f"-max_total_time={chosen.seconds}", f"-seed={chosen.seed}", str(found), str(corpus)]
    atheris.Setup([sys.argv[0], *_OPTIONS, *arguments], TARGETS[chosen.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
