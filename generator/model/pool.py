"""Nodes of one kind in one cluster, the fabric between their rails, and what the platform sets on them."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from ipaddress import IPv4Network

from generator.diagnostics import Pointer
from generator.model import names
from generator.model.hardware import Hardware, Nic
from generator.model.quantity import format_amount, format_bytes, format_cpu


@dataclass(frozen=True, slots=True)
class Fabric:
    """A network between the nodes' rails.

    Args:
        first_partition, last_partition: InfiniBand pkeys that teams may be given, inclusive.
        addresses: range that teams' blocks come from.
        block: prefix length of one team's block.
        levels: node labels from the top of the topology down; the host itself is added.
        leaf_nodes: nodes below one switch of the lowest level.
    """

    name: str
    at: Pointer
    link: str
    first_partition: int
    last_partition: int
    addresses: IPv4Network
    block: int
    levels: tuple[str, ...]
    leaf_nodes: int

    @property
    def topology_levels(self) -> tuple[dict[str, str], ...]:
        """Levels of the Kueue Topology; the host name may only stand last."""
        return tuple({"nodeLabel": label} for label in (*self.levels, "kubernetes.io/hostname"))


@dataclass(frozen=True, slots=True)
class Pool:
    """N nodes of one hardware profile in one cluster; ``reserve`` of them are promised to nobody.

    Args:
        prefix: of the release's SR-IOV resources.
    """

    name: str
    at: Pointer
    hardware: Hardware
    fabric: Fabric | None
    nodes: int
    reserve: int
    prefix: str

    @property
    def promised(self) -> int:
        """Nodes that teams may be given."""
        return self.nodes - self.reserve

    @property
    def topology(self) -> str:
        """Level asked for as preferred: ranks that talk stay below one switch of the lowest level when they can."""
        if self.fabric is None:
            return ""
        return self.fabric.levels[-1] if self.fabric.levels else "kubernetes.io/hostname"

    @property
    def rails(self) -> tuple[Rail, ...]:
        """The compute ports of these nodes; none without a fabric."""
        nics = self.hardware.rails if self.fabric else ()
        return tuple(Rail(self, index, nic) for index, nic in enumerate(nics))

    @property
    def machine_labels(self) -> dict[str, str]:
        """Labels of the MachineConfigPool and of the MachineConfigs that it collects."""
        return {"app.kubernetes.io/managed-by": "trainyard", **self.machine_selector}

    @property
    def machine_selector(self) -> dict[str, str]:
        """What finds this pool's MachineConfigPool."""
        return {"machineconfiguration.openshift.io/role": self.name}

    @property
    def machine_roles(self) -> tuple[str, str]:
        """Whose MachineConfigs these nodes take: every worker's and their own."""
        return ("worker", self.name)

    @property
    def node_role(self) -> dict[str, str]:
        """Label that the owner of the nodes puts on them."""
        return {f"node-role.kubernetes.io/{self.name}": ""}

    @property
    def memlock_name(self) -> str:
        """Name of the MachineConfig; the number orders it after the platform's own."""
        return f"99-{self.name}-memlock"

    @property
    def memlock_source(self) -> str:
        """Content of the CRI-O drop-in as Ignition wants it."""
        content = '[crio.runtime]\ndefault_ulimits = ["memlock=-1:-1"]\n'
        return f"data:text/plain;charset=utf-8;base64,{b64encode(content.encode()).decode()}"

    @property
    def worth_quantities(self) -> dict[str, str]:
        """What one of these nodes is promised to give, as quantities."""
        worth = self.hardware.worth(self.prefix)
        return {name: format_amount(name, amount) for name, amount in worth.items()}

    @property
    def system_reserved(self) -> dict[str, str]:
        """What kubelet sets aside, so that a node's allocatable is what quota was computed from."""
        share = self.hardware.kubelet
        return {
            "cpu": format_cpu(share.cpu),
            "ephemeral-storage": format_bytes(share.ephemeral_storage),
            "memory": format_bytes(share.memory),
        }


@dataclass(frozen=True, slots=True)
class Rail:
    """One compute port of every node of a pool."""

    pool: Pool
    index: int
    nic: Nic

    @property
    def policy_name(self) -> str:
        """Name of the SriovNetworkNodePolicy."""
        return names.node_policy(self.pool.name, self.index)

    @property
    def resource_name(self) -> str:
        """Name of the VF resource, without prefix."""
        return names.rail_resource(self.pool.hardware.name, self.index)

    @property
    def root_devices(self) -> tuple[str]:
        """PCI address, as the policy's selector wants it."""
        return (self.nic.pci,)
