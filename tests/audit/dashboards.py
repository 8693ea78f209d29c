"""Dashboards: where they are, who applies them, and whether their series are recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.audit.tree import Document, Tree

_CONSOLE = "openshift-config-managed"
_LABELS = {
    "grafana-sidecar": ("grafana_dashboard", "1"),
    "openshift-console": ("console.openshift.io/dashboard", "true"),
}
_RECORD = re.compile(r"\btrainyard:[a-z_]+:[a-z_]+\b")


def dashboards_are_where_their_viewer_looks(tree: Tree) -> Iterator[str]:
    """Platform, team and job, each once; the console's are applied by hand."""
    viewer = tree.cluster.get("monitoring", {}).get("dashboards", "")
    found = [*_dashboards(tree)]
    if len(found) != (3 if viewer else 0):
        yield f"{len(found)} dashboards for {viewer or 'nobody'}"
    unit = "operators" if viewer == "openshift-console" else "platform"
    for each in found:
        if each.unit != unit or (each.namespace == _CONSOLE) != (viewer == "openshift-console"):
            yield f"{each.path}: not where {viewer} looks"
        if viewer == "grafana-operator":
            selector = each.spec.get("instanceSelector")
            if selector != {"matchLabels": {"dashboards": "grafana"}}:
                yield f"{each.path}: selects {selector}"
        else:
            key, value = _LABELS[viewer]
            if each.body["metadata"]["labels"].get(key) != value:
                yield f"{each.path}: without the label {key}"


def argo_cd_never_writes_what_the_cluster_trusts(tree: Tree) -> Iterator[str]:
    """The console's namespace has the certificates of the cluster's own parts."""
    for project in tree.of("AppProject"):
        for each in project.spec["destinations"]:
            if each["namespace"] == _CONSOLE:
                yield f"{project.path}: writes into {_CONSOLE}"


def panels_ask_for_recorded_series(tree: Tree) -> Iterator[str]:
    """A series that no rule records is empty for ever."""
    recorded = {
        rule.get("record")
        for each in tree.of("PrometheusRule")
        for group in each.spec["groups"]
        for rule in group["rules"]
    }
    for each in _dashboards(tree):
        for name in sorted({*_RECORD.findall(_text(each))} - recorded):
            yield f"{each.path}: nothing records {name}"


def dashboards_name_no_team(tree: Tree) -> Iterator[str]:
    """All that a viewer learns comes from Prometheus, which may refuse."""
    for each in _dashboards(tree):
        words = {*re.findall(r'"([a-z0-9-]+)"', _text(each).replace("\\", ""))}
        for team in sorted(words & {*tree.teams}):
            yield f"{each.path}: names team {team}"


def _dashboards(tree: Tree) -> Iterator[Document]:
    for each in tree.of("ConfigMap", "GrafanaDashboard"):
        if each.name.startswith("trainyard-dashboard-"):
            yield each


def _text(dashboard: Document) -> str:
    """Return the model, which must be JSON with a title and panels."""
    (text,) = (
        [dashboard.spec["json"]]
        if dashboard.kind == "GrafanaDashboard"
        else dashboard.body["data"].values()
    )
    model: dict[str, Any] = json.loads(text)
    assert model["title"]
    assert model.get("panels") or model.get("rows")
    return str(text)


AUDITS = (
    dashboards_are_where_their_viewer_looks,
    argo_cd_never_writes_what_the_cluster_trusts,
    panels_ask_for_recorded_series,
    dashboards_name_no_team,
)
