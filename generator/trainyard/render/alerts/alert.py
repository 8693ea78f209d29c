"""What an alert is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainyard.model.cluster import Cluster

PLATFORM = "platform"
"""Value of the label ``team`` of what the platform's owner fixes; no team may have this name."""

NO_PRIORITY = "(none)"
"""Value of the label ``priority`` of a job without one; no priority of a profile may have it."""


MAINTENANCE = "trainyard:node:maintenance_until"
"""Series of each node that the profiles take out of use."""

TAKE_OUT = (
    "Take the node out of use as the [README](README.md#take-nodes-out-of-use) says: cordon it, "
    "list it under `maintenance` of its pool, and move its jobs."
)
"""The step with which the repair of a node begins."""

RESTART = "`{node_shell} chroot /host systemctl reboot`"
"""The command that restarts a node.

It resets each GPU too. By itself none can be reset under the GPU operator, whose pods hold them.
"""

BRING_BACK = "When it is repaired and tested, end the maintenance as the README says."
"""The step with which the repair of a node ends."""

_HOSTS = ("Hostname", "hostname")
"""Labels of the host in DCGM exporter: the first up to 4.8.2, then the second
(NVIDIA/dcgm-exporter#655)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """An alert, the same on each cluster that has its metrics.

    Args:
        name: permanent, as routes and silences name it.
        sources: components whose metrics it reads.
        expr: PromQL; numbers and names of a cluster come from series of the facts.
        hold: time for which it must be true; empty for none.
        severity: ``critical`` (somebody comes now), ``warning`` (this day) or ``info``.
        for_team: whether ``expr`` returns the label ``team``; else the platform's owner fixes it.
        labels: further ones.
        summary: one line, with ``{{ $labels.name }}`` of the result.
        meaning: what happens on the cluster.
        look, fix: steps; ``{cli}``, ``{admin}``, ``{node_shell}``, ``{cluster}`` and the names of
            components become those of the cluster; a person fills in words in capitals.
        feature: of the release, or the name of the clean-up, that a cluster must have.
        link: of clusters with such a fabric; ``feature`` and ``link`` are of all when empty.
    """

    name: str
    sources: tuple[str, ...]
    expr: str
    hold: str = ""
    severity: str
    for_team: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    summary: str
    meaning: str
    look: tuple[str, ...]
    fix: tuple[str, ...]
    feature: str = ""
    link: str = ""

    def concerns(self, cluster: Cluster) -> bool:
        """Return whether a cluster has what it is about."""
        features = {"", *cluster.features}
        if cluster.finished_jobs:
            features.add(cluster.finished_jobs.name)
        return self.feature in features and cluster.has_metrics(self.sources, self.link)


def outside_maintenance(expr: str) -> str:
    """Return an expression with the label of a node, without nodes that the profiles take out."""
    return f"{expr} unless on (node) {MAINTENANCE}"


def with_node(expr: str) -> str:
    """Return series of DCGM exporter with the label ``node``."""
    for host in _HOSTS:
        expr = f'label_replace({expr}, "node", "$1", "{host}", "(.+)")'
    return expr


OPEN_QUEUES = 'trainyard:cluster_queue:team{state="active"}'
"""The teams' queues that admit jobs: what a state or maintenance stops is not a fault."""


def of_queue(expr: str) -> str:
    """Return an expression by ClusterQueue with the label of the queue's team; open ones only."""
    return f"({expr}) * on (cluster_queue) group_left (team) {OPEN_QUEUES}"


def of_namespace(expr: str) -> str:
    """Return an expression by namespace with the label of the namespace's team; ours only."""
    return f"({expr}) * on (namespace) group_left (team) trainyard:namespace:team"


def own(metric: str, *labels: str) -> str:
    """Return a series with its exporter's own labels.

    A scrape that does not honour them renames each to ``exported_*``.
    """
    for label in labels:
        metric = f'label_replace({metric}, "{label}", "$1", "exported_{label}", "(.+)")'
    return metric


def with_namespace(expr: str, label: str) -> str:
    """Return an expression whose label ``namespace`` is that of another label, if it has one.

    Where the labels of a scrape win, ``namespace`` is the one of the exporter.
    """
    return f'label_replace({expr}, "namespace", "$1", "{label}", "(.+)")'
