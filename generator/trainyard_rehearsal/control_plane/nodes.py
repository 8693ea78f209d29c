"""The cluster's nodes, simulated by KWOK from the profiles, without kubelets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.topology import HOSTNAME
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.endpoint import ADMIN, Endpoint
from trainyard_rehearsal.control_plane.processes import free_ports

_FAKE = ("kwok.x-k8s.io/node", "fake")
"""Annotation of KWOK's nodes; kind has a real node beside them."""

_STAGES = (
    "node/fast/node-initialize",
    "node/heartbeat-with-lease/node-heartbeat-with-lease",
    "pod/fast/pod-ready",
    "pod/fast/pod-delete",
)
"""Stages of KWOK without ``pod-complete``, with which jobs would end at once."""

LOG = "a line that a rank printed"
"""Log of each container: no program runs in it."""


def start_kwok(endpoint: Endpoint) -> None:
    """Start KWOK, which acts as the kubelet of every fake node.

    Raises:
        ToolError: it can't be started.
    """
    logs = endpoint.folder / "pod.log"
    logs.write_text(f"2026-01-01T00:00:00.000000000Z stdout F {LOG}\n", encoding="utf-8")
    stages = endpoint.folder / "stages.yaml"
    stages.write_text(
        "---\n".join((*_stages(endpoint.built.manifests["kwok"] / "stage"), _logs(logs))),
        encoding="utf-8",
    )
    (port,) = free_ports(1, endpoint.address)
    certificates = endpoint.certificates
    arguments = [
        *("--kubeconfig", str(endpoint.kubeconfig(ADMIN)), "--config", str(stages)),
        *("--manage-nodes-with-annotation-selector", "=".join(_FAKE)),
        *("--node-lease-duration-seconds", "40"),
        *("--server-address", f"{endpoint.address}:{port}"),
        *("--node-ip", endpoint.address, "--node-port", str(port)),
        *("--tls-cert-file", str(certificates.certificate)),
        *("--tls-private-key-file", str(certificates.key)),
    ]
    endpoint.processes.start(endpoint.built.programs["kwok"], arguments)


def _stages(folder: Path) -> Iterator[str]:
    for name in _STAGES:
        text = (folder / f"{name}.yaml").read_text(encoding="utf-8")
        yield f"{text.rstrip()}\n"


def _logs(file: Path) -> str:
    """Return the setting that gives each container a log."""
    body = {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "ClusterLogs",
        "metadata": {"name": "every-container"},
        "spec": {"logs": [{"logsFile": str(file)}]},
    }
    return f"{json.dumps(body)}\n"


def nodes(site: Site) -> Iterator[Body]:
    """Yield every node of a cluster, with allocatable, labels and taints of its pool's profile.

    Those in maintenance have the names of the profile, and are cordoned.
    """
    for pool in site.cluster.pools:
        yield from nodes_of(pool)


def nodes_of(pool: Pool) -> Iterator[Body]:
    """Yield the nodes of a pool."""
    names = [f"{pool.name}-{number + 1:03}" for number in range(pool.in_use.nodes)]
    for number, name in enumerate([*names, *pool.out_of_use]):
        yield _node(pool, number, name)


def _node(pool: Pool, number: int, name: str) -> Body:
    taint = {"key": pool.hardware.taint, "value": "present", "effect": "NoSchedule"}
    amounts = dict(pool.allocatable_quantities)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/arch": pool.hardware.architecture,
                "kubernetes.io/os": "linux",
                **pool.labels,
                **_levels(pool, number),
                HOSTNAME: name,
            },
            "annotations": dict([_FAKE]),
        },
        "spec": {
            "taints": [taint] if pool.hardware.taint else [],
            "unschedulable": name in pool.out_of_use,
        },
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def _levels(pool: Pool, number: int) -> dict[str, str]:
    """Return a node's topology labels; leaves of the profile's size are filled in order."""
    if pool.topology is None:
        return {}
    leaf = number // (pool.topology.leaf_nodes or pool.nodes)
    levels = [level for level in pool.topology.levels if level != HOSTNAME]
    return {level: f"{pool.name}-{leaf if level == levels[-1] else 0}" for level in levels}
