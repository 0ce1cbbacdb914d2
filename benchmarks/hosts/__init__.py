"""Do twelve calls come out alike on every host? Each is sent by a real client to a real server, and printed as a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def main(console: Console) -> int:
    """Print the matrix; return 1 where a call comes out otherwise than is said of the host."""
    # The other modules run in the environments of the hosts, where little is installed.
    from benchmarks.hosts.matrix import main as print_matrix

    return print_matrix(console)
