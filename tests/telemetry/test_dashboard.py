"""Test that the dashboard and the alerts use only existing metrics and labels."""

from __future__ import annotations

import asyncio
import json
import math
import re
import shutil
import subprocess
import time
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
import yaml
from calls import call, lenient
from processes import free_port, running
from prometheus_client import REGISTRY, generate_latest, start_http_server
from prometheus_client.parser import text_string_to_metric_families
from tables import each_row

DOCS = Path(__file__).parents[2] / "docs"
DASHBOARD = json.loads((DOCS / "grafana" / "mcp-lenient.json").read_text(encoding="utf-8"))
HOW_TO = (DOCS / "how-to" / "metrics.md").read_text(encoding="utf-8")
ALERTS = yaml.safe_load((DOCS / "grafana" / "alerts.yaml").read_text(encoding="utf-8"))
RULES = ALERTS["groups"][0]["rules"]
TARGETS = [(panel["title"], target) for panel in DASHBOARD["panels"] for target in panel["targets"]]
QUERIES = [
    *((title, target["expr"]) for title, target in TARGETS),
    *((rule["alert"], rule["expr"]) for rule in RULES),
]


def tool(tags: list[str]) -> list[str]:
    """A tool."""
    return tags


@pytest.fixture
async def exported(counted):
    """Return each metric that Prometheus sees, with its labels."""
    assert counted() == {}
    server = lenient(tool)
    for tags in (["a"], '["a"]', 5):
        await call(server, "tool", {"tags": tags})
    return {
        sample.name: set(sample.labels)
        for family in text_string_to_metric_families(generate_latest(REGISTRY).decode())
        for sample in family.samples
    }


def test_the_added_time_is_in_seconds_with_fine_buckets(exported):
    """The name that Prometheus sees has the unit, and the first bucket ends at ten microseconds."""
    assert "mcp_lenient_added_time_seconds_bucket" in exported
    assert re.search(r'added_time_seconds_bucket\{[^}]*le="1e-05"', generate_latest(REGISTRY).decode())


def labels(query):
    """Return the labels that a query selects or groups by."""
    selected = re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", query)
    grouped = [name for names in re.findall(r"by \(([^)]*)\)", query) for name in re.split(r",\s*", names)]
    return {*selected, *grouped}


def test_a_query_finds_something(exported, subtests):
    """Each metric of a query exists by this name and has each label that the query uses."""
    for title, query in QUERIES:
        metrics = re.findall(r"\bmcp_lenient_\w+", query)
        with subtests.test(title):
            assert metrics
            assert all(labels(query) <= exported.get(metric, set()) for metric in metrics)
            assert set(metrics) <= exported.keys()


@each_row(("title", "target"), TARGETS)
def test_a_legend_shows_labels_of_its_query(title, target):
    """A legend or column shows only labels that its query groups by."""
    assert title
    assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= labels(target["expr"])


def test_variables_find_something(exported):
    """The choice of tools uses an existing label."""
    (query,) = [each["definition"] for each in DASHBOARD["templating"]["list"] if each["type"] == "query"]
    metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", query).groups()
    assert label in exported[metric]


def test_panels_do_not_overlap():
    """No panel covers another, and each has a unique id."""
    cells = [
        (x, y)
        for at in (panel["gridPos"] for panel in DASHBOARD["panels"])
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.mark.parametrize(
    "name", ["mcp_lenient.calls", "mcp_lenient.repairs", "mcp_lenient.violations", "mcp_lenient.added_time"]
)
async def test_the_list_of_metrics_is_true(name, counted):
    """The list on the page has each metric with its labels."""
    await call(lenient(tool), "tool", {"tags": '["a"]'})
    await call(lenient(tool), "tool", {"tags": 5})
    reported = re.search(rf"^- `{re.escape(name)}` \([^)]*\): (.*)$", HOW_TO, re.MULTILINE)
    assert reported
    assert set(re.findall(r"`(\w+)`", reported[1])) == {
        label for point in counted()[name] for label, _ in point
    }


needs_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="there is no Prometheus: apt-get install prometheus"
)
_SECONDS = 60
_VARIABLES = {"$__rate_interval": "10s", "$__range": "1m", "$tool": ".*"}
_SCRAPING = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
scrape_configs:
  - job_name: server
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


@pytest.fixture
def asked(counted, tmp_path):
    """Yield a function that queries a Prometheus that scrapes this process."""
    assert counted() is not None
    exporter, thread = start_http_server(0, "127.0.0.1")
    config = tmp_path / "prometheus.yml"
    config.write_text(_SCRAPING.format(port=exporter.server_port))
    port = free_port()
    command = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={tmp_path / 'data'}"]
    with running([*command, f"--web.listen-address=127.0.0.1:{port}"], port):

        def ask(query: str) -> list[float]:
            for name, value in _VARIABLES.items():
                query = query.replace(name, value)
            url = f"http://127.0.0.1:{port}/api/v1/query?{urlencode({'query': query})}"
            with urlopen(url, timeout=10) as response:
                answer = json.load(response)
            assert answer["status"] == "success", (query, answer)
            return [float(row["value"][1]) for row in answer["data"]["result"]]

        yield ask
    exporter.shutdown()
    thread.join()
    exporter.server_close()


@pytest.mark.slow
@needs_prometheus
async def test_every_query_of_the_dashboard_returns_rows(asked):
    """After valid, repaired and refused calls, no panel is empty or undefined, and each alert is valid."""
    server = lenient(tool)
    empty = {title: target["expr"] for title, target in TARGETS}
    end = time.monotonic() + _SECONDS
    while empty and time.monotonic() < end:
        for tags in (["a"], '["a"]', 5):
            await call(server, "tool", {"tags": tags})
        await asyncio.sleep(0.3)
        rows = {title: await asyncio.to_thread(asked, query) for title, query in empty.items()}
        empty = {
            title: query
            for title, query in empty.items()
            if not rows[title] or any(map(math.isnan, rows[title]))
        }
    assert empty == {}
    for rule in RULES:
        asked(rule["expr"])


@pytest.mark.slow
@needs_prometheus
def test_prometheus_accepts_the_alerts(tmp_path):
    """Prometheus's own checker accepts the rules."""
    rules = tmp_path / "rules.json"  # JSON is valid YAML
    rules.write_text(json.dumps({"groups": [{"name": "mcp-lenient", "rules": RULES}]}))
    found = subprocess.run(  # noqa: S603 - our own file
        [str(shutil.which("promtool")), "check", "rules", str(rules)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
