"""Find what a cluster needs from others and its `external` does not declare."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.fabric import HOSTNAME
from trainyard.model.ipam import IPAMS
from trainyard.model.monitoring import (
    CONSOLE,
    CONSOLE_NAMESPACE,
    JOB_STATES,
    METRICS,
    NAMESPACES,
    STACKS,
    VIEWERS,
)
from trainyard.model.platform import Platform, Site
from trainyard.rules._check import Check

_NO_OWNER = "It may not exist, because it has no known owner."
_CONSEQUENCES = {
    "StorageClass": "Without the class, claims stay Pending, and Argo CD's sync of their unit "
    "waits (`waiting for healthy state of /PersistentVolumeClaim/<claim>`, seen with "
    "Argo CD 3.5.7).",
    "ClusterSecretStore": "Without the store, Secrets stay empty.",
    "NodeLabel": "Without the label, jobs wait (`no topology domains at level: <label>`, seen with "
    "Kueue 0.19.2).",
    "Namespace": "Without the namespace, an egress rule or a scrape opens no connection, and the "
    "API server refuses what Argo CD would read there.",
    "Partitions": "Without partitions in the subnet manager, ranks find no path.",
    "Vlans": "Without VLANs in the switches, ranks find no path.",
    "LosslessQueue": "Without a lossless queue, switches drop RDMA packets under load.",
    "IPReconciler": "Without the reconciler, whereabouts keeps the addresses of pods that a node "
    "lost, until a team's range is empty and its pods do not start.",
    METRICS: "Without a scrape, alerts on these metrics never fire, and panels stay empty.",
    **dict.fromkeys(
        STACKS.values(), "Without a Prometheus that reads our namespace, no alert fires."
    ),
    **dict.fromkeys(VIEWERS.values(), "Without a program that shows them, nobody sees dashboards."),
}
"""Kind of what a cluster needs from others -> what happens without it."""

RULE = Rule(
    id="references/undeclared-external",
    severity=Severity.ERROR,
    summary="""
        Everything that a cluster needs and Trainyard does not create is declared in `external`,
        with its owner.
    """,
    why=" ".join([_NO_OWNER, *dict.fromkeys(_CONSEQUENCES.values())]),
    fix="Add it to the cluster's `external` with the team that owns it.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    without_quota = {team for team, key in platform.lost.of_teams if key == "quota"}
    unknown = platform.lost.teams | without_quota
    for site in platform.sites:
        places: dict[str, list[Pointer]] = {}
        for needed, at in _needed(site, unknown):
            places.setdefault(needed, []).append(at)
        for needed, (first, *others) in places.items():
            if needed not in site.cluster.external:
                hint = f"Add `{needed}: <its owner>` to `external`."
                notes = [Note("also needed here", at) for at in others]
                found = RULE.at(
                    first, f"`{needed}` is not declared in `external`", hint=hint, notes=notes
                )
                consequence = _CONSEQUENCES[needed.partition("/")[0]]
                yield replace(found, consequence=f"{_NO_OWNER} {consequence}")


def _needed(site: Site, unknown: Collection[str]) -> Iterator[tuple[str, Pointer]]:
    """Yield what a cluster needs from others, as ``Kind/name``, with the place that needs it.

    Args:
        site: the cluster and its teams.
        unknown: teams that may be on the cluster, although their profiles don't show it.
    """
    yield from _fabric(site.cluster)
    yield from _storage(site.cluster)
    yield from _monitoring(site.cluster)
    yield from _namespaces(site.cluster)
    own = {space.namespace for tenant in site.tenants for space in tenant.spaces}
    # A namespace with such a prefix may belong to a team whose profile or pool is left out.
    may_be = tuple(names.namespace(team) for team in sorted(unknown))
    for egress in site.cluster.egress:
        for i, namespace in enumerate(egress.namespaces):
            if namespace not in own and not namespace.startswith(may_be):
                yield f"Namespace/{namespace}", egress.at / "namespaces" / i


def _fabric(cluster: Cluster) -> Iterator[tuple[str, Pointer]]:
    """Yield what the fabrics need: network configuration, a reconciler and node labels."""
    for fabric in cluster.fabrics:
        for kind in (fabric.link.enforced, *fabric.link.prepared):
            yield f"{kind}/{fabric.name}", fabric.at.key()
        reconciler = IPAMS[cluster.release.ipam].external
        if reconciler:
            yield reconciler, fabric.at / "addresses"
        for i, level in enumerate(fabric.levels):
            if level != HOSTNAME:
                yield f"NodeLabel/{level}", fabric.at / "levels" / i


def _monitoring(cluster: Cluster) -> Iterator[tuple[str, Pointer]]:
    """Yield who reads our objects: Prometheus and Grafana; and the metrics that others scrape."""
    if cluster.monitoring:
        if viewer := cluster.viewer:
            namespace = CONSOLE_NAMESPACE if viewer == CONSOLE else cluster.system_namespace
            yield f"{VIEWERS[viewer]}/{namespace}", cluster.monitoring.at / "dashboards"
        reader = STACKS[cluster.monitoring.stack]
        yield f"{reader}/{cluster.system_namespace}", cluster.monitoring.at / "stack"
        for source in cluster.sources:
            if source.scrape is None:
                yield f"{METRICS}/{source.name}", cluster.monitoring.at.key()
        if cluster.monitoring.waiting:
            yield f"{METRICS}/{JOB_STATES}", (cluster.monitoring.at / "waiting").key()


def _namespaces(cluster: Cluster) -> Iterator[tuple[str, Pointer]]:
    """Yield the stated namespaces of programs that others installed.

    One of a team is no place for them, as `isolation/platform-in-a-tenant` reports.
    """
    stated = {cluster.argocd_namespace: cluster.at / "argocd" / "namespace"}
    usual = {cluster.release.argocd_namespace}
    if monitoring := cluster.monitoring:
        stated[monitoring.namespace] = monitoring.at / "namespace"
        usual.add(NAMESPACES[monitoring.stack])
    for namespace, at in stated.items():
        if namespace not in usual and not names.owner_of_namespace(namespace):
            yield f"Namespace/{namespace}", at


def _storage(cluster: Cluster) -> Iterator[tuple[str, Pointer]]:
    """Yield the secret stores and storage classes that the cluster names."""
    for secret in cluster.pull_secrets:
        yield f"ClusterSecretStore/{secret.secret_store}", secret.at / "secretStore"
    for storage in cluster.storage:
        if storage.storage_class not in {"", names.ADOPTED_CLASS}:
            inside = ("class",) if storage.kind == "class" else ("adopted", "class")
            yield f"StorageClass/{storage.storage_class}", storage.at.below(inside)
        if storage.secret_store:
            yield f"ClusterSecretStore/{storage.secret_store}", storage.at / "s3" / "secretStore"


CHECK = Check(RULE, find)
