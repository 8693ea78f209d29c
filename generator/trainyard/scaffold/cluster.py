"""Write the profile of a new cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainyard.model.fabric import BLOCK
from trainyard.model.link import LINKS, ROCE, SYSCTL_ALLOWLIST
from trainyard.model.monitoring import AUDIT_LOG, METRICS, OPENSHIFT, PROMETHEUS_OPERATOR, STACKS
from trainyard.model.names import SYSTEM_NAMESPACE
from trainyard.model.release import Release
from trainyard.scaffold.template import filled
from trainyard.yaml_io.scalars import inline

_FABRICS = {"infiniband": "ib", "roce": "roce"}
"""Name of the fabric, by link."""
_SMALLEST_JOB = 2
"""Nodes of the smallest MPI job: one for the launcher, and one more."""
_OPENSHIFT = "pods: 10.128.0.0/14, services: 172.30.0.0/16, machines: 192.0.2.0/24"
_KUBERNETES = "pods: 10.244.0.0/16, services: 10.96.0.0/12, machines: 192.0.2.0/24"
"""The networks that the installers of OpenShift, and of kubeadm with Flannel, propose."""


@dataclass(frozen=True, slots=True)
class NewPool:
    """A node pool of a new cluster.

    Args:
        hardware: name of its hardware profile.
        nodes: at least 2 for an MPI job of several pods, which needs one for its launcher.
        devices: names of the RDMA devices of a node's rails, empty where they vary; none
            without rails.
        functions: virtual functions of each rail.
        gpus: whether its nodes have some of NVIDIA, whose exporter alerts read.
    """

    name: str
    hardware: str
    nodes: int
    devices: tuple[str, ...]
    functions: int
    gpus: bool

    @property
    def reserve(self) -> int:
        """Number of nodes that no team may own, so that quota holds when one is down."""
        return 1 if self.nodes > _SMALLEST_JOB else 0

    @property
    def link(self) -> str:
        """Link of the fabric, empty without rails.

        The kernel's RDMA devices are named after their link layer: linux-rdma/rdma-core:
        kernel-boot/rdma_rename.c.
        """
        if not self.devices:
            return ""
        return "roce" if self.devices[0].startswith("roce") else "infiniband"

    @property
    def block(self) -> int:
        """Prefix length of a team's addresses, so that a team may own every node."""
        # The network's own address and its broadcast address are given to no pod.
        host_bits = (self.nodes * self.functions + 1).bit_length()
        rail_bits = (len(self.devices) - 1).bit_length()
        return min(BLOCK, 32 - host_bits - rail_bits)

    @property
    def line(self) -> str:
        """Its line of the profile."""
        parts = [f"hardware: {inline(self.hardware)}"] if self.hardware != self.name else []
        parts.append(f"nodes: {self.nodes}")
        if self.reserve:
            parts.append(f"reserve: {self.reserve}")
        if self.link:
            parts.append(f"fabric: {_FABRICS[self.link]}")
        reserved = "; quota holds with one down" if self.reserve else ""
        return f"  {inline(self.name)}: {{{', '.join(parts)}}} # placeholder: your nodes{reserved}"


def cluster_profile(release: Release, pools: Sequence[NewPool]) -> bytes:
    """Return the profile of a cluster; its networks, ranges and owners are placeholders."""
    stack = OPENSHIFT if "user-workload-monitoring" in release.features else PROMETHEUS_OPERATOR
    links = [*dict.fromkeys(pool.link for pool in pools if pool.link)]
    values = {
        "release": release.name,
        "pools": "\n".join(pool.line for pool in pools),
        "fabrics": "\n".join(_fabrics(links, pools)),
        "networks": _OPENSHIFT if "projects" in release.features else _KUBERNETES,
        "stack": stack,
        "external": "\n".join(
            (*_external(release, links), *_monitored(STACKS[stack], release, pools))
        ),
    }
    return filled("cluster.yaml", values)


def _fabrics(links: Sequence[str], pools: Sequence[NewPool]) -> Iterator[str]:
    """Yield the lines of the fabrics; none without a link."""
    if links:
        yield "fabrics:"
    for link in links:
        block = min(pool.block for pool in pools if pool.link == link)
        larger = f"    block: {block} # a team may own every node" if block < BLOCK else ""
        yield filled(f"fabrics/{link}.yaml", {"block": block, "larger": larger}).decode()


def _external(release: Release, links: Sequence[str]) -> Iterator[str]:
    """Yield the lines for what the fabrics need and the tree does not define."""
    names: list[str] = []
    for link in links:
        names += [f"{kind}/{_FABRICS[link]}" for kind in LINKS[link].external]
    if ROCE.name in links and "sysctl-allowlist" in release.features:
        names.append(SYSCTL_ALLOWLIST)
    if names:
        names += ["IPReconciler/whereabouts"] if release.ipam == "whereabouts" else []
    for name in names:
        yield f"  {name}: fabric team # placeholder: the owner's name"


def _monitored(reader: str, release: Release, pools: Sequence[NewPool]) -> Iterator[str]:
    """Yield the lines for the keepers of records, the Prometheus, and what it scrapes."""
    metrics = [f"{METRICS}/kube-state-metrics"]
    if any(pool.gpus for pool in pools):
        metrics.insert(0, f"{METRICS}/dcgm-exporter")
    if any(pool.devices for pool in pools):
        metrics.append(f"{METRICS}/node-exporter")
    absent = [name for name in metrics if name not in release.external]
    yield f"  {AUDIT_LOG}/siem: security team # placeholder: the owner's name"
    for name in ("Events/loki", "Logs/loki", f"{reader}/{SYSTEM_NAMESPACE}", *absent):
        yield f"  {name}: monitoring team # placeholder: the owner's name"
