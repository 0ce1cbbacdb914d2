"""Find the server that a command line names, and report its errors."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import logging
import os
import re
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fastmcp import Client, FastMCP
from fastmcp.client.transports import (
    ClientTransport,
    SSETransport,
    StdioTransport,
    StreamableHttpTransport,
)
from fastmcp.client.transports.config import MCPConfigTransport
from fastmcp.mcp_config import MCPConfig
from fastmcp.server.providers.proxy import FastMCPProxy
from mcp.client import stdio
from mcp.shared import tool_name_validation
from pydantic import ValidationError

from mcp_lenient.adapters.configuration import read_configuration
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.middleware import LenientMiddleware
from mcp_lenient.adapters.fastmcp.server_name import name_of
from mcp_lenient.cli.errors import CommandError, fail
from mcp_lenient.rules.policy import Policy
from mcp_lenient.telemetry.sinks import silenced
from mcp_lenient.values.display import shown

if TYPE_CHECKING:
    from types import ModuleType

    from mcp_lenient.devtools.check.surface import Surface

_VARIABLE: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}")
_USUAL_NAMES: Final = ("mcp", "server", "app")


def target_of(words: Sequence[str]) -> ClientTransport | FastMCP:
    """Return the server that a command line names.

    One word is a URL (``https://host/mcp``; server-sent events where the path ends in ``/sse``), a client
    configuration (``servers.json``), a Python file (``server.py``, ``server.py:name``, where the name is a server
    or a function without parameters that returns one), or a whole command line in quotes, even one that ends like
    a file name, unless that file exists. Several words are a command line, which gets this process's environment. A
    Python file's server runs inside this process, so its functions' own types validate calls. Call this outside of an
    event loop: such a file may call ``asyncio.run`` itself.

    Raises:
        CommandError: When the words do not name a usable server.
    """
    if not words:
        fail("no server given: give a URL, a .json or .py file, or `-- command arguments`")
    if len(words) > 1:
        return _started_by(words)
    (word,) = words
    if word.startswith(("http://", "https://")):
        path = word.partition("?")[0].rstrip("/")
        return SSETransport(word) if path.endswith("/sse") else StreamableHttpTransport(word)
    if word.endswith(".json") and _is_file(word):
        return _configured(Path(word))
    file, colon, name = word.rpartition(":")
    if colon and file.endswith(".py") and _is_file(file):
        return _imported(Path(file), name)
    if word.endswith(".py") and _is_file(word):
        return _imported(Path(word), None)
    try:
        return _started_by(shlex.split(word))
    except ValueError as error:
        fail(f"{word!r} cannot be read as a command line: {error}")


def _is_file(word: str) -> bool:
    """Return whether a word that ends like a file name is one: with spaces in it, only if that file exists."""
    return len(word.split()) < 2 or Path(word).is_file()


def _started_by(words: Sequence[str]) -> StdioTransport:
    if not words:
        fail("no server given: the command line is empty")
    if shutil.which(words[0]) is None:
        fail(f"{words[0]!r} is not a command on this machine, a URL, a .json file or a .py file")
    # The SDK by default passes little more than PATH, and keys are in the environment.
    return StdioTransport(command=words[0], args=list(words[1:]), env=dict(os.environ))


def _configured(path: Path) -> MCPConfigTransport:
    try:
        written = _filled_in(json.loads(path.read_text(encoding="utf-8")), path)
        key = "mcpServers"
        if isinstance(written, dict) and key not in written and "servers" in written:
            key = "servers"  # VS Code's
            written = {"mcpServers": written[key]}
        if not isinstance(written, dict):
            fail(f"{path}: not a client configuration: it must be an object with mcpServers")
        config = MCPConfig.model_validate(read_configuration(written))
    except FileNotFoundError:
        fail(f"{path}: no such file")
    except ValidationError as error:
        fail(f"{path}: not a client configuration: {_wrong_fields(error, written)}")
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        fail(f"{path}: not JSON: {error}")
    except ValueError as error:
        fail(f"{path}: {error}")
    if not config.mcpServers:
        fail(f"{path}: {key} has no server")
    return MCPConfigTransport(config)


def _wrong_fields(error: ValidationError, written: Any) -> str:
    """Say which fields of which servers are wrong, without the types as which FastMCP tries each server."""
    servers = written.get("mcpServers")
    if not isinstance(servers, dict):
        return "mcpServers must be an object of servers by name"
    sentences: dict[str, None] = {}
    for fault in error.errors():
        name, kind, *field = (*map(str, fault["loc"][1:]), "", "")
        server = servers.get(name)
        if not isinstance(server, dict):
            sentences[f"server {name!r} must be an object"] = None
        elif server.keys().isdisjoint(("command", "url")):
            sentences[f"server {name!r} has neither 'command' nor 'url'"] = None
        elif kind == ("StdioMCPServer" if "command" in server else "RemoteMCPServer"):
            sentences[f"server {name!r}, field {field[0]!r}: {fault['msg']}"] = None
    return "; ".join(sentences)


def _filled_in(value: Any, path: Path) -> Any:
    """Fill in ``${NAME}``, ``${env:NAME}`` and ``${NAME:-default}`` from the environment, throughout JSON."""
    if isinstance(value, dict):
        return {key: _filled_in(entry, path) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled_in(entry, path) for entry in value]
    return from_environment(value, str(path)) if isinstance(value, str) else value


def from_environment(text: str, where: str) -> str:
    """Fill in ``${NAME}``, ``${env:NAME}`` and ``${NAME:-default}`` from the environment.

    Raises:
        CommandError: When a variable is not set; the message says where the text is.
    """

    def value(match: re.Match[str]) -> str:
        name, default = match.groups()
        setting: str | None = os.environ.get(name, default)
        if setting is None:
            fail(f"{where}: the environment variable {name} is not set")
        return setting

    return _VARIABLE.sub(value, text)


def _imported(path: Path, name: str | None) -> FastMCP:
    if not path.is_file():
        fail(f"{path}: no such file")
    module = _module(path)
    if name is not None:
        return _server(getattr(module, name, None), f"{path}: {name!r}")
    usual = (getattr(module, name, None) for name in _USUAL_NAMES)
    server = next((candidate for candidate in usual if isinstance(candidate, FastMCP)), None)
    if server is None:
        fail(
            f"{path}: no FastMCP server named mcp, server or app; "
            f"name your server, or a function that returns it: {path}:NAME"
        )
    return server


def _server(value: object, named: str) -> FastMCP:
    """Return the named server, or the one that the named function returns."""
    if callable(value) and not isinstance(value, FastMCP):
        try:
            value = value()
        except Exception as error:
            msg = f"{named} raised {type(error).__name__}: {error}"
            raise CommandError(msg) from error
    if not isinstance(value, FastMCP):
        fail(f"{named} is not a FastMCP server or a function that returns one")
    return value


def _module(path: Path) -> ModuleType:
    """Import a file as a module, under its full name if it is part of a package."""
    package = path.resolve().parent
    names = [path.stem]
    while (package / "__init__.py").is_file():
        names.insert(0, package.name)
        package = package.parent
    sys.path.insert(0, str(package))
    try:
        return importlib.import_module(".".join(names)) if len(names) > 1 else _alone(path)
    except Exception as error:
        msg = f"{path}: {type(error).__name__} while loading it: {error}"
        raise CommandError(msg) from error


def _alone(path: Path) -> ModuleType:
    # Under a unique name: the file may be named like a standard module.
    spec = importlib.util.spec_from_file_location(f"mcp_lenient_target_{path.stem}", path)
    if spec is None or spec.loader is None:
        msg = "it is not a Python file"
        raise ImportError(msg)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


T = TypeVar("T")


@contextmanager
def one_line_errors(named: str) -> Iterator[None]:
    """Report in one line why the server that the command line names cannot be used.

    The SDK's warnings about tool names are suppressed, since they print the names unescaped.

    Raises:
        CommandError: When the server cannot be started or reached, or answers with an error.
    """
    output = _Output()
    logger = logging.getLogger(stdio.__name__)
    logger.addFilter(output)
    try:
        with logs_from(logging.ERROR, tool_name_validation.__name__):
            yield
    except BrokenPipeError:  # the reader of stdout is gone
        raise
    except ValidationError as error:
        fail(f"{named}: the server cannot be used: its answer is not a valid {shown(error.title)}")
    except (host.MCPError, host.HTTPError, RuntimeError, OSError) as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        if output.is_foreign:
            first = "the output of this command is not MCP messages"
        fail(f"{named}: the server cannot be used: {first}")
    finally:
        logger.removeFilter(output)


class _Output(logging.Filter):
    """Drops the SDK's tracebacks for output that is not an MCP message, and remembers that there was some."""

    is_foreign = False

    def filter(self, record: logging.LogRecord) -> bool:
        self.is_foreign = self.is_foreign or record.levelno >= logging.ERROR
        return record.levelno < logging.ERROR


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the events of a command's own calls, and FastMCP's notices."""
    with silenced(), logs_from(logging.ERROR, "fastmcp"):
        yield


@contextmanager
def logs_from(level: int, name: str) -> Iterator[None]:
    """Let a logger drop records below a level."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)


def lenient_front(target: ClientTransport | FastMCP) -> FastMCP:
    """Put a server with the middleware in front of another one, over one connection.

    Calls that cannot be repaired are refused, so nothing that the other server's schema forbids reaches it.
    """
    client: Client[Any] = Client(target)

    @asynccontextmanager
    async def connected(_: Any) -> AsyncIterator[None]:
        async with client:
            yield

    front = FastMCPProxy(client_factory=lambda: client, lifespan=connected, name=name_of(target))
    front.add_middleware(LenientMiddleware(Policy(unrepairable="refuse")))
    return front


def tools_of(words: Sequence[str]) -> list[Surface]:
    """Return the tools of the server that a command line names."""
    from mcp_lenient.devtools.check.surface import published

    with one_line_errors(" ".join(words)):
        return asyncio.run(published(target_of(words)))


async def served(target: ClientTransport | FastMCP, work: Callable[[FastMCP], Awaitable[T]]) -> T:
    """Connect a server from :func:`target_of`, and run ``work`` with it."""
    server = target if isinstance(target, FastMCP) else lenient_front(target)
    async with Client(server):
        return await work(server)
