"""The cluster's nodes, as KWOK keeps them: what the profiles say that a node is, and no kubelet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainyard.model.fabric import HOSTNAME
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.endpoint import ADMIN, Endpoint
from trainyard_rehearsal.control_plane.processes import LOOPBACK, free_ports

_FAKE = ("kwok.x-k8s.io/node", "fake")
"""What says that a node is KWOK's: kind has a real one beside them."""

_STAGES = (
    "node/fast/node-initialize",
    "node/heartbeat-with-lease/node-heartbeat-with-lease",
    "pod/fast/pod-ready",
    "pod/fast/pod-delete",
)
"""Of KWOK, without ``pod-complete``: jobs would end at once."""


def start_kwok(place: Endpoint) -> None:
    """Start what plays the kubelet of every fake node.

    Raises:
        ToolError: it can't be started.
    """
    stages = place.folder / "stages.yaml"
    stages.write_text(
        "---\n".join(_stages(place.built.manifests["kwok"] / "stage")), encoding="utf-8"
    )
    (port,) = free_ports(1)
    arguments = [
        *("--kubeconfig", str(place.kubeconfig(ADMIN)), "--config", str(stages)),
        *(
            "--manage-nodes-with-annotation-selector",
            "=".join(_FAKE),
            "--node-lease-duration-seconds",
            "40",
        ),
        *("--server-address", f"{LOOPBACK}:{port}"),
    ]
    place.processes.start(place.built.programs["kwok"], arguments)


def _stages(folder: Path) -> Iterator[str]:
    yield from (
        f"{(folder / f'{name}.yaml').read_text(encoding='utf-8').rstrip()}\n" for name in _STAGES
    )


def nodes(site: Site) -> Iterator[Body]:
    """Yield every node of a cluster: allocatable, labels and taints as its pool's profile says."""
    for pool in site.cluster.pools:
        for number in range(pool.nodes):
            yield _node(pool, number)


def _node(pool: Pool, number: int) -> Body:
    name = f"{pool.name}-{number + 1:03}"
    taint = pool.hardware.taint
    amounts = dict(pool.allocatable_quantities)
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
            "annotations": dict([_FAKE]),
        },
        "spec": {
            "taints": [{"key": taint, "value": "present", "effect": "NoSchedule"}] if taint else []
        },
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def _levels(pool: Pool, number: int) -> dict[str, str]:
    """Return a node's place in the fabric: leaves are filled in order, of the size that the profile says."""
    if pool.fabric is None:
        return {}
    leaf = number // (pool.fabric.leaf_nodes or pool.nodes)
    levels = [level for level in pool.fabric.levels if level != HOSTNAME]
    return {level: f"{pool.name}-{leaf if level == levels[-1] else 0}" for level in levels}
