"""A node type: its hardware, the shares of its daemons, and its allocatable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

from trainyard.diagnostics import Pointer
from trainyard.model.accelerator import Maker, Product, known, maker_by
from trainyard.model.unit import Unit

KERNEL_PART = 64
"""The kernel keeps 64 bytes for each page of 4 KiB (linux:include/linux/mm_types.h, struct page):
one part in 64."""

EVICTION_MEMORY = 100 << 20
EVICTION_STORAGE = Fraction(1, 10)
"""kubelet evicts pods when less is free, and offers that much less
(kubernetes:pkg/kubelet/eviction/defaults_linux.go and hardEvictionReservation in
pkg/kubelet/cm/helpers.go, @v1.36.3)."""

AMD64, ARM64 = "amd64", "arm64"
"""Values of the label ``kubernetes.io/arch``."""

PRESETS = "trainyard:presets/"
"""How the files of presets begin, whose facts have a source."""

_MOST_ALIGNED = 8
"""NUMA nodes that kubelet's topology manager takes
(kubernetes:pkg/kubelet/cm/topologymanager/topology_manager.go@v1.36.3)."""

_LEAST_PIDS = 16384
_PIDS_PER_CPU = 64
"""A pod of ranks has data loaders, and libraries that start a thread for each CPU."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """The accelerators of a node.

    Args:
        product: value of the label that the maker's discovery sets, as ``nvidia.com/gpu.product``.
        count: per node.
        resource: extended resource name, e.g. ``nvidia.com/gpu``.
        minimum_cuda: first CUDA version that knows the GPU, e.g. ``11.8``; empty without CUDA.
    """

    product: str
    count: int
    resource: str
    minimum_cuda: str


@dataclass(frozen=True, slots=True)
class Nic:
    """One port of a network card.

    Args:
        role: ``rail`` (compute, becomes VFs), ``storage`` or ``management`` (left alone).
        numa: NUMA node that it is on; -1 when the profile doesn't state it.
        gpu: index of the GPU beside a rail; -1 for the others.
    """

    pci: str
    interface: str
    device: str
    numa: int
    role: str
    gpu: int
    at: Pointer


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a node: millicores of cpu, bytes of memory and ephemeral storage, pods."""

    cpu: int
    memory: int
    ephemeral_storage: int = 0
    pods: int = 0


@dataclass(frozen=True, slots=True)
class Hardware:
    """One node type, complete.

    Args:
        architecture: of its processors, as images have it, e.g. ``amd64``.
        cores: physical cores of the node; ``threads`` is what Kubernetes counts as cpu.
        total: capacity of the node.
        system: what the kernel, kubelet and daemon pods keep; never promised to a team.
        launcher: what each pod of ranks leaves on its node for a small launcher; nothing where no
            runtime has one.
        kubelet: the part of ``system`` that kubelet itself reserves (KubeletConfig systemReserved).
        nic_vendor, nic_device: PCI ids of the rail ports, e.g. ``15b3`` and ``1021`` (ConnectX-7).
        link_rate: Gb/s of one rail.
        virtual_functions: VFs of each rail.
        devices: what device plugins of others advertise for fabrics: extended resource -> number.
        labels: what selects such a node.
        taint: key of the NoSchedule taint on it; empty for none.
        files: profile files that define it, most specific first.
        origins: file that states each fact, by its path joined with dots, e.g. ``system.cpu``.
    """

    name: str
    at: Pointer
    files: tuple[str, ...]
    origins: Mapping[str, str]
    architecture: str
    sockets: int
    cores: int
    threads: int
    numa_nodes: int
    total: Share
    system: Share
    launcher: Share
    kubelet: Share
    gpu: Gpu | None
    nics: tuple[Nic, ...]
    nic_vendor: str
    nic_device: str
    link_rate: int
    virtual_functions: int
    devices: Mapping[str, int]
    labels: Mapping[str, str]
    taint: str

    @property
    def node_class(self) -> str:
        """Class of node, and name of the LocalQueue for it."""
        return "gpu" if self.gpu else "cpu"

    @property
    def counted(self) -> str:
        """Resource by which parts of such a node are counted: its GPUs, or ``cpu`` without any."""
        return self.gpu.resource if self.gpu else "cpu"

    @property
    def product(self) -> Product | None:
        """What is known of its GPUs; None without GPUs, or if nothing is."""
        return known(self.gpu.product) if self.gpu else None

    @property
    def maker(self) -> Maker | None:
        """Who makes its GPUs; None without GPUs, or if no known maker does."""
        return maker_by(self.gpu.resource) if self.gpu else None

    def stated(self, *path: str) -> Pointer:
        """Return the place of a fact, which may be in what the profile extends."""
        return Pointer(self.origins.get(".".join(path), self.at.file), path)

    def edited(self, *path: str) -> Pointer:
        """Return the place where a site gives a fact: in its profile, if a preset states it."""
        at = self.stated(*path)
        return self.at.below(path) if at.file.startswith(PRESETS) else at

    @property
    def rails(self) -> tuple[Nic, ...]:
        """The compute ports, in the order of their nearest GPUs."""
        return tuple(
            sorted((nic for nic in self.nics if nic.role == "rail"), key=lambda nic: nic.gpu)
        )

    @property
    def gpus(self) -> int:
        """GPUs of a node; 0 for a CPU node."""
        return self.gpu.count if self.gpu else 0

    @property
    def parts(self) -> Unit:
        """Unit in which teams own parts of a node."""
        return Unit.GPUS if self.gpu else Unit.CORES

    def units(self, unit: Unit) -> int:
        """Return how many units of a quota such a node has; 0 for parts of another kind."""
        if unit is Unit.NODES:
            return 1
        if unit is not self.parts:
            return 0
        return self.gpus if self.gpu else max(self.promised_cores, 0)

    @property
    def withheld(self) -> Share:
        """Resources that a node keeps from pods.

        Its allocatable is its capacity less these, with memory as installed.
        """
        return Share(
            cpu=self.kubelet.cpu,
            memory=self.total.memory // KERNEL_PART + self.kubelet.memory + EVICTION_MEMORY,
            ephemeral_storage=self.kubelet.ephemeral_storage
            + int(self.total.ephemeral_storage * EVICTION_STORAGE),
        )

    @property
    def pod_pids(self) -> int:
        """Processes and threads that a pod may have.

        OpenShift's own limit is 4096, whatever a node has
        (openshift/machine-config-operator:templates/worker/01-worker-kubelet/_base/files/
        kubelet.yaml@release-4.21); kubelet's own is none.
        """
        return max(_LEAST_PIDS, _PIDS_PER_CPU * self.threads)

    @property
    def is_aligned(self) -> bool:
        """Whether kubelet aligns a pod's cores and devices by NUMA node.

        With more NUMA nodes it does not start, and with a higher limit it would try all of their
        combinations (kubernetes/kubernetes#135581, a GB200 with 34).
        """
        return self.numa_nodes <= _MOST_ALIGNED

    @property
    def promised_cores(self) -> int:
        """Whole cores of a node that teams may be given."""
        return (self.total.cpu - self.system.cpu) // 1000 * self.cores // self.threads

    @property
    def rank_cores(self) -> int:
        """Whole cores of a node that one job's ranks may have."""
        return self.promised_cores - self.launcher.cpu // 1000 * self.cores // self.threads

    @property
    def core_nodes(self) -> int:
        """NUMA nodes with cores: on Grace, others are GPU memory alone."""
        others = self.product.memory_nodes * self.gpus if self.product else 0
        return self.numa_nodes - others if others < self.numa_nodes else self.numa_nodes

    @property
    def cores_by_numa(self) -> tuple[int, ...]:
        """Cores that kubelet gives to a pod of a whole node, by NUMA node.

        kubelet keeps its share on the first NUMA node. It divides the pod's cpus evenly if every
        NUMA node has that many left, else it fills the others first
        (kubernetes:pkg/kubelet/cm/cpumanager/cpu_assignment.go@v1.36.3).
        """
        count = self.core_nodes
        whole = self.cores // count
        kept = -(-self.kubelet.cpu * self.cores // (self.threads * 1000))
        even, rest = divmod(self.rank_cores, count)
        if even <= whole - kept:
            return (*[even] * (count - rest), *[even + 1] * rest)
        return (max(self.rank_cores - whole * (count - 1), 0), *[whole] * (count - 1))

    @property
    def allocatable(self) -> dict[str, int]:
        """Allocatable of one node without its rails, in base units."""
        allocatable = {
            "cpu": self.total.cpu - self.system.cpu,
            "ephemeral-storage": self.total.ephemeral_storage - self.system.ephemeral_storage,
            "memory": self.total.memory - self.system.memory,
            "pods": self.total.pods - self.system.pods,
        }
        if self.gpu:
            allocatable[self.gpu.resource] = self.gpu.count
        return allocatable


def least(name: str, kinds: Sequence[Hardware]) -> Hardware:
    """Return the node type that several have in common: a pod that fits it fits each of them.

    Args:
        name: of the type that is made.
        kinds: at least one, all with the same GPUs by count and resource.
    """
    fewest = min(kinds, key=lambda kind: (kind.promised_cores, kind.name))
    # As many cpus are fewer cores where a core has more threads.
    widest = max(kinds, key=lambda kind: (Fraction(kind.threads, kind.cores), kind.name))
    smallest = dict(fewest.allocatable)
    for kind in kinds:
        for resource, amount in kind.allocatable.items():
            smallest[resource] = min(smallest[resource], amount)
    return replace(
        fewest,
        name=name,
        cores=widest.cores,
        threads=widest.threads,
        files=tuple(dict.fromkeys(chain.from_iterable(kind.files for kind in kinds))),
        total=Share(
            fewest.system.cpu + smallest["cpu"],
            fewest.system.memory + smallest["memory"],
            fewest.system.ephemeral_storage + smallest["ephemeral-storage"],
            fewest.system.pods + smallest["pods"],
        ),
        launcher=Share(
            max(kind.launcher.cpu for kind in kinds), max(kind.launcher.memory for kind in kinds)
        ),
        labels={},
    )
