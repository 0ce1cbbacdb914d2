"""Test ``configure_logging``: where events go, in which format, and which configuration wins."""

from __future__ import annotations

import io
import json
import logging
import logging.config
import os
import sys

import pytest
import structlog
from fastmcp import Client, FastMCP
from fastmcp_versions import CLIENT

from mcp_lenient import LenientError, LenientMiddleware, configure_logging
from mcp_lenient.errors import LoggingError
from mcp_lenient.telemetry.events import read_event
from mcp_lenient.telemetry.setup import reset_logging

NEARLY = {"content": "a note", "tags": '["s3cr3t"]'}
WRONG = {"content": "a note", "tags": 123}
RIGHT = {"content": "a note"}


@pytest.fixture(autouse=True)
def nothing_configured(without_lines_of_fastmcp):  # noqa: ARG001 - a fixture
    """Start and end each test without any configuration, and without FastMCP's own lines."""
    structlog.reset_defaults()
    yield
    reset_logging()
    structlog.contextvars.clear_contextvars()
    structlog.reset_defaults()


def store(content: str, tags: list[str] | None = None) -> str:
    """Keep a note."""
    return f"{content} {tags}"


async def called(*calls):
    """Call a lenient server with these arguments."""
    server = FastMCP("notes")
    server.tool(store)
    server.add_middleware(LenientMiddleware())
    async with Client(server) as client:
        return [await client.call_tool_mcp("store", arguments) for arguments in calls]


def names(text):
    """Return the names of the events in a log's lines."""
    return [json.loads(line)["event"] for line in text.splitlines()]


async def test_json_lines_on_stderr(capsys):
    """Without arguments, each event is one JSON line on stderr that can be read back, and stdout is empty."""
    configure_logging()
    await called(NEARLY, RIGHT, WRONG)
    out, err = capsys.readouterr()
    assert out == ""
    assert names(err) == ["call_repaired", "call_rejected"]
    assert all(read_event(line) is not None for line in err.splitlines())


async def test_a_file(tmp_path, capsys):
    """With a file, nothing is written to stderr and events are appended to the file."""
    file = tmp_path / "events.jsonl"
    file.write_text("INFO: not ours\n")
    configure_logging(file=file)
    await called(NEARLY, WRONG)
    assert capsys.readouterr() == ("", "")
    first, *ours = file.read_text().splitlines()
    assert first == "INFO: not ours"
    assert names("\n".join(ours)) == ["call_repaired", "call_rejected"]


@pytest.mark.parametrize(
    ("largest", "endings"), [(1000, ["", ".1", ".2"]), (0, [""])], ids=["rotated", "never"]
)
async def test_a_file_is_rotated(largest, endings, tmp_path):
    """A file is rotated before it exceeds its size, with the given number of backups and no cut line."""
    configure_logging(file=tmp_path / "events.jsonl", max_bytes=largest, backups=2)
    await called(*[WRONG] * 20)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == [f"events.jsonl{each}" for each in endings]
    written = [names(file.read_text()) for file in files]
    assert {name for each in written for name in each} == {"call_rejected"}
    assert all(file.stat().st_size <= 1000 for file in files) if largest else len(written[0]) == 20


@pytest.mark.parametrize("style", ["console", "text"])
async def test_lines_for_people(style, capsys):
    """In a text style an event is one line with outcome, tool, code, place and client, without colors."""
    configure_logging(style=style)
    await called(WRONG)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    assert f"rejected  store INVALID_TAGS_TYPE at /tags (integer) by {CLIENT}" in line


@pytest.mark.parametrize("colors", [True, False])
async def test_colors_follow_the_option(colors, capsys):
    """The option ``colors`` turns colors on and off."""
    configure_logging(style="console", colors=colors)
    await called(WRONG)
    assert ("\x1b[1;31mrejected" in capsys.readouterr().err) is colors


@pytest.mark.parametrize(
    ("level", "wanted"),
    [
        pytest.param("INFO", ["call_repaired", "call_rejected"], id="upper case"),
        pytest.param("Warning", ["call_rejected"], id="mixed case"),
        pytest.param("error", [], id="error"),
    ],
)
async def test_levels(level, wanted, capsys):
    """Events below the level are not written."""
    configure_logging(level=level)
    await called(NEARLY, WRONG)
    assert names(capsys.readouterr().err) == wanted


async def test_all_accepted_calls(capsys):
    """With a share of 1 each accepted call is written once, at any level."""
    configure_logging(level="error", accepted=1)
    await called(RIGHT, RIGHT, RIGHT)
    assert names(capsys.readouterr().err) == ["call_accepted"] * 3


async def test_a_sample_of_accepted_calls(capsys):
    """A share of 0.25 writes about a quarter of the accepted calls."""
    configure_logging(accepted=0.25)
    await called(*[RIGHT] * 200)
    assert 20 < len(capsys.readouterr().err.splitlines()) < 80


async def test_context_variables(capsys):
    """Context variables of the application are in the line, under their own name if it is free."""
    configure_logging()
    structlog.contextvars.bind_contextvars(tenant="acme", when=object)
    await called(WRONG)
    line = json.loads(capsys.readouterr().err)
    assert line["tenant"] == "acme"
    assert "object" in line["when"]


@pytest.mark.parametrize("name", ["event", "hints", "timestamp", "level"])
async def test_context_variables_cannot_replace_event_fields(name, capsys):
    """A context variable with the name of an event field gets a prefix, even if the event omits the field."""
    configure_logging()
    await called(NEARLY)
    before = json.loads(capsys.readouterr().err)
    structlog.contextvars.bind_contextvars(**{name: "replaced"})
    await called(NEARLY)
    line = json.loads(capsys.readouterr().err)
    assert line.pop(f"context_{name}") == "replaced"
    assert line.keys() == before.keys()
    assert "replaced" not in json.dumps(line)


async def test_context_variables_that_json_cannot_write(capsys):
    """Lone surrogates and numbers that JSON does not have still give one line of JSON."""
    configure_logging()
    structlog.contextvars.bind_contextvars(odd="\ud800\n", far=float("nan"))
    await called(WRONG)
    (line,) = capsys.readouterr().err.splitlines()
    assert read_event(line) is not None


async def test_context_variables_as_text(capsys):
    """In a text style, context variables are at the end of the line and cannot break it."""
    configure_logging(style="console")
    structlog.contextvars.bind_contextvars(tenant="ac\nme\x1b[31m")
    await called(WRONG)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("tenant=ac\\nme\\u001b[31m")


async def test_configure_logging_overrides_structlog(capsys, tmp_path):
    """For these events configure_logging wins over the application's structlog, which stays unchanged."""
    capture = structlog.testing.LogCapture()
    structlog.configure(processors=[capture])
    before = structlog.get_config()
    configure_logging(file=tmp_path / "events.jsonl")
    await called(WRONG)
    structlog.get_logger().info("of the application")
    assert [entry["event"] for entry in capture.entries] == ["of the application"]
    assert structlog.get_config() == before
    assert names((tmp_path / "events.jsonl").read_text()) == ["call_rejected"]
    assert capsys.readouterr().err == ""


async def test_application_loggers_stay_unchanged(caplog, capsys):
    """The root logger and its handlers stay unchanged, and do not get the events."""
    root = logging.getLogger()
    before = (root.level, root.handlers[:])
    configure_logging()
    await called(WRONG)
    assert (root.level, root.handlers) == before
    assert "call_rejected" not in caplog.text
    assert names(capsys.readouterr().err) == ["call_rejected"]


async def test_a_later_dict_config_leaves_it_working(tmp_path):
    """When a web server configures the standard library's logging at its start, no event is lost."""
    configure_logging(file=tmp_path / "events.jsonl")
    logging.config.dictConfig({"version": 1, "disable_existing_loggers": True})
    try:
        await called(WRONG)
    finally:
        for logger in logging.Logger.manager.loggerDict.values():
            if isinstance(logger, logging.Logger):
                logger.disabled = False
    assert names((tmp_path / "events.jsonl").read_text()) == ["call_rejected"]


async def test_calling_again_replaces(tmp_path, capsys):
    """The last call wins, and the file of the one before is closed."""
    configure_logging(file=tmp_path / "first.jsonl")
    configure_logging()
    await called(WRONG)
    assert (tmp_path / "first.jsonl").read_text() == ""
    assert names(capsys.readouterr().err) == ["call_rejected"]


async def test_a_closed_stderr_is_not_a_terminal(monkeypatch):
    """A process without stderr can be configured and answers its calls."""
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    configure_logging(style="console")
    assert (await called(NEARLY))[0].is_error is False


async def test_the_standard_logger_gets_the_events_where_it_has_handlers(capsys):
    """Without configure_logging, handlers of the standard logger get one record per event with its line."""
    got: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = got.append
    standard = logging.getLogger("mcp_lenient")
    standard.addHandler(handler)
    standard.propagate = False
    standard.setLevel(logging.INFO)
    try:
        await called(NEARLY, WRONG)
    finally:
        standard.removeHandler(handler)
        standard.setLevel(logging.NOTSET)
        standard.propagate = True
    assert [record.levelname for record in got if read_event(record.getMessage())] == [
        "INFO",
        "WARNING",
    ]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("level", "wanted"),
    [
        pytest.param(logging.DEBUG, ["call_accepted", "call_repaired", "call_rejected"], id="debug"),
        pytest.param(logging.WARNING, ["call_rejected"], id="warning"),
    ],
)
async def test_the_level_of_the_standard_logger_is_respected(level, wanted, capsys):
    """Without configure_logging, the standard logger's level applies to stderr."""
    standard = logging.getLogger("mcp_lenient")
    standard.setLevel(level)
    try:
        await called(RIGHT, NEARLY, WRONG)
    finally:
        standard.setLevel(logging.NOTSET)
    assert names(capsys.readouterr().err) == wanted


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")  # noqa: PTH110
async def test_a_full_disk_fails_no_call(caplog):
    """If nothing can be written, calls are still answered, and one warning is logged."""
    configure_logging(file="/dev/full")
    answers = await called(NEARLY, *[WRONG] * 50, RIGHT)
    assert [answer.is_error for answer in answers] == [False, *[True] * 50, False]
    reported = [record for record in caplog.records if record.name == "mcp_lenient"]
    assert len(reported) == 1
    assert "OSError" in reported[0].getMessage()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param(
            {"style": "xml"}, "style must be one of 'json', 'console', 'text', but is 'xml'", id="style"
        ),
        pytest.param({"level": 10}, "level must be one of 'info', 'warning', 'error', but is 10", id="type"),
        pytest.param({"level": "debug"}, "level must be one of 'info', 'warning', 'error'", id="level"),
        pytest.param({"accepted": 2}, "accepted must be a number from 0 to 1, but is 2", id="accepted"),
        pytest.param({"accepted": True}, "accepted must be a number from 0 to 1", id="boolean"),
        pytest.param({"accepted": float("nan")}, "accepted must be a number from 0 to 1", id="not a number"),
        pytest.param({"max_bytes": -1}, "max_bytes must be a whole number", id="max_bytes"),
        pytest.param({"backups": 1.5}, "backups must be a whole number", id="backups"),
        pytest.param({"file": "/no/such/folder/x"}, "file must be one that can be written to", id="file"),
        pytest.param({"file": 5}, "file must be a path, but is 5", id="not a path"),
        pytest.param({"file": "/dev/stdout"}, "file must not be stdout", id="stdout by another name"),
        pytest.param({"file": "/"}, "file must be one that can be written to", id="folder"),
    ],
)
def test_a_wrong_argument_is_named(given, says):
    """The error names the argument and the allowed values, and the earlier configuration stays."""
    configure_logging()
    before = logging.getLogger("mcp_lenient.events").handlers[:]
    with pytest.raises(LoggingError, match=says) as raised:
        configure_logging(**given)
    assert isinstance(raised.value, (LenientError, ValueError))
    assert logging.getLogger("mcp_lenient.events").handlers == before
