"""A runtime on some nodes: what becomes a ClusterTrainingRuntime."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from trainyard.model import names
from trainyard.model.fabric import DeviceFabric, Fabric, RailFabric
from trainyard.model.hardware import Hardware, Share
from trainyard.model.release import Release
from trainyard.model.runtime import Runtime
from trainyard.model.topology import Topology


@dataclass(frozen=True, slots=True)
class Launch:
    """A runtime on the nodes of one hardware profile, or of several that it may be given in turn.

    Args:
        hardware: of the nodes; of several kinds, the least that all of them give.
        fabric: that the nodes are on; None where they are on none.
        topology: by which Kueue places its pods; None where it counts nodes only.
        has_nvlink: whether NVLink connects the nodes, for jobs of several.
        part: of a node that one pod asks for.
        owner: namespace whose networks it attaches to; empty where they have the same names in
            every namespace.
        domain: prefix of our own labels and annotations.
        fips: whether the nodes run in FIPS mode.
    """

    runtime: Runtime
    hardware: Hardware
    fabric: Fabric | None
    topology: Topology | None
    has_nvlink: bool
    release: Release
    part: Fraction
    owner: str
    domain: str
    fips: bool

    @property
    def name(self) -> str:
        """Name of the ClusterTrainingRuntime."""
        return names.runtime(self.runtime.family, self.runtime.version, self.nodes, self.owner)

    @property
    def nodes(self) -> str:
        """Name of the nodes of its pods: a hardware profile, a class of node, a part of a node."""
        if self.part == 1:
            return self.hardware.name
        parts = self.hardware.parts
        size = int(self.hardware.units(parts) * self.part)
        return f"{self.hardware.name}-{size}{parts.noun.lower()}"

    @property
    def files(self) -> tuple[str, ...]:
        """The profile files that made it."""
        return (self.runtime.at.file, *self.hardware.files)

    @property
    def rails(self) -> range:
        """Rails that a pod attaches to, by number."""
        return range(len(self.hardware.rails) if isinstance(self._used, RailFabric) else 0)

    @property
    def rdma(self) -> Fabric | None:
        """The fabric over which ranks talk by RDMA; None where they use sockets."""
        on_rails = isinstance(self._used, RailFabric)
        return None if on_rails and not self.rails else self._used

    @property
    def claims_nvlink(self) -> bool:
        """Return whether each pod claims NVLink to those on other nodes.

        Not on a part of a node: a node is in one domain, and its other parts may be of other teams
        (kubernetes-sigs/dra-driver-nvidia-gpu#353).
        """
        return self.has_nvlink and self.runtime.uses_rdma and self.part == 1

    @property
    def takes_resources(self) -> bool:
        """Return whether a job may state its pods' resources, as long as they are these.

        Trainer would give them to a small launcher alone, and drops claims
        (kubeflow/trainer:pkg/runtime/core/trainingruntime.go@v2.3.0).
        """
        return not (self.runtime.small_launcher or self.claims_nvlink)

    @property
    def most_nodes(self) -> int:
        """Nodes of the largest job: the runtime's, and of one domain of NVLink."""
        product, most = self.hardware.product, self.runtime.max_nodes
        if not self.claims_nvlink or product is None or product.nvlink_nodes == 1:
            return most
        stated = self.topology.leaf_nodes if self.topology else 0
        return min(most, stated or product.nvlink_nodes)

    @property
    def ports(self) -> int:
        """Ports of fabrics that a pod has; 0 where it has none, or slots do not tell."""
        used = self._used
        return used.ports(self.hardware) if isinstance(used, DeviceFabric) else len(self.rails)

    @property
    def _used(self) -> Fabric | None:
        return self.fabric if self.runtime.uses_rdma else None

    @property
    def gpus(self) -> int:
        """GPUs of a pod."""
        # Pages and rules ask for it a hundred times for each team: multiplying fractions is slow.
        return self.hardware.gpus * self.part.numerator // self.part.denominator

    @property
    def cores(self) -> int:
        """Whole cores of a pod."""
        return self.per_node["cpu"] // 1000 * self.hardware.cores // self.hardware.threads

    @property
    def ranks(self) -> int:
        """Ranks of a pod: its part of the runtime's, or one a GPU, or one a core."""
        if self.runtime.ranks:
            return max(int(self.runtime.ranks * self.part), 1)
        return self.gpus or self.cores

    @property
    def most_ranks(self) -> int:
        """Ranks that a pod has room for: one a core where they are bound, or one a thread."""
        return self.cores if self.runtime.binds else self.per_node["cpu"] // 1000

    @property
    def cores_per_rank(self) -> int:
        """Cores that each rank is bound to."""
        return self.cores // self.ranks

    @property
    def threads_per_rank(self) -> int:
        """Hardware threads that each rank needs in its pod.

        Open MPI 5 silently leaves out ranks that have fewer.
        """
        return (
            self.cores_per_rank * self.hardware.threads // self.hardware.cores
            if self.runtime.binds
            else 1
        )

    @property
    def per_node(self) -> dict[str, int]:
        """Requests of a pod of ranks, in base units: its part of a node, and the fabric's devices.

        Requests of the job's steps are subtracted: Kueue counts them beside the ranks from the
        beginning, and otherwise the largest job would never fit its quota, nor the steps the job's
        nodes (seen with Kueue 0.16.2). So are those of a small launcher, of every runtime: it may
        run beside the ranks of another job.
        """
        ask = {}
        for name, amount in self.hardware.allocatable.items():
            if name != "pods":
                ask[name] = int(amount * self.part)
        # The CPU manager gives cores of its own only to a pod that asks for an integer of cpus.
        ask["cpu"] = ask["cpu"] // 1000 * 1000 - self.helpers.cpu
        ask["memory"] -= self.helpers.memory
        return dict(sorted((ask | self._devices).items()))

    @property
    def _devices(self) -> dict[str, int]:
        """Devices of the fabric that a pod requests: one VF of each rail, or what it is given."""
        used = self._used
        if isinstance(used, DeviceFabric):
            return used.requested(self.hardware, self.part)
        if isinstance(used, RailFabric):
            prefix, stem = self.release.resource_prefix, used.resources
            return {f"{prefix}/{names.rail_resource(stem, rail)}": 1 for rail in self.rails}
        return {}

    @property
    def helpers(self) -> Share:
        """Requests of the small pods beside one of ranks: of the steps, and of a small launcher."""
        small, steps = self.hardware.launcher, self.runtime.initializers
        return Share(
            small.cpu + sum(step.cpu for step in steps),
            small.memory + sum(step.memory for step in steps),
        )

    @property
    def volume(self) -> str:
        """Claim that steps and ranks share; empty without steps."""
        return next((step.volume for step in self.runtime.initializers), "")

    @property
    def returns_after_steps(self) -> bool:
        """Return whether a job that is evicted after its steps can be admitted again.

        Not every Kueue places the pods that are left.
        """
        return not (self.volume and self.topology) or "steps-return" in self.release.features

    @property
    def longest_job_name(self) -> int:
        """Characters that a TrainJob's name may have; a job with more is admitted and never starts.

        Its pods are ``<job>-<role>-0-<index>-xxxxx``, at most 63: 44 with ``launcher``, 33 with
        ``dataset-initializer`` (seen with JobSet 0.11.0).
        """
        roles = [f"node-0-{self.runtime.max_nodes - 1}"]
        roles += [f"{step.name}-0-0" for step in self.runtime.initializers]
        if self.runtime.launcher.mpi:
            roles.append("launcher-0-0")
        return names.LABEL_BUDGET - len("--xxxxx") - max(map(len, roles))

    @property
    def node_selector(self) -> dict[str, str]:
        """Labels of the nodes, where a queue may have others too; none where any will do."""
        return dict(self.hardware.labels)

    @property
    def is_grouped(self) -> bool:
        """Return whether Kueue places launcher and nodes as one group, not one after the other."""
        several = len(self.runtime.roles) > 1
        return self.topology is not None and self.release.groups_podsets and several

    @property
    def is_placed_as_one(self) -> bool:
        """Return whether Kueue gives all pods one flavor.

        Where it chooses for launcher, nodes or steps apart, a job that may have several flavors and
        finds room for a part of itself is tried again at once, without end, and no job behind it is
        considered (kubernetes-sigs/kueue#3710; seen with Kueue 0.16.2).
        """
        one = self.is_grouped or len(self.runtime.roles) == 1
        return one and not self.runtime.initializers
