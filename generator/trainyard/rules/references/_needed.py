"""What a cluster needs from others, by its profile."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.fabric import ATTACHMENT
from trainyard.model.ipam import IPAMS
from trainyard.model.link import ROCE, SYSCTL_ALLOWLIST
from trainyard.model.monitoring import (
    CONSOLE,
    CONSOLE_NAMESPACE,
    JOB_STATES,
    METRICS,
    NAMESPACES,
    STACKS,
    VIEWERS,
)
from trainyard.model.nvlink import DRIVER
from trainyard.model.platform import Site
from trainyard.model.topology import HOSTNAME


def needed(site: Site, unknown: Collection[str]) -> Iterator[tuple[str, Pointer]]:
    """Yield what a cluster needs from others, as ``Kind/name``, with the place that needs it.

    Args:
        site: the cluster and its teams.
        unknown: teams that may be on the cluster, although their profiles don't show it.
    """
    yield from _fabric(site.cluster)
    yield from _attachments(site.cluster)
    yield from _nvlink(site.cluster)
    yield from _topology(site.cluster)
    yield from _storage(site.cluster)
    yield from _monitoring(site.cluster)
    yield from _namespaces(site.cluster)
    yield from _reached(site, unknown)


def _reached(site: Site, unknown: Collection[str]) -> Iterator[tuple[str, Pointer]]:
    """Yield the namespaces that are open to the pods of teams, but for those of teams."""
    own = {space.namespace for tenant in site.tenants for space in tenant.spaces}
    # A namespace with such a prefix may belong to a team whose profile or pool is left out.
    may_be = tuple(names.namespace(team) for team in sorted(unknown))
    for namespace, at in _opened(site.cluster):
        if namespace not in own and not namespace.startswith(may_be):
            yield f"Namespace/{namespace}", at


def _opened(cluster: Cluster) -> Iterator[tuple[str, Pointer]]:
    """Yield the namespaces of egress rules and of the name servers."""
    for egress in cluster.egress:
        for i, namespace in enumerate(egress.namespaces):
            yield namespace, egress.at / "namespaces" / i
    yield cluster.dns.namespace, cluster.dns.at / "namespace"


def _fabric(cluster: Cluster) -> Iterator[tuple[str, Pointer]]:
    """Yield what the fabrics need: network configuration and a reconciler."""
    for each in cluster.fabrics:
        for kind in each.provider.external:
            yield f"{kind}/{each.name}", each.at.key()
    for fabric in cluster.rail_fabrics:
        if fabric.link == ROCE and "sysctl-allowlist" in cluster.release.features:
            yield SYSCTL_ALLOWLIST, fabric.at / "link"
        reconciler = IPAMS[cluster.release.ipam].external
        if reconciler:
            yield reconciler, fabric.at / "addresses"


def _attachments(cluster: Cluster) -> Iterator[tuple[str, Pointer]]:
    """Yield the networks of devices, which their owners make."""
    for fabric in cluster.device_fabrics:
        if fabric.network:
            name = fabric.network.rpartition("/")[2]
            yield f"{ATTACHMENT}/{name}", fabric.at / "network"


def _nvlink(cluster: Cluster) -> Iterator[tuple[str, Pointer]]:
    """Yield the driver that gives pods NVLink to other nodes."""
    for pool in cluster.pools:
        if pool.has_nvlink:
            yield f"{DRIVER}/{pool.name}", pool.at / "nvlink"


def _topology(cluster: Cluster) -> Iterator[tuple[str, Pointer]]:
    """Yield the labels that say where nodes are."""
    for topology in cluster.topologies:
        for i, level in enumerate(topology.levels):
            if level != HOSTNAME:
                yield f"NodeLabel/{level}", topology.at / "levels" / i


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

    They may not be in one of a team, as `isolation/platform-in-a-tenant` reports.
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
