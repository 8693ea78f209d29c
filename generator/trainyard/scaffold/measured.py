"""Read what nodes say of themselves: the facts of a hardware profile, each with its source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from trainyard.diagnostics import TreeError
from trainyard.model.accelerator import MAKERS, NVIDIA, Maker, known
from trainyard.model.hardware import AMD64, EVICTION_MEMORY, EVICTION_STORAGE, KERNEL_PART
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.providers import PROVIDERS
from trainyard.scaffold.nodes import NUMA, PORTS, Body, Measured, amount, exact, label

_THREADS = "feature.node.kubernetes.io/cpu-hardware_multithreading"
"""Label of NFD, `true` where a core has two threads."""
_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_KEY = re.compile(
    r"([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
)
_OF_KUBERNETES = re.compile(r"([a-z0-9.-]+\.)?(kubernetes|k8s)\.io/.*")
_FABRIC = re.compile(r"rdma/.*|.*/(hostdev|.*rdma.*|.*ib.*vf.*)")
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a hardware profile.

    Args:
        value: as YAML has it on one line.
        source: where it is from, or what to write in its place.
        is_guess: whether no source has it.
    """

    key: str
    value: str
    source: str
    is_guess: bool = False

    @property
    def line(self) -> str:
        """The line, with its comment."""
        mark = "# placeholder: " if self.is_guess else "# "
        return f"{self.key}: {self.value} {mark}{self.source}"


def ports_of(found: Measured) -> Sequence[Body]:
    """Return the ports of the first node, as the SR-IOV operator lists them."""
    return mappings(found.of_kind(PORTS), "status", "interfaces")


def gpus_of(found: Measured) -> int:
    """Return the GPUs of a node, of any maker."""
    return max(found.least("capacity", maker.resource) for maker in MAKERS)


def facts(found: Measured) -> Iterator[Fact]:
    """Yield the facts of nodes in the order of a profile, but for their ports.

    Raises:
        TreeError: the nodes are of several types, or a value is none.
    """
    yield from _processors(found)
    yield from _numa(found)
    yield from _sizes(found)
    yield from _gpus(found)
    yield from _devices(found)
    yield _taint(found)
    yield from _shares(found)


def _of(found: Measured, path: str) -> str:
    return f"{path} of node {found.first}"


def _processors(found: Measured) -> Iterator[Fact]:
    arch = found.common("architecture", _architecture)
    if _LABEL.fullmatch(arch):
        yield Fact("arch", arch, _of(found, "status.nodeInfo.architecture"))
    found.common("CPUs", lambda node: str(amount(node, "capacity", "cpu")))
    threads = found.least("capacity", "cpu")
    two = found.common("threads of a core", lambda node: label(node, _THREADS))
    per_core = 2 if two == "true" or (not two and arch == AMD64) else 1
    product = known(_product(found))
    sockets = product.board.sockets if product and product.board else 2
    known_part = f"threads: {_of(found, 'status.capacity.cpu')}"
    if two:
        known_part += f", cores: its label {_THREADS}"
    value = f"{{sockets: {sockets}, cores: {max(threads // per_core, 1)}, threads: {threads}}}"
    asked = f"sockets and cores, as `lscpu` shows them ({known_part})"
    yield Fact("cpu", value, asked, is_guess=True)


def _architecture(node: Body) -> str:
    return text(node, "status", "nodeInfo", "architecture")


def _numa(found: Measured) -> Iterator[Fact]:
    zones = mappings(found.of_kind(NUMA), "zones")
    count = sum(zone.get("type") == "Node" for zone in zones)
    if count:
        yield Fact("numaNodes", str(count), f"zones of {NUMA} {found.first}")
    else:
        yield Fact("numaNodes", "2", "the NUMA nodes of one node, as `lscpu` shows", is_guess=True)


def _sizes(found: Measured) -> Iterator[Fact]:
    names = {"memory": "memory", "ephemeralStorage": "ephemeral-storage"}
    for key, resource in names.items():
        size = found.least("capacity", resource) // _GIB
        if not size:
            where = f"`status.capacity.{resource}`"
            raise TreeError(f"node {found.first} has no {where} of 1Gi or more")
        source = _of(found, f"status.capacity.{resource}")
        less = ", less than installed" if key == "memory" else ""
        yield Fact(key, f"{size}Gi", source + less)
    yield Fact("pods", str(found.least("capacity", "pods")), _of(found, "status.capacity.pods"))


def _gpus(found: Measured) -> Iterator[Fact]:
    for maker in MAKERS:
        resource = maker.resource

        def count_of(node: Body, resource: str = resource) -> str:
            return str(amount(node, "capacity", resource))

        count = int(found.common(f"`{resource}`", count_of))
        if not count:
            continue
        product = _product(found)
        named = "" if maker is NVIDIA else f", resource: {resource}"
        source = f"label {_product_label(maker)} and {_of(found, 'status.capacity')}"
        if _LABEL.fullmatch(product):
            yield Fact("gpu", f"{{product: {product}, count: {count}{named}}}", source)
        else:
            value = f"{{product: NVIDIA-H100-80GB-HBM3, count: {count}{named}}}"
            asked = f"the product: no node has the label {_product_label(maker)}"
            yield Fact("gpu", value, asked, is_guess=True)


def _product_label(maker: Maker) -> str:
    return maker.label or f"{maker.resource}.product-name"


def _product(found: Measured) -> str:
    """Return the product of the GPUs, by the label of any maker; empty without one."""
    keys = [_product_label(maker) for maker in MAKERS]

    def of(node: Body) -> str:
        return next(filter(None, (label(node, key) for key in keys)), "")

    return found.common("the product of their GPUs", of)


def _devices(found: Measured) -> Iterator[Fact]:
    """Yield the devices of fabrics that a plugin advertises."""
    names = filter(_is_of_fabric, sorted(mapping(found.nodes[0], "status", "allocatable")))
    devices = {name: found.least("allocatable", name) for name in names}
    listed = ", ".join(f"{name}: {count}" for name, count in devices.items() if count)
    if listed:
        yield Fact("devices", f"{{{listed}}}", _of(found, "status.allocatable"))


def _is_of_fabric(resource: str) -> bool:
    """Return whether an extended resource is known, or named, as a fabric's."""
    fixed = {provider.devices for provider in PROVIDERS.values()} - {""}
    is_named = _KEY.fullmatch(resource) and _FABRIC.fullmatch(resource)
    return resource in fixed or is_named is not None


def _taint(found: Measured) -> Fact:
    taints = mappings(found.nodes[0], "spec", "taints")
    for taint in taints:
        key = str(taint.get("key", ""))
        own = _KEY.fullmatch(key) and not _OF_KUBERNETES.fullmatch(key)
        if own and taint.get("effect") == "NoSchedule":
            return Fact("taint", key, _of(found, "spec.taints"))
    asked = f"the taint of these nodes: node {found.first} has none that keeps other pods off"
    return Fact("taint", NVIDIA.resource, asked, is_guess=True)


def _shares(found: Measured) -> Iterator[Fact]:
    """Yield what kubelet keeps, and what daemons may request beside it.

    Allocatable is less than the capacity by what it reserves and by what it evicts pods for.
    """
    node = found.nodes[0]
    memory, disk = (amount(node, "capacity", name) for name in ("memory", "ephemeral-storage"))
    evicted = int(disk * EVICTION_STORAGE)
    kept_memory = _withheld(node, "memory") - EVICTION_MEMORY
    kept_disk = _withheld(node, "ephemeral-storage") - evicted
    cpu = max(ceil(_withheld(node, "cpu")), 1)
    own = [_gib(kept_memory), _gib(kept_disk)]
    with_daemons = [own[0] + _gib(memory // KERNEL_PART) + 64, own[1] + _gib(evicted) + 64]
    value = f"{{cpu: {cpu + 8}, {_sizes_of(with_daemons)}, pods: 40}}"
    asked = "kubelet's share, the kernel's, and what `kubectl describe node` shows of daemons"
    yield Fact("system", value, asked, is_guess=True)
    less = f"capacity less allocatable of node {found.first}, without what it evicts pods for"
    yield Fact("kubelet", f"{{cpu: {cpu}, {_sizes_of(own)}}}", less)


def _withheld(node: Body, resource: str) -> Fraction:
    return exact(node, "capacity", resource) - exact(node, "allocatable", resource)


def _gib(size: Fraction | int) -> int:
    """Return an amount in GiB, rounded up; at least 1."""
    return max(ceil(Fraction(size) / _GIB), 1)


def _sizes_of(sizes: Sequence[int]) -> str:
    return f"memory: {sizes[0]}Gi, ephemeralStorage: {sizes[1]}Gi"
