"""Test a report's text and page at several widths, in both color schemes, with hostile names."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone

import pytest
from devtools.report.logs import line, log, repair, wrong
from refused import refused
from rich.console import Console
from tables import each_row

from mcp_lenient.cli import run
from mcp_lenient.devtools.report import Report, page, read_report
from mcp_lenient.devtools.report.wording import as_text

HOSTILE = (
    "<script>window.owned=1</script>",
    "</script><img src=x onerror=window.owned=1>",
    '"><svg onload=window.owned=1>',
    "<a href='javascript:window.owned=1'>x</a>",
    "[red]markup[/red] [link=https://example.com]x[/link]",
    "'; DROP TABLE calls; --",
    "%{y} %{customdata[1]} $body ${style} {0}",
    "https://example.com/fetched.png",
    "2026-11-20",
    "1e5",
    "x" * 128,
)
FORGED = ("\x1b[31mred\x1b[0m", "\x1b]8;;https://example.com\x07link\x1b]8;;\x07", "\u202egnp", "x" * 129)

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


def hostile_log(folder):
    """Write a log with hostile text in each field that a client controls, and with forged lines."""
    lines = []
    for at, text in enumerate(HOSTILE):
        fields = ("client_name", "client_version", "subject", "server", "error_code")
        known = dict.fromkeys(fields, text)
        violations = [wrong("missing", f"/{text[:60]}"), wrong("unknown", f"/{text[:60]}{at}")]
        lines += [line(tool=text, violations=violations, minute=at, **known)] * 6
        lines += [line("call_repaired", text, repairs=[repair(text[:64], f"/{text[:60]}")], **known)] * 3
    lines += [line(tool=text) for text in FORGED]
    lines += [
        json.dumps({**json.loads(line()), "tool": "x"})[:-1] + f', "subject": "{text}"}}' for text in FORGED
    ]
    return log(folder, *lines)


def varied_log(folder):
    """Write a log with many kinds of calls."""
    lines = []
    swapped = {"violations": [wrong("missing", "/task"), wrong("unknown", "/query")]}
    repaired = {"repairs": [repair("json_text_to_array", "/tags")]}
    unnamed = {"client_name": None, "client_version": None}
    for at in range(60):
        client, when = f"client {at % 3}", at * 7
        lines += [
            line("call_repaired", f"tool_{at % 5}", minute=when, **repaired),
            line(
                tool=f"tool_{at % 4}",
                minute=when,
                client_name=client,
                error_code="INVALID_ARGUMENTS",
                **swapped,
            ),
            line(
                "call_forwarded", "tool_1", minute=at * 5, violations=[wrong("format", "/since")], **unnamed
            ),
        ]
    return log(folder, *lines)


@pytest.fixture(scope="module")
def varied_file(tmp_path_factory):
    """A log with many kinds of calls."""
    return varied_log(tmp_path_factory.mktemp("varied"))


@pytest.fixture(scope="module")
def varied(varied_file):
    """A report on many kinds of calls."""
    return read_report([varied_file])


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A report with hostile text in each field."""
    return read_report([hostile_log(tmp_path_factory.mktemp("hostile"))], top=1000)


def printed(report, width, *, terminal=False):
    """Return the report as printed."""
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal, highlight=False)
    console.print(as_text(report))
    return console.file.getvalue()


def test_forged_lines_are_foreign(hostile):
    """A line with text that the library would not write is not an event."""
    assert hostile.log.foreign == 2 * len(FORGED)
    assert sorted(each.tool for each in hostile.tools) == sorted(HOSTILE)


def test_the_terminal_shows_names_unchanged(hostile):
    """Names are not treated as markup, and no control character is printed."""
    text = printed(hostile, 300)
    assert "[red]markup[/red]" in text
    assert [character for character in text if not character.isprintable() and character != "\n"] == []
    assert "\x1b]8" not in printed(hostile, 300, terminal=True)


def test_the_title_of_a_narrow_table_is_one_line(tmp_path):
    """A table's title stays on one line if it is wider than the table."""
    report = read_report([log(tmp_path, *[line(tool="old", error_code="UNKNOWN_TOOL")] * 3)])
    assert "Called tools that do not exist" in printed(report, 80).splitlines()


@each_row("width", [40, 80, 120])
def test_the_terminal_report_fits(width, varied):
    """No line is wider than the terminal, and at 80 columns nothing is cut."""
    text = printed(varied, width)
    assert max(map(len, text.splitlines())) <= width
    if width >= 80:
        for said in (
            "180 calls",
            "tool_1",
            "client 2",
            "INVALID_ARGUMENTS",
            "json_text_to_array",
            'aliases("query")',
        ):
            assert said in text
        assert "…" not in text


def test_a_time_is_shown_in_its_largest_unit(tmp_path):
    """The time over which a mistake is repeated is shown in the largest unit of which there are two, or exactly one."""
    shown = {0: "0 seconds", 1: "1 minute", 4: "4 minutes", 90: "90 minutes", 180: "3 hours", 4320: "3 days"}
    mistake = {"error_code": "MISSING_X", "violations": [wrong("missing", "/x")]}
    lines = [
        line(minute=at, subject=f"user{minutes}", **mistake) for minutes in shown for at in (0, 0, minutes)
    ]
    table = printed(read_report([log(tmp_path, *lines)]), 120).partition("Callers that repeat a mistake")[2]
    for minutes, says in shown.items():
        assert re.search(rf"user{minutes} \(agent 1.0\) +search +3 +{says} +MISSING_X", table)


def test_saved_output_has_no_colors_and_no_trailing_blanks(varied, varied_file, capsys):
    """Only a terminal gets colors, and no line of a piped report ends with a blank."""
    assert "\x1b[" in printed(varied, 80, terminal=True)
    assert run(["report", str(varied_file)]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    lines = text.splitlines()
    assert any(each.startswith("tool_1 ") for each in lines)
    assert [each for each in lines if each != each.rstrip()] == []


def test_sources_are_named(tmp_path, monkeypatch, capsys):
    """Without a file, or with ``-``, the log is read from standard input, which is not counted as a file."""
    file = log(tmp_path, line())
    said = {}
    for name, arguments, text in (
        ("piped", [], f"{line()}\n".encode()),
        ("both", ["-", str(file)], b"no event\n"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert run(["report", *arguments]) == 0
        said[name] = capsys.readouterr().out.splitlines()[1]
    assert said["both"].startswith(
        "standard input and 1 file, 2 lines: 1 event, 1 from other programs or cut off"
    )
    assert said["piped"].startswith("standard input, 1 line: 1 event, 0 from other programs or cut off")


def test_long_client_names_are_cut(tmp_path, capsys):
    """A long name of a client does not fill the tables, the advice or the heat map; its version stays."""
    name = "a-client-with-a-name-that-goes-on-" + "and-on-" * 9
    written = [
        line(event=event, level="warning", client_name=name, client_version="1.2")
        for event in ("call_rejected", "call_repaired")
    ]
    file, page_file = log(tmp_path, *written), tmp_path / "page.html"
    assert run(["report", str(file), "--html", str(page_file)]) == 0
    out, page = " ".join(capsys.readouterr().out.split()), page_file.read_text("utf-8")
    assert "and-on-and-on-" not in out
    assert "… 1.2" in out
    shown = page.replace(f'title="{name}"', "")
    assert "and-on-and-on-" not in shown
    assert f"{name[:39]}…" in shown.replace("<wbr>", "")


def test_shares_say_of_what(tmp_path, capsys):
    """Text and page say what their shares are shares of: all calls, or those that were logged."""
    events = ("call_accepted", "call_rejected", "call_repaired")
    for accepted, base in ((True, "% of 3 calls"), (False, "% of 2 logged calls")):
        file = log(tmp_path, *(line(event=event) for event in events[not accepted :]))
        page_file = tmp_path / "page.html"
        assert run(["report", str(file), "--html", str(page_file)]) == 0
        page = page_file.read_text("utf-8")
        assert f"Outcomes, in {base}" in capsys.readouterr().out
        assert f"Outcomes, in {base}" in page
        assert "of this client's calls of the tool, the share that failed; the darkest is" in page
        assert "Each bar is the calls of" in page


def test_json_is_the_model(varied_file, capsys):
    """``--format json`` prints the model and nothing else."""
    assert run(["report", str(varied_file), "--format", "json", "--top", "3"]) == 0
    out, err = capsys.readouterr()
    assert Report.model_validate_json(out).calls == 180
    assert len(json.loads(out)["tools"]) == 3
    assert not err


def test_times_are_human_readable(tmp_path, capsys):
    """``--since`` accepts a date, a time or a duration."""
    hour_ago = (datetime.now(timezone.utc) - timedelta(hours=1)).isoformat()
    file = log(tmp_path, line(timestamp=hour_ago), line(timestamp="2026-01-01T08:00:00Z"))
    for arguments, calls in (
        (["--since", "2h"], 1),
        (["--since", "2026-01-01", "--until", "2026-01-01T08:00:01+00:00"], 1),
    ):
        assert run(["report", str(file), "--format", "json", *arguments]) == 0
        assert json.loads(capsys.readouterr().out)["calls"] == calls


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["none.jsonl"], "none.jsonl: no such file", id="file"),
        pytest.param(["{log}", "--since", "soon"], "--since 'soon': write a time as", id="time"),
        pytest.param(
            ["{log}", "--html", "no/where.html"],
            "--html no/where.html: the folder does not exist",
            id="folder",
        ),
        pytest.param(
            ["{log}", "--memory", "lots"], "--memory lots: write a limit with its unit", id="memory"
        ),
        pytest.param(["{log}", "--top", "0"], "--top", id="top"),
    ],
)
def test_wrong_use_is_one_line(arguments, says, tmp_path, monkeypatch, capsys):
    """A usage error exits with 2 and one line on stderr."""
    monkeypatch.chdir(tmp_path)
    file = log(tmp_path, line())
    assert says in refused(["report", *(each.format(log=file) for each in arguments)], capsys)


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ("call_rejected", "No advice: too few of the calls that failed are alike. It takes at least three."),
        ("call_repaired", "Nothing in this log calls for a change."),
    ],
)
def test_missing_advice_has_a_reason(event, says, tmp_path, capsys):
    """Where calls failed without advice, the report does not say that all is well."""
    page = tmp_path / "page.html"
    calls = [line(event, f"tool{at}", error_code="INVALID_ARGUMENTS") for at in range(2)]
    assert run(["report", str(log(tmp_path, *calls)), "--html", str(page)]) == 0
    assert capsys.readouterr().out.endswith(f"{says}\n")
    assert says in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(("package", "extra"), [("duckdb", "report"), ("sqlglot", "clickhouse")])
def test_an_error_about_a_missing_package_names_its_extra(package, extra, tmp_path, monkeypatch, capsys):
    """Without the extra, the command names it."""
    asked = [str(log(tmp_path, line()))] if package == "duckdb" else ["--from", "clickhouse://127.0.0.1/x"]
    monkeypatch.setitem(sys.modules, package, None)
    assert f"install mcp-lenient with its extra '{extra}'" in refused(["report", *asked], capsys)


@contextmanager
def opened(report, folder, *, width=1200, scheme="light"):
    """Yield the page of a report in a browser; nothing is fetched, and the console stays empty."""
    from playwright.sync_api import sync_playwright

    file, complaints, fetched = folder / "report.html", [], []
    file.write_text(page(report), encoding="utf-8")
    options = {"executable_path": CHROMIUM, "chromium_sandbox": os.geteuid() != 0}
    view = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme, "is_mobile": width < 500}
    with sync_playwright() as playwright, playwright.chromium.launch(**options) as browser:
        shown = browser.new_page(**view)
        shown.on("console", lambda message: complaints.append(message.text))
        shown.on("pageerror", lambda error: complaints.append(str(error)))
        shown.on("request", lambda request: fetched.append(request.url))
        shown.goto(file.as_uri())
        shown.wait_for_selector("#top-repairs .bar", state="attached")
        yield shown
    assert complaints == []
    assert [address for address in fetched if not address.startswith("data:")] == [file.as_uri()]


@needs_browser
@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        pytest.param(1200, "light", id="desk"),
        pytest.param(1200, "dark", id="desk at night", marks=pytest.mark.slow),
        pytest.param(390, "dark", id="phone at night", marks=pytest.mark.slow),
    ],
)
def test_the_page_is_drawn(width, scheme, varied, tmp_path):
    """Charts are drawn, and the page and its tables fit the screen."""
    with opened(varied, tmp_path, width=width, scheme=scheme) as shown:
        for drawn in ("#over-time rect", "#tool-by-client .share", "#top-repairs .bar"):
            assert shown.locator(drawn).count() > 0
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        cut = "[...document.querySelectorAll('.scroll')].filter(each => each.scrollWidth > each.clientWidth)"
        assert shown.evaluate(f"{cut}.length") == 0
        ink = "getComputedStyle(document.querySelector('#top-repairs span')).color"
        before = shown.evaluate(ink)
        assert (before == "rgb(230, 234, 240)") == (scheme == "dark")
        shown.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
        shown.wait_for_function(f"{ink} !== '{before}'")


@needs_browser
def test_hostile_names_do_nothing_on_the_page(hostile, tmp_path):
    """Hostile names are shown unchanged. None runs, links, loads anything or breaks the page."""
    with opened(hostile, tmp_path) as shown:
        assert shown.evaluate("window.owned") is None
        assert shown.locator("script, main img, main a, main svg a, [onload]").count() == 0
        text = shown.locator("main").inner_text()
        assert [name for name in HOSTILE if name not in text] == []
        assert shown.locator("svg rect").count() > 0


def test_the_page_is_small_enough_to_be_sent(varied):
    """A page is smaller than 100 kB."""
    assert len(page(varied)) < 100_000


def test_a_page_without_calls_is_a_page(tmp_path):
    """A log without calls is no error: its page says so, without charts or scripts."""
    report = read_report([log(tmp_path, "nothing")])
    assert (report.calls, report.log.foreign, report.advice) == (0, 1, ())
    text = page(report)
    assert "0 calls" in text
    assert len(text) < 20_000
