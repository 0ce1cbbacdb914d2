"""Third-party servers, installed once beside these tests, and valid calls of all their tools."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from environments import environment
from installing import installing_in, run_installer

_HERE: Final = Path(__file__).parent
_BINARIES: Final = _HERE / "node_modules" / ".bin"
_TIME: Final = "mcp-server-time==2026.10.19"
_PICTURE: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)

Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RealServer:
    """A third-party server.

    Attributes:
        install: Installs the server, or skips the test with the reason.
        command: Returns the command line that starts the server in a folder.
        calls: Returns valid calls with that folder, at least one for each tool.
        environment: Returns the environment variables of the server.
        left_out: Tools that FastMCP's own proxy changes.
        kept: Parameters that no damaged call may omit.
    """

    install: Callable[[], None]
    command: Callable[[Path], list[str]]
    calls: Callable[[Path], list[Call]]
    environment: Callable[[Path], Mapping[str, str]] = lambda _: {}
    left_out: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()

    def prepare(self, folder: Path) -> None:
        """Create the files that the calls read."""
        import base64

        (folder / "sub").mkdir(parents=True)
        (folder / "a.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
        (folder / "picture.png").write_bytes(base64.b64decode(_PICTURE))


def _npm() -> None:
    with installing_in(_HERE):
        _npm_alone()


def _npm_alone() -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("Node and npm are needed to run the servers from npm")
    wanted = json.loads((_HERE / "package.json").read_text())["dependencies"]
    manifests = {name: _HERE / "node_modules" / name / "package.json" for name in wanted}
    if all(
        path.exists() and json.loads(path.read_text())["version"] == wanted[name]
        for name, path in manifests.items()
    ):
        return
    run_installer(
        [npm, "install", "--prefer-offline", "--no-audit", "--no-fund", "--no-package-lock"],
        "npm install",
        _HERE,
    )


def _time() -> None:
    environment(_TIME)


def _filesystem_calls(folder: Path) -> list[Call]:
    text, sub = str(folder / "a.txt"), str(folder / "sub")
    return [
        ("read_file", {"path": text, "head": 2}),
        ("read_text_file", {"path": text, "tail": 1}),
        ("read_media_file", {"path": str(folder / "picture.png")}),
        ("read_multiple_files", {"paths": [text, text]}),
        ("write_file", {"path": str(folder / "b.txt"), "content": "four\n"}),
        (
            "edit_file",
            {"path": text, "edits": [{"oldText": "two", "newText": "2"}], "dryRun": True},
        ),
        ("create_directory", {"path": str(folder / "new")}),
        ("list_directory", {"path": str(folder)}),
        ("list_directory_with_sizes", {"path": str(folder), "sortBy": "size"}),
        ("directory_tree", {"path": str(folder), "excludePatterns": ["*.png"]}),
        ("move_file", {"source": str(folder / "b.txt"), "destination": sub + "/c.txt"}),
        ("search_files", {"path": str(folder), "pattern": "**/*.txt", "excludePatterns": ["a*"]}),
        ("get_file_info", {"path": text}),
        ("list_allowed_directories", {}),
    ]


def _memory_calls(_: Path) -> list[Call]:
    relation = {"from": "Ada", "to": "Engine", "relationType": "describes"}
    return [
        (
            "create_entities",
            {"entities": [{"name": "Ada", "entityType": "person", "observations": ["writes"]}]},
        ),
        ("create_relations", {"relations": [relation]}),
        ("add_observations", {"observations": [{"entityName": "Ada", "contents": ["computes", "notes"]}]}),
        ("search_nodes", {"query": "Ada"}),
        ("open_nodes", {"names": ["Ada", "Engine"]}),
        ("read_graph", {}),
        ("delete_observations", {"deletions": [{"entityName": "Ada", "observations": ["notes"]}]}),
        ("delete_relations", {"relations": [relation]}),
        ("delete_entities", {"entityNames": ["Engine"]}),
    ]


def _everything_calls(_: Path) -> list[Call]:
    return [
        ("echo", {"message": "hello"}),
        ("get-annotated-message", {"messageType": "success", "includeImage": True}),
        ("get-env", {}),
        ("get-resource-links", {"count": 2}),
        ("get-resource-reference", {"resourceType": "Text", "resourceId": 3}),
        ("get-structured-content", {"location": "Chicago"}),
        ("get-sum", {"a": 2, "b": 3.5}),
        ("get-tiny-image", {}),
        (
            "gzip-file-as-resource",
            {"name": "x.gz", "data": "data:text/plain,hello", "outputType": "resource"},
        ),
        ("toggle-simulated-logging", {}),
        ("toggle-simulated-logging", {}),
        ("toggle-subscriber-updates", {}),
        ("toggle-subscriber-updates", {}),
        ("trigger-long-running-operation", {"duration": 0.02, "steps": 2}),
        ("get-roots-list", {}),
        ("trigger-elicitation-request", {}),
        ("trigger-sampling-request", {"prompt": "hello", "maxTokens": 5}),
        ("simulate-research-query", {"topic": "bees", "ambiguous": False}),
    ]


def _time_calls(_: Path) -> list[Call]:
    return [
        ("get_current_time", {"timezone": "Europe/London"}),
        (
            "convert_time",
            {"source_timezone": "Asia/Tokyo", "time": "16:30", "target_timezone": "America/New_York"},
        ),
    ]


REAL_SERVERS: Final = {
    "everything": RealServer(
        _npm,
        lambda _: [str(_BINARIES / "mcp-server-everything")],
        _everything_calls,
        left_out=frozenset({"trigger-url-elicitation"}),  # the proxy turns it into a form without fields
        kept=frozenset({"duration"}),  # the default is ten seconds
    ),
    "filesystem": RealServer(
        _npm, lambda folder: [str(_BINARIES / "mcp-server-filesystem"), str(folder)], _filesystem_calls
    ),
    "memory": RealServer(
        _npm,
        lambda _: [str(_BINARIES / "mcp-server-memory")],
        _memory_calls,
        lambda folder: {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")},
    ),
    "time": RealServer(
        _time, lambda _: [str(Path(environment(_TIME)).with_name("mcp-server-time"))], _time_calls
    ),
}
"""The servers by short name."""
