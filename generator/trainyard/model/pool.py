"""Nodes of one kind in one cluster, and what the platform sets on them."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.fabric import Fabric
from trainyard.model.hardware import Hardware, Nic
from trainyard.model.quantity import format_amount, format_bytes, format_cpu


@dataclass(frozen=True, slots=True)
class Pool:
    """N nodes of one hardware profile in one cluster; ``reserve`` of them are promised to nobody.

    Args:
        preference: pools of one queue are tried in this order, the lowest first.
        prefix: of the release's SR-IOV resources.
    """

    name: str
    at: Pointer
    hardware: Hardware
    fabric: Fabric | None
    nodes: int
    reserve: int
    preference: int
    prefix: str

    @property
    def promised(self) -> int:
        """Nodes that teams may be given."""
        return max(self.nodes - self.reserve, 0)

    @property
    def rails(self) -> tuple[Rail, ...]:
        """The compute ports of these nodes; none without a fabric."""
        if self.fabric is None:
            return ()
        return tuple(
            Rail(self, self.fabric, index, nic) for index, nic in enumerate(self.hardware.rails)
        )

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
    def memlock_name(self) -> str:
        """Name of the MachineConfig; the number orders it after the platform's own."""
        return f"99-{self.name}-memlock"

    @property
    def memlock_source(self) -> str:
        """Content of the CRI-O drop-in as Ignition wants it."""
        content = '[crio.runtime]\ndefault_ulimits = ["memlock=-1:-1"]\n'
        return f"data:text/plain;charset=utf-8;base64,{b64encode(content.encode()).decode()}"

    @property
    def allocatable(self) -> dict[str, int]:
        """What one node of quota is worth, in base units: all that the system leaves, and each rail's VFs."""
        rails = {
            f"{self.prefix}/{rail.resource_name}": self.hardware.virtual_functions
            for rail in self.rails
        }
        return dict(sorted({**self.hardware.allocatable, **rails}.items()))

    @property
    def allocatable_quantities(self) -> dict[str, str]:
        """What one of these nodes is promised to give, as quantities."""
        return {name: format_amount(name, amount) for name, amount in self.allocatable.items()}

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
    fabric: Fabric
    index: int
    nic: Nic

    @property
    def policy_name(self) -> str:
        """Name of the SriovNetworkNodePolicy."""
        return names.node_policy(self.pool.name, self.index)

    @property
    def resource_name(self) -> str:
        """Name of the VF resource, without prefix."""
        return names.rail_resource(self.fabric.resources, self.index)

    @property
    def root_devices(self) -> tuple[str]:
        """PCI address, as the policy's selector wants it."""
        return (self.nic.pci,)
