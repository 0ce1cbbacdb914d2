"""List the commands of ``mcp-lenient``, and run one."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version
from typing import Final

from cyclopts import App, CycloptsError, UnknownCommandError
from rich.text import Text

from mcp_lenient.cli.errors import DONE, WRONG_USE, CommandError
from mcp_lenient.devtools.printing import Output, PrintableRecord, drop_output, print_exception
from mcp_lenient.errors import LenientError

_COMMANDS: Final = (
    *("check", "definitions", "demo", "explain", "outcomes"),
    *("proxy", "report", "stress", "tail"),
)

_TAKES: Final = {
    **dict.fromkeys(("check", "definitions", "proxy", "stress"), "TARGET"),
    "explain": "TARGET [TOOL [ARGUMENTS]]",
    "report": "[FILES...]",
}
"""What commands take whose arguments would otherwise be shown as ``[ARGS]``."""

app: Final = App(
    name="mcp-lenient",
    help="Repair nearly right MCP tool calls, refuse wrong ones with a clear error, and read the log.",
    help_format="markdown",
    version=lambda: version("mcp-lenient"),
    result_action="return_value",
)
for _command in _COMMANDS:
    # Not by its dotted name: a lazily loaded command has no description in the list of commands.
    _usage = f"Usage: mcp-lenient {_command} [OPTIONS] {_TAKES[_command]}" if _command in _TAKES else None
    app.command(getattr(import_module(f"mcp_lenient.cli.{_command}"), _command), name=_command, usage=_usage)
app.register_install_completion_command()


def run_and_flush(arguments: Sequence[str]) -> int:
    """Run one command as a whole program: with every log record and traceback escaped, and stdout flushed."""
    logging.setLogRecordFactory(PrintableRecord)
    sys.excepthook = print_exception
    code = run(arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
    return code


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code: 2 if it cannot run, with the reason in one line on stderr.

    It ends quietly when the reader of stdout closes early.
    """
    try:
        code = app(_ordered(arguments), exit_on_error=False, print_error=False)
    except UnknownCommandError as error:
        _print_error(_unknown_command(str((error.unused_tokens or [""])[0])))
        return WRONG_USE
    except (CycloptsError, CommandError, LenientError) as error:
        _print_error(str(error))
        return WRONG_USE
    except BrokenPipeError:
        drop_output()
        return DONE
    except SystemExit as error:
        # rich exits this way when the reader of stdout has closed.
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        return DONE
    return code if isinstance(code, int) else DONE


def _ordered(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the command line of a server where the command takes its target.

    A command line after ``--`` comes last. Of `explain`, the tool and its arguments come before it.
    """
    if arguments[:1] != ["explain"] or "--" not in arguments:
        return list(arguments)
    at = arguments.index("--")
    return ["explain", shlex.join(arguments[at + 1 :]), *arguments[1:at]]


def _unknown_command(command: str) -> str:
    near = get_close_matches(command, _COMMANDS, n=1)
    if near:
        return f"unknown command {command!r}; did you mean {near[0]!r}?"
    return f"unknown command {command!r}; the commands are {', '.join(_COMMANDS)}"


def _print_error(reason: str) -> None:
    Output(stderr=True, highlight=False).print(Text.assemble(("error: ", "bold red"), reason), soft_wrap=True)
