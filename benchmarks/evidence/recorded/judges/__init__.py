"""Programs that run a benchmark's own checker, each in the environment that the benchmark needs."""

from pathlib import Path

JUDGES = Path(__file__).parent
"""The folder of the programs."""
