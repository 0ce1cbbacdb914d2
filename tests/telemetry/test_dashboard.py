"""The dashboard and the alerts ask for metrics and labels that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from calls import call, lenient
from prometheus_client import REGISTRY, generate_latest
from prometheus_client.parser import text_string_to_metric_families

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
DASHBOARD = json.loads((DOCS / "grafana" / "mcp-lenient.json").read_text(encoding="utf-8"))
HOW_TO = (DOCS / "how-to" / "operate.md").read_text(encoding="utf-8")
RULES = yaml.safe_load(re.findall(r"^```yaml\n(.*?)^```", HOW_TO, re.MULTILINE | re.DOTALL)[0])["groups"][0][
    "rules"
]
TARGETS = [(panel["title"], target) for panel in DASHBOARD["panels"] for target in panel["targets"]]
QUERIES = [
    *(pytest.param(target["expr"], id=title) for title, target in TARGETS),
    *(pytest.param(rule["expr"], id=rule["alert"]) for rule in RULES),
]


def tool(tags: list[str]) -> list[str]:
    """A tool."""
    return tags


@pytest.fixture
async def exported(counted):
    """Each metric that Prometheus gets to see, with its labels."""
    assert counted() == {}
    server = lenient(tool)
    for tags in (["a"], '["a"]', 5):
        await call(server, "tool", {"tags": tags})
    return {
        sample.name: set(sample.labels)
        for family in text_string_to_metric_families(generate_latest(REGISTRY).decode())
        for sample in family.samples
    }


def labels(query):
    """The labels that a query selects or groups by."""
    selected = re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", query)
    grouped = [name for names in re.findall(r"by \(([^)]*)\)", query) for name in re.split(r",\s*", names)]
    return {*selected, *grouped}


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_finds_something(query, exported):
    """Each metric of a query exists under this very name, with each label that the query uses."""
    metrics = re.findall(r"\bmcp_lenient_\w+", query)
    assert metrics
    for metric in metrics:
        assert metric in exported
        assert labels(query) <= exported[metric]


@pytest.mark.parametrize(("title", "target"), TARGETS, ids=[title for title, _ in TARGETS])
def test_a_legend_shows_labels_of_its_query(title, target):
    """What a legend or column shows is what its query groups by."""
    assert title
    assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= labels(target["expr"])


def test_variables_find_something(exported):
    """The choice of tools is made from a label that there is."""
    (query,) = [each["definition"] for each in DASHBOARD["templating"]["list"] if each["type"] == "query"]
    metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", query).groups()
    assert label in exported[metric]


def test_panels_lie_side_by_side():
    """No panel covers another, and each has an id of its own."""
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
async def test_the_table_of_metrics_is_true(name, counted):
    """The how-to's table has each metric with its labels."""
    await call(lenient(tool), "tool", {"tags": '["a"]'})
    await call(lenient(tool), "tool", {"tags": 5})
    told = re.search(rf"^\| `{re.escape(name)}` \|[^|]*\|(.*)\|$", HOW_TO, re.MULTILINE)
    assert told
    assert set(re.findall(r"`(\w+)`", told[1])) == {label for point in counted()[name] for label, _ in point}
