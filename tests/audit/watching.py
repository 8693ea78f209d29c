"""Audits of what Prometheus may read of teams, and of what of a team alerts must not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.audit.tree import Document, Tree

_JOBS = {"matchExpressions": [{"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"}]}
_METRIC = re.compile(
    r"\b(?:apiserver|container|kubelet|sriov|kueue|kube|jobset|node|mco|argocd|trainyard|DCGM)[_:][A-Za-z0-9_:]+"
)


def _scraping(tree: Tree) -> dict[str, int]:
    """Return the port of each namespace whose jobs are scraped, by the profiles."""
    if "monitoring" not in tree.cluster:
        return {}
    return {
        namespace: profile["metrics"]
        for team, profile in tree.teams.items()
        if "metrics" in profile
        for namespace in tree.namespaces(team)
    }


def own_metrics_are_scraped_where_a_team_states_them(tree: Tree) -> Iterator[str]:
    """A monitor reads its own namespace only, and stores so much of a pod."""
    found = {}
    for monitor in tree.of("PodMonitor"):
        if not tree.owner(monitor.namespace):
            continue
        (endpoint,) = monitor.spec["podMetricsEndpoints"]
        (address,) = [
            each["replacement"]
            for each in endpoint["relabelings"]
            if each.get("targetLabel") == "__address__"
        ]
        found[monitor.namespace] = int(address.removeprefix("$1:"))
        if "namespaceSelector" in monitor.spec or monitor.spec["selector"] != _JOBS:
            yield f"{monitor.path}: scrapes more than the team's jobs"
        if not 0 < monitor.spec.get("sampleLimit", 0) <= 1000:
            yield f"{monitor.path}: a job may write any number of series"
        if endpoint.get("honorLabels"):
            yield f"{monitor.path}: a job may write series of another namespace"
        if endpoint.get("followRedirects", True):
            yield f"{monitor.path}: a job may send Prometheus to other endpoints"
        yield from (f"{monitor.path}: keeps {name}" for name in sorted(_kept(tree, endpoint)))
    if found != _scraping(tree):
        yield f"scraped are {found}, and the profiles state {_scraping(tree)}"


def _kept(tree: Tree, endpoint: dict[str, Any]) -> set[str]:
    """Return the names that an alert reads and a job of a team may write."""
    drops = [each["regex"] for each in endpoint["metricRelabelings"] if each["action"] == "drop"]
    return {
        name
        for rules in tree.of("PrometheusRule")
        for group in rules.spec["groups"]
        for rule in group["rules"]
        for name in _METRIC.findall(rule["expr"])
        if not any(re.fullmatch(drop, name) for drop in drops)
    }


def only_prometheus_reaches_the_port_of_metrics(tree: Tree) -> Iterator[str]:
    """No other namespace of monitoring has a way into a team's."""
    open_to: dict[str, set[int]] = {}
    for policy in tree.of("NetworkPolicy"):
        for rule in policy.spec.get("ingress", ()):
            if any(_is_monitoring(peer) for peer in rule["from"]):
                ports = open_to.setdefault(policy.namespace, set())
                ports.update(each["port"] for each in rule.get("ports", [{"port": 0}]))
                yield from _too_open(policy, rule)
    expected = {namespace: {port} for namespace, port in _scraping(tree).items()}
    if open_to != expected:
        yield f"open to Prometheus are {open_to}, and the profiles state {expected}"


def _is_monitoring(peer: dict[str, Any]) -> bool:
    return "monitoring" in str(peer.get("namespaceSelector", ""))


def _too_open(policy: Document, rule: dict[str, Any]) -> Iterator[str]:
    if policy.spec["podSelector"] != _JOBS or any(
        each.get("protocol") != "TCP" for each in rule.get("ports", [{}])
    ):
        yield f"{policy.path}: Prometheus reaches more than the port of jobs"


AUDITS = (
    own_metrics_are_scraped_where_a_team_states_them,
    only_prometheus_reaches_the_port_of_metrics,
)
