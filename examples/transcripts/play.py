"""Play the examples as short transcripts: what the user said, what the model called, what came of it.

python examples/transcripts/play.py                    all of them
python examples/transcripts/play.py smart_home         one of them
python examples/transcripts/play.py smart_home --bare  without mcp-lenient, to see the failures

A transcript is a server and a few scenes. In each scene a scripted model makes the mistakes that real ones make,
and the script says what must come of each call; where something else comes of it, the exit code is 1.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where this file is run by its path

from anyio.from_thread import start_blocking_portal
from fastmcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, Request, TextContent, Tool
from rich.console import Console
from rich.text import Text

from mcp_lenient import configure_logging
from transcripts.agent import Agent, Model, Response, text_of

DATA = Path(os.environ.get("EXAMPLES_DATA") or Path(__file__).parents[1] / "data")
"""The folder for the events; git ignores it."""
NAMES = ("smart_home", "context_store", "agent_platform", "langchain_agent", "type_conversion")

Execute = Callable[[str, Any], CallToolResult]
MakeSession = Callable[[Client[Any]], Any]

_MARGIN: Final = 8
_WIDEST: Final = 400


@dataclass(frozen=True)
class Call:
    """One call of a scripted model, and what must come of it.

    Args:
        tool: The name that the model calls.
        sent: The arguments as the model writes them: an object, a text, or a function that makes them from what the
            tools have answered since the user spoke: the texts, and None for an error.
        outcome: The rules that repair it, in any order, or the ``error_code`` of its refusal; empty if it runs as sent.
        gives: A part of the answer, as it is written in the transcript.
    """

    tool: str
    sent: Any
    outcome: str = ""
    gives: str = ""

    def block(self, found: Sequence[str | None]) -> dict[str, Any]:
        """Write the call as a model does, which knows what the tools have answered."""
        sent = self.sent(found) if callable(self.sent) else self.sent
        return {"type": "tool_use", "name": self.tool, "input": sent}


class Scene:
    """One message of a user, what the scripted model does about it, and its answer.

    Args:
        said: What the user says.
        turns: What the model calls, turn by turn: one call, or a list of calls.
        answer: What the model says in the end.
        english: What the user says, in English, for whoever reads the transcript.
    """

    def __init__(self, said: str, *turns: Call | Sequence[Call], answer: str, english: str = "") -> None:
        self.said, self.answer, self.english = said, answer, english
        self.turns = [[turn] if isinstance(turn, Call) else turn for turn in turns]


@dataclass(frozen=True)
class Transcript:
    """A server and the conversation with it.

    Attributes:
        title: Its name.
        about: What the server does.
        build: Called with the folder for the server's files, a new one, and ``lenient``. Returns the server, or anything
            else that FastMCP's client connects to.
        scenes: The conversation.
        agent: Builds the object whose ``chat`` runs a conversation, as :class:`transcripts.agent.Agent`.
        session: Wraps the client that calls the tools, unless ``--bare`` is given.
    """

    title: str
    about: str
    build: Callable[..., Any]
    scenes: Sequence[Scene]
    agent: Callable[[Model, Sequence[Tool]], Any] = Agent
    session: MakeSession | None = None

    def play(self, *, bare: bool = False) -> int:
        """Play the scenes in the terminal, as one conversation, and return the exit code."""
        DATA.mkdir(parents=True, exist_ok=True)
        configure_logging(file=DATA / f"{self.title.lower().replace(' ', '_')}.jsonl")
        logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
        console = Console(width=None if sys.stdout.isatty() else 110, highlight=False)
        console.rule(Text(self.title + (", without mcp-lenient" if bare else ""), "bold"))
        console.print(self.about.partition("\n")[0], end="\n\n")
        with TemporaryDirectory() as folder:
            server = self.build(Path(folder), lenient=not bare)
            with connected(server, None if bare else self.session) as (execute, tools):
                player = Player(console, execute)
                agent = self.agent(player.model, tools)
                for scene in self.scenes:
                    player.play(scene, agent)
        return player.sum_up()


def main() -> int:
    """Play the transcripts that the command line names, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--bare", action="store_true", help="run without mcp-lenient, to see the failures")
    options = parser.parse_args()
    codes = [transcript(name).play(bare=options.bare) for name in options.names or NAMES]
    return max(codes)


def transcript(name: str) -> Transcript:
    """Return the transcript of an example."""
    found: Transcript = importlib.import_module(f"transcripts.{name}_scenes").TRANSCRIPT
    return found


@contextmanager
def connected(server: Any, session: MakeSession | None = None) -> Iterator[tuple[Execute, list[Tool]]]:
    """Connect to a server; yields what calls its tools, and the tools."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:
        call = partial(_call, client) if session is None else session(client).call_tool_mcp
        yield partial(portal.call, call), portal.call(client.list_tools)


async def _call(client: Client[Any], name: str, sent: Any) -> CallToolResult:
    """Call a tool with what the model wrote, which no method of the client would send unless it is an object."""
    params = {"name": name, "arguments": sent}
    request = Request[dict[str, Any], Literal["tools/call"]](method="tools/call", params=params)
    try:
        return await client.session.send_request(request, CallToolResult)
    except MCPError as error:
        return CallToolResult(content=[TextContent(type="text", text=error.message)], is_error=True)


class Player:
    """Plays scenes, prints them, and counts what is off."""

    def __init__(self, console: Console, execute: Execute) -> None:
        self._console, self._executor = console, execute
        self._counts, self._off = Counter[str](), 0

    def play(self, scene: Scene, agent: Any) -> None:
        """Play one scene."""
        self._turns, self._answer = iter(scene.turns), scene.answer
        self._expected = [call for turn in scene.turns for call in turn]
        self._found, self._failed = list[str | None](), False
        self._print("user", "bold", scene.said + (f" ({scene.english})" if scene.english else ""))
        self._print("answer", "bold", agent.chat(scene.said, mcp_executor=self._execute))
        if self._expected:
            self._issue(f"expected {len(self._expected)} more calls")
        self._console.print()

    def model(self, _messages: Sequence[Any], _tools: Sequence[Tool]) -> Response:
        """Play the model's part; claim nothing where a call was refused that should have run."""
        try:
            uses = [call.block(self._found) for call in next(self._turns, ())]
        except (LookupError, TypeError):  # a call needs a result that was refused
            uses, self._failed = [], True
        if uses:
            return {"stop_reason": "tool_use", "content": uses}
        answer = "An earlier call was refused, so I cannot go on." if self._failed else self._answer
        return {"stop_reason": "end_turn", "content": [{"type": "text", "text": answer}]}

    def _execute(self, name: str, sent: Any) -> CallToolResult:
        self._print("model", "cyan", f"{name}({json.dumps(sent, ensure_ascii=False)})")
        result = self._executor(name, sent)
        self._found.append(None if result.is_error else text_of(result))
        self._show(result)
        if self._expected:
            self._check(self._expected.pop(0), result)
        return result

    def _show(self, result: CallToolResult) -> None:
        made, told = repairs(result), envelope(result)
        for each in made:
            types = f" ({each['before']} -> {each['after']})" if each["before"] != each["after"] else ""
            self._print("repair", "yellow", f"{each['pointer'] or 'whole call'}: {each['rule']}{types}")
        self._counts["refused" if result.is_error else "repaired" if made else "ran as sent"] += 1
        shown = f"{told['error_code']}: {told['message']}" if told else _written(value(result))
        self._print(*(("error", "red") if result.is_error else ("tool", "green")), shown)

    def _check(self, call: Call, result: CallToolResult) -> None:
        rules = sorted(each["rule"] for each in repairs(result))
        self._failed |= result.is_error and not call.outcome.isupper()
        outcome = [envelope(result).get("error_code", "an error")] if result.is_error else rules
        if outcome != sorted(call.outcome.split()):
            self._issue(f"expected {call.outcome or 'no repair'}, got {' '.join(outcome) or 'no repair'}")
        elif call.gives not in _written(value(result)):
            self._issue(f"expected {call.gives} in the answer")

    def _issue(self, text: str) -> None:
        self._off += 1
        self._print("OFF", "bold red", text)

    def _print(self, who: str, style: str, text: str) -> None:
        shown = Text(text if len(text) <= _WIDEST else f"{text[:_WIDEST]} …")
        for at, line in enumerate(shown.wrap(self._console, self._console.width - _MARGIN)):
            line.rstrip()
            self._console.print(Text(f"{'' if at else who:<{_MARGIN}}", style), line, sep="")

    def sum_up(self) -> int:
        """Print the counts; returns the exit code."""
        told = ", ".join(f"{self._counts[kind]} {kind}" for kind in ("ran as sent", "repaired", "refused"))
        off = f"; {self._off} off" if self._off else ""
        legend = "A repair line names the place, the rule (docs/rules.md), and the types before and after."
        self._console.print(legend, style="dim")
        total = f"{self._counts.total()} calls: {told}{off}."
        self._console.print(total, style="bold red" if off else "bold")
        return 1 if self._off else 0


def repairs(result: CallToolResult) -> list[dict[str, str]]:
    """Return what was repaired in a call."""
    return list((result.meta or {}).get("mcp_lenient", {}).get("repairs", []))


def value(result: CallToolResult) -> Any:
    """Return the value of a result, or its text."""
    structured = result.structured_content
    if structured is None or result.is_error:
        return text_of(result)
    return structured["result"] if structured.keys() == {"result"} else structured


def envelope(result: CallToolResult) -> dict[str, Any]:
    """Return the envelope of a refusal; empty where a result has none."""
    text = text_of(result)
    return dict(json.loads(text)) if result.is_error and text.startswith('{"status"') else {}


def _written(told: Any) -> str:
    return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
