"""``mcp-lenient tail``: show a log as it grows, one readable line per event."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter
from cyclopts.validators import Number

from mcp_lenient.cli.errors import DONE, fail
from mcp_lenient.cli.files import files_or_dash

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from rich.text import Text

_PARQUET: Final = b"PAR1"
"""The bytes that a Parquet file begins with."""


def tail(
    file: Annotated[str, files_or_dash("tail")],
    /,
    *,
    lines: Annotated[int, Parameter(name=("--lines", "-n"), validator=Number(gte=0))] = 10,
    follow: bool = True,
    foreign: bool = True,
) -> int:
    """Show the events of a log, one line per event, and follow the log as it grows.

    `mcp-lenient tail log.jsonl`

    Rotated and truncated files are followed too. Press Ctrl-C to stop.

    Args:
        file: The log, a file of JSON lines, or `-` for standard input
            (`docker logs -f notes 2>&1 | mcp-lenient tail -`).
        lines: Number of existing lines to show first; with `--no-foreign`, of events. Standard input is shown completely.
        follow: Wait for more lines.
        foreign: Show lines that are not events, dimmed.
    """
    try:
        if _is_parquet(file):
            fail(f"{file}: a Parquet file cannot be followed; mcp-lenient report reads it")
        _show(file, lines, follow=follow, foreign=foreign)
    except KeyboardInterrupt:
        return DONE
    except (OSError, ValueError) as error:  # the second for a name with a NUL
        from mcp_lenient.devtools.printing import why_not_opened

        fail(f"{file}: {why_not_opened(error)}")
    return DONE


def _is_parquet(file: str) -> bool:
    from pathlib import Path

    if not Path(file).is_file():  # a pipe would lose what is read of it
        return False
    with Path(file).open("rb") as opened:
        return opened.read(len(_PARQUET)) == _PARQUET


def _show(file: str, lines: int, *, follow: bool, foreign: bool) -> None:
    from datetime import datetime
    from pathlib import Path

    from mcp_lenient.devtools.printing import Output
    from mcp_lenient.devtools.tail import lines_of, text_of

    console = Output(highlight=False, markup=False, emoji=False)
    source: Iterable[str] = (
        map(text_of, sys.stdin.buffer)
        if file == "-"
        else lines_of(Path(file), history=lines, follow=follow, counts=None if foreign else _is_event)
    )
    for line in source:
        shown = _line(line, datetime.now().astimezone(), foreign=foreign)
        if shown is not None:
            console.print(shown, soft_wrap=True)
        if console.quiet:  # its reader has closed
            break


def _is_event(line: str) -> bool:
    from mcp_lenient.telemetry.events import read_event

    return read_event(line) is not None


def _line(line: str, now: datetime, *, foreign: bool) -> Text | None:
    from rich.text import Text

    from mcp_lenient.telemetry.events import event_parts, read_event
    from mcp_lenient.values.display import shown

    event = read_event(line)
    if event is not None:
        fields = event.model_dump(mode="json", exclude_defaults=True)
        return Text(" ").join(Text(text, style) for text, style in event_parts(fields, today=now))
    return Text(shown(line, 1000), "dim") if foreign and line else None
