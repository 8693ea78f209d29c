"""What a node is worth, and what the pod of a whole node asks for."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given

from generator.model.hardware import Hardware
from tests.model.shapes import nic, node, nodes

PREFIX = "example.io"


@given(nodes())
def test_worth_and_system_are_the_whole_node(hardware: Hardware) -> None:
    """No core, byte or pod is lost between what daemons keep and what teams are given."""
    worth, total, system = hardware.worth(PREFIX), hardware.total, hardware.system

    assert worth["cpu"] + system.cpu == total.cpu
    assert worth["memory"] + system.memory == total.memory
    assert worth["ephemeral-storage"] + system.ephemeral_storage == total.ephemeral_storage
    assert worth["pods"] + system.pods == total.pods


@given(nodes())
def test_worth_has_each_resource_once_in_order(hardware: Hardware) -> None:
    """Kueue's webhook compares the order of resources: GPUs, then rails by number, between cpu and pods."""
    rail = hardware.name.replace("-", "_")
    rails = [f"{PREFIX}/{rail}_rail_{number}" for number in range(len(hardware.rails))]
    gpu = ["nvidia.com/gpu"] if hardware.gpus else []
    worth = hardware.worth(PREFIX)

    assert list(worth) == ["cpu", "memory", *gpu, *rails, "ephemeral-storage", "pods"]
    assert worth.get("nvidia.com/gpu", 0) == hardware.gpus
    assert all(worth[each] == hardware.virtual_functions for each in rails)


@given(nodes())
def test_pod_of_a_whole_node_fits_exactly_once(hardware: Hardware) -> None:
    """It takes all of a node but one function of each rail, so a second never fits beside it."""
    worth, pod = hardware.worth(PREFIX), hardware.whole_node_pod(PREFIX)
    rails = {name for name in worth if name.startswith(f"{PREFIX}/")}

    assert pod.keys() == worth.keys() - {"pods"}
    assert all(pod[name] == 1 for name in rails)
    assert all(pod[name] == worth[name] for name in pod.keys() - rails)
    assert all(pod[name] <= worth[name] for name in pod)
    assert 2 * pod["cpu"] > worth["cpu"]


@given(nodes())
def test_worth_is_made_anew_each_time(hardware: Hardware) -> None:
    """The pod's demand is cut from a copy: quota keeps its pods."""
    before = hardware.worth(PREFIX)
    hardware.whole_node_pod(PREFIX)

    assert hardware.worth(PREFIX) == before
    assert "pods" in before


@given(nodes())
def test_promised_cores_are_whole_and_all(hardware: Hardware) -> None:
    """Teams get each core of which every thread is free, and no part of another."""
    free_threads = Fraction(hardware.total.cpu - hardware.system.cpu, 1000)
    free_cores = free_threads * hardware.cores / hardware.threads

    assert hardware.promised_cores <= free_cores < hardware.promised_cores + 1


@given(nodes())
def test_rails_are_the_compute_ports_by_gpu(hardware: Hardware) -> None:
    """Ports of storage and management are never among them, and the order is that of the GPUs, not of the file."""
    assert [each.gpu for each in hardware.rails] == list(range(len(hardware.rails)))
    assert len(hardware.nics) == len(hardware.rails) + 1


def test_class_of_a_node_is_told_by_its_gpus() -> None:
    """The class is the name of the team's LocalQueue."""
    assert [(each.node_class, each.gpus) for each in (node(), node(gpu=None))] == [("gpu", 2), ("cpu", 0)]


def test_node_without_rails_is_worth_no_functions() -> None:
    """Functions on ports that are no rails don't exist."""
    assert not [name for name in node(nics=(nic(0, "storage"),)).worth(PREFIX) if name.startswith(PREFIX)]
