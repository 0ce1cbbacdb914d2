"""Send twelve calls to every host with a real client, and print their outcomes as a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def main(console: Console) -> int:
    """Print the matrix; return 1 if an outcome differs from the documented one."""
    # The other modules run in the environments of the hosts, where few packages are installed.
    from benchmarks.hosts.matrix import main as print_matrix

    return print_matrix(console)
