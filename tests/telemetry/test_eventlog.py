"""Test that events go to the application's structlog or to stderr, and never break a call."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from types import ModuleType

import pytest
import structlog
from structlog.testing import LogCapture

from mcp_lenient.telemetry.events import CallEvent, event_fields, read_event
from mcp_lenient.telemetry.log import EventLog
from mcp_lenient.types import Repair, Violation

FACTS = {
    "tool": "store_context",
    "caller": {"client_name": "claude-ai", "transport": "stdio"},
    "duration_us": 41,
}
REPAIRED = event_fields(
    "call_repaired", **FACTS, repairs=[Repair("scalar_to_array", "/tags", "string", "array")]
)
REJECTED = event_fields(
    "call_rejected",
    **FACTS,
    error_code="INVALID_LIMIT_TYPE",
    violations=[Violation("/limit", "limit", "type", "must be an integer")],
)
ACCEPTED = event_fields("call_accepted", **FACTS)
SCRIPT = """
import structlog
from mcp_lenient.telemetry.log import EventLog
from mcp_lenient.telemetry.events import LEVELS, event_fields

log = EventLog()
for name in filter(log.wants, LEVELS):
    log.emit(event_fields(name, "größe", {"client_name": "\\x1b[31m\\nevil"}))
log.warn_once("tool_not_compiled", "broken", "the schema is not a JSON Schema")
assert not structlog.is_configured()
"""


@pytest.fixture(autouse=True)
def structlog_as_it_comes():
    """Start and end each test without a configuration of structlog."""
    structlog.reset_defaults()
    yield
    structlog.contextvars.clear_contextvars()
    structlog.reset_defaults()


class RaisingSink:
    """A broken log sink of an application."""

    def __init__(self, error):
        self.error = error

    def info(self, *_args, **_fields):
        """Raise the error."""
        raise self.error

    warning = debug = info


class RaisingHandler(logging.Handler):
    """A standard handler that raises instead of reporting an error."""

    def emit(self, record):
        """Raise an error."""
        raise RuntimeError(record.name)


def captured(wrapper_class=None):
    """Configure structlog as an application would, and return the list of its entries."""
    capture = LogCapture()
    structlog.configure(processors=[capture], wrapper_class=wrapper_class)
    return capture.entries


def test_an_unconfigured_process():
    """Without a configuration, stdout is empty and stderr gets JSON lines, which any encoding has."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == b""
    lines = [json.loads(line) for line in done.stderr.decode("ascii").splitlines()]
    assert [(line["level"], line["event"]) for line in lines] == [
        ("info", "call_repaired"),
        ("warning", "call_rejected"),
        ("info", "call_observed"),
        ("info", "call_forwarded"),
        ("warning", "call_refused_upstream"),
        ("warning", "call_unanswered"),
        ("warning", "call_failed"),
        ("warning", "tool_not_compiled"),
    ]
    assert lines[0]["tool"] == "größe"
    assert lines[0]["client_name"] == "{…}"


def test_a_line_on_stderr(capsys):
    """A line starts with the main fields, omits empty ones, and can be read back."""
    EventLog().emit(REJECTED)
    out, err = capsys.readouterr()
    assert out == ""
    assert " ".join(json.loads(err)) == (
        "timestamp level event tool error_code fault violations violation_count duration_us client_name transport "
        "schema_version"
    )
    assert read_event(err) == CallEvent.model_validate(REJECTED)


def test_a_later_configuration_is_followed(capsys):
    """An application may configure structlog at any time, change it and reset it."""
    log = EventLog()
    log.emit(REPAIRED)
    first = captured()
    log.emit(REPAIRED)
    second = captured()
    log.emit(REJECTED)
    structlog.reset_defaults()
    log.emit(REJECTED)
    assert [entry["event"] for entry in first] == ["call_repaired"]
    assert [entry["event"] for entry in second] == ["call_rejected"]
    assert [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()] == [
        "call_repaired",
        "call_rejected",
    ]


def test_the_level_of_an_application(capsys):
    """Events that the application filters out are not wanted and not written."""
    entries = captured(structlog.make_filtering_bound_logger(logging.WARNING))
    log = EventLog()
    log.emit(REPAIRED)
    log.emit(REJECTED)
    assert (log.wants("call_repaired"), log.wants("call_rejected")) == (False, True)
    assert [entry["event"] for entry in entries] == ["call_rejected"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("wrapper_class", "wanted"),
    [
        pytest.param(None, True, id="structlog's default without a filter"),
        pytest.param(structlog.make_filtering_bound_logger(logging.DEBUG), True, id="debug"),
        pytest.param(structlog.make_filtering_bound_logger(logging.INFO), False, id="info"),
        pytest.param(structlog.BoundLogger, True, id="logger without levels"),
        pytest.param(structlog.stdlib.BoundLogger, True, id="logger that does not fit its sink"),
    ],
)
def test_accepted_calls_are_logged_only_on_request(wrapper_class, wanted):
    """The application's level decides whether accepted calls are logged, and checking it writes nothing."""
    log = EventLog()
    assert log.wants("call_accepted") is False
    entries = captured(wrapper_class)
    assert log.wants("call_accepted") is wanted
    assert entries == []
    log.emit(ACCEPTED)
    assert len(entries) == wanted


def test_standard_logging(caplog):
    """If an application routes structlog to the standard library, our records have our logger's name."""
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, structlog.stdlib.render_to_log_kwargs],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    caplog.set_level(logging.INFO, "mcp_lenient")
    log = EventLog()
    log.emit(ACCEPTED)
    log.emit(REPAIRED)
    assert log.wants("call_accepted") is False
    assert [(record.name, record.levelname, record.msg) for record in caplog.records] == [
        ("mcp_lenient", "INFO", "call_repaired")
    ]
    assert caplog.records[0].tool == "store_context"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_an_asynchronous_logger():
    """The old asynchronous logger of structlog writes the event too, and at once."""
    entries = captured(structlog.stdlib.AsyncBoundLogger)
    EventLog().emit(REPAIRED)
    assert [entry["event"] for entry in entries] == ["call_repaired"]


def test_context_variables_and_the_applications_time():
    """Context variables and the application's timestamp are in the line, which can still be read back."""
    sink = io.StringIO()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%Y-%m-%d %H:%M:%S", utc=False),
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.WriteLoggerFactory(sink),
    )
    structlog.contextvars.bind_contextvars(tenant="acme")
    EventLog().emit(REPAIRED)
    line = json.loads(sink.getvalue())
    assert (line["tenant"], line["level"]) == ("acme", "info")
    event = read_event(sink.getvalue())
    assert event is not None
    assert event.model_dump(exclude={"timestamp"}) == CallEvent.model_validate(REPAIRED).model_dump(
        exclude={"timestamp"}
    )


def test_context_variables_stay_out_of_our_own_lines(capsys):
    """Without a configuration only our own fields are written."""
    structlog.contextvars.bind_contextvars(tenant="acme")
    EventLog().emit(REPAIRED)
    assert "acme" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(BrokenPipeError(), id="pipe"),
        pytest.param(KeyError("a processor's own"), id="processor"),
        pytest.param(RecursionError(), id="recursion"),
    ],
)
def test_a_raising_sink_fails_no_call(error, caplog):
    """A sink that raises breaks nothing, and the first error is reported by its type."""
    structlog.configure(processors=[], logger_factory=lambda *_: RaisingSink(error))
    log = EventLog()
    for _ in range(3):
        log.emit(REPAIRED)
    log.warn_once("hook_unavailable", "fastmcp 5", "the server has no middleware list")
    assert [(record.name, record.levelname) for record in caplog.records] == [("mcp_lenient", "WARNING")]
    assert type(error).__name__ in caplog.text


def test_a_raising_factory_fails_no_call(caplog):
    """A configuration that cannot create a logger is reported once, and tried again each time."""
    structlog.configure(logger_factory=lambda: RaisingSink(OSError()))
    log = EventLog()
    assert log.wants("call_accepted") is True
    log.emit(ACCEPTED)
    assert "TypeError" in caplog.text
    structlog.reset_defaults()
    entries = captured()
    log.emit(REPAIRED)
    assert len(entries) == 1


def test_a_broken_standard_logger_fails_no_call():
    """Not even the report of a broken sink raises."""
    handler = RaisingHandler()
    logging.getLogger("mcp_lenient").addHandler(handler)
    structlog.configure(processors=[], logger_factory=structlog.stdlib.LoggerFactory())
    try:
        EventLog().emit(REJECTED)
    finally:
        logging.getLogger("mcp_lenient").removeHandler(handler)


@pytest.mark.parametrize(
    ("is_there", "reported"), [(True, "ValueError"), (False, "")], ids=["closed", "missing"]
)
def test_without_a_stderr_no_call_fails(is_there, reported, monkeypatch, caplog):
    """A closed stderr is reported, and a missing one is not; neither raises."""
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream if is_there else None)
    EventLog().emit(REPAIRED)
    assert reported in caplog.text
    assert len(caplog.records) == is_there


def test_warnings_are_logged_once():
    """Each kind of warning is logged once per subject, by each log separately."""
    entries = captured()
    log = EventLog()
    for subject in ("a", "b", "a"):
        log.warn_once("tool_not_compiled", subject, "no such type")
        log.warn_once("hook_unavailable", subject, "changed")
    EventLog().warn_once("tool_not_compiled", "a", "no such type")
    assert [(entry["event"], entry["subject"]) for entry in entries] == [
        ("tool_not_compiled", "a"),
        ("hook_unavailable", "a"),
        ("tool_not_compiled", "b"),
        ("hook_unavailable", "b"),
        ("tool_not_compiled", "a"),
    ]


def test_warnings_are_escaped_and_bounded(capsys):
    """A stranger's tool name and schema cannot break the line, and the number of warnings is bounded."""
    log = EventLog()
    log.warn_once("hook_unavailable", "a\n\x1b[31m\ud800" + "b" * 2**20, "\n" * 2**20)
    for number in range(2000):
        log.warn_once("tool_not_compiled", f"tool {number}", "no such type")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert len(lines) == 1000
    assert (len(lines[0]["subject"]), len(lines[0]["reason"])) == (128, 512)
    assert (lines[0]["subject"] + lines[0]["reason"]).isprintable()
    assert read_event(json.dumps(lines[0])) is None


def test_another_thread_may_be_importing_structlog(monkeypatch):
    """While another thread is still importing structlog, it counts as unconfigured."""
    monkeypatch.setitem(sys.modules, "structlog", ModuleType("structlog"))
    assert EventLog().wants("call_rejected")
