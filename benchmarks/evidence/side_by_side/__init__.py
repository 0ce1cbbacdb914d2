"""Compare this project with its alternatives, in one run on one machine."""

from benchmarks.evidence.side_by_side.tables import main

__all__ = ["main"]
