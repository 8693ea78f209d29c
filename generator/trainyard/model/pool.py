"""Nodes of one kind in one cluster, and what the platform sets on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.fabric import DeviceFabric, Fabric, RailFabric
from trainyard.model.hardware import Hardware, Nic
from trainyard.model.maintenance import Maintenance
from trainyard.model.money import Price
from trainyard.model.nvlink import CHANNEL
from trainyard.model.quantity import format_amount, format_nodes
from trainyard.model.state import State
from trainyard.model.topology import Topology


@dataclass(frozen=True)
class Pool:
    """N nodes of one hardware profile in one cluster; no team is given the ``reserve``.

    Args:
        topology: by which Kueue places jobs; None where it counts nodes only.
        preference: pools of one queue are tried in this order, the lowest first.
        prefix: of the release's SR-IOV resources.
        price: of a node-hour; None where the profile states none.
        maintenance: what is out of use, in the profile's order.
        own_labels: of these nodes, beside those of the hardware.
        state: ``active``, ``held`` or ``draining``, of the queues with quota on it.
        has_nvlink: whether jobs use NVLink between its nodes.
    """

    name: str
    at: Pointer
    hardware: Hardware
    fabric: Fabric | None
    topology: Topology | None
    nodes: int
    reserve: int
    preference: int
    prefix: str
    price: Price | None = None
    maintenance: tuple[Maintenance, ...] = ()
    own_labels: Mapping[str, str] = field(default_factory=dict)
    has_nvlink: bool = False
    state: str = "active"

    @property
    def labels(self) -> dict[str, str]:
        """Labels that select the nodes: those of the hardware, then the pool's own."""
        return {**self.hardware.labels, **self.own_labels}

    @property
    def labels_at(self) -> Pointer:
        """Where the labels are stated that tell it from pools of the same hardware."""
        return self.at / "labels" if self.own_labels else self.hardware.stated("labels")

    @property
    def stated(self) -> State:
        """Its state with the place that states it."""
        return State(self.state, self.at / "state", f"pool {self.name}")

    @property
    def promised(self) -> int:
        """Nodes that teams may be given."""
        return max(self.nodes - self.reserve, 0)

    @property
    def out_of_use(self) -> tuple[str, ...]:
        """Names of its nodes in maintenance, sorted."""
        return tuple(sorted(set(chain.from_iterable(window.nodes for window in self.maintenance))))

    @property
    def in_use(self) -> Pool:
        """The pool without its nodes in maintenance; its reserve is the first to take their place.

        An overcommitted pool has no fewer than 0 nodes.
        """
        if not self.maintenance:
            return self
        out = len(self.out_of_use)
        return replace(
            self,
            nodes=max(self.nodes - out, 0),
            reserve=max(self.reserve - out, 0),
            maintenance=(),
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return its fields alone, so that its content does not depend on what was asked of it."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def taken_from(self, team: str) -> int:
        """Return what a team lacks while nodes are in maintenance, in the unit of its quota."""
        return sum(window.taken.get(team, 0) for window in self.maintenance)

    def display(self, nodes: Fraction) -> str:
        """Return a number of its nodes as text, e.g. ``3 nodes and 2 of 8 GPUs``."""
        parts = self.hardware.parts
        return format_nodes(nodes, self.hardware.units(parts), parts.noun)

    @property
    def rail_fabric(self) -> RailFabric | None:
        """The fabric that its rails are plugged into; None where others advertise the devices."""
        return self.fabric if isinstance(self.fabric, RailFabric) else None

    @property
    def device_fabric(self) -> DeviceFabric | None:
        """The fabric whose devices others advertise; None on rails and without a fabric."""
        return self.fabric if isinstance(self.fabric, DeviceFabric) else None

    @cached_property
    def rails(self) -> tuple[Rail, ...]:
        """The compute ports of these nodes that the tree configures."""
        fabric = self.rail_fabric
        if fabric is None:
            return ()
        nics = enumerate(self.hardware.rails)
        return tuple(Rail(self, fabric, index, nic) for index, nic in nics)

    @property
    def ports(self) -> int:
        """Ports of a node for jobs: its rails, or the devices that others advertise."""
        fabric = self.device_fabric
        return fabric.ports(self.hardware) if fabric else len(self.rails)

    @cached_property
    def allocatable(self) -> dict[str, int]:
        """Allocatable of one node, in base units: what the system leaves, and the fabric's devices.

        Those are each rail's VFs, or what others advertise.
        """
        allocatable = dict(self.hardware.allocatable)
        for rail in self.rails:
            allocatable[rail.resource] = self.hardware.virtual_functions
        if fabric := self.device_fabric:
            allocatable |= fabric.counted(self.hardware)
        return dict(sorted(allocatable.items()))

    @property
    def resources(self) -> frozenset[str]:
        """Resources that a node has, also those that no queue counts."""
        fabric = self.device_fabric
        return frozenset((*self.allocatable, *(fabric.advertised_names if fabric else ())))

    @cached_property
    def countable(self) -> dict[str, int]:
        """What quota is counted in: the allocatable, and one claim of NVLink a node."""
        claims = {CHANNEL: 1} if self.has_nvlink else {}
        return dict(sorted((self.allocatable | claims).items()))

    @property
    def allocatable_quantities(self) -> dict[str, str]:
        """The same as quantities."""
        return {name: format_amount(name, amount) for name, amount in self.allocatable.items()}


@dataclass(frozen=True, slots=True)
class Rail:
    """One compute port of every node of a pool."""

    pool: Pool
    fabric: RailFabric
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
    def resource(self) -> str:
        """The VF resource as pods ask for it."""
        return f"{self.pool.prefix}/{self.resource_name}"
