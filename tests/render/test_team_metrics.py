"""A team's own metrics: one port, from one namespace, and nothing that alerts of others read."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.render.test_alerts import known
from tests.rules.cases import platform_of
from trainyard.model.manifest import Manifest
from trainyard.render.site import render_site

CLUSTER, TEAM = "clusters/prod-east.yaml", "teams/nlp.yaml"


def objects(cluster: dict[str, Any] | None = None, **team: Any) -> list[Manifest]:
    """Return the objects of the base platform with a changed cluster and team."""
    (found,) = platform_of({CLUSTER: cluster or {}, TEAM: team}).sites
    return list(render_site(found))


def named(manifests: list[Manifest], kind: str) -> dict[str, dict[str, Any]]:
    """Return the objects `metrics` of a kind by namespace."""
    return {
        each.body["metadata"]["namespace"]: each.body
        for each in manifests
        if each.kind.name == kind and each.name == "metrics"
    }


def test_port_of_each_namespace_of_the_team_is_scraped_and_open() -> None:
    found = objects(metrics=8080, spaces={"dev": {}})
    monitors, policies = named(found, "PodMonitor"), named(found, "NetworkPolicy")
    assert {*monitors} == {*policies} == {"team-nlp", "team-nlp-dev"}
    (rule,) = policies["team-nlp"]["spec"]["ingress"]
    assert rule["ports"] == [{"port": 8080, "protocol": "TCP"}]
    assert policies["team-nlp"]["spec"]["podSelector"] == monitors["team-nlp"]["spec"]["selector"]
    (endpoint,) = monitors["team-nlp"]["spec"]["podMetricsEndpoints"]
    assert endpoint["relabelings"][1]["replacement"] == "$1:8080"
    assert "namespaceSelector" not in monitors["team-nlp"]["spec"]


@pytest.mark.parametrize(
    ("cluster", "namespace"),
    [
        ({}, "openshift-user-workload-monitoring"),
        ({"monitoring": {"stack": "prometheus-operator"}}, "monitoring"),
        ({"monitoring": {"stack": "prometheus-operator", "namespace": "obs"}}, "obs"),
    ],
)
def test_only_the_namespace_of_prometheus_reaches_it(
    cluster: dict[str, Any], namespace: str
) -> None:
    policy = named(objects(cluster, metrics=8080), "NetworkPolicy")["team-nlp"]
    ((source,),) = [each["from"] for each in policy["spec"]["ingress"]]
    labels = {"kubernetes.io/metadata.name": namespace}
    assert source == {"namespaceSelector": {"matchLabels": labels}}


def test_others_are_neither_scraped_nor_open() -> None:
    """A team without metrics, and a cluster without a Prometheus."""
    assert {*named(objects(metrics=8080), "PodMonitor")} == {"team-nlp"}
    for found in (objects(), objects({"monitoring": None}, metrics=8080)):
        assert named(found, "PodMonitor") == {}
        assert named(found, "NetworkPolicy") == {}


def test_job_can_serve_no_metric_that_an_alert_reads() -> None:
    """With it, a job would hide or raise alerts of others."""
    monitor = named(objects(metrics=8080), "PodMonitor")["team-nlp"]
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    (drop,) = endpoint["metricRelabelings"]
    assert (drop["action"], drop["sourceLabels"]) == ("drop", ["__name__"])
    read = {metric for _, metric in known()} | {"ALERTS", "trainyard:pool:promised_nodes"}
    assert {name for name in read if not re.fullmatch(drop["regex"], name)} == set()
    assert not re.fullmatch(drop["regex"], "training_loss")
    assert endpoint["honorLabels"] is False


def test_no_role_of_a_team_may_write_monitors_or_rules() -> None:
    """Else it could scrape other namespaces, or evaluate rules over their series."""
    for each in objects(metrics=8080, ownRuntimes=1):
        if each.kind.name in {"ClusterRole", "Role"} and "team" in each.name:
            groups = {group for rule in each.body["rules"] for group in rule["apiGroups"]}
            assert not groups & {"*", "monitoring.coreos.com"}, each.name
