"""The cluster's nodes, as KWOK keeps them: what the profiles say that a node is, and no kubelet."""

from __future__ import annotations

from collections.abc import Iterator

from generator.model.fabric import HOSTNAME
from generator.model.platform import Site
from generator.model.pool import Pool
from generator.rehearse.api import Body


def nodes(site: Site) -> Iterator[Body]:
    """Yield every node of a cluster: allocatable, labels and taints as its pool's profile says."""
    for pool in site.cluster.pools:
        for number in range(pool.nodes):
            yield _node(pool, number)


def _node(pool: Pool, number: int) -> Body:
    name = f"{pool.name}-{number + 1:03}"
    taint = pool.hardware.taint
    amounts = dict(pool.worth_quantities)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/os": "linux",
                **pool.hardware.labels,
                **_levels(pool, number),
                HOSTNAME: name,
            },
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "spec": {"taints": [{"key": taint, "value": "present", "effect": "NoSchedule"}] if taint else []},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def _levels(pool: Pool, number: int) -> dict[str, str]:
    """Return a node's place in the fabric: leaves are filled in order, of the size that the profile says."""
    if pool.fabric is None:
        return {}
    leaf = number // (pool.fabric.leaf_nodes or pool.nodes)
    levels = [level for level in pool.fabric.levels if level != HOSTNAME]
    return {level: f"{pool.name}-{leaf if level == levels[-1] else 0}" for level in levels}
