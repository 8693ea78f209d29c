"""Namespaces of daemons and controllers, which the policies of a cluster trust."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.model.accelerator import NVIDIA
from trainyard.model.cluster import Cluster
from trainyard.model.link import INFINIBAND

ACCOUNT = "system:serviceaccount:"
"""User of an account, before its namespace."""

_LATER = ("jobset-system", "mpi-operator")
"""Namespaces of controllers that policies know by a right, and which may come after the tree."""

_PARTITIONS = "nvidia-network-operator"
"""Namespace of ib-kubernetes, whose pod runs on any node
(Mellanox/network-operator:manifests/state-ib-kubernetes/0070-deployment.yaml@011c546)."""


def _unmatched(named: Iterable[str], patterns: Iterable[str]) -> Iterator[str]:
    """Yield the names that no pattern matches."""
    prefixes = tuple(pattern.removesuffix("*") for pattern in patterns if pattern.endswith("*"))
    return (name for name in named if not name.startswith(prefixes))


def daemon_namespaces(cluster: Cluster) -> list[str]:
    """Return the namespaces whose pods may use any node; one that ends with ``*`` is a prefix.

    Only those of programs that this cluster is declared to have: a name that nobody uses is there
    for whoever takes it.
    """
    release = cluster.release
    gpus = (release.gpu_namespace,) if NVIDIA in cluster.makers else ()
    fabrics = (release.sriov_namespace, release.ipam_namespace) if cluster.rail_fabrics else ()
    monitoring = (cluster.monitoring.namespace,) if cluster.monitoring else ()
    partitions = (_PARTITIONS,) if INFINIBAND.name in cluster.links else ()
    named = {*cluster.system_namespaces, *gpus, *fabrics, *partitions, *monitoring} - {""}
    return sorted({*release.system_namespaces, *_unmatched(named, release.system_namespaces)})


def trusted_namespaces(cluster: Cluster) -> list[str]:
    """Return these, and those of controllers that policies exempt or network policies admit.

    Whoever makes one of these before its operator does has its accounts.
    """
    release = cluster.release
    accounts = (name.removeprefix(ACCOUNT).split(":")[0] for name in release.controllers)
    daemons = daemon_namespaces(cluster)
    named = (*accounts, *release.workspace_ingress, *_LATER)
    return sorted({*daemons, *_unmatched(named, daemons)})
