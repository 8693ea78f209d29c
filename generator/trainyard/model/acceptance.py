"""Acceptance tests of a runtime on its nodes: which it can run, and the figures of good nodes.

Each test is a script of `templates/acceptance`, which a job runs with settings from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trainyard.model.fabric import RailFabric
from trainyard.model.launch import Launch
from trainyard.model.launcher import INTEL_MPI
from trainyard.model.link import INFINIBAND

TESTS = ("ranks", "fabric", "nccl", "storage")
"""In the order in which they are run: each needs what the one before it shows."""

_PART = 0.85
"""Part of what the network can carry that an all-reduce must reach."""

_RAIL_PART = 0.9
"""Part of a rail's rate that `ib_write_bw` must reach: 360 of 400 Gb/s, 180 of 200 Gb/s
(Azure/azurehpc-health-checks:conf/nd96isr_h200_v5.conf, nd96amsr_a100_v4.conf@0e0a1ac). They are of
messages of 8 MiB in GPU memory, on the CPUs beside the card
(customTests/azure_ib_write_bw_gdr.nhc there)."""

_GPUS = 8
"""GPUs of the nodes that the figures are of."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a good node with eight GPUs reaches in an all-reduce of NCCL, in GB/s of busbw.

    Args:
        alone: of one node, at least.
        ring: of one node in a ring, which limits the figure of several nodes.
        message: size of the message, in bytes as `all_reduce_perf` reads it.
    """

    alone: int
    ring: int
    message: str


_FIGURES: Mapping[str, Figures] = {
    "NVIDIA-A100-SXM4-40GB": Figures(228, 228, "8G"),
    "NVIDIA-A100-SXM4-80GB": Figures(228, 228, "16G"),
    "NVIDIA-H100-80GB-HBM3": Figures(460, 370, "16G"),
    "NVIDIA-H200": Figures(431, 370, "16G"),
}
"""By the label `nvidia.com/gpu.product`. One node: Azure/azurehpc-health-checks@0e0a1ac,
conf/nd96asr_v4.conf, nd96amsr_a100_v4.conf, nd96isr_h100_v5.conf, nd96isr_h200_v5.conf. Ring: about
370 with NVLink 4 (NVIDIA/nccl-tests#212, #290); of the A100 no other figure is known."""


def lacks(test: str, launch: Launch, nodes: int, mounts: bool) -> str:
    """Return what a runtime lacks for a test; empty when it can run it.

    Args:
        test: its name.
        launch: the runtime on its nodes.
        nodes: pods of its largest job.
        mounts: whether its jobs have storage of their team.
    """
    if not launch.runtime.launcher.mpi:
        return "mpirun"
    maker = launch.hardware.maker
    if maker and not maker.is_tested and test != "storage":
        return f"a test of GPUs of {maker.name}"
    if launch.runtime.initializers:
        return "a start without fetching data (`initialize`)"
    lacking = {
        "fabric": _lacks_fabric(launch, nodes),
        "nccl": "" if _shares_gpus(launch) else "GPUs, as many for each rank",
        "storage": "" if mounts else "storage of the team",
    }
    return lacking.get(test, "")


def _shares_gpus(launch: Launch) -> bool:
    """Return whether each rank has as many GPUs, and one at least."""
    return launch.gpus > 0 and launch.gpus % launch.ranks == 0


def _lacks_fabric(launch: Launch, nodes: int) -> str:
    if not launch.rails:
        return "rails"
    if launch.part < 1:
        return "whole nodes"
    return "" if nodes > 1 else "a second node"


def settings(test: str, launch: Launch, mounts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the settings of a test's script, as ``name=value``.

    Args:
        test: its name.
        launch: the runtime on its nodes.
        mounts: paths of the team's storage.
    """
    own = _SETTINGS[test](launch, mounts)
    started = {"mpirun": launch.runtime.launcher.command[0], **own}
    return tuple(f"{name}={value}" for name, value in started.items())


Settings = dict[str, str]


def _ranks(launch: Launch, _: tuple[str, ...]) -> Settings:
    return {
        "gpus": str(launch.gpus or ""),
        "bound": "yes" if launch.runtime.binds else "",
        "whole": "yes" if launch.part == 1 else "",
    }


def _fabric(launch: Launch, _: tuple[str, ...]) -> Settings:
    assert isinstance(launch.fabric, RailFabric)
    is_intel = launch.runtime.launcher.name == INTEL_MPI.name
    gpus = (str(nic.gpu) for nic in launch.hardware.rails)
    traffic_class = launch.fabric.traffic_class
    return {
        "rails": str(len(launch.rails)),
        "link": "InfiniBand" if launch.fabric.link == INFINIBAND else "Ethernet",
        "gbps": str(rail_threshold(launch)),
        "gpus": " ".join(gpus) if launch.gpus and _is_direct(launch) else "",
        "tclass": str(traffic_class) if traffic_class >= 0 else "",
        "two": "-ppn 1 -n 2" if is_intel else "--map-by ppr:1:node -np 2",
    }


def _nccl(launch: Launch, _: tuple[str, ...]) -> Settings:
    figures = _figures(launch)
    return {
        "bytes": figures.message if figures else "1G",
        "gpus": str(launch.gpus // launch.ranks),
        "one": str(figures.alone) if figures else "",
        "more": str(network_threshold(launch) or ""),
        # Slots do not tell how many ports a pod has: one at least.
        "rails": str(launch.ports or int(launch.rdma is not None)),
        "direct": "yes" if _is_direct(launch) else "",
        "nvlink": "yes" if launch.claims_nvlink else "",
    }


def _is_direct(launch: Launch) -> bool:
    """Return whether the network cards read and write the memory of GPUs."""
    return launch.runtime.fabric in {"", "gpudirect"} and launch.rdma is not None


def _storage(_: Launch, mounts: tuple[str, ...]) -> Settings:
    return {"mounts": " ".join(mounts), "megabytes": "1024"}


_SETTINGS: Mapping[str, Callable[[Launch, tuple[str, ...]], Settings]] = {
    "ranks": _ranks,
    "fabric": _fabric,
    "nccl": _nccl,
    "storage": _storage,
}


def reasons(test: str, launch: Launch) -> tuple[str, ...]:
    """Return where the thresholds of a test are from, a line for each."""
    hardware = launch.hardware
    if test == "fabric":
        rate = f"{hardware.link_rate} Gb/s of hardware {hardware.name}"
        return (f"threshold of a rail: {rail_threshold(launch)} Gb/s, {_RAIL_PART} of the {rate}",)
    if test != "nccl":
        return ()
    figures, more = _figures(launch), network_threshold(launch)
    if figures is None:
        return ("thresholds: none is known of these nodes",)
    alone = f"threshold of one node: {figures.alone} GB/s, of Azure's health checks"
    if not more:
        unknown = "the rate of its ports" if launch.rdma else "rails"
        return (alone, f"threshold of several nodes: none is known without {unknown}")
    noun = "rails" if launch.rails else "ports"
    rails = f"{launch.ports} {noun} with {hardware.link_rate} Gb/s"
    ring = f"the {figures.ring} GB/s of a ring of GPUs"
    several = f"{more} GB/s, {_PART} of the smaller of {rails} and {ring}"
    return (alone, f"threshold of several nodes: {several}")


def rail_threshold(launch: Launch) -> int:
    """Return the Gb/s that each rail must reach."""
    return int(launch.hardware.link_rate * _RAIL_PART)


def network_threshold(launch: Launch) -> int:
    """Return the GB/s of busbw that an all-reduce of several nodes must reach; 0 when unknown.

    The smaller of what the ports carry and what the GPUs of a node pass on in a ring decides.
    """
    figures = _figures(launch)
    if figures is None or not launch.ports:
        return 0
    carried = launch.ports * launch.hardware.link_rate / 8
    return int(min(carried, figures.ring) * _PART)


def _figures(launch: Launch) -> Figures | None:
    gpu = launch.hardware.gpu
    if gpu is None or launch.gpus != _GPUS or launch.runtime.fabric == "isolated":
        return None
    return _FIGURES.get(gpu.product)
