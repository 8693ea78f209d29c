"""Allocatable of a node, and requests of the pod of a whole node."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.model.shapes import PREFIX, fabric, launch, nic, node, nodes, pool
from trainyard.model.hardware import Hardware, Share, least

IB = fabric()
KINDS = st.integers(0, 8).flatmap(lambda gpus: st.lists(nodes(gpus), min_size=1, max_size=4))
"""Node types with the same GPUs, each with a rail of its own."""


@given(nodes())
def test_allocatable_and_system_are_the_whole_node(hardware: Hardware) -> None:
    """No core, byte or pod is lost between what daemons keep and what teams are given."""
    allocatable, total, system = pool(hardware, IB).allocatable, hardware.total, hardware.system

    assert allocatable["cpu"] + system.cpu == total.cpu
    assert allocatable["memory"] + system.memory == total.memory
    assert allocatable["ephemeral-storage"] + system.ephemeral_storage == total.ephemeral_storage
    assert allocatable["pods"] + system.pods == total.pods


@given(nodes(), st.integers(1, 8), st.integers(1, 400), st.integers(1, 8 << 10))
def test_what_kubelet_offers_is_computed_as_it_does(
    hardware: Hardware, cpu: int, gibibytes: int, size: int
) -> None:
    """Less is allocatable than kubelet's settings leave: by a tenth of the disk, 100 MiB, and the
    kernel's part."""
    memory, disk = size * 16 << 30, size * 10 << 30
    kubelet = Share(cpu=cpu * 1000, memory=gibibytes << 30, ephemeral_storage=gibibytes << 30)
    total = replace(hardware.total, memory=memory, ephemeral_storage=disk)
    withheld = replace(hardware, total=total, kubelet=kubelet).withheld

    assert withheld.cpu == kubelet.cpu
    assert withheld.memory == (memory >> 12) * 64 + kubelet.memory + 100 * 1024 * 1024
    assert withheld.ephemeral_storage == (size << 30) + kubelet.ephemeral_storage


@given(nodes(), st.integers(1, 1024))
def test_pod_may_have_64_processes_for_each_cpu(hardware: Hardware, threads: int) -> None:
    """OpenShift's own limit would be 4096 on each node."""
    limit = replace(hardware, threads=threads).pod_pids

    assert limit >= 64 * threads
    assert limit == (16384 if threads <= 256 else 64 * threads)


@given(nodes())
def test_allocatable_has_each_resource_once_in_order(hardware: Hardware) -> None:
    """Kueue's webhook compares the order of resources: it is that of the alphabet, whatever nodes
    have."""
    rails = [f"{PREFIX}/ib_rail_{number}" for number in range(len(hardware.rails))]
    gpu = ["nvidia.com/gpu"] if hardware.gpus else []
    allocatable = pool(hardware, IB).allocatable

    assert list(allocatable) == sorted(["cpu", "memory", *gpu, *rails, "ephemeral-storage", "pods"])
    assert allocatable.get("nvidia.com/gpu", 0) == hardware.gpus
    assert all(allocatable[each] == hardware.virtual_functions for each in rails)


@given(nodes())
def test_allocatable_of_hardware_is_that_of_its_pool_without_rails(hardware: Hardware) -> None:
    """A node without a fabric has no rails; everything else is the same."""
    assert pool(hardware).allocatable == hardware.allocatable
    on = pool(hardware, IB).allocatable
    assert {
        name: amount for name, amount in on.items() if not name.startswith(PREFIX)
    } == hardware.allocatable


@given(nodes())
def test_pod_of_a_whole_node_fits_exactly_once(hardware: Hardware) -> None:
    """It takes all of a node but one function of each rail, so a second never fits beside it."""
    allocatable, pod = pool(hardware, IB).allocatable, launch(hardware, on=IB).per_node
    rails = {name for name in allocatable if name.startswith(f"{PREFIX}/")}

    assert pod.keys() == allocatable.keys() - {"pods"}
    assert all(pod[name] == 1 for name in rails)
    assert all(pod[name] == allocatable[name] for name in pod.keys() - rails)
    assert all(pod[name] <= allocatable[name] for name in pod)
    assert 2 * pod["cpu"] > allocatable["cpu"]


@given(nodes())
def test_allocatable_is_made_anew_each_time(hardware: Hardware) -> None:
    """The pod's demand is cut from a copy: quota keeps its pods."""
    known = pool(hardware, IB)
    before = dict(known.allocatable)
    assert launch(hardware, on=IB).per_node

    assert known.allocatable == before
    assert "pods" in before


@given(nodes())
def test_promised_cores_are_whole_and_all(hardware: Hardware) -> None:
    """Teams get each core of which every thread is free, and no part of another."""
    free_threads = Fraction(hardware.total.cpu - hardware.system.cpu, 1000)
    free_cores = free_threads * hardware.cores / hardware.threads

    assert hardware.promised_cores <= free_cores < hardware.promised_cores + 1


@given(nodes())
def test_rails_are_the_compute_ports_by_gpu(hardware: Hardware) -> None:
    """Ports of storage and management are never among them, and the order is that of the GPUs, not
    of the file."""
    assert [each.gpu for each in hardware.rails] == list(range(len(hardware.rails)))
    assert len(hardware.nics) == len(hardware.rails) + 1


def test_class_of_a_node_depends_on_its_gpus() -> None:
    """The class is the name of the team's LocalQueue."""
    assert [(each.node_class, each.gpus) for each in (node(), node(gpu=None))] == [
        ("gpu", 2),
        ("cpu", 0),
    ]


def test_node_without_rails_has_no_functions() -> None:
    """Functions on ports that are not rails don't exist."""
    assert not [
        name
        for name in pool(node(nics=(nic(0, "storage"),)), IB).allocatable
        if name.startswith(PREFIX)
    ]


@given(KINDS)
def test_pod_for_any_of_several_kinds_fits_each_of_them(kinds: list[Hardware]) -> None:
    """What a pod asks for is there on every kind, to the last byte, or Kueue would admit what can't
    start."""
    pod = launch(least("gpu", kinds), on=IB).per_node

    for kind in kinds:
        allocatable = pool(kind, IB).allocatable
        assert {
            name: amount for name, amount in pod.items() if amount > allocatable.get(name, 0)
        } == {}


@given(KINDS)
def test_pod_for_any_of_several_kinds_asks_for_what_the_smallest_gives(
    kinds: list[Hardware],
) -> None:
    """Of each resource it has all that every kind can give, and of one kind alone exactly that
    kind's pod."""
    pod = launch(least("gpu", kinds), on=IB).per_node
    whole = [launch(kind, on=IB).per_node for kind in kinds]

    assert pod == {name: min(each[name] for each in whole) for name in whole[0]}


@given(KINDS)
def test_ranks_for_any_of_several_kinds_find_their_cores_on_each(kinds: list[Hardware]) -> None:
    """Bound ranks need whole cores: where a core has two threads, the pod's cpus are half as many
    cores."""
    made = least("gpu", kinds)
    assume(made.promised_cores >= max(1, made.gpus))
    pod = launch(made, on=IB, binding="cores")
    cpus = pod.per_node["cpu"] // 1000

    assert pod.cores_per_rank >= 1
    for kind in kinds:
        assert pod.ranks * pod.cores_per_rank <= cpus * kind.cores // kind.threads


@given(KINDS)
def test_least_of_several_kinds_selects_none_of_them(kinds: list[Hardware]) -> None:
    """Its name is the class of node; it has no labels, so pods may land on any; its files are those
    of all kinds."""
    made = least("gpu", kinds)

    assert (made.name, dict(made.labels)) == ("gpu", {})
    assert set(made.files) == {file for kind in kinds for file in kind.files}
    assert len(made.files) == len(set(made.files))


@given(KINDS.flatmap(lambda kinds: st.tuples(st.just(kinds), st.permutations(kinds))))
def test_least_does_not_depend_on_the_order_of_pools(
    orders: tuple[list[Hardware], list[Hardware]],
) -> None:
    """Pools in another order are the same cluster."""
    one, other = (least("gpu", kinds) for kinds in orders)

    assert launch(one, on=IB).per_node == launch(other, on=IB).per_node
    assert one.promised_cores == other.promised_cores
