"""Views of a node pool and its rails."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass

from trainyard.model.pool import Pool, Rail
from trainyard.model.quantity import format_bytes, format_cpu


@dataclass(frozen=True, slots=True)
class PoolView:
    """A node pool, as templates read it."""

    pool: Pool

    @property
    def machine_labels(self) -> dict[str, str]:
        """Labels of the MachineConfigPool and of the MachineConfigs that it collects."""
        return {"app.kubernetes.io/managed-by": "trainyard", **self.machine_selector}

    @property
    def machine_selector(self) -> dict[str, str]:
        """Label that selects this pool's MachineConfigPool."""
        return {"machineconfiguration.openshift.io/role": self.pool.name}

    @property
    def machine_roles(self) -> tuple[str, str]:
        """Roles whose MachineConfigs these nodes take: every worker's and their own."""
        return ("worker", self.pool.name)

    @property
    def memlock_name(self) -> str:
        """Name of the MachineConfig; the number orders it after the platform's own."""
        return f"99-{self.pool.name}-memlock"

    @property
    def memlock_source(self) -> str:
        """Content of the CRI-O drop-in as Ignition wants it."""
        content = '[crio.runtime]\ndefault_ulimits = ["memlock=-1:-1"]\n'
        return f"data:text/plain;charset=utf-8;base64,{b64encode(content.encode()).decode()}"

    @property
    def system_reserved(self) -> dict[str, str]:
        """Share of kubelet: without it a node's allocatable would differ from the quota's."""
        share = self.pool.hardware.kubelet
        return {
            "cpu": format_cpu(share.cpu),
            "ephemeral-storage": format_bytes(share.ephemeral_storage),
            "memory": format_bytes(share.memory),
        }

    @property
    def kubelet_leaves(self) -> str:
        """CPUs that kubelet offers to pods, daemons included."""
        hardware = self.pool.hardware
        return format_cpu(hardware.total.cpu - hardware.withheld.cpu)

    @property
    def left_for_daemons(self) -> str:
        """CPUs that daemons may request beside jobs of whole nodes."""
        hardware = self.pool.hardware
        return format_cpu(hardware.system.cpu - hardware.withheld.cpu)

    @property
    def rail_devices(self) -> dict[str, str]:
        """RDMA device of each rail, by PCI address; none where the profile states none."""
        return {rail.nic.pci: rail.nic.device for rail in self.pool.rails if rail.nic.device}

    @property
    def rail_globs(self) -> str:
        """Folders with the RDMA devices of the rails, as a shell finds them."""
        return " ".join(f"{pci}/infiniband/*" for pci in self.rail_devices)


@dataclass(frozen=True, slots=True)
class RailView:
    """A compute port of every node of a pool, as templates read it."""

    rail: Rail

    @property
    def root_devices(self) -> tuple[str]:
        """PCI address, as the policy's selector wants it."""
        return (self.rail.nic.pci,)
