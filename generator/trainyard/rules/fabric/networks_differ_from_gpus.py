"""Compare the networks in which a pod gets interfaces with the GPUs of its node."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check

RULE = Rule(
    id="fabric/networks-differ-from-gpus",
    severity=Severity.ERROR,
    summary="""
        A fabric of interfaces has a network for each GPU of a node: such machines have a port for
        each.
    """,
    # GoogleCloudPlatform/cluster-toolkit:examples/gke-a3-ultragpu@1047080: eight networks for
    # eight GPUs. NVIDIA/cluster-readiness-engine: nodes advertise each network as a resource.
    why="""
        With a network too few, a GPU has no port of its own, and every collective operation waits
        for it. With one too many, pods request a network that no node has, and stay Pending.
    """,
    fix="""
        List the `Network` of each port of the node pool, in the order of the ports: `kubectl get
        networks.networking.gke.io`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for pool in site.cluster.pools:
            fabric = pool.device_fabric
            if fabric and fabric.networks and len(fabric.networks) != pool.hardware.gpus:
                message = (
                    f"fabric `{fabric.name}` has {counted(len(fabric.networks), 'network')}, and "
                    f"a node of pool `{pool.name}` has {counted(pool.hardware.gpus, 'GPU')}"
                )
                notes = [Note("the GPUs are stated here", pool.hardware.stated("gpu", "count"))]
                yield RULE.at(fabric.at / "networks", message, notes=notes)


CHECK = Check(RULE, find)
