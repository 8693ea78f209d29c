"""The dump of a cluster that has this repository's tree: its objects, its nodes, their daemons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainyard.generation.generate import generate
from trainyard.model.hardware import EVICTION_MEMORY, KERNEL_PART, Hardware
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.quantity import format_amount
from trainyard_rehearsal.control_plane.nodes import nodes_of

ROOT = Path(__file__).resolve().parents[2]
Body = dict[str, Any]


def own_site(cluster: str) -> tuple[Site, list[Body]]:
    """Return a cluster of this repository, and all that it has after the first sync."""
    generation = generate(ROOT / "profiles", "../profiles/components")
    platform = generation.checked.platform
    assert platform
    site = next(each for each in platform.sites if each.name == cluster)
    objects = [dict(each.body) for each in generation.manifests[cluster] if each.unit != "samples"]
    return site, [*objects, *_nodes(site), *_ports(site)]


def _nodes(site: Site) -> Iterator[Body]:
    """Yield the nodes of the rehearsal, with what their kernel and kubelet keep, and a daemon."""
    for pool in site.cluster.pools:
        for node in nodes_of(pool):
            capacity, allocatable, daemon = _sizes(pool)
            node["status"] = {"capacity": capacity, "allocatable": allocatable}
            node["status"]["nodeInfo"] = {"architecture": pool.hardware.architecture}
            labels = node["metadata"]["labels"]
            labels["feature.node.kubernetes.io/cpu-hardware_multithreading"] = "true"
            if pool.hardware.gpu:
                product = pool.hardware.gpu.product
                labels["nvidia.com/gpu.product"] = product
            yield node
            yield from _daemons(node["metadata"]["name"], daemon)


def _sizes(pool: Pool) -> tuple[dict[str, str], dict[str, str], dict[str, int]]:
    """Return capacity and allocatable of a node, and what its daemons request in base units."""
    kind = pool.hardware
    kept = kind.withheld
    capacity = _amounts(kind)
    capacity["memory"] -= kind.total.memory // KERNEL_PART
    allocatable = dict(capacity)
    allocatable["cpu"] -= kept.cpu
    allocatable["memory"] -= kind.kubelet.memory + EVICTION_MEMORY
    allocatable["ephemeral-storage"] -= kept.ephemeral_storage
    promised = kind.allocatable
    daemon = {name: allocatable[name] - promised[name] for name in allocatable}
    others = {name: n for name, n in pool.allocatable.items() if name not in allocatable}
    written = [
        {name: format_amount(name, n) for name, n in (each | others).items()}
        for each in (capacity, allocatable)
    ]
    return written[0], written[1], daemon


def _amounts(kind: Hardware) -> dict[str, int]:
    return {
        "cpu": kind.total.cpu,
        "memory": kind.total.memory,
        "ephemeral-storage": kind.total.ephemeral_storage,
        "pods": kind.total.pods,
    }


def _daemons(node: str, daemon: dict[str, int]) -> Iterator[Body]:
    """Yield the daemons of a node: one requests everything, the others only exist."""
    for number in range(daemon["pods"]):
        asked = {name: format_amount(name, n) for name, n in daemon.items() if name != "pods"}
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"daemon-{number}-{node}",
                "namespace": "kube-system",
                "ownerReferences": [
                    {
                        "apiVersion": "apps/v1",
                        "kind": "DaemonSet",
                        "name": "daemon",
                        "uid": "1",
                        "controller": True,
                    }
                ],
            },
            "spec": {
                "nodeName": node,
                "containers": [{"name": "d", "resources": {"requests": {} if number else asked}}],
            },
            "status": {"phase": "Running"},
        }


def _ports(site: Site) -> Iterator[Body]:
    """Yield the state of the ports of each node with rails, as the SR-IOV operator writes it."""
    for pool in site.cluster.pools:
        for node in nodes_of(pool) if pool.rails else ():
            interfaces = [
                {
                    "pciAddress": nic.pci,
                    "vendor": pool.hardware.nic_vendor,
                    "deviceID": pool.hardware.nic_device,
                    **({"name": nic.interface} if nic.interface else {}),
                    "linkSpeed": f"{pool.hardware.link_rate}000 Mb/s",
                }
                for nic in pool.hardware.nics
            ]
            yield {
                "apiVersion": "sriovnetwork.openshift.io/v1",
                "kind": "SriovNetworkNodeState",
                "metadata": {
                    "name": node["metadata"]["name"],
                    "namespace": site.cluster.release.sriov_namespace,
                },
                "status": {"interfaces": interfaces},
            }
