"""The measurements behind the README's figures; run ``python -m benchmarks``."""
