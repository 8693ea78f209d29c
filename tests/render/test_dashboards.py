"""Dashboards read metrics that exist, in the form of the program that shows them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import promql_parser
import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard as GrafanaModel

from tests.render.test_alerts import FINISHED_JOBS, KUBERNETES, OPTIONAL, known, roce, rules, site
from tests.render.test_evidence import CLUSTER, WITHOUT_FABRIC
from tests.rules.cases import platform_of
from trainyard.model.monitoring import CONSOLE, GRAFANA_OPERATOR, GRAFANA_SIDECAR, SRIOV_METRICS
from trainyard.model.platform import Site
from trainyard.render.alerts.rulesets import FAMILIES
from trainyard.render.dashboards.boards import DASHBOARDS, boards
from trainyard.render.dashboards.panel import GRAPH, NUMBER, TABLE, Panel
from trainyard.render.site import render_site

PANELS = [
    pytest.param(panel, id=f"{dashboard.name}-{panel.title}")
    for dashboard in DASHBOARDS
    for row in dashboard.rows
    for panel in row.panels
]
UNITS = {"Bps", "bytes", "percentunit", "s", "short"}


def with_dashboards(viewer: str, **cluster: Any) -> Site:
    """Return the base platform's cluster with a price, whose dashboards a program shows."""
    stack = "openshift" if viewer == CONSOLE else "prometheus-operator"
    prices = {"pools": {"dgx-h100": {"nodeHour": "96 USD"}}}
    return site(**{"monitoring": {"stack": stack, "dashboards": viewer}, **prices, **cluster})


def with_counters(viewer: str) -> Site:
    """Return the cluster on a RoCE fabric, whose virtual functions somebody has scraped."""
    monitoring = {"stack": "openshift", "dashboards": viewer}
    return roce(monitoring=monitoring, external={f"Metrics/{SRIOV_METRICS}": "me"})


def filled(text: str, variables: tuple[str, ...]) -> str:
    """Return a query as it is asked: with the values that the viewer chose."""
    for name in variables:
        text = re.sub(rf"\${name}\b", f"a-{name}", text)
    return text.replace("$__range", "6h")


def selected(text: str) -> set[str]:
    """Return the series that a query reads."""
    found: set[str] = set()

    def visit(node: promql_parser.Expr) -> bool:
        if isinstance(node, promql_parser.VectorSelector) and node.name:
            found.add(node.name)
        return True

    promql_parser.walk(promql_parser.parse(text), visit)
    return found


def queries(found: Site) -> Iterator[tuple[Panel, str]]:
    """Yield the queries of a cluster's panels, as they are asked, and those of variables."""
    for board in boards(found.cluster):
        names = tuple(each.name for each in board.dashboard.variables)
        for panel in (panel for row in board.dashboard.rows for panel in row.panels):
            for query in panel.queries:
                yield panel, filled(query.expr, names)


def models(found: Site) -> dict[str, dict[str, Any]]:
    """Return what each program reads, by dashboard."""
    return {board.dashboard.name: json.loads(board.json) for board in boards(found.cluster)}


def components(series: str) -> set[str]:
    """Return the components that have a metric; none has a record."""
    metric = series.removesuffix("_bucket")
    return {component for component, name in known() if name == metric}


def test_series_of_a_query_are_found() -> None:
    """Else the tests below could not fail."""
    assert selected('sum by (a) (rate(b{c="d"}[5m])) and on (e) f:g offset 1h') == {"b", "f:g"}
    with pytest.raises(ValueError, match="parenthesis"):
        selected("sum(")


@pytest.mark.parametrize("panel", PANELS)
def test_panel_says_what_it_shows_and_what_to_do(panel: Panel) -> None:
    assert panel.title
    assert panel.shows.endswith(".")
    assert panel.bad.endswith((".", "`."))
    assert panel.unit in UNITS
    assert panel.form in {GRAPH, NUMBER, TABLE}
    assert bool(panel.columns) == (panel.form == TABLE)
    assert len(panel.queries) == 1 or panel.form == GRAPH, "a console shows the first alone"


@pytest.mark.parametrize("panel", PANELS)
def test_panel_leads_to_alerts_that_exist(panel: Panel) -> None:
    assert {*panel.alerts} <= {alert.name for alerts in FAMILIES.values() for alert in alerts}


@pytest.mark.parametrize("viewer", [CONSOLE, GRAFANA_SIDECAR])
def test_each_query_reads_what_the_cluster_has(viewer: str) -> None:
    """Metrics in the pinned versions, of a source that the panel names, and recorded series."""
    release = {} if viewer == CONSOLE else {"release": KUBERNETES["release"]}
    found = with_dashboards(viewer, **release)
    recorded = {rule["record"] for rule in rules(found) if "record" in rule}
    asked = [*queries(found)]
    assert len(asked) > 40
    for panel, query in asked:
        for series in selected(query):
            if ":" in series:
                assert series in recorded, (panel.title, series)
            else:
                assert components(series) & {*panel.sources}, (panel.title, series)
                _assert_pinned(series, found)


def _assert_pinned(series: str, found: Site) -> None:
    metric = series.removesuffix("_bucket")
    for component, tags in ((who, tags) for (who, name), tags in known().items() if name == metric):
        assert "any" in tags or found.cluster.versions[component] in tags, (series, component)


def test_no_metric_is_listed_for_nothing() -> None:
    shown, counted = with_dashboards(CONSOLE), with_counters(CONSOLE)
    read = {
        series.removesuffix("_bucket")
        for _, query in (*queries(shown), *queries(counted))
        for series in selected(query)
    }
    for found in (shown, counted, site(external=OPTIONAL, **FINISHED_JOBS), site(**KUBERNETES)):
        read |= {series for rule in rules(found) for series in selected(rule["expr"])}
    assert {metric for _, metric in known()} == {each for each in read if ":" not in each}


def test_each_record_of_dashboards_is_read_by_a_panel_or_another_rule() -> None:
    found = with_dashboards(CONSOLE)
    own = {rule["record"] for rule in rules(found) if "record" in rule} - {
        rule["record"] for rule in rules(site()) if "record" in rule
    }
    read = {series for _, query in queries(found) for series in selected(query)}
    read |= {series for rule in rules(found) for series in selected(rule["expr"])}
    assert own
    assert own <= read


def test_variables_choose_among_recorded_series() -> None:
    found = with_dashboards(CONSOLE)
    recorded = {rule["record"] for rule in rules(found) if "record" in rule}
    for dashboard in DASHBOARDS:
        names = tuple(each.name for each in dashboard.variables)
        for variable in dashboard.variables:
            assert selected(filled(variable.series, names)) <= recorded


def test_no_name_of_a_variable_begins_another() -> None:
    """OpenShift 4.21's console replaces `$job` in `$jobset` too."""
    for dashboard in DASHBOARDS:
        names = [*(each.name for each in dashboard.variables), "__range", "__interval"]
        assert not [pair for pair in permutations(names, 2) if pair[1].startswith(pair[0])]


@pytest.mark.parametrize("viewer", [GRAFANA_OPERATOR, GRAFANA_SIDECAR])
def test_grafana_knows_every_field(viewer: str) -> None:
    """Its own schema reads the model and writes it again, with nothing lost or changed."""
    register_default_plugins()
    for model in models(with_dashboards(viewer)).values():
        back = json.loads(json.dumps(GrafanaModel.from_json(model), cls=JSONEncoder))
        assert [*lost(model, back, "")] == []


def test_a_field_that_grafana_does_not_know_is_lost() -> None:
    """Else the test above could not fail."""
    register_default_plugins()
    model = models(with_dashboards(GRAFANA_SIDECAR))["job"] | {"titel": "x"}
    back = json.loads(json.dumps(GrafanaModel.from_json(model), cls=JSONEncoder))
    assert [*lost(model, back, "")] == [".titel"]


def lost(old: Any, new: Any, path: str) -> Iterator[str]:
    """Yield the places of a model that differ in another, or are not there."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            yield from lost(value, new.get(key), f"{path}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from lost(*pair, f"{path}[{index}]")
    elif old != new:
        yield path


def test_panels_of_grafana_do_not_overlap() -> None:
    for model in models(with_dashboards(GRAFANA_SIDECAR)).values():
        taken: set[tuple[int, int]] = set()
        for grid in (panel["gridPos"] for panel in model["panels"]):
            cells = {
                (grid["x"] + x, grid["y"] + y) for x in range(grid["w"]) for y in range(grid["h"])
            }
            assert not cells & taken
            assert grid["x"] + grid["w"] <= 24
            taken |= cells
        assert len({panel["id"] for panel in model["panels"]}) == len(model["panels"])


def test_dashboards_of_two_clusters_differ_in_id_and_title() -> None:
    """One Grafana may have both; its ids have at most 40 characters."""
    one = models(with_dashboards(GRAFANA_SIDECAR))
    ids = {each["uid"] for each in one.values()}
    assert len(ids) == len(DASHBOARDS)
    assert all(len(each) <= 40 for each in ids)
    assert all("prod-east" in each["title"] for each in one.values())


def test_console_gets_its_old_form() -> None:
    """Rows of panels that it can draw: openshift/monitoring-plugin:web/src@release-4.21."""
    for model in models(with_dashboards(CONSOLE)).values():
        assert "panels" not in model
        assert model["schemaVersion"] == 14
        for variable in model["templating"]["list"]:
            assert re.fullmatch(r"label_values\((.*), (.*)\)", variable["query"])
            assert variable["hide"] == 0
        for panel in (panel for row in model["rows"] for panel in row["panels"]):
            assert panel["type"] in {"graph", "singlestat", "table"}
            assert ("format" in panel) == (panel["type"] == "singlestat")
            assert ("yaxes" in panel) == (panel["type"] == "graph")
            assert ("styles" in panel) == (panel["type"] == "table")
            assert all(style["alias"] for style in panel.get("styles", ()))


def test_both_forms_ask_the_same() -> None:
    def asked(model: dict[str, Any]) -> list[tuple[str, list[str]]]:
        panels = model.get("panels") or [each for row in model["rows"] for each in row["panels"]]
        return [
            (each["title"], [target["expr"] for target in each["targets"]])
            for each in panels
            if each["type"] != "row"
        ]

    grafana = models(with_dashboards(GRAFANA_OPERATOR, release="openshift-ai-3.5"))
    console = models(with_dashboards(CONSOLE))
    assert {name: asked(each) for name, each in grafana.items()} == {
        name: asked(each) for name, each in console.items()
    }


def titles(found: Site) -> set[str]:
    return {panel.title for panel, _ in queries(found)}


def test_panels_without_metrics_are_left_out() -> None:
    """A cluster without GPUs and fabric; no row is empty."""
    cluster = {
        **WITHOUT_FABRIC[CLUSTER],
        "monitoring": {"stack": "openshift", "dashboards": CONSOLE},
    }
    (bare,) = platform_of({**WITHOUT_FABRIC, CLUSTER: cluster}).sites
    assert bare.cluster.viewer
    gone = titles(with_dashboards(CONSOLE)) - titles(bare)
    assert gone >= {"GPU use", "Scaling efficiency", "Rails: slowest port"}
    assert {"Nodes used", "Waiting jobs", "CPUs by pod"} <= titles(bare)
    assert "Cost of what teams own" in gone
    for board in boards(bare.cluster):
        assert all(row.panels for row in board.dashboard.rows)
    records = {rule.get("record") for rule in rules(bare)}
    assert "trainyard:pod:gpu_use" not in records


def test_traffic_of_rails_is_that_of_virtual_functions() -> None:
    """A port's own counters leave them out, so a cluster without theirs has no such panel."""
    traffic = {"Bandwidth: rails", "Rails: traffic"}
    assert not titles(with_dashboards(CONSOLE)) & traffic
    found = with_counters(CONSOLE)
    assert titles(found) >= traffic
    read = {
        series for _, query in queries(found) for series in selected(query) if "bytes" in series
    }
    assert {each for each in read if each.startswith(("node_", "sriov_"))} == {
        "node_infiniband_rate_bytes_per_second",
        "sriov_vf_rx_bytes",
        "sriov_vf_tx_bytes",
    }


def objects(found: Site) -> dict[str, list[dict[str, Any]]]:
    """Return the objects that have dashboards, by the folder of the cluster that they are in."""
    by_folder: dict[str, list[dict[str, Any]]] = {}
    for each in render_site(found):
        if "dashboard-" in each.name:
            by_folder.setdefault(each.unit, []).append(each.body)
    return by_folder


def test_sidecar_finds_its_config_maps() -> None:
    (folder,) = objects(with_dashboards(GRAFANA_SIDECAR)).items()
    assert folder[0] == "platform"
    for body in folder[1]:
        assert body["metadata"]["labels"]["grafana_dashboard"] == "1"
        assert len(body["data"]) == 1


def test_grafana_operator_finds_its_objects() -> None:
    (folder,) = objects(with_dashboards(GRAFANA_OPERATOR)).items()
    assert folder[0] == "platform"
    assert {body["kind"] for body in folder[1]} == {"GrafanaDashboard"}
    for body in folder[1]:
        assert body["spec"]["allowCrossNamespaceImport"]
        assert body["spec"]["instanceSelector"] == {"matchLabels": {"dashboards": "grafana"}}


def test_argo_cd_may_not_write_where_the_console_looks() -> None:
    """That namespace has certificates which the cluster's own parts trust."""
    found = with_dashboards(CONSOLE)
    (folder,) = objects(found).items()
    assert folder[0] == "operators"
    assert {body["metadata"]["namespace"] for body in folder[1]} == {"openshift-config-managed"}
    projects = [each.body for each in render_site(found) if each.body["kind"] == "AppProject"]
    assert projects
    for project in projects:
        namespaces = {each["namespace"] for each in project["spec"]["destinations"]}
        assert "openshift-config-managed" not in namespaces


def test_without_a_viewer_nothing_is_written() -> None:
    found = site()
    assert objects(found) == {}
    assert [*boards(found.cluster)] == []
    assert "trainyard:pod:job" not in {rule.get("record") for rule in rules(found)}


def test_labels_of_the_profile_are_on_dashboards_too() -> None:
    monitoring = {
        "stack": "prometheus-operator",
        "dashboards": GRAFANA_SIDECAR,
        "labels": {"team-grafana": "yes"},
    }
    for body in objects(site(monitoring=monitoring))["platform"]:
        assert body["metadata"]["labels"]["team-grafana"] == "yes"


def test_runbooks_are_linked_where_the_cluster_has_the_alert() -> None:
    text = json.dumps(models(with_dashboards(CONSOLE))["platform"])
    assert "RUNBOOKS.md#trainyardraildown" in text
    assert "trainyardjobsnotreadyintime" not in text
